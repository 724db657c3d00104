"""What is promised of named tables follows the law of their noise."""

from __future__ import annotations

import math

import pytest

from hedgerow import DiffGen, Marginals, Schema, sample
from hedgerow.evaluation.expected import expected_errors

WIDE = Schema.from_dict(
    {
        "name": "wide",
        "unit": "row",
        "attributes": {
            "ill": {"type": "boolean", "role": "class"},
            "home": {"type": "categorical", "values": [f"r{one}" for one in range(8)]},
            **{f"a{one}": {"type": "boolean"} for one in range(6)},
        },
    }
)


@pytest.mark.parametrize("delta", [0, 1e-6])
def test_a_named_table_is_off_as_its_noise_is(delta: float) -> None:
    schema = WIDE.with_tables(["ill by home"])
    (promise,) = expected_errors(schema, Marginals(), 1, delta, 20_000)
    plan = Marginals().plan(schema, 1, delta, 20_000)
    paid = next(one for one in plan.allowances if one.purpose == "named")
    budget = next(one for one in plan.budgets.parts if one.name == paid.budget)
    amount = float(budget.unit * paid.least)
    exact = 1.96 / math.sqrt(2 * amount) if delta else math.log(20) / amount
    assert promise.cells == 16
    # of 40,000 draws the quantile has a standard error below 1%
    assert promise.error == pytest.approx(exact, rel=0.05)


def test_weights_are_traded_off() -> None:
    schema = WIDE.with_tables(["ill by home, weight 3", "ill by a1"])
    first, second = expected_errors(schema, Marginals(), 1, 0, 20_000)
    assert first.title == "ill by home"
    assert second.error > 2.5 * first.error


def test_the_same_is_promised_wherever_it_is_asked_for() -> None:
    schema = sample.schema().with_tables(["readmitted by home", "age by sex"])
    assert expected_errors(schema, Marginals(), 1) == expected_errors(schema, Marginals(), "1")


def test_methods_that_measure_no_tables_promise_nothing() -> None:
    schema = sample.schema().with_tables(["readmitted by home"])
    assert expected_errors(schema, DiffGen(), 1) == ()
