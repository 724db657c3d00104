"""People's own weights: rules for missing and outside values that look at one record alone."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.data import RowStream, WeightColumns, collect
from hedgerow.errors import DataError, DataWarning
from hedgerow.schema import Schema

SCHEMA = Schema.from_dict(
    {
        "name": "s",
        "unit": "row",
        "attributes": {
            "age": {"type": "numeric", "low": 0, "high": 9, "outside": "drop"},
            "minds": {"role": "identifier"},
            "fears": {"role": "identifier"},
        },
    }
)
ODD = ["much", "", " ", "nan", None]
OUTSIDE = ["-1", "0.5", "11", "1e400", "-inf", "inf"]


def columns(**rules: Any) -> WeightColumns:
    return WeightColumns(("minds",), low=1.0, high=10.0, **rules)


def level(weight: float) -> int:
    return round((weight - 1) / 9 * 15)


def test_what_is_missing_counts_as_a_public_weight() -> None:
    found = columns(missing=4.0).encode(pa.array(ODD, pa.string()), "minds")
    assert found[0].tolist() == [level(4)] * len(ODD)
    assert found[1].all() and not found[2].any()


def test_what_is_outside_is_clipped_or_counts_as_a_public_weight() -> None:
    clipped = columns().encode(pa.array(OUTSIDE), "minds")
    assert clipped[0].tolist() == [0, 0, 15, 15, 0, 15]
    given = columns(outside=7.0).encode(pa.array([*OUTSIDE, "2.8"]), "minds")
    assert given[0].tolist() == [level(7)] * len(OUTSIDE) + [level(2.8)]


def test_a_public_weight_keeps_to_the_bounds() -> None:
    found = columns(missing=99.0, outside=0.0).encode(pa.array(["?", "11"]), "minds")
    assert found[0].tolist() == [15, 0]


@pytest.mark.parametrize("missing, outside", [("drop", "clip"), (1.0, "drop"), ("drop", "drop")])
def test_records_are_dropped_only_where_a_rule_says_so(missing: Any, outside: Any) -> None:
    found = columns(missing=missing, outside=outside).encode(pa.array(["2", None, "11"]), "minds")
    assert found[1].tolist() == [True, missing != "drop", outside != "drop"]


@pytest.mark.parametrize(
    "array",
    [
        pa.array([(1 << 53) + 1, 3], pa.int64()),  # a float holds the first only nearly
        pa.array([(1 << 64) - 1, 3], pa.uint64()),
        pa.array([Decimal("99.5"), Decimal("3")], pa.decimal128(38, 10)),
        pa.array([99, 3], pa.int8()),
        pa.array([np.inf, 3.0], pa.float32()),
    ],
    ids=lambda array: str(array.type),
)
def test_numbers_of_every_type(array: Any) -> None:
    found = columns().encode(array, "minds")
    assert found[0].tolist() == [15, level(3)]
    assert found[1].all() and not found[2].any()


@pytest.mark.parametrize("kind", [pa.bool_(), pa.date32(), pa.null()])
def test_what_is_no_number_is_missing(kind: Any) -> None:
    found = columns(missing=4.0).encode(pa.array([None, None], kind), "minds")
    assert found[0].tolist() == [level(4)] * 2


RULES = st.sampled_from([4.0, "drop"]), st.sampled_from([7.0, "clip", "drop"])
WEIGHT = st.one_of(
    st.sampled_from([*ODD, *OUTSIDE]), st.floats(0, 12).map(str), st.text("0123.-e+ x", max_size=4)
)
ROW = st.tuples(st.integers(-1, 10), WEIGHT, WEIGHT)


def table(rows: list[tuple[int, Any, Any]]) -> Any:
    ages, minds, fears = zip(*rows, strict=True) if rows else ((), (), ())
    texts = {"minds": pa.array(minds, pa.string()), "fears": pa.array(fears, pa.string())}
    return pa.table({"age": pa.array(ages, pa.int64())} | texts)


def codes(rows: list[tuple[int, Any, Any]], rules: WeightColumns) -> list[tuple[int, ...]]:
    found = collect(RowStream(table(rows), SCHEMA, None, rules))
    assert found.weights is not None
    return [
        (*row, *own) for row, own in zip(found.codes.tolist(), found.weights.tolist(), strict=True)
    ]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::hedgerow.errors.DataWarning")
@settings(deadline=None, max_examples=150)
@given(st.lists(ROW, max_size=6), st.lists(ROW, max_size=6), ROW, *RULES)
def test_a_weight_changes_no_other_record(
    before: list[Any], after: list[Any], row: Any, missing: Any, outside: Any
) -> None:
    rules = WeightColumns(("minds", "fears"), low=1.0, high=10.0, missing=missing, outside=outside)
    parts = [codes(rows, rules) for rows in (before, [row], after)]
    assert codes([*before, row, *after], rules) == sum(parts, [])
    assert len(parts[1]) <= 1


def test_a_run_stops_only_if_it_was_asked_to() -> None:
    rows = [(1, "2", "3"), (2, "", "11")]
    for rules in ({"missing": "error"}, {"outside": "error"}):
        strict = WeightColumns(("minds", "fears"), low=1.0, high=10.0, **rules)
        with pytest.raises(DataError, match="row 2") as found:
            codes(rows, strict)
        assert "11" not in str(found.value).replace("row 2", "")
    assert len(codes(rows, WeightColumns(("minds", "fears"), low=1.0, high=10.0))) == 2


def test_two_attributes_may_share_a_column_of_weights(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("age,minds,fears\n" + "".join(f"1,{n % 10 + 1},\n" for n in range(1000)))
    both = WeightColumns(("minds", "fears", "minds"), low=1.0, high=10.0)
    found = collect(RowStream(path, SCHEMA, weights=both)).weights
    assert found is not None
    expected = [level(n % 10 + 1) for n in range(1000)]
    assert found[:, 0].tolist() == found[:, 2].tolist() == expected
    assert found[:, 1].tolist() == [0] * 1000  # a missing weight counts as 1


@pytest.mark.parametrize("values", [127, 128])
def test_a_record_more_does_not_overflow_a_narrow_dictionary(values: int) -> None:
    index = pa.array([*range(values), None], pa.int8())
    array = pa.DictionaryArray.from_arrays(index, pa.array([str(n) for n in range(values)]))
    found = columns(missing=4.0).encode(array, "minds")
    assert found[0].tolist()[-3:] == [15, 15, level(4)]


def test_a_date_outside_the_calendar_is_no_number() -> None:
    days = pa.array([10**9, 0], pa.int32()).cast(pa.date32())
    array = pa.DictionaryArray.from_arrays(pa.array([0, 1]), days)
    assert columns(missing=4.0).encode(array, "minds")[0].tolist() == [level(4)] * 2


def test_which_rows_of_a_person_stay_does_not_follow_from_their_order() -> None:
    schema = Schema.from_dict(
        {
            "name": "s",
            "unit": "person",
            "attributes": {
                "age": {"type": "numeric", "low": 0, "high": 9},
                "who": {"role": "person", "max_rows": 2},
                "minds": {"role": "identifier"},
            },
        }
    )

    def kept(weights: list[int]) -> list[int]:
        rows = pa.table({"age": [5] * 8, "who": ["ann"] * 8, "minds": weights})
        found = collect(RowStream(rows, schema, weights=columns())).weights
        assert found is not None
        return sorted(found[:, 0].tolist())

    assert kept([*range(1, 9)]) == kept([*range(8, 0, -1)]) == kept([3, 1, 2, 7, 4, 8, 6, 5])


def declared(**file: str) -> Schema:
    return Schema.from_dict(SCHEMA.to_dict() | {"file": file})


@pytest.mark.parametrize(
    "file, text, weight",
    [
        ({}, "2.8", 2.8),
        ({"decimal": ","}, "2,8", 2.8),
        ({"thousands": "."}, "2,8", 2.8),
        ({"thousands": "'"}, "0'002.8", None),  # no group begins with 0
        ({"decimal": ","}, "2.8", None),
        ({}, "2,8", None),
        ({}, "1_0", None),
        ({}, "28e-1", 2.8),
    ],
)
def test_weights_are_written_as_the_schema_declares(
    file: dict[str, str], text: str, weight: float | None
) -> None:
    rules = columns(missing=7.0)
    found = rules.encode(pa.array([text]), "minds", declared(**file).file)
    assert found[0].tolist() == [level(7 if weight is None else weight)]
    assert not found[2].any()


def test_a_way_of_writing_that_is_not_declared_is_told() -> None:
    data = table([(1, "2", "2"), (2, "1,5", "5%"), (3, "much", "")])
    rules = WeightColumns(("minds", "fears"), low=1.0, high=10.0)
    with pytest.warns(DataWarning) as caught:
        collect(RowStream(data, SCHEMA, None, rules))
    minds, fears = sorted((str(one.message) for one in caught), reverse=True)
    assert "'minds', row 2" in minds and 'declare `decimal: ","`' in minds and "1,5" not in minds
    assert "'fears'" in fears and "leave it out" in fears
    commas = table([(1, "2", "2"), (2, "1,5", "1")])
    found = collect(RowStream(commas, declared(decimal=","), None, rules))
    assert found.weights is not None and found.weights[1].tolist() == [level(1.5), 0]


def test_the_notation_of_the_file_is_part_of_the_schema() -> None:
    known = declared(decimal=",", thousands=".")
    assert Schema.from_dict(known.to_dict()) == known
    assert known.to_dict()["file"] == {"decimal": ",", "thousands": "."}
