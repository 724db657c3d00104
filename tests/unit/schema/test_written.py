"""How data is declared to be written: the keys of a schema, their faults, and the way back."""

from __future__ import annotations

import re

import pytest

from hedgerow.errors import SchemaError, UsageError
from hedgerow.schema import Layout, Schema

NUMBER = {"type": "numeric", "low": 0, "high": 99}
DAY = {"type": "numeric", "low": "2020-01-01", "high": "2020-12-31"}


def schema(*, file=None, **columns):
    document = {"name": "x", "unit": "row", "attributes": columns or {"a": NUMBER}}
    return Schema.from_dict(document | ({} if file is None else {"file": file}))


def test_a_column_goes_before_the_file():
    found = schema(
        file={"decimal": ",", "thousands": "."},
        a=NUMBER,
        b=NUMBER | {"decimal": "."},
        c=NUMBER | {"thousands": " "},
        d=DAY | {"format": "%m/%d/%Y"},
    )
    signs = [(one.decimal, one.thousands, one.format) for one in found.attributes]
    assert signs == [(",", ".", ""), (".", "", ""), ("", " ", ""), ("", "", "%m/%d/%Y")]


def test_what_is_declared_survives_being_written_down(tmp_path):
    found = schema(
        file={"encoding": "cp1252", "header_row": 3, "sheet": "Visits", "decimal": ","},
        a=NUMBER,
        d=DAY | {"format": "excel"},
        y=NUMBER | {"role": "class", "bands": [20], "thousands": "'"},
    )
    assert found.file == Layout(encoding="cp1252", header_row=3, sheet="Visits", decimal=",")
    assert Schema.from_dict(found.to_dict()) == found
    (tmp_path / "s.yaml").write_text(found.to_yaml(), encoding="utf-8")
    assert Schema.load(tmp_path / "s.yaml") == found
    assert found.hash != schema(a=NUMBER, d=DAY).hash


def test_nothing_declared_leaves_no_trace():
    assert schema().hash == schema(file={}).hash
    assert "file" not in schema().to_dict()


@pytest.mark.parametrize(
    ("file", "words"),
    [
        ({"decimal": ";"}, "file: decimal is ';'"),
        ({"decimal": ",", "thousands": ","}, "file: decimal and thousands are the same sign"),
        ({"encoding": "utf8"}, "file: encoding is 'utf8'.*Did you mean utf-8"),
        ({"header_row": 0}, "file: header_row is not a whole number of at least 1"),
        ({"sheet": "\x07"}, "file: sheet"),
        ({"sheets": "a"}, "file: unknown key 'sheets'.*Did you mean 'sheet'"),
        (3, "file is not a mapping"),
    ],
)
def test_faults_of_a_file(file, words):
    with pytest.raises(SchemaError) as caught:
        schema(file=file)
    assert re.search(words, str(caught.value), re.S)


@pytest.mark.parametrize(
    ("column", "words"),
    [
        (NUMBER | {"format": "%m/%d/%Y"}, "format is for dates"),
        (DAY | {"format": "%m/%d/%y"}, "two-digit years"),
        (DAY | {"format": "%m/%Y"}, "does not tell year, month and day"),
        (DAY | {"format": "%d/%d/%Y"}, "does not tell year, month and day"),
        (DAY | {"format": "%Y-%d-%m"}, "does not tell year, month and day"),
        (DAY | {"format": "%Y %m %d 0"}, "does not tell year, month and day"),
        (DAY | {"format": "Excel"}, "does not tell year, month and day"),
        (DAY | {"decimal": ","}, "decimal is for numbers"),
        (NUMBER | {"decimal": ",", "thousands": ","}, "same sign"),
    ],
)
def test_faults_of_a_column(column, words):
    with pytest.raises(SchemaError, match=words):
        schema(a=column)


def test_the_line_of_a_fault_is_named(tmp_path):
    path = tmp_path / "s.yaml"
    path.write_text("name: x\nunit: row\nfile:\n  sheet: a\n  header_row: 0\nattributes:\n  a: 1\n")
    with pytest.raises(SchemaError, match="s.yaml:5: file: header_row"):
        Schema.load(path)


def test_a_schema_made_in_python_is_checked_too():
    with pytest.raises(SchemaError, match="header_row is below 1"):
        Schema("x", schema().attributes, unit="row", file=Layout(header_row=0))
    with pytest.raises(UsageError):
        Layout(encoding="utf-7")


def test_items_have_no_decimal_sign():
    document = {"name": "x", "unit": "row", "items": {"universe": ["a"]}, "file": {"decimal": ","}}
    with pytest.raises(SchemaError, match="for columns of numbers"):
        Schema.from_dict(document)
