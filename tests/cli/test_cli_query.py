"""`hedgerow query`, and the page for recipients."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from pyarrow import parquet

import hedgerow
from hedgerow.release import Release, TableRelease
from hedgerow.schema import Query

Hedge = Callable[..., Any]
PAGE = (Path(__file__).parents[2] / "docs" / "queries.md").read_text(encoding="utf-8")
NUMBERS = ["estimate", "low", "high", "noise", "uniformity_low", "uniformity_high"]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Known answers in place of real ones; gives what was asked, and at which level."""
    calls: list[Any] = []

    def count(self: Release, queries: list[Query], level: float = 0.95) -> SimpleNamespace:
        calls.append((queries, level))
        rows = np.array([
            [1234.56, 1100.0, 1400.0, 100.0, 34.5, 65.4],
            [-2.5, 0.0, 3.25, 5.75, 0.0, 0.0],
            [7.0, 2.0, np.inf, 3.0, 2.0, np.inf],
        ])  # fmt: skip
        found = rows[np.arange(len(queries)) % 3].T
        numbers = dict(zip(NUMBERS, found, strict=True))
        basis = np.array(["assumed even", "measured", "assumed even"])[np.arange(len(queries)) % 3]
        return SimpleNamespace(
            level=level, typical_error=None, standard_error=None, basis=basis, **numbers
        )

    monkeypatch.setattr(TableRelease, "count", count, raising=False)
    return calls


def test_answers_in_words(hedge: Hedge, regions: Path, asked: list[Any]) -> None:
    done = hedge("query", regions, "age in [30,50] and smoker=yes", "", "bmi = other")
    assert done.exit_code == 0, done.stderr
    assert done.stdout.split("\n") == [
        "age in [30, 50] and smoker = true",
        "  about 1,235 people; 95% interval: between 1,100 and 1,400",
        "  noise: give or take 100, added to protect people",
        "  uniformity error: up to 34 fewer or 65 more, since people may not lie evenly in "
        "regions the query cuts",
        "  basis: assumed even, since only a part of some regions is asked for",
        "",
        "everybody",
        "  about 0 people; 95% interval: between 0 and 3.2",
        "  noise: give or take 5.8, added to protect people",
        "  uniformity error: none, the query follows the edges of the regions",
        "  basis: measured",
        "  mostly noise: the standard error is more than a third of the estimate",
        "",
        "bmi = other",
        "  95% interval: at least 2 (about 7 if people are spread evenly inside the regions that "
        "the query cuts)",
        "  noise: give or take 3, added to protect people",
        "  uniformity error: up to 2 fewer or any number more, since people may not lie evenly in "
        "regions the query cuts",
        "  basis: assumed even, since only a part of some regions is asked for",
        "",
    ]


def test_queries_and_file_are_asked_in_order(
    hedge: Hedge, published: Path, asked: list[Any], tmp_path: Path
) -> None:
    (tmp_path / "q.txt").write_text("# two\nage > 40\n\nage > 50\n", encoding="utf-8")
    done = hedge("query", published, "age > 30", "--file", tmp_path / "q.txt", "--level", 0.8)
    assert done.exit_code == 0, done.stderr
    schema = Release.load(published).schema
    wanted = [Query.parse(f"age > {age}", schema) for age in (30, 40, 50)]
    assert asked == [(wanted, 0.8)]
    assert "80% interval" in done.stdout


def test_json(hedge: Hedge, published: Path, asked: list[Any]) -> None:
    done = hedge("query", published, "age > 30", "age > 40", "age > 50", "--json")
    found = json.loads(done.stdout)
    assert found["level"] == 0.95 and found["out"] is None
    assert [answer["query"] for answer in found["answers"]] == [
        "age in [31, 99]", "age in [41, 99]", "age in [51, 99]",
    ]  # fmt: skip
    assert found["answers"][1]["estimate"] == -2.5  # for machines as it is
    assert found["answers"][2]["high"] is None


def test_many_answers_come_as_a_table(
    hedge: Hedge, published: Path, asked: list[Any], tmp_path: Path
) -> None:
    file = tmp_path / "q.txt"
    file.write_text("\n".join(f"stay = {i % 60}" for i in range(250)), encoding="utf-8")
    done = hedge("query", published, "--file", file)
    assert "about" in done.stdout.splitlines()[0] and "stay = 7" in done.stdout
    assert done.stdout.count("stay =") == 200 and "first 200" in done.stderr


def test_answers_in_files(hedge: Hedge, regions: Path, asked: list[Any], tmp_path: Path) -> None:
    for name in ("a.csv", "a.parquet"):
        done = hedge("query", regions, "age > 30", "sex = male", "--out", tmp_path / name)
        assert done.exit_code == 0 and name in done.stdout
    rows = list(csv.DictReader((tmp_path / "a.csv").read_text("utf-8").splitlines()))
    assert list(rows[0]) == ["query", *NUMBERS, "basis", "reliability"]
    assert [row["basis"] for row in rows] == ["assumed even", "measured"]
    assert [row["query"] for row in rows] == ["age in [31, 99]", "sex = male"]
    assert float(rows[0]["estimate"]) == 1234.56
    assert parquet.read_table(tmp_path / "a.parquet").column_names == list(rows[0])
    assert hedge("query", regions, "", "--out", tmp_path / "a.csv").exit_code == 6
    done = hedge("query", regions, "", "--out", tmp_path / "a.csv", "--overwrite", "--json")
    found = json.loads(done.stdout)
    assert found["out"] == str(tmp_path / "a.csv")
    assert [answer["query"] for answer in found["answers"]] == ["everybody"]


def test_nothing_is_written_into_the_release(
    hedge: Hedge, published: Path, asked: list[Any], tmp_path: Path
) -> None:
    (tmp_path / "link").symlink_to(published, target_is_directory=True)
    before = {path: path.read_bytes() for path in published.rglob("*") if path.is_file()}
    for out in (published / "a.csv", published / "table.csv", tmp_path / "link" / "a.csv"):
        for command in (["query", published, "age > 30"], ["sample", published]):
            done = hedge(*command, "--out", out, "--overwrite")
            assert done.exit_code == 2 and "folder of the release" in done.stderr
    done = hedge("show", published, "--plot", published / "a.png")
    assert done.exit_code == 2 and "--plot" in done.stderr
    assert {path: path.read_bytes() for path in published.rglob("*") if path.is_file()} == before


def test_answers_never_replace_the_queries(
    hedge: Hedge, published: Path, asked: list[Any], tmp_path: Path
) -> None:
    file = tmp_path / "q.csv"
    file.write_text("age > 30\n", encoding="utf-8")
    done = hedge("query", published, "--file", file, "--out", file, "--overwrite")
    assert done.exit_code == 2 and "same file" in done.stderr
    assert file.read_text(encoding="utf-8") == "age > 30\n"


@pytest.mark.parametrize("level", ["0.9999999999", "0.8", "0.07", "0.999"])
def test_levels_are_shown_with_all_their_digits(
    hedge: Hedge, regions: Path, asked: list[Any], level: str
) -> None:
    done = hedge("query", regions, "age > 30", "--level", level)
    shown = {"0.9999999999": "99.99999999", "0.8": "80", "0.07": "7", "0.999": "99.9"}[level]
    assert f"; {shown}% interval: " in done.stdout


@pytest.mark.parametrize(
    ("words", "what"),
    [
        ([], "no query"),
        (["age > 30", "--level", "95"], "--level"),
        (["age > 30", "--level", "nan"], "--level"),
        (["age > 30", "--level", "95%"], "write --level 0.95"),
        (["smoker or age > 30"], "There is no 'or'"),
        (["agee > 30"], "Did you mean age?"),
        (["age > 30", "sex = femal"], "Did you mean female"),
        (["--file", "nowhere.txt"], "nowhere.txt cannot be read"),
        (["age > 30", "--out", "answers.xls"], "what kind of file"),
    ],
)
def test_mistakes(
    hedge: Hedge, published: Path, asked: list[Any], words: list[str], what: str
) -> None:
    done = hedge("query", published, *words)
    assert done.exit_code == 2 and what in done.stderr
    assert asked == []


def test_a_broken_line_is_named(
    hedge: Hedge, published: Path, asked: list[Any], tmp_path: Path
) -> None:
    file = tmp_path / "q.txt"
    file.write_text("age > 30\nage in [50, 30]\n", encoding="utf-8")
    done = hedge("query", published, "--file", file)
    assert done.exit_code == 2 and f"{file}:2: " in done.stderr and "^^^^^^^^" in done.stderr
    file.write_text("# nothing\n", encoding="utf-8")
    assert "holds no query" in hedge("query", published, "--file", file).stderr


def test_real_answers(hedge: Hedge, regions: Path) -> None:
    """The sample has 1,500 rows; the noise on their number is a few, so 200 are ample."""
    texts = ["", "smoker = yes", "smoker = no", "age in [30, 50] and readmitted = yes"]
    done = hedge("query", regions, *texts, "--json")
    assert done.exit_code == 0, done.stderr
    whole, *rest = json.loads(done.stdout)["answers"]
    assert abs(whole["estimate"] - 1500) < 200 and whole["uniformity_low"] == 0
    yes, no = Release.load(regions).count(texts[1:3]).estimate
    assert yes + no == pytest.approx(whole["estimate"])
    for one in rest:
        if one["basis"] == "not measured":
            words = ("query", "basis", "reliability")
            assert {one[name] for name in one if name not in words} == {None}
        else:
            assert one["low"] <= max(one["estimate"], 0) <= one["high"] and one["noise"] > 0


def test_no_release(hedge: Hedge, tmp_path: Path) -> None:
    assert hedge("query", tmp_path, "age > 30").exit_code == 6


# -- the page --------------------------------------------------------------------------------


def test_the_sql_on_the_page_counts_what_it_says(
    published: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    duckdb = pytest.importorskip("duckdb")
    monkeypatch.chdir(published.parent)
    (sql,) = re.findall(r"```sql\n(.*?)```", PAGE, re.S)
    found = duckdb.sql(sql.replace("release/", f"{published.name}/")).fetchall()
    release = Release.load(published).expect(hedgerow.TableRelease)
    totals = release.counts.sum(axis=1)
    assert [people for _, people in found] == sorted(totals.tolist(), reverse=True)[:10]
    assert all(totals[region] == people for region, people in found)


def test_the_conditions_on_the_page_are_understood(published: Path) -> None:
    schema = Release.load(published).schema
    rows = re.findall(r"^\| (`.*`) \| .* \|$", PAGE, re.M)
    texts = [text for row in rows for text in re.findall(r"`(.*?)`", row)]
    assert len(texts) >= 12
    for text in texts:
        assert Query.parse(text, schema) != Query()


def test_the_python_on_the_page_prints_what_it_says(
    published: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.S)
    (tmp_path / "release").symlink_to(published, target_is_directory=True)
    monkeypatch.chdir(tmp_path)
    exec(code, {})
    said = capsys.readouterr().out.splitlines()[-1]
    assert code.rstrip().endswith(f"# {said}")


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("age < 30 and age > 50", None),
        ("age in [50, 30]", None),
        ("age in (30, 31)", None),
        ("age = 30.5", None),
        ("age > 99", None),
        ("age in [80, 120]", "age in [80, 99]"),
    ],
)
def test_bounds_are_as_the_page_says(published: Path, text: str, same: str | None) -> None:
    schema = Release.load(published).schema
    assert f"`{text}`" in PAGE
    if same is not None:
        assert Query.parse(text, schema) == Query.parse(same, schema) and f"`{same}`" in PAGE
        return
    with pytest.raises(hedgerow.errors.UsageError):
        Query.parse(text, schema)


def test_one_bad_line_writes_nothing(hedge: Hedge, published: Path, tmp_path: Path) -> None:
    (tmp_path / "q.txt").write_text("age > 30\nagee > 30\n", encoding="utf-8")
    out = tmp_path / "a.csv"
    done = hedge("query", published, "--file", tmp_path / "q.txt", "--out", out)
    assert done.exit_code == 2 and not out.exists() and done.stdout == ""


def test_other_of_an_unsplit_attribute_is_as_the_page_says(published: Path) -> None:
    bmi = next(a for a in Release.load(published).schema.attributes if a.name == "bmi")
    assert bmi.size == 70 and "one seventieth" in PAGE


def test_steps_are_as_the_page_says(published: Path) -> None:
    schema = Release.load(published).schema
    assert Query.parse("bmi <= 25.5", schema) == Query.parse("bmi <= 25.7", schema)
    assert Query.parse("bmi <= 25.7", schema).text(schema) == "bmi in [14, 26)"
    assert Query.parse("bmi < 25.5", schema).text(schema) == "bmi in [14, 25.5)"


def test_or_comes_with_a_way_out(hedge: Hedge, published: Path) -> None:
    done = hedge("query", published, "age in [30, 50] or smoker = yes")
    assert done.exit_code == 2 and "There is no 'or'" in done.stderr


@pytest.fixture(scope="module")
def silent(survey: Path) -> Path:
    """A release with one division, and nothing else."""
    schema = hedgerow.Schema.load(survey / "schema.yaml")
    method = hedgerow.DiffMulti(specializations=1)
    hedgerow.publish(survey / "people.csv", schema, method, epsilon=1).save(survey / "silent")
    return survey / "silent"


def test_what_was_not_measured_is_said(hedge: Hedge, silent: Path, tmp_path: Path) -> None:
    release = Release.load(silent)
    names = list(release.unmeasured)
    assert len(names) == len(release.schema.attributes) - 1
    name = next(name for name in ("stay", "age") if name in names)
    done = hedge("query", silent, f"{name} = 30", "readmitted = yes")
    lines = done.stdout.split("\n")
    assert lines[1].startswith(f"  not measured: the release says nothing about {name} (about ")
    assert lines[2].startswith("  95% interval: between 0 and ")
    assert lines[5].startswith("  about ")  # the class was counted
    done = hedge("query", silent, *(f"{name} = {n}" for n in range(20, 25)), "everybody")
    table = [line.split() for line in done.stdout.split("\n")]
    (single,) = (words for words in table if words[:3] == [name, "=", "22"])
    (everybody,) = (words for words in table if words[:1] == ["everybody"])
    assert single[-6:] == ["-", "-", "-", "-", "not", "measured"]
    assert everybody[-1] == "measured" and "-" not in everybody
    assert f"says nothing about {', '.join(names)}" in done.stdout
    answers = json.loads(hedge("query", silent, f"{name} = 30", "--json").stdout)["answers"]
    assert answers[0]["basis"] == "not measured"
    assert {value for key, value in answers[0].items() if key in NUMBERS} == {None}
    hedge("query", silent, f"{name} = 30", "everybody", "--out", tmp_path / "a.csv")
    rows_of = list(csv.DictReader((tmp_path / "a.csv").read_text("utf-8").splitlines()))
    assert [[row[key] != "" for key in NUMBERS] for row in rows_of] == [[False] * 6, [True] * 6]
    told = f"Not measured: {', '.join(names)}. "
    assert told in hedge("show", silent).stdout.replace("\n", " ")
    assert json.loads(hedge("show", silent, "--json").stdout)["not_measured"] == names
    rows = ("sample", silent, "--out", tmp_path / "rows.csv", "--overwrite")
    assert told in hedge(*rows).stdout.replace("\n", " ")
    assert json.loads(hedge(*rows, "--json").stdout)["not_measured"] == names


def test_a_release_that_measured_everything_names_nothing(hedge: Hedge, published: Path) -> None:
    assert Release.load(published).unmeasured == ()
    assert "Not measured" not in hedge("show", published).stdout
