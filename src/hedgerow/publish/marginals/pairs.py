"""Choosing pairs of attributes that depend on each other, or nothing, and counting them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import numpy as np

from hedgerow.arrays import Ints
from hedgerow.counting.engine import Engine
from hedgerow.counting.sums import PairTables
from hedgerow.measured.marginals import Pairs, pair_number
from hedgerow.measured.measurements import Measurement
from hedgerow.privacy.curator import Curator
from hedgerow.privacy.sampler import Candidates
from hedgerow.publish.marginals.shares import MarginalShares
from hedgerow.publish.steps.measure import buy_cells, deviation

__all__ = ["among", "count_pairs"]

Pair = tuple[int, int]

SCORE_RANGE = 2

_ROOT = np.zeros(1, dtype=np.int64)


def count_pairs(
    curator: Curator, engine: Engine, pairs: Pairs, masses: Sequence[Ints], share: MarginalShares
) -> Measurement | None:
    """Chooses pairs one by one, none of which closes a ring, and counts them together.

    Args:
        curator: Who charges and draws.
        engine: The private data.
        pairs: How the cells of pairs are numbered.
        masses: How many records lie in each group of an attribute, by what was drawn.
        share: How many pairs may be chosen, and what for.

    Returns:
        The tables, or None if nothing was chosen. What was meant for them is then left.
    """
    tables = engine.sums(PairTables(pairs.edges))
    noise = deviation(curator, "two_way", share.two_way, numbers=share.pairs)
    names = [(one, other) for one in range(len(pairs.edges)) for other in range(one)]
    expected = np.concatenate([_independent(masses[one], masses[other]) for one, other in names])
    sizes = np.diff(pairs.start)
    handicap = (sizes * noise / math.sqrt(2)).astype(np.int64)
    starts = pairs.start[:-1]
    scores = tables.map(lambda exact: np.add.reduceat(np.abs(exact - expected), starts) - handicap)
    joined = np.arange(len(pairs.edges))  # which attributes hang together already
    chosen: list[Pair] = []
    for _ in range(share.pairs):
        open_ = [pair for pair in names if joined[pair[0]] != joined[pair[1]]]
        if not open_:
            break
        places = np.array([pair_number(*pair) for pair in open_])
        scored = scores.map(partial(_open, places))
        drawn = curator.select("relate", 0, _ROOT, scored, score_range=SCORE_RANGE, flip=True)
        place = int(drawn.part[0])
        if place == len(open_):
            continue
        one, other = open_[place]
        chosen.append((one, other))
        joined[joined == joined[one]] = joined[other]
    if not chosen:
        return None
    where = np.concatenate(
        [pairs.cells(*pair) for pair in sorted(chosen, key=lambda pair: pair_number(*pair))]
    )
    exact = tables.map(lambda exact: exact[where])
    return buy_cells(curator, "two_way", [(where, exact)], numbers=len(chosen))


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
