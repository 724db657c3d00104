"""DiffPart's partitions: Algorithm 1 and Procedure 1 of the paper, and the gate of `tree`.

A partition is a hierarchy cut: the records that have an item below every node of the cut, and no
other item. Records are counted nowhere here but through the curator. The paper's queue is worked
off level by level, which changes no partition, so that one pass of the engine serves a level.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from hedgerow.arrays import Ints
from hedgerow.counting.items import Expansion, ItemEngine
from hedgerow.counting.sealed import Sealed
from hedgerow.measured.itemsets import CutTree
from hedgerow.privacy.budget import UnitBudget
from hedgerow.privacy.curator import Curator
from hedgerow.schema.item_tree import ItemTree


def grow_by_thresholds(
    engine: ItemEngine, tree: ItemTree, curator: Curator, most: int, *, c1: float, c2: float
) -> tuple[GrowingCuts, Ints, Ints]:
    """Algorithm 1. One half of epsilon guides the growth; leaves get the rest of their paths.

    Numbers of lines are the paper's, with an S for those of Procedure 1. Empty sub-partitions
    (S11 to S18) are drawn by the curator, with the others and by the same rule.

    Returns:
        The cuts, the account of each partition, and the leaves: partition, noisy count and price.
    """
    ledger = curator.ledger
    unit, half = ledger.budgets["epsilon"].unit, ledger.budgets["epsilon"].units // 2
    cuts = GrowingCuts(tree)  # 3, 4: all records, under the root
    account, leaves = [0], []  # where each partition's records pay
    level, depth = cuts.open([0]), 0  # 5, 6
    while level:  # 7
        kept: dict[tuple[int, int], tuple[int, int, int]] = {}  # account, noisy count, price
        # records of leaves and records of other sub-partitions pay for different things
        both = np.repeat(np.asarray([account[p] for p in level], dtype=np.int64), 2)
        opened = ledger.open(both) + 2 * np.arange(len(level))
        for (partition, numbering, exact), mine in zip(
            _expand(cuts, engine, curator, level), opened.tolist(), strict=True
        ):  # 8, 9, S1 to S4
            left = int(ledger.left("epsilon", np.asarray([mine], dtype=np.int64))[0])
            if numbering.leaf_sets:  # 11: counted once, with the reserved half and what is left
                number, values, price = curator.sparse(
                    "leaf", exact.map(numbering.leaves), numbering.leaf_sets,
                    threshold(c1, left * unit), depth, mine,
                )  # fmt: skip
                for mask, value in zip(numbering.mask(number + 1), values, strict=True):
                    kept[partition, int(mask)] = (mine, int(value), price)  # 12 to 14
            if numbering.other_sets:
                alpha = (left - half) // cuts.inner_nodes(partition)  # S8, S9 of the step before
                number = curator.mark(
                    "test", exact.map(numbering.others), numbering.other_sets,
                    threshold(c2 * cuts.height(partition), alpha * unit), depth, mine + 1, alpha,
                )  # fmt: skip
                for mask in numbering.mask(number + numbering.leaf_sets + 1):
                    kept[partition, int(mask)] = (mine + 1, 0, 0)  # 16, S6 to S10
        children = sorted(kept)[: most - len(cuts.cuts)]
        for place, child in enumerate(children, start=len(cuts.cuts)):
            at, value, price = kept[child]
            account.append(at)
            if price:
                leaves.append((place, value, price))
        level, depth = _keep(cuts, engine, level, children), depth + 1
    counted = np.asarray(leaves, dtype=np.int64).reshape(-1, 3)
    return cuts, np.asarray(account, dtype=np.int64), counted  # 17


def threshold(strictness: float, epsilon: Fraction) -> int:
    """The paper's threshold, √2 C / epsilon, for whole numbers.

    It is 1 at least: an empty sub-partition never passes without noise.

    Example:
        >>> threshold(2.75, Fraction(3, 4))
        6
    """
    return max(1, math.ceil(math.sqrt(2) * strictness / float(epsilon)))


def usefulness_bound(
    tree: ItemTree, budget: UnitBudget, most: int, *, c1: float, c2: float, failure: float = 0.05,
    sets: int = 1,
) -> int:  # fmt: skip
    """Theorem 4.2 in numbers: how far off one set of items is, at most.

    A counting query adds up the published counts of all sets that hold the asked items. Let k of
    them occur in the data or in the release. With probability at least 1 - `failure`, the answer
    is off by at most k times this number, or the tree has reached its largest number of
    partitions, which a release shows. Proof in docs/algorithms/diffpart.md.

    Args:
        tree: The universe's tree.
        budget: Epsilon, and the units that it is cut into.
        most: The largest number of partitions.
        c1: The paper's C1.
        c2: The paper's C2.
        failure: The paper's delta: how often the bound may fail.
        sets: At most how many different sets in the data hold the asked items.

    Example:
        >>> from hedgerow.schema.items import (Items)
        >>> tree = ItemTree.of(Items(tuple("abcdefgh"), fan_out=4))
        >>> budget = UnitBudget("epsilon", Fraction(1, 1000), 1000)
        >>> usefulness_bound(tree, budget, 10_000, c1=2.75, c2=6.75)
        137
    """
    inner, half = int(tree.inner[0]), budget.units // 2
    alpha = half // max(1, inner) * budget.unit  # of a test, at least
    leaf = (budget.units - half) * budget.unit + alpha  # of the count of a leaf, at least
    counted = most << int(tree.children.max())  # leaves, at most
    off = _tail(leaf, failure / 4 / counted)  # either way
    bound = threshold(c1, leaf) - 1 + off
    if inner > 1:  # the last expansion of a path has leaves, which are not tested
        bar = threshold(c2 * int(tree.height[0]), alpha) - 1
        bound = max(bound, bar + _tail(alpha, failure / 2 / (sets * (inner - 1))))
    return bound


def _tail(rate: Fraction, chance: float) -> int:
    """The least whole t for which discrete Laplace noise is above t with at most this chance."""
    # P[noise >= t + 1] = a^(t + 1) / (1 + a), a = exp(-rate)
    log = math.log(chance) + math.log1p(math.exp(-float(rate)))
    return max(0, math.ceil(-log / float(rate)) - 1)


def grow_by_gate(engine: ItemEngine, tree: ItemTree, curator: Curator, most: int) -> GrowingCuts:
    """Expands whatever passes a gate whose price does not depend on the depth."""
    cuts = GrowingCuts(tree)
    gate = curator.open_gate("gate", 1 + int(tree.children.max()))
    level, depth = cuts.open([0]), 0
    while level:
        children = []
        for partition, numbering, exact in _expand(cuts, engine, curator, level):
            number = numbering.leaf_sets + numbering.other_sets
            passed = curator.pass_gate("gate", gate, exact.map(numbering.all), number, depth)
            masks = np.sort(numbering.mask(passed + 1))
            children += [(partition, mask) for mask in masks.tolist()]
        level = _keep(cuts, engine, level, children[: most - len(cuts.cuts)])
        depth += 1
    return cuts


def _expand(
    cuts: GrowingCuts, engine: ItemEngine, curator: Curator, level: list[int]
) -> Iterator[tuple[int, Numbering, Sealed[tuple[Ints, Ints]]]]:
    """Procedure 1, lines 2 to 4: the partitions of a level, and who is in what sub-partition."""
    cuts.choose(curator, level)
    masks = engine.expand(cuts.expansion(level))
    for place, partition in enumerate(level):
        exact = masks.map(lambda found, place=place: found.of(place))  # type: ignore[misc]
        yield partition, cuts.numbering(partition), exact


def _keep(
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
