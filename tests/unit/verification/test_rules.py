"""What is not installed is never verified."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from hedgerow.registry import OURS
from hedgerow.release import Release
from hedgerow.verification import verify
from hedgerow.verification.rules import UnknownHere, rules_for


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
