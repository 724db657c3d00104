"""The streamed engine's own affairs; that it counts right is a contract of all engines."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pytest

import hedgerow as hr
from hedgerow import sample
from hedgerow.counting import parts as questions
from hedgerow.counting.engine import Histograms
from hedgerow.counting.parts import HistogramQuestion
from hedgerow.counting.streamed import Memory, StreamedEngine, StreamedItems
from hedgerow.data import RowStream, read
from hedgerow.errors import DataError, DataWarning
from hedgerow.schema import Schema

pytestmark = pytest.mark.kernels

TINY = Memory(chunk=2000, rows=0, bounds=0, batch=10_000)


@pytest.mark.slow
def test_more_than_two_to_the_31_rows_are_counted_in_64_bits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """So many rows do not fit a test: what they switch on is switched on by hand."""
    rows, schema = sample.people(2000, seed=2), sample.schema()
    expected = hr.publish(rows, schema, hr.DiffMulti(), epsilon=1, seed=5)
    monkeypatch.setattr(questions, "_SMALL", 1)
    widths = []
    usual = HistogramQuestion.add

    def add(self: HistogramQuestion, answers: Sequence[Histograms]) -> Histograms:
        widths.extend(answer.counts.dtype for answer in answers)
        return usual(self, answers)

    monkeypatch.setattr(HistogramQuestion, "add", add)
    found = hr.publish(rows, schema, hr.DiffMulti(), epsilon=1, seed=5, engine="streamed")
    assert set(widths) == {np.dtype(np.int64)}
    assert found.measurements == expected.measurements and found.partition == expected.partition


@pytest.mark.parametrize("codes", [4, 1000], ids=["densely", "by sorting"])
def test_parts_add_up_beyond_32_bits(codes: int) -> None:
    lo, hi = np.zeros((1, 1), np.int32), np.full((1, 1), codes, np.int32)
    question = HistogramQuestion(
        nodes=np.zeros(1, np.int64), lo=lo, hi=hi, wanted=hi > 0, classes=1, wide=True
    )
    part = Histograms(np.array([0, 2]), np.array([0, 3], np.int32), np.array([[1 << 31], [5]]))
    other = Histograms(np.array([0, 1]), np.array([1], np.int32), np.array([[7]]))
    total = question.add([question.none(), part, other, part, part, part])
    assert total.code.tolist() == [0, 1, 3]
    assert total.counts.tolist() == [[1 << 33], [7], [20]]


def test_batches_keep_to_the_memory() -> None:
    """A batch has one node at least, and otherwise no more than it may."""
    number = {"type": "numeric", "low": 0, "high": 99, "step": 1}
    attributes = {name: number for name in "abc"}
    schema = hr.Schema.from_dict({"name": "s", "unit": "row", "attributes": attributes})
    lo, hi = np.zeros((20, 3), np.int32), np.full((20, 3), 100, np.int32)

    def batches(memory: int) -> list[slice]:
        engine = StreamedEngine(schema, Memory(chunk=2000, rows=0, bounds=0, batch=memory))
        engine._counts = np.full((20, 1), 10**6)
        asked = engine.histograms(np.arange(20), lo, hi, np.ones((20, 3), np.bool_))
        with engine:
            return [part for part, _ in asked]

    assert batches(1) == [slice(i, i + 1) for i in range(20)]
    assert batches(1 << 40) == [slice(0, 20)]
    assert 2 <= len(batches(200_000)) < 20


def test_what_breaks_the_schema_is_told_as_in_memory() -> None:
    rows = sample.people(300, seed=1)
    homes = ["nowhere" if number > 200 else "x" for number in range(300)]
    broken = rows.set_column(rows.column_names.index("home"), "home", [homes])
    said = []
    for attempt in (
        lambda: read(broken, sample.schema()),
        lambda: StreamedEngine.read(RowStream(broken, sample.schema()), TINY),
    ):
        with pytest.raises(DataError) as caught:
            attempt()
        said.append(str(caught.value))
    assert said[0] == said[1]


def test_warnings_reach_the_steward() -> None:
    rows = sample.people(30, seed=1)
    odd = rows.set_column(rows.column_names.index("bmi"), "bmi", [pa.nulls(30)])
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        StreamedEngine.read(RowStream(odd, sample.schema()), TINY).close()
    assert [w.category for w in told] == [DataWarning]


def streamed(rows: int) -> StreamedEngine:
    return StreamedEngine.read(RowStream(sample.people(rows), sample.schema()), TINY)


def test_an_error_in_a_thread_ends_the_run_and_frees_everything(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def burst(*_: object, **__: object) -> None:
        raise ValueError("in a thread")

    monkeypatch.setattr(questions, "cells_of", burst)
    engine = streamed(500)
    with pytest.raises(ValueError, match="in a thread"):
        engine.cell_counts(())
    engine.close()
    assert engine.rows._file is not None and engine.rows._file.closed


def test_scratch_files_are_no_larger_than_the_codes_need() -> None:
    with streamed(3000) as engine:
        codes = 3000 * int(engine._layout.width.sum())
        assert codes <= engine.bytes_on_disk <= 2 * codes


def test_progress_is_told_in_levels_and_shares() -> None:
    stages: list[str] = []
    shares: list[float] = []
    hr.publish(
        sample.people(400),
        sample.schema(),
        hr.DiffMulti(specializations=50, depth=3),
        engine="streamed",
        seed=1,
        progress=shares.append,
        stage=stages.append,
    )
    assert shares == sorted(shares) and shares[-1] == 1.0
    assert "reading: 100% of the rows" in stages
    assert [words for words in stages if words.endswith("of at most 3")] == [
        f"level {level} of at most 3" for level in (1, 2, 3)
    ]
    assert "level 2 of at most 3: 100% of the rows" in stages
    assert not any("400" in words for words in stages)  # never how many


@pytest.mark.parametrize("threads", [1, 2, 7, 64])
def test_shares_of_memory_are_no_more_than_it(threads: int) -> None:
    """Each thread holds two chunks; nothing is so small that it would be of no use."""
    for total in (1 << 27, 10**9, 1 << 36):
        share = Memory.of(total, threads)
        sizes = (share.chunk, share.rows, share.bounds, share.batch)
        assert 2 * threads * share.chunk + share.rows + share.bounds + share.batch <= total
        assert min(sizes) >= min(1 << 25, total // (32 * threads))


@pytest.mark.parametrize("memory, shared", [(1_500_000_000, 10**9), (1, 10**8)])
def test_what_python_takes_is_no_memory_to_share_out(memory: int, shared: int) -> None:
    items = {"universe": {"range": [1, 9]}}
    schema = Schema.from_dict({"name": "s", "unit": "row", "items": items})
    engine = StreamedItems(schema, memory)
    engine.close()
    assert engine._memory == Memory.of(shared, engine._crew.size)
