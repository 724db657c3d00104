"""The Dask engine for transactions: workers hold records and count, the driver adds up."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hedgerow.arrays import Ints, Small
from hedgerow.counting.cluster.connection import Workers, connected, explained
from hedgerow.counting.cluster.engine import merge_counts
from hedgerow.counting.items import (
    Expansion,
    ItemEngine,
    Masks,
    Question,
    child_bounds,
    expand_records,
    sum_masks,
)
from hedgerow.data import Transactions
from hedgerow.data.parquet import Piece, read_piece
from hedgerow.data.records import Lookup, Noted, Records, items_of
from hedgerow.data.source import Progress, silent
from hedgerow.data.transactions import open_pieces
from hedgerow.errors import UsageError
from hedgerow.schema import Schema


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
            moved: Ints = self._asked(kept, merge_counts)
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


def kept(partitions: Sequence[ItemPartition], threads: int) -> Ints:
    """How many records the latest `keep` moved to each new partition."""
    counts = [partition.kept for partition in partitions if partition.kept is not None]
    return np.asarray(np.sum(counts, axis=0, dtype=np.int64))
