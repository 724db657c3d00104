"""Packed rows in chunks on a shelf, each chunk grouped by node and re-sorted as the tree grows.

Memory is bounded whatever the number of rows: a thread holds one chunk (and room to sort it), the
rest lies on shelves that use scratch files beyond their allowance.
"""

from __future__ import annotations

import queue
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from hedgerow.arrays import Ints, Small
from hedgerow.counting.engine import Bytes, Layout, RowSums, Split
from hedgerow.counting.streaming.scratch import Shelf, Spare
from hedgerow.counting.tallies import (
    Bounds,
    Cells,
    Crew,
    HistogramQuestion,
    Tally,
    cells_of,
    split_rows,
    sum_cells,
    summed,
)
from hedgerow.data.source import Progress, silent

T = TypeVar("T")

_GAP = 1 << 14  # bytes that are read along rather than skipped


@dataclass(frozen=True, kw_only=True)
class Memory:
    """How memory is shared out, in bytes.

    Args:
        chunk: A chunk of rows: each thread holds two of them.
        rows: Rows that need not go to a scratch file.
        bounds: Where nodes' rows lie, for each of two levels; what is more goes to a scratch file.
        batch: What a batch of histograms may take until it has been scored.
    """

    chunk: int
    rows: int
    bounds: int
    batch: int

    @staticmethod
    def of(total: int, threads: int) -> Memory:
        """Shares out a number of bytes among threads.

        Example:
            >>> Memory.of(1 << 30, threads=2).chunk >> 20
            32
        """
        chunk = min(1 << 25, total // (16 * threads))
        return Memory(chunk=chunk, rows=total // 4, bounds=total // 32, batch=total // 3)


class Chunks:
    """Rows grouped by the nodes of the latest level.

    Args:
        layout: Where the codes of a row lie.
        classes: The number of classes.
        memory: How memory is shared out.
        crew: Who works.
        folder: Where scratch files may lie.
        told: Called with the share of the rows that a pass has seen.
    """

    def __init__(
        self,
        layout: Layout,
        classes: int,
        memory: Memory,
        crew: Crew,
        folder: str | Path | None = None,
        told: Progress = silent,
    ) -> None:
        self._layout = layout
        self._classes = classes
        self._memory = memory
        self._crew = crew
        self._folder = folder
        self.told = told
        self._most = max(1, memory.chunk // layout.stride)
        self._filling = self._room()
        self._filled = 0
        self._rows: list[int] = []  # of each chunk
        self.spare = Spare(folder)
        self._shelf = Shelf(memory.rows, folder, self.spare)
        self._bounds = Shelf(memory.bounds, folder, self.spare)
        self._nodes = 1

    def _room(self) -> Bytes:
        return np.empty((self._most, self._layout.stride), dtype=np.uint8)

    def append(self, rows: Bytes) -> None:
        """Adds packed rows to the root."""
        while len(rows):
            taken = min(len(rows), self._most - self._filled)
            self._filling[self._filled : self._filled + taken] = rows[:taken]
            self._filled += taken
            rows = rows[taken:]
            if self._filled == self._most:
                self._flush()

    def _flush(self) -> None:
        self._shelf.add(self._filling[: self._filled].reshape(-1))
        self._bounds.add(np.array([0, self._filled], dtype=np.int32).view(np.uint8))
        self._rows.append(self._filled)
        self._filled = 0

    def seal(self) -> Ints:
        """Ends appending; gives the class counts of the root."""
        if self._filled:
            self._flush()
        self._filling = np.empty((0, 0), dtype=np.uint8)

        def classes(chunk: int, rows: Bytes) -> Ints:
            whole = np.array([[0], [self._rows[chunk]]])
            self._load(chunk, rows, whole)
            column = self._layout.column(rows[: self._rows[chunk]], -1)
            return np.bincount(column, minlength=self._classes).astype(np.int64)

        total = np.zeros((1, self._classes), dtype=np.int64)
        for counts in self._each(classes):
            total[0] += counts
        return total

    @property
    def bytes_on_disk(self) -> int:
        """How large the scratch files are."""
        return self._shelf.bytes_on_disk + self._bounds.bytes_on_disk

    def _each(self, work: Callable[[int, Bytes], T]) -> Iterator[T]:
        """Works on all chunks, with room for a chunk at hand; results in their order."""
        rooms: queue.SimpleQueue[Bytes] = queue.SimpleQueue()
        for _ in range(min(self._crew.size, len(self._rows))):
            rooms.put(self._room())

        def one(chunk: int) -> T:
            room = rooms.get()
            try:
                return work(chunk, room)
            finally:
                rooms.put(room)

        for number, found in enumerate(self._crew.map(one, range(len(self._rows))), start=1):
            yield found
            self.told(number / len(self._rows))

    def _load(self, chunk: int, rows: Bytes, bounds: NDArray[np.integer]) -> list[tuple[int, int]]:
        """Reads the rows of nodes, each to its place; gives the runs of rows that were read."""
        found = _runs(bounds, _GAP // self._layout.stride)
        for first, last in found:
            self._shelf.load(chunk, first * self._layout.stride, rows[first:last].reshape(-1))
        return found

    def _bounds_of(self, chunk: int) -> Bounds:
        bounds = np.empty((2, self._nodes), dtype=np.int32)
        self._bounds.load(chunk, 0, bounds.reshape(-1).view(np.uint8))
        return bounds

    def tally(self, question: HistogramQuestion) -> Tally:
        """Answers a question about nodes of the latest level."""
        tallies: queue.SimpleQueue[Tally] = queue.SimpleQueue()
        made = [question.tally() for _ in range(max(1, min(self._crew.size, len(self._rows))))]
        for tally in made:
            tallies.put(tally)

        def count(chunk: int, rows: Bytes) -> None:
            bounds = self._bounds_of(chunk)
            self._load(chunk, rows, bounds[:, question.nodes])
            tally = tallies.get()
            try:
                question.count(rows, self._layout, bounds, tally)
            finally:
                tallies.put(tally)

        for _ in self._each(count):
            pass
        for other in made[1:]:
            made[0].add(other)
        return made[0]

    def split(self, places: Ints, split: Split) -> Ints:
        """Moves rows to the children of nodes, which are the latest level from then on.

        Args:
            places: The places of the split's nodes in the latest level.
            split: The split.

        Returns:
            The class counts of the children.
        """
        children = len(split.edges) + len(split.nodes)
        level = Shelf(self._memory.bounds, self._folder, self.spare)
        spare: queue.SimpleQueue[Bytes] = queue.SimpleQueue()
        for _ in range(min(self._crew.size, len(self._rows))):
            spare.put(self._room())

        def move(chunk: int, rows: Bytes) -> tuple[Bounds, Ints]:
            bounds = np.ascontiguousarray(self._bounds_of(chunk)[:, places])
            runs = self._load(chunk, rows, bounds)
            if split.final:
                return split_rows(rows, None, self._layout, bounds, bounds[0], split, self._classes)
            moved = spare.get()
            try:
                read = sum(last - first for first, last in runs)
                if read > int((bounds[1] - bounds[0]).sum(dtype=np.int64)):
                    for first, last in runs:  # rows between the nodes' were read along
                        moved[first:last] = rows[first:last]
                found = split_rows(
                    rows, moved, self._layout, bounds, bounds[0], split, self._classes
                )
                for first, last in runs:
                    content = moved[first:last].reshape(-1)
                    self._shelf.save(chunk, first * self._layout.stride, content)
                return found
            finally:
                spare.put(moved)

        total = np.zeros((children, self._classes), dtype=np.int64)
        try:
            for bounds, counts in self._each(move):
                total += counts
                level.add(bounds.reshape(-1).view(np.uint8))
        except BaseException:
            level.close()
            raise
        self._bounds.close()
        self._bounds, self._nodes = level, children
        return total

    def cells(self, edges: Sequence[Small]) -> Cells:
        """The nonempty cells of a product of cuts, over all rows."""

        def count(chunk: int, rows: Bytes) -> Cells:
            self._load(chunk, rows, np.array([[0], [self._rows[chunk]]]))
            return cells_of(rows[: self._rows[chunk]], self._layout, edges, self._classes)

        empty = np.zeros(0, dtype=np.int64)
        total, waiting = (empty, empty), [(empty, empty)]
        for found in self._each(count):
            waiting.append(found)
            if sum(len(part[0]) for part in waiting) > max(1 << 16, len(total[0])):
                total, waiting = sum_cells([total, *waiting]), []
        return sum_cells([total, *waiting])

    def sums(self, question: RowSums) -> Ints:
        """The sum over all rows of what each contributes."""
        total = np.zeros(question.room, dtype=np.int64)

        def count(chunk: int, rows: Bytes) -> Ints:
            self._load(chunk, rows, np.array([[0], [self._rows[chunk]]]))
            return summed(rows[: self._rows[chunk]], self._layout, question)

        for found in self._each(count):
            total += found
        return total

    def close(self) -> None:
        """Gives everything back."""
        self._shelf.close()
        self._bounds.close()
        self.spare.give_back()


def _runs(bounds: NDArray[np.integer], gap: int) -> list[tuple[int, int]]:
    """The rows of nodes as few runs; rows between them are taken along if they are few.

    Example:
        >>> _runs(np.array([[0, 5, 90], [5, 7, 99]]), gap=3)
        [(0, 7), (90, 99)]
    """
    used = bounds[:, bounds[0] < bounds[1]].astype(np.int64)
    if not used.size:
        return []
    begin, end = used[:, np.argsort(used[0])]
    new = np.flatnonzero(begin[1:] - end[:-1] > gap) + 1
    first = begin[np.concatenate([[0], new])]
    last = end[np.concatenate([new - 1, [len(end) - 1]])]
    return list(zip(first.tolist(), last.tolist(), strict=True))
