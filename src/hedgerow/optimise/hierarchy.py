"""Value generalisation hierarchies: the chain of ever more general values above each value.

A categorical attribute brings its taxonomy. The grid of a numeric one is halved again and again
(or cut into `fan` parts), which follows from the schema alone; a code for "other" stands beside
the grid, below a common root. Every node covers an interval of codes, as everywhere in hedgerow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow.arrays import Ints, Small
from hedgerow.errors import UsageError
from hedgerow.schema import Attribute, Categorical, Numeric, Schema

__all__ = ["Forest", "generalised_attributes"]

Nodes = Small

MOST_NODES = 1 << 25
MOST_HEIGHT = 60  # kernels have room for 64 nodes of a chain


@dataclass(frozen=True, eq=False, kw_only=True)
class Forest:
    """The hierarchies of all attributes, in one numbering of nodes; parents before children.

    Args:
        root: The root of each attribute.
        leaf: Where each attribute's leaves begin in `leaf_node`.
        leaf_node: The leaf node of each code, attribute after attribute.
        parent: The parent of each node, -1 for a root.
        lo: The first code of each node.
        hi: One past the last code of each node.
        depth: How far each node lies below its root.

    Example:
        >>> from fractions import Fraction
        >>> age = Numeric("age", low=Fraction(0), high=Fraction(3), step=Fraction(1),
        ...     kind="integer")
        >>> forest = Forest.of((age,))
        >>> [age.label(forest.lo[node], forest.hi[node]) for node in forest.chain(0, 2)]
        ['2', '[2, 3]', '[0, 3]']
    """

    root: Ints
    leaf: Ints
    leaf_node: Nodes
    parent: Nodes
    lo: Nodes
    hi: Nodes
    depth: Nodes

    @staticmethod
    def of(attributes: Sequence[Attribute], fan: int = 2) -> Forest:
        """Lays out the hierarchies of some attributes.

        Args:
            attributes: At least one.
            fan: Into how many parts an interval of a numeric attribute is cut.

        Raises:
            UsageError: If an attribute has a single value, so that its hierarchy has height 0.
        """
        if not attributes:
            raise UsageError(
                "There is nothing to generalise: the schema describes no attribute.",
                hint="Describe at least one column that is not an identifier.",
            )
        root, parts, leaves = [], [], []
        base = 0
        for attribute in attributes:
            if attribute.size < 2:
                raise UsageError(
                    f"The hierarchy of {attribute.name!r} has height 0: there is a single value, "
                    "and nothing more general.",
                    hint="Give the attribute `role: identifier`, which leaves it out.",
                )
            tree = _taxonomy(attribute) if isinstance(attribute, Categorical) else None
            tree = _halved(attribute, fan) if isinstance(attribute, Numeric) else tree
            assert tree is not None
            parent, lo, hi = tree
            root.append(base)
            at = np.setdiff1d(np.arange(len(parent)), parent)
            leaves.append((base + at[np.argsort(lo[at])]).astype(np.int32))
            parts.append((np.where(parent < 0, -1, parent + base), lo, hi))
            base += len(parent)
            if base > MOST_NODES:
                raise UsageError(
                    "The hierarchies have too many nodes.",
                    hint="Give numeric attributes a larger step.",
                )
            if _depths(parent).max() > MOST_HEIGHT:
                raise UsageError(
                    f"The hierarchy of {attribute.name!r} has more than {MOST_HEIGHT} levels.",
                    hint="Take out levels of its taxonomy.",
                )
        above, low, high = (np.concatenate(column) for column in zip(*parts, strict=True))
        depth = _depths(above)
        starts = np.cumsum([0, *(len(part) for part in leaves[:-1])])
        small = np.int32
        return Forest(
            root=np.asarray(root, np.int64), leaf=starts.astype(np.int64),
            leaf_node=np.concatenate(leaves),
            parent=above.astype(small), lo=low.astype(small), hi=high.astype(small),
            depth=depth.astype(small),
        )  # fmt: skip

    @property
    def attributes(self) -> int:
        """How many there are."""
        return len(self.root)

    def leaves(self, codes: NDArray[np.integer]) -> Nodes:
        """The leaf nodes of records: [records, attributes]."""
        found: Nodes = self.leaf_node[codes.astype(np.int64) + self.leaf[None, :]]
        return found

    def chain(self, attribute: int, code: int) -> list[int]:
        """The nodes above a code, from its leaf to the root."""
        node = int(self.leaf_node[self.leaf[attribute] + code])
        found = []
        while node >= 0:
            found.append(node)
            node = int(self.parent[node])
        return found

    def sizes(self) -> Ints:
        """How many leaves lie below each node."""
        return (self.hi - self.lo).astype(np.int64)

    def heights(self) -> Ints:
        """The longest chain of each attribute, in steps."""
        ends = np.append(self.leaf[1:], len(self.leaf_node))
        return np.asarray(
            [
                int(self.depth[self.leaf_node[start:end]].max())
                for start, end in zip(self.leaf.tolist(), ends.tolist(), strict=True)
            ],
            np.int64,
        )

    def largest_lattice(self) -> int:
        """The most generalisations that a record can have."""
        size = 1
        for height in self.heights().tolist():
            size *= height + 1
        return size


def generalised_attributes(schema: Schema) -> tuple[Attribute, ...]:
    """What a record consists of: the predictors, and the class as one more attribute."""
    return schema.attributes + (() if schema.target is None else (schema.target,))


def _depths(parent: Ints) -> Ints:
    """How far each node lies below its root; a level at a time."""
    depth = np.zeros(len(parent), np.int64)
    above = parent.copy()
    while (above >= 0).any():
        depth += above >= 0
        above = np.where(above >= 0, parent[above], -1)
    return depth


def _taxonomy(attribute: Categorical) -> tuple[Ints, Ints, Ints]:
    tree = attribute.taxonomy
    spans = np.asarray(tree.spans, np.int64)
    return np.asarray(tree.parents, np.int64), spans[:, 0], spans[:, 1]


def _halved(attribute: Numeric, fan: int) -> tuple[Ints, Ints, Ints]:
    parent, lo, hi = [-1], [0], [attribute.size]
    stack = [0]
    while stack:
        node = stack.pop()
        low, high = lo[node], hi[node]
        if high - low == 1:
            continue
        if node == 0 and attribute.has_other:
            edges = [0, attribute.grid, attribute.size]
        else:
            parts = min(fan, high - low)
            edges = [low + (high - low) * part // parts for part in range(parts + 1)]
        first = len(parent)
        for left, right in zip(edges, edges[1:], strict=False):
            parent.append(node)
            lo.append(left)
            hi.append(right)
        stack.extend(reversed(range(first, len(parent))))
    return np.asarray(parent, np.int64), np.asarray(lo, np.int64), np.asarray(hi, np.int64)
