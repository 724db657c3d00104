from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from hedgerow.audit import AUDITED, audit, methods

Hedge = Callable[..., Any]
QUICK = ["--runs", 6, "--seed", 1]


@pytest.fixture
def few_modes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two modes of every method, and short laws; tests/privacy attacks all of them at length."""
    for name, entry in AUDITED.items():
        few = replace(
            entry, modes=entry.modes[:2], tiny=entry.tiny[:1], experiments=entry.experiments[:2]
        )
        monkeypatch.setitem(methods._load_all(), name, few)
    monkeypatch.setitem(audit.__kwdefaults__, "most_paths", 100)


@pytest.mark.usefixtures("few_modes")
@pytest.mark.parametrize("method", ["diffgen", "marginals"])
def test_an_audit_on_ones_own_schema(hedge: Hedge, tmp_path: Path, method: str) -> None:
    (tmp_path / "own.yaml").write_text(
        "name: own\nunit: row\nattributes:\n  age: {type: numeric, low: 0, high: 99}\n"
        "  job: {type: categorical, values: [a, b, c]}\n  ill: {type: boolean, role: class}\n"
    )
    words = ["audit", "--method", method, "--schema", tmp_path / "own.yaml"]
    done = hedge(*words, "--runs", 2, "--seed", 1)
    assert done.exit_code == 0, done.stdout + done.stderr
    for word in ("replay", "ledger", "strongest bound", "No claim was broken"):
        assert word in done.stdout
    assert "enumeration" not in done.stdout  # far too many kinds of people


@pytest.mark.usefixtures("few_modes")
def test_schemas_are_made_up_if_none_is_given(hedge: Hedge) -> None:
    words = ["audit", "--method", "diffpart", "--runs", 2, "--seed", 1, "--json"]
    facts = json.loads(hedge(*words).stdout)
    assert facts["ok"] and facts["schema"] is None and facts["left_out"] == 0
    kinds = {line["audit"] for line in facts["audits"]}
    experiments = kinds - {"replay", "ledger", "enumeration", "P", "learned", "rules", "files", "F"}
    assert "deep replay" in experiments and len(experiments) >= 2


@pytest.mark.usefixtures("few_modes")
def test_a_tiny_schema_is_enumerated(hedge: Hedge, tmp_path: Path) -> None:
    (tmp_path / "tiny.yaml").write_text(
        "name: tiny\nunit: row\nattributes:\n  a: {type: categorical, values: [x, y]}\n"
    )
    words = ["audit", "--method", "diffgen", "--schema", tmp_path / "tiny.yaml", *QUICK]
    facts = json.loads(hedge(*words, "--json").stdout)
    assert facts["ok"] and facts["left_out"] == 0
    kinds = {line["audit"] for line in facts["audits"]}
    assert kinds == {"replay", "ledger", "enumeration", "P", "learned", "rules", "files"}
    for line in facts["audits"]:
        assert line["epsilon"] == "1" and line["delta"] == "0" and line["tried"] > 0
        assert line["bound"] is None or 0 <= line["bound"] <= 1 + 1e-9


@pytest.mark.usefixtures("few_modes")
def test_a_broken_method_ends_with_1(hedge: Hedge, tmp_path: Path) -> None:
    from unsound import leaves_that_take_all

    (tmp_path / "tiny.yaml").write_text(
        "name: tiny\nunit: row\nattributes:\n  a: {type: numeric, low: 0, high: 2, step: 1}\n"
    )
    words = ["audit", "--method", "diffmulti", "--schema", tmp_path / "tiny.yaml", *QUICK]
    with leaves_that_take_all():
        done = hedge(*words)
    assert done.exit_code == 1
    assert "FAILED" in done.stdout and "NO" in done.stdout
    assert "replay" in done.stderr


def test_time_runs_out(hedge: Hedge, survey: Path) -> None:
    words = ["audit", "--method", "diffgen", "--seconds", 120, "--runs", 1]
    words += ["--schema", survey / "schema.yaml"]
    with patch("hedgerow.audit.whole.time.monotonic", iter(range(0, 10**6, 50)).__next__):
        done = hedge(*words)
    with patch("hedgerow.audit.whole.time.monotonic", iter(range(0, 10**6, 50)).__next__):
        facts = json.loads(hedge(*words, "--json").stdout)
    assert done.exit_code == 0 and facts["begun"] == 1
    assert {line["audit"] for line in facts["audits"]} == {"replay", "ledger"}
    assert set(facts["waiting"]) == {"replay", "enumeration", "P", "learned", "rules", "files"}
    assert sum(facts["waiting"].values()) == facts["left_out"]
    assert f"No claim was broken (1 of {1 + facts['left_out']} audits ran)" in done.stdout
    assert "Time was up. Left out: replay (" in done.stderr
    assert "enumeration" in done.stderr and "P (" in done.stderr


@pytest.mark.usefixtures("few_modes")
def test_transactions(hedge: Hedge, tmp_path: Path) -> None:
    (tmp_path / "items.yaml").write_text("name: two\nunit: row\nitems:\n  universe: [s, t]\n")
    words = ["audit", "--schema", tmp_path / "items.yaml", *QUICK]
    done = hedge(*words, "--method", "diffpart")
    assert done.exit_code == 0, done.stdout + done.stderr
    assert "enumeration" in done.stdout
    done = hedge(*words, "--method", "diffgen")
    assert done.exit_code == 2 and "diffgen publishes tables" in done.stderr


@pytest.mark.parametrize("words", [["--runs", 0], ["--epsilon", 0], ["--method", "magic"]])
def test_wrong_options(hedge: Hedge, words: list[object]) -> None:
    assert hedge("audit", *words).exit_code == 2


def test_methods_of_the_command_have_an_entry() -> None:
    from hedgerow.registry import METHODS

    assert set(METHODS) <= AUDITED.keys()
