from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Hedge = Callable[..., Any]


@pytest.fixture(autouse=True)
def no_models(monkeypatch: pytest.MonkeyPatch) -> None:
    """Models are tried elsewhere, and take long."""
    monkeypatch.setattr("hedgerow.evaluation.scorecard._MODELS", ())


def test_a_page_for_recipients(hedge: Hedge, published: Path, tmp_path: Path) -> None:
    out = tmp_path / "report.html"
    done = hedge("report", published, "--out", out)
    assert done.exit_code == 0 and "recipients" in done.stdout, done.stderr
    text = out.read_text(encoding="utf-8")
    assert "clinic discharges" in text and "NOT PRIVATE" not in text
    assert [entry.name for entry in tmp_path.iterdir()] == ["report.html"]


def test_a_page_for_the_holder(hedge: Hedge, survey: Path, published: Path, tmp_path: Path) -> None:
    out = tmp_path / "report.html"
    words = ("report", published, "--raw", survey / "people.csv", "--out", out)
    done = hedge(*words)
    assert done.exit_code == 0 and "NOT PRIVATE" in done.stdout, done.stderr
    assert "NOT PRIVATE. </strong>" in out.read_text(encoding="utf-8")
    facts = json.loads(hedge(*words, "--overwrite", "--json").stdout)
    assert facts == {"report": str(out), "private": False, "warnings": []}


def test_nothing_is_replaced_unasked_or_put_into_a_release(
    hedge: Hedge, survey: Path, published: Path, tmp_path: Path
) -> None:
    mine = tmp_path / "mine.html"
    mine.write_text("mine", encoding="utf-8")
    done = hedge("report", published, "--out", mine)
    assert done.exit_code == 6 and "--overwrite" in done.stderr
    assert mine.read_text(encoding="utf-8") == "mine"
    before = sorted(published.iterdir())
    for more in ((), ("--raw", survey / "people.csv")):
        assert hedge("report", published, "--out", published / "r.html", *more).exit_code == 2
    assert sorted(published.iterdir()) == before


def test_mistakes_come_with_a_way_out(
    hedge: Hedge, survey: Path, published: Path, tmp_path: Path
) -> None:
    out = ("--out", tmp_path / "r.html")
    cases = [
        ((published, "--out", tmp_path / "r.pdf"), 2, ".html"),
        ((published, *out, "--delimiter", ";"), 2, "--raw"),
        ((survey / "people.csv", *out), 6, "hedgerow publish"),
        ((published, "--raw", published, *out), 2, "raw data"),
        ((published, "--raw", tmp_path / "no.csv", *out), 4, "no such file"),
        ((published, "--raw", survey / "baskets.dat", *out), 4, "made from"),
        ((published, "--out", tmp_path / "no" / "r.html"), 6, "--out"),
    ]
    for words, code, hint in cases:
        done = hedge("report", *words)
        assert (done.exit_code, done.stdout) == (code, ""), (words, done.stdout, done.stderr)
        assert hint in done.stderr, (words, done.stderr)
    assert list(tmp_path.iterdir()) == []


def test_a_release_that_was_tampered_with_gets_no_page(
    hedge: Hedge, published: Path, tmp_path: Path
) -> None:
    import shutil

    copy = tmp_path / "copy"
    shutil.copytree(published, copy)
    (copy / "table.csv").write_text("region\n", encoding="utf-8")
    done = hedge("report", copy, "--out", tmp_path / "r.html")
    assert done.exit_code == 6 and not (tmp_path / "r.html").exists()


def test_a_stray_file_in_a_release_is_told(hedge: Hedge, published: Path, tmp_path: Path) -> None:
    import shutil

    copy = tmp_path / "copy"
    shutil.copytree(published, copy)
    (copy / "notes.txt").write_text("private", encoding="utf-8")
    done = hedge("report", copy, "--out", tmp_path / "r.html")
    assert done.exit_code == 1 and "DO NOT RELY ON THIS RELEASE" in done.stderr
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "It fails its own check (other files: " in text
    assert "notes.txt" not in text  # the name of a stray file is covered by no guarantee


def test_a_false_promise_is_not_passed_on(hedge: Hedge, published: Path, tmp_path: Path) -> None:
    import shutil

    copy, out = tmp_path / "copy", tmp_path / "r.html"
    shutil.copytree(published, copy)
    manifest = json.loads((copy / "manifest.json").read_text(encoding="utf-8"))
    manifest["guarantee"].update({"epsilon": "1/10", "epsilon_decimal": "0.1"})
    (copy / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    why = "DO NOT RELY ON THIS RELEASE. It fails its own check (guarantee: the stated epsilon"
    done = hedge("report", copy, "--out", out)
    assert done.exit_code == 1 and why in done.stderr and "recipients" not in done.stdout
    assert "DO NOT RELY ON THIS RELEASE" in out.read_text(encoding="utf-8")
    done = hedge("report", copy, "--out", out, "--overwrite", "--json")
    facts = json.loads(done.stdout)
    assert done.exit_code == 1 and facts["private"] is False and why in facts["warnings"][0]


def test_a_test_release_is_called_one(hedge: Hedge, survey: Path, tmp_path: Path) -> None:
    import hedgerow

    schema = hedgerow.Schema.load(survey / "schema.yaml")
    release = hedgerow.publish(survey / "people.csv", schema, epsilon=1, seed=3)
    release.save(tmp_path / "seeded")
    done = hedge("report", tmp_path / "seeded", "--out", tmp_path / "r.html")
    assert done.exit_code == 0 and "a test release, NOT PRIVATE" in done.stdout
    assert "recipients" not in done.stdout
    words = ("report", tmp_path / "seeded", "--out", tmp_path / "r.html", "--overwrite", "--json")
    assert json.loads(hedge(*words).stdout)["private"] is False
