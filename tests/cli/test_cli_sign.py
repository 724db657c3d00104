"""`hedgerow sign`, and what it and `hedgerow check` show of a schema before it is signed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hedgerow.schema import Schema

SCHEMA = """\
name: clinic
unit: row
draft: true
began_as_draft: true
attributes:
  # Most of its rows have few values.
  age: {type: numeric, low: 17, high: 48731, step: 1, outside: clip}
  job:
    type: categorical
    values: [nurse, clerk, falconer, "ask Ann in ward 7, please."]
    outside: other
"""


@pytest.fixture
def schema(tmp_path: Path) -> Path:
    path = tmp_path / "clinic.yaml"
    path.write_text(SCHEMA, encoding="utf-8")
    return path


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "clinic.csv"
    jobs = ["nurse"] * 40 + ["clerk"] * 40 + ["falconer"] * 9 + ["secret word"] * 11
    lines = [f"{20 + n % 50},{job}" for n, job in enumerate(jobs)]
    path.write_text("age,job\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_a_draft_is_signed_and_published(hedge: Any, schema: Path, data: Path) -> None:
    publish = ("publish", data, "--schema", schema, "--epsilon", "1", "--out")
    refused = hedge(*publish, schema.parent / "one")
    assert refused.exit_code == 3 and "hedgerow sign" in refused.stderr
    done = hedge("sign", schema, "--name", "Ada Brown", "--yes")
    assert done.exit_code == 0, done.stderr
    signed = Schema.load(schema)
    assert not signed.is_draft and signed.metadata.reviewer == "Ada Brown"
    assert signed.metadata.signed == signed.fingerprint
    assert "Most of its rows" not in schema.read_text(encoding="utf-8")  # it tells of the data
    assert hedge(*publish, schema.parent / "two").exit_code == 0


def test_what_was_changed_is_signed_again(hedge: Any, schema: Path) -> None:
    assert hedge("sign", schema, "--name", "Ada Brown", "--yes").exit_code == 0
    text = schema.read_text(encoding="utf-8")
    schema.write_text(text.replace("48731", "120"), encoding="utf-8")
    assert Schema.load(schema).is_draft
    assert "hedgerow sign" in hedge("check", schema).stderr.replace("\n", " ")
    assert hedge("sign", schema, "--name", "Bea Gray", "--yes").exit_code == 0
    again = Schema.load(schema)
    assert not again.is_draft and again.metadata.reviewer == "Bea Gray"


def test_json_tells_who_signed_what(hedge: Any, schema: Path) -> None:
    refused = hedge("sign", schema, "--name", "Ada Brown", "--json")
    assert refused.exit_code == 2 and "--yes" in json.loads(refused.stderr)["error"]["hint"]
    assert schema.read_text(encoding="utf-8") == SCHEMA
    done = hedge("sign", schema, "--name", "Ada Brown", "--yes", "--json")
    facts = json.loads(done.stdout)
    signed = Schema.load(schema)
    assert facts["reviewer"] == signed.metadata.reviewer == "Ada Brown"
    assert facts["fingerprint"] == signed.metadata.signed
    assert [one["name"] for one in facts["published"]] == ["age", "job", "about the table"]


def test_what_few_have_is_marked_in_what_is_signed(hedge: Any, schema: Path, data: Path) -> None:
    assert "rare" not in hedge("sign", schema, "--name", "Ada Brown", "--yes").stdout
    done = hedge("sign", schema, "--name", "Ada Brown", "--yes", "--data", data)
    assert done.exit_code == 0, done.stderr
    assert "! falconer  [rare: fewer than 10 have it]" in done.stdout
    assert "NOT PRIVATE" in done.stderr and "secret word" not in done.stdout + done.stderr
    done = hedge("sign", schema, "--name", "Ada Brown", "--yes", "--data", data, "--json")
    facts = json.loads(done.stdout)
    jobs = next(one["texts"] for one in facts["published"] if one["name"] == "job")
    assert [one["text"] for one in jobs if one["mark"].startswith("rare")] == ["falconer"]
    assert facts["private"] is False
    assert facts["fingerprint"] == Schema.load(schema).metadata.signed


def test_people_are_counted_where_they_have_several_rows(hedge: Any, tmp_path: Path) -> None:
    """What one person says in twelve rows is rare, whoever wrote the schema."""
    lines = [f"{n // 12},{'my own words' if n < 12 else 'cough'}" for n in range(240)]
    (tmp_path / "visits.csv").write_text("who,why\n" + "\n".join(lines) + "\n", encoding="utf-8")
    schema = tmp_path / "visits.yaml"
    schema.write_text(
        "name: visits\nunit: person\nattributes:\n  who: {role: person, max_rows: 3}\n"
        "  why: {type: categorical, values: [cough, my own words]}\n", encoding="utf-8",
    )  # fmt: skip
    words = ("--name", "Ada Brown", "--yes", "--data", tmp_path / "visits.csv")
    assert "! my own words  [rare" in hedge("sign", schema, *words).stdout


def test_items_that_few_records_have_are_marked(hedge: Any, tmp_path: Path) -> None:
    lines = ["tea bread"] * 12 + ["tea falconry"] * 9 + ["tea tea tea"]
    (tmp_path / "shop.dat").write_text("\n".join(lines) + "\n", encoding="utf-8")
    schema = tmp_path / "shop.yaml"
    schema.write_text(
        "name: shop\nunit: row\nitems: {universe: [bread, cake, falconry, tea]}\n",
        encoding="utf-8",
    )
    done = hedge("sign", schema, "--name", "Ada Brown", "--yes", "--data", tmp_path / "shop.dat")
    assert done.exit_code == 0, done.stderr
    marked = [line.strip() for line in done.stdout.splitlines() if line.strip().startswith("!")]
    assert marked == ["! falconry  [rare: fewer than 10 have it]"]  # nobody has cake
    assert "NOT PRIVATE: fewer than 10 records have each of 1 item" in " ".join(done.stderr.split())


def test_nobody_signs_without_looking(hedge: Any, schema: Path) -> None:
    refused = hedge("sign", schema, "--name", "Ada Brown")  # no terminal
    assert refused.exit_code == 2 and "--yes" in refused.stderr
    assert hedge("sign", schema, "--name", "  ", "--yes").exit_code == 2
    assert schema.read_text(encoding="utf-8") == SCHEMA


@pytest.mark.parametrize("command", [["check"], ["sign", "--name", "Ada", "--yes"]])
def test_everything_that_is_published_is_shown_and_marked(
    hedge: Any, schema: Path, command: list[str]
) -> None:
    shown = hedge(command[0], schema, *command[1:]).stdout
    lines = [line.strip() for line in shown.splitlines()]
    assert "age: from 17, in steps of 1" in lines
    assert "! to 48731  [odd: nobody would choose such a bound]" in lines
    assert "job: nurse, clerk, falconer, other" in lines
    assert "! ask Ann in ward 7, please.  [odd: it reads like a sentence]" in lines


def test_check_names_published_values_that_few_people_have(
    hedge: Any, schema: Path, data: Path
) -> None:
    done = hedge("check", schema, "--data", data)
    told = " ".join(done.stderr.split())
    assert "NOT PRIVATE: fewer than 10 people have each of 1 of its values" in told
    assert "! falconer  [rare: fewer than 10 have it]" in done.stdout
    assert "secret word" not in done.stdout + done.stderr  # it is in the data alone
    facts = json.loads(hedge("check", schema, "--data", data, "--json").stdout)
    assert facts["preparation"]["rare"] == {"job": ["falconer"]}
    job = next(one for one in facts["published"] if one["name"] == "job")
    assert [one["text"] for one in job["texts"]][:3] == ["nurse", "clerk", "falconer"]


def test_rows_of_one_person_are_one_person(hedge: Any, tmp_path: Path) -> None:
    path, data = tmp_path / "s.yaml", tmp_path / "d.csv"
    path.write_text(
        "name: s\nunit: person\nattributes:\n  who: {role: person, max_rows: 30}\n"
        "  ward: {type: categorical, values: [a, b]}\n",
        encoding="utf-8",
    )
    rows = ["P1,a"] * 25 + [f"Q{n},b" for n in range(12)]
    data.write_text("who,ward\n" + "\n".join(rows) + "\n", encoding="utf-8")
    told = " ".join(hedge("check", path, "--data", data).stderr.split())
    assert "fewer than 10 people have each of 1 of its values" in told
