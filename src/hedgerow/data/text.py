"""Text files: their bytes as UTF-8, their first line, and what can be wrong with them."""

from __future__ import annotations

import codecs
import gzip
import re
import zipfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, Any, Literal

from hedgerow.data.source import not_allowed
from hedgerow.errors import DataError
from hedgerow.schema.attributes import Encoding

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

_BLOCK = 1 << 20
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
