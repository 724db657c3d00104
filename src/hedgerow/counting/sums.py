"""Questions whose answer is a sum over records of whole numbers, each a function of one record.

A question is public. Parts of the rows answer it one by one and their answers are added up, so that
all engines agree to the last digit.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from hedgerow.arrays import Ints
from hedgerow.counting.sum_kernels import add_tables

__all__ = ["RowSums", "TableCounts"]

Codes = NDArray[Any]  # [rows, attributes + 1], the class last


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
