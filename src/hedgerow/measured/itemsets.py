"""The public regions of transactions: sets of records that hold the same items, or nearly so."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hedgerow.arrays import Bools, Ints
from hedgerow.errors import ReleaseError
from hedgerow.measured.measurements import Measurement
from hedgerow.schema.item_tree import ItemTree
from hedgerow.schema.items import WEIGHT, Items

MOST_CORE = 20
_MOST_BINS = 64


@dataclass(frozen=True, eq=False)
class CoreCells:
    """Which items of a core a record holds, and about how many items beside them.

    Cell number = mask * bins + bin: bit b of the mask stands for the item `core[b]`, and bin j
    holds the records with `rest[j]` up to, not including, `rest[j + 1]` items outside the core.
    Where the core is the whole universe there is one bin.

    Args:
        core: The items of the core, by increasing code.
        rest: The lower ends of the bins; the first is 0.

    Example:
        >>> cells = CoreCells(np.array([2, 5]), np.array([0, 1, 3]))
        >>> cells.cells, cells.masks[:7].tolist(), cells.bins[:7].tolist()
        (12, [0, 0, 0, 1, 1, 1, 2], [0, 1, 2, 0, 1, 2, 0])
    """

    core: Ints
    rest: Ints

    def __eq__(self, other: object) -> bool:
        """Whether both tell the same cells apart."""
        return (
            isinstance(other, CoreCells)
            and np.array_equal(self.core, other.core)
            and np.array_equal(self.rest, other.rest)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        """Its size only."""
        return f"CoreCells(core={len(self.core)}, bins={len(self.rest)})"

    @property
    def cells(self) -> int:
        """The number of regions."""
        return len(self.rest) << len(self.core)

    @cached_property
    def masks(self) -> Ints:
        """The mask of each cell."""
        return np.arange(self.cells) // len(self.rest)

    @cached_property
    def bins(self) -> Ints:
        """The bin of each cell."""
        return np.arange(self.cells) % len(self.rest)

    def check(self, items: Items) -> None:
        """Refuses what cannot be the cells of a core of this universe.

        Raises:
            ReleaseError: Names the rule that is broken.
        """
        if len(self.core) > MOST_CORE or len(self.rest) > _MOST_BINS:
            raise _broken("its core is larger than any")
        if (np.diff(self.core) <= 0).any() or (
            len(self.core) and not 0 <= self.core[0] <= self.core[-1] < items.size
        ):
            raise _broken("its core does not consist of items of the universe, in their order")
        if not len(self.rest) or self.rest[0] != 0 or (np.diff(self.rest) <= 0).any():
            raise _broken("its bins do not begin at 0 and increase")
        if len(self.rest) > 1 and len(self.core) == items.size:
            raise _broken("it counts items beside a core that is the whole universe")


@dataclass(frozen=True, eq=False, kw_only=True)
class CutTree:
    """Partitions by hierarchy cuts: a record lies in one if its items generalize to its cut.

    Every record's items lie under the nodes of its partition's cut, and every node of the cut has
    one of them below it. An expanded partition replaced one node of its cut by some of that node's
    children; what is left of it are the records of none of the sub-partitions that were kept.

    Args:
        parent: The partition that each was made from, -1 for the first, which holds all records.
        split: The node of the cut that was expanded, -1 if none was.
        cut_start: Where each partition's cut begins in `cut`, and the end of the last.
        cut: The nodes of the `schema.ItemTree`, increasing within a partition.

    Example:
        >>> tree = CutTree(parent=np.array([-1, 0]), split=np.array([0, -1]), cut_start=np.array([0,
        ...                1, 3]), cut=np.array([0, 1, 2]))
        >>> tree.cells, tree.nodes(1).tolist()
        (2, [1, 2])
    """

    parent: Ints
    split: Ints
    cut_start: Ints
    cut: Ints

    def __eq__(self, other: object) -> bool:
        """Whether both hold the same partitions."""
        fields = ("parent", "split", "cut_start", "cut")
        return isinstance(other, CutTree) and all(
            np.array_equal(getattr(self, field), getattr(other, field)) for field in fields
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        """Its size only."""
        return f"CutTree(partitions={self.cells})"

    @property
    def cells(self) -> int:
        """The number of partitions."""
        return len(self.parent)

    def nodes(self, partition: int) -> Ints:
        """The cut of a partition."""
        return self.cut[self.cut_start[partition] : self.cut_start[partition + 1]]

    @cached_property
    def owner(self) -> Ints:
        """The partition of each entry of `cut`."""
        return np.repeat(np.arange(self.cells), np.diff(self.cut_start))

    @cached_property
    def depth(self) -> Ints:
        """How many expansions led to each partition."""
        depth = np.zeros(self.cells, np.int64)
        for partition in range(1, self.cells):  # parents stand before their children
            depth[partition] = depth[self.parent[partition]] + 1
        return depth

    def leaves(self, tree: ItemTree) -> Bools:
        """Which partitions have a cut of items alone: their records are known exactly."""
        inner = np.zeros(self.cells, np.int64)
        np.add.at(inner, self.owner, tree.children[self.cut] > 0)
        return np.asarray(inner == 0)

    def check(self, items: Items) -> None:
        """Refuses what does not follow from the universe's tree by expansions.

        Raises:
            ReleaseError: Names the rule that is broken.
        """
        tree, size = ItemTree.of(items), self.cells
        if not size or len(self.split) != size or len(self.cut_start) != size + 1:
            raise _broken("its columns have different lengths")
        if self.cut_start[0] != 0 or self.cut_start[-1] != len(self.cut):
            raise _broken("its cuts are not where they should be")
        if (np.diff(self.cut_start) < 1).any() or self.cut.min() < 0 or self.cut.max() >= len(tree):
            raise _broken("a cut is empty or names no node of the universe's tree")
        if self.parent[0] != -1 or self.nodes(0).tolist() != [0]:
            raise _broken("it does not begin with all records")
        if (self.parent[1:] < 0).any() or (self.parent[1:] >= np.arange(1, size)).any():
            raise _broken("a partition stands before the one it was made from")
        if (np.diff(self.parent) < 0).any():
            raise _broken("its partitions are not in canonical order")
        before: tuple[int, ...] = ()
        for partition in range(1, size):
            up = int(self.parent[partition])
            kept = set(self.nodes(up).tolist())
            node = int(self.split[up])
            cut = self.nodes(partition).tolist()
            fresh = set(cut) - kept
            if node not in kept or not fresh or set(cut) != (kept - {node}) | fresh:
                raise _broken("a cut does not follow from the one it was made from")
            if sorted(set(cut)) != cut or (tree.parent[list(fresh)] != node).any():
                raise _broken("a cut does not follow from the one it was made from")
            same = up == self.parent[partition - 1]
            bits = tuple(sorted(fresh, reverse=True))  # as a mask would be compared
            if same and bits <= before:
                raise _broken("its partitions are not in canonical order")
            before = bits
        expanded = np.flatnonzero(self.split >= 0)
        if any(int(self.split[p]) not in self.nodes(p) for p in expanded.tolist()):
            raise _broken("a partition was expanded at a node that its cut does not hold")
        if (tree.children[self.split[expanded]] == 0).any():
            raise _broken("a partition was expanded at an item")


Itemsets = CoreCells | CutTree


def _broken(rule: str) -> ReleaseError:
    return ReleaseError(
        f"the regions of this release are not those of transactions: {rule}",
        hint="Ask whoever published the release for a fresh copy.",
    )


def cap_of(measurement: Measurement) -> int:
    """How many items of a record count in full, for weighted supports.

    The weights of a record add up to the cap, and their squares to no more than it: a record with t
    items beyond the cap has t (cap / t)^2 = cap^2 / t.
    """
    if measurement.law == "gaussian":
        return measurement.max_contribution // WEIGHT**2
    return measurement.max_contribution // WEIGHT
