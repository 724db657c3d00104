"""Sums of weights within nodes, and the loops that add them up."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from hedgerow.arrays import Ints
from hedgerow.compiled import kernel

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
