"""The items beyond a core: how many a record has, and which, as if drawn from one urn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hedgerow.arrays import Floats, Ints
from hedgerow.estimate.itemsets.listing import public_threshold

if TYPE_CHECKING:
    from hedgerow.estimate.itemsets.core import CoreModel

__all__ = ["Urn", "draw_others", "truncation"]


_LONGEST = 4.0  # the mean of the open bin, in multiples of where it begins
_MOST_NUMBERS = 100_000
_CLEAR = 100.0  # deviations by which a sum must stand out before it is divided by
_ROUNDS = 8


@dataclass(frozen=True, eq=False)
class Urn:
    """Numbers and shares of the items beyond a core.

    Args:
        numbers: The numbers of other items that records can have.
        chance: The probability of each number within each bin, shape [bins, numbers].
        share: The share of each item among all others, 0 for core items; sums to 1 at most.
        support: The estimated support of each item, from noisy supports alone.
    """

    numbers: Ints
    chance: Floats
    share: Floats
    support: Floats

    @property
    def largest(self) -> float:
        """The largest number, by which moments are scaled."""
        return float(max(self.numbers[-1], 1))

    def moments(self, times: int) -> Floats:
        """Per bin the mean of n (n - 1) ... over so many factors, each divided by `largest`."""
        product = np.ones(len(self.numbers))
        for step in range(times):
            product *= np.maximum(self.numbers - step, 0) / self.largest
        return np.asarray(self.chance @ product)

    @staticmethod
    def of(model: CoreModel) -> Urn:
        """The urn that the measurements of a core's cells and of supports speak for."""
        rest, size = model.partition.rest, model.items.size
        beyond = model.bit < 0
        most = min(model.most, int(np.count_nonzero(beyond)))
        support = np.zeros(size)
        if model.support is not None:
            support = np.maximum(model.support.values[:, 0], 0) * truncation(model)
        held = np.where(beyond, support, 0.0)
        last = np.append(rest[1:] - 1, max(most, rest[-1]))
        middle = (rest + last) / 2
        tail = float(min(middle[-1], 2 * int(rest[-1])))  # a stranger may claim any number
        records = model.shrunk.sum(axis=0)
        if model.support is not None and records[-1] > 0 and len(rest) > 1:
            need = (held.sum() - (records * middle)[:-1].sum()) / records[-1]
            tail = min(max(need, float(rest[-1])), _LONGEST * max(int(rest[-1]), 1), most)
        largest = int(max(min(last[-1], rest[-1] + 40 * (tail - rest[-1]) + 1, _MOST_NUMBERS), 0))
        numbers = np.arange(largest + 1)
        chance = ((numbers >= rest[:, None]) & (numbers <= last[:, None])).astype(np.float64)
        over = np.maximum(numbers - rest[-1], 0)
        chance[-1] *= (1 - 1 / (1 + max(tail - rest[-1], 0.0))) ** over  # geometric
        chance /= np.maximum(chance.sum(axis=1, keepdims=True), 1e-300)
        others = float((records * (chance @ numbers)).sum())
        share = held / max(others, held.sum(), 1.0)
        if not held.any() and beyond.any():
            share = beyond / np.count_nonzero(beyond)
        return Urn(numbers, chance, share, support)

    def draw_numbers(self, bins: Ints, random: np.random.Generator) -> Ints:
        """A number of other items for each record, by its bin."""
        number = np.zeros(len(bins), np.int64)
        for place in range(len(self.chance)):
            here = np.flatnonzero(bins == place)
            steps = np.cumsum(self.chance[place])
            drawn = np.searchsorted(steps, random.random(len(here)) * steps[-1], side="right")
            number[here] = self.numbers[np.minimum(drawn, len(self.numbers) - 1)]
        return number


def draw_others(urn: Urn, number: Ints, random: np.random.Generator) -> tuple[Ints, Ints]:
    """So many different items beyond the core for each record, as pairs of record and item.

    Items that come twice are drawn again, a few times; what is then missing is left out.
    """
    steps = np.cumsum(urn.share)
    size = len(urn.share)
    found = np.zeros(0, np.int64)
    if not len(steps) or steps[-1] <= 0:
        return found, found
    missing = number
    for _ in range(_ROUNDS):
        record = np.repeat(np.arange(len(number)), missing)
        place = np.searchsorted(steps, random.random(len(record)) * steps[-1], side="right")
        drawn = record * size + np.minimum(place, size - 1)
        found = np.unique(np.concatenate([found, drawn]))
        missing = number - np.bincount(found // size, minlength=len(number))
        if not missing.any():
            break
    record, code = np.divmod(found, size)
    return record, code


def truncation(model: CoreModel) -> float:
    """By how much supports are too small because long records count for some items only.

    Inside the core both are known: the supports, and what the cells say. Where these are too
    noisy to be divided, the noisy sizes tell, as far as they stand out of their noise.
    """
    assert model.support is not None
    cap, most = model.support.max_contribution, model.most
    if cap >= most:
        return 1.0
    core = model.partition.core
    known = float(model.support.values[core, 0].sum())
    rate = float(model.support.units[0] * model.support.unit)
    cells = 2 * model.raw.size * (len(core) / 2) ** 2 / model.rate**2
    noise = np.sqrt(cells + 2 * len(core) / rate**2)
    if len(core) and known > _CLEAR * noise:
        return float(np.clip(_singles(model) / known, 1.0, most / cap))
    if model.size is None:
        return 1.0
    edges = model.size.where
    middle = (edges + np.minimum(np.append(edges[1:] - 1, most), 2 * edges)) / 2
    held = model.size.values[:, 0]
    # one far bin of noise alone would outweigh all others, so that hardly ever one may pass
    least = public_threshold(float(model.size.units[0] * model.size.unit), 50 * len(edges))
    held = np.where(held >= least, held, 0)
    kept = float((held * np.minimum(middle, cap)).sum())
    return float(np.clip((held * middle).sum() / kept, 1.0, most / cap)) if kept > 0 else 1.0


def _singles(model: CoreModel) -> float:
    """What the cells say about the supports of the core items, all together."""
    return float(model.shrunk.sum(axis=1) @ model.order)
