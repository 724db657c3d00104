"""Workbooks of spreadsheets and files of statistics programs, read value by value."""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from hedgerow.data.encode import text_of
from hedgerow.data.source import BATCH_ROWS, Source, batch_of, check_names, load_package
from hedgerow.errors import DataError, HedgerowError
from hedgerow.schema.attributes import PLAIN, Layout

# Workbooks of spreadsheets (.xlsx, .xlsb, .xls, .ods), read cell by cell.
#
# A cell has a type of its own, and it alone: a number, a date, a truth value or a text. So a column
# is handed on as a union of these, and what a cell means does not depend on other cells. Where a
# column stands is told by the row of names alone. A sheet is in memory as a whole while it is read.


_SHOWN = 10
_TEXT, _NUMBER, _DATE = range(3)
_CHILDREN = (pa.string(), pa.float64(), pa.int32())
_Row = tuple[int, list[Any]]
_EPOCH = datetime.date(1970, 1, 1).toordinal()


class Day(int):
    """A day, counted from 1970: Python's own calendar ends with the year 9999."""


def open_workbook(path: Path, written: Layout = PLAIN) -> Source:
    """Opens a sheet of a workbook.

    Args:
        path: The file.
        written: What is declared about the sheet and the row with the names of the columns.

    Raises:
        DataError: If it cannot be read, or several sheets could be meant.
    """
    instead = " Or export the sheet as CSV UTF-8, and give that file."
    calamine = load_package("python_calamine", f"{path}: reading workbooks", "excel", instead)

    def rows() -> Iterator[_Row]:
        """The rows of the sheet that are not blank, with their numbers."""
        try:
            with path.open("rb") as file:
                book = calamine.CalamineWorkbook.from_filelike(file)
                sheet = book.get_sheet_by_name(_sheet(book, path, written))
                cells = sheet.to_python(skip_empty_area=False)
        except (HedgerowError, KeyboardInterrupt, SystemExit, MemoryError):
            raise
        except calamine.PasswordError:
            raise DataError(
                f"{path}: the workbook is encrypted", hint="Save it without a password."
            ) from None
        except BaseException:  # what a foreign library raises may quote a value
            raise DataError(
                f"{path}: the workbook is damaged, or of a kind that cannot be read",
                hint="Open it in a spreadsheet and save it as .xlsx, or export the sheet as CSV.",
            ) from None
        for number, row in enumerate(cells, start=1):
            if any(value != "" for value in row) or number == written.header_row:
                yield number, row

    what = str(path)
    header, named = _header(rows(), path, written)
    cells = [place for place, value in enumerate(named) if value != ""]
    first, last = cells[0], cells[-1] + 1
    names = check_names([text_of(value) or "" for value in named[first:last]], what)

    def batches(columns: Sequence[int]) -> Iterator[Any]:
        left = (one for one in rows() if one[0] > header)
        while batch := list(islice(left, BATCH_ROWS)):
            for number, row in batch:
                if any(value != "" for value in (*row[:first], *row[last:])):
                    raise DataError(
                        f"{what}, row {number}: a value stands beside the named columns",
                        hint=f"Name its column in row {header}, or clear the cell.",
                    )
            yield batch_of(
                [cells_array([row[first + place] for _, row in batch]) for place in columns]
            )

    def places(wanted: Sequence[int]) -> list[str]:
        numbers = [number for number, _ in rows() if number > header]
        return [f"row {numbers[place]}" for place in wanted]

    return Source(
        what=what, names=names, batches=batches, places=places, bytes=path.stat().st_size * 8
    )


def _sheet(book: Any, path: Path, written: Layout) -> str:
    """The name of the sheet that is meant."""
    if written.sheet is not None and written.sheet in book.sheet_names:
        return written.sheet
    seen = [one.name for one in book.sheets_metadata if str(one.visible)[-7:] == "Visible"]
    if written.sheet is None and len(seen) == 1:
        return str(seen[0])
    names = ", ".join(map(repr, seen[:_SHOWN])) + (", ..." if seen[_SHOWN:] else "")
    wrong = "several sheets" if written.sheet is None else f"no sheet {written.sheet!r}"
    raise DataError(
        f"{path}: the workbook has {wrong}",
        hint="Name the one to read, with --sheet of `hedgerow init` or `sheet: ...` below `file:` "
        f"in a schema: {names}.",
        places=[("file", "sheet")],
    )


def _header(records: Iterator[_Row], path: Path, written: Layout) -> _Row:
    """The row with the names of the columns."""
    for number, row in records:
        if written.header_row in (None, number):
            if all(value == "" for value in row):
                break
            return number, row
    where = "the sheet" if written.header_row is None else f"row {written.header_row}"
    raise DataError(
        f"{path}: {where} is empty, and must hold the names of the columns",
        hint="Name the right one: --sheet or --header-row of `hedgerow init`, `sheet:` or "
        "`header_row:` below `file:` in a schema.",
        places=[("file", "sheet"), ("file", "header_row")],
    )


def cells_array(values: Sequence[Any]) -> Any:
    """Cells as an Arrow array, each with its own type.

    Example:
        >>> cells_array([40.0, "41", "", datetime.date(2020, 1, 31), True]).to_pylist()
        [40.0, '41', None, datetime.date(2020, 1, 31), 'true']
    """
    parts: tuple[list[Any], ...] = ([], [], [])
    kinds, offsets = np.empty(len(values), np.int8), np.empty(len(values), np.int32)
    for place, value in enumerate(values):
        if isinstance(value, Day):
            kind = _DATE
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            kind = _NUMBER
        elif isinstance(value, datetime.date):  # with a time of day or without
            kind = _DATE
            value = value.toordinal() - _EPOCH
        else:
            kind = _TEXT
            value = text_of(value) or None
        kinds[place], offsets[place] = kind, len(parts[kind])
        parts[kind].append(value)
    children = [pa.array(part, kind) for part, kind in zip(parts, _CHILDREN, strict=True)]
    children[_DATE] = children[_DATE].cast(pa.date32())
    return pa.UnionArray.from_dense(pa.array(kinds), pa.array(offsets), children)


# Files of statistics programs (SPSS, Stata, SAS), read in blocks, value by value.
#
# What kind of file it is follows from its first bytes, which no record has a say in. The type of a
# column is declared in the file's own header; every value is handed on with a type of its own, as
# the cells of a workbook are. These programs keep dates as numbers, which may lie beyond Python's
# calendar: we turn them into days by ourselves.


_READERS = {
    "SPSS": "read_sav", "Stata": "read_dta", "SAS": "read_sas7bdat", "SAS transport": "read_xport",
}  # fmt: skip


# What a number counts, by its format: which are dates, moments and times, as pyreadstat has it.
_NAME = re.compile(r"([A-Z][A-Z0-9]+[A-Z])(?:\d+(?:\.\d+)?)?")
_SAS = (
    r"WEEKDAT[EX]|(?:MMDDYY|DDMMYY|YYMMDD)[BCDNPS]?|DATE|DTDATE|(?:IS|E|B)8601DA",
    r"DATETIME|(?:IS|E|B)8601DT|B8601DN|DATEAMPM|MDYAMPM",
    r"TIME|HHMM|TOD|TIMEAMPM|(?:IS|E|B)8601TM",
)
_FORMATS = {
    "SPSS": (r"[AEJS]?DATE", r"DATETIME|YMDHMS", r"D?TIME"),
    "Stata": (r"%t?d|%tdD_m_Y|%tdCCYY-NN-DD", r"%t[cC]", r"%tcHH:MM(?::SS)?"),
    "SAS": _SAS,
    "SAS transport": _SAS,
}
_DAYS, _MOMENT, _TIME = range(3)
_FARTHEST = (1 << 31) - 1  # days that Arrow can count


def _clock(kind: str, written: str) -> int | None:
    """Whether a column holds dates, moments or times, by its format in the header."""
    match = _NAME.fullmatch(written)
    name = written if kind == "Stata" else match[1] if match else ""
    patterns = enumerate(_FORMATS[kind])
    return next((clock for clock, pattern in patterns if re.fullmatch(pattern, name)), None)


def _read_clock(kind: str, clock: int | None, value: Any) -> Any:
    """What a number means: a day, counted from 1970, or a time of day."""
    if clock is None or not isinstance(value, (int, float)) or math.isnan(value):
        return value
    per_day = 1 if clock == _DAYS and kind != "SPSS" else 86_400_000 if kind == "Stata" else 86_400
    if clock == _TIME:
        if not math.isfinite(value):
            return None
        unit = "milliseconds" if kind == "Stata" else "seconds"
        return (datetime.datetime.min + datetime.timedelta(**{unit: value % per_day})).time()
    origin = datetime.date(1582, 10, 14) if kind == "SPSS" else datetime.date(1960, 1, 1)
    days = value // per_day if math.isfinite(value) else value
    days += origin.toordinal() - datetime.date(1970, 1, 1).toordinal()
    return Day(int(max(-_FARTHEST, min(_FARTHEST, days))))


def open_stats_file(path: Path, kind: str) -> Source:
    """Opens a file of a statistics program.

    Args:
        path: The file.
        kind: What `stats_kind` says of it.

    Raises:
        DataError: If it cannot be read.
    """
    instead = (
        f" Or export the data as CSV in {kind.split()[0]}, or with `write_csv(haven::read_...)` in "
        "R, and give that file."
    )
    package = load_package("pyreadstat", f"{path}: this is a {kind} file, which", "stats", instead)
    what, reader = str(path), getattr(package, _READERS[kind])

    def load(**how: Any) -> Any:
        try:
            return reader(what, output_format="dict", **how)
        except MemoryError:
            raise
        except Exception:  # what a foreign library raises may quote a value
            raise DataError(
                f"{path}: the {kind} file is damaged, or of a version that cannot be read",
                hint="Open it in the program that wrote it and export the data as CSV.",
            ) from None

    header = load(metadataonly=True, disable_datetime_conversion=True)[1]
    own, formats = header.column_names, header.original_variable_types
    clocks = [_clock(kind, str(formats.get(name) or "")) for name in own]
    names = check_names(own, what)

    def batches(columns: Sequence[int]) -> Iterator[Any]:
        wanted, first = list(dict.fromkeys(own[column] for column in columns)), 0
        while True:
            data, _ = load(
                usecols=wanted, row_offset=first, row_limit=BATCH_ROWS,
                disable_datetime_conversion=True,
            )  # fmt: skip
            values = [
                [_read_clock(kind, clocks[column], one) for one in data[own[column]]]
                for column in columns
            ]
            if not values or not values[0]:
                return
            yield batch_of(list(map(cells_array, values)))
            first += len(values[0])

    return Source(what=what, names=names, batches=batches, bytes=path.stat().st_size)
