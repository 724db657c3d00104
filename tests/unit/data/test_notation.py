"""Numbers and dates in every notation that can be declared, and what is refused under each."""

from __future__ import annotations

import datetime
from dataclasses import replace
from fractions import Fraction

import pyarrow as pa
import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st

from hedgerow.data.encode import (
    ABOVE,
    BELOW,
    COMMA,
    DOTS,
    EITHER,
    GROUPS,
    MISSING,
    NAMED,
    PACKED,
    POINT,
    SERIAL,
    SHORT,
    SIGN,
    SLASHES,
    STRANGE,
    WAYS,
    encode_array,
    text_reader,
)
from hedgerow.schema.attributes import Numeric

WHOLE = Numeric("n", low=Fraction(0), high=Fraction(9_999_999), step=Fraction(1), kind="integer")
TENTH = Numeric(
    "n", low=Fraction(-1000), high=Fraction(99_999), step=Fraction(1, 100), kind="decimal"
)
DAY = Numeric("d", low=Fraction(-25567), high=Fraction(40000), step=Fraction(1), kind="date")


def number(text, **told):
    """The number that a text is read as on a fine grid, or why it is none."""
    code = text_reader(replace(TENTH, **told))(text)
    return code if code < 0 else float(TENTH.low + code * TENTH.step)


DECLARED = {
    "nothing": {},
    "point": {"decimal": "."},
    "comma": {"decimal": ","},
    "US": {"thousands": ","},
    "German": {"thousands": "."},
    "Swiss": {"thousands": "'"},
    "French": {"thousands": " ", "decimal": ","},
}


@pytest.mark.parametrize(
    ("text", "nothing", "point", "comma", "us", "german", "swiss", "french"),
    [
        ("12345", 12345, 12345, 12345, 12345, 12345, 12345, 12345),
        ("12,345", EITHER, EITHER, 12.34, 12345, 12.34, EITHER, 12.34),
        ("12.345", 12.34, 12.34, GROUPS, 12.34, 12345, 12.34, GROUPS),
        ("1,5", COMMA, COMMA, 1.5, COMMA, 1.5, COMMA, 1.5),
        ("1.5", 1.5, 1.5, STRANGE, 1.5, STRANGE, 1.5, STRANGE),
        ("12,345.67", GROUPS, GROUPS, GROUPS, 12345.67, GROUPS, GROUPS, GROUPS),
        ("12.345,67", GROUPS, GROUPS, GROUPS, GROUPS, 12345.67, GROUPS, GROUPS),
        ("12'345.5", GROUPS, GROUPS, GROUPS, GROUPS, GROUPS, 12345.5, GROUPS),
        ("12 345,5", GROUPS, GROUPS, GROUPS, GROUPS, GROUPS, GROUPS, 12345.5),
        ("12\u202f345", GROUPS, GROUPS, GROUPS, GROUPS, GROUPS, GROUPS, 12345),
        ("1,23,456", GROUPS, GROUPS, GROUPS, GROUPS, GROUPS, GROUPS, GROUPS),
        ("12,34", COMMA, COMMA, 12.34, COMMA, 12.34, COMMA, 12.34),
        ("0,125", COMMA, COMMA, 0.12, COMMA, 0.12, COMMA, 0.12),
        ("1e3", 1000, 1000, 1000, 1000, 1000, 1000, 1000),
        ("-1e2", -100, -100, -100, -100, -100, -100, -100),
        ("1.5e3", 1500, 1500, STRANGE, 1500, STRANGE, 1500, STRANGE),
        (".5", 0.5, 0.5, STRANGE, 0.5, STRANGE, 0.5, STRANGE),
        ("5.", 5, 5, STRANGE, 5, STRANGE, 5, STRANGE),
        ("1e999", ABOVE, ABOVE, ABOVE, ABOVE, ABOVE, ABOVE, ABOVE),
        ("-inf", BELOW, BELOW, BELOW, BELOW, BELOW, BELOW, BELOW),
        ("12%", SIGN, SIGN, SIGN, SIGN, SIGN, SIGN, SIGN),
        ("$12", SIGN, SIGN, SIGN, SIGN, SIGN, SIGN, SIGN),
        ("12 EUR", SIGN, SIGN, SIGN, SIGN, SIGN, SIGN, SIGN),
        (".", STRANGE, STRANGE, STRANGE, STRANGE, STRANGE, STRANGE, STRANGE),
        ("1.2.3", STRANGE, STRANGE, STRANGE, STRANGE, STRANGE, STRANGE, STRANGE),
        ("0x10", STRANGE, STRANGE, STRANGE, STRANGE, STRANGE, STRANGE, STRANGE),
        ("1_0", STRANGE, STRANGE, STRANGE, STRANGE, STRANGE, STRANGE, STRANGE),
        ("\u0661", STRANGE, STRANGE, STRANGE, STRANGE, STRANGE, STRANGE, STRANGE),
        ("9" * 501, STRANGE, STRANGE, STRANGE, STRANGE, STRANGE, STRANGE, STRANGE),
        ("9" * 500, ABOVE, ABOVE, ABOVE, ABOVE, ABOVE, ABOVE, ABOVE),
    ],
)
def test_numbers_under_each_declaration(text, nothing, point, comma, us, german, swiss, french):
    expected = [nothing, point, comma, us, german, swiss, french]
    assert [number(text, **told) for told in DECLARED.values()] == expected


@pytest.mark.parametrize(
    ("text", "told", "expected"),
    [
        ("12.345", {}, POINT), ("1.234.567", {}, GROUPS), ("-1.000", {}, POINT),
        ("1234.567", {}, 1234), ("0.125", {}, 0), ("12.34", {}, 12), ("12.0", {}, 12),
        ("12.345", {"decimal": "."}, 12), ("12.345", {"thousands": "."}, 12345),
        ("12.345", {"thousands": ","}, 12), ("12.345", {"decimal": ","}, GROUPS),
        ("1.234.567", {"thousands": "."}, 1234567), ("1,234,567.89", {"thousands": ","}, 1234567),
    ],
)  # fmt: skip
def test_whole_numbers_with_a_point_before_three_digits(text, told, expected):
    assert text_reader(replace(WHOLE, **told))(text) == expected


def test_every_shape_has_a_way_out():
    assert sorted(WAYS) == list(range(min(WAYS), STRANGE))


@pytest.mark.slow
@seed(5)
@settings(max_examples=300, deadline=None, database=None)
@given(
    st.decimals(-2000, 200_000, allow_nan=False, places=None),
    st.sampled_from(["1", "0.5", "0.01", "0.3", "7"]),
)
def test_a_number_lies_on_the_grid_exactly(value, step):
    """To a billionth of a step, which forgives what other programs' floats leave behind."""
    grid = replace(TENTH, step=Fraction(step))
    place = (Fraction(value) - grid.low) / grid.step
    nearly = Fraction(1, 10**9)
    expected = (place + nearly).__floor__()
    if Fraction(value) > grid.high + nearly * grid.step:
        expected = ABOVE
    elif expected < 0:
        expected = BELOW
    assert text_reader(grid)(format(value, "f")) == expected == text_reader(grid)(f"{value:e}")


def test_no_float_comes_between():
    far = Numeric(
        "n", low=Fraction(10**20), high=Fraction(10**20 + 9), step=Fraction(1), kind="integer"
    )
    assert [text_reader(far)(str(10**20 + n)) for n in (-1, 0, 3, 9, 10)] == [BELOW, 0, 3, 9, ABOVE]


def day(text, format=""):
    code = text_reader(replace(DAY, format=format))(text)
    return code if code < 0 else str(datetime.date(1900, 1, 1) + datetime.timedelta(code))


@pytest.mark.parametrize(
    ("text", "format", "expected"),
    [
        ("2024-01-31", "", "2024-01-31"), ("2024-01-31T10:00:00Z", "", "2024-01-31"),
        ("2024-01-31 x", "", STRANGE), ("2024-1-31", "", STRANGE), ("2023-02-29", "", STRANGE),
        ("01/31/2024", "", SLASHES), ("31.01.2024", "", DOTS), ("45322", "", SERIAL),
        ("20240131", "", PACKED), ("31-Jan-2024", "", NAMED), ("1/31/24", "", SHORT),
        ("31JAN2024", "", NAMED), ("January 31, 2024", "", NAMED), ("soon", "", STRANGE),
        ("01/31/2024", "%m/%d/%Y", "2024-01-31"), ("1/31/2024 9:30 PM", "%m/%d/%Y", "2024-01-31"),
        ("31/01/2024", "%m/%d/%Y", SLASHES), ("01/02/2024", "%d/%m/%Y", "2024-02-01"),
        ("1/31/24", "%m/%d/%Y", SHORT), ("2024-01-31", "%m/%d/%Y", "2024-01-31"),
        ("20240131", "%Y%m%d", "2024-01-31"), ("2024131", "%Y%m%d", STRANGE),
        ("31-Jan-2024", "%d-%b-%Y", "2024-01-31"), ("31-JANUARY-2024", "%d-%b-%Y", "2024-01-31"),
        ("31-Jax-2024", "%d-%b-%Y", NAMED), ("1JAN2024", "%d%b%Y", "2024-01-01"),
        ("45322", "excel", "2024-01-31"), ("45322.75", "excel", "2024-01-31"),
        ("1", "excel", "1900-01-01"), ("59", "excel", "1900-02-28"), ("60", "excel", STRANGE),
        ("61", "excel", "1900-03-01"), ("0", "excel", STRANGE),
        ("2024-01-31", "excel", "2024-01-31"),
        ("43860", "excel-1904", "2024-01-31"), ("9999999", "excel", ABOVE),
        ("x" * 501 + "2024-01-31", "", STRANGE),
    ],
)  # fmt: skip
def test_dates(text, format, expected):
    assert day(text, format) == expected


def test_typed_columns_need_no_declaration_but_days_and_digits():
    serial = replace(DAY, format="excel")
    assert encode_array(serial, pa.array([45322, None])).tolist() == [45320, MISSING]
    assert encode_array(serial, pa.array([45322.5])).tolist() == [45320]
    assert encode_array(replace(DAY, format="%Y%m%d"), pa.array([20240131])).tolist() == [45320]
    assert encode_array(DAY, pa.array([45322])).tolist() == [SERIAL]
    whole = replace(WHOLE, decimal=",", thousands=".")
    assert encode_array(whole, pa.array([12.345])).tolist() == [12]
    date = pa.array([datetime.date(2024, 1, 31)])
    assert encode_array(serial, date).tolist() == [45320]
