"""The tree over a universe of items as flat arrays, the form in which methods walk it.

All of it is public. A node with very many children would make more sub-partitions than a mask of
64 bits can tell apart, so the children of such a node are grouped once more, by neighbors.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hedgerow.arrays import Ints
from hedgerow.schema.items import Items

MOST_CHILDREN = 32


@dataclass(frozen=True, eq=False, kw_only=True)
class ItemTree:
    """Nodes breadth first, so that the children of a node are contiguous, from left to right.

    Args:
        parent: The parent of each node, -1 for the root, which is node 0.
        first_child: The first child of each node.
        children: The number of children, 0 for an item.
        lo: The first item's code below each node.
        hi: One past the last item's code.
        labels: What each node is called.

    Example:
        >>> tree = ItemTree.of(Items(("a", "b", "c", "d"), fan_out=2))
        >>> tree.labels
        ('a .. d', 'a .. b', 'c .. d', 'a', 'b', 'c', 'd')
        >>> tree.height.tolist(), tree.inner.tolist()
        ([2, 1, 1, 0, 0, 0, 0], [3, 1, 1, 0, 0, 0, 0])
    """

    parent: Ints
    first_child: Ints
    children: Ints
    lo: Ints
    hi: Ints
    labels: tuple[str, ...]

    @staticmethod
    def of(items: Items) -> ItemTree:
        """Lays out the tree of a universe."""
        taxonomy = items.taxonomy
        below, spans, names = taxonomy.children, taxonomy.spans, taxonomy.labels
        # a node is a stretch of siblings that stand for one: a single one is a taxonomy's node
        order: list[tuple[int, ...]] = [(0,)]
        parent, first, number = [-1], [], []
        for node in order:
            kids = below[node[0]] if len(node) == 1 else node
            groups = _group(kids)
            first.append(len(order))
            number.append(len(groups))
            parent.extend([len(first) - 1] * len(groups))
            order.extend(groups)
        return ItemTree(
            parent=np.asarray(parent, np.int64),
            first_child=np.asarray(first, np.int64),
            children=np.asarray(number, np.int64),
            lo=np.asarray([spans[node[0]][0] for node in order], np.int64),
            hi=np.asarray([spans[node[-1]][1] for node in order], np.int64),
            labels=tuple(
                names[node[0]] if len(node) == 1 else f"{names[node[0]]} .. {names[node[-1]]}"
                for node in order
            ),
        )

    def __len__(self) -> int:
        """The number of nodes."""
        return len(self.parent)

    @cached_property
    def height(self) -> Ints:
        """The number of edges on the longest way down from each node."""
        height = np.zeros(len(self), np.int64)
        for node in range(len(self) - 1, 0, -1):  # children stand after their parent
            above = self.parent[node]
            height[above] = max(height[above], height[node] + 1)
        return height

    @cached_property
    def inner(self) -> Ints:
        """How many nodes of the subtree under each node, itself included, have children."""
        inner = (self.children > 0).astype(np.int64)
        for node in range(len(self) - 1, 0, -1):
            inner[self.parent[node]] += inner[node]
        return inner

    def kids(self, node: int) -> Ints:
        """The children of a node, from left to right."""
        return np.arange(self.first_child[node], self.first_child[node] + self.children[node])


def _group(kids: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Children as they are, or neighbors in groups of about equal size where they are too many."""
    if len(kids) <= MOST_CHILDREN:
        return [(kid,) for kid in kids]
    groups = min(MOST_CHILDREN, -(-len(kids) // MOST_CHILDREN))
    ends = [len(kids) * place // groups for place in range(groups + 1)]
    return [kids[a:b] for a, b in zip(ends, ends[1:], strict=False)]
