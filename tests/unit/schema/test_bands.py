"""A class of numbers, which is predicted in bands."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import hedgerow as hr
from hedgerow.data import read
from hedgerow.errors import DataWarning, SchemaError, UsageError
from hedgerow.schema import Query, Schema

STAY: dict[str, Any] = {
    "type": "numeric", "low": 0, "high": 60, "outside": "clip", "role": "class",
    "bands": [3, 8, 15],
}  # fmt: skip


def made(**changes: Any) -> Schema:
    column = {key: value for key, value in (STAY | changes).items() if value is not None}
    return Schema.from_dict(
        {"name": "s", "unit": "row", "attributes": {"old": {"type": "boolean"}, "stay": column}}
    )


@pytest.mark.slow
def test_bands_are_the_classes() -> None:
    schema = made()
    assert schema.classes == ("[0, 3)", "[3, 8)", "[8, 15)", "[15, 60]")
    rows = pa.table({"old": [True] * 6, "stay": ["-4", "2", "3", "14", "15", "900"]})
    assert read(rows, schema).codes[:, -1].tolist() == [0, 0, 1, 2, 3, 3]
    assert read(rows, made(outside="drop")).codes[:, -1].tolist() == [0, 1, 2, 3]
    other = made(outside="other", missing="other")
    assert other.classes[-1] == "other"
    clipped = made(missing="other")
    rows = pa.table({"old": [True] * 3, "stay": ["99", "long", "soon"]})
    with pytest.warns(DataWarning, match="'stay': no value lies in the domain"):
        assert read(rows, clipped).codes[:, -1].tolist() == [3, 4, 4]
    rows = pa.table({"old": [True] * 3, "stay": [-4.0, None, 7.9]})
    assert read(rows, other).codes[:, -1].tolist() == [4, 4, 1]


def test_bands_are_asked_for_by_bounds_that_are_theirs() -> None:
    schema = made(missing="other")
    for text, classes in {
        "stay >= 8": (2, 3), "stay < 8": (0, 1), "stay in [3, 14]": (1, 2), "stay > 14": (3,),
        "stay in {[0, 2], [15, 60]}": (0, 3), 'stay = "[3, 8)"': (1,), "stay = other": (4,),
    }.items():  # fmt: skip
        asked = Query.parse(text, schema)
        assert asked.classes == classes
        assert Query.parse(asked.text(schema), schema) == asked
    assert Query.of({"stay": (3, 14)}, schema).classes == (1, 2)
    for text in ("stay >= 9", "stay = 3", "stay in [3, 8]"):
        with pytest.raises(UsageError, match="ends inside one") as caught:
            Query.parse(text, schema)
        assert "begin at 0, 3, 8, 15" in str(caught.value.hint)


def test_one_common_value_is_a_list_too() -> None:
    with pytest.raises(SchemaError, match="common is not a list") as caught:
        Schema.from_dict(
            {"name": "s", "unit": "row", "attributes": {
                "pay": {"type": "numeric", "low": 0, "high": 9999, "common": 9999}}}
        )  # fmt: skip
    assert "Write common: [9999]." in str(caught.value)


@pytest.mark.parametrize(
    "changes",
    [{}, {"outside": "other"}, {"low": "0.5", "step": "0.5", "bands": ["3.5"]},
     {"low": "2024-01-01", "high": "2024-12-31", "bands": ["2024-07-01"]}],
)  # fmt: skip
def test_they_survive_files(changes: dict[str, Any], tmp_path: Path) -> None:
    schema = made(**changes)
    (tmp_path / "s.yaml").write_text(schema.to_yaml(), encoding="utf-8")
    assert Schema.load(tmp_path / "s.yaml") == schema == Schema.from_dict(schema.to_dict())


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"bands": None}, "needs them"),
        ({"role": "predictor"}, "for the class alone"),
        ({"bands": [8, 3]}, "not increasing"),
        ({"bands": [0]}, "above low"),
        ({"bands": [61]}, "up to high"),
        ({"bands": ["soon"]}, "not increasing numbers"),
        ({"bands": [20], "step": 7}, "between two steps"),
        ({"bands": ["2024-01-31"]}, "not increasing numbers"),
    ],
)
def test_what_are_no_bands(changes: dict[str, Any], told: str) -> None:
    with pytest.raises(SchemaError, match=told):
        made(**changes)


def test_they_are_published_and_predicted() -> None:
    old = [place % 2 == 0 for place in range(2000)]
    rows = pa.table(
        {"old": old, "stay": [20 if one else place % 3 for place, one in enumerate(old)]}
    )
    release = hr.publish(rows, made(), epsilon=5, seed=1)
    found = release.predict(pa.table({"old": [True, False]}))
    assert found["stay"].to_pylist() == ["[15, 60]", "[0, 3)"]
    table = release.table("stay")
    assert table.labels == (made().classes,)
    assert table.answers.estimate.round(-2).tolist() == [1000, 0, 0, 1000]
