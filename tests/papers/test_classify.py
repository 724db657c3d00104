"""Accuracies equal what a handful of rows give by hand."""

from __future__ import annotations

import sys
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

from hedgerow.errors import UsageError
from hedgerow.estimate.measurements import Measurement
from hedgerow.estimate.partition import GridPartition
from hedgerow.release import Release, TableRelease
from hedgerow.schema import Schema
from papers import classify
from papers.classify import MODELS

pytest.importorskip("sklearn")

SCHEMA = Schema.from_dict(
    {
        "name": "small",
        "unit": "row",
        "attributes": {
            "age": {"type": "numeric", "low": 0, "high": 9, "step": 1},
            "job": {"type": "categorical", "values": ["a", "b"]},
            "ill": {"type": "categorical", "values": ["no", "yes"], "role": "class"},
        },
    }
)
TEST = pa.table({
    "age": [1, 2, 7, 8, 9], "job": list("abbab"), "ill": ["no", "yes", "yes", "yes", "no"],
})  # fmt: skip


def release(counts: list[list[int]]) -> Release:
    """Ages below 5 and from 5 on, counted without noise to speak of."""
    leaf = Measurement(
        name="leaf",
        at="region",
        where=np.arange(2),
        values=np.array(counts),
        by_class=True,
        units=np.full(2, 1),
        unit=Fraction(50),
    )
    edges = (np.array([0, 5, 10]), np.array([0, 2]))
    return TableRelease(
        schema=SCHEMA,
        method="diffgen",
        settings={},
        guarantee={"epsilon": "1"},
        ledger={},
        partition=GridPartition(edges),
        measurements=(leaf,),
    )


def rows(number: int, seed: int = 1) -> pa.Table:
    """Rows whose class is "yes" exactly where the age is 5 or more."""
    source = np.random.default_rng(seed)
    age = source.integers(0, 10, number)
    return pa.table(
        {
            "age": age,
            "job": source.choice(["a", "b"], number),
            "ill": np.where(age >= 5, "yes", "no"),
        }
    )


def test_regions_tell_their_majority():
    told = release([[30, 10], [10, 60]])  # no, yes: right for rows 1, 3 and 4
    assert classify.by_regions(told, TEST) == 60
    assert classify.by_counts(told, TEST) == 60
    assert classify.on_output(told, TEST, "c45") == 60


def test_an_empty_region_gets_the_largest_class():
    told = release([[0, 0], [10, 60]])  # yes everywhere: right for rows 2, 3 and 4
    assert classify.by_counts(told, TEST) == 60
    assert classify.by_counts(release([[0, 0], [60, 10]]), TEST) == 40


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
def test_every_model_finds_a_clear_rule_in_rows(model):
    assert classify.on_rows(rows(400), rows(200, 2), SCHEMA, model) > 95


@pytest.mark.parametrize("model", [m for m in MODELS if m != "boosting"])
def test_models_learn_from_generalized_records(model):
    told = release([[300, 0], [0, 300]])
    assert classify.on_output(told, rows(200, 2), model) == 100


def test_one_class_alone_can_be_told():
    assert classify.on_output(release([[9, 0], [9, 0]]), TEST, "svm") == 40
    young = rows(100).filter(pa.compute.less(rows(100)["age"], 5))
    assert classify.on_rows(young, TEST, SCHEMA, "tree") == 40


def test_bounds():
    train = rows(300)
    assert classify.lower_bound(train, TEST, SCHEMA) in (40, 60)
    only_no = pa.table({"age": [1], "job": ["a"], "ill": ["no"]})
    assert classify.lower_bound(only_no, TEST, SCHEMA) == 40
    assert classify.baseline(train, TEST, SCHEMA) == 60  # "no" below 5, "yes" above


def test_a_missing_library_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn", None)
    with pytest.raises(UsageError, match=r"hedgerow\[evaluate\]"):
        classify.on_rows(rows(30), TEST, SCHEMA, "tree")


def test_there_must_be_a_class_and_rows():
    plain = Schema.from_dict(
        {
            "name": "s",
            "unit": "row",
            "attributes": {"age": {"type": "numeric", "low": 0, "high": 9}},
        }
    )
    with pytest.raises(UsageError, match="no class"):
        classify.lower_bound(rows(3), TEST, plain)
    with pytest.raises(UsageError, match="no row"):
        classify.on_rows(rows(0), TEST, SCHEMA)


def test_mean_and_error():
    assert classify.mean_and_error([2.0, 4.0, 6.0]) == pytest.approx((4, 2 / np.sqrt(3)))
    assert np.isnan(classify.mean_and_error([1.0])[1])


@pytest.mark.parametrize("price", [0.0, 3e-4, 5e-3, 0.1, 2.0])
def test_pruning_in_one_pass_gives_the_tree_of_the_library(price):
    from sklearn.tree import DecisionTreeClassifier

    source = np.random.default_rng(3)
    inputs = source.integers(0, 20, (800, 4)).astype(float)
    known = (inputs[:, 0] > 8).astype(int) + (source.random(800) < 0.3)
    weights = source.integers(1, 9, 800).astype(float)
    how = {"criterion": "entropy", "random_state": 0}
    theirs = DecisionTreeClassifier(ccp_alpha=price, **how).fit(inputs, known, weights)
    ours = classify._Pruned(DecisionTreeClassifier(**how), price)
    ours.fit(inputs, known, weights)
    assert ours.predict_proba(inputs) == pytest.approx(theirs.predict_proba(inputs))
    assert (ours.predict(inputs) == theirs.predict(inputs)).all()
    # distinct leaves that records reach
    leaves = {*ours._leaf[ours._tree.apply(inputs)].tolist()}
    assert len(leaves) == theirs.get_n_leaves()
