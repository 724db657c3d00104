import datetime
from fractions import Fraction

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hedgerow.data import read
from hedgerow.draft.draft import NO_UNIT, draft_text, sketch_table
from hedgerow.draft.questions import questions
from hedgerow.errors import DataError, SchemaError
from hedgerow.schema import Numeric, Schema


def _below_comments(text):
    return "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))


@pytest.fixture
def draft(tmp_path):
    def make(data):
        text = draft_text(sketch_table(pa.table(data) if isinstance(data, dict) else data))
        path = tmp_path / "schema.yaml"
        unit = "person" if "{role: person" in _below_comments(text) else "row"
        path.write_text(text.replace(f"unit: {NO_UNIT}", f"unit: {unit}"), encoding="utf-8")
        return text, Schema.load(path)

    return make


def test_it_says_that_it_read_private_data(draft):
    text, schema = draft({"age": [1, 2]})
    assert text.startswith("# A DRAFT, made by reading PRIVATE data")
    assert schema.is_draft and schema.began_as_draft


def test_every_kind_is_guessed(draft):
    n = 60
    text, schema = draft(
        {
            "row": [f"r{i}" for i in range(n)],
            "patient_id": [i // 2 for i in range(n)],
            "age": [17 + i for i in range(n)],
            "gain": [i * 1700 for i in range(n)],
            "dose": [None, *(i / 100 for i in range(1, n))],
            "born": [f"19{40 + i % 50}-05-06" for i in range(n)],
            "seen": [datetime.datetime(2020, 1, 1) + datetime.timedelta(i) for i in range(n)],
            "smoker": ["yes", "no"] * (n // 2),
            "job": ["cook", "smith", "?"] * (n // 3),
            "zip": [f"0{i % 5}" for i in range(n)],
            "town": [f"t{i % 59}" for i in range(n)],
            "void": pa.nulls(n),
            "No": [1.0, 3.0, None] * (n // 3),
            "income": ["<=50K", ">50K"] * (n // 2),
            "count": [1, 2] * (n // 2),
        }
    )
    found = {attribute.name: attribute for attribute in schema.attributes}
    assert schema.identifiers == ("row", "town", "void")
    assert found["count_value"].column == "count"
    assert schema.person is not None and schema.person.column == "patient_id"
    assert schema.classes == ("<=50K", ">50K")
    assert (found["age"].low, found["age"].high, found["age"].step) == (0, 120, 1)
    assert (found["gain"].low, found["gain"].high, found["gain"].step) == (0, 100000, 50)
    assert found["dose"].kind == "decimal" and found["dose"].missing == "other"
    assert found["born"].kind == "date" and found["born"].edge(0) == datetime.date(1940, 1, 1)
    assert found["seen"].kind == "date" and found["seen"].step == 1
    assert found["smoker"].taxonomy.leaves == ("no", "yes")
    assert found["job"].taxonomy.leaves == ("cook", "smith", "other")
    assert found["zip"].taxonomy.leaves[1] == "01"
    assert isinstance(found["No"], Numeric)


def test_a_numeric_class(draft):
    _, schema = draft({"age": [1, 2, 3, 4] * 5, "label": [3, 4] * 10})
    assert schema.classes == ("3", "4")
    _, schema = draft({"label": ["x", "y"] * 10})  # a lone column is no class
    assert schema.target is None


def test_awkward_values_and_names(draft):
    values = ["Any", "yes: no", "# x", "", "'", '"', "\\", "ä", "null", "{a}", "- b", "1e3", "Any"]
    data = {"a: b #": values, "é,": [1] * 13, "on": ["x\ny"] * 13, "region": values}
    _, schema = draft(pa.concat_tables([pa.table(data)] * 10))
    assert [a.name for a in schema.attributes] == ["a: b #", "é,", "region_value"]
    assert "yes: no" in schema.attributes[0].taxonomy.leaves
    assert schema.identifiers == ("on",)
    assert schema.attributes[-1].column == "region"


def test_nothing_to_draft():
    for data in ({"a": pa.nulls(3)}, {"email": ["x", "y"]}):
        with pytest.raises(DataError, match="no column from which") as refused:
            draft_text(sketch_table(pa.table(data)))
        assert "delimiter" in str(refused.value)
    with pytest.raises(DataError, match="no records"):
        draft_text(sketch_table(pa.table({"a": pa.nulls(0)})))


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([str(i) for i in range(90)] + ["unknown"], "Most of its values are numbers, and some"),
        ([f"{i},5" for i in range(90)] + ["many"], "decimal comma"),
        (
            [f"{i % 28 + 1:02d}.{i % 12 + 1:02d}.{1950 + i}" for i in range(90)] + ["?!"],
            "like dates",
        ),
        ([f"{i:05d}" for i in range(90)], None),  # codes are no numbers
        ([f"word{i}" for i in range(90)], None),
    ],
)
def test_numbers_and_dates_in_another_notation_come_with_a_way_out(draft, values, words):
    text, schema = draft(pa.table({"x": values, "sex": ["f", "m", *["f"] * (len(values) - 2)]}))
    assert [attribute.name for attribute in schema.attributes] == ["sex"]
    flat = " ".join(text.replace("#", "").split())
    assert ("Most of its values" in flat) == (words is not None) and (words or "") in flat


def test_extreme_numbers(draft):
    _, schema = draft(
        {
            "constant": [7, 7, 7],
            "tiny": [1e-12, 2e-12, 5e-12],
            "huge": [-(2**62), 2**62, 0],
            "far": [0.5, float("inf"), float("nan")],
            "day": [datetime.date(1, 1, 1), datetime.date(9999, 12, 31), None],
        }
    )
    assert all(isinstance(attribute, Numeric) for attribute in schema.attributes)


@pytest.mark.parametrize("rows", [9, 10])
def test_no_step_is_that_of_a_few(draft, rows):
    """What more places fewer than ten rows have is told by no step."""
    values = [number / 10 for number in range(1000 - rows)] + [71.375] * rows
    (score,) = draft({"score": values})[1].attributes
    assert (score.step >= Fraction(1, 10)) == (rows < 10)


def test_a_long_tail_is_proposed_on_a_logarithmic_scale(draft):
    rows = {"pay": [10 * n for n in range(90)] + [90_000] * 5, "age": list(range(95))}
    pay, age = draft(rows)[1].attributes
    assert (pay.scale, age.scale) == ("log", "linear")


def test_numbers_next_to_nothing(draft):
    _, schema = draft(pd.DataFrame({"mass": [1e-39, 2e-39, 4e-39], "charge": [0.0, 1e-300, 5.0]}))
    assert all(isinstance(attribute, Numeric) for attribute in schema.attributes)


def test_frames_and_files(draft, tmp_path):
    _, schema = draft(
        pd.DataFrame({"age": [1, None, 3], "job": ["a", "b", "c"]}).loc[[0, 1, 2] * 10]
    )
    assert schema.name == "table"
    path = tmp_path / "my people.csv"
    path.write_text("age;job\n" + "1;a\n;b\n" * 10)
    text, schema = draft(path)
    assert schema.name == "my people"
    assert [attribute.name for attribute in schema.attributes] == ["age", "job"]


def test_whole_numbers_with_a_point_are_whole_numbers(draft):
    """As many programs write a column of whole numbers in which some are missing."""
    ages = [f"{i % 70 + 18}.0" for i in range(99)] + [""]
    died = ["1.0", "0.0", "0.0", ""] * 25
    steps = [f"{1 + i % 5}.0" for i in range(100)]
    data = pa.table({"age": ages, "died": died, "q1": steps, "q2": steps, "q3": ["2"] * 100})
    _, schema = draft(data)
    age, *scales = (one for one in schema.attributes if one.name != "died")
    assert (age.kind, age.low, age.high, age.step) == ("integer", 0, 120, 1)
    assert schema.classes == ("0", "1", "other")  # and not 0.0
    assert all(one.kind == "integer" for one in scales[:2])
    read(data, schema)


def test_a_class_of_numbers_and_an_infinite_one_takes_its_data(draft):
    table = pa.table({"always": [1, 2, 3, 4] * 10, "class": [None, 0.0, 2.0, float("inf")] * 10})
    _, schema = draft(table)
    assert schema.classes == ("0", "2", "other")
    read(table, schema)


def test_numbers_of_more_digits_than_a_schema_takes_do_not_spoil_a_draft(draft):
    dose = [1e300, -1e300, 3e38, 0.5] * 10
    _, schema = draft(pa.table({"always": [1, 2, 3, 4] * 10, "dose": dose}))
    number = next(one for one in schema.attributes if one.name == "dose")
    assert (number.low, number.high, number.outside) == (-(10**39), 10**39, "clip")
    read(pa.table({"always": [1, 2, 3, 4] * 10, "dose": dose}), schema)


CELLS = st.one_of(
    st.lists(st.one_of(st.none(), st.integers(-(10**6), 10**6)), min_size=4, max_size=4),
    st.lists(st.one_of(st.none(), st.floats(width=32)), min_size=4, max_size=4),
    st.lists(st.one_of(st.none(), st.booleans()), min_size=4, max_size=4),
    st.lists(st.one_of(st.none(), st.dates()), min_size=4, max_size=4),
    st.lists(st.one_of(st.none(), st.text(max_size=6)), min_size=4, max_size=4),
    st.lists(
        st.sampled_from(["", "0.0", "1.0", "1", "1.50", "1.5", "-2.00", "1e2", "NA", "07"]),
        min_size=4, max_size=4,
    ),
)  # fmt: skip


@pytest.mark.slow
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(CELLS, CELLS)
def test_a_draft_loads_and_takes_the_data_it_came_from(draft, one, two):
    table = pa.table({"always": [1, 2, 3, 4], "one": pa.array(one), "class": pa.array(two)})
    table = pa.concat_tables([table] * 10)  # rare values are not proposed
    _, schema = draft(table)
    read(table, schema)


@pytest.mark.parametrize(
    "values",
    [
        {"patient": [f"x{i % 9}" for i in range(60)]},
        {"Patient No": [i // 2 for i in range(60)]},
        {"who": [f"P{i // 2:06d}" for i in range(120)]},  # numbered people, twice each
    ],
)
def test_who_comes_again_is_the_person(draft, values):
    (name,) = values
    text, schema = draft({**values, "age": list(range(len(values[name])))})
    assert schema.person is not None and schema.person.column == name
    assert schema.unit == "person" and not schema.identifiers
    assert "max_rows" in _comment(text, name) and "unit: person" in _comment(text, name)


@pytest.mark.parametrize(
    "values",
    [
        {"patient": [f"x{i}" for i in range(60)]},  # none comes again
        {"who": [f"{i % 25} Elm Grove" for i in range(60)]},  # nearly as many as rows
        {"encounter_id": [7 * (i // 2) for i in range(60)]},
    ],
)
def test_what_may_tell_people_apart_is_dropped_and_asked_about(draft, values):
    (name,) = values
    text, schema = draft({**values, "age": list(range(len(values[name])))})
    assert schema.identifiers == (name,) and schema.person is None
    assert "role: person, max_rows" in _comment(text, name)


def test_one_column_alone_is_the_person(draft):
    text, schema = draft(
        {
            "contact": [f"p{i // 3}@example.org" for i in range(90)],
            "household_id": [1000 + i // 6 * 7 for i in range(180)][::2],
            "pat_no": [5000 + i // 3 * 7 for i in range(90)],
            "age": [i // 3 for i in range(90)],
        }
    )
    assert schema.person is not None and schema.person.column == "pat_no"
    assert schema.identifiers == ("contact", "household_id")
    assert "too" in _comment(text, "contact") and "# Below, pat_no seems" in text


def test_a_number_that_most_rows_have_to_themselves_is_asked_about(draft):
    numbers = [(i * 7919) % 999_983 for i in range(300)]
    text, schema = draft({"fnlwgt": numbers, "income": numbers})
    assert [attribute.name for attribute in schema.attributes] == ["fnlwgt", "income"]
    assert "Does it number people?" in _comment(text, "fnlwgt") and not _comment(text, "income")


def _comment(text, name):
    """The comment above a column."""
    lines = text.splitlines()
    end = next(n for n, line in enumerate(lines) if line.replace('"', "").startswith(f"  {name}:"))
    start = end
    while lines[start - 1].startswith("  # "):
        start -= 1
    return " ".join(line.removeprefix("  # ") for line in lines[start:end])


def test_nothing_is_read_before_the_unit_is_stated(tmp_path):
    path = tmp_path / "schema.yaml"
    for source in (pa.table({"age": [1, 2]}), pa.table({"bought": [["tea"], ["milk"]] * 10})):
        path.write_text(draft_text(sketch_table(source)), encoding="utf-8")
        with pytest.raises(SchemaError, match=r"schema.yaml:\d+: unit is") as error:
            Schema.load(path)
        assert "and " not in error.value.message and "`unit: row`" in error.value.hint


def test_codes_are_labels(draft):
    data = {"admission_type_id": [1 + i % 8 for i in range(200)], "job_code": list(range(100)) * 2}
    text, schema = draft({**data, "age": [1, 2] * 100})
    assert schema.attributes[0].taxonomy.leaves == tuple("12345678")
    assert schema.identifiers == ("job_code",) and "taxonomy" in _comment(text, "job_code")


def test_words_about_people_do_not_make_ids(draft):
    _, schema = draft({"patient_age": [40, 50, 60] * 10, "case type": ["a", "b", "c"] * 10})
    assert [attribute.name for attribute in schema.attributes] == ["patient_age", "case type"]


def test_amounts_with_a_few_texts_are_numbers_with_a_growing_scale() -> None:
    amounts = [str(int(1.2**i)) for i in range(90)] * 2 + ["see file", "refund"]
    (line,) = (
        line for line in draft_text(sketch_table(pa.table({"amount": amounts}))).split("\n")
        if line.startswith("  amount:")
    )  # fmt: skip
    assert "scale: log" in line and "missing: other" in line and "outside: other" in line
    ids = [str(10_000 + i) for i in range(90)] + ["none given"]
    assert "patient_id: {role: identifier}" in draft_text(
        sketch_table(pa.table({"patient_id": ids, "amount": [1, 2] * 45 + [3]}))
    )


def test_values_far_beyond_the_bounds_are_remarked_on():
    """Nothing of the far value itself is told, and nothing is said where values are near."""
    prices = [100, 200, 300] * 400
    (far,) = sketch_table(pa.table({"price": [*prices, 10**11]})).columns
    (near,) = sketch_table(pa.table({"price": [*prices, 320]})).columns
    assert far.guess.settings["high"] == "300"
    assert "far beyond these bounds" in far.guess.warning and "11" not in far.guess.warning
    assert near.guess.warning == ""


def test_a_step_into_which_most_rows_fall_is_remarked_on():
    sketch = sketch_table(pa.table({"pay": [*range(1, 51)] * 40 + [10**11] * 20}))
    (pay,) = sketch.columns
    assert "about 97% of its rows fall into one step" in pay.guess.warning
    answers = {"unit": "no"}
    asked = next(one for one in questions(sketch, answers) if one.key == "numbers of pay")
    assert asked.notes == {"pay": pay.guess.warning}


def test_small_values_of_a_long_tail_do_not_fall_into_the_step_of_zero(draft):
    claims = [0] * 600 + [40 * n for n in range(1, 300)] + [2_000_000] * 12
    (amount,) = draft({"amount": claims})[1].attributes
    assert amount.scale == "log" and amount.high == 2_000_000
    assert amount.step <= 500
    zeros = [0] * 600 + [2_000_000] * 12  # nothing lies between them, so nothing is gained
    assert draft({"amount": zeros})[1].attributes[0].step == 1000


def test_years_end_with_their_decade(draft):
    years = {
        "birth_year": list(range(1950, 2011)),
        "seen": list(range(2001, 2024)) * 2 + [2023] * 15,
    }
    born, seen = draft(years)[1].attributes
    assert (born.low, born.high) == (1950, 2010)
    assert (seen.low, seen.high) == (2000, 2030)
