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

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from hedgerow.arrays import Floats, Ints
from hedgerow.estimate.intervals.tables import Covered, Sum, Tables, cover
from hedgerow.schema.conditions import Intervals

__all__ = ["CLASS", "Bounds", "Candidate", "Measured", "bounds_of"]


CLASS = -1
"""The table of the class, beside those of attributes."""

_HALF = 0.5  # half of the step between whole numbers


@dataclass(frozen=True)
class Candidate:
    """A noisy upper bound.

    Args:
        value: The bound.
        variance: That of its noise, for the tails.
        step: What is added because noise is discrete.
    """

    value: float
    variance: float
    step: float = _HALF

    def negated(self) -> Candidate:
        """The same as an upper bound of the negated count."""
        return Candidate(-self.value, self.variance, self.step)


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
    """

    edges: Mapping[int, Ints]
    single: Tables
    parts: Mapping[tuple[int, int], tuple[Ints, Floats]] = field(default_factory=dict)
    parts_variance: float = 0.0
    groups: Mapping[int, Ints] = field(default_factory=dict)
    pairs: Tables | None = None


@dataclass(frozen=True)
class Bounds:
    """The upper bounds of a count, and of the negated count: fixed ones and chosen ones."""

    fixed: list[Candidate]
    chosen: list[Candidate]


@dataclass(frozen=True)
class _Condition:
    """What tables say about one condition.

    Args:
        inner: The sum of the cells wholly inside.
        upper: The upper bound by its own table.
        fine_inner: The same as `inner` with the parts of cut cells, and its variance, if these
            were counted again.
        chosen_low: Bounds of the negated sum with those parts.
        chosen_high: Bounds of the sum.
    """

    inner: Sum
    upper: Candidate
    fine_inner: tuple[float, float] | None = None
    chosen_low: tuple[Candidate, ...] = ()
    chosen_high: tuple[Candidate, ...] = ()


def bounds_of(
    measured: Measured,
    conditions: Mapping[int, Intervals],
    regions: tuple[Candidate, Candidate],
    known: dict[Hashable, object] | None = None,
) -> tuple[Bounds, Bounds]:
    """The bounds of one count: of the negated count for the lower end, and for the upper end.

    Args:
        measured: The tables.
        conditions: What counts, by attribute.
        regions: What the regions give: a bound of the negated count, and one of the count.
        known: Conditions that were looked at before; pass the same for many queries.
    """
    seen = {} if known is None else known
    d = len(conditions)
    found: dict[int, _Condition] = {}
    for place, intervals in conditions.items():
        if place in measured.edges:
            key = place, intervals
            if key not in seen:
                seen[key] = _condition(measured, place, intervals)
            one = seen[key]
            assert isinstance(one, _Condition)
            found[place] = one
    low, high = Bounds([regions[0]], []), Bounds([regions[1]], [])
    high.fixed.extend(one.upper for one in found.values())
    for one in found.values():
        high.chosen.extend(one.chosen_high)
    if not d:
        whole = Candidate(measured.single.number, measured.single.variance)
        low.fixed.append(whole.negated())
        high.fixed.append(whole)
    elif len(found) == d:
        value, variance = measured.single.at_least({a: one.inner for a, one in found.items()})
        low.fixed.append(Candidate(-value, variance, _HALF * max(1, d - 1)))
        if d == 1:
            low.chosen.extend(next(iter(found.values())).chosen_low)
        elif any(one.fine_inner is not None for one in found.values()):
            low.chosen.append(_frechet_in_parts(measured, found))
    if measured.pairs is not None:
        for pair in measured.pairs.counts:
            assert isinstance(pair, tuple)
            if pair[0] in conditions and pair[1] in conditions:
                inner, touched = _pair(measured, measured.pairs, pair, conditions)
                high.chosen.append(touched)
                if d == 2:
                    low.chosen.append(inner.negated())
    return low, high


def _condition(measured: Measured, place: int, intervals: Intervals) -> _Condition:
    tables, table = measured.single, measured.single.counts[place]
    covered = cover(measured.edges[place], intervals)
    inner = _sum(table, covered.inner)
    upper = Candidate(*tables.at_least({place: _sum(table, covered.touched)}))
    cut = covered.cut.tolist()
    if not cut or any((place, cell) not in measured.parts for cell in cut):
        return _Condition(inner, upper)
    held: list[tuple[Floats, Covered]] = []
    for cell in cut:
        edges, counts = measured.parts[place, cell]
        held.append((counts, cover(edges, intervals)))
    wholly = [_sum(counts, one.inner) for counts, one in held]
    partly = [_sum(counts, one.touched) for counts, one in held]
    hardly = [_sum(counts, ~one.inner) for counts, one in held]
    never = [_sum(counts, ~one.touched) for counts, one in held]
    outer = _sum(table, ~covered.touched)
    rest, noise = tables.without({place})

    def together(cells: Sum, parts: list[Sum]) -> tuple[float, float]:
        value = cells.value + sum(one.value for one in parts)
        counted = sum(one.cells for one in parts)
        return value, cells.cells * tables.noise + counted * measured.parts_variance

    def beside(cells: Sum, parts: list[Sum]) -> Candidate:
        value, variance = together(cells, parts)
        return Candidate(rest - value, variance + noise)

    fine = together(inner, wholly)
    return _Condition(
        inner,
        upper,
        fine,
        (Candidate(*fine).negated(), beside(outer, hardly).negated()),
        (Candidate(*together(inner, partly)), beside(outer, never)),
    )


def _frechet_in_parts(measured: Measured, found: Mapping[int, _Condition]) -> Candidate:
    """sum_a S_a - (d - 1) N with the parts of cut cells, as a bound of the negated count."""
    d = len(found)
    number, noise = measured.single.without(found.keys())
    value, variance = (d - 1) * number, (d - 1) ** 2 * noise
    for one in found.values():
        mine = one.fine_inner or (one.inner.value, one.inner.cells * measured.single.noise)
        value, variance = value - mine[0], variance + mine[1]
    return Candidate(value, variance, _HALF * max(1, d - 1))


def _pair(
    measured: Measured, pairs: Tables, pair: tuple[int, int], conditions: Mapping[int, Intervals]
) -> tuple[Candidate, Candidate]:
    """What the inner and the touched cells of a pair hold."""
    one, other = (cover(measured.groups[place], conditions[place]) for place in pair)
    table = pairs.counts[pair]
    inner, touched = (
        Candidate(*pairs.at_least({pair: _sum(table, np.outer(*cells).ravel())}))
        for cells in ((one.inner, other.inner), (one.touched, other.touched))
    )
    return inner, touched


def _sum(table: Floats, chosen: NDArray[np.bool_]) -> Sum:
    return Sum(float(table[chosen].sum()), int(chosen.sum()))
