"""A stopped experiment goes on where it was."""

from __future__ import annotations

import json

import pytest

from hedgerow.experiments.figures.runs import Runs


def test_known_runs_are_not_run_again(tmp_path):
    path = tmp_path / "deep" / "runs.jsonl"
    first = Runs(path)
    assert first.get({"run": 1}, lambda: {"x": 2}) == {"x": 2.0}
    assert first.knows({"run": 1}) and not first.knows({"run": 2})

    def never():
        raise AssertionError("run again")

    assert first.get({"run": 1}, never) == {"x": 2.0}
    assert Runs(path).get({"run": 1}, never) == {"x": 2.0}


def test_a_line_that_was_torn_is_run_again(tmp_path):
    path = tmp_path / "runs.jsonl"
    whole = json.dumps({"run": {"run": 1}, "result": {"x": 1.0}})
    path.write_text(whole + "\n" + whole[: len(whole) // 2], encoding="utf-8")
    runs = Runs(path)
    assert runs.knows({"run": 1})
    runs.get({"run": 2}, lambda: {"x": 5.0})
    again = Runs(path)
    assert again.knows({"run": 1}) and again.knows({"run": 2})


def test_a_run_that_fails_is_not_kept(tmp_path):
    runs = Runs(tmp_path / "runs.jsonl")

    def fails():
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        runs.get({"run": 1}, fails)
    assert not runs.knows({"run": 1})
