"""The cap on rows per person keeps the same rows from disk as in memory."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from hedgerow.counting.streamed import Memory, PersonCap, StreamedEngine
from hedgerow.data import RowStream, read
from hedgerow.data.people import first_rows
from hedgerow.schema import Schema

SCHEMA = Schema.from_dict(
    {
        "name": "visits",
        "unit": "person",
        "attributes": {
            "who": {"role": "person", "max_rows": 3},
            "age": {"type": "numeric", "low": 0, "high": 99},
            "ward": {"type": "categorical", "values": ["a", "b", "c"], "missing": "drop"},
            "ill": {"type": "boolean", "role": "class"},
        },
    }
)


def visits(kind: str) -> pa.Table:
    rng = np.random.default_rng(4)
    people = rng.integers(0, 40, 900)
    people[:300] = 7  # one who came very often
    ids = pa.array(people)
    if kind == "text":
        ids = pa.array([None if p == 5 else f" p{p} " for p in people.tolist()])
    return pa.table(
        {
            "who": ids,
            "age": rng.integers(0, 100, 900),
            "ward": rng.choice(np.array(["a", "b", "c", None]), 900),
            "ill": rng.choice(np.array([True, False]), 900),
        }
    )


@pytest.mark.parametrize("kind", ["numbers", "text"])
@pytest.mark.parametrize(
    "memory", [2_000_000_000, Memory(chunk=300, rows=0, bounds=0, batch=5000)], ids=["much", "tiny"]
)
def test_the_same_rows_stay(kind: str, memory: int | Memory) -> None:
    rows = visits(kind)
    expected = read(rows, SCHEMA).codes
    with StreamedEngine.read(RowStream(rows, SCHEMA), memory) as engine:
        found = []
        for chunk in engine._parts:
            found += [tuple(row) for block in chunk.blocks() for row in block.tolist()]
    assert sorted(found) == sorted(map(tuple, expected.tolist()))
    assert len(found) < 130


def test_people_are_told_apart_by_both_halves_of_the_digest() -> None:
    cap = PersonCap(stride=4, max_rows=1, memory=1 << 16)
    digests = np.array([[1, 1], [1, 2], [65, 1], [1, 1]], dtype=np.uint64)
    rank = np.array([5, 5, 5, 4], dtype=np.uint64)
    cap.add(np.arange(16, dtype=np.uint8).reshape(4, 4), digests, rank)
    kept = np.concatenate(list(cap.rows()))
    assert sorted(kept[:, 0].tolist()) == [4, 8, 12]  # the first row has the higher rank


def test_first_rows_can_fail() -> None:
    person = (np.array([1, 1, 1, 2]),)
    assert first_rows(person, np.array([3, 1, 2, 9], np.uint64), 2).tolist() == [1, 2, 3]


def test_memory_is_bounded_and_given_back():
    """A quarter of it is for rows that wait, evenly shared among 64 buckets."""
    cap = PersonCap(stride=8, max_rows=2, memory=64 * 4 * 32 * 10)
    digests = np.arange(2000, dtype=np.uint64).reshape(-1, 2)
    cap.add(np.zeros((1000, 8), np.uint8), digests, np.zeros(1000, np.uint64))
    assert max(sum(map(len, waiting)) for waiting in cap._waiting) <= 10
    assert sum(len(rows) for rows in cap.rows()) == 1000
    assert cap._waiting == [[]] * 64
    cap.close()
