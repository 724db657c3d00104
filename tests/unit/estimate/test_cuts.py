"""Answers from hierarchy cuts: against brute force on small trees."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pytest

from hedgerow.estimate.itemsets import CutModel, answer_sets
from hedgerow.estimate.partition import CutTree

# items 0..3 under two groups of two: nodes 0 | 1 2 | 3 4 5 6
TREE = CutTree(
    parent=np.array([-1, 0, 0, 1]),
    split=np.array([0, 1, -1, -1]),
    cut_start=np.array([0, 1, 2, 4, 6]),
    cut=np.array([0, 1, 1, 2, 3, 4]),
)


def tree_model(
    hand: SimpleNamespace, counts: list[int], unit: Fraction = Fraction(100)
) -> CutModel:
    schema = hand.shop(4)
    TREE.check(schema.items)
    return CutModel(
        items=schema.items,
        partition=TREE,
        leaf=hand.counted("leaf", "node", counts, unit=unit),
        supports=None,
    )


def test_sums_are_those_of_independent_items(hand: SimpleNamespace) -> None:
    counts = [7, 11, 13, 17]
    model = tree_model(hand, counts)
    spans = {0: range(4), 1: range(2), 2: range(2, 4), 3: [0], 4: [1]}
    hold = model.hold
    for k in range(1, 5):
        for one in combinations(range(4), k):
            plain = 0.0
            for partition, count in enumerate(counts):
                nodes = TREE.nodes(partition).tolist()
                # every way to have an item under each node of the cut, by its probability
                chance = given = 0.0
                for mask in range(1, 16):
                    held = [i for i in range(4) if mask >> i & 1]
                    if any(not any(i in spans[u] for i in held) for u in nodes):
                        continue
                    if any(not any(i in spans[u] for u in nodes) for i in held):
                        continue
                    weight = np.prod([hold[i] if i in held else 1 - hold[i] for i in range(4)])
                    given += weight
                    chance += weight * set(one).issubset(held)
                plain += count * chance / given
            assert model.estimates([np.array(one)])[0] == pytest.approx(plain)


def test_bounds_are_what_is_sure_and_what_is_possible(hand: SimpleNamespace) -> None:
    model = tree_model(hand, [7, 11, 13, 17])
    found = answer_sets(model, [np.array([0, 1]), np.array([2])], 0.9)
    assert found.low.tolist() == [17, 0] and found.high.tolist() == [48, 20]


def test_a_list_of_leaves_has_no_upper_bound(hand: SimpleNamespace) -> None:
    leaf = hand.counted("leaf", "node", [40], where=[3])
    model = CutModel(items=hand.shop(4).items, partition=TREE, leaf=leaf, supports=None)
    low, high = model.bounds([np.array([0]), np.array([3])], 0.95)
    assert high.tolist() == [np.inf, np.inf] and 0 < low[0] < 40 and low[1] == 0
    assert model.estimates([np.array([0, 1]), np.array([3])]).tolist() == [40, 0]


def test_drawn_records_lie_in_their_partitions(hand: SimpleNamespace) -> None:
    model = tree_model(hand, [0, 0, 3000, 1000])
    start, codes = model.draw(None, np.random.default_rng(1))
    assert len(start) == 4001
    drawn = [tuple(codes[a:b].tolist()) for a, b in zip(start, start[1:], strict=False)]
    exact = [one for one in drawn if one == (0, 1)]
    assert all(set(one) & {0, 1} and set(one) & {2, 3} for one in drawn if one != (0, 1))
    assert len(exact) == 1000
    # the share of records with item 0 among those with an item under its node
    wide = [one for one in drawn if one != (0, 1)]
    share = model.hold[0] / model.some[1]
    found = np.mean([0 in one for one in wide])
    assert abs(found - share) < 5 * np.sqrt(share * (1 - share) / len(wide))


def test_counts_that_are_not_negative(hand: SimpleNamespace) -> None:
    random = np.random.default_rng(2)
    for counts in ([-5, 1, 2, 0], [0, -3, 0, 1]):
        assert len(tree_model(hand, counts).draw(None, random)[0]) == 1
    for counts in ([5, -3, 4, 0], [50, -3, 4, 9]):
        assert len(tree_model(hand, counts).draw(None, random)[0]) == sum(counts) + 1
