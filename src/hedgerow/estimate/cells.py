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
from hedgerow.estimate.consistency import Fit, fit, gather, is_censored
from hedgerow.measured.measurements import Measurement
from hedgerow.measured.partition import Partition

# Whole numbers that are not negative and add up.
#
# From the top down they add up exactly at every node and class. The total is rounded; then at every
# node the children's counts become the nearest whole numbers that are not negative and add up to
# what their parent was given. Near is meant in least squares, with each child weighed by the
# inverse of the variance that its count has once its parent's is fixed.


_DIGITS = 9  # finer differences are floating-point dust, and must not decide a tie
_LEAST_WEIGHT = 1e-9  # so that somebody can always give way


def whole_cells(fit: Fit) -> Ints:
    """The published counts of the regions, shape [regions, classes].

    Args:
        fit: Consistent counts, not rounded, of a tree whose nodes were all counted alike: there
            are no classes, or they are on top.
    """
    counts, passes = fit.counts, fit.passes
    nodes, up = passes.levels.nodes, passes.levels.up
    column = np.arange(counts.shape[1])
    total = np.array([max(0, round(float(counts[0].sum())))])
    given = np.zeros(counts.shape, np.int64)
    given[0] = share_out(counts[0], np.ones(len(column)), 0 * column, total)
    for level in range(1, len(nodes)):
        here, above = nodes[level], nodes[level - 1]
        weight = np.repeat(passes.share[here].astype(np.float64), len(column))
        group = (up[level][:, None] * len(column) + column).ravel()
        parts = share_out(counts[here].ravel(), weight, group, given[above].ravel())
        given[here] = parts.reshape(-1, len(column))
    return given[fit.evidence.leaves]


def share_out(values: Floats, weight: Floats, group: Ints, totals: Ints) -> Ints:
    """The nearest whole numbers, not negative, that add up to a total in each group.

    Least squares first: in each group q = max(0, x - w * t) with the one t for which the q add
    up. Then each q is rounded down, and what is missing goes to the largest remainders; ties go
    to the earlier number.

    Args:
        values: The numbers.
        weight: How easily each gives way: its variance, in any unit that its group shares.
        group: The group of each.
        totals: What each group adds up to, at least 0.

    Example:
        >>> share_out(np.array([5.0, 1.0, -2.0, 0.5, 0.5]), np.ones(5),
        ...           np.array([0, 0, 0, 1, 1]), np.array([4, 1])).tolist()
        [4, 0, 0, 1, 0]
    """
    groups = len(totals)
    weight = np.maximum(weight, _LEAST_WEIGHT)
    above = totals[group] > 0
    level = np.zeros(groups)
    # leave out whoever falls to 0 and settle the rest anew: the level only rises, so nobody who
    # was left out would have come back
    active = np.flatnonzero(above)
    while len(active):
        who = group[active]
        summed = np.bincount(who, values[active], groups) - totals
        weights = np.bincount(who, weight[active], groups)
        level = np.divide(summed, weights, out=level, where=weights > 0)
        stays = values[active] > weight[active] * level[who]
        if stays.all():
            break
        active = active[stays]
    nearest = np.where(above, np.maximum(0.0, values - weight * level[group]), 0.0)
    return _rounded(nearest, group, totals)


def _rounded(values: Floats, group: Ints, totals: Ints) -> Ints:
    """Largest remainders in every group at once."""
    flat = np.round(values, _DIGITS)
    floor = np.floor(flat)
    result = floor.astype(np.int64)
    size = np.bincount(group, minlength=len(totals))
    missing = totals - np.bincount(group, floor, len(totals)).astype(np.int64)
    behind = np.round(floor - flat, _DIGITS)  # the larger the remainder, the earlier
    if not (np.diff(group) >= 0).all():
        order = np.lexsort((behind, group))
    elif len(size) and (size == size[0]).all():
        # groups of one size are the usual case, and much faster to sort
        order = np.argsort(behind.reshape(-1, size[0]), axis=1, kind="stable")
        order = (order + np.arange(len(size))[:, None] * size[0]).ravel()
    else:
        order = np.lexsort((behind, group))
    start = np.cumsum(size) - size
    rank = np.arange(len(values)) - start[group[order]]
    result[order] += rank < missing[group[order]]
    # rounding errors of long sums may leave more to hand out than there are numbers, or less
    for odd in np.flatnonzero((missing < 0) | (missing > size)):
        result[group == odd] = round_to_total(values[group == odd], int(totals[odd]))
    return result


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
        rule: How counts of a tree are made to agree, one of `hedgerow.estimate.consistency.RULES`.
            A thresholded release has no tree.
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
