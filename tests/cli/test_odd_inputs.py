"""Odd and malformed inputs as people produce them: each read as it was meant, or refused.

One table: the input, and the message (the file, the line, the column, the way out) or the codes
that it is read as. Nothing is misread in silence, and `publish` says no value of the data.
"""

from __future__ import annotations

import datetime
import gzip
import io
import re
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import xlsxwriter

from hedgerow.data import read
from hedgerow.schema import Schema

Hedge = Callable[..., Any]
pytestmark = pytest.mark.filterwarnings("ignore::hedgerow.errors.DataWarning")

AGE = "  age: {type: numeric, low: 0, high: 99999}\n"
DOSE = "  dose: {type: numeric, low: 0.0, high: 99999.0, step: 0.01}\n"
DAY = "  day: {type: numeric, low: 2024-01-01, high: 2024-12-31}\n"
SEX = "  sex: {type: categorical, values: [Female, Male]}\n"
ILL = "  ill: {type: boolean}\n"


class Odd(NamedTuple):
    """An input and what becomes of it: words of the message, or the codes of its rows.

    Args:
        columns: The columns of the schema.
        content: The file's content.
        expected: What the message says, in this order; or the codes.
        file: What the schema declares about the file.
        name: The file's name.
        quoted: Whether `check` may quote a value, which `publish` must not.
    """

    columns: str
    content: bytes | str
    expected: list[str] | list[list[int]]
    file: str = ""
    name: str = "d.csv"
    quoted: bool = False


def zipped(password: bool = False, **files: str) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, text in files.items():
            archive.writestr(f"{name}.csv", text)
    content = made.getvalue()
    if not password:
        return content
    # the flag that says so, in the entry and in the directory
    flag = re.compile(rb"(PK\x03\x04..|PK\x01\x02....)\x00", re.S)
    return flag.sub(lambda found: found[1] + b"\x01", content)


def workbook(*rows: list[Any]) -> bytes:
    made = io.BytesIO()
    with xlsxwriter.Workbook(made, {"in_memory": True}) as book:
        sheet, day = book.add_worksheet(), book.add_format({"num_format": "m/d/yy"})
        for r, row in enumerate(rows):
            for c, value in enumerate(row):
                dated = isinstance(value, datetime.date)
                sheet.write_datetime(r, c, value, day) if dated else sheet.write(r, c, value)
    return made.getvalue()


def nested() -> bytes:
    made = io.BytesIO()
    pq.write_table(pa.table({"age": pa.array([{"years": 4}, {"years": 5}])}), made)
    return made.getvalue()


COMMA = ["line 3", "column 'age'", 'thousands: ","', 'decimal: ","']
DATES = ["column 'day', line 2"]

ODD: dict[str, Odd] = {
    # bytes and lines
    "UTF-16 with a byte order mark": Odd(
        AGE + SEX, "age\tsex\n4\tMale\n".encode("utf-16"), [[4, 1]]
    ),
    "UTF-16 without one": Odd(
        AGE, "age\n4\n".encode("utf-16-le"), ["d.csv: this is not a text file", "utf-16-le"]
    ),
    "UTF-16 without one, declared": Odd(
        AGE, "age\n4\n".encode("utf-16-le"), [[4]], "encoding: utf-16-le"
    ),
    "cp1252": Odd(
        "  town: {type: categorical, values: [Köln, Ulm]}\n", "town\nUlm\nKöln\n".encode("cp1252"),
        ["d.csv, line 3: the text is not encoded in UTF-8", "encoding: cp1252"],
    ),
    "cp1252, declared": Odd(
        "  town: {type: categorical, values: [Köln, Ulm]}\n", "town\nUlm\nKöln\n".encode("cp1252"),
        [[1], [0]], "encoding: cp1252",
    ),
    "NUL bytes in a value": Odd(AGE, b"age\n4\n5\0\n", ["column 'age', line 3: the value is not"]),
    "NUL bytes in the names": Odd(AGE, b"a\0ge\n4\n", ["d.csv: this is not a text file"]),
    "an unclosed quote": Odd(
        AGE + SEX, 'age,sex\n4,Male\n5,"Male\n6,Male\n',
        ["d.csv, line 3: a quotation mark opens a value", "--line-breaks"],
    ),
    "too many fields": Odd(
        AGE + SEX, "age,sex\n4,Male\n5,Male,x\n", ["d.csv, line 3: the record has more or fewer"]
    ),
    "too few fields": Odd(
        AGE + SEX, "age,sex\n4\n", ["d.csv, line 2: the record has more or fewer", "--delimiter"]
    ),
    "CR line ends": Odd(AGE + SEX, "age,sex\r4,Male\r5,Female\r", [[4, 1], [5, 0]]),
    "mixed line ends": Odd(AGE, "age\r\n4\n5\r6\r\n\n7", [[4], [5], [6], [7]]),
    # names
    "duplicate names": Odd(
        AGE + SEX, "age,sex,age\n4,Male,4\n", ["d.csv: columns 1 and 3 have the same name"]
    ),
    "a column without a name": Odd(
        AGE + SEX, "age,,sex\n4,x,Male\n", ["d.csv: column 2 has no name", "header_row"]
    ),
    "no names": Odd(
        AGE + SEX, "4,Male\n5,Male\n", ["d.csv: none of the schema's columns", "header_row"]
    ),
    "a title above the names": Odd(
        AGE + SEX, "Visits in 2024\n\nage,sex\n4,Male\n",
        ["d.csv: none of the schema's columns", "header_row"],
    ),
    "a title above the names, declared": Odd(
        AGE + SEX, "Visits in 2024\n\nage,sex\n4,Male\n", [[4, 1]], "header_row: 3"
    ),
    "sep=; above the names": Odd(AGE + SEX, "sep=;\nage;sex\n4;Male\n", [[4, 1]], "header_row: 2"),
    # numbers
    "12,345 with nothing declared": Odd(AGE, 'age\n4\n"12,345"\n', COMMA),
    "12,345 as thousands": Odd(AGE, 'age\n"12,345"\n', [[12345]], 'thousands: ","'),
    "12,345 as a decimal": Odd(AGE, 'age\n"12,345"\n', [[12]], 'decimal: ","'),
    "12.345 with nothing declared": Odd(
        AGE, "age\n4\n12.345\n", ["line 3", "thousands: \".\"", "decimal: \".\""]
    ),
    "12.345 as thousands": Odd(AGE, "age\n12.345\n", [[12345]], 'thousands: "."'),
    "12.345 as a decimal": Odd(AGE, "age\n12.345\n", [[12]], 'decimal: "."'),
    "12.345 under a decimal comma": Odd(
        AGE, "age\n12.345\n", ["column 'age', line 2", "thousands"], 'decimal: ","'
    ),
    "12.345 where decimals are expected": Odd(DOSE, "dose\n12.345\n", [[1234]]),
    "semicolons and decimal commas": Odd(
        AGE + DOSE, "age;dose\n4;1,5\n", ["column 'dose', line 2", 'decimal: ","']
    ),
    "semicolons and decimal commas, declared": Odd(
        AGE + DOSE, "age;dose\n4;1,5\n5;0,25\n", [[4, 150], [5, 25]], 'decimal: ","'
    ),
    "1e5": Odd(DOSE, "dose\n1e4\n1.5E-1\n", [[1000000], [15]]),
    "1,234,567.89": Odd(
        DOSE, 'dose\n"12,345.67"\n', ["column 'dose', line 2", "digits in groups", "thousands"]
    ),
    "1,234,567.89, declared": Odd(DOSE, 'dose\n"12,345.67"\n', [[1234567]], 'thousands: ","'),
    "NaN": Odd(AGE, "age\nNaN\n", ["column 'age', line 2: the value is missing", "missing: other"]),
    "inf": Odd(AGE, "age\ninf\n", ["column 'age', line 2: the value is not an integer from 0 to"]),
    "a percent sign": Odd(AGE, "age\n12%\n", ["column 'age', line 2", "sign such as % or $"]),
    "a currency sign": Odd(AGE, "age\n€ 12\n", ["column 'age', line 2", "leave it out"]),
    "a space that does not break": Odd(AGE, "age\n\u00a012\u00a0\n", [[12]]),
    "one inside a number": Odd(
        AGE, "age\n1\u00a0234\n", ["column 'age', line 2", "digits in groups", "thousands"]
    ),
    "one inside a number, declared": Odd(AGE, "age\n1\u00a0234\n", [[1234]], 'thousands: " "'),
    # dates
    "a US date": Odd(DAY, "day\n01/31/2024\n", [*DATES, '"%m/%d/%Y"', '"%d/%m/%Y"']),
    "a US date, declared": Odd(
        DAY.replace("31}", '31, format: "%m/%d/%Y"}'), "day\n1/31/2024\n", [[30]]
    ),
    "a German date": Odd(DAY, "day\n31.01.2024\n", [*DATES, '"%d.%m.%Y"']),
    "a serial date": Odd(DAY, "day\n45322\n", [*DATES, "format: excel"]),
    "a serial date, declared": Odd(
        DAY.replace("31}", "31, format: excel}"), "day\n45322\n", [[30]]
    ),
    "a day and month changed about": Odd(
        DAY.replace("31}", '31, format: "%m/%d/%Y"}'), "day\n31/01/2024\n", [*DATES, '"%d/%m/%Y"']
    ),
    "a two-digit year": Odd(DAY, "day\n1/31/24\n", [*DATES, "do not tell the century"]),
    "a date with words after it": Odd(DAY, "day\n2024-01-31 or so\n", DATES),
    # words
    "TRUE, true, Yes": Odd(ILL, "ill\nTRUE\ntrue\nYes\n0\n", [[1], [1], [1], [0]]),
    "trailing spaces": Odd(SEX, "sex \nMale  \n Female\n", [[1], [0]]),
    "another case": Odd(
        SEX, "sex\nMale\nmale\n", ["column 'sex', line 3", "ignore: [case, spaces]"], quoted=True
    ),
    "spaces inside": Odd(
        SEX.replace("Male", "Male, Not said"), "sex\nNot\u00a0 said\n",
        ["column 'sex', line 2", "ignore: [case, spaces]"], quoted=True,
    ),
    "another case, declared": Odd(
        SEX.replace("]}", "], ignore: [case, spaces]}"), "sex\nMALE\nfe male\n", [[1], [0]]
    ),
    # files
    "an empty file": Odd(AGE, "", ["d.csv: the file is empty", "names of the columns"]),
    "names and nothing else": Odd(AGE, "age\n", ["d.csv: there are no records", "--allow-empty"]),
    "a workbook called .csv": Odd(AGE, workbook(["age"], [4], ["5"]), [[4], [5]]),
    "a workbook with dates": Odd(
        DAY, workbook(["day"], [datetime.date(2024, 1, 31)]), [[30]], name="d.xlsx"
    ),
    "a CSV file called .xlsx": Odd(
        AGE, "age\n4\n", ["d.xlsx: its name says that it is a workbook", ".csv"], name="d.xlsx"
    ),
    "a zip archive with one file": Odd(AGE, zipped(a="age\n4\n"), [[4]], name="d.zip"),
    "a zip archive with two files": Odd(
        AGE, zipped(a="age\n4\n", b="age\n5\n"), ["holds 2 files: 'a.csv', 'b.csv'", "unpack"],
        name="d.zip",
    ),
    "a zip archive with a password": Odd(
        AGE, zipped(password=True, a="age\n4\n"),
        ["d.zip: the zip archive is encrypted", "password"], name="d.zip",
    ),
    "a gzip file cut short": Odd(
        AGE, gzip.compress(b"age\n" + bytes(range(48, 58)) * 999)[:-12],
        ["d.csv.gz: the gzip file is damaged or cut short"], name="d.csv.gz",
    ),
    "Parquet with a nested column": Odd(
        AGE, nested(), ["column 'age' holds values of type struct", "one plain type"],
        name="d.parquet",
    ),
}  # fmt: skip


def test_there_are_more_than_thirty() -> None:
    assert len(ODD) >= 30


@pytest.mark.parametrize("odd", ODD.values(), ids=list(ODD))
def test_odd_inputs(odd: Odd, hedge: Hedge, tmp_path: Path) -> None:
    if b"[Content_Types].xml" in (odd.content if isinstance(odd.content, bytes) else b""):
        pytest.importorskip("python_calamine")
    data, path = tmp_path / odd.name, tmp_path / "s.yaml"
    data.write_bytes(odd.content.encode() if isinstance(odd.content, str) else odd.content)
    file = f"file: {{{odd.file}}}\n" if odd.file else ""
    path.write_text(f"name: odd\nunit: row\n{file}attributes:\n{odd.columns}", encoding="utf-8")
    done = hedge("check", path, "--data", data)
    if not isinstance(odd.expected[0], str):
        assert done.exit_code == 0, done.stderr
        assert read(data, Schema.load(path)).codes[:, :-1].tolist() == odd.expected
        return
    out = tmp_path / "r"
    told = hedge("publish", data, "--schema", path, "--epsilon", 1, "--out", out)
    for run in (done, told):
        assert run.exit_code == 4 and not out.exists(), run.stderr
        words = " ".join(run.stderr.split())
        places = [words.find(" ".join(str(part).split())) for part in (odd.name, *odd.expected)]
        assert min(places) >= 0, (words, odd.expected)
    assert "did you mean" not in done.stderr + told.stderr
    asked = hedge("check", path, "--data", data, "--show-values")
    assert ("did you mean" in asked.stderr) == odd.quoted


def test_a_folder(hedge: Hedge, tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text(f"name: odd\nunit: row\nattributes:\n{AGE}")
    (tmp_path / "d").mkdir()
    done = hedge("check", tmp_path / "s.yaml", "--data", tmp_path / "d")
    assert done.exit_code == 4 and "folder or pattern without a Parquet file" in done.stderr


@pytest.mark.parametrize(
    ("start", "kind"),
    [
        (b"$FL2@(#) SPSS DATA FILE", "SPSS"),
        (b"<stata_dta><header>", "Stata"),
        (b"s\2\1\0", "Stata"),
    ],
)
def test_files_of_statistics_programs(
    start: bytes, kind: str, hedge: Hedge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the package that reads them they are refused, and the ways out are told."""
    monkeypatch.setitem(sys.modules, "pyreadstat", None)
    (tmp_path / "s.yaml").write_text(f"name: odd\nunit: row\nattributes:\n{AGE}")
    (tmp_path / "d.sav").write_bytes(start)
    done = hedge("check", tmp_path / "s.yaml", "--data", tmp_path / "d.sav")
    words = " ".join(done.stderr.split())
    assert done.exit_code == 2 and f"d.sav: this is a {kind} file" in words
    assert "hedgerow[stats]" in words and f"export the data as CSV in {kind}" in words
