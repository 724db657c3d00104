"""Tells whether the names of a table are names, or its first record taken for them."""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from hedgerow.errors import DataError
from hedgerow.table.encode import MISSING_WORDS, plain_array

__all__ = ["check_header"]

_NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)*|[.,]\d+)([eE][+-]?\d+)?%?", re.A)
_DAY = re.compile(r"\d{1,4}([-/.])\d{1,2}\1\d{1,4}([T ].*)?", re.A)
_TRUTHS = frozenset({"true", "false", "yes", "no"})
_SHOWN = 5


def check_header(names: Sequence[str], columns: Sequence[Sequence[Any]], what: str) -> None:
    """Refuses names that look like somebody's record.

    Without a header the first record would be published as the names of the columns. A name is
    suspect if it is a number, a date or a word for a missing value, or if it also stands in its
    own column as a value.

    Args:
        names: The names of the columns.
        columns: The values of each column, as Arrow arrays.
        what: How messages call the source.

    Raises:
        DataError: Says which columns by their places; the names themselves may be private.

    Example:
        >>> check_header(["age", "sex"], [[pa.array([40])], [pa.array(["male"])]], "people.csv")
        >>> check_header(["39", "male"], [[pa.array([40])], [pa.array(["male"])]], "people.csv")
        Traceback (most recent call last):
        ...
        hedgerow.errors.DataError: people.csv: the first line looks like a record, not like the \
names of columns (see columns 1, 2)
        ...
    """
    suspect = [
        place
        for place, (name, parts) in enumerate(zip(names, columns, strict=True), start=1)
        if _is_value(name) or any(_holds(part, name) for part in parts)
    ]
    if not suspect:
        return
    places = ", ".join(str(place) for place in suspect[:_SHOWN])
    more = " and others" if len(suspect) > _SHOWN else ""
    word = "column" if len(suspect) == 1 else "columns"
    raise DataError(
        f"{what}: the first line looks like a record, not like the names of columns "
        f"(see {word} {places}{more})",
        hint="Put a line with the names of the columns before it. If these really are the names "
        "and nobody's values, say so with --trust-header (trust_header=True in Python).",
    )


def _is_value(name: str) -> bool:
    if _NUMBER.fullmatch(name) or _DAY.fullmatch(name):
        return True
    if name.casefold() in MISSING_WORDS:
        return True
    try:
        datetime.datetime.fromisoformat(name)
    except ValueError:
        return False
    return True


def _holds(part: Any, name: str) -> bool:
    """Whether a name is also a value of its column, or both are words for yes and no."""
    array = plain_array(part, name)
    if pa.types.is_dictionary(array.type):
        array = array.dictionary
    if pa.types.is_boolean(array.type):
        return name.casefold() in _TRUTHS
    if not pa.types.is_string(array.type):
        return False
    texts = pc.utf8_trim_whitespace(array)
    if pc.any(pc.equal(texts, name)).as_py():
        return True
    if name.casefold() not in _TRUTHS or len(texts) == texts.null_count:
        return False
    words = pa.array(sorted(_TRUTHS), pa.string())
    folded = pc.utf8_lower(texts.drop_null())
    return bool(pc.all(pc.is_in(folded, value_set=words)).as_py())
