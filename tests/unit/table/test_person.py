from collections import Counter
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.schema import Schema
from hedgerow.table import read
from hedgerow.table.person import cap_rows, person_ids


def schema(max_rows):
    return Schema.from_dict(
        {
            "name": "visits",
            "attributes": {
                "age": {"type": "numeric", "low": 0, "high": 9, "step": 1, "outside": "drop"},
                "who": {"role": "person", "max_rows": max_rows},
            },
        }
    )


def kept(people, ages, max_rows):
    table = pa.table({"who": pa.array(people), "age": pa.array(ages, pa.int64())})
    return Counter(read(table, schema(max_rows)).codes[:, 0].tolist())


ROWS = st.lists(st.tuples(st.sampled_from("abcd"), st.integers(0, 9)), min_size=1, max_size=30)


@given(ROWS, st.integers(1, 4), st.randoms())
def test_the_rule_looks_at_one_person_alone(rows, cap, random):
    whole = kept(*zip(*rows, strict=True), cap)
    alone = Counter()
    for who in {who for who, _ in rows}:
        own = [row for row in rows if row[0] == who]
        random.shuffle(own)  # nor does the order matter
        part = kept(*zip(*own, strict=True), cap)
        assert part.total() == min(cap, len(own))
        alone += part
    assert whole == alone


def test_the_cap_does_not_favour_small_codes():
    rows = np.repeat(np.arange(100, dtype=np.uint16), 1).reshape(-1, 1)
    keep = cap_rows(rows, np.zeros(100), 50)
    assert 30 < rows[keep].mean() < 70


@pytest.mark.parametrize(
    "people",
    [
        pa.array(["a", " a ", "b", "", None, "?"]),
        pa.array(["a", "a", "b", None, None, "NA"]).dictionary_encode(),
        pa.array([1, 1, 2, None, None, None]),
        pa.array([1.0, 1.0, 2.0, None, float("nan"), None]),
    ],
)
def test_ids_of_any_type_and_rows_without_one(people):
    assert kept(people, [1, 2, 3, 4, 5, 6], 9) == {1: 1, 2: 1, 3: 1}
    assert kept(people, [1, 2, 3, 4, 5, 6], 1).total() == 2


def test_dropped_records_do_not_use_up_the_cap():
    assert kept(["a", "a", "a"], [77, 5, 77], 1) == {5: 1}


def test_people_meet_across_batches(monkeypatch):
    monkeypatch.setattr("hedgerow.table.frames.BATCH_ROWS", 2)
    assert kept(list("abababab"), range(8), 3).total() == 6


def test_a_column_without_any_id_drops_every_row():
    for empty in (pa.nulls(3), pa.array(["", "?", None])):
        table = pa.table({"who": empty, "age": [1, 2, 3]})
        assert read(table, schema(2)).codes.shape == (0, 2)


@pytest.mark.parametrize(
    "ids",
    [
        pa.array([0, 1, 86_399], pa.timestamp("s")),
        pa.array([0, 1, 86_399], pa.timestamp("us", "UTC")),
        pa.array([0, 1, 2], pa.date32()),
        pa.array([Decimal(10**30), Decimal(10**30 + 1), Decimal(10**30 + 2)]),
        pa.array([0, 1, 2], pa.timestamp("ns")).dictionary_encode(),
        pa.array([2**63 - 1, 2**63 - 2, 0]),
    ],
)
def test_people_are_told_apart_to_the_last_digit(ids: Any) -> None:
    """Two people taken for one would share a cap, and one could push out rows of the other."""
    found, known = person_ids(ids, "who")
    assert known.all()
    assert len(set(found.to_pylist())) == 3
    document = {"name": "x", "attributes": {
        "a": {"type": "boolean"}, "who": {"role": "person", "max_rows": 1}}}  # fmt: skip
    rows = pa.table({"a": [True] * 3, "who": ids})
    assert read(rows, Schema.from_dict(document)).codes.shape == (3, 2)
