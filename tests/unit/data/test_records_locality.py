"""What becomes of a transaction follows from that transaction alone (stable preparation).

One odd record must never change how others are read: neighbors would not stay neighbors, and no
noise that is added later could repair that.
"""

from __future__ import annotations

import datetime
import math
import warnings
from collections.abc import Callable, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st

from hedgerow.data import read_transactions
from hedgerow.errors import DataWarning
from hedgerow.schema import Items, Schema

UNIVERSES: list[Any] = [range(-2, 12), ("1", "2", "true", "x y", "é", "2.5", "2020-06-01")]

TEXTS = [
    "", " ", "1", "1 2", "2 1 2", "007", "x y", "1;2;99", ";", "1;;x y ;", "é", "e\u0301", "nan",
    "NaN", "None", "99999999999999999999", "-1;-2;3", "1\t2", "1\u00a02", "true;True", "(empty)",
    "\x1c1", "1\x0b2", "2.5;1.0", "0;1;2;3;4;5;6;7;8;9;10;11", "11;10;9;8;7;6;5;4;3;2;1",
]  # fmt: skip
LISTS: list[list[str | None] | None] = [
    None, [], [None], ["1"], ["1", "2"], ["2", "1", "2"], ["x y", " 1 "], ["99"], ["", None, "é"],
    [str(number) for number in range(12)], ["1;2"], ["\u00a01"],
]  # fmt: skip
OBJECTS: list[Any] = [
    *TEXTS, *LISTS, 1, 2.0, 2.5, True, None, math.nan, pd.NA, pd.NaT, np.int64(2), Decimal("1"),
    [1, 2.0, 2.5, None, math.nan, True, "x y"], (1, 2), {1, 2}, frozenset({"1"}), [np.int64(2)],
    np.array([1, 2]), np.array([1.0, math.nan]), np.array(["1", None], object), [10**30, 1],
    [datetime.date(2020, 6, 1)], [pd.NA, pd.NaT, 2], np.array(3), [math.inf],
]  # fmt: skip


def arrow(values: Sequence[Any]) -> Any:
    return pa.table({"i": pa.array(values, pa.string())})


def lists(values: Sequence[Any]) -> Any:
    return pa.table({"i": pa.array(values, pa.list_(pa.string()))})


def polars(values: Sequence[Any]) -> Any:
    return pl.DataFrame({"i": values}, schema={"i": pl.List(pl.String)})


def objects(values: Sequence[Any]) -> Any:
    column = np.empty(len(values), object)
    for place, value in enumerate(values):
        column[place] = value
    return pd.DataFrame({"i": pd.Series(column, dtype=object)})


def records(source: Any, schema: Schema) -> list[list[int]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        transactions = read_transactions(source, schema)
    return [part.tolist() for part in np.split(transactions.codes, transactions.start[1:-1])]


def rules(universe: Any, **more: Any) -> Schema:
    settings = {"empty": "dummy", "max_items": 4, "separator": ";"} | more
    unit = "person" if "person" in more else "row"
    return Schema(name="odd", items=Items(universe, **settings), unit=unit)


@pytest.mark.slow
@pytest.mark.parametrize("universe", UNIVERSES, ids=["range", "texts"])
@pytest.mark.parametrize(
    "make, values", [(arrow, TEXTS), (lists, LISTS), (polars, LISTS), (objects, OBJECTS)]
)
def test_a_record_is_read_the_same_in_any_company(
    make: Callable[[Sequence[Any]], Any], values: list[Any], universe: Any
) -> None:
    schema = rules(universe)
    alone = [records(make([value]), schema)[0] for value in values]
    assert records(make(values), schema) == alone
    assert records(make(values[::-1]), schema) == alone[::-1]
    for place in range(len(values)):
        company = values[:place] + values[place + 1 :]
        assert records(make(company), schema) == alone[:place] + alone[place + 1 :]


@pytest.mark.parametrize("universe", UNIVERSES, ids=["range", "texts"])
def test_a_dropped_record_changes_no_other(universe: Any) -> None:
    schema = rules(universe, empty="drop")
    alone = [records(objects([value]), schema) for value in OBJECTS]
    assert any(not found[0] for found in alone)
    together = [record for found in alone for record in found if record]
    assert records(objects(OBJECTS), schema) == together


def test_a_text_file_is_read_line_by_line(tmp_path: Path) -> None:
    path = tmp_path / "odd.dat"
    schema = rules(UNIVERSES[0])

    def read(lines: Sequence[bytes]) -> list[list[int]]:
        path.write_bytes(b"".join(line + b"\n" for line in lines))
        return records(path, schema)

    lines = [text.encode() for text in TEXTS] + [b"caf\xe9;1", b'"1;2', b"1;'2", b"\x00 1"]
    alone = [read([line])[0] for line in lines]
    for place in range(len(lines)):
        company = lines[:place] + lines[place + 1 :]
        assert read(company) == alone[:place] + alone[place + 1 :]


@pytest.mark.slow
@seed(6)
@settings(max_examples=150, deadline=None, database=None)
@given(st.text(max_size=8), st.text(max_size=8), st.sampled_from(UNIVERSES))
def test_any_two_texts(one: str, other: str, universe: Any) -> None:
    schema = rules(universe)
    alone = records(arrow([one]), schema) + records(arrow([other]), schema)
    assert records(arrow([one, other]), schema) == alone
    assert records(objects([one, [other]]), schema)[:1] == records(objects([one]), schema)


@pytest.mark.parametrize("one_more", [None, ("c", 1), (3.5, "x"), (math.nan, 2), ("a ", 99)])
def test_the_record_of_one_person_does_not_depend_on_others(one_more: Any) -> None:
    schema = rules(range(1, 10), person="who", item="what", max_items=2, separator=" ")
    rows = [("a", 1), ("b", 2), ("a", 3), ("a", 4), ("b", 2), ("d", 77)]

    def read(rows: Sequence[tuple[Any, Any]]) -> list[list[int]]:
        frame = pd.DataFrame(
            {"who": [w for w, _ in rows], "what": [i for _, i in rows]}, dtype=object
        )
        return records(frame, schema)

    before = read(rows)
    assert len(before) == 3 and before[2] == [9]
    after = read(rows if one_more is None else [*rows, one_more])
    assert after[:3] == before and len(after) <= 4


def test_the_test_can_fail() -> None:
    """A reader that lets one record decide how others are read is caught."""

    def broken(values: Sequence[Any]) -> Any:
        whole = all(isinstance(value, str) for value in values)
        return objects(
            [value if whole or not isinstance(value, str) else [value] for value in values]
        )

    schema = rules(UNIVERSES[0])
    alone = [records(broken([value]), schema)[0] for value in OBJECTS]
    assert records(broken(OBJECTS), schema) != alone
