"""Noisy measurements as plain values, the law of their noise, and numbers of documents.

**How far a sum of noises may lie from 0: a bound from the known law, never from the data.**
Let X be any sum of independent Laplace and normal noises, with variance s^2. A Laplace noise is a
normal one whose variance was itself drawn, from an exponential law; so X, given its drawn variance
W, is normal, and W is a constant plus a weighted sum of exponential variables, with mean s^2.
(The constant is the limit of many exponential variables with small weights.) Write g(W) for the
probability that a normal noise with variance W lies beyond t. Replace g by a convex function that
is nowhere below it: g itself up to some v, and from there the steepest line from that point to
any later point of g. By Jensen's inequality the mean of a convex function of W is largest when W is
one exponential variable alone, and there it has a closed form. So

    P(|X| > t) <= the mean of that convex function of an exponential variable with mean s^2,

for every X, whatever its weights; the best v gives the bound, and t is found by bisection. It is
tight to 2% at a level of 95%: t = 2.157 s, where one Laplace noise alone needs 2.118 s and the
normal limit of many needs 1.960 s.

If all noises are normal, W is s^2 itself, and 1.960 s are enough (`normal`).

Our noises are discrete. A continuous Laplace noise is a discrete one with the same epsilon plus an
independent symmetric rest (an exponential variable is its whole part plus an independent fractional
part). A sum A of discrete noises with weight 1 is symmetric and unimodal on the whole numbers, so
of all windows with 2m + 1 of them the one around 0 is the likeliest, and P(|A| <= m) is at least
P(|X| <= m + 1/2). So half a step more than t is enough, with s^2 made of 2 / epsilon^2, the
variance of the continuous law. For weights other than 1 the same rule is used; there the half step
is checked numerically, against exact convolutions (`tests/unit/estimate/test_noise.py`), and not
proved.

With discrete Gaussian noises among them, the same holds if s^2 takes each of these with its
variance parameter v, or with 2 if v is less (`Measurement.tail_variance`), save that the
probability to lie beyond may be larger by a factor of 1 + 1e-7. In four steps, for weights of 1;
all laws here are symmetric, and those on whole numbers log-concave, hence unimodal, and so are
their sums.

1. Of two such noises let one be smaller in size: P(|Z| > m) <= P(|Z'| > m) for all m. Then Z may be
   replaced by Z' in a sum with others B: P(|B + z| <= m) falls in |z|. A Gaussian with v < 2
   is smaller than one with v = 2, since the ratio of their probabilities falls in |z|.
2. The sum of two discrete Gaussians is nearly one: completing the square, P(Z + Z' = x) is
   proportional to exp(-x^2 / (2 (v + v'))) times the sum over all whole j of
   exp(-(j - c x)^2 / (2 w)), with 1/w = 1/v + 1/v'. That sum has the Fourier coefficients
   exp(-2 pi^2 w j^2), so it varies by a factor of at most 1 + 5 exp(-2 pi^2 w). For v, v' >= 2
   this is 1 + 1.4e-8; for a third it is 1 + 2e-11 and less from there on (w tends to v >= 2, so a
   million of them add less than 1e-10). So one discrete Gaussian D stands for all.
3. D is smaller in size than a normal N of the same v, rounded: the mass of N within 1/2 of x,
   divided by exp(-x^2 / (2 v)), is an integral of exp(-y^2 / (2 v)) cosh(x y / v), which grows
   in |x|.
4. Let B be the sum of all discrete Laplace noises, and R the rest that makes them continuous. The
   rounded N plus B is at most m in size just if |N + B| <= m + 1/2, which has the probability that
   |B + j| <= m, for j the rounded N. N + R is larger in size than N, and so is its rounding; so
   |N + B| <= m + 1/2 is at least as likely as |N + R + B| <= m + 1/2, and N + R + B is an X.

The law is that of a fixed tree. The size of a tuned tree depends on the noise of the number of
rows, and DiffMulti's shape on that of the sizes it shares by; these numbers are then used again. No
effect on coverage was seen (`benchmarks/interval_coverage.py` checks DiffMulti apart).
"""

from __future__ import annotations

import decimal
import math
import re
from dataclasses import dataclass, fields
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar, Literal

import numpy as np

from hedgerow.arrays import Floats, Ints

# Measurements: noisy counts on public regions, unclipped and paid for.
#
# Whatever a release says about the data is computed from these numbers, after the fact and for
# free; so a better way of computing improves releases that already exist.


Place = Literal["node", "region", "item", "size", "cell"]
PLACES: tuple[Place, ...] = ("node", "region", "item", "size", "cell")
Law = Literal["laplace", "gaussian"]
LAWS: tuple[Law, ...] = ("laplace", "gaussian")

_LEAST_VARIANCE = 1e-12  # stands for "no noise to speak of" and keeps every weight finite
_LEAST_TAIL = 2.0  # from here on sums of discrete Gaussian noises have normal tails


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return np.array_equal(one, other)
    return bool(one == other)


class Alike:
    """Records whose fields may be arrays: equal if they are of one type and all fields are."""

    def __eq__(self, other: object) -> bool:
        """Whether both hold the same numbers."""
        return type(self) is type(other) and all(
            _same(getattr(self, one.name), getattr(other, one.name))
            for one in fields(self)
            if one.compare
        )

    __hash__ = None  # type: ignore[assignment]
    __dataclass_fields__: ClassVar[dict[str, Any]]


@dataclass(frozen=True, eq=False, kw_only=True)
class Measurement(Alike):
    """Some exact counts, each plus its own discrete Laplace or discrete Gaussian noise.

    Args:
        name: What was counted: "rows" (the whole table), "allocate" (totals of nodes of a tree),
            "leaf" (the classes of a region), and so on.
        at: Whether `where` numbers nodes of a tree, regions, items of a universe, sizes, or
            cells of tables of columns (`hedgerow.estimate.tables`).
        where: The places counted, shape [k].
        values: The noisy counts, which may be negative: shape [k, classes] if by class (one
            column if the schema has no class), else [k, 1].
        by_class: Whether every class was counted apart.
        units: The rate r of the noise on each place, in units, shape [k]: noise z has a
            probability proportional to ``exp(-r |z|)`` (Laplace: r is its epsilon) or to
            ``exp(-r z^2 / 2)`` (Gaussian: r is 1 over its variance, and r / 2 its rho).
        unit: The rate of one unit.
        threshold: For a sparse release: whatever is not listed had a noisy count below this.
        klass: For a list of single cells: the class of each, shape [k]; `values` is then [k, 1].
        max_contribution: The most by which one record changes all the numbers together that were
            charged once; each of them has the noise that a part 1/max_contribution of the charge
            buys, and `units` is that part. For Gaussian noise the most that the squares of one
            record's changes add up to.
        law: The law of the noise, "laplace" or "gaussian".
        tables: Of cells of tables of columns, the columns of each table; its cells stand one after
            the other, the last column varying fastest.

    Example:
        >>> total = Measurement(name="rows", at="node", where=np.array([0]),
        ...                     values=np.array([[41]]), by_class=False,
        ...                     units=np.array([50]), unit=Fraction(1, 1000))
        >>> total.variance.round().tolist()
        [800.0]
    """

    name: str
    at: Place
    where: Ints
    values: Ints
    by_class: bool
    units: Ints
    unit: Fraction
    threshold: int | None = None
    klass: Ints | None = None
    max_contribution: int = 1
    law: Law = "laplace"
    tables: tuple[tuple[int, ...], ...] = ()

    def __post_init__(self) -> None:
        """Holds the shapes to what they mean; a breach is our own bug."""
        places = len(self.where)
        width = self.values.shape[1] if self.values.ndim == 2 else 0
        single = not self.by_class or self.klass is not None
        if self.values.shape != (places, width) or self.units.shape != (places,):
            raise ValueError(f"measurement {self.name!r}: the shapes differ")
        if width < 1 or (single and width != 1):
            raise ValueError(f"measurement {self.name!r}: one column is expected")
        if self.klass is not None and self.klass.shape != (places,):
            raise ValueError(f"measurement {self.name!r}: one class per row is expected")
        if self.law == "gaussian" and (self.threshold is not None or self.klass is not None):
            raise ValueError(f"measurement {self.name!r}: what is listed has Laplace noise")
        if self.unit <= 0 or (self.units <= 0).any():
            raise ValueError(f"measurement {self.name!r}: every count must have been paid for")

    def __repr__(self) -> str:
        """Its name and size only: the arrays are long."""
        return f"Measurement({self.name!r}, at={self.at!r}, places={len(self.where)})"

    @property
    def variance(self) -> Floats:
        """The variance of the noise on each place, shape [k].

        Of Laplace noise, for a = exp(-e), it is 2a / (1 - a)^2, which is 1 / (2 sinh(e/2)^2): the
        second form loses no digits for small e. Of Gaussian noise it is 1/r but for less than one
        part in a million if r <= 1, and a short sum else.
        """
        rate = self.units * float(self.unit)
        if self.law == "gaussian":
            squares = np.arange(1, 13, dtype=np.float64)[:, None] ** 2
            mass = np.exp(-np.maximum(rate, 1.0) * squares / 2)
            narrow = 2 * (squares * mass).sum(axis=0) / (1 + 2 * mass.sum(axis=0))
            return np.maximum(np.where(rate <= 1, 1 / rate, narrow), _LEAST_VARIANCE)
        with np.errstate(over="ignore"):
            return np.maximum(0.5 / np.sinh(rate / 2) ** 2, _LEAST_VARIANCE)

    @property
    def tail_variance(self) -> Floats:
        """The variance of a continuous noise whose tails bound these, shape [k].

        See above: 2/e^2 of Laplace noise, and 1/r of Gaussian noise, or 2 where
        that is less.
        """
        rate = self.units * float(self.unit)
        return np.maximum(1 / rate, _LEAST_TAIL) if self.law == "gaussian" else 2 / rate**2


# How far a sum of noises may lie from 0: see above.


LATTICE = 0.5
"""Half the step between whole numbers: no weight in a count is larger than 1."""

_POINTS = 24  # places for v that are tried
_NOTHING = math.exp(-40)  # of a tail
_ROUNDS, _NEAR = 60, 1e-10  # for a factor or a tangent: most steps, and how near it is found
_USUAL = 2.156756755  # the factor that almost every command asks for


def half_width(deviation: Floats, level: float, *, normal: bool = False) -> Floats:
    """Half the width of an interval around an estimate that holds the truth at a level.

    Args:
        deviation: The standard deviation of the noise, from `Measurement.tail_variance`.
        level: The probability that the interval holds the truth, at least.
        normal: Whether all noise is Gaussian.

    Example:
        >>> import numpy as np
        >>> half_width(np.array([0.0, 10.0]), 0.95).round(2).tolist()
        [0.5, 22.07]
    """
    return factor(level, normal=normal) * deviation + LATTICE


@lru_cache(maxsize=64)
def factor(level: float, *, normal: bool = False) -> float:
    """How many standard deviations hold any sum of Laplace and normal noises at a level.

    Example:
        >>> round(factor(0.95), 3), round(factor(0.5), 3), round(factor(0.95, normal=True), 3)
        (2.157, 0.674, 1.96)
    """
    if (level, normal) == (0.95, False):
        return _USUAL
    # the logarithm of the tail is nearly straight, so chords find the place in a few steps; the end
    # that stays put counts half, lest it stay for ever (the Illinois method)
    low, high = 0.0, 2.0 + 2 * math.log(1 / (1 - level))
    above, below = (math.log(tail(t, normal=normal) / (1 - level)) for t in (low, high))
    moved = 0
    for _ in range(_ROUNDS):
        if high - low <= _NEAR * high or below == 0:
            break
        middle = low + (high - low) * above / (above - below)
        middle = min(max(middle, low + _NEAR * high / 2), high - _NEAR * high / 2)
        excess = math.log(tail(middle, normal=normal) / (1 - level))
        if excess > 0:
            low, above, below = middle, excess, below / 2 if moved > 0 else below
            moved = 1
        else:
            high, below, above = middle, excess, above / 2 if moved < 0 else above
            moved = -1
    return math.ceil(high * 1e9) / 1e9  # so that it does not depend on the path to it


def tail(t: float, *, normal: bool = False) -> float:
    """A bound on the probability that a sum of Laplace and normal noises lies beyond t deviations.

    Example:
        >>> round(tail(2.157), 3)
        0.05
    """
    if t <= 0:
        return 1.0
    bend = t * t / 3  # g is convex up to here, and concave after
    steepest, where = _steepest(t, 0.0, bend)
    # from the mean on g lies below its own tangent, so the normal law is the worst of all
    best = _beyond(t, 1.0) if where <= 1 else steepest
    for place in range(1, _POINTS):
        v = bend * place / _POINTS
        steepest, _ = _steepest(t, v, bend)
        if normal:  # the value at 1: that of the line or of g, and a little, so that no tail is 0
            at_one = _beyond(t, 1.0) + _NOTHING * _beyond(t, v)
            best = min(best, at_one if v > 1 else _beyond(t, v) + steepest * (1 - v))
            continue
        # the mean of g below v in closed form, and what the line adds beyond it
        root, end = math.sqrt(2 * v), t / math.sqrt(v)
        near = math.exp(-math.sqrt(2) * t) * math.erfc((end - root) / math.sqrt(2)) / 2
        far = math.exp(math.sqrt(2) * t) * math.erfc((end + root) / math.sqrt(2)) / 2
        best = min(best, near + far + steepest * math.exp(-v))
    return min(1.0, best)


def _beyond(t: float, variance: float) -> float:
    """The probability that a normal noise with a variance lies beyond t: the g of above."""
    return math.erfc(t / math.sqrt(2 * variance)) if variance > 0 else 0.0


def _steepest(t: float, start: float, bend: float) -> tuple[float, float]:
    """The steepest line from a point of g to a later one, and where it touches."""
    base = _beyond(t, start)
    low, high = bend, bend * math.exp(12)
    touch = 3 * bend
    # there the line is a tangent: beyond the bend its excess falls, so Newton's method finds it
    for _ in range(_ROUNDS):
        rise = t * math.exp(-t * t / (2 * touch)) / math.sqrt(2 * math.pi * touch**3)
        excess = rise * (touch - start) - (_beyond(t, touch) - base)
        low, high = (touch, high) if excess > 0 else (low, touch)
        bent = rise * (t * t / touch - 3) / (2 * touch) * (touch - start)
        following = touch - excess / bent if bent else low
        following = following if low < following < high else math.sqrt(low * high)
        if abs(following - touch) <= _NEAR * touch:
            break
        touch = following
    return (_beyond(t, touch) - base) / (touch - start), touch


# What a ledger's currencies cost a person: conversions that `verify` makes for itself.
#
# Everything is rounded up, in decimal arithmetic with many more digits than are stated.


_NUMBER = re.compile(r"\d{1,400}(/\d{1,400}|(\.\d{1,400})?(e-?\d{1,3})?)")


def exact(number: object) -> Fraction:
    """Reads a number of a manifest, which may come from anybody: short ones only.

    Raises:
        ValueError: If it is no number, is below 0, or is too long to be taken in earnest.

    Example:
        >>> exact("3/4"), exact("1e-9")
        (Fraction(3, 4), Fraction(1, 1000000000))
    """
    if isinstance(number, bool) or not isinstance(number, (str, int)):
        raise ValueError("not a number")
    text = str(number)
    if not _NUMBER.fullmatch(text):
        raise ValueError("not a number")
    try:
        return Fraction(text)
    except ZeroDivisionError:
        raise ValueError("not a number") from None


def epsilon_from_rho(rho: Fraction, delta: Fraction) -> Fraction:
    """The epsilon at which rho-zCDP implies (epsilon, delta)-DP, rounded up at 30 digits.

    The smaller of the simple bound rho + 2 sqrt(rho ln(1/delta)) and the tight one (Canonne,
    Kamath and Steinke 2020), which for every order a > 1 is
    a rho + (ln(1/delta) - ln a) / (a - 1) + ln(1 - 1/a). Any order is sound, so the search for
    the best one need not be exact.

    Example:
        >>> round(float(epsilon_from_rho(Fraction(244, 10000), Fraction(1, 10**6))), 2)
        1.0
    """
    if rho == 0:
        return Fraction(0)
    with decimal.localcontext(prec=50):
        exact_rho = Decimal(rho.numerator) / Decimal(rho.denominator)
        log = Decimal(delta.denominator).ln() - Decimal(delta.numerator).ln()

        def tight(ln_beyond: Decimal) -> Decimal:
            beyond = ln_beyond.exp()  # a - 1
            order = beyond + 1
            return order * exact_rho + (log - order.ln()) / beyond + ln_beyond - order.ln()

        simple = exact_rho + 2 * (exact_rho * log).sqrt()
        middle = (log / exact_rho).ln() / 2  # the best order of the simple bound
        low, high = middle - 6, middle + 6
        for _ in range(90):
            first, second = low + (high - low) / 3, high - (high - low) / 3
            if tight(first) <= tight(second):
                high = second
            else:
                low = first
        best = max(Decimal(0), min(simple, tight((low + high) / 2)))
        return Fraction(best) + Fraction(1, 10**30)


def group_delta(epsilon: Fraction, delta: Fraction, rows: int) -> Fraction:
    """The delta of a person with so many rows, each of them (epsilon, delta)-protected.

    It is delta (1 + e^epsilon + ... + e^((rows - 1) epsilon)), rounded up, and at most 1.

    Example:
        >>> float(group_delta(Fraction(0), Fraction(1, 1000), 5))
        0.005
    """
    with decimal.localcontext(prec=50, rounding=decimal.ROUND_CEILING):
        growth = (Decimal(epsilon.numerator) / Decimal(epsilon.denominator)).exp()
        total = term = Decimal(1)
        for _ in range(rows - 1):
            term *= growth
            total += term
            if total * Decimal(delta.numerator) > Decimal(delta.denominator):
                return Fraction(1)
        # the exponential function rounds to nearest; this covers it for all rows together
        return delta * Fraction(total) * (1 + Fraction(1, 10**40) * (rows > 1))


def in_words(number: Fraction) -> str:
    """A number for people: exact if it is short, else rounded up.

    Example:
        >>> in_words(Fraction(1, 4)), in_words(Fraction(10**9, 3 * 10**9 + 1))
        ('0.25', '0.333334')
    """
    with decimal.localcontext(prec=6, rounding=decimal.ROUND_CEILING):
        return f"{Decimal(number.numerator) / Decimal(number.denominator):g}"
