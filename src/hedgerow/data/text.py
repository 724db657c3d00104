"""Text files and CSV files: their bytes as UTF-8, their first line, their records and faults."""

from __future__ import annotations

import codecs
import gzip
import os
import re
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, Any, Literal

import numpy as np
import pyarrow as pa

from hedgerow.arrays import Bytes, Ints, Small
from hedgerow.compiled import kernel
from hedgerow.data.source import BATCH_ROWS, Source, batch_of, check_names, not_allowed
from hedgerow.errors import DataError, UsageError
from hedgerow.schema.attributes import PLAIN, Encoding, Layout

# What can be wrong with a text file, in words that name lines and never what stands there.


LONGEST = 1 << 26  # bytes of a record; without a bound one record could fill the memory
SOUND, OPEN, QUOTE, RAGGED, LONG = range(5)


def open_binary(path: Path, gzipped: bool) -> Any:
    """Opens a file for its bytes, unpacked."""
    return gzip.open(path, "rb") if gzipped else path.open("rb")


def breaks(block: bytes) -> int:
    """The number of line breaks: LF, CRLF or CR."""
    return block.count(b"\n") + block.count(b"\r") - block.count(b"\r\n")


def find_odd(block: bytes) -> int | None:
    """Where a block first is not text in UTF-8, if it is not."""
    # A value is cut out at ASCII characters, so it is text in UTF-8 if its block is.
    try:
        if not block.isascii():
            block.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start
    return None


def fault(kind: int, path: Path, line: int, line_breaks: bool) -> DataError:
    """What to say of a record that cannot be told apart from others, or not taken apart."""
    if kind == LONG:
        return too_long(path, line)
    if kind == OPEN and not line_breaks:
        return DataError(
            f"{path}, line {line}: a quotation mark opens a value that does not end in this line",
            hint="Close the value with another quotation mark, or write the mark twice inside "
            "quotation marks if it belongs to the value. If values of this file really hold line "
            "breaks, say so with --line-breaks (line_breaks=True in Python).",
        )
    if kind == OPEN:
        return DataError(
            f"{path}: the file ends inside a quoted value, which was opened in line {line}",
            hint="Close the value with another quotation mark.",
        )
    if kind == QUOTE:
        return DataError(
            f"{path}, line {line}: a quotation mark stands where none may stand in a file with "
            "line breaks in its values",
            hint="A value that holds a quotation mark, a delimiter or a line break must stand in "
            "quotation marks, with those inside it doubled. Look for one that is not closed in "
            "the lines before.",
        )
    return DataError(
        f"{path}, line {line}: the record has more or fewer fields than the first line has names",
        hint="Put a value that holds the delimiter in quotes, look for a quote that is not "
        "closed, or name the delimiter if the first line does not tell it (--delimiter, "
        "delimiter=). If a title stands above the names, tell their line: --header-row 2 with "
        "`hedgerow init`, and `header_row: 2` below `file:` in a schema.",
        places=[("delimiter",), ("file", "header_row")],
    )


def misnamed(path: Path, kind: str, ending: str) -> DataError:
    """The complaint about a file whose name and content contradict each other."""
    return DataError(
        f"{path}: this seems to be {kind}, and its name says otherwise",
        hint=f"Give it a name that ends in {ending} if that is what it is, and only then.",
    )


def too_long(path: Path, line: int) -> DataError:
    """The complaint about a record that would fill the memory."""
    return DataError(
        f"{path}, line {line}: the record is longer than 64 MiB",
        hint="Look for a line break that is missing or a quotation mark that is not closed.",
    )


def explain(error: Exception, path: Path, packed: str | bool) -> DataError:
    """Turns a reader's complaint, which may quote a record, into ours."""
    if isinstance(error, PermissionError):
        return not_allowed(path)
    if packed:
        kind, tool = ("zip archive", "unzip") if packed == "zip" else ("gzip file", "gzip")
        return DataError(
            f"{path}: the {kind} is damaged or cut short",
            hint=f"Copy or download it again; `{tool} -t` tells whether it is whole.",
        )
    return DataError(
        f"{path}: the file cannot be read as CSV", hint="Open it in an editor and look at it."
    )


def encoding_error(path: Path, line: int, encoding: str = "utf-8") -> DataError:
    """The complaint about a file that is not encoded as it should be."""
    return DataError(
        f"{path}, line {line}: the text is not encoded in {encoding.upper()}",
        hint="Save the file as UTF-8; spreadsheets call it 'CSV UTF-8'. Or tell how it is "
        "encoded: `hedgerow init --encoding cp1252`, or `encoding: cp1252` below `file:` in a "
        "schema.",
        places=[("file", "encoding")],
    )


# The bytes of a text file as UTF-8: unpacked from gzip or zip, and from other encodings.
#
# All of it is done in blocks, so a large file needs little memory. How a file is encoded is
# declared, or told by a byte order mark in front of the header; no record has a say in it. In the
# encodings of one byte a character (Latin-1, cp1252) every byte is read by itself. In UTF-16 every
# character has two or four bytes: if a record had an odd number of bytes, the file would have one
# too, since without it the number was even, and a file that ends inside a character is refused.


Packed = Literal["", "gzip", "zip"]

_BLOCK = 1 << 22
_SHOWN = 5
_MARKS = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}


@dataclass(frozen=True)
class TextFile:
    """A text file, and how it is to be unpacked.

    Args:
        path: The file.
        packed: How it is compressed, if it is.
        encoding: How its text is encoded.
    """

    path: Path
    packed: Packed = ""
    encoding: str = "utf-8"

    @contextmanager
    def open(self) -> Iterator[tuple[Any, IO[bytes]]]:
        """Gives the text in UTF-8, to be read in blocks, and the file as it lies on the disk."""
        with self.path.open("rb", buffering=0) as raw:
            file: Any = raw
            if self.packed == "gzip":
                file = gzip.GzipFile(fileobj=raw)
            elif self.packed == "zip":
                file = _Member(raw)
            yield (file if self.encoding == "utf-8" else _Recoded(self, file)), raw


class _Member:
    """The only file in an archive."""

    def __init__(self, raw: IO[bytes]) -> None:
        try:
            archive = zipfile.ZipFile(raw)
            self._file = archive.open(_members(archive)[0])
        except Exception:  # a damaged archive makes the library raise nearly anything
            raise OSError from None

    def read(self, size: int) -> bytes:
        try:
            return self._file.read(size)
        except Exception:
            raise OSError from None


class _Recoded:
    """A text in another encoding, as UTF-8."""

    def __init__(self, told: TextFile, file: Any) -> None:
        self._told, self._file = told, file
        self._decoder: Any = codecs.getincrementaldecoder(told.encoding)()
        self._ready, self._last, self._ended, self._lines = b"", b"", False, 1

    def read(self, size: int) -> bytes:
        while len(self._ready) < size and not self._ended:
            block = self._file.read(_BLOCK)
            self._ended = not block
            try:
                text = self._decoder.decode(block, final=self._ended)
            except UnicodeDecodeError as error:
                sound = error.object[: error.start].decode(self._told.encoding)
                line = self._lines + breaks(sound.encode())
                raise encoding_error(self._told.path, line, self._told.encoding) from None
            more = text.encode()
            half = self._last == b"\r" and more.startswith(b"\n")  # of a CRLF
            self._lines += breaks(more) - half
            self._ready, self._last = self._ready + more, more[-1:] or self._last
        block, self._ready = self._ready[:size], self._ready[size:]
        return block


def find_encoding(path: Path, packed: Packed, declared: Encoding | None) -> str:
    """The encoding of a file: what is declared, or what its byte order mark says.

    Raises:
        DataError: If the two contradict each other.
    """
    with TextFile(path, packed).open() as (file, _):
        start = file.read(3)
    marked = _MARKS.get(start[:2])
    if declared is None:
        return marked or "utf-8"
    if declared == "utf-16" and marked is None:
        raise DataError(
            f"{path}: `encoding: utf-16` is declared, and there is no byte order mark",
            hint="Declare `encoding: utf-16-le` (most often) or `encoding: utf-16-be`.",
        )
    known = marked or ("utf-8" if start == codecs.BOM_UTF8 else None)
    if known is not None and known != declared and not (marked and declared == "utf-16"):
        raise DataError(
            f"{path}: `encoding: {declared}` is declared, and the file begins with the byte order "
            f"mark of {known.upper()}",
            hint=f"Remove the line from the schema, or declare `encoding: {known}`.",
        )
    return known or declared


def _members(archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    """The files in an archive, without what macOS adds to them."""
    return [
        one
        for one in archive.infolist()
        if not one.is_dir() and not one.filename.startswith("__MACOSX/")
    ]


def read_archive(path: Path) -> bytes | None:
    """The first bytes of the only file in a zip archive; None if the archive is a workbook.

    Raises:
        DataError: If the archive is damaged or encrypted, or holds more than one file.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            names = set(archive.namelist())
            if {"xl/workbook.xml", "xl/workbook.bin", "content.xml"} & names:
                return None
            members = _members(archive)
            if len(members) == 1 and not members[0].flag_bits & 1:
                with archive.open(members[0]) as file:
                    return file.read(8)
    except Exception:
        raise DataError(
            f"{path}: the zip archive or workbook is damaged, or packed in an unusual way",
            hint="Copy or download it again, or unpack it and give the file that is in it.",
        ) from None
    if len(members) == 1:
        raise DataError(
            f"{path}: the zip archive is encrypted",
            hint="Unpack it with its password and give the file that is in it.",
        )
    shown = ", ".join(repr(one.filename) for one in members[:_SHOWN])
    more = (f": {shown}" * bool(members)) + (", ..." if members[_SHOWN:] else "")
    raise DataError(
        f"{path}: the zip archive holds {len(members) or 'no'} files{more}",
        hint="Give an archive with exactly one file in it, or unpack it and give one of its files.",
    )


# The first line of a CSV file: the names of the columns, and what stands between them.
#
# It is public, and the only place that is looked at to tell how the file is to be read: what
# records hold has no say in that.


DELIMITERS = ",;\t|"
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
    between = re.escape(delimiter or "\0")  # which no text holds
    field = re.compile(rf'(?:"((?:[^"]|"")*)"(?!"))?([^{between}]*)')
    values: list[str] = []
    place = 0
    while place <= len(line):
        match = field.match(line, place)
        if match is None or (match[1] is None and match[2].startswith('"')):
            return None
        values.append((match[1] or "").replace('""', '"') + match[2])
        place = match.end() + 1
    return values


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
    merits = {}
    for delimiter in DELIMITERS:
        names = split_line(line, delimiter) or []
        merits[delimiter] = len({name.strip() for name in names}.intersection(known)), len(names)
    best = max(merits, key=merits.__getitem__)
    return best if merits[best][1] > 1 else None


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
    start = b""
    while more := file.read(_LONGEST + 2 - len(start)):  # of a CRLF, both
        start += more
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise encoding_error(path, 1)
    first, end, size = _bounds(start, line_breaks, header_row)
    if end > _LONGEST:
        raise DataError(
            f"{path}: the first line does not end",
            hint="The first line must hold the names of the columns.",
        )
    content, number = start[first:end], breaks(start[:first]) + 1
    if b"\0" in content:
        raise DataError(
            f"{path}: this is not a text file",
            hint="Give a CSV file (plain, gzipped or zipped), a workbook or a Parquet file. If it "
            "is text in UTF-16 without a byte order mark, declare `encoding: utf-16-le` or "
            "`encoding: utf-16-be` below `file:` in the schema.",
            places=[("file", "encoding")],
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
            places=[("file", "header_row")],
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
    between = re.escape(delimiter or "\0")
    name = f'(?:"(?:[^"]|"")*"|[^"{between}]*)'
    return re.fullmatch(f"{name}(?:{between}{name})*", line) is not None


def _bounds(start: bytes, line_breaks: bool, row: int | None) -> tuple[int, int, int]:
    """Where the line with the names begins and ends, and where the next one begins."""
    first = len(codecs.BOM_UTF8) if start.startswith(codecs.BOM_UTF8) else 0
    if row is None:
        first = len(start) - len(start[first:].lstrip(b"\r\n"))
    else:
        for line_break in islice(_BREAKS.finditer(start), row - 1):
            first = line_break.end()
    inside = False
    for sign in _SIGNS.finditer(start, first):
        if sign[0] == b'"':
            inside ^= True
        elif not (inside and line_breaks):
            return first, sign.start(), sign.end()
    return first, len(start), len(start)


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
