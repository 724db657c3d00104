"""What an engine of tables does, and how its counts are laid out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from hedgerow.arrays import Bools, Bytes, Ints, Small
from hedgerow.counting.sealed import Sealed
from hedgerow.counting.sums import RowSums
from hedgerow.schema import Numeric, Schema
from hedgerow.schema.attributes import LEAST_WEIGHT

__all__ = [
    "Bytes",
    "Domain",
    "Engine",
    "Histograms",
    "Layout",
    "Split",
    "views",
]


# What a publisher may ask of the data: exact counts, many nodes at a time, under seal.


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
            if attribute.split == "never":  # a single node without parts, whatever it is
                root.append(len(lo))
                lo.append(0)
                hi.append(attribute.size)
                first.append(len(lo))
                number.append(0)
                continue
            if isinstance(attribute, Numeric):
                root.append(-1)
                continue
            tree = attribute.taxonomy
            base = len(lo)
            root.append(base)
            order = [0]  # breadth first, so that children are contiguous
            for node in order:
                lo.append(tree.spans[node][0])
                hi.append(tree.spans[node][1])
                first.append(base + len(order))
                number.append(len(tree.children[node]))
                order.extend(tree.children[node])
        weight, sharing = _in_choices(schema)
        return Domain(
            sizes=_array([attribute.size for attribute in schema.attributes]),
            classes=max(1, len(schema.classes)),
            root=_array(root),
            node_lo=_array(lo),
            node_hi=_array(hi),
            first_child=_array(first),
            children=_array(number),
            weight=weight,
            sharing=sharing,
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


def _in_choices(schema: Schema) -> tuple[Ints, Ints]:
    """The weight of each predictor, and how many share its place; those never split have none."""
    rival = [one.split != "never" and one.size > 1 for one in schema.attributes]
    rivals = [one for one, takes_part in zip(schema.attributes, rival, strict=True) if takes_part]
    members = Counter(one.group for one in rivals if one.group)
    largest = max((one.weight for one in rivals), default=1)
    weight = [
        int((one.weight if takes_part else largest) / LEAST_WEIGHT)
        for one, takes_part in zip(schema.attributes, rival, strict=True)
    ]
    sharing = [members.get(one.group, 1) for one in schema.attributes]
    return np.asarray(weight, dtype=np.int64), np.asarray(sharing, dtype=np.int64)


def _array(values: list[int]) -> Small:
    return np.asarray(values, dtype=np.int32)


@dataclass(frozen=True)
class Histograms:
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


class Engine(Protocol):
    """Exact counts at any size. Every engine gives the same integers.

    Nodes are numbered by the publisher; node 0 holds all rows.
    """

    domain: Domain

    def histograms(
        self,
        nodes: Ints,
        lo: Small,
        hi: Small,
        wanted: Bools,
    ) -> Iterator[tuple[slice, Sealed[Histograms]]]:
        """Histograms of nodes in batches that fit the memory setting, in order."""

    def split(self, split: Split) -> None:
        """Routes the rows of nodes to their children; the parents hold no rows from then on.

        Only children of the latest split may be split or asked for histograms afterwards: a tree
        grows level by level. Class counts of any node can be had at any time.
        """

    def class_counts(self, nodes: Ints) -> Sealed[Ints]:
        """The number of rows of each class in each node: [nodes, classes]."""

    def cell_counts(self, edges: tuple[Small, ...]) -> Sealed[tuple[Ints, Ints]]:
        """Nonempty cells of a product of cuts, and their rows.

        A cell's number is its place in the product (first attribute most significant), times the
        number of classes, plus the class. Cells come in increasing order.
        """

    def sums(self, question: RowSums) -> Sealed[Ints]:
        """The sum over all rows of what each contributes."""


# Packed rows: every code in as few bytes as its attribute needs, a row's codes side by side.


_WORD = 4  # rows are moved in words, and begin at one


@dataclass(frozen=True)
class Layout:
    """Where each column lies in a packed row: the predictors, then the class.

    Wide columns come first, so that each lies at a multiple of its width.

    Args:
        width: The bytes of each column: 1, 2 or 4.
        place: Where each column begins, in units of its width.
        stride: The bytes of a row.

    Example:
        >>> layout = Layout.of_sizes([300, 2, 2])
        >>> layout.width.tolist(), layout.place.tolist(), layout.stride
        ([2, 1, 1], [0, 2, 3], 4)
    """

    width: Ints
    place: Ints
    stride: int

    @staticmethod
    def of_sizes(sizes: Sequence[int]) -> Layout:
        """The layout of columns with so many codes each."""
        width = np.array([1 if n <= 1 << 8 else 2 if n <= 1 << 16 else 4 for n in sizes], np.int64)
        place = np.empty(len(sizes), dtype=np.int64)
        end = 0
        for column in np.argsort(-width, kind="stable").tolist():
            place[column] = end // width[column]
            end += int(width[column])
        return Layout(width, place, -(-end // _WORD) * _WORD)

    @staticmethod
    def of(domain: Domain) -> Layout:
        """The layout of a domain's rows."""
        return Layout.of_sizes([*domain.sizes.tolist(), domain.classes])

    def pack(self, columns: Sequence[NDArray[Any]]) -> Bytes:
        """Packs columns of codes.

        Example:
            >>> layout = Layout.of_sizes([300, 2])
            >>> layout.column(layout.pack([np.array([258]), np.array([1])]), 0).tolist()
            [258]
        """
        rows = np.zeros((len(columns[0]), self.stride), dtype=np.uint8)
        for column, width, place in zip(columns, self.width, self.place, strict=True):
            rows.view(f"u{width}")[:, place] = column
        return rows

    def column(self, rows: Bytes, column: int) -> NDArray[Any]:
        """One column of packed rows."""
        return rows.view(f"u{self.width[column]}")[:, self.place[column]]

    def codes(self, rows: Bytes) -> NDArray[Any]:
        """All columns of packed rows, [rows, columns], in the widest type that one of them has."""
        found = np.empty((len(rows), len(self.width)), dtype=f"u{self.width.max()}")
        for column in range(len(self.width)):
            found[:, column] = self.column(rows, column)
        return found


def views(rows: Bytes) -> tuple[Bytes, NDArray[np.uint16], NDArray[np.uint32]]:
    """The same packed rows in units of 1, 2 and 4 bytes, as kernels read them."""
    return rows, rows.view(np.uint16), rows.view(np.uint32)
