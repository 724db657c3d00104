"""`hedgerow clusters`: one epsilon, two entries, and a table whose class is the cluster."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from hedgerow import BudgetLedger, Release, sample
from hedgerow.cli import app
from hedgerow.errors import BudgetError
from hedgerow.methods.clusters import publish_clusters


def run(*words: object) -> Any:
    return CliRunner().invoke(app, ["clusters", *(str(word) for word in words)])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    sample.write(tmp_path, rows=300)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_centroids_and_release_share_one_epsilon(folder: Path) -> None:
    given = ("people.csv", "--schema", "schema.yaml", "--epsilon", "1", "--out", "release")
    done = run(*given, "--share", 20, "--json")
    assert done.exit_code == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["centroids_epsilon"] == "1/5" and len(told["centroids"]) == 2
    release = Release.load(folder / "release")
    assert release.guarantee["epsilon"] == "4/5" and release.schema.classes == ("1", "2")
    again = run(*given)
    assert again.exit_code == 6 and "overwrite" in again.stderr.lower()
    shown = run(*given, "--overwrite", "--clusters", 3)
    assert "Epsilon 1 per person: 0.1 for the centroids, 0.9" in shown.stdout
    assert "age" in shown.stdout and "3" in shown.stdout.splitlines()[2]


def test_a_ledger_gets_both_or_neither(folder: Path) -> None:
    book, schema = BudgetLedger(folder / "people.ledger"), sample.schema()
    assert not book.open("survey", epsilon=1).entries
    with pytest.raises(BudgetError):  # the centroids alone would fit
        publish_clusters("people.csv", schema, epsilon="1.5", ledger=book.path, dataset="survey")
    assert not book.accounts()[0].entries
    run("people.csv", "--schema", "schema.yaml", "--epsilon", 1, "--out", "release",
        "--ledger", book.path, "--dataset", "survey")  # fmt: skip
    (account,) = book.accounts()
    assert [(one.method, str(one.epsilon)) for one in account.entries] == [
        ("centroids", "1/10"), ("diffmulti", "9/10"),
    ]  # fmt: skip
    assert account.left[0] == 0


def test_what_is_wrong_is_refused_before_anything_is_spent(folder: Path) -> None:
    given = ("people.csv", "--schema", "schema.yaml", "--epsilon", "1", "--out", "release")
    assert run(*given, "--share", 100).exit_code == 2
    assert run(*given, "--clusters", 0).exit_code == 2
    assert not (folder / "release").exists()
