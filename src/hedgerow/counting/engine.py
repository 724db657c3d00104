"""What a publisher may ask of the data: exact counts, many nodes at a time, under seal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from numpy.typing import NDArray

from hedgerow.arrays import Bools, Ints, Small
from hedgerow.counting.domain import Domain
from hedgerow.counting.sealed import Sealed

__all__ = ["Engine", "Histograms", "Split"]


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


@dataclass(frozen=True)
class Split:
    """How nodes are specialised; public.

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
