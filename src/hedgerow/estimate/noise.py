"""How far a sum of noises may lie from 0: a bound from the known law, never from the data.

Let X be any sum of independent Laplace noises, with variance s^2. A Laplace noise is a normal one
whose variance was itself drawn, from an exponential law; so X, given its drawn variance W, is
normal, and W is a weighted sum of exponential variables with mean s^2. Write g(W) for the
probability that a normal noise with variance W lies beyond t. Replace g by a convex function that
is nowhere below it: g itself up to some v, and from there the steepest line from that point to
any later point of g. By Jensen's inequality the mean of a convex function of W is largest when W is
one exponential variable alone, and there it has a closed form. So

    P(|X| > t) <= the mean of that convex function of an exponential variable with mean s^2,

for every X, whatever its weights; the best v gives the bound, and t is found by bisection. It is
tight to 2% at a level of 95%: t = 2.157 s, where one Laplace noise alone needs 2.118 s and the
normal limit of many needs 1.960 s.

Our noises are discrete. A continuous Laplace noise is a discrete one with the same epsilon plus an
independent symmetric rest (an exponential variable is its whole part plus an independent fractional
part). A sum A of discrete noises with weight 1 is symmetric and unimodal on the whole numbers, so
of all windows with 2m + 1 of them the one around 0 is the likeliest, and P(|A| <= m) is at least
P(|X| <= m + 1/2). So half a step more than t is enough, with s^2 made of 2 / epsilon^2, the
variance of the continuous law. For weights other than 1 the same rule is used; there the half step
is checked numerically, against exact convolutions (`tests/unit/estimate/test_noise.py`), and not
proved.

The law is that of a fixed tree. The size of a tuned tree depends on the noise of the number of
rows, and DiffMulti's shape on that of the sizes it shares by; these numbers are then used again. No
effect on coverage was seen (`benchmarks/coverage.py` checks DiffMulti apart).
"""

from __future__ import annotations

import math
from functools import lru_cache

from hedgerow.arrays import Floats

__all__ = ["LATTICE", "factor", "half_width", "tail"]


LATTICE = 0.5
"""Half the step between whole numbers: no weight in a count is larger than 1."""

_POINTS = 24  # places for v that are tried
_ROUNDS = 60  # of bisection and of golden section; ends far below what matters


def half_width(deviation: Floats, level: float) -> Floats:
    """Half the width of an interval around an estimate that holds the truth at a level.

    Args:
        deviation: The standard deviation of the noise, from 2 / epsilon^2.
        level: The probability that the interval holds the truth, at least.

    Example:
        >>> half_width(np.array([0.0, 10.0]), 0.95).round(2).tolist()
        [0.5, 22.07]
    """
    return factor(level) * deviation + LATTICE


@lru_cache(maxsize=64)
def factor(level: float) -> float:
    """How many standard deviations hold any sum of Laplace noises at a level.

    Example:
        >>> round(factor(0.95), 3), round(factor(0.5), 3)
        (2.157, 0.674)
    """
    low, high = 0.0, 2.0 + 2 * math.log(1 / (1 - level))
    for _ in range(_ROUNDS):
        middle = (low + high) / 2
        low, high = (middle, high) if tail(middle) > 1 - level else (low, middle)
    return high


def tail(t: float) -> float:
    """A bound on the probability that a sum of Laplace noises lies beyond t deviations.

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
        root = math.sqrt(2 * v)
        # the mean of g below v in closed form, and what the line adds beyond it
        near = math.exp(-math.sqrt(2) * t) * _normal(root - t / math.sqrt(v))
        far = math.exp(math.sqrt(2) * t) * _normal(-root - t / math.sqrt(v))
        best = min(best, near + far + steepest * math.exp(-v))
    return min(1.0, best)


def _normal(x: float) -> float:
    return 0.5 * math.erfc(-x / math.sqrt(2))


def _beyond(t: float, variance: float) -> float:
    """The probability that a normal noise with a variance lies beyond t: the g of above."""
    return math.erfc(t / math.sqrt(2 * variance)) if variance > 0 else 0.0


def _steepest(t: float, start: float, bend: float) -> tuple[float, float]:
    """The steepest line from a point of g to a later one, and where it touches."""
    base = _beyond(t, start)
    low, high = math.log(bend * (1 + 1e-9)), math.log(bend) + 12
    for _ in range(_ROUNDS):  # golden section: the slope rises, then falls
        left, right = low + 0.381966 * (high - low), low + 0.618034 * (high - low)
        slopes = [(_beyond(t, math.exp(x)) - base) / (math.exp(x) - start) for x in (left, right)]
        low, high = (left, high) if slopes[0] < slopes[1] else (low, right)
    touch = math.exp((low + high) / 2)
    return (_beyond(t, touch) - base) / (touch - start), touch
