"""Parquet: one file, many, or a partitioned folder, here or on any filesystem of fsspec."""

from __future__ import annotations

import glob
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow as pa

from hedgerow.data.source import (
    BATCH_ROWS,
    Source,
    check_names,
    load_package,
    no_file,
    not_allowed,
)
from hedgerow.errors import DataError

# Parquet: one file, many, or a partitioned folder, here or on any filesystem that fsspec knows.
#
# Every value is read by itself: the files of one table may hold a column in different types, and a
# partition's value (`.../year=2020/...`) is text like a CSV file's, whatever other folders say.


_ENDINGS = (".parquet", ".pq")
_NOBODY = "__HIVE_DEFAULT_PARTITION__"  # how folders are called where the value is missing
_BUFFER = 1 << 22  # a column of a large row group is read bit by bit


@dataclass(frozen=True, kw_only=True)
class Piece:
    """A file, or some row groups of it; another process can open it again.

    Args:
        path: The file, or its address.
        constants: The columns that the file's folders tell, with their one value.
        groups: The row groups, or None for all of them.
        rows: How many rows it has.
    """

    path: str
    constants: tuple[tuple[str, str | None], ...] = ()
    groups: tuple[int, ...] | None = None
    rows: int = 0


def find_files(source: str) -> list[Piece]:
    """The Parquet files that a folder, a pattern or an address stands for, by name.

    Example:
        >>> find_files("no/such/*.parquet")
        Traceback (most recent call last):
        hedgerow.errors.DataError: no/such/*.parquet: there is no such file
          Check the path; it is taken from the folder you are in.
    """
    if "://" in source:
        base, paths = _remote(source)
    elif Path(source).is_dir():
        base = source
        paths = [str(path) for path in Path(source).rglob("*") if path.is_file()]
    else:
        base = _plain_part(source)
        paths = [path for path in glob.glob(source, recursive=True) if Path(path).is_file()]
        if not paths:
            raise no_file(source)
    pieces = []
    for path in sorted(paths):
        parts = path[len(base) :].replace("\\", "/").split("/")
        hidden = any(part.startswith((".", "_")) and "=" not in part for part in parts)
        if path.lower().endswith(_ENDINGS) and not hidden:
            pairs = [part.partition("=") for part in parts[:-1]]  # such as `year=2020`
            constants = tuple(
                (unquote(name), None if value == _NOBODY else unquote(value))
                for name, sign, value in pairs
                if sign and name
            )
            pieces.append(Piece(path=path, constants=constants))
    if not pieces and len(paths) == 1 and "://" in source:
        return [Piece(path=paths[0])]  # whatever it is called
    if not pieces:
        raise DataError(
            f"{source}: this is a folder or pattern without a Parquet file",
            hint="Files must end with .parquet. Give a CSV file by its own name.",
        )
    return pieces


def _remote(source: str) -> tuple[str, list[str]]:
    filesystem, path = _filesystem(source)
    try:
        if any(sign in path for sign in "*?["):
            paths = filesystem.glob(path)
        elif filesystem.isdir(path):
            paths = filesystem.find(path)
        else:
            paths = [path] if filesystem.exists(path) else []
    except Exception as error:  # whatever a foreign library raises may quote a key
        raise _unreachable(source, error) from None
    if not paths:
        raise no_file(source, "Check the address.")
    base = filesystem.unstrip_protocol(_plain_part(path))
    return base, [filesystem.unstrip_protocol(path) for path in paths]


def _plain_part(pattern: str) -> str:
    """The folders of a pattern before its first sign.

    Example:
        >>> _plain_part("visits/year=20*/x?.parquet")
        'visits/'
    """
    signs = [pattern.index(sign) for sign in "*?[" if sign in pattern]
    return pattern[: pattern.rfind("/", 0, min(signs)) + 1] if signs else pattern


def _filesystem(source: str) -> tuple[Any, str]:
    core = load_package("fsspec.core", f"{source}: reading from this address", "dask")
    try:
        filesystem, path = core.url_to_fs(source)
    except Exception as error:
        raise _unreachable(source, error) from None
    return filesystem, str(path)


def _unreachable(source: str, error: Exception) -> DataError:
    kind = source.split("://")[0]
    return DataError(
        f"the address {kind}://... cannot be read ({type(error).__name__})",
        hint="Check the address, your rights, and that the package for this kind of address is "
        "installed (s3fs for s3, gcsfs for gs, adlfs for az).",
    )


def damaged(path: str | Path) -> DataError:
    """What to say of a file that cannot be read."""
    return DataError(
        f"{path}: the Parquet file is damaged or cut short",
        hint="Copy or download it again, or write it anew.",
    )


def open_piece(piece: Piece) -> Any:
    """Opens the file of a piece; text arrives as a dictionary, so that it is looked up once."""
    import pyarrow.parquet as pq

    where: Any = piece.path
    try:
        if "://" in piece.path:
            filesystem, path = _filesystem(piece.path)
            where = filesystem.open(path, "rb")
        columns = pq.ParquetFile(where).schema_arrow
        texts = [
            field.name
            for field in columns
            if pa.types.is_string(field.type) or pa.types.is_large_string(field.type)
        ]
        if "://" in piece.path:
            where.seek(0)
        return pq.ParquetFile(
            where, read_dictionary=texts, page_checksum_verification=True, buffer_size=_BUFFER
        )
    except FileNotFoundError:
        hint = "Check the path. All workers of a cluster must be able to open it."
        raise no_file(piece.path, hint) from None
    except PermissionError:
        raise not_allowed(piece.path) from None
    except (pa.ArrowException, OSError, ValueError):
        raise damaged(piece.path) from None


def read_piece(piece: Piece, wanted: Sequence[str], threads: bool = True) -> Iterator[Any]:
    """Batches of the wanted columns, in that order.

    Args:
        piece: What to read.
        wanted: The columns by their names without spaces around them.
        threads: Whether columns are decoded side by side.
    """
    told = dict(piece.constants)
    with open_piece(piece) as file:
        spelt = {name.strip(): name for name in file.schema_arrow.names}
        inside = [spelt[name] for name in wanted if name in spelt]
        try:
            for batch in file.iter_batches(
                batch_size=BATCH_ROWS, columns=inside, row_groups=piece.groups, use_threads=threads
            ):
                batch.validate(full=True)  # damage can hide in what still decodes
                yield pa.RecordBatch.from_arrays(
                    [
                        batch.column(spelt[name])
                        if name in spelt
                        else _constant(told[name], batch.num_rows)
                        for name in wanted
                    ],
                    names=list(wanted),
                )
        except (pa.ArrowException, OSError, ValueError):
            raise damaged(piece.path) from None


def _constant(value: str | None, rows: int) -> Any:
    if value is None:
        return pa.nulls(rows)
    return pa.DictionaryArray.from_arrays(pa.repeat(pa.scalar(0, pa.int32()), rows), [value])


def open_parquet(pieces: Sequence[Piece], what: str) -> Source:
    """Opens files that together are one table.

    Args:
        pieces: The files.
        what: How messages call the table.
    """
    counted: list[Piece] = []
    names: tuple[str, ...] = ()
    split: list[Piece] = []
    for piece in pieces:
        with open_piece(piece) as file:
            own = check_names(file.schema_arrow.names, piece.path)
            told = [name for name, _ in piece.constants if name not in own]
            here = check_names([*own, *told], piece.path)
            names = names or here
            if set(here) != set(names):
                raise DataError(
                    f"{piece.path}: its columns are not those of the other files",
                    hint="Give files of one table, with the same columns and partitions.",
                )
            metadata = file.metadata
            counted.append(replace(piece, rows=metadata.num_rows))
            split += [
                replace(piece, groups=(group,), rows=metadata.row_group(group).num_rows)
                for group in range(metadata.num_row_groups)
            ]
    ends = list(accumulate(piece.rows for piece in counted))

    def batches(wanted: Sequence[int]) -> Iterator[Any]:
        for piece in counted:
            yield from read_piece(piece, [names[place] for place in wanted])

    def places(rows: Sequence[int]) -> list[str]:
        words = []
        for row in rows:
            number = min(bisect_right(ends, row), len(counted) - 1)
            file = "" if len(counted) == 1 else f"{counted[number].path} "
            words.append(f"{file}row {row - ends[number] + counted[number].rows + 1}")
        return words

    return Source(
        what=what,
        names=names,
        batches=batches,
        capacity=ends[-1],
        places=places,
        pieces=tuple(split),
    )
