"""The best of several bounds that are each surely above the truth, but for noise.

A count has many upper bounds: that of every one of its conditions, of every measured pair of them,
of the regions that the query touches. Each is a sum of noisy numbers, value = mean + noise, with a
mean that is never below the truth and noise of a known law. Taking the least of the values plus
their margins is right if the margins allow for the choice. How much they have to allow depends on
how far apart the means are: one that lies far above the least will hardly ever be the least.

**Theorem** (after Romano, Shaikh and Wolf 2014, "A practical two-step method for testing moment
inequalities"). Let the candidates, their weights and alpha be fixed before their noise is drawn,
each noise symmetric with P(noise_j < -x s_j - step_j) <= T(x) for x >= 0. Choose 0 < b < alpha, and
h_j so that |noise_j| <= h_j for all j at once with probability 1 - b. Let

    G_j = max(0, value_j - h_j - min_i (value_i + h_i)),
    c   = the solution of sum_j T(c + G_j / s_j) = alpha - b.

Then min_j (value_j + c s_j + step_j) is below the truth with probability alpha at most.

*Proof.* Let g_j = mean_j - min_i mean_i, and c* solve the same equation for g instead of G: a
constant. With c* the end is below the truth only if for some j value_j + c* s_j + step_j is, and
since the truth is at most min_i mean_i that means noise_j < -c* s_j - g_j - step_j, which for all
j together has the probability sum_j T(c* + g_j / s_j) = alpha - b at most. When all |noise_j| <=
h_j, mean_j >= value_j - h_j and min_i mean_i <= min_i (value_i + h_i), so G_j <= g_j; the solution
falls as the gaps grow, so c >= c*, and the end with c is no lower than that with c*. The other case
has probability b. (For noise that moves two candidates alike nothing changes: sums of
probabilities were used, and no independence.) Lower ends are upper ends of the negated count.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from hedgerow.arrays import Floats
from hedgerow.estimate.noise import factor, tail

__all__ = ["best_upper_ends"]


_FIRST = 0.1  # the part b of alpha that the first step takes
_GRID = np.arange(0.0, 10.05, 0.1)
_LEAST = 1e-4  # an alpha below which the grid is too short
_ROUNDS = 40  # of bisection


def best_upper_ends(values: Floats, deviations: Floats, steps: Floats, alpha: Floats) -> Floats:
    """Upper ends that fail with probability alpha at most, each from several candidates.

    Args:
        values: The noisy bounds, shape [queries, candidates]; infinite where there is none.
        deviations: The standard deviations of their noise.
        steps: The half steps that are added because noise is discrete.
        alpha: The probability with which the end of each query may fail.

    Returns:
        The ends, infinite for a query without candidates.

    Example:
        >>> one, two = [[100.0, np.inf]], [[100.0, 500.0]]
        >>> noise, steps = np.full((1, 2), 10.0), np.full((1, 2), 0.5)
        >>> best_upper_ends(np.array(one), noise, steps, np.array([0.025])).round(1).tolist()
        [122.1]
        >>> best_upper_ends(np.array(two), noise, steps, np.array([0.025])).round(1).tolist()
        [122.8]
    """
    there = np.isfinite(values)
    number = there.sum(axis=1)
    alone = number <= 1  # nothing to choose from, so nothing to pay for a choice
    first = np.where(alone, 0.0, _FIRST) * alpha
    scale = np.maximum(deviations, 1e-9)
    # as many levels as there are different numbers of candidates
    shares = np.where(alone, 1.0, first / np.maximum(number, 1))
    levels, place = np.unique(shares, return_inverse=True)
    reach = np.array([0.0 if share == 1 else factor(1 - share) for share in levels])[place]
    h = reach[:, None] * deviations + steps
    lowest = np.where(there, values + h, np.inf).min(axis=1, initial=np.inf)
    with np.errstate(invalid="ignore"):
        gaps = np.where(there, np.maximum(0.0, values - h - lowest[:, None]) / scale, np.inf)
    gaps[alone] = np.where(there[alone], 0.0, np.inf)
    c = _solve(gaps, alpha - first)
    ends = np.where(there, values + c[:, None] * deviations + steps, np.inf)
    return np.asarray(ends.min(axis=1, initial=np.inf))


def _solve(gaps: Floats, alpha: Floats) -> Floats:
    """The c of each row for which the tails of all candidates sum to alpha."""
    # where alpha is tiny, every candidate gets an equal part of it
    rare, many = alpha < _LEAST, np.maximum(1, np.isfinite(gaps).sum(axis=1))
    most = np.full(len(alpha), _GRID[-1])
    for row in np.flatnonzero(rare):
        most[row] = factor(1 - 2 * float(alpha[row] / many[row]))
    low, high = np.where(rare, most, 0.0), most
    for _ in range(_ROUNDS):
        middle = (low + high) / 2
        too_much = _one_sided(middle[:, None] + gaps).sum(axis=1) > alpha
        low, high = np.where(too_much, middle, low), np.where(too_much, high, middle)
    return high


def _one_sided(x: Floats) -> Floats:
    """The chords of half of `noise.tail`, which is convex: never below it."""
    return np.where(np.isinf(x), 0.0, np.interp(x, _GRID, _tails()))


@cache
def _tails() -> Floats:
    return np.array([tail(float(t)) for t in _GRID]) / 2
