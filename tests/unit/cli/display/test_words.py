from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from hedgerow.cli.display.words import decimal, spending
from hedgerow.present.words import ALTOGETHER


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
    assert spending(ledger) == [
        ("choosing what to specialize", "epsilon", "0.2 to 0.4"),
        ("the counts that are published", "epsilon", "0.6 to 0.8"),
        (ALTOGETHER, "epsilon", "at most 1"),  # and not 1.2
    ]
