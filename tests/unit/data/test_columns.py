"""Transactions in columns: lists, texts of several items, person and item."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hedgerow.data import Transactions, read_transactions
from hedgerow.errors import DataError, DataWarning, UsageError
from hedgerow.schema import Items, Schema

CLICKS = Schema(name="clicks", items=Items(range(1, 18)), unit="row")
SHOP = Schema(
    name="shop", items=Items(("milk", "rye bread", "tea", "7"), separator=";"), unit="row"
)
TABLE = Schema.from_dict({"name": "t", "unit": "row", "attributes": {"a": {"type": "boolean"}}})


def with_items(schema: Schema, **settings: Any) -> Schema:
    assert schema.items is not None
    if "item" in settings:  # whose rows hold one item each
        settings["separator"] = " "
    items = Items(**{**vars_of(schema.items), **settings})
    return Schema(name=schema.name, items=items, unit="row" if items.person is None else "person")


def vars_of(items: Items) -> dict[str, Any]:
    return {name: getattr(items, name) for name in Items.__dataclass_fields__}


def records_of(transactions: Transactions) -> list[tuple[int, ...]]:
    """What was read, as tuples of codes; checks the layout on the way."""
    start, codes = transactions.start, transactions.codes
    assert start.dtype == np.int64 and codes.dtype == np.int32
    assert start[0] == 0 and start[-1] == len(codes)
    found = [tuple(codes[a:b].tolist()) for a, b in zip(start[:-1], start[1:], strict=True)]
    for record in found:
        assert record and list(record) == sorted(set(record))
    return found


# --- columns ----------------------------------------------------------------------------------

LISTS: list[list[Any] | None] = [["tea", "milk", "tea"], [], None, ["cocoa"], [None, " 7 "]]
NUMBERS: list[list[Any] | None] = [[3, 1, 3], [], None, [99, -1], [None, 17]]
WANTED = {"shop": [(0, 2), (3,)], "clicks": [(0, 2), (16,)]}


@pytest.mark.parametrize(
    "kind", ["list", "large_list", "dictionary", "parquet", "polars", "pandas"]
)
@pytest.mark.parametrize("name", ["shop", "clicks"])
def test_list_columns(tmp_path: Path, kind: str, name: str) -> None:
    values, schema, inner = (
        (LISTS, SHOP, pa.string()) if name == "shop" else (NUMBERS, CLICKS, pa.int64())
    )
    source: Any = pa.table({"bought": pa.array(values, pa.list_(inner))})
    if kind == "large_list":
        source = pa.table({"bought": pa.array(values, pa.large_list(inner))})
    elif kind == "dictionary":
        flat = pa.array(values, pa.list_(inner))
        coded = pa.ListArray.from_arrays(flat.offsets, flat.values.dictionary_encode())
        source = pa.table({"bought": coded})
    elif kind == "polars":
        source = pl.from_arrow(source)
    elif kind == "pandas":
        source = pd.DataFrame({"bought": values})
    elif kind == "parquet":
        pq.write_table(source, tmp_path / "d.parquet")
        source = tmp_path / "d.parquet"
    transactions = read_transactions(source, schema)
    assert records_of(transactions) == WANTED[name]
    assert transactions.frame_kind == (kind if kind in ("polars", "pandas") else "arrow")
    dummies = records_of(read_transactions(source, with_items(schema, empty="dummy")))
    assert len(dummies) == 5
    # whole numbers against the same universe as texts
    if name == "clicks":
        texts = Schema(name="t", items=Items(tuple(map(str, range(1, 18)))), unit="row")
        assert records_of(read_transactions(source, texts)) == WANTED[name]


def test_fixed_size_lists_slices_and_floats() -> None:
    values = pa.array([[1, 2], None, [2, 99], [5, 5]], pa.list_(pa.int16(), 2))
    assert records_of(read_transactions(pa.table({"i": values}), CLICKS)) == [(0, 1), (1,), (4,)]
    part = pa.table({"i": values}).slice(2, 2)
    assert records_of(read_transactions(part, CLICKS)) == [(1,), (4,)]
    lists = pa.table({"i": [[1], [2, 3], [4]]}).slice(1, 1)
    assert records_of(read_transactions(lists, CLICKS)) == [(1, 2)]
    floats = pa.table({"i": [[1.0, float("nan"), 2.5], [float("inf"), 3.0]]})
    assert records_of(read_transactions(floats, CLICKS)) == [(0,), (2,)]
    large = pa.table({"i": pa.array([[2**64 - 1, 4], [2**63]], pa.list_(pa.uint64()))})
    assert records_of(read_transactions(large, CLICKS)) == [(3,)]


@pytest.mark.kernels
@pytest.mark.parametrize(
    "kind", ["arrow", "category", "parquet", "csv", "csv.gz", "polars", "pandas"]
)
def test_delimited_columns(tmp_path: Path, kind: str) -> None:
    schema = with_items(SHOP, column="bought", empty="dummy")
    cells = ["tea; rye bread", None, "", "milk;;milk", "cocoa", "7"]
    frame = pa.table({"who": list("abcdef"), "bought": cells})
    source: Any = frame
    if kind == "polars":
        source = pl.from_arrow(frame)
    elif kind == "pandas":
        source = frame.to_pandas()
    elif kind == "category":
        source = frame.to_pandas().astype("category")
    elif kind == "parquet":
        pq.write_table(frame, tmp_path / "d.parquet")
        source = tmp_path / "d.parquet"
    elif kind.startswith("csv"):
        source = tmp_path / f"d.{kind}"
        text = "".join(f"{w},{c or ''}\n" for w, c in zip("abcdef", cells, strict=True))
        data = f"who,bought\n{text}".encode()
        source.write_bytes(gzip.compress(data) if kind == "csv.gz" else data)
    found = records_of(read_transactions(source, schema))
    assert found == [(1, 2), (4,), (4,), (0,), (4,), (3,)]


def test_a_blank_line_of_a_single_csv_column_is_an_empty_record(tmp_path: Path) -> None:
    schema = with_items(SHOP, column="bought", empty="dummy")
    path = tmp_path / "d.csv"
    path.write_text('\nbought\ntea;milk\n\n""\n7\ncocoa\n')
    assert records_of(read_transactions(path, schema)) == [(0, 2), (4,), (4,), (3,), (4,)]
    with pytest.raises(DataError, match="line 7:"):
        read_transactions(path, with_items(schema, foreign="error"))


def test_a_column_of_single_items() -> None:
    frame = pa.table({"i": pa.array([3, None, 99, 1], pa.int64())})
    assert records_of(read_transactions(frame, CLICKS)) == [(2,), (0,)]


LONG = {
    "who": ["b", "a", "b", "c", "b", None, "a", "d", " b"],
    "what": ["tea", "milk", "7", "cocoa", "tea", "tea", None, None, "rye bread"],
}


@pytest.mark.parametrize("kind", ["arrow", "parquet", "csv", "polars", "pandas"])
def test_person_and_item_tables(tmp_path: Path, kind: str) -> None:
    schema = with_items(SHOP, person="who", item="what")
    frame = pa.table(LONG | {"price": range(9)})
    source: Any = frame
    if kind == "polars":
        source = pl.from_arrow(frame)
    elif kind == "pandas":
        source = frame.to_pandas()
    elif kind == "parquet":
        pq.write_table(frame, tmp_path / "d.parquet")
        source = tmp_path / "d.parquet"
    elif kind == "csv":
        source = tmp_path / "d.csv"
        frame.to_pandas().to_csv(source, index=False)
    assert records_of(read_transactions(source, schema)) == [(1, 2, 3), (0,)]
    dummies = records_of(read_transactions(source, with_items(schema, empty="dummy")))
    assert dummies == [(1, 2, 3), (0,), (4,), (4,)]
    with pytest.raises(DataError, match=r"(row 4|line 5):") as caught:
        read_transactions(source, with_items(schema, foreign="error"))
    assert "cocoa" not in str(caught.value)


def test_person_and_item_tables_of_numbers_and_of_nobody() -> None:
    schema = with_items(CLICKS, person="who", item="what", max_items=2)
    frame = pa.table({"who": [7, 8, 7], "what": [3, 4, 1]})
    assert records_of(read_transactions(frame, schema)) == [(0, 2), (3,)]
    for nobody in (frame.slice(0, 0), pa.table({"who": pa.nulls(2), "what": [1, 2]})):
        with pytest.warns(DataWarning, match="no record has an item"):
            assert records_of(read_transactions(nobody, schema)) == []


@pytest.mark.parametrize(
    "settings, columns, match",
    [
        ({"column": "bougth"}, {"bought": [["tea"]]}, "Did you mean 'bought'"),
        ({"column": "x"}, {"bought": [["tea"]], "y": [1]}, "no column 'x'"),
        ({"person": "p", "item": "i"}, {"bought": [["tea"]]}, "are no columns 'p', 'i'"),
        ({}, {"bought": [["tea"]], "y": [1]}, "which column holds the items"),
        ({"column": "b"}, {"b": [{"x": 1}]}, "cannot be read"),
        ({"column": "b"}, {"b": [[["tea"]]]}, "cannot be read"),
        ({"column": "b"}, {"b": [b"\xff"]}, "not text in UTF-8"),
    ],
)  # fmt: skip
def test_columns_that_cannot_be_read(
    settings: dict[str, Any], columns: dict[str, Any], match: str
) -> None:
    with pytest.raises(DataError, match=match):
        read_transactions(pa.table(columns), with_items(SHOP, **settings))


def test_lists_inside_lists_of_python_objects_are_refused() -> None:
    for value in ([["tea"]], [{"tea": 1}]):
        with pytest.raises(DataError, match="lists inside lists"):
            read_transactions(pd.DataFrame({"b": [value, ["tea"]]}), SHOP)
    schema = with_items(SHOP, person="who", item="what")
    with pytest.raises(DataError, match="lists or records"):
        read_transactions(pd.DataFrame({"who": ["a"], "what": [["tea"]]}), schema)


def test_a_csv_file_needs_a_column_or_a_separator(tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    path.write_text("1,2\n4,5,17\n")
    with pytest.raises(UsageError, match="which column"):
        read_transactions(path, CLICKS)
    found = records_of(read_transactions(path, with_items(CLICKS, separator=",")))
    assert found == [(0, 1), (3, 4, 16)]


@pytest.mark.slow
def test_large_numbers_of_records(tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    lines = [random.integers(1, 20, size).tolist() for size in random.integers(0, 9, 30_000)]
    path = tmp_path / "d.dat"
    path.write_text("".join(" ".join(map(str, line)) + "\n" for line in lines))
    sets = [sorted({item - 1 for item in line if item <= 17}) for line in lines]
    wanted = [tuple(record) for record in sets if record]
    assert records_of(read_transactions(path, CLICKS)) == wanted
    assert records_of(read_transactions(pa.table({"i": lines}), CLICKS)) == wanted
    who = np.repeat(np.arange(len(lines)), [len(line) for line in lines])
    long = pa.table({"who": who, "what": np.concatenate(lines)})
    schema = with_items(CLICKS, person="who", item="what")
    assert records_of(read_transactions(long, schema)) == wanted
