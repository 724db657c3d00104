"""Workbooks: a cell is read by its own type and by the attribute's, and by nothing else."""

from __future__ import annotations

import datetime
import sys

import pytest
import xlsxwriter

pytest.importorskip("python_calamine")

from hedgerow.data import encode_rows, read
from hedgerow.data.open_input import open_source
from hedgerow.draft.draft import draft_text, sketch_table
from hedgerow.errors import DataError, UsageError
from hedgerow.schema import Layout, Schema

DATE = datetime.date(2024, 1, 31)
ATTRIBUTES = {
    "age": {"type": "numeric", "low": 0, "high": 9999, "outside": "drop", "thousands": "."},
    "born": {
        "type": "numeric", "low": "2024-01-01", "high": "2024-12-31", "format": "%m/%d/%Y",
        "outside": "drop",
    },
    "kind": {"type": "categorical", "values": ["1", "2.5", "x", "true"], "outside": "drop"},
}  # fmt: skip
SCHEMA = Schema.from_dict({"name": "x", "unit": "row", "attributes": ATTRIBUTES})
NAMES = ["age", "born", "kind"]


def book(path, cells, sheets=("One",), hidden=()):
    """A workbook with the same rows in every sheet, from the places of its cells."""
    with xlsxwriter.Workbook(path) as made:
        day = made.add_format({"num_format": "yyyy-mm-dd"})
        for name in sheets:
            sheet = made.add_worksheet(name)
            for (row, column), value in cells.items():
                if isinstance(value, datetime.date):
                    sheet.write_datetime(row, column, value, day)
                else:
                    sheet.write(row, column, value)
            if name in hidden:
                sheet.hide()
    return path


def cells(rows, down=0, right=0):
    return {
        (down + r, right + c): value
        for r, row in enumerate(rows)
        for c, value in enumerate(row)
        if value is not None
    }


def codes(path, **file):
    schema = Schema.from_dict(SCHEMA.to_dict() | {"file": file})
    found, known = encode_rows(path, schema)
    return [row if ok else None for row, ok in zip(found.tolist(), known, strict=True)]


RECORDS = [
    [40, DATE, "x"], ["1.234", "1/31/2024", 1], [12.345, "2024-01-31", 2.5], [7, DATE, True],
    ["12.34", DATE, "x"], [5, 45322, "x"], [5, DATE, DATE], [True, DATE, "x"], [6, DATE, "X"],
]  # fmt: skip
EXPECTED = [[40, 30, 2], [1234, 30, 0], [12, 30, 1], [7, 30, 3], None, None, None, None, None]


def test_a_cell_is_read_by_its_own_type(tmp_path):
    path = book(tmp_path / "d.xlsx", cells([NAMES, *RECORDS]))
    assert codes(path) == EXPECTED


def test_a_cell_is_read_the_same_in_any_company(tmp_path):
    for place, (record, expected) in enumerate(zip(RECORDS, EXPECTED, strict=True)):
        alone = book(tmp_path / f"{place}.xlsx", cells([NAMES, record]))
        assert codes(alone) == [expected]
        others = RECORDS[:place] + RECORDS[place + 1 :]
        left = book(tmp_path / f"{place}-.xlsx", cells([NAMES, *others]))
        assert codes(left) == EXPECTED[:place] + EXPECTED[place + 1 :]


def test_the_place_of_a_table_in_its_sheet(tmp_path):
    table = cells([NAMES, RECORDS[0], [None] * 3, RECORDS[1]], down=3, right=2)
    plain = book(tmp_path / "d.csv", table)  # whatever it is called
    assert codes(plain) == EXPECTED[:2]
    titled = book(tmp_path / "d.xlsx", table | {(0, 0): "Visits in 2024", (1, 6): 7})
    assert codes(titled, header_row=4) == EXPECTED[:2]
    source = open_source(titled, written=Layout(header_row=4))
    assert source.names == tuple(NAMES) and source.places([0, 1]) == ["row 5", "row 7"]
    with pytest.raises(DataError, match="none of the schema's columns"):
        codes(titled)
    for row in (3, 99):
        with pytest.raises(DataError, match=f"row {row} is empty, and must hold the names"):
            codes(titled, header_row=row)


@pytest.mark.parametrize("place", [(2, 0), (2, 4)])
def test_a_value_beside_the_named_columns_stops_the_run(tmp_path, place):
    table = cells([NAMES, *RECORDS[:2]], right=1)
    path = book(tmp_path / "d.xlsx", table | {place: "secret"})
    with pytest.raises(DataError, match="row 3: a value stands beside the named") as caught:
        codes(path)
    assert "secret" not in str(caught.value)


def test_which_sheet_is_meant(tmp_path):
    table = cells([NAMES, RECORDS[0]])
    several = book(tmp_path / "d.xlsx", table, sheets=("One", "Two"))
    with pytest.raises(DataError, match="several sheets") as caught:
        codes(several)
    assert "'One', 'Two'" in str(caught.value)
    assert codes(several, sheet="Two") == EXPECTED[:1]
    with pytest.raises(DataError, match="no sheet 'Three'"):
        codes(several, sheet="Three")
    hidden = book(tmp_path / "h.xlsx", table, sheets=("One", "Two"), hidden=("Two",))
    assert codes(hidden) == codes(hidden, sheet="Two") == EXPECTED[:1]
    with pytest.raises(DataError, match="the sheet is empty"):
        codes(book(tmp_path / "e.xlsx", {}))


def test_a_refusal_names_the_row(tmp_path):
    strict = Schema.from_dict(
        {
            "name": "x",
            "unit": "row",
            "attributes": {"age": {"type": "numeric", "low": 0, "high": 9}},
        }
    )
    path = book(tmp_path / "d.xlsx", cells([["age"], [1], [None], ["12.345"]]))
    with pytest.raises(DataError, match="(?s)column 'age', row 4.*thousands") as caught:
        read(path, strict)
    assert "12.345" not in str(caught.value)


def test_damage_and_other_files(tmp_path):
    path = tmp_path / "d.xlsx"
    book(path, cells([NAMES, RECORDS[0]]))
    content = path.read_bytes()
    for wrong in (content[: len(content) // 2], b"\xd0\xcf\x11\xe0" + b"\0" * 600):
        path.write_bytes(wrong)
        with pytest.raises(DataError, match="damaged"):
            open_source(path)
    path.write_text("age,born,kind\n")
    with pytest.raises(DataError, match="its name says that it is a workbook"):
        open_source(path)


def test_without_the_package(tmp_path, monkeypatch):
    path = book(tmp_path / "d.xlsx", cells([NAMES]))
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    with pytest.raises(UsageError, match="needs the package python-calamine"):
        open_source(path)


def test_a_draft_says_where_the_table_is(tmp_path):
    rows = [["age", "ill"], *([n, "yes" if n % 2 else "no"] for n in range(40, 60))]
    path = book(tmp_path / "d.xlsx", cells(rows, down=2), sheets=("One", "Two"))
    text = draft_text(sketch_table(path, written=Layout(header_row=3, sheet="Two")))
    assert 'file:\n  header_row: 3\n  sheet: "Two"\n' in text
    (tmp_path / "s.yaml").write_text(text.replace("row or person?", "row"), encoding="utf-8")
    schema = Schema.load(tmp_path / "s.yaml")
    assert len(read(path, schema).codes) == 20


@pytest.mark.slow
def test_days_beyond_the_calendar_follow_the_rules(tmp_path):
    path = tmp_path / "d.xlsx"
    with xlsxwriter.Workbook(path) as made:
        day, sheet = made.add_format({"num_format": "yyyy-mm-dd"}), made.add_worksheet()
        sheet.write(0, 0, "born")
        for row, number in enumerate([45_322, 4e6, -5, 1e300, 45_322], start=1):
            sheet.write_number(row, 0, number, day)
    for outside, missing in (("other", "other"), ("clip", "other")):
        born = {"type": "numeric", "low": "2024-01-01", "high": "2024-12-31", "outside": outside,
                "missing": missing}  # fmt: skip
        schema = Schema.from_dict({"name": "x", "unit": "row", "attributes": {"born": born}})
        assert read(path, schema).codes[:, 0].tolist() == [30, 366, 366, 366, 30]
