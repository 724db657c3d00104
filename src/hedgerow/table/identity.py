"""Whether two tables are one: by where they lie, and by what was read from them.

A public table that stands beside a private one must not be the private one itself, under whatever
name. This guards against a slip, not against intent: a table with one record more or less is
another table.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import HedgerowError, UsageError
from hedgerow.table.readers.choose import is_many
from hedgerow.table.readers.database import Database, is_database
from hedgerow.table.readers.parquet import find_files

__all__ = ["refuse_same_rows", "refuse_same_source", "same_rows", "same_source"]

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
        return {("frame", id(_native(source)))}
    name = os.fsdecode(source)
    if is_database(name):
        return _database(Database(name))
    if not is_many(name):
        return {_file(name)}
    with suppress(HedgerowError):  # whoever reads it will complain
        return {_file(piece.path) for piece in find_files(name)}
    return set()


def _native(source: Any) -> Any:
    import narwhals as nw

    return nw.to_native(source, pass_through=True)


def _file(name: str) -> tuple[Any, ...]:
    if name.startswith(("file://", "local://")):
        name = unquote(urlsplit(name).path)
    try:
        found = os.stat(name)
    except (OSError, ValueError):
        return "name", name if "://" in name else os.path.abspath(name)
    return "file", found.st_dev, found.st_ino


def _database(database: Database) -> set[tuple[Any, ...]]:
    """A table by its name, a query by its text: what a query reads is not worked out."""
    place: tuple[Any, ...]
    if database.url.startswith("duckdb://"):
        path = unquote(database.url[len("duckdb://") :])
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
