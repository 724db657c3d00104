"""The Dask engine: workers count where the data is, the driver adds up (and draws all noise).

Rows stay in the workers' memory as partitions (see `partition`); what moves is questions, splits
and counts. When a worker is lost, Dask makes its partitions again from the files and the splits.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import numpy as np

from hedgerow.arrays import Bools, Ints, Small
from hedgerow.counting.cluster import partition as work
from hedgerow.counting.cluster.connection import TAKEN, Workers, connected, explained
from hedgerow.counting.engine import Domain, Histograms, Layout, Split
from hedgerow.counting.sealed import Sealed
from hedgerow.counting.sums import RowSums
from hedgerow.counting.tallies import Cells, histogram_questions
from hedgerow.data import RowStream, Table
from hedgerow.data.source import Progress, silent
from hedgerow.data.stream import Report
from hedgerow.errors import UsageError
from hedgerow.schema import Schema


class ClusterEngine(Workers):
    """Counts rows on a Dask cluster.

    Use `read` to make one, and close it at the end.

    Args:
        schema: The public schema.
        client: The connection to the cluster.
        memory: How many bytes a batch of histograms may take in the driver.
    """

    def __init__(self, schema: Schema, client: Any, memory: int) -> None:
        super().__init__(client)
        self.domain = Domain.of(schema)
        self._layout = Layout.of(self.domain)
        self._batch = memory // 4
        self._first = 0  # the number of the latest level's first node
        self._counts = np.zeros((0, self.domain.classes), dtype=np.int64)

    @staticmethod
    def read(
        stream: RowStream, scheduler: str | None, memory: int, told: Progress = silent
    ) -> ClusterEngine:
        """Has the workers read all rows; refuses what breaks the schema when all were seen.

        Args:
            stream: The input, in Parquet files that the workers can open too.
            scheduler: The address of a scheduler, or None for processes on this machine.
            memory: How many bytes the driver may take, about.
            told: Called with the share of the input that has been read.
        """
        _check_input(stream)
        with ExitStack() as stack:
            client = stack.enter_context(connected(scheduler))
            engine = ClusterEngine(stream.schema, client, memory)
            names = [stream.source.names[place] for place in stream.wanted]
            pieces = stream.source.pieces
            with explained():
                engine._read(pieces, work.read_partition, told, schema=stream.schema, wanted=names)
                report = Report()
                for noted in engine._each(work.report_of):
                    report.merge(noted)
                stream.empty = not any(piece.rows for piece in pieces)
                stream.finish(report)
                engine._add_counts()
            engine._stack = stack.pop_all()
        return engine

    @staticmethod
    def of_table(table: Table, client: Any, partitions: int) -> ClusterEngine:
        """Takes the rows of a table in memory, for comparisons."""
        engine = ClusterEngine(table.schema, client, 1 << 16)
        rows = engine._layout.pack(list(table.codes.T))
        engine._start(work.partition_of, np.array_split(rows, partitions), domain=engine.domain)
        engine._add_counts()
        return engine

    def histograms(
        self,
        nodes: Ints,
        lo: Small,
        hi: Small,
        wanted: Bools,
    ) -> Iterator[tuple[slice, Sealed[Histograms]]]:
        """See `Engine.histograms`."""
        for part, question in histogram_questions(
            nodes - self._first, self._counts[nodes].sum(axis=1), lo, hi, wanted,
            self.domain.classes, int(self._counts[0].sum()), self._batch, TAKEN + 1,
        ):  # fmt: skip
            with explained():
                tally = self._asked(work.count, work.merge, question=question, layout=self._layout)
            yield part, Sealed(question.finish(tally))

    def split(self, split: Split) -> None:
        """See `Engine.split`."""
        with explained():
            order = (split.nodes - self._first, split)
            self._change(
                work.split_partition, order, layout=self._layout, classes=self.domain.classes
            )
            self._add_counts()
        self._first = split.first_child

    def class_counts(self, nodes: Ints) -> Sealed[Ints]:
        """See `Engine.class_counts`."""
        return Sealed(self._counts[nodes])

    def cell_counts(self, edges: tuple[Small, ...]) -> Sealed[tuple[Ints, Ints]]:
        """See `Engine.cell_counts`."""
        with explained():
            found: Cells = self._asked(
                work.count_cells, work.merge_cells, layout=self._layout, edges=edges,
                classes=self.domain.classes,
            )  # fmt: skip
        return Sealed(found)

    def sums(self, question: RowSums) -> Sealed[Ints]:
        """See `Engine.sums`."""
        with explained():
            total: Ints = self._asked(
                work.sum_rows, work.merge_counts, layout=self._layout, question=question
            )
        return Sealed(total)

    def _add_counts(self) -> None:
        counts = self._asked(work.class_counts, work.merge_counts)
        self._counts = np.concatenate([self._counts, counts])
        self._look()


def _check_input(stream: RowStream) -> None:
    if not stream.source.pieces:
        raise UsageError(
            f"{stream.source.what}: the Dask engine reads Parquet files",
            hint="Write the table to Parquet files where all workers can open them, or take the "
            "engine streamed.",
        )
    if stream.schema.person is not None:
        raise UsageError(
            "The Dask engine cannot cap the rows of a person, which may lie on any worker.",
            hint="Take the engine streamed, or keep at most max_rows rows of each person in the "
            "data and leave the person column out.",
        )
