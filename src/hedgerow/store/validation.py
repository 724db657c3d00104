"""Columns of Arrow tables that anybody may have written: read with every doubt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from hedgerow.arrays import Ints
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


def ints_of(file: str, table: pa.Table, name: str, kind: type[Any] = np.int64) -> NDArray[Any]:
    """A column of whole numbers that a kind of integer can hold."""
    column = column_of(file, table, name)
    if not pa.types.is_integer(column.type) or column.null_count:
        raise broken(file, f"the column {name!r} must hold whole numbers")
    values = column.to_numpy(zero_copy_only=False)
    limits = np.iinfo(kind)
    if len(values) and (values.min() < limits.min or values.max() > limits.max):
        raise broken(file, f"the column {name!r} holds numbers that are too large")
    return np.asarray(values, kind)


def labels_of(file: str, table: pa.Table, name: str, labels: Sequence[str]) -> Ints:
    """Each label's place in a list, -1 for null; a label that is not in the list is refused."""
    column = column_of(file, table, name)
    # a dictionary stays one: written out, a long text could be repeated for every row
    texts = column.dictionary if pa.types.is_dictionary(column.type) else column
    if pa.types.is_large_string(texts.type) or pa.types.is_null(texts.type):
        texts = texts.cast(pa.string())
    if not pa.types.is_string(texts.type):
        raise broken(file, f"the column {name!r} must hold text")
    places = pc.index_in(texts, pa.array(labels, pa.string()))
    if pa.types.is_dictionary(column.type):
        places = places.take(column.indices)
    if places.null_count != column.null_count:
        raise broken(file, f"the column {name!r} holds a label that the schema does not know")
    return np.asarray(places.fill_null(-1).to_numpy(zero_copy_only=False), np.int64)
