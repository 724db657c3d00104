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

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from hedgerow.arrays import Bools, Floats, Ints
from hedgerow.errors import UsageError
from hedgerow.estimate.consistency import Fit, is_censored
from hedgerow.estimate.measurements import Measurement
from hedgerow.estimate.partition import Partition, Parts, TreePartition, dictionary, numbers
from hedgerow.schema import Attribute, Categorical, Schema
from hedgerow.suggestions import whole

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
    return given[fit.leaves]


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
    values = np.where(above, np.maximum(0.0, values - weight * level[group]), 0.0)
    # largest remainders in every group at once
    flat = np.round(values, _DIGITS)
    floor = np.floor(flat)
    result = floor.astype(np.int64)
    size = np.bincount(group, minlength=len(totals))
    missing = totals - np.bincount(group, floor, len(totals)).astype(np.int64)
    behind = np.round(floor - flat, _DIGITS)  # the larger the remainder, the earlier
    if len(size) and (size == size[0]).all() and (np.diff(group) >= 0).all():
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
class CellCounts:
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
) -> CellCounts:
    """Estimates every cell from all measurements.

    Args:
        partition: The regions.
        measurements: What was measured.
        classes: The number of classes, 1 if there is none.
        rule: How counts of a tree are made to agree, one of `hedgerow.estimate.consistency.RULES`.
            A thresholded release has no tree.
    """
    if is_censored(measurements):
        return _counts_of_listed(measurements, classes)
    if rule == "none":  # what was counted on the way to the regions is not looked at again
        measurements = [m for m in measurements if m.at == "region"] or measurements
    fitted = Fit(partition, measurements, classes, rule)
    values = fitted.cells
    variance = np.repeat(fitted.variance[:, None], values.shape[1], axis=1)
    return CellCounts(regions=np.arange(len(values)), values=values, variance=variance, fit=fitted)


def _counts_of_listed(measurements: Sequence[Measurement], classes: int) -> CellCounts:
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
    totals = [  # of the whole table, whatever they were bought for
        (float(m.values[row].sum()), float(m.variance[row] * m.values.shape[1]))
        for m in measurements
        if m.at == "node"
        for row in np.flatnonzero(m.where == 0)
    ]
    return CellCounts(
        regions=regions,
        values=np.divide(weighted, weight, out=np.zeros_like(weight), where=listed),
        variance=np.divide(1.0, weight, out=np.zeros_like(weight), where=listed),
        totals=tuple(totals),
    )


def noisy_total(cells: CellCounts) -> float | None:
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


def whole_counts(cells: CellCounts) -> Ints:
    """The published counts of the listed cells: whole, not negative, adding up to the total.

    The total is the noisy one, rounded. A thresholded release without a measured total keeps its
    listed values as they are. So do papers: each count becomes the nearest whole number that is not
    negative, and what is cut off below 0 is too much in the sum.
    """
    papers = cells.fit is not None and cells.fit.rule != "least squares"
    if cells.fit is not None and cells.fit.by_class is None and not papers:
        return whole_cells(cells.fit)
    total = None if papers else noisy_total(cells)
    if total is None:
        return np.maximum(np.rint(cells.values), 0).astype(np.int64)
    goal = max(0, round(total))
    if not (cells.variance > 0).any():
        return np.zeros(cells.values.shape, np.int64)
    known = np.minimum(cells.variance, _UNKNOWN)
    return round_to_total(project(cells.values, known, goal), goal)


# Synthetic rows: records drawn inside the regions of a release.
#
# Drawing reads published counts only, so ordinary pseudo-random numbers are right here: nothing
# secret hangs on them.

STAND_INS = 100_000
_MOST_ROWS = 1 << 24  # a release may come from anybody, and claim any number


def draw_rows(
    schema: Schema,
    parts: Sequence[Parts],
    counts: Ints,
    n: int | None = None,
    seed: int | None = None,
) -> pa.Table:
    """Rows with the schema's columns, the class last, in random order.

    Within its region a value is uniform over the codes. Integers and dates are then uniform within
    their grid cell; decimals are grid points, no finer than the schema's step. The "other" code of
    a numeric attribute becomes null.

    Args:
        schema: The public description of the columns.
        parts: For each attribute the intervals of the published regions, or of generalized rows.
        counts: The counts of these, shape [regions, classes].
        n: How many rows to draw; without it, as many as the release counts.
        seed: For the same rows again.

    Raises:
        UsageError: If n or the seed is no whole number from 0, the release counts nobody to draw
            from, or no n is given and it counts very many.
    """
    check_whole("n", n)
    check_whole("seed", seed)
    random = np.random.default_rng(seed)
    return rows_of(schema, draw_codes(schema, parts, counts, n, random), random)


def draw_codes(
    schema: Schema,
    parts: Sequence[Parts],
    counts: Ints,
    n: int | None,
    seed: np.random.Generator | int,
) -> Iterator[Ints]:
    """The same rows as codes, one column after another: see `draw_rows`."""
    random = np.random.default_rng(seed)
    weights = counts.ravel()
    total = int(weights.sum())
    if n is None and total > _MOST_ROWS:
        raise UsageError(
            "this release counts very many records, more than are drawn unasked",
            hint="Say how many rows you want (--rows, n=).",
        )
    if n and not total:
        raise UsageError(
            "this release counts no records, so there is nothing to draw from",
            hint="Leave the number of rows out to get an empty table.",
        )
    if n is not None:
        weights = random.multinomial(n, weights / total) if n else np.zeros_like(weights)
    cell = random.permutation(np.repeat(np.arange(len(weights)), weights))
    return _codes_in(schema, parts, counts.shape[1], cell, random)


def _codes_in(
    schema: Schema, parts: Sequence[Parts], classes: int, cell: Ints, random: np.random.Generator
) -> Iterator[Ints]:
    """The codes of rows by the region and class of each, column by column."""
    row, klass = np.divmod(cell, classes)
    for part in parts:
        interval = part.index[row]
        low, width = part.lo[interval], (part.hi - part.lo)[interval]
        yield low + (random.random(len(row)) * width).astype(np.int64)
    if schema.target is not None:
        yield klass


def stand_for(
    schema: Schema, parts: Sequence[Parts], counts: Ints, seed: int
) -> tuple[pa.Table, Floats]:
    """Rows that stand for the records of regions, and for how many each does.

    Those of a region and class add up to its count. There are as many rows as records, or with very
    many about `STAND_INS`, at least one for each count above 0.

    Args:
        schema: The public description of the columns.
        parts: As for `draw_rows`.
        counts: As for `draw_rows`.
        seed: Where the rows come from.
    """
    weights, total = counts.ravel(), int(counts.sum())
    number = weights
    if total > STAND_INS:
        number = np.ceil(weights * (STAND_INS / total)).astype(np.int64)
    random = np.random.default_rng(seed)
    cell = random.permutation(np.repeat(np.arange(len(weights)), number))
    rows = rows_of(schema, _codes_in(schema, parts, counts.shape[1], cell, random), random)
    return rows, weights[cell] / np.maximum(1, number)[cell]


def rows_of(schema: Schema, codes: Iterable[Ints], random: np.random.Generator) -> pa.Table:
    """Columns of codes, the class last, as a table of values."""
    columns = zip(schema.columns, codes, strict=True)
    return pa.table({one.name: values_of(one, column, random) for one, column in columns})


def check_whole(name: str, number: object) -> None:
    """Refuses what is no whole number from 0; None means that nothing was asked for."""
    if number is not None and whole(name, number) < 0:
        raise UsageError(
            f"{name} is negative.", hint=f"Write {name}=0 or more, or leave {name} out."
        )


def values_of(attribute: Attribute, codes: Ints, random: np.random.Generator) -> pa.Array:
    """Values for codes: labels, or numbers and dates drawn inside their grid cells."""
    if isinstance(attribute, Categorical):
        return labels_of(attribute, codes)
    nulls = codes >= attribute.grid
    if attribute.kind == "decimal" or attribute.step == 1:
        return numbers(attribute, codes, nulls)
    low, high, step = int(attribute.low), int(attribute.high), int(attribute.step)
    start = low + np.minimum(codes, attribute.grid - 1) * step
    width = np.minimum(start + step, high + 1) - start  # the last cell may be cut short
    inside = (random.random(len(codes)) * width).astype(np.int64)
    return numbers(attribute, codes, nulls, inside)


def labels_of(attribute: Categorical, codes: Ints, nulls: Bools | None = None) -> pa.Array:
    """The leaf labels of codes; truth values if the attribute is a boolean of just those."""
    leaves = attribute.taxonomy.leaves
    truths = [leaf.lower() == "true" for leaf in leaves]
    if attribute.boolean and sorted(leaf.lower() for leaf in leaves) == ["false", "true"]:
        return pa.array(np.array(truths)[codes], mask=nulls)
    return dictionary(pa.array(codes.astype(np.int32), mask=nulls), leaves)


# Which class a region mostly holds, with the help of its ancestors.
#
# A small region's counts are mostly noise. In a tree its parent is larger and much like it, so the
# parent's shares are the better guess wherever the region itself says little. All of it is computed
# from published numbers.


_SPREAD = 0.05
"""How far a node's class shares lie from its parent's, as a variance, about. Anything between
0.03 and 0.1 serves UCI Adult alike."""


def class_shares(partition: Partition, fit: Fit) -> Floats:
    """The shares of the classes in each region, shape [regions, classes].

    From the top down, a node's shares are the mean of its own and of its parent's, weighted by
    how much noise its own carry. Regions of a grid have no ancestors, and stand for themselves.
    """
    if not isinstance(partition, TreePartition) or len(partition.parent) == 1:
        return fit.cells
    parent, depth = partition.parent, partition.depth
    noise = np.zeros(len(parent))
    noise[partition.leaves] = fit.variance
    levels = [np.flatnonzero(depth == level) for level in range(int(depth.max()) + 1)]
    for nodes in levels[:0:-1]:
        np.add.at(noise, parent[nodes], noise[nodes])  # no less than it is: estimates agree better
    counts = np.maximum(fit.counts, 0)
    size = counts.sum(axis=1)
    own = counts / np.maximum(size, 1e-9)[:, None]
    weight = size**2 * _SPREAD / (size**2 * _SPREAD + noise + 1e-9)
    shares = own.copy()
    for nodes in levels[1:]:
        mine = weight[nodes, None]
        shares[nodes] = mine * own[nodes] + (1 - mine) * shares[parent[nodes]]
    return np.asarray(shares[partition.leaves])


def class_weights(partition: Partition, cells: CellCounts, regions: Ints) -> Floats:
    """How much each class weighs in some regions; in those that are suppressed, as in the whole.

    Args:
        partition: The regions.
        cells: What is known about the listed ones.
        regions: The regions asked about, such as those of rows.
    """
    shares = cells.values if cells.fit is None else class_shares(partition, cells.fit)
    every = np.vstack([shares, cells.values.sum(axis=0)])
    place = np.searchsorted(cells.regions, regions)
    listed = np.append(cells.regions, -1)[place] == regions
    return np.asarray(every[np.where(listed, place, len(cells.regions))])


def probabilities_of(weights: Floats) -> Floats:
    """Weights of classes as probabilities, shape [rows, classes].

    Example:
        >>> probabilities_of(np.array([[3.0, 1.0], [3.0, -1.0], [-2.0, -1.0]])).tolist()
        [[0.75, 0.25], [1.0, 0.0], [0.0, 1.0]]
    """
    best = weights == weights.max(axis=1, keepdims=True)
    weights = np.where(weights.max(axis=1, keepdims=True) > 0, np.maximum(weights, 0), best)
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))
