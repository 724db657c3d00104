"""The first line of a CSV file: the names of the columns, and what stands between them.

It is public, and the only place that is looked at to tell how the file is to be read: what records
hold has no say in that.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Collection
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from hedgerow.errors import DataError
from hedgerow.table.readers.text.faults import OPEN, QUOTE, breaks, encoding_error, fault

__all__ = ["DELIMITERS", "Header", "find_header", "split_line", "tell_delimiter"]

DELIMITERS = ",;\t|"
_STEP = 1 << 16
_LONGEST = 1 << 20
_SIGNS = re.compile(rb'"|\r\n|\r|\n')
_BREAKS = re.compile(rb"\r\n|\r|\n")


@dataclass(frozen=True, kw_only=True)
class Header:
    """What the first line says.

    Args:
        names: The names of the columns, as they are written.
        delimiter: What stands between them; None if there is one name and nothing was said.
        size: The bytes of the file up to the end of this line.
        lines: How many lines these are.
    """

    names: list[str]
    delimiter: str | None
    size: int
    lines: int


def split_line(line: str, delimiter: str | None) -> list[str] | None:
    """The values of a record; None if it ends inside a quoted one.

    Example:
        >>> split_line('40,"tall, ""very"" so",a"b,"c"d', ",")
        ['40', 'tall, "very" so', 'a"b', 'cd']
        >>> split_line('a"b,"c', ",") is None
        True
    """
    values = []
    place = 0
    while True:
        value = ""
        if line.startswith('"', place):
            place += 1
            while True:
                close = line.find('"', place)
                if close < 0:
                    return None
                value += line[place:close]
                place = close + 1
                if not line.startswith('"', place):
                    break
                value += '"'
                place += 1
        end = -1 if delimiter is None else line.find(delimiter, place)
        values.append(value + line[place : None if end < 0 else end])
        if end < 0:
            return values
        place = end + 1


def tell_delimiter(line: str, known: Collection[str] = ()) -> str | None:
    """The delimiter that the first line of a file tells; None if it seems to be a single name.

    It is the one that finds most of the known columns; among such, the one that makes most fields;
    among such, the first of comma, semicolon, tab and bar.

    Args:
        line: The first line.
        known: Column names that the schema expects.

    Example:
        >>> tell_delimiter("age;height"), tell_delimiter("a,b|c,d"), tell_delimiter("age")
        (';', ',', None)
        >>> tell_delimiter("a,b|c,d", {"a,b"})
        '|'
    """

    def merit(delimiter: str) -> tuple[int, int]:
        names = split_line(line, delimiter) or []
        return len({name.strip() for name in names}.intersection(known)), len(names)

    best = max(DELIMITERS, key=merit)
    return best if merit(best)[1] > 1 else None


def find_header(
    file: Any,
    path: Path,
    line_breaks: bool,
    delimiter: str | None,
    known: Collection[str],
    header_row: int | None = None,
) -> Header:
    """Reads the line with the names of the columns: the first that is not blank, or a given one.

    Args:
        file: The file, opened for its bytes.
        path: Its path, for messages.
        line_breaks: Whether quoted names may hold line breaks.
        delimiter: The delimiter, if the line is not to tell it.
        known: Column names that the schema expects.
        header_row: The number of the line, from 1, if it was declared.

    Raises:
        DataError: If there is none, or it is not text.
    """
    start, bounds = b"", None
    while bounds is None:
        read = file.read(_STEP)
        start += read
        if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            raise encoding_error(path, 1)
        bounds = _bounds(start, line_breaks, header_row, final=not read)
        if bounds is None and len(start) > _LONGEST:
            raise DataError(
                f"{path}: the first line does not end",
                hint="The first line must hold the names of the columns.",
            )
    first, end, size = bounds
    content, number = start[first:end], breaks(start[:first]) + 1
    if b"\0" in content:
        raise DataError(
            f"{path}: this is not a text file",
            hint="Give a CSV file (plain, gzipped or zipped), a workbook or a Parquet file. If it "
            "is text in UTF-16 without a byte order mark, declare `encoding: utf-16-le` or "
            "`encoding: utf-16-be` below `file:` in the schema.",
        )
    try:
        line = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise encoding_error(path, number + breaks(content[: error.start])) from None
    if header_row is not None and (number != header_row or not line):
        raise DataError(
            f"{path}: line {header_row} is blank or not there, and should hold the names of the "
            "columns",
            hint="Correct --header-row of `hedgerow init`, or `header_row:` below `file:` in the "
            "schema; lines are counted from 1.",
        )
    if not line:
        raise DataError(
            f"{path}: the file is empty",
            hint="The first line must hold the names of the columns, even if no rows follow.",
        )
    delimiter = delimiter or tell_delimiter(line, known)
    names = split_line(line, delimiter)
    if names is None:
        raise fault(OPEN, path, number, line_breaks)
    if line_breaks and not _well_formed(line, delimiter):
        raise fault(QUOTE, path, number, line_breaks)
    return Header(names=names, delimiter=delimiter, size=size, lines=breaks(start[:size]))


def _well_formed(line: str, delimiter: str | None) -> bool:
    """Whether marks stand only where they may in a file with line breaks in its values.

    Otherwise a mark in a name would have the records after it taken for a part of the first line.

    Example:
        >>> _well_formed('age,"a ""b"" c"', ","), _well_formed('age,he"ight', ",")
        (True, False)
    """
    between = "" if delimiter is None else re.escape(delimiter)
    name = f'(?:"(?:[^"]|"")*"|[^"{between}]*)'
    return re.fullmatch(f"{name}(?:{between}{name})*" if between else name, line) is not None


def _bounds(
    start: bytes, line_breaks: bool, row: int | None, *, final: bool
) -> tuple[int, int, int] | None:
    """Where the line with the names begins and ends, and where the next one begins.

    None if more has to be read to know.
    """
    first = len(codecs.BOM_UTF8) if start.startswith(codecs.BOM_UTF8) else 0
    if row is None:
        first += len(start) - first - len(start[first:].lstrip(b"\r\n"))
    else:
        above = list(islice(_BREAKS.finditer(start), row - 1))
        cut = bool(above) and above[-1].end() == len(start)  # it may be half of a CRLF
        if not final and (len(above) < row - 1 or cut):
            return None
        first = above[-1].end() if above else first
    inside = False
    for found in _SIGNS.finditer(start, first):
        if found[0] == b'"':
            inside ^= True
        elif not (inside and line_breaks):
            if found[0] == b"\r" and found.end() == len(start) and not final:
                return None  # it may be half of a CRLF
            return first, found.start(), found.end()
    return (first, len(start), len(start)) if final else None
