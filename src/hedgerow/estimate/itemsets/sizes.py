"""How many records have each number of items: a smooth curve through noisy bins.

The log of the number of records by size is taken for a curve in the log of the size: linear between
the middles of the bins, with bends that are as likely as those of an integrated Wiener process, and
falling at least as the power `FALL` of the size beyond twice the median, where it also falls ever
faster: a bend the other way is ten times less likely. The likeliest curve is
found by Gauss and Newton's method under the law of the noise, whose tails are those of Laplace: a
single bin of noise does not bend the curve. Sums over records that other measurements tell (of
min(size, cap)) hold it, too.

This is a model for estimates. No interval relies on it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hedgerow.arrays import Bools, Floats, Ints
from hedgerow.schema.items import WEIGHT

__all__ = ["KnownSum", "SizeCurve", "fit_sizes", "weights"]


FALL = 2.0
_SOFT = 0.3  # how far from that power the curve may fall, about
_BEND = 3.0  # the deviation of a bend over one unit of the log of the size
_HOLLOW = 10.0  # by how much smaller it is for bends upwards in the tail
_POINTS = 16  # sizes of a wide bin that stand for all
_ROUNDS = 40
_PULLS = 400  # that are tried for an item
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

    def kept(self, cap: int) -> float:
        """The items that weights for a cap keep."""
        return float((self.size * self.records) @ weights(self.size, cap))

    def share(self, cap: int) -> float:
        """The share of all items that weights for a cap keep."""
        return self.kept(cap) / self.items if self.items > 0 else 1.0

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
        found = np.interp(weighed, kept, all_of_them)
        beyond = np.where(weighed > kept[-1], weighed - kept[-1], 0.0)
        return np.asarray(np.where(weighed > kept[0], found + beyond, weighed / self.share(cap)))

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


@dataclass(frozen=True)
class KnownSum:
    """A noisy sum over all records of min(size, cap), as far as weights keep it.

    Args:
        cap: The cap.
        value: The noisy sum.
        deviation: The standard deviation of its noise.
    """

    cap: int
    value: float
    deviation: float


def fit_sizes(
    edges: Ints, counts: Floats, rate: float, most: int, sums: Sequence[KnownSum] = ()
) -> SizeCurve:
    """The likeliest curve.

    Args:
        edges: The lower ends of the bins.
        counts: The noisy number of records in each.
        rate: The epsilon of the noise on each.
        most: The most items that a record can have.
        sums: What else is known.

    Example:
        >>> curve = fit_sizes(np.array([1, 2, 3]), np.array([500.0, 70.0, 18.0]), 1.0, 3)
        >>> curve.size.tolist(), round(float(curve.records.sum()))
        ([1.0, 2.0, 3.0], 588)
    """
    most = max(most, int(edges[-1]))  # a stranger may claim any bins
    size, stretch, bin_of = _points(edges, most)
    if len(edges) == 1:
        records = stretch * max(float(counts.sum()), 0.0) / stretch.sum()
        return SizeCurve(size=size, stretch=stretch, records=records)
    task = _Task.of(edges, counts, rate, most, sums, (size, stretch, bin_of))
    curve = np.log(max(float(counts.sum()), 1.0)) - 1.5 * task.middle - 2
    now = task.state(curve)
    damping = 1e-3
    for _ in range(_ROUNDS):
        matrix, gradient = task.normal(now)
        matrix[np.diag_indices_from(matrix)] *= 1 + damping
        step = np.clip(np.linalg.solve(matrix, gradient), -2, 2)
        then = task.state(curve + step)
        if then.cost >= now.cost:
            damping *= 5
            if damping > 1e6:
                break
            continue
        gain, curve, now = now.cost - then.cost, curve + step, then
        damping = max(damping / 5, 1e-9)
        if gain < 1e-5 * max(now.cost, 1.0):
            break
    records = now.density * stretch
    slope = (size * records) @ task.knots
    matrix, _ = task.normal(now)
    matrix[np.diag_indices_from(matrix)] *= 1 + 1e-9
    deviation = math.sqrt(max(float(slope @ np.linalg.solve(matrix, slope)), 0.0))
    return SizeCurve(size=size, stretch=stretch, records=records, deviation=deviation)


def _points(edges: Ints, most: int) -> tuple[Floats, Floats, Ints]:
    """The sizes that the curve is summed over, how many sizes each stands for, and their bins."""
    size, stretch, bin_of = [], [], []
    for place, (first, last) in enumerate(zip(edges, np.append(edges[1:] - 1, most), strict=True)):
        width = int(last - first + 1)
        cuts = first + np.arange(min(width, _POINTS) + 1) * width // min(width, _POINTS)
        size.append((cuts[:-1] + cuts[1:] - 1) / 2)
        stretch.append(np.diff(cuts).astype(np.float64))
        bin_of.append(np.full(len(cuts) - 1, place))
    return np.concatenate(size), np.concatenate(stretch), np.concatenate(bin_of)


@dataclass(frozen=True, eq=False, kw_only=True)
class _State:
    density: Floats
    rest: Floats
    bends: Floats
    slow: Floats
    cost: float


@dataclass(frozen=True, eq=False, kw_only=True)
class _Task:
    """What the curve is held to, as matrices.

    Args:
        middle: The log of the middle of each bin, where the curve has its knots.
        knots: From knots to the log of the density at each point.
        slopes: From knots to slopes between them.
        bends: From knots to bends, in deviations.
        late: Which slopes should fall.
        sums: From densities to what was measured: the bins, then the known sums.
        values: What was measured.
        scale: The noise scale of a bin.
        deviation: The deviations of the known sums.
    """

    middle: Floats
    knots: Floats
    slopes: Floats
    bends: Floats
    late: Bools
    sums: Floats
    values: Floats
    scale: float
    deviation: Floats

    @staticmethod
    def of(
        edges: Ints,
        counts: Floats,
        rate: float,
        most: int,
        known: Sequence[KnownSum],
        points: tuple[Floats, Floats, Ints],
    ) -> _Task:
        size, stretch, bin_of = points
        bins, each = len(edges), np.arange(len(size))
        middle = np.log((edges + np.append(edges[1:] - 1, most)) / 2)
        left = np.clip(np.searchsorted(middle, np.log(size), side="right") - 1, 0, bins - 2)
        part = (np.log(size) - middle[left]) / np.diff(middle)[left]
        knots = np.zeros((len(size), bins))
        knots[each, left] += 1 - part
        knots[each, left + 1] += part
        steps = np.diff(middle)
        slopes = (np.eye(bins)[1:] - np.eye(bins)[:-1]) / steps[:, None]
        width = np.sqrt((steps[1:] + steps[:-1]) / 2)
        cover = np.zeros((bins + len(known), len(size)))
        cover[bin_of, each] = stretch
        for place, one in enumerate(known):
            cover[bins + place] = stretch * size * weights(size, one.cap)
        half = np.argmax(np.cumsum(counts) >= max(float(counts.sum()), 1.0) / 2)
        late = np.exp(middle[:-1]) >= 2 * edges[half]
        return _Task(
            middle=middle,
            knots=knots,
            slopes=slopes,
            bends=np.diff(slopes, axis=0) / width[:, None] / _BEND,
            late=late,
            sums=cover,
            values=np.append(counts, [one.value for one in known]),
            scale=1 / rate,
            deviation=np.array([one.deviation for one in known]),
        )

    def state(self, curve: Floats) -> _State:
        density = np.exp(np.clip(self.knots @ curve, -40, 40))
        rest = self.values - self.sums @ density
        bins = len(curve)
        bends = self.bends @ curve
        bends *= self._dear(bends)
        slow = np.where(self.late, np.maximum(self.slopes @ curve + FALL, 0), 0) / _SOFT
        cost = 2 * (self._rounded(rest[:bins]) / self.scale).sum()
        cost += ((rest[bins:] / self.deviation) ** 2).sum()
        return _State(
            density=density,
            rest=rest,
            bends=bends,
            slow=slow,
            cost=float(cost + bends @ bends + slow @ slow),
        )

    def normal(self, now: _State) -> tuple[Floats, Floats]:
        """The matrix and the right side of the next step."""
        bins = len(self.middle)
        weight = np.append(1 / (self.scale * self._rounded(now.rest[:bins])), 1 / self.deviation**2)
        slope = (self.sums * now.density) @ self.knots
        falls = self.slopes[now.slow > 0] / _SOFT
        bends = self.bends * self._dear(now.bends)[:, None]
        matrix = (slope.T * weight) @ slope + bends.T @ bends + falls.T @ falls
        gradient = slope.T @ (weight * now.rest) - bends.T @ now.bends
        return matrix, gradient - falls.T @ now.slow[now.slow > 0]

    def _dear(self, bends: Floats) -> Floats:
        """What bends cost: more where a curve that falls would fall less."""
        return np.where((bends > 0) & self.late[1:], _HOLLOW, 1.0)

    def _rounded(self, rest: Floats) -> Floats:
        return np.sqrt(rest**2 + (_KINK * self.scale) ** 2)
