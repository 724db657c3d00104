"""How far the model's counts are typically off: a guess, never called an interval.

A count by the model goes wrong in three ways: one-way tables are noisy (and do not tell where in a
cut cell records lie), pairs that were measured are noisy, and attributes whose pair was not
measured are taken to be independent given the rest. A pair with shares p and q of the n records is
off by phi n sqrt(p (1 - p) q (1 - q)), if phi is the correlation of the two conditions that the
model lacks. How large phi typically is follows from the regions: they were counted, and differ from
what the forest expects by more than noise explains.

So with the estimate e, and shares p_a of the conditions,

    scale^2 = sum_a (e / (n p_a))^2 var_a + sum over measured pairs (e / (n p_a p_b))^2 var_ab / n^2
              + phi^2 sum over other pairs e^2 (1 - p_a) (1 - p_b) / (p_a p_b) + e + 1,

and 1.96 scale is the typical error. It was right for 93 to 99% of random queries on the tables of
`benchmarks/coverage.py`. Where two attributes that nobody measured together depend on each other
strongly, it is far too small.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from hedgerow.arrays import Floats
from hedgerow.estimate.intervals.candidates import CLASS, Measured
from hedgerow.estimate.intervals.tables import cover
from hedgerow.estimate.marginals.model import Model
from hedgerow.schema.conditions import Intervals

if TYPE_CHECKING:
    from hedgerow.schema.query import Query

__all__ = ["TypicalError"]


_FACTOR = 1.96  # of a normal law, for 95%
_LEAST, _USUAL, _MOST = 0.02, 0.1, 0.4  # for phi; `_USUAL` where regions say nothing
_UNEVEN = 0.1  # how unevenly records may lie in a cell that was not counted in parts
_TINY = 1e-9


@dataclass(frozen=True, eq=False)
class TypicalError:
    """The typical error of counts.

    Args:
        model: The model that counts.
        measured: The tables it was made of.
    """

    model: Model
    measured: Measured

    def of(self, queries: Sequence[Query], estimate: Floats) -> Floats:
        """The typical error of each query.

        Args:
            queries: The queries.
            estimate: What the model counts.
        """
        return np.array([
            self._one(query, max(0.0, float(counted)))
            for query, counted in zip(queries, estimate, strict=True)
        ])  # fmt: skip

    def _one(self, query: Query, counted: float) -> float:
        conditions = dict(query.where)
        if query.classes is not None:
            conditions[CLASS] = tuple((float(code), float(code + 1)) for code in query.classes)
        number = max(1.0, self.model.forest.total)
        noise = {a: self._variance(a, intervals) for a, intervals in conditions.items()}
        # a count that was taken for nothing may still be as large as its noise
        share = {
            a: min(1.0, max(self._share(a, intervals), noise[a] ** 0.5 / number))
            for a, intervals in conditions.items()
        }
        counted = max(counted, number * math.prod(share.values()))
        square = counted + 1 + (counted / number) ** 2 * self.measured.single.variance
        for place, variance in noise.items():
            square += (counted / (number * share[place])) ** 2 * variance
        for pair in combinations(sorted(conditions), 2):
            one, other = (share[place] for place in pair)
            if self._is_measured(pair):
                variance = self._pair_variance(pair, conditions)
                square += (counted / (number * one * other)) ** 2 * variance
            else:
                square += self.phi**2 * counted**2 * (1 - one) * (1 - other) / (one * other)
        return float(_FACTOR * square**0.5)

    def _share(self, place: int, intervals: Intervals) -> float:
        """The part of all records that meet a condition, by the model."""
        if place == CLASS:
            found = self.model.by_class
            held = found[[int(low) for low, _ in intervals]].sum()
            return float(np.clip(held / max(found.sum(), _TINY), 1e-6, 1.0))
        mass = self.model.forest.codes[place]
        ends = np.concatenate([[0.0], np.cumsum(mass)])
        held = sum(
            np.interp(high, np.arange(len(ends)), ends) - np.interp(low, np.arange(len(ends)), ends)
            for low, high in intervals
        )
        return float(np.clip(held / max(ends[-1], _TINY), 1e-6, 1.0))

    def _variance(self, place: int, intervals: Intervals) -> float:
        """The noise of a condition's own count."""
        if place not in self.measured.edges:
            return (self.model.forest.total / 2) ** 2  # nobody knows
        edges = self.measured.edges[place]
        covered = cover(edges, intervals)
        cells, counted = len(covered.touched), int(covered.touched.sum())
        found = float(self.measured.single.noise * counted * (1 - counted / (cells + 1)))
        for cell in covered.cut.tolist() if place != CLASS else []:
            low, high = int(edges[cell]), int(edges[cell + 1])
            if (place, cell) in self.measured.parts:
                parts = cover(self.measured.parts[place, cell][0], intervals)
                found += self.measured.parts_variance * int(parts.touched.sum())
            else:
                held = sum(max(0.0, min(high, b) - max(low, a)) for a, b in intervals)
                share = held / (high - low)
                mass = float(self.model.forest.codes[place][low:high].sum())
                found += _UNEVEN * mass**2 * share * (1 - share)
        return found

    def _pair_variance(self, pair: tuple[int, int], conditions: dict[int, Intervals]) -> float:
        one, other = (cover(self.measured.groups[place], conditions[place]) for place in pair)
        assert self.measured.pairs is not None
        return self.measured.pairs.noise * float(one.touched.sum() * other.touched.sum())

    def _is_measured(self, pair: tuple[int, int]) -> bool:
        return self.measured.pairs is not None and (pair[1], pair[0]) in self.measured.pairs.counts

    @cached_property
    def phi(self) -> float:
        """The correlation that the model typically lacks."""
        regions, forest = self.model.regions, self.model.forest
        drawn = self.model.weighed.region
        number = len(regions.counts)
        expected = np.bincount(drawn, minlength=number) / len(drawn) * forest.total
        excess = (regions.counts - expected) ** 2 - regions.noise**2 - expected
        every = np.arange(number)
        odds: list[Floats] = []
        for place, mass in enumerate(forest.codes):
            ends = np.concatenate([[0.0], np.cumsum(mass)]) / max(mass.sum(), _TINY)
            parts = regions.partition.parts(place, every)
            share = np.clip((ends[parts.hi] - ends[parts.lo])[parts.index], 1e-6, 1.0)
            odds.append((1 - share) / share)
        square = np.zeros(number)
        for one, other in combinations(range(len(odds)), 2):
            if not self._is_measured((one, other)):
                square += odds[one] * odds[other]
        spread = float((expected**2 * square).sum())
        if spread <= 0:
            return _USUAL
        return float(np.clip(max(0.0, float(excess.sum())) / spread, _LEAST**2, _MOST**2) ** 0.5)
