"""Rules: what they fit, what goes before what, and what a schema keeps of them."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.data.encode import MISSING, STRANGE, encode_array
from hedgerow.errors import SchemaError
from hedgerow.schema import Categorical, Schema, Taxonomy
from hedgerow.schema.taxonomy import Reading


@pytest.mark.parametrize(
    ("rule", "fits", "others"),
    [
        ("390-459", ["390", "459.81", "400.", "390-459"], ["460", "389.9", "4019", "0401", "-400"]),
        ("001-139", ["1", "008", "8.45", "139.9"], ["0008", "140", "0389", "0"]),
        ("E800-E999", ["E800", "E8889", "E999.9"], ["E79", "e800", "E80", "E1000.", "800"]),
        ("390*-459*", ["390", "4019", "401.9"], ["38999", "46", "4.19", "40"]),
        ("M1A-M1B", ["M1A", "M1AX"], ["M19", "M1C"]),
        ("E*", ["E", "E10"], ["e1", "", "XE"]),
        ("*9", ["9", "19"], ["91"]),
        ("C*X", ["CX", "C1X"], ["C", "X", "CXY"]),
        ("<30", ["29.99", "-5", "<30"], ["30", "x", ">30"]),
        ("<=30", ["30", "30.0"], ["30.01"]),
        (">200", ["200.5", ">200", "2e3"], ["200", "nan", "inf"]),
        (">=65", ["65", "100"], ["64.9"]),
        ("65+", ["65", "65+", "99"], ["64"]),
        ("[0, 10)", ["0", "9.99", "[0, 10)"], ["10", "-1"]),
        ("(0-10]", ["10", "0.1"], ["0", "10.5"]),
        ("[-5,-1]", ["-5", "-1.5"], ["0"]),
        ("Saint-Denis", ["Saint-Denis"], ["Saint", "S"]),
        ("785", ["785"], ["785.0", "0785"]),
    ],
)
def test_what_a_rule_fits(rule: str, fits: list[str], others: list[str]) -> None:
    reading = Reading(((rule, "leaf"),))
    assert [text for text in fits if reading.leaf(text) is None] == []
    assert [text for text in others if reading.leaf(text) is not None] == []


def column(leaves: list[str], reading: Reading) -> Categorical:
    return Categorical("a", Taxonomy.flat(leaves), reading=reading)


def codes(attribute: Categorical, *values: object) -> list[int]:
    return encode_array(attribute, pa.array(values)).tolist()


def test_leaves_then_equal_rules_then_missing_then_patterns_then_all_others() -> None:
    rules = (("N*", "n"), ("780-799", "sign"), ("785", "heart"), ("?", "unknown"), ("*", "rest"))
    reading = column(["n", "sign", "heart", "unknown", "rest", "Nine"], Reading(rules))
    assert codes(reading, "Nine", "NA", "No", "785", "785.1", "?", "", "E1", None) == [
        5, MISSING, 0, 2, 1, 3, MISSING, 4, MISSING
    ]  # fmt: skip


def test_without_a_rule_for_all_others_values_are_outside() -> None:
    assert codes(column(["x", "y"], Reading((("E*", "x"),))), "E1", "F1") == [0, STRANGE]


def test_numbers_of_a_frame_are_read_as_a_file_would_hold_them() -> None:
    attribute = column(["low", "high"], Reading((("<30", "low"), (">=30", "high"))))
    assert codes(attribute, 29.5, 30.0, 1e300, None) == [0, 1, 1, MISSING]
    assert encode_array(attribute, pa.array([True])).tolist() == [STRANGE]


def test_differences_that_do_not_matter() -> None:
    reading = Reading(ignore=("case", "spaces", "zeros"), cut_at="/")
    attribute = column(["New York", "7", "0", "Å"], reading)
    assert codes(attribute, " new  york ", "NEWYORK/2", "007", "000", "A\u030a", "/7") == [
        0, 0, 1, 2, 3, STRANGE
    ]  # fmt: skip


def test_a_missing_word_that_is_a_leaf_in_another_case_is_that_leaf() -> None:
    attribute = column(["None", "Some"], Reading(ignore=("case",)))
    assert codes(attribute, "none", "NA") == [0, MISSING]


VALUES = st.sampled_from(["1", "4.5", "12", "-3", "E1", "E", "e1", "x", "X", "NA", "", "00", "1.E"])
RULES = st.sampled_from(["0-9", "E*", "*1", "<5", "[0, 3)", "12", "10-19"])


@given(
    VALUES, st.lists(VALUES, max_size=8), st.lists(RULES, unique=True, min_size=1), st.booleans()
)
def test_other_records_do_not_change_what_a_value_becomes(
    value: str, others: list[str], rules: list[str], rest: bool
) -> None:
    targets = [(rule, "xyz"[place % 3]) for place, rule in enumerate(rules)]
    all_others = [("*", "z")] if rest else []
    attribute = column(["x", "y", "z"], Reading((*targets, *all_others), ("case",), "."))
    alone = codes(attribute, value)
    assert codes(attribute, *others, value)[-1:] == alone
    assert codes(attribute, value, *others)[:1] == alone


def load(folder: Path, lines: str) -> Schema:
    path = folder / "s.yaml"
    path.write_text(
        f"name: t\nunit: row\nattributes:\n  a:\n    type: categorical\n{lines}", encoding="utf-8"
    )
    return Schema.load(path)


def first(schema: Schema) -> Categorical:
    found = schema.attributes[0]
    assert isinstance(found, Categorical)
    return found


def test_rules_alone_make_the_tree(tmp_path: Path) -> None:
    schema = load(
        tmp_path,
        "    recode:\n"
        "      390-459: [Circulatory, Natural]\n"
        "      '785': Circulatory\n"
        "      460-519: [Respiratory, Natural]\n"
        "      E*: External\n"
        "      '*': Others\n",
    )
    attribute = first(schema)
    assert attribute.taxonomy.nested() == {
        "Natural": ["Circulatory", "Respiratory"], "External": None, "Others": None
    }  # fmt: skip
    assert codes(attribute, "428", "785", "E9", "zzz") == [0, 0, 2, 3]


def test_the_canonical_form_has_the_tree_and_the_rules(tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_text("rule,value,group\n1..9,x,G\n10-19,y,G\nE*,z,\n", "utf-8")
    schema = load(tmp_path, "    taxonomy: m.csv\n    ignore: [case]\n    cut_at: '.'\n")
    told = json.loads(json.dumps(schema.to_dict()))
    assert told["attributes"]["a"] == {
        "type": "categorical", "root": "Any", "taxonomy": {"G": ["x", "y"], "z": None},
        "missing": "error", "outside": "error",
        "recode": {"1..9": "x", "10-19": "y", "E*": "z"}, "ignore": ["case"], "cut_at": ".",
    }  # fmt: skip
    assert Schema.from_dict(told) == schema
    assert Schema.from_dict(told).hash == schema.hash
    path = tmp_path / "again.yaml"
    path.write_text(schema.to_yaml(), "utf-8")
    assert Schema.load(path) == schema


def test_a_column_without_rules_keeps_its_form(tmp_path: Path) -> None:
    told = load(tmp_path, "    values: [x, y]\n").to_dict()["attributes"]["a"]
    assert list(told) == ["type", "root", "values", "missing", "outside"]


def test_a_class_can_merge_values(tmp_path: Path) -> None:
    schema = load(
        tmp_path,
        "    values: ['NO', <30]\n    recode: {'>30': 'NO'}\n    role: class\n"
        "  b: {type: boolean}\n",
    )
    assert schema.target is not None
    assert codes(schema.target, "NO", ">30", "<30") == [0, 0, 1]


def test_ranges_are_leaves(tmp_path: Path) -> None:
    schema = load(tmp_path, "    taxonomy: {A: [008..010, x], B: [E1..E3, 5..5]}\n")
    assert first(schema).taxonomy.leaves == ("008", "009", "010", "x", "E1", "E2", "E3", "5")
    assert first(load(tmp_path, "    values: [0..3]\n")).taxonomy.leaves == ("0", "1", "2", "3")


@pytest.mark.parametrize(
    ("lines", "place", "what", "hint"),
    [
        ("values: [x, y]\n    recode:\n      E*: z\n", 8, "leads to 'z'", "Lead it to a leaf"),
        ("recode:\n      a: x\n      E80-E999: y\n", 8, "equally long", "E800-E999"),
        ("recode:\n      a: x\n      9-3: y\n", 8, "ends before it begins", "smaller"),
        ("recode:\n      a: x\n      '[9, 3]': y\n", 8, "ends before it begins", "smaller"),
        ("recode:\n      a: x\n      '*b*': y\n", 8, "several stars", "Keep one"),
        ("recode:\n      '*': x\n      b: y\n", 8, "follows the one for all others", "last"),
        ("recode:\n      a: x\n      b: {c: d}\n", 8, "does not lead to a value", "390-459"),
        ("recode:\n      a: x\n      b:\n", 8, "does not lead to a value", "390-459"),
        ("recode: [a, b]\n", 6, "not a mapping of rules", "390-459"),
        ("recode:\n", 6, "not a mapping of rules", "390-459"),
        ("values: [x, y]\n    recode:\n      x: y\n", 8, "is itself a value", "Remove"),
        ("values: [x, y]\n    recode:\n      a: [x, G]\n", 8, "gives groups", "leaf alone"),
        ("ignore: [case]\n    values: [x, X]\n", 6, "differ only in what is ignored", "Keep one"),
        ("ignore: [caes]\n    values: [x, X]\n", 6, "ignore", "case, spaces, zeros"),
        (
            "ignore: [case]\n    recode:\n      a: x\n      A: y\n",
            9, "and before that to 'x'", "Keep one",
        ),
        ("values: [9..3]\n", 6, "smaller number to a larger", "390..459"),
        ("values: [01..100]\n", 6, "smaller number to a larger", "001..139"),
        ("values: [a1..b3]\n", 6, "smaller number to a larger", "E800..E999"),
        ("values: [0..100000]\n", 6, "more than 100000", "smaller range"),
        ("taxonomy: icd\n", 6, "no taxonomy file", "Check the path"),
    ],
)  # fmt: skip
def test_faults_name_the_line(tmp_path: Path, lines: str, place: int, what: str, hint: str) -> None:
    with pytest.raises(SchemaError) as caught:
        load(tmp_path, f"    {lines}")
    told = str(caught.value)
    assert f"s.yaml:{place}: attribute 'a': " in told
    assert what in told
    assert hint in told


def test_rules_from_python_are_checked_too() -> None:
    with pytest.raises(SchemaError, match="leads to 'z'"):
        Schema("t", (column(["x", "y"], Reading((("E*", "z"),))),), unit="row")
