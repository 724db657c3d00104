"""The paper's Algorithm 2 as printed, for study alone. It is NOT PRIVATE.

It takes the private table as its own side table and admits a generalization if at least a share
theta of all records fall under it, theta drawn at random. Take a table with n/2 records x and n/2
records y, and one without one x. There is a window of theta, of width 1/(n - 1), in which the
second table admits y alone, and the first never does: so the delta of it is at least

    1 / ((n - 1) (1 - theta0)) - o(1/n)

whatever epsilon is. That is what publishing a random raw record would cost. What comes out of here
holds no guarantee and has no way to become a release.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow.arrays import Small
from hedgerow.data import Table
from hedgerow.errors import UsageError
from hedgerow.evaluation.measures import NOT_PRIVATE
from hedgerow.methods.supermodular import Supermodular
from hedgerow.optimize.exact import LARGEST, lattice
from hedgerow.optimize.model import Forest, Problem, Side

__all__ = ["NonPrivateStudy", "nonprivate_algorithm_2"]


@dataclass(frozen=True, kw_only=True)
class NonPrivateStudy:
    """What Algorithm 2 gave. NOT PRIVATE, and no release.

    Args:
        rows: Generalized rows in words, and how many sampled records became each.
        theta: The random share that was drawn.
        rate: The paper's epsilon'.
        least_delta: What delta is at least, for a table of this size.
    """

    rows: tuple[tuple[tuple[str, ...], int], ...]
    theta: float
    rate: float
    least_delta: float

    def text(self) -> str:
        """The study in plain text, marked, with the bound."""
        lines = [
            NOT_PRIVATE,
            f"Algorithm 2 as printed: delta is at least {self.least_delta:.3g} for any epsilon.",
        ]
        lines += [f"{count:>8}  {', '.join(labels)}" for labels, count in self.rows]
        return "\n".join(lines)

    def __getstate__(self) -> object:
        raise UsageError(
            "This study is NOT PRIVATE and cannot be stored.",
            hint="Publish with hedgerow.Supermodular() instead.",
        )


def nonprivate_algorithm_2(
    table: Table,
    method: Supermodular,
    epsilon: float,
    beta: float,
    theta0: float,
    seed: int | None = None,
) -> NonPrivateStudy:
    """Runs Algorithm 2 as printed, the private table beside itself. NOT PRIVATE.

    Args:
        table: The raw table.
        method: Utility, weights, lambda and kappa are taken from it.
        epsilon: The paper's epsilon.
        beta: Each record is sampled with probability 1 - beta; above exp(-epsilon).
        theta0: Shares are drawn from (theta0, 1).
        seed: For the same run again.
    """
    if not math.exp(-epsilon) < beta < 1 or not 0 < theta0 < 1:
        raise UsageError("beta must lie between exp(-epsilon) and 1, and theta0 between 0 and 1.")
    forest, worth = method.terms(table.schema)
    if forest.largest_lattice() > LARGEST:
        raise UsageError("The lattice is too large for this study.", hint="Take fewer attributes.")
    random = np.random.default_rng(seed)
    codes = table.codes[:, : forest.attributes]
    number = len(codes)
    if number < 2:
        raise UsageError("The study needs at least two records.")
    problem = Problem(forest, Side.of(forest, codes), worth)
    theta = float(random.uniform(theta0, 1))
    rate = (epsilon + math.log(beta)) / (6 * (method.trade / method.floor + 1) * (1 - beta))
    found: dict[tuple[str, ...], int] = {}
    sampled = codes[random.random(number) < 1 - beta]
    distinct, counts = np.unique(sampled, axis=0, return_counts=True)
    ones = np.ones(forest.attributes)
    for leaves, times in zip(
        forest.leaves(distinct.astype(np.int64)), counts.tolist(), strict=True
    ):
        lengths, utility, sensitivity, alike = lattice(problem, leaves, ones)
        value = method.trade * alike / sensitivity + utility**method.kappa
        exponent = np.where(alike >= theta * number, rate * value / number, -np.inf)
        law = np.exp(exponent - exponent.max())
        for place in random.choice(len(law), times, p=law / law.sum()):
            labels = _labels(table, forest, leaves, np.unravel_index(place, lengths))
            found[labels] = found.get(labels, 0) + 1
    rows = tuple(sorted(found.items(), key=lambda row: (-row[1], row[0])))
    return NonPrivateStudy(
        rows=rows, theta=theta, rate=rate, least_delta=1 / ((number - 1) * (1 - theta0))
    )


def _labels(
    table: Table, forest: Forest, leaves: Small, steps: tuple[NDArray[np.intp], ...]
) -> tuple[str, ...]:
    words = []
    for attribute, leaf, up in zip(table.schema.columns, leaves.tolist(), steps, strict=True):
        for _ in range(int(up)):
            leaf = int(forest.parent[leaf])
        words.append(attribute.label(int(forest.lo[leaf]), int(forest.hi[leaf])))
    return tuple(words)
