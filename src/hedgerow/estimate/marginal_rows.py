"""Rows of a release with marginals: drawn from the forest, then weighed to agree with the regions.

The forest knows where records lie, and the regions know how many of each class they hold. Rows are
drawn from the forest, every row with one weight for each class. In turns, weights are scaled so
that regions hold the counts of the release, that attributes hold theirs, and that the classes of
each part have the shares that were counted, all as far as they stand out from their noise. This
is iterative proportional fitting: of all distributions with such counts, it finds the one nearest
to the forest. Then as many rows as are wanted are taken by their weights. Classes are dealt out in
proportion, and so that within a region each value gets its share of every class: chance would add
a noise of its own, which a model trained on the rows would take for something.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hedgerow.estimate.marginal_model import Forest, Random, shrunk
from hedgerow.measured.partition import Partition

if TYPE_CHECKING:
    from hedgerow.schema.query import Intervals, Query

__all__ = ["Held", "Weighed", "draw_detailed", "most_rows", "weigh", "weighed_counts"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

ROUNDS = 4
PER_ROW, LEAST_DRAWN, BLOCK = 3, 20_000, 50_000
_MOST_NUMBERS = 1 << 23
_MOST_STEP = 100.0  # no weight is scaled further at once
_MOST_DEALT = 1 << 24
_FIRMNESS = 30.0


@dataclass(frozen=True, eq=False)
class Held:
    """What the regions of a release hold; all of them must be listed.

    Args:
        partition: The regions.
        counts: How many records of each class they hold, by the release: [regions, classes].
        noise: The standard deviations of these counts.
    """

    partition: Partition
    counts: Floats
    noise: Floats

    @property
    def total(self) -> float:
        """How many records there are."""
        return max(1.0, float(self.counts.sum()))


@dataclass(frozen=True, eq=False)
class Weighed:
    """Rows that stand for records.

    Args:
        codes: [rows, attributes].
        region: The place of each row's region in the list of the release.
        weight: How many records of each class a row stands for: [rows, classes].
    """

    codes: Ints
    region: Ints
    weight: Floats


def weigh(forest: Forest, regions: Held, rows: int, random: Random) -> Weighed:
    """Draws rows from a forest and weighs them by the counts of the regions.

    Args:
        forest: Where records lie.
        regions: The regions and what they hold.
        rows: How many rows to draw.
        random: For the draw; nothing secret hangs on it.
    """
    codes = forest.draw(rows, random)
    region = regions.partition.locate(codes.astype(np.int32))
    codes, region = _everywhere(codes, region, regions, random)
    classes = regions.counts.shape[1]
    weight = np.full((len(codes), classes), regions.total / (rows * classes))
    parts = [which[codes[:, a]] for a, which in enumerate(forest.part)]
    groups = [which[codes[:, a]] for a, which in enumerate(forest.group)]
    weight = _to_regions(weight, region, regions)
    for _ in range(ROUNDS):
        for a, part in enumerate(parts):
            if forest.shares is not None:
                weight = _to_shares(weight, part, forest.shares[a], forest.noise)
            known = _by_class(groups[a], weight.sum(axis=1, keepdims=True), len(forest.groups[a]))
            weight = weight * _step(forest.groups[a][:, None], known)[groups[a]]
        weight = _to_regions(weight, region, regions)
    return Weighed(codes, region, weight)


def draw_detailed(forest: Forest, regions: Held, rows: int, random: Random) -> tuple[Ints, Ints]:
    """So many rows as codes, in random order, and their classes."""
    codes, classes = [np.empty((0, len(forest.codes)), np.int64)], [np.empty(0, np.int64)]
    left = rows
    while left > 0:
        size = min(left, BLOCK, most_rows(len(forest.codes), regions.counts.shape[1]) // PER_ROW)
        drawn = max(LEAST_DRAWN, PER_ROW * size)
        found = weigh(forest, regions, drawn, random)
        taken = _take(found, size, random)
        shares = found.weight[taken] / np.maximum(found.weight[taken].sum(axis=1), 1e-300)[:, None]
        features = np.stack([which[found.codes[taken, a]] for a, which in enumerate(forest.part)])
        classes.append(_dealt(features, found.region[taken], shares, len(regions.counts), random))
        codes.append(found.codes[taken])
        left -= size
    order = random.permutation(rows)
    return np.concatenate(codes)[order], np.concatenate(classes)[order]


def most_rows(attributes: int, classes: int) -> int:
    """How many rows may be weighed at once, whatever a stranger's schema says."""
    return max(1_000, _MOST_NUMBERS // (attributes + classes))


def weighed_counts(weighed: Weighed, sizes: Sequence[int], queries: Sequence[Query]) -> Floats:
    """How many records the rows stand for that meet each query."""
    from hedgerow.estimate.marginal_kernels import weight_inside  # loads numba

    found = np.empty(len(queries))
    codes = weighed.codes.astype(np.int32)
    weights: dict[tuple[int, ...] | None, Floats] = {}
    for number, query in enumerate(queries):
        classes = None if query.classes is None else tuple(query.classes)
        if classes not in weights:
            kept = slice(None) if classes is None else list(classes)
            weights[classes] = weighed.weight[:, kept].sum(axis=1)
        places = np.array([a for a, _ in query.where], np.int64)
        shares = [_covered(sizes[a], intervals) for a, intervals in query.where]
        start = np.cumsum([0, *map(len, shares)])[:-1].astype(np.int64)
        flat = np.concatenate([np.empty(0), *shares])
        found[number] = weight_inside(codes, weights[classes], places, start, flat)
    return found


def _everywhere(codes: Ints, region: Ints, regions: Held, random: Random) -> tuple[Ints, Ints]:
    """Adds rows, spread evenly, in regions that hold records and that no row was drawn for."""
    held = np.maximum(shrunk(regions.counts, regions.noise), 0.0).sum(axis=1)
    missed = np.flatnonzero((held > 0) & (np.bincount(region, minlength=len(held)) == 0))
    if not len(missed):
        return codes, region
    share = np.minimum(held[missed] / regions.total, 1 / len(missed))
    more = np.repeat(missed, 1 + (share * len(codes)).astype(np.int64))
    lo, hi = regions.partition.bounds(more)
    even = lo + (random.random(lo.shape) * (hi - lo)).astype(np.int64)
    return np.concatenate([codes, even]), np.concatenate([region, more])


def _covered(size: int, intervals: Intervals) -> Floats:
    """The share of each code that intervals cover."""
    code = np.arange(size, dtype=np.float64)
    share = np.zeros(size)
    for low, high in intervals:
        share += np.clip(np.minimum(code + 1, high) - np.maximum(code, low), 0.0, 1.0)
    return share


def _step(wanted: Floats, known: Floats) -> Floats:
    """What weights are scaled by; what nobody was drawn for stays out of reach."""
    scale: Floats = np.minimum(wanted / np.maximum(known, 1e-9), _MOST_STEP)
    return scale


def _by_class(cell: Ints, weight: Floats, number: int) -> Floats:
    return np.stack([np.bincount(cell, column, number) for column in weight.T], axis=1)


def _to_regions(weight: Floats, region: Ints, regions: Held) -> Floats:
    """Moves regions towards their counts, as far as those stand out."""
    now = _by_class(region, weight, len(regions.counts))
    wanted = np.maximum(now + shrunk(regions.counts - now, regions.noise), 0.0)
    scaled = weight * _step(wanted, now)[region]
    return np.asarray(scaled * (regions.total / max(1e-9, float(scaled.sum()))))


def _to_shares(weight: Floats, part: Ints, counted: Floats, noise: float) -> Floats:
    """Moves the classes of each part towards their counted shares, as far as those stand out."""
    held = _by_class(part, weight, len(counted))
    now = held / np.maximum(held.sum(axis=1, keepdims=True), 1e-9)
    size = np.maximum(counted.sum(axis=1, keepdims=True), 1.0)
    wanted = np.clip(now + shrunk(counted / size - now, noise / size), 0.005, 0.995)
    return np.asarray(weight * np.clip(wanted / np.maximum(now, 1e-9), 0.1, 10.0)[part])


def _take(weighed: Weighed, number: int, random: Random) -> Ints:
    """Rows in proportion to their weights, spread evenly over regions and then over values."""
    order = np.lexsort((*weighed.codes.T[::-1], weighed.region))
    ends = np.cumsum(weighed.weight.sum(axis=1)[order])
    marks = (np.arange(number) + random.random()) * (ends[-1] / number)
    return np.asarray(order[np.minimum(np.searchsorted(ends, marks, side="right"), len(order) - 1)])


def _dealt(features: Ints, region: Ints, shares: Floats, regions: int, random: Random) -> Ints:
    """A class for each row."""
    number = len(region)
    chance = random.random(number)
    ends = np.cumsum(shares, axis=1)
    if shares.shape[1] == 1:
        return np.zeros(number, np.int64)
    sizes = features.max(axis=1) + 1
    if regions * int(sizes.sum() + 1) * shares.shape[1] > _MOST_DEALT:
        above: Ints = (chance[:, None] >= ends[:, :-1]).sum(axis=1)
        return above
    start = np.concatenate([[0], np.cumsum(sizes)])
    cells = np.concatenate([features + start[:-1, None], np.full((1, number), start[-1])]).T
    from hedgerow.estimate.marginal_kernels import deal  # loads numba

    order = random.permutation(number)
    room = (regions, int(start[-1]) + 1, shares.shape[1])
    dealt: Ints = deal(np.ascontiguousarray(cells), region, shares, order, chance, room, _FIRMNESS)
    return dealt
