"""Walks that records take together, as long as they take the same steps.

Which side rows are consistent follows from generalised values alone, so they are counted once for
all records that share these. What a record chooses follows from its own values and from public
facts, whoever walks beside it; once few are left together, each goes on by itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hedgerow.arrays import Bytes, Floats, Ints, Small
from hedgerow.compiled import kernel
from hedgerow.optimise.walks import LEAPS, go_down, loss_of

__all__ = ["meet", "terms_of", "walk_together"]

_ALONE = 2  # so many go on alone


@kernel()
def terms_of(
    chain: Small, heights: Ints, worth: Floats, weight: Floats, floor: float, factor: Floats,
    utility: Floats, sense: Floats,
) -> None:  # fmt: skip
    """Utility and sensitivity of a record by attribute and level."""
    for place in range(heights.size):
        for level in range(heights[place] + 1):
            node = chain[place, level]
            utility[place, level] = worth[node]
            sense[place, level] = max(weight[node] * factor[place], floor)


@kernel()
def meet(
    chain: Small, heights: Ints, node_lo: Small, node_hi: Small, start: Ints, table: Bytes
) -> None:
    """The level at which each rank meets a record: the root covers all, then ever less."""
    for place in range(heights.size):
        for level in range(heights[place], -1, -1):
            node = chain[place, level]
            table[start[place] + node_lo[node] : start[place] + node_hi[node]] = level


@kernel()
def walk_together(
    node_lo: Small, node_hi: Small, worth: Floats, weight: Floats, floor: float, start: Ints,
    ranks: Any, count: Ints, chains: Small, heights: Ints, factor: Floats, risk: float,
    walk: int, points: Ints, found: Floats, room: Any, table: Bytes, utility: Floats,
    sense: Floats,
) -> None:  # fmt: skip
    """Walks of all records by one measure; whoever ends higher than before takes that end.

    Groups that are at the same generalised values lie one after another in `order`. What is left
    to do is a stack of groups, each with the slice of `alive` that its step was chosen from and
    with that step: a group's rows are put behind that slice, over those of groups that are done.
    """
    records, attributes, _ = chains.shape
    rows = ranks.shape[0]
    now = heights.copy()
    value, weighed = np.zeros(records), np.zeros(records)
    for record in range(records):
        for place in range(attributes):
            root = chains[record, place, heights[record, place]]
            value[record] += worth[root]
            weighed[record] += max(weight[root] * factor[record, place], floor)
    alive = np.empty(8 * rows, np.int32)
    for row in range(rows):
        alive[row] = row
    everybody = count.sum()
    order = np.flatnonzero(everybody * risk >= weighed)  # not even the roots of others are allowed
    key = np.zeros(records, np.int64)
    tally = np.zeros(start[attributes] + attributes, np.int64)
    # begin and end of the group, begin and end of the rows, the attribute stepped down, or -1
    stack = np.zeros((records + 1, 5), np.int64)
    stack[0] = 0, order.size, 0, rows, -1
    left = 1 if order.size else 0
    near, few, mine, at, live = room[4], room[5], room[6], room[9], room[10]
    over = np.zeros((records, attributes), np.bool_)  # attributes that can take no further step
    trial = np.zeros(attributes, np.int64)
    while left:
        left -= 1
        begin, end, first, last, step = stack[left]
        if step >= 0:
            node = chains[order[begin], step, now[order[begin], step]]
            if last + (last - first) > alive.size:
                longer = np.empty(2 * alive.size, np.int32)
                longer[:last] = alive[:last]
                alive = longer
            to = last
            for entry in range(first, last):
                row = alive[entry]
                if node_lo[node] <= ranks[row, step] < node_hi[node]:
                    alive[to] = row
                    to += 1
            if to - last < last - first:
                first, last = last, to
        if end - begin <= _ALONE:
            number = last - first
            for entry in range(begin, end):
                record = order[entry]
                terms_of(
                    chains[record], heights[record], worth, weight, floor, factor[record],
                    utility, sense,
                )  # fmt: skip
                meet(chains[record], heights[record], node_lo, node_hi, start, table)
                many = 0
                for place in range(attributes):
                    if not over[record, place]:
                        live[many] = place
                        many += 1
                at[:] = 0
                total = 0
                for row in range(number):
                    mine[row] = row
                    side_row = alive[first + row]
                    few[row] = count[side_row]
                    total += few[row]
                    for one in range(many):
                        place = live[one]
                        level = table[start[place] + ranks[side_row, place]]
                        near[row, place] = level
                        at[place, level] += few[row]
                trial[:] = now[record]
                best, heavy, total, _ = go_down(
                    near, few, mine, number, at, total, live, many, value[record],
                    weighed[record], utility, sense, risk, walk, -1, -1, 0, trial,
                    found[record, 0] - 1e-9,
                )  # fmt: skip
                if best > found[record, 0]:
                    found[record, 0], found[record, 1], found[record, 2] = best, heavy, total
                    points[record] = trial
            continue
        # how many rows are below each rank of each attribute that somebody may step down
        many = 0
        for place in range(attributes):
            for entry in range(begin, end):
                if not over[order[entry], place]:
                    live[many] = place
                    many += 1
                    break
        tally[:] = 0
        total = 0
        for entry in range(first, last):
            row = alive[entry]
            total += count[row]
            for one in range(many):
                place = live[one]
                tally[start[place] + place + 1 + ranks[row, place]] += count[row]
        for one in range(many):
            place = live[one]
            for rank in range(start[place] + place + 1, start[place + 1] + place + 1):
                tally[rank] += tally[rank - 1]
        for entry in range(begin, end):
            record = order[entry]
            best, choice, target = -1.0, -1, 0
            for one in range(many):
                place = live[one]
                level = now[record, place]
                if over[record, place] or level == 0:
                    over[record, place] = True
                    continue
                node, own = chains[record, place, level], factor[record, place]
                at_rank = start[place] + place
                before = weighed[record]
                for lower in range(level - 1, -1 if walk >= LEAPS else level - 2, -1):
                    child = chains[record, place, lower]
                    after = tally[at_rank + node_hi[child]] - tally[at_rank + node_lo[child]]
                    cost = max(weight[child] * own, floor) - max(weight[node] * own, floor)
                    if after <= 0 or after * risk < before + cost:
                        over[record, place] |= lower == level - 1
                        break
                    gain = worth[child] - worth[node]
                    loss = loss_of(walk, total, after, before, before + cost)
                    ratio = (gain + 1e-9) / (loss + 1e-9)
                    if ratio > best:
                        best, choice, target = ratio, place, lower
            if choice < 0:
                key[entry] = -1
                if value[record] > found[record, 0]:
                    found[record, 0], found[record, 1] = value[record], weighed[record]
                    found[record, 2] = total
                    points[record] = now[record]
                continue
            level = now[record, choice]
            node, child = chains[record, choice, level], chains[record, choice, target]
            own = factor[record, choice]
            value[record] += worth[child] - worth[node]
            weighed[record] += max(weight[child] * own, floor) - max(weight[node] * own, floor)
            now[record, choice] = target
            key[entry] = child * attributes + choice
        by_step = np.argsort(key[begin:end], kind="mergesort")
        order[begin:end] = order[begin:end][by_step]
        steps = key[begin:end][by_step]
        entry = 0
        while entry < end - begin:
            same = entry
            while same < end - begin and steps[same] == steps[entry]:
                same += 1
            if steps[entry] >= 0:
                stack[left] = begin + entry, begin + same, first, last, steps[entry] % attributes
                left += 1
            entry = same
