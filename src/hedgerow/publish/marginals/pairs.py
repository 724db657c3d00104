"""Choosing pairs of attributes that depend on each other, or nothing, and counting them."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from functools import partial

import numpy as np

from hedgerow.arrays import Ints
from hedgerow.counting.sealed import Sealed
from hedgerow.measured.marginals import Pairs, pair_number
from hedgerow.measured.measurements import Measurement
from hedgerow.privacy.curator import Curator
from hedgerow.privacy.sampler import Candidates
from hedgerow.publish.marginals.shares import PAIR_RANGE as SCORE_RANGE
from hedgerow.publish.marginals.shares import MarginalShares
from hedgerow.publish.steps.measure import buy_cells, deviation

__all__ = ["among", "count_extra", "count_pairs"]

Pair = tuple[int, int]

_ROOT = np.zeros(1, dtype=np.int64)


def count_pairs(
    curator: Curator, tables: Sealed[Ints], pairs: Pairs, masses: Sequence[Ints],
    share: MarginalShares,
) -> Measurement | None:  # fmt: skip
    """Chooses pairs one by one, none of which closes a ring, and counts them together.

    Args:
        curator: Who charges and draws.
        tables: The exact tables of all pairs.
        pairs: How the cells of pairs are numbered.
        masses: How many records lie in each group of an attribute, by what was drawn.
        share: How many pairs may be chosen, and what for.

    Returns:
        The tables, or None if nothing was chosen. What was meant for them is then left.
    """
    expected = np.concatenate([_independent(masses[a], masses[b]) for a, b in _names(pairs)])
    noise = deviation(curator, "two_way", share.two_way, numbers=share.pairs)
    scores = _scores(tables, pairs, expected, noise)
    joined = np.arange(len(pairs.edges))  # which attributes hang together already
    chosen: list[Pair] = []
    for _ in range(share.pairs):
        open_ = [pair for pair in _candidates(pairs) if joined[pair[0]] != joined[pair[1]]]
        if not open_:
            break
        pair = _choose(curator, scores, open_)
        if pair is not None:
            chosen.append(pair)
            joined[joined == joined[pair[0]]] = joined[pair[1]]
    return _count(curator, "two_way", tables, pairs, chosen)


def count_extra(
    curator: Curator, tables: Sealed[Ints], pairs: Pairs, expected: Ints, known: Collection[Pair],
    share: MarginalShares,
) -> Measurement | None:  # fmt: skip
    """Chooses further pairs, which may close rings, and counts them together.

    Args:
        curator: Who charges and draws.
        tables: The exact tables of all pairs.
        pairs: How the cells of pairs are numbered.
        expected: What a model of all that was drawn before expects in these cells.
        known: The pairs that were counted before.
        share: How many pairs may be chosen, and what for.

    Returns:
        The tables, or None if nothing was chosen. What was meant for them is then left.
    """
    noise = deviation(curator, "extra", share.extra, numbers=share.extra_pairs)
    scores = _scores(tables, pairs, expected, noise)
    open_ = [pair for pair in _candidates(pairs) if pair not in known]
    chosen: list[Pair] = []
    for _ in range(min(share.extra_pairs, len(open_))):
        pair = _choose(curator, scores, open_)
        if pair is not None:
            chosen.append(pair)
            open_.remove(pair)
    return _count(curator, "extra", tables, pairs, chosen)


def _names(pairs: Pairs) -> list[Pair]:
    """All pairs, in the order of their numbers."""
    return [(one, other) for one in range(len(pairs.edges)) for other in range(one)]


def _candidates(pairs: Pairs) -> list[Pair]:
    """The pairs that can tell something: not of an attribute with a single value."""
    return [pair for pair in _names(pairs) if all(pairs.edges[place][-1] > 1 for place in pair)]


def _scores(tables: Sealed[Ints], pairs: Pairs, expected: Ints, noise: float) -> Sealed[Ints]:
    """How far each pair lies from what is expected, less what the noise would make of nothing."""
    handicap = (np.diff(pairs.start) * noise / math.sqrt(2)).astype(np.int64)
    starts = pairs.start[:-1]
    return tables.map(lambda exact: np.add.reduceat(np.abs(exact - expected), starts) - handicap)


def _choose(curator: Curator, scores: Sealed[Ints], open_: Sequence[Pair]) -> Pair | None:
    """One of the pairs, or nothing."""
    places = np.array([pair_number(*pair) for pair in open_])
    scored = scores.map(partial(_open, places))
    drawn = curator.select("relate", 0, _ROOT, scored, score_range=SCORE_RANGE, flip=True)
    place = int(drawn.part[0])
    return None if place == len(open_) else open_[place]


def _count(
    curator: Curator, purpose: str, tables: Sealed[Ints], pairs: Pairs, chosen: list[Pair]
) -> Measurement | None:
    if not chosen:
        return None
    where = np.concatenate(
        [pairs.cells(*pair) for pair in sorted(chosen, key=lambda pair: pair_number(*pair))]
    )
    exact = tables.map(lambda exact: exact[where])
    return buy_cells(curator, purpose, [(where, exact)], numbers=len(chosen))


def _open(places: Ints, scores: Ints) -> Candidates:
    return among(scores[places], nothing=True)


def _independent(one: Ints, other: Ints) -> Ints:
    """What noisy counts make of a pair, were its attributes independent."""
    product = np.outer(one.astype(np.float64), other)
    total = max(1.0, float(one.sum() + other.sum()) / 2)
    return np.rint(product / total).astype(np.int64).ravel()


def among(scores: Ints, *, nothing: bool = False) -> Candidates:
    """Candidates with these scores, and "nothing" after them, whose score is always 0."""
    if nothing:
        scores = np.append(scores, 0)
    number = len(scores)
    return Candidates(
        start=np.array([0, number]),
        score=scores.astype(np.int64),
        weight=np.ones(number, dtype=np.int64),
        count=np.ones(number, dtype=np.int64),
        part=np.arange(number),
        first=np.full(number, -1),
    )
