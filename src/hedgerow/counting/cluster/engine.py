"""The Dask engine: workers count where the data is, the driver adds up (and draws all noise).

Rows stay in the workers' memory as partitions; what moves is questions, splits and counts. A
partition is never changed: a split makes a new one from the old. So Dask can make any of them again
from the files and the splits, when the worker that had it is lost.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from hedgerow.arrays import Ints, Small
from hedgerow.counting.cluster.connection import TAKEN, Workers, connected, explained
from hedgerow.counting.engine import Bytes, Domain, Layout, RowSums, Split
from hedgerow.counting.items import (
    Expansion,
    ItemEngine,
    Masks,
    Question,
    child_bounds,
    expand_records,
    sum_masks,
)
from hedgerow.counting.tallies import (
    Bounds,
    Cells,
    Crew,
    HistogramQuestion,
    PartsEngine,
    Tally,
    cells_of,
    split_rows,
    sum_cells,
    summed,
)
from hedgerow.data import RowStream, Table, Transactions
from hedgerow.data.parquet import Piece, read_piece
from hedgerow.data.records import Lookup, Noted, Records, items_of
from hedgerow.data.source import Progress, silent
from hedgerow.data.stream import Report, encode_columns
from hedgerow.data.transactions import open_pieces
from hedgerow.errors import UsageError
from hedgerow.schema import Schema

T = TypeVar("T")


class ClusterEngine(Workers, PartsEngine):
    """Counts rows on a Dask cluster.

    Use `read` to make one, and close it at the end.

    Args:
        schema: The public schema.
        client: The connection to the cluster.
        memory: How many bytes a batch of histograms may take in the driver.
    """

    def __init__(self, schema: Schema, client: Any, memory: int) -> None:
        Workers.__init__(self, client)
        PartsEngine.__init__(self, Domain.of(schema), memory // 4, TAKEN + 1)

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
                engine._read(pieces, read_partition, told, schema=stream.schema, wanted=names)
                report = Report()
                for noted in engine._each(report_of):
                    report.merge(noted)
                stream.empty = not any(piece.rows for piece in pieces)
                stream.finish(report)
                engine._counts = engine._level()
            engine._stack = stack.pop_all()
        return engine

    @staticmethod
    def of_table(table: Table, client: Any, partitions: int) -> ClusterEngine:
        """Takes the rows of a table in memory, for comparisons."""
        engine = ClusterEngine(table.schema, client, 1 << 16)
        rows = engine._layout.pack(list(table.codes.T))
        engine._start(partition_of, np.array_split(rows, partitions), domain=engine.domain)
        engine._counts = engine._level()
        return engine

    def _tally(self, question: HistogramQuestion) -> Tally:
        with explained():
            tally: Tally = self._asked(count, merge, question=question, layout=self._layout)
        return tally

    def _split(self, places: Ints, split: Split) -> Ints:
        with explained():
            self._change(
                split_partition, (places, split), layout=self._layout, classes=self.domain.classes
            )
            return self._level()

    def _cells(self, edges: tuple[Small, ...]) -> Cells:
        with explained():
            cells: Cells = self._asked(
                count_cells, merge_cells, layout=self._layout, edges=edges,
                classes=self.domain.classes,
            )  # fmt: skip
        return cells

    def _sums(self, question: RowSums) -> Ints:
        with explained():
            total: Ints = self._asked(
                sum_rows, merge_counts, layout=self._layout, question=question
            )
        return total

    def _level(self) -> Ints:
        """The class counts of the nodes of the latest level."""
        counts: Ints = self._asked(class_counts, merge_counts)
        self._look()
        return counts


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


# What the workers do: each has partitions of the rows, and answers questions.


@dataclass(frozen=True, kw_only=True)
class Partition:
    """Some of the rows, grouped by the nodes of the latest level.

    Args:
        rows: Packed rows.
        bounds: Where the rows of each node lie.
        counts: The class counts of each node.
        report: What was odd about the rows as they were read.
        closed: Rows of nodes that were not split, so that nobody asks for them but by cells.
    """

    rows: Bytes
    bounds: Bounds
    counts: Ints
    report: Report
    closed: tuple[Bytes, ...] = ()

    def __repr__(self) -> str:
        """Nothing: a repr ends up in logs and on dashboards."""
        return "Partition(...)"


def partition_of(rows: Bytes, domain: Domain, report: Report | None = None) -> Partition:
    """A partition whose rows all belong to the root."""
    column = Layout.of(domain).column(rows, -1)
    return Partition(
        rows=rows,
        bounds=np.array([[0], [len(rows)]], dtype=np.int32),
        counts=np.bincount(column, minlength=domain.classes).astype(np.int64)[None, :],
        report=report or Report(),
    )


def read_partition(
    pieces: Sequence[Piece], first_row: int, schema: Schema, wanted: Sequence[str]
) -> Partition:
    """Reads and encodes pieces of the input."""
    domain = Domain.of(schema)
    layout = Layout.of(domain)
    attributes: list[Any] = [*schema.attributes]
    if schema.target is not None:
        attributes.append(schema.target)
    report = Report()
    blocks = [np.zeros((0, layout.stride), dtype=np.uint8)]
    for piece in pieces:
        for batch in read_piece(piece, wanted, threads=False):  # others read at the same time
            columns, stays = encode_columns(batch, attributes, report, first_row)
            first_row += batch.num_rows
            if schema.target is None:
                columns.append(np.zeros(batch.num_rows, dtype=np.int64))
            packed = layout.pack(columns)
            blocks.append(packed if stays is None else packed[stays])
    return partition_of(np.concatenate(blocks), domain, report)


def split_partition(
    partition: Partition, order: tuple[Ints, Split], layout: Layout, classes: int
) -> Partition:
    """The partition after a split; `order` holds the places of the split's nodes, and the split."""
    places, split = order
    rows = partition.rows
    bounds = np.ascontiguousarray(partition.bounds[:, places])
    size = bounds[1] - bounds[0]
    closed = partition.closed
    if split.final:
        moved, into = None, bounds[0]
    else:
        # rows that may be split again lie together, and no other row is copied twice
        into = (np.cumsum(size) - size).astype(np.int32)
        moved = np.empty((int(size.sum()), layout.stride), dtype=np.uint8)
        if len(moved) < len(rows):
            stays = np.ones(len(rows), dtype=np.bool_)
            for first, last in bounds.T.tolist():
                stays[first:last] = False
            closed = (*closed, rows[stays])
    inner, counts = split_rows(rows, moved, layout, bounds, into, split, classes)
    return Partition(
        rows=rows if moved is None else moved,
        bounds=inner,
        counts=counts,
        report=partition.report,
        closed=closed,
    )


def report_of(partition: Partition) -> Report:
    """What was odd about the rows."""
    return partition.report


def class_counts(partitions: Sequence[Partition], threads: int) -> Ints:
    """The class counts of the nodes of the latest level."""
    return merge_counts([partition.counts for partition in partitions])


def merge_counts(counts: Sequence[Ints]) -> Ints:
    """Adds up class counts."""
    total: Ints = np.sum(counts, axis=0, dtype=np.int64)
    return total


def count(
    partitions: Sequence[Partition], question: HistogramQuestion, layout: Layout, threads: int
) -> Tally:
    """Answers a question about histograms; each thread adds up what it counts."""

    def tally_of(some: Sequence[Partition]) -> Tally:
        tally = question.tally()
        for partition in some:
            question.count(partition.rows, layout, partition.bounds, tally)
        return tally

    return merge(_side_by_side(tally_of, partitions, threads))


def merge(tallies: Sequence[Tally]) -> Tally:
    """Adds up answers, none of which is changed."""
    if len(tallies) == 1:
        return tallies[0]
    total = Tally(tallies[0].counts + tallies[1].counts, [*tallies[0].keys, *tallies[1].keys])
    for tally in tallies[2:]:
        total.add(tally)
    return total


def count_cells(
    partitions: Sequence[Partition],
    layout: Layout,
    edges: Sequence[Small],
    classes: int,
    threads: int,
) -> Cells:
    """The nonempty cells of a product of cuts."""

    def cells(some: Sequence[Partition]) -> Cells:
        return sum_cells(
            [
                cells_of(rows, layout, edges, classes)
                for partition in some
                for rows in (partition.rows, *partition.closed)
            ]
        )

    return merge_cells(_side_by_side(cells, partitions, threads))


def merge_cells(parts: Sequence[Cells]) -> Cells:
    """Adds up cells."""
    return parts[0] if len(parts) == 1 else sum_cells(parts)


def sum_rows(
    partitions: Sequence[Partition], layout: Layout, question: RowSums, threads: int
) -> Ints:
    """The sum over rows of what each contributes."""

    def sums(some: Sequence[Partition]) -> Ints:
        total = np.zeros(question.room, dtype=np.int64)
        for partition in some:
            for rows in (partition.rows, *partition.closed):
                total += summed(rows, layout, question)
        return total

    return merge_counts(_side_by_side(sums, partitions, threads))


def _side_by_side(
    answer: Callable[[Sequence[Partition]], T], partitions: Sequence[Partition], threads: int
) -> list[T]:
    """The answers of threads that share the partitions: the worker does nothing else meanwhile."""
    threads = min(threads, len(partitions))
    if threads <= 1:
        return [answer(partitions)]
    crew = Crew(threads)
    try:
        return list(crew.map(answer, [partitions[first::threads] for first in range(threads)]))
    finally:
        crew.dismiss()


# The Dask engine for transactions: workers hold records and count, the driver adds up.


class ClusterItems(Workers, ItemEngine):
    """Counts transactions on a Dask cluster.

    Use `read` to make one, and close it at the end.

    Args:
        schema: The public schema.
        client: The connection to the cluster.
    """

    def __init__(self, schema: Schema, client: Any) -> None:
        assert schema.items is not None
        Workers.__init__(self, client)
        ItemEngine.__init__(self, schema.items.size)

    @staticmethod
    def read(
        source: Any,
        schema: Schema,
        scheduler: str | None,
        told: Progress = silent,
        allow_empty: bool = True,
    ) -> ClusterItems:
        """Has the workers read all records; refuses what breaks the schema when all were seen.

        Args:
            source: Parquet files that the workers can open too, with one record per row.
            schema: The public schema.
            scheduler: The address of a scheduler, or None for processes on this machine.
            told: Called with the share of the input that has been read.
            allow_empty: Whether an input without any record is in order.
        """
        assert schema.items is not None
        if schema.items.person is not None:
            raise UsageError(
                "The Dask engine cannot gather the items of a person, which may lie on any worker.",
                hint="Take the engine streamed, or write one row for each person with a list of "
                "items.",
            )
        pieces, column, records = open_pieces(source, schema)
        if not pieces:
            raise UsageError(
                f"{records.what}: the Dask engine reads Parquet files",
                hint="Write the transactions to Parquet files where all workers can open them, one "
                "list of items in a row, or take the engine streamed.",
            )
        with ExitStack() as stack:
            client = stack.enter_context(connected(scheduler))
            engine = ClusterItems(schema, client)
            with explained():
                engine._read(pieces, read_item_partition, told, schema=schema, column=column)
                for noted in engine._each(noted_of):
                    records.merge(noted)
                records.done(allow_empty)
                engine._held = engine._asked(records_in, merge_counts)
            engine._stack = stack.pop_all()
        return engine

    @staticmethod
    def of_transactions(transactions: Transactions, client: Any, partitions: int) -> ClusterItems:
        """Takes transactions in memory, for comparisons."""
        engine = ClusterItems(transactions.schema, client)
        start, codes = transactions.start, transactions.codes
        ends = np.linspace(0, len(start) - 1, partitions + 1).astype(int).tolist()
        parts = [
            (start[first : last + 1] - start[first], codes[start[first] : start[last]])
            for first, last in zip(ends[:-1], ends[1:], strict=True)
        ]
        engine._start(item_partition_of, parts)
        engine._held = engine._asked(records_in, merge_counts)
        return engine

    def _sum(self, size: int, question: Question) -> Ints:
        with explained():
            total: Ints = self._asked(sums, merge_counts, size=size, question=question)
        return total

    def _expand(self, expansion: Expansion) -> Masks:
        with explained():
            self._change(expand, expansion)
            found: Masks = self._asked(masks, merge_masks)
            self._look()
        return found

    def _keep(self, place: Ints, mask: Ints) -> Ints:
        with explained():
            self._change(keep, (place, mask))
            moved: Ints = self._asked(count_kept, merge_counts)
            self._look()
        return moved


# What the workers do; a partition is never changed.


@dataclass(frozen=True, kw_only=True)
class ItemPartition:
    """Some of the records, ordered by the partitions of a tree that they lie in.

    Args:
        start: Where each record begins in `codes`, and where the last one ends.
        codes: The items of all records.
        order: The records grouped by partition of the tree.
        bounds: Where each of these begins and ends in the order: [2, partitions].
        noted: What was odd about the records as they were read.
        found: The latest expansion: which were expanded, and what they fall into.
        kept: How many records the latest `keep` moved to each new partition.
    """

    start: Ints
    codes: Small
    order: Ints
    bounds: Ints
    noted: Noted
    found: tuple[Ints, Masks] | None = None
    kept: Ints | None = None

    def __repr__(self) -> str:
        """Nothing: a repr ends up in logs and on dashboards."""
        return "ItemPartition(...)"


def item_partition_of(held: tuple[Ints, Small], noted: Noted | None = None) -> ItemPartition:
    """A partition whose records all lie at the root."""
    start, codes = held
    records = len(start) - 1
    return ItemPartition(
        start=start,
        codes=codes,
        order=np.arange(records),
        bounds=np.array([[0], [records]], dtype=np.int64),
        noted=noted or Noted(),
    )


def read_item_partition(
    pieces: Sequence[Piece], first: int, schema: Schema, column: str
) -> ItemPartition:
    """Reads and encodes pieces of the input; `first` is the number of the first record."""
    assert schema.items is not None
    lookup = Lookup(schema.items)
    records = Records(lookup, "", lambda places: [], first=first)
    for piece in pieces:
        for batch in read_piece(piece, [column], threads=False):  # others read at the same time
            records.add(*items_of(batch.column(0), column, lookup))
    return item_partition_of(records.finish(), records.noted)


def noted_of(partition: ItemPartition) -> Noted:
    """What was odd about the records."""
    return partition.noted


def records_in(partitions: Sequence[ItemPartition], threads: int) -> Ints:
    """The number of records."""
    return np.asarray([sum(len(partition.order) for partition in partitions)], dtype=np.int64)


def sums(partitions: Sequence[ItemPartition], size: int, question: Question, threads: int) -> Ints:
    """So many sums over all records."""
    total = np.zeros(size, dtype=np.int64)
    for partition in partitions:
        question(partition.start, partition.codes, total)
    return total


def expand(partition: ItemPartition, expansion: Expansion) -> ItemPartition:
    """The partition with its records in the order of an expansion."""
    begin, end = partition.bounds[:, expansion.partitions]
    order = partition.order.copy()
    found = expand_records(partition.start, partition.codes, order, begin, end, expansion)
    return replace(partition, order=order, found=(expansion.partitions, found))


def masks(partitions: Sequence[ItemPartition], threads: int) -> Masks:
    """What the latest expansion found."""
    return sum_masks([partition.found[1] for partition in partitions if partition.found])


def merge_masks(parts: Sequence[Masks]) -> Masks:
    """Adds up what different workers found."""
    return sum_masks(list(parts))


def keep(partition: ItemPartition, order: tuple[Ints, Ints]) -> ItemPartition:
    """The partition after a `keep`; `order` holds the places and masks that are kept."""
    assert partition.found is not None
    expanded, found = partition.found
    begin, size = child_bounds(partition.bounds[0, expanded], found, *order)
    bounds = np.concatenate([partition.bounds, [begin, begin + size]], axis=1)
    return replace(partition, bounds=bounds, found=None, kept=size)


def count_kept(partitions: Sequence[ItemPartition], threads: int) -> Ints:
    """How many records the latest `keep` moved to each new partition."""
    counts = [partition.kept for partition in partitions if partition.kept is not None]
    return np.asarray(np.sum(counts, axis=0, dtype=np.int64))
