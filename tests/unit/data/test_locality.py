"""What becomes of a record follows from that record alone (PRIVACY: stable preparation).

One odd value must never change how other values of its column are read: neighbors would not stay
neighbors, and no noise that is added later could repair that.
"""

from __future__ import annotations

import datetime
import math
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st

from hedgerow.data import encode_rows, read
from hedgerow.errors import DataWarning
from hedgerow.schema import Schema

SCHEMA = Schema.from_dict(
    {
        "name": "odd", "unit": "row",
        "attributes": {
            "number": {"type": "numeric", "low": 0, "high": 9, "step": 1,
                       "missing": "other", "outside": "drop"},
            "tenth": {"type": "numeric", "low": "0.0", "high": "2.0", "step": "0.1",
                      "missing": "drop", "outside": "clip"},
            "day": {"type": "numeric", "low": "2020-01-01", "high": "2020-12-31",
                    "missing": "drop", "outside": "clip"},
            "kind": {"type": "categorical", "values": ["1", "2", "yes", "no"],
                     "missing": "other", "outside": "drop"},
            "flag": {"type": "boolean", "missing": "other", "outside": "drop"},
            "comma": {"type": "numeric", "low": 0, "high": 99999, "decimal": ",",
                      "thousands": ".", "missing": "other", "outside": "clip"},
            "us": {"type": "numeric", "low": "2020-01-01", "high": "2020-12-31",
                   "format": "%m/%d/%Y", "missing": "other", "outside": "clip"},
            "serial": {"type": "numeric", "low": "2020-01-01", "high": "2020-12-31",
                       "format": "excel", "missing": "other", "outside": "clip"},
        },
    }
)  # fmt: skip

TEXTS = [
    "1", " 2 ", "2.5", "-nan", "+nan", "nan", "nan(1)", "NaN", "inf", "-inf", "1e999", "1e-999",
    "abc", "", "?", "None", "1,5", "0x10", "1_0", "١", "yes", "no", "true", "True", "1.0", "2.0",
    "2020-06-01", "0000-06-01", "2020-02-30", "2020-6-1", "2020-06-01T10:00:00", "2020-06-01 x",
    "20200601", "9999-12-31", "é", "e\u0301", "12,345", "12.345", "1.234,5", "1\u00a0234", "5%",
    "06/01/2020", "6/1/2020 9:30", "44000", "44000.5", "YES", " Yes",
]  # fmt: skip
OBJECTS = [
    *TEXTS, 1, 2, 1.0, 2.0, 2.5, True, False, None, math.nan, math.inf, np.float64(1), np.int64(2),
    np.bool_(True), Decimal("1"), Decimal("1.50"), datetime.date(2020, 6, 1),
    datetime.datetime(2020, 6, 1, 12), pd.Timestamp("2020-06-01"), pd.NA, pd.NaT,
]  # fmt: skip


def frame_of(kind: str, values: list[object]) -> object:
    columns = {attribute.name: values for attribute in SCHEMA.attributes}
    if kind == "arrow":
        return pa.table({name: pa.array(column, pa.string()) for name, column in columns.items()})
    if kind == "polars":
        return pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))
    dtype = "category" if kind == "category" else object
    return pd.DataFrame(
        {name: pd.Series(v, dtype=object).astype(dtype) for name, v in columns.items()}
    )


def codes_of(kind: str, values: list[object]) -> list[object]:
    codes, known = encode_rows(frame_of(kind, values), SCHEMA)
    return [tuple(row) if ok else None for row, ok in zip(codes.tolist(), known, strict=True)]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["arrow", "polars", "object", "category"])
def test_a_record_is_read_the_same_in_any_company(kind):
    values = TEXTS if kind in ("arrow", "polars") else OBJECTS
    alone = [codes_of(kind, [value])[0] for value in values]
    assert codes_of(kind, values) == alone
    for place in range(len(values)):
        company = values[:place] + values[place + 1 :]
        assert codes_of(kind, company) == alone[:place] + alone[place + 1 :]


@pytest.mark.slow
@seed(3)
@settings(max_examples=150, deadline=None, database=None)
@given(st.text(max_size=8), st.text(max_size=8))
def test_any_two_texts(one, other):
    assert codes_of("arrow", [one, other]) == codes_of("arrow", [one]) + codes_of("arrow", [other])


@pytest.mark.parametrize("dtype", [object, "category"])
@pytest.mark.parametrize("one_more", ["x", 3.5, None])
def test_the_cap_on_one_person_does_not_depend_on_others(dtype, one_more):
    schema = Schema.from_dict(
        {
            "name": "people",
            "unit": "person",
            "attributes": {
                "who": {"role": "person", "max_rows": 1},
                "age": {"type": "numeric", "low": 0, "high": 9, "step": 1},
            },
        }
    )
    ids = [1, 1.0, 2, 2.0]

    def kept(people):
        who = pd.Series(people, dtype=object).astype(dtype)
        return len(read(pd.DataFrame({"who": who, "age": 5}), schema).codes)

    extra = 0 if one_more is None else 1
    assert kept([*ids, one_more]) == kept(ids) + extra == 2 + extra


def test_a_csv_file_is_read_line_by_line(tmp_path):
    def kept(lines):
        path = tmp_path / "odd.csv"
        path.write_text("number\n" + "\n".join(lines) + "\n")
        alone = Schema.from_dict(
            {
                "name": "odd",
                "unit": "row",
                "attributes": {"number": SCHEMA.to_dict()["attributes"]["number"]},
            }
        )
        with pytest.warns(DataWarning):
            return len(read(path, alone).codes)

    assert kept(["-nan"] * 20 + ["abc"]) == kept(["-nan"] * 20)
