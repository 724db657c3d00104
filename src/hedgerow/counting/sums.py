"""Sums of weights within nodes, and the loops that add them up."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from hedgerow.arrays import Floats, Ints
from hedgerow.compiled import kernel
from hedgerow.data import CodeMatrix, Table
from hedgerow.schema import Numeric, Schema

# The loops behind `sums`.


Codes = NDArray[Any]


def _tables(
    rows: Codes, columns: Ints, lookup: Ints, first: Ints, parts: Ints, begin: Ints, member: Ints,
    base: Ints, out: Ints,
) -> None:  # fmt: skip
    """`add_tables` by NumPy, table by table."""
    part = [
        lookup[start + rows[:, c].astype(np.int64)] for c, start in zip(columns, first, strict=True)
    ]
    for table, cells in enumerate(base[:-1]):
        index, counted = np.zeros(len(rows), np.int64), np.ones(len(rows), np.bool_)
        for c in member[begin[table] : begin[table + 1]]:
            index = index * parts[c] + part[c]
            counted &= part[c] >= 0
        size = int(base[table + 1] - cells)
        out[cells : cells + size] += np.bincount(index[counted], minlength=size)


@kernel(
    steps=lambda rows, columns, lookup, first, parts, begin, member, base, out: (
        (len(rows) // 40 + 20) * (len(columns) + len(member))
    ),
    small=_tables,
)
def add_tables(
    rows: Codes, columns: Ints, lookup: Ints, first: Ints, parts: Ints, begin: Ints, member: Ints,
    base: Ints, out: Ints,
) -> None:  # fmt: skip
    """Counts the cell of every table that a row lies in; a part below 0 lies in none."""
    part = np.empty(len(columns), np.int64)
    for row in range(rows.shape[0]):
        for c in range(len(columns)):
            part[c] = lookup[first[c] + rows[row, columns[c]]]
        for table in range(len(base) - 1):
            index = np.int64(0)
            for place in range(begin[table], begin[table + 1]):
                c = member[place]
                if part[c] < 0:
                    index = np.int64(-1)
                    break
                index = index * parts[c] + part[c]
            if index >= 0:
                out[base[table] + index] += 1


# Questions whose answer is a sum over records of whole numbers, each a function of one record.
#
# A question is public. Parts of the rows answer it one by one and their answers are added up, so
# that all engines agree to the last digit.


class RowSums(Protocol):
    """A question that is answered by a sum over rows."""

    @property
    def room(self) -> int:
        """How many numbers the answer has."""

    def add(self, rows: Codes, out: Ints) -> None:
        """Adds what rows contribute."""


@dataclass(frozen=True)
class TableCounts:
    """Tables of some columns, one after the other, the last column of each varying fastest.

    Args:
        tables: The columns of each table; the class comes after the attributes.
        parts: The part of each code of each column; a code below 0 lies in no part, and its
            records in no cell.

    Example:
        >>> pay = TableCounts(((0, 1), (1,)), {0: np.array([0, 0, 1]), 1: np.array([0, 1])})
        >>> out = np.zeros(pay.room, np.int64)
        >>> pay.add(np.array([[0, 1], [1, 1], [2, 0]]), out)
        >>> [table.tolist() for table in pay.split(out)]
        [[[0, 2], [1, 0]], [1, 2]]
    """

    tables: tuple[tuple[int, ...], ...]
    parts: Mapping[int, Ints]

    @property
    def shapes(self) -> list[tuple[int, ...]]:
        """How many parts the columns of each table have."""
        many = {column: int(part.max()) + 1 for column, part in self.parts.items()}
        return [tuple(many[column] for column in table) for table in self.tables]

    @property
    def room(self) -> int:
        """See `RowSums.room`."""
        return sum(math.prod(shape) for shape in self.shapes)

    def add(self, rows: Codes, out: Ints) -> None:
        """See `RowSums.add`."""
        if not self.tables:
            return
        columns = sorted({column for table in self.tables for column in table})
        place = {column: number for number, column in enumerate(columns)}
        lookup = [self.parts[column] for column in columns]
        add_tables(
            rows,
            np.array(columns, np.int64),
            np.concatenate(lookup).astype(np.int64),
            np.cumsum([0, *map(len, lookup)])[:-1].astype(np.int64),
            np.array([int(part.max()) + 1 for part in lookup], np.int64),
            np.cumsum([0, *map(len, self.tables)]).astype(np.int64),
            np.array([place[column] for table in self.tables for column in table], np.int64),
            np.cumsum([0, *map(math.prod, self.shapes)]).astype(np.int64),
            out,
        )

    def split(self, flat: Ints) -> list[Ints]:
        """The tables, in their shapes."""
        ends = np.cumsum([math.prod(shape) for shape in self.shapes])[:-1]
        return [
            part.reshape(shape)
            for part, shape in zip(np.split(flat, ends), self.shapes, strict=True)
        ]


# Records beside the nearest of some public points: a rule that looks at one record at a time.


def feature_sizes(schema: Schema) -> list[int]:
    """How many features each attribute has: a number has one, a category one for each value."""
    return [1 if isinstance(a, Numeric) else a.size for a in schema.attributes]


def nearest(codes: CodeMatrix, schema: Schema, points: Floats) -> Ints:
    """The number of the nearest point for each record; ties go to the first.

    A record's features are its numeric codes as shares of the domain, and 1 for each of its
    categorical values beside 0 for the others.

    Args:
        codes: The predictors of each record, in the order of the schema.
        schema: The public schema.
        points: [points, features].

    Example:
        >>> schema = Schema.from_dict({"name": "s", "unit": "row", "attributes": {
        ...     "age": {"type": "numeric", "low": 0, "high": 10},
        ...     "home": {"type": "categorical", "values": ["flat", "house"]}}})
        >>> points = np.array([[0.0, 0.5, 0.5], [1.0, 0.0, 1.0]])
        >>> nearest(np.array([[1, 0], [4, 1]], dtype=np.uint16), schema, points).tolist()
        [0, 1]
    """
    distance = np.zeros((len(codes), len(points)))
    first = 0
    for place, attribute in enumerate(schema.attributes):
        code = codes[:, place].astype(np.int64)
        if isinstance(attribute, Numeric):
            share = code / max(1, attribute.size - 1)
            distance += (share[:, None] - points[None, :, first]) ** 2
            first += 1
        else:
            part = points[:, first : first + attribute.size]
            # |e_c - p|^2 = 1 - 2 p_c + |p|^2
            distance += 1 - 2 * part.T[code] + (part**2).sum(axis=1)
            first += attribute.size
    return np.asarray(distance.round(9).argmin(axis=1), dtype=np.int64)


def labeled(table: Table, schema: Schema, points: Floats) -> Table:
    """The same records with the nearest point as their class.

    Args:
        table: The private table.
        schema: The same schema with as many classes as there are points.
        points: [points, features].
    """
    codes = table.codes.copy()
    codes[:, -1] = nearest(codes, table.schema, points)
    return Table(schema, codes, table.frame_kind)
