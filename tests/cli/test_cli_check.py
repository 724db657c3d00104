from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Hedge = Callable[..., Any]

SCHEMA = """\
name: ages
unit: person
attributes:
  id: {role: person, max_rows: 2}
  age: {type: numeric, low: 0, high: 99, step: 1}
"""


@pytest.fixture
def ages(tmp_path: Path) -> Path:
    (tmp_path / "schema.yaml").write_text(SCHEMA, encoding="utf-8")
    return tmp_path


def test_a_schema_alone(hedge: Hedge, survey: Path) -> None:
    done = hedge("check", survey / "schema.yaml")
    assert done.exit_code == 0
    assert "the schema is right" in done.stdout
    assert "2024-01-01 to 2024-12-31 by 7 days" in done.stdout
    assert "follows" not in done.stdout


def test_a_table_too(hedge: Hedge, survey: Path) -> None:
    done = hedge("check", survey / "schema.yaml", "--data", survey / "people.csv")
    assert done.exit_code == 0 and "follows the schema" in done.stdout


def test_complaints_name_places_but_no_values(hedge: Hedge, ages: Path) -> None:
    (ages / "data.csv").write_text("id,age\na,17\nb,12345\n", encoding="utf-8")
    done = hedge("check", ages / "schema.yaml", "--data", ages / "data.csv")
    assert done.exit_code == 4
    assert "age" in done.stderr and "3" in done.stderr
    assert "12345" not in done.stderr + done.stdout
    done = hedge("check", ages / "schema.yaml", "--data", ages / "data.csv", "--json")
    assert json.loads(done.stderr)["error"]["places"] == [["attributes", "age", "outside"]]


def test_json_and_the_unit_of_protection(hedge: Hedge, ages: Path) -> None:
    facts = json.loads(hedge("check", ages / "schema.yaml", "--json").stdout)
    assert facts["name"] == "ages" and facts["draft"] is False
    assert facts["data_follows_schema"] is None
    assert "at most 2 rows" in facts["unit_of_protection"]


def test_an_error_as_json(hedge: Hedge, ages: Path) -> None:
    (ages / "schema.yaml").write_text(SCHEMA.replace("high", "hihg"), encoding="utf-8")
    done = hedge("check", ages / "schema.yaml", "--json")
    error = json.loads(done.stderr)["error"]
    assert done.exit_code == error["exit_code"] == 3
    assert error["kind"] == "SchemaError" and "schema.yaml:5" in error["message"]
    assert error["places"] == [["attributes", "age", "hihg"]]
    assert done.stdout == ""


def test_warnings_and_drafts_are_told(hedge: Hedge, ages: Path) -> None:
    text = SCHEMA + "  only: {type: categorical, values: [one]}\ndraft: true\n"
    (ages / "schema.yaml").write_text(text, encoding="utf-8")
    done = hedge("check", ages / "schema.yaml")
    assert done.exit_code == 0
    assert "Warning:" in done.stderr and done.stderr.startswith("This is a draft")
    assert "the schema is right, but a draft" in done.stdout


def test_a_missing_schema(hedge: Hedge, tmp_path: Path) -> None:
    done = hedge("check", tmp_path / "none.yaml")
    assert done.exit_code == 3 and "none.yaml" in done.stderr


def test_columns_that_say_nothing_are_told_to_the_steward(hedge: Hedge, tmp_path: Path) -> None:
    schema, data = tmp_path / "s.yaml", tmp_path / "d.csv"
    schema.write_text(
        "name: t\nunit: row\nattributes:\n"
        "  dose: {type: numeric, low: 0.0, high: 9.0, step: 0.1, outside: other}\n"
        "  age: {type: numeric, low: 0, high: 99}\n",
        encoding="utf-8",
    )
    data.write_text("dose;age\n1,5;4\n2,5;5\n", encoding="utf-8")
    done = hedge("check", schema, "--data", data)
    assert done.exit_code == 0, done.stderr
    assert "Warning:" in done.stderr and "'dose'" in done.stderr and "comma" in done.stderr
    assert "'age'" not in done.stderr and "2,5" not in done.stderr
    done = hedge("check", schema, "--data", data, "--json")
    assert done.stderr == "" and "decimal comma" in json.loads(done.stdout)["warnings"][0]
    out = tmp_path / "r"
    done = hedge("publish", data, "--schema", schema, "--epsilon", 1, "--out", out)
    assert done.exit_code == 0 and "'dose'" in done.stderr and "comma" not in done.stdout
    assert not any(b"comma" in path.read_bytes() for path in out.rglob("*") if path.is_file())


def test_transactions(hedge: Hedge, tmp_path: Path) -> None:
    schema, data = tmp_path / "s.yaml", tmp_path / "d.dat"
    items = "{universe: {range: [1, 17]}, max_items: 3, foreign: error}"
    text = f"name: clicks\nunit: row\nitems: {items}\n"
    schema.write_text(text, encoding="utf-8")
    data.write_text("1 2\n\n17\n", encoding="utf-8")
    done = hedge("check", schema, "--data", data)
    assert done.exit_code == 0, done.stderr
    assert "17 items, from 1 to 17" in done.stdout and "one record is one person" in done.stdout
    facts = json.loads(hedge("check", schema, "--json").stdout)
    assert facts["items"]["max_items"] == 3 and facts["attributes"] == []
    assert facts["items"]["tree"] == "groups of 10 neighbors, 2 levels"
    data.write_text("1 2\n4711\n", encoding="utf-8")
    done = hedge("check", schema, "--data", data)
    assert done.exit_code == 4 and "line 2" in done.stderr and "4711" not in done.stderr
    schema.write_text(text.replace("max_items: 3", "max_items: 0"), encoding="utf-8")
    done = hedge("check", schema)
    assert done.exit_code == 3 and "s.yaml:3: items: max_items" in done.stderr


def test_transactions_of_which_nothing_is_known(hedge: Hedge, tmp_path: Path) -> None:
    schema, data = tmp_path / "s.yaml", tmp_path / "d.dat"
    schema.write_text("name: shop\nunit: row\nitems: {universe: [tea, milk]}\n", encoding="utf-8")
    data.write_text("tea,milk\n", encoding="utf-8")
    done = hedge("check", schema, "--data", data)
    assert done.exit_code == 0 and "separator" in done.stderr and "tea,milk" not in done.stderr


TABLE = "attributes:\n  age: {type: numeric, low: 0, high: 99}\n"
ITEMS = "items: {universe: [tea, milk]}\n"


@pytest.mark.parametrize(
    ("text", "several"), [(TABLE, "k rows"), (ITEMS, "k records")], ids=["table", "transactions"]
)
def test_the_unit_must_be_stated(hedge: Hedge, tmp_path: Path, text: str, several: str) -> None:
    schema = tmp_path / "s.yaml"
    schema.write_text(f"name: x\n{text}", encoding="utf-8")
    done = hedge("check", schema, "--data", tmp_path / "nobody opens this")
    assert done.exit_code == 3 and "unit of protection" in done.stderr and done.stdout == ""
    said = " ".join(done.stderr.split())
    assert "`unit: row`" in said and "`unit: person`" in said
    assert f"someone with {several} is protected k times less" in said
    assert hedge("plan", "--schema", schema, "--epsilon", 1).exit_code == 0
    schema.write_text(f"name: x\nunit: row\n{text}", encoding="utf-8")
    assert json.loads(hedge("check", schema, "--json").stdout)["unit"] == "row"


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        (f"unit: person\n{TABLE}", 2, "no column identifies people"),
        (
            f"unit: row\n{TABLE}  who: {{role: person, max_rows: 2}}\n",
            2,
            "give it `role: identifier`",
        ),
        (f"unit: person\n{ITEMS}", 2, "no column identifies people"),
        ("unit: row\nitems: {universe: [tea], person: who, item: what}\n", 2, "'who' identifies"),
        (f"{TABLE}unit: household\n", 4, "unit is 'household'"),
        (f"unit: row or person?\n{TABLE}", 2, "unit is 'row or person?'"),
    ],
)
def test_what_contradicts_the_unit(
    hedge: Hedge, tmp_path: Path, text: str, line: int, message: str
) -> None:
    (tmp_path / "s.yaml").write_text(f"name: x\n{text}", encoding="utf-8")
    done = hedge("check", tmp_path / "s.yaml")
    assert done.exit_code == 3 and f"s.yaml:{line}: " in done.stderr and message in done.stderr


def test_an_attribute_that_nearly_tells_people_apart(hedge: Hedge, tmp_path: Path) -> None:
    schema, data, out = tmp_path / "s.yaml", tmp_path / "d.csv", tmp_path / "r"
    schema.write_text(
        "name: t\nunit: row\nattributes:\n"
        "  pat: {type: numeric, low: 0, high: 99999}\n"
        "  age: {type: numeric, low: 0, high: 99}\n",
        encoding="utf-8",
    )
    lines = [f"{41_000 + 37 * i},{i % 50}\n" for i in range(123)]
    data.write_text("pat,age\n" + "".join(lines), encoding="utf-8")
    done = hedge("check", schema, "--data", data)
    assert done.exit_code == 0 and "follows the schema" in done.stdout
    assert done.stderr.count("Warning:") == 1 and "'pat'" in done.stderr
    assert "role: identifier" in done.stderr and "'age'" not in done.stderr
    words = done.stderr.replace(str(tmp_path), "")
    assert not any(digit in words for digit in "0123456789") and "apart" not in done.stdout
    done = hedge("check", schema, "--data", data, "--json")
    warning, loud = json.loads(done.stdout)["warnings"]
    assert done.stderr == "" and "NOT PRIVATE" in loud and "nearly identifies people" in warning
    # a release does not depend on it
    done = hedge("publish", data, "--schema", schema, "--epsilon", 1, "--out", out)
    assert done.exit_code == 0 and "apart" not in done.stderr + done.stdout


def test_what_became_of_the_rows_is_told_to_the_holder(hedge: Hedge, ages: Path) -> None:
    schema = SCHEMA.replace("step: 1}", "step: 1, outside: clip}")
    (ages / "schema.yaml").write_text(schema, encoding="utf-8")
    (ages / "data.csv").write_text("id,age\na,17\na,120\na,3\nb,5\n", encoding="utf-8")
    done = hedge("check", ages / "schema.yaml", "--data", ages / "data.csv")
    assert "NOT PRIVATE" in done.stdout and "Of 4 rows 3 are counted" in done.stdout
    assert "1 (25.0%)" in done.stdout and "Warning: " in done.stderr
    facts = json.loads(
        hedge("check", ages / "schema.yaml", "--data", ages / "data.csv", "--json").stdout
    )
    assert facts["private"] is False and "NOT PRIVATE" in facts["warnings"][0]
    assert facts["preparation"]["capped"] == 1 and facts["preparation"]["people"] == 2
    assert len(facts["warnings"]) == 3


def test_what_became_of_transactions_is_told_to_the_holder(hedge: Hedge, tmp_path: Path) -> None:
    schema, data = tmp_path / "shop.yaml", tmp_path / "shop.dat"
    schema.write_text(
        "name: shop\nunit: row\nitems: {universe: [milk, tea, rice], max_items: 2}\n", "utf-8"
    )
    data.write_text("milk tea rice\nmilk milk\nsoap\n" + "tea\n" * 97, "utf-8")
    done = hedge("check", schema, "--data", data)
    assert "NOT PRIVATE" in done.stdout and "Of 100 records 99 are counted." in done.stdout
    assert "over the cap of 2" in done.stdout
    (warning,) = [line for line in done.stderr.split("Warning: ") if line]
    assert "fewer than 10 records have each of 2 items" in " ".join(warning.split())
    facts = json.loads(hedge("check", schema, "--data", data, "--json").stdout)
    assert facts["private"] is False and "NOT PRIVATE" in facts["warnings"][0]
    found = facts["preparation"]
    assert found["foreign"] == found["repeated"] == found["capped"] == found["dropped"] == 1


def test_values_that_nobody_has_are_named_on_request_alone(hedge: Hedge, tmp_path: Path) -> None:
    schema, data = tmp_path / "schema.yaml", tmp_path / "data.csv"
    schema.write_text(
        "name: w\nunit: row\nattributes:\n"
        "  ward: {type: categorical, values: [a, b, c], missing: other}\n"
        "  age: {type: numeric, low: 0, high: 9}\n"
        "  ill: {type: categorical, values: [some, none at all], role: class}\n",
        encoding="utf-8",
    )
    data.write_text("ward,age,ill\na,1,some\nc,2,some\n", encoding="utf-8")
    quiet = hedge("check", schema, "--data", data)
    assert quiet.exit_code == 0 and "'b'" not in quiet.stdout + quiet.stderr
    told = hedge("check", schema, "--data", data, "--unused")
    shown = " ".join(told.stderr.split())
    assert told.exit_code == 0 and "NOT PRIVATE: no row has 1 of its values: 'b'." in shown
    assert "'none at all'" in shown and "'other'" not in shown and "'age'" not in shown
    alone = hedge("check", schema, "--unused")
    assert alone.exit_code == 2 and "Give --data" in alone.stderr


def test_values_are_shown_only_if_asked_for(hedge: Hedge, tmp_path: Path) -> None:
    schema, data = tmp_path / "s.yaml", tmp_path / "d.csv"
    text = "sex: {type: categorical, values: [Female, Male], outside: other}"
    schema.write_text(f"name: x\nunit: row\nattributes:\n  {text}\n", encoding="utf-8")
    data.write_text("sex\nMale\nmAlE\n", encoding="utf-8")
    for more in ([], ["--json"]):
        done = hedge("check", schema, "--data", data, *more)
        assert done.exit_code == 0 and "only in case or spaces" in done.stderr + done.stdout
        assert "mAlE" not in done.stderr + done.stdout
        done = hedge("check", schema, "--data", data, "--show-values", *more)
        assert "mAlE" in done.stderr + done.stdout
    done = hedge("check", schema, "--show-values")
    assert done.exit_code == 2 and "--show-values" in done.stderr
