from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hedgerow.schema import Schema

Hedge = Callable[..., Any]


def state_unit(draft: Path, unit: str = "row") -> Schema:
    text = draft.read_text(encoding="utf-8")
    assert text.count("\nunit: row or person?\n") == 1
    draft.write_text(text.replace("unit: row or person?", f"unit: {unit}"), encoding="utf-8")
    return Schema.load(draft)


def test_drafts_a_schema_and_says_that_it_read_private_data(
    hedge: Hedge, survey: Path, tmp_path: Path
) -> None:
    done = hedge("init", survey / "people.csv", "--out", tmp_path / "draft.yaml")
    assert done.exit_code == 0
    assert "PRIVATE" in done.stderr and "draft: true" in done.stderr
    assert (tmp_path / "draft.yaml").stat().st_mode & 0o777 == 0o600  # for its owner alone
    assert state_unit(tmp_path / "draft.yaml").is_draft


def test_no_command_takes_a_draft_before_the_unit_is_stated(
    hedge: Hedge, survey: Path, tmp_path: Path
) -> None:
    draft, data, out = tmp_path / "draft.yaml", survey / "people.csv", tmp_path / "release"
    hedge("init", data, "--out", draft)
    text = draft.read_text(encoding="utf-8").replace("\ndraft: true", "")
    draft.write_text(text, encoding="utf-8")
    line = 1 + text.splitlines().index("unit: row or person?")
    for command in (
        ("check", draft),
        ("check", draft, "--data", data),
        ("plan", "--schema", draft, "--epsilon", 1, "--rows", 100),
        ("publish", data, "--schema", draft, "--epsilon", 1, "--out", out),
    ):
        done = hedge(*command)
        assert done.exit_code == 3 and not out.exists()
        assert done.stderr.count("Error:") == 1 and f"draft.yaml:{line}: unit is" in done.stderr
        assert "`unit: row`" in done.stderr and "`unit: person`" in done.stderr


def test_a_hospital_with_patients_who_come_again(hedge: Hedge, tmp_path: Path) -> None:
    draft, data, out = tmp_path / "draft.yaml", tmp_path / "visits.csv", tmp_path / "release"
    lines = [f"{90_000 + 7 * i},{30_000 + 3 * (i % 70)},{i % 8},{i % 90}" for i in range(210)]
    data.write_text("encounter_id,patient_nbr,admission_type_id,age\n" + "\n".join(lines) + "\n")
    assert hedge("init", data, "--out", draft).exit_code == 0
    assert "patient_nbr seems to identify people" in draft.read_text(encoding="utf-8")
    schema = state_unit(draft, "person")
    assert schema.person is not None and schema.person.column == "patient_nbr"
    assert schema.identifiers == ("encounter_id",)
    assert [a.name for a in schema.attributes] == ["admission_type_id", "age"]
    text = draft.read_text(encoding="utf-8").replace("\ndraft: true", "")
    draft.write_text(text, encoding="utf-8")
    done = hedge("check", draft, "--data", data)
    assert done.exit_code == 0 and "Warning" not in done.stderr, done.stderr
    done = hedge("publish", data, "--schema", draft, "--epsilon", 1, "--out", out)
    assert done.exit_code == 0, done.stderr
    draft.write_text(text.replace("unit: person\n", "unit: row\n"), encoding="utf-8")
    done = hedge("check", draft)
    assert done.exit_code == 3 and "the unit is a row" in done.stderr


def test_a_draft_is_refused_until_its_mark_is_removed(
    hedge: Hedge, survey: Path, tmp_path: Path
) -> None:
    draft, out = tmp_path / "draft.yaml", tmp_path / "release"
    data = survey / "people.csv"
    hedge("init", data, "--out", draft)
    state_unit(draft)
    done = hedge("publish", data, "--schema", draft, "--epsilon", 1, "--out", out)
    assert done.exit_code == 3 and not out.exists() and "draft" in done.stderr
    text = draft.read_text(encoding="utf-8")
    draft.write_text(text.replace("\ndraft: true", "\ndraft: false"), encoding="utf-8")
    done = hedge("publish", data, "--schema", draft, "--epsilon", 1, "--out", out, "--json")
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout)["guarantee"]["began_as_draft"] is True


def test_an_existing_schema_is_kept(hedge: Hedge, survey: Path, tmp_path: Path) -> None:
    target = tmp_path / "schema.yaml"
    target.write_text("mine", encoding="utf-8")
    done = hedge("init", survey / "people.csv", "--out", target)
    assert done.exit_code == 6 and target.read_text(encoding="utf-8") == "mine"
    assert "--overwrite" in done.stderr
    assert hedge("init", survey / "people.csv", "--out", target, "--overwrite").exit_code == 0
    assert [path.name for path in tmp_path.iterdir()] == ["schema.yaml"]


def test_json(hedge: Hedge, survey: Path, tmp_path: Path) -> None:
    done = hedge("init", survey / "people.csv", "--out", tmp_path / "s.yaml", "--json")
    assert json.loads(done.stdout)["read_private_data"] is True


def test_a_place_that_cannot_be_written(hedge: Hedge, survey: Path, tmp_path: Path) -> None:
    done = hedge("init", survey / "people.csv", "--out", tmp_path / "nowhere" / "s.yaml")
    assert done.exit_code == 6 and "cannot be written" in done.stderr


def test_a_table_without_a_header_is_refused(hedge: Hedge, tmp_path: Path) -> None:
    data, out = tmp_path / "d.csv", tmp_path / "s.yaml"
    data.write_text("39;Male\n40;Female\n41;Male\n", encoding="utf-8")
    done = hedge("init", data, "--out", out)
    assert done.exit_code == 4 and not out.exists()
    assert "--trust-header" in done.stderr and "Male" not in done.stderr
    assert hedge("init", data, "--out", out, "--trust-header").exit_code == 0


def test_a_delimiter(hedge: Hedge, tmp_path: Path) -> None:
    data, out = tmp_path / "d.csv", tmp_path / "s.yaml"
    data.write_text("a,b^c\n1^2\n3^4\n", encoding="utf-8")
    assert hedge("init", data, "--out", out, "--delimiter", "^").exit_code == 0
    assert [a.name for a in state_unit(out).attributes] == ["a,b", "c"]
    assert hedge("check", out, "--data", data, "--delimiter", "^").exit_code == 0
    assert hedge("init", data, "--out", tmp_path / "t", "--delimiter", "^^").exit_code == 2
    data.write_text("a,b\tc\n1\t2\n", encoding="utf-8")
    assert hedge("check", out, "--data", data, "--delimiter", "tab").exit_code == 0


def test_transactions(hedge: Hedge, tmp_path: Path) -> None:
    data, out = tmp_path / "clicks.dat", tmp_path / "s.yaml"
    data.write_text("1 2 5\n\n3 1\n" * 10, encoding="utf-8")
    done = hedge("init", data, "--out", out)
    assert done.exit_code == 0 and "PRIVATE" in done.stderr and "universe" in done.stderr
    schema = state_unit(out)
    assert schema.is_draft and schema.name == "clicks"
    assert schema.items is not None and schema.items.universe == range(1, 6)
    done = hedge("check", out, "--data", data)
    assert done.exit_code == 0 and "5 items, from 1 to 5" in done.stdout
    assert "follows the schema" in done.stdout and "draft" in done.stderr
    assert json.loads(hedge("init", data, "--out", out, "--overwrite", "--json").stdout)["draft"]


def test_a_table_of_a_database(hedge: Hedge, survey: Path, tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect(str(tmp_path / "clinic.db")) as connection:
        connection.execute(f"CREATE TABLE people AS SELECT * FROM '{survey / 'people.csv'}'")
    address, out = f"duckdb://{tmp_path / 'clinic.db'}", tmp_path / "s.yaml"
    done = hedge("init", address, "--table", "people", "--out", out)
    assert done.exit_code == 0, done.stderr
    assert "PRIVATE" in done.stderr
    schema = state_unit(out)
    assert schema.is_draft and schema.name == "people"
    assert {"age", "bmi"} <= {attribute.name for attribute in schema.attributes}
    done = hedge("init", address, "--query", "SELECT age, sex FROM people", "--out", out,
                 "--overwrite")  # fmt: skip
    assert done.exit_code == 0, done.stderr
    assert {attribute.name for attribute in state_unit(out).attributes} == {"age", "sex"}
    done = hedge("init", address, "--out", out, "--overwrite")
    assert done.exit_code == 2 and "--table" in done.stderr


def test_lines_of_different_lengths_may_be_baskets(hedge: Hedge, tmp_path: Path) -> None:
    data, out = tmp_path / "shop.csv", tmp_path / "s.yaml"
    data.write_text("bread;butter;jam\nmilk\ntea;biscuits\nbread;milk;eggs;jam\n")
    done = hedge("init", data, "--out", out)
    assert done.exit_code == 4 and not out.exists()
    assert 'separator: ";"' in done.stderr and "transactions" in done.stderr
    assert "bread" not in done.stderr
    # one line with a mistake is still a table's
    data.write_text("a,b,c\n" + "1,2,3\n" * 8 + "1,2\n")
    done = hedge("init", data, "--out", out)
    assert done.exit_code == 4 and "line 10" in done.stderr and "transactions" not in done.stderr


def test_a_dat_file_holds_items_whatever_stands_in_it(hedge, tmp_path) -> None:
    (tmp_path / "b.dat").write_text("tea,milk\ntea\n" * 10)
    assert hedge("init", tmp_path / "b.dat", "--out", tmp_path / "s.yaml").exit_code == 0
    assert "\nitems:\n" in (tmp_path / "s.yaml").read_text()


def test_a_title_above_the_names(hedge: Hedge, tmp_path: Path) -> None:
    data, out = tmp_path / "ward.csv", tmp_path / "draft.yaml"
    for title in ("Patients of the ward", "Patients,,"):
        rows = [f"{20 + i},{'fm'[i % 2]},north" for i in range(40)]
        data.write_text("\n".join([title, "age,sex,ward", *rows]) + "\n", encoding="utf-8")
        done = hedge("init", data, "--out", out)
        assert done.exit_code == 4 and "--header-row 2" in done.stderr and not out.exists()
        assert hedge("init", data, "--out", out, "--header-row", 2, "--overwrite").exit_code == 0
        out.unlink()
    data.write_text("\n".join(["notes", *("a, b", "c, d") * 12]) + "\n", encoding="utf-8")
    assert "--delimiter" in hedge("init", data, "--out", out).stderr
    assert hedge("init", data, "--out", out, "--trust-header").exit_code == 0
