"""What can be wrong with a text file, in words that name lines and never what stands there."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

from hedgerow.errors import DataError

__all__ = [
    "LONG",
    "LONGEST",
    "OPEN",
    "QUOTE",
    "RAGGED",
    "SOUND",
    "breaks",
    "encoding_error",
    "explain",
    "fault",
    "misnamed",
    "open_binary",
    "too_long",
]

LONGEST = 1 << 26  # bytes of a record; without a bound one record could fill the memory
SOUND, OPEN, QUOTE, RAGGED, LONG = range(5)


def open_binary(path: Path, gzipped: bool) -> Any:
    """Opens a file for its bytes, unpacked."""
    return gzip.open(path, "rb") if gzipped else path.open("rb")


def breaks(block: bytes) -> int:
    """The number of line breaks: LF, CRLF or CR."""
    return block.count(b"\n") + block.count(b"\r") - block.count(b"\r\n")


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
        return DataError(
            f"{path}: you are not allowed to read this file",
            hint="Ask its owner for the right to read it.",
        )
    if packed == "zip":
        return DataError(
            f"{path}: the zip archive is damaged or cut short",
            hint="Copy or download it again; `unzip -t` tells whether it is whole.",
        )
    if packed:
        return DataError(
            f"{path}: the gzip file is damaged or cut short",
            hint="Copy or download it again; `gzip -t` tells whether it is whole.",
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
    )
