from __future__ import annotations

import itertools

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hedgerow.data import Transactions
from hedgerow.evaluation.measures import exact_supports, random_itemsets, top_itemsets, top_utility
from hedgerow.schema import Schema

ITEMS = 6


def transactions(records: list[list[int]]) -> Transactions:
    schema = Schema.from_dict(
        {"name": "some", "unit": "row", "items": {"universe": {"range": [1, ITEMS]}}}
    )
    start = np.concatenate([[0], np.cumsum([len(r) for r in records])]).astype(np.int64)
    return Transactions(schema, start, np.asarray([c for r in records for c in r], dtype=np.int32))


one = st.lists(st.integers(0, ITEMS - 1), min_size=1, max_size=ITEMS, unique=True).map(sorted)


@settings(max_examples=80, deadline=None)
@given(st.lists(one, max_size=80), st.integers(1, 20))
@example([[1], [0, 2]], 2)  # ties at the end of the list
def test_counts_and_top_itemsets_are_those_of_a_plain_count(data, number):
    every = [
        itemset
        for size in range(1, ITEMS + 1)
        for itemset in itertools.combinations(range(ITEMS), size)
    ]
    plain = {itemset: sum(set(itemset) <= set(r) for r in data) for itemset in every}
    held = transactions(data)
    assert exact_supports(held, [*every, ()]).tolist() == [*plain.values(), len(data)]
    best = sorted((-support, itemset) for itemset, support in plain.items() if support)[:number]
    assert top_itemsets(held, number) == [(itemset, -support) for support, itemset in best]


def test_random_itemsets_have_all_lengths():
    found = random_itemsets(ITEMS, 4, 400, seed=3)
    assert {len(itemset) for itemset in found} == {1, 2, 3, 4}
    assert all(list(itemset) == sorted(set(itemset)) for itemset in found)


def test_utility_is_one_for_the_same_and_nought_for_others():
    exact = [((0,), 10), ((1,), 5)]
    assert top_utility(exact, exact) == 1
    assert top_utility(exact, [((2,), 10.0)]) == 0
