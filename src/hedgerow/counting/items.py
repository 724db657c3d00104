"""Counting of transactions: what a publisher may ask, under seal, and how parts of them answer.

Records lie in one part (in memory), in chunks (of a scratch file) or in partitions (on a cluster).
Every part answers by itself, and the answers are added up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from operator import methodcaller
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.arrays import Ints, number_rows
from hedgerow.compiled import kernel
from hedgerow.counting.parts import Part, Parted, sum_counts
from hedgerow.counting.sealed import Sealed
from hedgerow.data import Transactions
from hedgerow.schema.items import WEIGHT

Question = Callable[[Ints, NDArray[Any], Ints], None]
"""Adds what records contribute: where each begins, the items of all of them, the sums."""


@dataclass(frozen=True)
class Expansion:
    """How partitions are expanded: which stretches of items are told apart; public.

    Args:
        partitions: The partitions that are expanded.
        edge_start: [partitions + 1], into `edges`.
        edges: For each partition, the increasing ends of the stretches: stretch b holds the codes
            from edge b up to, not including, edge b + 1, so there is one edge more than there
            are stretches.
    """

    partitions: Ints
    edge_start: Ints
    edges: Ints


class Masks(NamedTuple):
    """The sub-partitions that hold records, by partition; travels sealed.

    Args:
        start: [partitions + 1], into the others.
        mask: Which stretches the records of a sub-partition have items in, as bits; increasing
            within a partition.
        counts: How many records these are.
    """

    start: Ints
    mask: Ints
    counts: Ints

    def of(self, place: int) -> tuple[Ints, Ints]:
        """Masks and counts of the partition at a place."""
        part = slice(self.start[place], self.start[place + 1])
        return self.mask[part], self.counts[part]


class ItemEngine(Parted):
    """Exact counts of transactions at any size. Every engine gives the same integers.

    Partitions are numbered by the publisher; partition 0 holds all records.

    Args:
        items: How many items there are.
    """

    def __init__(self, items: int) -> None:
        self.items = items
        self._held = np.zeros(1, dtype=np.int64)  # records that lie in each partition now
        self._expanded = np.zeros(0, dtype=np.int64)  # of the latest expansion

    def sizes(self, edges: Ints) -> Sealed[Ints]:
        """The number of records by their number of items: bin j holds edges[j] to edges[j + 1].

        Args:
            edges: The lower ends of the bins. A record with fewer items lies in none.
        """
        return self._sum(len(edges), partial(_add_sizes, edges))

    def supports(self, cap: int, group: Ints, groups: int) -> Sealed[Ints]:
        """Weighted supports of the items, summed over public groups of them.

        A record counts for each of its items, in units of 1 / WEIGHT: with WEIGHT if it has at
        most `cap` items, else with floor(WEIGHT * cap / its number of items). So it adds at most
        WEIGHT * cap to all sums together. Items in no group count for nothing, as if no record had
        them.

        Args:
            cap: How many items count in full.
            group: The group of each item, -1 for none.
            groups: How many groups there are.
        """
        return self._sum(groups, partial(count_supports, cap, group))

    def cells(self, core: Ints, rest: Ints) -> Sealed[Ints]:
        """The number of records in each cell of a core (see `release.itemsets.CoreCells`)."""
        bit = np.full(self.items, -1, dtype=np.int64)
        bit[core] = np.arange(len(core))
        return self._sum(len(rest) << len(core), partial(count_cells, bit, rest))

    def _sum(self, size: int, question: Question) -> Sealed[Ints]:
        """So many sums over all records."""
        ask = methodcaller("sum", size, question)
        return Sealed(self._ask(ask, sum_counts, np.zeros(size, np.int64)))

    def expand(self, expansion: Expansion) -> Sealed[Masks]:
        """The sub-partitions that records of some partitions fall into."""
        self._expanded = expansion.partitions
        none = Masks(np.zeros(len(expansion.partitions) + 1, np.int64), *np.zeros((2, 0), np.int64))
        return Sealed(self._change(methodcaller("expand", expansion), sum_masks, none))

    def keep(self, place: Ints, mask: Ints, first_child: int) -> None:
        """Moves the records of some sub-partitions of the latest expansion to new partitions.

        All others stay where they are.

        Args:
            place: The place of the expanded partition in the expansion, not decreasing.
            mask: The sub-partition.
            first_child: The number of the first new partition; the others are numbered on.
        """
        assert first_child == len(self._held)
        change = methodcaller("keep", self._expanded, place, mask)
        moved = self._change(change, sum_counts, np.zeros(len(place), np.int64))
        np.subtract.at(self._held, self._expanded[place], moved)
        self._held = np.concatenate([self._held, moved])

    def counts(self, partitions: Ints) -> Sealed[Ints]:
        """The number of records that lie in each partition now: [partitions, 1]."""
        return Sealed(self._held[partitions][:, None].copy())


class ItemPart(Part):
    """Some of the records, ordered by the partitions of the tree that they lie in.

    Args:
        records: Where each begins in the items of all, where the last one ends, and these items.
    """

    masks: Masks  # what the latest expansion found

    def __init__(self, records: tuple[Ints, NDArray[Any]]) -> None:
        self.records, number = records, len(records[0]) - 1
        self.order: Ints = np.arange(number)
        self.bounds: Ints = np.array([[0], [number]])  # of each partition in the order
        self.answer = np.array([number])

    def sum(self, size: int, question: Question) -> Ints:
        """So many sums over the records."""
        sums = np.zeros(size, dtype=np.int64)
        question(*self.records, sums)
        return sums

    def expand(self, expansion: Expansion) -> Masks:
        """See `ItemEngine.expand`."""
        begin, end = self.bounds[:, expansion.partitions].astype(np.int64)
        self.order, masks = expand_records(*self.records, self.order, begin, end, expansion)
        self.masks = masks
        return masks

    def keep(self, expanded: Ints, place: Ints, mask: Ints) -> Ints:
        """See `ItemEngine.keep`; gives the number of records that moved to each new partition."""
        begin, size = child_bounds(self.bounds[0, expanded], self.masks, place, mask)
        new = np.array([begin, begin + size], self.bounds.dtype)
        self.bounds = np.concatenate([self.bounds, new], axis=1)
        return size


class MemoryItems(ItemEngine):
    """Counts transactions that fit in memory: one part.

    Args:
        transactions: The private transactions; they are read, not changed.
    """

    def __init__(self, transactions: Transactions) -> None:
        assert transactions.schema.items is not None
        super().__init__(transactions.schema.items.size)
        self._part = ItemPart((transactions.start, transactions.codes))
        self._held = self._part.answer


def _add_sizes(edges: Ints, start: Ints, codes: NDArray[Any], sums: Ints) -> None:
    """See `ItemEngine.sizes`."""
    bins = np.searchsorted(edges, np.diff(start), side="right") - 1
    sums += np.bincount(bins[bins >= 0], minlength=len(edges))


def expand_records(
    start: Ints, codes: NDArray[Any], order: Ints, begin: Ints, end: Ints, expansion: Expansion
) -> tuple[Ints, Masks]:
    """The order of records grouped by sub-partition, and the sub-partitions.

    Args:
        start: Where each record begins in `codes`, and where the last one ends.
        codes: The items of all records.
        order: The records grouped by partition.
        begin: Where each expanded partition begins in `order`.
        end: Where it ends.
        expansion: The expansion.
    """
    size = end - begin
    first = np.concatenate([[0], np.cumsum(size)])
    at = np.repeat(begin - first[:-1], size) + np.arange(first[-1])  # places in the order
    mask = np.empty(int(first[-1]), dtype=np.int64)
    mask_records(start, codes, order[at], first, expansion.edge_start, expansion.edges, mask)
    group, masks = _group(np.repeat(np.arange(len(size)), size), mask, len(size))
    order = order.copy()
    # the same places, now grouped by mask inside each partition
    order[at] = order[at[np.argsort(group, kind="stable")]]
    return order, masks


def _group(place: Ints, mask: Ints, partitions: int) -> tuple[Ints, Masks]:
    """What each mask of a partition is among those that are there, and these."""
    _, first, group, counts = np.unique(
        number_rows((place, mask), len(mask)),
        return_index=True, return_inverse=True, return_counts=True,
    )  # fmt: skip
    start = np.concatenate([[0], np.cumsum(np.bincount(place[first], minlength=partitions))])
    return group, Masks(start, mask[first], counts)


def sum_masks(parts: Sequence[Masks]) -> Masks:
    """Adds up the sub-partitions of several chunks.

    Example:
        >>> one = Masks(np.array([0, 1, 3]), np.array([5, 1, 2]), np.array([1, 1, 1]))
        >>> both = sum_masks([one, one])
        >>> both.start.tolist(), both.mask.tolist(), both.counts.tolist()
        ([0, 1, 3], [5, 1, 2], [2, 2, 2])
    """
    partitions = len(parts[0].start) - 1
    place = np.concatenate([np.repeat(np.arange(partitions), np.diff(p.start)) for p in parts])
    mask = np.concatenate([part.mask for part in parts])
    count = np.concatenate([part.counts for part in parts])
    group, masks = _group(place, mask, partitions)
    total = np.zeros(len(masks.mask), np.int64)
    np.add.at(total, group, count)
    return masks._replace(counts=total)


def child_bounds(begin: Ints, masks: Masks, place: Ints, mask: Ints) -> tuple[Ints, Ints]:
    """Where the records of some sub-partitions begin in the order, and how many there are.

    Args:
        begin: Where each expanded partition begins.
        masks: The sub-partitions that hold records.
        place: The place of the expanded partition in the expansion.
        mask: The sub-partition.
    """
    before = np.concatenate([[0], np.cumsum(masks.counts)])
    child_begin = np.zeros(len(place), dtype=np.int64)
    child_size = np.zeros(len(place), dtype=np.int64)
    for child, (parent, wanted) in enumerate(zip(place.tolist(), mask.tolist(), strict=True)):
        low, high = int(masks.start[parent]), int(masks.start[parent + 1])
        group = low + int(np.searchsorted(masks.mask[low:high], wanted))
        if group < high and masks.mask[group] == wanted:
            child_begin[child] = begin[parent] + before[group] - before[low]
            child_size[child] = masks.counts[group]
    return child_begin, child_size


@kernel()
def count_supports(cap: int, group: Ints, start: Ints, codes: NDArray[Any], counts: Ints) -> None:
    """Adds the weight of each record to the groups of its items (see `ItemEngine.supports`)."""
    for record in range(start.size - 1):
        first, last = start[record], start[record + 1]
        size = 0
        for i in range(first, last):
            if group[codes[i]] >= 0:
                size += 1
        weight = WEIGHT
        if size > cap:
            weight = WEIGHT * cap // size  # rounded down: all items add up to the cap
        for i in range(first, last):
            if group[codes[i]] >= 0:
                counts[group[codes[i]]] += weight


@kernel()
def count_cells(bit: Ints, rest: Ints, start: Ints, codes: NDArray[Any], counts: Ints) -> None:
    """Counts records by the core items they hold and the number of their others.

    `bit` has the place of each item in the core, or -1.
    """
    bins = rest.size
    for record in range(start.size - 1):
        mask = np.int64(0)
        others = np.int64(0)
        for i in range(start[record], start[record + 1]):
            b = bit[codes[i]]
            if b >= 0:
                mask |= np.int64(1) << b
            else:
                others += 1
        j = bins - 1
        while others < rest[j]:
            j -= 1
        counts[mask * bins + j] += 1


@kernel()
def mask_records(
    start: Ints, codes: NDArray[Any], records: Ints, first: Ints, edge_start: Ints, edges: Ints,
    out: Ints,
) -> None:  # fmt: skip
    """In which stretches each record has items; records first[p] to first[p + 1] are of place p."""
    for place in range(first.size - 1):
        low, high = edge_start[place], edge_start[place + 1] - 1
        for i in range(first[place], first[place + 1]):
            mask = np.int64(0)
            b = low
            for j in range(start[records[i]], start[records[i] + 1]):  # codes increase
                code = codes[j]
                if code < edges[low]:
                    continue
                if code >= edges[high]:
                    break
                while code >= edges[b + 1]:
                    b += 1
                mask |= np.int64(1) << (b - low)
            out[i] = mask
