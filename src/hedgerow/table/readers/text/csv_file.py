"""CSV files: plain, gzipped or zipped, any usual delimiter, read as text in blocks.

Every column is read as text; what a text means is for the schema to say. How records are told apart
is in `csv_kernels`; what the columns and the delimiter are is told by the first line alone.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from hedgerow.errors import DataError, UsageError
from hedgerow.schema.attributes import PLAIN, Layout
from hedgerow.table.readers.source import BATCH_ROWS, Source, check_names
from hedgerow.table.readers.text.csv_header import find_header
from hedgerow.table.readers.text.csv_kernels import gather, split_records
from hedgerow.table.readers.text.faults import (
    LONGEST,
    SOUND,
    breaks,
    encoding_error,
    explain,
    fault,
)
from hedgerow.table.readers.text.unpacked import Packed, TextFile, find_encoding

if TYPE_CHECKING:
    from hedgerow.arrays import Bytes, Ints, Small

__all__ = ["open_csv"]

_BLOCK = 1 << 22


@dataclass(frozen=True, kw_only=True)
class _Layout:
    """How a file is to be read, all of it known from its first line and from what was asked for.

    Args:
        delimiter: The byte between fields, or -1 if there is a single column.
        width: The number of columns.
        skip: The bytes of the file up to the end of its header.
        line: The number of the line after it.
        line_breaks: Whether values may hold line breaks.
        blanks: Whether a blank line is a record.
    """

    delimiter: int
    width: int
    skip: int
    line: int
    line_breaks: bool
    blanks: bool


@dataclass(frozen=True, kw_only=True)
class _Records:
    """Some records of a file; they are there until the next ones are read.

    Args:
        data: The bytes of a block.
        begin: [wanted columns, records], where each value begins.
        end: Where it ends.
        lines: The line that each record begins in, counted from the first of the block.
        line: The number of that one.
    """

    data: Bytes
    begin: Small
    end: Small
    lines: Ints
    line: int


def open_csv(
    path: Path,
    *,
    packed: Packed = "",
    written: Layout = PLAIN,
    known: Collection[str] = (),
    delimiter: str | None = None,
    line_breaks: bool = False,
    blank_records: bool = False,
) -> Source:
    """Opens a CSV file; its first line holds the names of the columns.

    Args:
        path: The file.
        packed: How it is compressed, if it is.
        written: What is declared about its encoding and the line of the names.
        known: Column names that the schema expects, to tell the delimiter.
        delimiter: The delimiter, if the first line is not to tell it.
        line_breaks: Whether quoted values may hold line breaks; the file must then be well formed
            to its last byte. Otherwise a record is a line.
        blank_records: Whether a blank line is a record if there is a single column.
    """
    if delimiter is not None and (
        len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n\0'
    ):
        raise UsageError(
            "the delimiter must be a single ASCII character other than a quote or a line break",
            hint="Usual ones are a comma, a semicolon, a tab and a bar.",
        )
    if not isinstance(line_breaks, bool):
        raise UsageError(
            "line_breaks must be True or False", hint="Leave it out if a record is a line."
        )
    what = str(path)
    try:
        text = TextFile(path, packed, find_encoding(path, packed, written.encoding))
        with text.open() as (file, _):
            row = written.header_row
            header = find_header(file, path, line_breaks, delimiter, known, row)
    except (OSError, EOFError, zlib.error) as error:
        raise explain(error, path, packed) from None
    names = check_names(header.names, what)
    layout = _Layout(
        delimiter=-1 if header.delimiter is None else ord(header.delimiter),
        width=len(names),
        skip=header.size,
        line=header.lines + 1,
        line_breaks=line_breaks,
        blanks=blank_records and len(names) == 1,
    )
    size = max(1, os.path.getsize(path))
    position: list[Callable[[], int]] = []

    def batches(columns: Sequence[int]) -> Iterator[Any]:
        keys = [str(place) for place in range(len(columns))]  # any header makes valid keys
        distinct = list(dict.fromkeys(columns))  # a value is found for one place only
        order = [distinct.index(column) for column in columns]
        with text.open() as (file, raw):
            position.append(raw.tell)
            for records in _read(file, text, layout, distinct):
                for start in range(0, len(records.lines), BATCH_ROWS):
                    texts = _texts(records, slice(start, start + BATCH_ROWS))
                    arrays = [texts[place] for place in order]
                    yield pa.RecordBatch.from_arrays(arrays, names=keys)
            position.clear()

    return Source(
        what=what,
        names=names,
        batches=batches,
        share=lambda: position[-1]() / size if position else 1.0,
        places=lambda rows: _lines(text, layout, rows),
        bytes=size * (8 if packed else 1),  # text packs well
    )


def _read(file: Any, text: TextFile, layout: _Layout, columns: Sequence[int]) -> Iterator[_Records]:
    """The records of a file block by block, with the places of the values of some columns."""
    slots = np.full(layout.width, -1, np.int64)
    slots[list(columns)] = np.arange(len(columns))
    path = text.path
    rest, line, final = b"", layout.line, False
    places, lines = np.empty((2, len(columns), 0), np.int32), np.empty(0, np.int64)
    try:
        left = layout.skip
        while left:
            left -= len(file.read(min(left, _BLOCK))) or left
        while not final:
            read = file.read(_BLOCK)
            final = not read
            block = rest + read
            room = len(block) // layout.width + 1  # a record has a byte or more for each column
            if room > len(lines):
                places = np.empty((2, len(columns), room), np.int32)
                lines = np.empty(room, np.int64)
            data = np.frombuffer(block, np.uint8)
            records, used, passed, wrong, where = split_records(
                data, final, layout.delimiter, layout.line_breaks, layout.blanks, LONGEST,
                slots, places[0], places[1], lines,
            )  # fmt: skip
            odd = _not_text(block[:used])
            if odd is not None:
                raise encoding_error(path, line + breaks(block[:odd]))
            if wrong != SOUND:
                raise fault(wrong, path, line + where, layout.line_breaks)
            yield _Records(
                data=data,
                begin=places[0, :, :records],
                end=places[1, :, :records],
                lines=lines[:records],
                line=line,
            )
            rest = block[used:]
            line += passed
    except (OSError, EOFError, zlib.error) as error:
        raise explain(error, path, text.packed) from None


def _texts(records: _Records, rows: slice) -> list[Any]:
    """The values of some rows as Arrow arrays, one for each wanted column."""
    found = []
    for begin, end in zip(records.begin[:, rows], records.end[:, rows], strict=True):
        offsets = np.empty(len(begin) + 1, np.int32)
        content = np.empty(int((end - begin).sum(dtype=np.int64)), np.uint8)
        used = gather(records.data, begin, end, offsets, content)
        parts = [None, pa.py_buffer(offsets), pa.py_buffer(content[:used])]
        found.append(pa.Array.from_buffers(pa.string(), len(begin), parts))
    return found


def _not_text(block: bytes) -> int | None:
    """Where a block first is not text in UTF-8, if it is not."""
    # A value is cut out at ASCII characters, so it is text in UTF-8 if its block is.
    try:
        if not block.isascii():
            block.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start
    return None


def _lines(text: TextFile, layout: _Layout, rows: Sequence[int]) -> list[str]:
    """The lines that rows begin in, found by going over the file again."""
    found = {row: f"row {row + 1}" for row in rows}  # still true if the file has changed
    seen, last = 0, max(rows, default=-1)
    try:
        with text.open() as (file, _):
            for records in _read(file, text, layout, ()):
                for row in found:
                    if seen <= row < seen + len(records.lines):
                        found[row] = f"line {records.line + records.lines[row - seen]}"
                seen += len(records.lines)
                if seen > last:
                    break
    except (OSError, DataError):
        pass
    return [found[row] for row in rows]
