"""Itemset counts on raw transactions, to hold a release against them. NOT PRIVATE.

Nothing computed here may leave with a release.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.arrays import Floats, Ints, Words
from hedgerow.compiled import kernel
from hedgerow.data import Transactions

__all__ = [
    "NOT_PRIVATE",
    "exact_supports",
    "random_itemsets",
    "relative_errors",
    "top_itemsets",
    "top_utility",
]

NOT_PRIVATE = "NOT PRIVATE: computed from raw transactions"

Bits = Words
Itemset = tuple[int, ...]


def random_itemsets(items: int, longest: int, number: int, seed: int) -> list[Itemset]:
    """Random counting queries as in the DiffPart paper.

    The length of each is uniform from 1 to `longest`, and its items are a uniform subset.

    Example:
        >>> [len(itemset) <= 3 for itemset in random_itemsets(17, 3, 4, seed=1)]
        [True, True, True, True]
    """
    source = np.random.default_rng(seed)
    lengths = source.integers(1, min(longest, items) + 1, number)
    return [
        tuple(np.sort(source.choice(items, length, replace=False)).tolist()) for length in lengths
    ]


def exact_supports(transactions: Transactions, itemsets: Sequence[Itemset]) -> Ints:
    """How many records hold all items of each itemset.

    Args:
        transactions: The raw transactions.
        itemsets: Item codes.
    """
    index = _Index(transactions)
    return np.asarray([index.support(itemset) for itemset in itemsets], dtype=np.int64)


def top_itemsets(transactions: Transactions, number: int) -> list[tuple[Itemset, int]]:
    """The itemsets with the largest supports, ties in canonical order.

    Levelwise: an itemset can only be among them if all its parts are.
    """
    index = _Index(transactions)
    found: list[tuple[int, Itemset]] = []
    order = np.argsort(-index.supports, kind="stable")
    # with all that tie with the last of them: a set of such items may come before a single one
    worst = index.supports[order[min(number, len(order)) - 1]]
    order = order[index.supports[order] >= max(1, worst)].tolist()
    level: list[tuple[Itemset, Bits]] = [((code,), index.bits(code)) for code in order]
    found += [(int(index.supports[code]), (code,)) for code in order]
    while level:
        found = sorted(found, key=lambda entry: (-entry[0], entry[1]))[:number]
        least = found[-1][0] if len(found) == number else 1
        further = []
        for itemset, held in level:
            for code in order[order.index(itemset[-1]) + 1 :]:
                if index.supports[code] < least:
                    break
                both = held & index.bits(code)
                support = _ones(both)
                if support >= max(1, least):
                    further.append(((*itemset, code), both))
                    found.append((support, tuple(sorted((*itemset, code)))))
        level = further
    return [(itemset, support) for support, itemset in found if support > 0]


def relative_errors(exact: Ints, estimated: NDArray[Any], records: int) -> Floats:
    """The error of each answer relative to the truth, or to 0.1% of all records if that is more.

    Example:
        >>> relative_errors(np.array([100, 0]), np.array([90.0, 2.0]), 1000).tolist()
        [0.1, 2.0]
    """
    return np.abs(estimated - exact) / np.maximum(exact, 0.001 * records)


def top_utility(
    exact: Sequence[tuple[Itemset, int]], released: Sequence[tuple[Itemset, float]]
) -> float:
    """The DiffPart paper's utility of the top itemsets: 1 if they and their supports are the same.

    Example:
        >>> round(top_utility([((0,), 100), ((1,), 50)], [((0,), 90.0), ((2,), 60.0)]), 2)
        0.45
    """
    known = dict(released)
    lost = [abs(support - known.get(itemset, 0)) / support for itemset, support in exact]
    return float(1 - np.mean(lost)) if lost else 1.0


class _Index:
    """For each item, the records that hold it as bits; made when first asked for."""

    def __init__(self, transactions: Transactions) -> None:
        records = len(transactions.start) - 1
        size = transactions.schema.transaction_items.size
        self.supports = np.bincount(transactions.codes, minlength=size)
        self._records = records
        self._words = -(-records // 64)
        order = np.argsort(transactions.codes, kind="stable")
        owner = np.repeat(np.arange(records), np.diff(transactions.start))
        self._held = owner[order]
        self._first = np.concatenate([[0], np.cumsum(self.supports)])
        self._known: dict[int, Bits] = {}

    def bits(self, code: int) -> Bits:
        found = self._known.get(code)
        if found is None:
            found = np.zeros(self._words, dtype=np.uint64)
            _set(self._held[self._first[code] : self._first[code + 1]], found)
            self._known[code] = found
        return found

    def support(self, itemset: Itemset) -> int:
        if not itemset:
            return self._records
        rarest, *others = sorted(itemset, key=lambda code: int(self.supports[code]))
        if not self.supports[rarest]:
            return 0
        held = self.bits(rarest)
        for code in others:
            held = held & self.bits(code)
            if not held.any():
                return 0
        return _ones(held)


def _ones(bits: Bits) -> int:
    return int(np.bitwise_count(bits).sum())


@kernel()
def _set(records: Ints, bits: Bits) -> None:
    for record in records:
        bits[record >> 6] |= np.uint64(1) << np.uint64(record & 63)
