"""Workbooks of spreadsheets (.xlsx, .xlsb, .xls, .ods), read cell by cell.

A cell has a type of its own, and it alone: a number, a date, a truth value or a text. So a column
is handed on as a union of these, and what a cell means does not depend on other cells. Where a
column stands is told by the row of names alone. A sheet is in memory as a whole while it is read.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from hedgerow.errors import DataError, HedgerowError, UsageError
from hedgerow.schema.attributes import PLAIN, Layout
from hedgerow.table.encode import text_of
from hedgerow.table.readers.source import BATCH_ROWS, Source, check_names

__all__ = ["Day", "cells_array", "open_workbook"]

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
    try:
        import python_calamine
    except ImportError:
        raise UsageError(
            f"{path}: reading workbooks needs the package python-calamine",
            hint="Install it with: pip install 'hedgerow[excel]'. Or export the sheet as CSV "
            "UTF-8, and give that file.",
        ) from None

    def rows() -> Iterator[_Row]:
        """The rows of the sheet that are not blank, with their numbers."""
        try:
            with path.open("rb") as file:
                book = python_calamine.CalamineWorkbook.from_filelike(file)
                sheet = book.get_sheet_by_name(_sheet(book, path, written))
                found = sheet.to_python(skip_empty_area=False)
        except (HedgerowError, KeyboardInterrupt, SystemExit, MemoryError):
            raise
        except python_calamine.PasswordError:
            raise DataError(
                f"{path}: the workbook is encrypted", hint="Save it without a password."
            ) from None
        except BaseException:  # what a foreign library raises may quote a value
            raise DataError(
                f"{path}: the workbook is damaged, or of a kind that cannot be read",
                hint="Open it in a spreadsheet and save it as .xlsx, or export the sheet as CSV.",
            ) from None
        for number, row in enumerate(found, start=1):
            if any(value != "" for value in row) or number == written.header_row:
                yield number, row

    what, records = str(path), rows()
    header, named = _header(records, path, written)
    cells = [place for place, value in enumerate(named) if value != ""]
    first, last = cells[0], cells[-1] + 1
    names = check_names([text_of(value) or "" for value in named[first:last]], what)

    def rest() -> Iterator[_Row]:
        return ((number, row) for number, row in rows() if number > header)

    def batches(columns: Sequence[int]) -> Iterator[Any]:
        keys = [str(place) for place in range(len(columns))]
        left = rest()
        while batch := list(islice(left, BATCH_ROWS)):
            for number, row in batch:
                if any(value != "" for value in (*row[:first], *row[last:])):
                    raise DataError(
                        f"{what}, row {number}: a value stands beside the named columns",
                        hint=f"Name its column in row {header}, or clear the cell.",
                    )
            arrays = [cells_array([row[first + place] for _, row in batch]) for place in columns]
            yield pa.RecordBatch.from_arrays(arrays, names=keys)

    def places(wanted: Sequence[int]) -> list[str]:
        numbers = [number for number, _ in islice(rest(), max(wanted, default=-1) + 1)]
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
