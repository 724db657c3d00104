"""Which columns of a realistic table seem to identify people, and which do not."""

from __future__ import annotations

import datetime
import hashlib
import random
import uuid
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

from hedgerow.draft.draft import ItemSketch, Sketch, draft_text, sketch_table
from hedgerow.draft.guess import Guess, guess_column
from hedgerow.draft.questions import Interview, accept, questions
from hedgerow.errors import UsageError

ROWS = 2000


def column(make: Callable[[random.Random], Any], rows: int = ROWS, people: int = 0) -> list[Any]:
    """Values drawn one by one, or those of so many people who come again and again."""
    draw = random.Random(8)
    if not people:
        return [make(draw) for _ in range(rows)]
    known = [make(draw) for _ in range(people)]
    return [draw.choice(known) for _ in range(rows)]


def guess(name: str, values: list[Any]) -> Guess:
    """What is guessed, whether the values are typed or the texts of a CSV file."""
    found = guess_column(name, [pa.array(values)])
    texts = ["" if value is None else str(value) for value in values]
    again = guess_column(name, [pa.array(texts[:30]), pa.array(texts[30:])])
    assert again.people == found.people and again.published == found.published
    return found


def number(digits: int) -> Callable[[random.Random], int]:
    return lambda draw: draw.randrange(10 ** (digits - 1), 10**digits)


PERSON = {
    "patient_nbr": lambda draw: draw.randrange(135, 190_000_000),
    "MRN": number(7),
    "pat_no": number(5),
    "PATIENT NUMBER": number(5),
    "patientId": number(4),
    "userid": number(6),
    "ssn": lambda draw: f"{draw.randrange(900):03d}-{draw.randrange(100):02d}-{number(4)(draw)}",
    "e-mail": lambda draw: f"p{draw.randrange(10**6)}@example.org",
    "study_id": number(5),
    "id": number(5),
    "resp_uid": lambda draw: f"R-{number(6)(draw)}",
    "Patientennr": number(5),
    # names that say nothing
    "x1": number(9),
    "v7": number(6),
    "h": lambda draw: draw.randrange(-(2**63), 2**63),
    "who": lambda draw: f"P{draw.randrange(10**6):06d}",
    "key2": lambda draw: str(uuid.UUID(int=draw.getrandbits(128))),
    "col": lambda draw: hashlib.sha256(draw.randbytes(8)).hexdigest(),
    "a": lambda draw: f"p{draw.randrange(10**6)}@example.org",
}


@pytest.mark.parametrize("name", PERSON)
def test_people_are_found_whatever_they_are_called(name: str) -> None:
    again = guess(name, column(PERSON[name], people=1500))
    assert again.people is not None and again.people.rank > 0 and again.people.repeats
    once = guess(name, list(dict.fromkeys(column(PERSON[name]))))
    assert once.people is not None and not once.people.repeats
    some = guess(name, [None, *column(PERSON[name], people=1500)])
    assert some.people == again.people


@pytest.mark.parametrize("name", ["patient", "MRN", "customer_no"])
def test_few_people_with_many_rows(name: str) -> None:
    found = guess(name, column(number(5), people=40))
    assert found.people is not None and found.people.repeats
    found = guess(name, column(number(5), rows=60, people=9))
    assert found.people is not None


def test_people_numbered_from_one() -> None:
    found = guess("x", [1 + i % 500 for i in range(ROWS)])
    assert found.people is not None and found.people.repeats
    found = guess("Unnamed: 0", list(range(ROWS)))
    assert found.people is not None and found.people.rank == 0


def test_people_numbered_with_gaps() -> None:
    """1,900 of 2,000 numbers, no two alike: drawn at random, about 800 pairs would be."""
    left = [n for n in range(1, ROWS + 1) if n % 20]
    random.Random(3).shuffle(left)
    found = guess("seqno", left)
    assert found.people is not None and found.people.rank == 0 and not found.people.repeats
    once_repeated = guess("seqno", [*left, left[0]])
    assert once_repeated.people is None
    # 60 of 100,000 numbers are all different as a matter of course
    measured = guess("platelets", random.Random(4).sample(range(100_000), 60))
    assert measured.people is None and measured.published


IDENTIFYING: dict[str, Callable[[random.Random], Any]] = {
    "encounter_id": number(9),
    "claimNo": number(8),
    "surname": lambda draw: "".join(draw.choices("aeioubdgklmnrst", k=6)).title(),
    "first name": lambda draw: "".join(draw.choices("aeioubdgklmnrst", k=4)).title(),
    "phone": lambda draw: f"+44 {draw.randrange(10**4):04d} {draw.randrange(10**6):06d}",
    "home_address": lambda draw: f"{draw.randrange(200)} Elm Grove",
}


@pytest.mark.parametrize("name", IDENTIFYING)
def test_what_only_identifies_is_dropped_and_is_not_the_person(name: str) -> None:
    found = guess(name, column(IDENTIFYING[name], people=1000))
    assert found.people is not None and found.people.rank == 0
    assert "role: person" in found.comment


ATTRIBUTES: dict[str, Callable[[random.Random], Any]] = {
    "admission_type_id": lambda draw: draw.randint(1, 8),
    "discharge_disposition_id": lambda draw: min(28, 1 + int(draw.expovariate(0.2))),
    "patient_code": lambda draw: draw.randint(1, 8),
    "patient_type": lambda draw: draw.choice(["in", "out", "day"]),
    "customer": lambda draw: draw.choice(["gold", "silver", "bronze"]),
    "member": lambda draw: draw.choice(["yes", "no"]),
    "donor": lambda draw: draw.choice([0, 1]),
    "email": lambda draw: draw.choice(["yes", "no"]),
    "drug_name": lambda draw: draw.choice(["aspirin", "ibuprofen", "codeine"]),
    "age": lambda draw: draw.randrange(100),
    "patient_age": lambda draw: draw.randrange(100),
    "number_inpatient": lambda draw: draw.randrange(20),
    "education-num": lambda draw: draw.randint(1, 16),
    "hours-per-week": lambda draw: draw.randint(1, 99),
    "birth_weight": lambda draw: int(draw.gauss(3300, 500)),
    "income": lambda draw: int(draw.lognormvariate(10.3, 0.8)),
    "fnlwgt": lambda draw: int(draw.lognormvariate(12, 0.6)),
    "bmi": lambda draw: round(draw.gauss(26, 4), 3),
    "dose": lambda draw: draw.random(),
    "date_of_birth": lambda draw: datetime.date.fromordinal(draw.randrange(704_000, 734_000)),
    "admitted": lambda draw: 20_000_101 + 10_000 * draw.randrange(20) + draw.randrange(28),
    "day_of_year": lambda draw: draw.randint(1, 365),
    "zip": lambda draw: draw.randrange(90_001, 96_162),
    "PUMA": lambda draw: f"{draw.randrange(1, 20):02d}-01301",
}


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_what_is_an_attribute_stays_one(name: str) -> None:
    found = guess(name, column(ATTRIBUTES[name]))
    assert found.published and found.people is None


@pytest.mark.parametrize(
    "name, values",
    [("medical_specialty", 72), ("diag_1", 700), ("zip", 400), ("occupation_code", 900)],
)
def test_long_lists_are_not_people(name: str, values: int) -> None:
    codes = [f"{code:05d}" if name == "zip" else f"C-{code}.{code % 7}" for code in range(values)]
    found = guess(name, column(lambda draw: draw.choice(codes), rows=10_000))
    assert not found.published and found.people is None and "taxonomy" in found.comment
    assert name == "medical_specialty" or "people" not in found.comment


def test_fine_numbers_are_asked_about_unless_the_name_says_what_they_are() -> None:
    asked = [
        name for name in ATTRIBUTES if "people" in guess(name, column(ATTRIBUTES[name])).comment
    ]
    assert asked == ["fnlwgt"]
    few = guess("patient_nbr", column(lambda draw: draw.randint(1, 8)))
    assert few.published and "people" in few.comment


def test_a_college_is_not_a_person() -> None:
    """Its number repeats in rows of people who differ."""
    draw = random.Random(0)
    sexes = [draw.choice("fm") for _ in range(400)]
    for name in ("unitid", "x"):
        table = pa.table({name: [100_654 + 37 * (n // 4) for n in range(400)], "sex": sexes})
        sketch = sketch_table(table)
        assert isinstance(sketch, Sketch) and sketch.role("person") is None
        assert "differ in sex" in sketch.columns[0].guess.comment
    same = ["f" if n // 4 % 3 else "m" for n in range(400)]
    sketch = sketch_table(table.set_column(1, "sex", [same]))
    assert isinstance(sketch, Sketch) and sketch.role("person") is not None
    assert sketch_table(table.rename_columns(["college_id", "sex"])).role("person") is None


def test_nothing_tells_whose_rows_they_are() -> None:
    sketch = sketch_table(pa.table({"age": [20, 30] * 20, "ill": ["yes", "no"] * 20}))
    assert isinstance(sketch, Sketch)
    question = next(one for one in questions(sketch, {"unit": "yes"}) if one.key == "person")
    assert question.default == "" and "none" in question.choices
    with pytest.raises(UsageError, match="k times less than epsilon says") as refused:
        accept(question, "none")
    assert "a pseudonym is enough" in str(refused.value.hint)


def test_a_value_of_many_rows_may_be_one_persons() -> None:
    """If people have several rows, people are counted, not rows."""
    who = [f"P{n // 30:05}" for n in range(900)]
    job = ["falconer" if n < 30 else ["nurse", "clerk"][n // 30 % 2] for n in range(900)]
    sketch = sketch_table(pa.table({"patient": who, "job": job}))
    assert isinstance(sketch, Sketch)
    assert sketch.columns[1].guess.labels == ["clerk", "nurse"]


def test_a_value_that_one_person_has_in_several_spellings_is_one_persons() -> None:
    who = [f"P{n // 4:05}" for n in range(400)] + ["P99999"] * 12
    ward = ["north", "south"] * 200 + ["secret" + " " * n for n in range(12)]
    code = ["1", "2"] * 200 + ["77." + "0" * n for n in range(1, 13)]
    sketch = sketch_table(pa.table({"who": who, "ward": ward, "area_code": code}), person="who")
    assert isinstance(sketch, Sketch)
    labels = [list(one.guess.labels) for one in sketch.columns[1:]]
    assert labels == [["north", "south"], ["1", "2"]]


def visits() -> pa.Table:
    """A hundred people of twelve rows; no name says so, and one has words of her own."""
    who = [f"{'abcdefghij'[n // 10]}{'abcdefghij'[n % 10]}" for n in range(100) for _ in range(12)]
    why = ["my husband hits me" if one == "da" else ["cough", "fever"][n % 2]
           for n, one in enumerate(who)]  # fmt: skip
    cost = [float(10**7 + n) if one == "fb" else 20.0 + n % 60 for n, one in enumerate(who)]
    places = [0.125 if one == "cc" and n % 2 else n % 9 / 2 for n, one in enumerate(who)]
    return pa.table({"who": who, "why": why, "cost": cost, "dose": places})


def test_people_are_counted_by_the_column_that_is_named() -> None:
    rows = sketch_table(visits())
    assert isinstance(rows, Sketch) and rows.role("person") is None
    assert "my husband hits me" in rows.columns[1].guess.labels  # of so many rows
    asked = []

    def recount(person: str) -> Sketch | ItemSketch:
        asked.append(person)
        return sketch_table(visits(), person=person)

    interview, answers = Interview(rows, recount), {"unit": "yes", "person": "who"}
    values = {one.key: one.default for one in interview.questions(answers)}
    assert values["values of why"] == "cough, fever" and asked == ["who"]
    assert values["numbers of cost"].split(" step ")[0] == "0 to 100"
    assert values["numbers of dose"] == "0.0 to 5.0 step 0.1"
    assert interview.rare(answers)["why"] == ("my husband hits me",)
    text = interview.text(answers, datetime.date(2026, 1, 31))
    assert "husband" not in text and "who: {role: person, max_rows: 3}" in text
    # whoever says that rows are people hears of rows, and the data is read no more than once
    assert "husband" in str(interview.questions({"unit": "no"})) and asked == ["who"]


def test_a_person_who_is_named_has_to_be_there() -> None:
    with pytest.raises(UsageError, match="there is no column 'whom'"):
        sketch_table(visits(), person="whom")
    drafted = draft_text(sketch_table(visits(), person="who"))
    assert "who: {role: person, max_rows: 3}" in drafted and "husband" not in drafted
