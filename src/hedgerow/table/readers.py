"""One door for all private input: a path or a frame in, an opened `Source` out."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from hedgerow.errors import DataError
from hedgerow.table.csv_file import open_csv
from hedgerow.table.frames import Split, open_frame
from hedgerow.table.source import BATCH_ROWS, Source, check_names

__all__ = ["magic_of", "open_source"]


def open_source(
    source: Any,
    *,
    known: Collection[str] = (),
    delimiter: str | None = None,
    split: Split | None = None,
) -> Source:
    """Opens a file by its content (not its ending), or a frame.

    Args:
        source: The path of a CSV (also gzipped) or Parquet file, or a frame.
        known: Column names that the schema expects; they help to tell a CSV file's delimiter.
        delimiter: The delimiter of a CSV file, if it is not to be guessed.
        split: Given for transactions: how the items of a text are told apart. A column may
            then hold lists, and a blank line of a CSV file with one column is a record.

    Example:
        >>> open_source("no/such/file.csv")
        Traceback (most recent call last):
        hedgerow.errors.DataError: no/such/file.csv: there is no such file
          Check the path; it is taken from the folder you are in.
    """
    if not isinstance(source, (str, os.PathLike)):
        return open_frame(source, split=split)
    path = Path(os.fsdecode(source))
    magic = magic_of(path)
    if magic[:4] == b"PAR1":
        return _open_parquet(path)
    if magic[:2] == b"PK":
        raise DataError(
            f"{path}: this is a spreadsheet or a zip archive",
            hint="Export the sheet as CSV UTF-8, or unpack the archive, and give that file.",
        )
    if path.suffix.lower() in (".parquet", ".pq") and magic:
        raise _damaged_parquet(path)
    return open_csv(
        path,
        gzipped=magic[:2] == b"\x1f\x8b",
        known=known,
        delimiter=delimiter,
        blank_records=split is not None,
    )


def magic_of(path: Path) -> bytes:
    """The first four bytes of a file, which tell its kind."""
    try:
        if path.is_dir():
            raise DataError(
                f"{path}: this is a folder, not a file", hint="Give the path of one file in it."
            )
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


def _damaged_parquet(path: Path) -> DataError:
    return DataError(
        f"{path}: the Parquet file is damaged or cut short",
        hint="Copy or download it again, or write it anew.",
    )


def _open_parquet(path: Path) -> Source:
    import pyarrow.parquet as pq

    try:
        columns = pq.read_schema(path)
        # Text arrives as a dictionary, so that only the distinct values have to be looked up.
        texts = [
            field.name
            for field in columns
            if pa.types.is_string(field.type) or pa.types.is_large_string(field.type)
        ]
        file = pq.ParquetFile(path, read_dictionary=texts, page_checksum_verification=True)
    except (pa.ArrowException, OSError, ValueError):
        raise _damaged_parquet(path) from None
    names = check_names(columns.names, str(path))
    total = file.metadata.num_rows
    done = [0]

    def batches(wanted: Sequence[int]) -> Iterator[Any]:
        wanted_names = [columns.names[place] for place in wanted]
        try:
            with file:
                for batch in file.iter_batches(batch_size=BATCH_ROWS, columns=wanted_names):
                    batch.validate(full=True)  # damage can hide in what still decodes
                    # The file's order wins over the order asked for: put the columns right.
                    yield batch.select(wanted_names)
                    done[0] += batch.num_rows
        except (pa.ArrowException, OSError, ValueError):
            raise _damaged_parquet(path) from None

    return Source(str(path), names, batches, capacity=total, share=lambda: done[0] / max(1, total))
