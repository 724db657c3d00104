"""The streamed engine's own affairs; that it counts right is a contract of all engines."""

from __future__ import annotations

import warnings

import numpy as np
import pyarrow as pa
import pytest

import hedgerow as hr
from hedgerow import sample
from hedgerow.counting import parts as questions
from hedgerow.counting.parts import histogram_questions
from hedgerow.counting.streamed import Memory, StreamedEngine
from hedgerow.data import RowStream, read
from hedgerow.errors import DataError, DataWarning

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
    usual = questions.HistogramQuestion.finish

    def finish(self: questions.HistogramQuestion, tally: questions.Tally) -> object:
        found = usual(self, tally)
        widths.append(found.counts.dtype)
        return found

    monkeypatch.setattr(questions.HistogramQuestion, "finish", finish)
    found = hr.publish(rows, schema, hr.DiffMulti(), epsilon=1, seed=5, engine="streamed")
    assert set(widths) == {np.dtype(np.int64)}
    assert found.measurements == expected.measurements and found.partition == expected.partition


def test_parts_add_up_beyond_32_bits() -> None:
    nodes, lo, hi = np.zeros(1, np.int64), np.zeros((1, 1), np.int32), np.full((1, 1), 2, np.int32)
    wanted = np.ones((1, 1), np.bool_)
    ((_, question),) = histogram_questions(
        nodes, np.array([1 << 33]), lo, hi, wanted, 1, 1 << 33, 1 << 30, 1
    )
    total = question.tally()
    for _ in range(4):
        part = question.tally()
        part.counts[:] = [1 << 31, 5]
        total.add(part)
    assert question.finish(total).counts.tolist() == [[1 << 33], [20]]


def test_batches_keep_to_the_memory() -> None:
    """A batch has one node at least, and otherwise no more than it may."""
    size = np.full(20, 10**6)
    lo, hi = np.zeros((20, 3), np.int32), np.full((20, 3), 100, np.int32)
    wanted = np.ones((20, 3), np.bool_)

    def batches(memory: int) -> list[slice]:
        asked = histogram_questions(
            np.arange(20), size, lo, hi, wanted, 2, 20 * 10**6, memory, copies=2
        )
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
    def burst(*_: object) -> None:
        raise ValueError("in a thread")

    monkeypatch.setattr(questions, "row_cells", burst)
    engine = streamed(500)
    with pytest.raises(ValueError, match="in a thread"):
        engine.cell_counts(())
    engine.close()
    assert engine._rows._file is not None and engine._rows._file.closed


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
