"""The items beyond a core: how many a record has, and which, as if drawn at random.

The number of a record's other items is known by bins; within a bin it is spread as the curve of
sizes has it (`itemsets.sizes`), and the last, open bin is bent so that all records together have as
many items as the supports say.

A record with n others has each item with probability 1 - exp(-l p), where p is the item's pull and
l such that n items are expected. That is, nearly, drawing n different items one by one, and no item
is held twice. Pulls are found such that every item is held as often as its support says.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hedgerow.arrays import Floats, Ints

if TYPE_CHECKING:
    from hedgerow.estimate.itemsets.core import CoreModel

__all__ = ["Others", "draw_others"]


_CLASSES = 160  # of items with about the same support, which are worked out together
_ROUNDS = 6
_HALVINGS = 40
_DRAWS = 8


@dataclass(frozen=True, eq=False, kw_only=True)
class Others:
    """Numbers and pulls of the items beyond a core.

    Args:
        numbers: The numbers of other items that records can have.
        chance: The probability of each number within each bin, shape [bins, numbers].
        pull: The pull of each item, 0 for core items.
        reach: For each number what pulls are multiplied by.
    """

    numbers: Ints
    chance: Floats
    pull: Floats
    reach: Floats

    def hold(self, codes: Ints) -> Floats:
        """The probability of holding each item by the number of others, shape [numbers, codes]."""
        return np.asarray(-np.expm1(-self.reach[:, None] * self.pull[codes]))

    def hold_any(self, codes: Ints) -> Floats:
        """The probability of holding any of some items, by the number of others."""
        number = np.maximum(self.numbers, 1)
        share = np.minimum(self.hold(codes).sum(axis=1) / number, 1.0)
        return np.asarray(1 - (1 - share) ** number)

    def together(self, codes: Ints) -> Floats:
        """The probability of holding all items of each row of codes, by bin: [rows, bins]."""
        product = np.ones((len(codes), len(self.numbers)))
        for held, column in enumerate(codes.T):
            product *= self.hold(column).T
            # each item that is held leaves one place less for the next
            product *= np.maximum(1 - held / np.maximum(self.numbers, 1), 0.0)
        return np.asarray(product @ self.chance.T)

    @staticmethod
    def of(model: CoreModel) -> Others:
        """What sizes, supports and the cells of a core speak for."""
        assert model.supports is not None
        rest = model.partition.rest
        held = np.where(model.bit < 0, model.singles, 0.0)
        most = min(model.most, int(np.count_nonzero(model.bit < 0)))
        numbers, stretch = _numbers(most)
        last = np.append(rest[1:] - 1, max(most, int(rest[-1])))
        records = model.shrunk.sum(axis=0)
        core = (model.shrunk * model.order[:, None]).sum(axis=0) / np.maximum(records, 1e-9)
        density = np.stack([model.supports.curve.density(numbers + more) for more in core])
        inside = (numbers >= rest[:, None]) & (numbers <= last[:, None])
        chance = np.where(inside, density * stretch, 0.0)
        chance /= np.maximum(chance.sum(axis=1, keepdims=True), 1e-300)
        before = float((records * (chance @ numbers))[:-1].sum())
        if records[-1] > 0:
            chance[-1] = _bent(chance[-1], numbers, (float(held.sum()) - before) / records[-1])
        pull, reach = _pulls(held, numbers, records @ chance)
        return Others(numbers=numbers, chance=chance, pull=pull, reach=reach)

    def draw_numbers(self, bins: Ints, random: np.random.Generator) -> Ints:
        """A number of other items for each record, by its bin."""
        number = np.zeros(len(bins), np.int64)
        for place in range(len(self.chance)):
            here = np.flatnonzero(bins == place)
            steps = np.cumsum(self.chance[place])
            drawn = np.searchsorted(steps, random.random(len(here)) * steps[-1], side="right")
            number[here] = self.numbers[np.minimum(drawn, len(self.numbers) - 1)]
        return number


def _numbers(most: int) -> tuple[Ints, Floats]:
    """Numbers of items, single to 32 and then 16 an octave, and how many each stands for."""
    found = [0]
    while found[-1] < most:
        found.append(found[-1] + max(1, (1 << max(found[-1].bit_length() - 1, 0)) // 16))
    numbers = np.minimum(found, most)
    ends = np.append((numbers[1:] + numbers[:-1]) / 2, most + 0.5)
    return numbers, np.diff(ends, prepend=-0.5)


def _bent(chance: Floats, numbers: Ints, mean: float) -> Floats:
    """Probabilities times a power of their number, so that they have a mean, if they can."""
    logs = np.log(np.maximum(numbers, 1))
    low, high = -6.0, 6.0
    for _ in range(_HALVINGS):
        power = (low + high) / 2
        bent = chance * np.exp(power * (logs - logs[-1]))
        bent /= max(float(bent.sum()), 1e-300)
        low, high = (power, high) if float(bent @ numbers) < mean else (low, power)
    return np.asarray(bent)


def _pulls(held: Floats, numbers: Ints, records: Floats) -> tuple[Floats, Floats]:
    """Pulls under which each item is held as often as it should be, and reaches by number."""
    order = np.argsort(-held, kind="stable")
    order = order[held[order] > 0]
    pull = np.zeros(len(held))
    if not len(order):
        return pull, np.zeros(len(numbers))
    starts = np.unique(np.geomspace(1, len(order) + 1, _CLASSES).astype(np.int64) - 1)[:-1]
    members = np.diff(np.append(starts, len(order))).astype(np.float64)
    wanted = np.add.reduceat(held[order], starts) / members
    found = wanted / wanted.sum()
    reach = np.zeros(len(numbers))
    for _ in range(_ROUNDS):
        reach = _reaches(found, members, numbers)
        expected = records @ -np.expm1(-reach[:, None] * found)
        found = found * np.clip(wanted / np.maximum(expected, 1e-300), 0.2, 5.0)
    reach = _reaches(found, members, numbers)
    which = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(order))))
    pull[order] = held[order] / wanted[which] * found[which]
    return pull, reach


def _reaches(pull: Floats, members: Floats, numbers: Ints) -> Floats:
    """For each number what pulls must be multiplied by for so many items to be expected."""
    wanted = np.minimum(numbers, 0.999 * members.sum())
    low = np.full(len(numbers), -30.0)
    high = np.full(len(numbers), 60.0) - np.log(pull.min())
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        expected = -np.expm1(-np.exp(middle)[:, None] * pull) @ members
        below = expected < wanted
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return np.asarray(np.where(numbers > 0, np.exp(low), 0.0))


def draw_others(pull: Floats, number: Ints, random: np.random.Generator) -> tuple[Ints, Ints]:
    """So many different items for each record, by their pulls, as pairs of record and item.

    Items that come twice are drawn again, a few times; what is then missing is left out.
    """
    steps = np.cumsum(pull)
    size = len(pull)
    found = np.zeros(0, np.int64)
    if not len(steps) or steps[-1] <= 0:
        return found, found
    missing = number
    for _ in range(_DRAWS):
        record = np.repeat(np.arange(len(number)), missing)
        place = np.searchsorted(steps, random.random(len(record)) * steps[-1], side="right")
        drawn = record * size + np.minimum(place, size - 1)
        found = np.unique(np.concatenate([found, drawn]))
        missing = number - np.bincount(found // size, minlength=len(number))
        if not missing.any():
            break
    record, code = np.divmod(found, size)
    return record, code
