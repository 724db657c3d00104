"""How good predicted probabilities of the class are. NOT PRIVATE on raw rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hedgerow.arrays import Bools, Floats, Ints

__all__ = ["Skill", "area_under_curve", "skill"]

BINS = 10


@dataclass(frozen=True, kw_only=True)
class Skill:
    """What predictions are worth. NOT PRIVATE.

    Args:
        accuracy: The share of rows whose likeliest class is right, in percent.
        auc: The area under the ROC curve, 0.5 for guesses and 1 at best; with several classes each
            against the rest, weighted by how frequent they are. None if there is one class only.
        recall: For each class, how many of its rows are found, in percent; None if it has none.
        calibration: The expected calibration error, 0 at best: how far the probability that a model
            gives to what it predicts lies from how often that is right, on average.
    """

    accuracy: float
    auc: float | None
    recall: tuple[float | None, ...]
    calibration: float


def skill(chances: Floats, truth: Ints) -> Skill:
    """Compares predicted probabilities with the classes of rows.

    Args:
        chances: The probability of each class, shape [rows, classes].
        truth: The class of each row.

    Example:
        >>> chances = np.array([[0.9, 0.1], [0.8, 0.2], [0.4, 0.6], [0.7, 0.3]])
        >>> found = skill(chances, np.array([0, 0, 1, 1]))
        >>> found.accuracy, found.auc, found.recall, round(found.calibration, 2)
        (75.0, 1.0, (100.0, 50.0), 0.35)
    """
    told, sure = chances.argmax(axis=1), chances.max(axis=1)
    right = told == truth
    # ten bins of equal width; their mean gaps, weighted by how many rows they have
    place = np.minimum((sure * BINS).astype(np.int64), BINS - 1)
    gaps = np.bincount(place, weights=right - sure, minlength=BINS)
    recall: list[float | None] = []
    areas, weights = [], []
    for klass in range(chances.shape[1]):
        of = truth == klass
        recall.append(100 * float(right[of].mean()) if of.any() else None)
        if of.any() and not of.all():
            areas.append(area_under_curve(chances[:, klass], of))
            weights.append(of.sum())
    return Skill(
        accuracy=100 * float(right.mean()),
        auc=float(np.average(areas, weights=weights)) if areas else None,
        recall=tuple(recall),
        calibration=float(np.abs(gaps).sum()) / max(1, len(truth)),
    )


def area_under_curve(scores: Floats, positive: Bools) -> float:
    """The chance that a positive row has a higher score than another; ties count half.

    Example:
        >>> area_under_curve(np.array([0.1, 0.4, 0.4, 0.8]), np.array([False, False, True, True]))
        0.875
    """
    values, place, number = np.unique(scores, return_inverse=True, return_counts=True)
    rank = np.cumsum(number) - (number - 1) / 2  # the mean rank among equals
    ones = int(positive.sum())
    above = float(rank[place][positive].sum()) - ones * (ones + 1) / 2
    return above / (ones * (len(scores) - ones))
