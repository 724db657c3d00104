"""How many records hold each item, from weighted supports and sizes.

1. **Weights.** A weighted support is too small by what the weights leave out, and the sizes of
   records tell how much that is, if records draw their items at random (`SizeCurve.supports`).
2. **The tail.** Most items of a large universe are rare, and most of their noisy supports are
   noise. The supports of all items are taken for draws from one distribution on a grid, which is
   itself estimated from them, by EM with the kernel of the noise; then for groups of items apart,
   as far as these differ: groups of the taxonomy, or neighbours in the universe. The estimate is
   the posterior mean, and the noisy value itself where it stands out (`clear_from`).
3. **Sum.** What was shrunk is scaled, so that all have the number of items that the sizes tell.

None of this is needed for intervals (`itemsets.ends`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hedgerow.arrays import Floats, Ints
from hedgerow.estimate.itemsets.ends import MostRecords
from hedgerow.estimate.itemsets.sizes import KnownSum, SizeCurve, fit_sizes
from hedgerow.estimate.noise import LATTICE, factor
from hedgerow.measured.itemsets import cap_of
from hedgerow.measured.measurements import Measurement
from hedgerow.schema import Items
from hedgerow.schema.items import WEIGHT

__all__ = ["Supports", "prior_groups", "shrink"]


_DEPENDENCE = 0.2  # of the spread of weights, by which an item's records are taken to differ
_TAIL = (0.05, 5.0)  # what shrunk supports may be multiplied by, so that the sum is right
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
    """What sizes and supports tell about single items.

    Args:
        items: The public universe.
        support: The noisy weighted supports of all items.
        size: The noisy number of records by number of items.
    """

    items: Items
    support: Measurement
    size: Measurement

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
        deviation = float(np.sqrt(self.support.variance.sum())) / WEIGHT
        sums = [KnownSum(self.cap, float(self.support.values.sum()) / WEIGHT, deviation)]
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
        return self._singles[0]

    @cached_property
    def variance(self) -> Floats:
        """How far each estimate may be off, as a model has it: noise, size and all together."""
        return self._singles[1]

    @cached_property
    def _singles(self) -> tuple[Floats, Floats]:
        """Estimates and variances: what stands out by itself, the rest so that the sum is right."""
        likelihood = _laplace if self.support.law == "laplace" else _gaussian
        value, noise = shrink(self.noisy, self.scale, prior_groups(self.items), likelihood)
        clear = value >= clear_from(self.items.size) * self.scale
        value, noise = self.curve.supports(value, self.cap), noise / self.share**2
        left = self.curve.items - float(value[clear].sum())
        ratio = float(np.clip(left / max(float(value[~clear].sum()), 1e-9), *_TAIL))
        found = np.where(clear, value, value * ratio)
        noise = np.where(clear, noise, noise * ratio**2)
        scaled = (self.curve.deviation / max(self.curve.items, 1e-9)) ** 2
        noise += np.where(clear, 0.0, min(scaled, 1.0) * found**2)
        # chance, and a dependence of size and item
        by_weights = self.curve.spread(self.cap) * (found + (_DEPENDENCE * found) ** 2)
        return found, noise + by_weights

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


def clear_from(number: int) -> float:
    """From how many noise scales on a value is its own estimate: some 75 of all may be noise.

    A higher bar would shrink items that are there, a lower one would list many that are not.

    Example:
        >>> round(clear_from(40_000), 1), clear_from(1)
        (5.6, 3.0)
    """
    return max(math.log(number) - 5, 3.0) if number else 3.0


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
    clear = noisy > clear_from(len(noisy)) * scale
    spread = np.where(clear, 2 * scale**2, np.maximum(squares - found**2, 0.0))
    return np.where(clear, noisy, found), spread


def _posterior(kernel: Floats, prior: Floats) -> Floats:
    weight = kernel * prior
    weight /= weight.sum(axis=1, keepdims=True)
    return weight
