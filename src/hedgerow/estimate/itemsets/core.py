"""Answers from the cells of a core: which core items a record holds, and how many others.

**Inside the core** a count is the sum of the cells that hold the items. It is taken twice: from the
noisy cells, unbiased but noisy, and from the cells as the fit sees them (`itemsets.fit`), smooth
but perhaps off. How far off the fit is, is measured by what both differ by beyond the noise, on all
itemsets of as many items; that is the weight of the noisy sum.

**Beyond the core** only the number of a record's other items is known, by bins, and the support of
each item. With t items beyond the core a count is the sum of the cells, each times the mean of
n (n - 1) ... (n - t + 1) over its number n of others, times the shares of the t items among
all others: as if the others were drawn from one urn.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hedgerow.arrays import Bools, Floats, Ints
from hedgerow.estimate.itemsets.fit import fit_cells
from hedgerow.estimate.itemsets.rest_items import Urn, draw_others
from hedgerow.estimate.itemsets.rows import draw_cells, gather
from hedgerow.estimate.noise import factor, half_width
from hedgerow.measured.itemsets import CoreCells
from hedgerow.measured.measurements import Measurement
from hedgerow.schema import Items

__all__ = ["CoreModel", "superset_sums"]


@dataclass(frozen=True, eq=False)
class CoreModel:
    """What the cells of a core tell.

    Args:
        items: The public universe.
        partition: The cells.
        cell: Their noisy counts.
        support: The noisy supports of all items, if they were measured.
        size: The noisy number of records by number of items, if it was measured.
    """

    items: Items
    partition: CoreCells
    cell: Measurement
    support: Measurement | None
    size: Measurement | None

    @property
    def rate(self) -> float:
        """The epsilon of the noise on each cell."""
        return float(self.cell.units[0] * self.cell.unit)

    @cached_property
    def most(self) -> int:
        """The most items that a record can have."""
        return min(self.items.max_items or self.items.size, self.items.size)

    @cached_property
    def bit(self) -> Ints:
        """The bit of each item in a mask, -1 beyond the core."""
        bit = np.full(self.items.size, -1)
        bit[self.partition.core] = np.arange(len(self.partition.core))
        return bit

    @cached_property
    def order(self) -> Ints:
        """The number of core items of each mask."""
        masks = np.arange(1 << len(self.partition.core))
        return sum((masks >> b & 1 for b in range(len(self.partition.core))), np.zeros_like(masks))

    @cached_property
    def urn(self) -> Urn:
        """How the items beyond the core are spread."""
        return Urn.of(self)

    @cached_property
    def possible(self) -> Bools:
        """Where a record can lie at all, by public rules, shape [masks, bins]."""
        low = self.partition.rest
        beyond = self.items.size - len(self.partition.core)
        high = np.append(low[1:] - 1, beyond)
        order = self.order[:, None]
        can = (order + low <= self.most) & (low <= beyond) & (order + high >= 1)
        dummy = self.items.dummy
        if dummy is not None and self.bit[dummy] >= 0:  # an empty record holds nothing else
            with_it = np.arange(len(can)) >> self.bit[dummy] & 1 == 1
            can[with_it] &= (order[with_it] == 1) & (low == 0)
        return np.asarray(can)

    @cached_property
    def raw(self) -> Floats:
        """The noisy counts, 0 where no record can lie, shape [masks, bins]."""
        values = self.cell.values[:, 0].astype(np.float64).reshape(self.possible.shape)
        return np.where(self.possible, values, 0.0)

    @cached_property
    def total(self) -> float:
        """The number of records, from cells and sizes together."""
        weight = self.rate**2 / max(1, int(np.count_nonzero(self.possible)))
        found, weights = weight * float(self.raw.sum()), weight
        if self.size is not None and len(self.size.where):
            weight = float(self.size.units[0] * self.size.unit) ** 2 / len(self.size.where)
            found, weights = found + weight * float(self.size.values.sum()), weights + weight
        return max(found / weights, 0.0)

    @cached_property
    def shrunk(self) -> Floats:
        """The counts as the fit sees them, none negative, shape [masks, bins]."""
        return fit_cells(self.raw, self.possible, self.rate, self.total)

    def tables(self, others: int) -> tuple[Floats, Floats]:
        """For each mask the sum over its supersets, as estimated and as measured.

        Args:
            others: How many items beyond the core are asked for beside the mask.

        Returns:
            The sums, cells weighted by the urn's moments of this many others.
        """
        if others not in self._tables:
            moment = self.urn.moments(others)
            raw, shrunk = superset_sums(self.raw @ moment), superset_sums(self.shrunk @ moment)
            spread = superset_sums(self.possible @ moment**2) * float(self.cell.variance[0])
            order = self.order
            many = np.bincount(order)
            beyond = np.bincount(order, (raw - shrunk) ** 2 - spread) / many
            bias = np.maximum(beyond, 0.0)[order]
            with np.errstate(invalid="ignore"):
                weight = np.nan_to_num(bias / (bias + spread))
            self._tables[others] = (shrunk + weight * (raw - shrunk), raw)
        return self._tables[others]

    @cached_property
    def _tables(self) -> dict[int, tuple[Floats, Floats]]:
        return {}

    def estimates(self, sets: Sequence[Ints]) -> Floats:
        """The estimated number of records that hold all items of each set."""
        mask, others = self._split(sets)
        found = np.zeros(len(sets))
        for number in np.unique(others).tolist():
            here = np.flatnonzero(others == number)
            table, _ = self.tables(number)
            found[here] = table[mask[here]]
            if number == 1 and (alone := mask[here] == 0).any():
                codes = np.array([sets[place][0] for place in here[alone].tolist()])
                found[here[alone]] = self.urn.support[codes]
                here = here[~alone]
            if number:
                beyond = [
                    [c for c in sets[place].tolist() if self.bit[c] < 0] for place in here.tolist()
                ]
                logs = np.log(np.maximum(self.urn.share[np.array(beyond, np.int64)], 1e-300))
                scale = logs.sum(axis=-1) + number * math.log(self.urn.largest)
                found[here] *= np.exp(np.minimum(scale, 700))
        return np.where([self._never(one) for one in sets], 0.0, found)

    def _split(self, sets: Sequence[Ints]) -> tuple[Ints, Ints]:
        """The core mask of each set, and the number of its other items."""
        mask, others = np.zeros(len(sets), np.int64), np.zeros(len(sets), np.int64)
        for place, one in enumerate(sets):
            bits = self.bit[one]
            mask[place] = (np.int64(1) << bits[bits >= 0]).sum()
            others[place] = np.count_nonzero(bits < 0)
        return mask, others

    def _never(self, one: Ints) -> bool:
        """Whether no record can hold these items, by public rules."""
        dummy = self.items.dummy
        return len(one) > self.most or (len(one) > 1 and dummy is not None and dummy in one)

    def bounds(self, sets: Sequence[Ints], level: float) -> tuple[Floats, Floats]:
        """Intervals that hold the true counts at a level, each by itself.

        Inside the core, the sum of noisy cells has a known law. The count of an item beyond it is
        at least its support, which long records do not wholly count for, and at most that and all
        long records. Any other set is in no more records than the part of it that was measured
        and than each of its items; these bounds share the error.
        """
        mask, others = self._split(sets)
        low, high = np.zeros(len(sets)), np.zeros(len(sets))
        for place, one in enumerate(sets):
            if self._never(one):
                continue
            number = int(others[place])
            if number == 0:
                count, spread = self._measured(int(mask[place]), 0)
                width = float(half_width(np.sqrt(np.array([spread])), level)[0]) if spread else 0.0
                low[place], high[place] = count - width, count + width
            elif len(one) == 1 and self.support is not None:
                low[place], high[place] = self._single(int(one[0]), level)
            else:
                high[place] = self._most(one, int(mask[place]), number, level)
        return low, high

    def _measured(self, mask: int, others: int) -> tuple[float, float]:
        """The noisy count of records with a mask and so many others, and its variance by tails."""
        last = np.append(self.partition.rest[1:] - 1, self.items.size)
        first = int(np.argmax(last >= others))
        if first not in self._sums:
            self._sums[first] = (
                superset_sums(self.raw[:, first:].sum(axis=1)),
                superset_sums(self.possible[:, first:].sum(axis=1).astype(np.float64)),
            )
        sums, cells = self._sums[first]
        return float(sums[mask]), float(cells[mask]) * 2 / self.rate**2

    @cached_property
    def _sums(self) -> dict[int, tuple[Floats, Floats]]:
        return {}

    def _single(self, code: int, level: float) -> tuple[float, float]:
        assert self.support is not None
        value = float(self.support.values[code, 0])
        down, up = self._single_widths(int(self.support.units[code]), level)
        longer, _ = self._longer
        if math.isinf(longer):
            return value - down, self._most(np.array([code]), 0, 1, (1 + level) / 2)
        return value - down, value + longer + up

    def _single_widths(self, units: int, level: float) -> tuple[float, float]:
        """How far the support of an item may be off downwards and upwards, by what was paid.

        Kept: a universe may have a million items, and few prices.
        """
        found = self._widths.get((units, level))
        if found is None:
            assert self.support is not None
            spread = 2 / float(units * self.support.unit) ** 2
            both = np.sqrt(np.array([spread, spread + self._longer[1]]))
            down, up = half_width(both, level).tolist()
            found = self._widths[units, level] = down, up
        return found

    @cached_property
    def _widths(self) -> dict[tuple[int, float], tuple[float, float]]:
        return {}

    @cached_property
    def _longer(self) -> tuple[float, float]:
        """The noisy number of records of which supports do not count all items, and its tails."""
        assert self.support is not None
        cap = self.support.max_contribution
        if cap >= self.most:
            return 0.0, 0.0
        if self.size is None:
            return math.inf, 0.0
        last = np.append(self.size.where[1:] - 1, self.most)
        long = last > cap
        rate = self.size.units * float(self.size.unit)
        return float(self.size.values[long, 0].sum()), float((2 / rate[long] ** 2).sum())

    def _most(self, one: Ints, mask: int, others: int, level: float) -> float:
        """The least of several upper bounds, which share the error."""
        counts = [self._measured(mask, others)]
        if self.support is not None and not math.isinf((longer := self._longer)[0]):
            for code in one[self.bit[one] < 0].tolist():
                rate = float(self.support.units[code] * self.support.unit)
                value = float(self.support.values[code, 0]) + longer[0]
                counts.append((value, longer[1] + 2 / rate**2))
        # one side only, so that each bound may fail with twice its part of the error
        parts = 1 << (len(counts) - 1).bit_length()  # few levels, which are slow to work out
        sides = factor(max(1 - 2 * (1 - level) / parts, 1e-9))
        return min(count + sides * math.sqrt(spread) + 0.5 for count, spread in counts)

    def draw(self, n: int | None, random: np.random.Generator) -> tuple[Ints, Ints]:
        """Simulated records: where each begins, and the codes of their items, increasing."""
        weights = self.shrunk.ravel()
        scale = self.total / weights.sum() if weights.sum() > 0 else 0.0
        cell = draw_cells(weights * scale, n, random)
        mask, place = np.divmod(cell, self.raw.shape[1])
        number = self.urn.draw_numbers(place, random)
        record, code = draw_others(self.urn, number, random)
        records, codes = [record], [code]
        for b, item in enumerate(self.partition.core.tolist()):
            holds = np.flatnonzero(mask >> b & 1)
            records.append(holds)
            codes.append(np.full(len(holds), item))
        return gather(np.concatenate(records), np.concatenate(codes), len(cell), random)


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
