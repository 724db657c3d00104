"""Transactions in the columns of a table: lists, texts of several items, or person and item."""

from __future__ import annotations

import difflib
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hedgerow.arrays import Ints, Small
from hedgerow.errors import DataError
from hedgerow.schema import Items
from hedgerow.table.encode import is_list, plain_array
from hedgerow.table.person import person_ids, person_numbers
from hedgerow.table.readers.source import Progress, Source
from hedgerow.table.transactions.kernels import FOREIGN, NOTHING
from hedgerow.table.transactions.lookup import Lookup
from hedgerow.table.transactions.preparation import ItemTally
from hedgerow.table.transactions.records import Records, Sink

__all__ = ["column_of", "items_of", "read_columns"]


def read_columns(
    source: Source,
    lookup: Lookup,
    progress: Progress | None = None,
    sink: Sink | None = None,
    tally: ItemTally | None = None,
) -> Records:
    """Reads the records from the columns that the schema names; other columns are ignored.

    Raises:
        DataError: If a column is not there or cannot be read.
    """
    items = lookup.items
    records = Records(lookup, source.what, source.places, sink, tally=tally)
    if items.person is not None and items.item is not None:
        _read_long(source, items.person, items.item, lookup, records, progress)
        return records
    column = column_of(source, items)
    for batch in source.batches(_places(source, [column])):
        records.add(*items_of(batch.column(0), column, lookup))
        _tell(source, progress)
    return records


def items_of(array: Any, column: str, lookup: Lookup) -> tuple[Small, Ints]:
    """The codes of all items of an array's records, and how many each record has."""
    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    if is_list(array.type):
        sizes = pc.list_value_length(array).cast(pa.int64()).fill_null(0)
        codes = lookup.find(array.flatten(), column)
        return codes, sizes.to_numpy(zero_copy_only=False).copy()  # one kind of array for all
    array = plain_array(array, column)
    if pa.types.is_dictionary(array.type):
        array = pc.take(array.dictionary, array.indices)
    if pa.types.is_string(array.type):
        lookup.check_separator()
        return lookup.split(array)
    return lookup.find(array, column), np.ones(len(array), np.int64)  # an item for each record


def _read_long(
    source: Source,
    person: str,
    item: str,
    lookup: Lookup,
    records: Records,
    progress: Progress | None,
) -> None:
    """Reads a table with one row for each item of a person; rows without a person are dropped."""
    people: list[Any] = []
    parts: list[Small] = []
    seen = 0
    for batch in source.batches(_places(source, [person, item])):
        ids, known = person_ids(batch.column(0), person)
        codes = lookup.find(batch.column(1), item)
        foreign = (codes == FOREIGN) & known
        records.note(foreign, seen)
        if records.tally is not None:
            gone = int((~known).sum())
            records.tally.add_rows(batch.num_rows, gone, int(foreign.sum()))
        seen += batch.num_rows
        records.empty = not seen
        # From here on a foreign item is none: its row has been noted.
        parts.append(np.where(codes < 0, np.int32(NOTHING), codes)[known])
        people.append(ids.filter(pa.array(known)))
        _tell(source, progress)
    if not people:
        return
    who = person_numbers(people)
    order = np.argsort(who, kind="stable")
    records.add(np.concatenate(parts)[order], np.bincount(who).astype(np.int64))


def _tell(source: Source, progress: Progress | None) -> None:
    if progress is not None and source.share is not None:
        progress(min(1.0, source.share()))


def column_of(source: Source, items: Items) -> str:
    """The column that holds the items of each record."""
    if items.column is not None:
        _places(source, [items.column])
        return items.column
    if len(source.names) != 1:
        raise DataError(
            f"{source.what}: the schema does not say which column holds the items",
            hint="Write `column: ...` below `items:` in the schema, or `person: ...` and "
            "`item: ...` if there is one row for each item.",
        )
    return source.names[0]


def _places(source: Source, wanted: list[str]) -> list[int]:
    absent = [name for name in wanted if name not in source.names]
    if absent:
        # Without a header the names would be somebody's values, so only near ones are shown.
        near = difflib.get_close_matches(absent[0], source.names, n=1, cutoff=0.8)
        raise DataError(
            f"{source.what}: there {'is no column' if len(absent) == 1 else 'are no columns'} "
            f"{', '.join(map(repr, absent))}",
            hint=f"Did you mean {near[0]!r}? Use one spelling in the data and in the schema."
            if near
            else "Name the column as the data does. A CSV file's first line must hold the names; "
            "a text file with one record per line needs no `column` in the schema.",
        )
    return [source.names.index(name) for name in wanted]
