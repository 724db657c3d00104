"""Algorithm 1 of the Supermodular paper (Approx) as printed, and what it is expected to give.

For each layer of sensitivities tau_i a convex program over the hull of the lattice: the largest
utility with a count of at least tau_(i-1) / c and a sensitivity of at most tau_i. The Lovasz
extension of a supermodular function is its concave closure, so the program is a linear one over
mixtures of generalizations, and a small lattice can simply be listed. Its solution is a vector;
rounding returns one of its level sets at random, until one has nearly enough count and not much
too much sensitivity. There are few level sets, so the expectation is worked out and not drawn.

Two slips of the paper are mended: layers count from 0 (else there is none where the sensitivity is
constant), and a layer none of whose level sets is ever accepted, where it would try for ever, is
left out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linprog

from hedgerow.arrays import Floats, Ints

__all__ = ["Rounded", "approximate"]


@dataclass(frozen=True, kw_only=True)
class Rounded:
    """What rounding gives.

    Args:
        utility: The expected utility of what is returned; 0 where nothing ever is.
        risk: The largest risk of what may be returned.
        stuck: How many layers would try for ever.
    """

    utility: float
    risk: float
    stuck: int


def approximate(
    points: Ints, utility: Floats, sensitivity: Floats, count: Ints, risk: float,
    *, epsilon: float = 0.5, sigma1: float = 0.5, sigma2: float = 4.0,
) -> Rounded:  # fmt: skip
    """Algorithm 1 for one record whose lattice is listed.

    Args:
        points: The generalizations, as steps up in each attribute.
        utility: Of each.
        sensitivity: Of each.
        count: How many side rows each could stand for.
        risk: The paper's c.
        epsilon: How wide the layers are.
        sigma1: The share of the count that will do.
        sigma2: How many times the sensitivity will do.

    Example:
        >>> chain = np.array([[0], [1], [2]])
        >>> utility, count = np.array([1, 0.4, 0]), np.array([1, 500, 1000])
        >>> approximate(chain, utility, np.ones(3), count, 2 / 1000).utility  # 0.4 is allowed
        0.0
    """
    least, most = float(sensitivity.min()), float(sensitivity.max())
    layers = math.ceil(math.log(most / least) / math.log1p(epsilon) - 1e-9)
    heights = points.max(axis=0)
    level_of = np.concatenate([np.arange(1, height + 1) for height in heights])
    attribute_of = np.repeat(np.arange(len(heights)), heights)
    inside = points[:, attribute_of] >= level_of[None, :]  # the elements of each generalization
    place = {tuple(point): number for number, point in enumerate(points.tolist())}
    outcomes, stuck, worst = list[tuple[Floats, Floats]](), 0, 0.0
    for layer in range(layers + 1):
        top = least * (1 + epsilon) ** layer
        enough = top / (1 + epsilon) / risk
        solved = linprog(
            -utility, A_ub=np.stack([-count.astype(float), sensitivity]), b_ub=[-enough, top],
            A_eq=np.ones((1, len(points))), b_eq=[1.0],
        )  # fmt: skip
        if solved.status != 0:
            continue  # no mixture fits the layer
        vector = np.clip(solved.x @ inside, 0, 1)
        edges = np.unique(np.concatenate([[0.0, 1.0], vector]))[::-1]
        chances, at = [], []
        for high, low in zip(edges[:-1], edges[1:], strict=True):
            chosen = np.zeros(len(heights), np.int64)  # the elements at `high` and above
            np.maximum.at(chosen, attribute_of, np.where(vector >= high, level_of, 0))
            # between the largest value and 1, nothing is chosen; below the least, everything is
            chances.append(high - low)
            at.append(place[tuple(chosen.tolist())])
        number = np.asarray(at)
        fine = (count[number] >= sigma1 * enough) & (sensitivity[number] <= sigma2 * top)
        chance = np.where(fine, chances, 0.0)
        if not chance.sum() > 1e-12:
            stuck += 1
            continue
        worst = max(
            worst, float((sensitivity[number] / np.maximum(count[number], 1))[chance > 1e-12].max())
        )
        outcomes.append((utility[number], chance / chance.sum()))
    return Rounded(utility=_expected_best(outcomes), risk=worst, stuck=stuck)


def _expected_best(outcomes: list[tuple[Floats, Floats]]) -> float:
    """The expectation of the largest of some independent draws."""
    if not outcomes:
        return 0.0
    values = np.unique(np.concatenate([utility for utility, _ in outcomes]))
    below = np.ones(len(values))
    for utility, chance in outcomes:
        below *= [chance[utility <= value].sum() for value in values]
    return float((values * np.diff(below, prepend=0.0)).sum())
