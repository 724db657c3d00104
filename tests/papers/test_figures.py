"""The papers' figures are registered, found by name, measured, resumed and written down."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import papers
from hedgerow.errors import DataError, UsageError
from hedgerow.methods.diffmulti import DiffMulti
from hedgerow.privacy.budget import Budget
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
    assert len(papers.select("cdiffgen")) == 3
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
        stated=(Stated("curve", 1, value=11.0), Stated("curve", 2, value=9.0)),
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


def test_fewer_runs_than_the_papers_are_told_first(tmp_path):
    found = result(tmp_path, [], number=1)
    few = replace(found, lines=tuple(replace(line, cpu=90.0) for line in found.lines))
    for one, there in ((few, True), (replace(few, runs=2), False)):
        pages.write_page("A paper", (), [one], tmp_path / "made.md", "command")
        page = (tmp_path / "made.md").read_text("utf-8")
        words = "**Fewer runs than in the paper: made-fig1 1 of 2.** The others would take 5 CPU"
        assert page.split("\n")[2].startswith(words) == there


def test_kept_runs_alone_are_written(tmp_path):
    calls: list[int] = []
    kept = Runs(tmp_path / "runs.jsonl")
    (*_, (_, none)) = measure(figure(calls), Inputs(), kept, 2, False, kept=True)
    assert none.skipped.startswith("no runs of all points are kept;") and not calls
    result(tmp_path, calls, number=2)
    (*_, (_, two)) = measure(figure([]), Inputs(), Runs(kept.path), 1, False, kept=True)
    assert two.runs == 2 and len(two.lines) == 3 and len(calls) == 4


def test_a_figure_that_cannot_run_says_why(tmp_path):
    calls: list[int] = []
    found = result(tmp_path, calls, needs=lambda inputs: "something is missing")
    assert found.skipped == "something is missing" and not calls
    pages.write_page("A paper", (), [found], tmp_path / "made.md", "command")
    page = (tmp_path / "made.md").read_text("utf-8")
    assert page.split("\n")[2] == "**Not run: made-fig1**, something is missing."


def test_tables_hold_all_points_and_what_the_paper_states(tmp_path):
    pages.write_table(result(tmp_path, []), tmp_path / "made.csv")
    with (tmp_path / "made.csv").open(encoding="utf-8") as file:
        head, level, first, second = csv.reader(file)
    assert head == ["series", "taxonomies", "x", "y", "low", "high", "error", "runs",
                    "CPU seconds of all runs", "paper", "commit"]  # fmt: skip
    assert level[:4] == ["level", "", "", "12.5"]
    assert first[:4] == ["curve", "", "1", "11"] and first[-2:] == ["11.0", ""]
    assert second[-2] == "9.0" and second[-4] == "3"


def test_tables_are_read_as_they_were_written(tmp_path):
    path = tmp_path / "made.csv"
    one = replace(result(tmp_path, []), commit="12345678")
    pages.write_table(one, path)
    read = pages.read_table(one.figure, path)
    assert read == one  # to the last digit, so that pages follow from tables
    # a figure that has more points now, or others, is to be run again
    more = replace(one.figure, points=lambda quick: [Point("curve", 7, run=lambda i, n: 1.0)])
    assert pages.read_table(more, path) is None
    assert pages.read_table(one.figure, tmp_path / "absent.csv") is None


@pytest.mark.slow
def test_pages_say_which_run_they_show(tmp_path):
    pytest.importorskip("matplotlib")
    for quick, words in ((False, "None. 3 runs. It is made up."), (True, "A quick run")):
        found = result(tmp_path, [], quick=quick)
        assert pages.draw(found, tmp_path / "made-fig1.png")
        pages.write_page("A paper", (), [found], tmp_path / "made.md", "the command")
        page = (tmp_path / "made.md").read_text(encoding="utf-8")
        assert words in page and "NOT PRIVATE" in page and "the command" in page
        assert "[![A simulated figure](made-fig1.png)](made-fig1.csv)" in page
        assert "It is made up." in page
    assert (tmp_path / "made-fig1.png").stat().st_size > 1000
    two = replace(found, taxonomies=("ours", "authors"))
    assert pages.draw(two, tmp_path / "two.png")


def test_tables_without_an_axis_are_drawn_as_bars(tmp_path):
    pytest.importorskip("matplotlib")
    bars = Figure(name="made-table", title="A table", x="", y="y", settings="None.", runs=1,
                  points=lambda quick: [Point(name, None, run=lambda i,
                  n: 5.0) for name in "ab"])  # fmt: skip
    (*_, (_, found)) = measure(bars, Inputs(), Runs(tmp_path / "r.jsonl"), 1, False)
    assert pages.draw(found, tmp_path / "bars.png")


@pytest.mark.parametrize("paper", papers.PAPERS)
def test_claims_are_about_points_that_are_there(paper):
    figures = {figure.name: figure for figure in papers.select(paper)}
    for claim in papers.claims(paper):
        points = figures[claim.figure].points(False)
        if claim.judge is None and claim.proof is None:
            xs = {point.x for point in points if point.series == claim.series}
            assert xs and set(claim.x or ()) <= xs
            assert claim.than == claim.than  # a number, not none
            assert not isinstance(claim.than, str) or claim.than in {p.series for p in points}


def line(series, x, mean, error=0.0, taxonomies=None):
    return Line(series=series, x=x, mean=mean, low=mean - 2 * error, high=mean + 2 * error,
                runs=5, error=error, taxonomies=taxonomies)  # fmt: skip


def judged(claim, *lines, taxonomies=("ours",)):
    made = Figure(name="made-fig1", title="t", x="x", y="y", settings="s", runs=5,
                  points=lambda quick: ())  # fmt: skip
    return {"made-fig1": Result(figure=made, lines=lines, runs=5, quick=False,
                                taxonomies=taxonomies)}  # fmt: skip


def claim(**more):
    return Claim(**{"words": "w", "figure": "made-fig1", "series": "A", **more})


@pytest.mark.parametrize(
    "more, mean, error, verdict",
    [
        ({"than": 0.5}, 0.6, 0.03, "holds"),
        ({"than": 0.5}, 0.6, 0.04, "ties"),
        ({"than": 0.5}, 0.4, 0.06, "ties"),
        ({"than": 0.5}, 0.4, 0.03, "does not hold"),
        ({"than": 0.5, "sense": "below"}, 0.4, 0.03, "holds"),
        ({"than": 0.5, "sense": "below"}, 0.6, 0.03, "does not hold"),
        ({"than": 0.5, "sense": "equal"}, 0.6, 0.03, "does not hold"),
        ({"than": 0.5, "sense": "equal"}, 0.6, 0.04, "ties"),
        ({"than": 0.5, "sense": "equal"}, 0.6, 0.06, "holds"),
        ({"than": 0.5, "sense": "equal", "within": 0.2}, 0.6, 0.0, "holds"),
    ],
)
def test_students_intervals_tell_numbers_apart(more, mean, error, verdict):
    one = claim(**more)
    assert one.verdict(judged(one, line("A", 1, mean, error)), "ours")[1] == verdict


def test_curves_are_compared_point_by_point():
    one = claim(than="B", factor=2)
    lines = [line("A", 1, 3.0, 0.1), line("B", 1, 1.0, 0.1)]
    words, verdict = one.verdict(judged(one, *lines), "ours")
    assert (words, verdict) == ("x 1: 3.00 against 1.00 ± 0.22", "holds")
    lines += [line("A", 2, 1.0), line("B", 2, 1.0), line("A", 3, 9.0)]  # no B at 3
    assert one.verdict(judged(one, *lines), "ours")[1] == "holds 1/2, does not hold 1/2"
    assert claim(than="B", x=(1,)).verdict(judged(one, *lines), "ours")[1] == "holds"
    level = [line("A", 1, 3.0), line("B", None, 1.0)]
    assert one.verdict(judged(one, *level), "ours")[1] == "holds"
    assert one.verdict({}, "ours") == ("", "not run")
    assert one.verdict(judged(one, *lines), "authors") == ("", "not run")


def test_a_page_begins_with_its_claims_and_those_that_depend_on_trees(tmp_path):
    claims = (
        claim(words="first", stated="2", than=2.0),
        claim(words="second", stated="1", than=1.0, why="so"),
        claim(words="elsewhere", figure="made-fig9", than=1.0),
    )
    lines = [line("A", None, 3.0, 0.1, "ours"), line("A", None, 1.5, 0.1, "authors")]
    results = judged(claims[0], *lines, taxonomies=("ours", "authors"))
    pages.write_page("T", claims, [*results.values()], tmp_path / "p.md", "`c` at commit 1")
    page = (tmp_path / "p.md").read_text(encoding="utf-8").split("\n")
    assert page[2].startswith("**What depends on the taxonomies comes first, in bold.**")
    assert page[4:8] == [
        "| the paper says | its number | ours | the authors' trees | runs | verdict | why |",
        "| --- | --- | --- | --- | --- | --- | --- |",
        "| **first** | 2 | 3.00 ± 0.10 | 1.50 ± 0.10 | 5 | ours: holds<br>theirs: does not hold"
        " |  |",
        "| second | 1 | 3.00 ± 0.10 | 1.50 ± 0.10 | 5 | holds | so |",
    ]


def test_what_cannot_be_run_stands_first(tmp_path):
    pages.write_page("T", (), [], tmp_path / "p.md", "c", papers.absent("diffpart"))
    assert (tmp_path / "p.md").read_text("utf-8").split("\n")[2].startswith("The paper's STM data")


def test_times_that_chance_explains_tie():
    one = papers.claims("supermodular")[0]
    lines = [line(one.series, 11, 26.0, 2.0), line(one.than, 11, 87.0, 30.0)]
    results = {one.figure: judged(one, *lines)["made-fig1"]}
    assert one.verdict(results, "ours")[1] == "ties"


def test_a_proof_needs_no_run():
    one = claim(proof="does not hold")
    assert one.verdict({}, "ours") == ("a proof", "does not hold")


def test_of_many_points_the_first_and_the_last_are_shown():
    one = claim(than=0.5)
    lines = [line("A", x, x / 1000.0) for x in (1000, 2000, 30_000)]
    words, verdict = one.verdict(judged(one, *lines), "ours")
    assert (words, verdict) == ("x 1,000: 1; x 30,000: 30", "holds")


def test_chance_is_no_dependence_on_trees(tmp_path):
    one = claim(than=2.0)
    lines = [line("A", None, 3.0, 0.1, "ours"), line("A", None, 2.1, 0.1, "authors")]
    results = judged(one, *lines, taxonomies=("ours", "authors"))
    pages.write_page("T", (one,), [*results.values()], tmp_path / "p.md", "c")
    page = (tmp_path / "p.md").read_text(encoding="utf-8")
    assert "| ours: holds<br>theirs: ties |" in page and "depends on" not in page


def test_what_depends_on_trees_comes_first_whatever_runs_can_tell(tmp_path):
    claims = (claim(words="first", than=1.0), claim(words="second", than=1.0, trees=True))
    for authors in (2.9, 3.0, 0.9):  # holds too, or ties
        lines = [line("A", None, 3.0, 0.1, "ours"), line("A", None, authors, 0.1, "authors")]
        results = judged(claims[0], *lines, taxonomies=("ours", "authors"))
        pages.write_page("T", claims, [*results.values()], tmp_path / "p.md", "c")
        page = (tmp_path / "p.md").read_text(encoding="utf-8").split("\n")
        assert page[2].startswith("**What depends") and page[6].startswith("| **second** |")
        assert page[7].startswith("| first |")


def test_where_trees_matter_points_are_measured_with_both(tmp_path):
    seen = []

    class Trees(Inputs):
        @property
        def authors(self):
            return "theirs"

    def once(inputs, number):
        seen.append("theirs" if inputs == "theirs" else "ours")
        return 1.0

    points = [Point("A", 1, run=once), Point("raw", None, run=once, fixed=True)]
    one = Figure(name="made-fig1", title="t", x="x", y="y", settings="s", runs=1,
                 points=lambda quick: points, trees=True)  # fmt: skip
    both = ("ours", "authors")
    *_, (_, found) = measure(one, Trees(), Runs(tmp_path / "r.jsonl"), 1, False, both)
    assert seen == ["ours", "theirs", "ours"] and found.taxonomies == both
    assert [one.taxonomies for one in found.lines] == ["ours", "authors", None]
    plain = replace(one, trees=False)
    *_, (_, found) = measure(plain, Trees(), Runs(tmp_path / "s.jsonl"), 1, False, both)
    assert found.taxonomies == ("ours",) and {one.taxonomies for one in found.lines} == {None}


AUTHORS = Path(__file__).parents[3] / "shared" / "data"


@pytest.mark.skipif(
    not (AUTHORS / "adult_hierarchies").is_dir(), reason="the data folder is not there"
)
def test_the_authors_taxonomies_give_the_papers_heights():
    schema = data.authors_schema(AUTHORS)
    heights = {a.name: a.taxonomy.height for a in schema.attributes if hasattr(a, "taxonomy")}
    assert len(heights) == 8 and sum(heights.values()) == 21
    plan = DiffMulti(schedule="paper", score="max").plan_for(schema, Budget.of(1))
    assert plan.depth == 63  # the paper's |g|, with 7 for each of six numbers
    assert schema.classes == data.adult_schema().classes


def test_the_authors_taxonomies_are_asked_for_by_name(tmp_path):
    with pytest.raises(DataError, match="authors' taxonomies"):
        data.authors_schema(tmp_path)
    place = tmp_path / "adult_hierarchies" / "diffgen"
    place.mkdir(parents=True)
    (place / "adult.hchy").write_text("sex:discrete\n{Any {Female} {Male}}\n", "utf-8")
    with pytest.raises(DataError, match="not the expected"):
        data.authors_schema(tmp_path)


@pytest.mark.parametrize("y, most", [("match point", 1), ("CPU milliseconds", 0.5 + 12.71 / 2)])
def test_no_interval_reaches_beyond_what_is_possible(tmp_path, y, most):
    points = [Point("A", 1, run=lambda inputs, run: float(run))]
    made = Figure(name="made-fig1", title="t", x="x", y=y, settings="s", runs=2,
                  points=lambda quick: points)  # fmt: skip
    *_, (_, found) = measure(made, Inputs(), Runs(tmp_path / "r.jsonl"), 2, False)
    assert found.lines[0].low == 0 and found.lines[0].high == pytest.approx(most)


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
