"""What the workers of a cluster do with transactions; a partition is never changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from hedgerow.arrays import Ints, Small
from hedgerow.counting.item_engine import Expansion, Masks
from hedgerow.counting.item_memory import (
    child_bounds,
    count_cells,
    count_sizes,
    count_supports,
    expand_records,
    sum_masks,
)
from hedgerow.data.parquet import Piece, read_piece
from hedgerow.data.records import Lookup, Noted, Records, items_of
from hedgerow.schema import Schema


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


def sizes(partitions: Sequence[ItemPartition], edges: Ints, threads: int) -> Ints:
    """See `ItemEngine.sizes`."""
    counts = np.zeros(len(edges), dtype=np.int64)
    for partition in partitions:
        count_sizes(partition.start, edges, counts)
    return counts


def supports(
    partitions: Sequence[ItemPartition], cap: int, group: Ints, groups: int, threads: int
) -> Ints:
    """See `ItemEngine.supports`."""
    counts = np.zeros(groups, dtype=np.int64)
    for partition in partitions:
        count_supports(partition.start, partition.codes, cap, group, counts)
    return counts


def cells(partitions: Sequence[ItemPartition], bit: Ints, rest: Ints, threads: int) -> Ints:
    """See `ItemEngine.cells`; `bit` has the place of each item in the core, or -1."""
    counts = np.zeros(len(rest) << int(bit.max() + 1), dtype=np.int64)
    for partition in partitions:
        count_cells(partition.start, partition.codes, bit, rest, counts)
    return counts


def expanded(partition: ItemPartition, expansion: Expansion) -> ItemPartition:
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
