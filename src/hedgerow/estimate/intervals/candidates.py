"""Bounds of a count from one-way tables, pairs and regions.

A query is a conjunction of d conditions, one of which may be on the class. Let S_a be the number of
records that meet its condition on attribute a, and N that of all.

- *Upper bounds.* The count is at most every S_a, at most the count of any two of its conditions,
  and at most what the regions hold that the query touches.
- *Lower bounds.* It is at least sum_a S_a - (d - 1) N (Frechet), at least what the regions hold
  that lie wholly inside, and with two conditions at least what the inner cells of their pair hold.

A condition that cuts cells lies between its inner and its touched ones. So each bound is a sum of
noisy numbers whose mean is on its side of the truth, and `best_end` makes one end of them. That
asks for candidates and weights that were fixed before the noise was drawn that they use, so there
are two families, each with its own part of alpha:

- *fixed*: one-way tables and regions. Neither's noise has chosen which cells there are. (How many
  one-way tables there are follows from `rows`, which is left out of all sums.)
- *chosen*: pairs, and cells that were counted again (`fine`). Whether they are there follows from
  the noise of `one_way`. Given what is there, their own noise is fresh. So is that of one-way cells
  beside a cut cell that was counted again: that it was is due to its own noise alone. So the number
  of records comes from other tables there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from hedgerow.arrays import Floats, Ints
from hedgerow.estimate.intervals.conditions import Conditions
from hedgerow.estimate.intervals.tables import Sums, Tables

__all__ = ["Bounds", "Candidates", "Measured", "both_of", "bounds_of"]


_HALF = 0.5  # half of the step between whole numbers


@dataclass(frozen=True, kw_only=True, eq=False)
class Measured:
    """The tables that bounds are made of.

    Args:
        edges: The edges of the cells of each one-way table, in codes; `CLASS` for the class.
        single: The one-way tables.
        parts: Of cells that were counted again, by table and cell, the edges and the counts of
            their parts.
        parts_variance: The variance of their noise.
        groups: The edges of the groups of each attribute in pairs.
        pairs: The two-way tables, by the two attributes.
        extra: Those of further pairs. Which these are was chosen by the noise of `pairs`, so that
            they are in no bound; models use them.
    """

    edges: Mapping[int, Ints]
    single: Tables
    parts: Mapping[tuple[int, int], tuple[Ints, Floats]] = field(default_factory=dict)
    parts_variance: float = 0.0
    groups: Mapping[int, Ints] = field(default_factory=dict)
    pairs: Tables | None = None
    extra: Tables | None = None

    @property
    def two_way(self) -> dict[tuple[int, int], Tables]:
        """The tables that each measured pair is in, further ones too."""
        found: dict[tuple[int, int], Tables] = {}
        for tables in (self.pairs, self.extra):
            for pair in () if tables is None else tables.counts:
                assert isinstance(pair, tuple) and tables is not None
                found[pair] = tables
        return found


class Candidates:
    """Noisy upper bounds of the counts of many queries, collected bit by bit."""

    def __init__(self) -> None:
        self._found: list[tuple[Ints, Floats, Floats, Floats]] = []

    def add(self, query: Ints, value: Floats, variance: Floats, step: Floats | None = None) -> None:
        """Adds a bound to each of some queries.

        Args:
            query: The queries.
            value: Their bounds.
            variance: The variance of the noise of each, for the tails.
            step: What is added because noise is discrete.
        """
        steps = np.full(len(query), _HALF) if step is None else step
        self._found.append((query, value, variance, steps))

    def padded(self, queries: int) -> tuple[Floats, Floats, Floats]:
        """Values (infinite where there is none), standard deviations and steps: [queries, most]."""
        nothing = np.empty(0, np.int64), np.empty(0), np.empty(0), np.empty(0)
        query, value, variance, step = (
            np.concatenate(columns) for columns in zip(nothing, *self._found, strict=True)
        )
        many = np.bincount(query, minlength=queries)
        order = np.argsort(query, kind="stable")
        rank = np.arange(len(query)) - np.repeat(np.cumsum(many) - many, many)
        full = np.full((3, queries, max(1, int(many.max(initial=0)))), 1.0)
        full[0] = np.inf
        full[:, query[order], rank] = np.stack([value, np.sqrt(variance), step])[:, order]
        return full[0], full[1], full[2]


@dataclass(frozen=True)
class Bounds:
    """The upper bounds of counts, or of negated counts: fixed ones and chosen ones."""

    fixed: Candidates = field(default_factory=Candidates)
    chosen: Candidates = field(default_factory=Candidates)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Single:
    """What one-way tables say about conditions; all arrays have one number per condition.

    Args:
        table: The table, or -1 if there is none.
        inner: The sum of the cells wholly inside, and how many these are.
        touched: The same of those inside at least in part.
        outer: The same of all others.
        fine: Whether all cells that the condition cuts were counted again.
        parts: With the parts of cut cells: the sums of those wholly inside, touched, not wholly
            inside, and not touched, with the numbers of parts.
    """

    table: Ints
    inner: Floats
    touched: Floats
    outer: Floats
    fine: NDArray[np.bool_]
    parts: Floats


def bounds_of(
    measured: Measured, asked: Conditions, estimate: Floats, variance: Floats
) -> tuple[Bounds, Bounds]:
    """The bounds of counts: of the negated counts for lower ends, and for upper ends.

    Args:
        measured: The tables.
        asked: The conditions of the queries.
        estimate: By the regions: what lies inside, evenly and touched, shape [queries, 3].
        variance: The variances of these.
    """
    low, high = Bounds(), Bounds()
    every, many = np.arange(asked.queries), asked.number
    low.fixed.add(every, -estimate[:, 0], variance[:, 0])
    high.fixed.add(every, estimate[:, 2], variance[:, 2])
    tables, single = measured.single, _single(measured, asked)
    known = np.flatnonzero(single.table >= 0)
    alone = _sums(single, single.touched, known, np.arange(len(known)), len(known))
    high.fixed.add(asked.query[known], *tables.at_least(alone))
    nothing = np.flatnonzero(many == 0)
    whole = np.full(len(nothing), tables.number), np.full(len(nothing), tables.variance)
    low.fixed.add(nothing, -whole[0], whole[1])
    high.fixed.add(nothing, *whole)
    measured_all = (np.bincount(asked.query[known], minlength=asked.queries) == many) & (many > 0)
    _frechet(measured, asked, single, measured_all, low)
    _in_parts(measured, asked, single, measured_all, (low, high))
    if measured.pairs is not None:
        for pair in measured.pairs.counts:
            assert isinstance(pair, tuple)
            _pair(measured, measured.pairs, pair, asked, (low, high))
    return low, high


def _single(measured: Measured, asked: Conditions) -> _Single:
    number = len(asked.place)
    table, fine = np.full(number, -1, np.int64), np.zeros(number, np.bool_)
    inner, touched, outer = np.zeros((3, number, 2))
    parts = np.zeros((4, number, 2))
    for place in np.unique(asked.place).tolist():
        if place not in measured.edges:
            continue
        here = asked.on(place)
        counts = measured.single.counts[place]
        covered = asked.cover(here, measured.edges[place])
        table[here] = measured.single.place[place]
        inner[here] = _held(counts, covered.inner)
        touched[here] = _held(counts, covered.touched)
        outer[here] = _held(counts, ~covered.touched)
        again = [cell for at, cell in measured.parts if at == place]
        unknown = np.ones(len(counts), np.bool_)
        unknown[again] = False
        fine[here] = covered.cut.any(axis=1) & ~covered.cut[:, unknown].any(axis=1)
        for cell in again:
            cut = here[covered.cut[:, cell] & fine[here]]
            edges, held = measured.parts[place, cell]
            one = asked.cover(cut, edges)
            for sort, chosen in enumerate((one.inner, one.touched, ~one.inner, ~one.touched)):
                parts[sort, cut] += _held(held, chosen)
    return _Single(table=table, inner=inner, touched=touched, outer=outer, fine=fine, parts=parts)


def _frechet(
    measured: Measured,
    asked: Conditions,
    single: _Single,
    measured_all: NDArray[np.bool_],
    low: Bounds,
) -> None:
    """The lower bounds sum_a S_a - (d - 1) N."""
    queries, chosen, group = _of_queries(asked, measured_all)
    sums = _sums(single, single.inner, chosen, group, len(queries))
    value, variance = measured.single.at_least(sums)
    low.fixed.add(queries, -value, variance, _steps(asked, queries))


def _in_parts(
    measured: Measured,
    asked: Conditions,
    single: _Single,
    measured_all: NDArray[np.bool_],
    ends: tuple[Bounds, Bounds],
) -> None:
    """Bounds with the parts of cut cells that were counted again."""
    low, high = ends
    tables = measured.single
    scale = np.array([tables.noise, measured.parts_variance])
    wholly, partly, hardly, never = single.parts
    fine = np.flatnonzero(single.fine)
    query = asked.query[fine]
    alone = _sums(single, single.inner, fine, np.arange(len(fine)), len(fine))
    rest, noise = tables.without(alone)

    def together(cells: Floats, parts: Floats, chosen: Ints) -> tuple[Floats, Floats]:
        value = cells[chosen, 0] + parts[chosen, 0]
        return value, np.stack([cells[chosen, 1], parts[chosen, 1]], axis=1) @ scale

    high.chosen.add(query, *together(single.inner, partly, fine))
    value, variance = together(single.outer, never, fine)
    high.chosen.add(query, rest - value, variance + noise)
    one = measured_all[query] & (asked.number[query] == 1)
    value, variance = together(single.inner, wholly, fine)
    low.chosen.add(query[one], -value[one], variance[one])
    value, variance = together(single.outer, hardly, fine)
    low.chosen.add(query[one], (value - rest)[one], (variance + noise)[one])
    # sum_a S_a - (d - 1) N with these parts; N by other tables, whose noise is fresh
    some = np.zeros(asked.queries, np.bool_)
    some[query] = True
    queries, chosen, group = _of_queries(asked, measured_all & some & (asked.number > 1))
    sums = _sums(single, single.inner, chosen, group, len(queries))
    rest, noise = tables.without(sums)
    more = asked.number[queries] - 1
    value, variance = together(single.inner, wholly, chosen)
    low.chosen.add(
        queries,
        more * rest - sums.gathered(value),
        more**2 * noise + sums.gathered(variance),
        _steps(asked, queries),
    )


def _pair(
    measured: Measured,
    pairs: Tables,
    pair: tuple[int, int],
    asked: Conditions,
    ends: tuple[Bounds, Bounds],
) -> None:
    """What the inner and the touched cells of a pair hold."""
    low, high = ends
    query, one, other = both_of(asked, pair)
    covered = [
        asked.cover(conditions, measured.groups[place])
        for conditions, place in zip((one, other), pair, strict=True)
    ]
    table = pairs.counts[pair].reshape(covered[0].inner.shape[1], -1)

    def bound(sides: Iterable[NDArray[np.bool_]]) -> tuple[Floats, Floats]:
        first, second = sides
        value = ((first @ table) * second).sum(axis=1)
        sums = Sums(
            table=np.full(len(query), pairs.place[pair]),
            value=value,
            cells=first.sum(axis=1) * second.sum(axis=1),
            group=np.arange(len(query)),
            groups=len(query),
        )
        return pairs.at_least(sums)

    high.chosen.add(query, *bound(side.touched for side in covered))
    value, variance = bound(side.inner for side in covered)
    two = asked.number[query] == 2
    low.chosen.add(query[two], -value[two], variance[two])


def both_of(asked: Conditions, pair: tuple[int, int]) -> tuple[Ints, Ints, Ints]:
    """The queries with conditions on two attributes, and these conditions."""
    one, other = (asked.on(place) for place in pair)
    query, first, second = np.intersect1d(
        asked.query[one], asked.query[other], assume_unique=True, return_indices=True
    )
    return query, one[first], other[second]


def _of_queries(asked: Conditions, wanted: NDArray[np.bool_]) -> tuple[Ints, Ints, Ints]:
    """Some queries, their conditions, and which of these queries each condition belongs to."""
    queries, chosen = np.flatnonzero(wanted), np.flatnonzero(wanted[asked.query])
    return queries, chosen, np.searchsorted(queries, asked.query[chosen])


def _sums(single: _Single, held: Floats, chosen: Ints, group: Ints, groups: int) -> Sums:
    return Sums(
        table=single.table[chosen],
        value=held[chosen, 0],
        cells=held[chosen, 1].astype(np.int64),
        group=group,
        groups=groups,
    )


def _steps(asked: Conditions, queries: Ints) -> Floats:
    return _HALF * np.maximum(1, asked.number[queries] - 1)


def _held(table: Floats, chosen: NDArray[np.bool_]) -> Floats:
    """The sum of the chosen cells of each condition, and how many these are."""
    return np.stack([chosen @ table, chosen.sum(axis=1)], axis=1)
