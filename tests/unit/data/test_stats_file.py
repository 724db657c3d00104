"""Files of SPSS, Stata and SAS: every value is read by itself, in blocks of any size."""

from __future__ import annotations

import datetime
import sys

import pandas as pd
import pytest

from hedgerow.data import encode_rows, read
from hedgerow.data import workbook as stats_file
from hedgerow.data.open_input import open_source, stats_kind
from hedgerow.errors import DataError, UsageError
from hedgerow.schema import Schema

SCHEMA = Schema.from_dict(
    {
        "name": "x", "unit": "row",
        "attributes": {
            "age": {"type": "numeric", "low": 0, "high": 99, "missing": "drop"},
            "sex": {"type": "categorical", "values": ["f", "m"], "missing": "drop"},
            "born": {"type": "numeric", "low": "2020-01-01", "high": "2020-12-31",
                     "missing": "drop", "outside": "drop"},
            "code": {"type": "categorical", "values": ["1", "2.5"], "outside": "drop"},
        },
    }
)  # fmt: skip
DAY = datetime.date(2020, 1, 31)
RECORDS = [
    (40.0, "m", DAY, 1.0), (None, "m", DAY, 1.0), (7.0, "", DAY, 1.0), (7.0, "f", None, 1.0),
    (8.5, "f", DAY, 2.5), (9.0, "f", datetime.date(1999, 1, 1), 1.0), (1.0, "f", DAY, 7.0),
]  # fmt: skip
EXPECTED = [[40, 1, 30, 0], None, None, None, [8, 0, 30, 1], None, None]
ENDINGS = {"write_sav": ".sav", "write_dta": ".dta", "write_xport": ".xpt"}


@pytest.fixture(params=ENDINGS)
def write(request, tmp_path):
    library = pytest.importorskip("pyreadstat")

    def to_file(records, name="d"):
        path = tmp_path / f"{name}{ENDINGS[request.param]}"
        frame = pd.DataFrame(records, columns=["age", "sex", "born", "code"])
        getattr(library, request.param)(frame.astype({"born": object}), str(path))
        return path

    return to_file


def codes(path):
    found, known = encode_rows(path, SCHEMA)
    return [row if ok else None for row, ok in zip(found.tolist(), known, strict=True)]


@pytest.mark.parametrize("rows", [1, 2, 7, 1 << 16])
def test_blocks_of_any_size(write, rows, monkeypatch):
    monkeypatch.setattr(stats_file, "BATCH_ROWS", rows)
    assert codes(write(RECORDS)) == EXPECTED


def test_a_value_is_read_the_same_in_any_company(write):
    for place in range(len(RECORDS)):
        left = RECORDS[:place] + RECORDS[place + 1 :]
        assert codes(write(left)) == EXPECTED[:place] + EXPECTED[place + 1 :]


FORMATS = {
    "write_sav": (
        "SPSS",
        ("DATE11", "ADATE10", "EDATE10", "JDATE7", "SDATE10", "DATETIME20", "TIME8"),
        86_400, datetime.date(1582, 10, 14),
    ),
    "write_dta": ("Stata", ("%td", "%tc", "%tcHH:MM:SS"), 1, datetime.date(1960, 1, 1)),
    "write_xport": ("SAS transport", ("DATE9", "MMDDYY10", "DATETIME20", "TIME8", "YYMMDD10"), 1,
                    datetime.date(1960, 1, 1)),
}  # fmt: skip


@pytest.mark.parametrize("writer", FORMATS)
def test_numbers_with_a_format_are_what_the_library_makes_of_them(writer, tmp_path):
    library = pytest.importorskip("pyreadstat")
    kind, formats, per_day, _ = FORMATS[writer]
    for form in formats:
        per = 86_400_000 if form.startswith("%tc") else 86_400 if "TIME" in form else per_day
        numbers = [float("nan"), 0.0, 20_000.0 * per, 150_000.25 * per, -30.0 * per]
        path = tmp_path / f"x{ENDINGS[writer]}"
        getattr(library, writer)(
            pd.DataFrame({"d": numbers}), str(path), variable_format={"d": form}
        )
        data, _ = getattr(library, stats_file._READERS[kind])(str(path), output_format="dict")
        (batch,) = open_source(path).batches([0])
        theirs = stats_file.cells_array(list(data["d"]))
        assert batch.column(0).to_pylist() == theirs.to_pylist()
        assert any(isinstance(value, (str, datetime.date)) for value in theirs.to_pylist())


@pytest.mark.parametrize("writer", FORMATS)
def test_days_beyond_the_calendar_follow_the_rules(writer, tmp_path):
    library = pytest.importorskip("pyreadstat")
    _, (form, *_), per_day, origin = FORMATS[writer]
    far = [4e6, -9e6, 1e15, -1e15, 1e60, -1e60]
    near = (datetime.date(2020, 1, 31) - origin).days
    numbers = [day * per_day for day in (near, *far, near)]
    path = tmp_path / f"x{ENDINGS[writer]}"
    getattr(library, writer)(
        pd.DataFrame({"born": numbers}), str(path), variable_format={"born": form}
    )
    born = {"type": "numeric", "low": "2020-01-01", "high": "2020-12-31", "missing": "other"}
    for outside, codes in (("clip", [30, *[365, 0] * 3, 30]), ("other", [30, *[366] * 6, 30])):
        document = {"name": "x", "unit": "row", "attributes": {"born": born | {"outside": outside}}}
        found = read(path, Schema.from_dict(document))
        assert found.codes[:, 0].tolist() == codes
    kinds = {"type": "categorical", "values": ["2020-01-31"], "outside": "other"}
    document = {"name": "x", "unit": "row", "attributes": {"born": kinds}}
    assert read(path, Schema.from_dict(document)).codes[:, 0].tolist() == [0, *[1] * 6, 0]


def test_what_a_file_is_does_not_depend_on_its_name(write):
    path = write(RECORDS)
    other = path.rename(path.with_name("d.csv"))
    assert open_source(other).names == ("age", "sex", "born", "code")


def test_damage(write):
    path = write(RECORDS)
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(DataError, match="file is damaged"):
        open_source(path)


@pytest.mark.parametrize(
    ("start", "kind"),
    [
        (b"$FL2@(#) SPSS DATA FILE", "SPSS"), (b"<stata_dta><header>", "Stata"),
        (b"s\2\1\0", "Stata"), (b"\0" * 12 + b"\xc2\xea\x81\x60" + b"\0" * 16, "SAS"),
        (b"HEADER RECORD*******LIBRARY HEADER", "SAS transport"),
    ],
)  # fmt: skip
def test_without_the_package_the_way_out_is_told(start, kind, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyreadstat", None)
    (tmp_path / "d.csv").write_bytes(start)
    with pytest.raises(UsageError, match=f"this is a {kind} file") as caught:
        open_source(tmp_path / "d.csv")
    assert "hedgerow[stats]" in str(caught.value) and "as CSV" in str(caught.value)


@pytest.mark.parametrize("text", ["", "s", "HEADER RECORD,age\n1,2\n", "$FL2,age\n", "survey\n1\n"])
def test_ordinary_files_are_none_of_them(text):
    assert stats_kind(text.encode()) is None
