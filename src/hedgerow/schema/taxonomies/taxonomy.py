"""A taxonomy: a public tree of labels whose leaves are the raw values of an attribute.

Leaves are numbered from left to right, so every node covers a contiguous range of leaf codes.
A region of a release is therefore an interval of codes in every attribute, numeric or not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from hedgerow.suggestions import check_fields

__all__ = ["Taxonomy"]


@dataclass(frozen=True)
class Taxonomy:
    """A rooted tree in preorder.

    Args:
        labels: The label of each node; node 0 is the root.
        parents: The parent of each node, -1 for the root; a parent stands before its children.

    Example:
        >>> jobs = Taxonomy.from_nested("Any", {"Professional": ["Engineer", "Lawyer"], "Artist": ["Dancer"]})
        >>> jobs.leaves
        ('Engineer', 'Lawyer', 'Dancer')
        >>> jobs.label(0, 2)
        'Professional'
    """

    labels: tuple[str, ...]
    parents: tuple[int, ...]

    def __post_init__(self) -> None:
        """Refuses labels and parents of the wrong type."""
        check_fields(self)

    @staticmethod
    def from_nested(root: str, tree: Mapping[str, Any] | Sequence[str]) -> Taxonomy:
        """Builds a taxonomy from nested mappings (inner nodes) and lists (leaves).

        A node with a single child says nothing and would cost budget, so such chains are
        collapsed to their upper label unless the child is a leaf, whose label is kept.
        """
        labels: list[str] = []
        parents: list[int] = []

        def add(label: str, below: Any, parent: int) -> None:
            while below and len(below) == 1:  # a unary chain
                (only,) = below
                deeper = below[only] if isinstance(below, Mapping) else None
                label = label if deeper else str(only)
                below = deeper
            labels.append(label)
            parents.append(parent)
            node = len(labels) - 1
            for child in below or ():
                add(str(child), below[child] if isinstance(below, Mapping) else None, node)

        add(root, tree, -1)
        return Taxonomy(tuple(labels), tuple(parents))

    @staticmethod
    def flat(values: Sequence[str], root: str = "Any") -> Taxonomy:
        """One level of values under a root."""
        return Taxonomy.from_nested(root, list(values))

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """The children of each node, from left to right."""
        below: list[list[int]] = [[] for _ in self.labels]
        for node, parent in enumerate(self.parents):
            if parent >= 0:
                below[parent].append(node)
        return tuple(tuple(nodes) for nodes in below)

    @cached_property
    def spans(self) -> tuple[tuple[int, int], ...]:
        """The half-open range of leaf codes that each node covers."""
        low = [0] * len(self.labels)
        high = [0] * len(self.labels)
        code = 0
        for node, nodes in enumerate(self.children):  # preorder meets leaves from left to right
            low[node] = code
            if not nodes:
                code += 1
        code = 0
        for node in range(len(self.labels)):
            if not self.children[node]:
                high[node] = low[node] + 1
        for node in reversed(range(len(self.labels))):
            if self.children[node]:
                high[node] = high[self.children[node][-1]]
        return tuple(zip(low, high, strict=True))

    @cached_property
    def leaves(self) -> tuple[str, ...]:
        """The labels of the leaves; a leaf's code is its place here."""
        return tuple(
            label for label, nodes in zip(self.labels, self.children, strict=True) if not nodes
        )

    @cached_property
    def _node_at(self) -> dict[tuple[int, int], int]:
        return {span: node for node, span in enumerate(self.spans)}

    def node(self, low: int, high: int) -> int:
        """The node that covers exactly the leaf codes from low to high."""
        return self._node_at[low, high]

    def __contains__(self, span: object) -> bool:
        """Whether a node covers exactly these leaf codes, from low to high."""
        return span in self._node_at

    def label(self, low: int, high: int) -> str:
        """The label of the node that covers exactly the leaf codes from low to high."""
        return self.labels[self._node_at[low, high]]

    @cached_property
    def height(self) -> int:
        """The number of edges on the longest path from the root to a leaf."""
        depth = [0] * len(self.labels)
        for node, parent in enumerate(self.parents):
            if parent >= 0:
                depth[node] = depth[parent] + 1
        return max(depth)

    def nested(self) -> Any:
        """The tree below the root as nested mappings and lists, as YAML would hold it.

        Inner nodes become mappings; a node whose children are all leaves becomes a list.
        """

        def below(node: int) -> Any:
            kids = self.children[node]
            if all(not self.children[kid] for kid in kids):
                return [self.labels[kid] for kid in kids]
            return {self.labels[kid]: below(kid) if self.children[kid] else None for kid in kids}

        return below(0)
