"""Files of statistics programs (SPSS, Stata, SAS), read in blocks, value by value.

What kind of file it is follows from its first bytes, which no record has a say in. The type of a
column is declared in the file's own header; every value is handed on with a type of its own, as
the cells of a workbook are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from hedgerow.errors import DataError, UsageError
from hedgerow.table.readers.source import BATCH_ROWS, Source, check_names
from hedgerow.table.readers.workbook import cells_array

__all__ = ["open_stats_file", "stats_kind"]

_READERS = {
    "SPSS": "read_sav", "Stata": "read_dta", "SAS": "read_sas7bdat", "SAS transport": "read_xport",
}  # fmt: skip


def stats_kind(path: Path) -> str | None:
    """The statistics program that wrote a file; None if it is none of those that are known."""
    with path.open("rb") as file:
        start = file.read(32)
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


def open_stats_file(path: Path, kind: str) -> Source:
    """Opens a file of a statistics program.

    Args:
        path: The file.
        kind: What `stats_kind` says of it.

    Raises:
        DataError: If it cannot be read.
    """
    try:
        import pyreadstat
    except ImportError:
        raise UsageError(
            f"{path}: this is a {kind} file, which needs the package pyreadstat",
            hint=f"Install it with: pip install 'hedgerow[stats]'. Or export the data as CSV in "
            f"{kind.split()[0]}, or with `write_csv(haven::read_...)` in R, and give that file.",
        ) from None
    what, reader = str(path), getattr(pyreadstat, _READERS[kind])

    def load(**how: Any) -> Any:
        try:
            return reader(what, output_format="dict", **how)
        except MemoryError:
            raise
        except Exception:  # what a foreign library raises may quote a value
            raise DataError(
                f"{path}: the {kind} file is damaged, or of a version that cannot be read",
                hint="Open it in the program that wrote it and export the data as CSV.",
            ) from None

    own = load(metadataonly=True)[1].column_names
    names = check_names(own, what)

    def batches(columns: Sequence[int]) -> Iterator[Any]:
        keys = [str(place) for place in range(len(columns))]
        wanted, first = list(dict.fromkeys(own[column] for column in columns)), 0
        while True:
            data, _ = load(usecols=wanted, row_offset=first, row_limit=BATCH_ROWS)
            values = [list(data[own[column]]) for column in columns]
            if not values or not values[0]:
                return
            arrays = [cells_array(column) for column in values]
            yield pa.RecordBatch.from_arrays(arrays, names=keys)
            first += len(values[0])

    return Source(what=what, names=names, batches=batches, bytes=path.stat().st_size)
