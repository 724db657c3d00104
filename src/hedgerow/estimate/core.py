"""Answers from the cells of a core: which core items a record holds, and how many others.

**Inside the core** a count is the sum of the cells that hold the items. It is taken twice: from the
noisy cells, unbiased but noisy, and from the cells as the fit sees them, smooth but perhaps off.
How far off the fit is, is measured by what both differ by beyond the noise, on all itemsets of as
many items; that is the weight of the noisy sum.

**Single items** were measured by their supports as well (`supports`). For an item of the
core both are combined by their variances, and the fitted cells are made to agree with the result.

**Beyond the core** only the number of a record's other items is known, by bins, and the support of
each item. There the items of a record are taken to be drawn at random, each by its support
(`Others`).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from hedgerow.arrays import Bools, Floats, Ints, Singles
from hedgerow.compiled import kernel
from hedgerow.errors import UsageError
from hedgerow.estimate.measurements import Measurement, half_width
from hedgerow.estimate.partition import CoreCells
from hedgerow.estimate.supports import Supports
from hedgerow.schema import Items

# What noisy counts of itemsets probably stand for: a smooth fit, and each cell drawn towards it.
#
# The counts of all cells are noisy, and most cells are nearly empty. Two steps make better numbers
# of them, from the release alone:
#
# 1. **A mixture.** Records are taken for a mixture of kinds, in each of which items come
#    independently, as does the number of other items. It is fitted by EM. Noisy counts may be
#    negative and are used as they are, so that noise averages out; but the fit moves a cell's count
#    only part of the way to its noisy value, by lambda / (lambda + tau v) of it for a fitted count
#    lambda and noise of variance v. With tau = 1 that solves the equations of weighted least
#    squares, slowly; with tau = 0 it is plain EM, in which empty cells add nothing but noise. In
#    between it is quick and good. A kind that noise alone could explain keeps a least weight.
# 2. **Shrinking.** The count of a cell is given a negative binomial prior of shape 2 whose mean is
#    the fit, or, once in a thousand cells, any size at all: n has the probability 1 / ((n + 1) (n +
#    2)). With discrete Laplace noise its posterior mean has a closed form: counts that stand out of
#    the noise stay what they are, all others go to the fit.
#
# A mixture of products splits over two halves of the items: the table of cells is a matrix, and
# every round of EM is a few products of small matrices.


SHAPE = 2
_SHORT = 64  # a sum of so few terms is added up as it is


def _steps(counts: Floats, *_: object) -> int:
    return 10 * len(counts) + int(np.clip(counts, 0, _SHORT).sum()) // 4


@kernel(steps=_steps)
def posterior(counts: Floats, means: Floats, epsilon: float, surprise: float, out: Floats) -> None:
    """Posterior means: sums of (n + 1) q^n a^|y - n| and n times that, below y and from y on.

    Args:
        counts: The noisy counts.
        means: The means of the negative binomial priors, above 0.
        epsilon: The rate of the noise, so that a = exp(-epsilon).
        surprise: The log of the probability that a count does not follow its prior.
        out: Filled with the posterior means.
    """
    a = math.exp(-epsilon)
    for i in range(len(counts)):
        y, q = counts[i], means[i] / (means[i] + SHAPE)
        r = q * a
        if y <= 0:
            out[i] = 2 * r / (1 - r)
            continue
        # from y on: n = y + j, over q^y
        g = 1 / (1 - r)
        above = (y + 1) * g + r * g * g
        above_n = y * (y + 1) * g + 2 * (y + 1) * r * g * g + 2 * r * r * g * g * g
        # below y, over a^y
        x = q / a
        d = 1 - x
        power = y * math.log(x)
        # both over the larger one of a^y and q^y
        scale, factor = (1.0, math.exp(power)) if power < 0 else (math.exp(-power), 1.0)
        below, below_n = 0.0, 0.0
        if y <= _SHORT:
            term = scale
            for n in range(int(y)):
                below += (n + 1) * term
                below_n += n * (n + 1) * term
                term *= x
        elif abs(y * d) < 0.5:  # the terms hardly curve: four points of Gauss and Legendre
            for k in range(4):
                node = 0.8611363115940526 if k in (0, 3) else 0.3399810435848563
                share = 0.3478548451374538 if k in (0, 3) else 0.6521451548625461
                n = y / 2 * (1 + (node if k > 1 else -node)) - 0.5
                term = share * y / 2 * (n + 1) * math.exp(n * math.log(x)) * scale
                below += term
                below_n += n * term
        else:
            below = (scale - factor * (1 + y * d)) / (d * d)
            bracket = y * (y + 1) * d * d + 2 * (y + 1) * x * d + 2 * x * x
            below_n = (2 * x * scale - factor * bracket) / (d * d * d)
        norm = above * factor + below
        mean = (above_n * factor + below_n) / norm
        # the log of the probability of y, less that of a surprise
        likely = math.log(norm) + max(y * math.log(q), -y * epsilon) + 2 * math.log1p(-q)
        likely += math.log((1 - a) / (1 + a)) - surprise + math.log((y + 1) * (y + 2))
        out[i] = mean + (y - mean) / (1 + math.exp(min(likely, 700.0)))


SURPRISE = 1e-3
TAU = 0.1
MOST_KINDS = 96
LEAPS = 20
_TINY = np.float32(1e-30)
_EDGE = 2e-4  # no probability comes closer to 0 or 1
_LEAST_BIN = 1e-4
_LEAST_KIND = 1e-6  # of the largest one
_LEAST_INSIDE = 1e-3  # of the fitted records lie where records can
_FARTHEST = 16.0  # times a step, that one may go beyond it
_FOR_ONE_THREAD = 1 << 18  # multiplications
_TILE = 16  # rows
_LEAST_MEAN = 1e-9
_ALL_BUT_EXACT = 30.0  # an epsilon at which noise is 0 but once in 10^13


class Mixture(NamedTuple):
    """Kinds of records.

    Args:
        weight: The share of each kind, shape [kinds].
        hold: The probability that a record of a kind holds each core item, [kinds, items].
        bins: The probability of each bin, [kinds, bins].
    """

    weight: Floats
    hold: Floats
    bins: Floats

    def table(self) -> Floats:
        """The probability of each cell, shape [2^items, bins]."""
        left, right = _halves(self.hold, self.bins, self.hold.shape[1] // 2)
        product = (left * self.weight[:, None]).T @ right
        return np.asarray(product, np.float64).reshape(-1, self.bins.shape[1])


def table_of(hold: Floats) -> Floats:
    """The probability of every mask, [kinds, 2^items], by doubling.

    Example:
        >>> table_of(np.array([[0.5, 0.25]])).tolist()
        [[0.375, 0.375, 0.125, 0.125]]
    """
    table = np.ones((len(hold), 1))
    for item in range(hold.shape[1]):
        chance = hold[:, item : item + 1]
        table = np.concatenate([table * (1 - chance), table * chance], axis=1)
    return table


def fit_cells(counts: Floats, possible: Bools, epsilon: float, total: float) -> Floats:
    """Noisy counts of cells, each drawn towards a fit of all; none is negative.

    Args:
        counts: The noisy counts, shape [2^items, bins]; 0 where no record can lie.
        possible: Where a record can lie.
        epsilon: The rate of the noise.
        total: The number of records, as far as it is known.

    Example:
        >>> noisy = np.array([[0.0], [60.0], [31.0], [-2.0]])
        >>> possible = np.array([[False], [True], [True], [True]])
        >>> fit_cells(noisy, possible, 1.0, 90.0).round().tolist()
        [[0.0], [60.0], [31.0], [0.0]]
    """
    items = len(counts).bit_length() - 1
    variance = max(0.5 / math.sinh(min(epsilon, 600) / 2) ** 2, 1e-9)
    kinds = int(np.clip(round(math.sqrt(counts.size) / 4), 2, MOST_KINDS))
    mixture = fit_mixture(counts, possible, items, kinds, variance, total)
    means = np.where(possible, mixture.table(), 0.0)
    held = float(means.sum())
    means *= total / held if held > 0 else 0.0
    return np.where(possible, posterior_means(counts, means, epsilon), 0.0)


def fit_mixture(
    counts: Floats,
    possible: Bools,
    items: int,
    kinds: int,
    variance: float,
    total: float,
    leaps: int = LEAPS,
) -> Mixture:
    """Fits kinds of records to noisy counts by EM; the same counts give the same kinds.

    Rounds of EM go ever less far, in nearly the same direction. So of three rounds the third begins
    where the first two point to (squared extrapolation, Varadhan and Roland 2008).

    Args:
        counts: The noisy counts, shape [2^items, bins].
        possible: Where a record can lie; the fit is free elsewhere.
        items: The number of core items.
        kinds: How many kinds.
        variance: The variance of the noise on each count.
        total: The number of records, as far as it is known.
        leaps: How many times three rounds.
    """
    improve = em_round(counts, possible, items, variance, total)
    numbers = np.random.Generator(np.random.PCG64(kinds))
    hold = 0.02 + 0.38 * numbers.random((kinds, items))
    share = -np.log1p(-numbers.random((kinds, counts.shape[1])))
    # kinds that differ from each other, the same ones every time
    now = Mixture(np.full(kinds, 1 / kinds), hold, share / share.sum(axis=1, keepdims=True))
    for _ in range(leaps):
        then = improve(now)
        steps = [
            (start, near - start, far - 2 * near + start)
            for start, near, far in zip(now, then, improve(then), strict=True)
        ]
        step = math.sqrt(sum(float((one * one).sum()) for _, one, _ in steps))
        turn = math.sqrt(sum(float((bend * bend).sum()) for _, _, bend in steps))
        times = min(max(step / max(turn, 1e-30), 1.0), _FARTHEST)
        ahead = (start + 2 * times * one + times**2 * bend for start, one, bend in steps)
        now = improve(_proper(*ahead))
    return now


def em_round(
    counts: Floats, possible: Bools, items: int, variance: float, total: float
) -> Callable[[Mixture], Mixture]:
    """One round of EM, a function from mixtures to better ones: see `fit_mixture`."""
    low = items // 2  # the items of the second half
    # half of the items by the other half and the bins
    shape = (1 << (items - low), (1 << low) * counts.shape[1])
    noisy = np.ascontiguousarray(counts.reshape(shape), np.float32)
    real = np.ascontiguousarray(possible.reshape(shape), np.float32)
    known, spread = max(total, 1.0), np.float32(TAU * variance)
    # what a kind that noise alone could explain is taken to hold, at least
    floor = math.sqrt(variance * np.count_nonzero(possible))

    def improve(mixture: Mixture) -> Mixture:
        kinds, bins = mixture.bins.shape
        left, right = _halves(mixture.hold, mixture.bins, low)
        left *= mixture.weight.astype(np.float32)[:, None]
        means = _product(left.T, right)
        inside = float((means * real).sum())
        records = np.float32(known / max(inside, _LEAST_INSIDE))
        means *= records
        np.maximum(means, _TINY, out=means)
        # how far each fitted count moves, and the sums of that by kind
        ratio = 1 + real * (noisy - means) / (means + spread)
        left *= records
        by_left, by_right = left * _product(ratio, right.T).T, right * _product(left, ratio)
        held = np.maximum(by_left.sum(axis=1, dtype=np.float64), floor)
        by_bin = by_right.reshape(kinds, -1, bins)
        ones = np.concatenate([_held(by_bin.sum(axis=2)), _held(by_left)], axis=1)
        return _proper(held, ones / held[:, None], by_bin.sum(axis=1) / held[:, None])

    return improve


def _proper(weight: Floats, hold: Floats, bins: Floats) -> Mixture:
    """A mixture of probabilities, none of them quite 0."""
    weight = np.maximum(weight, _LEAST_KIND * weight.max())
    bins = np.clip(bins, _LEAST_BIN, 1)
    return Mixture(
        weight=weight / weight.sum(),
        hold=np.clip(hold, _EDGE, 1 - _EDGE),
        bins=bins / bins.sum(axis=1, keepdims=True),
    )


def _product(left: Singles, right: Singles) -> Singles:
    """A product of matrices by tiles that are too small for OpenBLAS to share out.

    Its threads wait for each other in loops, on a busy machine for ten times as long as they work.

    Example:
        >>> _product(np.ones((2, 3), np.float32), np.ones((3, 1), np.float32)).tolist()
        [[3.0], [3.0]]
    """
    product = np.empty((len(left), right.shape[1]), np.float32)
    wide = max(_FOR_ONE_THREAD // (_TILE * len(right)), _TILE)
    for i in range(0, len(left), _TILE):
        for j in range(0, right.shape[1], wide):
            tile = np.s_[i : i + _TILE, j : j + wide]
            np.matmul(left[tile[0]], right[:, tile[1]], out=product[tile])
    return product


def _halves(hold: Floats, share: Floats, low: int) -> tuple[Singles, Singles]:
    """The probabilities of the masks of either half, the bins with the second."""
    left = table_of(hold[:, low:]).astype(np.float32)
    right = table_of(hold[:, :low])[:, :, None] * share[:, None, :]
    return left, right.reshape(len(hold), -1).astype(np.float32)


def _held(table: Singles) -> Singles:
    """For each item the sum over the masks that hold it, [kinds, items], by halving."""
    sums = []
    while table.shape[1] > 1:
        half = table.shape[1] // 2
        sums.append(table[:, half:].sum(axis=1))
        table = table[:, :half] + table[:, half:]
    return np.stack(sums[::-1], axis=1) if sums else np.zeros((len(table), 0), np.float32)


def posterior_means(counts: Floats, means: Floats, epsilon: float) -> Floats:
    """The mean of each count given its noisy value.

    Args:
        counts: The noisy values, whole numbers.
        means: The means of the negative binomial priors.
        epsilon: The rate of the discrete Laplace noise.

    Example:
        >>> posterior_means(np.array([0.0, 50.0]), np.array([0.1, 0.1]), 1.0).round(2).tolist()
        [0.04, 50.0]
    """
    if epsilon > _ALL_BUT_EXACT:
        return np.maximum(counts, 0.0)
    out = np.empty(counts.size)
    prior = np.maximum(means.ravel(), _LEAST_MEAN)
    posterior(counts.ravel(), prior, epsilon, math.log(SURPRISE), out)
    return out.reshape(counts.shape)


# The items beyond a core: how many a record has, and which, as if drawn at random.
#
# The number of a record's other items is known by bins; within a bin it is spread as the curve of
# sizes has it (`SizeCurve`), and the last, open bin is bent so that all records together have as
# many items as the supports say.
#
# A record with n others has each item with probability 1 - exp(-l p), where p is the item's pull
# and l such that n items are expected. That is, nearly, drawing n different items one by one, and
# no item is held twice. Pulls are found such that every item is held as often as its support says.


_CLASSES = 160  # of items with about the same support, which are worked out together
_ROUNDS = 6
_HALVINGS = 40
_DRAWS = 8


class Others:
    """Numbers and pulls of the items beyond a core.

    Args:
        model: What sizes, supports and the cells of a core speak for.

    Attributes:
        numbers: The numbers of other items that records can have.
        chance: The probability of each number within each bin, shape [bins, numbers].
        pull: The pull of each item, 0 for core items.
        reach: For each number what pulls are multiplied by.
    """

    def __init__(self, model: CoreModel) -> None:
        assert model.supports is not None
        rest = model.partition.rest
        held = np.where(model.bit < 0, model.singles, 0.0)
        most = min(model.items.most, int(np.count_nonzero(model.bit < 0)))
        steps = [0]  # numbers of items, single to 32 and then 16 an octave
        while steps[-1] < most:
            steps.append(steps[-1] + max(1, (1 << max(steps[-1].bit_length() - 1, 0)) // 16))
        numbers = np.minimum(steps, most)
        stretch = np.diff((numbers[1:] + numbers[:-1]) / 2, prepend=-0.5, append=most + 0.5)
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
        self.numbers, self.chance = numbers, chance
        self.pull, self.reach = _pulls(held, numbers, records @ chance)

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

    def draw(self, bins: Ints, random: np.random.Generator) -> tuple[Ints, Ints]:
        """Different other items for each record, by its bin, as pairs of record and item.

        Items that come twice are drawn again, a few times; what is then missing is left out.
        """
        missing, keys = np.zeros(len(bins), np.int64), np.zeros(0, np.int64)
        for place, chance in enumerate(self.chance):
            here = np.flatnonzero(bins == place)
            missing[here] = self.numbers[_draw(np.cumsum(chance), len(here), random)]
        number, steps, size = missing, np.cumsum(self.pull), len(self.pull)
        if not size or steps[-1] <= 0:
            return keys, keys
        for _ in range(_DRAWS):
            record = np.repeat(np.arange(len(number)), missing)
            drawn = record * size + _draw(steps, len(record), random)
            keys = np.sort(np.concatenate([keys, drawn]))  # `np.unique` takes ten times as long
            keys = keys[np.diff(keys, prepend=-1) > 0]
            missing = number - np.bincount(keys // size, minlength=len(number))
            if not missing.any():
                break
        record, code = np.divmod(keys, size)
        return record, code


def _draw(steps: Floats, number: int, random: np.random.Generator) -> Ints:
    """So many places, each as often as its step is high."""
    place = np.searchsorted(steps, random.random(number) * steps[-1], side="right")
    return np.asarray(np.minimum(place, len(steps) - 1))


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
    common = wanted / wanted.sum()
    reach = np.zeros(len(numbers))
    for _ in range(_ROUNDS):
        reach = _reaches(common, members, numbers)
        expected = records @ -np.expm1(-reach[:, None] * common)
        common = common * np.clip(wanted / np.maximum(expected, 1e-300), 0.2, 5.0)
    reach = _reaches(common, members, numbers)
    which = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(order))))
    pull[order] = held[order] / wanted[which] * common[which]
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
