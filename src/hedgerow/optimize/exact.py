"""The paper's three models, and how each is solved.

A record's generalizations x have a utility u(x) and a risk r(x) = sensitivity(x) / count(x).

* Threshold: the largest u(x) with r(x) at most c. NP-hard in the number of attributes.
* Least risk, its dual (C1' and C3' of the paper): the least r(x) with u(x) at least c.
* Aggregate: the largest lambda / r(x) + u(x) ** kappa. Polynomial.

| lattice          | threshold               | least risk           | aggregate         |
|------------------|-------------------------|----------------------|-------------------|
| up to 2^20       | `search`: exact         | `search`: exact      | `search`: exact   |
| larger           | `descend`: walks        | `descend_to_utility` | cuts, norm points |
| larger, thorough | `approximate_threshold` | as above             | as above          |

What becomes of a record follows from that record and from public facts alone: the hierarchies, the
side table, the settings, and the size of its own lattice. Nothing here looks at another record.

**Exact search** goes through the whole lattice of a record, for all three models, pruned by halves.
Side rows are placed where they meet the record, and summed up along each axis: the sum at x is
then the number of side rows that x could stand for. The axes of the first half of the attributes
go first. What is left for a combination x1 of the first half is a slice over the second half, and
a slice is left out if its best conceivable value is no better than what was found: counts grow and
utilities and sensitivities fall as values are generalized, so the slice holds nothing better than
the count and sensitivity at its most general end together with the utility at its most special.

In the threshold model, generalizing a generalization that is allowed gives one that is allowed,
so that a slice whose most general end is not allowed holds none.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from hedgerow.arrays import Floats, Ints, Small
from hedgerow.compiled import helper, kernel
from hedgerow.errors import UsageError
from hedgerow.optimize.aggregate import approximate_threshold, maximize_aggregate
from hedgerow.optimize.descend import descend, descend_to_utility
from hedgerow.optimize.model import Goal, Problem, Record, Side, Solutions

LARGEST = 1 << 20
"""Lattices up to this size are searched through."""

_AT_ONCE = 1 << 26  # generalizations, so that progress can be shown


def check_possible(problem: Problem, most: float) -> None:
    """Refuses a risk threshold that the most general values could break.

    Looks at public facts alone: whoever's record it is, the most general values stand for all
    side rows, and their sensitivity is at most that of the largest factor.

    Args:
        problem: What is looked for, and where.
        most: The largest factor that a record may have on a weight.

    Raises:
        UsageError: If the threshold cannot be kept.
    """
    forest, side, worth, aim = problem
    if aim.risk is None:
        return
    least = float(np.maximum(worth.weight[forest.root] * most, worth.floor).sum()) / side.rows
    if aim.risk < least:
        raise UsageError(
            f"The risk threshold {aim.risk:g} is impossible: with {side.rows} side rows, even the "
            f"most general record may have a risk of {least:.3g}.",
            hint="Take a larger risk threshold, or a larger side table.",
        )


def solve(
    problem: Problem,
    leaves: Small,
    factor: Floats,
    *,
    largest: int = LARGEST,
    thorough: bool = False,
    progress: Callable[[float], None] = lambda _: None,
) -> Solutions:
    """Solves distinct records.

    Args:
        problem: What is looked for, and where.
        leaves: The leaf nodes of the records.
        factor: What each record multiplies its weights by.
        largest: Lattices up to this size are searched through.
        thorough: For larger ones in the threshold model: whether to take the Lovasz relaxation
            too, which is slower by far, for a little more utility.
        progress: Called with the share of the records that is done.
    """
    forest, aim, number = problem.forest, problem.aim, len(leaves)
    found = Solutions(np.full(leaves.shape, -1, np.int32), np.zeros((number, 3)))
    fits = (forest.depth[leaves] + 1.0).prod(axis=1) <= largest
    done = 0

    def put(places: Ints, some: Solutions) -> None:
        nonlocal done
        solved = places[some.solved]
        found.nodes[solved], found.sums[solved] = some.nodes[some.solved], some.sums[some.solved]
        done += len(places)
        progress(done / number)

    small = np.flatnonzero(fits)
    portion = max(1, _AT_ONCE // min(largest, forest.largest_lattice()))
    for begin in range(0, len(small), portion):
        places = small[begin : begin + portion]
        put(places, search(problem, leaves[places], factor[places]))
    rest = np.flatnonzero(~fits)
    if aim.model == "aggregate" or (aim.model == "threshold" and thorough):
        for place in rest.tolist():
            put(np.asarray([place]), _solve_alone(problem, leaves[place], factor[place]))
    elif len(rest):
        walk = descend if aim.model == "threshold" else descend_to_utility
        before = done
        put(rest, walk(
            problem, leaves[rest], factor[rest],
            progress=lambda few: progress((before + few) / number),
        ))  # fmt: skip
    return found


def _solve_alone(problem: Problem, leaves: Small, factor: Floats) -> Solutions:
    """One record, by the polynomial methods."""
    aim, record = problem.aim, Record.of(problem, leaves, factor)
    top = record.heights
    if aim.risk is None:
        point = maximize_aggregate(record, aim).point
    elif record.count(top) * aim.risk < record.sensitivities(top):
        # not even the most general values are allowed
        return Solutions(np.full((1, len(top)), -1, np.int32), np.zeros((1, 3)))
    else:
        point = approximate_threshold(record, aim).point
    sums = record.utilities(point), record.sensitivities(point), record.count(point)
    return Solutions(problem.forest.climb(leaves, point[None, :]), np.asarray([sums], np.float64))


def search(problem: Problem, leaves: Small, factor: Floats) -> Solutions:
    """The best generalization of each record; their lattices must fit in memory.

    Args:
        problem: What is looked for, and where.
        leaves: The leaf nodes of distinct records, best in lexicographic order.
        factor: What each record multiplies its weights by: [records, attributes].
    """
    forest, side, worth, aim = problem
    nodes, sums = np.full(leaves.shape, -1, np.int32), np.zeros((len(leaves), 3))
    room = _room(side, (forest.depth[leaves] + 1).astype(np.float64))
    leaves, factor = np.ascontiguousarray(leaves), np.ascontiguousarray(factor)
    _search(forest.parent, side, worth, aim.goal, leaves, factor, room, nodes, sums)
    return Solutions(nodes, sums)


def lattice(problem: Problem, leaves: Small, factor: Floats) -> tuple[Ints, Floats, Floats, Ints]:
    """All generalizations of one record: lengths of its chains, utility, sensitivity and count.

    The last attribute varies fastest.
    """
    forest, side, worth, _ = problem
    lengths = forest.depth[leaves].astype(np.int64) + 1
    room = _room(side, lengths[None, :].astype(np.float64))
    utility, sensitivity = np.zeros(len(room.counts)), np.zeros(len(room.counts))
    leaves, factor = np.ascontiguousarray(leaves), np.ascontiguousarray(factor)
    _whole(forest.parent, side, worth, leaves, factor, room, utility, sensitivity)
    return lengths, utility, sensitivity, room.counts.astype(np.int64)


class _Room(NamedTuple):
    """Room for a record's lattice: chains of nodes, where rows meet it, sums over its halves."""

    chains: Small
    length: Ints
    table: Small
    first_place: Small
    second_place: Small
    counts: Small
    u1: Floats
    s1: Floats
    u2: Floats
    s2: Floats
    bound: Floats


def _room(side: Side, lengths: Floats) -> _Room:
    """Room for the largest of some lattices."""
    size, n1, n2 = (
        int(part.prod(axis=1).max())
        for part in (lengths, lengths[:, : side.half], lengths[:, side.half :])
    )
    attributes = lengths.shape[1]
    return _Room(
        np.zeros((attributes, 64), np.int32), np.zeros(attributes, np.int64),
        np.zeros(side.rank_start[-1], np.int32), np.zeros(len(side.first), np.int32),
        np.zeros(len(side.second), np.int32), np.zeros(size, np.int32),
        np.zeros(n1), np.zeros(n1), np.zeros(n2), np.zeros(n2), np.zeros(n1),
    )  # fmt: skip


@helper
def _sum_out(
    room: Any, first: int, last: int, worth: Any, factor: Floats, utility: Floats,
    sensitivity: Floats,
) -> int:  # fmt: skip
    """Both sums over all combinations of attributes first..last-1; how many these are."""
    size = 1
    utility[0] = 0.0
    sensitivity[0] = 0.0
    for place in range(first, last):
        levels = room.length[place]
        for old in range(size - 1, -1, -1):
            u, s = utility[old], sensitivity[old]
            for level in range(levels):
                node = room.chains[place, level]
                utility[old * levels + level] = u + worth.utility[node]
                mine = max(worth.weight[node] * factor[place], worth.floor)
                sensitivity[old * levels + level] = s + mine
        size *= levels
    return size


@helper
def _meet(room: Any, side: Any, first: int, last: int, rows: Small, place_of: Small) -> None:
    """Where each combination of side values meets the record, as a place in a half lattice."""
    stride = 1
    for place in range(last - 1, first - 1, -1):
        base = side.rank_start[place]
        for level in range(room.length[place] - 1, -1, -1):  # the root covers all, then less
            node = room.chains[place, level]
            for rank in range(side.node_lo[node], side.node_hi[node]):
                room.table[base + rank] = level * stride
        stride *= room.length[place]
    for row in range(rows.shape[0]):
        total = 0
        for place in range(first, last):
            total += room.table[side.rank_start[place] + rows[row, place - first]]
        place_of[row] = total


@helper
def _sum_axes(room: Any, base: int, width: int, first: int, last: int, stride: int) -> None:
    """Sums along the axes of attributes first..last-1 in a stretch of counts; the last's stride."""
    for place in range(last - 1, first - 1, -1):
        block = stride * room.length[place]
        for low in range(base, base + width, block):
            for cell in range(low + stride, low + block):
                room.counts[cell] += room.counts[cell - stride]
        stride = block


@helper
def _lay_out(
    parent: Small, side: Any, worth: Any, leaves: Small, factor: Floats, room: Any
) -> tuple[int, int]:
    """A record's lattice: chains, sums over both halves, counts summed along the first half."""
    attributes, half, counts = leaves.size, side.half, room.counts
    for place in range(attributes):
        node, length = leaves[place], 0
        while node >= 0:
            room.chains[place, length] = node
            length += 1
            node = parent[node]
        room.length[place] = length
    n1 = _sum_out(room, 0, half, worth, factor, room.u1, room.s1)
    n2 = _sum_out(room, half, attributes, worth, factor, room.u2, room.s2)
    _meet(room, side, 0, half, side.first, room.first_place)
    _meet(room, side, half, attributes, side.second, room.second_place)
    counts[: n1 * n2] = 0
    for row in range(room.first_place.size):
        base = room.first_place[row] * n2
        for entry in range(side.start[row], side.start[row + 1]):
            counts[base + room.second_place[side.then[entry]]] += side.times[entry]
    _sum_axes(room, 0, n1 * n2, 0, half, n2)
    return n1, n2


@helper
def _value(count: Any, utility: float, sensitivity: float, goal: Any) -> float:
    """What a generalization is worth under an aim; below 0 where the aim forbids it."""
    if goal.model == 0:  # threshold
        if count <= 0 or count * goal.setting < sensitivity:
            return -1.0
        return utility
    if goal.model == 1:  # least risk
        if count <= 0 or utility < goal.setting * (1 - 1e-12):
            return -1.0
        least: float = count / sensitivity
        return least
    power = 1.0
    for _ in range(goal.kappa):
        power *= utility
    value: float = goal.setting * count / sensitivity + power
    return value


@kernel()
def _search(
    parent: Small, side: Any, worth: Any, goal: Goal, leaves: Small, factor: Floats, room: Any,
    nodes: Small, sums: Floats,
) -> None:  # fmt: skip
    records, attributes = leaves.shape
    counts, bound = room.counts, room.bound
    for record in range(records):
        n1, n2 = _lay_out(parent, side, worth, leaves[record], factor[record], room)
        # the best conceivable value of each slice
        top = 0
        for x1 in range(n1):
            total = 0
            for cell in range(x1 * n2, (x1 + 1) * n2):
                total += counts[cell]
            least = room.s1[x1] + room.s2[n2 - 1]
            bound[x1] = _value(total, room.u1[x1] + room.u2[0], least, goal)
            if bound[x1] > bound[top]:
                top = x1
        best, where, least_risk = -1.0, -1, np.inf
        for turn in range(-1, n1):
            x1 = top if turn < 0 else turn
            if bound[x1] < best or bound[x1] < 0.0 or turn == top:
                continue
            base = x1 * n2
            _sum_axes(room, base, n2, side.half, attributes, 1)
            for x2 in range(n2):
                utility, sensitivity = room.u1[x1] + room.u2[x2], room.s1[x1] + room.s2[x2]
                cell = counts[base + x2]
                value = _value(cell, utility, sensitivity, goal)
                if value < best or value < 0.0:
                    continue
                share = sensitivity / cell if cell > 0 else np.inf
                # the less risky one of two that are equally good, then the first one
                if (
                    value > best
                    or share < least_risk
                    or (share == least_risk and base + x2 < where)
                ):
                    best, where, least_risk = value, base + x2, share
                    sums[record, 0] = utility
                    sums[record, 1] = sensitivity
                    sums[record, 2] = cell
        if where < 0:
            continue
        rest = where
        for place in range(attributes - 1, -1, -1):
            nodes[record, place] = room.chains[place, rest % room.length[place]]
            rest //= room.length[place]


@kernel()
def _whole(
    parent: Small, side: Any, worth: Any, leaves: Small, factor: Floats, room: Any,
    utility: Floats, sensitivity: Floats,
) -> None:  # fmt: skip
    n1, n2 = _lay_out(parent, side, worth, leaves, factor, room)
    _sum_out(room, 0, leaves.size, worth, factor, utility, sensitivity)
    _sum_axes(room, 0, n1 * n2, side.half, leaves.size, 1)
