from collections import Counter
from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.counting.memory import MemoryEngine
from hedgerow.counting.parts import Engine
from hedgerow.counting.streamed import StreamedEngine
from hedgerow.data import read, read_transactions
from hedgerow.data.people import WeightColumns, cap_rows, person_ids, row_hash
from hedgerow.data.table import RowStream
from hedgerow.schema import Items, Schema


def schema(max_rows):
    return Schema.from_dict(
        {
            "name": "visits",
            "unit": "person",
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


@pytest.mark.slow
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


def test_the_cap_does_not_favor_small_codes():
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
    monkeypatch.setattr("hedgerow.data.frames.BATCH_ROWS", 2)
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
    document = {"name": "x", "unit": "person", "attributes": {
        "a": {"type": "boolean"}, "who": {"role": "person", "max_rows": 1}}}  # fmt: skip
    rows = pa.table({"a": [True] * 3, "who": ids})
    assert read(rows, Schema.from_dict(document)).codes.shape == (3, 2)


SEVEN = [
    pa.array([7], pa.int64()), pa.array([7], pa.int8()), pa.array([7], pa.uint64()),
    pa.array([7.0]), pa.array([7.0], pa.float32()), pa.array(np.array([7.0], np.float16)),
    pa.array([Decimal("7.00")]), pa.array([Decimal("7")], pa.decimal256(40, 5)),
    pa.array([" 7 "]), pa.array(["7"], pa.large_string()), pa.array([7]).dictionary_encode(),
]  # fmt: skip
MIDNIGHT = datetime(2020, 3, 1)
LATER = datetime(2020, 3, 1, 7, 0, 30)
SAME = {
    "seven": SEVEN,
    "huge": [pa.array([10**16]), pa.array([1e16]), pa.array([Decimal(10**16)]),
             pa.array([10**16], pa.uint64()), pa.array([str(10**16)])],
    "beyond": [pa.array([2**63], pa.uint64()), pa.array([2.0**63]), pa.array([Decimal(2**63)])],
    "zero": [pa.array([0.0]), pa.array([-0.0]), pa.array([0]), pa.array([Decimal("0.000")]),
             pa.array([-0.0, 0.5]).slice(0, 1), pa.array(["0"])],
    "half": [pa.array([0.5]), pa.array([0.5], pa.float32()), pa.array([Decimal("0.500")])],
    "tenth": [pa.array([0.1]), pa.array([0.1], pa.float32()), pa.array([Decimal("0.10")])],
    "small": [pa.array([1e-7]), pa.array([Decimal("0.00000010")])],
    "text": [pa.array(["Zo\u00eb"]), pa.array(["Zoe\u0308"]), pa.array([b"Zo\xc3\xab"]),
             pa.array(["Zoe\u0308"]).dictionary_encode()],
    "day": [pa.array([date(2020, 3, 1)]), pa.array([date(2020, 3, 1)], pa.date64()),
            pa.array([MIDNIGHT], pa.timestamp("s")), pa.array([MIDNIGHT], pa.timestamp("ns")),
            pa.array(["2020-03-01"])],
    "moment": [pa.array([LATER], pa.timestamp("s")), pa.array([LATER], pa.timestamp("us")),
               pa.array([LATER.replace(tzinfo=UTC)], pa.timestamp("ms", "UTC"))],
}  # fmt: skip
# the first type with every other: who is the same person as the first is the same as the others
PAIRS = [
    pytest.param(columns[0], second, id=f"{name}-{place}")
    for name, columns in SAME.items()
    for place, second in enumerate(columns[1:], start=1)
]
ENGINES: list[Callable[[Any, Schema], Engine]] = [
    lambda source, made: MemoryEngine(read(source, made)),
    lambda source, made: StreamedEngine.read(RowStream(source, made), 1 << 22),
]


def ages(engine: Engine) -> dict[int, int]:
    """How many of each age were kept."""
    sealed: Any = engine.cell_counts((np.arange(11, dtype=np.int32),))
    cells, counts = sealed._Sealed__content
    if isinstance(engine, StreamedEngine):
        engine.close()
    return dict(zip(cells.tolist(), counts.tolist(), strict=True))


def in_two_files(folder: Path, first: Any, second: Any) -> Path:
    for name, column, age in (("a", first, 3), ("b", second, 5)):
        pq.write_table(
            pa.table({"who": column, "age": pa.array([age] * len(column), pa.int64())}),
            folder / f"{name}.parquet",
        )
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("first, second", PAIRS)
def test_one_person_in_two_types_is_one_person(tmp_path: Path, first: Any, second: Any) -> None:
    seen = []
    folder = in_two_files(tmp_path, first, second)
    for make in ENGINES:
        seen.append(ages(make(folder, schema(1))))
        assert sum(seen[-1].values()) == 1
    assert seen[0] == seen[1]
    for make in ENGINES:
        assert ages(make(folder, schema(2))) == {3: 1, 5: 1}


@pytest.mark.slow
@pytest.mark.parametrize("first, second", PAIRS)
def test_one_person_in_two_types_has_one_record(tmp_path: Path, first: Any, second: Any) -> None:
    shop = Schema(name="shop", items=Items(range(1, 9), person="who", item="age"), unit="person")
    transactions = read_transactions(in_two_files(tmp_path, first, second), shop)
    assert transactions.start.tolist() == [0, 2] and transactions.codes.tolist() == [2, 4]


@pytest.mark.parametrize(
    "first, second",
    [
        (pa.array([7]), pa.array([Decimal("7.01")])),
        (pa.array([7]), pa.array([-7.0])),
        (pa.array([10**16 + 1]), pa.array([1e16])),
        (pa.array([2**53 + 1]), pa.array([2.0**53])),
        (pa.array([7]), pa.array(["07"])),
        (pa.array([Decimal("0.1")]), pa.array([np.nextafter(0.1, 1)])),
        (pa.array([LATER], pa.timestamp("s")), pa.array([MIDNIGHT], pa.timestamp("s"))),
        (pa.array([10**30], pa.decimal128(38, 0)), pa.array([1e30])),
    ],
)
def test_two_people_in_two_types_stay_two(tmp_path: Path, first: Any, second: Any) -> None:
    folder = in_two_files(tmp_path, first, second)
    for make in ENGINES:
        assert ages(make(folder, schema(1))) == {3: 1, 5: 1}


def test_zeros_of_both_signs_in_one_column_are_one_person() -> None:
    people = pa.table({"who": [0.0, -0.0, 0.5], "age": [3, 5, 7]})
    for make in ENGINES:
        found = ages(make(people, schema(1)))
        assert sum(found.values()) == 2 and found[7] == 1


def test_the_hash_of_rows_is_splitmix64():
    """Fixed and public: which rows of a person stay must not change from version to version."""

    def mixed(codes):
        state, word = 0, (1 << 64) - 1
        for code in codes:
            state = state + code + 0x9E3779B97F4A7C15 & word
            state = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 & word
            state = (state ^ state >> 27) * 0x94D049BB133111EB & word
            state ^= state >> 31
        return state

    rows = np.array([[0, 0], [1, 0], [0, 1], [65_535, 7], [12, 12]], np.uint16)
    found = row_hash([rows[:, 0], rows[:, 1]]).tolist()
    assert found == [mixed(row) for row in rows.tolist()]
    assert row_hash([np.zeros(1, np.uint8)]).tolist() == [0xE220A8397B1DCDAF]  # its first value


def test_which_rows_of_a_person_stay_is_the_same_in_every_version():
    columns = np.array([0, 5, 70_000]), np.array([0, 1, 1])
    known = [12035550249420947055, 16247700015443706586, 3355845385723470124]
    assert row_hash(columns).tolist() == known


@pytest.mark.parametrize("rule, kept", [("drop", 1), ("error", 2)])
def test_rules_for_weights_of_peoples_own(rule, kept):
    """Each looks at its record alone: what is missing, below or above."""
    columns = WeightColumns(("minds",), low=0.0, high=3.0, missing=rule, outside=rule)
    levels = columns.encode(pa.array(["1", None, "much", "-1", "4", "3"]), "minds")
    odd = [False, True, True, True, True, False]
    assert (levels[kept] ^ (rule == "drop")).tolist() == odd
