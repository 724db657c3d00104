"""One door for all private input: a path or a frame in, an opened `Source` out."""

from __future__ import annotations

import datetime
import os
import re
from collections.abc import Collection, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from hedgerow.data.database import open_database
from hedgerow.data.encode import MISSING_WORDS, plain_array
from hedgerow.data.frames import Split, open_frame
from hedgerow.data.parquet import Piece, damaged, find_files, open_parquet
from hedgerow.data.source import DUCKDB, Database, Source, is_database, no_file, not_allowed
from hedgerow.data.text import Packed, open_csv, read_archive
from hedgerow.data.workbook import open_stats_file, open_workbook
from hedgerow.errors import DataError, HedgerowError, UsageError
from hedgerow.schema.attributes import PLAIN, Layout

_OLE = b"\xd0\xcf\x11\xe0"
_ZIP = (b"PK\3\4", b"PK\5\6")
_WORKBOOKS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
_GZIP = b"\x1f\x8b"
_PARQUET = b"PAR1"
_TELLING = 32  # bytes that tell the kind of a file


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
    if magic.startswith(_PARQUET):
        return open_parquet([Piece(path=str(path))], str(path))
    packed: Packed = "gzip" if magic.startswith(_GZIP) else ""
    if magic.startswith(_OLE):
        return open_workbook(path, written)
    if magic.startswith(_ZIP):  # and not a column called PKEY
        packed, inside = "zip", read_archive(path)
        if inside is None:
            return open_workbook(path, written)
        if inside.startswith((_PARQUET, _OLE, _GZIP, *_ZIP)):
            raise DataError(
                f"{path}: the file in the zip archive is not a CSV file",
                hint="Unpack the archive, and give the file that is in it.",
            )
    if (kind := stats_kind(magic)) is not None:
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
    """The first bytes of a file, which tell its kind."""
    try:
        if path.exists() and not path.is_file():
            raise DataError(
                f"{path}: this is not a regular file",
                hint="Write the data to a file first; it is read more than once.",
            )
        with path.open("rb") as file:
            return file.read(_TELLING)
    except FileNotFoundError:
        raise no_file(path) from None
    except PermissionError:
        raise not_allowed(path) from None
    except OSError as error:
        raise DataError(
            f"{path}: the file cannot be read ({error.strerror})", hint="Check disk and path."
        ) from None


def stats_kind(start: bytes) -> str | None:
    """The statistics program that wrote a file, by its first bytes; None if it is another one."""
    if start.startswith((b"$FL2@(#)", b"$FL3@(#)")):
        return "SPSS"
    # since version 13, and before it: a version, the order of bytes, and two that are always there
    if start.startswith(b"<stata_dta>") or (
        start[:1] in b"ilnoqrs" and start[1:2] in (b"\1", b"\2") and start[2:4] == b"\1\0"
    ):
        return "Stata"
    if start.startswith(b"\0" * 12 + b"\xc2\xea\x81\x60"):
        return "SAS"
    return "SAS transport" if start.startswith(b"HEADER RECORD*******LIB") else None


# Tells whether the names of a table are names, or its first record taken for them.


_NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)*|[.,]\d+)([eE][+-]?\d+)?%?", re.A)
_DAY = re.compile(r"\d{1,4}([-/.])\d{1,2}\1\d{1,4}([T ].*)?", re.A)
_TRUTHS = frozenset({"true", "false", "yes", "no"})
_SHOWN = 5


def check_header(names: Sequence[str], columns: Sequence[Sequence[Any]], what: str) -> None:
    """Refuses names that look like somebody's record.

    Without a header the first record would be published as the names of the columns. A name is
    suspect if it is a number, a date or a word for a missing value, or if it also stands in its
    own column as a value.

    Args:
        names: The names of the columns.
        columns: The values of each column, as Arrow arrays.
        what: How messages call the source.

    Raises:
        DataError: Says which columns by their places; the names themselves may be private.

    Example:
        >>> check_header(["age", "sex"], [[pa.array([40])], [pa.array(["male"])]], "people.csv")
        >>> check_header(["39", "male"], [[pa.array([40])], [pa.array(["male"])]], "people.csv")
        Traceback (most recent call last):
        ...
        hedgerow.errors.DataError: people.csv: the first line looks like a record, not like the \
names of columns (see columns 1, 2)
        ...
    """
    suspect = [
        place
        for place, (name, parts) in enumerate(zip(names, columns, strict=True), start=1)
        if _is_value(name) or any(_holds(part, name) for part in parts)
    ]
    if not suspect:
        return
    places = ", ".join(str(place) for place in suspect[:_SHOWN])
    more = " and others" if len(suspect) > _SHOWN else ""
    word = "column" if len(suspect) == 1 else "columns"
    raise DataError(
        f"{what}: the first line looks like a record, not like the names of columns "
        f"(see {word} {places}{more})",
        hint="Put a line with the names of the columns before it. If these really are the names "
        "and nobody's values, say so with --trust-header (trust_header=True in Python).",
        places=[("trust_header",), ("file", "header_row")],
    )


def _is_value(name: str) -> bool:
    if _NUMBER.fullmatch(name) or _DAY.fullmatch(name) or name.casefold() in MISSING_WORDS:
        return True
    try:
        datetime.datetime.fromisoformat(name)
    except ValueError:
        return False
    return True


def _holds(part: Any, name: str) -> bool:
    """Whether a name is also a value of its column, or both are words for yes and no."""
    array = plain_array(part, name)
    if pa.types.is_dictionary(array.type):
        array = array.dictionary
    if pa.types.is_boolean(array.type):
        return name.casefold() in _TRUTHS
    if not pa.types.is_string(array.type):
        return False
    texts = pc.utf8_trim_whitespace(array)
    if pc.any(pc.equal(texts, name)).as_py():
        return True
    if name.casefold() not in _TRUTHS or len(texts) == texts.null_count:
        return False
    words = pa.array(sorted(_TRUTHS), pa.string())
    folded = pc.utf8_lower(texts.drop_null())
    return bool(pc.all(pc.is_in(folded, value_set=words)).as_py())


# Whether two tables are one: by where they lie, and by what was read from them.
#
# A public table that stands beside a private one must not be the private one itself, under whatever
# name. This guards against a slip, not against intent: a table with one record more or less is
# another table.


_HINT = (
    "It must be a public table, about other people. Leave it out to have one made from a share of "
    "the budget."
)


def same_source(one: Any, other: Any) -> bool:
    """Whether two sources share a file, a table of a database or a frame. Reads no record.

    Files are told by what they are, not by their names: links and other spellings of a path are
    followed, and a folder or pattern shares what lies in it.

    Example:
        >>> same_source("people.csv", "./people.csv"), same_source("people.csv", "others.csv")
        (True, False)
    """
    return bool(_places(one) & _places(other))


def refuse_same_source(private: Any, public: Any) -> None:
    """Raises if a table that is to be public is, or shares a file with, the private one."""
    if same_source(private, public):
        raise UsageError("The side table is the private table itself.", hint=_HINT)


def same_rows(one: NDArray[Any], other: NDArray[Any]) -> bool:
    """Whether two matrices hold the same rows, each as often, in whatever order.

    Example:
        >>> same_rows(np.array([[1, 2], [3, 4]]), np.array([[3, 4], [1, 2]]))
        True
        >>> same_rows(np.array([[1, 2], [1, 2], [3, 4]]), np.array([[1, 2], [3, 4], [3, 4]]))
        False
    """
    if one.shape != other.shape:
        return False
    if not np.array_equal(one.sum(axis=0, dtype=np.int64), other.sum(axis=0, dtype=np.int64)):
        return False  # which spares most tables the sorting
    return np.array_equal(one[np.lexsort(one.T)], other[np.lexsort(other.T)])


def refuse_same_rows(private: NDArray[Any], public: NDArray[Any]) -> None:
    """Raises if public rows are the private ones, as codes.

    It is the one look at private rows without a mechanism besides the rules of the schema, and
    like theirs its only outcome is that the run stops.

    Args:
        private: Codes of all private records that the rules left.
        public: Codes of the public rows; columns that it lacks are not compared.
    """
    if same_rows(private[:, : public.shape[1]], public):
        raise UsageError("The side table holds the same records as the private table.", hint=_HINT)


def _places(source: Any) -> set[tuple[Any, ...]]:
    """What a source consists of, in terms that do not depend on its spelling."""
    if isinstance(source, Database):
        return _database(source)
    if not isinstance(source, (str, os.PathLike)):
        import narwhals as nw

        return {("frame", id(nw.to_native(source, pass_through=True)))}
    name = os.fsdecode(source)
    if is_database(name):
        return _database(Database(name))
    if not is_many(name):
        return {_file(name)}
    with suppress(HedgerowError):  # whoever reads it will complain
        return {_file(piece.path) for piece in find_files(name)}
    return set()


def _file(name: str) -> tuple[Any, ...]:
    if name.startswith(("file://", "local://")):
        name = unquote(urlsplit(name).path)
    try:
        status = os.stat(name)
    except (OSError, ValueError):
        return "name", name if "://" in name else os.path.abspath(name)
    return "file", status.st_dev, status.st_ino


def _database(database: Database) -> set[tuple[Any, ...]]:
    """A table by its name, a query by its text: what a query reads is not worked out."""
    place: tuple[Any, ...]
    if database.url.startswith(DUCKDB):
        path = unquote(database.url[len(DUCKDB) :])
        there = path if Path(path).exists() else path.lstrip("/")
        place, usual = _file(there), "main."
    else:
        try:
            parts = urlsplit(database.url)
            place = parts.hostname, parts.port or 5432, parts.path, parts.query
        except ValueError:
            place = (database.url,)
        usual = "public."
    if database.table is not None:
        return {("table", *place, database.table.removeprefix(usual))}
    return {("query", *place, " ".join((database.query or "").split()))}
