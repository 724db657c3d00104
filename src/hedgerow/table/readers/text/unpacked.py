"""The bytes of a text file as UTF-8: unpacked from gzip or zip, and from other encodings.

All of it is done in blocks, so a large file needs little memory. How a file is encoded is declared,
or told by a byte order mark in front of the header; no record has a say in it. In the encodings of
one byte a character (Latin-1, cp1252) every byte is read by itself. In UTF-16 every character has
two or four bytes: if a record had an odd number of bytes, the file would have one too, since
without it the number was even, and a file that ends inside a character is refused.
"""

from __future__ import annotations

import codecs
import gzip
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Literal

from hedgerow.errors import DataError
from hedgerow.schema.attributes import Encoding
from hedgerow.table.readers.text.faults import breaks, encoding_error

__all__ = ["Packed", "TextFile", "archived", "find_encoding"]

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
        found, self._ready = self._ready[:size], self._ready[size:]
        return found


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


def archived(path: Path) -> bytes | None:
    """The first bytes of the only file in a zip archive; None if the archive is a workbook.

    Raises:
        DataError: If the archive is damaged or encrypted, or holds more than one file.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            names = set(archive.namelist())
            if {"xl/workbook.xml", "xl/workbook.bin", "content.xml"} & names:
                return None
            found = _members(archive)
            if len(found) == 1 and not found[0].flag_bits & 1:
                with archive.open(found[0]) as file:
                    return file.read(8)
    except Exception:
        raise DataError(
            f"{path}: the zip archive or workbook is damaged, or packed in an unusual way",
            hint="Copy or download it again, or unpack it and give the file that is in it.",
        ) from None
    if len(found) == 1:
        raise DataError(
            f"{path}: the zip archive is encrypted",
            hint="Unpack it with its password and give the file that is in it.",
        )
    more = ", ..." if found[_SHOWN:] else ""
    shown = ", ".join(repr(one.filename) for one in found[:_SHOWN]) + more
    raise DataError(
        f"{path}: the zip archive holds {len(found) or 'no'} files" + (f": {shown}" * bool(found)),
        hint="Give an archive with exactly one file in it, or unpack it and give one of its files.",
    )
