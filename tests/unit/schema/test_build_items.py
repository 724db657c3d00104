"""The `items:` of a schema file: what is read, and what is said when it is wrong."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
import yaml

from hedgerow.errors import SchemaError
from hedgerow.schema import Schema
from hedgerow.schema.model import json_schema


def load(folder: Path, text: str) -> Schema:
    path = folder / "s.yaml"
    path.write_text(text, encoding="utf-8")
    return Schema.load(path)


def test_the_interface(tmp_path: Path) -> None:
    schema = load(
        tmp_path,
        "name: clicks\nitems: {universe: {range: [1, 17]}, fan_out: 10, foreign: drop, "
        "empty: drop, max_items: 17}\n",
    )
    assert schema.items is not None and schema.items.universe == range(1, 18)
    assert schema.items.max_items == 17 and not schema.warnings and schema.attributes == ()


def test_a_list_keeps_texts_as_they_are_written(tmp_path: Path) -> None:
    schema = load(tmp_path, "name: s\nitems:\n  universe: [No, 007, 1.0, 'a, b', -3]\n")
    assert schema.items is not None
    assert schema.items.labels == ("No", "007", "1.0", "a, b", "-3")


@pytest.mark.parametrize("content", ["b\n\n a \r\n-3\n", "\ufeffb\ra\r-3"])
def test_a_file_beside_the_schema(tmp_path: Path, content: str) -> None:
    (tmp_path / "items.txt").write_bytes(content.encode())
    schema = load(tmp_path, "name: s\nitems: {universe: items.txt}\n")
    assert schema.items is not None and schema.items.labels == ("b", "a", "-3")
    assert schema.to_dict()["items"]["universe"] == ["b", "a", "-3"]


def test_taxonomies(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("tea;Drink;*\nrye;Bread;*\nmilk;Drink;*\n")
    (tmp_path / "t.yaml").write_text("Drink: [tea, milk]\nBread: [rye]\n")
    nested = "{Drink: [tea, milk], Bread: [rye]}"
    for tree in ("t.csv", "t.yaml", nested):
        schema = load(tmp_path, f"name: s\nitems: {{taxonomy: {tree}, root: Food}}\n")
        assert schema.items is not None and schema.items.semantic
        assert schema.items.labels == ("tea", "milk", "rye")
        assert schema.items.taxonomy.labels == ("Food", "Drink", "tea", "milk", "rye")
        assert any("single member" in warning for warning in schema.warnings)


@pytest.mark.parametrize(
    "items, line, rule, hint",
    [
        ("{}", 2, "neither a universe nor a taxonomy", "range"),
        ("", 2, "items says nothing", "universe"),
        ("[a]", 2, "not a mapping", "universe"),
        ("{universe: {range: [1]}}", 2, "pair of whole numbers", "range"),
        ("{universe: {range: [1, 2.5]}}", 2, "pair of whole numbers", "range"),
        ("{universe: {range: [9, 1]}}", 2, "ends before", "smaller"),
        ("{universe: {range: [1, 99999999]}}", 2, "more than", "smaller"),
        ("{universe: {range: [1, 2], x: 1}}", 2, "neither a range", "list"),
        ("{universe: [a, [b]]}", 2, "not a list of items", "list"),
        ("{universe: []}", 2, "not a list of items", "list"),
        ("\n  universe:\n  - a\n  - b\n  - a", 6, "'a' is repeated (first on line 4)", "Keep one"),
        ("\n  universe: [a, ' ']", 3, "blank", "Give it a name"),
        ("\n  fan_out: 1\n  universe: [a]", 3, "at least 2", "10"),
        ("\n  universe: [a]\n  fan_out: x", 4, "at least 2", "10"),
        ("\n  universe: [a]\n  max_items: 0", 4, "at least 1", "1"),
        ("\n  universe: [a]\n  foreign: other", 4, "foreign is 'other'", "drop, error"),
        ("\n  universe: [a]\n  empty: dumy", 4, "empty is 'dumy'", "dummy"),
        ("\n  universe: [a]\n  separator: xx", 4, "separated", "|"),
        ("\n  universe: [a]\n  maxitems: 3", 4, "unknown key 'maxitems'", "max_items"),
        ("\n  universe: [a]\n  low: 3", 4, "unknown key 'low'", "The keys here"),
        ("\n  universe: [a]\n  root: x", 4, "root is for taxonomies", "Remove"),
        ("\n  universe: [a]\n  taxonomy: [a]", 4, "also a taxonomy", "Keep one"),
        ("\n  taxonomy: [a, b]\n  fan_out: 3", 4, "taxonomy itself", "Remove"),
        ("\n  taxonomy: [a, b]\n  fan_out: 10", 4, "taxonomy itself", "Remove"),
        ("\n  taxonomy: no.csv", 3, "no taxonomy file", "beside"),
        ("\n  taxonomy: {A: [x, y], B: [x]}", 3, "two parents", "Keep it"),
        ("\n  universe: no.txt", 3, "no file", "beside"),
        ("\n  universe: [a]\n  person: p", 4, "without item", "both"),
        ("\n  universe: [a, (empty)]\n  empty: dummy", 4, "empty record", "Rename"),
    ],
)
def test_faulty_items(tmp_path: Path, items: str, line: int, rule: str, hint: str) -> None:
    with pytest.raises(SchemaError) as caught:
        load(tmp_path, f"name: s\nitems: {items}\n")
    text = str(caught.value)
    assert f"{tmp_path / 's.yaml'}:{line}: " in text
    assert rule in text and hint in text


def test_faults_in_the_file_of_items_name_its_lines(tmp_path: Path) -> None:
    (tmp_path / "items.txt").write_text("a\n\nb\na\nb\n")
    with pytest.raises(SchemaError) as caught:
        load(tmp_path, "name: s\nitems: {universe: items.txt}\n")
    assert "items.txt:4: items: the item 'a' is repeated (first on line 1)" in str(caught.value)
    assert "items.txt:5: " in str(caught.value)
    (tmp_path / "items.txt").write_bytes(b"a\nb\xff\n")
    with pytest.raises(SchemaError, match=r"items.txt:2: items: the file is not UTF-8"):
        load(tmp_path, "name: s\nitems: {universe: items.txt}\n")
    (tmp_path / "items.txt").write_text("\n")
    with pytest.raises(SchemaError, match=r"items.txt: items: the file is empty"):
        load(tmp_path, "name: s\nitems: {universe: items.txt}\n")


def test_a_document_alone_opens_no_file() -> None:
    with pytest.raises(SchemaError, match="no folder"):
        Schema.from_dict({"name": "s", "items": {"universe": "/etc/passwd"}})
    with pytest.raises(SchemaError, match="no folder"):
        Schema.from_dict({"name": "s", "items": {"taxonomy": "/etc/passwd"}})


def test_both_and_neither(tmp_path: Path) -> None:
    with pytest.raises(SchemaError, match=r"s.yaml:4: the schema has both attributes and items"):
        load(tmp_path, "name: s\nattributes:\n  a: {type: boolean}\nitems: {universe: [a]}\n")
    with pytest.raises(SchemaError, match="'attributes' is missing") as caught:
        load(tmp_path, "name: s\n")
    assert "items:" in str(caught.value)
    with pytest.raises(SchemaError, match="unknown key 'item'"):
        load(tmp_path, "name: s\nitem: {universe: [a]}\n")


@pytest.mark.parametrize(
    "items, warning",
    [
        ("{universe: [a]}", "single item"),
        ("{taxonomy: [a]}", "single item"),
        ("{universe: {range: [1, 3]}, max_items: 4}", "caps nothing"),
        ("{universe: [a, ' b']}", "starts or ends with a space"),
    ],
)
def test_what_is_odd_though_not_wrong(tmp_path: Path, items: str, warning: str) -> None:
    (found,) = load(tmp_path, f"name: s\nitems: {items}\n").warnings
    assert warning in found and "s.yaml:2: items: " in found


def test_a_hundred_thousand_items_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "items.txt").write_text("\n".join(f"i{n}" for n in range(100_000)))
    schema = load(tmp_path, "name: s\nitems: {universe: items.txt}\n")
    assert schema.items is not None and schema.items.size == 100_000
    assert schema.items.code_of("i99999") == 99_999


@pytest.mark.parametrize(
    "text, fine",
    [
        ("name: s\nitems: {universe: {range: [-1, 17]}, max_items: 3}", True),
        ("name: s\nitems: {universe: [a, 2], separator: '|', empty: dummy}", True),
        ("name: s\nitems: {universe: items.txt, person: p, item: i}", True),
        ("name: s\nitems: {taxonomy: {A: [x, y]}, root: R}", True),
        ("name: s\nitems: {universe: {range: [1]}}", False),
        ("name: s\nitems: {universe: [a], fan_out: 1}", False),
        ("name: s\nitems: {universe: [a], what: 1}", False),
        ("name: s", False),
        ("name: s\nitems: {universe: [a]}\nattributes: {a: {type: boolean}}", False),
    ],
)
def test_editors_agree(text: str, fine: bool) -> None:
    checker = jsonschema.Draft202012Validator(json_schema())
    assert checker.is_valid(yaml.safe_load(text)) is fine


def test_what_we_write_is_valid_for_editors() -> None:
    document = {"name": "s", "items": {"universe": ["a", "b"], "empty": "dummy", "max_items": 1}}
    written = json.loads(json.dumps(Schema.from_dict(document).to_dict()))
    jsonschema.Draft202012Validator(json_schema()).validate(written)


def test_the_schema_in_the_docs_loads(tmp_path: Path) -> None:
    page = (Path(__file__).parents[3] / "docs" / "schema.md").read_text(encoding="utf-8")
    (text,) = [part.split("```")[0] for part in page.split("```yaml\n") if "items:" in part[:40]]
    schema = load(tmp_path, text)
    assert schema.items is not None and schema.items.size == 17
