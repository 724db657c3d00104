from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Hedge = Callable[..., Any]


@pytest.mark.parametrize("method", ["diffmulti", "diffgen"])
@pytest.mark.parametrize("schedule", ["tuned", "paper"])
@pytest.mark.parametrize("delta", ["0", "1e-9"])
def test_a_plan_needs_no_data(
    hedge: Hedge, survey: Path, method: str, schedule: str, delta: str
) -> None:
    words = ["plan", "--schema", survey / "schema.yaml", "--epsilon", "1", "--rows", 5000]
    words += ["--method", method, "--schedule", schedule, "--delta", delta]
    done = hedge(*words)
    assert done.exit_code == 0, done.stderr
    assert "No data was read" in done.stdout and "published" in done.stdout
    facts = json.loads(hedge(*words, "--json").stdout)
    assert facts["method"] == method and len(facts["allowances"]) >= 2


def test_without_a_guess_of_the_rows(hedge: Hedge, survey: Path) -> None:
    done = hedge("plan", "--schema", survey / "schema.yaml", "--epsilon", "0.1")
    assert done.exit_code == 0, done.stderr
    assert "--rows" in done.stderr


def test_a_bad_budget(hedge: Hedge, survey: Path) -> None:
    done = hedge("plan", "--schema", survey / "schema.yaml", "--epsilon", "0")
    assert done.exit_code == 2 and "epsilon" in done.stderr


@pytest.mark.parametrize("rows", ["0", "-5"])
def test_a_plan_needs_rows(hedge: Hedge, survey: Path, rows: str) -> None:
    done = hedge("plan", "--schema", survey / "schema.yaml", "--epsilon", 1, "--rows", rows)
    assert done.exit_code == 2 and "--rows" in done.stderr


def test_a_weak_promise_is_called_weak(hedge: Hedge, survey: Path) -> None:
    for epsilon, weak in ((5, False), (6, True)):
        done = hedge("plan", "--schema", survey / "schema.yaml", "--epsilon", epsilon)
        assert done.exit_code == 0 and ("protects weakly" in done.stderr) == weak


def test_an_accuracy_target_finds_the_epsilon(hedge: Hedge, survey: Path, tmp_path: Path) -> None:
    words = ("plan", "--schema", survey / "schema.yaml", "--rows", 1500, "--runs", 1)
    target = ("--accuracy", "smoker within 30%", "--method", "diffmulti")
    picture = tmp_path / "curve.svg"
    done = hedge(*words, *target, "--plot", picture)
    assert done.exit_code == 0, done.stderr
    assert picture.stat().st_size > 0
    assert "Tries diffmulti: 4 to 6 epsilons, with 1 release of each" in done.stderr
    assert "reaches all targets" in done.stdout and "No data was read" in done.stdout
    facts = json.loads(hedge(*words, *target, "--json").stdout)
    assert facts["plans"][0]["epsilon"] is not None and facts["caps"] == []
    done = hedge(*words, *target, "--epsilon", 1)
    assert done.exit_code == 2 and "finds the epsilon" in done.stderr
    done = hedge(*words, "--accuracy", "smoker")
    assert done.exit_code == 2 and "within" in done.stderr


def test_without_rows_a_guess_is_planned_with(hedge: Hedge, survey: Path) -> None:
    plain = hedge("plan", "--schema", survey / "schema.yaml", "--epsilon", 1)
    guessed = hedge("plan", "--schema", survey / "schema.yaml", "--epsilon", 1, "--rows", 10_000)
    assert plain.stdout == guessed.stdout and "10,000 rows, a guess" in plain.stderr
    assert "guess" not in guessed.stderr


def test_a_plan_of_the_papers_schedule_says_how_useful_it_is(hedge: Hedge, tmp_path: Path) -> None:
    file = tmp_path / "schema.yaml"
    file.write_text("name: shop\nunit: row\nitems: {universe: {range: [1, 17]}}\n", "utf-8")
    asked = ("plan", "--schema", file, "--epsilon", 1, "--method", "diffpart", "--schedule")
    done = hedge(*asked, "paper")
    assert "a query is off by at most 136 records" in " ".join(done.stderr.split())
    assert json.loads(hedge(*asked, "tuned", "--json").stdout)["usefulness"] is None
