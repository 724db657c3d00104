"""One door for all private input: a path or a frame in, an opened `Source` out."""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path
from typing import Any

from hedgerow.errors import DataError
from hedgerow.schema.attributes import PLAIN, Layout
from hedgerow.table.readers.database import Database, is_database, open_database
from hedgerow.table.readers.frames import Split, open_frame
from hedgerow.table.readers.parquet import Piece, damaged, find_files, open_parquet
from hedgerow.table.readers.source import Source
from hedgerow.table.readers.stats_file import open_stats_file, stats_kind
from hedgerow.table.readers.text.csv_file import open_csv
from hedgerow.table.readers.text.unpacked import Packed, archived
from hedgerow.table.readers.workbook import open_workbook

__all__ = ["is_many", "magic_of", "open_source"]

_OLE = b"\xd0\xcf\x11\xe0"
_ZIP = (b"PK\3\4", b"PK\5\6")
_WORKBOOKS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
_GZIP = b"\x1f\x8b"
_PARQUET = b"PAR1"


def open_source(
    source: Any,
    *,
    known: Collection[str] = (),
    delimiter: str | None = None,
    line_breaks: bool = False,
    written: Layout = PLAIN,
    split: Split | None = None,
) -> Source:
    """Opens a file by its content (not its ending), or a frame.

    Args:
        source: The path of a CSV (also gzipped or zipped) file, a workbook or a Parquet file, a
            folder or pattern of Parquet
            files, the address of such, a `Database`, or a frame.
        known: Column names that the schema expects; they help to tell a CSV file's delimiter.
        delimiter: The delimiter of a CSV file, if its first line is not to tell it.
        line_breaks: Whether quoted values of a CSV file may hold line breaks; without it a record
            is a line.
        written: What the schema declares about the file.
        split: Given for transactions: how the items of a text are told apart. A column may
            then hold lists, and a blank line of a CSV file with one column is a record.

    Example:
        >>> open_source("no/such/file.csv")
        Traceback (most recent call last):
        hedgerow.errors.DataError: no/such/file.csv: there is no such file
          Check the path; it is taken from the folder you are in.
    """
    if isinstance(source, Database):
        return open_database(source)
    if not isinstance(source, (str, os.PathLike)):
        return open_frame(source, split=split)
    name = os.fsdecode(source)
    if is_database(name):
        return open_database(Database(name))
    path = Path(name)
    if is_many(name):
        return open_parquet(find_files(name), name)
    magic = magic_of(path)
    if magic == _PARQUET:
        return open_parquet([Piece(path=str(path))], str(path))
    packed: Packed = "gzip" if magic.startswith(_GZIP) else ""
    if magic == _OLE:
        return open_workbook(path, written)
    if magic in _ZIP:  # and not a column called PKEY
        packed, inside = "zip", archived(path)
        if inside is None:
            return open_workbook(path, written)
        if inside.startswith((_PARQUET, _OLE, _GZIP, *_ZIP)):
            raise DataError(
                f"{path}: the file in the zip archive is not a CSV file",
                hint="Unpack the archive, and give the file that is in it.",
            )
    kind = stats_kind(path)
    if kind is not None:
        return open_stats_file(path, kind)
    if path.suffix.lower() in _WORKBOOKS and magic:
        raise DataError(
            f"{path}: its name says that it is a workbook, and it is none",
            hint="Give it a name that ends in .csv if it is a CSV file, or save it again.",
        )
    if path.suffix.lower() in (".parquet", ".pq") and magic:
        raise damaged(path)
    return open_csv(
        path,
        packed=packed,
        written=written,
        known=known,
        delimiter=delimiter,
        line_breaks=line_breaks,
        blank_records=split is not None,
    )


def is_many(name: str) -> bool:
    """Whether an address or many files are meant: a folder, or a pattern that is no file's name."""
    path = Path(name)
    try:
        many = path.is_dir() or (any(sign in name for sign in "*?[") and not path.exists())
    except OSError:
        many = False
    return many or "://" in name


def magic_of(path: Path) -> bytes:
    """The first four bytes of a file, which tell its kind."""
    try:
        if path.exists() and not path.is_file():
            raise DataError(
                f"{path}: this is not a regular file",
                hint="Write the data to a file first; it is read more than once.",
            )
        with path.open("rb") as file:
            return file.read(4)
    except FileNotFoundError:
        raise DataError(
            f"{path}: there is no such file",
            hint="Check the path; it is taken from the folder you are in.",
        ) from None
    except PermissionError:
        raise DataError(
            f"{path}: you are not allowed to read this file",
            hint="Ask its owner for the right to read it.",
        ) from None
    except OSError as error:
        raise DataError(
            f"{path}: the file cannot be read ({error.strerror})", hint="Check disk and path."
        ) from None
