import datetime

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from hedgerow.data import encode_rows, frame_kind, read, to_frame
from hedgerow.data.frames import open_frame
from hedgerow.errors import DataError, UsageError
from hedgerow.schema import Schema

SCHEMA = Schema.from_dict(
    {
        "name": "survey",
        "unit": "row",
        "attributes": {
            "age": {"type": "numeric", "low": 0, "high": 99, "step": 1, "missing": "other"},
            "job": {"type": "categorical", "values": ["a", "b"], "missing": "other"},
            "day": {"type": "numeric", "low": "2020-01-01", "high": "2020-12-31"},
            "ok": {"type": "boolean"},
        },
    }
)
DATA = {
    "age": [1, None, 3],
    "job": ["a", "b", None],
    "day": [datetime.date(2020, 1, d) for d in (1, 2, 3)],
    "ok": [True, False, True],
}
EXPECTED = [[1, 0, 0, 1, 0], [100, 1, 1, 0, 0], [3, 2, 2, 1, 0]]

FRAMES = {
    "arrow": lambda: pa.table(DATA),
    "arrow stream": lambda: pa.table(DATA).to_reader(max_chunksize=2),
    "arrow batch": lambda: pa.table(DATA).to_batches()[0],
    "pandas": lambda: pd.DataFrame(DATA),
    "pandas objects": lambda: pd.DataFrame(DATA).astype(object),
    "pandas categories": lambda: pd.DataFrame(DATA).astype({"job": "category"}),
    "pandas times": lambda: pd.DataFrame(DATA).assign(day=pd.to_datetime(DATA["day"])),
    "pandas index": lambda: pd.DataFrame(DATA, index=[5, 5, 5]),
    "polars": lambda: pl.DataFrame(DATA),
    "polars categories": lambda: pl.DataFrame(DATA).with_columns(
        pl.col("job").cast(pl.Categorical)
    ),
    "polars lazy": lambda: pl.DataFrame(DATA).lazy(),
    "narwhals": lambda: nw.from_native(pd.DataFrame(DATA)),
}


@pytest.mark.parametrize("name", FRAMES)
def test_every_frame_gives_the_same_codes(name):
    table = read(FRAMES[name](), SCHEMA)
    assert table.codes.tolist() == EXPECTED
    assert table.codes.dtype == np.uint16
    assert table.codes.flags.c_contiguous
    expected = "pandas" if name == "narwhals" else name.split()[0]
    assert table.frame_kind == expected
    codes, ok = encode_rows(FRAMES[name](), SCHEMA)
    assert codes.tolist() == [row[:4] for row in EXPECTED]
    assert ok.all()


def test_frames_come_back_as_their_kind():
    for frame in (pd.DataFrame({"x": [1]}), pl.DataFrame({"x": [1]}), pa.table({"x": [1]})):
        assert type(to_frame(pa.table({"x": [1]}), frame_kind(frame))) is type(frame)


def test_mixed_objects_are_read_as_text():
    frame = pd.DataFrame({"age": [1, "2", 3.0, None], "job": "a", "day": "2020-01-01", "ok": 1})
    assert read(frame, SCHEMA).codes[:, 0].tolist() == [1, 2, 3, 100]


def test_duplicate_columns_are_refused():
    frame = pd.DataFrame([[1, 2]], columns=["age", "age"])
    with pytest.raises(DataError, match="columns 1 and 2 have the same name"):
        read(frame, SCHEMA)
    table = pa.table([[1], [2]], names=["age", "age"])
    with pytest.raises(DataError, match="columns 1 and 2 have the same name"):
        read(table, SCHEMA)


def test_lists_are_refused_without_being_shown():
    frame = pd.DataFrame({"age": [[1], "secret"], "job": "a", "day": "2020-01-01", "ok": 1})
    with pytest.raises(DataError, match="column 'age'") as caught:
        read(frame, SCHEMA)
    assert "secret" not in str(caught.value)


def test_other_objects_are_refused():
    with pytest.raises(UsageError, match="object of type int"):
        read(3, SCHEMA)


@pytest.mark.parametrize("column", [pd.Series([1, 2], name="age"), pl.Series("age", [1, 2])])
def test_a_single_column_is_no_table(column):
    with pytest.raises(DataError, match="single column"):
        read(column, SCHEMA)


def test_text_that_is_no_text_is_refused():
    column = pa.array([b"a", b"\xff"]).view(pa.string())
    for source in (pa.table({"a": column}), pa.table({"a": column}).to_reader()):
        opened = open_frame(source)
        with pytest.raises(DataError, match="not of their columns' types"):
            list(opened.batches([0]))


class Shy:
    """Complains by quoting itself."""

    def __str__(self):
        raise KeyError("a secret")


@pytest.mark.parametrize(
    "value",
    ["\ud800", 10**5000, ["\ud800"], Shy()],
    ids=["half", "long", "list", "shy"],
)
def test_an_object_without_a_text_is_refused(value):
    column = pd.Series([1, value], dtype=object)
    split = str.split if isinstance(value, list) else None
    with pytest.raises(DataError, match="'a' holds an object that has no text"):
        list(open_frame(pd.DataFrame({"a": column}), split=split).batches([0]))
