"""What is not installed is never verified; what a person can lose is computed anew."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import pytest

from hedgerow.estimate.measurements import epsilon_from_rho, group_delta
from hedgerow.registry import OURS
from hedgerow.release import Release
from hedgerow.verification import verify
from hedgerow.verification.rules import UnknownHere, rules_for, spending


@pytest.mark.parametrize(
    ("method", "settings", "words"),
    [
        ("abacus", {"schedule": "tuned-1"}, "the method 'abacus' is not installed"),
        ("diffmulti", {}, "the schedule None of diffmulti"),
        ("diffmulti", {"schedule": "tuned"}, r"known: tuned-1, paper-1"),
        ("diffmulti", {"schedule": ["tuned-1"]}, "the schedule"),
        ("supermodular", {"schedule": "paper-1"}, "the schedule 'paper-1' of supermodular"),
        ("diffgen", {"schedule": "tuned-1", "score": "beauty"}, "the score 'beauty'"),
        ("diffgen", {"schedule": "tuned-1", "score": ["max"]}, "the score"),
        ("diffgen", {"schedule": "tuned-1", "chosen": {"score": "beauty"}}, "known: max, ncp"),
    ],
)
def test_what_is_unknown_is_named(method: str, settings: dict[str, Any], words: str) -> None:
    with pytest.raises(UnknownHere, match=words):
        rules_for(method, settings)


def test_an_old_schedule_keeps_its_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    from hedgerow.verification import regions

    newer = regions.DIFFGEN | {"tuned-2": regions.DIFFGEN["paper-1"]}
    monkeypatch.setattr(regions, "DIFFGEN", newer)
    assert rules_for("diffgen", {"schedule": "tuned-2"}) is newer["tuned-2"]
    assert rules_for("diffgen", {"schedule": "tuned-1"}) is newer["tuned-1"]


def test_rules_that_cannot_be_loaded_are_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    gone = replace(OURS["diffgen"], rules="no_such_module:RULES")
    monkeypatch.setitem(OURS, "gone", gone)
    with pytest.raises(UnknownHere, match="cannot be loaded"):
        rules_for("gone", {"schedule": "tuned-1"})


def test_a_verdict_on_the_unknown_is_no_verdict(tree_release: Release, tmp_path: Any) -> None:
    assert verify(tree_release).known
    strange = replace(tree_release, method="abacus")
    strange.save(tmp_path / "r")
    for source in (strange, tmp_path / "r"):
        verdict = verify(source)
        assert (verdict.ok, verdict.known) == (False, False)
        assert (verdict.epsilon, verdict.delta) == (None, None)
        assert [check.name for check in verdict.checks if not check.ok] == ["method"]


def stated(rows: int, each: str = "2/5", delta: Fraction | None = None) -> Any:
    """What a release says of its budgets, of which only the ledger is read."""
    ledger: dict[str, Any] = {
        "accounting": "pure" if delta is None else "zcdp",
        "budgets": {"epsilon": {"unit": each, "units": 1}},
        "person_rows": rows,
    }
    if delta is not None:
        ledger["budgets"]["rho"] = {"unit": "1/500", "units": 5}
        ledger["conversion"] = {"rho": "1/100", "epsilon": "1", "delta": str(delta)}
    return SimpleNamespace(ledger=ledger)


@pytest.mark.parametrize("rows", [1, 2, 7])
@pytest.mark.parametrize("delta", [None, Fraction(1, 10**6)])
def test_what_a_person_with_some_rows_can_lose(rows: int, delta: Fraction | None) -> None:
    """The delta of several rows together is larger than theirs one by one."""
    words, epsilon, found = spending(stated(rows, delta=delta))
    each = Fraction(2, 5)
    if delta is None:
        assert found == 0
    else:
        each += epsilon_from_rho(Fraction(1, 100), delta)
        assert found == group_delta(each, delta, rows)
        assert found > rows * delta if rows > 1 else found == delta
    assert epsilon == rows * each
    assert (f"for a person with {rows} rows" in words) == (rows > 1)


def test_a_fraction_is_shown_as_it_is_if_it_is_short() -> None:
    for each, shown in (("1/3", "1/3"), ("1/999", "1/999"), ("7/1000", "0.007")):
        assert spending(stated(2, each))[0].endswith(f"counted with epsilon {shown}")
