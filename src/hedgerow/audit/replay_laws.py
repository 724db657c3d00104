"""The exact laws of all draws, for the replay audit: how likely was what came out?

This module computes with floats: it judges mechanisms and is none.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from hedgerow.audit.replay_trace import DivergedError
from hedgerow.privacy.sampler import Cells
from hedgerow.privacy.selection import Candidates

__all__ = ["hidden_law", "listing_law", "selection_law", "tail"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def tail(e: float, m: int) -> float:
    """P[DLap(e) >= m].

    Example:
        >>> tail(1.0, 1) + tail(1.0, 0)  # Z and -Z have the same law
        1.0
    """
    a = math.exp(-e)
    return a**m / (1 + a) if m >= 0 else 1 - a ** (1 - m) / (1 + a)


def selection_law(
    candidates: Candidates, node: int, rate: float, flips: bool
) -> tuple[Floats, dict[tuple[int, int], int]]:
    """Log-probabilities of all candidates of a node, and the place of each (part, cut).

    Args:
        candidates: The candidates of all nodes.
        node: Which node.
        rate: The rate of the mechanism there.
        flips: Whether it is permute-and-flip.
    """
    runs = range(candidates.start[node], candidates.start[node + 1])
    score = np.concatenate([np.repeat(candidates.score[r], candidates.count[r]) for r in runs])
    weight = np.concatenate([np.repeat(candidates.weight[r], candidates.count[r]) for r in runs])
    places: dict[tuple[int, int], int] = {}
    for r in runs:
        for offset in range(candidates.count[r]):
            first = int(candidates.first[r])
            cut = first + offset if first >= 0 else -1
            places[int(candidates.part[r]), cut] = len(places)
    x = rate * (score.max() - score).astype(np.float64)
    if flips:
        return _permute_and_flip_law(x), places
    log_weight = np.log(weight.astype(np.float64)) - x
    return log_weight - np.logaddexp.reduce(log_weight), places


def _permute_and_flip_law(x: Floats) -> Floats:
    """The logarithms of P[c] = q_c * integral over t of the product of 1 - t q_j over j != c.

    The integrand is a polynomial of degree n - 1, for which Gauss-Legendre with ceil(n/2) points
    is exact.
    """
    q = np.exp(-x)
    points, weights = np.polynomial.legendre.leggauss(max(1, math.ceil(len(q) / 2)))
    t = (points + 1) / 2
    factors = np.log1p(-t[:, None] * q[None, :])  # all points lie inside, so no factor is 0
    others = factors.sum(axis=1)[:, None] - factors
    integral = np.logaddexp.reduce(np.log(weights / 2)[:, None] + others, axis=0)
    return np.asarray(-x + integral)


def listing_law(
    cells: Cells,
    counts: Ints,
    forced: tuple[Cells, Ints],
    listed: Callable[[int, int], float],
    hidden: Callable[[int], float],
) -> float:
    """The log-probability of a list of cells: each is independent of all others."""
    exact = dict(zip(map(tuple, cells.tolist()), counts.tolist(), strict=True))
    shown = dict(zip(map(tuple, forced[0].tolist()), forced[1].tolist(), strict=True))
    if not shown.keys() <= exact.keys():
        return -math.inf  # a cell that nobody is in is never listed
    log_p = sum(listed(value, exact[cell]) for cell, value in shown.items())
    return log_p + sum(hidden(count) for cell, count in exact.items() if cell not in shown)


def hidden_law(
    e: float, exact: dict[int, int], listed: set[int], number: int, threshold: int
) -> float:
    """The log-probability that all cells but the listed ones stay below a threshold."""
    if not all(0 <= cell < number for cell in listed):
        raise DivergedError("the method drew from other cells than before")
    hidden = [count for cell, count in exact.items() if cell not in listed]
    empty = number - len(listed) - len(hidden)
    if empty < 0:
        raise DivergedError("the method drew from fewer cells than it filled")
    return empty * math.log1p(-tail(e, threshold)) + sum(
        math.log1p(-tail(e, threshold - count)) for count in hidden
    )
