"""Drafts for transactions: what is recognised, what is written, and that it reads its own data."""

from __future__ import annotations

import gzip
import warnings
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st

from hedgerow.data import read_transactions
from hedgerow.draft.draft import NO_UNIT, draft_text, looks_like_transactions, sketch_table
from hedgerow.errors import DataError
from hedgerow.schema import Items, Schema

pytestmark = pytest.mark.kernels


def draft(source: Any, folder: Path) -> Items:
    path = folder / "draft.yaml"
    path.write_text(draft_text(sketch_table(source)).replace(NO_UNIT, "row"), encoding="utf-8")
    schema = Schema.load(path)
    assert schema.is_draft and schema.began_as_draft and schema.items is not None
    read_transactions(source, schema)  # and its own data can be read by it
    return schema.items


@pytest.mark.parametrize(
    "name, content, yes",
    [
        ("a.dat", "1 2\n3\n", True),
        ("a.dat", "1\n2\n", True),
        ("a.txt", "1 2\n3\n", True),
        ("a.txt", "-1\t2\n\n3\n", True),
        ("a.dat", "milk tea\nmilk\n", True),
        ("a.dat", "\ufeff1 2\n", True),
        ("a", "1 2\n", True),
        ("a.txt", "1\n2\n", False),
        ("a.dat", "age;sex\n1;f\n", True),
        ("a.dat", "age\tsex\n1\tf\n", True),
        ("a.txt", "city\nParis\n", False),
        ("a.txt", "age;sex\n1;f\n", False),
        ("a.txt", "age\tsex\n1\tf\n", False),
        ("a.txt", "", False),
        ("a.csv", "1 2\n3 4\n", False),
        ("a.dat", "", True),
        ("a.dat", "1 2\x00", False),
    ],
)
def test_files_with_a_record_per_line_are_recognized(
    tmp_path: Path, name: str, content: str, yes: bool
) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    assert looks_like_transactions(tmp_path / name) is yes
    packed = tmp_path / f"{name}.gz"
    packed.write_bytes(gzip.compress(content.encode()))
    assert looks_like_transactions(packed) is yes


def test_a_head_that_ends_within_a_line(tmp_path: Path) -> None:
    path = tmp_path / "a.dat"
    path.write_text("-12 -34567\n" * 20_000)
    assert looks_like_transactions(path)
    path.write_text("-12 " * 40_000)
    assert looks_like_transactions(path)


def test_numbers_become_a_range_if_they_are_dense(tmp_path: Path) -> None:
    path = tmp_path / "a.dat"
    path.write_text("5 -3\n9\n" * 10)
    assert draft(path, tmp_path).universe == range(-3, 10)
    path.write_text("5 1000000\n9\n" * 10)
    assert draft(path, tmp_path).universe == ("5", "9", "1000000")
    path.write_text("5 007\n" * 10)
    assert draft(path, tmp_path).universe == ("007", "5")


def test_texts_become_a_list(tmp_path: Path) -> None:
    path = tmp_path / "a.dat"
    path.write_text("yes no: 'x\nnull\n(empty) #\n" * 10)
    assert draft(path, tmp_path).universe == ("#", "'x", "no:", "null", "yes")


@pytest.mark.parametrize("kind", ["arrow", "parquet", "polars", "pandas"])
def test_list_columns(tmp_path: Path, kind: str) -> None:
    table = pa.table({"who": ["a", "b"] * 10, "what": [["x", "a b"], ["7", None]] * 10})
    source: Any = table
    if kind == "parquet":
        pq.write_table(table, tmp_path / "d.parquet")
        source = tmp_path / "d.parquet"
    elif kind == "polars":
        source = pl.from_arrow(table)
    elif kind == "pandas":
        source = pd.DataFrame({"who": ["a", "b"] * 10, "what": [["x", "a b"], [7, None]] * 10})
    items = draft(source, tmp_path)
    assert items.column == "what" and items.universe == ("7", "a b", "x")


def test_lists_of_numbers(tmp_path: Path) -> None:
    items = draft(pa.table({"No": [[1, 2], [4]] * 10}), tmp_path)
    assert items.column == "No" and items.universe == range(1, 5)


def test_items_of_few_records_are_not_proposed(tmp_path: Path) -> None:
    path = tmp_path / "a.dat"
    path.write_text("tea milk\n" * 10 + "durian durian durian\n" * 9 + "a@b.org tea\n" * 10)
    assert draft(path, tmp_path).universe == ("milk", "tea")
    lists = [["tea", "milk"]] * 10 + [["durian"] * 3] * 9 + [["a@b.org", "tea"]] * 10
    assert draft(pa.table({"bought": lists}), tmp_path).universe == ("milk", "tea")


def test_nothing_to_draft_from_and_too_much(tmp_path: Path) -> None:
    path = tmp_path / "a.dat"
    path.write_text("(empty) (empty)\n")
    with pytest.raises(DataError, match="no item"):
        draft_text(sketch_table(path))
    path.write_text((" ".join(f"i{n}" for n in range(20_001)) + "\n") * 10)
    with pytest.raises(DataError, match="too many items"):
        draft_text(sketch_table(path))
    path.write_bytes(gzip.compress(b"1 2\n" * 9000)[:40])
    with pytest.raises(DataError, match="gzip"):
        draft_text(sketch_table(path))


@pytest.mark.slow
@seed(7)
@settings(max_examples=100, deadline=None, database=None)
@given(st.lists(st.lists(st.text(min_size=1, max_size=5), max_size=4), min_size=1, max_size=4))
def test_a_draft_loads_whatever_the_items_are(
    tmp_path_factory: pytest.TempPathFactory, lists: list[list[str]]
) -> None:
    source = pa.table({"i": pa.array(lists * 10, pa.list_(pa.string()))})
    try:
        text = draft_text(sketch_table(source))
    except DataError:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = tmp_path_factory.getbasetemp() / "draft.yaml"
        path.write_text(text.replace(NO_UNIT, "row"), encoding="utf-8")
        read_transactions(source, Schema.load(path))
