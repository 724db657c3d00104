"""Drawing: the mechanisms themselves, over a keystream.

`Sampler` is what a curator draws from. `SecureSampler` really draws; the replay audit puts another
one in its place that forces the outcomes of an earlier run and tells how likely they were.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Literal, Protocol, TypeVar

import numpy as np

from hedgerow.arrays import Bools, Ints, Small, Words
from hedgerow.privacy import sampler_kernels
from hedgerow.privacy.budget import LARGEST_TERM
from hedgerow.privacy.keystream import Keystream


@dataclass(frozen=True, kw_only=True)
class Candidates:
    """Exact scores; travels sealed.

    The runs of node i are those from `start[i]` to `start[i + 1]`. A run stands for `count`
    candidates: the cuts `first`, `first + 1`, ... of an attribute's part (or one candidate,
    the children of a taxonomy node, with first = -1). Which runs there are depends on the data;
    which candidates there are, and their base weights, does not.

    Args:
        start: [nodes + 1].
        score: Integer scores, larger is better.
        weight: The public base weight of each candidate of the run.
        count: The number of candidates in the run.
        part: Which attribute (or, for DiffGen, which value of the cut) is specialized.
        first: The first cut of the run.
    """

    start: Ints
    score: Ints
    weight: Ints
    count: Ints
    part: Ints
    first: Ints


@dataclass(frozen=True)
class Choices:
    """What was chosen for each node: a part and a cut (-1: the children of a taxonomy node)."""

    part: Ints
    cut: Ints


CellNodes = Small  # one row for each: a node of every attribute
C = TypeVar("C", CellNodes, Ints)

_TRIALS = 4096  # of one cell between two looks at how much randomness is left

MOST_FLIPS = 1024  # permute-and-flip lists its candidates; beyond this the exponential mechanism


@dataclass(frozen=True, kw_only=True)
class Rates:
    """Exact fractions, one for each item: item i has `values[which[i]]`.

    Example:
        >>> Rates.of(np.array([7, 5, 7]), lambda units: Fraction(units, 10)).values
        (Fraction(1, 2), Fraction(7, 10))
    """

    values: tuple[Fraction, ...]
    which: Ints
    purpose: str = ""  # what the draw is for; audits tell steps apart by it
    prices: tuple[Fraction, ...] = ()  # what was charged for each value; audits hold it to that

    @staticmethod
    def of(
        units: Ints,
        rate: Callable[[int], Fraction],
        purpose: str = "",
        price: Callable[[int], Fraction] | None = None,
    ) -> Rates:
        """The rates that units of charge buy."""
        if len(units) and (units == units[0]).all():  # as almost always
            distinct, which = units[:1], np.zeros(len(units), dtype=np.int64)
        else:
            distinct, which = np.unique(units, return_inverse=True)
        rates = tuple(rate(unit) for unit in distinct.tolist())
        prices = tuple(price(unit) for unit in distinct.tolist()) if price else ()
        return Rates(values=rates, which=which, purpose=purpose, prices=prices)

    @staticmethod
    def alike(rate: Fraction, number: int) -> Rates:
        """The same rate for so many items."""
        return Rates(values=(rate,), which=np.zeros(number, dtype=np.int64))

    def terms(self, repeat: int = 1) -> tuple[Ints, Ints]:
        """Numerators and denominators for the samplers, each repeated for a row's columns."""
        for value in self.values:
            if not (0 < value.numerator < LARGEST_TERM and value.denominator < LARGEST_TERM):
                raise OverflowError("a rate does not fit the samplers")
        which = np.repeat(self.which, repeat)
        a = np.asarray([value.numerator for value in self.values], dtype=np.int64)
        b = np.asarray([value.denominator for value in self.values], dtype=np.int64)
        return a[which], b[which]


@dataclass(frozen=True, kw_only=True)
class Listing:
    """Which of many cells are listed, and with what number: all that is public about the draw.

    Args:
        law: "sparse": noise on each of `number` cells; those at or above the threshold are listed.
            "mark": the same, but all are listed with the threshold itself: no count leaves.
            "nonempty": noise on the cells that somebody is in, and on no other.
            "keep": each record is kept with probability `rate`, without noise.
        rate: The rate of the noise, or the probability.
        threshold: The least number with which a cell is listed.
        number: How many cells there are where empty ones may be listed, too; otherwise 0.
        purpose: What the draw is for; audits tell steps apart by it.
    """

    law: Literal["sparse", "mark", "nonempty", "keep"]
    rate: Fraction
    threshold: int
    number: int = 0
    purpose: str = ""


class Sampler(Protocol):
    """A source of outcomes."""

    def select(self, candidates: Candidates, rates: Rates, flip: bool) -> Choices:
        """Chooses one candidate for each node, with P proportional to weight * exp(rate * score).

        Where `flip` allows it and weights are equal, it is chosen by permute-and-flip instead.
        """

    def laplace(self, exact: Ints, rates: Rates) -> Ints:
        """Adds discrete Laplace noise, P[z] proportional to exp(-rate |z|), to each row."""

    def gaussian(self, exact: Ints, rates: Rates) -> Ints:
        """Adds discrete Gaussian noise, P[z] proportional to exp(-rate z^2 / 2), to each row."""

    def coin(self, bounds: Ints) -> Ints:
        """A uniform whole number below each bound; it looks at nothing, so it costs nothing."""

    def listed(self, cells: C, counts: Ints, rule: Listing) -> tuple[C, Ints]:
        """Lists some cells by a rule, in their order, each with a number (see `Listing`).

        Of `cells` and `counts` it gets the cells that hold records, and how many.
        """

    def words(self, number: int) -> Words:
        """Random words for what becomes of a record under the seal, whatever its law."""


def flat(candidates: Candidates) -> Bools:
    """Where permute-and-flip may serve: few candidates, with equal base weights.

    Both are public: they follow from a node's region.
    """
    first = candidates.start[:-1]
    lightest = np.minimum.reduceat(candidates.weight, first)
    heaviest = np.maximum.reduceat(candidates.weight, first)
    number = np.add.reduceat(candidates.count, first)
    return np.asarray((lightest == heaviest) & (number <= MOST_FLIPS), dtype=np.bool_)


class SecureSampler:
    """Exact draws from a keystream, always in the order in which they are asked for."""

    def __init__(self, stream: Keystream) -> None:
        self._stream = stream

    def select(self, candidates: Candidates, rates: Rates, flip: bool) -> Choices:
        """See `Sampler.select`."""
        nodes = len(candidates.start) - 1
        run = np.zeros(nodes, dtype=np.int64)
        offset = np.zeros(nodes, dtype=np.int64)
        a, b = rates.terms()
        c = candidates
        scratch = np.empty(int(np.diff(c.start).max(initial=0)), dtype=np.int64)
        mass = np.add.reduceat(c.weight * c.count, c.start[:-1])
        if int(mass.max(initial=0)) << sampler_kernels.ENVELOPE >= 1 << 62:
            raise OverflowError("so many candidates do not fit the samplers")
        flips = flat(c) if flip else np.zeros(nodes, dtype=np.bool_)
        # stretches of nodes that are served by the same mechanism
        ends = np.append(np.flatnonzero(np.diff(flips)) + 1, nodes)
        for first, stop in zip(np.append(0, ends[:-1]).tolist(), ends.tolist(), strict=True):
            start = c.start[: stop + 1]
            arrays: tuple[Ints, ...]
            if flips[first]:
                arrays = (start, c.score, c.count, a, b, run, offset)
                self._pump(sampler_kernels.permute_and_flip, first, stop, *arrays)
            else:
                arrays = (start, c.score, c.weight, c.count, a, b, scratch, run, offset)
                self._pump(sampler_kernels.select_exponential, first, stop, *arrays)
        cut = np.where(c.first[run] < 0, -1, c.first[run] + offset)
        return Choices(c.part[run], cut)

    def laplace(self, exact: Ints, rates: Rates) -> Ints:
        """See `Sampler.laplace`."""
        return self._noisy(sampler_kernels.fill_laplace, exact, rates)

    def gaussian(self, exact: Ints, rates: Rates) -> Ints:
        """See `Sampler.gaussian`."""
        return self._noisy(sampler_kernels.fill_gaussian, exact, rates)

    def _noisy(self, kernel: Callable[..., int], exact: Ints, rates: Rates) -> Ints:
        noise = np.zeros(exact.size, dtype=np.int64)
        a, b = rates.terms(exact.size // max(1, len(rates.which)))
        self._pump(kernel, 0, noise.size, a, b, noise)
        return exact + noise.reshape(exact.shape)

    def coin(self, bounds: Ints) -> Ints:
        """See `Sampler.coin`."""
        drawn = [self._stream.below(bound) if bound > 1 else 0 for bound in bounds.tolist()]
        return np.asarray(drawn, dtype=np.int64)

    def listed(self, cells: C, counts: Ints, rule: Listing) -> tuple[C, Ints]:
        """See `Sampler.listed`."""
        if rule.law == "keep":
            drawn = self._kept(counts, rule.rate)
        else:
            drawn = self.laplace(counts, Rates.alike(rule.rate, len(counts)))
        listed = drawn >= rule.threshold
        if rule.law in ("nonempty", "keep"):
            return cells[listed], drawn[listed]
        fresh, values = self._empty_cells(set(cells.tolist()), rule)
        cell_all = np.concatenate([cells[listed], fresh])
        value_all = np.concatenate([drawn[listed], values])
        order = np.argsort(cell_all)  # or the order would tell the empty cells apart
        if rule.law == "mark":
            value_all[:] = rule.threshold
        return cell_all[order], value_all[order]

    def _empty_cells(self, taken: set[int], rule: Listing) -> tuple[Ints, Ints]:
        """The cells beside those taken that noise alone lists, and their noisy counts.

        Empty cells are listed independently, so their number is binomial and their places a
        uniform subset; the tail of the noise has no memory, so a listed value is the threshold
        plus a geometric one.
        """
        empty = rule.number - len(taken)
        spurious = sample_tail(self._stream, empty, rule.rate, rule.threshold)
        fresh: list[int] = []
        while len(fresh) < spurious:
            cell = self._stream.below(rule.number)
            if cell not in taken:
                taken.add(cell)
                fresh.append(cell)
        value = np.zeros(spurious, dtype=np.int64)
        a, b = Rates.alike(rule.rate, spurious).terms()
        self._pump(sampler_kernels.fill_geometric, 0, spurious, a, b, value)
        return np.asarray(fresh, dtype=np.int64), value + rule.threshold

    def _kept(self, counts: Ints, share: Fraction) -> Ints:
        """How many records of each cell are kept, each with a probability."""
        parts = -(-counts // _TRIALS)
        of = np.repeat(np.arange(len(counts)), parts)
        trials = np.full(len(of), _TRIALS, dtype=np.int64)
        last = np.cumsum(parts) - 1
        trials[last] = counts - (parts - 1) * _TRIALS
        a, b = Rates.alike(share, len(of)).terms()
        drawn = np.zeros(len(of), dtype=np.int64)
        self._pump(sampler_kernels.fill_kept, 0, len(of), trials, a, b, drawn)
        kept = np.zeros(len(counts), dtype=np.int64)
        np.add.at(kept, of, drawn)
        return kept

    def words(self, number: int) -> Words:
        """See `Sampler.words`."""
        stream = self._stream
        while len(stream.words) - int(stream.at[0]) < number:
            stream.refill()
        first = int(stream.at[0])
        stream.at[0] += number
        return stream.words[first : first + number].copy()

    def _pump(self, kernel: Callable[..., int], item: int, items: int, *arrays: Ints) -> None:
        """Runs a kernel over its items, refilling the stream as it runs dry."""
        while item < items:
            item = kernel(self._stream.words, self._stream.at, item, *arrays)
            if item < items:
                self._stream.refill()


# An exact binomial draw for a probability that is irrational and any number of trials.
#
# The number of empty cells whose noise reaches a threshold is Binomial(n, p) with
# p = q^t / (1 + q), q = exp(-rate). It is drawn by inversion: a uniform number is compared, bit by
# bit, with cumulative probabilities that are known between two integers; whenever a comparison
# cannot be decided, everything is computed again with more bits. No error remains, so no delta.

_MEAN = 32  # trials are drawn in portions of about this mean

Interval = tuple[int, int]  # bounds of a number in [0, 1], times 2^bits


def sample_tail(stream: Keystream, trials: int, rate: Fraction, threshold: int) -> int:
    """Draws how many of `trials` independent DLap(rate) values are at least `threshold` (>= 1)."""
    precision = 64 + trials.bit_length()  # or portions of a tiny probability would be too many
    _, high = bound_tail(rate, threshold, precision)
    portion = max(1, (_MEAN << precision) // max(high, 1))
    total = 0
    while trials > 0:
        total += _sample(stream, min(trials, portion), rate, threshold)
        trials -= portion
    return total


def _sample(stream: Keystream, trials: int, rate: Fraction, threshold: int) -> int:
    bits = 64
    uniform = stream.bits(bits)
    while (drawn := _invert(uniform, bits, trials, rate, threshold)) is None:
        uniform = uniform << bits | stream.bits(bits)
        bits *= 2
    return drawn


def _invert(uniform: int, bits: int, trials: int, rate: Fraction, threshold: int) -> int | None:
    """The smallest k with CDF(k) > U, or None if these bits of U cannot tell."""
    precision = bits + 64 + 2 * trials.bit_length()
    one = 1 << precision
    p_low, p_high = bound_tail(rate, threshold, precision)
    low, high = _power((one - p_high, one - p_low), trials, precision)
    u_low, u_high = uniform << precision - bits, uniform + 1 << precision - bits
    sum_low, sum_high = low, high
    for k in range(trials + 1):
        if u_high <= sum_low:
            return k
        if u_low < sum_high:
            return None
        # P[k + 1] = P[k] * (n - k)/(k + 1) * p/(1 - p)
        low = low * (trials - k) * p_low // ((k + 1) * (one - p_low))
        high = -(-high * (trials - k) * p_high // ((k + 1) * (one - p_high)))
        sum_low, sum_high = sum_low + low, sum_high + high
    return None


@lru_cache(maxsize=64)  # the same for all portions of a draw
def bound_tail(rate: Fraction, threshold: int, precision: int) -> Interval:
    """P[DLap(rate) >= threshold] = q^t / (1 + q) for t >= 0, between integers over 2^precision."""
    one = 1 << precision
    q_low, q_high = _exp_minus(rate, precision)
    top_low, top_high = _exp_minus(rate * threshold, precision)
    return top_low * one // (one + q_high), -(-top_high * one // (one + q_low))


def _exp_minus(x: Fraction, precision: int) -> Interval:
    """exp(-x), by the alternating series of exp(-x/2^s) and s squarings, with outward rounding."""
    halvings = max(0, (x.numerator // x.denominator).bit_length() + 1)
    precise = precision + halvings + 16
    one = 1 << precise
    y = x / (1 << halvings)  # at most 1/2, so terms fall and partial sums bracket the limit
    term = Fraction(1)
    total = Fraction(0)
    k = 0
    while term * one >= 1:
        total += term if k % 2 == 0 else -term
        k += 1
        term = term * y / k
        term = Fraction(-(-term.numerator * one * one // term.denominator), one * one)
    slack = Fraction(4 * k + 4, one)
    low, high = int((total - slack) * one), -int(-(total + slack) * one // 1)
    for _ in range(halvings):
        low, high = low * low >> precise, -(-high * high >> precise)
    shift = precise - precision
    return max(0, low >> shift), min(1 << precision, -(-high >> shift))


def _power(base: Interval, exponent: int, precision: int) -> Interval:
    low, high = 1 << precision, 1 << precision
    square_low, square_high = base
    while exponent:
        if exponent & 1:
            low = low * square_low >> precision
            high = -(-high * square_high >> precision)
        square_low = square_low * square_low >> precision
        square_high = -(-square_high * square_high >> precision)
        exponent >>= 1
    return low, high
