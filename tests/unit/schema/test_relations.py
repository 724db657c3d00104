"""Tables that a release must hold, and rules that say what cannot be."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hedgerow import Schema
from hedgerow.errors import SchemaError
from hedgerow.schema import CLASS, NamedTable, Query
from hedgerow.schema.diff import schema_diff

PEOPLE: dict[str, Any] = {
    "name": "people",
    "unit": "row",
    "attributes": {
        "name": {"role": "identifier"},
        "age": {"type": "numeric", "low": 0, "high": 99, "step": 5, "missing": "other"},
        "home town": {"type": "categorical", "values": ["Ulm", "Ely"]},
        "job": {
            "type": "categorical",
            "taxonomy": {"none": None, "at work": ["clerk", "cook, or chef"]},
            "missing": "other",
        },
        "one": {"type": "categorical", "values": ["same"]},
        "retired": {"type": "boolean"},
        "dose": {"type": "numeric", "low": "0.0", "high": "9.9", "step": "0.1"},
        "ill": {"type": "boolean", "role": "class"},
    },
}
AGE, TOWN, JOB, RETIRED, DOSE = 0, 1, 2, 4, 5


def people(**more: Any) -> Schema:
    return Schema.from_dict(PEOPLE | more)


@pytest.mark.parametrize(
    ("written", "places", "weight"),
    [
        ("age job", (AGE, JOB), 1),
        ("ill age", (CLASS, AGE), 1),
        ("  job\tage   ill ", (JOB, AGE, CLASS), 1),
        ("'home town' job", (TOWN, JOB), 1),
        ("home town, job", (TOWN, JOB), 1),
        ('"home town", ill', (TOWN, CLASS), 1),
        (["home town", "ill"], (TOWN, CLASS), 1),
        ({"attributes": "age job"}, (AGE, JOB), 1),
        ({"attributes": ["age", "home town"], "weight": 2}, (AGE, TOWN), 2),
        ({"attributes": ["age", "job"], "weight": 0.1}, (AGE, JOB), Fraction(1, 10)),
        ({"attributes": ["age", "job"], "weight": "2.50"}, (AGE, JOB), Fraction(5, 2)),
    ],
)
def test_tables_are_read_and_written(written: Any, places: tuple[int, ...], weight: Any) -> None:
    schema = people(tables=[written])
    assert schema.tables == (NamedTable(places, Fraction(weight)),)
    assert people().with_tables([written]) == schema
    assert Schema.from_dict(json.loads(json.dumps(schema.to_dict()))) == schema


@pytest.mark.parametrize(
    ("written", "what"),
    [
        ("age jop", "Did you mean job"),
        ("age name", "identifies people"),
        ("age", "2 or 3 different columns"),
        ("age job ill retired", "2 or 3 different columns"),
        ("age age", "2 or 3 different columns"),
        ("age one", "single value"),
        ("age = job", "the name of a column should stand here"),
        ("age, , job", "the name of a column should stand here"),
        ("age,", "the name of a column"),
        ("home town job", "no attribute 'home'"),
        ("", "the name of a column"),
        ([], "2 or 3 different columns"),
        ([["age"], "job"], "no text, no list"),
        ({"attributes": "age job", "wieght": 2}, "other keys"),
        ({"weight": 2}, "other keys"),
        ({"attributes": "age job", "weight": 0}, "0.01 to 100"),
        ({"attributes": "age job", "weight": -1}, "0.01 to 100"),
        ({"attributes": "age job", "weight": "much"}, "not a number"),
    ],
)
def test_tables_are_refused(written: Any, what: str) -> None:
    for make in (lambda: people(tables=[written]), lambda: people().with_tables([written])):
        with pytest.raises(SchemaError) as caught:
            make()
        assert what in str(caught.value)


def test_the_same_table_twice_is_refused_in_any_order() -> None:
    with pytest.raises(SchemaError, match="number 2: the same is there already"):
        people(tables=["age job", {"attributes": "job age", "weight": 2}])
    with pytest.raises(SchemaError, match="the same is there already"):
        people(tables=["age job"]).with_tables(["job, age"])


# each rule, and the records that break it, worked out by hand on rows of values
ROWS = [
    dict(zip(("age", "job", "retired", "ill"), values, strict=True))
    for values in itertools.product(
        (0, 10, 15, 60, None), ("none", "clerk", "cook, or chef", None), (False, True),
        (False, True),
    )
]  # fmt: skip


def young(row: dict[str, Any]) -> bool:
    return row["age"] is not None and row["age"] < 15


def works(row: dict[str, Any]) -> bool:
    return row["job"] in ("clerk", "cook, or chef")


RULES: list[tuple[str, Any]] = [
    ("age < 15 implies job = none", lambda row: young(row) and works(row)),
    ("age <= 14 IMPLIES job = none", lambda row: young(row) and works(row)),
    (
        "job = none implies retired = true and ill = false",
        lambda row: row["job"] == "none" and (not row["retired"] or row["ill"]),
    ),
    (
        "retired = true implies age >= 60",
        lambda row: row["retired"] and row["age"] is not None and row["age"] < 60,
    ),
    ("ill = true implies job in {none, other}", lambda row: row["ill"] and works(row)),
    ("not (ill = true and job in at work)", lambda row: row["ill"] and works(row)),
    (
        "not (retired = yes and age = other)",
        lambda row: row["retired"] and row["age"] is None,
    ),
    (
        'job = "cook, or chef" and ill = false implies age in [15, 99] and retired = false',
        lambda row: row["job"] == "cook, or chef" and not row["ill"]
        and (row["retired"] or young(row)),
    ),
    (
        "age < 60 implies age >= 15 and retired = false",
        lambda row: row["age"] is not None and row["age"] < 60 and (row["retired"] or young(row)),
    ),
]  # fmt: skip


def codes(schema: Schema) -> tuple[Any, Any]:
    """The rows as codes, by arithmetic of its own."""
    jobs = ["none", "clerk", "cook, or chef"]
    other = schema.attributes[JOB].size - 1
    matrix = [
        [20 if row["age"] is None else row["age"] // 5, 0,
         other if row["job"] is None else jobs.index(row["job"]), 0, row["retired"], 0]
        for row in ROWS
    ]  # fmt: skip
    return np.array(matrix, np.int64), np.array([row["ill"] for row in ROWS], np.int64)


@pytest.mark.parametrize(("text", "breaks"), RULES)
def test_rules_are_broken_by_these_rows(text: str, breaks: Any) -> None:
    schema = people(rules=[text])
    (rule,) = schema.rules
    assert rule.text == text and all(isinstance(query, Query) for query in rule.impossible)
    wanted = [breaks(row) for row in ROWS]
    assert any(wanted) and not all(wanted)
    assert schema.breaks_rules(*codes(schema)).tolist() == wanted
    ends = [
        end for query in rule.impossible for _, pairs in query.where for p in pairs for end in p
    ]
    assert all(end == int(end) for end in ends)
    assert Schema.from_dict(json.loads(json.dumps(schema.to_dict()))) == schema


def test_several_rules_are_broken_by_the_rows_that_break_one() -> None:
    schema = people(rules=[RULES[0][0], RULES[3][0]])
    wanted = [RULES[0][1](row) or RULES[3][1](row) for row in ROWS]
    assert schema.breaks_rules(*codes(schema)).tolist() == wanted
    assert not people().breaks_rules(*codes(people())).any()


def test_cuts_are_where_rules_begin_and_end() -> None:
    schema = people(rules=["age in [15, 64] implies job = none", "ill = true implies age >= 5"])
    assert schema.cuts(AGE) == {1, 3, 13}
    assert schema.cuts(JOB) == {1, 3}  # none; those at work; other
    assert schema.cuts(CLASS) == {1}
    assert schema.cuts(TOWN) == set()


def test_a_decimal_bound_is_read_down_to_the_grid() -> None:
    schema = people(rules=["dose < 0.5 implies ill = false"])
    assert schema.cuts(DOSE) == {5}


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("age < 17 implies job = none", "Let it be at 15 or 20"),
        ("job = none implies age in [15, 40]", "Let it be at 40 or 45"),
        ("agee < 15 implies job = none", "Did you mean age"),
        ("age < 15 implies job = non", "Did you mean none"),
        ("name = x implies job = none", "identifies people"),
        (
            "age < 15 implies job = none and ill = false and dose < 1 and retired = false",
            "4 columns",
        ),
        ("age < 15 and job = none", "neither of the form"),
        ("age < 15 implies", "neither of the form"),
        ("implies job = none", "neither of the form"),
        ("age < 15 implies job = none implies ill = false", "neither of the form"),
        ("not ()", "neither of the form"),
        ("not (age < 15) implies job = none", "not age > 30"),
        ("age < 15 implies age < 60", "forbids nothing"),
        ("age < 15 implies job in Any", "forbids nothing"),
        ("job = clerk implies age in [0, 99]", "forbids nothing"),
        ("age < 15 and age > 60 implies job = none", "contradict each other"),
        ("not (retired in {true, false})", "leaves nothing"),
        ("not (age in {[0, 99], other})", "leaves nothing"),
        ("", "single line"),
        ("age < 15\nimplies job = none", "single line"),
    ],
)
def test_rules_are_refused(text: str, what: str) -> None:
    with pytest.raises(SchemaError) as caught:
        people(rules=[text])
    assert what in str(caught.value)


@pytest.mark.parametrize(
    "rules",
    [
        ["retired = true implies ill = true", "retired = true implies ill = false",
         "not (retired = false)"],
        ["not (retired = true)", "not (retired = false)"],
        ["not (retired = false and ill = true)", "not (retired = false and ill = false)",
         "not (retired = true and ill = true)", "not (retired = true and ill = false)"],
    ],
)  # fmt: skip
def test_rules_that_leave_no_record_are_refused(rules: list[str]) -> None:
    with pytest.raises(SchemaError, match="leaves nothing that a record could be"):
        people(rules=rules)
    people(rules=rules[:-1])  # while one fewer is fine


def test_the_same_rule_twice_is_refused() -> None:
    with pytest.raises(SchemaError, match="number 2: the same is there already"):
        people(rules=["age < 15 implies job = none", "age <= 14 implies job = none"])


def test_a_file_names_the_line(tmp_path: Path) -> None:
    text = people().to_yaml() + (
        "tables:\n- age job\n- [home town, ill]\n- agee job\n"
        "rules:\n- age < 15 implies job = none\n- age < 17 implies job = none\n"
    )
    path = tmp_path / "schema.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SchemaError) as caught:
        Schema.load(path)
    for word in ("- agee job", "- age < 17 implies job = none"):
        line = text.splitlines().index(word) + 1
        assert f"schema.yaml:{line}: " in str(caught.value)
    path.write_text(text.replace("agee job", "age ill").replace("17", "20"), encoding="utf-8")
    schema = Schema.load(path)
    assert [table.places for table in schema.tables] == [(AGE, JOB), (TOWN, CLASS), (AGE, CLASS)]
    path.write_text(schema.to_yaml(), encoding="utf-8")
    assert Schema.load(path) == schema


@pytest.mark.parametrize("key", ["tables", "rules"])
@pytest.mark.parametrize("value", ["age job", None, {"age": "job"}])
def test_what_is_no_list_is_refused(key: str, value: Any) -> None:
    with pytest.raises(SchemaError, match=f"{key} is not a list"):
        people(**{key: value})


def test_they_are_not_for_transactions() -> None:
    shop = {"name": "shop", "unit": "row", "items": {"universe": ["a", "b"]}}
    for key in ("tables", "rules"):
        with pytest.raises(SchemaError, match=f"{key} are about columns"):
            Schema.from_dict(shop | {key: ["a b"]})
    with pytest.raises(SchemaError, match="tables are about columns"):
        Schema.from_dict(shop).with_tables(["a b"])
    with pytest.raises(SchemaError, match="about columns"):
        replace(Schema.from_dict(shop), tables=(NamedTable((0, 1)),))


def test_what_python_builds_is_checked_too() -> None:
    for table in (NamedTable((0, 99)), NamedTable((-2, 0)), NamedTable((0, 0)), NamedTable((0,)),
                  NamedTable((0, 2), Fraction(1, 3))):  # fmt: skip
        with pytest.raises(SchemaError):
            replace(people(), tables=(table,))
    (rule,) = people(rules=["age < 15 implies job = none"]).rules
    for wrong in (replace(rule, text="age < 20 implies job = none"), replace(rule, impossible=())):
        with pytest.raises(SchemaError, match="rules are not what they say"):
            replace(people(), rules=(wrong,))


def test_they_are_part_of_what_is_signed_and_compared() -> None:
    plain = people()
    asked = people(tables=["age job"], rules=["age < 15 implies job = none"])
    assert "tables" not in plain.to_dict() and "rules" not in plain.to_dict()
    assert len({plain.fingerprint, people(tables=["age job"]).fingerprint, asked.fingerprint}) == 3
    assert len({plain.hash, asked.hash}) == 2
    assert schema_diff(plain, asked) == [
        ("schema", "1 table was added: 'age job'"),
        ("schema", "1 rule was added: 'age < 15 implies job = none'"),
    ]
    heavy = people(tables=[{"attributes": "age job", "weight": 2}])
    assert [line for _, line in schema_diff(people(tables=["age job"]), heavy)] == [
        "1 table was removed: 'age job'",
        "1 table was added: 'age job (weight 2)'",
    ]


def test_rules_of_many_columns_that_leave_a_record_are_accepted() -> None:
    """Also where no first value of a column can stay, with many columns between."""
    names = [f"c{n:02d}" for n in range(40)]
    columns = {name: {"type": "categorical", "values": list("abcde")} for name in names}
    rules = [f"not ({one} = a and {other} = a)" for one, other in itertools.combinations(names, 2)]
    rules = rules[:97] + [f"not (c00 = a and c39 = {value})" for value in "bcd"]
    schema = Schema.from_dict({"name": "x", "unit": "row", "attributes": columns, "rules": rules})
    assert len(schema.rules) == 100
    with pytest.raises(SchemaError, match="more than 100"):
        Schema.from_dict(schema.to_dict() | {"rules": [*rules, "not (c01 = b and c02 = b)"]})
    alone = [f"not (c38 = {value})" for value in "abcde"]
    with pytest.raises(SchemaError, match="leaves nothing"):
        Schema.from_dict(schema.to_dict() | {"rules": rules[:95] + alone})
