"""Many Parquet files as one table."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hedgerow.data import RowStream, read
from hedgerow.data.parquet import find_files
from hedgerow.errors import DataError
from hedgerow.schema import Schema

SCHEMA = Schema.from_dict(
    {
        "name": "visits",
        "unit": "row",
        "attributes": {
            "age": {"type": "numeric", "low": 0, "high": 99},
            "year": {"type": "numeric", "low": 2000, "high": 2030, "missing": "other"},
            "ward": {"type": "categorical", "values": ["a/b", "c"]},
        },
    }
)


def write(path: Path, **columns: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns), path)


def test_a_partitioned_folder(tmp_path: Path) -> None:
    write(tmp_path / "year=2001/ward=a%2Fb/x.parquet", age=[1, 2])
    write(tmp_path / "year=2002/ward=c/x.parquet", age=[3])
    write(tmp_path / "year=__HIVE_DEFAULT_PARTITION__/ward=c/y.pq", age=[4])
    (tmp_path / "_SUCCESS").touch()
    write(tmp_path / ".hidden" / "z.parquet", age=[5])
    write(tmp_path / "_temporary" / "z.parquet", age=[5])
    codes = read(tmp_path, SCHEMA).codes
    assert codes[:, :3].tolist() == [[1, 1, 0], [2, 1, 0], [3, 2, 1], [4, 31, 1]]
    assert read(f"{tmp_path}/year=2001/**/*.parquet", SCHEMA.__class__.from_dict(
        {"name": "n", "unit": "row", "attributes": {
            "age": {"type": "numeric", "low": 0, "high": 99},
         "ward": {"type": "categorical", "values": ["a/b", "c"]}}}
    )).codes[:, 0].tolist() == [1, 2]  # fmt: skip


def test_every_file_is_read_by_itself(tmp_path: Path) -> None:
    """One odd file must not change how the others are read."""
    write(tmp_path / "a.parquet", age=[1], year=[2001], ward=["c"])
    write(tmp_path / "b.parquet", ward=["c"], year=["2002"], age=["2"])
    write(tmp_path / "c.parquet", age=[3.0], year=pa.nulls(1), ward=["c"])
    assert read(tmp_path, SCHEMA).codes[:, :2].tolist() == [[1, 1], [2, 2], [3, 31]]


def test_ids_of_different_types_are_the_same_person(tmp_path: Path) -> None:
    schema = Schema.from_dict(
        {"name": "t", "unit": "person", "attributes": {"who": {"role": "person", "max_rows": 1},
         "age": {"type": "numeric", "low": 0, "high": 99}}}
    )  # fmt: skip
    write(tmp_path / "a.parquet", who=[1, 2], age=[5, 5])
    write(tmp_path / "b.parquet", who=["1", "3"], age=[6, 6])
    assert len(read(tmp_path, schema).codes) == 3


def test_a_complaint_names_the_file_and_its_row(tmp_path: Path) -> None:
    write(tmp_path / "a.parquet", age=[1, 2], year=[2001, 2001], ward=["c", "c"])
    write(tmp_path / "b.parquet", age=[1, 200], year=[2001, 2001], ward=["c", "c"])
    with pytest.raises(DataError, match=r"b\.parquet row 2:") as caught:
        read(tmp_path, SCHEMA)
    assert "200" not in str(caught.value).replace("2000", "").replace(str(tmp_path), "")


def test_files_that_do_not_belong_together(tmp_path: Path) -> None:
    write(tmp_path / "a.parquet", age=[1], year=[2001], ward=["c"])
    write(tmp_path / "b.parquet", age=[1], year=[2001])
    with pytest.raises(DataError, match=r"b\.parquet: its columns are not those"):
        read(tmp_path, SCHEMA)
    (tmp_path / "b.parquet").write_bytes(b"PAR1 nonsense")
    with pytest.raises(DataError, match=r"b\.parquet: the Parquet file is damaged"):
        read(tmp_path, SCHEMA)


def test_nothing_there(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="without a Parquet file"):
        read(tmp_path, SCHEMA)
    with pytest.raises(DataError, match="no such file"):
        read(tmp_path / "*.parquet", SCHEMA)
    (tmp_path / "a.csv").touch()
    with pytest.raises(DataError, match="without a Parquet file"):
        read(tmp_path / "*.csv", SCHEMA)


def test_an_address() -> None:
    fsspec = pytest.importorskip("fsspec")
    memory = fsspec.filesystem("memory")
    for number in range(2):
        with memory.open(f"/visits/year={2001 + number}/x.parquet", "wb") as file:
            pq.write_table(pa.table({"age": [number], "ward": ["c"]}), file)
    codes = read("memory://visits", SCHEMA).codes
    assert codes[:, :2].tolist() == [[0, 1], [1, 2]]
    again = read("memory://visits/*/x.parquet", SCHEMA).codes
    assert again.tolist() == codes.tolist()
    assert len(find_files("memory://visits/year=2001/x.parquet")) == 1
    with pytest.raises(DataError, match="no such file"):
        read("memory://nothing", SCHEMA)
    with pytest.raises(DataError, match=r"nowhere://\.\.\. cannot be read"):
        read("nowhere://user:secret@place/x", SCHEMA)


def test_row_groups_are_pieces(tmp_path: Path) -> None:
    rows = pa.table({"age": list(range(10)), "year": [2001] * 10, "ward": ["c"] * 10})
    pq.write_table(rows, tmp_path / "a.parquet", row_group_size=4)
    pieces = RowStream(tmp_path / "a.parquet", SCHEMA).source.pieces
    assert [(piece.groups, piece.rows) for piece in pieces] == [((0,), 4), ((1,), 4), ((2,), 2)]


def test_a_table_may_consist_of_partition_columns_alone(tmp_path: Path) -> None:
    schema = Schema.from_dict(
        {"name": "n", "unit": "row", "attributes": {
            "year": {"type": "numeric", "low": 2000, "high": 2030},
         "id": {"role": "identifier"}}}
    )  # fmt: skip
    write(tmp_path / "year=2001/x.parquet", id=[1, 2])
    write(tmp_path / "year=2003/x.parquet", id=[3])
    assert read(tmp_path, schema).codes[:, 0].tolist() == [1, 1, 3]
