"""What a ledger's currencies cost a person: conversions that `verify` makes for itself.

Everything is rounded up, in decimal arithmetic with many more digits than are stated.
"""

from __future__ import annotations

import decimal
import re
from decimal import Decimal
from fractions import Fraction

__all__ = ["epsilon_from_rho", "exact", "group_delta", "in_words"]

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
