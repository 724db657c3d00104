"""Records and regions as vectors of numbers, for models that want them. NOT PRIVATE on raw rows."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hedgerow.arrays import Floats
from hedgerow.data import Table, read
from hedgerow.errors import UsageError
from hedgerow.schema import Categorical, Schema

__all__ = ["as_table", "boxes", "one_hot", "plain", "values"]


def as_table(rows: Table | pa.Table, schema: Schema) -> Table:
    """Rows as a table of codes; they must be proper ones."""
    return rows if isinstance(rows, Table) else read(rows, schema)


def plain(table: Table) -> Floats:
    """One number for each attribute: codes, which for numeric attributes keep their order."""
    return table.codes[:, : len(table.schema.attributes)].astype(np.float64)


def values(rows: pa.Table, schema: Schema) -> Floats:
    """One number for each attribute: numeric values as they are, categorical ones by code.

    Codes of numeric attributes would hide what lies between the grid points of the schema.
    """
    numbers = plain(as_table(rows, schema))
    for place, attribute in enumerate(schema.attributes):
        column = rows[attribute.name]
        if not isinstance(attribute, Categorical) and (
            pa.types.is_integer(column.type) or pa.types.is_floating(column.type)
        ):
            raw = column.cast(pa.float64()).to_numpy(zero_copy_only=False)
            numbers[:, place] = np.where(np.isnan(raw), -1, raw)
    return numbers


def one_hot(numbers: Floats, schema: Schema, most: int | None = None) -> Floats:
    """Numeric attributes as they are, and one column of 0 and 1 for each categorical value.

    Args:
        numbers: One number for each attribute.
        schema: The public schema.
        most: Attributes with more values than this stay codes.

    Example:
        >>> schema = Schema.from_dict({"name": "s", "unit": "row", "attributes": {
        ...     "age": {"type": "numeric", "low": 0, "high": 9},
        ...     "home": {"type": "categorical", "values": ["flat", "house"]}}})
        >>> one_hot(np.array([[7.0, 1.0]]), schema).tolist()
        [[7.0, 0.0, 1.0]]
    """
    parts = []
    for place, attribute in enumerate(schema.attributes):
        column = numbers[:, place]
        if isinstance(attribute, Categorical) and (most is None or attribute.size <= most):
            parts.append((column[:, None] == np.arange(attribute.size)).astype(np.float64))
        else:
            parts.append(column[:, None])
    return np.concatenate(parts, axis=1)


def boxes(lo: NDArray[np.integer], hi: NDArray[np.integer], schema: Schema) -> Floats:
    """The mean vector of the records that a region can hold: numbers from 0 to 1.

    A numeric attribute gives the middle of its interval, as a share of the domain; a categorical
    one gives for each value the share of it among the values of the region. A record is the
    region [code, code + 1): then one of these shares is 1.

    Args:
        lo: The first code of each region and attribute.
        hi: One past the last.
        schema: The public schema.

    Example:
        >>> schema = Schema.from_dict({"name": "s", "unit": "row", "attributes": {
        ...     "age": {"type": "numeric", "low": 0, "high": 10},
        ...     "home": {"type": "categorical", "values": ["flat", "house"]}}})
        >>> boxes(np.array([[0, 0], [5, 1]]), np.array([[11, 2], [6, 2]]), schema).tolist()
        [[0.5, 0.5, 0.5], [0.5, 0.0, 1.0]]
    """
    if lo.shape != hi.shape or lo.shape[1] != len(schema.attributes):
        raise UsageError("regions need one interval for each attribute of the schema")
    parts = []
    for place, attribute in enumerate(schema.attributes):
        low, high = lo[:, place].astype(np.int64), hi[:, place].astype(np.int64)
        if isinstance(attribute, Categorical):
            code = np.arange(attribute.size)
            inside = (code >= low[:, None]) & (code < high[:, None])
            parts.append(inside / (high - low)[:, None])
        else:
            middle = (low + high - 1) / 2
            parts.append((middle / max(1, attribute.size - 1))[:, None])
    return np.concatenate(parts, axis=1)
