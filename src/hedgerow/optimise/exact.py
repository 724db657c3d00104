"""Exact search through the whole lattice of a record, for both models, pruned by halves.

Side rows are placed where they meet the record, and summed up along each axis: the sum at x is
then the number of side rows that x could stand for. The axes of the first half of the attributes
go first. What is left for a combination x1 of the first half is a slice over the second half, and
a slice is left out if its best conceivable value is no better than what was found: counts grow and
utilities and sensitivities fall as values are generalised, so the slice holds nothing better than
the count and sensitivity at its most general end together with the utility at its most special.

In the threshold model, generalising a generalisation that is allowed gives one that is allowed,
so that a slice whose most general end is not allowed holds none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from hedgerow.arrays import Bools, Floats, Ints, Small
from hedgerow.compiled import kernel
from hedgerow.optimise.hierarchy import Forest
from hedgerow.optimise.model import Aim, Worth
from hedgerow.optimise.side import Side

__all__ = ["LARGEST", "Solutions", "lattice", "search"]

LARGEST = 1 << 20
"""Lattices up to this size are searched through."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Solutions:
    """What was chosen for each record.

    Args:
        nodes: The generalised values: [records, attributes].
        utility: Of each record's.
        sensitivity: Of each record's.
        count: How many side rows it could stand for.
        solved: Whether the lattice was small enough to be searched.
    """

    nodes: Small
    utility: Floats
    sensitivity: Floats
    count: Ints
    solved: Bools

    @classmethod
    def of(cls, nodes: Small, found: Floats) -> Self:
        """From what kernels fill in: nodes, and utility, sensitivity and count of each record."""
        return cls(
            nodes=nodes,
            utility=found[:, 0],
            sensitivity=found[:, 1],
            count=found[:, 2].astype(np.int64),
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
    """The best generalisation of each record.

    Args:
        forest: The hierarchies.
        side: The index of the side table.
        worth: Utility and sensitivity.
        aim: What is looked for.
        leaves: The leaf nodes of distinct records, best in lexicographic order.
        factor: What each record multiplies its weights by: [records, attributes].
        most: The largest lattice to search.
    """
    records, width = leaves.shape
    nodes = np.full((records, width), -1, np.int32)
    found = np.zeros((records, 3))
    most = min(most, forest.largest_lattice())
    _search(
        forest.parent, side.node_lo, side.node_hi, worth.utility, worth.weight, worth.floor,
        side.half, side.rank_start, side.first, side.second, side.start, side.then, side.count,
        np.ascontiguousarray(leaves), np.ascontiguousarray(factor), most,
        aim.threshold, aim.risk or 0.0, aim.trade, aim.kappa, nodes, found,
    )  # fmt: skip
    return Solutions.of(nodes, found)


def lattice(
    forest: Forest, side: Side, worth: Worth, leaves: Small, factor: Floats
) -> tuple[Ints, Floats, Floats, Ints]:
    """All generalisations of one record: lengths of its chains, utility, sensitivity and count.

    The last attribute varies fastest.
    """
    lengths = forest.depth[leaves].astype(np.int64) + 1
    size = int(np.prod(lengths))
    utility, sensitivity = np.zeros(size), np.zeros(size)
    counts = np.zeros(size, np.int32)
    _whole(
        forest.parent, side.node_lo, side.node_hi, worth.utility, worth.weight, worth.floor,
        side.half, side.rank_start, side.first, side.second, side.start, side.then, side.count,
        np.ascontiguousarray(leaves), np.ascontiguousarray(factor), utility, sensitivity, counts,
    )  # fmt: skip
    return lengths, utility, sensitivity, counts.astype(np.int64)


@kernel()
def _chain(parent: Small, leaf: int, nodes: Small) -> int:
    """Writes the nodes above a leaf and returns how many there are."""
    length = 0
    while leaf >= 0:
        nodes[length] = leaf
        length += 1
        leaf = parent[leaf]
    return length


@kernel()
def _sum_out(
    chains: Small, length: Ints, first: int, last: int, value: Floats, factor: Floats,
    floor: float, weighted: bool, out: Floats,
) -> int:  # fmt: skip
    """Sums of node values over all combinations of attributes first..last-1; how many."""
    size = 1
    out[0] = 0.0
    for place in range(first, last):
        levels = length[place]
        for old in range(size - 1, -1, -1):
            base = out[old]
            for level in range(levels):
                one = value[chains[place, level]]
                if weighted:
                    one = max(one * factor[place], floor)
                out[old * levels + level] = base + one
        size *= levels
    return size


@kernel()
def _meet(
    chains: Small, length: Ints, first: int, last: int, node_lo: Small, node_hi: Small,
    rank_start: Ints, table: Small, combinations: Small, place_of: Small,
) -> None:  # fmt: skip
    """Where each combination of side values meets the record, as a place in a half lattice."""
    stride = 1
    for place in range(last - 1, first - 1, -1):
        base = rank_start[place]
        for level in range(length[place] - 1, -1, -1):  # the root covers all, then ever less
            node = chains[place, level]
            for rank in range(node_lo[node], node_hi[node]):
                table[base + rank] = level * stride
        stride *= length[place]
    for row in range(combinations.shape[0]):
        total = 0
        for place in range(first, last):
            total += table[rank_start[place] + combinations[row, place - first]]
        place_of[row] = total


@kernel()
def _place_rows(
    start: Small, then: Small, count: Small, first_place: Small, second_place: Small,
    size: int, width: int, length: Ints, half: int, counts: Small,
) -> None:  # fmt: skip
    """Puts side rows where they meet the record and sums along the axes of the first half."""
    counts[: size * width] = 0
    for row in range(first_place.size):
        base = first_place[row] * width
        for entry in range(start[row], start[row + 1]):
            counts[base + second_place[then[entry]]] += count[entry]
    stride = 1
    for place in range(half - 1, -1, -1):
        block = stride * length[place]
        for base in range(0, size, block):
            low = (base + stride) * width
            back = stride * width
            for cell in range(low, (base + block) * width):
                counts[cell] += counts[cell - back]
        stride = block


@kernel()
def _sum_slice(counts: Small, base: int, length: Ints, half: int, last: int) -> None:
    """Sums along the axes of the second half, in one slice."""
    width = 1
    for place in range(half, last):
        width *= length[place]
    stride = 1
    for place in range(last - 1, half - 1, -1):
        block = stride * length[place]
        for low in range(base, base + width, block):
            for cell in range(low + stride, low + block):
                counts[cell] += counts[cell - stride]
        stride = block


@kernel()
def _value(
    count: Any, utility: float, sensitivity: float, threshold: bool, risk: float, trade: float,
    kappa: int,
) -> float:  # fmt: skip
    if threshold:
        if count <= 0 or count * risk < sensitivity:
            return -1.0
        return utility
    power = 1.0
    for _ in range(kappa):
        power *= utility
    value: float = trade * count / sensitivity + power
    return value


@kernel()
def _search(
    parent: Small, node_lo: Small, node_hi: Small, worth: Floats, weight: Floats, floor: float,
    half: int, rank_start: Ints, first: Small, second: Small, start: Small, then: Small,
    count: Small, leaves: Small, factor: Floats, most: int, threshold: bool, risk: float,
    trade: float, kappa: int, nodes: Small, found: Floats,
) -> None:  # fmt: skip
    records, attributes = leaves.shape
    chains = np.zeros((attributes, 64), np.int32)
    length = np.zeros(attributes, np.int64)
    table = np.zeros(rank_start[attributes], np.int32)
    first_place = np.zeros(first.shape[0], np.int32)
    second_place = np.zeros(second.shape[0], np.int32)
    counts = np.zeros(most, np.int32)
    u1, s1, u2, s2 = np.zeros(most), np.zeros(most), np.zeros(most), np.zeros(most)
    bound = np.zeros(most)
    for record in range(records):
        size = 1
        for place in range(attributes):
            length[place] = _chain(parent, leaves[record, place], chains[place])
            size *= length[place]
            if size > most:
                break
        if size > most:
            continue
        mine = factor[record]
        n1 = _sum_out(chains, length, 0, half, worth, mine, floor, False, u1)
        _sum_out(chains, length, 0, half, weight, mine, floor, True, s1)
        n2 = _sum_out(chains, length, half, attributes, worth, mine, floor, False, u2)
        _sum_out(chains, length, half, attributes, weight, mine, floor, True, s2)
        _meet(chains, length, 0, half, node_lo, node_hi, rank_start, table, first, first_place)
        _meet(
            chains, length, half, attributes, node_lo, node_hi, rank_start, table, second,
            second_place,
        )  # fmt: skip
        _place_rows(start, then, count, first_place, second_place, n1, n2, length, half, counts)
        # the best conceivable value of each slice
        top = 0
        for x1 in range(n1):
            total = 0
            for cell in range(x1 * n2, (x1 + 1) * n2):
                total += counts[cell]
            least = s1[x1] + s2[n2 - 1]
            if threshold and (total <= 0 or total * risk < least):
                bound[x1] = -1.0
            else:
                bound[x1] = _value(total, u1[x1] + u2[0], least, threshold, risk, trade, kappa)
            if bound[x1] > bound[top]:
                top = x1
        best, where, least_risk = -1.0, -1, np.inf
        for turn in range(-1, n1):
            x1 = top if turn < 0 else turn
            if bound[x1] < best or bound[x1] < 0.0 or turn == top:
                continue
            base = x1 * n2
            _sum_slice(counts, base, length, half, attributes)
            for x2 in range(n2):
                utility, sensitivity = u1[x1] + u2[x2], s1[x1] + s2[x2]
                cell = counts[base + x2]
                value = _value(cell, utility, sensitivity, threshold, risk, trade, kappa)
                if value < best:
                    continue
                share = sensitivity / cell if cell > 0 else np.inf
                # the less risky one of two that are equally good, then the first one
                if (
                    value > best
                    or share < least_risk
                    or (share == least_risk and base + x2 < where)
                ):
                    best, where, least_risk = value, base + x2, share
                    found[record, 0] = utility
                    found[record, 1] = sensitivity
                    found[record, 2] = cell
        if where < 0:
            continue
        rest = where
        for place in range(attributes - 1, -1, -1):
            nodes[record, place] = chains[place, rest % length[place]]
            rest //= length[place]


@kernel()
def _whole(
    parent: Small, node_lo: Small, node_hi: Small, worth: Floats, weight: Floats, floor: float,
    half: int, rank_start: Ints, first: Small, second: Small, start: Small, then: Small,
    count: Small, leaves: Small, factor: Floats, utility: Floats, sensitivity: Floats,
    counts: Small,
) -> None:  # fmt: skip
    attributes = leaves.size
    chains = np.zeros((attributes, 64), np.int32)
    length = np.zeros(attributes, np.int64)
    table = np.zeros(rank_start[attributes], np.int32)
    first_place = np.zeros(first.shape[0], np.int32)
    second_place = np.zeros(second.shape[0], np.int32)
    for place in range(attributes):
        length[place] = _chain(parent, leaves[place], chains[place])
    _sum_out(chains, length, 0, attributes, worth, factor, floor, False, utility)
    _sum_out(chains, length, 0, attributes, weight, factor, floor, True, sensitivity)
    n1 = 1
    for place in range(half):
        n1 *= length[place]
    n2 = counts.size // n1
    _meet(chains, length, 0, half, node_lo, node_hi, rank_start, table, first, first_place)
    _meet(
        chains, length, half, attributes, node_lo, node_hi, rank_start, table, second, second_place
    )
    _place_rows(start, then, count, first_place, second_place, n1, n2, length, half, counts)
    for x1 in range(n1):
        _sum_slice(counts, x1 * n2, length, half, attributes)
