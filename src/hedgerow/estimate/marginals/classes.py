"""p(class | record): the logits of regions, and what rounds of residuals add to them.

The model is additive in logits: those of a record's region, a shift for each cell that it lies in,
and a constant for each class that makes class totals agree with what was counted.
"""

from __future__ import annotations

import numpy as np

from hedgerow.arrays import LOGIT, PROBABILITY, Floats, Ints
from hedgerow.estimate.classify import class_shares
from hedgerow.estimate.fit import Fit
from hedgerow.measured.marginals import CellMap, Marginals
from hedgerow.measured.partition import TreePartition

__all__ = ["Logits", "base_logits", "shifts"]


_LEAST_SHARE = 0.02  # of a class in a region, by counts that are noisy
_PRIOR = 1.0  # how far shifts lie from 0, as a standard deviation
_MOST_SHIFT, _MOST_STEP = 5.0, 1.5
_STEPS = 6
_BALANCING = 8


def base_logits(partition: TreePartition, fit: Fit) -> Ints:
    """The logits of the classes in each region, in 64ths, by what was counted there."""
    shares = np.maximum(class_shares(partition, fit), 0.0)
    shares = shares / np.maximum(shares.sum(axis=1, keepdims=True), 1e-9)
    logits = np.log(np.clip(shares, _LEAST_SHARE, 1 - _LEAST_SHARE))
    return np.asarray(np.rint(LOGIT * (logits - logits[:, :1])), np.int64)


class Logits:
    """The logits of records by region and cells, as numbers that may be computed with.

    Args:
        base: The logits of each region, [regions, classes], in 64ths.
        cells: How cells are numbered.
        shift: What each cell adds, [cells, classes], in 64ths.
    """

    def __init__(self, base: Ints, cells: CellMap, shift: Ints) -> None:
        self._base = base / LOGIT
        self._shift = {
            a: np.repeat(shift[cells.start[a] : cells.start[a + 1]], np.diff(edges), axis=0) / LOGIT
            for a, edges in enumerate(cells.edges)
            if shift[cells.start[a] : cells.start[a + 1]].any()
        }
        self.constant: Floats = np.zeros(base.shape[1])

    @staticmethod
    def of(marginals: Marginals) -> Logits | None:
        """Those of a release, after its last round."""
        if marginals.base is None:
            return None
        cells = marginals.cells
        shift = np.zeros((cells.cells, marginals.base.shape[1]), np.int64)
        for one in marginals.rounds:
            here = slice(cells.start[one.attribute], cells.start[one.attribute + 1])
            shift[here, one.klass] += one.shift
        return Logits(marginals.base, cells, shift)

    def logits(self, codes: Ints, region: Ints) -> Floats:
        """The logits of records, [records, classes]."""
        found = self._base[region] + self.constant
        for a, shift in self._shift.items():
            found += shift[codes[:, a]]
        return found

    def probabilities(self, codes: Ints, region: Ints) -> Floats:
        """The class probabilities of records, [records, classes]."""
        return _softmax(self.logits(codes, region))

    def balance(self, codes: Ints, region: Ints, weight: Floats, totals: Floats) -> None:
        """Finds the constants with which weighed records have such class totals."""
        logits = self.logits(codes, region)
        wanted = np.maximum(totals, 1e-3 * totals.sum())
        constant = np.zeros(len(totals))
        for _ in range(_BALANCING):
            now = weight @ _softmax(logits + constant)
            constant += np.clip(np.log(wanted / np.maximum(now, 1e-9)), -1.0, 1.0)
        self.constant = self.constant + constant - constant[0]


def shifts(
    logits: Floats, weight: Floats, cell: Ints, klass: int, residuals: Ints, noise: float
) -> Ints:
    """What a round adds to the logit of a class in each cell, in 64ths.

    Records stand for others by their weights. In each cell the shift d is found for which the
    expected number of this class grows by the noisy residual, pulled towards 0 by a prior:
    it minimises (target - expected(d))^2 / (2 variance) + d^2 / (2 prior^2), by Gauss-Newton.

    Args:
        logits: The logits of records, [records, classes].
        weight: How many records each stands for.
        cell: The cell of each, from 0 on.
        klass: The class.
        residuals: The noisy sums of residuals of each cell, in 256ths.
        noise: The standard deviation of their noise, in 256ths.
    """
    others = np.delete(logits, klass, axis=1)
    largest = others.max(axis=1)
    against = largest + np.log(np.exp(others - largest[:, None]).sum(axis=1))
    start = logits[:, klass] - against
    cells = len(residuals)
    p = _logistic(start)
    target = np.bincount(cell, weight * p, cells) + residuals / PROBABILITY
    variance = (noise / PROBABILITY) ** 2 + np.bincount(cell, weight * p * (1 - p), cells)
    shift = np.zeros(cells)
    for _ in range(_STEPS):
        p = _logistic(start + shift[cell])
        expected = np.bincount(cell, weight * p, cells)
        slope = np.bincount(cell, weight * p * (1 - p), cells) + 1e-6
        step = (target - expected) * slope / variance - shift / _PRIOR**2
        step = step / (slope**2 / variance + 1 / _PRIOR**2)
        shift = np.clip(shift + np.clip(step, -_MOST_STEP, _MOST_STEP), -_MOST_SHIFT, _MOST_SHIFT)
    return np.asarray(np.rint(LOGIT * shift), np.int64)


def _logistic(logit: Floats) -> Floats:
    found: Floats = 1 / (1 + np.exp(-np.clip(logit, -30, 30)))
    return found


def _softmax(logits: Floats) -> Floats:
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    found: Floats = powers / powers.sum(axis=1, keepdims=True)
    return found
