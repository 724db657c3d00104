"""Models of published transactions: what can be asked of each, and that of hierarchy cuts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from hedgerow.arrays import Bools, Floats, Ints
from hedgerow.errors import ReleaseError
from hedgerow.estimate.itemsets.cells import draw_cells, gather
from hedgerow.estimate.itemsets.supports import Supports
from hedgerow.estimate.noise import LATTICE, factor, half_width
from hedgerow.measured.itemsets import CoreCells, CutTree, Itemsets
from hedgerow.measured.measurements import Measurement
from hedgerow.schema import Items
from hedgerow.schema.item_tree import ItemTree
from hedgerow.schema.items import WEIGHT

# Answers from partitions by hierarchy cuts.
#
# A record of a partition has an item under every node of its cut and none elsewhere. So a set is
# surely in all records of a partition whose cut holds its items themselves, surely in none if an
# item lies under no node of the cut, and possibly in some of the others: there its items are taken
# to come independently, by their supports, given that each node of the cut has at least one.
#
# The interval of a count does not need that: the truth is at least the count of the partitions
# where the set is sure, and at most that of those where it is possible.


_LEAST, _MOST = 1e-9, 1 - 1e-6


@dataclass(frozen=True, eq=False, kw_only=True)
class CutModel:
    """What the partitions of hierarchy cuts tell.

    Args:
        items: The public universe.
        partition: The partitions.
        leaf: Their noisy counts: of all, each without its sub-partitions, or only of those leaves
            that reached a threshold.
        supports: What was measured of single items, if anything.
    """

    items: Items
    partition: CutTree
    leaf: Measurement
    supports: Supports | None

    @cached_property
    def tree(self) -> ItemTree:
        """The tree over the universe."""
        return ItemTree.of(self.items)

    @cached_property
    def complete(self) -> bool:
        """Whether every partition was counted, so that no record is missing."""
        return len(self.leaf.where) == self.partition.cells

    @cached_property
    def most(self) -> int:
        """The most items that a record can have."""
        return self.items.most

    @cached_property
    def possible(self) -> Bools:
        """Which partitions can hold a record, by public rules."""
        return np.asarray(np.diff(self.partition.cut_start) <= self.most)

    @cached_property
    def counts(self) -> Floats:
        """The noisy count of each partition, 0 where none is known or possible."""
        counts = np.zeros(self.partition.cells)
        counts[self.leaf.where] = self.leaf.values[:, 0]
        return np.where(self.possible, counts, 0.0)

    @cached_property
    def tails(self) -> Floats:
        """The variance of the noise on each count, by its tails."""
        tails = np.zeros(self.partition.cells)
        tails[self.leaf.where] = 2 / (self.leaf.units * float(self.leaf.unit)) ** 2
        return np.where(self.possible, tails, 0.0)

    @cached_property
    def hold(self) -> Floats:
        """The probability that a record holds each item."""
        size = self.items.size
        if self.supports is None:
            return np.full(size, min(0.5, 1 / size))
        total = float(self.supports.size.values.sum())
        hold = np.maximum(self.supports.estimate, 0.5) / max(total, 1.0)
        return np.asarray(np.clip(hold, _LEAST, 0.5))

    @cached_property
    def steps(self) -> Floats:
        """Minus the log of the probability to hold none of the items before each code."""
        return np.concatenate(([0.0], np.cumsum(-np.log1p(-self.hold))))

    @cached_property
    def some(self) -> Floats:
        """For each node of the tree the probability to hold at least one item under it."""
        return np.asarray(-np.expm1(-(self.steps[self.tree.hi] - self.steps[self.tree.lo])))

    def _cover(self, code: int) -> Ints:
        """For each partition the node of its cut that an item lies under, -1 if there is none."""
        if code not in self._covers:
            cut, tree = self.partition.cut, self.tree
            entries = np.flatnonzero((tree.lo[cut] <= code) & (code < tree.hi[cut]))
            cover = np.full(self.partition.cells, -1, np.int64)
            cover[self.partition.owner[entries]] = cut[entries]
            if len(self._covers) > 256:
                self._covers.clear()
            self._covers[code] = cover
        return self._covers[code]

    @cached_property
    def _covers(self) -> dict[int, Ints]:
        return {}

    def _touches(self, code: int) -> tuple[Bools, Bools, Floats]:
        """Where anything of a group is possible, where it is sure, and how likely elsewhere."""
        span = self._members(code)
        low, high = int(span[0]), int(span[-1]) + 1
        cut, tree, owner = self.partition.cut, self.tree, self.partition.owner
        first, last = tree.lo[cut], tree.hi[cut]
        within, around = (low <= first) & (last <= high), (first < low) | (high < last)
        meets = (first < high) & (low < last) & around
        possible, sure = np.zeros((2, self.partition.cells), np.bool_)
        sure[owner[within]] = True
        possible[owner[within | meets]] = True
        some = -np.expm1(-(self.steps[high] - self.steps[low]))
        share = np.ones(self.partition.cells)
        share[owner[meets]] = np.minimum(some / self.some[cut[meets]], 1.0)
        share[sure] = 1.0
        return possible, sure, share

    def _weights(self, one: Ints) -> tuple[Ints, Floats, Bools]:
        """The partitions that may hold a set, the share of each that does, and where it is sure."""
        groups = [self._touches(code) for code in one.tolist() if code >= self.items.size]
        one = one[one < self.items.size]
        covers = [self._cover(code) for code in one.tolist()]
        inside = self.possible.copy()
        for cover in covers:
            inside &= cover >= 0
        for possible, _, _ in groups:
            inside &= possible
        where = np.flatnonzero(inside)
        share, sure = np.ones(len(where)), np.ones(len(where), np.bool_)
        for _, certain, likely in groups:
            share *= likely[where]
            sure &= certain[where]
        for place, cover in enumerate(covers):
            node = cover[where]
            fresh = np.ones(len(where), np.bool_)
            for earlier in covers[:place]:
                fresh &= earlier[where] != node
            given = np.where(fresh, self.some[node], 1.0)
            item = self.tree.children[node] == 0
            share *= np.where(item, 1.0, np.minimum(self.hold[one[place]] / given, 1.0))
            sure &= item
        return where, share, sure

    def estimates(self, sets: Sequence[Ints]) -> Floats:
        """The estimated number of records that hold all items of each set."""
        found = np.zeros(len(sets))
        for place, one in enumerate(sets):
            if self._never(one):
                continue
            if len(one) == 1 and self.supports is not None and one[0] < self.items.size:
                found[place] = self.supports.estimate[one[0]]
                continue
            where, share, _ = self._weights(one)
            found[place] = self.counts[where] @ share
        return found

    def counted(self, one: Ints) -> bool:
        """See `ItemsetModel.counted`: sets that no partition leaves open, single items in full."""
        if len(one) == 1 and self.supports is not None and one[0] < self.items.size:
            return self.supports.full
        return self._never(one) or (self.complete and bool(self._weights(one)[2].all()))

    def _never(self, one: Ints) -> bool:
        dummy, items = self.items.dummy, one[one < self.items.size]
        return len(items) > self.most or (len(items) > 1 and dummy is not None and dummy in items)

    def bounds(self, sets: Sequence[Ints], level: float) -> tuple[Floats, Floats]:
        """Intervals that hold the true counts at a level, each by itself.

        Where leaves are missing there is no upper bound, and listed counts were listed for being
        high: no noise of any of the 2^items leaves reaches further than the bound used, by the
        union bound. Otherwise supports, where they were measured, take half of the error and the
        partitions the other half.
        """
        low, high = np.zeros(len(sets)), np.zeros(len(sets))
        for place, one in enumerate(sets):
            if self._never(one):
                continue
            where, _, sure = self._weights(one)
            if not self.complete:
                counted = where[self.tails[where] > 0]
                low[place], high[place] = self._listed(counted, 1 - level), math.inf
                continue
            shared = self.supports is not None and len(one) > 0
            at = (1 + level) / 2 if shared else level
            spread = np.array([self.tails[where[sure]].sum(), self.tails[where].sum()])
            width = np.where(spread > 0, half_width(np.sqrt(spread), at), 0.0)
            low[place] = self.counts[where[sure]].sum() - width[0]
            high[place] = self.counts[where].sum() + width[1]
            if shared:
                high[place] = max(min(high[place], self._most(one, at)), low[place])
        return low, high

    def _listed(self, counted: Ints, error: float) -> float:
        rate = np.sqrt(2 / self.tails[counted])
        reach = (self.items.size * math.log(2) - math.log(error)) / rate + 1
        return float(np.maximum(self.counts[counted] - reach, 0.0).sum())

    def _most(self, one: Ints, level: float) -> float:
        """The least of the upper bounds that supports give; half of the error is for sizes."""
        assert self.supports is not None
        value, deviation = self.supports.sums([self._members(code) for code in one.tolist()])
        parts = 1 << (len(one) - 1).bit_length()  # few levels, which are slow to work out
        sides = factor(max(1 - (1 - level) / parts, 1e-9))
        most = self.supports.most_records((1 - level) / 2)
        return float(most(value + sides * deviation + LATTICE).min())

    def _members(self, code: int) -> Ints:
        """The items that a code stands for: itself, or those of a group."""
        if code < self.items.size:
            return np.array([code])
        return np.arange(*self.items.taxonomy.spans[code - self.items.size])

    def standard_errors(self, sets: Sequence[Ints], estimates: Floats) -> Floats:
        """See `ItemsetModel.standard_errors`."""
        found = np.zeros(len(sets))
        for place, one in enumerate(sets):
            if self._never(one):
                continue
            if len(one) == 1 and self.supports is not None and one[0] < self.items.size:
                found[place] = self.supports.standard_error
                continue
            where, share, _ = self._weights(one)
            found[place] = np.sqrt(self.tails[where] @ share**2)
        return found

    def draw(self, n: int | None, random: np.random.Generator) -> tuple[Ints, Ints]:
        """Simulated records: where each begins, and the codes of their items, increasing."""
        cell = draw_cells(not_negative(self.counts, self.tails > 0), n, random)
        number = np.diff(self.partition.cut_start)[cell]
        record = np.repeat(np.arange(len(cell)), number)
        first = np.repeat(self.partition.cut_start[cell] - np.cumsum(number) + number, number)
        node = self.partition.cut[first + np.arange(len(record))]
        lo, hi = self.tree.lo[node], self.tree.hi[node]
        records: list[Ints] = []
        codes: list[Ints] = []
        # the first item under a node is drawn given that there is one, all others as they come
        some = -np.log1p(-random.random(len(record)) * self.some[node])
        while len(record):
            code = np.searchsorted(self.steps, self.steps[lo] + some, side="left") - 1
            code = np.maximum(code, lo)
            if not codes:
                code = np.minimum(code, hi - 1)
            here = code < hi
            record, lo, hi = record[here], code[here] + 1, hi[here]
            records.append(record)
            codes.append(code[here])
            here = lo < hi
            record, lo, hi = record[here], lo[here], hi[here]
            some = random.exponential(size=len(record))
        none = np.zeros(0, np.int64)
        return gather(
            np.concatenate([none, *records]), np.concatenate([none, *codes]), len(cell), random
        )


def not_negative(counts: Floats, counted: Bools) -> Floats:
    """The nearest counts that are not negative and sum to the same, if that is not negative.

    Example:
        >>> not_negative(np.array([5.0, -1.0, 2.0]), np.array([True, True, True])).tolist()
        [4.5, 0.0, 1.5]
    """
    values = counts[counted]
    total = max(float(values.sum()), 0.0)
    found = np.zeros(len(counts))
    if total > 0:
        down = np.sort(values)[::-1]
        excess = (np.cumsum(down) - total) / np.arange(1, len(down) + 1)
        found[counted] = np.maximum(values - excess[np.count_nonzero(down > excess) - 1], 0.0)
    return found


# What can be asked of published transactions, whatever their regions: one small protocol.


class ItemsetModel(Protocol):
    """Estimates, bounds and draws.

    A set is an increasing array of item codes. A code that is not below the number of items stands
    for a group: for anything below a node of the taxonomy, whose number it exceeds that by.
    """

    def estimates(self, sets: Sequence[Ints]) -> Floats:
        """The estimated number of records that hold all items of each set."""

    def counted(self, one: Ints) -> bool:
        """Whether just this set was counted, so that noise is all that the estimate is off by."""

    def bounds(self, sets: Sequence[Ints], level: float) -> tuple[Floats, Floats]:
        """Intervals that hold the true counts at a level, each by itself."""

    def standard_errors(self, sets: Sequence[Ints], estimates: Floats) -> Floats:
        """The standard errors of estimates, as the noise of what was measured has it."""

    def draw(self, n: int | None, random: np.random.Generator) -> tuple[Ints, Ints]:
        """Simulated records: where each begins, and the codes of their items, increasing."""


def model_of(
    items: Items, partition: Itemsets, measurements: Sequence[Measurement]
) -> ItemsetModel:
    """The model for some regions.

    Raises:
        ReleaseError: If they were not counted as they should be.
    """
    from hedgerow.estimate.itemsets.cells import CoreModel

    named = {measurement.name: measurement for measurement in measurements}
    support, size = named.get("support"), named.get("size")
    for found, places in ((support, np.arange(items.size)), (size, None)):
        if found is not None and not _fits(found, places):
            raise _lacking(f"its measurement {found.name!r} is not as it should be")
        weighed = found is support
        if found is not None and not weighed and found.law != "laplace":
            raise _lacking(f"its measurement {found.name!r} has another noise than it should have")
        if found is not None and weighed and found.max_contribution % _weights(found):
            raise _lacking(f"the weights of its measurement {found.name!r} are unknown")
    supports = None
    if support is not None and size is not None:
        supports = Supports(items=items, support=support, size=size)
    if isinstance(partition, CoreCells):
        cell = named.get("cell")
        if cell is None or not _fits(cell, np.arange(partition.cells)):
            raise _lacking("a cell was not counted")
        if supports is None and len(partition.core) < items.size:
            raise _lacking("the items beyond its core were not counted")
        return CoreModel(items=items, partition=partition, cell=cell, supports=supports, size=size)
    leaf = named.get("leaf")
    if leaf is None or leaf.values.shape[1] != 1:
        raise _lacking("no partition was counted")
    return CutModel(items=items, partition=partition, leaf=leaf, supports=supports)


def _fits(measurement: Measurement, places: Ints | None) -> bool:
    """Whether it has one number at each of these places, all at one rate."""
    where, units = measurement.where, measurement.units
    alike = measurement.values.shape[1] == 1 and len(units) > 0 and bool((units == units[0]).all())
    if places is None:  # the lower ends of bins
        return alike and bool(where[0] >= 0) and bool((np.diff(where) > 0).all())
    return alike and np.array_equal(where, places)


def _weights(measurement: Measurement) -> int:
    """What a record of one item adds: to the sum of weights, or to that of their squares."""
    return WEIGHT**2 if measurement.law == "gaussian" else WEIGHT


def _lacking(what: str) -> ReleaseError:
    return ReleaseError(
        f"this release cannot be read as transactions: {what}",
        hint="Ask whoever published the release for a fresh copy.",
    )
