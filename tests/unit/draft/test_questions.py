from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import yaml

from hedgerow.data import read
from hedgerow.draft.draft import Sketch, draft_text, sketch_table
from hedgerow.draft.questions import (
    Interview,
    accept,
    questions,
    sign_schema,
    write_schema,
)
from hedgerow.errors import SchemaError, UsageError
from hedgerow.schema import Categorical, Numeric, Schema

TODAY = datetime.date(2026, 1, 31)
DOSES = ["No", "Steady", "Up", "Down"]


def hospital(rows: int = 400) -> pa.Table:
    """Like a well-known file of diabetes patients: 50 columns, of which few need thought."""

    def turn(values: list[Any]) -> list[Any]:
        return [values[i * 7 % len(values)] for i in range(rows)]

    columns: dict[str, list[Any]] = {
        "encounter_id": [2_278_392 + 97 * i for i in range(rows)],
        "patient_nbr": [8_222_157 + 31 * (i // 2) for i in range(rows)],
        "race": turn(["Caucasian", "AfricanAmerican", "?", "Asian", "Hispanic", "Other"]),
        "gender": turn(["Female", "Male", "Unknown/Invalid"]),
        "age": turn([f"[{n}-{n + 10})" for n in range(0, 100, 10)]),
        "weight": turn(["?"] * 39 + ["[75-100)", "[50-75)"]),
        "admission_type_id": turn(list(range(1, 9))),
        "time_in_hospital": turn(list(range(1, 15))),
        "payer_code": turn(["?", "MC", "HM", "SP", "BC"]),
        "diag_1": turn([f"{250 + n / 100:.2f}" for n in range(60)] + ["V57", "E909", "428", "8"]),
        "num_medications": turn(list(range(1, 82))),
        "max_glu_serum": turn(["None", ">200", ">300", "Norm"]),
        "change": turn(["No", "Ch"]),
        "diabetesMed": turn(["Yes", "No"]),
        "readmitted": turn(["NO", ">30", "<30"]),
    }  # fmt: skip
    drugs = {f"drug{i}": turn(DOSES) for i in range(20)}
    drugs |= {"examide": turn(["No"]), "tolbutamide": turn(["No", "Steady"]), "drug20": turn(DOSES)}
    items = list(columns.items())
    return pa.table(dict([*items[:12], *drugs.items(), *items[12:]]))


def sketch(table: pa.Table) -> Sketch:
    found = sketch_table(table)
    assert isinstance(found, Sketch)
    return found


def answer_all(table: Sketch, given: dict[str, str]) -> dict[str, str]:
    """Answers as a person would who accepts all proposals but some."""
    answers: dict[str, str] = {}
    given = {"unit": "no" if table.role("person") is None else "yes", **given}
    while question := next((q for q in questions(table, answers) if q.key not in answers), None):
        answers[question.key] = accept(question, given.get(question.key, ""))
    return answers


def load(tmp_path: Path, text: str) -> Schema:
    path = tmp_path / "schema.yaml"
    path.write_text(text, encoding="utf-8")
    return Schema.load(path)


def test_a_hospital_by_its_proposals_alone(tmp_path: Path) -> None:
    data = hospital()
    table = sketch(data)
    answers = answer_all(table, {"reviewer": "Dr Ada Brown"})
    assert len(answers) < 45  # of 38 columns
    schema = load(tmp_path, write_schema(table, answers, TODAY))
    assert not schema.is_draft and schema.began_as_draft
    assert (schema.metadata.reviewer, schema.metadata.reviewed) == ("Dr Ada Brown", "2026-01-31")
    assert schema.unit == "person" and schema.person is not None
    assert (schema.person.column, schema.person.max_rows) == ("patient_nbr", 3)
    assert schema.identifiers == ("encounter_id", "weight")
    assert schema.classes == ("<30", ">30", "NO")
    found = {attribute.name: attribute for attribute in schema.attributes}
    leaves = {name: one.taxonomy.leaves for name, one in found.items()
              if isinstance(one, Categorical)}  # fmt: skip
    assert leaves["age"][:2] == ("[0-10)", "[10-20)") and leaves["age"][-1] == "[90-100)"
    assert leaves["examide"] == leaves["drug3"] and set(leaves["drug3"]) == set(DOSES)
    assert found["drug3"].split == "never" and found["age"].split == "allowed"
    assert leaves["diabetesMed"] == ("No", "Yes")
    assert "Endocrine" in " ".join(found["diag_1"].taxonomy.labels)  # type: ignore[union-attr]
    assert isinstance(found["num_medications"], Numeric)
    assert len(read(data, schema).codes)


def test_columns_that_are_alike_are_asked_about_once() -> None:
    table = sketch(hospital())
    asked = questions(table, {})
    about = [question for question in asked if "examide" in question.columns]
    assert [question.key for question in about] == [
        "together of drug0", "kind of drug0", "values of drug0", "split of drug0",
    ]  # fmt: skip
    assert "23 columns alike" in about[0].text and not any(
        question.key.endswith("of drug7") for question in asked
    )
    apart = questions(table, {"together of drug0": "no"})
    assert {"kind of drug0", "kind of drug7", "kind of examide"} <= {one.key for one in apart}


def test_a_schema_is_a_draft_until_everything_is_answered_and_signed(tmp_path: Path) -> None:
    table = sketch(pa.table({"age": [17, 40, 50], "ill": ["yes", "no", "no"]}))
    with pytest.raises(SchemaError, match="unit"):
        load(tmp_path, write_schema(table, {}, TODAY))
    for answers in (
        answer_all(table, {}),
        {"unit": "no", "reviewer": "A"},
        {**answer_all(table, {"reviewer": "A"}), "missing": "each"},  # asks more again
    ):
        schema = load(tmp_path, write_schema(table, answers, TODAY))
        assert schema.is_draft and schema.began_as_draft and schema.metadata.reviewer is None
    signed = write_schema(table, answer_all(table, {"reviewer": "A"}), TODAY)
    assert not load(tmp_path, signed).is_draft and "PRIVATE" in signed


def test_every_answer_can_be_changed(tmp_path: Path) -> None:
    table = sketch(
        pa.table({
            "who": [f"w{i}" for i in range(140)], "age": [*range(20, 90)] * 2,
            "type": [1, 2, 3, 4] * 35, "town": [f"t{i % 14:02d}" for i in range(140)],
            "ill": ["Yes", "no", None, "yes"] * 35, "dull": ["x"] * 140,
        })
    )  # fmt: skip
    given = {
        "unit": "yes", "person": "who", "max_rows": "5", "class": "ill", "drop": "-dull",
        "missing": "each", "outside": "each", "kind of age": "num",
        "numbers of age": "0 to 99 by 3",
        "missing of age": "drop", "outside of age": "other", "kind of type": "values",
        "values of type": "1 = home, 2 = ward, 3 = ward, 4 = other ward",
        "values of ill": "no = no, Yes = yes, yes = yes", "outside of ill": "drop",
        "groups of town": "A: t00..t06; B: t07, t08, t09, t10, t11, t12, t13".replace(
            "t00..t06", "t00, t01, t02, t03, t04, t05, t06"
        ),
        "values of dull": "x, y", "missing of ill": "other", "reviewer": "me",
    }  # fmt: skip
    answers = answer_all(table, given)
    schema = load(tmp_path, write_schema(table, answers, TODAY))
    assert schema.person is not None and schema.person.max_rows == 5
    age, kind, town, dull = schema.attributes
    assert isinstance(age, Numeric) and (age.high, age.step) == (99, 3)
    assert (age.missing, age.outside) == ("drop", "other")
    assert isinstance(kind, Categorical) and kind.taxonomy.leaves == ("home", "ward", "other ward")
    assert isinstance(town, Categorical) and town.taxonomy.height == 2
    assert isinstance(dull, Categorical) and dull.taxonomy.leaves == ("x", "y")
    assert schema.classes == ("no", "yes", "other")


@pytest.mark.parametrize(
    ("key", "reply", "words"),
    [
        ("unit", "perhaps", "yes, no"),
        ("drop", "agee", "no column 'agee'"),
        ("kind of age", "d", "number, date, values, drop"),
        ("numbers of age", "a lot", "0 to 120 step 1"),
        ("numbers of age", "9 to 1", "high"),
        ("numbers of age", "1990-01-01 to 2000-01-01", "not numbers"),
        ("values of ill", "a, a", "twice"),
        ("values of ill", ",", "no values"),
    ],
)
def test_a_reply_that_is_no_answer_says_what_to_write(key: str, reply: str, words: str) -> None:
    table = sketch(pa.table({"age": [17, 40, 50], "ill": ["yes", "no", "no"]}))
    question = next(one for one in questions(table, {}) if one.key == key)
    with pytest.raises(UsageError) as refused:
        accept(question, reply)
    assert words in f"{refused.value.message} {refused.value.hint}"


def test_every_question_has_an_explanation_and_says_what_comes_from_private_data() -> None:
    asked = questions(sketch(hospital()), {})
    assert all(question.explained and question.text.endswith((".", "?", ")")) for question in asked)
    told = {question.key: question.from_data for question in asked}
    assert told["numbers of num_medications"] and told["values of race"] and not told["outside"]
    why = next(one.why for one in asked if one.key == "numbers of num_medications")
    assert "never saw the data" in why


def test_regions_may_be_divided_by_columns_alike_if_there_are_few_others() -> None:
    items = {f"q{i}": [1, 2, 3, 4, 5] * 10 for i in range(14)}
    others = {f"x{i}": [f"{i}{n}" for n in range(10)] * 5 for i in range(14)}
    for table, default in ((items, "yes"), (items | others, "no")):
        asked = {one.key: one.default for one in questions(sketch(pa.table(table)), {})}
        assert asked["split of q0"] == default


def test_the_sign_off_says_what_was_left_as_the_data_has_it() -> None:
    table = sketch(pa.table({"age": [17, 40, 50], "ill": ["yes", "no", "no"]}))
    answers = {**answer_all(table, {"numbers of age": "0 to 99"}), "reviewer": ""}
    last = questions(table, answers)[-1]
    assert "1 column:" in last.text and last.why.endswith("As they were proposed: ill.")
    assert last.key == "reviewer" and last.default == "nobody"


def test_labels_need_no_spaces_and_are_never_taken_for_values() -> None:
    table = sketch(pa.table({"sex": ["F", "f", "M"] * 10, "age": [20, 30, 40] * 10}))
    given = {"values of sex": "F=Female, f=Female, M =Male"}
    text = write_schema(table, answer_all(table, given), TODAY)
    sex = Schema.from_dict(yaml.safe_load(text)).attributes[0]
    assert isinstance(sex, Categorical) and sex.taxonomy.leaves == ("Female", "Male")
    question = next(one for one in questions(table, {}) if one.key == "values of sex")
    with pytest.raises(UsageError, match="'M' has none") as error:
        accept(question, "F=Female, M")
    assert "M = M" in str(error.value.hint)
    with pytest.raises(UsageError, match="twice"):
        accept(question, "F=Female, F=Male")


def test_spellings_are_merged_in_the_proposal() -> None:
    wrote = ["F", "f", "Female", "female", "M", "Male"]
    table = sketch(pa.table({"sex": wrote * 10, "ward": ["North", "north", "South"] * 20}))
    data = pa.table({"sex": wrote * 10, "ward": ["North", "north", "South"] * 20})
    schema = Schema.from_dict(yaml.safe_load(write_schema(table, answer_all(table, {}), TODAY)))
    sex, ward = schema.attributes
    assert isinstance(sex, Categorical) and sex.taxonomy.leaves == ("Female", "Male")
    assert isinstance(ward, Categorical) and ward.taxonomy.leaves == ("North", "South")
    assert read(data, schema).codes[:6, 0].tolist() == [0, 0, 0, 0, 1, 1]


def test_values_with_the_sign_are_proposed_as_they_are() -> None:
    data = pa.table({"rule": ["x=1", "y=2", "<=3"] * 10, "age": [20, 30, 40] * 10})
    table = sketch(data)
    schema = Schema.from_dict(yaml.safe_load(write_schema(table, answer_all(table, {}), TODAY)))
    rule = schema.attributes[0]
    assert isinstance(rule, Categorical) and set(rule.taxonomy.leaves) == {"x=1", "y=2", "<=3"}


def test_a_format_of_dates_is_tried_on_the_data() -> None:
    days = [f"{i % 28 + 1:02}.{i % 12 + 1:02}.2024" for i in range(90)]
    table = sketch(pa.table({"seen": days, "age": [20, 30, 40] * 30}))
    question = next(one for one in questions(table, {}) if one.key == "format of seen")
    assert accept(question, "") == accept(question, "%d.%m.%Y") == "%d.%m.%Y"
    for wrong in ("%Y/%m/%d", "dd.mm.yyyy", "%"):
        with pytest.raises(UsageError, match="No value") as error:
            accept(question, wrong)
        assert "%d.%m.%Y" in str(error.value.hint)


def test_clip_is_for_numbers() -> None:
    table = sketch(pa.table({"ward": ["a", "b", "c"] * 10, "age": [20, 30, 40] * 10}))
    question = next(
        one for one in questions(table, {"outside": "each"}) if one.key == "outside of ward"
    )
    with pytest.raises(UsageError, match="clip is for numbers"):
        accept(question, "clip")


def test_what_cannot_be_read_yet_is_not_signed(tmp_path: Path) -> None:
    """Any file could be put there afterwards, which nobody has looked at."""
    table = sketch_table(pa.table({"age": [17, 40] * 30, "job": ["nurse", "clerk", "smith"] * 20}))
    path, jobs = tmp_path / "schema.yaml", tmp_path / "jobs.csv"
    answers = answer_all(table, {"reviewer": "Ada", "values of job": "jobs.csv"})
    text = sign_schema(Interview(table), answers, TODAY, path)
    assert "jobs.csv" in text and "\ndraft: true\n" in text and "Ada" not in text
    jobs.write_text("nurse;ward;*\nclerk;office;*\nsmith;office;*\n", encoding="utf-8")
    path.write_text(text, encoding="utf-8")
    assert Schema.load(path).is_draft and Schema.load(path).metadata.reviewer is None
    # with the file in its place there is something to sign
    path.write_text(sign_schema(Interview(table), answers, TODAY, path), encoding="utf-8")
    signed = Schema.load(path)
    assert not signed.is_draft and signed.metadata.signed == signed.fingerprint
    jobs.write_text("nurse;ward;*\nclerk;ward;*\nsmith;office;*\n", encoding="utf-8")
    assert Schema.load(path).is_draft


def test_groups_hold_every_value_once(tmp_path: Path) -> None:
    towns = [f"town {i}" for i in range(14)]
    table = sketch(pa.table({"town": towns * 5, "age": list(range(18, 88))}))
    answers = {"unit": "no", "drop": "none", "missing": "error", "outside": "error",
               "kind of town": "values", "values of town": ", ".join(towns)}  # fmt: skip
    question = next(one for one in questions(table, answers) if one.key == "groups of town")
    with pytest.raises(UsageError, match="'town 99' is not one of the values") as raised:
        accept(question, "North: town 1, town 99; South: *")
    assert "Did you mean 'town 9'" in str(raised.value.hint)
    with pytest.raises(UsageError, match="In no group: town 2, town 3") as raised:
        accept(question, "North: town 0; South: town 1")
    assert "* means all others" in str(raised.value.hint)
    with pytest.raises(UsageError, match="These are not groups"):
        accept(question, "town 1, town 2")
    assert accept(question, "towns.csv") == "towns.csv"
    answers["groups of town"] = accept(question, "North: town 0, town 1; South: *")
    (town, _) = load(tmp_path, write_schema(table, answers, TODAY)).attributes
    assert isinstance(town, Categorical) and set(town.taxonomy.leaves) == set(towns)
    assert len(town.taxonomy.labels) == len(towns) + 3


def test_changes_to_a_list_of_values_are_not_values() -> None:
    table = sketch(pa.table({"ward": ["a", "b", "c"] * 20, "sign": ["+", "-", "0"] * 20}))
    asked = {one.key: one for one in questions(table, {})}
    assert accept(asked["values of ward"], "+d, -a") == "b, c, d"
    assert accept(asked["values of ward"], "+d, a") == "+d, a"
    assert accept(asked["values of sign"], "+, -") == "+, -"


def test_what_is_accepted_as_proposed_is_what_a_draft_without_questions_says() -> None:
    """Columns of many kinds: no key of a proposal is lost on the way through the questions."""
    names = ["KOREA, REPUBLIC OF", "TURKEY", "FRANCE", "Italy", "VIET NAM", "Spain"]
    table = sketch(pa.table({
        "country": names * 100,
        "side": ["North", "South", "East"] * 199 + ["north", "SOUTH", "East"],
        "paid": ["1.234,50", "7,25", "88,00"] * 200,
        "seen": ["01/31/2024", "12/01/2023", "03/15/2024"] * 200,
        "born": [19800101 + 10000 * (n % 30) for n in range(600)],
        "visits": [*range(1, 9)] * 73 + [999] * 16,
        "claims": [n % 60 for n in range(599)] + [10**9],
        "level": ["Any", "low", "high"] * 200,
        "ill": [True, False] * 300,
    }))  # fmt: skip
    drafted = yaml.safe_load(draft_text(table))["attributes"]
    guided = yaml.safe_load(write_schema(table, {}, TODAY))["attributes"]
    assert drafted == guided
    assert drafted["country"]["ignore"] == drafted["side"]["ignore"] == ["case"]
    other = write_schema(table, {"values of country": "us-states"}, TODAY)
    assert "ignore" not in yaml.safe_load(other)["attributes"]["country"]


def test_values_far_beyond_the_bounds_can_become_other_where_it_is_said() -> None:
    table = sketch(pa.table({"paid": [100, 200, 300] * 400 + [10**11], "age": [18, 40, 81] * 400
                             + [50]}))  # fmt: skip
    asked = [one.key for one in questions(table, {})]
    assert "outside of paid" in asked and "outside of age" not in asked
    text = write_schema(table, {"outside of paid": "other"}, TODAY)
    assert yaml.safe_load(text)["attributes"]["paid"]["outside"] == "other"
    for rule in ("error", "other", "drop"):  # one rule was chosen for all
        assert "outside of paid" not in [one.key for one in questions(table, {"outside": rule})]
