from __future__ import annotations

import importlib.util
import json
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import hedgerow as hr
from hedgerow import sample
from hedgerow.errors import DataError, UsageError
from hedgerow.estimate.measurements import Measurement
from hedgerow.estimate.partition import CoreCells, GridPartition
from hedgerow.evaluation.scorecard import NO_MODELS, evaluate
from hedgerow.release import Release, TableRelease
from hedgerow.sample.survey import shop_schema, transactions
from hedgerow.schema import Person

pytestmark = pytest.mark.slow

SCHEMA = hr.Schema.from_dict(
    {
        "name": "wards",
        "unit": "row",
        "attributes": {
            "age": {"type": "numeric", "low": 0, "high": 9, "outside": "drop"},
            "ward": {"type": "categorical", "values": ["a", "b"]},
            "ill": {"type": "categorical", "values": ["no", "yes"], "role": "class"},
        },
    }
)


def people(rows: int = 400) -> pa.Table:
    """Who is above 4 is ill, and nobody else."""
    age = np.arange(rows) % 10
    return pa.table(
        {
            "age": age,
            "ward": np.where(np.arange(rows) % 3 == 0, "a", "b"),
            "ill": np.where(age > 4, "yes", "no"),
        }
    )


def faithful(off: int = 0) -> Release:
    """A release of `people()` that tells every cell, all too high by `off`."""
    grid = GridPartition((np.arange(11), np.arange(3)))
    counts = np.zeros((20, 2), np.int64)
    for row in people().to_pylist():
        counts[row["age"] * 2 + (row["ward"] == "b"), int(row["ill"] == "yes")] += 1
    counted = Measurement(
        name="leaf",
        at="region",
        where=np.arange(20),
        values=counts + off,
        by_class=True,
        units=np.ones(20, np.int64),
        unit=Fraction(1),
    )
    promise: dict[str, Any] = {"epsilon": "1", "delta": "0", "private": True}
    return TableRelease(
        schema=SCHEMA,
        method="diffgen",
        settings={},
        guarantee=promise,
        ledger={},
        partition=grid,
        measurements=(counted,),
    )


def test_a_release_that_tells_everything_is_off_by_nothing() -> None:
    found = evaluate(people(), faithful(), queries=80)
    assert found.records == 400 and found.matches
    assert [one.total_variation for one in found.marginals] == pytest.approx([0, 0, 0])
    assert found.counts.overall.absolute == pytest.approx(0, abs=1e-9)
    assert found.counts.overall.covered == 1
    assert [line.size for line in found.counts.lines] == [1, 2]
    told, detail = found.classification, found.distortion
    assert told is not None and detail is not None
    assert told.regions == 100 and told.majority == 50
    assert [(m.model, m.raw) for m in told.models] == [("tree", 100), ("boosting", 100)]
    assert all(m.released == 100 for m in told.models)
    assert detail.ncp == 0
    # one cell for each age and ward: 400 records of 10 ages, a third of them in ward a
    sizes = np.bincount((np.arange(400) % 10) * 2 + (np.arange(400) % 3 > 0))
    assert detail.discernibility == (sizes**2).sum()


def test_errors_are_what_they_are_said_to_be() -> None:
    found = evaluate(people(), faithful(off=3), queries=2000)
    one = found.counts.lines[0]
    # every cell and class is off by 3, and a query on ages alone holds 4 of them for each age
    assert one.absolute > 0 and found.counts.sanity == 1
    raw = np.array([134, 266]) / 400
    told = (np.array([134, 266]) + 3 * 20) / (400 + 120)
    ward = found.marginals[1]
    assert ward.raw == pytest.approx(raw) and ward.released == pytest.approx(told)
    assert ward.total_variation == pytest.approx(abs(raw - told).sum() / 2)


def test_a_release_of_other_data_is_noticed() -> None:
    assert not evaluate(people(4000), faithful(), queries=4).matches
    with pytest.raises(DataError) as wrong:
        evaluate(pa.table({"bread": [1, 2]}), faithful(), queries=4)
    assert "made from" in str(wrong.value)
    empty = people().slice(0, 0)
    with pytest.raises(DataError) as nobody:
        evaluate(empty, faithful(), queries=4)
    assert "made from" in str(nobody.value)


def test_what_cannot_be_meant_is_refused() -> None:
    for setting in ({"queries": 0}, {"seed": -1}, {"side": people()}):
        with pytest.raises(UsageError):
            evaluate(people(), faithful(), **setting)  # type: ignore[arg-type]


def test_without_scikit_learn_regions_alone_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    known = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "sklearn" else known(name)
    )
    found = evaluate(people(), faithful(), queries=4)
    assert found.classification is not None and found.classification.models == ()
    assert found.classification.regions == 100 and found.notes == (NO_MODELS,)


def test_the_same_seed_gives_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    once, again = (evaluate(people(), faithful(1), queries=40, seed=3) for _ in range(2))
    assert once == again
    assert evaluate(people(), faithful(1), queries=40, seed=4).counts != once.counts


def test_json_says_first_that_it_is_not_private() -> None:
    facts = json.loads(json.dumps(evaluate(people(), faithful(), queries=4).to_dict()))
    assert list(facts)[:2] == ["private", "warning"]
    assert facts["private"] is False and "NOT PRIVATE" in facts["warning"]


def test_transactions() -> None:
    schema = hr.Schema.from_dict(
        {"name": "shop", "unit": "row", "items": {"universe": ["milk", "tea"]}}
    )
    raw = pa.table({"x": [["milk"]] * 60 + [["tea"]] * 30 + [["milk", "tea"]] * 10})
    cells = np.array([[0], [60], [30], [10]])
    counted = Measurement(
        name="cell",
        at="region",
        where=np.arange(4),
        values=cells,
        by_class=False,
        units=np.full(4, 1000, np.int64),
        unit=Fraction(1),
    )
    parts: Any = CoreCells(np.array([0, 1]), np.array([0]))
    promise: dict[str, Any] = {"epsilon": "1", "delta": "0", "private": True}
    release = hr.TransactionsRelease(
        schema=schema,
        method="diffpart",
        settings={},
        guarantee=promise,
        ledger={},
        partition=parts,
        measurements=(counted,),
    )
    found = evaluate(raw, release, queries=40)
    assert found.matches and found.classification is None and found.distortion is None
    assert found.marginals[0].raw == pytest.approx([70 / 110, 40 / 110])
    assert found.marginals[0].total_variation == pytest.approx(0, abs=1e-3)
    assert found.counts.overall.median == pytest.approx(0, abs=1e-2)
    assert [(t.number, t.found) for t in found.itemsets] == [(10, 3)]
    assert found.itemsets[0].utility == pytest.approx(1, abs=1e-2)


def test_transactions_of_the_sample() -> None:
    schema = shop_schema()
    raw = pa.table({"items": transactions(2000, seed=3)})
    found = evaluate(raw, hr.publish(raw, schema, epsilon=2, seed=1), queries=40)
    assert 0 < found.marginals[0].total_variation < 0.5
    assert [t.number for t in found.itemsets] == [10, 50, 100]


def test_rows_have_utility_and_risk() -> None:
    raw = sample.people(800, seed=3)
    release = hr.publish(raw, sample.schema(), hr.Supermodular(), epsilon=4, delta="1e-4", seed=2)
    found = evaluate(raw, release, queries=8)
    own, detail = found.personal, found.distortion
    assert own is not None and detail is not None and detail.discernibility is None
    assert 0 < own.utility < own.most_utility and 0 < own.published <= 1
    assert own.risk > 0 and own.side == "raw"
    # the risk of a record is bounded by the setting, where anybody is like it
    assert own.risk <= 0.1 + 1e-9
    beside = evaluate(raw, release, queries=8, side=sample.people(500, seed=9)).personal
    assert beside is not None and beside.side == "given"
    assert found.classification is not None and found.classification.regions is None


@pytest.mark.skipif(importlib.util.find_spec("sklearn") is None, reason="needs scikit-learn")
def test_a_release_about_people_with_several_rows_is_judged_by_rows() -> None:
    schema = replace(SCHEMA, unit="person", person=Person("who", 2))
    rows = people().append_column("who", pa.array([row // 2 for row in range(400)]))
    found = evaluate(rows, hr.publish(rows, schema, epsilon=50, seed=1), queries=20)
    assert found.matches and found.classification is not None


def test_large_tables_are_tested_on_a_sample_that_models_did_not_learn_from(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    learnt: list[tuple[int, int]] = []

    def chances(train: Any, test: Any, *_: Any) -> Any:
        learnt.append((len(train), len(test)))
        return np.eye(2)[test[:, -1]]

    monkeypatch.setattr("hedgerow.evaluation.classify.chances", chances)
    whole = evaluate(people(), faithful(), queries=4).classification
    assert whole is not None and whole.rows == 400 and whole.margin == 0
    assert len(learnt) == 2 * 6  # the synthetic rows, and five folds
    learnt.clear()
    monkeypatch.setattr("hedgerow.evaluation.measures.SPLIT", 400)
    half = evaluate(people(), faithful(), queries=4).classification
    assert half is not None and half.rows == 200
    assert half.margin == pytest.approx(98 * np.sqrt(200 / 399 / 200))
    assert learnt == [(200, 200)] * 4


def test_a_quick_look_asks_less() -> None:
    found = evaluate(people(), faithful(), quick=True)
    assert found.counts.overall.queries == 200
    assert found.classification is not None and len(found.classification.models) <= 1
    assert evaluate(people(), faithful(), queries=8, quick=True).counts.overall.queries == 8


class Watched:
    """Keeps what a progress bar is told."""

    def __init__(self) -> None:
        self.shares: list[float] = []
        self.stages: list[str] = []

    def __call__(self, share: float) -> None:
        self.shares.append(share)

    def stage(self, words: str) -> None:
        self.stages.append(words)


def test_progress_goes_on_after_reading_and_ends_with_the_work() -> None:
    bar = Watched()
    evaluate(people(), faithful(), queries=4, progress=bar)
    assert bar.shares == sorted(bar.shares)
    assert bar.stages[0] == "reading" and "models" in bar.stages
    assert bar.shares.index(1.0) == len(bar.shares) - 1  # not before all is done
