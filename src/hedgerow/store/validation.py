"""Columns of Arrow tables that anybody may have written: read with every doubt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hedgerow.arrays import Bools, Ints
from hedgerow.errors import ReleaseError

__all__ = ["broken", "column_of", "ints_of", "labels_of"]


def broken(file: str, rule: str) -> ReleaseError:
    """The error for a file of a release that does not hold what it should."""
    return ReleaseError(
        f"{file}: {rule}", hint="Ask whoever published the release for a fresh copy."
    )


def column_of(file: str, table: pa.Table, name: str) -> pa.Array:
    """The column of a name, of which there must be one."""
    if table.column_names.count(name) != 1:
        raise broken(file, f"the column {name!r} is missing or there twice")
    return table.column(name).combine_chunks()


def ints_of(
    file: str,
    table: pa.Table,
    name: str,
    kind: type[Any] = np.int64,
) -> NDArray[Any]:
    """A column of whole numbers that a kind of integer can hold.

    Args:
        file: The file's name, for messages.
        table: The table.
        name: The column's name.
        kind: The kind of integer.
    """
    column = column_of(file, table, name)
    if not pa.types.is_integer(column.type) or column.null_count:
        raise broken(file, f"the column {name!r} must hold whole numbers")
    values = _filled(column)
    limits = np.iinfo(kind)
    if len(values) and (values.min() < limits.min or values.max() > limits.max):
        raise broken(file, f"the column {name!r} holds numbers that are too large")
    return np.asarray(values, kind)


def labels_of(file: str, table: pa.Table, name: str, labels: Sequence[str]) -> Ints:
    """Each label's place in a list, -1 for null; a label that is not in the list is refused."""
    column = column_of(file, table, name)
    # a dictionary stays one: written out, a long text could be repeated for every row
    texts = column.dictionary if pa.types.is_dictionary(column.type) else column
    kind = texts.type
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_null(kind)):
        raise broken(file, f"the column {name!r} must hold text")
    known = {label: place for place, label in enumerate(labels)}
    found = np.array([known.get(text, -1) for text in texts.to_pylist()], np.int64)
    if pa.types.is_dictionary(column.type):
        found = np.append(found, -1)[_filled(column.indices)]
        found[~_present(column)] = -1
    if (found < 0).sum() != column.null_count:
        raise broken(file, f"the column {name!r} holds a label that the schema does not know")
    return found


def _filled(column: pa.Array) -> NDArray[Any]:
    """Whole numbers, 0 for null; Arrow's own way would load all of its functions first."""
    if not column.null_count:
        return np.asarray(column.to_numpy(zero_copy_only=False))
    values = np.frombuffer(column.buffers()[1], column.type.to_pandas_dtype())
    return values[column.offset :][: len(column)] * _present(column)


def _present(column: pa.Array) -> Bools:
    """Where a column is not null."""
    bits = column.buffers()[0]
    if bits is None:
        return np.ones(len(column), np.bool_)
    found = np.unpackbits(np.frombuffer(bits, np.uint8), bitorder="little")
    return found[column.offset :][: len(column)].astype(np.bool_)
