"""The threshold model on lattices of any size, step by step from the top: fast, no promise.

From the most general values, which are allowed, one attribute after another is made more special
by a step, as long as the risk stays allowed. The next step is the one that gains most utility for
what it loses of the count, by one of three measures; the best of three walks is kept. Then each
attribute in turn is taken up again, by a step or to the top, and the others may go on down before
it does; whatever ends higher is kept, until nothing does. Rows that a step makes inconsistent
leave for good, so a walk costs about two looks at each distinct side row.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from hedgerow.arrays import Bytes, Floats, Ints, Small
from hedgerow.optimise.exact import Solutions
from hedgerow.optimise.hierarchy import Forest
from hedgerow.optimise.model import Aim, Worth
from hedgerow.optimise.record import Record
from hedgerow.optimise.side import Side

__all__ = ["descend", "descend_from"]


_WALKS = 3


def descend(
    forest: Forest, side: Side, worth: Worth, aim: Aim, leaves: Small, factor: Floats
) -> Solutions:
    """A good generalisation of each record; see `exact.search` for the arguments."""
    assert aim.risk is not None
    records, width = leaves.shape
    nodes = np.full((records, width), -1, np.int32)
    found = np.zeros((records, 3))
    of_row = np.repeat(np.arange(len(side.first), dtype=np.int32), np.diff(side.start))
    ranks = np.concatenate([side.first[of_row], side.second[side.then]], axis=1)
    _descend(
        forest.parent, side.node_lo, side.node_hi, worth.utility, worth.weight, worth.floor,
        side.rank_start, np.ascontiguousarray(ranks), side.count, np.ascontiguousarray(leaves),
        np.ascontiguousarray(factor), aim.risk, nodes, found,
    )  # fmt: skip
    solved = nodes[:, 0] >= 0
    return Solutions(nodes, found[:, 0], found[:, 1], found[:, 2].astype(np.int64), solved)


def descend_from(record: Record, risk: float, point: Ints) -> Ints:
    """The best end of the walks that begin at a generalisation that is allowed."""
    width = int(record.heights.max(initial=0)) + 1
    utility, weight = (np.zeros((len(record.heights), width)) for _ in range(2))
    for place in range(len(record.heights)):
        utility[place, : record.heights[place] + 1] = record.utility[place]
        weight[place, : record.heights[place] + 1] = record.weight[place]
    end = point.copy()
    _best_walk(record.levels, record.counts, utility, weight, record.heights, risk, end)
    return end


@njit(cache=True)
def _walk(
    levels: Bytes, counts: Ints, utility: Floats, weight: Floats,
    risk: float, walk: int, banned: int, point: Ints,
) -> tuple[float, float, int]:  # fmt: skip
    """Walks down from a point, in place; its utility, sensitivity and count at the end.

    The banned attribute stays where it is.
    """
    rows, attributes = levels.shape
    alive = np.empty(rows, np.int32)
    number = 0
    at = np.zeros((attributes, 256), np.int64)
    total = 0
    for row in range(rows):
        inside = True
        for place in range(attributes):
            if levels[row, place] > point[place]:
                inside = False
                break
        if inside:
            alive[number] = row
            number += 1
            total += counts[row]
            for place in range(attributes):
                at[place, levels[row, place]] += counts[row]
    worth, sense = 0.0, 0.0
    for place in range(attributes):
        worth += utility[place, point[place]]
        sense += weight[place, point[place]]
    while True:
        best, choice = -1.0, -1
        for place in range(attributes):
            level = point[place]
            if level == 0 or place == banned:
                continue
            after = total - at[place, level]
            gain = utility[place, level - 1] - utility[place, level]
            cost = weight[place, level - 1] - weight[place, level]
            if after <= 0 or after * risk < sense + cost:
                continue
            if walk == 0:
                loss = np.log(total / after)
            elif walk == 1:
                loss = float(total - after)
            else:  # also what the step adds to the sensitivity
                loss = np.log(total / after * (sense + cost) / sense)
            ratio = (gain + 1e-9) / (loss + 1e-9)
            if ratio > best:
                best, choice = ratio, place
        if choice < 0:
            return worth, sense, total
        level = point[choice]
        worth += utility[choice, level - 1] - utility[choice, level]
        sense += weight[choice, level - 1] - weight[choice, level]
        kept = 0
        for place in range(number):
            row = alive[place]
            if levels[row, choice] == level:
                total -= counts[row]
                for other in range(attributes):
                    at[other, levels[row, other]] -= counts[row]
            else:
                alive[kept] = row
                kept += 1
        number = kept
        point[choice] = level - 1


@njit(cache=True)
def _best_walk(
    levels: Bytes, counts: Ints, utility: Floats, weight: Floats,
    heights: Ints, risk: float, point: Ints,
) -> tuple[float, float, int]:  # fmt: skip
    """The best of some walks down from a point that is allowed; the point becomes its end."""
    start = point.copy()
    trial = point.copy()
    best, sense, total = -1.0, 0.0, 0
    for walk in range(_WALKS):
        trial[:] = start
        value, weighed, number = _walk(levels, counts, utility, weight, risk, walk, -1, trial)
        if value > best:
            best, sense, total = value, weighed, number
            point[:] = trial
    better = True
    while better:
        better = False
        near, few = _near(levels, counts, point)
        for place in range(heights.size):
            low = point[place]
            for lift in range(2):
                up = low + 1 if lift == 0 else heights[place]
                if up > heights[place] or (lift == 1 and up <= low + 1):
                    continue
                for walk in range(_WALKS):
                    trial[:] = point
                    trial[place] = up
                    _walk(near, few, utility, weight, risk, walk, place, trial)
                    value, weighed, number = _walk(
                        near, few, utility, weight, risk, walk, -1, trial
                    )
                    if value > best + 1e-9:
                        best, sense, total = value, weighed, number
                        point[:] = trial
                        low = point[place]
                        near, few = _near(levels, counts, point)
                        better = True
    return best, sense, total


@njit(cache=True)
def _near(levels: Bytes, counts: Ints, point: Ints) -> tuple[Bytes, Ints]:
    """The rows that taking up one attribute could make consistent: at most one is in the way."""
    rows, attributes = levels.shape
    kept = np.empty(rows, np.int32)
    number = 0
    for row in range(rows):
        missed = 0
        for place in range(attributes):
            if levels[row, place] > point[place]:
                missed += 1
                if missed > 1:
                    break
        if missed <= 1:
            kept[number] = row
            number += 1
    return levels[kept[:number]], counts[kept[:number]]


@njit(cache=True)
def _descend(
    parent: Small, node_lo: Small, node_hi: Small, worth: Floats, weight: Floats, floor: float,
    rank_start: Ints, ranks: Small, count: Small, leaves: Small, factor: Floats, risk: float,
    nodes: Small, found: Floats,
) -> None:  # fmt: skip
    records, attributes = leaves.shape
    rows = ranks.shape[0]
    chains = np.zeros((attributes, 64), np.int32)
    length = np.zeros(attributes, np.int64)
    table = np.zeros(rank_start[attributes], np.uint8)
    levels = np.zeros((rows, attributes), np.uint8)
    counts = count.astype(np.int64)
    utility, sense = np.zeros((attributes, 64)), np.zeros((attributes, 64))
    point = np.zeros(attributes, np.int64)
    for record in range(records):
        for place in range(attributes):
            node, level = leaves[record, place], 0
            while node >= 0:
                chains[place, level] = node
                utility[place, level] = worth[node]
                sense[place, level] = max(weight[node] * factor[record, place], floor)
                node = parent[node]
                level += 1
            length[place] = level
            for level in range(length[place] - 1, -1, -1):
                node = chains[place, level]
                for rank in range(node_lo[node], node_hi[node]):
                    table[rank_start[place] + rank] = level
        for row in range(rows):
            for place in range(attributes):
                levels[row, place] = table[rank_start[place] + ranks[row, place]]
        total, top = 0, 0.0
        for row in range(rows):
            total += counts[row]
        for place in range(attributes):
            top += sense[place, length[place] - 1]
        if total * risk < top:
            continue
        heights = length - 1
        point[:] = heights
        value, weighed, number = _best_walk(levels, counts, utility, sense, heights, risk, point)
        found[record, 0], found[record, 1], found[record, 2] = value, weighed, number
        for place in range(attributes):
            nodes[record, place] = chains[place, point[place]]
