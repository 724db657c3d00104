"""Guaranteed ends for weighted supports: what weights and sizes allow, and no model.

A record t that holds an item adds w(|t|) to the item's weighted support y, with w = 1 up to the cap
and falling after. So the support is at least y. And it is at most the largest number of records
whose weights sum to y, where no more than T(s) of them have s items or more: the longest ones
first. Both y and all T(s) are known up to noise.

**All T(s) at once.** T is the sum of the bins from s on, whose noise is a sum of k independent
Laplace noises of one scale. Such a sum is the difference of two waiting times for k events, and
exceeds t scales if, when the second ends, i < k events of the first have come, with probability
C(k - 1 + i, i) / 2^(k + i), and fewer than k - i more come in the time t. Each bin has the same
part of the error. The bounds hold for all bins, so that it does not matter that the cap was chosen
by the same noisy sizes; the noise of y was drawn after that.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from hedgerow.arrays import Floats
from hedgerow.estimate.itemsets.sizes import weights
from hedgerow.estimate.noise import LATTICE
from hedgerow.measured.measurements import Measurement

__all__ = ["MostRecords", "beyond", "tails"]


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
    found = np.cumsum(size.values[::-1, 0].astype(np.float64))
    scale = 1 / float(size.units[0] * size.unit)
    found += [beyond(k, error / bins) * scale + LATTICE for k in range(1, bins + 1)]
    return np.maximum(np.minimum.accumulate(found[::-1]), 0.0)


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
        low, high = (middle, high) if _exceeds(terms, middle) > error else (low, middle)
    return high


def _exceeds(terms: int, time: float) -> float:
    """The probability that a sum of so many Laplace noises of scale 1 exceeds a time."""
    events = [math.exp(-time)]
    for number in range(1, terms):
        events.append(events[-1] * time / number)
    at_most = np.cumsum(events)  # Poisson, up to each number
    chance, total = 0.5**terms, 0.0
    for before in range(terms):
        total += chance * float(at_most[terms - 1 - before])
        chance *= (terms + before) / (2 * (before + 1))
    return total


@dataclass(frozen=True, eq=False)
class MostRecords:
    """How many records can have weights of some sum, at most.

    Args:
        start: Sums of weights, increasing: those of all records of the longest bins.
        records: How many records these are.
        weight: The weight of each record that comes next.
    """

    start: Floats
    records: Floats
    weight: Floats

    @staticmethod
    def of(size: Measurement, most: int, cap: int, error: float) -> MostRecords:
        """By the sizes of records, up to an error.

        Args:
            size: The noisy sizes.
            most: The most items that a record can have.
            cap: The cap of the weights.
            error: The probability that a bound fails, at most.
        """
        bounds = tails(size, error)[::-1]
        last = np.append(size.where[1:] - 1, max(most, int(size.where[-1])))[::-1]
        weight = weights(last, cap)  # the least of each bin
        more = np.diff(bounds, prepend=0.0)
        sums = np.cumsum(more * weight)
        return MostRecords(np.append(0.0, sums[:-1]), np.append(0.0, bounds[:-1]), weight)

    def __call__(self, sums: Floats) -> Floats:
        """The most records for each sum of weights."""
        place = np.searchsorted(self.start, np.maximum(sums, 0.0), side="right") - 1
        rest = np.maximum(sums, 0.0) - self.start[place]
        with np.errstate(divide="ignore", invalid="ignore"):
            more = np.where(self.weight[place] > 0, rest / self.weight[place], np.inf)
        return np.asarray(self.records[place] + more)
