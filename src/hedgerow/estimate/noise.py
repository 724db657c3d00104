"""How far a sum of noises may lie from 0: a bound from the known law, never from the data.

Let X be any sum of independent Laplace and normal noises, with variance s^2. A Laplace noise is a
normal one whose variance was itself drawn, from an exponential law; so X, given its drawn variance
W, is normal, and W is a constant plus a weighted sum of exponential variables, with mean s^2.
(The constant is the limit of many exponential variables with small weights.) Write g(W) for the
probability that a normal noise with variance W lies beyond t. Replace g by a convex function that
is nowhere below it: g itself up to some v, and from there the steepest line from that point to
any later point of g. By Jensen's inequality the mean of a convex function of W is largest when W is
one exponential variable alone, and there it has a closed form. So

    P(|X| > t) <= the mean of that convex function of an exponential variable with mean s^2,

for every X, whatever its weights; the best v gives the bound, and t is found by bisection. It is
tight to 2% at a level of 95%: t = 2.157 s, where one Laplace noise alone needs 2.118 s and the
normal limit of many needs 1.960 s.

If at most a share q of s^2 comes from Laplace noises, the mean of a convex function of W is no
larger than for (1 - q) s^2 plus one exponential variable with mean q s^2, by Jensen's inequality
again; so that takes its place (`laplace`), and normal noises alone need 1.960 s.

Our noises are discrete. A continuous Laplace noise is a discrete one with the same epsilon plus an
independent symmetric rest (an exponential variable is its whole part plus an independent fractional
part). A sum A of discrete noises with weight 1 is symmetric and unimodal on the whole numbers, so
of all windows with 2m + 1 of them the one around 0 is the likeliest, and P(|A| <= m) is at least
P(|X| <= m + 1/2). So half a step more than t is enough, with s^2 made of 2 / epsilon^2, the
variance of the continuous law. For weights other than 1 the same rule is used; there the half step
is checked numerically, against exact convolutions (`tests/unit/estimate/test_noise.py`), and not
proved.

With discrete Gaussian noises among them, the same holds if s^2 takes each of these with its
variance parameter v, or with 2 if v is less (`Measurement.tail_variance`), save that the
probability to lie beyond may be larger by a factor of 1 + 1e-7. In four steps, for weights of 1;
all laws here are symmetric, and those on whole numbers log-concave, hence unimodal, and so are
their sums.

1. Of two such noises let one be smaller in size: P(|Z| > m) <= P(|Z'| > m) for all m. Then Z may be
   replaced by Z' in a sum with others B: P(|B + z| <= m) falls in |z|. A Gaussian with v < 2
   is smaller than one with v = 2, since the ratio of their probabilities falls in |z|.
2. The sum of two discrete Gaussians is nearly one: completing the square, P(Z + Z' = x) is
   proportional to exp(-x^2 / (2 (v + v'))) times the sum over all whole j of
   exp(-(j - c x)^2 / (2 w)), with 1/w = 1/v + 1/v'. That sum has the Fourier coefficients
   exp(-2 pi^2 w j^2), so it varies by a factor of at most 1 + 5 exp(-2 pi^2 w). For v, v' >= 2
   this is 1 + 1.4e-8; for a third it is 1 + 2e-11 and less from there on (w tends to v >= 2, so a
   million of them add less than 1e-10). So one discrete Gaussian D stands for all.
3. D is smaller in size than a normal N of the same v, rounded: the mass of N within 1/2 of x,
   divided by exp(-x^2 / (2 v)), is an integral of exp(-y^2 / (2 v)) cosh(x y / v), which grows
   in |x|.
4. Let B be the sum of all discrete Laplace noises, and R the rest that makes them continuous. The
   rounded N plus B is at most m in size just if |N + B| <= m + 1/2, which has the probability that
   |B + j| <= m, for j the rounded N. N + R is larger in size than N, and so is its rounding; so
   |N + B| <= m + 1/2 is at least as likely as |N + R + B| <= m + 1/2, and N + R + B is an X.

The law is that of a fixed tree. The size of a tuned tree depends on the noise of the number of
rows, and DiffMulti's shape on that of the sizes it shares by; these numbers are then used again. No
effect on coverage was seen (`benchmarks/interval_coverage.py` checks DiffMulti apart).
"""

from __future__ import annotations

import itertools
import math
from functools import lru_cache

from hedgerow.arrays import Floats

__all__ = ["LATTICE", "factor", "half_width", "tail"]


LATTICE = 0.5
"""Half the step between whole numbers: no weight in a count is larger than 1."""

_POINTS = 24  # places for v that are tried
_STEPS, _LONGEST = 200, 40.0  # of an integral over an exponential variable
_ROUNDS, _NEAR = 60, 1e-10  # for a factor or a tangent: most steps, and how near it is found
_USUAL = 2.156756755  # the factor that almost every command asks for


def half_width(deviation: Floats, level: float, laplace: float = 1.0) -> Floats:
    """Half the width of an interval around an estimate that holds the truth at a level.

    Args:
        deviation: The standard deviation of the noise, from `Measurement.tail_variance`.
        level: The probability that the interval holds the truth, at least.
        laplace: The largest share of the variance that comes from Laplace noise.

    Example:
        >>> import numpy as np
        >>> half_width(np.array([0.0, 10.0]), 0.95).round(2).tolist()
        [0.5, 22.07]
    """
    return factor(level, laplace) * deviation + LATTICE


def factor(level: float, laplace: float = 1.0) -> float:
    """How many standard deviations hold any sum of Laplace and normal noises at a level.

    A share of Laplace noise is rounded up to eighths, so that few factors have to be worked out.

    Example:
        >>> round(factor(0.95), 3), round(factor(0.5), 3), round(factor(0.95, laplace=0.0), 3)
        (2.157, 0.674, 1.96)
    """
    if (level, laplace) == (0.95, 1.0):
        return _USUAL
    return _factor(level, math.ceil(8 * laplace) / 8)


@lru_cache(maxsize=64)
def _factor(level: float, laplace: float) -> float:
    # the logarithm of the tail is nearly straight, so chords find the place in a few steps; the end
    # that stays put counts half, lest it stay for ever (the Illinois method)
    low, high = 0.0, 2.0 + 2 * math.log(1 / (1 - level))
    above, below = (math.log(tail(t, laplace) / (1 - level)) for t in (low, high))
    moved = 0
    for _ in range(_ROUNDS):
        if high - low <= _NEAR * high or below == 0:
            break
        middle = low + (high - low) * above / (above - below)
        middle = min(max(middle, low + _NEAR * high / 2), high - _NEAR * high / 2)
        found = math.log(tail(middle, laplace) / (1 - level))
        if found > 0:
            low, above, below = middle, found, below / 2 if moved > 0 else below
            moved = 1
        else:
            high, below, above = middle, found, above / 2 if moved < 0 else above
            moved = -1
    return math.ceil(high * 1e9) / 1e9  # so that it does not depend on the path to it


def tail(t: float, laplace: float = 1.0) -> float:
    """A bound on the probability that a sum of Laplace and normal noises lies beyond t deviations.

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
        if laplace < 1:
            best = min(best, _shared(t, v, steepest, laplace))
            continue
        root = math.sqrt(2 * v)
        # the mean of g below v in closed form, and what the line adds beyond it
        near = math.exp(-math.sqrt(2) * t) * _normal(root - t / math.sqrt(v))
        far = math.exp(math.sqrt(2) * t) * _normal(-root - t / math.sqrt(v))
        best = min(best, near + far + steepest * math.exp(-v))
    return min(1.0, best)


def _shared(t: float, v: float, steepest: float, laplace: float) -> float:
    """The mean of the convex function where W is a constant plus one exponential variable.

    g grows, so that its value at the end of each of some steps bounds the integral from above.
    """
    fixed = 1 - laplace
    if v <= fixed:
        return _beyond(t, v) + steepest * (1 - v)
    end = (v - fixed) / laplace if laplace else math.inf
    steps = [min(end, _LONGEST) * step / _STEPS for step in range(_STEPS + 1)]
    body = math.fsum(
        _beyond(t, fixed + laplace * b) * (math.exp(-a) - math.exp(-b))
        for a, b in itertools.pairwise(steps)
    )
    return body + (_beyond(t, v) + steepest * laplace) * math.exp(-steps[-1])


def _normal(x: float) -> float:
    return 0.5 * math.erfc(-x / math.sqrt(2))


def _beyond(t: float, variance: float) -> float:
    """The probability that a normal noise with a variance lies beyond t: the g of above."""
    return math.erfc(t / math.sqrt(2 * variance)) if variance > 0 else 0.0


def _steepest(t: float, start: float, bend: float) -> tuple[float, float]:
    """The steepest line from a point of g to a later one, and where it touches."""
    base = _beyond(t, start)
    low, high = bend, bend * math.exp(12)
    touch = 3 * bend
    # there the line is a tangent: beyond the bend its excess falls, so Newton's method finds it
    for _ in range(_ROUNDS):
        rise = t * math.exp(-t * t / (2 * touch)) / math.sqrt(2 * math.pi * touch**3)
        excess = rise * (touch - start) - (_beyond(t, touch) - base)
        low, high = (touch, high) if excess > 0 else (low, touch)
        bent = rise * (t * t / touch - 3) / (2 * touch) * (touch - start)
        found = touch - excess / bent if bent else low
        found = found if low < found < high else math.sqrt(low * high)
        if abs(found - touch) <= _NEAR * touch:
            break
        touch = found
    return (_beyond(t, touch) - base) / (touch - start), touch
