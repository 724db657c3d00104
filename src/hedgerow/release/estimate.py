"""Estimates: from noisy measurements to counts that are whole, not negative and add up.

Three steps, each a plain function on arrays: merge what was measured about a cell (a region and a
class), project the cells onto the noisy total, round. All of it is post-processing: it reads
measurements only, so it costs no budget and may be done again in a better way.

A thresholded (sparse) release is censored. Whatever is not listed was below the threshold, so it
is estimated as 0, which is too low on average; and a listed cell passed the threshold, so it is
too high on average. With a measured total the sum is right all the same, but mass of unlisted
cells is then credited to listed ones. Ask for a dense release where that matters.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow.release.measurements import Measurement
from hedgerow.release.partition import Partition, TreePartition

__all__ = ["Cells", "estimate_cells", "noisy_total", "project", "round_to_total", "whole_counts"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

TOTAL = "rows"
"""The name of the measurement that counts the whole table."""

_DIGITS = 9  # finer differences are floating-point dust, and must not decide a tie


@dataclass(frozen=True, eq=False)
class Cells:
    """What is known about the listed regions, class by class.

    Args:
        regions: The listed regions, increasing; in a dense release all of them. Shape [k].
        values: The merged estimate of each class of each, shape [k, classes].
        variance: Its variance; 0 marks a cell that was not listed, whose value is fixed at 0.
        censored: Whether unlisted cells fell below a threshold.
        totals: Measurements of the whole table: each value with its variance.
    """

    regions: Ints
    values: Floats
    variance: Floats
    censored: bool
    totals: tuple[tuple[float, float], ...] = ()


def estimate_cells(
    partition: Partition, measurements: Sequence[Measurement], classes: int
) -> Cells:
    """Merges all measurements of the same cell, each weighed by the inverse of its variance.

    Args:
        partition: The regions.
        measurements: What was measured; those that are not about the cells of a region are left
            aside here.
        classes: The number of classes, 1 if there is none.
    """
    parts = [
        (measurement, *_cells_of(partition, measurement))
        for measurement in measurements
        if measurement.name != TOTAL and (measurement.by_class or classes == 1)
    ]
    regions = np.unique(np.concatenate([np.empty(0, np.int64), *(part[1] for part in parts)]))
    weight = np.zeros((len(regions), classes))
    weighted = np.zeros_like(weight)
    for measurement, where, rows in parts:
        place = np.searchsorted(regions, where)
        share = 1 / measurement.variance[rows]
        values = measurement.values[rows]
        if measurement.klass is not None:
            cell = (place, measurement.klass[rows])
            np.add.at(weight, cell, share)
            np.add.at(weighted, cell, share * values[:, 0])
        else:
            np.add.at(weight, place, share[:, None])
            np.add.at(weighted, place, share[:, None] * values)
    listed = weight > 0
    return Cells(
        regions,
        np.divide(weighted, weight, out=np.zeros_like(weight), where=listed),
        np.divide(1.0, weight, out=np.zeros_like(weight), where=listed),
        any(measurement.threshold is not None for measurement, *_ in parts),
        tuple(_totals(partition, measurements, classes)),
    )


def _cells_of(partition: Partition, measurement: Measurement) -> tuple[Ints, Ints]:
    """The regions a measurement speaks of, and the rows of it that do so."""
    if measurement.at == "region":
        return measurement.where, np.arange(len(measurement.where))
    if not isinstance(partition, TreePartition):
        return np.empty(0, np.int64), np.empty(0, np.int64)
    regions = partition.region_of_node[measurement.where]
    rows = np.flatnonzero(regions >= 0)  # inner nodes are no regions
    return regions[rows], rows


def _totals(
    partition: Partition, measurements: Sequence[Measurement], classes: int
) -> Iterator[tuple[float, float]]:
    """Counts of the root, whatever they were bought for, unless they already count as a cell."""
    root_is_cell = isinstance(partition, TreePartition) and partition.split[0] < 0
    for measurement in measurements:
        a_cell = root_is_cell and (measurement.by_class or classes == 1)
        if measurement.at == "node" and (measurement.name == TOTAL or not a_cell):
            spread = measurement.variance * measurement.values.shape[1]
            for row in np.flatnonzero(measurement.where == 0):
                yield float(measurement.values[row].sum()), float(spread[row])


def noisy_total(cells: Cells) -> float | None:
    """The best estimate of the number of records, or None if a censored release has none.

    Measured totals and the sum of the cells are weighed by their variances. The sum of a
    censored release is not unbiased, so there the measured totals stand alone.
    """
    estimates = list(cells.totals)
    if not cells.censored:
        estimates.append((float(cells.values.sum()), max(float(cells.variance.sum()), 1e-12)))
    if not estimates:
        return None
    weight = sum(1 / variance for _, variance in estimates)
    return sum(value / variance for value, variance in estimates) / weight


def project(values: Floats, variance: Floats, total: float) -> Floats:
    """The nearest non-negative numbers with a given sum.

    Least squares, each number weighed by the inverse of its variance: q = max(0, x - v * t) with
    the one t for which the q add up. Numbers of variance 0 stay as they are and take no part.

    Args:
        values: The numbers, any shape.
        variance: Their variances, same shape.
        total: What the result adds up to, at least 0; if no number may move, it cannot.

    Example:
        >>> project(np.array([5.0, 1.0, -2.0]), np.ones(3), 4.0).tolist()
        [4.0, 0.0, 0.0]
    """
    moving = variance > 0
    x, v = values[moving], variance[moving]
    result = np.maximum(values, 0.0)
    if not len(x):
        return result
    total = max(0.0, total - float(result[~moving].sum()))
    ratio = x / v
    order = np.argsort(-ratio, kind="stable")
    # with the k largest ratios above zero, t must be levels[k - 1]; the right k is the last one
    # whose own ratio is still above its level
    levels = (np.cumsum(x[order]) - total) / np.cumsum(v[order])
    above = np.flatnonzero(ratio[order] > levels)
    level = levels[above[-1]] if len(above) else ratio[order[0]]
    result[moving] = np.maximum(0.0, x - v * level)
    return result


def round_to_total(values: Floats, total: int) -> Ints:
    """Whole numbers that add up to the total, by the largest remainders.

    Ties go to the earlier number, which is the earlier cell in canonical order.

    Args:
        values: Numbers that are not negative and add up to the total, but for rounding errors.
        total: The sum.

    Example:
        >>> round_to_total(np.array([0.5, 1.25, 1.25]), 3).tolist()
        [1, 1, 1]
    """
    flat = np.round(values.ravel(), _DIGITS)
    whole = np.floor(flat)
    result = whole.astype(np.int64)
    missing = total - int(result.sum())
    remainder = np.round(flat - whole, _DIGITS)
    if missing > 0 and len(flat):
        # rounding errors of long sums may leave more to hand out than there are cells
        each, missing = divmod(missing, len(flat))
        result += each
        result[np.argsort(-remainder, kind="stable")[:missing]] += 1
    elif missing < 0:
        # the same in the other direction: take back from the largest, which feel it least
        for place in np.argsort(-result, kind="stable"):
            taken = min(int(result[place]), -missing)
            result[place] -= taken
            missing += taken
            if not missing:
                break
    return result.reshape(values.shape)


def whole_counts(cells: Cells) -> Ints:
    """The published counts of the listed cells: whole, not negative, adding up to the total.

    The total is the noisy one, rounded. A censored release without a measured total keeps its
    listed values as they are.
    """
    total = noisy_total(cells)
    if total is None:
        return np.maximum(np.rint(cells.values), 0).astype(np.int64)
    goal = max(0, round(total))
    if not (cells.variance > 0).any():
        return np.zeros(cells.values.shape, np.int64)
    return round_to_total(project(cells.values, cells.variance, goal), goal)
