"""The Schema: its file, its dictionary form, and what it refuses."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.errors import SchemaError, UsageError
from hedgerow.schema import Categorical, Numeric, Person, Schema, Taxonomy, refuse_no_unit

EXAMPLE = """\
name: adult
unit: person
attributes:
  age:       {type: numeric, low: 17, high: 90, step: 1}
  fnlwgt:    {type: numeric, low: 0, high: 1500000, step: 1000, outside: clip}
  education: {type: categorical, taxonomy: taxonomies/education.csv}
  sex:       {type: categorical, values: [Female, Male]}
  country:   {type: categorical, taxonomy: taxonomies/country.yaml, missing: other}
  job:       {type: categorical, taxonomy: {White: [Clerk, Lawyer], Blue: [Smith, Miner]}}
  height:    {type: numeric, low: 0.5, high: 2.5, step: 0.01}
  born:      {type: numeric, low: 1900-01-01, high: 2020-12-31, step: 7}
  owner:     {type: boolean, missing: other}
  ssn:       {role: identifier}
  who:       {role: person, max_rows: 3}
  salary:    {type: categorical, values: ["<=50K", ">50K"], role: class}
"""


@pytest.fixture
def example(tmp_path: Path) -> Path:
    folder = tmp_path / "taxonomies"
    folder.mkdir()
    (folder / "education.csv").write_text(
        "9th;School;*\nBSc;Higher;*\nMSc;Higher;*\n10th;School;*\n"
    )
    (folder / "country.yaml").write_text("Europe: [No, Se]\nAsia:\n  - India\n  - Japan\n")
    (tmp_path / "schema.yaml").write_text(EXAMPLE)
    return tmp_path / "schema.yaml"


def test_the_issues_example_loads(example: Path) -> None:
    schema = Schema.load(example)
    by_name = {attribute.name: attribute for attribute in schema.attributes}
    assert list(by_name) == [
        "age", "fnlwgt", "education", "sex", "country", "job", "height", "born", "owner",
    ]  # fmt: skip
    assert schema.classes == ("<=50K", ">50K")
    assert schema.identifiers == ("ssn",)
    assert schema.person == Person("who", 3)
    assert not schema.is_draft
    assert schema.warnings == ()
    education, country = by_name["education"], by_name["country"]
    assert isinstance(education, Categorical) and isinstance(country, Categorical)
    assert education.taxonomy.leaves == ("9th", "10th", "BSc", "MSc")
    assert education.taxonomy.labels[0] == "*"
    assert country.taxonomy.leaves == ("No", "Se", "India", "Japan", "other")
    assert country.taxonomy.label(0, 2) == "Europe"
    assert by_name["owner"].size == 3
    height, born = by_name["height"], by_name["born"]
    assert isinstance(height, Numeric) and isinstance(born, Numeric)
    assert (height.kind, height.step, height.size) == ("decimal", Fraction(1, 100), 201)
    assert (born.kind, born.step) == ("date", 7)
    assert str(born.edge(0)) == "1900-01-01"


def test_every_written_form_reads_back_equal(example: Path, tmp_path: Path) -> None:
    schema = Schema.load(example)
    through_json = json.loads(json.dumps(schema.to_dict()))
    (tmp_path / "again.yaml").write_text(schema.to_yaml())
    for again in (Schema.from_dict(through_json), Schema.load(tmp_path / "again.yaml")):
        assert again == schema
        assert again.hash == schema.hash


def test_other_tools_see_the_same_texts_in_our_yaml(example: Path) -> None:
    document = yaml.safe_load(Schema.load(example).to_yaml())
    assert document["attributes"]["country"]["taxonomy"]["Europe"] == ["No", "Se"]
    assert document["attributes"]["height"]["step"] == 0.01
    assert document["attributes"]["born"]["low"].isoformat() == "1900-01-01"


def test_the_hash_tells_order_and_rules_apart() -> None:
    def schema(**changes: object) -> Schema:
        columns = {
            "a": {"type": "categorical", "values": ["x", "y"]},
            "b": {"type": "numeric", "low": 0, "high": 9} | changes,
        }
        return Schema.from_dict({"name": "t", "unit": "row", "attributes": columns})

    flipped = {"b": {"type": "numeric", "low": 0, "high": 9}}
    flipped["a"] = {"type": "categorical", "values": ["x", "y"]}
    hashes = {
        schema().hash,
        schema(outside="clip").hash,
        schema(high=10).hash,
        Schema.from_dict({"name": "t", "unit": "row", "attributes": flipped}).hash,
    }
    assert len(hashes) == 4
    assert schema(step=1).hash == schema().hash


def test_a_draft_loads_and_is_marked(tmp_path: Path) -> None:
    path = tmp_path / "s.yaml"
    path.write_text(
        "name: x\nunit: row\ndraft: true\nbegan_as_draft: true\nattributes:\n  a: {type: boolean}\n"
    )
    schema = Schema.load(path)
    assert schema.is_draft and schema.began_as_draft
    assert Schema.from_dict(schema.to_dict()) == schema


LABEL = st.text(
    st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp"), exclude_characters="\ufeff"),
    min_size=1,
    max_size=6,
).filter(lambda text: bool(text.strip()))


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(
    names=st.lists(LABEL, min_size=2, max_size=3, unique=True),
    leaves=st.lists(LABEL, min_size=2, max_size=6, unique=True),
    low=st.decimals(-1000, 1000, places=3),
    cells=st.integers(1, 500),
    step=st.decimals("0.001", 10, places=3),
    missing=st.sampled_from(["error", "other", "drop"]),
)
def test_any_schema_survives_yaml_and_json(
    tmp_path_factory: pytest.TempPathFactory, names, leaves, low, cells, step, missing
) -> None:
    document = {
        "name": names[0],
        "unit": "row",
        "attributes": {
            f"{names[0]}1": {
                "type": "numeric",
                "low": low,
                "high": low + cells * step,
                "step": step,
                "scale": "log" if cells % 2 else "linear",
                "common": [low + step] if cells % 3 else [],
            },
            f"{names[1]}2": {
                "type": "categorical",
                "root": "the root of all",
                "taxonomy": {"group of": leaves[:-1], leaves[-1]: None},
                "missing": missing,
            },
        },
    }
    if missing == "other" and "other" in leaves:
        return
    schema = Schema.from_dict(document)
    path = tmp_path_factory.mktemp("s") / "s.yaml"
    path.write_text(schema.to_yaml(), encoding="utf-8")
    assert Schema.load(path) == schema
    assert Schema.from_dict(json.loads(json.dumps(schema.to_dict()))) == schema


def test_a_schema_built_by_hand_is_checked() -> None:
    good = Categorical("a", Taxonomy.flat(["x", "y"]))
    assert Schema("t", (good,), unit="row").attributes == (good,)
    cases = [
        ("no attribute", (), None),
        ("described twice", (good, good), None),
        ("reserved", (Categorical("count", good.taxonomy),), None),
        ("repeated", (Categorical("a", Taxonomy.flat(["x", "x"])),), None),
        ("leaf 'other'", (Categorical("a", good.taxonomy, missing="other"),), None),
        (
            "not a decimal",
            (Numeric("a", low=Fraction(0), high=Fraction(1), step=Fraction(1, 3), kind="decimal"),),
            None,
        ),
        (
            "whole number",
            (Numeric("a", low=Fraction(0), high=Fraction(1), step=Fraction(1, 2), kind="integer"),),
            None,
        ),
        (
            "cannot have",
            (
                Numeric(
                    "a",
                    low=Fraction(0),
                    high=Fraction(9),
                    step=Fraction(1),
                    kind="integer",
                    common=(Fraction(10),),
                ),  # fmt: skip
            ),
            None,
        ),
        ("false and true", (Categorical("a", good.taxonomy, boolean=True),), None),
        (
            "several levels",
            (good,),
            Categorical("c", Taxonomy.from_nested("r", {"g": ["x", "y"], "h": ["z", "w"]})),
        ),
    ]
    for rule, attributes, target in cases:
        with pytest.raises(SchemaError, match=rule):
            Schema("t", attributes, target=target, unit="row")
    with pytest.raises(SchemaError, match="max_rows"):
        Schema("t", (good,), person=Person("p", 0), unit="person")


def test_a_dictionary_from_a_stranger_opens_no_file(example: Path) -> None:
    column = {"type": "categorical", "taxonomy": str(example.parent / "taxonomies/education.csv")}
    with pytest.raises(SchemaError, match="no folder"):
        Schema.from_dict({"name": "x", "unit": "row", "attributes": {"a": column}})
    assert Schema.from_dict(
        {"name": "x", "unit": "row", "attributes": {"a": column}}, example.parent
    ).attributes


@pytest.mark.parametrize("number", [10**5000, -(10**5000), 2**2000], ids=["+", "-", "bits"])
def test_numbers_of_very_many_digits_are_refused(number: int) -> None:
    """Python itself fails to write them out."""
    age = {"type": "numeric", "low": 0, "high": number}
    for document in ({"name": "x", "unit": "row", "attributes": {"age": age}}, {"name": number}):
        with pytest.raises(SchemaError, match="digits"):
            Schema.from_dict(document)


@pytest.mark.parametrize("name", ["a\x1b[2J", "a\nb", "\ud800", "\ufeff"])
def test_a_name_that_cannot_be_shown_is_refused(name: str) -> None:
    with pytest.raises(SchemaError):
        Schema.from_dict({"name": name, "unit": "row", "attributes": {"b": {"type": "boolean"}}})


def test_a_path_that_no_system_takes_is_a_fault_in_the_schema(tmp_path: Path) -> None:
    long = "x" * 5000
    for document in (
        {
            "name": "x",
            "unit": "row",
            "attributes": {"a": {"type": "categorical", "taxonomy": f"{long}.yaml"}},
        },
        {"name": "x", "unit": "row", "items": {"universe": long}},
        {"name": "x", "unit": "row", "items": {"universe": "a\0b"}},
    ):
        with pytest.raises(SchemaError, match="there is no"):
            Schema.from_dict(document, tmp_path)


TOLD_APART = {"a": {"type": "boolean"}, "who": {"role": "person", "max_rows": 2}}
SETS = {"universe": ["tea", "milk"]}
GATHERED = SETS | {"person": "who", "item": "what"}


@pytest.mark.parametrize(
    ("body", "unit"),
    [
        ({"attributes": {"a": {"type": "boolean"}}}, "row"),
        ({"attributes": TOLD_APART}, "person"),
        ({"items": SETS}, "row"),
        ({"items": GATHERED}, "person"),
    ],
)
def test_the_unit_is_stated_and_cannot_be_contradicted(body: dict[str, Any], unit: str) -> None:
    stated = Schema.from_dict({"name": "x", "unit": unit} | body)
    assert stated.unit == unit and f"\nunit: {unit}\n" in stated.to_yaml()
    assert Schema.from_dict(stated.to_dict()) == stated
    refuse_no_unit(stated)
    wrong = "row" if unit == "person" else "person"
    with pytest.raises(SchemaError, match=f"the unit is a {wrong}") as caught:
        Schema.from_dict({"name": "x", "unit": wrong} | body)
    assert f"unit: {unit}" in str(caught.value)
    with pytest.raises(SchemaError, match=f"the unit is a {wrong}"):
        replace(stated, unit=wrong)
    unstated = Schema.from_dict({"name": "x"} | body)  # as in a release of before
    assert unstated.unit is None and "unit" not in unstated.to_dict()
    assert unstated.hash != stated.hash
    with pytest.raises(SchemaError, match="does not state its unit"):
        refuse_no_unit(unstated)


def test_a_unit_that_is_none_of_the_two() -> None:
    table = Schema.from_dict({"name": "t", "unit": "row", "attributes": {"a": {"type": "boolean"}}})
    with pytest.raises(UsageError, match="unit cannot be 'household'"):
        replace(table, unit="household")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "body, column",
    [
        ({"attributes": {"who": {"role": "person", "max_rows": 2}}}, "who"),
        ({"attributes": {}}, None),
        ({"items": {"universe": ["a"], "person": "buyer", "item": "bought"}}, "buyer"),
        ({"items": {"universe": ["a"]}}, None),
    ],
)
def test_the_column_that_identifies_people_is_named(
    body: dict[str, Any], column: str | None
) -> None:
    if "attributes" in body:
        body["attributes"]["owner"] = {"type": "boolean"}
    assert Schema.from_dict({"name": "x", **body}).person_column == column
