"""The Dask engine for transactions: workers hold records and count, the driver adds up."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import numpy as np

from hedgerow.arrays import Ints
from hedgerow.counting.cluster import item_partition as work
from hedgerow.counting.cluster.connection import Workers, connected, explained
from hedgerow.counting.cluster.partition import merge_counts
from hedgerow.counting.item_engine import Expansion, Masks
from hedgerow.counting.sealed import Sealed
from hedgerow.data import Transactions
from hedgerow.data.source import Progress, silent
from hedgerow.data.transactions import open_pieces
from hedgerow.errors import UsageError
from hedgerow.schema import Schema


class ClusterItems(Workers):
    """Counts transactions on a Dask cluster.

    Use `read` to make one, and close it at the end.

    Args:
        schema: The public schema.
        client: The connection to the cluster.
    """

    def __init__(self, schema: Schema, client: Any) -> None:
        super().__init__(client)
        assert schema.items is not None
        self.items = schema.items.size
        self._held = np.zeros(1, dtype=np.int64)
        self._expanded = np.zeros(0, dtype=np.int64)

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
                engine._read(pieces, work.read_item_partition, told, schema=schema, column=column)
                for noted in engine._each(work.noted_of):
                    records.merge(noted)
                records.done(allow_empty)
                engine._held = engine._asked(work.records_in, merge_counts)
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
        engine._start(work.item_partition_of, parts)
        engine._held = engine._asked(work.records_in, merge_counts)
        return engine

    def sizes(self, edges: Ints) -> Sealed[Ints]:
        """See `ItemEngine.sizes`."""
        with explained():
            return Sealed(self._asked(work.sizes, merge_counts, edges=edges))

    def supports(self, cap: int, group: Ints, groups: int) -> Sealed[Ints]:
        """See `ItemEngine.supports`."""
        with explained():
            asked = {"cap": cap, "group": group, "groups": groups}
            return Sealed(self._asked(work.supports, merge_counts, **asked))

    def cells(self, core: Ints, rest: Ints) -> Sealed[Ints]:
        """See `ItemEngine.cells`."""
        bit = np.full(self.items, -1, dtype=np.int64)
        bit[core] = np.arange(len(core))
        with explained():
            return Sealed(self._asked(work.cells, merge_counts, bit=bit, rest=rest))

    def expand(self, expansion: Expansion) -> Sealed[Masks]:
        """See `ItemEngine.expand`."""
        self._expanded = expansion.partitions
        with explained():
            self._change(work.expanded, expansion)
            found: Masks = self._asked(work.masks, work.merge_masks)
            self._look()
        return Sealed(found)

    def keep(self, place: Ints, mask: Ints, first_child: int) -> None:
        """See `ItemEngine.keep`."""
        assert first_child == len(self._held)
        with explained():
            self._change(work.keep, (place, mask))
            total: Ints = self._asked(work.kept, merge_counts)
            self._look()
        np.subtract.at(self._held, self._expanded[place], total)
        self._held = np.concatenate([self._held, total])

    def counts(self, partitions: Ints) -> Sealed[Ints]:
        """See `ItemEngine.counts`."""
        return Sealed(self._held[partitions][:, None].copy())
