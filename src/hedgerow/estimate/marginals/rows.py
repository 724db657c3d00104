"""Rows that stand for records: drawn from the forest, then weighed to agree with the regions.

The forest knows where records lie, and the regions know how many of them they hold. Rows are drawn
from the forest. In turns, their weights are scaled so that regions hold what was counted and that
attributes hold theirs, all as far as they stand out from their noise. This is iterative
proportional fitting: of all distributions with such counts, it finds the one nearest to the forest.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hedgerow.arrays import Floats, Ints
from hedgerow.estimate.marginals.forest import Forest, Random, short, shrunk
from hedgerow.estimate.marginals.kernels import deal
from hedgerow.measured.partition import Partition

__all__ = ["Held", "Weighed", "deal_classes", "most_rows", "take_rows", "weigh"]


ROUNDS = 4
_MOST_NUMBERS = 1 << 23
_MOST_STEP = 100.0  # no weight is scaled further at once
_MOST_DEALT = 1 << 24
_FIRMNESS = 30.0


@dataclass(frozen=True, eq=False)
class Held:
    """What the regions of a release hold; all of them must be listed.

    Args:
        partition: The regions.
        counts: How many records they hold, by the release.
        noise: The standard deviations of these counts.
    """

    partition: Partition
    counts: Floats
    noise: Floats


@dataclass(frozen=True, eq=False)
class Weighed:
    """Rows that stand for records.

    Args:
        synthetic: Their codes, [rows, attributes]: drawn from a model, and not private.
        region: The region of each row.
        weight: How many records a row stands for.
    """

    synthetic: Ints
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
    codes, region = _everywhere(forest, codes, region, regions, random)
    groups = [
        (which[codes[:, a]], forest.groups[a])
        for a, which in enumerate(forest.group)
        if len(forest.groups[a]) > 1
    ]
    known: list[tuple[Ints, Floats | Ints, Floats | float]] = [
        (region, regions.counts, regions.noise)
    ]
    tables, deviation = forest.extra
    for (one, other), table in tables.items():
        cell = forest.group[one][codes[:, one]] * table.shape[1]
        known.append((cell + forest.group[other][codes[:, other]], table.ravel(), deviation))
    weight = np.full(len(codes), forest.total / len(codes))
    for _ in range(ROUNDS):
        for where, counts, noise in known:
            now = np.asarray(np.bincount(where, weight, len(counts)), np.float64)
            wanted = np.maximum(now + shrunk(counts - now, noise), 0.0)
            weight = weight * _step(wanted, now)[where]
            weight *= forest.total / max(1e-9, float(weight.sum()))
        for group, mass in groups:
            inside = np.asarray(np.bincount(group, weight, len(mass)), np.float64)
            weight = weight * _step(mass, inside)[group]
    weight *= forest.total / max(1e-9, float(weight.sum()))  # what was out of reach is missing
    return Weighed(codes, region, weight)


def most_rows(attributes: int) -> int:
    """How many rows may be weighed at once, whatever a stranger's schema says."""
    return max(1_000, _MOST_NUMBERS // (attributes + 2))


def take_rows(weighed: Weighed, number: int, random: Random) -> Ints:
    """Rows in proportion to their weights, spread evenly over regions and then over values."""
    keys = (*weighed.synthetic.T[::-1], weighed.region)
    order = np.lexsort([short(key) for key in keys])
    ends = np.cumsum(weighed.weight[order])
    marks = (np.arange(number) + random.random()) * (ends[-1] / number)
    return np.asarray(order[np.minimum(np.searchsorted(ends, marks, side="right"), len(order) - 1)])


def deal_classes(
    features: Ints, region: Ints, shares: Floats, regions: int, random: Random
) -> Ints:
    """A class for each row: by its shares, and so that each value gets its share of every class.

    Chance alone would add a noise of its own, which a model trained on the rows would take for
    something.

    Args:
        features: What each row is counted in besides its region: [cells of a row, rows].
        region: The region of each row.
        shares: The class probabilities of each row.
        regions: How many regions there are.
        random: For the draw.
    """
    number = len(region)
    chance = random.random(number)
    ends = np.cumsum(shares, axis=1)
    if shares.shape[1] == 1:
        return np.zeros(number, np.int64)
    sizes = features.max(axis=1, initial=0) + 1
    if regions * int(sizes.sum() + 1) * shares.shape[1] > _MOST_DEALT:
        above: Ints = (chance[:, None] >= ends[:, :-1]).sum(axis=1)
        return above
    start = np.concatenate([[0], np.cumsum(sizes)])
    cells = np.concatenate([features + start[:-1, None], np.full((1, number), start[-1])]).T
    cells = (cells + region[:, None] * (start[-1] + 1)) * shares.shape[1]
    order = random.permutation(number)
    excess = np.zeros(regions * int(start[-1] + 1) * shares.shape[1])
    dealt = np.zeros(number, np.int64)
    wish = np.zeros(shares.shape[1])
    deal(cells.ravel(), shares.ravel(), order, chance, wish, excess, _FIRMNESS, dealt)
    return dealt


def _everywhere(
    forest: Forest, codes: Ints, region: Ints, regions: Held, random: Random
) -> tuple[Ints, Ints]:
    """Adds rows in regions that hold records and that no row was drawn for.

    There they lie as the records of each attribute do.
    """
    held = np.maximum(shrunk(regions.counts, regions.noise), 0.0)
    missed = np.flatnonzero((held > 0) & (np.bincount(region, minlength=len(held)) == 0))
    if not len(missed):
        return codes, region
    share = np.minimum(held[missed] / forest.total, 1 / len(missed))
    more = np.repeat(missed, 1 + (share * len(codes)).astype(np.int64))
    lo, hi = regions.partition.bounds(more)
    drawn = np.empty(lo.shape, np.int64)
    for a, mass in enumerate(forest.codes):
        ends = np.concatenate([[0.0], np.cumsum(mass + 1e-9)])
        low, high = ends[lo[:, a]], ends[hi[:, a]]
        mark = low + random.random(len(low)) * (high - low)
        drawn[:, a] = np.searchsorted(ends, mark, side="right") - 1
    drawn = np.clip(drawn, lo, hi - 1)
    return np.concatenate([codes, drawn]), np.concatenate([region, more])


def _step(wanted: Floats, known: Floats) -> Floats:
    """What weights are scaled by; what nobody was drawn for stays out of reach."""
    scale: Floats = np.minimum(wanted / np.maximum(known, 1e-9), _MOST_STEP)
    return scale
