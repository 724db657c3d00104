"""Estimates: from noisy measurements to counts that are whole, not negative and add up.

All of it is post-processing: it reads measurements only, so it costs no budget and may be done
again in a better way.

A dense release gets consistent counts from everything that was measured (`fit`), then whole ones.
Where all nodes of a tree were measured, whole numbers are made from the top down (`whole`). Where
classes were counted in the regions alone, all cells are projected onto the total at once: top-down,
what is below 0 in one class would be taken from the other classes of the same region, which errs
more (on Adult, DiffMulti: 3.3 records a cell instead of 3.0 at epsilon 1).

A thresholded (sparse) release is censored. Whatever is not listed was below the threshold, so it
is estimated as 0, which is too low on average; and a listed cell passed the threshold, so it is
too high on average. With a measured total the sum is right all the same, but mass of unlisted
cells is then credited to listed ones. Ask for a dense release where that matters.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from hedgerow.arrays import Floats, Ints
from hedgerow.estimate.fit import Fit, fit
from hedgerow.estimate.merge import gather, is_censored
from hedgerow.estimate.rounding import project, round_to_total, whole_cells
from hedgerow.measured.measurements import Measurement
from hedgerow.measured.partition import Partition

__all__ = ["Cells", "estimate_cells", "noisy_total", "whole_counts"]


_UNKNOWN = 1e12  # a variance for what was not measured: it gives way before anything else


@dataclass(frozen=True, eq=False, kw_only=True)
class Cells:
    """What is known about the listed regions, class by class.

    Args:
        regions: The listed regions, increasing; in a dense release all of them. Shape [k].
        values: The estimate of each class of each, shape [k, classes].
        variance: Its variance; 0 marks a cell that was not listed, whose value is fixed at 0.
        totals: Of a thresholded release: measurements of the whole table, with their variances.
        fit: Of a dense release: the consistent counts that the estimates are taken from.
    """

    regions: Ints
    values: Floats
    variance: Floats
    totals: tuple[tuple[float, float], ...] = ()
    fit: Fit | None = None


def estimate_cells(
    partition: Partition,
    measurements: Sequence[Measurement],
    classes: int,
    rule: str = "least squares",
) -> Cells:
    """Estimates every cell from all measurements.

    Args:
        partition: The regions.
        measurements: What was measured.
        classes: The number of classes, 1 if there is none.
        rule: How counts of a tree are made to agree, one of `hedgerow.estimate.fit.RULES`. A
            thresholded release has no tree.
    """
    if is_censored(measurements):
        return _listed(measurements, classes)
    if rule == "none":  # what was counted on the way to the regions is not looked at again
        measurements = [m for m in measurements if m.at == "region"] or measurements
    found = fit(gather(partition, measurements, classes), rule)
    values = found.cells
    variance = np.repeat(found.variance[:, None], values.shape[1], axis=1)
    return Cells(regions=np.arange(len(values)), values=values, variance=variance, fit=found)


def _listed(measurements: Sequence[Measurement], classes: int) -> Cells:
    """The listed cells of a thresholded release, as they are."""
    parts = [m for m in measurements if m.at == "region"]
    regions = np.unique(np.concatenate([np.empty(0, np.int64), *(m.where for m in parts)]))
    weight = np.zeros((len(regions), classes))
    weighted = np.zeros_like(weight)
    for measurement in parts:
        place = np.searchsorted(regions, measurement.where)
        share = 1 / measurement.variance
        if measurement.klass is not None:
            cell = (place, measurement.klass)
            np.add.at(weight, cell, share)
            np.add.at(weighted, cell, share * measurement.values[:, 0])
        else:
            np.add.at(weight, place, share[:, None])
            np.add.at(weighted, place, share[:, None] * measurement.values)
    listed = weight > 0
    return Cells(
        regions=regions,
        values=np.divide(weighted, weight, out=np.zeros_like(weight), where=listed),
        variance=np.divide(1.0, weight, out=np.zeros_like(weight), where=listed),
        totals=tuple(_totals(measurements)),
    )


def _totals(measurements: Sequence[Measurement]) -> Iterator[tuple[float, float]]:
    """Counts of the whole table, whatever they were bought for."""
    for measurement in measurements:
        if measurement.at == "node":
            spread = measurement.variance * measurement.values.shape[1]
            for row in np.flatnonzero(measurement.where == 0):
                yield float(measurement.values[row].sum()), float(spread[row])


def noisy_total(cells: Cells) -> float | None:
    """The best estimate of the number of records, or None if a thresholded release has none.

    The listed cells of a thresholded release are no unbiased sum, so there the measured totals
    stand alone.
    """
    if cells.fit is not None:
        return float(cells.fit.counts[0].sum())
    if not cells.totals:
        return None
    weight = sum(1 / variance for _, variance in cells.totals)
    return sum(value / variance for value, variance in cells.totals) / weight


def whole_counts(cells: Cells) -> Ints:
    """The published counts of the listed cells: whole, not negative, adding up to the total.

    The total is the noisy one, rounded. A thresholded release without a measured total keeps its
    listed values as they are. So do papers: each count becomes the nearest whole number that is not
    negative, and what is cut off below 0 is too much in the sum.
    """
    papers = cells.fit is not None and cells.fit.rule != "least squares"
    if cells.fit is not None and cells.fit.evidence.cells is None and not papers:
        return whole_cells(cells.fit)
    total = None if papers else noisy_total(cells)
    if total is None:
        return np.maximum(np.rint(cells.values), 0).astype(np.int64)
    goal = max(0, round(total))
    if not (cells.variance > 0).any():
        return np.zeros(cells.values.shape, np.int64)
    known = np.minimum(cells.variance, _UNKNOWN)
    return round_to_total(project(cells.values, known, goal), goal)
