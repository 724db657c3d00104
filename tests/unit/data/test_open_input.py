import gzip
import os

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hedgerow.data import read
from hedgerow.errors import DataError
from hedgerow.schema import Schema

SCHEMA = Schema.from_dict(
    {
        "name": "survey",
        "unit": "row",
        "attributes": {
            "age": {"type": "numeric", "low": 0, "high": 99, "step": 1},
            "job.title": {"type": "categorical", "values": ["a", "b"]},
            "id": {"role": "identifier"},
        },
    }
)
TABLE = pa.table({"id": ["x", "y"], "job.title": ["a", "b"], "age": [1, 2]})


def test_parquet_plain_and_dictionary(tmp_path):
    path = tmp_path / "people.parquet"
    for table in (TABLE, TABLE.set_column(1, "job.title", TABLE[1].dictionary_encode())):
        pq.write_table(table, path, row_group_size=1)
        assert read(path, SCHEMA).codes.tolist() == [[1, 0, 0], [2, 1, 0]]
        assert read(str(path), SCHEMA).frame_kind == "arrow"


def test_the_content_counts_and_not_the_ending(tmp_path):
    path = tmp_path / "people.dat"
    pq.write_table(TABLE, path)
    assert read(path, SCHEMA).codes.tolist() == [[1, 0, 0], [2, 1, 0]]
    path.write_bytes(gzip.compress(b"id,job.title,age\nx,a,1\n"))
    assert read(path, SCHEMA).codes.tolist() == [[1, 0, 0]]
    path.write_text("age;job.title\n1;b\n")
    assert read(path, SCHEMA).codes.tolist() == [[1, 1, 0]]


def test_truncated_and_damaged_parquet(tmp_path):
    path = tmp_path / "people.parquet"
    ages = pa.array(range(5000)).cast(pa.int64())
    pq.write_table(pa.table({"age": ages, "job.title": ["a"] * 5000}), path)
    whole = path.read_bytes()
    hole = bytearray(whole)
    hole[10 : len(whole) // 2] = bytes(len(whole) // 2 - 10)
    for broken in (whole[: len(whole) // 2], whole[:-1], whole[:4], bytes(hole), b"not parquet"):
        path.write_bytes(broken)
        with pytest.raises(DataError, match="Parquet file is damaged or cut short"):
            read(path, SCHEMA)


def test_no_file_a_folder_a_pipe_a_spreadsheet(tmp_path):
    with pytest.raises(DataError, match="there is no such file"):
        read(tmp_path / "nothing.csv", SCHEMA)
    with pytest.raises(DataError, match="this is a folder"):
        read(tmp_path, SCHEMA)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(DataError, match="not a regular file"):
        read(tmp_path / "pipe", SCHEMA)
    (tmp_path / "sheet.xlsx").write_bytes(b"PK\x03\x04rest")
    with pytest.raises(DataError, match="zip archive or workbook is damaged"):
        read(tmp_path / "sheet.xlsx", SCHEMA)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_file(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("age\n1\n")
    path.chmod(0)
    with pytest.raises(DataError, match="not allowed"):
        read(path, SCHEMA)


def test_repeated_and_nested_columns_in_parquet(tmp_path):
    path = tmp_path / "people.parquet"
    pq.write_table(pa.table([[1], [2]], names=["age", "age"]), path)
    with pytest.raises(DataError, match="columns 1 and 2 have the same name"):
        read(path, SCHEMA)
    pq.write_table(pa.table({"age": [1], "job.title": [{"secret": 1}]}), path)
    with pytest.raises(DataError, match=r"column 'job.title' holds values of type"):
        read(path, SCHEMA)


def test_a_file_that_claims_fewer_rows_than_none_is_not_believed():
    from hedgerow.data.source import Grown

    rows = Grown(np.uint16, width=1, capacity=-5)
    rows.extend(2)[:, 0] = [3, 4]
    assert rows.finish().tolist() == [[3], [4]]
