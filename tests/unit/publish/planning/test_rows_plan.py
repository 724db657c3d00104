"""The plan of a release of rows: the side table and the rows share epsilon, and delta is the
rows' alone."""

from __future__ import annotations

from fractions import Fraction

import pytest

from hedgerow.privacy.budget import Budget
from hedgerow.publish.planning.rows_plan import RowsPlan

BUDGET = Budget(Fraction(3, 2), Fraction(1, 10**6), 3)


def plan(side: int, mode: str = "noisy", rows: int = 3) -> RowsPlan:
    rule = {"rate": "1/2", "threshold": 9, "sampling_rate": "1/5"}
    budget = Budget(BUDGET.epsilon, BUDGET.delta, rows)
    return RowsPlan.of("supermodular", mode, budget, side, rule)


@pytest.mark.parametrize("side", [1, 30, 99])
def test_a_side_table_is_pure_and_takes_its_share(side: int) -> None:
    made = plan(side)
    assert made.side_budget() == Budget(Fraction(3, 2) * side / 100, Fraction(0), 3)
    assert [(line.purpose, line.units, line.uses) for line in made.allowances] == [
        ("side", (side,), 1), ("cells", (100 - side,), 1),
    ]  # fmt: skip
    assert made.unit_budget.total == BUDGET.row_epsilon
    assert made.accounting == "suppression"
    assert not made.grows


def test_a_public_side_table_costs_nothing() -> None:
    assert [(line.purpose, line.units) for line in plan(0).allowances] == [("cells", (100,))]


def test_words() -> None:
    assert "at least 9" in plan(0).in_words()
    assert "Each row" in plan(0, "sampled").in_words()
    assert "Each person" in plan(0, "sampled", rows=1).in_words()
