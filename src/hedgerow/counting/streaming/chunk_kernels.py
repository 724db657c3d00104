"""The loops over packed rows. They hold no lock, so that threads run them side by side.

Rows of a chunk lie grouped by node: node i's from `begin[i]` to `end[i]`. They come in three views
of the same bytes, in units of 1, 2 and 4 (see `layout.views`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.arrays import Bools, Bytes, Ints, Small
from hedgerow.compiled import helper, kernel

Bounds = Small
R8 = Bytes
R16 = NDArray[np.uint16]
R32 = NDArray[np.uint32]
Counts = NDArray[Any]  # 32 bits while all rows together are fewer than 2^31, else 64


@helper
def _code(r8: R8, r16: R16, r32: R32, row: Any, width: Any, place: Any) -> Any:
    if width == 1:
        return np.int64(r8[row, place])
    if width == 2:
        return np.int64(r16[row, place])
    return np.int64(r32[row, place])


@kernel()
def tally(
    r8: R8,
    r16: R16,
    r32: R32,
    width: Ints,
    place: Ints,
    begin: Bounds,
    end: Bounds,
    cell: Ints,
    classes: int,
    counts: Counts,
) -> None:
    """Adds each row to the dense histograms of its node.

    The cell of (code c, class k) of a segment is `cell[node, attribute] + c * classes + k`; an
    attribute whose `cell` is below -2^60 is left out.
    """
    attributes = width.size - 1
    number = np.empty(3, dtype=np.int64)
    places = np.empty((3, attributes), dtype=np.int64)
    offsets = np.empty((3, attributes), dtype=np.int64)
    class_width, class_place = width[attributes], place[attributes]
    for node in range(begin.size):
        first, last = np.int64(begin[node]), np.int64(end[node])
        if first == last:
            continue
        number[:] = 0
        for a in range(attributes):
            if cell[node, a] < -(1 << 60):
                continue
            group = width[a] >> 1  # 0, 1, 2
            places[group, number[group]] = place[a]
            offsets[group, number[group]] = cell[node, a]
            number[group] += 1
        ones, twos, fours = number[0], number[1], number[2]
        for row in range(first, last):
            klass = _code(r8, r16, r32, row, class_width, class_place)
            for i in range(ones):
                counts[offsets[0, i] + np.int64(r8[row, places[0, i]]) * classes + klass] += 1
            for i in range(twos):
                counts[offsets[1, i] + np.int64(r16[row, places[1, i]]) * classes + klass] += 1
            for i in range(fours):
                counts[offsets[2, i] + np.int64(r32[row, places[2, i]]) * classes + klass] += 1


@kernel()
def collect(
    r8: R8,
    r16: R16,
    r32: R32,
    width: Ints,
    place: Ints,
    begin: Bounds,
    end: Bounds,
    sparse: Bools,
    classes: int,
    keys: Ints,
) -> None:
    """Lists code * classes + class of every row, segment after segment, where asked to."""
    attributes = width.size - 1
    used = 0
    for node in range(begin.size):
        first, last = np.int64(begin[node]), np.int64(end[node])
        if first == last:
            continue
        for a in range(attributes):
            if not sparse[node, a]:
                continue
            for row in range(first, last):
                klass = _code(r8, r16, r32, row, width[attributes], place[attributes])
                code = _code(r8, r16, r32, row, width[a], place[a])
                keys[used] = code * classes + klass
                used += 1


@kernel()
def place_keys(keys: Ints, size: Ints, sparse: Bools, filled: Ints, target: Ints) -> None:
    """Puts one chunk's keys into their segments; `filled` is where each segment goes on."""
    used = 0
    for node in range(size.size):
        if size[node] == 0:
            continue
        for a in range(sparse.shape[1]):
            if sparse[node, a]:
                place = filled[node, a]
                target[place : place + size[node]] = keys[used : used + size[node]]
                filled[node, a] += size[node]
                used += size[node]


@kernel()
def compress(
    counts: Counts,
    cell: Ints,
    lo: Small,
    hi: Small,
    keys: Ints,
    key_start: Ints,
    sparse: Bools,
    classes: int,
    start: Ints,
    code_out: Small,
    counts_out: Counts,
) -> None:
    """From dense cells and listed keys to the codes that occur, segment after segment."""
    nodes, attributes = sparse.shape
    entry = 0
    for node in range(nodes):
        for a in range(attributes):
            segment = node * attributes + a
            start[segment] = entry
            if sparse[node, a]:
                first, last = key_start[segment], key_start[segment + 1]
                keys[first:last] = np.sort(keys[first:last])
                previous = np.int64(-1)
                for i in range(first, last):
                    code = keys[i] // classes
                    if code != previous:
                        code_out[entry] = code
                        counts_out[entry, :] = 0
                        entry += 1
                        previous = code
                    counts_out[entry - 1, keys[i] - code * classes] += 1
            elif cell[node, a] >= -(1 << 60):
                at = cell[node, a] + np.int64(lo[node, a]) * classes
                for value in range(lo[node, a], hi[node, a]):
                    seen = False
                    for k in range(classes):
                        if counts[at + k]:
                            seen = True
                    if seen:
                        code_out[entry] = value
                        for k in range(classes):
                            counts_out[entry, k] = counts[at + k]
                        entry += 1
                    at += classes
    start[nodes * attributes] = entry


@helper
def _children(
    rows: Any, place: Any, first: Any, last: Any, edges: Any, start: Any, stop: Any, child_of: Any
) -> None:
    """Which child each row of a node goes to: how many edges are not above its code."""
    if stop - start == 1:
        edge = edges[start]
        for row in range(first, last):
            child_of[row - first] = np.int64(rows[row, place]) >= edge
        return
    for row in range(first, last):
        code = np.int64(rows[row, place])
        left, right = start, stop
        while left < right:
            middle = (left + right) // 2
            if code >= edges[middle]:
                left = middle + 1
            else:
                right = middle
        child_of[row - first] = left - start


@kernel()
def route(
    r8: R8,
    r16: R16,
    r32: R32,
    moved: R32,
    width: Ints,
    place: Ints,
    begin: Bounds,
    end: Bounds,
    into: Bounds,
    attribute: Ints,
    edge_start: Ints,
    edges: Small,
    move: bool,
    child_of: Small,
    child_begin: Bounds,
    child_end: Bounds,
    child_counts: Ints,
) -> None:
    """Adds the class counts of each node's children and, if asked to, moves rows, stably.

    A node's rows go to `moved` from `into[node]` on, its children one after another.
    """
    words = r32.shape[1]
    class_column = width.size - 1
    most = 1
    for node in range(begin.size):
        most = max(most, edge_start[node + 1] - edge_start[node] + 1)
    cursor = np.empty(most, dtype=np.int64)
    child = np.int64(0)
    for node in range(begin.size):
        a = attribute[node]
        start, stop = edge_start[node], edge_start[node + 1]
        first, last = np.int64(begin[node]), np.int64(end[node])
        if width[a] == 1:
            _children(r8, place[a], first, last, edges, start, stop, child_of)
        elif width[a] == 2:
            _children(r16, place[a], first, last, edges, start, stop, child_of)
        else:
            _children(r32, place[a], first, last, edges, start, stop, child_of)
        number = stop - start + 1
        cursor[:number] = 0
        for row in range(first, last):
            which = child_of[row - first]
            cursor[which] += 1
            klass = _code(r8, r16, r32, row, width[class_column], place[class_column])
            child_counts[child + which, klass] += 1
        at = np.int64(into[node])
        for which in range(number):
            size = cursor[which]
            child_begin[child + which] = at
            cursor[which] = at
            at += size
            child_end[child + which] = at
        if move:
            for row in range(first, last):
                target = cursor[child_of[row - first]]
                cursor[child_of[row - first]] = target + 1
                for word in range(words):
                    moved[target, word] = r32[row, word]
        child += number


@kernel()
def cells(
    r8: R8,
    r16: R16,
    r32: R32,
    width: Ints,
    place: Ints,
    lookup: Ints,
    lookup_start: Ints,
    classes: int,
    out: Ints,
) -> None:
    """The cell of each row: what its codes add to it, by the lookup of each column, plus its class.

    The lookup of a column already holds the products with the sizes of all later ones.
    """
    attributes = width.size - 1
    for row in range(r8.shape[0]):
        cell = _code(r8, r16, r32, row, width[attributes], place[attributes])
        for a in range(attributes):
            cell += lookup[lookup_start[a] + _code(r8, r16, r32, row, width[a], place[a])]
        out[row] = cell
