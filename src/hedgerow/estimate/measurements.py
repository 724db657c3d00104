"""Noisy measurements as plain values, and the numbers of documents that state them."""

from __future__ import annotations

import decimal
import re
from dataclasses import dataclass, fields
from decimal import Decimal
from fractions import Fraction
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

        See `hedgerow.estimate.noise`: 2/e^2 of Laplace noise, and 1/r of Gaussian noise, or 2 where
        that is less.
        """
        rate = self.units * float(self.unit)
        return np.maximum(1 / rate, _LEAST_TAIL) if self.law == "gaussian" else 2 / rate**2


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
