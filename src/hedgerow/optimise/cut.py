"""Minimum cuts: the supermodular functions that are sums of terms over one, two or all attributes.

Selecting elements: a gain (or loss) for each, a loss for each pair of which the first is selected
and the second is not, a gain for each side row all of whose elements are selected, and (i, l)
only together with (i, l - 1). The best selection is the source side of a minimum cut. What lets
this serve the aggregate model with kappa = 1 is that a product of two falling functions of two
attributes is a sum of such pairs.
"""

from __future__ import annotations

import numpy as np

from hedgerow.arrays import Bools, Floats, Ints
from hedgerow.compiled import kernel
from hedgerow.optimise.record import Record

__all__ = ["best_selection"]


_NEVER = 1e300  # the capacity of what is never cut


def best_selection(
    record: Record, gain: Floats, pairs: tuple[Ints, Ints, Floats], row_gain: float
) -> Ints:
    """The generalisation with the greatest sum of gains.

    Args:
        record: The record.
        gain: Of each element, may be negative.
        pairs: First element, second element, loss if the first is selected without the second.
        row_gain: For each side row that becomes consistent.

    Returns:
        The generalisation; the least one if several are best.
    """
    elements, attributes = record.elements, len(record.heights)
    rows = len(record.levels)
    source, sink = elements + rows, elements + rows + 1
    first = np.cumsum(record.heights) - record.heights
    row, place = np.nonzero(record.levels)  # level 0 asks for nothing
    needed = first[place] + record.levels[row, place] - 1
    inner = np.flatnonzero(record.level_of > 1)
    up, down = np.flatnonzero(gain > 0), np.flatnonzero(gain < 0)
    edges = (
        (np.full(rows, source), elements + np.arange(rows), row_gain * record.counts),
        (elements + row, needed, np.full(len(row), _NEVER)),
        (inner, inner - 1, np.full(len(inner), _NEVER)),
        pairs,
        (np.full(len(up), source), up, gain[up]),
        (down, np.full(len(down), sink), -gain[down]),
    )
    tail, head, room = (np.concatenate(column) for column in zip(*edges, strict=True))
    fine = room > 0
    side = _source_side(
        source, sink, tail[fine].astype(np.int64), head[fine].astype(np.int64),
        room[fine].astype(np.float64),
    )  # fmt: skip
    point = np.zeros(attributes, np.int64)
    np.maximum.at(point, record.attribute_of, np.where(side[:elements], record.level_of, 0))
    return point


@kernel()
def _source_side(source: int, sink: int, tail: Ints, head: Ints, room: Floats) -> Bools:
    """Dinic's algorithm; edge 2 e leads forth and 2 e + 1 back."""
    nodes, edges = sink + 1, tail.size
    to = np.empty(2 * edges, np.int64)
    left = np.zeros(2 * edges)
    start = np.zeros(nodes + 1, np.int64)
    largest = 0.0
    for e in range(edges):
        to[2 * e], to[2 * e + 1] = head[e], tail[e]
        left[2 * e] = room[e]
        start[tail[e] + 1] += 1
        start[head[e] + 1] += 1
        if room[e] < 1e299:
            largest = max(largest, room[e])
    least = largest * 1e-13  # what is left of a capacity below this is rounding
    for node in range(nodes):
        start[node + 1] += start[node]
    at = start[:-1].copy()
    listed = np.empty(2 * edges, np.int64)
    for e in range(edges):
        listed[at[tail[e]]] = 2 * e
        at[tail[e]] += 1
        listed[at[head[e]]] = 2 * e + 1
        at[head[e]] += 1
    far = np.empty(nodes, np.int64)
    queue = np.empty(nodes, np.int64)
    path = np.empty(nodes, np.int64)
    while True:
        far[:] = -1
        far[source] = 0
        queue[0] = source
        begin, end = 0, 1
        while begin < end:
            node = queue[begin]
            begin += 1
            for place in range(start[node], start[node + 1]):
                e = listed[place]
                if left[e] > least and far[to[e]] < 0:
                    far[to[e]] = far[node] + 1
                    queue[end] = to[e]
                    end += 1
        if far[sink] < 0:
            return far >= 0
        at[:] = start[:-1]
        depth = 0
        node = source
        while True:
            if node == sink:
                flow = np.inf
                for step in range(depth):
                    flow = min(flow, left[path[step]])
                back = depth
                for step in range(depth - 1, -1, -1):
                    e = path[step]
                    left[e] -= flow
                    left[e ^ 1] += flow
                    if left[e] <= least:
                        back = step
                depth = back
                node = to[path[back] ^ 1]
                continue
            moved = False
            while at[node] < start[node + 1]:
                e = listed[at[node]]
                if left[e] > least and far[to[e]] == far[node] + 1:
                    path[depth] = e
                    depth += 1
                    node = to[e]
                    moved = True
                    break
                at[node] += 1
            if not moved:
                if depth == 0:
                    break
                depth -= 1
                node = to[path[depth] ^ 1]
                at[node] += 1
