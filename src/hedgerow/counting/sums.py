"""Questions whose answer is a sum over records of whole numbers, each a function of one record.

A question is public. Parts of the rows answer it one by one and their answers are added up, so that
all engines agree to the last digit.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from hedgerow.arrays import LOGIT, Ints
from hedgerow.counting.sum_kernels import (
    add_pairs,
    add_residuals,
    add_tables,
    fill_probabilities,
)

__all__ = ["ClassModel", "PairTables", "Residuals", "RowSums", "TableCounts", "pair_start"]

Codes = NDArray[Any]  # [rows, attributes + 1], the class last

_FAR = 1280  # beyond exp(-20) nothing is left of a probability
_ONE = 1 << 30


class RowSums(Protocol):
    """A question that is answered by a sum over rows."""

    @property
    def room(self) -> int:
        """How many numbers the answer has."""

    def add(self, rows: Codes, out: Ints) -> None:
        """Adds what rows contribute."""


def pair_start(groups: Sequence[int]) -> Ints:
    """Where the table of each pair (1, 0), (2, 0), (2, 1), ... begins, and where the last ends.

    Example:
        >>> pair_start([2, 3, 4]).tolist()
        [0, 6, 14, 26]
    """
    sizes = [groups[one] * groups[other] for one in range(len(groups)) for other in range(one)]
    return np.cumsum([0, *sizes]).astype(np.int64)


def _lookup(edges: Sequence[Ints], first: Sequence[int]) -> tuple[Ints, Ints]:
    """The part of each code, attribute after attribute, and where those of an attribute begin."""
    parts = [
        start + np.repeat(np.arange(len(cut) - 1), np.diff(cut))
        for start, cut in zip(first, edges, strict=True)
    ]
    start = np.cumsum([0, *map(len, parts)])[:-1]
    return np.concatenate(parts).astype(np.int64), start.astype(np.int64)


@dataclass(frozen=True)
class PairTables:
    """The tables of all pairs of the first attributes, see `pair_start`.

    Args:
        edges: The edges of the groups of each of these attributes.
    """

    edges: tuple[Ints, ...]

    @property
    def room(self) -> int:
        """See `RowSums.room`."""
        return int(pair_start([len(cut) - 1 for cut in self.edges])[-1])

    def add(self, rows: Codes, out: Ints) -> None:
        """See `RowSums.add`."""
        groups = np.array([len(cut) - 1 for cut in self.edges], np.int64)
        lookup, start = _lookup(self.edges, [0] * len(self.edges))
        add_pairs(rows, lookup, start, groups, out)


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


@dataclass(frozen=True, kw_only=True)
class ClassModel:
    """p(class | record) in whole numbers: a softmax of logits by region and by cells.

    Args:
        split: The attribute that divides each node of the tree of regions, -1 for a leaf.
        first: The first child of each node.
        upper: One past the last code of each node, in the attribute that divides its parent.
        region: The region of each leaf node.
        base: The logits of each region: [regions, classes].
        edges: The edges of the cells of each attribute, which are numbered through.
        shift: What each cell adds: [cells, classes].
    """

    split: Ints
    first: Ints
    upper: Ints
    region: Ints
    base: Ints
    edges: tuple[Ints, ...]
    shift: Ints

    @property
    def cells(self) -> Ints:
        """The number of the first cell of each attribute, and one past the last."""
        return np.cumsum([0, *(len(cut) - 1 for cut in self.edges)]).astype(np.int64)

    def tables(self) -> tuple[Ints, ...]:
        """What the kernels read."""
        lookup, start = _lookup(self.edges, self.cells[:-1].tolist())
        return (
            self.split, self.first, self.upper, self.region, self.base, lookup, start, self.shift,
        )  # fmt: skip

    def probabilities(self, rows: Codes) -> Ints:
        """The probabilities of each row's classes, in units of 1/256: [rows, classes]."""
        out = np.empty((len(rows), self.base.shape[1]), np.int64)
        fill_probabilities(rows, self.tables(), exponentials(), out)
        return out


@dataclass(frozen=True)
class Residuals:
    """By how much a model of the class is off: of every cell and class, sums of (has it) - p.

    In units of 1/256: a record adds a whole number from -256 to 256 to each class of one cell of
    every attribute. The answer has the shape [cells, classes], flat.

    Args:
        model: The model.
    """

    model: ClassModel

    @property
    def room(self) -> int:
        """See `RowSums.room`."""
        return self.model.shift.size

    def add(self, rows: Codes, out: Ints) -> None:
        """See `RowSums.add`."""
        add_residuals(rows, self.model.tables(), exponentials(), out)


def exponentials() -> Ints:
    """exp(-d / 64) in units of 2^-30, for d from 0 on."""
    found: Ints = np.rint(_ONE * np.exp(-np.arange(_FAR + 1) / LOGIT)).astype(np.int64)
    return found
