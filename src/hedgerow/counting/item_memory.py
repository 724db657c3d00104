"""The in-memory engine for transactions: items in one column, records grouped by partition."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.arrays import Ints
from hedgerow.compiled import kernel
from hedgerow.counting.item_engine import Expansion, Masks
from hedgerow.counting.sealed import Sealed
from hedgerow.data import Transactions
from hedgerow.schema.items import WEIGHT


class MemoryItems:
    """Counts transactions that fit in memory.

    Args:
        transactions: The private transactions; they are read, not changed.
    """

    def __init__(self, transactions: Transactions) -> None:
        assert transactions.schema.items is not None
        self.items = transactions.schema.items.size
        self._start, self._codes = transactions.start, transactions.codes
        records = len(self._start) - 1
        self._order = np.arange(records)
        self._begin = np.zeros(1, dtype=np.int64)
        self._end = np.full(1, records, dtype=np.int64)
        self._held = np.full(1, records, dtype=np.int64)
        self._latest: tuple[Ints, Masks] | None = None

    def sizes(self, edges: Ints) -> Sealed[Ints]:
        """See `ItemEngine.sizes`."""
        counts = np.zeros(len(edges), dtype=np.int64)
        count_sizes(self._start, edges, counts)
        return Sealed(counts)

    def supports(self, cap: int, group: Ints, groups: int) -> Sealed[Ints]:
        """See `ItemEngine.supports`."""
        counts = np.zeros(groups, dtype=np.int64)
        count_supports(self._start, self._codes, cap, group, counts)
        return Sealed(counts)

    def cells(self, core: Ints, rest: Ints) -> Sealed[Ints]:
        """See `ItemEngine.cells`."""
        bit = np.full(self.items, -1, dtype=np.int64)
        bit[core] = np.arange(len(core))
        counts = np.zeros(len(rest) << len(core), dtype=np.int64)
        count_cells(self._start, self._codes, bit, rest, counts)
        return Sealed(counts)

    def expand(self, expansion: Expansion) -> Sealed[Masks]:
        """See `ItemEngine.expand`."""
        begin, end = self._begin[expansion.partitions], self._end[expansion.partitions]
        found = expand_records(self._start, self._codes, self._order, begin, end, expansion)
        self._latest = (begin, found)
        self._expanded = expansion.partitions
        return Sealed(found)

    def keep(self, place: Ints, mask: Ints, first_child: int) -> None:
        """See `ItemEngine.keep`."""
        assert self._latest is not None
        assert first_child == len(self._begin)
        child_begin, child_size = child_bounds(*self._latest, place, mask)
        np.subtract.at(self._held, self._expanded[place], child_size)
        self._begin = np.concatenate([self._begin, child_begin])
        self._end = np.concatenate([self._end, child_begin + child_size])
        self._held = np.concatenate([self._held, child_size])

    def counts(self, partitions: Ints) -> Sealed[Ints]:
        """See `ItemEngine.counts`."""
        return Sealed(self._held[partitions][:, None].copy())


def count_sizes(start: Ints, edges: Ints, counts: Ints) -> None:
    """Adds the number of records by their number of items: see `ItemEngine.sizes`."""
    bins = np.searchsorted(edges, np.diff(start), side="right") - 1
    counts += np.bincount(bins[bins >= 0], minlength=len(edges))


def expand_records(
    start: Ints, codes: NDArray[Any], order: Ints, begin: Ints, end: Ints, expansion: Expansion
) -> Masks:
    """The sub-partitions that records fall into; their order is grouped by sub-partition.

    Args:
        start: Where each record begins in `codes`, and where the last one ends.
        codes: The items of all records.
        order: The records grouped by partition; changed.
        begin: Where each expanded partition begins in `order`.
        end: Where it ends.
        expansion: The expansion.
    """
    size = end - begin
    first = np.concatenate([[0], np.cumsum(size)])
    at = np.repeat(begin - first[:-1], size) + np.arange(first[-1])  # places in the order
    mask = np.empty(int(first[-1]), dtype=np.int64)
    mask_records(start, codes, order[at], first, expansion.edge_start, expansion.edges, mask)
    place = np.repeat(np.arange(len(size)), size)
    sort = np.lexsort((mask, place))
    # the same places, now grouped by mask inside each partition
    order[at] = order[at[sort]]
    mask = mask[sort]
    fresh = np.ones(len(mask), dtype=np.bool_)
    fresh[1:] = (mask[1:] != mask[:-1]) | (place[1:] != place[:-1])
    group = np.flatnonzero(fresh)
    count = np.diff(np.append(group, len(mask)))
    groups = np.concatenate([[0], np.cumsum(np.bincount(place[group], minlength=len(size)))])
    return Masks(groups, mask[group], count)


def sum_masks(parts: list[Masks]) -> Masks:
    """Adds up the sub-partitions of several chunks.

    Example:
        >>> one = Masks(np.array([0, 1, 3]), np.array([5, 1, 2]), np.array([1, 1, 1]))
        >>> both = sum_masks([one, one])
        >>> both.start.tolist(), both.mask.tolist(), both.count.tolist()
        ([0, 1, 3], [5, 1, 2], [2, 2, 2])
    """
    partitions = len(parts[0].start) - 1
    place = np.concatenate([np.repeat(np.arange(partitions), np.diff(p.start)) for p in parts])
    mask = np.concatenate([part.mask for part in parts])
    count = np.concatenate([part.count for part in parts])
    order = np.lexsort((mask, place))
    place, mask, count = place[order], mask[order], count[order]
    fresh = np.ones(len(mask), dtype=np.bool_)
    fresh[1:] = (mask[1:] != mask[:-1]) | (place[1:] != place[:-1])
    first = np.flatnonzero(fresh)
    start = np.concatenate([[0], np.cumsum(np.bincount(place[first], minlength=partitions))])
    summed = np.add.reduceat(count, first) if len(first) else count
    return Masks(start, mask[first], summed)


def child_bounds(begin: Ints, found: Masks, place: Ints, mask: Ints) -> tuple[Ints, Ints]:
    """Where the records of some sub-partitions begin in the order, and how many there are.

    Args:
        begin: Where each expanded partition begins.
        found: The sub-partitions that hold records.
        place: The place of the expanded partition in the expansion.
        mask: The sub-partition.
    """
    before = np.concatenate([[0], np.cumsum(found.count)])
    child_begin = np.zeros(len(place), dtype=np.int64)
    child_size = np.zeros(len(place), dtype=np.int64)
    for child, (parent, wanted) in enumerate(zip(place.tolist(), mask.tolist(), strict=True)):
        low, high = int(found.start[parent]), int(found.start[parent + 1])
        group = low + int(np.searchsorted(found.mask[low:high], wanted))
        if group < high and found.mask[group] == wanted:
            child_begin[child] = begin[parent] + before[group] - before[low]
            child_size[child] = found.count[group]
    return child_begin, child_size


@kernel()
def count_supports(start: Ints, codes: NDArray[Any], cap: int, group: Ints, counts: Ints) -> None:
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
def count_cells(start: Ints, codes: NDArray[Any], bit: Ints, rest: Ints, counts: Ints) -> None:
    """Counts records by the core items they hold and the number of their others."""
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
    start: Ints,
    codes: NDArray[Any],
    records: Ints,
    first: Ints,
    edge_start: Ints,
    edges: Ints,
    out: Ints,
) -> None:
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
