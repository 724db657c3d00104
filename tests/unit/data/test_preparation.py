"""What became of the rows: exact counts for the holder, equal to what `read` keeps."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from hedgerow.data import read, read_prepared
from hedgerow.data.preparation import Fate
from hedgerow.draft.check import check_rows
from hedgerow.errors import DataError
from hedgerow.schema import Schema

pytestmark = pytest.mark.filterwarnings("ignore:.*fewer than 10 people")  # of few rows


def schema_of(**columns: object) -> Schema:
    return Schema.from_dict({"name": "x", "unit": "row", "attributes": columns})


def test_values_by_rule() -> None:
    schema = schema_of(
        age={"type": "numeric", "low": 0, "high": 9, "outside": "clip", "missing": "other"},
        weight={"type": "numeric", "low": 0, "high": 9, "outside": "drop", "missing": "drop"},
        job={"type": "categorical", "values": ["a", "b"], "outside": "other", "missing": "other"},
        stay={"type": "numeric", "low": 0, "high": 9, "outside": "clip", "missing": "other",
              "role": "class", "bands": [5]},
    )  # fmt: skip
    data = pa.table(
        {
            "age": ["1", "99", "-3", "much", "", "2"],
            "weight": ["1", "99", "1", "1", "", "x"],
            "job": ["a", "b", "?", "cook", "a", "b"],
            "stay": ["7", "70", "-1", "", "2", "2"],
        }
    )
    found = check_rows(data, schema)
    assert found.attributes == (
        Fate(name="age", missing=1, outside=2, foreign=1, other=2, clipped=2),
        Fate(name="weight", missing=1, outside=1, foreign=1, dropped=3),
        Fate(name="job", missing=1, foreign=1, other=2),
        Fate(name="stay", missing=1, outside=2, other=1, clipped=2),
    )
    assert (found.rows, found.dropped, found.counted) == (6, 3, 3)
    assert len(read(data, schema).codes) == found.counted
    assert found.people is None and found.capped == 0
    # [0, 5), [5, 9], other: of all six rows, and of the three that are counted
    assert found.read == pytest.approx((3 / 6, 2 / 6, 1 / 6))
    assert found.kept == pytest.approx((1 / 3, 1 / 3, 1 / 3))


PERSON = Schema.from_dict(
    {
        "name": "visits",
        "unit": "person",
        "attributes": {
            "who": {"role": "person", "max_rows": 2},
            "age": {"type": "numeric", "low": 0, "high": 99, "outside": "drop"},
            "ill": {"type": "boolean", "role": "class"},
        },
    }
)


def visits(rows: int = 400) -> pa.Table:
    rng = np.random.default_rng(1)
    who = [None if n % 20 == 0 else f"p{n}" for n in rng.integers(0, 90, rows)]
    ill = [w is not None and w.endswith("3") for w in who]
    return pa.table({"who": who, "age": rng.integers(0, 110, rows), "ill": ill})


def test_one_reading_gives_the_rows_and_what_became_of_them() -> None:
    data = visits()
    table, looked = read_prepared(data, PERSON)
    assert looked == check_rows(data, PERSON)
    assert table.codes.tolist() == read(data, PERSON).codes.tolist()


def test_the_cap_counts_as_reading_does() -> None:
    data = visits()
    found, table = check_rows(data, PERSON), read(data, PERSON)
    assert found.counted == len(table.codes)
    rows = [row for row in data.to_pylist() if row["age"] <= 99]
    named = [row["who"] for row in rows if row["who"] is not None]
    sizes = {who: named.count(who) for who in named}
    assert found.dropped == data.num_rows - len(rows)
    assert found.unidentified == len(rows) - len(named)
    assert found.people == len(sizes)
    assert found.people_capped == sum(size > 2 for size in sizes.values())
    assert found.capped == sum(max(0, size - 2) for size in sizes.values())
    counted = np.bincount(table.codes[:, -1], minlength=2) / len(table.codes)
    assert found.kept == pytest.approx(counted.tolist())


def test_batches_do_not_matter() -> None:
    data = visits()
    parts = pa.Table.from_batches(data.to_batches(max_chunksize=37))
    assert check_rows(parts, PERSON) == check_rows(data, PERSON)


def test_warnings_follow_the_stated_rule() -> None:
    schema = schema_of(age={"type": "numeric", "low": 0, "high": 9, "outside": "clip"})
    for odd, warned in ((5, False), (6, True)):
        data = pa.table({"age": [50] * odd + [5] * (100 - odd)})
        assert bool(check_rows(data, schema).warnings()) is warned
    schema = schema_of(age={"type": "numeric", "low": 0, "high": 9, "missing": "other"})
    unknown = pa.table({"age": [None] * 50 + [5] * 50})  # what is missing is counted as missing
    assert check_rows(unknown, schema).warnings() == []
    schema = schema_of(
        age={"type": "numeric", "low": 0, "high": 9, "outside": "drop"},
        ill={"type": "boolean", "role": "class"},
    )
    for odd, warned in ((7, False), (9, True)):  # of 400 rows, half of them ill
        age = [50] * odd + [5] * (400 - odd)
        data = pa.table({"age": age, "ill": [n < 200 for n in range(400)]})
        assert (abs((200 - odd) / (400 - odd) - 0.5) > 0.01) is warned
        told = check_rows(data, schema).warnings()
        assert any("The class" in words for words in told) is warned


def test_broken_data_is_refused_without_counts() -> None:
    schema = schema_of(age={"type": "numeric", "low": 0, "high": 9})
    with pytest.raises(DataError) as caught:
        check_rows(pa.table({"age": [50] * 17 + [5] * 3}), schema)
    assert "17" not in str(caught.value)


def test_no_rows_at_all() -> None:
    empty = visits().slice(0, 0)
    found = check_rows(empty, PERSON)
    assert found.rows == found.counted == 0 and found.warnings() == []
