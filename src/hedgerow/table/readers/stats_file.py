"""Files of statistics programs (SPSS, Stata, SAS), read in blocks, value by value.

What kind of file it is follows from its first bytes, which no record has a say in. The type of a
column is declared in the file's own header; every value is handed on with a type of its own, as
the cells of a workbook are. These programs keep dates as numbers, which may lie beyond Python's
calendar: we turn them into days by ourselves.
"""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from hedgerow.errors import DataError, UsageError
from hedgerow.table.readers.source import BATCH_ROWS, Source, check_names
from hedgerow.table.readers.workbook import Day, cells_array

__all__ = ["open_stats_file", "stats_kind"]

_READERS = {
    "SPSS": "read_sav", "Stata": "read_dta", "SAS": "read_sas7bdat", "SAS transport": "read_xport",
}  # fmt: skip


# What a number counts, by its format: which are dates, moments and times, as pyreadstat has it.
_NAME = re.compile(r"([A-Z][A-Z0-9]+[A-Z])(?:\d+(?:\.\d+)?)?")
_SAS = (
    r"WEEKDAT[EX]|(?:MMDDYY|DDMMYY|YYMMDD)[BCDNPS]?|DATE|DTDATE|(?:IS|E|B)8601DA",
    r"DATETIME|(?:IS|E|B)8601DT|B8601DN|DATEAMPM|MDYAMPM",
    r"TIME|HHMM|TOD|TIMEAMPM|(?:IS|E|B)8601TM",
)
_FORMATS = {
    "SPSS": (r"[AEJS]?DATE", r"DATETIME|YMDHMS", r"D?TIME"),
    "Stata": (r"%t?d|%tdD_m_Y|%tdCCYY-NN-DD", r"%t[cC]", r"%tcHH:MM(?::SS)?"),
    "SAS": _SAS,
    "SAS transport": _SAS,
}
_DATE, _MOMENT, _TIME = range(3)
_FARTHEST = (1 << 31) - 1  # days that Arrow can count


def _clock(kind: str, written: str) -> int | None:
    """Whether a column holds dates, moments or times, by its format in the header."""
    name = written
    if kind != "Stata":
        match = _NAME.fullmatch(written)
        name = "" if match is None else match[1]
    for clock, pattern in enumerate(_FORMATS[kind]):
        if re.fullmatch(pattern, name):
            return clock
    return None


def _read_clock(kind: str, clock: int, value: Any) -> Any:
    """What a number means: a day, counted from 1970, or a time of day."""
    if not isinstance(value, (int, float)) or math.isnan(value):
        return value
    per_day = 1 if clock == _DATE and kind != "SPSS" else 86_400_000 if kind == "Stata" else 86_400
    if clock == _TIME:
        if not math.isfinite(value):
            return None
        unit = "milliseconds" if kind == "Stata" else "seconds"
        return (datetime.datetime.min + datetime.timedelta(**{unit: value % per_day})).time()
    origin = datetime.date(1582, 10, 14) if kind == "SPSS" else datetime.date(1960, 1, 1)
    days = value // per_day if math.isfinite(value) else value
    days += origin.toordinal() - datetime.date(1970, 1, 1).toordinal()
    return Day(int(max(-_FARTHEST, min(_FARTHEST, days))))


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

    header = load(metadataonly=True, disable_datetime_conversion=True)[1]
    own, formats = header.column_names, header.original_variable_types
    clocks = [_clock(kind, str(formats.get(name) or "")) for name in own]
    names = check_names(own, what)

    def batches(columns: Sequence[int]) -> Iterator[Any]:
        keys = [str(place) for place in range(len(columns))]
        wanted, first = list(dict.fromkeys(own[column] for column in columns)), 0
        while True:
            data, _ = load(
                usecols=wanted, row_offset=first, row_limit=BATCH_ROWS,
                disable_datetime_conversion=True,
            )  # fmt: skip
            values = [list(data[own[column]]) for column in columns]
            for place, column in enumerate(columns):
                clock = clocks[column]
                if clock is not None:
                    values[place] = [_read_clock(kind, clock, one) for one in values[place]]
            if not values or not values[0]:
                return
            arrays = [cells_array(column) for column in values]
            yield pa.RecordBatch.from_arrays(arrays, names=keys)
            first += len(values[0])

    return Source(what=what, names=names, batches=batches, bytes=path.stat().st_size)
