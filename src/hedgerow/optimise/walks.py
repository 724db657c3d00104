"""Walks down a record's lattice, and what repairs their ends. One record at a time.

A record meets side rows at levels. Near a generalisation are the rows that at most one attribute
keeps out: only they can matter when one attribute is taken up. Rows are found by bits, one for
each side row, of the nodes of the generalisation. A walk is given up where it cannot end above
what is wanted: whatever it reaches below a point that is allowed, each of its attributes alone
would be allowed as well, so that the sum of what each alone can gain bounds what all can.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hedgerow.arrays import Bytes, Floats, Ints, Small, Words
from hedgerow.compiled import kernel

__all__ = ["LEAPS", "WALKS", "go_down", "levels_of", "loss_of", "repair", "total_of"]

WALKS = 3
LEAPS = 1  # from this walk on, a step may go down several levels of an attribute at once
_MORE = 1e-9  # what an end must be better by
_SLACK = 1 - 1e-12  # rounding may not make a bound too small


@kernel()
def loss_of(walk: int, total: int, after: int, before: float, sense: float) -> float:
    """What a step costs, by the measure of a walk."""
    loss: float = np.log(total / after)
    if walk != 1:  # also what the step adds to the sensitivity
        loss = np.log(total / after * sense / before)
    return loss


@kernel()
def go_down(
    levels: Bytes, counts: Ints, alive: Small, number: int, at: Ints, total: int,
    live: Ints, many: int, worth: float, sense: float, utility: Floats, weight: Floats,
    risk: float, walk: int, banned: int, held: int, least: int, point: Ints, goal: float,
) -> tuple[float, float, int, int]:  # fmt: skip
    """Walks down from a point, in place.

    Args:
        levels: The level at which each row meets the record: [rows, attributes].
        counts: How many side rows each stands for.
        alive: The rows that are consistent with the point; thinned out.
        number: How many.
        at: How many side rows there are at each level of each attribute; kept up to date for
            attributes that can still take a step.
        live: The attributes that may take a step, in order; thinned out, since an attribute that
            may not now never may again: counts fall and the sensitivity grows.
        many: How many.
        total: How many side rows are consistent.
        worth: The utility of the point.
        sense: Its sensitivity.
        utility: By attribute and level.
        weight: The sensitivity, by attribute and level.
        risk: The largest that is allowed.
        walk: By which measure steps are chosen.
        banned: The attribute that stays where it is.
        held: The attribute that cannot come below `least` at any end that is better than others.
        least: See above.
        point: Where to begin, and then the end.
        goal: A walk that cannot come to this utility is given up.

    Returns:
        Utility (-1 if it was given up, -2 before the first step), sensitivity, count, and how
        many rows are alive.
    """
    moved = False
    while True:
        best, choice, target = -1.0, -1, 0
        bound = worth
        still = 0
        for entry in range(many):
            place = live[entry]
            level = point[place]
            if level == 0:
                continue
            after = total - at[place, level]
            cost = weight[place, level - 1] - weight[place, level]
            if after <= 0 or after * risk < (sense + cost) * _SLACK:
                continue
            live[still] = place
            still += 1
            # how far this attribute alone could go, and which of its steps is the best
            end = least if place == held else 0
            low, lower, left = level, level, total
            while lower > 0:
                left -= at[place, lower]
                lower -= 1
                cost = weight[place, lower] - weight[place, level]
                if left <= 0 or left * risk < (sense + cost) * _SLACK:
                    break
                low = lower
                if place == banned or left * risk < sense + cost:
                    continue
                if lower == level - 1 or walk >= LEAPS:
                    gain = utility[place, lower] - utility[place, level]
                    loss = loss_of(walk, total, left, sense, sense + cost)
                    ratio = (gain + 1e-9) / (loss + 1e-9)
                    if ratio > best:
                        best, choice, target = ratio, place, lower
            low = max(low, min(end, level))
            bound += utility[place, low] - utility[place, level]
        many = still
        if bound < goal:
            return -1.0 if moved else -2.0, sense, total, number
        if choice < 0:
            return worth, sense, total, number
        level = point[choice]
        worth += utility[choice, target] - utility[choice, level]
        sense += weight[choice, target] - weight[choice, level]
        if at[choice, target + 1 : level + 1].sum() > 0:
            kept = 0
            for place in range(number):
                row = alive[place]
                if levels[row, choice] > target:
                    total -= counts[row]
                    for entry in range(many):
                        at[live[entry], levels[row, live[entry]]] -= counts[row]
                else:
                    alive[kept] = row
                    kept += 1
            number = kept
        point[choice] = target
        moved = True


@kernel()
def total_of(terms: Floats, point: Ints) -> float:
    """The utility or the sensitivity of a point: a sum over its attributes."""
    total = 0.0
    for place in range(point.size):
        total += terms[place, point[place]]
    return total


@kernel()
def levels_of(ranks: Any, rows: Small, number: int, start: Ints, table: Bytes, out: Bytes) -> None:
    """The level at which each of some listed rows meets the record, attribute by attribute."""
    for place in range(number):
        row = rows[place]
        for attribute in range(ranks.shape[1]):
            out[place, attribute] = table[start[attribute] + ranks[row, attribute]]


@kernel()
def _list_bits(word: int, left: Any, rows: Small, number: int) -> int:
    """Appends the numbers of the bits of a word to a list; how long that is then."""
    row = word << 6
    while left:
        if left & np.uint64(0xFF) == 0:
            left >>= np.uint64(8)
            row += 8
            continue
        if left & np.uint64(1):
            rows[number] = row
            number += 1
        left >>= np.uint64(1)
        row += 1
    return number


@kernel()
def _near(
    ranks: Any, low: Small, high: Small, bit: Ints, bits: Words, heights: Ints, point: Ints,
    own: Words, one: Words, two: Words, rows: Small, begin: Ints,
) -> None:  # fmt: skip
    """Lists the rows that nothing keeps out of a point, then those that one attribute does alone.

    Where the rows of each attribute begin is in `begin`, shifted by one. What `own`, `one` and
    `two` hold is of no use afterwards: bits of nodes that are not in `bits`, and the rows that one
    attribute or more keep out, and two or more.
    """
    attributes = point.size
    one[:] = 0
    two[:] = 0
    size = ranks.shape[0]
    for row in range(size, one.size << 6):  # there are no such rows
        two[row >> 6] |= np.uint64(1) << np.uint64(row & 63)
        one[row >> 6] |= np.uint64(1) << np.uint64(row & 63)
    for place in range(attributes):
        level = point[place]
        if level == heights[place]:
            continue  # the root keeps nobody out
        inside = own[place]
        if bit[place, level] >= 0:
            inside = bits[bit[place, level]]
        else:
            inside[:] = 0
            for row in range(size):
                if low[place, level] <= ranks[row, place] < high[place, level]:
                    inside[row >> 6] |= np.uint64(1) << np.uint64(row & 63)
        for word in range(one.size):
            out = ~inside[word]
            two[word] |= one[word] & out
            one[word] |= out
    number = 0
    begin[0] = 0
    for word in range(one.size):
        if ~one[word]:
            number = _list_bits(word, ~one[word], rows, number)
    for place in range(attributes):
        begin[place + 1] = number
        level = point[place]
        if level == heights[place]:
            continue
        inside = own[place] if bit[place, level] < 0 else bits[bit[place, level]]
        for word in range(one.size):
            alone = ~(inside[word] | two[word])
            if alone:
                number = _list_bits(word, alone, rows, number)
    begin[attributes + 1] = number


@kernel()
def _hopes(
    utility: Floats, weight: Floats, risk: float, point: Ints, at: Ints, place: int, up: int,
    base: int, more: int, goal: float, hope: Ints,
) -> int:  # fmt: skip
    """Lists the attributes that may take a step once one attribute is taken up, and that one.

    Counted are the rows of the point by level (`at`, `base` in all); how the others (`more`) lie
    is not looked at, so every attribute alone is taken to keep all of them.

    Returns:
        How many there are; 0 if nothing below can come to the goal.
    """
    sense = total_of(weight, point) - weight[place, point[place]] + weight[place, up]
    bound = total_of(utility, point) - utility[place, point[place]]
    bound += utility[place, point[place] + 1]  # at best it comes back to just above
    many = 0
    for other in range(point.size):
        if other == place:
            hope[many] = other
            many += 1
            continue
        level = point[other]
        left = base + more
        low = level
        while low > 0:
            left -= at[other, low]
            change = weight[other, low - 1] - weight[other, level]
            if left <= 0 or left * risk < (sense + change) * _SLACK:
                break
            low -= 1
        if low < level:
            bound += utility[other, low] - utility[other, level]
            hope[many] = other
            many += 1
    return 0 if bound < goal else many


@kernel()
def repair(
    ranks: Any, count: Ints, start: Ints, table: Bytes, low: Small, high: Small, bit: Ints,
    bits: Words, utility: Floats, weight: Floats, heights: Ints, risk: float, point: Ints,
    best: float, sense: float, total: int, room: Any,
) -> tuple[float, float, int]:  # fmt: skip
    """Takes up each attribute in turn, lets the others go on down first, keeps what ends higher.

    Args:
        ranks: The side rows: [rows, attributes].
        count: How many each stands for.
        start: Where each attribute's ranks begin in `table`.
        table: The level at which each rank meets the record.
        low: The first rank of the record's node: [attributes, levels].
        high: One past its last.
        bit: The node's place in `bits`, or -1.
        bits: The rows of some nodes, a bit for each.
        utility: By attribute and level.
        weight: The sensitivity, by attribute and level.
        heights: The level of each attribute's root.
        risk: The largest that is allowed.
        point: Where a walk ended, and then the end of this.
        best: Its utility.
        sense: Its sensitivity.
        total: Its count.
        room: Scratch arrays.
    """
    own, one, two, rows, near, few, alive, begin, inside, at, live = room
    attributes = point.size
    trial, hope = point.copy(), point.copy()
    better, fresh = True, False
    base = 0
    while better:
        better = False
        for place in range(attributes):
            for lift in range(2):
                up = point[place] + 1 if lift == 0 else heights[place]
                if up > heights[place] or (lift == 1 and up <= point[place] + 1):
                    continue
                for walk in range(LEAPS, WALKS):
                    if not fresh:
                        _near(
                            ranks, low, high, bit, bits, heights, point, own, one, two, rows,
                            begin,
                        )  # fmt: skip
                        levels_of(ranks, rows, begin[1], start, table, near)
                        for row in range(begin[attributes + 1]):
                            few[row] = count[rows[row]]
                        inside[:] = 0
                        base = 0
                        for row in range(begin[1]):
                            base += few[row]
                            for other in range(attributes):
                                inside[other, near[row, other]] += few[row]
                        fresh = True
                    if up <= point[place]:
                        break
                    goal, least = best + _MORE / 2, point[place] + 1
                    kept, size = begin[1], base
                    for row in range(begin[place + 1], begin[place + 2]):
                        if table[start[place] + ranks[rows[row], place]] <= up:
                            alive[kept] = row
                            kept += 1
                            size += few[row]
                    many = _hopes(
                        utility, weight, risk, point, inside, place, up, base, size - base, goal,
                        hope,
                    )  # fmt: skip
                    if not many:
                        break
                    for row in range(begin[1]):
                        alive[row] = row
                    for other in hope[:many]:
                        at[other] = inside[other]
                        for entry in range(begin[1], kept):
                            row = alive[entry]
                            level = table[start[other] + ranks[rows[row], other]]
                            near[row, other] = level
                            at[other, level] += few[row]
                    live[:many] = hope[:many]
                    trial[:] = point
                    trial[place] = up
                    value, weighed, size, kept = go_down(
                        near, few, alive, kept, at, size, live, many,
                        total_of(utility, trial), total_of(weight, trial), utility, weight, risk,
                        walk, place, place, least, trial, goal,
                    )  # fmt: skip
                    if value >= 0:
                        live[:many] = hope[:many]
                        value, weighed, size, kept = go_down(
                            near, few, alive, kept, at, size, live, many,
                            total_of(utility, trial), total_of(weight, trial), utility, weight,
                            risk, walk, -1, place, least, trial, goal,
                        )  # fmt: skip
                    elif value < -1:
                        break  # no walk from here can do it
                    if value > best + _MORE:
                        best, sense, total = value, weighed, size
                        point[:] = trial
                        better, fresh = True, False
    return best, sense, total
