"""The audit from outside (`audits/observed.py`): a few neighbors of every method, broken twins."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hedgerow.audit.methods import AUDITED
from hedgerow.audit.whole import fits
from hedgerow.counting.sealed import Sealed
from hedgerow.methods import marginals, publisher
from hedgerow.privacy.budget import Budget
from hedgerow.privacy.curator import _KEY

sys.path.insert(0, str(Path(__file__).parents[2] / "audits"))  # a folder of scripts

import observed as from_outside
from late_steps import late_pair

EPSILON = 5  # with 4,000 records


@pytest.fixture(scope="module")
def observed() -> Any:
    return from_outside


def words(observed: Any, name: str, delta: str, tries: int = 8) -> list[str]:
    told, tried = [], 0
    for number, (mode, pair) in enumerate(observed.pairs(name, 1, tries)):
        if fits(mode, pair.without.schema, Budget.of(3, delta)):
            tried += 1
            told += observed.complaints(mode, pair, Budget.of(3, delta), number)
    assert tried
    return told


@pytest.mark.parametrize("delta", ["0", "1e-6"])
@pytest.mark.parametrize("name", AUDITED)
def test_what_is_observed_is_within_what_was_charged(observed: Any, name: str, delta: str) -> None:
    if float(delta) or not AUDITED[name].needs_delta:
        assert words(observed, name, delta) == []


@pytest.mark.parametrize("delta", ["0", "1e-6"])
@pytest.mark.parametrize("classes", [0, 2])
def test_late_steps_are_observed(observed: Any, classes: int, delta: str) -> None:
    """Where several tables of every purpose are bought, as `test_marginals.py` asserts."""
    budget = Budget.of(EPSILON, delta)
    assert not [*observed.complaints(marginals.Marginals(), late_pair(classes), budget, 1)]


def half_the_tables(patch: pytest.MonkeyPatch) -> None:
    honest = marginals._buy
    patch.setattr(
        marginals, "_buy",
        lambda curator, purpose, exact, tables, numbers: honest(
            curator, purpose, exact, tables, -(-numbers // 2)
        ),
    )  # fmt: skip


def range_of_one(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(marginals, "SCORE_RANGE", 1)


def rows_by_twos(patch: pytest.MonkeyPatch) -> None:
    honest = publisher.class_totals
    patch.setattr(publisher, "class_totals", lambda counts: 2 * honest(counts))


def a_look(patch: pytest.MonkeyPatch) -> None:
    """Something is opened and nothing drawn with it."""
    honest = marginals.count_tables

    def look(*args: Any, **more: Any) -> Any:
        counts = honest(*args, **more)
        Sealed.open(counts, _KEY)
        return counts

    patch.setattr(marginals, "count_tables", look)


def a_branch(patch: pytest.MonkeyPatch) -> None:
    honest = marginals.choose_pairs

    def choose(curator: Any, pairs: Any, *rest: Any, **how: Any) -> Any:
        exact = pairs.exact._Sealed__content.sum() // max(1, len(pairs.tables))
        return [] if exact % 2 else honest(curator, pairs, *rest, **how)

    patch.setattr(marginals, "choose_pairs", choose)


def a_number_beside(patch: pytest.MonkeyPatch) -> None:
    """The exact number of records leaves with the plan."""
    import observed

    def run_on(table: Any, *rest: Any) -> Any:
        outcome = honest(table, *rest)
        return replace(outcome, plan=replace(outcome.plan, depth=len(table.codes)))

    honest = observed.run_on
    patch.setattr(observed, "run_on", run_on)


@pytest.mark.parametrize(
    "twist, told",
    [
        (a_number_beside, "what leaves is no function"),
        (half_the_tables, "a record moved it for"),
        (rows_by_twos, "rows: a record moved it for"),
        (a_look, "a seal was opened"),
        (a_branch, "was another one"),
    ],
)
def test_broken_twins_are_observed(
    observed: Any, twist: Callable[[Any], None], told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    twist(monkeypatch)
    assert any(told in one for one in words(observed, "marginals", "0"))


def test_a_range_that_is_too_small_is_observed(
    observed: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    range_of_one(monkeypatch)
    assert any("relate: a record moved" in one for one in words(observed, "marginals", "0", 40))
