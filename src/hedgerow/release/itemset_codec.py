"""The regions of transactions as Arrow tables, and back."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from hedgerow.measured.itemsets import CoreCells, CutTree, Itemsets
from hedgerow.store.validation import broken, column_of, ints_of, labels_of

__all__ = ["itemsets_from", "itemsets_table"]

_PARTS = ("item", "rest")


def itemsets_table(partition: Itemsets) -> pa.Table:
    """One row per core item and per bin, or one row per partition with its cut.

    Example:
        >>> itemsets_table(CoreCells(np.array([2, 5]), np.array([0, 1]))).to_pydict()
        {'part': ['item', 'item', 'rest', 'rest'], 'number': [2, 5, 0, 1]}
    """
    if isinstance(partition, CoreCells):
        parts = ["item"] * len(partition.core) + ["rest"] * len(partition.rest)
        number = np.concatenate([partition.core, partition.rest]).astype(np.int64)
        return pa.table({"part": pa.array(parts, pa.string()), "number": number})
    cuts = pa.ListArray.from_arrays(
        pa.array(partition.cut_start.astype(np.int32)), pa.array(partition.cut.astype(np.int32))
    )
    return pa.table(
        {
            "node": np.arange(partition.cells, dtype=np.int32),
            "parent": partition.parent.astype(np.int32),
            "split": partition.split.astype(np.int32),
            "cut": cuts,
        }
    )


def itemsets_from(file: str, kind: str, table: pa.Table) -> Itemsets:
    """The regions that a table holds; whether they make sense is checked elsewhere.

    Args:
        file: The name of the file, for messages.
        kind: "core" or "cuts".
        table: The table.

    Raises:
        ReleaseError: If the table has another shape.
    """
    if kind == "core":
        part = labels_of(file, table, "part", _PARTS)
        number = ints_of(file, table, "number")
        if (part < 0).any() or (np.diff(part) < 0).any():
            raise broken(file, "its rows are not core items and then bins")
        return CoreCells(number[part == 0], number[part == 1])
    places = ints_of(file, table, "node")
    if not np.array_equal(places, np.arange(len(places))):
        raise broken(file, "its partitions are not in order")
    cuts = column_of(file, table, "cut")
    if not pa.types.is_list(cuts.type) or cuts.null_count:
        raise broken(file, "the column 'cut' must hold lists")
    lengths = np.asarray(cuts.value_lengths().to_numpy(zero_copy_only=False), np.int64)
    flat = ints_of(file, pa.table({"cut": cuts.flatten()}), "cut")
    return CutTree(
        parent=ints_of(file, table, "parent"),
        split=ints_of(file, table, "split"),
        cut_start=np.concatenate(([0], np.cumsum(lengths))).astype(np.int64),
        cut=flat,
    )
