"""`hedgerow taxonomy` shows, lints and converts; `hedgerow schema diff` compares."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

Hedge = Callable[..., Any]


def test_a_list_by_name_is_shown(hedge: Hedge) -> None:
    done = hedge("taxonomy", "us-states", "--depth", "1")
    assert done.exit_code == 0
    assert done.stdout.splitlines() == [
        "Any (51 leaves)", "  Northeast (9 leaves)", "  Midwest (12 leaves)",
        "  South (17 leaves)", "  West (13 leaves)", "51 values, 13 groups, 3 levels, 102 rules",
    ]  # fmt: skip


def test_facts_as_json(hedge: Hedge) -> None:
    told = json.loads(hedge("taxonomy", "icd-9-cm", "--json").stdout)
    assert (told["leaves"], told["groups"], told["levels"]) == (162, 17, 2)
    assert told["warnings"] == []


def test_arx_to_yaml_and_back(hedge: Hedge, tmp_path: Path) -> None:
    text = "No;North;Europe;*\nPeru;Peru;Americas;*\nChile;Chile;Americas;*\n"
    (tmp_path / "a.csv").write_text(text, "utf-8")
    done = hedge("taxonomy", tmp_path / "a.csv", "--to", "yaml", "--out", tmp_path / "a.yaml")
    assert done.exit_code == 0, done.stderr
    assert "2 groups have a single member" in done.stderr
    done = hedge("taxonomy", tmp_path / "a.yaml", "--to", "arx", "--out", tmp_path / "b.csv")
    assert done.exit_code == 0, done.stderr
    assert (tmp_path / "b.csv").read_bytes() == text.encode()
    again = hedge("taxonomy", tmp_path / "a.yaml", "--to", "arx", "--out", tmp_path / "b.csv")
    assert again.exit_code != 0  # it is there already


def test_an_attribute_of_a_schema(hedge: Hedge, survey: Path) -> None:
    done = hedge("taxonomy", survey / "schema.yaml", "--attribute", "home", "--to", "codes")
    assert done.exit_code == 0
    assert done.stdout.startswith("code,parent,label\n")
    wrong = hedge("taxonomy", survey / "schema.yaml", "--attribute", "age")
    assert wrong.exit_code == 3
    assert "home" in wrong.stderr


def test_rules_that_would_be_lost_are_named(hedge: Hedge) -> None:
    assert "--to mapping keeps them" in hedge("taxonomy", "nace-2", "--to", "yaml").stderr
    assert hedge("taxonomy", "nace-2", "--to", "mapping").stderr == ""


def test_what_is_not_there(hedge: Hedge, tmp_path: Path) -> None:
    done = hedge("taxonomy", "icd9")
    assert done.exit_code == 3
    assert "icd-9-cm" in done.stderr
    assert hedge("taxonomy", "nace-2", "--out", tmp_path / "x").exit_code == 2
    (tmp_path / "bad.csv").write_text("a;G;*\na;H;*\n", "utf-8")
    assert "two parents" in hedge("taxonomy", tmp_path / "bad.csv").stderr


def test_schemas_are_compared_by_what_they_mean(hedge: Hedge, tmp_path: Path) -> None:
    old, new = tmp_path / "old.yaml", tmp_path / "new.yaml"
    old.write_text("name: t\nattributes:\n  a: {type: categorical, values: [1..3]}\n", "utf-8")
    new.write_text(
        "# next year\nattributes:\n  a: {values: [1, 2, 3], type: categorical}\nname: t\n", "utf-8"
    )
    assert hedge("schema", "diff", old, new).stdout == "The two schemas say the same.\n"
    new.write_text("name: t\nattributes:\n  a: {type: categorical, values: [1..9]}\n", "utf-8")
    assert "6 values were added: '4'" in hedge("schema", "diff", old, new).stdout
    told = json.loads(hedge("schema", "diff", old, new, "--json").stdout)
    assert told["same"] is False
    assert told["differences"][0]["about"] == "a"
    assert hedge("schema", "patch", old, new).exit_code == 2
    assert hedge("schema", "diff", old, tmp_path / "no.yaml").exit_code == 3


def test_schema_says_what_to_type(hedge: Hedge) -> None:
    done = hedge("schema", "old.yaml", "new.yaml")
    assert done.exit_code == 2 and "hedgerow schema diff old.yaml new.yaml" in done.stderr
    assert "schema diff OLD NEW" in hedge("schema", "diff", "old.yaml").stderr


def test_one_tree_of_several(hedge: Hedge, tmp_path: Path) -> None:
    text = "sex:discrete\n{Any {Female} {Male}}\njob:discrete\n{Any {Sales} {Craft}}\n"
    (tmp_path / "a.hchy").write_text(text, "utf-8")
    done = hedge("taxonomy", tmp_path / "a.hchy", "--attribute", "job", "--to", "arx")
    assert done.stdout == "Sales;Any\nCraft;Any\n"
    none = hedge("taxonomy", tmp_path / "a.hchy")
    assert none.exit_code == 3 and "sex, job" in none.stderr
    absent = hedge("taxonomy", tmp_path / "b.hchy", "--attribute", "job")
    assert absent.exit_code == 3 and "no taxonomy file" in absent.stderr
