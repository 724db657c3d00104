"""How many records hold each item, from weighted supports and sizes.

1. **Weights.** A weighted support is too small by what the weights leave out, and the sizes of
   records tell how much that is, if records draw their items at random (`SizeCurve.supports`).
2. **The tail.** Most items of a large universe are rare, and most of their noisy supports are
   noise. The supports of all items are taken for draws from one distribution on a grid, which is
   itself estimated from them, by EM with the kernel of the noise; then for groups of items apart,
   as far as these differ: groups of the taxonomy, or neighbors in the universe. The estimate is
   the posterior mean, and the noisy value itself where it stands out (`clear_from`).
3. **Sum.** What was shrunk is scaled, so that all have the number of items that the sizes tell.

None of this is needed for intervals (`most_records`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from statistics import NormalDist

import numpy as np

from hedgerow.arrays import Floats, Ints
from hedgerow.estimate.measurements import LATTICE, Law, Measurement, half_width
from hedgerow.estimate.partition import cap_of
from hedgerow.schema import Items
from hedgerow.schema.items import WEIGHT

# How many records have each number of items: a smooth curve through noisy bins.
#
# The log of the number of records by size is taken for a curve in the log of the size: linear
# between the middles of the bins, with bends that are as likely as those of an integrated Wiener
# process, and falling at least as the power `FALL` of the size beyond twice the median, where it
# also falls ever faster: a bend the other way is ten times less likely. The likeliest curve is
# found by Gauss and Newton's method under the law of the noise, whose tails are those of Laplace: a
# single bin of noise does not bend the curve. Up to the last bin that stands out of the noise the
# tail is free, since a penalty that grows with the square would win over such a law. Sums over
# records that other measurements tell (of min(size, cap)) hold it, too.
#
# This is a model for estimates. No interval relies on it.


FALL = 2.0
_SOFT = 0.3  # how far from that power the curve may fall, about
_BEND = 3.0  # the deviation of a bend over one unit of the log of the size
_HOLLOW = 10.0  # by how much smaller it is for bends upwards in the tail
_POINTS = 16  # sizes of a wide bin that stand for all
_CURVE_ROUNDS = 40
_PULLS = 400  # that are tried for an item
_CLEAR = 8.0  # noise scales, from which on a bin bends the curve as it likes
_KINK = 0.3  # noise scales within which the Laplace law is rounded off


def weights(size: Floats | Ints, cap: int) -> Floats:
    """The weight with which records of some sizes count for each of their items.

    Example:
        >>> weights(np.array([1, 4, 6]), 4).tolist()
        [1.0, 1.0, 0.666015625]
    """
    whole = np.floor(WEIGHT * cap / np.maximum(size, 1)) / WEIGHT
    return np.asarray(np.where(size <= cap, 1.0, whole))


@dataclass(frozen=True, eq=False, kw_only=True)
class SizeCurve:
    """Records by their number of items.

    Args:
        size: Sizes; where a bin is wide, the middles of stretches of sizes.
        stretch: How many sizes each stands for.
        records: How many records have them.
        deviation: How far the number of all items may be off, about, as the model has it.
    """

    size: Floats
    stretch: Floats
    records: Floats
    deviation: float = 0.0

    @property
    def items(self) -> float:
        """The number of items of all records together."""
        return float(self.size @ self.records)

    def share(self, cap: int) -> float:
        """The share of all items that weights for a cap keep."""
        kept = float((self.size * self.records) @ weights(self.size, cap))
        return kept / self.items if self.items > 0 else 1.0

    def supports(self, weighed: Floats, cap: int) -> Floats:
        """The supports of items by their weighted ones, as if records drew their items at random.

        A rare item is in long records more often than in short ones, just as their sizes say. What
        nearly everybody has is in short records as well, so that weights keep more of it: a record
        of size s holds an item of pull l with probability 1 - exp(-l s).
        """
        if self.items <= 0:
            return np.asarray(weighed / self.share(cap))
        pull = np.geomspace(1e-3, 1e3, _PULLS) / self.size[-1]
        held = -np.expm1(-np.outer(pull, self.size)) * self.records
        kept, all_of_them = held @ weights(self.size, cap), held.sum(axis=1)
        likely = np.interp(weighed, kept, all_of_them)
        beyond = np.where(weighed > kept[-1], weighed - kept[-1], 0.0)
        return np.asarray(np.where(weighed > kept[0], likely + beyond, weighed / self.share(cap)))

    def spread(self, cap: int) -> float:
        """The variance of an item's weight over that share, from record to record."""
        if self.items <= 0:
            return 0.0
        rest = weights(self.size, cap) / self.share(cap) - 1
        return float((self.size * self.records) @ rest**2) / self.items

    def density(self, size: Floats) -> Floats:
        """The number of records of single sizes, which need not be those of the curve."""
        logs = np.log(np.maximum(self.records / self.stretch, 1e-300))
        return np.exp(np.interp(np.log(np.maximum(size, 1.0)), np.log(self.size), logs))


def fit_sizes(
    edges: Ints,
    counts: Floats,
    rate: float,
    most: int,
    sums: Sequence[tuple[int, float, float]] = (),
) -> SizeCurve:
    """The likeliest curve.

    Args:
        edges: The lower ends of the bins.
        counts: The noisy number of records in each.
        rate: The epsilon of the noise on each.
        most: The most items that a record can have.
        sums: Caps, each with the noisy sum over all records of min(size, cap), as far as weights
            keep it, and the standard deviation of its noise.

    Example:
        >>> curve = fit_sizes(np.array([1, 2, 3]), np.array([500.0, 70.0, 18.0]), 1.0, 3)
        >>> curve.size.tolist(), round(float(curve.records.sum()))
        ([1.0, 2.0, 3.0], 588)
    """
    most = max(most, int(edges[-1]))  # a stranger may claim any bins
    # the sizes that the curve is summed over, how many sizes each stands for, and their bins
    spans = zip(edges.tolist(), np.diff(edges, append=most + 1).tolist(), strict=True)
    cuts = [
        first + np.arange(min(width, _POINTS) + 1) * width // min(width, _POINTS)
        for first, width in spans
    ]
    size = np.concatenate([(one[:-1] + one[1:] - 1) / 2 for one in cuts])
    stretch = np.concatenate([np.diff(one).astype(np.float64) for one in cuts])
    bin_of = np.repeat(np.arange(len(cuts)), [len(one) - 1 for one in cuts])
    if len(edges) == 1:
        records = stretch * max(float(counts.sum()), 0.0) / stretch.sum()
        return SizeCurve(size=size, stretch=stretch, records=records)
    bins, each, scale = len(edges), np.arange(len(size)), 1 / rate
    # from knots, in the middle of each bin, to the log of the density at each point
    middle = np.log((edges + np.append(edges[1:] - 1, most)) / 2)
    steps = np.diff(middle)
    left = np.clip(np.searchsorted(middle, np.log(size), side="right") - 1, 0, bins - 2)
    part = (np.log(size) - middle[left]) / steps[left]
    knots = np.zeros((len(size), bins))
    knots[each, left] += 1 - part
    knots[each, left + 1] += part
    # from knots to slopes between them, and to bends, in deviations
    slopes = (np.eye(bins)[1:] - np.eye(bins)[:-1]) / steps[:, None]
    width = np.sqrt((steps[1:] + steps[:-1]) / 2)
    bends = np.diff(slopes, axis=0) / width[:, None] / _BEND
    half = np.argmax(np.cumsum(counts) >= max(float(counts.sum()), 1.0) / 2)
    clear = np.flatnonzero(counts > _CLEAR / rate).max(initial=0)
    falling = (np.exp(middle[:-1]) >= 2 * edges[half]) & (np.arange(bins - 1) >= clear)
    # from densities to what was measured: the bins, then the known sums
    measured = np.zeros((bins + len(sums), len(size)))
    measured[bin_of, each] = stretch
    for place, (cap, _, _) in enumerate(sums):
        measured[bins + place] = stretch * size * weights(size, cap)
    values = np.append(counts, [value for _, value, _ in sums])
    deviation = np.array([noise for *_, noise in sums])

    def state(curve: Floats) -> tuple[float, Floats, Floats, Floats]:
        """Of a curve the cost and the density, and the matrix and right side of the next step."""
        density = np.exp(np.clip(knots @ curve, -40, 40))
        rest = values - measured @ density
        # how far the curve bends, and falls late
        bent = bends @ curve
        hollow = np.where((bent > 0) & falling[1:], _HOLLOW, 1.0)
        bent *= hollow
        slow = np.where(falling, np.maximum(slopes @ curve + FALL, 0), 0) / _SOFT
        rounded = np.sqrt(rest[:bins] ** 2 + (_KINK * scale) ** 2)
        cost = 2 * (rounded / scale).sum() + ((rest[bins:] / deviation) ** 2).sum()
        weight = np.append(1 / (scale * rounded), 1 / deviation**2)
        slope = (measured * density) @ knots
        falls, dear = slopes[slow > 0] / _SOFT, bends * hollow[:, None]
        matrix = (slope.T * weight) @ slope + dear.T @ dear + falls.T @ falls
        right = slope.T @ (weight * rest) - dear.T @ bent - falls.T @ slow[slow > 0]
        return float(cost + bent @ bent + slow @ slow), density, matrix, right

    diagonal, damping = np.eye(bins), 1e-3
    curve = np.log(max(float(counts.sum()), 1.0)) - 1.5 * middle - 2
    cost, density, matrix, right = state(curve)
    for _ in range(_CURVE_ROUNDS):
        step = np.clip(np.linalg.solve(matrix * (1 + damping * diagonal), right), -2, 2)
        less, *then = state(curve + step)
        if less >= cost:
            damping *= 5
            if damping > 1e6:
                break
            continue
        gain, curve, cost, (density, matrix, right) = cost - less, curve + step, less, then
        damping = max(damping / 5, 1e-9)
        if gain < 1e-5 * max(cost, 1.0):
            break
    records = density * stretch
    slope = (size * records) @ knots
    off = slope @ np.linalg.solve(matrix * (1 + 1e-9 * diagonal), slope)
    deviation_of_all = math.sqrt(max(float(off), 0.0))
    return SizeCurve(size=size, stretch=stretch, records=records, deviation=deviation_of_all)


# Guaranteed ends for weighted supports: what weights and sizes allow, and no model.
#
# A record t that holds an item adds w(|t|) to the item's weighted support y, with w = 1 up to the
# cap and falling after. So the support is at least y. And it is at most the largest number of
# records whose weights sum to y, where no more than T(s) of them have s items or more: the longest
# ones first. Both y and all T(s) are known up to noise.
#
# **All T(s) at once.** T is the sum of the bins from s on, whose noise is a sum of k independent
# Laplace noises of one scale. Such a sum is the difference of two waiting times for k events, and
# exceeds t scales if, when the second ends, i < k events of the first have come, with probability
# C(k - 1 + i, i) / 2^(k + i), and fewer than k - i more come in the time t. Each bin has the same
# part of the error. The bounds hold for all bins, so that it does not matter that the cap was
# chosen by the same noisy sizes; the noise of y was drawn after that.


def tails(size: Measurement, error: float) -> Floats:
    """Upper bounds on the number of records from each bin on, which hold together.

    Args:
        size: The noisy number of records in each bin, by its lower end.
        error: The probability that any of them fails, at most.

    Example:
        >>> from fractions import Fraction
        >>> size = Measurement(name="size", at="size", where=np.array([1, 2]),
        ...                    values=np.array([[900], [9]]), by_class=False,
        ...                    units=np.ones(2, np.int64), unit=Fraction(1))
        >>> tails(size, 0.05).round().tolist()
        [914.0, 12.0]
    """
    bins = len(size.where)
    upper = np.cumsum(size.values[::-1, 0].astype(np.float64))
    scale = 1 / float(size.units[0] * size.unit)
    upper += [beyond(k, error / bins) * scale + LATTICE for k in range(1, bins + 1)]
    return np.maximum(np.minimum.accumulate(upper[::-1]), 0.0)


@lru_cache(maxsize=4096)
def beyond(terms: int, error: float) -> float:
    """What a sum of Laplace noises of scale 1 exceeds with some probability at most.

    Example:
        >>> round(beyond(1, 0.05), 4), round(beyond(8, 0.001), 2)
        (2.3026, 13.44)
    """
    low, high = 0.0, 2 * terms + 4 * math.log(1 / error)
    while high - low > 1e-6 * high:
        middle = (low + high) / 2
        events = [math.exp(-middle)]
        for number in range(1, terms):
            events.append(events[-1] * middle / number)
        at_most = np.cumsum(events)  # Poisson, up to each number
        chance, exceeds = 0.5**terms, 0.0
        for before in range(terms):
            exceeds += chance * float(at_most[terms - 1 - before])
            chance *= (terms + before) / (2 * (before + 1))
        low, high = (middle, high) if exceeds > error else (low, middle)
    return high


def most_records(sums: Floats, size: Measurement, most: int, cap: int, error: float) -> Floats:
    """How many records can have weights of each of some sums, at most.

    Args:
        sums: The sums.
        size: The noisy sizes.
        most: The most items that a record can have.
        cap: The cap of the weights.
        error: The probability that any of its bounds fails, at most.
    """
    bounds = tails(size, error)[::-1]
    last = np.append(size.where[1:] - 1, max(most, int(size.where[-1])))[::-1]
    weight = weights(last, cap)  # the least of each bin
    more = np.diff(bounds, prepend=0.0)
    # sums of weights of all records of the longest bins, and how many records these are
    start = np.append(0.0, np.cumsum(more * weight)[:-1])
    records = np.append(0.0, bounds[:-1])
    place = np.searchsorted(start, np.maximum(sums, 0.0), side="right") - 1
    rest = np.maximum(sums, 0.0) - start[place]
    with np.errstate(divide="ignore", invalid="ignore"):
        further = np.where(weight[place] > 0, rest / weight[place], np.inf)
    return np.asarray(records[place] + further)


_DEPENDENCE = 0.2  # of the spread of weights, by which an item's records are taken to differ
_TAIL = (0.05, 5.0)  # what shrunk supports may be multiplied by, so that the sum is right
_NEIGHBORS = 64
_LEAST_GROUP = 16
_LIKE_ALL = 10.0  # items of the whole universe that a group's prior counts for its own
_GRID = 56
_PARTS = (0.15, 0.45, 0.4)  # of the error of an interval: for its ends, and for sizes
_ROUNDS, _GROUP_ROUNDS = 30, 8
_VAGUE = 0.01  # of the prior lies anywhere
_SAMPLE = 65_536  # items that the common prior is estimated from
_BLOCK = 256  # groups at a time


class Supports:
    """What sizes and supports tell about single items.

    Args:
        items: The public universe.
        support: The noisy weighted supports of all items.
        size: The noisy number of records by number of items.

    Attributes:
        cap: How many items of a record count in full.
        full: Whether every record counts in full for each of its items. Else long records count for
            less, and how much an item loses by that is a model's guess.
        noisy: The weighted supports as they were drawn, in records.
        scale: The noise scale of a weighted support, in records.
        curve: How many records have each size.
        share: The share of all items that the weights keep.
        standard_error: How far noise alone moves an estimate that stands by itself.
    """

    def __init__(self, *, items: Items, support: Measurement, size: Measurement) -> None:
        self.items, self.support, self.size = items, support, size
        self.cap = cap_of(support)
        self.full = self.cap >= items.most
        self.noisy = support.values[:, 0] / WEIGHT
        self.scale = float(np.sqrt(support.tail_variance[0] / 2)) / WEIGHT
        deviation = float(np.sqrt(support.variance.sum())) / WEIGHT
        known = (self.cap, float(support.values.sum()) / WEIGHT, deviation)
        rate, counts = float(size.units[0] * size.unit), size.values[:, 0].astype(np.float64)
        self.curve = fit_sizes(size.where, counts, rate, items.most, [known])
        self.share = max(self.curve.share(self.cap), 1e-9)
        self.standard_error = math.sqrt(2) * self.scale / self.share

    @cached_property
    def singles(self) -> tuple[Floats, Floats]:
        """The estimated support of each item, and how far it may be off, as a variance.

        What stands out stays as it is, the rest is scaled so that all sum to the items of all
        records. The variance is a model's: noise, size and all together.
        """
        law = self.support.law
        value, noise = shrink(self.noisy, self.scale, prior_groups(self.items), law)
        clear = value >= clear_from(self.items.size, law) * self.scale
        value, noise = self.curve.supports(value, self.cap), noise / self.share**2
        left = self.curve.items - float(value[clear].sum())
        ratio = float(np.clip(left / max(float(value[~clear].sum()), 1e-9), *_TAIL))
        estimate = np.where(clear, value, value * ratio)
        noise = np.where(clear, noise, noise * ratio**2)
        scaled = (self.curve.deviation / max(self.curve.items, 1e-9)) ** 2
        noise += np.where(clear, 0.0, min(scaled, 1.0) * estimate**2)
        # chance, and a dependence of size and item
        by_weights = self.curve.spread(self.cap) * (estimate + (_DEPENDENCE * estimate) ** 2)
        return estimate, noise + by_weights

    def sums(self, groups: Sequence[Ints]) -> tuple[Floats, Floats]:
        """The weighted supports of groups of items together, and the deviations of their noise."""
        value = np.array([self.noisy[group].sum() for group in groups])
        number = np.array([len(group) for group in groups])
        return value, np.sqrt(2.0 * number) * self.scale

    def most_in_all(
        self, groups: Sequence[Ints], error: float, for_sizes: float, *, normal: bool
    ) -> float:
        """An upper bound on the records with something of every group: the least of theirs.

        Args:
            groups: The groups.
            error: The probability that the support of one lies beyond its bound on either side.
            for_sizes: That a bound by sizes fails.
            normal: Whether the noise of supports is Gaussian.
        """
        value, deviation = self.sums(groups)
        ends = value + half_width(deviation, 1 - error, normal=normal)
        return float(most_records(ends, self.size, self.items.most, self.cap, for_sizes).min())

    def bounds(self, groups: Sequence[Ints], level: float) -> tuple[Floats, Floats]:
        """Intervals for the number of records with anything of each group, each by itself.

        The error is shared by the lower end, the weighted support at the upper end, and the sizes
        of records. Most items are rare, and 0 is then the lower end whatever its part.
        """
        value, deviation = self.sums(groups)
        for_low, for_high, for_sizes = (part * (1 - level) for part in _PARTS)
        down, up = (
            half_width(deviation, 1 - 2 * error, normal=self.support.law == "gaussian")
            for error in (for_low, for_high)
        )
        number = np.array([len(group) for group in groups])
        low = (value - down) / np.minimum(number, self.cap)
        return low, most_records(value + up, self.size, self.items.most, self.cap, for_sizes)


def prior_groups(items: Items) -> Ints:
    """Where each group of items begins whose supports may be alike, and the end of the last.

    Example:
        >>> prior_groups(Items(range(100))).tolist()
        [0, 64, 100]
    """
    if not items.semantic:
        return np.append(np.arange(0, items.size, _NEIGHBORS), items.size)
    taxonomy = items.taxonomy
    starts = {0}
    for node, (low, high) in enumerate(taxonomy.spans):
        kids = [taxonomy.spans[kid] for kid in taxonomy.children[node]]
        if kids and all(last - first >= _LEAST_GROUP for first, last in kids):
            starts.update(first for first, _ in kids)
        if high - low >= _LEAST_GROUP:
            starts.update((low, high))
    return np.array(sorted(starts | {items.size}))


def clear_from(number: int, law: Law = "laplace") -> float:
    """From how many noise scales on a value is its own estimate: some 75 of all may be noise.

    A higher bar would shrink items that are there, a lower one would list many that are not.
    Gaussian noise, of the variance that Laplace noise of a scale has, exceeds a lower bar as often.

    Example:
        >>> round(clear_from(40_000), 1), round(clear_from(40_000, "gaussian"), 1), clear_from(1)
        (5.6, 4.1, 3.0)
    """
    bar = max(math.log(number) - 5, 3.0) if number else 3.0
    if law == "laplace":
        return bar
    return math.sqrt(2) * NormalDist().inv_cdf(1 - math.exp(-bar) / 2)


def shrink(
    noisy: Floats,
    scale: float,
    groups: Ints,
    law: Law = "laplace",
) -> tuple[Floats, Floats]:
    """Posterior means and variances, with a prior from all values and from those of each group.

    Args:
        noisy: Values with noise, none of which should be negative.
        scale: The noise scale, of Laplace noise with the same variance.
        groups: Where each group begins, and the end of the last.
        law: The law of the noise.

    Example:
        >>> mean, _ = shrink(np.array([0.0, 1, -2, 1, 0, 500]), 2.0, np.array([0, 6]))
        >>> mean.round(1).tolist()
        [0.2, 0.3, 0.2, 0.3, 0.2, 500.0]
    """

    def likelihood(values: Floats) -> Floats:
        away = values[:, None] - grid
        away = np.abs(away) / scale if law == "laplace" else (away / (2 * scale)) ** 2
        return np.asarray(np.exp(away.min(axis=1, keepdims=True) - away))

    high = 1.2 * max(float(noisy.max(initial=0.0)), 1.0) + 10 * scale
    grid = np.append(0.0, np.geomspace(scale / 20, high, _GRID - 1))
    vague = np.full(_GRID, 1 / _GRID)
    prior = vague
    sample = likelihood(noisy[:: -(-len(noisy) // _SAMPLE)])
    for _ in range(_ROUNDS):
        prior = (1 - _VAGUE) * _posterior(sample, prior).mean(axis=0) + _VAGUE * vague
    means, squares = np.empty(len(noisy)), np.empty(len(noisy))
    for first in range(0, len(groups) - 1, _BLOCK):
        ends = groups[first : first + _BLOCK + 1]
        here = slice(int(ends[0]), int(ends[-1]))
        kernel = likelihood(noisy[here])
        number = np.diff(ends)
        own = np.repeat(prior[None], len(number), axis=0)
        for _ in range(_GROUP_ROUNDS):
            weight = _posterior(kernel, np.repeat(own, number, axis=0))
            total = np.add.reduceat(weight, ends[:-1] - ends[0], axis=0)
            own = (total + _LIKE_ALL * prior) / (number + _LIKE_ALL)[:, None]
        weight = _posterior(kernel, np.repeat(own, number, axis=0))
        means[here], squares[here] = weight @ grid, weight @ grid**2
    clear = noisy > clear_from(len(noisy), law) * scale
    spread = np.where(clear, 2 * scale**2, np.maximum(squares - means**2, 0.0))
    return np.where(clear, noisy, means), spread


def _posterior(kernel: Floats, prior: Floats) -> Floats:
    weight = kernel * prior
    weight /= weight.sum(axis=1, keepdims=True)
    return weight
