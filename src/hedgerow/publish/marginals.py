"""Measuring marginals: noisy tables of the whole data beside the regions.

Protected: as in the method that buys it. All of it falls on every path, before the tree grows:

| step                                            | mechanism              | of their share        |
|-------------------------------------------------|------------------------|-----------------------|
| one_way: every attribute (by class), in parts   | discrete Laplace       | 48% (80% if no pairs) |
| fine: attributes with more codes than parts     | discrete Laplace       | 12% (20%)             |
| relate: a pair, k times over                    | permute-and-flip       | 4%                    |
| two_way: the tables of these pairs              | discrete Laplace       | 36%                   |

Why these prices hold. A record is counted once in each table, so in A numbers of `one_way`, in as
many of `fine` as attributes are counted, and in k of `two_way`: noise of rate r/A, and so on, costs
r. A pair's score is the sum over its cells of |n - q| less a public number, with n the exact count
and q what the noisy single tables make of it under independence: q is fixed when the score is
looked at. One record changes one n by 1, and so every score by at most 1, up or down: two scores
move apart by at most 2, the score_range that is paid for. A pair that would close a ring with those
chosen is left out, which follows from what was drawn. Where parts and groups begin follows from the
schema and from `one_way`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np
from numpy.typing import NDArray

from hedgerow.counting.engine import Engine, Histograms
from hedgerow.counting.sealed import Sealed
from hedgerow.measured.marginals import (
    MOST_RELATED,
    Pairs,
    edges_of,
    fine_attributes,
    pair_number,
)
from hedgerow.measured.measurements import Measurement
from hedgerow.privacy.curator import Curator
from hedgerow.privacy.ledger import Allowance
from hedgerow.privacy.sampler import Candidates
from hedgerow.publish.steps.measure import measured
from hedgerow.schema import Schema

__all__ = ["MarginalShares", "measure_marginals", "part_counts", "share_marginals"]

Ints = NDArray[np.int64]
Tables = dict[tuple[int, int], Ints]

MOST_PAIRS = 12
PER_PAIR = 3_500  # records times epsilon, below which a further pair is mostly noise
ENOUGH = 10_000  # records times epsilon, from which on marginals is worth as much as regions
SCORE_RANGE = 2

_ROOT = np.zeros(1, dtype=np.int64)


@dataclass(frozen=True, kw_only=True)
class MarginalShares:
    """What is spent on marginals, in units of epsilon: a public rule.

    Args:
        units: For all of it.
        single: For the tables of single attributes.
        fine: For codes; 0 if every code is a part.
        relate: For choosing one pair.
        pair: For the tables of pairs.
        pairs: How many pairs are chosen.
        by_class: Whether single attributes are counted by class.
    """

    units: int
    single: int
    fine: int
    relate: int
    pair: int
    pairs: int
    by_class: bool

    def lines(self) -> tuple[Allowance, ...]:
        """What may be charged; none of it on a second node of a path."""
        lines = [Allowance("one_way", "epsilon", (self.single,), 1)]
        if self.fine:
            lines.append(Allowance("fine", "epsilon", (self.fine,), 1))
        if self.pairs:
            lines.append(Allowance("relate", "epsilon", (self.relate,), self.pairs))
            lines.append(Allowance("two_way", "epsilon", (self.pair,), 1))
        return tuple(lines)


def share_marginals(
    schema: Schema, epsilon: Fraction, rows: int, units: int, pairs: int | None = None
) -> MarginalShares:
    """How marginals is paid for: by 40% of epsilon, or by 30% where there are few records.

    Args:
        schema: The public schema.
        epsilon: What one row may lose in all.
        rows: The noisy number of rows.
        units: The units that epsilon is cut into.
        pairs: The number of pairs, if it was set by hand; there are records enough for it then.

    Example:
        >>> schema = Schema.from_dict({"name": "s", "unit": "row", "attributes": {
        ...     "ill": {"type": "boolean"}, "home": {"type": "boolean"}}})
        >>> share_marginals(schema, Fraction(1), 30_000, 1000)
        MarginalShares(units=400, single=240, fine=0, relate=16, pair=144, pairs=1, by_class=True)
    """
    attributes = len(schema.attributes)
    strength = int(epsilon * rows)
    enough = strength >= ENOUGH or bool(pairs)
    share = units * 2 // 5 if enough else units * 3 // 10
    if pairs is None:
        pairs = min(MOST_PAIRS, strength // PER_PAIR)
    pairs = min(pairs, attributes - 1) if attributes <= MOST_RELATED else 0
    related = share * 2 // 5 if pairs else 0
    alone = share - related
    fine = alone // 5 if fine_attributes(schema) else 0
    choosing = related // 10
    return MarginalShares(
        units=share,
        single=alone - fine,
        fine=fine,
        relate=choosing // max(1, pairs),
        pair=related - choosing,
        pairs=pairs,
        by_class=enough,
    )


def measure_marginals(
    curator: Curator, engine: Engine, schema: Schema, share: MarginalShares
) -> list[Measurement]:
    """Buys all tables of marginals, at the root."""
    whole = engine.domain.sizes[None, :]
    every = np.ones(whole.shape, dtype=np.bool_)
    ((_, found),) = engine.histograms(_ROOT, np.zeros_like(whole), whole, every)
    attributes = len(schema.attributes)
    classes = engine.domain.classes if share.by_class else 1
    edges = [edges_of(attribute) for attribute in schema.attributes]
    exact = found.map(
        lambda seen: _flat(
            [_by_class(part_counts(seen, a, cut), classes) for a, cut in enumerate(edges)]
        )
    )
    drawn, units = curator.laplace("one_way", 0, _ROOT, exact, max_contribution=attributes)
    single = np.split(drawn.reshape(-1, classes), np.cumsum([len(cut) - 1 for cut in edges])[:-1])
    bought = [
        _cells(curator, "one_way", drawn.reshape(-1, classes), units, attributes, share.by_class)
    ]
    places = fine_attributes(schema)
    if share.fine:
        sizes = [schema.attributes[a].size for a in places]
        exact = found.map(
            lambda seen: _flat(
                [
                    part_counts(seen, a, np.arange(size + 1)).sum(axis=1)
                    for a, size in zip(places, sizes, strict=True)
                ]
            )
        )
        drawn, units = curator.laplace("fine", 0, _ROOT, exact, max_contribution=len(places))
        bought.append(_cells(curator, "fine", drawn.T, units, len(places), False))
    if share.pairs:
        bought.append(_buy_pairs(curator, engine, Pairs.of(schema, single), single, share))
    return bought


def _buy_pairs(
    curator: Curator, engine: Engine, pairs: Pairs, single: list[Ints], share: MarginalShares
) -> Measurement:
    """Chooses pairs that depend on each other, and counts them."""
    tables = _pair_tables(engine, pairs)
    noise = 1 / float(curator.noise_rate("two_way", share.pair, share.pairs))
    scores = tables.map(partial(_dependence, expected=_independent(pairs, single), noise=noise))
    tree = np.arange(len(pairs.edges))  # which attributes are joined already
    chosen: list[tuple[int, int]] = []
    for _ in range(share.pairs):
        open_ = [
            (one, other)
            for one in range(len(tree))
            for other in range(one)
            if tree[one] != tree[other]
        ]
        scored = scores.map(partial(_among, open_))
        drawn = curator.select("relate", 0, _ROOT, scored, score_range=SCORE_RANGE, flip=True)
        one, other = open_[int(drawn.part[0])]
        chosen.append((one, other))
        tree[tree == tree[one]] = tree[other]
    chosen.sort(key=lambda pair: pair_number(*pair))
    exact = tables.map(lambda found: _flat([found[pair] for pair in chosen]))
    drawn_counts, units = curator.laplace("two_way", 0, _ROOT, exact, max_contribution=len(chosen))
    where = np.concatenate([pairs.cells(*pair) for pair in chosen])
    return _cells(curator, "two_way", drawn_counts.T, units, len(chosen), False, where)


def _independent(pairs: Pairs, single: list[Ints]) -> dict[tuple[int, int], Ints]:
    """What the noisy single tables make of every pair, were its attributes independent."""
    masses = []
    for parts, groups, table in zip(pairs.parts, pairs.edges, single, strict=True):
        counts = np.maximum(table.sum(axis=1), 0)
        masses.append(np.add.reduceat(counts, np.searchsorted(parts, groups[:-1])))
    expected: Tables = {}
    for one in range(len(masses)):
        for other in range(one):
            total = (masses[one].sum() + masses[other].sum()) / 2
            product = np.outer(masses[one].astype(np.float64), masses[other])
            expected[one, other] = np.rint(product / max(1.0, float(total))).astype(np.int64)
    return expected


def _dependence(tables: Tables, expected: Tables, noise: float) -> dict[tuple[int, int], int]:
    """Scores pairs: how many records lie elsewhere than independence has it, less the noise."""
    return {
        pair: int(np.abs(table - expected[pair]).sum()) - int(noise * table.size)
        for pair, table in tables.items()
    }


def _among(open_: list[tuple[int, int]], scores: dict[tuple[int, int], int]) -> Candidates:
    """The pairs that may still be chosen, with their scores."""
    number = len(open_)
    return Candidates(
        start=np.array([0, number]),
        score=np.array([scores[pair] for pair in open_], dtype=np.int64),
        weight=np.ones(number, dtype=np.int64),
        count=np.ones(number, dtype=np.int64),
        part=np.arange(number),
        first=np.full(number, -1),
    )


def _pair_tables(engine: Engine, pairs: Pairs) -> Sealed[Tables]:
    """The exact tables of all pairs, four attributes a pass."""
    found: Sealed[Tables] = Sealed({})
    whole = [np.array([0, cut[-1]], dtype=np.int32) for cut in pairs.edges]
    for places in _fours(len(pairs.edges)):
        edges = list(whole)
        for a in places:
            edges[a] = pairs.edges[a].astype(np.int32)
        shape = tuple(len(cut) - 1 for cut in edges)
        read = engine.cell_counts(tuple(edges)).map(
            partial(_tables_of, places, (*shape, engine.domain.classes))
        )
        found = found.join(read, lambda before, new: before | new)
    return found


def _fours(attributes: int) -> Iterator[tuple[int, ...]]:
    """Sets of at most four attributes in which every two of them meet."""
    twos = [tuple(range(a, min(a + 2, attributes))) for a in range(0, attributes, 2)]
    if len(twos) == 1:
        yield twos[0]
    for i, one in enumerate(twos):
        for other in twos[i + 1 :]:
            yield (*one, *other)


def _tables_of(places: tuple[int, ...], shape: tuple[int, ...], cells: tuple[Ints, Ints]) -> Tables:
    """Sums the cells of a product to tables of two attributes."""
    number, counts = cells
    axes = {}
    rest = number // shape[-1]
    for a in reversed(range(len(shape) - 1)):
        if shape[a] > 1:
            rest, axes[a] = np.divmod(rest, shape[a])
        elif a in places:
            axes[a] = np.zeros_like(rest)
    found: Tables = {}
    for one in places:
        for other in places:
            if other < one:
                cell = axes[one] * shape[other] + axes[other]
                table = np.zeros(shape[one] * shape[other], dtype=np.int64)
                np.add.at(table, cell, counts)
                found[one, other] = table.reshape(shape[one], shape[other])
    return found


def part_counts(histograms: Histograms, a: int, edges: Ints | NDArray[np.int32]) -> Ints:
    """The class counts of each part of an attribute."""
    part = slice(histograms.start[a], histograms.start[a + 1])
    table = np.zeros((len(edges) - 1, histograms.counts.shape[1]), dtype=np.int64)
    place = np.searchsorted(edges, histograms.code[part], side="right") - 1
    np.add.at(table, place, histograms.counts[part])
    return table


def _by_class(table: Ints, classes: int) -> Ints:
    """The table, or its sums over classes."""
    return table if classes > 1 else table.sum(axis=1, keepdims=True)


def _flat(tables: list[Ints]) -> Ints:
    return np.concatenate([table.ravel() for table in tables])[None, :]


def _cells(
    curator: Curator,
    name: str,
    values: Ints,
    units: Ints,
    max_contribution: int,
    by_class: bool,
    where: Ints | None = None,
) -> Measurement:
    """Describes drawn cells as a measurement; all share one charge."""
    places = np.arange(len(values)) if where is None else where
    drawn = (places, values, np.repeat(units, len(values)))
    return measured(
        curator, name, "cell", [drawn], by_class=by_class, max_contribution=max_contribution
    )
