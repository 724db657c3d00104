"""What engines of tables are asked, and how their counts are laid out."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.arrays import Bools, Floats, Ints, Small
from hedgerow.compiled import kernel
from hedgerow.data import CodeMatrix, Table
from hedgerow.schema import Numeric, Schema
from hedgerow.schema.attributes import LEAST_WEIGHT

Codes = NDArray[Any]

BLOCK = 1024  # rows that are counted in one table after the other
_DENSE_CELLS = 4  # cells are counted in an array if there are no more of them for each row

# The loops behind `sums`.


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
    """Counts the cell of every table that a row lies in; a part below 0 lies in none.

    Some rows at a time, table by table: the cells of one table stay at hand, those of all do not.
    """
    part = np.empty((len(columns), BLOCK), np.int64)
    index = np.empty(BLOCK, np.int64)
    for start in range(0, rows.shape[0], BLOCK):
        number = min(BLOCK, rows.shape[0] - start)
        for c in range(len(columns)):
            for row in range(number):
                part[c, row] = lookup[first[c] + rows[start + row, columns[c]]]
        for table in range(len(base) - 1):
            index[:number] = part[member[begin[table]], :number]
            for place in range(begin[table] + 1, begin[table + 1]):
                c = member[place]
                many = parts[c]
                for row in range(number):
                    one, other = index[row], part[c, row]
                    index[row] = one * many + other if (one | other) >= 0 else -1
            first_cell = base[table]
            for row in range(number):
                if index[row] >= 0:
                    out[first_cell + index[row]] += 1


# Questions whose answer is a sum over records of whole numbers, each a function of one record.
#
# A question is public. Parts of the rows answer it one by one and their answers are added up, so
# that all engines agree to the last digit.


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
        """How many numbers the answer has."""
        return sum(math.prod(shape) for shape in self.shapes)

    def add(self, rows: Codes, out: Ints) -> None:
        """Adds what rows contribute."""
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


def label_codes(table: Table, schema: Schema, points: Floats) -> Table:
    """The same records with the nearest point as their class.

    Args:
        table: The private table.
        schema: The same schema with as many classes as there are points.
        points: [points, features].
    """
    codes = table.codes.copy()
    codes[:, -1] = nearest(codes, table.schema, points)
    return Table(schema, codes, frame_kind=table.frame_kind)


# What rows are counted by: nodes of a tree, whose regions follow from a public domain.


@dataclass(frozen=True, kw_only=True)
class Domain:
    """Attributes and taxonomies in arrays.

    Taxonomy nodes of all attributes share one numbering in which the children of a node are
    contiguous, from left to right.

    Args:
        sizes: The number of codes of each predictor.
        classes: The number of classes, at least 1.
        root: The taxonomy node at the top of each categorical predictor, -1 for numeric ones; one
            that is never split has a node without children.
        node_lo: The first code of each taxonomy node.
        node_hi: One past the last code of each taxonomy node.
        first_child: The first child of each taxonomy node.
        children: The number of children of each taxonomy node, 0 for a leaf.
        weight: The weight of each predictor in choices, in parts of the smallest that can be given.
        sharing: How many predictors share the place of one in choices: the members of its group.
    """

    sizes: Small
    classes: int
    root: Small
    node_lo: Small
    node_hi: Small
    first_child: Small
    children: Small
    weight: Ints
    sharing: Ints

    @staticmethod
    def of(schema: Schema) -> Domain:
        """Lays out a schema."""
        lo: list[int] = []
        hi: list[int] = []
        first: list[int] = []
        number: list[int] = []
        root: list[int] = []
        for attribute in schema.attributes:
            spans: Sequence[tuple[int, int]] = [(0, attribute.size)]
            children: Sequence[Sequence[int]] = [()]  # of one that is never split: no parts
            if attribute.split != "never":
                if isinstance(attribute, Numeric):
                    root.append(-1)
                    continue
                spans, children = attribute.taxonomy.spans, attribute.taxonomy.children
            base = len(lo)
            root.append(base)
            order = [0]  # breadth first, so that children are contiguous
            for node in order:
                lo.append(spans[node][0])
                hi.append(spans[node][1])
                first.append(base + len(order))
                number.append(len(children[node]))
                order.extend(children[node])
        # those that are never split have no rivals in choices
        rival = [one.split != "never" and one.size > 1 for one in schema.attributes]
        rivals = [*compress(schema.attributes, rival)]
        members = Counter(one.group for one in rivals if one.group)
        largest = max((one.weight for one in rivals), default=1)
        weight = [
            int((one.weight if takes_part else largest) / LEAST_WEIGHT)
            for one, takes_part in zip(schema.attributes, rival, strict=True)
        ]
        return Domain(
            sizes=np.array([attribute.size for attribute in schema.attributes], np.int32),
            classes=max(1, len(schema.classes)),
            root=np.array(root, np.int32),
            node_lo=np.array(lo, np.int32),
            node_hi=np.array(hi, np.int32),
            first_child=np.array(first, np.int32),
            children=np.array(number, np.int32),
            weight=np.array(weight, np.int64),
            sharing=np.array([members.get(one.group, 1) for one in schema.attributes], np.int64),
        )

    @property
    def attributes(self) -> int:
        """The number of predictors."""
        return len(self.sizes)

    @property
    def weighed(self) -> bool:
        """Whether predictors have different weights."""
        return bool((self.weight != self.weight[0]).any())

    def splittable(self, lo: Small, hi: Small, node: Small) -> Bools:
        """Whether each part [lo, hi) of each attribute can be specialized: a public fact."""
        numeric = (self.root < 0) & (hi - lo >= 2)
        if not len(self.children):
            return numeric
        return numeric | ((node >= 0) & (self.children[np.maximum(node, 0)] > 0))


class Histograms(NamedTuple):
    """Class counts of the codes that occur, by node and attribute; travels sealed.

    Args:
        start: [nodes * attributes + 1]; segment (i, a) is number i * attributes + a.
        code: The codes of each segment, increasing.
        counts: [entries, classes]; in 64 bits if all rows together are 2^31 or more.
    """

    start: Ints
    code: Small
    counts: NDArray[Any]


@dataclass(frozen=True, kw_only=True)
class Split:
    """How nodes are specialized; public.

    Args:
        nodes: The nodes that are split.
        attribute: The attribute that splits each node.
        edge_start: [nodes + 1], into `edges`.
        edges: The inner edges of the children's codes.
        first_child: The number of the first child of the first node; children are numbered on.
        final: Whether no child will be split again, so that rows may stay where they are.
    """

    nodes: Ints
    attribute: Ints
    edge_start: Ints
    edges: Small
    first_child: int
    final: bool


def batches(need: Ints, most: int) -> Iterator[slice]:
    """Cuts things that need so much into batches that need no more than the most, or are one.

    Example:
        >>> list(batches(np.array([3, 3, 9, 1]), 6))
        [slice(0, 2, None), slice(2, 3, None), slice(3, 4, None)]
    """
    total = np.cumsum(need)
    first = 0
    while first < len(need):
        before = total[first] - need[first]
        last = max(first + 1, int(np.searchsorted(total, before + most, "right")))
        yield slice(first, last)
        first = last


FilledCells = tuple[Ints, Ints]


def cells_of(part: Any, edges: Sequence[Small], classes: int) -> FilledCells:
    """The nonempty cells of a part's rows in a product of cuts: see `parts.Engine.cell_counts`."""
    lookups = [np.repeat(np.arange(len(cut) - 1), np.diff(cut)) for cut in edges]
    cells = [np.zeros(0, np.int64)]
    for rows in part.blocks():
        cell = np.zeros(len(rows), np.int64)
        for column, (cut, lookup) in enumerate(zip(edges, lookups, strict=True)):
            cell *= len(cut) - 1
            cell += lookup[rows[:, column]]
        cell *= classes
        cell += rows[:, -1]
        cells.append(cell)
    cell = np.concatenate(cells)
    if math.prod(len(cut) - 1 for cut in edges) * classes <= _DENSE_CELLS * len(cell):
        times = np.bincount(cell)
        number = np.flatnonzero(times)
        return number, times[number]
    return np.unique(cell, return_counts=True)
