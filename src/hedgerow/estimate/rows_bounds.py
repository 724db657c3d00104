"""How many people listed rows stand for at least, where rows that few share are left out.

A row is listed if its noisy count, or the number of its people who were kept, is large enough. So
noise that helped a row is seen more often than noise that hurt, and taking a standard error off the
sum would promise too much. What is needed is a bound for all rows at once, listed or not.

For a number s > 0 and a row that n people share, let g be 0 if it is not listed, else a score of
its count y. If E exp(s (g - n)) <= 1 for every n, then by independence the sum over all rows has
E exp(s (sum g - sum n)) <= 1, and by Markov's inequality sum n >= sum g - ln(1 / alpha) / s but for
a probability of alpha. Rows that are not listed add n >= 0 and g = 0, so nothing need be known of
them.

Noisy counts y = n + Z, listed from t on: g = y - b, with the least b that serves every n.
Kept people y ~ Bin(n, share), listed from k on: g = c y with c = ln((exp(s) - 1 + share) / share) /
s. Without the listing E exp(s (c y - n)) is just 1, and leaving a row out only makes g smaller.

Several s are tried, each with its part of alpha. All of it is computed from published numbers.
"""

from __future__ import annotations

import math
from functools import lru_cache

__all__ = ["least_by_noise", "least_by_sampling"]

_PARTS = (2, 4, 8, 16)  # s as a part of what the noise allows
_STEPS = (0.5, 0.125, 0.03125, 0.0078125)


def least_by_noise(total: float, rows: int, rate: float, threshold: int, alpha: float) -> float:
    """People behind listed rows, at least, but for a probability of alpha.

    Args:
        total: The sum of their noisy counts.
        rows: How many rows there are.
        rate: The discrete Laplace noise has P(z) proportional to exp(-rate |z|).
        threshold: The least noisy count that is listed.
        alpha: How often it may be wrong.

    Example:
        >>> least_by_noise(100.0, 1, 1.0, 15, 0.05) > 85, least_by_noise(0.0, 0, 1.0, 15, 0.05)
        (True, 0.0)
    """
    found = [float(rows)]  # nobody is listed whom nobody stands behind
    # a stranger's release may claim any noise: beyond what is ever drawn, take the certain bound
    usual = 1e-3 <= rate <= 30 and threshold <= 100_000
    for part in _PARTS if usual else ():
        s = rate / part
        cost = math.log(len(_PARTS) / alpha) / s
        found.append(total - rows * _shift(s, rate, threshold) - cost)
    return max(found)


def least_by_sampling(kept: float, share: float, alpha: float) -> float:
    """People behind listed rows of a sample, at least, but for a probability of alpha.

    Args:
        kept: How many of them were kept, exactly.
        share: The probability with which each was.
        alpha: How often it may be wrong.

    Example:
        >>> least_by_sampling(100.0, 0.2, 0.05) > 350, least_by_sampling(3.0, 0.2, 0.05)
        (True, 3.0)
    """
    found = [kept]
    for s in _STEPS:
        factor = math.log1p(math.expm1(s) / share) / s
        found.append(factor * kept - math.log(len(_STEPS) / alpha) / s)
    return max(found)


@lru_cache(maxsize=256)
def _shift(s: float, rate: float, threshold: int) -> float:
    """The least b with E exp(s (g - n)) <= 1 for every number n >= 1 of people in a row."""
    a = math.exp(-rate)
    last = threshold + math.ceil(40 / rate)
    b = 0.0
    for n in range(1, last + 1):
        allowed = -math.expm1(math.log(_below(threshold - n, a)) - s * n)
        b = max(b, math.log(_weight_from(threshold - n, s, a) / allowed) / s)
    # beyond: no more than the whole weight, and hardly ever unlisted
    whole = _weight_from(-last, s, a) + math.exp(-last * (rate + s))
    allowed = -math.expm1(math.log(_below(threshold - last, a)) - s * last)
    return max(b, math.log(whole / allowed) / s)


def _below(edge: int, a: float) -> float:
    """P(Z < edge)."""
    if edge <= 0:
        return a ** (1 - edge) / (1 + a)
    return 1 - a**edge / (1 + a)


def _weight_from(edge: int, s: float, a: float) -> float:
    """E exp(s Z) over Z >= edge."""
    up, down = a * math.exp(s), a * math.exp(-s)  # s < rate, so that both are below 1
    unit = (1 - a) / (1 + a)
    if edge > 0:
        return unit * up**edge / (1 - up)
    falling = (down - down ** (1 - edge)) / (1 - down)  # over -1, -2, ... down to the edge
    return unit * (1 / (1 - up) + falling)
