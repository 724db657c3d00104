"""Growing a tree of partitions of transactions, level by level: DiffPart's Algorithm 1.

Two ways to decide which sub-partitions are worth while: a gate whose price does not depend on the
depth, and the paper's own thresholds. Neither counts records here but through the curator.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from hedgerow.arrays import Ints
from hedgerow.counting.item_engine import ItemEngine
from hedgerow.counting.sealed import Sealed
from hedgerow.privacy.curator import Curator
from hedgerow.publish.steps.cuts_of_items import GrowingCuts, Numbering
from hedgerow.schema.taxonomies.item_tree import ItemTree

__all__ = ["grow_by_gate", "grow_by_thresholds"]


def grow_by_gate(engine: ItemEngine, tree: ItemTree, curator: Curator, most: int) -> GrowingCuts:
    """Expands whatever passes the gate, up to a number of partitions."""
    cuts = GrowingCuts(tree)
    gate = curator.open_gate("gate", 1 + int(tree.children.max()))
    level, depth = cuts.open([0]), 0
    while level:
        children = []
        for partition, numbering, exact in _expanded(cuts, engine, curator, level):
            number = numbering.leaf_sets + numbering.other_sets
            passed = curator.pass_gate("gate", gate, exact.map(numbering.all), number, depth)
            masks = np.sort(numbering.mask(passed + 1))
            children += [(partition, mask) for mask in masks.tolist()]
        level = _keep(cuts, engine, level, children[: most - len(cuts.cuts)])
        depth += 1
    return cuts


def grow_by_thresholds(
    engine: ItemEngine, tree: ItemTree, curator: Curator, most: int, *, c1: float, c2: float
) -> tuple[GrowingCuts, Ints, Ints]:
    """The paper's Algorithm 1: one half of epsilon guides the growth, the rest is for the leaves.

    Returns:
        The cuts, the account of each partition, and the leaves: partition, noisy count and price.
    """
    ledger = curator.ledger
    budget = ledger.budgets["epsilon"]
    cuts = GrowingCuts(tree)
    account = [0]  # of each partition
    leaves: list[tuple[int, int, int]] = []
    level, depth = cuts.open([0]), 0
    while level:
        # records of leaves and records of other sub-partitions pay for different things
        both = np.repeat(np.asarray([account[p] for p in level], dtype=np.int64), 2)
        opened = ledger.open(both)
        kept: dict[tuple[int, int], tuple[int, int, int]] = {}
        for partition, numbering, exact in _expanded(cuts, engine, curator, level):
            on_leaves, on_others = opened, opened + 1
            opened += 2
            left = int(ledger.left("epsilon", np.asarray([on_leaves], dtype=np.int64))[0])
            if numbering.leaf_sets:
                bar = math.sqrt(2) * c1 / float(left * budget.unit)
                number, values, units = curator.sparse(
                    "leaf", exact.map(numbering.leaves), numbering.leaf_sets, _whole(bar),
                    depth, on_leaves,
                )  # fmt: skip
                for mask, value in zip(numbering.mask(number + 1), values, strict=True):
                    kept[partition, int(mask)] = (on_leaves, int(value), units)
            if numbering.other_sets:
                alpha = (left - budget.units // 2) // cuts.inner_nodes(partition)
                bar = math.sqrt(2) * c2 * cuts.height(partition) / float(alpha * budget.unit)
                number = curator.mark(
                    "test", exact.map(numbering.others), numbering.other_sets, _whole(bar),
                    depth, on_others, alpha,
                )  # fmt: skip
                for mask in numbering.mask(number + numbering.leaf_sets + 1):
                    kept[partition, int(mask)] = (on_others, 0, 0)
        children = sorted(kept)[: most - len(cuts.cuts)]
        account += [kept[child][0] for child in children]
        for place, child in enumerate(children, start=len(cuts.cuts)):
            _, value, units = kept[child]
            if units:
                leaves.append((place, value, units))
        level, depth = _keep(cuts, engine, level, children), depth + 1
    found = np.asarray(leaves, dtype=np.int64).reshape(-1, 3)
    return cuts, np.asarray(account, dtype=np.int64), found


def _whole(bar: float) -> int:
    """A threshold for whole numbers, 1 at least: an empty sub-partition never passes unnoised."""
    return max(1, math.ceil(bar))


def _expanded(
    cuts: GrowingCuts, engine: ItemEngine, curator: Curator, level: list[int]
) -> Iterator[tuple[int, Numbering, Sealed[tuple[Ints, Ints]]]]:
    """Expands the partitions of a level, each with its sub-partitions that hold records."""
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
