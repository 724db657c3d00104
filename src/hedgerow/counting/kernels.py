"""The loops of the in-memory engine. Rows lie grouped by node, so histograms stay in cache."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from hedgerow.arrays import Bools, Ints, Small, Words

__all__ = ["count_classes", "histograms", "route"]

Codes = NDArray[Any]

DENSE = 24  # a part is counted densely if it has fewer cells than this times the node's rows


@njit(cache=True)
def count_classes(rows: Codes, last: int, out: Ints) -> None:
    """Counts the classes (column `last`) of all rows."""
    for row in range(rows.shape[0]):
        out[rows[row, last]] += 1


@njit(cache=True)
def _sort(keys: Ints, size: int) -> None:
    """Sorts the first keys; by insertion while they are few."""
    if size > 48:
        keys[:size] = np.sort(keys[:size])
        return
    for i in range(1, size):
        key = keys[i]
        j = i - 1
        while j >= 0 and keys[j] > key:
            keys[j + 1] = keys[j]
            j -= 1
        keys[j + 1] = key


@njit(cache=True)
def histograms(
    rows: Codes,
    begin: Ints,
    end: Ints,
    lo: Small,
    hi: Small,
    wanted: Bools,
    classes: int,
    scratch: Small,
    keys: Ints,
    start: Ints,
    code: Small,
    counts: Small,
) -> None:
    """Class counts of every code that occurs, for each wanted attribute of each node.

    Entry e of segment (node, attribute) says that `code[e]` occurs with class k in `counts[e, k]`
    records; codes increase within a segment; segment i lies from `start[i]` to `start[i + 1]`.
    """
    attributes = lo.shape[1]
    dense = np.empty(attributes, dtype=np.int64)
    offset = np.empty(attributes, dtype=np.int64)
    entry = np.int64(0)
    segment = np.int64(0)
    for node in range(begin.size):
        first, last = begin[node], end[node]
        size = last - first
        # the row loop fills all small parts of the node at once
        number = 0
        used = np.int64(0)
        for a in range(attributes):
            cells = np.int64(hi[node, a] - lo[node, a]) * classes
            if wanted[node, a] and cells <= DENSE * size:
                dense[number] = a
                offset[number] = used - np.int64(lo[node, a]) * classes
                number += 1
                used += cells
        scratch[:used] = 0
        for row in range(first, last):
            klass = np.int64(rows[row, attributes])
            for i in range(number):
                scratch[offset[i] + np.int64(rows[row, dense[i]]) * classes + klass] += 1
        i = 0
        for a in range(attributes):
            start[segment] = entry
            segment += 1
            if not wanted[node, a]:
                continue
            if i < number and dense[i] == a:
                place = offset[i] + np.int64(lo[node, a]) * classes
                for value in range(lo[node, a], hi[node, a]):
                    seen = 0
                    for k in range(classes):
                        seen |= scratch[place + k]
                    if seen:
                        code[entry] = value
                        for k in range(classes):
                            counts[entry, k] = scratch[place + k]
                        entry += 1
                    place += classes
                i += 1
                continue
            for row in range(first, last):
                keys[row - first] = np.int64(rows[row, a]) * classes + rows[row, attributes]
            _sort(keys, size)
            previous = np.int64(-1)
            for j in range(size):
                seen_code = keys[j] // classes
                if seen_code != previous:
                    code[entry] = seen_code
                    for k in range(classes):
                        counts[entry, k] = 0
                    entry += 1
                    previous = seen_code
                counts[entry - 1, keys[j] - seen_code * classes] += 1
    start[segment] = entry


@njit(cache=True)
def _child(value: Any, edges: Small, first: Any, number: Any) -> Any:
    """How many of the edges are not above a code: the child it belongs to."""
    if number <= 8:
        which = np.int64(0)
        for e in range(first, first + number):
            which += value >= edges[e]
        return which
    left, right = np.int64(0), number
    while left < right:
        middle = (left + right) // 2
        if value >= edges[first + middle]:
            left = middle + 1
        else:
            right = middle
    return left


@njit(cache=True)
def route(
    rows: Codes,
    words: Words,
    moved: Words,
    child_of: Small,
    begin: Ints,
    end: Ints,
    attribute: Ints,
    edge_start: Ints,
    edges: Small,
    class_column: int,
    move: bool,
    child_begin: Ints,
    child_end: Ints,
    child_counts: Ints,
) -> None:
    """Counts the classes of each node's children and, if asked to, moves rows to them, stably.

    `words` holds the same bytes as `rows`; a node's rows go to the same place of `moved`. The
    inner edges of node i's children lie from `edge_start[i]` to `edge_start[i + 1]`.
    """
    width = words.shape[1]
    most = 1
    for node in range(begin.size):
        most = max(most, edge_start[node + 1] - edge_start[node] + 1)
    cursor = np.empty(most, dtype=np.int64)
    child = 0
    for node in range(begin.size):
        a = attribute[node]
        first_edge = edge_start[node]
        number = edge_start[node + 1] - first_edge
        first, last = begin[node], end[node]
        cursor[: number + 1] = 0
        for row in range(first, last):
            which = _child(rows[row, a], edges, first_edge, number)
            child_of[row - first] = which
            cursor[which] += 1
            child_counts[child + which, rows[row, class_column]] += 1
        place = first
        for which in range(number + 1):
            child_begin[child + which] = place
            place += cursor[which]
            child_end[child + which] = place
            cursor[which] = child_begin[child + which]
        if move:
            for row in range(first, last):
                target = cursor[child_of[row - first]]
                cursor[child_of[row - first]] = target + 1
                for word in range(width):
                    moved[target, word] = words[row, word]
        child += number + 1
