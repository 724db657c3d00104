"""`python -m papers`: what there is, what is written, and what is said when data is missing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import hedgerow.cli
import papers
from papers.__main__ import app
from papers.figure import Figure, Point, Stated


def run(*words: object) -> Any:
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.fixture
def made_up(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Two small figures in place of the papers'."""
    calls: list[int] = []

    def once(inputs: Any, number: int) -> float:
        calls.append(number)
        return 80.0 + number

    found = [
        Figure(name=f"diffgen-fig{n}", title=f"Figure {n}", x="h", y="accuracy", settings="None.",
               runs=4,
               points=lambda quick: [Point("curve", 1, run=once), Point("curve", 2, run=once)],
               stated=(Stated("curve", 2, value=82.5),))
        for n in (3, 4)
    ]  # fmt: skip
    monkeypatch.setattr(papers, "figures", lambda: found)
    return calls


def test_list() -> None:
    done = run("--list")
    assert done.exit_code == 0
    for name in ("diffgen-fig3a", "cdiffgen-fig5", "diffmulti-fig8", "diffpart-fig3"):
        assert name in done.stdout
    listed = json.loads(run("--json").stdout)["figures"]
    assert len(listed) == len(papers.figures())


def test_a_paper_gets_tables_plots_and_a_page(tmp_path: Path, made_up: list[int]) -> None:
    done = run("diffgen", "--quick", "--out", tmp_path / "r")
    assert done.exit_code == 0, done.stderr
    assert "diffgen-fig3: Figure 3" in done.stdout and "82.5" in done.stdout
    assert len(made_up) == 8  # two figures of two points, two runs each
    names = {path.name for path in (tmp_path / "r").iterdir()}
    assert {"diffgen.md", "diffgen-fig3.csv", "diffgen-fig4.csv", "runs"} <= names
    assert "`python -m papers diffgen --quick`" in (tmp_path / "r/diffgen.md").read_text("utf-8")
    again = run("diffgen-fig3", "--out", tmp_path / "r", "--runs", 3, "--json")
    assert len(made_up) == 10  # only the third run of each point is new
    (figure,) = json.loads(again.stdout)["figures"]
    assert figure["runs"] == 3 and figure["points"][0]["mean"] == 81
    assert (tmp_path / "r/diffgen-fig3.md").is_file()


def test_kept_runs_of_two_commits_are_named_with_them(tmp_path: Path, made_up: list[int]) -> None:
    out = tmp_path / "r"
    run("diffgen", "--runs", 2, "--out", out)
    (kept,) = (out / "runs").iterdir()
    kept.rename(out / "runs" / "old")
    (out / "runs" / "new").mkdir()
    (out / "runs" / "old" / "diffgen-fig4.jsonl").rename(out / "runs/new/diffgen-fig4.jsonl")
    before = len(made_up)
    assert run("diffgen", "--kept", "new,old", "--out", out).exit_code == 0
    assert len(made_up) == before
    page = (out / "diffgen.md").read_text("utf-8")
    assert "at commit old; diffgen-fig4 at new." in page
    assert "Not run" not in page
    run("diffgen", "--kept", "new", "--out", out)  # the CSV file has the others
    assert "at commit old; diffgen-fig4 at new." in (out / "diffgen.md").read_text("utf-8")
    (out / "diffgen-fig3.csv").unlink()
    run("diffgen", "--kept", "new", "--out", out)
    assert "**Not run: diffgen-fig3**" in (out / "diffgen.md").read_text("utf-8")


def test_what_is_wrong_is_told(tmp_path: Path, made_up: list[int]) -> None:
    done = run("diffgen-fig9", "--out", tmp_path)
    assert done.exit_code == 2 and "--list" in done.stderr
    done = run("diffgen", "--runs", 0, "--out", tmp_path)
    assert done.exit_code == 2 and "--runs" in done.stderr
    (tmp_path / "file").write_text("x")
    done = run("diffgen", "--out", tmp_path / "file")
    assert done.exit_code == 6 and "--out" in done.stderr


def test_missing_data_is_told(tmp_path: Path) -> None:
    done = run("diffpart-fig3", "--data", tmp_path, "--out", tmp_path / "r")
    assert done.exit_code == 4 and "HEDGEROW_DATA" in done.stderr
    done = run("diffgen", "--data", tmp_path / "absent", "--out", tmp_path / "r")
    assert done.exit_code == 4 and "no folder" in done.stderr


def test_the_old_command_says_what_to_run() -> None:
    done = CliRunner().invoke(hedgerow.cli.app, ["reproduce", "diffgen", "--quick"])
    assert done.exit_code == 2 and "python -m papers --list" in done.stderr


def test_all_figures_have_one_name() -> None:
    assert papers.select("all") == papers.figures()
