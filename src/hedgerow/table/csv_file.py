"""CSV files: plain or gzipped, any usual delimiter, read as text in blocks.

Every column is read as text; what a text means is for the schema to say. Arrow's reader does the
work, and Python's slow one goes over the file again only to find the line of a mistake.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import os
import zlib
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.csv as pacsv

from hedgerow.errors import DataError, UsageError
from hedgerow.table.source import BATCH_ROWS, Source, check_names

__all__ = ["encoding_error", "explain", "open_binary", "open_csv", "sniff_delimiter"]

DELIMITERS = ",;\t|"
_HEAD = 1 << 20
_BLOCK = 1 << 22  # also the longest record that can be read


def sniff_delimiter(text: str, known: Collection[str] = ()) -> str:
    r"""Guesses the delimiter: the one that finds most known columns, then the most even one.

    Args:
        text: The beginning of the file, ending after a complete record if possible.
        known: Column names that the schema expects.

    Example:
        >>> sniff_delimiter("age;height\n40;1,80\n35;1,75\n")
        ';'
    """

    def merit(delimiter: str) -> tuple[int, bool, bool, int]:
        rows: list[list[str]] = []
        try:
            for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter):
                if row:
                    rows.append(row)
                if len(rows) > 20:
                    break
        except csv.Error:
            return (0, False, False, 0)
        if not rows:
            return (0, False, False, 0)
        found = len({name.strip() for name in rows[0]}.intersection(known))
        even = all(len(row) == len(rows[0]) for row in rows[1:-1] or rows)
        # A header in one piece is the last resort: it would make every ragged file look even.
        return (found, len(rows[0]) > 1, even, len(rows[0]))

    return max(DELIMITERS, key=merit)


def open_csv(
    path: Path,
    *,
    gzipped: bool,
    known: Collection[str] = (),
    delimiter: str | None = None,
    blank_records: bool = False,
) -> Source:
    """Opens a CSV file; its first line holds the names of the columns.

    Args:
        path: The file.
        gzipped: Whether it is compressed.
        known: Column names that the schema expects, to tell the delimiter.
        delimiter: The delimiter, if it is not to be guessed.
        blank_records: Whether a blank line is a record if there is a single column.
    """
    if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n'):
        raise UsageError(
            "the delimiter must be a single character other than a quote or a line break",
            hint="Usual ones are a comma, a semicolon, a tab and a bar.",
        )
    what = str(path)
    head = _head(path, gzipped)
    delimiter = delimiter or sniff_delimiter(head, known)
    try:
        reader = csv.reader(io.StringIO(head, newline=""), delimiter=delimiter)
        above, header = next(((n, row) for n, row in enumerate(reader) if row), (0, None))
    except csv.Error:
        above, header = 0, None
    if header is None:
        raise DataError(
            f"{what}: the file is empty",
            hint="The first line must hold the names of the columns, even if no rows follow.",
        )
    names = check_names(header, what)
    blank_records = blank_records and len(names) == 1
    size = max(1, os.path.getsize(path))
    position: list[Callable[[], int]] = []

    def batches(columns: Sequence[int]) -> Iterator[Any]:
        with path.open("rb", buffering=0) as raw:
            position.append(raw.tell)
            yield from _batches(raw, columns)
            position.clear()

    def _batches(raw: IO[bytes], columns: Sequence[int]) -> Iterator[Any]:
        ragged: list[int] = []

        def skip(row: Any) -> str:
            ragged.append(1)
            return "skip"

        stream = pa.PythonFile(raw, mode="r")
        if gzipped:
            stream = pa.CompressedInputStream(stream, "gzip")
        keys = [str(place) for place in range(len(names))]  # any header makes valid keys
        try:
            batches = pacsv.open_csv(
                stream,
                pacsv.ReadOptions(column_names=keys, block_size=_BLOCK),
                pacsv.ParseOptions(
                    delimiter=delimiter,
                    newlines_in_values=True,
                    invalid_row_handler=skip,
                    ignore_empty_lines=not blank_records,
                ),
                pacsv.ConvertOptions(
                    column_types=dict.fromkeys(keys, pa.string()),
                    include_columns=[keys[column] for column in columns],
                    strings_can_be_null=False,
                ),
            )
            # The header comes as a row, and so do blank lines above it if they are records.
            skip_rows = 1 + above * blank_records
            for batch in batches:
                if ragged:
                    break
                batch = batch.slice(skip_rows)
                skip_rows = 0
                for start in range(0, batch.num_rows, BATCH_ROWS):
                    yield batch.slice(start, BATCH_ROWS)
        except (pa.ArrowException, OSError, zlib.error) as error:
            raise explain(error, path, gzipped) from None
        if ragged:
            raise _ragged(path, gzipped, delimiter, len(names))

    return Source(
        what,
        names,
        batches,
        share=lambda: position[-1]() / size if position else 1.0,
        places=lambda rows: _lines(path, gzipped, delimiter, rows, blank_records),
        bytes=size * (8 if gzipped else 1),  # text packs well
    )


def open_binary(path: Path, gzipped: bool) -> Any:
    """Opens a file for its bytes, unpacked."""
    return gzip.open(path, "rb") if gzipped else path.open("rb")


def _head(path: Path, gzipped: bool) -> str:
    """The beginning of the file as text."""
    try:
        with open_binary(path, gzipped) as file:
            start = file.read(_HEAD)
    except (OSError, EOFError, zlib.error) as error:
        raise explain(error, path, gzipped) from None
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise encoding_error(path, 1)
    if b"\0" in start:
        raise DataError(
            f"{path}: this is not a text file",
            hint="Give a CSV file (plain or gzipped) or a Parquet file.",
        )
    try:
        decoder = codecs.getincrementaldecoder("utf-8-sig")()
        return decoder.decode(start, final=len(start) < _HEAD)
    except UnicodeDecodeError:
        raise encoding_error(path, _line_of_bad_text(path, gzipped)) from None


def explain(error: Exception, path: Path, gzipped: bool) -> DataError:
    """Turns a reader's complaint, which may quote a record, into ours."""
    text = str(error)
    if "UTF8" in text:
        return encoding_error(path, _line_of_bad_text(path, gzipped))
    if "straddling" in text:
        return DataError(
            f"{path}: a record does not end",
            hint="Look for a quote sign that is opened and never closed.",
        )
    if isinstance(error, PermissionError):
        return DataError(
            f"{path}: you are not allowed to read this file",
            hint="Ask its owner for the right to read it.",
        )
    if gzipped:
        return DataError(
            f"{path}: the gzip file is damaged or cut short",
            hint="Copy or download it again; `gzip -t` tells whether it is whole.",
        )
    return DataError(
        f"{path}: the file cannot be read as CSV", hint="Open it in an editor and look at it."
    )


def encoding_error(path: Path, line: int | None) -> DataError:
    """The complaint about a file that is not in UTF-8."""
    where = "" if line is None else f", line {line}"
    return DataError(
        f"{path}{where}: the text is not encoded in UTF-8",
        hint="Save the file as UTF-8; spreadsheets call it 'CSV UTF-8'.",
    )


def _line_of_bad_text(path: Path, gzipped: bool) -> int | None:
    try:
        with open_binary(path, gzipped) as file:
            for number, line in enumerate(file, start=1):
                try:
                    line.decode("utf-8")
                except UnicodeDecodeError:
                    return number
    except (OSError, EOFError, zlib.error):
        pass
    return None


def _records(
    path: Path, gzipped: bool, delimiter: str, blank_records: bool = False
) -> Iterator[tuple[int, list[str]]]:
    """Each record, header included, with the line it begins in; below the header also blanks."""
    with open_binary(path, gzipped) as file:
        text = io.TextIOWrapper(file, encoding="utf-8-sig", newline="")
        reader = csv.reader(text, delimiter=delimiter)
        line, below = 1, False
        for record in reader:
            if record or (below and blank_records):
                yield line, record
                below = True
            line = reader.line_num + 1


def _ragged(path: Path, gzipped: bool, delimiter: str, width: int) -> DataError:
    where = ""
    try:
        for line, record in _records(path, gzipped, delimiter):
            if len(record) != width:
                where = f", line {line}"
                break
    except (OSError, EOFError, ValueError, zlib.error, csv.Error):
        pass
    return DataError(
        f"{path}{where}: the record has more or fewer fields than the first line has names",
        hint="Put a value that holds the delimiter in quotes, look for a quote that is not "
        "closed, or name the delimiter if it was guessed wrongly (--delimiter, delimiter=).",
    )


def _lines(
    path: Path, gzipped: bool, delimiter: str, rows: Sequence[int], blank_records: bool
) -> list[str]:
    wanted = {row + 1: f"row {row + 1}" for row in rows}  # record 0 is the header
    last = max(wanted, default=-1)
    try:
        records = _records(path, gzipped, delimiter, blank_records)
        for number, (line, _) in enumerate(records):
            if number in wanted:
                wanted[number] = f"line {line}"
            if number >= last:
                break
    except (OSError, EOFError, ValueError, zlib.error, csv.Error):
        pass  # a row number is still true
    return [wanted[row + 1] for row in rows]
