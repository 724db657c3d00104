"""Whether two tables are one: by where they lie, and by what was read from them."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.data import Database
from hedgerow.data.open_input import same_rows, same_source

ROWS = pa.table({"age": [1, 2]})


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "parts").mkdir()
    for name in ("parts/a.parquet", "parts/b.parquet", "other.parquet"):
        pq.write_table(ROWS, tmp_path / name)
    (tmp_path / "link.parquet").symlink_to(tmp_path / "parts" / "a.parquet")
    os.link(tmp_path / "parts" / "a.parquet", tmp_path / "hard.parquet")
    (tmp_path / "clinic.db").write_bytes(b"")
    (tmp_path / "again.db").symlink_to(tmp_path / "clinic.db")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    "spelt",
    ["parts/a.parquet", "./parts/../parts/a.parquet", "link.parquet", "hard.parquet", "parts",
     "parts/*.parquet", "?arts/[a]*", "link*", "{}/parts/a.parquet", "file://{}/parts",
     "file://{}/parts/a.parquet"],
)  # fmt: skip
def test_files_by_whatever_name(folder: Path, spelt: str) -> None:
    spelt = spelt.format(folder)
    if "://" in spelt:
        pytest.importorskip("fsspec")
    for one in ("parts/a.parquet", Path("parts") / "a.parquet", "parts", "hard.parquet"):
        assert same_source(one, spelt) and same_source(spelt, one)
    assert not same_source(spelt, "other.parquet")
    assert not same_source(spelt, "no such file.parquet")
    assert not same_source("nothing/*.parquet", spelt)


def test_frames_are_one_if_they_are_the_same_object() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"age": [1]})
    assert same_source(ROWS, ROWS) and same_source(frame, frame)
    assert not same_source(ROWS, pa.table({"age": [1, 2]}))
    assert not same_source(frame, frame.copy()) and not same_source(frame, "people.csv")


def test_databases_by_address_and_table(folder: Path) -> None:
    def duck(file: str, **what: str) -> Database:
        return Database(f"duckdb://{folder}/{file}", **what)

    people = duck("clinic.db", table="people")
    assert same_source(people, duck("again.db", table="main.people"))
    assert not same_source(people, duck("clinic.db", table="visits"))
    assert not same_source(people, duck("missing.db", table="people"))
    query = duck("clinic.db", query="SELECT * FROM people")
    assert same_source(query, duck("clinic.db", query="SELECT *\n FROM people "))
    assert not same_source(query, people)  # what a query reads is left to the comparison of rows

    one = Database("postgresql://ann:a@DB/clinic", table="people")
    assert same_source(one, Database("postgres://bob@db:5432/clinic", table="public.people"))
    assert not same_source(one, Database("postgresql://db/clinic", table="visits"))
    assert not same_source(one, Database("postgresql://db/other", table="people"))


MATRIX = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=8)


@pytest.mark.slow
@settings(deadline=None, max_examples=200)
@given(MATRIX, MATRIX, st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_count_and_all_else_does(one, other, random) -> None:
    shuffled = random.sample(one, len(one))
    assert same_rows(np.array(one), np.array(shuffled, np.uint16))
    assert same_rows(np.array(one), np.array(other)) == (sorted(one) == sorted(other))
