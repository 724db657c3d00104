"""The in-memory engine: rows grouped by node, moved once a level."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.arrays import Bools, Ints, Small, Words
from hedgerow.counting import kernels
from hedgerow.counting.engine import Domain, Histograms, RowSums, Split
from hedgerow.counting.sealed import Sealed
from hedgerow.data import CodeMatrix, Table
from hedgerow.errors import DataError


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


def distinct_records(table: Table) -> Sealed[Records]:
    """Counts the distinct records of a table; weights of people's own make records differ."""
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
    found = np.stack([column[first].astype(np.int64) for column in columns], axis=1)
    return Sealed(Records(found[:, :width], found[:, width:], counts.astype(np.int64)))


MOST_ROWS = 1 << 31  # histograms count in 32 bits
BATCH = 1 << 21  # histogram entries in one batch


class MemoryEngine:
    """Counts rows that fit in memory.

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
        self.domain = Domain.of(table.schema)
        self._batch = batch
        self._table = table.codes
        self._whole = table
        self._rows, self._words = _room(table.codes)
        self._rows[:, : table.codes.shape[1]] = table.codes
        self._spare = _room(table.codes)
        classes = table.codes[:, self.domain.attributes]
        self._counts = np.bincount(classes, minlength=self.domain.classes)[None, :]
        self._begin = np.zeros(1, dtype=np.int64)
        self._end = np.full(1, self._rows.shape[0], dtype=np.int64)

    def histograms(
        self,
        nodes: Ints,
        lo: Small,
        hi: Small,
        wanted: Bools,
    ) -> Iterator[tuple[slice, Sealed[Histograms]]]:
        """See `Engine.histograms`."""
        begin, end = self._begin[nodes], self._end[nodes]
        size = end - begin
        width = np.where(wanted, hi - lo, 0).astype(np.int64)
        entries = np.minimum(width, size[:, None]).sum(axis=1)
        cells = np.where(width * self.domain.classes <= kernels.DENSE * size[:, None], width, 0)
        scratch = np.empty(int(cells.sum(axis=1).max(initial=0)) * self.domain.classes, np.int32)
        keys = np.empty(int(size.max(initial=0)), dtype=np.int64)
        total = np.cumsum(entries)
        first = 0
        while first < len(nodes):
            before = total[first] - entries[first]
            last = max(first + 1, int(np.searchsorted(total, before + self._batch, "right")))
            part = slice(first, last)
            room = int(total[last - 1] - before)
            found = Histograms(
                start=np.empty((last - first) * lo.shape[1] + 1, dtype=np.int64),
                code=np.empty(room, dtype=np.int32),
                counts=np.empty((room, self.domain.classes), dtype=np.int32),
            )
            kernels.histograms(
                self._rows, begin[part], end[part], lo[part], hi[part], wanted[part],
                self.domain.classes, scratch, keys, found.start, found.code, found.counts,
            )  # fmt: skip
            yield part, Sealed(found)
            first = last

    def split(self, split: Split) -> None:
        """See `Engine.split`."""
        children = len(split.edges) + len(split.nodes)
        begin = np.empty(children, dtype=np.int64)
        end = np.empty(children, dtype=np.int64)
        counts = np.zeros((children, self.domain.classes), dtype=np.int64)
        begins, ends = self._begin[split.nodes], self._end[split.nodes]
        kernels.route(
            self._rows, self._words, self._spare[1],
            np.empty(int((ends - begins).max(initial=0)), dtype=np.int32),
            begins, ends, split.attribute, split.edge_start, split.edges,
            self.domain.attributes, not split.final, begin, end, counts,
        )  # fmt: skip
        # whatever may be split again has moved over
        (self._rows, self._words), self._spare = self._spare, (self._rows, self._words)
        self._begin = np.concatenate([self._begin, begin])
        self._end = np.concatenate([self._end, end])
        self._counts = np.concatenate([self._counts, counts])

    def class_counts(self, nodes: Ints) -> Sealed[Ints]:
        """See `Engine.class_counts`."""
        return Sealed(self._counts[nodes])

    def distinct_records(self) -> Sealed[Records]:
        """Every distinct record of the table and how many rows have it."""
        return distinct_records(self._whole)

    def cell_counts(self, edges: tuple[Small, ...]) -> Sealed[tuple[Ints, Ints]]:
        """See `Engine.cell_counts`."""
        rows = self._table
        cell = np.zeros(rows.shape[0], dtype=np.int64)
        for a, cut in enumerate(edges):
            lookup = np.repeat(np.arange(len(cut) - 1, dtype=np.int64), np.diff(cut))
            cell *= len(cut) - 1
            cell += lookup[rows[:, a]]
        cell *= self.domain.classes
        cell += rows[:, -1]
        number, counts = np.unique(cell, return_counts=True)
        return Sealed((number, counts.astype(np.int64)))

    def sums(self, question: RowSums) -> Sealed[Ints]:
        """See `Engine.sums`."""
        total = np.zeros(question.room, dtype=np.int64)
        question.add(self._table, total)
        return Sealed(total)


def _room(codes: CodeMatrix) -> tuple[CodeMatrix, Words]:
    """Room for such rows in whole 64-bit words, which move faster, and the same bytes as words."""
    rows, columns = codes.shape
    words = np.empty((rows, -(-columns * codes.itemsize // 8)), dtype=np.uint64)
    return words.view(codes.dtype), words
