from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Hedge = Callable[..., Any]
FEW = ("--queries", 20)


@pytest.fixture
def no_models(monkeypatch: pytest.MonkeyPatch) -> None:
    """Models are tried elsewhere, and take long."""
    monkeypatch.setattr("hedgerow.evaluation.scorecard._MODELS", ())


@pytest.mark.usefixtures("no_models")
def test_it_says_twice_that_it_is_not_private(hedge: Hedge, survey: Path, published: Path) -> None:
    done = hedge("evaluate", survey / "people.csv", published, *FEW)
    assert done.exit_code == 0, done.stderr
    lines = done.stdout.strip().splitlines()
    assert lines[0].startswith("NOT PRIVATE") and lines[-1].startswith("NOT PRIVATE")
    for word in ("Values", "Counts", "Predicting readmitted", "NCP", "How coarse the regions are"):
        assert word in done.stdout


def test_json_and_models(hedge: Hedge, survey: Path, published: Path) -> None:
    pytest.importorskip("sklearn")
    done = hedge("evaluate", survey / "people.csv", published, *FEW, "--json")
    facts = json.loads(done.stdout)
    assert facts["private"] is False and "NOT PRIVATE" in facts["warning"]
    assert facts["records"] == 1500 and facts["matches"] and facts["warnings"] == []
    assert [m["model"] for m in facts["classification"]["models"]] == ["tree", "boosting"]
    assert 50 < facts["classification"]["models"][0]["released"] <= 100


@pytest.mark.usefixtures("no_models")
def test_numbers_go_to_a_file_but_never_into_a_release(
    hedge: Hedge, survey: Path, published: Path, tmp_path: Path
) -> None:
    words = ("evaluate", survey / "people.csv", published, *FEW)
    out = tmp_path / "numbers.json"
    done = hedge(*words, "--out", out)
    assert done.exit_code == 0 and "NOT PRIVATE" in done.stdout
    assert json.loads(out.read_text(encoding="utf-8"))["private"] is False
    assert hedge(*words, "--out", out).exit_code == 6
    before = sorted(published.iterdir())
    for inside in (published / "x.json", published / "below" / "x.json"):
        done = hedge(*words, "--out", inside)
        assert done.exit_code == 2 and "release" in done.stderr
    assert sorted(published.iterdir()) == before


def test_mistakes_come_with_a_way_out(
    hedge: Hedge, survey: Path, published: Path, tmp_path: Path
) -> None:
    people = survey / "people.csv"
    cases = [
        ((published, people), 2, f"hedgerow evaluate {people} {published}"),
        ((published, published), 2, "published from"),
        ((people, tmp_path), 6, "manifest.json"),
        ((people, tmp_path / "no"), 6, "hedgerow publish"),
        ((tmp_path / "no.csv", published), 4, "no such file"),
        ((survey / "baskets.dat", published), 4, "made from"),
        ((people, published, "--queries", 0), 2, "at least one"),
        ((people, published, "--seed", -1), 2, "0 or more"),
        ((people, published, "--side", people), 2, "Leave the side table out"),
    ]
    for words, code, hint in cases:
        done = hedge("evaluate", *words)
        assert (done.exit_code, done.stdout) == (code, ""), (words, done.stdout, done.stderr)
        assert hint in done.stderr, (words, done.stderr)


@pytest.mark.usefixtures("no_models")
def test_other_people_are_noticed(hedge: Hedge, published: Path, tmp_path: Path) -> None:
    from hedgerow import sample

    sample.write(tmp_path, rows=9000, seed=8)
    done = hedge("evaluate", tmp_path / "people.csv", published, *FEW)
    assert done.exit_code == 0 and "cannot be of this data" in done.stderr
    facts = json.loads(hedge("evaluate", tmp_path / "people.csv", published, *FEW, "--json").stdout)
    assert facts["matches"] is False and "cannot be" in facts["warnings"][0]


def test_without_scikit_learn(
    hedge: Hedge, survey: Path, published: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "sklearn", None)
    done = hedge("evaluate", survey / "people.csv", published, *FEW)
    assert done.exit_code == 0 and "hedgerow[evaluate]" in done.stderr
    assert "prediction by the release" in done.stdout and "boosting" not in done.stdout


@pytest.mark.skipif(os.name == "nt", reason="needs a POSIX pipe")
def test_a_reader_that_goes_away_is_not_told_of_files(
    child: Callable[..., Any], survey: Path, published: Path
) -> None:
    program = (
        "read, write = os.pipe(); os.close(read); os.dup2(write, 1)\n"  # nobody will ever read
        "import hedgerow.cli\n"
        "try:\n"
        "    hedgerow.cli.main()\n"
        "finally:\n"
        "    sys.stdout.flush()\n"  # as Python does when it ends
    )
    _, _, told = child(program, "evaluate", survey / "people.csv", published, *FEW)
    assert "was written" not in told and "Traceback" not in told
