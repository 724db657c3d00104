"""The loops of `itemsets.fit`. Loads numba.

They run on one thread: the matrices are small, and the threads of a linear algebra library would
wait for each other longer than they work.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from hedgerow.arrays import Floats, Singles

__all__ = ["em_round", "posterior"]


SHAPE = 2
_TINY = np.float32(1e-30)
_SHORT = 64  # a sum of so few terms is added up as it is


@njit(cache=True, fastmath=True)
def em_round(
    noisy: Singles,
    real: Singles,
    left: Singles,
    right: Singles,
    records: Singles,
    spread: np.float32,
    by_left: Singles,
    by_right: Singles,
) -> float:
    """One round: fitted counts, how far each moves, and the sums of that by kind.

    Args:
        noisy: The noisy counts, shape [L, R].
        real: 1 where a record can lie, else 0.
        left: The probabilities of one half of the items by kind, shape [kinds, L].
        right: Those of the other half and the bins, shape [kinds, R].
        records: The number of records of each kind.
        spread: By which fitted counts are outweighed.
        by_left: Filled with the moved counts by kind, summed over R, shape [kinds, L].
        by_right: The same summed over L, shape [kinds, R].

    Returns:
        What the fit puts where no record can lie.
    """
    kinds, width = right.shape
    means, ratio = np.empty(width, np.float32), np.empty(width, np.float32)
    by_right[:] = 0
    beyond = np.float64(0)
    for i in range(noisy.shape[0]):
        means[:] = 0
        for k in range(kinds):
            weight = left[k, i] * records[k]
            for j in range(width):
                means[j] += weight * right[k, j]
        outside = np.float32(0)
        for j in range(width):
            mean = means[j] if means[j] > _TINY else _TINY
            outside += mean * (1 - real[i, j])
            ratio[j] = 1 + real[i, j] * (noisy[i, j] - mean) / (mean + spread)
        beyond += outside
        for k in range(kinds):
            weight = left[k, i] * records[k]
            total = np.float32(0)
            for j in range(width):
                total += right[k, j] * ratio[j]
                by_right[k, j] += weight * ratio[j]
            by_left[k, i] = weight * total
    for k in range(kinds):
        for j in range(width):
            by_right[k, j] *= right[k, j]
    return beyond


@njit(cache=True)
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
    for i in range(counts.size):
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
