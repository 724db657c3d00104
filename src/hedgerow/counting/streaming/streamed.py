"""The streamed engine: rows that do not fit in memory, on one machine.

The input is read once, batch by batch, and encoded into packed rows in a scratch file without a
name (see `scratch`). Each level of a tree then costs two passes over the rows that are still open:
one that counts and one that moves rows to their children, chunk by chunk, with all cores.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar, Unpack

import numpy as np
from numpy.typing import NDArray

from hedgerow.arrays import Ints, Small, Words
from hedgerow.compiled import cores
from hedgerow.counting.engine import Bytes, Domain, RowSums, Split
from hedgerow.counting.items import (
    Expansion,
    ItemEngine,
    Masks,
    Question,
    child_bounds,
    expand_records,
    sum_masks,
)
from hedgerow.counting.streaming.chunks import Chunks, Memory
from hedgerow.counting.streaming.scratch import Shelf, Spare, check_folder
from hedgerow.counting.tallies import Cells, Crew, HistogramQuestion, PartsEngine, Tally
from hedgerow.data import RowStream, Table, Transactions, read_records
from hedgerow.data.people import first_rows, id_digests, new_key, row_hash
from hedgerow.data.source import Progress, ReadOptions, silent
from hedgerow.data.stream import Encoded, Report
from hedgerow.schema import Schema

# The cap on rows per person, for rows that do not fit in memory.
#
# Rows are dealt to buckets by a keyed digest of the person's id, so that all rows of one person
# meet in one bucket; buckets are capped one by one. The same rows stay as in memory.

_BUCKETS = 64
_HEAD = 24  # bytes of digest and rank before each row


class PersonCap:
    """Takes rows with their persons, and gives those that stay.

    Args:
        stride: The bytes of a packed row.
        max_rows: The public cap.
        memory: About how many bytes may be used.
        folder: Where scratch files may lie.
    """

    def __init__(
        self, stride: int, max_rows: int, memory: int, folder: str | Path | None = None
    ) -> None:
        self._max_rows = max_rows
        self._memory = memory
        self._width = _HEAD + stride
        room = max(1, memory // (4 * _BUCKETS) // self._width)
        self._open = [np.empty((room, self._width), np.uint8) for _ in range(_BUCKETS)]
        self._used = [0] * _BUCKETS
        self._shelves = [Shelf(memory // (4 * _BUCKETS), folder) for _ in range(_BUCKETS)]
        self._sizes: list[list[int]] = [[] for _ in range(_BUCKETS)]

    def add(self, rows: Bytes, digests: Words, rank: Words) -> None:
        """Deals rows to their buckets.

        Args:
            rows: Packed rows.
            digests: [rows, 2], whose they are.
            rank: Their rank among the rows of the same person.
        """
        records = np.empty((len(rows), self._width), np.uint8)
        head = np.concatenate([digests, rank[:, None]], axis=1)
        records[:, :_HEAD] = head.view(np.uint8)
        records[:, _HEAD:] = rows
        bucket = (digests[:, 0] % np.uint64(_BUCKETS)).astype(np.int64)
        records = records[np.argsort(bucket, kind="stable")]
        ends = np.cumsum(np.bincount(bucket, minlength=_BUCKETS))
        for number, part in enumerate(np.split(records, ends[:-1])):
            while len(part):
                room = self._open[number][self._used[number] :]
                taken = min(len(room), len(part))
                room[:taken] = part[:taken]
                self._used[number] += taken
                part = part[taken:]
                if taken == len(room):
                    self._flush(number)

    def _flush(self, number: int) -> None:
        block = self._open[number][: self._used[number]]
        if len(block):
            self._shelves[number].add(block.reshape(-1))
            self._sizes[number].append(len(block))
        self._used[number] = 0

    def rows(self) -> Iterator[Bytes]:
        """The packed rows that stay, bucket after bucket; what was kept for them is given back."""
        for number in range(_BUCKETS):
            self._flush(number)
            self._open[number] = np.empty((0, self._width), np.uint8)
            kept = np.empty((0, self._width), np.uint8)
            waiting: list[Bytes] = []
            size = 0
            for block, length in enumerate(self._sizes[number]):
                waiting.append(np.empty((length, self._width), np.uint8))
                self._shelves[number].load(block, 0, waiting[-1].reshape(-1))
                size += waiting[-1].nbytes
                # a person with very many rows must not fill the memory
                if size > max(self._memory // 4, 2 * kept.nbytes):
                    kept, waiting, size = self._capped([kept, *waiting]), [], 0
            self._shelves[number].close()
            yield np.ascontiguousarray(self._capped([kept, *waiting])[:, _HEAD:])

    def _capped(self, parts: list[Bytes]) -> Bytes:
        records = np.concatenate(parts)
        head = np.ascontiguousarray(records[:, :_HEAD]).view(np.uint64)
        return records[first_rows((head[:, 0], head[:, 1]), head[:, 2], self._max_rows)]

    def close(self) -> None:
        """Gives everything back."""
        for shelf in self._shelves:
            shelf.close()


DEFAULT_MEMORY = 2_000_000_000
_ITSELF = 500_000_000  # what Python, its libraries and a batch of input take
_LEAST = 100_000_000


def shared_out(memory: int | Memory, threads: int) -> Memory:
    """What the process may take, less what it takes anyway, shared out among its uses."""
    if isinstance(memory, Memory):
        return memory
    return Memory.of(max(_LEAST, memory - _ITSELF), threads)


class StreamedEngine(PartsEngine):
    """Counts rows that lie in scratch files.

    Use `read` or `of_table` to make one, and close it at the end.

    Args:
        schema: The public schema.
        memory: How many bytes the process may take, about; or how they are shared out.
        scratch: The folder for scratch files; the system's own by default.
        threads: How many threads count; as many as there are cores by default.
    """

    def __init__(
        self,
        schema: Schema,
        memory: int | Memory = DEFAULT_MEMORY,
        scratch: str | Path | None = None,
        threads: int | None = None,
    ) -> None:
        check_folder(scratch)
        self._schema = schema
        self._crew = Crew(threads or cores())
        self._memory = shared_out(memory, self._crew.size)
        super().__init__(Domain.of(schema), self._memory.batch, self._crew.size)
        self._scratch = scratch
        self._chunks = Chunks(
            self._layout, self.domain.classes, self._memory, self._crew, scratch, silent
        )

    @staticmethod
    def read(
        stream: RowStream,
        memory: int = DEFAULT_MEMORY,
        scratch: str | Path | None = None,
        threads: int | None = None,
        told: Progress = silent,
    ) -> StreamedEngine:
        """Reads all rows; refuses what breaks the schema when all of them have been seen."""
        engine = StreamedEngine(stream.schema, memory, scratch, threads)
        try:
            engine._ingest(stream, told)
        except BaseException:
            engine.close()
            raise
        return engine

    @staticmethod
    def of_table(table: Table, memory: int | Memory = DEFAULT_MEMORY) -> StreamedEngine:
        """Takes the rows of a table in memory, for comparisons."""
        engine = StreamedEngine(table.schema, memory)
        engine._chunks.append(engine._layout.pack(list(table.codes.T)))
        engine._counts = engine._chunks.seal()
        return engine

    def __enter__(self) -> StreamedEngine:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Removes the scratch files and ends the threads."""
        self._crew.dismiss()
        self._chunks.close()

    def watch(self, told: Progress) -> None:
        """Has the share of the rows told that each pass has seen."""
        self._chunks.told = told

    def keep_room(self, size: int) -> None:
        """Sets bytes aside for what scratch files grow by while the tree does.

        Raises:
            DataError: If there is not so much room.
        """
        self._chunks.spare.keep(size)

    @property
    def bytes_on_disk(self) -> int:
        """How large the scratch files are."""
        return self._chunks.bytes_on_disk

    def _ingest(self, stream: RowStream, told: Progress) -> None:
        person = self._schema.person
        cap = None
        if person is not None:
            room = self._memory.batch  # nothing is counted yet
            cap = PersonCap(self._layout.stride, person.max_rows, room, self._scratch)
        key = new_key()

        def encode(item: tuple[int, Any]) -> tuple[Report, Bytes, Any, Any]:
            encoded = stream.encode(item)
            columns = self._columns(encoded)
            digests = rank = None
            if cap is not None:
                digests, rank = id_digests(encoded.people, key), row_hash(columns)
            return encoded.report, self._layout.pack(columns), digests, rank

        report = Report()
        try:
            for noted, rows, digests, rank in self._crew.map(encode, stream.batches()):
                report.merge(noted)
                if cap is None:
                    self._chunks.append(rows)
                else:
                    cap.add(rows, digests, rank)
                told(stream.share())
            stream.finish(report)
            if cap is not None:
                for rows in cap.rows():
                    self._chunks.append(rows)
        finally:
            if cap is not None:
                cap.close()
        self._counts = self._chunks.seal()

    def _columns(self, encoded: Encoded) -> list[NDArray[Any]]:
        """The columns of a packed row: there is always a class."""
        if self._schema.target is not None:
            return [*encoded.columns]
        return [*encoded.columns, np.zeros(encoded.rows, dtype=np.int64)]

    def _tally(self, question: HistogramQuestion) -> Tally:
        return self._chunks.tally(question)

    def _split(self, places: Ints, split: Split) -> Ints:
        return self._chunks.split(places, split)

    def _cells(self, edges: tuple[Small, ...]) -> Cells:
        return self._chunks.cells(edges)

    def _sums(self, question: RowSums) -> Ints:
        return self._chunks.sums(question)


# The streamed engine for transactions: records in chunks, in scratch files beyond an allowance.
#
# A chunk's records stay where they are; beside them lies their order, grouped by partition, which
# an expansion changes. Every question is one pass over the chunks, with all cores.

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
