"""The streamed engines: records that do not fit in memory, on one machine.

The input is read once, batch by batch, and encoded into scratch files without a name (see
`scratch`). Each level of a tree then costs passes over the records that are still open, chunk by
chunk, with all cores. Memory is bounded whatever their number: a thread holds one chunk (and room
to sort it), the rest lies on shelves that use scratch files beyond their allowance.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import Any, TypeVar, Unpack

import numpy as np
from numpy.typing import NDArray

from hedgerow.arrays import Bytes, Ints, Small, Words
from hedgerow.compiled import cores
from hedgerow.counting.engine import Codes, Domain, Histograms, Split, batches
from hedgerow.counting.items import ItemEngine, ItemPart, Masks
from hedgerow.counting.parts import (
    Crew,
    Engine,
    HistogramQuestion,
    Part,
    Parted,
    RowLayout,
    Spans,
    split_rows,
)
from hedgerow.counting.scratch import Shelf, Spare, check_folder
from hedgerow.data import RowStream, read_records
from hedgerow.data.people import first_rows, id_digests, new_key, row_hash
from hedgerow.data.source import Progress, ReadOptions, silent
from hedgerow.data.table import Report
from hedgerow.schema import Schema

T = TypeVar("T")

DEFAULT_MEMORY = 2_000_000_000
_ITSELF = 500_000_000  # what Python, its libraries and a batch of input take
_LEAST = 100_000_000
_GAP = 1 << 14  # bytes that are read along rather than skipped
_WAITING = 1 << 16  # numbers of answers that are not yet added up, at least


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


class _Streamed(Parted):
    """Chunks on shelves, and threads that go through them.

    A chunk changes by what it puts on the shelf of the next level, beside that of this one.

    Args:
        memory: How many bytes the process may take, about; or how they are shared out.
        scratch: The folder for scratch files; the system's own by default.
        threads: How many threads count; as many as there are cores by default.
    """

    def __init__(
        self, memory: int | Memory, scratch: str | Path | None, threads: int | None = None
    ) -> None:
        check_folder(scratch)
        self._crew = Crew(threads or cores())
        if not isinstance(memory, Memory):
            memory = Memory.of(max(_LEAST, memory - _ITSELF), self._crew.size)
        self._memory = memory
        self._scratch = scratch
        self.spare = Spare(scratch)  # for what scratch files grow by while the tree does
        self._shelves: list[Shelf] = []
        self._parts: list[Any] = []
        self.level = self.next_level = self.shelf(self._memory.bounds)

    def close(self) -> None:
        """Removes the scratch files and ends the threads."""
        self._crew.dismiss()
        for shelf in self._shelves:
            shelf.close()
        self.spare.give_back()

    @property
    def bytes_on_disk(self) -> int:
        """How large the scratch files are."""
        return sum(shelf.bytes_on_disk for shelf in self._shelves)

    def shelf(self, allowance: int) -> Shelf:
        """A shelf that is closed at the end, if not before."""
        self._shelves.append(Shelf(allowance, self._scratch, self.spare))
        return self._shelves[-1]

    def _ask(self, ask: Callable[[Any], T], add: Callable[[Sequence[T]], T], none: T) -> T:
        """What all chunks answer; answers are added up whenever they are as large as their sum."""
        total, waiting = none, list[T]()
        for number, answer in enumerate(self._crew.map(ask, self._parts), start=1):
            waiting.append(answer)
            if sum(map(_size, waiting)) > max(_WAITING, _size(total)):
                total, waiting = add([total, *waiting]), []
            self._told(number / len(self._parts))
        return add([total, *waiting])

    def _change(self, change: Callable[[Any], T], add: Callable[[Sequence[T]], T], none: T) -> T:
        self.next_level = self.shelf(self._memory.bounds)
        total = self._ask(change, add, none)
        self.level.close()
        self.level = self.next_level
        return total


def _size(answer: Any) -> int:
    """How many numbers an answer holds, that is an array or several."""
    return sum(map(np.size, answer)) if isinstance(answer, tuple) else int(answer.size)


class StreamedEngine(_Streamed, Engine):
    """Counts rows that lie in scratch files: in chunks, each grouped by node.

    Use `read` to make one, and close it at the end. Each level of a tree costs two passes over the
    rows that are still open: one that counts and one that moves rows to their children.

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
        _Streamed.__init__(self, memory, scratch, threads)
        domain = Domain.of(schema)
        copies = self._crew.size + 4  # under way, waiting to be added up, and their sum
        Engine.__init__(self, domain, RowLayout.of(domain), self._memory.batch, copies)
        self._schema = schema
        self.layout = self._layout
        self.rows = self.shelf(self._memory.rows)
        self._rooms: SimpleQueue[tuple[Bytes, Bytes]] = SimpleQueue()  # one for each thread
        for _ in range(self._crew.size):
            self._rooms.put((self._room(), self._room()))

    @staticmethod
    def read(
        stream: RowStream,
        memory: int | Memory = DEFAULT_MEMORY,
        scratch: str | Path | None = None,
        threads: int | None = None,
        told: Progress = silent,
    ) -> StreamedEngine:
        """Reads all rows; refuses what breaks the schema when all of them have been seen."""
        engine = StreamedEngine(stream.schema, memory, scratch, threads)
        try:
            engine._read(stream, told)
        except BaseException:
            engine.close()
            raise
        return engine

    def _read(self, stream: RowStream, told: Progress) -> None:
        """Takes all rows of a stream, capped if the schema identifies people."""
        key, report, person = new_key(), Report(), self._schema.person
        cap = None
        if person is not None:
            room = self._memory.batch  # nothing is counted yet
            cap = PersonCap(self._layout.stride, person.max_rows, room, self._scratch)

        def encode(item: tuple[int, Any]) -> tuple[Report, Bytes, Any, Any]:
            encoded = stream.encode(item)
            columns = encoded.columns  # of a packed row: there is always a class
            if self._schema.target is None:
                columns = [*columns, np.zeros(encoded.rows, dtype=np.int64)]
            digests = rank = None
            if cap is not None:
                digests, rank = id_digests(encoded.people, key), row_hash(columns)
            return encoded.report, self._layout.pack(columns), digests, rank

        def batches() -> Iterator[Bytes]:
            for noted, rows, digests, rank in self._crew.map(encode, stream.batches()):
                report.merge(noted)
                if cap is None:
                    yield rows
                else:
                    cap.add(rows, digests, rank)
                told(stream.source.share(stream.rows))
            stream.finish(report)
            if cap is not None:
                yield from cap.rows()

        try:
            self.fill(batches())
        finally:
            if cap is not None:
                cap.close()

    def fill(self, batches: Iterable[Bytes]) -> None:
        """Takes packed rows, once, as those of the root."""
        room, used = self._room(), 0
        for rows in batches:
            while len(rows):
                taken = min(len(rows), len(room) - used)
                room[used : used + taken] = rows[:taken]
                used, rows = used + taken, rows[taken:]
                if used == len(room):
                    self._store(room)
                    used = 0
        if used:
            self._store(room[:used])

    def _store(self, rows: Bytes) -> None:
        self._parts.append(_RowChunk(self, rows))
        classes = self._layout.column(rows, -1)
        self._counts += np.bincount(classes, minlength=self.domain.classes)

    def _room(self) -> Bytes:
        """Room for a chunk."""
        stride = self._layout.stride
        return np.empty((max(1, self._memory.chunk // stride), stride), dtype=np.uint8)

    @contextmanager
    def borrow(self) -> Iterator[tuple[Bytes, Bytes]]:
        """Room for two chunks, for a thread alone."""
        rooms = self._rooms.get()
        try:
            yield rooms
        finally:
            self._rooms.put(rooms)


class _RowChunk(Part):
    """Some of the rows, grouped by node like those of a `RowPart`, on the shelves of an engine."""

    def __init__(self, engine: StreamedEngine, rows: Bytes) -> None:
        self._engine, self._size = engine, len(rows)
        self._number = engine.rows.add(rows.reshape(-1))
        self._store(np.array([[0], [len(rows)]], dtype=np.int32))

    def _store(self, bounds: Spans) -> None:
        """Keeps where the nodes' rows lie."""
        self._nodes = bounds.shape[1]
        self._place = self._engine.next_level.add(bounds.reshape(-1).view(np.uint8))

    def _bounds(self, places: Ints) -> Spans:
        bounds = np.empty((2, self._nodes), dtype=np.int32)
        self._engine.level.load(self._place, 0, bounds.reshape(-1).view(np.uint8))
        return bounds.take(places, axis=1)

    def _load(self, rows: Bytes, bounds: NDArray[np.integer]) -> list[tuple[int, int]]:
        """Reads the rows of nodes, each to its place; gives the runs of rows that were read."""
        stride = self._engine.layout.stride
        runs = _runs(bounds, _GAP // stride)
        for first, last in runs:
            self._engine.rows.load(self._number, first * stride, rows[first:last].reshape(-1))
        return runs

    def count(self, question: HistogramQuestion) -> Histograms:
        """See `RowPart.count`."""
        bounds = self._bounds(question.nodes)
        with self._engine.borrow() as (rows, _):
            self._load(rows, bounds)
            return question.count(rows, self._engine.layout, bounds)

    def split(self, places: Ints, split: Split) -> Ints:
        """See `RowPart.split`."""
        engine, bounds = self._engine, self._bounds(places)
        with engine.borrow() as (rows, moved):
            runs = self._load(rows, bounds)
            read = sum(last - first for first, last in runs)
            if read > int((bounds[1] - bounds[0]).sum(dtype=np.int64)):
                for first, last in runs:  # rows between the nodes' were read along
                    moved[first:last] = rows[first:last]
            inner, counts = split_rows(
                rows, None if split.final else moved, engine.layout, bounds, bounds[0], split,
                engine.domain.classes,
            )  # fmt: skip
            if not split.final:
                for first, last in runs:
                    content = moved[first:last].reshape(-1)
                    engine.rows.save(self._number, first * engine.layout.stride, content)
        self._store(inner)
        return counts

    def blocks(self) -> Iterator[Codes]:
        """See `RowPart.blocks`."""
        with self._engine.borrow() as (rows, _):
            self._load(rows, np.array([[0], [self._size]]))
            yield from self._engine.layout.blocks(rows[: self._size])


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
        self._room = memory // (4 * _BUCKETS)
        self._waiting: list[list[Bytes]] = [[] for _ in range(_BUCKETS)]
        self._shelves = [Shelf(self._room, folder) for _ in range(_BUCKETS)]
        self._sizes: list[list[int]] = [[] for _ in range(_BUCKETS)]

    def add(self, rows: Bytes, digests: Words, rank: Words) -> None:
        """Deals rows to their buckets.

        Args:
            rows: Packed rows.
            digests: [rows, 2], whose they are.
            rank: Their rank among the rows of the same person.
        """
        head = np.concatenate([digests, rank[:, None]], axis=1)
        bucket = (digests[:, 0] % np.uint64(_BUCKETS)).astype(np.int64)
        order = np.argsort(bucket, kind="stable")
        records = np.concatenate([head.view(np.uint8), rows], axis=1)[order]
        ends = np.cumsum(np.bincount(bucket, minlength=_BUCKETS))
        for number, part in enumerate(np.split(records, ends[:-1])):
            waiting = self._waiting[number]
            waiting.append(part.copy())
            if sum(some.nbytes for some in waiting) > self._room:
                self._sizes[number].append(sum(map(len, waiting)))
                self._shelves[number].add(np.concatenate(waiting).reshape(-1))
                waiting.clear()

    def rows(self) -> Iterator[Bytes]:
        """The packed rows that stay, bucket after bucket; what was kept for them is given back."""
        for number in range(_BUCKETS):
            kept = np.empty((0, self._width), np.uint8)
            waiting, self._waiting[number] = self._waiting[number], []
            for block, length in enumerate(self._sizes[number]):
                waiting.append(np.empty((length, self._width), np.uint8))
                self._shelves[number].load(block, 0, waiting[-1].reshape(-1))
                # a person with very many rows must not fill the memory
                if sum(some.nbytes for some in waiting) > max(self._memory // 4, 2 * kept.nbytes):
                    kept, waiting = self._capped([kept, *waiting]), []
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


# The streamed engine for transactions.
#
# A chunk's records stay where they are; beside them lies their order, grouped by partition, which
# an expansion changes. Every question is one pass over the chunks.


class StreamedItems(_Streamed, ItemEngine):
    """Counts transactions that lie in scratch files.

    Use `read` to make one, and close it at the end.

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
        _Streamed.__init__(self, memory, scratch)
        ItemEngine.__init__(self, schema.items.size)
        self._dtype: Any = np.dtype(np.uint16 if self.items <= 1 << 16 else np.int32)
        self.records = self.shelf(self._memory.rows)  # ends, then codes
        self.orders = self.shelf(self._memory.rows)
        self._waiting: list[tuple[NDArray[Any], Small]] = []
        self._waiting_bytes = 0

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
            read_records(source, schema, sink=engine.take, **how)
            engine.flush()
        except BaseException:
            engine.close()
            raise
        return engine

    def take(self, codes: Small, sizes: Ints) -> None:
        """Takes records; a chunk is made whenever there are enough."""
        ends, most = np.cumsum(sizes), self._memory.chunk
        cost = sizes * self._dtype.itemsize + 8  # with an end and a place in the order
        for part in batches(cost, most):
            size = int(cost[part].sum())
            if self._waiting_bytes + size > most:
                self.flush()
            of_part = codes[ends[part.start] - sizes[part.start] : ends[part.stop - 1]]
            self._waiting.append((of_part.astype(self._dtype), sizes[part].astype(np.int32)))
            self._waiting_bytes += size

    def flush(self) -> None:
        """Makes a chunk of what waits for one."""
        if not self._waiting:
            return
        codes, sizes = (np.concatenate(parts) for parts in zip(*self._waiting, strict=True))
        ends = np.cumsum(sizes, dtype=np.int32)
        self._parts.append(_ItemChunk(self, ends, codes))
        self._held[0] += len(ends)
        self._waiting, self._waiting_bytes = [], 0


class _ItemChunk(ItemPart):
    """A part whose arrays lie on the shelves of an engine."""

    def __init__(self, engine: StreamedItems, ends: Small, codes: NDArray[Any]) -> None:
        self._engine, self._records, self._dtype = engine, len(ends), codes.dtype
        block = np.concatenate([ends.view(np.uint8), codes.view(np.uint8)])
        self._bytes, self._number = len(block), engine.records.add(block)
        engine.orders.add(np.arange(len(ends), dtype=np.int32).view(np.uint8))
        self.bounds = np.array([[0], [len(ends)]], dtype=np.int32)

    @property
    def records(self) -> tuple[Ints, NDArray[Any]]:  # type: ignore[override]
        """See `ItemPart`."""
        block = np.empty(self._bytes, dtype=np.uint8)
        self._engine.records.load(self._number, 0, block)
        ends, codes = np.split(block, [4 * self._records])
        return np.append(0, ends.view(np.int32).astype(np.int64)), codes.view(self._dtype)

    @property
    def order(self) -> Ints:
        """The records grouped by partition."""
        order = np.empty(self._records, dtype=np.int32)
        self._engine.orders.load(self._number, 0, order.view(np.uint8))
        return order.astype(np.int64)

    @order.setter
    def order(self, order: Ints) -> None:
        self._engine.orders.save(self._number, 0, order.astype(np.int32).view(np.uint8))

    @property
    def masks(self) -> Masks:
        """What the latest expansion found."""
        columns = np.empty(self._ends[-1], dtype=np.int64)
        self._engine.level.load(self._place, 0, columns.view(np.uint8))
        return Masks(*np.split(columns, self._ends[:-1]))

    @masks.setter
    def masks(self, masks: Masks) -> None:
        self._ends = np.cumsum(list(map(len, masks)))
        self._place = self._engine.next_level.add(np.concatenate(masks).view(np.uint8))
