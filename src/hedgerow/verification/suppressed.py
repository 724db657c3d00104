"""The delta of leaving rows out, as `verify` works it out for itself, rounded up.

Nothing here shares code with `hedgerow.privacy.suppression`, which chose the numbers.
"""

from __future__ import annotations

import decimal
import math
from decimal import Decimal
from fractions import Fraction

_DIGITS = 60
_MARGIN = Decimal("1e-40")  # far above what rounding to nearest can do at so many digits
_TERMS = 400
_MOST_STEPS = 20_000  # publishers look at 5000


def listing_delta(rate: Fraction, threshold: int) -> Fraction:
    """The chance that a cell with one person in it is listed: a^(t - 1) / (1 + a), a = exp(-rate).

    Example:
        >>> float(listing_delta(Fraction(1), 15)) < 1e-6
        True
    """
    with decimal.localcontext(prec=_DIGITS):
        e = Decimal(rate.numerator) / Decimal(rate.denominator)
        delta = (-e * (threshold - 1)).exp() / (1 + (-e).exp())
        return min(Fraction(1), Fraction(delta * (1 + _MARGIN)))


def sampling_floor(share: Fraction) -> Fraction:
    """-ln(1 - share), rounded up: keeping people with this chance costs no less epsilon."""
    with decimal.localcontext(prec=_DIGITS):
        kept = 1 - share
        return Fraction(-(Decimal(kept.numerator) / Decimal(kept.denominator)).ln() + _MARGIN)


def sampling_delta(
    epsilon: Fraction, least: int, share: Fraction, enough: Fraction = Fraction(0)
) -> Fraction:
    """The delta of keeping people by chance and listing cells with at least so many of them.

    It is the largest s P[Bin(n, s) = J] - (e^epsilon - 1) P[Bin(n, s) > J] over J >= least - 1
    and n >= J. For each J the best n is known; the second probability is bounded from below by its
    first terms. From some J on a Chernoff bound covers all that follow.

    Args:
        epsilon: What was charged.
        least: The size of a cell from which it is listed.
        share: The chance of being kept.
        enough: The sum is not followed further once what follows is below this.

    Example:
        >>> float(sampling_delta(Fraction(1), 12, Fraction(1, 5))) < 1e-6
        True
    """
    with decimal.localcontext(prec=_DIGITS):
        s = Decimal(share.numerator) / Decimal(share.denominator)
        e = Decimal(epsilon.numerator) / Decimal(epsilon.denominator)
        growth = e.exp() * (1 - _MARGIN)
        target = Decimal(enough.numerator) / Decimal(enough.denominator)
        reach = (1 - s) / (growth - 1)
        best = Decimal(0)
        if _rest(least + _MOST_STEPS, s, reach) > s:  # no term is as large, so it would never end
            return Fraction(1)
        for place in range(least - 1, least - 1 + _MOST_STEPS):
            n = max(place, math.ceil(place * growth / (growth - (1 - s))) - 1)
            for near in (n - 1, n, n + 1):
                if near >= place:
                    best = max(best, _value(near, place, s, growth))
            rest = _rest(place + 1, s, reach)
            if rest <= max(best, target):
                return min(Fraction(1), Fraction(max(best, rest) * (1 + _MARGIN)))
        return Fraction(1)


def _value(n: int, place: int, s: Decimal, growth: Decimal) -> Decimal:
    point = (1 - s) ** (n - place)
    for j in range(1, place + 1):  # the binomial as such may have millions of digits
        point = point * (n - j + 1) / j * s
    term, tail = point, Decimal(0)
    for j in range(place + 1, min(n, place + _TERMS) + 1):
        term = term * (n - j + 1) / j * s / (1 - s)
        tail += term
    return s * point * (1 + _MARGIN) - (growth - 1) * tail * (1 - _MARGIN)


def _rest(place: int, s: Decimal, reach: Decimal) -> Decimal:
    """P[Bin(n, s) = J] <= exp(-n KL(J/n, s)), for the largest n that can matter; it falls in J."""
    n = place + (place + 1) * reach
    ratio = place / n
    if ratio <= s:
        return Decimal(1)
    distance = ratio * (ratio / s).ln()
    if ratio < 1:
        distance += (1 - ratio) * ((1 - ratio) / (1 - s)).ln()
    return s * (-n * distance).exp() * (1 + _MARGIN)
