from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hedgerow import sample
from hedgerow.counting.memory import MemoryEngine
from hedgerow.counting.pick_engine import Counting, _fitting, open_engine, read_bytes
from hedgerow.counting.streamed import StreamedEngine
from hedgerow.data import RowStream
from hedgerow.errors import UsageError


@pytest.mark.parametrize(
    ("text", "number"),
    [("7", 7), ("2GB", 2 * 10**9), ("1.5g", 15 * 10**8), ("1 KiB", 1024), ("2MiB", 1 << 21),
     ("3GiB", 3 << 30), ("1TiB", 1 << 40), ("12b", 12), ("0.5k", 500)],
)  # fmt: skip
def test_amounts_of_memory(text: str, number: int) -> None:
    assert read_bytes(text) == number


@pytest.mark.parametrize("text", ["", "GB", "-1GB", "1e9", "1,5GB", "2 GBs", "x"])
def test_what_is_no_amount(text: str) -> None:
    with pytest.raises(UsageError, match="no amount of memory"):
        read_bytes(text)


def test_the_size_of_the_input_decides(tmp_path: Path) -> None:
    rows = sample.people(1000, seed=1)
    pq.write_table(rows, tmp_path / "people.parquet")
    sample.write(tmp_path, rows=1000, seed=1)
    schema = sample.schema()

    def chosen(source: object, memory: int) -> str:
        return _fitting(RowStream(source, schema), memory)

    for name in ("people.parquet", "people.csv"):
        assert chosen(tmp_path / name, 2_000_000_000) == "memory"
        assert chosen(tmp_path / name, 20_000) == "streamed"
    assert chosen(rows, 1) == "memory"  # where it is already
    stream = pa.RecordBatchReader.from_batches(rows.schema, rows.to_batches())
    assert chosen(stream, 2_000_000_000) == "streamed"  # nobody knows how long it is


def test_an_engine_by_name(tmp_path: Path) -> None:
    rows, schema = sample.people(50, seed=1), sample.schema()
    for name, kind in (("memory", MemoryEngine), ("streamed", StreamedEngine)):
        with open_engine(rows, schema, Counting(engine=name)) as (engine, frames):
            assert isinstance(engine, kind) and frames == "arrow"


@pytest.mark.parametrize(
    "settings",
    [{"engine": "spark"}, {"memory": 1}, {"memory": "1MB"}, {"scratch": "no/such"},
     {"engine": "memory", "scheduler": "tcp://x:1"}],
)  # fmt: skip
def test_settings_that_cannot_be_meant(settings: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        Counting(**settings)  # type: ignore[arg-type]
