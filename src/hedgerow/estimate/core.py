"""Answers from the cells of a core: which core items a record holds, and how many others.

**Inside the core** a count is the sum of the cells that hold the items. It is taken twice: from the
noisy cells, unbiased but noisy, and from the cells as the fit sees them (`mixture`), smooth
but perhaps off. How far off the fit is, is measured by what both differ by beyond the noise, on all
itemsets of as many items; that is the weight of the noisy sum.

**Single items** were measured by their supports as well (`supports`). For an item of the
core both are combined by their variances, and the fitted cells are made to agree with the result.

**Beyond the core** only the number of a record's other items is known, by bins, and the support of
each item. There the items of a record are taken to be drawn at random, each by its support
(`Others` in `mixture`).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property

import numpy as np
import pyarrow as pa

from hedgerow.arrays import Bools, Floats, Ints
from hedgerow.errors import UsageError
from hedgerow.estimate.measurements import Measurement
from hedgerow.estimate.mixture import Others, fit_cells
from hedgerow.estimate.noise import half_width
from hedgerow.estimate.partition import CoreCells
from hedgerow.estimate.supports import Supports
from hedgerow.schema import Items

# Simulated transactions: draws that read published numbers alone, and the frames they come in.


MOST_RECORDS = 100_000_000


def draw_cells(weights: Floats, n: int | None, random: np.random.Generator) -> Ints:
    """The cell of each record, in the order of the cells.

    Args:
        weights: How many records each cell should have, none negative.
        n: How many records; without it, as many as the weights sum to, each cell with its own
            number, rounded at random.
        random: Where the draws come from.

    Raises:
        UsageError: If there are none to draw from, or more than fit.
    """
    total = float(weights.sum())
    if n and total <= 0:
        raise UsageError(
            "this release counts no records, so there is nothing to draw from",
            hint="Leave the number of records out to get an empty table.",
        )
    if (total if n is None else n) > MOST_RECORDS:
        raise UsageError(
            f"more than {MOST_RECORDS} records are too many to draw at once",
            hint="Ask for fewer records, several times if need be.",
        )
    if n is not None:
        counts = random.multinomial(n, weights / total) if n else np.zeros(len(weights), np.int64)
    else:
        counts = np.floor(weights).astype(np.int64)
        rest = weights - counts
        short = round(total) - int(counts.sum())
        if short > 0:
            counts += random.multinomial(short, rest / rest.sum())
    return np.repeat(np.arange(len(weights)), counts)


def assemble_records(
    record: Ints, code: Ints, records: int, random: np.random.Generator
) -> tuple[Ints, Ints]:
    """Records in random order from pairs of a record and an item.

    Example:
        >>> random = np.random.default_rng(0)
        >>> start, codes = assemble_records(np.array([0, 0]), np.array([3, 1]), 1, random)
        >>> start.tolist(), codes.tolist()
        ([0, 2], [1, 3])
    """
    place = random.permutation(records)
    most = int(code.max(initial=0)) + 1
    where, codes = np.divmod(np.sort(place[record] * most + code), most)
    start = np.concatenate(([0], np.cumsum(np.bincount(where, minlength=records))))
    return start.astype(np.int64), codes


def rows_table(items: Items, start: Ints, codes: Ints, form: str) -> pa.Table:
    """Transactions as a table.

    Args:
        items: The universe. The item that stands for an empty record is left out again.
        start: Where each record begins in `codes`, and the end of the last.
        codes: The items.
        form: "lists", one row per record with the list of its items, or "long", one row per
            record and item, which has no row for an empty record.

    Raises:
        UsageError: If the form is unknown.

    Example:
        >>> known = Items(("milk", "bread", "tea"))
        >>> rows_table(known, np.array([0, 2, 3]), np.array([0, 2, 1]), "lists").to_pydict()
        {'items': [['milk', 'tea'], ['bread']]}
        >>> rows_table(known, np.array([0, 2, 3]), np.array([0, 2, 1]), "long").to_pydict()
        {'record': [0, 0, 1], 'item': ['milk', 'tea', 'bread']}
    """
    if form not in ("lists", "long"):
        raise UsageError(
            f"transactions have no form called {form!r}", hint="Ask for 'lists' or 'long'."
        )
    if items.dummy is not None:
        kept = codes != items.dummy
        start = np.concatenate(([0], np.cumsum(kept)))[start]
        codes = codes[kept]
    labels = pa.array(items.labels, pa.string()).take(pa.array(codes.astype(np.int64)))
    if form == "lists":
        lists = pa.LargeListArray.from_arrays(pa.array(start.astype(np.int64)), labels)
        return pa.table({items.column or "items": lists})
    record = np.repeat(np.arange(len(start) - 1), np.diff(start))
    return pa.table({items.person or "record": record, items.item or "item": labels})


_RAKES = 4
_BY_CELLS = 0.1  # of the error of a single item, for its ends by cells


# What can be asked of published transactions, whatever their regions.


class ItemsetModel(ABC):
    """Estimates, bounds and draws.

    A set is an increasing array of item codes. A code that is not below the number of items stands
    for a group: for anything below a node of the taxonomy, whose number it exceeds that by.

    Args:
        items: The public universe.
        supports: What was measured of single items, if anything.
    """

    def __init__(self, items: Items, supports: Supports | None) -> None:
        self.items, self.supports = items, supports

    @abstractmethod
    def estimates(self, sets: Sequence[Ints]) -> Floats:
        """The estimated number of records that hold all items of each set."""

    @abstractmethod
    def counted(self, one: Ints) -> bool:
        """Whether just this set was counted, so that noise is all that the estimate is off by."""

    @abstractmethod
    def bounds(self, sets: Sequence[Ints], level: float) -> tuple[Floats, Floats]:
        """Intervals that hold the true counts at a level, each by itself."""

    @abstractmethod
    def error(self, one: Ints, estimate: float) -> float:
        """The standard error of an estimate, as the noise of what was measured has it."""

    @abstractmethod
    def draw(self, n: int | None, random: np.random.Generator) -> tuple[Ints, Ints]:
        """Simulated records: where each begins, and the codes of their items, increasing."""

    def never(self, one: Ints) -> bool:
        """Whether no record can hold these items, by public rules."""
        dummy, items = self.items.dummy, one[one < self.items.size]
        lonely = len(items) > 1 and dummy is not None and dummy in items
        return len(items) > self.items.most or lonely

    def members(self, code: int) -> Ints:
        """The items that a code stands for: itself, or those of a group."""
        if code < self.items.size:
            return np.array([code])
        return np.arange(*self.items.taxonomy.spans[code - self.items.size])


class CoreModel(ItemsetModel):
    """What the cells of a core tell.

    Args:
        items: The public universe.
        partition: The cells.
        cell: Their noisy counts.
        size: The noisy number of records by number of items, if it was measured.
        supports: None if the core is the whole universe.

    Attributes:
        rate: The epsilon of the noise on each cell, or of Laplace noise with the same variance.
        bit: The bit of each item in a mask, -1 beyond the core.
        order: The number of core items of each mask.
        possible: Where a record can lie at all, by public rules, shape [masks, bins].
        raw: The noisy counts, 0 where no record can lie, shape [masks, bins].
        total: The number of records, from cells and sizes together.
        singles: The estimated support of each item, from all that was measured of it.
        shrunk: The counts as the fit sees them, none negative, made to agree with the supports of
            core items, shape [masks, bins].
        table: For each mask the estimated number of records with all of it, and its variance.
    """

    def __init__(
        self, *, items: Items, partition: CoreCells, cell: Measurement, size: Measurement | None,
        supports: Supports | None,
    ) -> None:  # fmt: skip
        super().__init__(items, supports)
        self.partition, self.cell = partition, cell
        self._sums: dict[int, tuple[Floats, ...]] = {}
        self.rate = float(np.sqrt(2 / cell.tail_variance[0]))
        core, low = len(partition.core), partition.rest
        masks = np.arange(1 << core)
        self.bit = np.full(items.size, -1)
        self.bit[partition.core] = np.arange(core)
        self.order = sum((masks >> b & 1 for b in range(core)), np.zeros_like(masks))
        order, beyond = self.order[:, None], items.size - core
        high = np.append(low[1:] - 1, beyond)
        can = (order + low <= items.most) & (low <= beyond) & (order + high >= 1)
        if items.dummy is not None and self.bit[items.dummy] >= 0:
            with_it = masks >> self.bit[items.dummy] & 1 == 1  # an empty record holds nothing else
            can[with_it] &= (order[with_it] == 1) & (low == 0)
        self.possible: Bools = can
        self.raw = np.where(can, cell.values[:, 0].astype(np.float64).reshape(can.shape), 0.0)
        weight = self.rate**2 / max(1, int(np.count_nonzero(can)))
        total, weights = weight * float(self.raw.sum()), weight
        if size is not None and len(size.where):
            weight = float(size.units[0] * size.unit) ** 2 / len(size.where)
            total, weights = total + weight * float(size.values.sum()), weights + weight
        self.total = max(total / weights, 0.0)
        self.shrunk = fit_cells(self.raw, can, self.rate, self.total)
        if supports is not None:
            self._agree_with(supports)
        self.table = self._mix(self.shrunk)

    def _agree_with(self, supports: Supports) -> None:
        """Combines supports and fitted cells by their variances, and rakes the cells."""
        core = self.partition.core
        (table, spread), ones = self._mix(self.shrunk), np.int64(1) << np.arange(len(core))
        estimate, variance = supports.singles
        estimate = np.minimum(estimate, self.total)
        mine, theirs = variance[core], spread[ones]
        both = np.maximum(mine + theirs, 1e-9)
        estimate[core] = (table[ones] * mine + estimate[core] * theirs) / both
        self.singles = np.clip(estimate, 0.0, self.total)
        # the variance of the noise of each item's estimate
        self._noise = np.full(self.items.size, supports.standard_error**2)
        part = mine / both
        self._noise[core] = part**2 * theirs + (1 - part) ** 2 * self._noise[core]
        cells = self.shrunk
        if not cells.any():
            return
        cells = cells * (self.total / cells.sum())
        masks = np.arange(len(cells))
        for _ in range(_RAKES):
            for b, item in enumerate(core.tolist()):
                holds = masks >> b & 1 == 1
                held = float(cells[holds].sum())
                wanted = float(self.singles[item])
                rest = self.total - held
                if held > 0 and rest > 0:
                    ratio = np.where(holds, wanted / held, (self.total - wanted) / rest)
                    cells = cells * ratio[:, None]
        self.shrunk = cells

    @cached_property
    def others(self) -> Others:
        """How the items beyond the core are spread."""
        return Others(self)

    def error(self, one: Ints, estimate: float) -> float:
        """See `ItemsetModel.error`: relative errors of the parts of a set add up."""
        if self.never(one):
            return 0.0
        if self.supports is None:
            return math.sqrt(self._cells_of(one)[1])
        if len(one) == 1:
            return math.sqrt(self._noise[self.members(int(one[0]))].sum())
        mask, codes, groups = self._split(one)
        table, noise = self.table[0][mask], self.table[1][mask]
        if not len(codes) and not groups:
            return math.sqrt(noise)
        parts = [*codes[:, None], *groups]
        known = [(self.singles[part].sum(), self._noise[part].sum()) for part in parts]
        known += [(table, noise)] if mask else []
        return float(estimate * math.sqrt(sum(v / max(value, 1.0) ** 2 for value, v in known)))

    def _mix(self, cells: Floats, bins: slice = slice(None)) -> tuple[Floats, Floats]:
        """For each mask the sum over its supersets, and the variance of its noise.

        Args:
            cells: The fitted count of each cell.
            bins: The bins to sum over.
        """
        noisy, smooth = (superset_sums(some[:, bins].sum(axis=1)) for some in (self.raw, cells))
        number = self.possible[:, bins].sum(axis=1, dtype=np.float64)
        spread = superset_sums(number) * float(self.cell.variance[0])
        order = self.order
        beyond = np.bincount(order, (noisy - smooth) ** 2 - spread) / np.bincount(order)
        bias = np.maximum(beyond, 0.0)[order]
        with np.errstate(invalid="ignore"):
            weight = np.nan_to_num(bias / (bias + spread))
        return smooth + weight * (noisy - smooth), spread

    @cached_property
    def bin_tables(self) -> Floats:
        """The numbers of `table` in each bin of the number of other items, shape [masks, bins]."""
        bins = range(self.raw.shape[1])
        return np.stack([self._mix(self.shrunk, slice(b, b + 1))[0] for b in bins], axis=1)

    def estimates(self, sets: Sequence[Ints]) -> Floats:
        """The estimated number of records that hold all items of each set."""
        counts = np.zeros(len(sets))
        beyond: dict[int, list[int]] = {}
        for place, one in enumerate(sets):
            if self.never(one):
                continue
            if len(one) and one[-1] >= self.items.size:
                counts[place] = self._any_of(one)
                continue
            bits = self.bit[one]
            number = int(np.count_nonzero(bits < 0))
            if len(one) == 1 and self.supports is not None:
                counts[place] = self.singles[one[0]]
            elif number == 0:
                counts[place] = self.table[0][(np.int64(1) << bits).sum()]
            else:
                beyond.setdefault(number, []).append(place)
        for places in beyond.values():
            masks, codes, _ = zip(*(self._split(sets[place]) for place in places), strict=True)
            mean = self.others.together(np.array(codes, np.int64))
            counts[places] = (self.bin_tables[np.array(masks)] * mean).sum(axis=1)
        return counts

    def _split(self, one: Ints) -> tuple[int, Ints, list[Ints]]:
        """The core mask of a set, its other items, and the items of each of its groups."""
        items, groups = one[one < self.items.size], one[one >= self.items.size]
        bits = self.bit[items]
        mask = int((np.int64(1) << bits[bits >= 0]).sum())
        return mask, items[bits < 0], [self.members(code) for code in groups.tolist()]

    def _any_of(self, one: Ints) -> float:
        """The estimated number of records with some items and anything of some groups."""
        mask, codes, groups = self._split(one)
        masks = np.arange(len(self.shrunk))
        cells = np.where((masks & mask == mask)[:, None], self.shrunk, 0.0)
        if self.supports is None:
            for group in groups:
                cells[masks & self._split(group)[0] == 0] = 0.0
            return float(cells.sum())
        chance = np.repeat(self.others.hold(codes).prod(axis=1)[None], len(masks), axis=0)
        for group in groups:
            inside, rest, _ = self._split(group)
            sure = (masks & inside != 0)[:, None]
            chance = chance * np.where(sure, 1.0, self.others.hold_any(rest))
        return float((cells * (chance @ self.others.chance.T)).sum())

    def counted(self, one: Ints) -> bool:
        """See `ItemsetModel.counted`: sets inside the core, and single items in full."""
        if self.supports is None or self.never(one):
            return True
        _, codes, groups = self._split(one)
        return not groups and (self.supports.full if len(one) == 1 else not len(codes))

    def bounds(self, sets: Sequence[Ints], level: float) -> tuple[Floats, Floats]:
        """Intervals that hold the true counts at a level, each by itself.

        Inside the core, the sum of noisy cells has a known law. Single items and groups have
        guaranteed ends from their weighted supports (`supports`); an item of the core has
        both. Any other set is in no more records than the part of it that was counted and than each
        of its items. Noise of supports decided what is in the core, so that ends from supports and
        ends from cells each have a part of the error that is the same inside and outside of it.
        """
        low, high = np.zeros(len(sets)), np.zeros(len(sets))
        alone = np.array([self.supports is not None and len(one) == 1 for one in sets], np.bool_)
        by_cells = 1 - _BY_CELLS * (1 - level)
        if self.supports is not None and alone.any():
            groups = [self.members(int(one[0])) for one in sets if len(one) == 1]
            share = 1 - (1 - _BY_CELLS) * (1 - level)
            low[alone], high[alone] = self.supports.bounds(groups, share)
            _, everybody = self._count_ends(sets[0][:0], by_cells)  # the most that any item is in
        for place, one in enumerate(sets):
            inside = all(code < self.items.size and self.bit[code] >= 0 for code in one.tolist())
            if self.never(one):
                continue
            if alone[place]:
                least, most = self._count_ends(one, by_cells) if inside else (0.0, everybody)
                low[place] = max(low[place], least)
                high[place] = max(min(high[place], most), low[place])
            elif self.supports is None or inside:
                shared = self.supports is not None and len(one) > 0
                low[place], high[place] = self._count_ends(
                    one, (1 + level) / 2 if shared else level
                )
            else:
                high[place] = self._most(one, level)
        return low, high

    def _count_ends(self, one: Ints, level: float) -> tuple[float, float]:
        """Ends from the cells alone."""
        count, spread = self._cells_of(one)
        if not spread:
            return count, count
        normal = self.cell.law == "gaussian"
        width = float(half_width(np.sqrt(spread), level, normal=normal))
        return count - width, count + width

    def _cells_of(self, one: Ints) -> tuple[float, float]:
        """The noisy count of a set by the cells that may hold it, and its variance by tails.

        They hold all of its core items and as many others as it has, and without supports, if the
        core is the whole universe, something of each of its groups.
        """
        mask, codes, groups = self._split(one)
        if groups and self.supports is None:
            masks = np.arange(len(self.raw))
            match = masks & mask == mask
            for group in groups:
                match &= masks & self._split(group)[0] != 0
            count, cells = self.raw[match].sum(), self.possible[match].sum()
        else:
            last = np.append(self.partition.rest[1:] - 1, self.items.size)
            first = int(np.argmax(last >= len(codes)))
            if first not in self._sums:
                wide = (values[:, first:].sum(axis=1) for values in (self.raw, self.possible))
                self._sums[first] = tuple(map(superset_sums, wide))
            count, cells = (sums[mask] for sums in self._sums[first])
        return float(count), float(cells) * 2 / self.rate**2

    def _most(self, one: Ints, level: float) -> float:
        """The least of several upper bounds: cells have half of the error, and so have supports."""
        assert self.supports is not None
        _, codes, groups = self._split(one)
        # a quarter for sizes, a quarter for all items of the set, whether they are in the core or
        # not; a bound of one side may fail with twice its part, and few levels are worked out
        error = (1 - level) / (1 << (2 * len(one) - 1).bit_length())
        normal = self.supports.support.law == "gaussian"
        parts = [*codes[:, None], *groups]
        most = self.supports.most_in_all(parts, error, (1 - level) / 4, normal=normal)
        return min(most, self._count_ends(one, level)[1])

    def draw(self, n: int | None, random: np.random.Generator) -> tuple[Ints, Ints]:
        """Simulated records: where each begins, and the codes of their items, increasing."""
        weights = self.shrunk.ravel()
        scale = self.total / weights.sum() if weights.sum() > 0 else 0.0
        cell = draw_cells(weights * scale, n, random)
        mask, place = np.divmod(cell, self.raw.shape[1])
        drawn = [] if self.supports is None else [self.others.draw(place, random)]
        for b, item in enumerate(self.partition.core.tolist()):
            holds = np.flatnonzero(mask >> b & 1)
            drawn.append((holds, np.full(len(holds), item)))
        record, code = (np.concatenate(one) for one in zip(*drawn, strict=True))
        return assemble_records(record, code, len(cell), random)


def superset_sums(values: Floats) -> Floats:
    """For each mask the sum over all masks that hold it.

    Example:
        >>> superset_sums(np.array([1.0, 2.0, 3.0, 4.0])).tolist()
        [10.0, 6.0, 7.0, 4.0]
    """
    sums = values.astype(np.float64)
    width = 1
    while width < len(sums):
        halves = sums.reshape(-1, 2, width)
        halves[:, 0] += halves[:, 1]
        width *= 2
    return sums
