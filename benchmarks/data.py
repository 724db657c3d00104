"""The data that benchmarks measure on: `papers.data`, with words for a terminal.

Besides `--data` and HEDGEROW_DATA, `../shared/data` beside the checkout is looked at.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import pyarrow as pa

from hedgerow.errors import DataError
from papers import data
from papers.data import packaged

__all__ = ["ADULT_SCHEMA", "add_data_option", "adult", "find_folder", "packaged"]

ADULT_SCHEMA = data.ADULT_SCHEMA


def add_data_option(parser: argparse.ArgumentParser) -> None:
    """Gives a benchmark its option `--data`."""
    parser.add_argument(
        "--data", type=Path, metavar="DIR", help="where data files lie (or set HEDGEROW_DATA)"
    )


def find_folder(given: Path | None = None) -> Path | None:
    """The folder with data files, or None if there is none. A folder that was named must exist."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    try:
        return data.find_folder(given) or (beside if beside.is_dir() else None)
    except DataError as error:
        sys.exit(str(error))


def adult(given: Path | None = None, *, complete: bool = True) -> pa.Table:
    """UCI Adult as an Arrow table, in the order of the original files."""
    try:
        return data.adult(find_folder(given), complete=complete)
    except DataError as error:
        sys.exit(str(error))
