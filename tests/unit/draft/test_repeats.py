"""What a steward hears if people have several rows and a release would protect single ones."""

from __future__ import annotations

import warnings
from typing import Any

import pyarrow as pa
import pytest

from hedgerow.data import read
from hedgerow.draft.check import check_rows
from hedgerow.schema import Schema

AGE = {"type": "numeric", "low": 0, "high": 120, "step": 1}


def schema(name: str, unit: str = "row") -> Schema:
    role = {"role": "identifier"} if unit == "row" else {"role": "person", "max_rows": 2}
    columns = {name: role, "age": AGE}
    return Schema.from_dict({"name": "t", "unit": unit, "attributes": columns})


def told(name: str, values: list[Any], unit: str = "row") -> list[str]:
    table = pa.table({name: values, "age": [i % 9 for i in range(len(values))]})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        check_rows(table, schema(name, unit))
    return [str(warning.message) for warning in caught]


@pytest.mark.parametrize("as_text", [False, True])
def test_people_who_come_again(as_text: bool) -> None:
    numbers: list[Any] = [*range(7000, 7060), 7007]  # one person has two rows
    (sentence,) = told("patient_nbr", [f"P{i}" for i in numbers] if as_text else numbers)
    assert sentence.startswith("patient_nbr repeats: one person may have several rows")
    assert "`unit: row` protects one row only" in sentence and "NOT PRIVATE" in sentence
    assert "7007" not in sentence and "61" not in sentence


def test_nobody_comes_again_or_all_rows_of_a_person_are_protected() -> None:
    assert not told("patient_nbr", list(range(7000, 7060)))
    assert not told("patient_nbr", [*range(7000, 7060), 7007], unit="person")


@pytest.mark.parametrize("name", ["ward", "payer", "surname"])
def test_what_people_share_says_nothing(name: str) -> None:
    assert not told(name, ["north", "south", "east"] * 20)


def test_several_batches_and_a_dropped_column_that_is_not_there() -> None:
    part = pa.table({"patient_nbr": list(range(30)), "age": [3] * 30})
    with pytest.warns(UserWarning, match="patient_nbr repeats"):
        check_rows(pa.concat_tables([part, part]), schema("patient_nbr"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_rows(part.drop_columns("patient_nbr"), schema("patient_nbr"))


def test_it_is_for_checks_alone() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read(pa.table({"patient_nbr": [7, 7], "age": [3, 4]}), schema("patient_nbr"))
