"""CSV files: plain, gzipped or zipped, any usual delimiter, taken apart in blocks."""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from hedgerow.arrays import Bytes, Ints, Small
from hedgerow.compiled import kernel
from hedgerow.data.source import BATCH_ROWS, Source, batch_of, check_names
from hedgerow.data.text import (
    LONG,
    LONGEST,
    OPEN,
    QUOTE,
    RAGGED,
    SOUND,
    Packed,
    TextFile,
    breaks,
    encoding_error,
    explain,
    fault,
    find_encoding,
    find_header,
    find_odd,
)
from hedgerow.errors import DataError, UsageError
from hedgerow.schema.attributes import PLAIN, Layout

# The loops that take the bytes of a CSV file apart: into records, and records into values.
#
# Where a record ends must not depend on what other records hold, or one of them could swallow its
# neighbors. There are two sets of rules.
#
# **A record is a line** (the default): LF, CRLF or CR end it, wherever they stand. A quotation mark
# opens a quoted value at the start of a field alone; inside, a doubled one stands for itself; what
# follows the closing one is taken as it is. A line that ends inside a quoted value is a fault.
# Every line is begun in the same state, so no line has a say in how another is read.
#
# **Line breaks in values** (to be asked for): a quotation mark may stand only where a field begins,
# doubled inside a quoted value, or at its end, before a delimiter, a line break or the end of the
# file (RFC 4180). Anything else is a fault, and so is a file that ends inside a quoted value.
# *Proof that records are independent.* Under these rules every quotation mark toggles between
# inside and outside (a doubled one does so twice), so whether a byte is inside follows from the
# number of marks before it being odd. The first line keeps to the rules too (`find_header`), so it
# holds an even number of marks. Put more bytes between two records. If their number of marks is
# even, all other bytes stay inside or outside as they were, so all other records begin and end
# where they did. If it is odd, the number of all marks is odd, since it was even before: the file
# then ends inside a quoted value, which is a fault, unless another fault came first. A fault stops
# the run.


Places = Small

_MARK, _LF, _CR = 34, 10, 13
_FEW = 1 << 19  # bytes that Python goes through one by one


def _split(
    data: Bytes,
    final: bool,
    delimiter: int,
    line_breaks: bool,
    blanks: bool,
    longest: int,
    slots: Ints,
    begin: Places,
    end: Places,
    lines: Ints,
) -> tuple[int, int, int, int, int]:
    """`split_records` by NumPy, for lines in which nothing is odd; all others by Python."""
    special = np.flatnonzero((data == _MARK) | (data == _LF) | (data == _CR) | (data == delimiter))
    kind = data[special]
    mark = kind == _MARK
    inside = np.logical_xor.accumulate(mark)  # of a quoted value, after each of these bytes
    around = np.pad(data, 1, constant_values=_LF)  # what is beside a mark
    beside = np.concatenate([around[special[mark & inside]], around[special[mark & ~inside] + 2]])
    odd = not np.isin(beside, [_MARK, _LF, _CR, delimiter]).all()
    odd |= bool((inside & ~mark & (kind != delimiter)).any() or (final and inside[-1:].any()))
    outside = ~mark & ~inside
    stops, kind = special[outside], kind[outside]
    if not final and len(stops) and stops[-1] == len(data) - 1 and kind[-1] == _CR:
        stops, kind = stops[:-1], kind[:-1]  # it may be half of a CRLF
    half = np.flatnonzero((kind == _LF) & (around[stops] == _CR))
    first = np.delete(np.concatenate([[0], stops + 1]), half)
    stops, kind = np.delete(stops, half), np.delete(kind, half)
    if final and (first[-1] < len(data) or (kind[-1:] == delimiter).any()):
        stops, kind = np.append(stops, len(data)), np.append(kind, _LF)
    ends = np.flatnonzero(kind != delimiter)
    fields = np.diff(ends, prepend=-1)
    blank = (fields == 1) & (first[ends] == stops[ends]) & (not blanks)
    starts = first[np.concatenate([[0], ends[:-1] + 1])] if len(ends) else ends
    used = len(data) if final else int(first[ends[-1] + 1]) if len(ends) else 0
    odd |= bool((fields[~blank] != len(slots)).any() or len(data) - used > longest)
    if line_breaks or odd or (stops[ends] - starts > longest).any():
        settings = (final, delimiter, line_breaks, blanks, longest)
        loop = split_records.python if len(data) <= _FEW else split_records.compiled
        return loop(data, *settings, slots, begin, end, lines)
    kept = np.repeat(~blank, fields)
    many = len(kept)
    wanted = np.flatnonzero(slots >= 0)
    records = int(len(ends) - blank.sum())
    shape = (records, len(slots))
    begin[slots[wanted], :records] = first[:many][kept].reshape(shape)[:, wanted].T
    end[slots[wanted], :records] = stops[:many][kept].reshape(shape)[:, wanted].T
    lines[:records] = np.flatnonzero(~blank)
    return records, used, len(ends), SOUND, 0


@kernel(
    steps=lambda data, final, delimiter, line_breaks, *_: (
        200 + len(data) // (2 if line_breaks else 50)
    ),
    small=_split,
)
def split_records(
    data: Bytes,
    final: bool,
    delimiter: int,
    line_breaks: bool,
    blanks: bool,
    longest: int,
    slots: Ints,
    begin: Places,
    end: Places,
    lines: Ints,
) -> tuple[int, int, int, int, int]:
    """Finds the records of a block, and where the values of the wanted columns stand in it.

    Args:
        data: Bytes that begin where a record does.
        final: Whether the file ends with them.
        delimiter: The byte between fields, or -1 if there is a single one.
        line_breaks: Whether values may hold line breaks.
        blanks: Whether a blank line is a record, of one empty field.
        longest: The most bytes of a record.
        slots: For each column its place among the wanted ones, or -1.
        begin: [wanted, records], takes where each value begins, with its quotation mark.
        end: Takes where each value ends.
        lines: Takes the line that each record begins in, from 0.

    Returns:
        The number of records, the bytes and lines they take up, a fault or SOUND, and the line of
        the fault. What is left over is a record whose end is not in the block.
    """
    size = len(data)
    records = 0
    used = 0
    seen = 0  # lines before `used`
    while used < size:
        place = used
        line = seen
        fields = 0
        blank = data[used] == _LF or data[used] == _CR
        while True:
            first = place
            if place < size and data[place] == _MARK:
                opened = line
                place += 1
                while True:
                    while place < size and data[place] != _MARK:
                        if data[place] == _LF or data[place] == _CR:
                            if not line_breaks:
                                return records, used, seen, OPEN, opened
                            crlf = data[place] == _LF and data[place - 1] == _CR  # broke already
                            line += 0 if crlf else 1
                        place += 1
                    if place == size:
                        if final:
                            return records, used, seen, OPEN, opened
                        if place - used > longest:
                            return records, used, seen, LONG, seen
                        return records, used, seen, SOUND, 0
                    place += 1  # a mark: the last one, or the first of two
                    if place < size and data[place] == _MARK:
                        place += 1
                        continue
                    break
                if line_breaks and place < size and data[place] not in (delimiter, _LF, _CR):
                    return records, used, seen, QUOTE, line
            while place < size and data[place] not in (delimiter, _LF, _CR):
                if line_breaks and data[place] == _MARK:
                    return records, used, seen, QUOTE, line
                place += 1
            if fields < len(slots) and slots[fields] >= 0:
                begin[slots[fields], records] = first
                end[slots[fields], records] = place
            fields += 1
            if place < size and data[place] == delimiter:
                place += 1
                continue
            break
        if place - used > longest:
            return records, used, seen, LONG, seen
        if place == size:
            if not final:
                return records, used, seen, SOUND, 0
        else:
            if data[place] == _CR:
                if place + 1 == size and not final:  # it may be half of a CRLF
                    return records, used, seen, SOUND, 0
                if place + 1 < size and data[place + 1] == _LF:
                    place += 1
            place += 1
        if not blank or blanks:
            if fields != len(slots):
                return records, used, seen, RAGGED, seen
            lines[records] = seen
            records += 1
        used = place
        seen = line + 1
    return records, used, seen, SOUND, 0


def _copy_plain(data: Bytes, begin: Places, end: Places, offsets: Places, content: Bytes) -> int:
    """`copy_values` by NumPy, where no mark stands inside of a quoted value; else by Python."""
    marks = (begin < end) & (data[np.minimum(begin, len(data) - 1)] == _MARK)
    first, last = begin + marks, np.maximum(begin + marks, end - marks)
    offsets[0] = 0
    np.cumsum(last - first, out=offsets[1:])
    used = int(offsets[-1])
    content[:used] = data[np.arange(used) + np.repeat(first - offsets[:-1], last - first)]
    if marks.any() and ((content[:used] == _MARK).any() or (data[end - 1][marks] != _MARK).any()):
        loop = copy_values.python if used <= _FEW else copy_values.compiled
        return loop(data, begin, end, offsets, content)
    return used


@kernel(steps=lambda data, begin, end, offsets, content: 50 + len(content) // 30, small=_copy_plain)
def copy_values(data: Bytes, begin: Places, end: Places, offsets: Places, content: Bytes) -> int:
    """Copies the values of a column side by side, quoted ones without their marks.

    Args:
        data: The bytes of a block.
        begin: Where each value begins.
        end: Where it ends.
        offsets: Takes where each value begins in the copy, and where the last one ends.
        content: Takes the copy.

    Returns:
        The bytes of the copy.
    """
    used = 0
    for value in range(len(begin)):
        offsets[value] = used
        place = begin[value]
        stop = end[value]
        if place < stop and data[place] == _MARK:
            place += 1
            while place < stop:
                if data[place] == _MARK:
                    place += 1
                    if place == stop or data[place] != _MARK:
                        break
                content[used] = data[place]
                used += 1
                place += 1
        while place < stop:
            content[used] = data[place]
            used += 1
            place += 1
    offsets[len(begin)] = used
    return used


# CSV files: plain, gzipped or zipped, any usual delimiter, read as text in blocks.
#
# Every column is read as text; what a text means is for the schema to say. How records are told
# apart is said above; what the columns and the delimiter are is told by the first line alone.


_BLOCK = 1 << 22


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
            places=[("delimiter",)],
        )
    if not isinstance(line_breaks, bool):
        raise UsageError(
            "line_breaks must be True or False", hint="Leave it out if a record is a line."
        )
    what = str(path)
    try:
        text = TextFile(path, packed, find_encoding(path, packed, written.encoding))
        with text.open() as (file, _):
            header = find_header(file, path, line_breaks, delimiter, known, written.header_row)
    except (OSError, EOFError, zlib.error) as error:
        raise explain(error, path, packed) from None
    names = check_names(header.names, what)
    blanks = blank_records and len(names) == 1
    sign = -1 if header.delimiter is None else ord(header.delimiter)
    size = max(1, os.path.getsize(path))
    position: list[Callable[[], int]] = []

    def read(file: Any, columns: Sequence[int]) -> Iterator[tuple[Bytes, Places, Places, Ints]]:
        """The records of the file block by block.

        Yields:
            The bytes of a block, which are there until the next one is read; where the values of
            some columns begin and end in it, each [columns, records]; the line that each record
            begins in.
        """
        slots = np.full(len(names), -1, np.int64)
        slots[list(columns)] = np.arange(len(columns))
        rest, line, final = b"", header.lines + 1, False
        places, lines = np.empty((2, len(columns), 0), np.int32), np.empty(0, np.int64)
        try:
            left = header.size
            while left:
                left -= len(file.read(min(left, _BLOCK))) or left
            while not final:
                more = file.read(_BLOCK)
                final = not more
                block = rest + more
                room = len(block) // len(slots) + 1  # a record has a byte or more for each column
                if room > len(lines):
                    places = np.empty((2, len(columns), room), np.int32)
                    lines = np.empty(room, np.int64)
                data = np.frombuffer(block, np.uint8)
                records, used, passed, wrong, where = split_records(
                    data, final, sign, line_breaks, blanks, LONGEST, slots, places[0], places[1],
                    lines,
                )  # fmt: skip
                odd = find_odd(block[:used])
                if odd is not None:
                    raise encoding_error(path, line + breaks(block[:odd]))
                if wrong != SOUND:
                    raise fault(wrong, path, line + where, line_breaks)
                yield data, places[0, :, :records], places[1, :, :records], line + lines[:records]
                rest = block[used:]
                line += passed
        except (OSError, EOFError, zlib.error) as error:
            raise explain(error, path, packed) from None

    def batches(columns: Sequence[int]) -> Iterator[Any]:
        distinct = list(dict.fromkeys(columns))  # a value is found for one place only
        order = [distinct.index(column) for column in columns]
        with text.open() as (file, raw):
            position.append(raw.tell)
            for data, begin, end, lines in read(file, distinct):
                for start in range(0, len(lines), BATCH_ROWS):
                    rows = slice(start, start + BATCH_ROWS)
                    values = zip(begin[:, rows], end[:, rows], strict=True)
                    texts = [_text_array(data, *ends) for ends in values]
                    yield batch_of([texts[place] for place in order])
            position.clear()

    def places(rows: Sequence[int]) -> list[str]:
        """The lines that rows begin in, found by going over the file again."""
        words = {row: f"row {row + 1}" for row in rows}  # still true if the file has changed
        seen, last = 0, max(rows, default=-1)
        with suppress(OSError, DataError), text.open() as (file, _):
            for *_, lines in read(file, ()):
                for row in words:
                    if seen <= row < seen + len(lines):
                        words[row] = f"line {lines[row - seen]}"
                seen += len(lines)
                if seen > last:
                    break
        return [words[row] for row in rows]

    return Source(
        what=what,
        names=names,
        batches=batches,
        position=lambda: position[-1]() / size if position else 1.0,
        places=places,
        bytes=size * (8 if packed else 1),  # text packs well
    )


def _text_array(data: Bytes, begin: Places, end: Places) -> Any:
    """The values of a column as an Arrow array."""
    offsets = np.empty(len(begin) + 1, np.int32)
    content = np.empty(int((end - begin).sum(dtype=np.int64)), np.uint8)
    used = copy_values(data, begin, end, offsets, content)
    parts = [None, pa.py_buffer(offsets), pa.py_buffer(content[:used])]
    return pa.Array.from_buffers(pa.string(), len(begin), parts)
