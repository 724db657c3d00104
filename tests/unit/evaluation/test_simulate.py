from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import hedgerow as hr
from hedgerow import sample
from hedgerow.errors import DataError, UsageError
from hedgerow.evaluation.simulate import simulate
from hedgerow.sample.survey import shop_schema

pytestmark = pytest.mark.slow

METHODS = [("diffmulti", hr.DiffMulti()), ("diffgen", hr.DiffGen())]


def test_every_method_and_epsilon_has_a_point() -> None:
    done: list[float] = []
    found = simulate(sample.schema(), METHODS, ["0.1", 1], rows=800, runs=2, progress=done.append)
    names = [(point.setting, point.epsilon) for point in found.points]
    assert names == [(name, eps) for name, _ in METHODS for eps in ("0.1", "1")]
    assert found.measures == ("median_error", "mean_error", "accuracy")
    assert done == sorted(done) and done[-1] == 1.0 and len(done) == 8
    for point in found.points:
        for spread in point.measures.values():
            assert spread.low <= spread.mean <= spread.high
    assert found.floor is not None and found.ceiling is not None and found.blind is not None
    assert found.floor < found.ceiling


def test_the_same_seed_gives_the_same_figures() -> None:
    first, again, other = (
        simulate(sample.schema(), METHODS[:1], [1], rows=500, runs=1, seed=seed)
        for seed in (1, 1, 2)
    )
    assert first == again and first.points != other.points


def test_more_budget_and_more_people_give_smaller_errors() -> None:
    # Supports are noise and little else: 20 times the budget is told from sampler easily.
    few, many = simulate(
        shop_schema(), [("diffpart", hr.DiffPart())], ["0.05", "1"], rows=2000, runs=3
    ).points
    name = "median_itemset_error"
    assert many.measures[name].high < few.measures[name].low


def test_transactions_have_measures_of_their_own() -> None:
    found = simulate(shop_schema(), [("diffpart", hr.DiffPart())], [1], rows=500, runs=1)
    assert found.measures == ("median_itemset_error", "mean_itemset_error", "top_utility")
    assert found.floor is None and found.blind is None


def test_generalized_rows_tell_no_class() -> None:
    method = hr.Supermodular(risk=0.2)
    found = simulate(
        sample.schema(), [("supermodular", method)], [1], delta="1e-6", rows=800, runs=1
    )
    assert found.measures == ("median_error", "mean_error")


def test_a_public_table_is_published_and_the_rest_is_tested_on() -> None:
    people = sample.people(900, seed=4)
    found = simulate(sample.schema(), METHODS[:1], [1], public=people, runs=2)
    assert found.rows == 600 and found.dependence is None and found.ceiling is None
    fewer = simulate(sample.schema(), METHODS[:1], [1], public=people, rows=100, runs=1)
    more = simulate(sample.schema(), METHODS[:1], [1], public=people, rows=10_000, runs=1)
    assert (fewer.rows, more.rows) == (100, 600)


def test_a_public_table_without_rows() -> None:
    with pytest.raises(DataError, match="no rows"):
        simulate(sample.schema(), METHODS[:1], [1], public=sample.people(900).slice(0, 0))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"methods": []}, "nothing to try"),
        ({"epsilons": []}, "nothing to try"),
        ({"epsilons": ["0"]}, "epsilon"),
        ({"epsilons": [1] * 201}, "too many"),
        ({"runs": 0}, "at least 1"),
        ({"rows": 0}, "at least 1"),
        ({"rows": 2_000_000}, "would take long"),
        ({"methods": [("x", hr.DiffPart())]}, "items"),
        ({"methods": [("x", hr.Supermodular(weight_columns={"age": "w"}))]}, "own weights"),
    ],
)
def test_what_cannot_be_run_is_refused_before_a_table_is_opened(
    monkeypatch: pytest.MonkeyPatch, change: dict[str, Any], words: str
) -> None:
    def opened(*args: Any, **kwargs: Any) -> None:
        raise AssertionError("a table was opened")

    monkeypatch.setattr("hedgerow.evaluation.simulate.read", opened)
    wanted: dict[str, Any] = {"methods": METHODS, "epsilons": [1], "public": "public.csv"}
    with pytest.raises(UsageError, match=words):
        simulate(sample.schema(), **wanted | change)


def test_several_rows_per_person_divide_the_budget() -> None:
    from hedgerow.schema.schema import Person

    schema = sample.schema()
    shared = replace(schema, unit="person", identifiers=(), person=Person("patient", 20))
    alone, divided = (
        simulate(one, [("diffmulti", hr.DiffMulti())], [1], rows=2000, runs=1).points[0]
        for one in (schema, shared)
    )
    assert alone.specializations is not None and divided.specializations is not None
    assert divided.specializations < alone.specializations  # a twentieth of it is left for a row


def test_a_simulation_needs_no_unit() -> None:
    """It opens no private data; whoever plans may still be finding out."""
    found, stated = (
        simulate(one, [("diffmulti", hr.DiffMulti())], [1], rows=500, runs=1)
        for one in (replace(sample.schema(), unit=None), sample.schema())
    )
    assert found.points == stated.points
