"""The in-memory engine: rows grouped by node, moved once a level."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.arrays import Bools, Ints, Small
from hedgerow.compiled import helper, kernel
from hedgerow.counting.engine import (
    DENSE,
    Cells,
    Codes,
    Domain,
    Engine,
    Histograms,
    RowSums,
    Split,
    batches,
    cells_of,
)
from hedgerow.counting.parts import Layout, split_rows
from hedgerow.counting.sealed import Sealed
from hedgerow.data import Table
from hedgerow.errors import DataError

# The loops. Rows lie grouped by node, so histograms stay in cache.
#
# The innermost ones take unsigned places: numba asks of a signed one whether it counts from the
# end.


@helper
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


def _histograms(
    rows: Codes, begin: Ints, end: Ints, lo: Small, hi: Small, wanted: Bools, classes: int,
    scratch: Small, keys: Ints, start: Ints, code: Small, counts: Small,
) -> None:  # fmt: skip
    """`histograms` by NumPy: all parts of all nodes in one row of cells."""
    width = np.where(wanted, hi - lo, 0).astype(np.int64)
    ends = np.cumsum(width).reshape(width.shape)
    offset = ends - width - lo
    node = np.repeat(np.arange(len(begin)), end - begin)
    at = np.arange(len(node)) + np.repeat(end - np.cumsum(end - begin), end - begin)
    cells = rows[at, : lo.shape[1]] + offset[node]
    places = (cells * classes + rows[at, lo.shape[1], None])[wanted[node]]
    total = int(width.sum()) * classes
    if total <= DENSE * len(places):
        dense = np.bincount(places, minlength=total)
        present = np.flatnonzero(dense)
        times = dense[present]
    else:
        present, times = np.unique(places, return_counts=True)
    occurs, entry = np.unique(present // classes, return_inverse=True)
    last = np.searchsorted(occurs, ends.ravel())
    start[0], start[1:] = 0, last
    code[: len(occurs)] = occurs - np.repeat(offset.ravel(), np.diff(start))
    counts[: len(occurs)] = 0
    counts[entry, present % classes] = times


def _histogram_steps(rows: Codes, begin: Ints, end: Ints, lo: Small, *rest: Any) -> int:
    return 100 + int((end - begin).sum() + len(begin)) * len(lo.T) // 16


@kernel(steps=_histogram_steps, small=_histograms)
def histograms(
    rows: Codes, begin: Ints, end: Ints, lo: Small, hi: Small, wanted: Bools, classes: int,
    scratch: Small, keys: Ints, start: Ints, code: Small, counts: Small,
) -> None:  # fmt: skip
    """Class counts of every code that occurs, for each wanted attribute of each node.

    Entry e of segment (node, attribute) says that `code[e]` occurs with class k in `counts[e, k]`
    records; codes increase within a segment; segment i lies from `start[i]` to `start[i + 1]`.
    """
    attributes = lo.shape[1]
    dense = np.empty(attributes, dtype=np.uint64)
    offset = np.empty(attributes, dtype=np.uint64)  # below 0 it wraps around, and back
    step, column = np.uint64(classes), np.uint64(attributes)
    seen = np.empty(scratch.size + 1, dtype=np.uint32)
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
        for row in range(np.uint64(first), np.uint64(last)):
            klass = np.uint64(rows[row, column])
            for j in range(np.uint64(number)):
                scratch[offset[j] + np.uint64(rows[row, dense[j]]) * step + klass] += 1
        place = np.uint64(0)
        i = 0
        for a in range(attributes):
            start[segment] = entry
            segment += 1
            if not wanted[node, a]:
                continue
            if i < number and dense[i] == a:
                # a branch for each code would be guessed wrong too often
                width, number_seen = np.uint64(hi[node, a] - lo[node, a]), np.uint64(0)
                for value in range(width):
                    at = place + value * step
                    some = scratch[at]
                    for k in range(np.uint64(1), step):
                        some |= scratch[at + k]
                    seen[number_seen] = value
                    number_seen += np.uint64(some != 0)
                for j in range(number_seen):
                    code[entry] = lo[node, a] + seen[j]
                    at = place + seen[j] * step
                    for k in range(step):
                        counts[entry, k] = scratch[at + k]
                    entry += 1
                place += width * step
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


# What is counted apart from nodes: the distinct records.


@dataclass(frozen=True, eq=False)
class Records:
    """What a table holds, each distinct record once, in lexicographic order; travels sealed.

    Args:
        values: The codes of predictors, then of the class if there is one: [records, attributes].
        weights: Levels of people's own weights: [records, columns].
        counts: How many rows are the same.
    """

    values: Ints
    weights: Ints
    counts: Ints


MOST_ROWS = 1 << 31  # histograms count in 32 bits
BATCH = 1 << 21  # histogram entries in one batch


class MemoryEngine(Engine):
    """Counts rows that fit in memory: one part, which lies as it was read.

    Args:
        table: The private table; it is read, not changed.
        batch: The most histogram entries in one answer.
    """

    def __init__(self, table: Table, batch: int = BATCH) -> None:
        if table.codes.shape[0] >= MOST_ROWS:
            raise DataError(
                "the table has more rows than the in-memory engine can count",
                hint="Take the engine streamed (--engine streamed, engine='streamed').",
            )
        super().__init__(Domain.of(table.schema))
        self._batch = batch
        self._table = table
        self._layout = Layout.of_matrix(table.codes)
        shape = len(table.codes), self._layout.stride
        self._rows, self._spare = np.empty(shape, np.uint8), np.empty(shape, np.uint8)
        self._rows.view(table.codes.dtype)[:, : table.codes.shape[1]] = table.codes
        classes = table.codes[:, self.domain.attributes]
        self._counts = np.bincount(classes, minlength=self.domain.classes)[None, :]
        self._bounds = np.array([[0], [len(table.codes)]], dtype=np.int32)  # of each node's rows

    def histograms(
        self, nodes: Ints, lo: Small, hi: Small, wanted: Bools
    ) -> Iterator[tuple[slice, Sealed[Histograms]]]:
        """See `Engine.histograms`."""
        begin, end = self._bounds[:, nodes].astype(np.int64)
        size = end - begin
        rows = self._rows.view(self._table.codes.dtype)
        width = np.where(wanted, hi - lo, 0).astype(np.int64)
        entries = np.minimum(width, size[:, None]).sum(axis=1)
        cells = np.where(width * self.domain.classes <= DENSE * size[:, None], width, 0)
        scratch = np.empty(int(cells.sum(axis=1).max(initial=0)) * self.domain.classes, np.int32)
        keys = np.empty(int(size.max(initial=0)), dtype=np.int64)
        for part in batches(entries, self._batch):
            room = int(entries[part].sum())
            answer = Histograms(
                start=np.empty(lo[part].size + 1, dtype=np.int64),
                code=np.empty(room, dtype=np.int32),
                counts=np.empty((room, self.domain.classes), dtype=np.int32),
            )
            histograms(
                rows, begin[part], end[part], lo[part], hi[part], wanted[part],
                self.domain.classes, scratch, keys, answer.start, answer.code, answer.counts,
            )  # fmt: skip
            yield part, Sealed(answer)

    def _split(self, split: Split) -> Ints:
        bounds, moved = self._bounds.take(split.nodes, axis=1), None if split.final else self._spare
        inner, counts = split_rows(
            self._rows, moved, self._layout, bounds, bounds[0], split, self.domain.classes
        )
        if not split.final:  # whatever may be split again has moved over
            self._rows, self._spare = self._spare, self._rows
        self._bounds = np.concatenate([self._bounds, inner], axis=1)
        return counts

    def distinct_records(self) -> Sealed[Records]:
        """Counts the distinct records of a table; weights of people's own make records differ."""
        table = self._table
        width = len(table.schema.attributes) + (table.schema.target is not None)
        own = table.weights
        rows = table.codes.shape[0]
        columns: list[NDArray[Any]] = [table.codes[:, place] for place in range(width)]
        columns += [] if own is None else [own[:, place] for place in range(own.shape[1])]
        if not rows:
            nothing = np.zeros((0, len(columns)), np.int64)
            return Sealed(Records(nothing[:, :width], nothing[:, width:], np.zeros(0, np.int64)))
        key = np.zeros(rows, np.int64)
        size = 1
        for column in columns:
            most = int(column.max()) + 1
            if size * most >= 1 << 62:  # so many columns that a number would not hold them
                _, index = np.unique(key, return_inverse=True)
                key = index.reshape(-1).astype(np.int64)
                size = int(key.max()) + 1
            key *= most
            key += column
            size *= most
        _, first, counts = np.unique(key, return_index=True, return_counts=True)
        distinct = np.stack([column[first].astype(np.int64) for column in columns], axis=1)
        return Sealed(Records(distinct[:, :width], distinct[:, width:], counts.astype(np.int64)))

    def _cells(self, edges: tuple[Small, ...]) -> Cells:
        return cells_of([self._table.codes], edges, self.domain.classes)

    def _sums(self, question: RowSums) -> Ints:
        total = np.zeros(question.room, dtype=np.int64)
        question.add(self._table.codes, total)
        return total
