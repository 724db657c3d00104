"""What it costs to list only cells that somebody is in: the delta of two ways, rounded up.

Noisy: a cell's count gets discrete Laplace noise of rate e and is listed from a threshold t on;
empty cells are never listed. A record is in one cell. If others are in it too the ratio is within
exp(e); if nobody else is, the cell is listed with probability P[DLap(e) >= t - 1], and that is
delta.

Sampled: each record is kept with probability s, cells with fewer than k kept records are dropped,
and exact kept counts are listed. For every epsilon from -ln(1 - s) on,

    delta = max over J >= k - 1, n >= J of s P[Bin(n, s) = J] - (exp(epsilon) - 1) P[Bin(n, s) > J]

and this is tight (docs/algorithms/supermodular.md). For each J only the n below
J + (J + 1) c, c = (1 - s) / (exp(epsilon) - 1), can give anything above 0; and by
P[Bin(n, s) = J] <= A^n z^-J with A = 1 - s + s z, for any z > 1, all J from some place on together
give no more than s A^(J + (J + 1) c) z^-J there, if A^(1 + c) < z.

All of it is computed in decimals with directed rounding, to many more digits than are stated.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal, localcontext
from fractions import Fraction

from hedgerow.errors import UsageError
from hedgerow.privacy.sampler import bound_tail

_DIGITS = 50
_UP = Context(prec=_DIGITS, rounding=ROUND_CEILING)
_DOWN = Context(prec=_DIGITS, rounding=ROUND_FLOOR)
_JUST_BELOW_ONE = _DOWN.subtract(Decimal(1), Decimal("1e-47"))  # operators would round it to 1
_PRECISION = 256  # bits
_MOST_GROUP = 5000


def noisy_delta(rate: Fraction, threshold: int) -> Fraction:
    """P[DLap(rate) >= threshold - 1], rounded up.

    Example:
        >>> float(noisy_delta(Fraction(1), 15)) < 1e-6 < float(noisy_delta(Fraction(1), 14))
        True
    """
    return Fraction(bound_tail(rate, threshold - 1, _PRECISION)[1], 1 << _PRECISION)


def least_threshold(rate: Fraction, delta: Fraction) -> int:
    """The least threshold from 1 on whose delta is within the given one.

    Example:
        >>> least_threshold(Fraction(1), Fraction(1, 10**6))
        15
    """
    low, high = 0, 1
    while noisy_delta(rate, high) > delta:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        if noisy_delta(rate, middle) > delta:
            low = middle
        else:
            high = middle
    return high


def sampling_allowed(epsilon: Fraction, share: Fraction) -> bool:
    """Whether epsilon >= -ln(1 - share), beyond doubt.

    Example:
        >>> sampling_allowed(Fraction(1), Fraction(6, 10))
        True
        >>> sampling_allowed(Fraction(1), Fraction(64, 100))
        False
    """
    if not 0 < share < 1:
        return False
    # 1 - P[DLap >= 1] = 1 / (1 + exp(-e)), rounded down
    least = 1 - Fraction(bound_tail(epsilon, 1, _PRECISION)[1], 1 << _PRECISION)
    return 1 / least - 1 <= 1 - share


def sampled_delta(epsilon: Fraction, group: int, share: Fraction) -> Fraction:
    """The delta of keeping records with probability `share` and dropping cells below `group`.

    Example:
        >>> one = Fraction(1)
        >>> float(sampled_delta(one, 12, one / 5)) < 1e-6 < float(sampled_delta(one, 11, one / 5))
        True
    """
    best = Decimal(0)
    for place, worst, beyond in _terms(epsilon, share):
        if place >= group - 1:
            best = max(best, worst)
            if beyond <= best:
                return Fraction(best)
    raise AssertionError("the terms never end before they are small")


def least_group(epsilon: Fraction, delta: Fraction, share: Fraction) -> int:
    """The least size of a listed cell whose delta is within the given one.

    Raises:
        UsageError: If it would be larger than any use.

    Example:
        >>> [least_group(Fraction(1), Fraction(1, 10**6), Fraction(s, 10)) for s in (1, 3, 5)]
        [8, 17, 35]
    """
    most = _DOWN.divide(Decimal(delta.numerator), Decimal(delta.denominator))
    group = 1
    for place, worst, beyond in _terms(epsilon, share):
        if worst > most:
            group = place + 2  # the terms from place + 1 on must do
        if max(place, group) > _MOST_GROUP:
            break
        if beyond <= most:
            return group
    raise UsageError(
        "So many records are kept that cells would have to be huge.",
        hint="Keep a smaller share of the records, or take a larger epsilon or delta.",
    )


def _terms(epsilon: Fraction, share: Fraction) -> Iterator[tuple[int, Decimal, Decimal]]:
    """For J = 0, 1, ...: J, the largest value over n, and a bound for all later J together.

    From n to n + 1 the value changes by s P[Bin(n, s) = J] times
    (n + 1)(1 - s) / (n + 1 - J) - exp(epsilon), which falls in n: the largest value is at the
    first n where that is not above 0. From there on to the next J everything moves by single
    steps of n and J.
    """
    s_up, s_low = _both(share)
    q_up, q_low = _both(1 - share)
    odds_up, odds_low = _both(share / (1 - share))
    growth = _growth(epsilon)
    gain = _DOWN.subtract(growth, Decimal(1))
    reach = _UP.divide(q_up, gain)  # c
    ratio = _UP.divide(Decimal(1), _UP.add(Decimal(1), reach))  # what J / n tends to
    stretch = Fraction(growth) / (Fraction(growth) - (1 - share))
    place, n = 0, 0
    up = low = Decimal(1)  # P[Bin(n, s) = J], rounded up and down
    tail = Decimal(0)  # P[Bin(n, s) > J], rounded down
    while True:
        value = _UP.subtract(_UP.multiply(s_up, up), _DOWN.multiply(gain, tail))
        yield place, max(Decimal(0), value), _beyond(place + 1, s_up, q_up, reach, ratio)
        goal = max(place + 1, math.ceil((place + 1) * stretch) - 1)
        while n < goal:
            tail = _DOWN.add(tail, _DOWN.multiply(s_low, low))
            above, below = Decimal(n + 1), Decimal(n + 1 - place)
            up = _UP.divide(_UP.multiply(_UP.multiply(up, q_up), above), below)
            low = _DOWN.divide(_DOWN.multiply(_DOWN.multiply(low, q_low), above), below)
            n += 1
        above, below = Decimal(n - place), Decimal(place + 1)
        up = _UP.divide(_UP.multiply(_UP.multiply(up, odds_up), above), below)
        low = _DOWN.divide(_DOWN.multiply(_DOWN.multiply(low, odds_low), above), below)
        tail = max(Decimal(0), _DOWN.subtract(tail, up))
        place += 1


def _growth(epsilon: Fraction) -> Decimal:
    """exp(epsilon), rounded down."""
    exponent = _DOWN.divide(Decimal(epsilon.numerator), Decimal(epsilon.denominator))
    # the exponential function rounds to nearest, so a little more is taken away
    return _DOWN.multiply(_DOWN.exp(exponent), _JUST_BELOW_ONE)


def _beyond(place: int, s: Decimal, q: Decimal, reach: Decimal, ratio: Decimal) -> Decimal:
    """A bound on the terms from J = place on; 1 if there is none yet."""
    margin = Decimal("1e-20")  # far above the rounding error of a dozen operations
    with localcontext(_UP):
        # the best z for a ratio of J to n a little below what it tends to; any z is sound
        near = ratio * place / (place + 1)
        if near <= s:
            return Decimal(1)
        z = near * q / (s * (1 - near))
        log_a, log_z = (q + s * z).ln() + margin, z.ln() - margin
        slope = (1 + reach) * log_a - log_z
        if slope >= 0:
            return Decimal(1)
        return s * (place * slope + reach * log_a + margin).exp() * (1 + margin)


def _both(number: Fraction) -> tuple[Decimal, Decimal]:
    top, bottom = Decimal(number.numerator), Decimal(number.denominator)
    return _UP.divide(top, bottom), _DOWN.divide(top, bottom)
