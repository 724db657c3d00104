"""Files of a stranger: opened without following them anywhere, unpacked without believing them.

A release may come from anybody. Its files have fixed names and are read only if they are ordinary
files: a link could lead to a file of the reader's own, and a pipe would never end. A Parquet file
may claim any number of rows in a few bytes, so that what it claims is compared with its size.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.parquet as pq

from hedgerow.store.parquet_footer import claims
from hedgerow.store.validation import broken

__all__ = ["digest", "is_sober", "read_bytes", "read_columns"]

_FREE_NUMBERS = 1 << 22  # so many may be in a column of any file
_NUMBERS_PER_BYTE = 8  # and so many more for each byte; noise cannot be packed half as well
_LARGEST_PAGE = 1 << 28  # bytes; writers begin a new page after one or a few million
_BLOCK = 1 << 20


@contextmanager
def _opened(folder: Path, name: str, most: int) -> Iterator[IO[bytes]]:
    """An ordinary file of a folder, open for reading.

    Raises:
        ReleaseError: If it is missing, no ordinary file, or larger than may be.
        OSError: If the system refuses.
    """
    path = folder / name
    # where the system knows these flags there is no moment between looking and opening
    flags = os.O_RDONLY
    for flag in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY", "O_CLOEXEC"):
        flags |= getattr(os, flag, 0)
    try:
        if path.is_symlink():
            raise broken(name, f"in {folder} this is a link, which could lead to any file")
        handle = os.open(path, flags)
    except FileNotFoundError:
        raise broken(name, f"this file is missing from {folder}") from None
    with open(handle, "rb") as file:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            raise broken(name, f"in {folder} this is not an ordinary file")
        if found.st_size > most:
            raise broken(name, "this file is larger than any release's")
        yield file


def read_bytes(folder: Path, name: str, most: int) -> bytes:
    """The content of an ordinary file.

    Args:
        folder: Where it lies.
        name: Its name.
        most: How large it may be.

    Raises:
        ReleaseError: If it is missing, no ordinary file, or larger than may be.
        OSError: If the system refuses.
    """
    with _opened(folder, name, most) as file:
        return file.read(os.fstat(file.fileno()).st_size)


def digest(folder: Path, name: str, most: int) -> str:
    """The SHA-256 of an ordinary file, a little of which is read at a time; see `read_bytes`."""
    found = hashlib.sha256()
    with _opened(folder, name, most) as file:
        while block := file.read(_BLOCK):
            found.update(block)
    return found.hexdigest()


def is_sober(content: bytes) -> bool:
    """Whether a Parquet file claims no more than a file of its size should hold.

    Raises:
        ValueError: If it is no Parquet file.
    """
    numbers, unfolded = claims(content)
    return numbers <= _most(content) and unfolded <= _LARGEST_PAGE


def _most(content: bytes) -> int:
    return _FREE_NUMBERS + _NUMBERS_PER_BYTE * len(content)


def read_columns(
    name: str, content: bytes, columns: Sequence[str] = (), like: pa.Table | None = None
) -> pa.Table:
    """Some columns of a Parquet file: whole numbers, lists of them, and text in dictionaries.

    Other columns are left alone.

    Args:
        name: The file's name, for messages.
        content: Its bytes.
        columns: The columns to read.
        like: A table whose columns, types and number of rows the file must have, all of which is
            then read.

    Raises:
        ReleaseError: If it is no Parquet file, claims more than a file of its size can hold, or
            has other columns.
    """
    try:
        sober = is_sober(content)
        file = pq.ParquetFile(pa.BufferReader(content))
        sober, kinds = sober and file.metadata.num_rows <= _most(content), file.schema_arrow
    except Exception:  # whatever a foreign library makes of a stranger's bytes
        raise broken(name, "this is not a readable Parquet file") from None
    if not sober:
        raise broken(name, "this file claims to hold more than any release does")
    if like is None:
        for column in columns:
            if kinds.names.count(column) != 1:
                raise broken(name, f"the column {column!r} is missing or there twice")
            if not _is_plain(kinds.field(column).type):
                raise broken(name, f"the column {column!r} must hold whole numbers or text")
    elif not kinds.equals(like.schema) or file.metadata.num_rows != like.num_rows:
        raise broken(name, "it has other columns or rows than it should have")
    wanted = list(columns) if like is None else like.column_names
    try:
        # text as a dictionary: written out, a long one could be repeated for every row
        texts = [text for column in wanted for text in _texts(file, kinds.field(column))]
        file = pq.ParquetFile(pa.BufferReader(content), read_dictionary=texts)
        table = file.read(columns=wanted).select(wanted).unify_dictionaries()
        table.validate(full=True)
        return table if like is None else _written_out(table, like)
    except Exception:
        raise broken(name, "this is not a readable Parquet file") from None


def _texts(file: Any, field: Any) -> list[str]:
    """How a Parquet file calls the texts of a column: a list has them one level further down."""
    if _is_text(field.type):
        return [field.name]
    if not pa.types.is_list(field.type) or not _is_text(field.type.value_type):
        return []
    paths = (file.schema.column(number).path for number in range(len(file.schema)))
    return [path for path in paths if path.startswith(f"{field.name}.")]


def _written_out(table: pa.Table, like: pa.Table) -> pa.Table:
    """The table with text as another table has it, if none is longer than there."""
    for place, field in enumerate(like.schema):
        if table.schema.field(place).type == field.type:
            continue
        known = like.column(place)
        flat = [chunk.values if pa.types.is_list(field.type) else chunk for chunk in known.chunks]
        longest = max((len(text or "") for chunk in flat for text in chunk.to_pylist()), default=0)
        chunks = [_decoded(chunk, longest) for chunk in table.column(place).chunks]
        table = table.set_column(place, field, pa.chunked_array(chunks, field.type))
    return table


def _decoded(array: Any, longest: int) -> pa.Array:
    """Text from a dictionary, or lists of it; Arrow would load all of its functions for that."""
    if pa.types.is_list(array.type):
        if array.null_count:
            raise ValueError("no list")
        return pa.ListArray.from_arrays(array.offsets, _decoded(array.values, longest))
    labels = array.dictionary.to_pylist()
    if any(len(label or "") > longest for label in labels):
        raise ValueError("a longer text")
    texts = (None if code is None else labels[code] for code in array.indices.to_pylist())
    return pa.array(texts, array.type.value_type)


def _is_text(kind: Any) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _is_plain(kind: Any) -> bool:
    """Whether a type is one of those that releases are made of."""
    if pa.types.is_list(kind):
        kind = kind.value_type
    return bool(pa.types.is_integer(kind) or pa.types.is_null(kind)) or _is_text(kind)
