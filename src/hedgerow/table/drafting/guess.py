"""Guesses what a column of private data is, for a draft that a person corrects."""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from hedgerow.schema.lint import label_fault
from hedgerow.table.drafting.guess_people import (
    ASK_ABOUT_ATTRIBUTE,
    ASK_ABOUT_DROPPED,
    People,
    find_people,
    is_code,
    is_doubtful,
)
from hedgerow.table.encode import MISSING_WORDS, plain_array, text_of

__all__ = ["Guess", "guess_column"]

_VALUES = 50  # more distinct values than this do not make a list that a person can check
_TAIL = 0.05  # of the range, if three quarters of the values lie in it: a long tail
_GRID = 2000  # about as many grid points as a draft should have
_TOO_MANY = "It has too many values to list: to publish it, write a taxonomy of them."
_MOST_STRAYS = 0.1  # of the values, that are texts in a column of numbers
_STRAYS = "Some of its values are not numbers: they would be counted as other."
_OTHERS = {"missing": "other", "outside": "other"}
_NUMBER = r"^[+-]?(0|[1-9]\d*)(\.\d+)?$"
_WRITTEN = {  # by the shape that most values have
    _NUMBER: "Most of its values are numbers, and some are not: to publish "
    "it, write {type: numeric, low: ..., high: ..., missing: other, outside: other}.",
    r"^[+-]?\d+,\d+$": "Most of its values have a decimal comma: to publish it as numbers, write "
    "points in the data (1.5 and not 1,5), and {type: numeric, low: ..., high: ..., step: ...}.",
    r"^\d{1,4}[./-]\d{1,2}[./-]\d{1,4}\b": "Most of its values look like dates: to publish it, "
    "write all of them as year-month-day in the data (2024-01-31), and {type: numeric, low: ..., "
    "high: ..., step: 7}.",
}
_BOOLEANS = ({"true", "false"}, {"t", "f"}, {"yes", "no"}, {"y", "n"}, {"1", "0"})


@dataclass(frozen=True, kw_only=True)
class Guess:
    """What a column seems to be.

    Args:
        settings: The keys of its entry in the schema, without values; None for a column that is
            dropped.
        labels: The values, if it has few.
        comment: What a person should know about it.
        people: Why it seems to identify people, if it does.
    """

    settings: Mapping[str, str] | None = None
    labels: Sequence[str] = ()
    comment: str = ""
    people: People | None = None

    @property
    def published(self) -> bool:
        """Whether the column would be part of a release."""
        return self.settings is not None


def guess_column(name: str, parts: Sequence[Any], *, prefer_values: bool = False) -> Guess:
    """Guesses what a column is from its name and values.

    Args:
        name: The name of the column.
        parts: Its values, as Arrow arrays.
        prefer_values: Whether few numbers are taken for labels, as in a class.

    Example:
        >>> guess_column("born", [pa.array(["1980-05-05", "1999-01-01"])]).settings["high"]
        '1999-12-31'
        >>> guess_column("e-mail", [pa.array(["a@example.org"])]).settings is None
        True
    """
    array = _tidy(name, parts)
    present = array.drop_null()
    if not len(present):
        return Guess(comment="It has no values.")
    rules = {"missing": "other"} if array.null_count else {}
    if (numbers := _among(present)) is not None:
        found = guess_column(name, [numbers])
        if found.settings is not None and found.settings["type"] == "numeric":
            told = f"{_STRAYS} {found.comment}".strip()
            return replace(found, settings={**found.settings, **_OTHERS}, comment=told)
    # An infinite number names no category.
    odd = {"outside": "other"} if any(_infinite(part) for part in parts) else {}
    distinct = pc.unique(present)
    labels = sorted({text_of(value) or "" for value in distinct[: _VALUES * 4].to_pylist()})
    folded = {label.casefold() for label in labels}
    if len(folded) <= 2 and any(folded <= pair for pair in _BOOLEANS):
        return Guess(settings={"type": "boolean", **rules, **odd}, labels=("false", "true"))
    people = find_people(name, present, distinct)
    if people is not None:
        way = _written(present) if people.rank == 0 else ""
        return Guess(people=people, comment=f"{way} {people.comment(chosen=False)}".strip())
    doubtful = is_doubtful(name, present, distinct)
    few = len(distinct) <= _VALUES
    code = pa.types.is_integer(present.type) and is_code(name)
    if not pa.types.is_string(present.type) and not code and not (prefer_values and few):
        return _numeric(present, rules, comment=ASK_ABOUT_ATTRIBUTE if doubtful else "")
    if not few:
        way = _written(present) or _TOO_MANY
        return Guess(comment=f"{way} {ASK_ABOUT_DROPPED}" if doubtful else way)
    if any(label_fault(label) is not None for label in labels):
        return Guess(comment="Some value holds a line break or another unseen character.")
    settings = {"type": "categorical", **rules, **odd}
    if "Any" in labels:  # the root of the taxonomy needs a name that no leaf has
        settings["root"] = '"Any value"' if "Any value" not in labels else '"Any value at all"'
    return Guess(settings=settings, labels=labels)


def _tidy(name: str, parts: Sequence[Any]) -> Any:
    """One array of texts, numbers, booleans or days, with null for what is missing."""
    plain = []
    for part in parts:
        array = plain_array(part, name)
        if pa.types.is_dictionary(array.type):
            array = pc.take(array.dictionary, array.indices)
        plain.append(array)
    if not plain:
        return pa.nulls(0)
    array = pa.chunked_array(plain).combine_chunks()
    if isinstance(array, pa.ChunkedArray):
        array = pa.concat_arrays(array.chunks)
    if pa.types.is_floating(array.type):
        finite = pc.is_finite(array)
        array = pc.if_else(finite, array.cast(pa.float64()), pa.scalar(None, pa.float64()))
        return _whole_if_possible(array)
    if not pa.types.is_string(array.type):
        return array
    texts = pc.utf8_trim_whitespace(array)
    words = pa.array(sorted(MISSING_WORDS), pa.string())
    gone = pc.is_in(pc.utf8_lower(texts), value_set=words)
    texts = pc.if_else(gone, pa.scalar(None, pa.string()), texts)
    # Digits after a leading zero are a code (a post code, say), not a number.
    if pc.any(pc.match_substring_regex(texts, r"^[+-]?0\d")).as_py():
        return texts
    for kind in (pa.int64(), pa.float64(), pa.date32()):
        try:
            cast = texts.cast(kind)
        except pa.ArrowException:
            continue
        if pa.types.is_floating(kind) and not pc.all(pc.is_finite(cast)).as_py():
            continue
        return cast
    return texts


def _written(present: Any) -> str:
    """What to do about texts if most of them are numbers or dates, however they are written."""
    if not pa.types.is_string(present.type):
        return ""
    for shape, way in _WRITTEN.items():
        if 2 * (pc.sum(pc.match_substring_regex(present, shape)).as_py() or 0) > len(present):
            return way
    return ""


def _among(present: Any) -> Any:
    """The numbers of a column of many numbers and a few texts; None if it is something else."""
    if not pa.types.is_string(present.type):
        return None
    numbers = pc.filter(present, pc.match_substring_regex(present, _NUMBER))
    strays = len(present) - len(numbers)
    if not strays or strays > _MOST_STRAYS * len(present) or len(pc.unique(numbers)) <= _VALUES:
        return None
    return numbers


def _infinite(part: Any) -> bool:
    kind = part.type
    return bool(pa.types.is_floating(kind) and pc.any(pc.is_inf(part.cast(pa.float64()))).as_py())


def _whole_if_possible(array: Any) -> Any:
    try:
        return array.cast(pa.int64(), safe=True)
    except pa.ArrowException:
        return array


def _numeric(present: Any, rules: Mapping[str, str], comment: str) -> Guess:
    ends = pc.min_max(present).as_py()
    if pa.types.is_date32(present.type):
        low = datetime.date(ends["min"].year, 1, 1)
        high = datetime.date(ends["max"].year, 12, 31)
        days = (high - low).days
        step = 1 if days <= _GRID else 7 if days <= 7 * _GRID else 30
        bounds = {"low": low.isoformat(), "high": high.isoformat(), "step": str(step)}
    else:
        whole = pa.types.is_integer(present.type)
        bounds = _bounds(Decimal(str(ends["min"])), Decimal(str(ends["max"])), whole)
        middle = pc.quantile(present, 0.75)[0].as_py()
        if middle - ends["min"] < _TAIL * (ends["max"] - ends["min"]):
            bounds["scale"] = "log"
    settings = {"type": "numeric", **bounds, "outside": "clip", **rules}
    return Guess(settings=settings, comment=comment)


def _bounds(low: Decimal, high: Decimal, whole: bool) -> dict[str, str]:
    """Round bounds around the data, and a step that makes a grid of moderate size."""
    span = high - low or max(Decimal(1), abs(high).scaleb(-12))  # more than rounding would lose
    span = max(span, Decimal("1e-12"))  # finer steps have more digits than a schema takes
    unit = _round_up(span / 20, whole)
    low = (low / unit).to_integral_value(ROUND_FLOOR) * unit
    high = (high / unit).to_integral_value(ROUND_CEILING) * unit
    if low == high:
        high += unit
    step = _round_up((high - low) / _GRID, whole)

    def show(value: Decimal) -> str:
        if whole:
            return str(int(value))
        digits, _, places = format(value, "f").partition(".")
        # Our schema tells decimals from integers by the point.
        return f"{digits}.{places.rstrip('0') or '0'}"

    return {"low": show(low), "high": show(high), "step": show(step)}


def _round_up(value: Decimal, whole: bool) -> Decimal:
    """The next of ..., 0.1, 0.2, 0.5, 1, 2, 5, 10, ..."""
    power = Decimal(1).scaleb(math.floor(value.log10()))
    found = next(power * digit for digit in (1, 2, 5, 10) if power * digit >= value)
    return max(found, Decimal(1)) if whole else found
