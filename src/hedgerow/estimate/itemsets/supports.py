"""How many records hold each item, from weighted supports, sizes and strata.

1. **Share.** A weighted support is too small by what the weights leave out. The sizes of records
   tell the share of all items that they keep, and noisy supports are divided by it: as if size and
   item were independent.
2. **Shrinkage.** Most items of a large universe are rare, and most of their noisy supports are
   noise. The supports of all items are taken for draws from one distribution on a grid, which is
   itself estimated from them, by EM with the kernel of the noise; then for groups of items apart,
   as far as these differ: groups of the taxonomy, or neighbours in the universe. The estimate is
   the posterior mean, and the noisy value itself where it stands out by `CLEAR` noise scales.
3. **Strata.** The totals of a few strata of items, from the most frequent down, were counted with
   weights that keep nearly everything. They correct what depends on an item's popularity.
4. **Sum.** Estimates are scaled to the number of items that the sizes tell.

None of this is needed for intervals (`itemsets.ends`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hedgerow.arrays import Floats, Ints
from hedgerow.estimate.itemsets.ends import MostRecords
from hedgerow.estimate.itemsets.sizes import KnownSum, SizeCurve, fit_sizes
from hedgerow.estimate.noise import LATTICE, factor
from hedgerow.measured.itemsets import cap_of, strata_of
from hedgerow.measured.measurements import Measurement
from hedgerow.schema import Items
from hedgerow.schema.items import WEIGHT

__all__ = ["DEPENDENCE", "Supports", "prior_groups", "shrink"]


CLEAR = 10.0
DEPENDENCE = 0.4  # of the spread of weights, by which an item's records are taken to differ
_POPULARITY = (0.5, 2.0)  # what supports may be multiplied by
_NEIGHBOURS = 64
_LEAST_GROUP = 16
_LIKE_ALL = 10.0  # items of the whole universe that a group's prior counts for its own
_GRID = 56
_PARTS = (0.15, 0.45, 0.4)  # of the error of an interval: for its ends, and for sizes
_ROUNDS, _GROUP_ROUNDS = 30, 8
_VAGUE = 0.01  # of the prior lies anywhere
_SAMPLE = 65_536  # items that the common prior is estimated from
_BLOCK = 256  # groups at a time


@dataclass(frozen=True, eq=False, kw_only=True)
class Supports:
    """What sizes, supports and strata tell about single items.

    Args:
        items: The public universe.
        support: The noisy weighted supports of all items.
        size: The noisy number of records by number of items.
        stratum: The noisy totals of strata, if they were measured.
    """

    items: Items
    support: Measurement
    size: Measurement
    stratum: Measurement | None = None

    @property
    def cap(self) -> int:
        """How many items of a record count in full."""
        return cap_of(self.support)

    @property
    def laplace(self) -> float:
        """Which share of the noise of supports has a Laplace law."""
        return 1.0 if self.support.law == "laplace" else 0.0

    @property
    def most(self) -> int:
        """The most items that a record can have."""
        return self.items.most

    @property
    def full(self) -> bool:
        """Whether every record counts in full for each of its items.

        Else long records count for less, and how much an item loses by that is a model's guess.
        """
        return self.cap >= self.most

    @cached_property
    def noisy(self) -> Floats:
        """The weighted supports as they were drawn, in records."""
        return self.support.values[:, 0] / WEIGHT

    @property
    def scale(self) -> float:
        """The noise scale of a weighted support, in records."""
        return float(np.sqrt(self.support.tail_variance[0] / 2)) / WEIGHT

    @cached_property
    def curve(self) -> SizeCurve:
        """How many records have each size."""
        sums: list[KnownSum] = []
        for found in (self.support, self.stratum):
            cap = cap_of(found) if found is not None else 0
            if found is not None and all(cap != one.cap for one in sums):
                deviation = float(np.sqrt(found.variance.sum())) / WEIGHT
                sums.append(KnownSum(cap, float(found.values.sum()) / WEIGHT, deviation))
        return fit_sizes(
            self.size.where,
            self.size.values[:, 0].astype(np.float64),
            float(self.size.units[0] * self.size.unit),
            self.most,
            sums,
        )

    @cached_property
    def share(self) -> float:
        """The share of all items that the weights keep."""
        return max(self.curve.share(self.cap), 1e-9)

    @cached_property
    def estimate(self) -> Floats:
        """The estimated support of each item; they sum to the items of all records."""
        found = self._shrunk[0]
        if self.stratum is not None:
            found = found * self._popularity(found)
        total, known = float(found.sum()), self.curve.items
        if total > 0 and known > 0:
            found = found * (known / total)
        return found

    @cached_property
    def _shrunk(self) -> tuple[Floats, Floats]:
        kernel = _laplace if self.laplace else _gaussian
        groups = prior_groups(self.items)
        return shrink(self.noisy / self.share, self.scale / self.share, groups, kernel)

    def _popularity(self, found: Floats) -> Floats:
        """What the strata say that the supports of their items must be multiplied by."""
        assert self.stratum is not None
        number = len(self.stratum.where)
        stratum = strata_of(self.support.values[:, 0], number)
        total = np.bincount(stratum, found, number)
        kept = max(self.curve.share(cap_of(self.stratum)), 1e-9)
        total = np.maximum(total, 1e-9)
        noise = self.stratum.variance / (WEIGHT * kept * total) ** 2
        ratio = self.stratum.values[:, 0] / (WEIGHT * kept * total)
        middle = float(np.average(ratio, weights=total))
        # as far as ratios differ by more than their noise
        differ = max(float(np.mean((ratio - middle) ** 2 - noise)), 0.0)
        better = middle + differ / (differ + noise) * (ratio - middle)
        return np.asarray(np.clip(better, *_POPULARITY)[stratum])

    @cached_property
    def variance(self) -> Floats:
        """How far each estimate may be off, as a model has it: noise, size and all together."""
        chance = self.curve.spread(self.cap)
        scaled = (self.curve.deviation / max(self.curve.items, 1e-9)) ** 2
        squared = DEPENDENCE**2 * chance + min(scaled, 1.0)
        return np.asarray(self._shrunk[1] + chance * self.estimate + squared * self.estimate**2)

    # guaranteed ends

    def most_records(self, error: float) -> MostRecords:
        """How many records weights can be of, by the sizes, up to an error."""
        if error not in self._bounds:
            self._bounds[error] = MostRecords.of(self.size, self.most, self.cap, error)
        return self._bounds[error]

    @cached_property
    def _bounds(self) -> dict[float, MostRecords]:
        return {}

    def sums(self, groups: Sequence[Ints]) -> tuple[Floats, Floats]:
        """The weighted supports of groups of items together, and the deviations of their noise."""
        value = np.array([self.noisy[group].sum() for group in groups])
        number = np.array([len(group) for group in groups])
        return value, np.sqrt(2.0 * number) * self.scale

    def bounds(self, groups: Sequence[Ints], level: float) -> tuple[Floats, Floats]:
        """Intervals for the number of records with anything of each group, each by itself.

        The error is shared by the lower end, the weighted support at the upper end, and the sizes
        of records. Most items are rare, and 0 is then the lower end whatever its part.
        """
        value, deviation = self.sums(groups)
        for_low, for_high, for_sizes = (part * (1 - level) for part in _PARTS)
        down, up = (
            factor(1 - 2 * error, self.laplace) * deviation + LATTICE
            for error in (for_low, for_high)
        )
        number = np.array([len(group) for group in groups])
        low = (value - down) / np.minimum(number, self.cap)
        return low, self.most_records(for_sizes)(value + up)


def prior_groups(items: Items) -> Ints:
    """Where each group of items begins whose supports may be alike, and the end of the last.

    Example:
        >>> prior_groups(Items(range(100))).tolist()
        [0, 64, 100]
    """
    if not items.semantic:
        return np.append(np.arange(0, items.size, _NEIGHBOURS), items.size)
    taxonomy = items.taxonomy
    starts = {0}
    for node, (low, high) in enumerate(taxonomy.spans):
        kids = [taxonomy.spans[kid] for kid in taxonomy.children[node]]
        if kids and all(last - first >= _LEAST_GROUP for first, last in kids):
            starts.update(first for first, _ in kids)
        if high - low >= _LEAST_GROUP:
            starts.update((low, high))
    return np.array(sorted(starts | {items.size}))


def _laplace(noisy: Floats, grid: Floats, scale: float) -> Floats:
    away = np.abs(noisy[:, None] - grid) / scale
    return np.asarray(np.exp(away.min(axis=1, keepdims=True) - away))


def _gaussian(noisy: Floats, grid: Floats, scale: float) -> Floats:
    """Normal noise of the variance that Laplace noise of a scale has."""
    away = ((noisy[:, None] - grid) / (2 * scale)) ** 2
    return np.asarray(np.exp(away.min(axis=1, keepdims=True) - away))


def shrink(
    noisy: Floats,
    scale: float,
    groups: Ints,
    likelihood: Callable[[Floats, Floats, float], Floats] = _laplace,
) -> tuple[Floats, Floats]:
    """Posterior means and variances, with a prior from all values and from those of each group.

    Args:
        noisy: Values with noise, none of which should be negative.
        scale: The noise scale, of Laplace noise with the same variance.
        groups: Where each group begins, and the end of the last.
        likelihood: Of each value on a grid of true ones, up to a factor; Laplace by default.

    Example:
        >>> mean, _ = shrink(np.array([0.0, 1, -2, 1, 0, 500]), 2.0, np.array([0, 6]))
        >>> mean.round(1).tolist()
        [0.2, 0.3, 0.2, 0.3, 0.2, 500.0]
    """
    high = 1.2 * max(float(noisy.max(initial=0.0)), 1.0) + 10 * scale
    grid = np.append(0.0, np.geomspace(scale / 20, high, _GRID - 1))
    vague = np.full(_GRID, 1 / _GRID)
    prior = vague
    sample = likelihood(noisy[:: -(-len(noisy) // _SAMPLE)], grid, scale)
    for _ in range(_ROUNDS):
        prior = (1 - _VAGUE) * _posterior(sample, prior).mean(axis=0) + _VAGUE * vague
    found, squares = np.empty(len(noisy)), np.empty(len(noisy))
    for first in range(0, len(groups) - 1, _BLOCK):
        ends = groups[first : first + _BLOCK + 1]
        here = slice(int(ends[0]), int(ends[-1]))
        kernel = likelihood(noisy[here], grid, scale)
        number = np.diff(ends)
        own = np.repeat(prior[None], len(number), axis=0)
        for _ in range(_GROUP_ROUNDS):
            weight = _posterior(kernel, np.repeat(own, number, axis=0))
            total = np.add.reduceat(weight, ends[:-1] - ends[0], axis=0)
            own = (total + _LIKE_ALL * prior) / (number + _LIKE_ALL)[:, None]
        weight = _posterior(kernel, np.repeat(own, number, axis=0))
        found[here], squares[here] = weight @ grid, weight @ grid**2
    clear = noisy > CLEAR * scale
    spread = np.where(clear, 2 * scale**2, np.maximum(squares - found**2, 0.0))
    return np.where(clear, noisy, found), spread


def _posterior(kernel: Floats, prior: Floats) -> Floats:
    weight = kernel * prior
    weight /= weight.sum(axis=1, keepdims=True)
    return weight
