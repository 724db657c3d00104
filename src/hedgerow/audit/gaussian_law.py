"""The exact law of discrete Gaussian noise, for audits: it judges a mechanism and is none."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

__all__ = ["gaussian_mass", "gaussian_tail"]

_REACH = 90.0  # z^2 rate beyond which Gaussian noise is left out: a part exp(-45) of what is added


def gaussian_mass(rate: float, centre: float = 0.0) -> float:
    """The logarithm of the sum over all whole z of exp(-rate (z - centre)^2 / 2).

    Term by term where few terms count, and by its Fourier series (Poisson's formula) else; both are
    left off where a further term is less than the rounding of floats.

    Example:
        >>> round(gaussian_mass(1.0), 9) == round(0.5 * math.log(2 * math.pi) + 5.35e-9, 9)
        True
    """
    if rate > 1:
        z = round(centre) + np.arange(-12, 13)
        return float(np.logaddexp.reduce(-rate * (z - centre) ** 2 / 2))
    waves = sum(
        2 * math.exp(-2 * (math.pi * j) ** 2 / rate) * math.cos(2 * math.pi * j * (centre % 1))
        for j in (1, 2, 3)
    )
    return 0.5 * math.log(2 * math.pi / rate) + math.log1p(waves)


@lru_cache(maxsize=4096)
def gaussian_tail(rate: float, m: int) -> float:
    """P[Z >= m] for Z with P[z] proportional to exp(-rate z^2 / 2).

    Example:
        >>> gaussian_tail(0.5, 1) + gaussian_tail(0.5, 0)  # Z and -Z have the same law
        1.0
    """
    if m <= 0:
        return 1 - gaussian_tail(rate, 1 - m)
    z = np.arange(m, math.ceil(math.sqrt(m * m + _REACH / rate)) + 2, dtype=np.float64)
    return float(np.exp(np.logaddexp.reduce(-rate * z * z / 2) - gaussian_mass(rate)))
