"""The streamed engine: rows that do not fit in memory, on one machine.

The input is read once, batch by batch, and encoded into packed rows in a scratch file without a
name (see `scratch`). Each level of a tree then costs two passes over the rows that are still open:
one that counts and one that moves rows to their children, chunk by chunk, with all cores.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.arrays import Ints, Small
from hedgerow.compiled import cores
from hedgerow.counting.engine import Bytes, Domain, Split
from hedgerow.counting.people import PersonCap
from hedgerow.counting.streaming.chunks import Chunks, Memory
from hedgerow.counting.streaming.scratch import check_folder
from hedgerow.counting.sums import RowSums
from hedgerow.counting.tallies import Cells, HistogramQuestion, PartsEngine, Tally
from hedgerow.counting.threads import Crew
from hedgerow.data import RowStream, Table
from hedgerow.data.people import id_digests, new_key, row_hash
from hedgerow.data.source import Progress, silent
from hedgerow.data.stream import Encoded, Report
from hedgerow.schema import Schema

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
