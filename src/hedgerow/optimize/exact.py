"""Exact search through the whole lattice of a record, for all three models, pruned by halves.

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

from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np

from hedgerow.arrays import Bools, Floats, Ints, Small
from hedgerow.compiled import helper, kernel
from hedgerow.optimize.model import Aim, Forest, Goal, Worth
from hedgerow.optimize.side import Side

LARGEST = 1 << 20
"""Lattices up to this size are searched through."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Solutions:
    """What was chosen for each record.

    Args:
        nodes: The generalized values: [records, attributes].
        utility: Of each record's.
        sensitivity: Of each record's.
        count: How many side rows it could stand for.
        solved: Whether there is one.
    """

    nodes: Small
    utility: Floats
    sensitivity: Floats
    count: Ints
    solved: Bools

    @classmethod
    def of(cls, nodes: Small, sums: Floats) -> Self:
        """From what kernels fill in: nodes, and utility, sensitivity and count of each record."""
        return cls(
            nodes=nodes,
            utility=sums[:, 0],
            sensitivity=sums[:, 1],
            count=sums[:, 2].astype(np.int64),
            solved=nodes[:, 0] >= 0,
        )

    @property
    def risk(self) -> Floats:
        """Sensitivity over count; infinite where the count is 0."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(self.sensitivity / self.count)


def search(
    forest: Forest,
    side: Side,
    worth: Worth,
    aim: Aim,
    leaves: Small,
    factor: Floats,
    most: int = LARGEST,
) -> Solutions:
    """The best generalization of each record whose lattice is not too large.

    Args:
        forest: The hierarchies.
        side: The index of the side table.
        worth: Utility and sensitivity.
        aim: What is looked for.
        leaves: The leaf nodes of distinct records, best in lexicographic order.
        factor: What each record multiplies its weights by: [records, attributes].
        most: The largest lattice to search.
    """
    nodes, sums = np.full(leaves.shape, -1, np.int32), np.zeros((len(leaves), 3))
    lengths = (forest.depth[leaves] + 1).astype(np.float64)
    fits = np.flatnonzero(lengths.prod(axis=1) <= most)
    if len(fits):
        some_nodes, some_sums = nodes[fits], sums[fits]
        _search(
            forest.parent, side, worth, aim.goal, leaves[fits],
            np.ascontiguousarray(factor[fits]), _room(side, lengths[fits]), some_nodes, some_sums,
        )  # fmt: skip
        nodes[fits], sums[fits] = some_nodes, some_sums
    return Solutions.of(nodes, sums)


def lattice(
    forest: Forest, side: Side, worth: Worth, leaves: Small, factor: Floats
) -> tuple[Ints, Floats, Floats, Ints]:
    """All generalizations of one record: lengths of its chains, utility, sensitivity and count.

    The last attribute varies fastest.
    """
    lengths = forest.depth[leaves].astype(np.int64) + 1
    room = _room(side, lengths[None, :].astype(np.float64))
    utility, sensitivity = np.zeros(len(room.counts)), np.zeros(len(room.counts))
    _whole(
        forest.parent, side, worth, np.ascontiguousarray(leaves), np.ascontiguousarray(factor),
        room, utility, sensitivity,
    )  # fmt: skip
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
def _sum_slice(room: Any, base: int, half: int, last: int) -> None:
    """Sums along the axes of the second half, in one slice."""
    width = 1
    for place in range(half, last):
        width *= room.length[place]
    stride = 1
    for place in range(last - 1, half - 1, -1):
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
    stride = 1
    for place in range(half - 1, -1, -1):
        block = stride * room.length[place]
        back = stride * n2
        for base in range(0, n1, block):
            for cell in range((base + stride) * n2, (base + block) * n2):
                counts[cell] += counts[cell - back]
        stride = block
    return n1, n2


@helper
def _value(count: Any, utility: float, sensitivity: float, goal: Any) -> float:
    """What a generalization is worth under an aim; below 0 where the aim forbids it."""
    if goal.model == 0:  # threshold
        if count <= 0 or count * goal.bound < sensitivity:
            return -1.0
        return utility
    if goal.model == 1:  # least risk
        if count <= 0 or utility < goal.bound * (1 - 1e-12):
            return -1.0
        least: float = count / sensitivity
        return least
    power = 1.0
    for _ in range(goal.kappa):
        power *= utility
    value: float = goal.trade * count / sensitivity + power
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
            _sum_slice(room, base, side.half, attributes)
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
    for x1 in range(n1):
        _sum_slice(room, x1 * n2, side.half, leaves.size)
