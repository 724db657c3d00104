"""The threshold model on lattices of any size, step by step from the top: fast, no promise.

From the most general values, which are allowed, one attribute after another is made more special,
as long as the risk stays allowed. The next step is the one that gains most utility for what it
loses of the count, and in two of three walks for what it adds to the sensitivity. In the first
walk a step is one level. In the two others it may be several levels of an attribute at once: the
first level below the root adds to the sensitivity, those below it often gain more and add nothing.
The best of the three is kept. Then each attribute in turn is taken up again, by a step or to the
top, and the others may go on down before it does; whatever ends higher is kept, until nothing does.

Records walk together as long as they take the same steps (`together`), then each by itself
(`walks`). What becomes of a record is the same whoever is beside it. Blocks of records are shared
out among the cores.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.arrays import Bytes, Floats, Ints, Small, Words
from hedgerow.compiled import cores, kernel
from hedgerow.optimise.exact import Solutions
from hedgerow.optimise.hierarchy import Forest
from hedgerow.optimise.model import Aim, Worth
from hedgerow.optimise.record import Record
from hedgerow.optimise.side import Side
from hedgerow.optimise.together import meet, terms_of, walk_together
from hedgerow.optimise.walks import WALKS, go_down, levels_of, repair, total_of

__all__ = ["descend", "descend_from"]


_BLOCK = 1 << 15  # records that walk together at most
_BITS = 1 << 28  # of the nodes whose rows are kept as bits, all together


def descend(
    forest: Forest, side: Side, worth: Worth, aim: Aim, leaves: Small, factor: Floats
) -> Solutions:
    """A good generalisation of each record; see `exact.search` for the arguments."""
    assert aim.risk is not None
    records, width = leaves.shape
    nodes = np.full((records, width), -1, np.int32)
    found = np.zeros((records, 3))
    of_row = np.repeat(np.arange(len(side.first), dtype=np.int32), np.diff(side.start))
    ranks = _narrow(np.concatenate([side.first[of_row], side.second[side.then]], axis=1))
    count = side.count.astype(np.int64)
    bit, bits = _bits(forest, side, ranks)
    height = int(forest.heights().max()) + 1
    risk = aim.risk
    threads = cores()
    block = min(_BLOCK, max(1, -(-records // threads)))

    def some(begin: int) -> None:
        part = slice(begin, begin + block)
        _block(
            forest.parent, side.node_lo, side.node_hi, worth.utility, worth.weight, worth.floor,
            side.rank_start, ranks, count, bit, bits, np.ascontiguousarray(leaves[part]),
            np.ascontiguousarray(factor[part]), risk, height, nodes[part], found[part],
        )  # fmt: skip

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(some, range(0, records, block)))
    return Solutions.of(nodes, found)


def descend_from(record: Record, risk: float, point: Ints) -> Ints:
    """The best end of the walks that begin at a generalisation that is allowed."""
    attributes = len(record.heights)
    width = int(record.heights.max(initial=0)) + 1
    utility, weight = (np.zeros((attributes, width)) for _ in range(2))
    for place in range(attributes):
        utility[place, : record.heights[place] + 1] = record.utility[place]
        weight[place, : record.heights[place] + 1] = record.weight[place]
    # levels take the part of ranks: a row is inside a node up to the level of the node
    high = np.repeat(np.arange(1, width + 1, dtype=np.int32)[None, :], attributes, axis=0)
    table = np.tile(np.arange(width, dtype=np.uint8), attributes)
    start = np.arange(attributes, dtype=np.int64) * width
    end = point.copy()
    _walk_alone(
        _narrow(record.levels), record.counts, start, table, np.zeros_like(high), high,
        np.full(high.shape, -1, np.int64), np.zeros((0, 0), np.uint64), utility, weight,
        record.heights, risk, end,
    )  # fmt: skip
    return end


def _narrow(ranks: NDArray[np.integer]) -> NDArray[np.integer]:
    """Ranks in as few bytes as kernels are compiled for: rows are read again and again."""
    kind = np.uint16 if int(ranks.max(initial=0)) < 1 << 16 else np.int32
    return np.ascontiguousarray(ranks, kind)


def _bits(forest: Forest, side: Side, ranks: NDArray[np.integer]) -> tuple[Ints, Words]:
    """For each node its place among the bits, or -1; and the bits of nodes, the largest first."""
    words = (len(ranks) + 63) // 64
    size = side.node_hi.astype(np.int64) - side.node_lo
    roots = np.zeros(len(size), bool)
    roots[forest.root] = True
    rows = np.zeros(len(size), np.int64)
    ends = np.append(forest.root[1:], len(size))
    orders, starts = [], []
    for place in range(forest.attributes):
        column = ranks[:, place]
        orders.append(np.argsort(column, kind="stable"))
        starts.append(np.searchsorted(column[orders[-1]], np.arange(side.ranks[place] + 1)))
        part = slice(int(forest.root[place]), int(ends[place]))
        rows[part] = starts[-1][side.node_hi[part]] - starts[-1][side.node_lo[part]]
    rows[roots] = 0  # everybody is in a root
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
    return bit, bits


@kernel()
def _scratch(rows: int, attributes: int, height: int) -> Any:
    words = (rows + 63) // 64
    return (
        np.zeros((attributes, words), np.uint64), np.zeros(words, np.uint64),
        np.zeros(words, np.uint64), np.zeros(rows, np.int32),
        np.zeros((rows, attributes), np.uint8), np.zeros(rows, np.int64), np.zeros(rows, np.int32),
        np.zeros(attributes + 2, np.int64), np.zeros((attributes, height), np.int64),
        np.zeros((attributes, height), np.int64), np.zeros(attributes, np.int64),
    )  # fmt: skip


@kernel()
def _walk_alone(
    ranks: Any, count: Ints, start: Ints, table: Bytes, low: Small, high: Small, bit: Ints,
    bits: Words, utility: Floats, weight: Floats, heights: Ints, risk: float, point: Ints,
) -> None:  # fmt: skip
    rows, attributes = ranks.shape
    room = _scratch(rows, attributes, utility.shape[1])
    levels, alive, at, live = room[4], room[6], room[9], room[10]
    every = np.arange(rows).astype(np.int32)
    levels_of(ranks, every, rows, start, table, levels)
    first, trial = point.copy(), point.copy()
    best, sense, total = -1.0, 0.0, 0
    for walk in range(WALKS):
        trial[:] = first
        number, size = 0, 0
        at[:] = 0
        for row in range(rows):
            inside = True
            for place in range(attributes):
                if levels[row, place] > first[place]:
                    inside = False
                    break
            if inside:
                alive[number] = row
                number += 1
                size += count[row]
                for place in range(attributes):
                    at[place, levels[row, place]] += count[row]
        for place in range(attributes):
            live[place] = place
        value, weighed, size, _ = go_down(
            levels, count, alive, number, at, size, live, attributes, total_of(utility, trial),
            total_of(weight, trial), utility, weight, risk, walk, -1, -1, 0, trial, best - 1e-9,
        )  # fmt: skip
        if value > best:
            best, sense, total = value, weighed, size
            point[:] = trial
    repair(
        ranks, count, start, table, low, high, bit, bits, utility, weight, heights, risk, point,
        best, sense, total, room,
    )  # fmt: skip


@kernel()
def _block(
    parent: Small, node_lo: Small, node_hi: Small, worth: Floats, weight: Floats, floor: float,
    start: Ints, ranks: Any, count: Ints, bit: Ints, bits: Words, leaves: Small,
    factor: Floats, risk: float, height: int, nodes: Small, found: Floats,
) -> None:  # fmt: skip
    """Solves the records of a block: together, then each by itself."""
    records, attributes = leaves.shape
    rows = ranks.shape[0]
    chains = np.zeros((records, attributes, height), np.int32)
    heights = np.zeros((records, attributes), np.int64)
    for record in range(records):
        for place in range(attributes):
            node, level = leaves[record, place], 0
            while node >= 0:
                chains[record, place, level] = node
                node = parent[node]
                level += 1
            heights[record, place] = level - 1
    room = _scratch(rows, attributes, height)
    points = np.zeros((records, attributes), np.int64)
    table = np.zeros(start[attributes], np.uint8)
    utility, sense = np.zeros((attributes, height)), np.zeros((attributes, height))
    low, high = np.zeros((attributes, height), np.int32), np.zeros((attributes, height), np.int32)
    places = np.zeros((attributes, height), np.int64)
    found[:, 0] = -1.0
    for walk in range(WALKS):
        walk_together(
            node_lo, node_hi, worth, weight, floor, start, ranks, count, chains, heights, factor,
            risk, walk, points, found, room, table, utility, sense,
        )  # fmt: skip
    for record in range(records):
        if found[record, 0] < 0:  # not even the most general values are allowed
            found[record] = 0.0
            continue
        terms_of(
            chains[record], heights[record], worth, weight, floor, factor[record], utility, sense
        )
        meet(chains[record], heights[record], node_lo, node_hi, start, table)
        for place in range(attributes):
            for level in range(heights[record, place] + 1):
                node = chains[record, place, level]
                low[place, level], high[place, level] = node_lo[node], node_hi[node]
                places[place, level] = bit[node]
        point = points[record]
        value, weighed, number = repair(
            ranks, count, start, table, low, high, places, bits, utility, sense, heights[record],
            risk, point, found[record, 0], found[record, 1], int(found[record, 2]), room,
        )  # fmt: skip
        found[record, 0], found[record, 1], found[record, 2] = value, weighed, number
        for place in range(attributes):
            nodes[record, place] = chains[record, place, point[place]]
