from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.errors import ReleaseError
from hedgerow.present.words import (
    ALTOGETHER,
    after,
    decimal,
    list_spending,
    percent_up,
    shares,
)

LEDGER: dict[str, Any] = {
    "budgets": {
        "epsilon": {"unit": "1/100", "units": 60},
        "rho": {"unit": "1/1000", "units": 40},
    },
    "conversion": {"epsilon": "2/5", "delta": "1/1000000000", "rho": "1/25"},
    "paths": [
        {"leaves": 3, "spent": {"epsilon": {"leaf": 60}, "rho": {"select": 40}}},
        {"leaves": 1, "spent": {"epsilon": {"leaf": 60}, "rho": {"select": 20, "grow": 20}}},
    ],
}


def test_what_was_paid_in_rho_counts_as_the_epsilon_it_was_converted_to() -> None:
    found = dict(shares(LEDGER))
    assert found["the counts that are published"] == pytest.approx(0.6)
    assert found["choosing how to divide records"] == pytest.approx(0.4 * 7 / 8)
    assert found["growing the tree"] == pytest.approx(0.4 / 8)
    assert sum(found.values()) == pytest.approx(1)


def test_a_release_that_lists_nothing_was_paid_for() -> None:
    paths = [{"leaves": 0, "spent": {"epsilon": {"cells": 70, "side": 30}}}]
    found = shares({"budgets": {"epsilon": {"unit": "1/50", "units": 100}}, "paths": paths})
    assert dict(found)["the rows that are published"] == pytest.approx(0.7)


@pytest.mark.parametrize(
    "broken",
    [
        {},
        {"budgets": {}, "paths": []},
        LEDGER | {"paths": [{"leaves": 1, "spent": {"epsilon": {"leaf": -5, "rows": 6}}}]},
        LEDGER | {"conversion": {}},
        LEDGER | {"paths": 7},
        {"budgets": {"epsilon": {"unit": "<b>", "units": 1}}, "paths": []},
    ],
)
def test_a_ledger_of_anybody_is_refused_in_words(broken: dict[str, Any]) -> None:
    with pytest.raises(ReleaseError):
        shares(broken)


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 4.0, 7.0, 20.0, 10_000.0])
def test_nothing_is_called_certain(epsilon: float) -> None:
    for before in (0.001, 0.01, 0.1, 0.5):
        found, told = after(before, epsilon), percent_up(after(before, epsilon))
        assert not told.startswith("100")
        if told != "over 99%":
            assert found <= float(told.removesuffix("%")) / 100 + 1e-9
        else:
            assert found > 0.99


@pytest.mark.parametrize("before", [0.001, 0.3, 0.5])
@pytest.mark.parametrize("epsilon", [0.01, 1.0, 5.0, 10_000.0])
def test_odds_grow_by_the_factor(before: float, epsilon: float) -> None:
    found = after(before, epsilon)
    assert before <= found <= 1
    if epsilon < 10:
        import math

        odds = found / (1 - found) / (before / (1 - before))
        assert odds == pytest.approx(math.exp(epsilon))


@given(st.fractions(min_value=0, max_value=1000))
def test_a_budget_is_never_understated(value: Fraction) -> None:
    assert value <= Fraction(decimal(value)) <= value * Fraction(1001, 1000)


def test_spending_tells_the_range_over_paths() -> None:
    ledger = {
        "budgets": {"epsilon": {"unit": "1/100", "units": 100}},
        "paths": [
            {"leaves": 2, "spent": {"epsilon": {"leaf": 60, "select": 40}}},
            {"leaves": 1, "spent": {"epsilon": {"leaf": 80, "select": 20, "rows": 0}}},
        ],
    }
    assert list_spending(ledger) == [
        ("choosing what to specialize", "epsilon", "0.2 to 0.4"),
        ("the counts that are published", "epsilon", "0.6 to 0.8"),
        (ALTOGETHER, "epsilon", "at most 1"),  # and not 1.2
    ]
