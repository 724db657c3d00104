"""Estimators of scikit-learn."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from unittest import SkipTest

import numpy as np
import pytest

pytest.importorskip("sklearn", minversion="1.6")
pd = pytest.importorskip("pandas")

from sklearn.base import clone  # noqa: E402
from sklearn.exceptions import NotFittedError  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import FunctionTransformer  # noqa: E402
from sklearn.utils.estimator_checks import estimator_checks_generator  # noqa: E402

import hedgerow as hr  # noqa: E402
from hedgerow import sample  # noqa: E402
from hedgerow.errors import BudgetError, DataError, UsageError  # noqa: E402
from hedgerow.sklearn import RegionClassifier, Synthesizer  # noqa: E402

QUICK = hr.DiffMulti(specializations=3)
X = np.repeat([[1.0, 5.0], [2.0, 5.0], [8.0, 5.0], [9.0, 5.0]], 100, axis=0)
Y = np.repeat([0, 0, 1, 1], 100)


def classifier(**given: Any) -> RegionClassifier:
    settings = {"bounds": (0, 10), "classes": [0, 1], "method": QUICK, "random_state": 1}
    return RegionClassifier(**{"epsilon": 5} | settings | given)


def test_it_is_cloned_and_works_in_a_pipeline() -> None:
    model = clone(classifier())
    assert model.get_params()["bounds"] == (0, 10)
    pipe = make_pipeline(FunctionTransformer(), model).fit(X, Y)
    assert pipe.score(X, Y) > 0.9
    assert pipe.predict_proba(X[:3]).sum(axis=1) == pytest.approx(1)
    assert model.set_params(epsilon="1/3").fit(X, Y).release_.guarantee["epsilon"] == "1/3"


def test_a_fit_without_a_seed_is_private() -> None:
    assert classifier(random_state=None).fit(X, Y).release_.guarantee["private"] is True
    assert classifier(random_state=np.int64(1)).fit(X, Y).release_.guarantee["private"] is False


def test_what_is_public_does_not_come_from_data() -> None:
    """Other rows, other values and other labels: the same schema."""
    first = classifier().fit(X, Y)
    for rows, labels in ((X[:7], Y[:7]), (10 - X, Y), (X, np.zeros(400, int))):
        other = classifier().fit(rows, labels)
        assert other.schema_ == first.schema_
        assert other.classes_.tolist() == [0, 1]
    assert (
        Synthesizer(bounds=(0, 10)).fit(X).schema_
        == Synthesizer(bounds=(0, 10)).fit(10 - X).schema_
    )


@pytest.mark.parametrize(
    "given, words",
    [
        ({"bounds": None}, "schema="),
        ({"bounds": 3}, r"bounds=\(0, 100\)"),
        ({"bounds": [(0, 1)]}, r"bounds=\(0, 100\)"),
        ({"bounds": (1, 0)}, r"bounds=\(0, 100\)"),
        ({"classes": None}, "classes="),
        ({"classes": [1]}, "classes="),
        ({"epsilon": 0}, "epsilon"),
        ({"method": "mst"}, "diffmulti"),
        ({"schema": sample.schema()}, "attributes"),
    ],
)
def test_what_is_missing_is_named(given: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        classifier(**given).fit(X, Y)


def test_an_unknown_label_is_refused() -> None:
    with pytest.raises(DataError):
        classifier().fit(X, np.repeat([0, 7], 200))


@pytest.mark.parametrize("labels", [[0.0, 1.0], ["b", "a"], [10, 9], [True, False]])
def test_labels_keep_their_type(labels: list[Any]) -> None:
    y = np.array(labels)[Y]
    model = classifier(classes=labels).fit(X, y)
    assert model.classes_.tolist() == sorted(labels) and model.score(X, y) > 0.9
    assert model.predict(X).dtype == y.dtype


def test_a_schema_and_a_frame() -> None:
    people = sample.people(500, seed=1).to_pandas()
    target = sample.schema().target.name
    rows, labels = people.drop(columns=target), people[target]
    model = RegionClassifier(3, sample.schema(), method=QUICK, random_state=1).fit(rows, labels)
    assert model.classes_.tolist() == sorted(sample.schema().classes)
    told = model.release_.predict_proba(people)
    assert model.predict_proba(rows) == pytest.approx(told[model.classes_].to_numpy(), nan_ok=True)
    odd = rows.head(2).assign(age=[40, 400])
    assert np.isfinite(model.predict_proba(odd)).all()
    with pytest.raises(UsageError, match="Leave classes out"):
        clone(model).set_params(classes=["no", "yes"]).fit(rows, labels)


def test_every_fit_is_paid(tmp_path: Path) -> None:
    ledger = tmp_path / "clinic.ledger"
    hr.BudgetLedger(ledger).open("clinic", 1)
    model = classifier(epsilon=1, ledger=ledger, dataset="clinic", random_state=None)
    model.fit(X, Y)
    with pytest.raises(BudgetError):
        clone(model).fit(X, Y)


def test_a_synthesizer() -> None:
    people = sample.people(500, seed=1).to_pandas()
    model = clone(Synthesizer(3, sample.schema(), random_state=1))
    with pytest.raises(NotFittedError):
        model.sample(3)
    rows = model.fit(people).sample(7, seed=1)
    assert isinstance(rows, pd.DataFrame) and len(rows) == 7
    assert rows.equals(model.sample(7, seed=1))


LABELS = (
    "The check fits labels of its own choice. Labels are public here and named before any data is "
    "seen, so others than these are refused, and `classes_` has all of them."
)
BOUNDS = (
    "The check wants infinity and NaN refused by `fit` and `predict`. Values beyond the bounds are "
    "clipped, infinity too, and a row that cannot be read is predicted by the shares of the "
    "classes: X is read like any other input."
)
CANNOT = {
    "check_classifiers_classes": LABELS,
    "check_classifiers_train": LABELS,
    "check_dtype_object": LABELS,
    "check_estimators_nan_inf": BOUNDS,
}
"""The checks of scikit-learn that cannot pass, and why."""


@pytest.mark.slow
def test_the_checks_of_scikit_learn_pass() -> None:
    model = classifier(bounds=(-10, 200), classes=[0, 1, 2], epsilon=50)
    failed = {}
    for one, check in estimator_checks_generator(model):
        try:
            check(one)
        except SkipTest:
            continue
        except Exception as error:
            failed[check.func.__name__] = f"{type(error).__name__}: {error}"
    assert failed.keys() == CANNOT.keys(), failed


def test_the_page_names_the_checks_that_cannot_pass() -> None:
    page = (Path(__file__).parents[2] / "docs" / "sklearn.md").read_text(encoding="utf-8")
    assert set(re.findall(r"`(check_\w+)`", page)) == CANNOT.keys()


ANSWERS = {"name": "s", "unit": "row", "attributes": {
    "a": {"type": "categorical", "values": ["1", "2"], "outside": "other", "missing": "other"},
    "c": {"type": "categorical", "values": ["0", "1"], "outside": "drop", "missing": "drop",
          "role": "class"},
}}  # fmt: skip


@pytest.mark.parametrize("odd", ["x", None, 2**70, "1.0", 1.5, np.float32(1), True])
def test_one_odd_record_changes_no_other(odd: Any) -> None:
    """NumPy would give all of them one type: 1.0 beside a text became "1.0", which is no "1"."""
    X, y = [[1.0], [2.0]] * 200, [0.0, 1.0] * 200
    for rows, labels in (([*X, [odd]], [*y, 0.0]), ([*X, [1.0]], [*y, odd])):
        model = RegionClassifier(20, ANSWERS, method=QUICK, random_state=1).fit(rows, labels)
        counts = model.release_.table("a", "c")
        assert np.sort(np.asarray(counts["estimate"]))[-2:].min() > 150
