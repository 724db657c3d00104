"""Guaranteed ends of sums and means of a number, where one table counts all that is asked for.

A sum of values is a weighted sum of a table's cells, so its noise has a known law. With the
smallest values of cells as weights it is surely too low but for noise, with the largest too high.
The mean of n records with the sum s is the t for which s - t n = 0, a weighted sum again: the
interval holds every t that this does not rule out (Fieller 1954), and each is ruled out wrongly as
seldom as the level says. As in `ends`, weights are split into their mean, which meets the number of
records by all tables of the stage, and what differs from it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from hedgerow.arrays import Bools, Floats
from hedgerow.estimate.intervals.conditions import Conditions
from hedgerow.estimate.intervals.ends import Bounds, Stage
from hedgerow.estimate.noise import LATTICE, factor

__all__ = ["sum_ends"]

_ROUNDS = 60  # of bisection


def sum_ends(
    bounds: Bounds, asked: Conditions, place: int, values: tuple[Floats, Floats], level: float,
    *, mean: bool,
) -> tuple[float, float] | None:  # fmt: skip
    """The ends of the sum, or mean, of a number over the records of one query.

    Args:
        bounds: What is sure about counts.
        asked: The conditions of the query.
        place: The number.
        values: The smallest and the largest value of each of its cells, but for that of "other".
        level: The level.
        mean: Whether the mean is asked for.

    Returns:
        The ends; nothing if no table counts the number together with whole cells of all conditions.
    """
    query = bounds.asked(asked)
    classed = bool(query.of_classes[0])
    block = tuple(sorted({*query.at, place}))
    stages = [
        stage
        for stage in (bounds.base, *bounds.later)
        if block in (stage.by_class if classed else stage.all_classes)
    ]
    if place in query.at or not stages:
        return None
    stage = stages[0]  # what was counted before decides which this is, and not its own noise
    margin = (stage.by_class if classed else stage.all_classes)[block]
    cells = bounds.tables.cells
    group = cells.group[place] if stage.grouped else np.arange(cells.size(place))
    known, other = group[: len(values[0])], group[len(values[0]) :]
    if np.isin(other, known).any():
        return None
    held = np.ones([1] * len(block))
    for axis, column in enumerate(block):
        if column == place:
            continue
        inner, touched = (
            query.held(column, side, grouped=stage.grouped)[0] for side in ("inner", "touched")
        )
        if (inner != touched).any():
            return None
        held = held * inner.reshape([-1 if x == axis else 1 for x in range(len(block))])
    counts, many = margin.counts, 1
    if classed:
        counts, many = counts @ query.classes[0], int(query.classes[0].sum())
    number, noise = stage.number(query.classes if classed else None, 1)
    table = _Table(
        stage=stage, counts=counts, variance=margin.variance * many, held=held,
        axis=block.index(place), number=float(number[0]), noise=float(noise[0]),
    )  # fmt: skip

    def upper(largest: Floats) -> float:
        weight = np.full(int(group.max()) + 1, -np.inf)
        np.maximum.at(weight, known, largest)
        return table.upper(weight, level, mean=mean)

    return -upper(-values[0]), upper(values[1])


@dataclass(frozen=True, eq=False, kw_only=True)
class _Table:
    """One table of a stage, summed over the classes that are asked for.

    Args:
        stage: The stage.
        counts: The noisy counts.
        variance: The variance of each.
        held: Which of them are asked for, in any shape that fits.
        axis: The axis of the number.
        number: The number of records of these classes by all tables of the stage.
        noise: Its variance.
    """

    stage: Stage
    counts: Floats
    variance: float
    held: Floats
    axis: int
    number: float
    noise: float

    def upper(self, weight: Floats, level: float, *, mean: bool) -> float:
        """The upper end of a sum or mean with a weight for each cell of the number.

        A cell that is left out has the weight minus infinity.
        """
        inside: Bools = np.isfinite(weight)
        kept = weight[inside]
        values, ones = (
            self._spread(np.where(inside, one, 0.0)) for one in (weight, np.ones(len(weight)))
        )
        total, number = self._sum(values), self._sum(ones)
        square, both, one = (
            self._covariance(*pair) for pair in ((values, values), (values, ones), (ones, ones))
        )
        reach = factor(level, 0.0 if self.stage.normal else 1.0)

        def above(t: float) -> float:
            """What the sum of all values less t may be at most."""
            spread = math.sqrt(max(0.0, square - 2 * t * both + t * t * one))
            return total - t * number + reach * spread + LATTICE * float(np.abs(kept - t).max())

        if not mean:
            return above(0.0)
        low, high = float(kept.min()), float(kept.max())
        if above(high) >= 0 or above(low) < 0:
            return high
        for _ in range(_ROUNDS):  # it is convex in t, so it crosses 0 once
            middle = (low + high) / 2
            low, high = (middle, high) if above(middle) >= 0 else (low, middle)
        return high

    def _spread(self, weight: Floats) -> Floats:
        along = [-1 if axis == self.axis else 1 for axis in range(self.counts.ndim)]
        return np.asarray(np.broadcast_to(weight.reshape(along) * self.held, self.counts.shape))

    def _sum(self, weights: Floats) -> float:
        average = float(weights.mean())
        return float(((weights - average) * self.counts).sum()) + average * self.number

    def _covariance(self, one: Floats, other: Floats) -> float:
        contrast = float(((one - one.mean()) * (other - other.mean())).sum())
        return self.variance * contrast + float(one.mean() * other.mean()) * self.noise
