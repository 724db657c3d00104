from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet

Hedge = Callable[..., Any]


def test_csv_gzip_and_parquet_hold_the_same_rows(
    hedge: Hedge, published: Path, tmp_path: Path
) -> None:
    for name in ("r.csv", "r.csv.gz", "r.parquet"):
        done = hedge("sample", published, "--out", tmp_path / name, "--rows", 50, "--seed", 2)
        assert done.exit_code == 0, done.stderr
    plain = (tmp_path / "r.csv").read_text(encoding="utf-8")
    assert gzip.decompress((tmp_path / "r.csv.gz").read_bytes()).decode() == plain
    rows = list(csv.DictReader(plain.splitlines()))
    table = parquet.read_table(tmp_path / "r.parquet")
    assert len(rows) == table.num_rows == 50
    assert list(rows[0]) == table.column_names
    assert table.column_names[-1] == "readmitted" and "patient" not in table.column_names


def test_synthetic_rows_follow_the_schema(
    hedge: Hedge, published: Path, survey: Path, tmp_path: Path
) -> None:
    hedge("sample", published, "--out", tmp_path / "r.csv", "--rows", 200)
    done = hedge("check", survey / "schema.yaml", "--data", tmp_path / "r.csv")
    assert done.exit_code == 0, done.stderr


@pytest.mark.parametrize("name, code", [("rows.xls", 2), ("rows", 2), ("no/rows.csv", 6)])
def test_places_that_do_not_work(
    hedge: Hedge, published: Path, tmp_path: Path, name: str, code: int
) -> None:
    assert hedge("sample", published, "--out", tmp_path / name).exit_code == code


def test_an_existing_file_is_kept(hedge: Hedge, published: Path, tmp_path: Path) -> None:
    out = tmp_path / "r.csv"
    out.write_text("mine", encoding="utf-8")
    assert hedge("sample", published, "--out", out).exit_code == 6
    assert out.read_text(encoding="utf-8") == "mine"
    done = hedge("sample", published, "--out", out, "--overwrite", "--json")
    assert done.exit_code == 0 and json.loads(done.stdout)["rows"] == str(out)


def test_negative_rows(hedge: Hedge, published: Path, tmp_path: Path) -> None:
    done = hedge("sample", published, "--out", tmp_path / "r.csv", "--rows", -1)
    assert done.exit_code == 2


def test_a_negative_seed(hedge: Hedge, published: Path, tmp_path: Path) -> None:
    done = hedge("sample", published, "--out", tmp_path / "a.csv", "--seed", "-3")
    assert done.exit_code == 2 and "seed" in done.stderr
