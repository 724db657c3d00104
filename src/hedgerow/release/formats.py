"""What lies in the folder of a release beside its numbers, by the shape of its regions.

Every release has a manifest, its regions and its measurements. What is made of these for readers,
and which class opens them, hangs on the word `partition` of the manifest. A new kind of release is
a new entry in `FORMATS`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from hedgerow.estimate.itemsets.listing import list_itemsets, text_blocks
from hedgerow.measured.generalized import (
    check_against,
    check_names,
    csv_blocks,
    generalized_table,
    typed_table,
)
from hedgerow.release.codec import MEASUREMENTS, PARTITION
from hedgerow.schema import Schema
from hedgerow.store.validation import broken

__all__ = ["ALL_FILES", "FORMATS", "ROWS_FILES", "TABLE", "Format"]

Content = Any  # a pa.Table, or an iterable of bytes

REGIONS = "regions.parquet"
TABLE = "table.csv"
ITEMSETS = "itemsets.parquet"
ITEMSETS_TEXT = "itemsets.txt"


@dataclass(frozen=True)
class Format:
    """One kind of release.

    Args:
        made: The files that follow from the regions and the measurements.
        opener: The class that opens it, as "module:name"; loaded when it is needed.
        derived: The contents of these files, in order: a table for Parquet, or blocks of bytes.
        check: Refuses regions that do not fit the schema.
        check_names: Refuses a schema whose names would clash with ours.
    """

    made: tuple[str, ...]
    opener: str
    derived: Callable[[Any], Iterator[tuple[str, Content]]]
    check: Callable[[Schema, Any], None]
    check_names: Callable[[Schema], None]

    @property
    def data_files(self) -> tuple[str, ...]:
        """All files but the manifest."""
        return (PARTITION, MEASUREMENTS, *self.made)

    def open(self, parts: dict[str, Any]) -> Any:
        """The release that some parts are of."""
        module, name = self.opener.split(":")
        return getattr(import_module(module), name)(**parts)


def _table_files(release: Any) -> Iterator[tuple[str, Content]]:
    listed = (release.schema, release.partition, release.regions, release.counts)
    yield REGIONS, typed_table(*listed)
    yield TABLE, csv_blocks(generalized_table(*listed))


def _transaction_files(release: Any) -> Iterator[tuple[str, Content]]:
    listed = list_itemsets(release.schema.items, release.partition, release.measurements)
    yield ITEMSETS, listed.table()
    yield ITEMSETS_TEXT, text_blocks(listed)


def _check_table(schema: Schema, partition: Any) -> None:
    if schema.items is not None:
        raise broken(PARTITION, "the schema describes transactions, and these regions a table")
    check_against(schema, partition)


def _check_transactions(schema: Schema, partition: Any) -> None:
    if schema.items is None:
        raise broken(PARTITION, "the schema describes a table, and these regions transactions")
    partition.check(schema.items)


_TABLES = Format(
    (REGIONS, TABLE),
    "hedgerow.release.table:Release",
    _table_files,
    _check_table,
    check_names,
)
_TRANSACTIONS = Format(
    (ITEMSETS, ITEMSETS_TEXT),
    "hedgerow.release.transactions:TransactionsRelease",
    _transaction_files,
    _check_transactions,
    lambda schema: None,
)

FORMATS: dict[str, Format] = {
    "tree": _TABLES,
    "grid": _TABLES,
    "core": _TRANSACTIONS,
    "cuts": _TRANSACTIONS,
}

ROWS_FILES = ("cells.parquet", TABLE)
"""Generalised rows have neither regions nor measurements; `hedgerow.release.rows` opens them."""

ALL_FILES = frozenset(
    (*(name for layout in FORMATS.values() for name in layout.data_files), *ROWS_FILES)
)
