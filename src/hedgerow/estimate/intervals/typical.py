"""How far the model's counts are typically off: a guess, never called an interval.

A count by the model goes wrong in three ways: one-way tables are noisy (and do not tell where in a
cut cell records lie), pairs that were measured are noisy, and attributes whose pair was not
measured are taken to be independent given the rest. A pair with shares p and q of the n records is
off by phi n sqrt(p (1 - p) q (1 - q)), if phi is the correlation of the two conditions that the
model lacks.

So with the estimate e, and shares p_a of the conditions,

    scale^2 = sum_a (e / (n p_a))^2 var_a + sum over measured pairs (e / (n p_a p_b))^2 var_ab / n^2
              + phi^2 sum over other pairs e^2 (1 - p_a) (1 - p_b) / (p_a p_b) + e + 1,

and 1.96 scale is the typical error. How often it is right is measured on two tables by
`benchmarks/marginal_intervals.py`. Where two attributes depend on each other strongly and were not
measured together, it is far too small.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from hedgerow.arrays import Floats, Ints
from hedgerow.estimate.intervals.candidates import Measured, both_of
from hedgerow.estimate.intervals.conditions import CLASS, Conditions

__all__ = ["Model", "TypicalError"]


_FACTOR = 1.96  # of a normal law, for 95%
_PHI = 0.1
_UNEVEN = 0.1  # how unevenly records may lie in a cell that was not counted in parts
_TINY = 1e-9


class Model(Protocol):
    """What a model says about single attributes."""

    @property
    def total(self) -> float:
        """How many records there are."""

    @property
    def codes(self) -> tuple[Floats, ...]:
        """Of each attribute, how many records have each code."""

    @property
    def by_class(self) -> Floats:
        """How many records have each class."""


@dataclass(frozen=True, eq=False)
class TypicalError:
    """The typical error of counts.

    Args:
        model: The model that counts.
        measured: The tables it was made of.
    """

    model: Model
    measured: Measured

    def of(self, asked: Conditions, estimate: Floats) -> Floats:
        """The typical error of each query.

        Args:
            asked: The conditions of the queries.
            estimate: What the model counts.
        """
        number = max(1.0, self.model.total)
        share, noise = self._conditions(asked)
        # a count that was taken for nothing may still be as large as its noise
        share = np.minimum(1.0, np.maximum(share, np.sqrt(noise) / number))
        together = np.ones(asked.queries)
        np.multiply.at(together, asked.query, share)
        counted = np.maximum(np.maximum(0.0, estimate), number * together)
        square = counted + 1 + (counted / number) ** 2 * self.measured.single.variance

        def over_conditions(values: Floats) -> Floats:
            return np.bincount(asked.query, values, asked.queries).astype(np.float64)

        square += (counted / number) ** 2 * over_conditions(noise / share**2)
        odds = (1 - share) / share
        unmeasured = (over_conditions(odds) ** 2 - over_conditions(odds**2)) / 2
        for variance, query, one, other in self._pairs(asked):
            unmeasured[query] -= odds[one] * odds[other]
            scale = (counted[query] / (number * share[one] * share[other])) ** 2
            square[query] += scale * variance
        square += _PHI**2 * counted**2 * np.maximum(0.0, unmeasured)
        return np.asarray(_FACTOR * np.sqrt(square))

    def _conditions(self, asked: Conditions) -> tuple[Floats, Floats]:
        """The part of all records that meet each condition, by the model, and its noise."""
        share, noise = np.ones(len(asked.place)), np.zeros(len(asked.place))
        for place in np.unique(asked.place).tolist():
            here = asked.on(place)
            mass = self.model.by_class if place == CLASS else self.model.codes[place]
            ends = np.concatenate([[0.0], np.cumsum(mass)])
            low, high = (np.interp(end, np.arange(len(ends)), ends) for end in asked.ends(here))
            held = asked.summed(here, high - low)
            share[here] = np.clip(held / max(ends[-1], _TINY), 1e-6, 1.0)
            noise[here] = self._variance(asked, here, place)
        return share, noise

    def _variance(self, asked: Conditions, here: Ints, place: int) -> Floats:
        """The noise of the count of conditions on one attribute."""
        if place not in self.measured.edges:
            return np.full(len(here), (self.model.total / 2) ** 2)  # nobody knows
        edges = self.measured.edges[place]
        covered = asked.cover(here, edges)
        counted = covered.touched.sum(axis=1)
        found = self.measured.single.noise * counted * (1 - counted / len(edges))
        for cell in np.flatnonzero(covered.cut.any(axis=0)).tolist():
            cut = covered.cut[:, cell]
            if (place, cell) in self.measured.parts:
                parts = asked.cover(here[cut], self.measured.parts[place, cell][0])
                found[cut] += self.measured.parts_variance * parts.touched.sum(axis=1)
            else:
                share = covered.share[cut, cell]
                mass = float(self.model.codes[place][edges[cell] : edges[cell + 1]].sum())
                found[cut] += _UNEVEN * mass**2 * share * (1 - share)
        return np.asarray(found, np.float64)

    def _pairs(self, asked: Conditions) -> Iterator[tuple[Floats, Ints, Ints, Ints]]:
        """Of pairs that were measured: their noise, the queries on both, and the conditions."""
        for pair, tables in self.measured.two_way.items():
            query, one, other = both_of(asked, pair)
            cells = [
                asked.cover(conditions, self.measured.groups[place]).touched.sum(axis=1)
                for conditions, place in zip((one, other), pair, strict=True)
            ]
            yield tables.noise * (cells[0] * cells[1]).astype(np.float64), query, one, other
