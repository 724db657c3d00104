"""Tables that a release should hold, and rules, on the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import hedgerow
from hedgerow.errors import DataWarning, SchemaError, UsageError

Hedge = Callable[..., Any]

SCHEMA = """\
name: town
unit: row
attributes:
  age: {type: numeric, low: 0, high: 99}
  job: {type: categorical, values: [none, clerk, cook], outside: drop}
  home town: {type: categorical, values: [Ulm, Ely]}
  ill: {type: boolean, role: class}
tables: [age job, {attributes: [home town, ill], weight: 2}]
rules:
- age < 15 implies job = none
- not (job = cook and ill = true)
"""
# 2 rows break the first rule, 1 the second; that of a pilot is dropped, and so breaks none
DATA = """\
age,job,home town,ill
3,cook,Ulm,no
14,clerk,Ely,no
15,clerk,Ely,no
40,cook,Ely,yes
7,pilot,Ulm,yes
60,none,Ulm,yes
"""


@pytest.fixture
def town(tmp_path: Path) -> Path:
    (tmp_path / "schema.yaml").write_text(SCHEMA, encoding="utf-8")
    (tmp_path / "people.csv").write_text(DATA, encoding="utf-8")
    return tmp_path


def test_check_lists_them_and_counts_broken_rules_with_data_alone(hedge: Hedge, town: Path) -> None:
    done = hedge("check", town / "schema.yaml")
    assert done.exit_code == 0, done.stderr
    assert "the release should hold: age by job\n" in done.stdout
    assert "the release should hold: home town by ill (weight 2)" in done.stdout
    assert "rule: age < 15 implies job = none" in done.stdout
    assert "break the rule" not in done.stdout
    done = hedge("check", town / "schema.yaml", "--data", town / "people.csv")
    assert done.exit_code == 0, done.stderr
    _, _, after = done.stdout.partition("NOT PRIVATE")
    assert "2 of the rows break the rule: age < 15 implies job = none." in after
    assert "1 of the rows break the rule: not (job = cook and ill = true)." in after
    words = ["check", town / "schema.yaml", "--data", town / "people.csv", "--json"]
    facts = json.loads(hedge(*words).stdout)
    assert facts["tables"] == ["age job", {"attributes": ["home town", "ill"], "weight": 2}]
    assert list(facts["preparation"]["broken"].values()) == [2, 1] and not facts["private"]


def test_publish_and_plan_take_more_tables(hedge: Hedge, town: Path) -> None:
    words = ["--schema", town / "schema.yaml", "--epsilon", 1, "--method", "diffgen"]
    tables = ["--table", "age ill", "--table", "home town, job, ill"]
    done = hedge("plan", *words, *tables, "--json")
    assert done.exit_code == 0, done.stderr
    ignored = "diffgen does not measure tables that a schema names: they are ignored."
    assert ignored in json.loads(done.stdout)["warnings"]
    done = hedge("publish", town / "people.csv", *words, *tables, "--out", town / "r")
    assert done.exit_code == 0 and done.stderr.count("does not measure tables") == 1
    schema = hedgerow.Release.load(town / "r").schema
    assert [table.places for table in schema.tables] == [(0, 1), (2, -1), (0, -1), (2, 1, -1)]
    assert len(schema.rules) == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--table", "job age"], "the same is there already"),
        (["--table", "age jop"], "Did you mean job"),
        (["--table", "age"], "for databases"),
        (["--table", "age", "--table", "job"], "more than one table of a database"),
    ],
)
def test_tables_that_cannot_be_meant(hedge: Hedge, town: Path, words: list[str], said: str) -> None:
    done = hedge(
        "publish", town / "people.csv", "--schema", town / "schema.yaml", "--epsilon", 1,
        "--out", town / "r", *words,
    )  # fmt: skip
    assert done.exit_code in (2, 3) and said in done.stderr, done.stderr
    assert not (town / "r").exists()


def test_a_schema_that_was_signed_off_takes_no_more_tables(town: Path) -> None:
    schema = hedgerow.Schema.load(town / "schema.yaml")
    about = {"reviewer": "Ann", "reviewed": "2026-01-31", "signed": schema.fingerprint}
    signed = hedgerow.Schema.from_dict(schema.to_dict() | {"metadata": about})
    rows = pa.table({"age": [20], "job": ["cook"], "home town": ["Ulm"], "ill": [False]})
    with pytest.raises(SchemaError, match="signed off without the tables"):
        hedgerow.publish(rows, signed, "diffgen", tables=["age ill"])
    with pytest.warns(DataWarning, match="does not measure tables"):
        hedgerow.publish(rows, signed, "diffgen")
    with pytest.raises(UsageError, match="tables"):
        hedgerow.publish(rows, schema, "diffgen", tables=3)  # type: ignore[arg-type]
