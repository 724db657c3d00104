"""The threshold model and its dual on lattices of any size, by walks from the top: no promise.

From the most general values, which are allowed, one attribute after another is made more special,
as long as the risk stays allowed. The next step is the one that gains most utility for what it
loses of the count, and in two of three walks for what it adds to the sensitivity. In the first
walk a step is one level. In the two others it may be several levels of an attribute at once: the
first level below the root adds to the sensitivity, those below it often gain more and add nothing.
The best of the three is kept. Then each attribute in turn is taken up again, by a step or to the
top, and the others may go on down before it does; whatever ends higher is kept, until nothing does.

Four things save work and change no end. Which side rows are consistent follows from generalized
values alone, so records walk together, and count once, as long as they take the same steps; once
few are left together, each goes on by itself. An attribute that can take no step never can again,
since counts fall and sensitivities grow. A walk is given up where it cannot end above what is
wanted: whatever it reaches below a point that is allowed, each of its attributes alone would be
allowed as well, so that the sum of what each alone can gain bounds what all can. And near a
generalization are the rows that at most one attribute keeps out: only they can matter when one
attribute is taken up, and they are found by bits, one for each side row, of its nodes.

Kernels copy arrays by loops, since numba takes seconds to compile anything else.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.arrays import Bytes, Floats, Ints, Small, Words
from hedgerow.compiled import cores, helper, kernel
from hedgerow.optimize.model import Aim, Forest, Problem, Record, Side, Solutions

_BLOCK = 1 << 15  # records that walk together at most
_BITS = 1 << 28  # of the nodes whose rows are kept as bits, all together
_WALKS = 3
_LEAPS = 1  # from this walk on, a step may go down several levels of an attribute at once
_ALONE = 2  # so many go on alone
_MORE = 1e-9  # what an end must be better by
_SLACK = 1 - 1e-12  # rounding may not make a bound too small
_HALVINGS = 16  # of the stretch in which the least risk lies


def descend(
    problem: Problem,
    leaves: Small,
    factor: Floats,
    risk: Floats | None = None,
    progress: Callable[[int], None] = lambda _: None,
) -> Solutions:
    """A good generalization of each record within a risk; see `exact.search` for the arguments.

    Args:
        problem: What is looked for by the threshold model, and where.
        leaves: The leaf nodes of records.
        factor: What each record multiplies its weights by.
        risk: The largest risk of each record, if it is not the same for all.
        progress: Called with how many records are done, now and then.
    """
    forest, side, worth, aim = problem
    number = len(leaves)
    limits = np.full(number, aim.risk, np.float64) if risk is None else risk
    nodes, sums = np.full(leaves.shape, -1, np.int32), np.full((number, 3), -1.0)
    rows = _rows(forest, side)
    height = int(forest.heights().max()) + 1
    block = min(_BLOCK, max(1, -(-number // cores())))

    def walk(begin: int) -> None:
        part = slice(begin, begin + block)
        records = _Records(
            np.ascontiguousarray(leaves[part]), np.ascontiguousarray(factor[part]), limits[part]
        )
        _block(forest.parent, side, worth, rows, records, height, nodes[part], sums[part])

    with ThreadPoolExecutor(cores()) as pool:
        jobs = [pool.submit(walk, begin) for begin in range(0, number, block)]
        while wait(jobs, timeout=0.5).not_done:
            # who has walked and whose end was repaired, as far as kernels have come
            progress(int(((sums[:, 0] >= 0).sum() + (nodes[:, 0] >= 0).sum()) // 2))
        for job in jobs:
            job.result()
    return Solutions(nodes, sums)


def descend_to_utility(
    problem: Problem,
    leaves: Small,
    factor: Floats,
    progress: Callable[[int], None] = lambda _: None,
) -> Solutions:
    """The dual: a generalization of little risk whose utility is at least the aim's.

    Each record's risk threshold is halved (on a scale of logarithms) as long as walks within it
    come to the wanted utility. Which thresholds are tried follows from the record alone.
    """
    forest, side, worth, aim = problem
    assert aim.utility is not None
    goal, problem = aim.utility * _SLACK, problem._replace(aim=Aim(risk=1.0))
    own = np.maximum(worth.weight[leaves] * factor, worth.floor).sum(axis=1)
    root = np.broadcast_to(forest.root[None, :], leaves.shape)
    top = np.maximum(worth.weight[root] * factor, worth.floor).sum(axis=1) / side.rows
    high, low = np.maximum(own, top), top * (1 - 1e-9)
    best = descend(problem, leaves, factor, high)
    enough = best.solved & (best.utility >= goal)
    best.nodes[~enough] = -1
    open_ = np.flatnonzero(enough)
    high = np.where(enough, np.minimum(high, best.risk), high)
    for turn in range(_HALVINGS):
        progress(len(leaves) * turn // _HALVINGS)
        middle = np.sqrt(low[open_] * high[open_])
        trial = descend(problem, leaves[open_], factor[open_], middle)
        good = trial.solved & (trial.utility >= goal)
        low[open_[~good]] = middle[~good]
        at = open_[good]
        high[at] = trial.risk[good]
        best.nodes[at], best.sums[at] = trial.nodes[good], trial.sums[good]
        open_ = open_[high[open_] > low[open_] * (1 + 1e-3)]
        if not len(open_):
            break
    return best


def descend_from(record: Record, risk: float, point: Ints) -> Ints:
    """The best end of the walks that begin at a generalization that is allowed."""
    attributes = len(record.heights)
    width = int(record.heights.max(initial=0)) + 1
    utility, weight = (np.zeros((attributes, width)) for _ in range(2))
    for place in range(attributes):
        utility[place, : record.heights[place] + 1] = record.utility[place]
        weight[place, : record.heights[place] + 1] = record.weight[place]
    # levels take the part of ranks: a row is inside a node up to the level of the node
    high = np.repeat(np.arange(1, width + 1, dtype=np.int32)[None, :], attributes, axis=0)
    own = _Own(
        utility, weight, np.tile(np.arange(width, dtype=np.uint8), attributes),
        np.zeros_like(high), high, np.full(high.shape, -1, np.int64), record.heights, risk,
    )  # fmt: skip
    start = np.arange(attributes, dtype=np.int64) * width
    bits = np.zeros((0, 0), np.uint64)
    rows = _Rows(_narrow(record.levels), record.counts, start, own.bit[:, 0], bits)
    end = point.copy()
    _walk_alone(rows, own, end)
    return end


class _Rows(NamedTuple):
    """The side rows: ranks [rows, attributes], how many each stands for, and bits of some nodes."""

    ranks: Any
    times: Ints
    start: Ints  # of each attribute's ranks, in a table of all
    bit: Ints  # each node's place in `bits`, or -1
    bits: Words


class _Records(NamedTuple):
    """Records to be solved: leaves, factors of their weights, and how much risk each may have."""

    leaves: Small
    factor: Floats
    risk: Floats


class _Own(NamedTuple):
    """What one record's levels are worth and whom they hold, by attribute and level."""

    utility: Floats
    weight: Floats
    table: Bytes  # the level at which each rank meets the record
    low: Small  # the first rank of its node
    high: Small  # one past the last
    bit: Ints  # the node's place in the bits, or -1
    heights: Ints
    risk: float


class _Room(NamedTuple):
    """Scratch arrays: rows near a point as bits and as lists, and those that are still alive."""

    own: Words
    one: Words
    two: Words
    rows: Small
    near: Bytes  # the levels at which listed rows meet the record
    few: Ints  # how many each stands for
    alive: Small
    begin: Ints
    inside: Ints
    at: Ints  # how many side rows there are at each level of each attribute
    live: Ints  # the attributes that may take a step


class _Stand(NamedTuple):
    """Where a walk stands: its utility, sensitivity and count, rows alive, attributes that live."""

    utility: float
    weight: float
    total: int
    number: int
    many: int


class _Kept(NamedTuple):
    """What a walk leaves alone: an attribute that stays; one that no better end takes so low."""

    still: int
    held: int
    least: int


def _narrow(ranks: NDArray[np.integer]) -> NDArray[np.integer]:
    """Ranks in as few bytes as kernels are compiled for: rows are read again and again."""
    kind = np.uint16 if int(ranks.max(initial=0)) < 1 << 16 else np.int32
    return np.ascontiguousarray(ranks, kind)


def _rows(forest: Forest, side: Side) -> _Rows:
    """The side rows; bits for the nodes with most of them, as far as there is room."""
    of_row = np.repeat(np.arange(len(side.first), dtype=np.int32), np.diff(side.start))
    ranks = _narrow(np.concatenate([side.first[of_row], side.second[side.then]], axis=1))
    words = (len(ranks) + 63) // 64
    size = side.node_hi.astype(np.int64) - side.node_lo
    rows = np.zeros(len(size), np.int64)
    orders, starts = [], []
    for place in range(forest.attributes):
        column = ranks[:, place]
        orders.append(np.argsort(column, kind="stable"))
        starts.append(np.searchsorted(column[orders[-1]], np.arange(side.ranks[place] + 1)))
        part = forest.nodes_of(place)
        rows[part] = starts[-1][side.node_hi[part]] - starts[-1][side.node_lo[part]]
    rows[forest.root] = 0  # everybody is in a root
    chosen = np.argsort(-rows, kind="stable")[: max(1, _BITS // (64 * words))]
    chosen = chosen[rows[chosen] > 0]
    bit = np.full(len(size), -1, np.int64)
    bit[chosen] = np.arange(len(chosen))
    bits = np.zeros((len(chosen), words), np.uint64)
    place_of = np.searchsorted(forest.root, chosen, "right") - 1
    for number, (node, place) in enumerate(zip(chosen.tolist(), place_of.tolist(), strict=True)):
        begin, end = starts[place][side.node_lo[node]], starts[place][side.node_hi[node]]
        inside = np.zeros(64 * words, np.uint8)
        inside[orders[place][begin:end]] = 1
        bits[number] = np.packbits(inside, bitorder="little").view(np.uint64)
    return _Rows(ranks, side.times.astype(np.int64), side.rank_start, bit, bits)


@kernel()
def _block(
    parent: Small, side: Any, worth: Any, rows: Any, records: Any, height: int, nodes: Small,
    sums: Floats,
) -> None:  # fmt: skip
    """Solves the records of a block: together, then each by itself."""
    number, attributes = records.leaves.shape
    chains = np.zeros((number, attributes, height), np.int32)
    heights = np.zeros((number, attributes), np.int64)
    for record in range(number):
        for place in range(attributes):
            node, level = records.leaves[record, place], 0
            while node >= 0:
                chains[record, place, level] = node
                node = parent[node]
                level += 1
            heights[record, place] = level - 1
        sums[record, 0] = -1.0
    room = _make_room(rows.ranks.shape[0], attributes, height)
    blank = _Own(
        np.zeros((attributes, height)), np.zeros((attributes, height)),
        np.zeros(rows.start[attributes], np.uint8), np.zeros((attributes, height), np.int32),
        np.zeros((attributes, height), np.int32), np.zeros((attributes, height), np.int64),
        heights[0], 0.0,
    )  # fmt: skip
    points = np.zeros((number, attributes), np.int64)
    for walk in range(_WALKS):
        _walk_together(side, worth, rows, records, chains, heights, walk, room, blank, points, sums)
    for record in range(number):
        if sums[record, 0] < 0:  # not even the most general values are allowed
            sums[record, 0] = 0.0
            continue
        own = _terms(side, worth, rows, records, chains, heights, record, blank)
        end = _repair(rows, own, room, points[record], sums[record, 0], sums[record, 1],
                      int(sums[record, 2]))  # fmt: skip
        sums[record, 0], sums[record, 1], sums[record, 2] = end.utility, end.weight, end.total
        for place in range(attributes):
            nodes[record, place] = chains[record, place, points[record, place]]


@helper
def _make_room(rows: int, attributes: int, height: int) -> Any:
    words = (rows + 63) // 64
    return _Room(
        np.zeros(attributes * words, np.uint64).reshape(attributes, words),
        np.zeros(words, np.uint64), np.zeros(words, np.uint64), np.zeros(rows, np.int32),
        np.zeros((rows, attributes), np.uint8), np.zeros(rows, np.int64), np.zeros(rows, np.int32),
        np.zeros(attributes + 2, np.int64), np.zeros((attributes, height), np.int64),
        np.zeros((attributes, height), np.int64), np.zeros(attributes, np.int64),
    )  # fmt: skip


@helper
def _terms(
    side: Any, worth: Any, rows: Any, records: Any, chains: Small, heights: Ints, record: int,
    blank: Any,
) -> Any:  # fmt: skip
    """Fills in what belongs to one record."""
    for place in range(heights.shape[1]):
        for level in range(heights[record, place], -1, -1):  # the root covers all, then less
            node = chains[record, place, level]
            blank.utility[place, level] = worth.utility[node]
            mine = worth.weight[node] * records.factor[record, place]
            blank.weight[place, level] = max(mine, worth.floor)
            blank.low[place, level], blank.high[place, level] = (
                side.node_lo[node],
                side.node_hi[node],
            )
            blank.bit[place, level] = rows.bit[node]
            for rank in range(side.node_lo[node], side.node_hi[node]):
                blank.table[rows.start[place] + rank] = level
    return _Own(
        blank.utility, blank.weight, blank.table, blank.low, blank.high, blank.bit,
        heights[record], records.risk[record],
    )  # fmt: skip


@helper
def _ratio(walk: int, gain: float, total: int, after: int, before: float, weight: float) -> float:
    """What a step gains for what it costs, by the measure of a walk."""
    loss: float = np.log(total / after)
    if walk != 1:  # also what the step adds to the sensitivity
        loss = np.log(total / after * weight / before)
    return (gain + 1e-9) / (loss + 1e-9)


@helper
def _total(terms: Floats, point: Ints) -> float:
    """The utility or the sensitivity of a point: a sum over its attributes."""
    total = 0.0
    for place in range(point.size):
        total += terms[place, point[place]]
    return total


@helper
def _copy(to: Ints, values: Ints) -> None:
    for place in range(to.size):
        to[place] = values[place]


@helper
def _go_down(own: Any, room: Any, point: Ints, walk: int, now: Any, kept: Any, goal: float) -> Any:
    """Walks down from a point, in place.

    Args:
        own: The record.
        room: The rows that are consistent with the point, in `near`, `few` and `alive`, which is
            thinned out; `at`, kept up to date for the attributes that can still take a step;
            and these, in `live`, which is thinned out too.
        point: Where to begin, and then the end.
        walk: By which measure steps are chosen.
        now: Where the walk stands.
        kept: What it leaves alone.
        goal: A walk that cannot come to this utility is given up.

    Returns:
        Where it ended; a utility of -1 if it was given up, of -2 before the first step.
    """
    at, live, risk = room.at, room.live, own.risk
    utility, weight, total, number, many = now.utility, now.weight, now.total, now.number, now.many
    moved = False
    while True:
        best, choice, target = -1.0, -1, 0
        bound = utility
        still = 0
        for entry in range(many):
            place = live[entry]
            level = point[place]
            if level == 0:
                continue
            after = total - at[place, level]
            cost = own.weight[place, level - 1] - own.weight[place, level]
            if after <= 0 or after * risk < (weight + cost) * _SLACK:
                continue
            live[still] = place
            still += 1
            # how far this attribute alone could go, and which of its steps is the best
            end = kept.least if place == kept.held else 0
            low, lower, left = level, level, total
            while lower > 0:
                left -= at[place, lower]
                lower -= 1
                cost = own.weight[place, lower] - own.weight[place, level]
                if left <= 0 or left * risk < (weight + cost) * _SLACK:
                    break
                low = lower
                if place == kept.still or left * risk < weight + cost:
                    continue
                if lower == level - 1 or walk >= _LEAPS:
                    gain = own.utility[place, lower] - own.utility[place, level]
                    ratio = _ratio(walk, gain, total, left, weight, weight + cost)
                    if ratio > best:
                        best, choice, target = ratio, place, lower
            low = max(low, min(end, level))
            bound += own.utility[place, low] - own.utility[place, level]
        many = still
        if bound < goal:
            return _Stand(-1.0 if moved else -2.0, weight, total, number, many)
        if choice < 0:
            return _Stand(utility, weight, total, number, many)
        level = point[choice]
        utility += own.utility[choice, target] - own.utility[choice, level]
        weight += own.weight[choice, target] - own.weight[choice, level]
        out = 0
        for upper in range(target + 1, level + 1):
            out += at[choice, upper]
        if out > 0:
            stay = 0
            for place in range(number):
                row = room.alive[place]
                if room.near[row, choice] > target:
                    total -= room.few[row]
                    for entry in range(many):
                        at[live[entry], room.near[row, live[entry]]] -= room.few[row]
                else:
                    room.alive[stay] = row
                    stay += 1
            number = stay
        point[choice] = target
        moved = True


@helper
def _walk_together(
    side: Any, worth: Any, rows: Any, records: Any, chains: Small, heights: Ints, walk: int,
    room: Any, blank: Any, points: Ints, sums: Floats,
) -> None:  # fmt: skip
    """Walks of all records by one measure; whoever ends higher than before takes that end.

    Groups that are at the same generalized values lie one after another in `order`. What is left
    to do is a stack of groups, each with the slice of `alive` that its step was chosen from and
    with that step: a group's rows are put behind that slice, over those of groups that are done.
    """
    everybody, attributes = heights.shape
    start, count, ranks = rows.start, rows.times, rows.ranks
    now = heights.copy()
    value, weighed = np.zeros(everybody), np.zeros(everybody)
    alive = np.empty(8 * count.size, np.int32)
    all_rows = 0
    for row in range(count.size):
        alive[row] = row
        all_rows += count[row]
    order = np.zeros(everybody, np.int64)
    present = 0
    for record in range(everybody):
        for place in range(attributes):
            root = chains[record, place, heights[record, place]]
            value[record] += worth.utility[root]
            weighed[record] += max(worth.weight[root] * records.factor[record, place], worth.floor)
        if all_rows * records.risk[record] >= weighed[record]:  # or not even the roots are allowed
            order[present] = record
            present += 1
    key = np.zeros(everybody, np.int64)
    tally = np.zeros(start[attributes] + attributes, np.int64)
    # begin and end of the group, begin and end of the rows, the attribute stepped down, or -1
    stack = np.zeros((everybody + 1, 5), np.int64)
    stack[0, 1], stack[0, 3], stack[0, 4] = present, count.size, -1
    left = 1 if present else 0
    live = room.live
    over = np.zeros((everybody, attributes), np.bool_)  # attributes that can take no further step
    trial = np.zeros(attributes, np.int64)
    while left:
        left -= 1
        begin, end, first, last = stack[left, 0], stack[left, 1], stack[left, 2], stack[left, 3]
        step = stack[left, 4]
        if step >= 0:
            node = chains[order[begin], step, now[order[begin], step]]
            if last + (last - first) > alive.size:
                longer = np.empty(2 * alive.size, np.int32)
                for entry in range(last):
                    longer[entry] = alive[entry]
                alive = longer
            to = last
            for entry in range(first, last):
                row = alive[entry]
                if side.node_lo[node] <= ranks[row, step] < side.node_hi[node]:
                    alive[to] = row
                    to += 1
            if to - last < last - first:
                first, last = last, to
        if end - begin <= _ALONE:
            for entry in range(begin, end):
                record = order[entry]
                own = _terms(side, worth, rows, records, chains, heights, record, blank)
                many = 0
                for place in range(attributes):
                    if not over[record, place]:
                        live[many] = place
                        many += 1
                stand = _begin(
                    rows, own, room, alive[first:last], many, value[record], weighed[record]
                )
                _copy(trial, now[record])
                goal = sums[record, 0] - _MORE
                done = _go_down(own, room, trial, walk, stand, _Kept(-1, -1, 0), goal)
                if done.utility > sums[record, 0]:
                    sums[record, 0], sums[record, 1] = done.utility, done.weight
                    sums[record, 2] = done.total
                    _copy(points[record], trial)
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
            before, risk = weighed[record], records.risk[record]
            for one in range(many):
                place = live[one]
                level = now[record, place]
                if over[record, place] or level == 0:
                    over[record, place] = True
                    continue
                node, factor = chains[record, place, level], records.factor[record, place]
                at_rank = start[place] + place
                for lower in range(level - 1, -1 if walk >= _LEAPS else level - 2, -1):
                    child = chains[record, place, lower]
                    after = tally[at_rank + side.node_hi[child]]
                    after -= tally[at_rank + side.node_lo[child]]
                    cost = max(worth.weight[child] * factor, worth.floor)
                    cost -= max(worth.weight[node] * factor, worth.floor)
                    if after <= 0 or after * risk < before + cost:
                        over[record, place] |= lower == level - 1
                        break
                    gain = worth.utility[child] - worth.utility[node]
                    ratio = _ratio(walk, gain, total, after, before, before + cost)
                    if ratio > best:
                        best, choice, target = ratio, place, lower
            if choice < 0:
                key[entry] = -1
                if value[record] > sums[record, 0]:
                    sums[record, 0], sums[record, 1] = value[record], weighed[record]
                    sums[record, 2] = total
                    _copy(points[record], now[record])
                continue
            level, factor = now[record, choice], records.factor[record, choice]
            node, child = chains[record, choice, level], chains[record, choice, target]
            value[record] += worth.utility[child] - worth.utility[node]
            weighed[record] += max(worth.weight[child] * factor, worth.floor) - max(
                worth.weight[node] * factor, worth.floor
            )
            now[record, choice] = target
            key[entry] = child * attributes + choice
        _sort(key, order, begin, end)
        entry = begin
        while entry < end:
            same = entry
            while same < end and key[same] == key[entry]:
                same += 1
            if key[entry] >= 0:
                stack[left, 0], stack[left, 1], stack[left, 2] = entry, same, first
                stack[left, 3], stack[left, 4] = last, key[entry] % attributes
                left += 1
            entry = same


@helper
def _sort(key: Ints, order: Ints, begin: int, end: int) -> None:
    """Sorts a stretch of keys, and what belongs to them, by Shell's method."""
    gap = 1
    while gap < end - begin:
        gap = 3 * gap + 1
    while gap > 1:
        gap //= 3
        for entry in range(begin + gap, end):
            mine, record, to = key[entry], order[entry], entry
            while to >= begin + gap and key[to - gap] > mine:
                key[to], order[to] = key[to - gap], order[to - gap]
                to -= gap
            key[to], order[to] = mine, record


@helper
def _begin(
    rows: Any, own: Any, room: Any, listed: Small, many: int, utility: float, weight: float
) -> Any:
    """Where a walk begins: fills the room with the side rows that are consistent there."""
    for one in range(many):
        for level in range(room.at.shape[1]):
            room.at[room.live[one], level] = 0
    total = 0
    for row in range(listed.size):
        side_row = listed[row]
        room.alive[row] = row
        room.few[row] = rows.times[side_row]
        total += rows.times[side_row]
        for one in range(many):
            place = room.live[one]
            level = own.table[rows.start[place] + rows.ranks[side_row, place]]
            room.near[row, place] = level
            room.at[place, level] += rows.times[side_row]
    return _Stand(utility, weight, total, listed.size, many)


@kernel()
def _walk_alone(rows: Any, own: Any, point: Ints) -> None:
    """The best of all walks of one record from a point, repaired."""
    number, attributes = rows.ranks.shape
    room = _make_room(number, attributes, own.utility.shape[1])
    first, trial = point.copy(), point.copy()
    listed = np.empty(number, np.int32)
    inside = 0
    for row in range(number):
        consistent = True
        for place in range(attributes):
            level = own.table[rows.start[place] + rows.ranks[row, place]]
            consistent = consistent and level <= first[place]
        if consistent:
            listed[inside] = row
            inside += 1
    best = _Stand(-1.0, 0.0, 0, 0, 0)
    for walk in range(_WALKS):
        _copy(trial, first)
        for place in range(attributes):
            room.live[place] = place
        utility, weight = _total(own.utility, first), _total(own.weight, first)
        stand = _begin(rows, own, room, listed[:inside], attributes, utility, weight)
        done = _go_down(own, room, trial, walk, stand, _Kept(-1, -1, 0), best.utility - _MORE)
        if done.utility > best.utility:
            best = done
            _copy(point, trial)
    _repair(rows, own, room, point, best.utility, best.weight, best.total)


@helper
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


@helper
def _list_near(rows: Any, own: Any, room: Any, point: Ints) -> int:
    """Lists the rows that nothing keeps out of a point, then those that one attribute does alone.

    Where the rows of each attribute begin is in `begin`, shifted by one. What `own`, `one` and
    `two` hold is of no use afterwards: bits of nodes that are not in `bits`, and the rows that one
    attribute or more keep out, and two or more. Counts the rows inside by level, and returns how
    many side rows these are.
    """
    attributes = point.size
    one, two, begin, start = room.one, room.two, room.begin, rows.start
    size = rows.times.size
    for word in range(one.size):
        one[word] = 0
        two[word] = 0
    for row in range(size, one.size << 6):  # there are no such rows
        two[row >> 6] |= np.uint64(1) << np.uint64(row & 63)
        one[row >> 6] |= np.uint64(1) << np.uint64(row & 63)
    for place in range(attributes):
        level = point[place]
        if level == own.heights[place]:
            continue  # the root keeps nobody out
        inside = room.own[place]
        if own.bit[place, level] >= 0:
            inside = rows.bits[own.bit[place, level]]
        else:
            for word in range(one.size):
                inside[word] = 0
            for row in range(size):
                if own.low[place, level] <= rows.ranks[row, place] < own.high[place, level]:
                    inside[row >> 6] |= np.uint64(1) << np.uint64(row & 63)
        for word in range(one.size):
            out = ~inside[word]
            two[word] |= one[word] & out
            one[word] |= out
    number = 0
    begin[0] = 0
    for word in range(one.size):
        if ~one[word]:
            number = _list_bits(word, ~one[word], room.rows, number)
    for place in range(attributes):
        begin[place + 1] = number
        level = point[place]
        if level == own.heights[place]:
            continue
        bit = own.bit[place, level]
        inside = rows.bits[bit] if bit >= 0 else room.own[place]
        for word in range(one.size):
            alone = ~(inside[word] | two[word])
            if alone:
                number = _list_bits(word, alone, room.rows, number)
    begin[attributes + 1] = number
    total = 0
    for place in range(attributes):
        for level in range(room.inside.shape[1]):
            room.inside[place, level] = 0
    for entry in range(number):
        row = room.rows[entry]
        room.few[entry] = rows.times[row]
        if entry < begin[1]:
            total += rows.times[row]
            for place in range(attributes):
                level = own.table[start[place] + rows.ranks[row, place]]
                room.near[entry, place] = level
                room.inside[place, level] += rows.times[row]
    return total


@helper
def _hopes(
    own: Any, room: Any, point: Ints, place: int, up: int, base: int, more: int, goal: float,
    hope: Ints,
) -> int:  # fmt: skip
    """Lists the attributes that may take a step once one attribute is taken up, and that one.

    Counted are the rows of the point by level (`inside`, `base` in all); how the others (`more`)
    lie is not looked at, so every attribute alone is taken to keep all of them.

    Returns:
        How many there are; 0 if nothing below can come to the goal.
    """
    utility, weight = own.utility, own.weight
    sense = _total(weight, point) - weight[place, point[place]] + weight[place, up]
    bound = _total(utility, point) - utility[place, point[place]]
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
            left -= room.inside[other, low]
            change = weight[other, low - 1] - weight[other, level]
            if left <= 0 or left * own.risk < (sense + change) * _SLACK:
                break
            low -= 1
        if low < level:
            bound += utility[other, low] - utility[other, level]
            hope[many] = other
            many += 1
    return 0 if bound < goal else many


@helper
def _repair(
    rows: Any, own: Any, room: Any, point: Ints, utility: float, weight: float, total: int
) -> Any:
    """Takes up each attribute in turn, lets the others go on down first, keeps what ends higher.

    Args:
        rows: The side rows.
        own: The record.
        room: Scratch arrays.
        point: Where a walk ended, and then the end of this.
        utility: Of the point.
        weight: Its sensitivity.
        total: Its count.
    """
    attributes, begin = point.size, room.begin
    best = _Stand(utility, weight, total, 0, 0)
    trial, hope = point.copy(), point.copy()
    better, fresh = True, False
    base = 0
    while better:
        better = False
        for place in range(attributes):
            for lift in range(2):
                up = point[place] + 1 if lift == 0 else own.heights[place]
                if up > own.heights[place] or (lift == 1 and up <= point[place] + 1):
                    continue
                for walk in range(_LEAPS, _WALKS):
                    if not fresh:
                        base = _list_near(rows, own, room, point)
                        fresh = True
                    if up <= point[place]:
                        break
                    goal, least = best.utility + _MORE / 2, point[place] + 1
                    number, size = begin[1], base
                    for row in range(begin[place + 1], begin[place + 2]):
                        rank = rows.ranks[room.rows[row], place]
                        if own.table[rows.start[place] + rank] <= up:
                            room.alive[number] = row
                            number += 1
                            size += room.few[row]
                    many = _hopes(own, room, point, place, up, base, size - base, goal, hope)
                    if not many:
                        break
                    for row in range(begin[1]):
                        room.alive[row] = row
                    for one in range(many):
                        other = hope[one]
                        for level in range(room.at.shape[1]):
                            room.at[other, level] = room.inside[other, level]
                        for entry in range(begin[1], number):
                            row = room.alive[entry]
                            rank = rows.ranks[room.rows[row], other]
                            level = own.table[rows.start[other] + rank]
                            room.near[row, other] = level
                            room.at[other, level] += room.few[row]
                    _copy(trial, point)
                    trial[place] = up
                    done, hopeless = _Stand(0.0, 0.0, size, number, many), False
                    for turn in range(2):  # first the others, then all
                        for one in range(many):
                            room.live[one] = hope[one]
                        done = _go_down(
                            own, room, trial, walk,
                            _Stand(_total(own.utility, trial), _total(own.weight, trial),
                                   done.total, done.number, many),
                            _Kept(place if turn == 0 else -1, place, least), goal,
                        )  # fmt: skip
                        if done.utility < 0:
                            hopeless = turn == 0 and done.utility < -1
                            break
                    if hopeless:
                        break  # no walk from here can do it
                    if done.utility > best.utility + _MORE:
                        best = done
                        _copy(point, trial)
                        better, fresh = True, False
    return best
