from __future__ import annotations

import math
import re
from fractions import Fraction
from pathlib import Path
from zipfile import ZipFile

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hedgerow as hr
from hedgerow.present.report import page
from hedgerow.present.tables import write_workbook
from hedgerow.present.words import round_count, round_share
from hedgerow.schema import Numeric
from hedgerow.schema.schema import display_label, other_of, part_of

SCHEMA = hr.Schema.from_dict(
    {
        "name": "s",
        "unit": "row",
        "attributes": {
            "race": {"type": "categorical", "values": ["A", "Other"], "missing": "other"},
            "home": {"type": "categorical", "values": ["A", "B"], "outside": "other"},
            "day": {"type": "numeric", "low": "2024-01-01", "high": "2024-12-31", "step": 7},
            "bmi": {
                "type": "numeric", "low": 14, "high": 48, "step": 0.5, "missing": "other",
                "outside": "other",
            },
        },
    }
)  # fmt: skip


def plain(text: str) -> str:
    return text.replace("\u00a0", " ")


def test_other_says_what_is_in_it_and_is_told_from_a_value_of_that_name() -> None:
    race, home, day, bmi = SCHEMA.attributes
    assert display_label(SCHEMA, "race", "Other") == "Other"
    assert display_label(SCHEMA, "race", "other") == other_of(race) == "other (incl. missing)"
    assert display_label(SCHEMA, "home", "other") == "other (incl. not listed)"
    assert other_of(bmi) == "other (incl. missing and out of bounds)"
    assert other_of(day) == "other" and display_label(SCHEMA, "unknown", "other") == "other"


def test_parts_of_dates_and_decimals_in_words() -> None:
    _, _, day, bmi = SCHEMA.attributes
    assert plain(part_of(day, 0, 2)) == "2024-01-01 to 2024-01-14"
    assert plain(part_of(day, 0, day.size)) == "2024-01-01 to 2024-12-31"
    assert plain(part_of(bmi, 1, 2)) == "14.5 to under 15"
    assert plain(part_of(bmi, 2, 70)) == "15 to 48 or other (incl. missing and out of bounds)"


@given(low=st.integers(0, 40), width=st.integers(1, 9), step=st.integers(1, 6))
def test_parts_of_whole_numbers_meet_without_a_gap(low: int, width: int, step: int) -> None:
    age = Numeric(
        "age", low=Fraction(3), high=Fraction(3 + 60 * step), step=Fraction(step), kind="integer"
    )
    first = plain(part_of(age, low, low + width)).split(" to ")
    then = plain(part_of(age, low + width, low + width + 1)).split(" to ")
    assert int(first[-1]) + 1 == int(then[0])


@given(st.integers(0, 10**6), st.integers(1, 10**5), st.floats(0, 1))
def test_rounding_never_narrows_an_interval(low: int, width: int, share: float) -> None:
    about, ends = round_count(low + share * width, low, low + width)
    least, most = (int(end.replace(",", "")) for end in plain(ends).split(" to "))
    assert least <= low and low + width <= most
    assert most - least <= 1.4 * width or width < 10
    assert "." not in about  # nobody is counted in tenths
    assert abs(float(about.replace(",", "")) - (low + share * width)) <= max(0.5, width / 20)


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))
def test_rounding_never_narrows_a_share(low: float, more: float, part: float) -> None:
    high = low + (1 - low) * more
    about, ends = round_share(low + part * (high - low), low, high)
    least, most = (float(end.rstrip("%")) / 100 for end in plain(ends).split(" to "))
    assert least <= low + 1e-9 and high <= most + 1e-9 and about.endswith("%")


@pytest.mark.parametrize("low", [0.0, 17.0])
def test_without_an_upper_end_it_is_so_many_or_more(low: float) -> None:
    assert round_count(30.0, low, math.inf)[1] == f"{low:.0f} or more"


@pytest.mark.parametrize("value", [0.0, 0.4])
def test_an_interval_that_noise_left_nothing_of_is_not_called_zero(value: float) -> None:
    assert round_count(value, 0.0, 0.0) == ("0", "not known")


def test_people_read_the_label_of_a_column_and_programs_its_name(tmp_path: Path) -> None:
    """In findings, named tables, the workbook and the description of files; files keep names."""
    document = {"name": "s", "unit": "row", "tables": ["ill by sex"], "attributes": {
        "sex": {"type": "categorical", "values": ["f", "m"], "label": "Sex at birth"},
        "age": {"type": "numeric", "low": 0, "high": 89, "label": "Age in years"},
        "ill": {"type": "boolean", "role": "class", "label": "Long illness"}}}  # fmt: skip
    schema = hr.Schema.from_dict(document)
    assert hr.Schema.from_dict(schema.to_dict()) == schema
    rows = [{"sex": "fm"[n % 2], "age": n % 90, "ill": n % 3 > n % 2} for n in range(3000)]
    release = hr.publish(pa.Table.from_pylist(rows), schema, epsilon=20, seed=1)
    text = plain(page(release))
    assert "of people with Sex at birth f have Long illness true" in text
    assert "counts of people by Long illness and Sex at birth" in text
    assert text.index("Named tables") < text.index("What is promised")
    assert "<h3>Age in years</h3>" in text and "age (Age in years)" in text
    release.save(tmp_path / "r")
    assert pq.read_table(tmp_path / "r/tables/sex__ill.parquet").column_names[:2] == ["sex", "ill"]
    described = (tmp_path / "r/tables-metadata.json").read_text("utf-8")
    assert '"dc:title": "Sex at birth by Long illness"' in described
    assert '"titles": "sex"' in described and hr.verify(tmp_path / "r").release is not None
    write_workbook(release, tmp_path / "book.xlsx")
    with ZipFile(tmp_path / "book.xlsx") as book:
        sheets = re.findall('sheet name="(.*?)"', book.read("xl/workbook.xml").decode())
    assert sheets[:3] == ["about", "Long illness &amp; Sex at birth", "Sex at birth"]


def test_bands_of_tables_are_in_the_words_of_the_report() -> None:
    _, _, day, bmi = SCHEMA.attributes
    for number in (day, bmi):
        for low, high in ((0, 4), (2, 9), (5, number.size), (3, 4)):
            label = number.label(low, high)
            assert display_label(SCHEMA, number.name, label) == part_of(number, low, high)
    stay = {"type": "numeric", "low": 0, "high": 60, "role": "class", "bands": [3, 8]}
    schema = hr.Schema.from_dict({"name": "s", "unit": "row", "attributes": {
        "stay": stay, "sex": {"type": "boolean"}}})  # fmt: skip
    assert schema.target is not None
    assert [plain(part_of(schema.target, n, n + 1)) for n in range(3)] == [
        "0 to 2", "3 to 7", "8 to 60",
    ]  # fmt: skip
    assert plain(display_label(schema, "stay", "[3, 8)")) == "3 to 7"
