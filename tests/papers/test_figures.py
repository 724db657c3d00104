"""The papers' figures are registered, found by name, measured, resumed and written down."""

from __future__ import annotations

import csv
import json
from dataclasses import replace

import numpy as np
import pytest

import papers
from hedgerow.errors import DataError, UsageError
from papers import data, pages
from papers.figure import (
    Claim,
    Figure,
    Inputs,
    Line,
    Point,
    Result,
    Runs,
    Stated,
    interval,
    measure,
)

EVERY = papers.figures()


def test_names_are_unique_and_begin_with_their_paper():
    names = [figure.name for figure in EVERY]
    assert len(set(names)) == len(names)
    assert {figure.paper for figure in EVERY} == set(papers.PAPERS)
    for paper in papers.PAPERS:
        assert papers.title(paper)


@pytest.mark.parametrize("figure", EVERY, ids=lambda figure: figure.name)
def test_figures_have_points_and_what_is_stated_is_among_them(figure):
    quick, full = figure.points(True), figure.points(False)
    assert 0 < len(quick) <= len(full)
    places = [(point.series, point.x, point.settings) for point in full]
    assert len(set(places)) == len(places)
    for one in figure.stated:
        assert (one.series, one.x, "") in places
    assert figure.settings and figure.runs >= 1


def test_names_select():
    assert [f.name for f in papers.select("diffmulti-fig9")] == ["diffmulti-fig9"]
    assert len(papers.select("cdiffgen")) == 2
    assert {f.paper for f in papers.select("diffgen")} == {"diffgen"}
    # a figure is no beginning of another number
    assert all("fig1" not in f.name for f in papers.select("diffmulti-fig5"))
    with pytest.raises(UsageError, match="no figure"):
        papers.select("diffmulti-fig1")
    with pytest.raises(UsageError, match="--list"):
        papers.select("")


def test_intervals_are_students():
    values = [3.0, 5.0, 4.0, 8.0]
    mean, low, high = interval(values)
    half = 3.18 * np.std(values, ddof=1) / 2
    assert (mean, low, high) == pytest.approx((5, 5 - half, 5 + half))
    assert interval([7.0]) == (7, 7, 7)
    many = [0.0, 1.0] * 30
    assert interval(many)[2] == pytest.approx(0.5 + 1.96 * np.std(many, ddof=1) / np.sqrt(60))


def figure(calls: list[int], **more) -> Figure:
    def run(inputs: Inputs, number: int) -> float:
        calls.append(number)
        return 10.0 + number

    def points(quick: bool) -> list[Point]:
        level = [Point("level", None, run=lambda inputs, number: 12.5)]
        return level + [Point("curve", x, run=run) for x in ((1,) if quick else (1, 2))]

    return Figure(
        name="made-fig1", title="A simulated figure", x="x", y="y", settings="None.", runs=2,
        points=points,
        stated=(Stated("curve", 1, value=11.0, words="in the text"), Stated("curve", 2, value=9.0)),
        differs="It is made up.", **more,
    )  # fmt: skip


def result(tmp_path, calls, *, quick=False, number=3, **more):
    kept = Runs(tmp_path / "runs.jsonl")
    steps = list(measure(figure(calls, **more), Inputs(), kept, number, quick))
    shares = [share for share, _ in steps]
    assert shares == sorted(shares) and shares[-1] == 1
    return steps[-1][1]


def test_points_are_measured_once_and_resumed(tmp_path):
    calls: list[int] = []
    found = result(tmp_path, calls)
    assert calls == [0, 1, 2] * 2
    assert [(line.series, line.x, line.mean) for line in found.lines] == [
        ("level", None, 12.5), ("curve", 1, 11.0), ("curve", 2, 11.0),
    ]  # fmt: skip
    again = result(tmp_path, calls, number=4)
    assert calls == [0, 1, 2, 0, 1, 2, 3, 3]
    assert again.at("curve", 2).runs == 4 and again.at("nothing", 2) is None


def test_runs_that_are_kept_count_up_to_the_papers_number(tmp_path):
    calls: list[int] = []
    assert result(tmp_path, calls, number=2).runs == 2
    assert result(tmp_path, calls, number=1).runs == 2 and len(calls) == 4
    result(tmp_path, calls, number=3)
    assert result(tmp_path, calls, number=1).runs == 2  # the paper has no more


def test_fewer_runs_than_the_papers_have_a_reason(tmp_path):
    few = replace(result(tmp_path, [], number=1), cpu=90.0)
    pages.write_page("made", "A paper", [few], tmp_path / "made.md", "command")
    page = (tmp_path / "made.md").read_text("utf-8")
    words = "(a full run has 2). Fewer than in the paper, to save CPU time"
    assert f"1 run of each {words}: all 2 would take about 3 minutes." in page
    for one, there in ((replace(few, cpu=np.nan), True), (replace(few, runs=2), False)):
        pages.write_page("made", "A paper", [one], tmp_path / "made.md", "command")
        assert (f"{words}." in (tmp_path / "made.md").read_text("utf-8")) == there


def test_a_figure_that_cannot_run_says_why(tmp_path):
    calls: list[int] = []
    found = result(tmp_path, calls, needs=lambda inputs: "something is missing")
    assert found.skipped == "something is missing" and not calls
    pages.write_page("made", "A paper", [found], tmp_path / "made.md", "command")
    assert "Not run: something is missing." in (tmp_path / "made.md").read_text("utf-8")


def test_tables_hold_all_points_and_what_the_paper_states(tmp_path):
    pages.write_table(result(tmp_path, []), tmp_path / "made.csv")
    with (tmp_path / "made.csv").open(encoding="utf-8") as file:
        head, level, first, second = csv.reader(file)
    assert head == ["series", "x", "y", "low", "high", "runs", "paper"]
    assert level[:3] == ["level", "", "12.5"]
    assert first[:3] == ["curve", "1", "11"] and first[-2:] == ["3", "11.0"]
    assert second[-1] == "9.0"


def test_pages_say_which_run_they_show(tmp_path):
    pytest.importorskip("matplotlib")
    for quick, words in ((False, "all points, 3 runs of each"), (True, "a quick run")):
        found = result(tmp_path, [], quick=quick)
        assert pages.draw(found, tmp_path / "made-fig1.png")
        pages.write_page("made", "A paper", [found], tmp_path / "made.md", "the command")
        page = (tmp_path / "made.md").read_text(encoding="utf-8")
        assert words in page and "(a full run has 2)" in page
        assert "NOT PRIVATE" in page and "`the command`" in page
        assert "| curve | 1 | 11 | 11 (from 8.517 to 13.48) | in the text |" in page
        assert ("not run" in page) == quick  # the point at 2
        assert "![A simulated figure](made-fig1.png)" in page
        assert "It is made up." in page
    assert (tmp_path / "made-fig1.png").stat().st_size > 1000


def test_tables_without_an_axis_are_drawn_as_bars(tmp_path):
    pytest.importorskip("matplotlib")
    bars = Figure(name="made-table", title="A table", x="", y="y", settings="None.", runs=1,
                  points=lambda quick: [Point(name, None, run=lambda i,
                  n: 5.0) for name in "ab"])  # fmt: skip
    (*_, (_, found)) = measure(bars, Inputs(), Runs(tmp_path / "r.jsonl"), 1, False)
    assert pages.draw(found, tmp_path / "bars.png")


@pytest.mark.parametrize("figure", EVERY, ids=lambda figure: figure.name)
def test_claims_are_about_curves_that_are_there(figure):
    names = {point.series for point in figure.points(False)}
    for claim in figure.claims:
        assert claim.series in names
        assert isinstance(claim.than, float) or claim.than in names


def test_a_page_begins_with_what_does_not_hold(tmp_path):
    def line(series, x, mean, low):
        return Line(series=series, x=x, mean=mean, low=low, high=1.0, runs=5)

    claims = (
        Claim(words="A is said to be better than B.", series="A", than="B", where=lambda x: x <= 2),
        Claim(words="A is said to be 0.5 or more always.", series="A", than=0.5, always=True),
        Claim(words="A is said to be 0.1 or more.", series="A", than=0.1),
    )
    made = Figure(
        name="made-fig1",
        title="t",
        x="x",
        y="y",
        settings="s",
        runs=5,
        points=lambda quick: (),
        claims=claims,
        fails="no.",
    )
    lines = [line("A", 1, 0.6, 0.55), line("B", 1, 0.7, 0.6), line("A", 3, 0.6, 0.4)]
    lines += [line("B", 3, 0.9, 0.8), line("A", 2, 0.8, 0.7), line("B", 2, 0.7, 0.6)]
    pages.write_page(
        "made",
        "T",
        [Result(figure=made, lines=tuple(lines), runs=5, quick=False)],
        tmp_path / "p.md",
        "c",
    )
    assert (tmp_path / "p.md").read_text(encoding="utf-8").split("\n")[:7] == [
        "# T",
        "",
        "**What the paper says and these runs do not show:**",
        "",
        "- made-fig1: A is said to be better than B. Not here, at 1: 0.6, against 0.7.",
        "- made-fig1: A is said to be 0.5 or more always. Not here, at 3: 0.6, interval from 0.4, "
        "against 0.5.",
        "- made-fig1: no.",
    ]


def test_no_interval_reaches_beyond_what_is_possible(tmp_path):
    points = [Point("A", 1, run=lambda inputs, run: float(run))]
    made = Figure(
        name="made-fig1",
        title="t",
        x="x",
        y="match point",
        settings="s",
        runs=2,
        points=lambda quick: points,
    )
    *_, (_, found) = measure(made, Inputs(), Runs(tmp_path / "r.jsonl"), 2, False)
    assert (found.lines[0].low, found.lines[0].high) == (0, 1)


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


def test_a_folder_that_was_named_must_exist(tmp_path, monkeypatch):
    assert data.find_folder(tmp_path) == tmp_path
    with pytest.raises(DataError, match="no folder"):
        data.find_folder(tmp_path / "absent")
    monkeypatch.setenv("HEDGEROW_DATA", str(tmp_path))
    assert data.find_folder() == tmp_path
    monkeypatch.delenv("HEDGEROW_DATA")
    assert data.find_folder() is None


def test_what_is_missing_is_told_with_the_way_out(tmp_path, monkeypatch):
    monkeypatch.setattr(data, "packaged", lambda *_: None)
    with pytest.raises(DataError, match="HEDGEROW_DATA"):
        data.adult(tmp_path)
    with pytest.raises(DataError, match="msnbc990928"):
        data.msnbc(tmp_path)


def test_a_changed_file_is_refused(tmp_path):
    for name, read in (("adult.csv.gz", data.adult), ("msnbc.dat.gz", data.msnbc)):
        (tmp_path / name).write_bytes(b"something else")
        with pytest.raises(DataError, match="not the expected file"):
            read(tmp_path)


def test_the_schema_of_adult():
    schema = data.adult_schema()
    assert len(schema.attributes) == 14
    assert schema.target is not None and schema.target.name == "salary"
