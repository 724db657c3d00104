"""The consistent counts of a release, from all its measurements at once."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from hedgerow.arrays import Floats, Ints
from hedgerow.estimate.consistency import (
    Passes,
    averaging_passes,
    leaf_passes,
    least_squares_passes,
)
from hedgerow.estimate.merge import Evidence, Merged

__all__ = ["RULES", "Fit", "fit"]


RULES: dict[str, Callable[[Ints, Floats], Passes]] = {
    "least squares": least_squares_passes,
    "averaging": averaging_passes,
    "none": leaf_passes,
}
"""What a method's setting `consistency` may say: how counts of a tree are made to agree.

The last two are those of papers: averages from the bottom up and back, or counts as they are.
"""


@dataclass(frozen=True, eq=False, kw_only=True)
class Fit:
    """Consistent counts of every class at every node.

    Args:
        evidence: The measurements.
        rule: By which they were made to agree, one of `RULES`.
        passes: The weights of that rule.
        measured: What each node itself was taken to measure; with classes below, a leaf's total
            merged with the sum of its classes.
        total_own: With classes on top, how much of the total was measured as such.
        counts: The counts, shape [nodes, classes], not rounded.
        variance: The variance of the counts of each region's classes, shape [regions].
    """

    evidence: Evidence
    rule: str
    passes: Passes
    measured: Merged
    total_own: float
    counts: Floats
    variance: Floats

    @property
    def cells(self) -> Floats:
        """The counts of the regions, shape [regions, classes]."""
        return self.counts[self.evidence.leaves]


def fit(evidence: Evidence, rule: str = "least squares") -> Fit:
    """Makes the counts of a tree agree.

    Args:
        evidence: The measurements.
        rule: One of `RULES`.
    """
    return _on_top(evidence, rule) if evidence.total is not None else _below(evidence, rule)


def _below(evidence: Evidence, rule: str) -> Fit:
    """A tree of totals; where there are classes, each leaf divides by class."""
    cells, classes, leaves = evidence.cells, evidence.classes, evidence.leaves
    nodes, own = evidence.nodes, np.ones(len(leaves))
    if cells is not None:
        nodes, own = _with_classes(evidence, cells, raw=rule == "none")
    passes = RULES[rule](evidence.parent, nodes.variance)
    totals = passes.second(passes.first(nodes.values))
    spread = passes.spread(nodes.variance)
    at_leaves = spread.final[leaves]
    counts, variance = totals, at_leaves
    if cells is not None:
        counted = cells.values + (totals[leaves] - cells.values.sum(1, keepdims=True)) / classes
        counts = np.zeros((len(evidence.parent), classes))
        counts[leaves] = counted
        counts = passes.levels.gathered(counts)
        # a class is its own measurement and an equal share of what its region's total is off by
        known = cells.variance
        pull = spread.pull[leaves] * (1 - own)
        with np.errstate(invalid="ignore"):
            variance = known + (at_leaves + classes * known * (1 - 2 * pull)) / classes**2
            variance += 2 * known * (pull - 1) / classes
        variance = np.where(np.isfinite(known), variance, math.inf)
    return Fit(
        evidence=evidence,
        rule=rule,
        passes=passes,
        measured=nodes,
        total_own=0.0,
        counts=counts,
        variance=variance,
    )


def _with_classes(evidence: Evidence, cells: Merged, *, raw: bool) -> tuple[Merged, Floats]:
    """The nodes with each leaf's total merged with the sum of its classes, or replaced by it."""
    nodes, leaves, classes = evidence.nodes, evidence.leaves, evidence.classes
    measured, summed = nodes.variance[leaves], classes * cells.variance
    with np.errstate(invalid="ignore"):
        own = np.where(np.isinf(summed), 1.0, summed / (summed + measured))
    own[(np.isinf(measured) | raw) & np.isfinite(summed)] = 0.0
    rest = 1 - own

    def merged(total: Floats, parts: Floats) -> Floats:
        result = total.copy()
        with np.errstate(invalid="ignore"):
            both = own**2 * total[leaves] + rest**2 * classes * parts
        result[leaves] = np.where(
            own == 0, classes * parts, np.where(own == 1, total[leaves], both)
        )
        return result

    values = nodes.values.copy()
    values[leaves, 0] = own * values[leaves, 0] + rest * cells.values.sum(1)
    return (
        Merged(values, merged(nodes.variance, cells.variance), merged(nodes.tail, cells.tail)),
        own,
    )


def _on_top(evidence: Evidence, rule: str) -> Fit:
    """The total divides by class, and each class has a tree of its own."""
    nodes, total, classes = evidence.nodes, evidence.total, evidence.classes
    assert total is not None
    passes = RULES[rule](evidence.parent, nodes.variance)
    first = passes.first(nodes.values)
    root = float(passes.spread(nodes.variance).first[0])  # of each class
    measured = float(total.variance[0])
    own = 0.0 if math.isinf(measured) or rule == "none" else classes * root
    own = own / (own + measured) if own else 0.0
    if passes.blind[0] and math.isfinite(measured) and rule != "none":
        own = 1.0  # the tree alone cannot tell the total
    apart = own * (float(total.values[0, 0]) - first[0].sum())
    counts = passes.second(first, first[0] + apart / classes)
    noise = measured if own else 0.0
    rest = (own / classes) ** 2 * (noise + (classes - 1) * root)
    spread = passes.spread(nodes.variance, 1 - own / classes, rest)
    at_leaves = spread.final[evidence.leaves]
    return Fit(
        evidence=evidence,
        rule=rule,
        passes=passes,
        measured=nodes,
        total_own=own,
        counts=counts,
        variance=at_leaves,
    )
