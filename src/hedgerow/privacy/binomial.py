"""An exact binomial draw for a probability that is irrational and a number of trials without bound.

The number of empty cells whose noise reaches a threshold is Binomial(n, p) with
p = q^t / (1 + q), q = exp(-rate). It is drawn by inversion: a uniform number is compared, bit by
bit, with cumulative probabilities that are known between two integers; whenever a comparison
cannot be decided, everything is computed again with more bits. No error remains, so no delta.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from hedgerow.privacy.keystream import Keystream

_MEAN = 32  # trials are drawn in portions of about this mean

Interval = tuple[int, int]  # bounds of a number in [0, 1], times 2^bits


def sample_tail(stream: Keystream, trials: int, rate: Fraction, threshold: int) -> int:
    """Draws how many of `trials` independent DLap(rate) values are at least `threshold` (>= 1)."""
    precision = 64 + trials.bit_length()  # or portions of a tiny probability would be too many
    _, high = _tail(rate, threshold, precision)
    portion = max(1, (_MEAN << precision) // max(high, 1))
    total = 0
    while trials > 0:
        total += _sample(stream, min(trials, portion), rate, threshold)
        trials -= portion
    return total


def tail_above(rate: Fraction, threshold: int, precision: int) -> int:
    """P[DLap(rate) >= threshold] for a threshold from 0 on, times 2^precision and rounded up."""
    return _tail(rate, threshold, precision)[1]


def _sample(stream: Keystream, trials: int, rate: Fraction, threshold: int) -> int:
    bits = 64
    uniform = stream.bits(bits)
    while True:
        found = _invert(uniform, bits, trials, rate, threshold)
        if found is not None:
            return found
        uniform = uniform << bits | stream.bits(bits)
        bits *= 2


def _invert(uniform: int, bits: int, trials: int, rate: Fraction, threshold: int) -> int | None:
    """The smallest k with CDF(k) > U, or None if these bits of U cannot tell."""
    precision = bits + 64 + 2 * trials.bit_length()
    one = 1 << precision
    p_low, p_high = _tail(rate, threshold, precision)
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
def _tail(rate: Fraction, threshold: int, precision: int) -> Interval:
    """P[DLap(rate) >= threshold] = q^t / (1 + q), between two integers over 2^precision."""
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
