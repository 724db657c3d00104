"""The streamed engine: rows that do not fit in memory, on one machine.

The input is read once, batch by batch, and encoded into packed rows in a scratch file without a
name (see `scratch`). Each level of a tree then costs two passes over the rows that are still open:
one that counts and one that moves rows to their children, chunk by chunk, with all cores.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.arrays import Ints, Small, Words
from hedgerow.compiled import cores
from hedgerow.counting.engine import Bytes, Domain, RowSums, Split
from hedgerow.counting.streaming.chunks import Chunks, Memory
from hedgerow.counting.streaming.scratch import Shelf, check_folder
from hedgerow.counting.tallies import Cells, Crew, HistogramQuestion, PartsEngine, Tally
from hedgerow.data import RowStream, Table
from hedgerow.data.people import first_rows, id_digests, new_key, row_hash
from hedgerow.data.source import Progress, silent
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
