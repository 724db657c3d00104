from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from hedgerow.data import read
from hedgerow.draft.draft import NO_UNIT, Sketch, draft_text, sketch_of, sketch_table
from hedgerow.draft.guess import (
    Guess,
    date_formats,
    find_list,
    guess_column,
    sort_bands,
    truth_values,
)
from hedgerow.schema import Categorical, Numeric, Schema


@pytest.mark.parametrize(
    "bands",
    [
        ["[0-10)", "[10-20)", "[20-100)", "[100-200)"],
        ["<18", "18-25", "26-64", "65+"],
        ["(0, 10]", "(10, 100]", ">100"],
        ["under 5", "5 to 9", "10 to 14", "15 and over"],
        ["0", "1-5", "6-10", "more than 10"],
        ["$0-$9,999", "$10,000-$99,999", "$100,000+"],
        ["≤1", "2–5", "≥6"],
        ["1-4 years", "5-9 years", "10+ years"],
        ["<30", ">30", "NO"],
    ],
)
def test_bands_are_ordered_by_their_numbers(bands: list[str]) -> None:
    assert sort_bands(sorted(bands)) == sort_bands(bands[::-1]) == bands
    found = guess_column("x", [pa.array(bands[::-1] * 30)])
    assert list(found.labels) == bands


@pytest.mark.parametrize(
    "labels", [["Saint-Denis", "Paris"], ["2001-02-03", "2001-03-04"], ["1", "2", "3"], ["a+", "b"]]
)
def test_other_values_are_not_bands(labels: list[str]) -> None:
    assert sort_bands(labels) is None


@pytest.mark.parametrize(
    ("written", "values"),
    [
        (["Yes", "No"], ["No", "Yes"]),
        (["Y", "N", None], ["N", "Y"]),
        (["ja", "nein"], ["nein", "ja"]),
        (["TRUE", "FALSE"], ["FALSE", "TRUE"]),
        ([1, 0], ["0", "1"]),
        ([1.0, 0.0, None], ["0", "1"]),
        (["yes", "YES", "no"], ["no", "YES"]),
        (["y", "Yes", "no"], ["no", "Yes"]),
    ],
)
def test_yes_and_no_come_back_as_they_were_written(
    tmp_path: Path, written: list[Any], values: list[str]
) -> None:
    table = pa.table({"smoker": pa.array(written * 20), "age": list(range(20 * len(written)))})
    path = tmp_path / "s.yaml"
    path.write_text(draft_text(sketch_table(table)).replace(NO_UNIT, "row"), encoding="utf-8")
    schema = Schema.load(path)
    smoker = schema.attributes[0]
    assert isinstance(smoker, Categorical)
    assert [leaf for leaf in smoker.taxonomy.leaves if leaf != "other"] == values
    codes = read(table, schema).codes[: len(written), 0]
    texts = [None if value is None else smoker.taxonomy.leaves[code]
             for value, code in zip(written, codes, strict=True)]  # fmt: skip
    means = [None if value is None else str(value).casefold()[0] in "1yjt" for value in written]
    assert [None if text is None else text == values[1] for text in texts] == means


def test_truth_values_are_still_truth_values() -> None:
    found = guess_column("x", [pa.array([True, False] * 20)])
    assert found.settings == {"type": "boolean"}
    assert truth_values(["f", "m"]) is None and truth_values(["1", "2"]) is None
    many = ["Yes", "YES", "yes", "Y", "y", "1", "No", "NO", "no", "N", "n", "0"]
    chosen, rules = truth_values(many) or ([], {})
    assert chosen == ["No", "Yes"] and len(rules) == 10
    assert {label for label, meant in rules.items() if meant == "Yes"} == set(many[1:6])


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("12/31/1999", "%m/%d/%Y"),
        ("31/12/1999", "%d/%m/%Y"),
        ("31.12.1999", "%d.%m.%Y"),
        ("31-12-1999", "%d-%m-%Y"),
        ("1999/12/31", "%Y/%m/%d"),
        ("31 Dec 1999", "%d %b %Y"),
        ("31-Dec-1999", "%d-%b-%Y"),
        ("December 31, 1999", "%b %d, %Y"),
    ],
)
def test_dates_in_common_formats(text: str, form: str) -> None:
    assert date_formats([text]) == [form]
    earlier = text.replace("1999", "1989")
    settings = guess_column("seen", [pa.array([text, None, earlier])]).settings
    assert settings is not None and settings["format"] == f'"{form}"'
    assert settings["high"] == "1999-12-31"


def test_days_that_look_like_months_are_asked_about() -> None:
    found = guess_column("seen", [pa.array(["01/02/2020", "03/04/2021"])])
    assert "%d/%m/%Y would fit too" in found.comment


@pytest.mark.parametrize(
    ("name", "values", "known"),
    [
        ("diag_1", ["250.83", "8", "V57", "E888", "428"] * 10, "icd-9-cm"),
        ("cause", ["I50.9", "E11", "C34.1", "Z99"] * 10, "icd-10-cm"),
        ("x", ["I50.9", "E11.9", "C34.1", "Z99.2", "J45.0", "M54.5", "K21.9", "N39.0"],
         "icd-10-cm"),
        ("state", ["CA", "TX", "DE"] * 10, "us-states"),
        ("country", ["FR", "DE", "PL"] * 10, "countries"),
        ("origin", ["France", "Germany", "Poland", "Italy", "Chile", "Peru", "Japan", "India"],
         "countries"),
        ("NACE", ["C", "A", "Q"] * 10, "nace-2"),
        ("icd_score", [str(13.73189 + n) for n in range(60)], None),
        ("number_diagnoses", ["1", "2", "9", "16"] * 10, None),
        ("grade", ["A", "B", "C"] * 10, None),
        ("room", ["101", "250", "428"] * 10, None),
        ("ward", ["CA", "DE", "AL"] * 10, None),
        ("who", [f"P{i:05d}" for i in range(40)], None),
    ],
)  # fmt: skip
def test_values_of_known_lists(name: str, values: list[str], known: str | None) -> None:
    assert find_list(name, sorted(set(values))) == known
    settings = guess_column(name, [pa.array(values * 3)]).settings
    assert (settings or {}).get("taxonomy") == known


def test_constant_and_almost_empty_columns_could_as_well_be_dropped() -> None:
    table = pa.table({
        "same": ["No"] * 400, "seldom": [None] * 380 + list("ab") * 10, "age": [*range(100)] * 4,
    })  # fmt: skip
    text = draft_text(sketch_table(table))
    flat = " ".join(text.replace("#", "").split())
    assert "It has one value only: drop it" in flat and "Almost all of its values are" in flat
    assert "same: {type: categorical" in text and "  seldom: {type: categorical" in text


def test_codes_that_nobody_has_are_in_the_code_book() -> None:
    found = guess_column("source_id", [pa.array([2, 3, 5, 9, 4] * 10)])
    assert found.labels == [str(code) for code in range(1, 10)]
    assert guess_column("gender", [pa.array([2, 1, None] * 10)]).labels == ["1", "2"]
    assert guess_column("job_code", [pa.array([11, 47, 92] * 10)]).labels == ["11", "47", "92"]


def test_none_is_a_word_beside_words_and_missing_beside_numbers() -> None:
    for word in ("None", "none"):
        found = guess_column("glucose", [pa.array([word, "Norm", ">200", word, "?"] * 10)])
        assert set(found.labels) == {word, "Norm", ">200"}
    found = guess_column("dose", [pa.array(["None", "1", "20", "None"] * 9)])
    assert found.settings is not None and found.settings["type"] == "numeric"


def test_bounds_that_everybody_knows_and_round_ones() -> None:
    def bounds(name: str, *values: float) -> tuple[str, ...]:
        settings = guess_column(name, [pa.array(values)]).settings
        assert settings is not None
        return settings["low"], settings["high"], settings["step"]

    assert bounds("patientAge", 21, 80) == ("0", "120", "1")
    assert bounds("age", 1, 9) == ("1", "10", "1")  # bands of ages, perhaps
    assert bounds("hours", 3, 60) == ("0", "100", "1")
    assert bounds("score", 1, 5) == ("1", "5", "1")
    assert bounds("gpa", 1.5, 4.0) == ("0.0", "4.0", "0.1")


@pytest.mark.parametrize(
    ("values", "low", "high"),
    [
        ([0, 0, 13], "0", "20"),
        ([1, 14, 2], "1", "20"),
        ([1, 2, 3, 4], "1", "5"),
        ([2, 9, 3], "0", "10"),
        ([0, 61, 5], "0", "100"),
        ([0, 99_999], "0", "100000"),
        ([1987, 2013, 2000], "1980", "2020"),
        ([37, 38], "35", "40"),
        ([8, 11], "5", "15"),
        ([-13, 4], "-20", "6"),
        ([-1234, 4], "-2000", "200"),
        ([0.13, 0.93], "0.0", "1.0"),
        ([35.2, 41.3], "35.0", "45.0"),
        ([37.2, 37.4], "37.0", "37.5"),
        ([1, 2, 3, 4, 5], "1", "5"),
        ([1, 2, 3, 4, 5, 6, 7], "1", "7"),
        ([1, 2, 3, 5, 6, 7], "1", "10"),
        (list(range(11)), "0", "10"),
    ],
)
def test_proposed_bounds_are_not_the_extremes_of_the_data(
    values: list[float], low: str, high: str
) -> None:
    settings = guess_column("finding", [pa.array(values * 2)]).settings
    assert settings is not None and (settings["low"], settings["high"]) == (low, high)


@pytest.mark.slow
@pytest.mark.parametrize("least", [0, 1, 3, 47, 312, 1903])
def test_people_with_other_extremes_get_the_same_bounds(least: int) -> None:
    def bounds(most: int) -> tuple[str, str]:
        settings = guess_column("finding", [pa.array([least, most])]).settings
        assert settings is not None and int(settings["low"]) <= least < most <= int(
            settings["high"]
        )
        return settings["low"], settings["high"]

    # of 300 extremes, most share their bounds with many others
    assert len({bounds(most) for most in range(least + 2, least + 302)}) <= 30


@pytest.mark.parametrize(
    ("values", "signs", "high"),
    [
        ([f"{i},5" for i in range(90)], {"decimal": '","'}, "100.0"),
        ([f"{i},000,500" for i in range(1, 90)], {"thousands": '","'}, "100000000"),
        ([f"{i}.000,5" for i in range(1, 90)], {"decimal": '","', "thousands": '"."'}, "100000.0"),
        ([str(i) for i in range(90)], {}, "100"),
    ],
)
def test_numbers_in_other_notations_are_declared(
    values: list[str], signs: dict[str, str], high: str
) -> None:
    settings = guess_column("amount", [pa.array(values)]).settings
    assert settings is not None and settings["high"] == high
    assert {key: settings[key] for key in ("decimal", "thousands") if key in settings} == signs


def test_what_is_declared_is_read(tmp_path: Path) -> None:
    data, path = tmp_path / "visits.csv", tmp_path / "s.yaml"
    lines = [f"{i % 28 + 1}.{i % 12 + 1}.{1990 + i % 9};{i % 50},{i % 10}" for i in range(200)]
    data.write_text("seen;dose\n" + "\n".join(lines) + "\n", encoding="utf-8")
    path.write_text(draft_text(sketch_table(data)).replace(NO_UNIT, "row"), encoding="utf-8")
    table = read(data, Schema.load(path))
    seen, dose = table.schema.attributes
    assert isinstance(seen, Numeric) and isinstance(dose, Numeric)
    assert (seen.format, dose.decimal) == ("%d.%m.%Y", ",")
    assert str(seen.edge(int(table.codes[0, 0]))) == "1990-01-01"
    assert float(dose.edge(int(table.codes[13, 1]))) == 13.3


def test_days_beyond_the_calendar_stop_no_draft() -> None:
    """Statistics programs write such days for what is missing."""
    days = pa.array([0, 31, 4_000_000] * 12 + [-5_000_000], pa.int32()).cast(pa.date32())
    people = pa.array([f"P{n % 9}" for n in range(37)])
    found = sketch_table(pa.table({"patient": people, "seen": days, "birth_date": days}))
    assert isinstance(found, Sketch) and found.columns[1].guess.published


def test_codes_of_missing_values_are_no_bounds() -> None:
    ages = [*range(18, 90), *[-9] * 12, *[999] * 11]
    guess = guess_column("visits", [pa.array(ages * 3)])
    assert guess.settings is not None
    assert guess.settings["low"] == "0" and guess.settings["high"] == "100"
    assert guess.settings["outside"] == "other" and guess.comment.startswith("-9, 999: ")
    # what few have is no code, and what is not apart from the others is a number
    few = guess_column("visits", [pa.array([*range(18, 90)] * 3 + [999] * 3)])
    near = guess_column("visits", [pa.array([*range(0, 95)] * 3 + [99] * 30)])
    for one in (few, near):
        assert one.settings is not None and one.settings["outside"] == "clip"


def test_countries_in_capitals_and_words_of_a_scale() -> None:
    countries = ["KOREA, REPUBLIC OF", "TURKEY", "FRANCE", "VIET NAM", "IVORY COAST"] * 12
    guess = guess_column("country", [pa.array(countries)])
    assert guess.settings is not None and guess.settings["taxonomy"] == "countries"
    assert guess.settings["ignore"] == "[case]" and "ISO 3166-1:2020" in guess.comment
    for words in (
        ["poor", "fair", "good", "very good"], ["low", "mid", "high"], ["Low", "Medium", "High"],
        ["Low income", "Lower middle income", "Upper middle income", "High income"],
    ):  # fmt: skip
        assert list(guess_column("level", [pa.array(sorted(words) * 20)]).labels) == words


def test_what_stands_last_may_be_the_class() -> None:
    def column(*labels: str) -> Guess:
        return Guess(settings={"type": "categorical"}, labels=labels)

    others = [(name, column("x", "z", "w")) for name in ("a", "b", "weight_class")]
    for labels, role in (
        (("no", "yes"), "class"),
        (("setosa", "versicolor", "virginica"), "class"),
        (("poor", "fair", "good"), None),
    ):
        sketch = sketch_of("t", [*others, ("end", column(*labels))])
        assert [one.role for one in sketch.columns] == [None, None, None, role]
    named = sketch_of("t", [("y", column("0", "1")), *others, ("end", column("no", "yes"))])
    assert named.role("class") == named.columns[0]


@pytest.mark.parametrize("as_text", [True, False])
def test_days_without_signs_are_dates_and_months_or_numbers_are_not(as_text: bool) -> None:
    def guess(values: list[int]) -> dict[str, str]:
        found = guess_column("admitted", [pa.array(list(map(str, values)) if as_text else values)])
        return dict(found.settings or {})

    days = [20100000 + 10000 * (n % 9) + 100 * (n % 12 + 1) + n % 28 + 1 for n in range(400)]
    settings = guess(days)
    assert settings["format"] == '"%Y%m%d"'
    assert (settings["low"], settings["high"]) == ("2010-01-01", "2018-12-31")
    assert "format" not in guess([*days, 20101301])  # there is no 13th month
    assert "format" not in guess([201000 + 100 * (n % 9) + n % 12 + 1 for n in range(400)])


@pytest.mark.parametrize(
    ("name", "values", "odd"),
    [
        ("age", [18 + n % 70 for n in range(999)], (121, -1, 0, 999, 10**9)),
        ("visits", [n % 7 + 1 for n in range(999)], (0, 8, 100, -5)),
        ("dose", [n % 9 / 2 for n in range(999)], (0.125, 77.75, -3.5)),
        ("pay", [1000 + 400 * (n % 5) for n in range(30)], (10**7, 3, -4)),
        ("seen", [datetime.date(2020, 1, 1 + n % 28) for n in range(999)],
         (datetime.date(1901, 5, 6), datetime.date(2099, 3, 4))),
    ],
)  # fmt: skip
def test_one_record_changes_no_bounds(name: str, values: list[Any], odd: tuple[Any, ...]) -> None:
    usual = guess_column(name, [pa.array(values)]).settings
    for one in odd:
        for neighbor in ([*values, one], [*values[:-1], one]):
            assert guess_column(name, [pa.array(neighbor)]).settings == usual, one
