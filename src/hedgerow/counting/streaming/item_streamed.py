"""The streamed engine for transactions: records in chunks, in scratch files beyond an allowance.

A chunk's records stay where they are; beside them lies their order, grouped by partition, which an
expansion changes. Every question is one pass over the chunks, with all cores.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar, Unpack

import numpy as np
from numpy.typing import NDArray

from hedgerow.arrays import Ints, Small
from hedgerow.compiled import cores
from hedgerow.counting.items import (
    Expansion,
    ItemEngine,
    Masks,
    Question,
    child_bounds,
    expand_records,
    sum_masks,
)
from hedgerow.counting.streaming.chunks import Memory
from hedgerow.counting.streaming.scratch import Shelf, Spare, check_folder
from hedgerow.counting.streaming.streamed import DEFAULT_MEMORY, shared_out
from hedgerow.counting.threads import Crew
from hedgerow.data import Transactions, read_records
from hedgerow.data.source import Progress, ReadOptions, silent
from hedgerow.schema import Schema

T = TypeVar("T")


class StreamedItems(ItemEngine):
    """Counts transactions that lie in scratch files.

    Use `read` or `of_transactions` to make one, and close it at the end.

    Args:
        schema: The public schema.
        memory: How many bytes the process may take, about; or how they are shared out.
        scratch: The folder for scratch files; the system's own by default.
    """

    def __init__(
        self,
        schema: Schema,
        memory: int | Memory = DEFAULT_MEMORY,
        scratch: str | Path | None = None,
    ) -> None:
        assert schema.items is not None
        check_folder(scratch)
        super().__init__(schema.items.size)
        self._dtype: Any = np.dtype(np.uint16 if self.items <= 1 << 16 else np.int32)
        self._crew = Crew(cores())
        self._memory = shared_out(memory, self._crew.size)
        self._scratch = scratch
        self._told: Progress = silent
        self._spare = Spare(scratch)
        self._records = Shelf(self._memory.rows, scratch, self._spare)  # ends, then codes
        self._orders = Shelf(self._memory.rows, scratch, self._spare)
        self._sizes: list[tuple[int, int]] = []  # records and codes of each chunk
        self._waiting: list[tuple[NDArray[Any], Small]] = []
        self._waiting_bytes = 0
        # where the records of each partition lie in the order, chunk by chunk
        self._begin: list[Small] = []
        self._end: list[Small] = []
        self._found: Shelf | None = None  # the latest expansion, chunk by chunk

    @staticmethod
    def read(
        source: Any,
        schema: Schema,
        memory: int | Memory = DEFAULT_MEMORY,
        scratch: str | Path | None = None,
        **how: Unpack[ReadOptions],
    ) -> StreamedItems:
        """Reads all records; refuses what breaks the schema when all of them have been seen.

        Args:
            source: Whatever `read_transactions` takes.
            schema: The public schema.
            memory: How much memory may be taken, about.
            scratch: The folder for scratch files.
            how: How to read; see `read_transactions`.
        """
        engine = StreamedItems(schema, memory, scratch)
        try:
            read_records(source, schema, sink=engine._take, **how)
            engine._flush()
        except BaseException:
            engine.close()
            raise
        return engine

    @staticmethod
    def of_transactions(
        transactions: Transactions, memory: int | Memory = DEFAULT_MEMORY
    ) -> StreamedItems:
        """Takes transactions in memory, for comparisons."""
        engine = StreamedItems(transactions.schema, memory)
        engine._take(transactions.codes, np.diff(transactions.start))
        engine._flush()
        return engine

    def __enter__(self) -> StreamedItems:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Removes the scratch files and ends the threads."""
        self._crew.dismiss()
        for shelf in (self._records, self._orders, self._found):
            if shelf is not None:
                shelf.close()
        self._spare.give_back()

    def keep_room(self, size: int) -> None:
        """See `StreamedEngine.keep_room`."""
        self._spare.keep(size)

    def watch(self, told: Progress) -> None:
        """Has the share of the records told that each pass has seen."""
        self._told = told

    @property
    def bytes_on_disk(self) -> int:
        """How large the scratch files are."""
        return self._records.bytes_on_disk + self._orders.bytes_on_disk

    def _take(self, codes: Small, sizes: Ints) -> None:
        """Takes records; a chunk is made whenever there are enough."""
        first = 0
        ends = np.cumsum(sizes)
        while first < len(sizes):
            before = int(ends[first - 1]) if first else 0
            room = max(0, self._memory.chunk - self._waiting_bytes)
            cost = (ends[first:] - before) * self._dtype.itemsize
            cost += 8 * np.arange(1, len(cost) + 1)  # an end and a place in the order
            number = max(1, int(np.searchsorted(cost, room, "right")))
            last = first + number
            part = codes[before : int(ends[last - 1])]
            self._waiting.append((part.astype(self._dtype), sizes[first:last].astype(np.int32)))
            self._waiting_bytes += int(cost[number - 1])
            if self._waiting_bytes >= self._memory.chunk or last < len(sizes):
                self._flush()
            first = last

    def _flush(self) -> None:
        if not self._waiting:
            return
        codes = np.concatenate([part for part, _ in self._waiting])
        sizes = np.concatenate([part for _, part in self._waiting])
        ends = np.cumsum(sizes, dtype=np.int32)
        self._records.add(np.concatenate([ends.view(np.uint8), codes.view(np.uint8)]))
        self._orders.add(np.arange(len(ends), dtype=np.int32).view(np.uint8))
        self._sizes.append((len(ends), len(codes)))
        self._begin.append(np.zeros(1, dtype=np.int32))
        self._end.append(np.full(1, len(ends), dtype=np.int32))
        self._held[0] += len(ends)
        self._waiting, self._waiting_bytes = [], 0

    def _chunk(self, chunk: int) -> tuple[Ints, NDArray[Any]]:
        """Where the records of a chunk begin, and their codes."""
        records, number = self._sizes[chunk]
        block = np.empty(4 * records + number * self._dtype.itemsize, dtype=np.uint8)
        self._records.load(chunk, 0, block)
        start = np.zeros(records + 1, dtype=np.int64)
        start[1:] = block[: 4 * records].view(np.int32)
        return start, block[4 * records :].view(self._dtype)

    def _each(self, work: Callable[[int], T]) -> Iterator[T]:
        number = len(self._sizes)
        for done, found in enumerate(self._crew.map(work, range(number)), start=1):
            yield found
            self._told(done / number)

    def _sum(self, size: int, question: Question) -> Ints:
        def one(chunk: int) -> Ints:
            sums = np.zeros(size, dtype=np.int64)
            question(*self._chunk(chunk), sums)
            return sums

        total = np.zeros(size, dtype=np.int64)
        for sums in self._each(one):
            total += sums
        return total

    def _expand(self, expansion: Expansion) -> Masks:
        partitions = expansion.partitions

        def one(chunk: int) -> Masks:
            order = np.empty(self._sizes[chunk][0], dtype=np.int32)
            self._orders.load(chunk, 0, order.view(np.uint8))
            begin, end = (
                bounds[chunk][partitions].astype(np.int64) for bounds in (self._begin, self._end)
            )
            wide = order.astype(np.int64)
            found = expand_records(*self._chunk(chunk), wide, begin, end, expansion)
            self._orders.save(chunk, 0, wide.astype(np.int32).view(np.uint8))
            return found

        if self._found is not None:
            self._found.close()
        self._found = Shelf(self._memory.bounds, self._scratch, self._spare)
        self._lengths: list[int] = []
        total = Masks(np.zeros(len(partitions) + 1, np.int64), *np.zeros((2, 0), np.int64))
        waiting: list[Masks] = []
        for found in self._each(one):
            columns = np.concatenate([found.start, found.mask, found.count])
            self._found.add(columns.view(np.uint8))
            self._lengths.append(len(found.mask))
            waiting.append(found)
            if sum(len(part.mask) for part in waiting) > max(1 << 16, len(total.mask)):
                total, waiting = sum_masks([total, *waiting]), []
        return sum_masks([total, *waiting])

    def _keep(self, place: Ints, mask: Ints) -> Ints:
        assert self._found is not None
        total = np.zeros(len(place), dtype=np.int64)
        for chunk, length in enumerate(self._lengths):
            first = len(self._expanded) + 1
            columns = np.empty(first + 2 * length, dtype=np.int64)
            self._found.load(chunk, 0, columns.view(np.uint8))
            found = Masks(
                columns[:first], columns[first : first + length], columns[first + length :]
            )
            begin = self._begin[chunk][self._expanded].astype(np.int64)
            child_begin, child_size = child_bounds(begin, found, place, mask)
            total += child_size
            for bounds, new in ((self._begin, child_begin), (self._end, child_begin + child_size)):
                bounds[chunk] = np.concatenate([bounds[chunk], new.astype(np.int32)])
        return total
