"""Metadata: read from files and dictionaries, written back, refused with a line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hedgerow.errors import HedgerowError
from hedgerow.schema import Items, Metadata, Person, Schema, json_schema

COLUMNS = "attributes:\n  a: {type: boolean}\n"
TOLD = {
    "institution": "St Anne",
    "period": "1999 to 2008",
    "unit_name": ["encounter", "encounters"],
    "reviewer": "Ada Brown",
    "reviewed": "2026-01-31",
}


def written(tmp_path: Path, metadata: str) -> Path:
    path = tmp_path / "schema.yaml"
    path.write_text(f"name: x\nunit: row\n{metadata}{COLUMNS}", encoding="utf-8")
    return path


def test_metadata_is_read_and_written_back(tmp_path: Path) -> None:
    text = "metadata:\n" + "".join(f"  {key}: {json.dumps(TOLD[key])}\n" for key in TOLD)
    schema = Schema.load(written(tmp_path, text))
    assert schema.metadata.describe() == TOLD == schema.to_dict()["metadata"]
    assert Schema.from_dict(schema.to_dict()) == schema
    again = tmp_path / "again.yaml"
    again.write_text(schema.to_yaml(), encoding="utf-8")
    assert Schema.load(again) == schema


def test_a_schema_without_metadata_has_the_hash_that_it_always_had(tmp_path: Path) -> None:
    plain = Schema.load(written(tmp_path, ""))
    assert "metadata" not in plain.to_dict()
    assert Schema.load(written(tmp_path, "metadata:\n")).hash == plain.hash
    assert Schema.load(written(tmp_path, "metadata: {period: 1999}\n")).hash != plain.hash


@pytest.mark.parametrize(
    "given, words",
    [
        ("{unit_name: encounter}", "unit_name is not two names"),
        ("{unit_name: [encounter]}", "unit_name is not two names"),
        ("{institutoin: x}", "Did you mean 'institution'"),
        ("{reviewer: Ada}", "needs a reviewer and a date"),
        ("{reviewed: 2026-01-31}", "needs a reviewer and a date"),
        ("{reviewer: Ada, reviewed: yesterday}", "reviewed is not a date"),
        ("{reviewer: Ada, reviewed: 20260131}", "reviewed is not a date"),
        ("{purpose: '  '}", "purpose is blank"),
        ('{purpose: "a\\nb"}', "purpose is blank or holds a control character"),
        (f"{{purpose: {'x' * 501}}}", "more than 500 characters"),
        ("hospital", "metadata is not a mapping"),
    ],
)
def test_faults_name_the_line(tmp_path: Path, given: str, words: str) -> None:
    with pytest.raises(HedgerowError) as caught:
        Schema.load(written(tmp_path, f"metadata: {given}\n"))
    assert words in str(caught.value) and ":3:" in str(caught.value).replace(" line 3", ":3:")
    assert caught.value.hint is not None or words.startswith("Did")


def test_the_object_refuses_the_same() -> None:
    with pytest.raises(HedgerowError, match="date"):
        Metadata(reviewer="Ada")
    with pytest.raises(HedgerowError, match="unit_name"):
        Metadata(unit_name=("a",))  # type: ignore[arg-type]


def test_what_records_are_called() -> None:
    plain = Schema.from_dict({"name": "x", "unit": "row", "attributes": {"a": {"type": "boolean"}}})
    columns = plain.attributes
    assert plain.unit_names == ("person", "people")
    for rows, names in ((1, ("person", "people")), (2, ("row", "rows"))):
        capped = Schema(name="x", attributes=columns, unit="person", person=Person("who", rows))
        assert capped.unit_names == names
    assert Schema(name="x", attributes=columns).unit_names == ("row", "rows")
    assert Schema(name="x", unit="row", items=Items(("a", "b"))).unit_names[1] == "records"
    named = Metadata(unit_name=("visit", "visits"))
    assert Schema(name="x", attributes=columns, metadata=named).unit_names == ("visit", "visits")


def test_editors_know_the_keys() -> None:
    keys = json_schema()["$defs"]["MetadataModel"]["properties"]
    assert set(TOLD) < set(keys)
