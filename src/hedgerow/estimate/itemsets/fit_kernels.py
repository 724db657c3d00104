"""The loop of `itemsets.fit`."""

from __future__ import annotations

import math

import numpy as np

from hedgerow.arrays import Floats
from hedgerow.compiled import kernel

__all__ = ["posterior"]


SHAPE = 2
_SHORT = 64  # a sum of so few terms is added up as it is


def _steps(counts: Floats, *_: object) -> int:
    return 10 * len(counts) + int(np.clip(counts, 0, _SHORT).sum()) // 4


@kernel(steps=_steps)
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
    for i in range(len(counts)):
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
