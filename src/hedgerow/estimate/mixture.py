"""What noisy counts of itemsets probably stand for: a smooth fit, and each cell drawn towards it.

The counts of all cells are noisy, and most cells are nearly empty. Two steps make better numbers of
them, from the release alone:

1. **A mixture.** Records are taken for a mixture of kinds, in each of which items come
   independently, as does the number of other items. It is fitted by EM. Noisy counts may be
   negative and are used as they are, so that noise averages out; but the fit moves a cell's count
   only part of the way to its noisy value, by lambda / (lambda + tau v) of it for a fitted count
   lambda and noise of variance v. With tau = 1 that solves the equations of weighted least squares,
   slowly; with tau = 0 it is plain EM, in which empty cells add nothing but noise. In between it is
   quick and good. A kind that noise alone could explain keeps a least weight.
2. **Shrinking.** The count of a cell is given a negative binomial prior of shape 2 whose mean is
   the fit, or, once in a thousand cells, any size at all: n has the probability
   1 / ((n + 1) (n + 2)). With discrete Laplace noise its posterior mean has a closed form: counts
   that stand out of the noise stay what they are, all others go to the fit.

A mixture of products splits over two halves of the items: the table of cells is a matrix, and every
round of EM is a few products of small matrices.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from hedgerow.arrays import Bools, Floats, Ints, Singles
from hedgerow.compiled import kernel

if TYPE_CHECKING:
    from hedgerow.estimate.core import CoreModel

# The loop.


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
