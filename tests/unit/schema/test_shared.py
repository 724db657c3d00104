"""Shared taxonomies: names within a schema, and files that several schemas include."""

from __future__ import annotations

from pathlib import Path

import pytest

from hedgerow.errors import SchemaError
from hedgerow.schema import Categorical, Schema

COLUMNS = "attributes:\n  a: {type: categorical, taxonomy: ward}\n"


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, "utf-8")
    return path


def test_columns_share_a_tree_and_a_release_holds_it_in_full(tmp_path: Path) -> None:
    text = (
        "name: t\nunit: row\ntaxonomies:\n  ward: {S: [S1..S3], M: [a, b]}\n" + COLUMNS +
        "  b: {type: categorical, taxonomy: ward, root: All, missing: other}\n"
    )  # fmt: skip
    schema = Schema.load(write(tmp_path, "s.yaml", text))
    a, b = schema.attributes
    assert isinstance(a, Categorical) and isinstance(b, Categorical)
    assert a.taxonomy.leaves == ("S1", "S2", "S3", "a", "b")
    assert b.taxonomy.leaves == (*a.taxonomy.leaves, "other")
    assert not {"include", "taxonomies"} & set(schema.to_dict())
    assert Schema.from_dict(schema.to_dict()) == schema


def test_included_files_look_beside_themselves(tmp_path: Path) -> None:
    write(tmp_path, "shared/m.csv", "rule,value,group\nX*,x,G\nY*,y,G\n*,z,\n")
    write(tmp_path, "shared/h.yaml", "taxonomies:\n  ward: m.csv\n  where: us-states\n")
    text = f"name: t\nunit: row\ninclude: [shared/h.yaml]\n{COLUMNS}"
    schema = Schema.load(write(tmp_path, "s.yaml", text))
    (a,) = schema.attributes
    assert isinstance(a, Categorical)
    assert a.reading.rules == (("X*", "x"), ("Y*", "y"), ("*", "z"))


def test_items_may_use_them(tmp_path: Path) -> None:
    write(tmp_path, "h.yaml", "taxonomies: {ward: {S: [a, b], M: [c, d]}}\n")
    text = "name: t\nunit: row\ninclude: h.yaml\nitems: {taxonomy: ward}\n"
    assert Schema.load(write(tmp_path, "s.yaml", text)).transaction_items.size == 4


@pytest.mark.parametrize(
    ("top", "other", "place", "what"),
    [
        ("include: no.yaml\n", "", "s.yaml:2", "no file"),
        ("include:\n  - {a: b}\n", "", "s.yaml:2", "does not name a file"),
        ("include: h.yaml\n", "taxonomies: [a]\n", "h.yaml:1", "not a mapping"),
        ("include: h.yaml\n", "name: x\n", "h.yaml:1", "key taxonomies, and no other"),
        ("include: h.yaml\n", "[a, b]\n", "h.yaml:1", "key taxonomies, and no other"),
        ("include: h.yaml\n", "taxonomies: {ward: }\n", "h.yaml:1", "blank"),
        (
            "taxonomies: {ward: [a, b]}\ninclude: h.yaml\n",
            "taxonomies:\n  ward: [a, b]\n", "h.yaml:2", "already in",
        ),
        ("include: h.yaml\n", "taxonomies:\n  ward: [a,\n   b, a]\n", "h.yaml:3", "repeated"),
        ("taxonomies: x\n", "", "s.yaml:2", "not a mapping"),
        ("taxonomies: {wrad: [a, b]}\n", "", "s.yaml:4", "no taxonomy file"),
    ],
)  # fmt: skip
def test_faults_name_file_and_line(
    tmp_path: Path, top: str, other: str, place: str, what: str
) -> None:
    write(tmp_path, "h.yaml", other)
    with pytest.raises(SchemaError) as caught:
        Schema.load(write(tmp_path, "s.yaml", f"name: t\n{top}{COLUMNS}"))
    assert place in str(caught.value)
    assert what in str(caught.value)


def test_a_release_cannot_make_us_open_files() -> None:
    told = {"name": "t", "include": "/etc/hosts", "attributes": {"a": {"type": "boolean"}}}
    with pytest.raises(SchemaError, match="no folder"):
        Schema.from_dict(told)
