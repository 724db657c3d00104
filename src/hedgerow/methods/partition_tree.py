"""DiffPart's partitions: hierarchy cuts, how they are expanded, and the gate of `tree`.

A partition is a hierarchy cut: the records that have an item below every node of the cut, and no
other item. Records are counted nowhere here but through the curator. The paper's queue is worked
off level by level, which changes no partition, so that one pass of the engine serves a level.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from hedgerow.arrays import Ints
from hedgerow.counting.items import Expansion, ItemEngine
from hedgerow.counting.sealed import Sealed
from hedgerow.measured.itemsets import CutTree
from hedgerow.privacy.curator import Curator
from hedgerow.schema.item_tree import ItemTree


def grow_by_gate(engine: ItemEngine, tree: ItemTree, curator: Curator, most: int) -> GrowingCuts:
    """Expands whatever passes a gate whose price does not depend on the depth."""
    cuts = GrowingCuts(tree)
    gate = curator.open_gate("gate", 1 + int(tree.children.max()))
    level, depth = cuts.open([0]), 0
    while level:
        children = []
        for partition, numbering, exact in expand(cuts, engine, curator, level):
            number = numbering.leaf_sets + numbering.other_sets
            passed = curator.pass_gate("gate", gate, exact.map(numbering.all), number, depth)
            masks = np.sort(numbering.mask(passed + 1))
            children += [(partition, mask) for mask in masks.tolist()]
        level = keep(cuts, engine, level, children[: most - len(cuts.cuts)])
        depth += 1
    return cuts


def expand(
    cuts: GrowingCuts, engine: ItemEngine, curator: Curator, level: list[int]
) -> Iterator[tuple[int, Numbering, Sealed[tuple[Ints, Ints]]]]:
    """Procedure 1, lines 2 to 4: the partitions of a level, and who is in what sub-partition."""
    cuts.choose(curator, level)
    masks = engine.expand(cuts.expansion(level))
    for place, partition in enumerate(level):
        exact = masks.map(lambda found, place=place: found.of(place))  # type: ignore[misc]
        yield partition, cuts.numbering(partition), exact


def keep(
    cuts: GrowingCuts, engine: ItemEngine, level: list[int], children: list[tuple[int, int]]
) -> list[int]:
    """Makes partitions of sub-partitions, and returns those that can be expanded."""
    first = len(cuts.cuts)
    place_of = {partition: place for place, partition in enumerate(level)}
    places = np.asarray([place_of[partition] for partition, _ in children], dtype=np.int64)
    masks = np.asarray([mask for _, mask in children], dtype=np.int64)
    engine.keep(places, masks, first)
    return cuts.open([cuts.add(partition, mask) for partition, mask in children])


@dataclass(frozen=True)
class Numbering:
    """The sub-partitions of one expansion: those whose cut has items alone, then all others.

    A mask has one bit for each child of the expanded node. Bits of children that are items come
    first here, so that both sorts are stretches of whole numbers: 1 to leaf_sets are leaves, and
    leaf_sets + 1 to 2^children - 1 are not.

    Args:
        bits: The place in the mask of each bit of a number.
        leaf_bits: How many of the bits are items, or 0 if the cut has another inner node.

    Example:
        >>> mixed = Numbering(np.array([1, 0, 2]), 1)
        >>> mixed.leaf_sets, mixed.other_sets
        (1, 6)
        >>> mixed.number(np.array([0b010, 0b011])).tolist()
        [1, 3]
        >>> mixed.mask(np.array([1, 3])).tolist()
        [2, 3]
    """

    bits: Ints
    leaf_bits: int

    @property
    def leaf_sets(self) -> int:
        """How many sub-partitions are leaves."""
        return (1 << self.leaf_bits) - 1

    @property
    def other_sets(self) -> int:
        """How many are not."""
        return (1 << len(self.bits)) - 1 - self.leaf_sets

    def number(self, mask: Ints) -> Ints:
        """The numbers of masks."""
        found = np.zeros_like(mask)
        for place, bit in enumerate(self.bits.tolist()):
            found |= (mask >> bit & 1) << place
        return found

    def mask(self, number: Ints) -> Ints:
        """The masks of numbers."""
        found = np.zeros_like(number)
        for place, bit in enumerate(self.bits.tolist()):
            found |= (number >> place & 1) << bit
        return found

    def leaves(self, found: tuple[Ints, Ints]) -> tuple[Ints, Ints]:
        """Those of some masks and counts that are leaves, numbered from 0."""
        return self._sort_of(found, 1, self.leaf_sets)

    def others(self, found: tuple[Ints, Ints]) -> tuple[Ints, Ints]:
        """Those that are not, numbered from 0."""
        return self._sort_of(found, self.leaf_sets + 1, self.leaf_sets + self.other_sets)

    def all(self, found: tuple[Ints, Ints]) -> tuple[Ints, Ints]:
        """All of them, numbered from 0."""
        return self._sort_of(found, 1, self.leaf_sets + self.other_sets)

    def _sort_of(self, found: tuple[Ints, Ints], first: int, last: int) -> tuple[Ints, Ints]:
        mask, count = found
        number = self.number(mask)
        here = (number >= first) & (number <= last)
        order = np.argsort(number[here])
        return number[here][order] - first, count[here][order]


class GrowingCuts:
    """A tree of partitions, level by level; a level's partitions stand together.

    Args:
        tree: The universe's tree.
    """

    def __init__(self, tree: ItemTree) -> None:
        self.tree = tree
        self.cuts: list[tuple[int, ...]] = [(0,)]
        self.parent: list[int] = [-1]
        self.split: list[int] = [-1]

    def open(self, partitions: Sequence[int]) -> list[int]:
        """Those of some partitions whose cut can be expanded."""
        children = self.tree.children
        return [p for p in partitions if any(children[node] for node in self.cuts[p])]

    def inner_nodes(self, partition: int) -> int:
        """How many expansions lie ahead of a partition, at most."""
        return int(self.tree.inner[list(self.cuts[partition])].sum())

    def height(self, partition: int) -> int:
        """The largest height in a partition's cut."""
        return int(self.tree.height[list(self.cuts[partition])].max())

    def choose(self, curator: Curator, partitions: Sequence[int]) -> None:
        """Chooses the node to expand: one of the largest height, by a coin among equals."""
        height = self.tree.height
        highest = []
        for partition in partitions:
            cut = self.cuts[partition]
            most = max(height[node] for node in cut)
            highest.append([node for node in cut if height[node] == most])
        drawn = curator.coin(np.asarray([len(nodes) for nodes in highest], dtype=np.int64))
        for partition, nodes, which in zip(partitions, highest, drawn.tolist(), strict=True):
            self.split[partition] = nodes[which]

    def expansion(self, partitions: Sequence[int]) -> Expansion:
        """What the engine is to tell apart."""
        tree = self.tree
        edges = []
        for partition in partitions:
            kids = tree.kids(self.split[partition])
            edges.append(np.append(tree.lo[kids], tree.hi[kids[-1]]))
        start = np.concatenate([[0], np.cumsum([len(each) for each in edges])])
        return Expansion(np.asarray(partitions, np.int64), start, np.concatenate(edges))

    def numbering(self, partition: int) -> Numbering:
        """How the sub-partitions of a partition are numbered."""
        node = self.split[partition]
        children = self.tree.children
        is_item = children[self.tree.kids(node)] == 0
        alone = not any(children[other] for other in self.cuts[partition] if other != node)
        items, groups = np.flatnonzero(is_item), np.flatnonzero(~is_item)
        if not alone:
            return Numbering(np.arange(len(is_item)), 0)
        return Numbering(np.concatenate([items, groups]), len(items))

    def add(self, partition: int, mask: int) -> int:
        """Adds a sub-partition and returns its number."""
        node = self.split[partition]
        kids = [kid for bit, kid in enumerate(self.tree.kids(node).tolist()) if mask >> bit & 1]
        kept = [other for other in self.cuts[partition] if other != node]
        self.cuts.append(tuple(sorted(kept + kids)))
        self.parent.append(partition)
        self.split.append(-1)
        return len(self.cuts) - 1

    def partition(self) -> CutTree:
        """The tree as a release holds it."""
        lengths = [len(cut) for cut in self.cuts]
        return CutTree(
            parent=np.asarray(self.parent, np.int64),
            split=np.asarray(self.split, np.int64),
            cut_start=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
            cut=np.asarray([node for cut in self.cuts for node in cut], np.int64),
        )
