from __future__ import annotations

import io
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hedgerow.data import read_transactions
from hedgerow.schema import Schema

SHOP = {
    "name": "shop",
    "unit": "row",
    "items": {"universe": ["tea", "milk"], "column": "x", "separator": ","},
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["csv", "parquet", "frame"])
def test_items_in_one_text_of_a_column(kind: str, tmp_path: Path) -> None:
    rows = pa.table({"x": ["tea,milk", "milk", "tea"], "y": [1, 2, 3]})
    path = tmp_path / "rows"
    if kind == "csv":
        path.write_text('x,y\n"tea,milk",1\nmilk,2\ntea,3\n', "utf-8")
    sink = io.BytesIO()
    pq.write_table(rows, sink)
    if kind == "parquet":
        path.write_bytes(sink.getvalue())
    found = read_transactions(rows if kind == "frame" else path, Schema.from_dict(SHOP))
    assert found.codes.tolist() == [0, 1, 1, 0]
    assert found.start.tolist() == [0, 2, 3, 4]
