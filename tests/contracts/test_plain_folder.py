"""The files of a release that need no hedgerow say in SQL what its answers say."""

from __future__ import annotations

import csv
import functools
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

import hedgerow as hr
from hedgerow.release.files import MOST_NAME, is_table_file, table_names
from hedgerow.schema import Categorical, Numeric

duckdb = pytest.importorskip("duckdb")

PEOPLE, SCHEMA = hr.sample.people(3000, seed=3), hr.sample.schema()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("plain") / "release"
    hr.publish(PEOPLE, SCHEMA, epsilon=4, seed=5, tables=["sex smoker", "home stay"], out=path)
    return path


@functools.cache
def engine() -> Any:
    """One for all tests, since opening it takes longer than an answer."""
    return duckdb.connect(config={"threads": 1})


def sql(folder: Path, text: str) -> list[tuple[Any, ...]]:
    engine().execute(f"SET file_search_path = '{folder}'")
    rows: list[tuple[Any, ...]] = engine().execute(text).fetchall()
    return rows


def listed(folder: Path) -> dict[str, tuple[str, ...]]:
    """The attributes of each table, as its description has them."""
    about = json.loads((folder / "tables-metadata.json").read_text("utf-8"))
    return {one["url"]: tuple(one["dc:title"].split(" by ")) for one in about["tables"]}


def test_sums_over_measured_tables_are_the_counts(folder: Path) -> None:
    release, draw = hr.load(folder), np.random.default_rng(1)
    tables = [(url.replace(".csv", ".parquet"), names) for url, names in listed(folder).items()]
    assert ("tables/sex__smoker.parquet", ("sex", "smoker")) in tables
    for _ in range(200):
        url, names = tables[draw.integers(len(tables))]
        rows = pq.read_table(folder / url)
        words, where = [], []
        for name in names:
            labels = list(dict.fromkeys(rows[name].to_pylist()))
            attribute = SCHEMA[name]
            if isinstance(attribute, Categorical):
                some = draw.choice(labels, draw.integers(1, len(labels) + 1), replace=False)
                where.append(f"{name} IN ({', '.join(map(repr, map(str, some)))})")
                words.append(f"{name} in {{{', '.join(some)}}}")
                continue
            assert isinstance(attribute, Numeric)
            lows = sorted(set(rows[f"{name}_low"].drop_null().to_pylist()))
            least = lows[draw.integers(len(lows))]
            where.append(f"{name}_low >= '{least}'")
            words.append(f"{name} >= {least}")
        (found,) = sql(folder, f"SELECT sum(estimate) FROM '{url}' WHERE {' AND '.join(where)}")
        assert found[0] == pytest.approx(float(release.count(" and ".join(words))), abs=1e-6)


def test_sums_over_rows_are_the_counts_of_conjunctions(folder: Path) -> None:
    release, draw = hr.load(folder), np.random.default_rng(2)
    numbers = [one for one in SCHEMA.attributes if isinstance(one, Numeric) and one.step == 1]
    texts = [one for one in SCHEMA.columns if isinstance(one, Categorical)]
    for _ in range(50):
        number, text = numbers[draw.integers(len(numbers))], texts[draw.integers(len(texts))]
        label = text.taxonomy.leaves[draw.integers(len(text.taxonomy.leaves))]
        least = number.edge(int(draw.integers(number.grid)))
        where = f"\"{number.name}\" >= '{least}' AND \"{text.name}\"::VARCHAR = '{label}'"
        (found,) = sql(folder, f"SELECT coalesce(sum(weight), 0) FROM 'rows.parquet' WHERE {where}")
        asked = float(release.count(f"{number.name} >= {least} and {text.name} = {label}"))
        assert found[0] == pytest.approx(asked, abs=1e-6)


def test_csv_and_parquet_say_the_same(folder: Path) -> None:
    for url in listed(folder):
        rows = pq.read_table(folder / url.replace(".csv", ".parquet"))
        with (folder / url).open(encoding="utf-8", newline="") as file:
            head, *lines = csv.reader(file)
        assert head == rows.column_names and len(lines) == rows.num_rows
        assert [float(line[head.index("estimate")]) for line in lines] == rows[
            "estimate"
        ].to_pylist()


def test_tables_of_attributes_are_those_of_the_release(folder: Path) -> None:
    release = hr.load(folder)
    shown = listed(folder)
    names = [one.name for one in SCHEMA.columns]
    assert set(shown.values()) >= {*((one,) for one in names), ("home", "stay")}
    for table in release.expect(hr.MarginalsRelease).tables.tables:  # also every chosen pair
        assert tuple(names[column] for column in sorted(table.columns)) in shown.values()
    for url, wanted in shown.items():
        ours, stored = (
            release.table(*wanted).to_arrow(),
            pq.read_table(folder / f"{url[:-3]}parquet"),
        )
        assert stored.select(ours.column_names).to_pydict() == ours.to_pydict()


@pytest.mark.parametrize("method", ["diffmulti", "diffgen", "supermodular"])
def test_weights_of_rows_add_up_to_the_published_counts(method: str, tmp_path: Path) -> None:
    if method == "supermodular":
        with pytest.warns(hr.errors.DataWarning, match="generalizations, too many"):
            release = hr.publish(PEOPLE, SCHEMA, method, epsilon=2, delta="1e-3", seed=1)
    else:
        release = hr.publish(PEOPLE, SCHEMA, method, epsilon=2, seed=1)
    release.save(tmp_path / "r")
    (found,) = sql(tmp_path / "r", "SELECT sum(weight) FROM 'rows.parquet'")
    counts = release.counts.sum()  # type: ignore[attr-defined]
    assert found[0] == pytest.approx(float(counts)) and counts > 0


@pytest.mark.parametrize("method", ["diffmulti", "diffgen"])
def test_sums_over_rows_of_regions_keep_to_the_stated_bound(method: str, tmp_path: Path) -> None:
    """By Hoeffding's inequality one condition in 1,490 may be further off; none of these 60 is."""
    release = hr.publish(PEOPLE, SCHEMA, method, epsilon=4, seed=3).expect(hr.TableRelease)
    release.save(tmp_path / "r")
    draw, places = np.random.default_rng(4), sorted(release.partition.divided)
    counts, off = release.counts.sum(axis=1), []
    for _ in range(60):
        words, part = [], np.ones(len(counts))
        for place in draw.choice(places, 2, replace=False).tolist():
            one = SCHEMA.attributes[place]
            parts = release.partition.parts(place, release.regions)
            if isinstance(one, Numeric):
                code = int(draw.integers(one.grid))
                words.append(f"\"{one.name}\" >= '{one.edge(code)}'")
                met = np.clip(np.minimum(parts.hi, one.grid) - np.maximum(parts.lo, code), 0, None)
            else:
                assert isinstance(one, Categorical)
                code = int(draw.integers(one.size))
                words.append(f"\"{one.name}\"::VARCHAR = '{one.taxonomy.leaves[code]}'")
                met = (parts.lo <= code) & (code < parts.hi)
            part *= (met / (parts.hi - parts.lo))[parts.index]
        where = f"SELECT coalesce(sum(weight), 0) FROM 'rows.parquet' WHERE {' AND '.join(words)}"
        (found,) = sql(tmp_path / "r", where)
        cut = counts[(part > 0) & (part < 1)].sum()
        off.append(abs(found[0] - counts @ part) / np.sqrt(max(1, cut)))
    assert max(off) <= 2 and np.median(off) > 0


def test_the_page_says_what_the_release_is(folder: Path) -> None:
    text = (folder / "README.md").read_text("utf-8")
    assert "epsilon 4" in text and "NOT PRIVATE" in text and "sum(weight)" in text


def test_names_of_files_are_safe() -> None:
    odd = [("../../etc",), ("a" * 200,), ("A",), ("a",), ("%$",), ("nul",), ("naïve Größe",)]
    names = table_names(odd)
    assert len(set(names)) == len(odd) and max(map(len, names)) <= MOST_NAME + 2
    assert all(is_table_file(f"tables/{name}.csv") for name in names)
    for wrong in ("tables/../manifest.csv", "tables/a.exe", "/tables/a.csv", "tables/a/b.csv"):
        assert not is_table_file(wrong)


def test_a_forged_table_is_seen(folder: Path, tmp_path: Path) -> None:
    import hashlib

    for name in ("tables/sex.csv", "tables/sex.parquet", "README.md", "tables-metadata.json"):
        copy = tmp_path / name.replace("/", "_")
        shutil.copytree(folder, copy)
        if name.endswith("parquet"):
            rows = pq.read_table(copy / name)
            estimate = np.array(rows["estimate"].to_pylist()) + 1000
            rows = rows.set_column(rows.column_names.index("estimate"), "estimate", [estimate])
            pq.write_table(rows, copy / name)
        else:
            text = (copy / name).read_text("utf-8")
            (copy / name).write_text(text.replace("sex", "six", 1), "utf-8")
        manifest = json.loads((copy / "manifest.json").read_text("utf-8"))
        manifest["files"][name] = hashlib.sha256((copy / name).read_bytes()).hexdigest()
        (copy / "manifest.json").write_text(json.dumps(manifest), "utf-8")
        checks = {check.name: check.ok for check in hr.verify(copy).checks}
        assert checks["tables"] and not checks["counts"]


PAGE = (Path(__file__).parents[2] / "docs" / "other-tools.md").read_text("utf-8")


def test_the_sql_of_the_page_runs(folder: Path) -> None:
    (text,) = re.findall(r"```sql\n(.*?)```", PAGE, re.DOTALL)
    questions = [one for one in text.split(";") if one.strip()]
    assert len(questions) == 4
    answers = [sql(folder, one) for one in questions]
    assert all(answers) and len(answers[0]) == 2 and {row[0] for row in answers[3]} <= {
        "female", "male", "other",
    }  # fmt: skip
    # labels are those of the schema, as a CSV file's are not
    assert engine().execute(questions[2]).df().columns.tolist() == ["sex", "no", "yes"]
    counted = hr.load(folder).table("sex", where="readmitted = no")
    assert {row[0]: row[1] for row in answers[2]} == {
        one.sex: round(one.estimate) for one in counted
    }


def test_the_r_of_the_page_runs(folder: Path) -> None:
    """With readr; arrow for R is in no registry that tests can rely on."""
    rscript = shutil.which("Rscript")
    if (
        rscript is None
        or subprocess.run(
            [rscript, "-e", "library(readr)"], capture_output=True, check=False
        ).returncode
    ):
        pytest.skip("R with readr is not installed")
    text = re.findall(r"```r\n(.*?)```", PAGE, re.DOTALL)[0]
    found = subprocess.run(
        [rscript, "-e", text + "\ncat(smokers$estimate, sep = '\n')"], cwd=folder.parent,
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    lines = [float(line) for line in found.splitlines()[-2:]]
    assert lines == pytest.approx(hr.load(folder)["smoker"]["estimate"].tolist(), rel=1e-5)


def test_the_pandas_of_the_page_runs(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pandas")
    (text,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert "hedgerow" not in text
    monkeypatch.chdir(folder.parent)
    names: dict[str, Any] = {}
    exec(text, names)
    release = hr.load(folder)
    count = float(release.count("age >= 65 and sex = female"))
    assert names["old"].groupby("sex", observed=True).weight.sum()["female"] == pytest.approx(count)


def test_descriptions_say_which_end_is_left_out(folder: Path) -> None:
    rows = pq.read_table(folder / "tables" / "age.parquet").to_pylist()
    assert (rows[-1]["age"][-4:], rows[-1]["age_high"]) == (" 99]", 100)
    about = json.loads((folder / "tables-metadata.json").read_text("utf-8"))["tables"]
    (columns,) = [one["tableSchema"]["columns"] for one in about if one["dc:title"] == "age"]
    means = {one["name"]: one.get("dc:description", "") for one in columns}
    assert means["age_low"] == "first value of the band"
    assert means["age_high"] == "first value beyond the band, not in it"
