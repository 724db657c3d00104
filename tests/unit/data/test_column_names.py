"""Attributes that are called otherwise than their columns in the data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import hedgerow
from hedgerow.data import encode_rows, read
from hedgerow.draft.draft import draft_text, sketch_table
from hedgerow.errors import DataError, SchemaError
from hedgerow.schema import Schema

ROWS = 60
DATA = pa.table({
    "region": ["North" if i % 3 else "South" for i in range(ROWS)],
    "count": [i % 7 for i in range(ROWS)],
    "ill": [bool(i % 2) for i in range(ROWS)],
})  # fmt: skip


def schema(**more: Any) -> Schema:
    columns: dict[str, Any] = {
        "place": {"type": "categorical", "values": ["North", "South"], "column": "region"},
        "number": {"type": "numeric", "low": 0, "high": 9, "column": "count"},
        "sick": {"type": "boolean", "role": "class", "column": "ill"},
        **more,
    }
    return Schema.from_dict({"name": "x", "unit": "row", "attributes": columns})


def test_columns_are_found_by_their_own_names() -> None:
    codes = read(DATA, schema()).codes
    plain = read(DATA.rename_columns(["place", "number", "sick"]), schema()).codes
    assert codes[:3].tolist() == [[1, 0, 0], [0, 1, 1], [0, 2, 0]]
    assert (codes == plain).all()


def test_a_release_has_the_attributes_names(tmp_path: Path) -> None:
    release = hedgerow.publish(DATA, schema(), hedgerow.DiffMulti(specializations=2), epsilon=9)
    release.save(tmp_path / "r")
    loaded = hedgerow.Release.load(tmp_path / "r")
    assert loaded.schema == schema() and hedgerow.verify(tmp_path / "r").ok
    rows = loaded.synthesize()
    assert set(rows.to_pydict()) >= {"place", "number", "sick"}
    assert encode_rows(rows, schema())[1].all()
    assert len(loaded.assign(DATA)) == ROWS
    assert loaded.count("place = North").estimate[0] >= 0


def test_names_may_change_places() -> None:
    known = Schema.from_dict({"name": "x", "unit": "row", "attributes": {
        "a": {"type": "numeric", "low": 0, "high": 9, "column": "b"},
        "b": {"type": "numeric", "low": 0, "high": 9, "column": "a"}}})  # fmt: skip
    assert read(pa.table({"a": [1], "b": [2]}), known).codes[0, :2].tolist() == [2, 1]


def test_a_column_that_is_not_there_is_named() -> None:
    with pytest.raises(DataError, match="there is no column 'region'"):
        read(DATA.drop_columns(["region"]), schema())
    both = DATA.append_column("place", DATA["region"])
    with pytest.raises(DataError, match="what to do with column 'place'"):
        read(both, schema())


@pytest.mark.parametrize(
    "more",
    [
        {"region": {"role": "identifier"}},
        {"other": {"type": "boolean", "column": "count"}},
    ],
)
def test_a_column_is_described_once(more: dict[str, Any]) -> None:
    with pytest.raises(SchemaError, match="described twice"):
        schema(**more)


def test_the_key_is_part_of_the_schema() -> None:
    assert Schema.from_dict(schema().to_dict()) == schema()
    assert "column: region" in schema().to_yaml()
    banded = schema(age={"type": "numeric", "low": 0, "high": 9, "column": "years"})
    assert banded.attributes[-1].column == "years"


def test_a_draft_of_columns_with_reserved_names_can_be_read(tmp_path: Path) -> None:
    text = draft_text(sketch_table(DATA)).replace("row or person?", "row")
    (tmp_path / "s.yaml").write_text(text, encoding="utf-8")
    known = Schema.load(tmp_path / "s.yaml")
    assert [one.name for one in known.attributes][:2] == ["region_value", "count_value"]
    assert len(read(DATA, known).codes) == ROWS
