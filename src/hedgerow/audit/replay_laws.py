"""The exact laws of all draws, for the replay audit: how likely was what came out?

This module computes with floats: it judges mechanisms and is none.
"""

from __future__ import annotations

import math

import numpy as np

from hedgerow.arrays import Floats, Ints
from hedgerow.audit.replay_trace import DivergedError
from hedgerow.privacy.sampler import C, Candidates, Cells, Listing

__all__ = ["kept_law", "listing_law", "selection_law", "tail"]


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


def listing_law(cells: C, counts: Ints, forced: tuple[C, Ints], rule: Listing) -> float:
    """The log-probability of a list of cells: each is independent of all others.

    Example:
        >>> from fractions import Fraction
        >>> rule = Listing(law="mark", rate=Fraction(1), threshold=2, number=10)
        >>> nobody = np.zeros(0, dtype=np.int64)
        >>> nothing = listing_law(nobody, nobody, (nobody, nobody), rule)
        >>> math.isclose(nothing, 10 * math.log1p(-tail(1.0, 2)))
        True
    """
    e, threshold = float(rule.rate), rule.threshold

    def listed(value: int, count: int) -> float:
        if value < threshold:
            return -math.inf
        if rule.law == "keep":
            return kept_law(value, count, e)
        if rule.law == "mark":
            return math.log(tail(e, threshold - count))
        return math.log(math.tanh(e / 2)) - e * abs(value - count)

    def hidden(count: int) -> float:
        if rule.law != "keep":
            return math.log1p(-tail(e, threshold - count))
        below = [kept_law(value, count, e) for value in range(min(threshold, count + 1))]
        return float(np.logaddexp.reduce(below))

    exact = dict(zip(_keys(cells), counts.tolist(), strict=True))
    shown = dict(zip(_keys(forced[0]), forced[1].tolist(), strict=True))
    empty = 0  # cells that nobody is in, and that were not listed
    if rule.number:
        if not all(0 <= cell < rule.number for (cell,) in shown):
            raise DivergedError("the method drew from other cells than before")
        empty = rule.number - len(exact.keys() | shown.keys())
        if empty < 0:
            raise DivergedError("the method drew from fewer cells than it filled")
    elif not shown.keys() <= exact.keys():
        return -math.inf  # a cell that nobody is in is never listed
    log_p = empty * hidden(0) if empty else 0.0
    log_p += sum(listed(value, exact.get(cell, 0)) for cell, value in shown.items())
    return log_p + sum(hidden(count) for cell, count in exact.items() if cell not in shown)


def kept_law(value: int, count: int, share: float) -> float:
    """The log-probability that so many of a cell's records are kept, each with a probability."""
    if not 0 <= value <= count:
        return -math.inf
    ways = math.comb(count, value)
    return math.log(ways) + value * math.log(share) + (count - value) * math.log1p(-share)


def _keys(cells: Cells | Ints) -> list[tuple[int, ...]]:
    """Cells as keys, be they numbered or have a node of every attribute."""
    return list(map(tuple, cells.tolist() if cells.ndim > 1 else cells[:, None].tolist()))
