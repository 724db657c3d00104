"""Queries: what they mean in codes, their words, and what is said about mistakes."""

from __future__ import annotations

import cProfile
import datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.errors import UsageError
from hedgerow.schema import Categorical, Numeric, Query, Schema, Taxonomy, Vocabulary, read_queries
from hedgerow.schema.conditions import split

SCHEMA = Schema.from_dict(
    {
        "name": "people", "unit": "row",
        "attributes": {
            "ssn": {"role": "identifier"},
            "age": {"type": "numeric", "low": 17, "high": 90, "outside": "clip"},
            "weight": {"type": "numeric", "low": 0, "high": 2500, "step": 1000},
            "dose": {"type": "numeric", "low": "1.0", "high": "4.0", "step": "0.5"},
            "bmi": {"type": "numeric", "low": "14.0", "high": "48.2", "step": "0.5",
                    "missing": "other"},
            "admitted": {"type": "numeric", "low": "2024-01-01", "high": "2024-12-31", "step": 7},
            "job": {"type": "categorical", "taxonomy": {
                "Professional": ["Engineer", "Lawyer"],
                "Health and care": ["nurse", "Bachelor's aide"],
                "Arts": {"Stage": ["Dancer", "Actor"], "Page": ["Poet", "say \"cheese\""]}}},
            "marital status": {"type": "categorical", "values": ["single", "other"]},
            "smoker": {"type": "boolean"},
            "salary": {"type": "categorical", "values": ["<=50K", ">50K"], "role": "class"},
        },
    }
)  # fmt: skip
AGE, WEIGHT, DOSE, BMI, ADMITTED, JOB, MARITAL, SMOKER = range(8)
NAMES = [attribute.name for attribute in SCHEMA.attributes]


def parse(text: str) -> Query:
    return Query.parse(text, SCHEMA)


def codes(text: str) -> tuple[tuple[float, float], ...]:
    """The codes of a query with a single condition."""
    ((_, found),) = parse(text).where
    return found


@pytest.mark.parametrize("text", ["", "  ", "everybody", "Everybody ", "age in [17, 90]",
                                  "job in Any", "salary in {'<=50K', '>50K'}"])  # fmt: skip
def test_the_whole_table(text: str) -> None:
    assert parse(text) == Query((), None)
    assert parse(text).text(SCHEMA) == "everybody"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("age in [30, 50]", [(13, 34)]),
        ("age in [30, 50)", [(13, 33)]),
        ("age in (30, 50]", [(14, 34)]),
        ("age = 30", [(13, 14)]),
        ("age >= 30", [(13, 74)]),
        ("age > 30", [(14, 74)]),
        ("age < 30", [(0, 13)]),
        ("age <= 30", [(0, 14)]),
        ("age≤30", [(0, 14)]),
        ("age in [29.5, 50.5]", [(13, 34)]),
        ("age in [80, 1000]", [(63, 74)]),  # what lies beyond the bounds is cut off
        ("age in {30, 31, 40, [50, 60)}", [(13, 15), (23, 24), (33, 43)]),
        ("age >= 30 AND age < 50", [(13, 33)]),
        # a code holds 1000 whole numbers, the last one 501
        ("weight in [500, 1999]", [(0.5, 2)]),
        ("weight = 1000", [(1, 1.001)]),
        ("weight >= 2250", [((2 * 501 + 250) / 501, 3)]),
        ("weight = 2500", [((2 * 501 + 500) / 501, 3)]),
        # decimals are rounded down to their step
        ("dose in [1.5, 2.5]", [(1, 4)]),
        ("dose in [1.5, 2.5)", [(1, 3)]),
        ("dose in (1.5, 2.5]", [(2, 4)]),
        ("dose in [1.3, 2.7]", [(1, 4)]),
        ("dose = 2.50", [(3, 4)]),
        ("dose = 4", [(6, 7)]),
        ("dose < 4", [(0, 6)]),
        ("bmi >= 48", [(68, 69)]),
        ("bmi = other", [(69, 70)]),
        ("bmi in {other, [20, 20.5]}", [(12, 14), (69, 70)]),
        ("bmi in {[14, 48.2]}", [(0, 69)]),  # without other
        # a week to a code, two days to the last
        ("admitted in [2024-01-01, 2024-01-14]", [(0, 2)]),
        ("admitted = 2024-01-02", [(1 / 7, 2 / 7)]),
        ("admitted > 2024-12-30", [(52.5, 53)]),
        ("job in Professional", [(0, 2)]),
        ("job = Lawyer", [(1, 2)]),
        ("job in {Lawyer, Engineer, Poet}", [(0, 2), (6, 7)]),
        ("job in {Stage, Poet, Actor}", [(4, 7)]),
        ("job in Health and care", [(2, 4)]),
        ("job in {Health and care, Dancer}", [(2, 5)]),
        ("job = Bachelor's aide", [(3, 4)]),
        (r'job = "say \"cheese\""', [(7, 8)]),
        ('job = "say ""cheese"""', [(7, 8)]),
        ("job = 'say \"cheese\"'", [(7, 8)]),
        ("marital status = single", [(0, 1)]),
        ("'marital status' = other", [(1, 2)]),
        ("smoker = yes", [(1, 2)]),
        ("smoker = false", [(0, 1)]),
    ],
)
def test_one_condition(text: str, expected: list[tuple[float, float]]) -> None:
    assert codes(text) == tuple(expected)
    assert parse(parse(text).text(SCHEMA)) == parse(text)


def test_conditions_are_joined_in_the_order_of_the_schema() -> None:
    query = parse('salary = ">50K" and job in Health and care and age>30')
    assert query == Query(((AGE, ((14, 74),)), (JOB, ((2, 4),))), (1,))
    assert query.text(SCHEMA) == (
        'age in [31, 90] and job in "Health and care" and salary = ">50K"'
    )


def test_an_and_begins_a_condition_only_before_a_name_and_an_operator() -> None:
    assert split("a in b' and c and d = 1 AND e in {x and y = z, q}and 'f and g'=2 and h") == [
        (0, "a in b' and c"),
        (18, "d = 1"),
        (28, "e in {x and y = z, q}"),
        (53, "'f and g'=2 and h"),
    ]


@pytest.mark.parametrize(
    ("text", "blamed", "what", "hint"),
    [
        ("agee > 30", "agee", "no attribute 'agee'", "Did you mean age?"),
        ("ssn = 3", "ssn", "not in the release", "dropped"),
        ("job = lawyr", "lawyr", "no value or group 'lawyr'", "Did you mean Lawyer"),
        ("job = LAWYER", "LAWYER", "no value or group", "Did you mean Lawyer"),
        ("salary = 50", "50", "no value or group", '">50K"'),
        ("age in [50, 30]", "[50, 30]", "backwards", "smaller bound first"),
        ("age in (30, 30]", "(30, 30]", "holds no value", "square bracket"),
        ("age in (30, 31)", "(30, 31)", "holds no value", "square bracket"),
        ("age = 30.5", "30.5", "no such value", "17, 18"),
        ("dose = 1.7", "1.7", "no such value", "1, 1.5"),
        ("age > 90", "> 90", "bounds of 'age', 17 to 90", "nearer bound"),
        ("dose in {2, 0.5}", "0.5", "bounds of 'dose', 1 to 4", "within the bounds"),
        ("admitted < 2024-01-01", "< 2024-01-01", "2024-01-01 to 2024-12-31", "within"),
        ("age >= 50 and age < 30", "age < 30", "contradict", "Keep one"),
        ("salary = '>50K' and salary = '<=50K'", "salary = '<=50K'", "'salary' contra", "one"),
        ("job in [1, 2]", "[1, 2]", "cannot lie in an interval", "Engineer"),
        ("job > Lawyer", "> Lawyer", "cannot lie in an interval", "Engineer"),
        ("age = young", "young", "needs a number", "from 17 to 90."),
        ("age = other", "other", "needs a number", "from 17 to 90."),
        ("bmi = thin", "thin", "needs a number", "or other."),
        ("age = 2024-01-01", "2024-01-01", "needs a number", "number"),
        ("admitted = 30", "30", "needs a date", "2024-01-31"),
        ("admitted = 2024-02-30", "2024-02-30", "needs a date", "2024-01-31"),
        ("age = 1e999", "1e999", "needs a number", "number"),
        ("age", " ", "ends where 'in', '=' or a comparison after 'age'", "such as"),
        ("age =", " ", "ends where a value", "such as"),
        ("age in [30", " ", "ends where ','", "such as"),
        ("age in [30, 40", " ", "ends where ']' or ')'", "such as"),
        ("job in {Lawyer, nurse", " ", "ends where ',' or '}'", "such as"),
        ("job in {}", "}", "a value should stand here", "such as"),
        ("age in 30, 50]", ",", "'and' or the end", "braces"),
        ("age = 30 or smoker = yes", "=", "'and' or the end", "no 'or'"),
        ("salary = >50K", ">", "a value should stand here", '">50K"'),
        ("age not = 30", "age not", "no attribute", "age"),
        ("NOT (age > 30)", "(", "an attribute should", "not age > 30"),
        ("job != Any", "job", "no value of 'job'", "Leave"),
        ("job = 'Lawyer", "'", "quote is not closed", "Close it"),
        ("age > 30 and", " ", "a condition is missing", "such as"),
        ("and age > 30", "a", "a condition is missing", "such as"),
        ("age > 30 and = 4", "=", "'and' or the end", "Join"),
        ("[30, 50]", "[", "name of an attribute", "such as"),
        ("age between 30 and 50", "and", "after 'age between 30'", "age in [30, 50]."),
        ("age in 30-50", "30-50", "needs a number", "Write age in [30, 50]."),
        ("age = 30 to 50", "30 to 50", "needs a number", "Write age in [30, 50]."),
    ],
)
def test_mistakes_are_pointed_at(text: str, blamed: str, what: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse(text)
    message, shown, carets = caught.value.message.split("\n")
    assert what in message
    assert hint in str(caught.value.hint)
    start, end = carets.index("^"), len(carets)
    assert shown.strip() == text and (shown + " ")[start:end] == blamed


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("age != 30", "age in {[17, 29], [31, 90]}"),
        ("age not in [30, 50]", "age in {[17, 29], [51, 90]}"),
        ("not age > 30", "age <= 30"),
        ("NOT job = Lawyer & age > 30", "job != Lawyer and age > 30"),
        ("job not in {Lawyer}", "job <> Lawyer"),
        ("not job != Lawyer", "job = Lawyer"),
    ],
)
def test_what_is_not_so_is_all_else(text: str, same: str) -> None:
    assert parse(text) == parse(same)


def test_a_truth_value_stands_alone() -> None:
    schema = Schema.from_dict(
        {
            "name": "s",
            "unit": "row",
            "attributes": {
                "age": {"type": "numeric", "low": 0, "high": 9},
                "food": {"type": "categorical", "values": ["salt and smoker", "other food"]},
                "smoker": {"type": "boolean"},
                "not": {"type": "boolean"},
            },
        }
    )

    def text(query: str) -> str:
        return Query.parse(query, schema).text(schema)

    assert text("smoker") == "smoker = true" and text("not smoker") == "smoker = false"
    assert text("age > 3 & not smoker and age < 6") == "age in [4, 5] and smoker = false"
    assert text("not") == "not = true" and text("not = no") == "not = false"
    assert text("not not") == "not = false"
    assert text("food = 'salt and smoker' and smoker") == (
        'food = "salt and smoker" and smoker = true'
    )


def test_a_long_query_is_shown_in_part() -> None:
    text = " and ".join(["age > 20"] * 500 + ["agee > 30"] + ["age > 20"] * 500)
    with pytest.raises(UsageError) as caught:
        parse(text)
    _, shown, carets = caught.value.message.split("\n")
    assert len(shown) < 150
    assert shown[carets.index("^") : len(carets)] == "agee"


@pytest.mark.parametrize(
    ("conditions", "text"),
    [
        ({}, "everybody"),
        ({"age": (30, 50)}, "age in [30, 50]"),
        ({"age": 30}, "age = 30"),
        ({"age": np.int64(30)}, "age = 30"),
        ({"age": range(30, 50)}, "age in [30, 50)"),
        ({"age": range(30, 36, 2)}, "age in {30, 32, 34}"),
        ({"age": [30, 40]}, "age in {30, 40}"),
        ({"age": [30, (40, 50)]}, "age in {30, [40, 50]}"),
        ({"age": (None, 50)}, "age <= 50"),
        ({"age": (50, float("inf"))}, "age >= 50"),
        ({"age": "30"}, "age = 30"),
        ({"dose": 2.5}, "dose = 2.5"),
        ({"dose": (np.float64(1.5), Decimal("2.5"))}, "dose in [1.5, 2.5]"),
        ({"dose": Fraction(5, 2)}, "dose = 2.5"),
        ({"bmi": "other"}, "bmi = other"),
        (
            {"admitted": (datetime.date(2024, 1, 1), datetime.datetime(2024, 3, 31, 23, 5))},
            "admitted in [2024-01-01, 2024-03-31]",
        ),
        (
            {"admitted": (np.datetime64("2024-01-01"), np.datetime64("2024-03-31T23:05", "ns"))},
            "admitted in [2024-01-01, 2024-03-31]",
        ),
        ({"age": np.array([30, 40])}, "age in {30, 40}"),
        ({"job": np.array(["Engineer", "Poet"])}, "job in {Engineer, Poet}"),
        ({"smoker": np.True_}, "smoker = true"),
        ({"job": "Professional"}, "job in Professional"),
        ({"job": {"Engineer", "Poet"}}, "job in {Engineer, Poet}"),
        ({"job": ("Engineer", "Poet")}, "job in {Engineer, Poet}"),
        ({"smoker": True, "age": (30, 50)}, "age in [30, 50] and smoker = true"),
        ({"salary": ">50K"}, 'salary = ">50K"'),
    ],
)
def test_mappings_say_the_same_as_texts(conditions: dict[str, Any], text: str) -> None:
    assert Query.of(conditions, SCHEMA) == parse(text)


@pytest.mark.parametrize(
    ("conditions", "what"),
    [
        ({"agee": 3}, "no attribute 'agee'"),
        ({"age": (30, 50, 70)}, "an interval of 'age' needs two bounds"),
        ({"age": (50, 30)}, "'age': the interval runs backwards"),
        ({"age": []}, "'age' is given no value"),
        ({"age": range(5, 5)}, "'age' is given no value"),
        ({"age": None}, "'age': a value of type NoneType"),
        ({"age": True}, "'age': a value of type bool"),
        ({"age": float("nan")}, "'age': a value of type float"),
        ({"age": [(30, object())]}, "'age': a value of type object"),
        ({"age": np.array([[30, 50]])}, "'age': a value of type ndarray"),
        ({"admitted": np.datetime64("2024-03")}, "'admitted' needs a date"),
        ({"admitted": np.datetime64("NaT", "D")}, "'admitted' needs a date"),
        ({"job": b"Lawyer"}, "'job': bytes cannot"),
        ({"job": "lawyr"}, "'job' has no value or group 'lawyr'"),
        ({"job": 3}, "'job' has no value or group '3'"),
    ],
)
def test_mistakes_in_mappings_name_the_attribute(conditions: dict[str, Any], what: str) -> None:
    with pytest.raises(UsageError) as caught:
        Query.of(conditions, SCHEMA)
    assert caught.value.message.startswith(what) or what in caught.value.message
    assert caught.value.hint


def test_codes_that_no_words_say() -> None:
    for where in [(DOSE, ((0.5, 2.0),)), (WEIGHT, ((0.12345, 2.0),)), (JOB, ((0.5, 1.0),))]:
        with pytest.raises(UsageError, match="no words"):
            Query((where,)).text(SCHEMA)


# -- any schema ------------------------------------------------------------------------------

# what is printable: drawn, for most of any text is not
signs = st.characters(exclude_categories=("C", "Z"), include_characters=" ")
labels = st.text(signs, min_size=1, max_size=8).filter(lambda t: t.strip() == t)
tricky = st.sampled_from(
    ["and", "in", "a and b", "x in y", "'", "\\", '\\"', '""', "''", "[1, 2]", "{", "=", "it's",
     "everybody", "a, b", "-3", "1e5", "!=", "a\\", "#"]
)  # fmt: skip


@st.composite
def attributes(draw: st.DrawFn, name: str) -> Categorical | Numeric:
    if draw(st.booleans()):
        root, group, *leaves = draw(st.lists(labels | tricky, min_size=6, max_size=10, unique=True))
        cut = draw(st.integers(2, len(leaves) - 1))
        tree = {group: leaves[:cut], **dict.fromkeys(leaves[cut:])}
        return Categorical(name, Taxonomy.from_nested(root, tree))
    kind = draw(st.sampled_from(["integer", "decimal", "date"]))
    scale = 100 if kind == "decimal" else 1
    low = Fraction(draw(st.integers(-5000, 5000)), scale)
    step = Fraction(draw(st.integers(1, 60)), scale)
    high = low + Fraction(draw(st.integers(1, 900)), scale)
    missing = draw(st.sampled_from(["error", "other"]))
    return Numeric(name, low=low, high=high, step=step, kind=kind, missing=missing)  # type: ignore[arg-type]


@st.composite
def schemas(draw: st.DrawFn) -> Schema:
    names = draw(st.lists((labels | tricky).filter(lambda n: n not in ("region", "count")),
                          min_size=2, max_size=4, unique=True))  # fmt: skip
    *predictors, target = names
    return Schema(
        "t",
        tuple(draw(attributes(name)) for name in predictors),
        target=Categorical(target, Taxonomy.flat(["no", "yes", "a and b = c"])),
        unit="row",
    )


def value_of(attribute: Numeric, place: int) -> Any:
    """The value at a place, whole numbers and dates one apart and decimals a step."""
    unit = attribute.step if attribute.kind == "decimal" else 1
    value = attribute.low + place * unit
    if attribute.kind == "date":
        return datetime.date(1970, 1, 1) + datetime.timedelta(days=int(value))
    return Decimal(value.numerator) / value.denominator


def last_place(attribute: Numeric) -> int:
    unit = attribute.step if attribute.kind == "decimal" else 1
    return int((attribute.high - attribute.low) / unit)


@st.composite
def asked(draw: st.DrawFn) -> tuple[Schema, dict[str, Any]]:
    schema = draw(schemas())
    wanted: dict[str, Any] = {}
    for attribute in schema.attributes:
        if draw(st.booleans()):
            continue
        if isinstance(attribute, Categorical):
            one = st.sampled_from(attribute.taxonomy.labels)
        else:
            places = st.integers(0, last_place(attribute))
            one = st.tuples(places, places).map(
                lambda pair, a=attribute: tuple(value_of(a, place) for place in sorted(pair))
            )
            if attribute.has_other:
                one = one | st.just("other")
        wanted[attribute.name] = draw(st.lists(one, min_size=1, max_size=3))
    assert schema.target is not None
    if draw(st.booleans()):
        wanted[schema.target.name] = draw(st.sampled_from(schema.classes))
    return schema, wanted


@pytest.mark.slow
@given(asked())
@settings(max_examples=150, deadline=None)
def test_words_lead_back_to_the_query(case: tuple[Schema, dict[str, Any]]) -> None:
    schema, wanted = case
    query = Query.of(wanted, schema)
    text = query.text(schema)
    assert Query.parse(text, schema) == query
    vocabulary = Vocabulary(schema)
    assert vocabulary.parse(text) == vocabulary.parse(text) == query  # from memory, too
    assert vocabulary.text(query) == text
    # intervals are in order, apart and inside
    assert [place for place, _ in query.where] == sorted({place for place, _ in query.where})
    for place, found in query.where:
        edges = [edge for interval in found for edge in interval]
        assert edges == sorted(set(edges))
        assert edges[0] >= 0 and edges[-1] <= schema.attributes[place].size


@pytest.mark.slow
@given(schemas())
@settings(max_examples=80, deadline=None)
def test_every_value_takes_an_equal_part_of_its_code(schema: Schema) -> None:
    """Brute force: ask for each value by itself and see which codes it takes."""
    for attribute in schema.attributes:
        if not isinstance(attribute, Numeric):
            continue
        reached = 0.0
        for place in range(min(last_place(attribute), 150) + 1):
            value = value_of(attribute, place)
            query = Query.of({attribute.name: value}, schema)
            if not query.where:  # a single value in all
                return
            (low, high) = query.where[0][1][0]
            assert low == reached and high > low
            # the code that the table's encoder would give the value
            assert int(low) == _code(attribute, value) == int(np.nextafter(high, 0))
            reached = high
        if place == last_place(attribute):
            assert reached == attribute.grid


def _code(attribute: Numeric, value: Any) -> int:
    number = (value - datetime.date(1970, 1, 1)).days if attribute.kind == "date" else value
    return int((Fraction(number) - attribute.low) / attribute.step)


@given(st.text(alphabet="age in[]()30,5 job={}'\"\\and<>!=L", max_size=40))
@settings(max_examples=500, deadline=None)
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        query = parse(text)
    except UsageError as error:
        assert error.hint and "\n" in error.message
    else:
        assert parse(query.text(SCHEMA)) == query


def test_what_was_met_before_changes_nothing() -> None:
    texts = ["job = nurse", "job in Health and care", "job in 'Health and care' and age > 30",
             "age > 30 and job in {nurse, Poet} and age > 30", "age > 30  and job = nurse",
             "age > 30 and age > 30", "job in Health and care and age > 30"]  # fmt: skip
    vocabulary = Vocabulary(SCHEMA)
    for text in texts * 2:
        assert vocabulary.parse(text) == parse(text)
    for text in ["age > 30 and nurse", "job = nurse and age < 20 and age > 30"]:
        with pytest.raises(UsageError) as fresh:
            parse(text)
        vocabulary.parse("age < 20")
        with pytest.raises(UsageError) as again:
            vocabulary.parse(text)
        assert again.value.message == fresh.value.message


def test_huge_steps_keep_single_values_apart_from_nothing() -> None:
    wide = Schema(
        "w",
        (
            Numeric(
                "x", low=Fraction(0), high=Fraction(10**39), step=Fraction(10**33), kind="integer"
            ),
        ),
        unit="row",
    )
    query = Query.parse(f"x = {5 * 10**38 + 1}", wide)
    ((_, ((low, high),)),) = query.where
    assert low < high
    assert Query.parse(query.text(wide), wide) == query


# -- files -----------------------------------------------------------------------------------


def test_a_file_of_queries(tmp_path: Path) -> None:
    path = tmp_path / "q.txt"
    path.write_bytes("﻿# who\r\n\r\nage > 30\r\n  # more\n\teverybody\njob = nurse".encode())
    assert read_queries(path, SCHEMA) == [parse("age > 30"), Query(), parse("job = nurse")]


@pytest.mark.parametrize(
    ("content", "place", "what"),
    [
        (b"age > 30\n\n# x\nage >\n", ":4: ", "ends where"),
        (b"age > 30\njob = nobody\n", ":2: ", "no value or group"),
        (b"age > \xff\xfe", " ", "not a text file in UTF-8"),
    ],
)
def test_a_broken_line(tmp_path: Path, content: bytes, place: str, what: str) -> None:
    path = tmp_path / "q.txt"
    path.write_bytes(content)
    with pytest.raises(UsageError) as caught:
        read_queries(path, SCHEMA)
    assert caught.value.message.startswith(f"{path}{place}") and what in caught.value.message


def test_files_that_are_not_there(tmp_path: Path) -> None:
    for path in (tmp_path / "no.txt", tmp_path):
        with pytest.raises(UsageError, match="cannot be read"):
            read_queries(path, SCHEMA)


@pytest.mark.slow
def test_what_queries_share_is_read_once(tmp_path: Path) -> None:
    path = tmp_path / "q.txt"

    def calls(number: int) -> int:
        """How many functions are called to read so many lines, with 1,230 different ones."""
        lines = (
            f'age in [{20 + i % 30}, {50 + i % 41}] and job in "Health and care" '
            f"and dose < {2 + i % 3}"
            for i in range(number)
        )
        path.write_text("\n".join(lines), encoding="utf-8")
        profile = cProfile.Profile()
        assert len(profile.runcall(read_queries, path, SCHEMA)) == number
        return sum(entry.callcount for entry in profile.getstats())

    assert calls(4_000) - calls(2_000) < 50 * 2_000  # a line that is new takes more than 150


def endless() -> list[object]:
    found: list[object] = []
    found.append(found)
    return found


@pytest.mark.parametrize(
    "wanted",
    [10**5000, (0, 10**5000), Decimal("1e999999"), Decimal("1e-999999"), endless()],
    ids=["whole", "bound", "large", "small", "endless"],
)
def test_what_python_cannot_write_out_is_refused(wanted: object) -> None:
    with pytest.raises(UsageError):
        Query.of({"age": wanted}, SCHEMA)


def test_attributes_are_named_by_text() -> None:
    with pytest.raises(UsageError, match="named by text"):
        Query.of({10**5000: 1}, SCHEMA)  # type: ignore[dict-item]


def test_a_very_long_query_is_refused() -> None:
    with pytest.raises(UsageError, match="characters"):
        Query.parse("age > 1 and " * 50_000, SCHEMA)


def test_an_open_quote_before_very_many_others_is_told() -> None:
    with pytest.raises(UsageError, match="not closed"):
        Query.parse('age = "' + '\\"' * 50_000, SCHEMA)


CODES = Schema.from_dict(
    {
        "name": "clinic", "unit": "row",
        "attributes": {
            "icd": {"type": "categorical", "cut_at": ".", "ignore": ["zeros"], "recode": {
                "390-459": ["heart", "Natural causes"], "460-519": ["lungs", "Natural causes"],
                "E*": "accident", "*": "something else"}},
            "sex": {"type": "categorical", "values": ["F", "M"], "ignore": ["case"]},
            "charges (USD)": {"type": "numeric", "low": 0, "high": 99},
        },
    }
)  # fmt: skip


@pytest.mark.parametrize(
    ("asked", "understood"),
    [
        ("icd = 428.0", "icd = heart"),
        ("icd in {0428, E888.1}", "icd in {heart, accident}"),
        ("icd = heart", "icd = heart"),
        ("icd in Natural causes", 'icd in "Natural causes"'),
        ("sex = f", "sex = F"),
        ('"charges (USD)" > 5', '"charges (USD)" in [6, 99]'),
    ],
)
def test_values_may_be_written_as_the_data_writes_them(asked: str, understood: str) -> None:
    query = Query.parse(asked, CODES)
    assert query == Query.parse(understood, CODES)


@pytest.mark.parametrize("asked", ["icd = hart", "sex = x"])
def test_a_slip_of_the_pen_is_none_of_the_others(asked: str) -> None:
    with pytest.raises(UsageError, match="no value or group"):
        Query.parse(asked, CODES)


def test_a_name_that_needs_quotes_is_told_so() -> None:
    for asked in ("charges (USD) > 5", "sex = F and charges (USD) > 5"):
        with pytest.raises(UsageError) as caught:
            Query.parse(asked, CODES)
        assert caught.value.hint == 'The name needs quotes: "charges (USD)".'
