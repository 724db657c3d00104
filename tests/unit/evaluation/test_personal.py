"""What is measured on raw records says that it is not private, and stays what it is."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import hedgerow as hr
from hedgerow.data import Table
from hedgerow.errors import UsageError
from hedgerow.evaluation.scorecard import personal_worth
from hedgerow.schema import Schema
from papers.algorithm_2 import NonPrivateStudy, nonprivate_algorithm_2

SCHEMA = Schema.from_dict(
    {
        "name": "two",
        "unit": "row",
        "attributes": {
            "a": {"type": "categorical", "taxonomy": {"X": ["x1", "x2"], "Y": ["y1", "y2"]}}
        },
    }
)


def two(x: int, y: int) -> Table:
    """So many records x1 and y1; the second column stands for a class that is not there."""
    codes = np.zeros((x + y, 2), np.uint16)
    codes[x:, 0] = 2
    return Table(SCHEMA, codes)


def test_stricter_settings_are_less_useful_and_less_risky():
    side = np.repeat([0, 1, 2, 3], [5, 20, 50, 100])[:, None]
    methods = [hr.Supermodular(risk=risk) for risk in (0.5, 0.05, 0.005)]
    worths = [personal_worth(two(30, 40), side, method) for method in methods]
    utilities, risks, records = zip(*worths, strict=True)
    assert list(utilities) == sorted(utilities, reverse=True)
    assert list(risks) == sorted(risks, reverse=True)
    assert set(records) == {2}
    aggregate = hr.Supermodular(model="aggregate", trade=1e6)
    assert personal_worth(two(3, 4), side, aggregate)[0] == 0


def test_the_study_of_algorithm_2_states_its_bound():
    study = nonprivate_algorithm_2(two(20, 20), hr.Supermodular(), 1.0, 0.5, 0.1, seed=1)
    assert isinstance(study, NonPrivateStudy)
    assert study.least_delta == pytest.approx(1 / (39 * 0.9))
    assert "NOT PRIVATE" in study.text() and "0.0285" in study.text()
    assert not hasattr(study, "save")
    with pytest.raises(UsageError, match="cannot be stored"):
        pickle.dumps(study)


@pytest.mark.slow
def test_algorithm_2_tells_neighbors_apart():
    """The event of the bound: some row below Y, none below X. Its window has width 1/39."""

    def happens(x: int, y: int, seed: int) -> bool:
        study = nonprivate_algorithm_2(two(x, y), hr.Supermodular(), 1.0, 0.5, 0.1, seed=seed)
        labels = {label for (label,), _ in study.rows}
        return bool(labels & {"Y", "y1"}) and not labels & {"X", "x1"}

    with_it = sum(happens(20, 20, seed) for seed in range(700))
    without = sum(happens(19, 20, seed) for seed in range(700))
    # P is about 0.0015 and 0.03: 7 more at least happens but for a chance of 1e-3, and with the
    # smaller P on both sides in 5 of 100,000 runs (differences of Poisson numbers of means 1.05
    # and 21, and of two of mean 1.05)
    assert without >= with_it + 7


def test_what_the_study_refuses():
    with pytest.raises(UsageError, match="beta"):
        nonprivate_algorithm_2(two(5, 5), hr.Supermodular(), 1.0, 0.2, 0.1)
    with pytest.raises(UsageError, match="two records"):
        nonprivate_algorithm_2(two(1, 0), hr.Supermodular(), 1.0, 0.5, 0.1)
