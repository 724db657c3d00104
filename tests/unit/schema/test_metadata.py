"""Metadata: read from files and dictionaries, written back, refused with a line."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

import hedgerow
from hedgerow.errors import HedgerowError
from hedgerow.methods.clusters import cluster_schema, find_centroids
from hedgerow.schema import Items, Metadata, Person, Schema
from hedgerow.schema.model import json_schema

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


# --- what was signed off -------------------------------------------------------------------


def signed_schema(tmp_path: Path, more: str = "") -> Path:
    """A signed schema whose taxonomies stand in a file beside it and in an included one."""
    (tmp_path / "jobs.yaml").write_text(
        "Arts: [dance, song]\nTrades: [baker, smith]\n", encoding="utf-8"
    )
    (tmp_path / "shared.yaml").write_text("taxonomies:\n  ward: [a, b, c]\n", encoding="utf-8")
    path = tmp_path / "signed.yaml"
    text = (
        "name: x\nunit: row\ninclude: shared.yaml\nmetadata:\n  reviewer: Ada\n"
        f"  reviewed: 2026-01-31\n{more}attributes:\n"
        "  job: {type: categorical, taxonomy: jobs.yaml}\n"
        "  ward: {type: categorical, taxonomy: ward}\n"
    )
    path.write_text(text, encoding="utf-8")
    if not more:
        return signed_schema(tmp_path, f"  signed: {Schema.load(path).fingerprint}\n")
    return path


def test_what_was_signed_is_not_a_draft(tmp_path: Path) -> None:
    schema = Schema.load(signed_schema(tmp_path))
    assert not schema.is_draft and schema.metadata.reviewer == "Ada" and not schema.warnings
    assert schema.metadata.signed == schema.fingerprint
    assert Schema.from_dict(schema.to_dict()) == schema


@pytest.mark.parametrize(
    "file, old, new",
    [
        ("jobs.yaml", "song", "opera"),
        ("jobs.yaml", "Trades", "Crafts"),
        ("shared.yaml", "[a, b, c]", "[a, b, c, d]"),
        ("signed.yaml", "taxonomy: ward}", "taxonomy: ward, missing: other}"),
    ],
)
def test_a_change_of_any_file_withdraws_the_sign_off(
    tmp_path: Path, file: str, old: str, new: str
) -> None:
    path = signed_schema(tmp_path)
    changed = (tmp_path / file).read_text(encoding="utf-8").replace(old, new)
    (tmp_path / file).write_text(changed, encoding="utf-8")
    schema = Schema.load(path)
    assert schema.is_draft and schema.metadata.reviewer is None and schema.metadata.signed is None
    (line,) = schema.warnings
    assert "signed.yaml:7" in line and "since Ada signed it off on 2026-01-31" in line
    assert "hedgerow sign" in line  # `test_cli_sign.py` does so
    text = path.read_text(encoding="utf-8")
    before = text[text.index("  signed: ") : text.index("attributes:")]
    path.write_text(text.replace(before, f"  signed: {schema.fingerprint}\n"), encoding="utf-8")
    assert not Schema.load(path).is_draft


def test_comments_layout_and_other_metadata_do_not_withdraw_it(tmp_path: Path) -> None:
    path = signed_schema(tmp_path)
    text = path.read_text(encoding="utf-8")
    text = "# looked at again\n" + text.replace("metadata:\n", "metadata:\n  period: 1999\n")
    path.write_text(text, encoding="utf-8")
    (tmp_path / "jobs.yaml").write_text(
        "Arts:\n  - dance\n  - song\nTrades: [baker, smith]\n", encoding="utf-8"
    )
    assert not Schema.load(path).is_draft


def test_a_fingerprint_without_a_reviewer_is_refused(tmp_path: Path) -> None:
    with pytest.raises(HedgerowError, match="needs a reviewer"):
        Schema.load(written(tmp_path, "metadata: {signed: 0123}\n"))


def test_a_schema_inside_a_release_is_read_as_it_is(tmp_path: Path) -> None:
    """A later version may write a schema otherwise, and must still read what was released."""
    document = Schema.load(signed_schema(tmp_path)).to_dict()
    document["metadata"]["signed"] = "0" * 32
    schema = Schema.from_dict(document)
    assert not schema.is_draft and schema.metadata.reviewer == "Ada"
    assert schema.changed_since_signed and not schema.is_signed_off


def changed_in_python(tmp_path: Path) -> list[Schema]:
    """A signed schema that was changed afterwards, by all ways that Python has."""
    path = signed_schema(tmp_path)
    schema = Schema.load(path)
    document = schema.to_dict()
    document["attributes"]["ward"]["missing"] = "drop"
    beside = {
        "name": "x", "unit": "row", "metadata": schema.metadata.describe(),
        "attributes": {"job": {"type": "categorical", "taxonomy": "jobs.yaml"}},
    }  # fmt: skip
    return [
        Schema.from_dict(document),
        Schema.from_dict(beside, folder=tmp_path),
        replace(schema, attributes=schema.attributes[:1]),
        replace(schema, unit="person", person=Person("who", 2)),
    ]


def test_nothing_is_published_by_another_schema_than_the_signed_one(tmp_path: Path) -> None:
    for schema in changed_in_python(tmp_path):
        assert schema.changed_since_signed
        with pytest.raises(HedgerowError, match="changed since Ada signed it off on 2026-01-31"):
            hedgerow.publish("no such file.csv", schema, epsilon=1)
        with pytest.raises(HedgerowError, match="changed since Ada"):
            hedgerow.publish("no such file.csv", schema.to_dict(), epsilon=1)
        with pytest.raises(HedgerowError, match="changed since Ada"):
            find_centroids("no such file.csv", schema, epsilon=1)
        told = {**schema.metadata.describe(), "signed": schema.fingerprint}
        assert replace(schema, metadata=Metadata(**told)).is_signed_off
        assert not replace(schema, metadata=schema.metadata.unsigned).changed_since_signed


def test_clusters_are_not_what_was_signed(tmp_path: Path) -> None:
    with_clusters = cluster_schema(Schema.load(signed_schema(tmp_path)), 2)
    assert with_clusters.metadata.reviewer is None and not with_clusters.changed_since_signed
