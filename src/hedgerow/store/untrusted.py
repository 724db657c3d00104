"""Files of a stranger: opened without following them anywhere, read with every doubt."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from hedgerow.arrays import Bools, Ints
from hedgerow.errors import ReleaseError

# What a Parquet file claims to hold, told before anything of it is unpacked.
#
# A column of a few bytes can unfold into gigabytes, and some libraries end the whole program over a
# footer that is damaged in an odd way. So the few fields that matter are read here: how many
# numbers each page of each column holds, and how large the page becomes. The footer and the heads
# of pages are in Thrift's compact form: fields with a type and a number, in structs and lists.


Claims = tuple[int, int]
"""The most numbers in any column, and the most bytes that a page unfolds into."""

_MAGIC = b"PAR1"
_MOST_NESTED = 20
_HEAD = 1 << 20  # a page's head is tiny, unless statistics quote a very long text
# the numbers of fields in Parquet's definition
_GROUPS, _GROUP_COLUMNS, _GROUP_ROWS, _META = 4, 1, 3, 3
_VALUES, _PACKED, _DATA_PAGE, _DICTIONARY_PAGE = 5, 7, 9, 11
_UNFOLDED, _FOLDED = 2, 3
_DATA, _DICTIONARY = (5, 8), 7  # kinds of pages; the first field of each is its count


def claims(content: bytes) -> Claims:
    """How much a Parquet file says it holds.

    Raises:
        ValueError: If it is no Parquet file, or one that cannot be followed.

    Example:
        >>> import io, pyarrow as pa, pyarrow.parquet as pq
        >>> sink = io.BytesIO()
        >>> pq.write_table(pa.table({"a": [[1, 2], [3]]}), sink)
        >>> claims(sink.getvalue())[0]
        3
    """
    if len(content) < 12 or content[:4] != _MAGIC or content[-4:] != _MAGIC:
        raise ValueError("no Parquet file")
    size = int.from_bytes(content[-8:-4], "little")
    footer, _ = _Compact(content, max(0, len(content) - 8 - size), len(content) - 8).struct()
    numbers = unfolded = 0
    columns: dict[int, int] = {}
    for group in _list(footer.get(_GROUPS)):
        numbers = max(numbers, _count(group.get(_GROUP_ROWS)))
        for place, column in enumerate(_list(group.get(_GROUP_COLUMNS))):
            count, largest = _pages(content, column[_META])
            columns[place] = columns.get(place, 0) + count
            unfolded = max(unfolded, largest)
    return max(numbers, *columns.values(), 0), unfolded


def _pages(content: bytes, column: dict[int, Any]) -> Claims:
    """The numbers that the pages of a column chunk hold, and the largest page unfolded."""
    starts = [_count(column[key]) for key in (_DICTIONARY_PAGE, _DATA_PAGE) if key in column]
    here = min((start for start in starts if start), default=0)
    end = here + _count(column.get(_PACKED))
    if end > len(content):
        raise ValueError("a column lies beyond the end")
    claimed = _count(column.get(_VALUES))
    numbers = unfolded = 0
    while here < end:
        head, here = _Compact(content, here, min(end, here + _HEAD)).struct()
        unfolded = max(unfolded, _count(head.get(_UNFOLDED)))
        if _DICTIONARY in head:
            claimed = max(claimed, _count(head[_DICTIONARY].get(1)))
        for kind in _DATA:
            if kind in head:
                numbers += _count(head[kind].get(1))
        here += _count(head.get(_FOLDED))
    return max(numbers, claimed), unfolded


def _list(value: Any) -> list[dict[int, Any]]:
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        raise ValueError("no list of structs")
    return value


def _count(value: Any) -> int:
    if not isinstance(value, int) or value < 0:
        raise ValueError("no count")
    return value


class _Compact:
    """Reads Thrift's compact form; texts and what is not asked for are passed over."""

    def __init__(self, content: bytes, here: int, end: int) -> None:
        self.content, self.here, self.end = content, here, end

    def struct(self, depth: int = 0) -> tuple[dict[int, Any], int]:
        """The fields of a struct by number, and where it ends."""
        if depth > _MOST_NESTED:
            raise ValueError("nested too deeply")
        fields: dict[int, Any] = {}
        number = 0
        while kind := self.byte():
            step = kind >> 4
            number = number + step if step else self.whole()
            fields[number] = self.value(kind & 15, depth, field=True)
        return fields, self.here

    def value(self, kind: int, depth: int, field: bool = False) -> Any:
        """A value of a type: whole numbers, structs and lists of these; None for others."""
        if kind in (1, 2) and field:  # a truth value lies in the type itself, save in a list
            return None
        if kind in (1, 2, 3, 7):
            return self.skip(8 if kind == 7 else 1)
        if kind in (4, 5, 6):
            return self.whole()
        if kind == 8:
            return self.skip(self.unsigned())
        if kind in (9, 10):
            head = self.byte()
            size = head >> 4 if head >> 4 < 15 else self.unsigned()
            if size > self.end - self.here:  # every member takes a byte at least
                raise ValueError("a list is longer than the file")
            return [self.value(head & 15, depth + 1) for _ in range(size)]
        if kind == 12:
            return self.struct(depth + 1)[0]
        raise ValueError("an unknown type")

    def byte(self) -> int:
        self.skip(1)
        return self.content[self.here - 1]

    def skip(self, size: int) -> None:
        self.here += size
        if self.here > self.end:
            raise ValueError("cut short")

    def unsigned(self) -> int:
        number = 0
        for shift in range(0, 70, 7):
            byte = self.byte()
            number |= (byte & 127) << shift
            if byte < 128:
                return number
        raise ValueError("a number is too long")

    def whole(self) -> int:
        """A signed number: 0, -1, 1, -2 and so on."""
        number = self.unsigned()
        return number >> 1 ^ -(number & 1)


# Columns of Arrow tables that anybody may have written: read with every doubt.


def broken(subject: str, rule: str) -> ReleaseError:
    """The error for a file or part of a release that does not hold what it should."""
    return ReleaseError(
        f"{subject}: {rule}", hint="Ask whoever published the release for a fresh copy."
    )


def column_of(file: str, table: pa.Table, name: str) -> pa.Array:
    """The column of a name, of which there must be one."""
    if table.column_names.count(name) != 1:
        raise broken(file, f"the column {name!r} is missing or there twice")
    return table.column(name).combine_chunks()


def ints_of(
    file: str,
    table: pa.Table,
    name: str,
    kind: type[Any] = np.int64,
) -> NDArray[Any]:
    """A column of whole numbers that a kind of integer can hold.

    Args:
        file: The file's name, for messages.
        table: The table.
        name: The column's name.
        kind: The kind of integer.
    """
    column = column_of(file, table, name)
    if not pa.types.is_integer(column.type) or column.null_count:
        raise broken(file, f"the column {name!r} must hold whole numbers")
    values = _fill(column)
    limits = np.iinfo(kind)
    if len(values) and (values.min() < limits.min or values.max() > limits.max):
        raise broken(file, f"the column {name!r} holds numbers that are too large")
    return np.asarray(values, kind)


def labels_of(file: str, table: pa.Table, name: str, labels: Sequence[str]) -> Ints:
    """Each label's place in a list, -1 for null; a label that is not in the list is refused."""
    column = column_of(file, table, name)
    # a dictionary stays one: written out, a long text could be repeated for every row
    texts = column.dictionary if pa.types.is_dictionary(column.type) else column
    kind = texts.type
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_null(kind)):
        raise broken(file, f"the column {name!r} must hold text")
    known = {label: place for place, label in enumerate(labels)}
    codes = np.array([known.get(text, -1) for text in texts.to_pylist()], np.int64)
    if pa.types.is_dictionary(column.type):
        codes = np.append(codes, -1)[_fill(column.indices)]
        codes[~_present(column)] = -1
    if (codes < 0).sum() != column.null_count:
        raise broken(file, f"the column {name!r} holds a label that the schema does not know")
    return codes


def _fill(column: pa.Array) -> NDArray[Any]:
    """Whole numbers, 0 for null; Arrow's own way would load all of its functions first."""
    if not column.null_count:
        return np.asarray(column.to_numpy(zero_copy_only=False))
    values = np.frombuffer(column.buffers()[1], column.type.to_pandas_dtype())
    return values[column.offset :][: len(column)] * _present(column)


def _present(column: pa.Array) -> Bools:
    """Where a column is not null."""
    bits = column.buffers()[0]
    if bits is None:
        return np.ones(len(column), np.bool_)
    flags = np.unpackbits(np.frombuffer(bits, np.uint8), bitorder="little")
    return flags[column.offset :][: len(column)].astype(np.bool_)


# Files of a stranger: opened without following them anywhere, unpacked without believing them.
#
# A release may come from anybody. Its files have fixed names and are read only if they are ordinary
# files: a link could lead to a file of the reader's own, and a pipe would never end. A Parquet file
# may claim any number of rows in a few bytes, so that what it claims is compared with its size.


_FREE_NUMBERS = 1 << 22  # so many may be in a column of any file
_NUMBERS_PER_BYTE = 8  # and so many more for each byte; noise cannot be packed half as well
_LARGEST_PAGE = 1 << 28  # bytes; writers begin a new page after one or a few million
_BLOCK = 1 << 20


@contextmanager
def _open(folder: Path, name: str, most: int) -> Iterator[IO[bytes]]:
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
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise broken(name, f"in {folder} this is not an ordinary file")
        if status.st_size > most:
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
    with _open(folder, name, most) as file:
        return file.read(os.fstat(file.fileno()).st_size)


def digest(folder: Path, name: str, most: int) -> str:
    """The SHA-256 of an ordinary file, a little of which is read at a time; see `read_bytes`."""
    hashed = hashlib.sha256()
    with _open(folder, name, most) as file:
        while block := file.read(_BLOCK):
            hashed.update(block)
    return hashed.hexdigest()


def is_sober(content: bytes, written: Any = None) -> bool:
    """Whether a Parquet file claims no more than a file of its size should hold.

    Args:
        content: Its bytes.
        written: Its footer, if Arrow has just written it here, so that it can be believed.

    Raises:
        ValueError: If it is no Parquet file.
    """
    if written is None:
        numbers, unfolded = claims(content)
    else:
        groups = [written.row_group(place) for place in range(written.num_row_groups)]
        columns = [[g.column(place) for g in groups] for place in range(written.num_columns)]
        numbers = max((sum(part.num_values for part in parts) for parts in columns), default=0)
        unfolded = max((p.total_uncompressed_size for parts in columns for p in parts), default=0)
    return numbers <= _most(content) and unfolded <= _LARGEST_PAGE


def _most(content: bytes) -> int:
    return _FREE_NUMBERS + _NUMBERS_PER_BYTE * len(content)


def read_columns(
    name: str,
    content: bytes,
    columns: Sequence[str] = (),
    like: pa.Table | None = None,
    *,
    any_rows: bool = False,
) -> pa.Table:
    """Some columns of a Parquet file: whole numbers, lists of them, and text in dictionaries.

    Other columns are left alone.

    Args:
        name: The file's name, for messages.
        content: Its bytes.
        columns: The columns to read.
        like: A table whose columns, types and number of rows the file must have, all of which is
            then read; no text may be longer than the longest of its column.
        any_rows: Whether it may have another number of rows.

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
    elif not kinds.equals(like.schema) or (
        file.metadata.num_rows != like.num_rows and not any_rows
    ):
        raise broken(name, "it has other columns or rows than it should have")
    wanted = list(columns) if like is None else like.column_names
    try:
        # text as a dictionary: written out, a long one could be repeated for every row
        texts = [text for column in wanted for text in _texts(file, kinds.field(column))]
        file = pq.ParquetFile(pa.BufferReader(content), read_dictionary=texts)
        table = file.read(columns=wanted).select(wanted).unify_dictionaries()
        table.validate(full=True)
        return table if like is None else _write_out(table, like)
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


def _write_out(table: pa.Table, like: pa.Table) -> pa.Table:
    """The table with text as another table has it, if none is longer than there."""
    for place, field in enumerate(like.schema):
        if table.schema.field(place).type == field.type:
            continue
        known = like.column(place)
        flat = [chunk.values if pa.types.is_list(field.type) else chunk for chunk in known.chunks]
        longest = max((len(text or "") for chunk in flat for text in chunk.to_pylist()), default=0)
        chunks = [_decode(chunk, longest) for chunk in table.column(place).chunks]
        table = table.set_column(place, field, pa.chunked_array(chunks, field.type))
    return table


def _decode(array: Any, longest: int) -> pa.Array:
    """Text from a dictionary, or lists of it; Arrow would load all of its functions for that."""
    if pa.types.is_list(array.type):
        if array.null_count:
            raise ValueError("no list")
        return pa.ListArray.from_arrays(array.offsets, _decode(array.values, longest))
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
