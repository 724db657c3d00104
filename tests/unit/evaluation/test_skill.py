from __future__ import annotations

import numpy as np
import pytest

from hedgerow.evaluation.measures import area_under_curve, skill


@pytest.mark.parametrize("classes", [2, 4])
def test_the_area_is_scikit_learns(classes: int) -> None:
    from sklearn.metrics import roc_auc_score

    rng = np.random.default_rng(classes)
    truth = rng.integers(0, classes, 500)
    chances = rng.dirichlet(np.ones(classes), 500).round(2)  # with ties
    areas = [roc_auc_score(truth == one, chances[:, one]) for one in range(classes)]
    number = np.bincount(truth)
    assert skill(chances, truth).auc == pytest.approx(np.average(areas, weights=number))


def test_recall_and_accuracy() -> None:
    chances = np.eye(3)[[0, 0, 1, 2, 2]]
    found = skill(chances, np.array([0, 1, 1, 2, 0]))
    assert found.accuracy == 60 and found.recall == (50.0, 50.0, 100.0)
    assert skill(chances, np.array([0, 1, 1, 1, 0])).recall[2] is None


def test_calibration_is_0_where_probabilities_are_frequencies() -> None:
    chances = np.full((10, 2), (0.7, 0.3))
    assert skill(chances, np.array([0] * 7 + [1] * 3)).calibration == pytest.approx(0)
    assert skill(chances, np.array([0] * 2 + [1] * 8)).calibration == pytest.approx(0.5)


def test_one_class_has_no_area() -> None:
    assert skill(np.full((4, 2), 0.5), np.zeros(4, np.int64)).auc is None


def test_equal_scores_are_guesses() -> None:
    assert area_under_curve(np.ones(6), np.array([True, False] * 3)) == 0.5
