"""`hedgerow table`: on the screen, and in files of every kind."""

from __future__ import annotations

import csv
import json
import zipfile
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet

from hedgerow.release import Release

Hedge = Callable[..., Any]


def test_a_table_in_words(hedge: Hedge, published: Path) -> None:
    done = hedge("table", published, "smoker", "readmitted", "--where", "age > 30")
    assert done.exit_code == 0, done.stderr
    title, _, *lines = done.stdout.splitlines()
    assert title == "clinic discharges: counts of people by smoker and readmitted, where age > 30"
    assert lines[0].split() == ["smoker", "readmitted", "about", "from", "to", "remark"]
    assert lines[5].startswith("total") and "at least 95%" in done.stdout
    share = hedge("table", published, "age", "--bins", "age=18,40,65", "--by", "share")
    assert share.stdout.count("%") >= 12 and "40 to 64" in share.stdout


def test_shares_of_each_row(hedge: Hedge, published: Path, tmp_path: Path) -> None:
    done = hedge("table", published, "smoker", "readmitted", "--by", "rows", "--json")
    found = json.loads(done.stdout)["cells"]
    of = {(one["smoker"], one["readmitted"]): one["estimate"] for one in found}
    for smoker in ("false", "true"):
        assert of[smoker, "no"] + of[smoker, "yes"] == pytest.approx(1)
    words = hedge("table", published, "smoker", "readmitted", "--by", "rows").stdout
    assert words.startswith("clinic discharges: shares of people by readmitted, of each smoker\n")
    assert "total" not in words and "100% are" not in words
    for kind in ("html", "xlsx"):
        out = tmp_path / f"rows.{kind}"
        assert not hedge(
            "table", published, "smoker", "readmitted", "--by", "rows", "--out", out
        ).exit_code
    refused = hedge("table", published, "smoker", "--by", "rows")
    assert refused.exit_code == 2 and "needs two attributes" in refused.stderr


def test_many_cells_are_not_all_shown(hedge: Hedge, published: Path) -> None:
    done = hedge("table", published, "bmi", "age")
    assert done.exit_code == 0 and "first 200 cells" in done.stderr
    assert "total" in done.stdout


def test_json(hedge: Hedge, published: Path) -> None:
    done = hedge("table", published, "smoker", "--json", "--simultaneous", "--level", 0.9)
    found = json.loads(done.stdout)
    assert found["level"] == 0.9 and found["simultaneous"] is True
    assert [cell["smoker"] for cell in found["cells"]] == ["false", "true"]
    total = sum(cell["estimate"] for cell in found["cells"])
    assert total == pytest.approx(found["total"]["estimate"])
    assert list(found["total"]) == ["estimate", "low", "high", "typical_error", "reliability"]


def test_files(hedge: Hedge, published: Path, tmp_path: Path) -> None:
    wanted = Release.load(published).table("smoker").to_arrow()
    for name in ("t.csv", "t.parquet", "t.html", "t.xlsx"):
        done = hedge("table", published, "smoker", "--out", tmp_path / name)
        assert done.exit_code == 0 and name in done.stdout, done.stderr
        assert hedge("table", published, "smoker", "--out", tmp_path / name).exit_code == 6
    rows = list(csv.DictReader((tmp_path / "t.csv").read_text("utf-8").splitlines()))
    assert [float(row["estimate"]) for row in rows] == wanted["estimate"].to_pylist()
    assert parquet.read_table(tmp_path / "t.parquet").equals(wanted)
    page = (tmp_path / "t.html").read_text("utf-8")
    assert (
        "default-src &#39;none&#39;" in page
        and "<script" not in page
        and "counts of people by smoker" in page
    )
    inside = hedge("table", published, "smoker", "--out", published / "t.csv")
    assert inside.exit_code == 2


def test_a_workbook_of_all_tables(hedge: Hedge, published: Path, tmp_path: Path) -> None:
    done = hedge("table", published, "--out", tmp_path / "all.xlsx", "--json")
    assert done.exit_code == 0, done.stderr
    with zipfile.ZipFile(tmp_path / "all.xlsx") as book:
        sheets = book.read("xl/workbook.xml").decode()
        texts = book.read("xl/sharedStrings.xml").decode()
    for name in ("about", "age", "occupation", "readmitted", "regions"):
        assert f'name="{name}"' in sheets
    assert "Differential privacy with epsilon" in texts and "How to read the tables" in texts


def test_pictures(hedge: Hedge, published: Path, tmp_path: Path) -> None:
    for name, start in (("t.png", b"\x89PNG"), ("t.svg", b"<?xml"), ("t.pdf", b"%PDF")):
        done = hedge("table", published, "age", "--by", "share", "--out", tmp_path / name)
        assert done.exit_code == 0, done.stderr
        assert (tmp_path / name).read_bytes().startswith(start)
    done = hedge("table", published, "bmi", "stay", "--out", tmp_path / "many.png")
    assert done.exit_code == 2 and "told apart" in done.stderr


def test_texts_are_no_formulas(tmp_path: Path) -> None:
    import hedgerow as hr
    from hedgerow.present.tables import write_workbook

    label = "=1+1"
    schema = hr.Schema.from_dict({
        "name": "@x", "unit": "row",
        "attributes": {"a/b": {"type": "categorical", "values": [label, "y"]}},
    })  # fmt: skip
    import pyarrow as pa

    release = hr.publish(pa.table({"a/b": [label] * 40 + ["y"] * 9}), schema, epsilon=1, seed=1)
    write_workbook(release, tmp_path / "x.xlsx")
    with zipfile.ZipFile(tmp_path / "x.xlsx") as book:
        sheet = [n for n in book.namelist() if n.startswith("xl/worksheets/sheet")]
        assert all("<f>" not in book.read(name).decode() for name in sheet)
        assert label in book.read("xl/sharedStrings.xml").decode()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([], "Name one of age"),
        (["agee"], "Did you mean age?"),
        (["age", "--bins", "age"], "divides nothing"),
        (["age", "--by", "percent"], "Write --by count, --by share for percentages, or --by rows."),
        (["age", "--bins", "age=5"], "Write --bins age=18,45,72"),
        (["occupation", "--bins", "occupation=x"], "Write --bins occupation=1"),
        (["age", "age"], "Name age."),
        (["age", "--where", "agee > 3"], "Did you mean age?"),
        (["age", "--level", "95"], "--level"),
        (["age", "--out", "t.doc"], ".xlsx"),
        (["--out", "t.csv"], "no attribute"),
    ],
)
def test_mistakes(hedge: Hedge, published: Path, words: list[str], told: str) -> None:
    done = hedge("table", published, *words)
    assert done.exit_code == 2 and told in done.stderr


def test_items(hedge: Hedge, survey: Path, tmp_path: Path) -> None:
    words = ["publish", survey / "baskets.dat", "--schema", survey / "baskets.yaml"]
    assert hedge(*words, "--epsilon", 1, "--out", tmp_path / "shop").exit_code == 0
    done = hedge("table", tmp_path / "shop", "item", "--top", 3, "--where", "milk")
    assert done.exit_code == 0 and done.stdout.splitlines()[3].startswith("milk"), done.stderr
    assert "counts for every item in it" in done.stdout
    done = hedge("table", tmp_path / "shop", "item", "item", "--top", 3)
    assert done.stdout.startswith("village shop: counts of records by pair of items\n")
    remarks = ("good", "fair", "mostly noise", "modeled")
    assert all(line.endswith(remarks) for line in done.stdout.splitlines()[3:7]), done.stdout
    done = hedge("table", tmp_path / "shop", "bread")
    assert done.exit_code == 2 and "For bread alone ask `query`" in done.stderr
    done = hedge("table", tmp_path / "shop", "--out", tmp_path / "shop.xlsx")
    assert done.exit_code == 0, done.stderr


def test_what_was_not_measured_has_no_estimate_anywhere(tmp_path: Path) -> None:
    import pyarrow as pa

    import hedgerow as hr
    from hedgerow.present.tables import write_sheet, write_workbook

    names = [f"a{place:02d}" for place in range(40)]
    schema = hr.Schema.from_dict({
        "name": "wide", "unit": "row", "attributes": {name: {"type": "boolean"} for name in names},
    })  # fmt: skip
    rows = pa.table({name: [True, False] * 100 for name in names})
    release = hr.publish(rows, schema, hr.DiffMulti(), epsilon="0.05", seed=1)
    table = release.table(release.unmeasured[-1])
    assert not table.known.any() and table.to_arrow()["estimate"].null_count == 2
    write_sheet(release, table, tmp_path / "x.xlsx")
    with zipfile.ZipFile(tmp_path / "x.xlsx") as book:
        sheet = book.read("xl/worksheets/sheet2.xml").decode()
    for row, column in product("45", "BCD"):  # no number at all
        assert f'<c r="{column}{row}"' not in sheet
    write_workbook(release, tmp_path / "all.xlsx")
    with zipfile.ZipFile(tmp_path / "all.xlsx") as book:
        sheets = book.read("xl/workbook.xml").decode()
        cover = book.read("xl/sharedStrings.xml").decode()
    unknown = release.unmeasured
    assert f"Not measured: {', '.join(unknown)}" in cover
    assert {name for name in names if f'name="{name}"' in sheets} == {*names} - {*unknown}
    with pytest.raises(hr.errors.UsageError, match="nothing to draw"):
        release.plot(release.unmeasured[-1])


def test_means_sums_and_quantiles(hedge: Hedge, published: Path, tmp_path: Path) -> None:
    release = Release.load(published)
    done = hedge("table", published, "smoker", "--mean", "age")
    assert done.exit_code == 0, done.stderr
    title, _, heads, *rows = done.stdout.splitlines()
    assert title == "Mean of age by smoker, with guaranteed 95% intervals"
    assert heads.split() == ["smoker", "estimate", "low", "high"]
    assert [row.split()[0] for row in rows if row.strip()] == ["false", "true"]
    done = hedge("table", published, "--sum", "visits", "--where", "age < 50", "--json")
    wanted = release.sum("visits", where="age < 50")
    assert json.loads(done.stdout)["groups"] == wanted.to_arrow().to_pylist()
    out = tmp_path / "medians.parquet"
    done = hedge("table", published, "smoker", "--quantile", "age=0.5", "--out", out)
    assert parquet.read_table(out).equals(release.quantile("age", by="smoker").to_arrow())
    done = hedge("table", published, "--mean", "admitted", "--json")
    assert json.loads(done.stdout)["groups"][0]["low"].startswith("20")
    for wrong in (("--quantile", "age"), ("--mean", "age", "--top", 2), ("--mean", "smoker")):
        assert hedge("table", published, *wrong).exit_code == 2


def test_means_sums_and_quantiles_of_queries(hedge: Hedge, published: Path, tmp_path: Path) -> None:
    release, asked = Release.load(published), ("smoker = true", "age < 50")
    done = hedge("query", published, "--mean", "age", *asked)
    assert done.exit_code == 0, done.stderr
    assert done.stdout.splitlines()[0] == "Mean of age, with guaranteed 95% intervals"
    (tmp_path / "queries.txt").write_text("age < 50\n", encoding="utf-8")
    done = hedge("query", published, "smoker = true", "--file", tmp_path / "queries.txt",
                 "--sum", "visits", "--json")  # fmt: skip
    answers = json.loads(done.stdout)["answers"]
    assert [one.pop("query") for one in answers] == ["smoker = true", "age in [18, 49]"]
    assert answers == [release.sum("visits", where=one).to_arrow().to_pylist()[0] for one in asked]
    out = tmp_path / "medians.parquet"
    assert hedge("query", published, "--quantile", "admitted=0.5", "--out", out).exit_code == 0
    found = parquet.read_table(out)
    assert found["query"].to_pylist() == ["everybody"]
    assert found.drop(["query"]).equals(release.quantile("admitted").to_arrow())
    for wrong in (("--mean", "age", "--sum", "age"), ("--quantile", "age"), ("--mean", "smoker")):
        assert hedge("query", published, *wrong).exit_code == 2
