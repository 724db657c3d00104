"""What a steward hears about attributes that nearly identify people."""

from __future__ import annotations

import random
import warnings
from typing import Any

import pyarrow as pa
import pytest

from hedgerow.data import read
from hedgerow.draft.check import check_rows
from hedgerow.errors import DataWarning
from hedgerow.schema import Schema

NUMBER = {"type": "numeric", "low": 0, "high": 99_999, "step": 1}
AGE = {"type": "numeric", "low": 0, "high": 120, "step": 1}


def told(values: list[Any], setting: dict[str, Any], **more: Any) -> list[str]:
    """The warnings about a column `x`, beside which there may be others; but of rare values."""
    columns = {"x": setting} | {name: kind for name, (kind, _) in more.items()}
    unit = "person" if any(kind.get("role") == "person" for kind in columns.values()) else "row"
    schema = Schema.from_dict({"name": "t", "unit": unit, "attributes": columns})
    table = pa.table({"x": values} | {name: there for name, (_, there) in more.items()})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        check_rows(table, schema)
    assert all(issubclass(warning.category, DataWarning) for warning in caught)
    messages = [str(warning.message) for warning in caught]
    return [one for one in messages if "fewer than 10 people" not in one]


def test_numbers_of_people() -> None:
    (sentence,) = told([i * 37 for i in range(200)], NUMBER)
    assert "'x'" in sentence and "200" not in sentence
    for way in ("role: identifier", "role: person", "max_rows", "coarser step"):
        assert way in sentence
    # most of them twice: half of the rows and one more have a value of their own
    assert told([*range(101), *[101 + i // 2 for i in range(100)]], NUMBER)
    assert not told([*range(100), *[100 + i // 2 for i in range(100)]], NUMBER)


def test_values_are_compared_on_the_grid_of_the_schema() -> None:
    fine = [i * 37 for i in range(200)]
    assert told(fine, NUMBER) and not told(fine, NUMBER | {"step": 1000})


def test_few_rows_say_little() -> None:
    assert not told(list(range(29)), NUMBER) and told(list(range(30)), NUMBER)


def test_ages_of_a_small_table_differ_by_chance() -> None:
    draw = random.Random(0)  # 33 of the 40 have an age of their own
    assert not told([draw.randrange(100) for _ in range(40)], AGE)
    assert told(list(range(1, 61)), AGE)  # but rows that are numbered do not


def test_labels_and_the_class() -> None:
    labels = [f"n{i}" for i in range(60)]
    kind = {"type": "categorical", "values": labels}
    (sentence,) = told(labels, kind)
    assert "taxonomy" in sentence and "n7" not in sentence
    assert not told(["n1", "n2"] * 30, kind)
    assert told(labels, kind | {"role": "class"}, age=(AGE, [30] * 60))


@pytest.mark.parametrize("setting", [NUMBER, {"type": "categorical", "values": list("ab")}])
def test_missing_values_are_left_out(setting: dict[str, Any]) -> None:
    if "values" in setting:
        setting = setting | {"values": [str(i) for i in range(50)]}
    values = [*map(str, range(50)), *[None] * 500]
    assert told(values, setting | {"missing": "other"})
    assert told(values, setting | {"missing": "drop"})
    assert not told([None] * 500 + ["1", "2"], setting | {"missing": "other"})


def test_people_with_several_rows_who_keep_their_value() -> None:
    who = [f"p{i // 4}" for i in range(400)]
    person = ({"role": "person", "max_rows": 4}, who)
    assert told([i // 4 * 37 for i in range(400)], NUMBER, who=person)
    assert not told([i // 4 * 37 for i in range(400)], NUMBER)
    assert not told([i // 8 * 37 for i in range(400)], NUMBER, who=person)
    # three people always have values of their own
    assert not told([i % 3 for i in range(60)], NUMBER, who=(person[0], [i % 3 for i in range(60)]))


def test_it_is_for_checks_alone() -> None:
    schema = Schema.from_dict({"name": "t", "unit": "row", "attributes": {"x": NUMBER}})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read(pa.table({"x": list(range(200))}), schema)


def test_several_batches() -> None:
    parts = [pa.table({"x": list(range(k, k + 20))}) for k in (0, 20, 40)]
    schema = Schema.from_dict({"name": "t", "unit": "row", "attributes": {"x": NUMBER}})
    with pytest.warns(DataWarning, match="nearly identifies people"):
        check_rows(pa.concat_tables(parts), schema)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_rows(pa.concat_tables([parts[0], parts[0], parts[1]]), schema)
