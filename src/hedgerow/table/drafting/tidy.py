"""The values of a column of private data, as a draft looks at them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from hedgerow.table.encode import MISSING_WORDS, plain_array, text_of

__all__ = ["has_infinite", "once_each", "texts_of", "tidy"]

_FEW = 200  # different texts, up to which their spellings are told


def once_each(name: str, parts: Sequence[Any], people: Any) -> list[Any]:
    """The values of a column, each once for every person who has it.

    Args:
        name: The name of the column.
        parts: Its values, as Arrow arrays.
        people: Who each row is about, as an Arrow array.

    Example:
        >>> [part] = once_each("ward", [pa.array(["a", "a", "b"])], pa.array(["P1", "P1", "P1"]))
        >>> sorted(part.to_pylist())
        ['a', 'b']
    """
    array = _joined(name, parts)
    table = pa.table(
        {"value": array, "who": people, "row": pa.array(range(len(array)), pa.int64())}
    )
    rows = table.group_by(["value", "who"]).aggregate([("row", "min")])["row_min"]
    return [array.take(rows.combine_chunks())]


def texts_of(name: str, parts: Sequence[Any]) -> Any:
    """The values of a column as texts, for comparison alone; null for what is missing."""
    array = _joined(name, parts)
    texts = array if pa.types.is_string(array.type) else array.cast(pa.string())
    trimmed = pc.utf8_trim_whitespace(texts)
    words = pa.array(sorted(MISSING_WORDS), pa.string())
    gone = pc.is_in(pc.utf8_lower(trimmed), value_set=words)
    return pc.if_else(gone, pa.scalar(None, pa.string()), trimmed)


def tidy(name: str, parts: Sequence[Any]) -> tuple[Any, dict[str, tuple[str, int]]]:
    """One array of texts, numbers, booleans or days, with null for what is missing.

    Args:
        name: The name of the column.
        parts: Its values, as Arrow arrays.

    Returns:
        The array, and of few numbers that a file writes otherwise than a schema would (`1.0`, which
        is 1) what they are, by how they are written.

    Example:
        >>> tidy("ill", [pa.array(["1.0", "0.0", "NA", "1.0"])])[1]
        {'1.0': ('1', 2), '0.0': ('0', 1)}
    """
    array = _joined(name, parts)
    if pa.types.is_floating(array.type):
        finite = pc.is_finite(array)
        array = pc.if_else(finite, array.cast(pa.float64()), pa.scalar(None, pa.float64()))
        return _whole_if_possible(array), {}
    if not pa.types.is_string(array.type):
        return array, {}
    written = pc.utf8_trim_whitespace(array)
    texts = texts_of(name, [array])
    # Digits after a leading zero are a code (a post code, say), not a number.
    if pc.any(pc.match_substring_regex(texts, r"^[+-]?0\d")).as_py():
        return texts, {}
    for kind in (pa.int64(), pa.float64(), pa.date32()):
        try:
            cast = texts.cast(kind)
        except pa.ArrowException:
            continue
        if pa.types.is_floating(kind) and not pc.all(pc.is_finite(cast)).as_py():
            continue
        cast = _whole_if_possible(cast) if pa.types.is_floating(kind) else cast
        return cast, _respelt(texts, kind)
    # Beside other words, None may well be one: nothing was measured, nothing was taken.
    return pc.if_else(pc.equal(written, "None"), written, texts), {}


def _joined(name: str, parts: Sequence[Any]) -> Any:
    """One array of all parts, of a plain type."""
    plain = []
    for part in parts:
        array = plain_array(part, name)
        if pa.types.is_dictionary(array.type):
            array = pc.take(array.dictionary, array.indices)
        plain.append(array)
    if not plain:
        return pa.nulls(0)
    array = pa.chunked_array(plain).combine_chunks()
    return pa.concat_arrays(array.chunks) if isinstance(array, pa.ChunkedArray) else array


def _respelt(texts: Any, kind: Any) -> dict[str, tuple[str, int]]:
    """What few numbers are whose texts are not what a schema would write."""
    if not pa.types.is_floating(kind):
        return {}
    counted = pc.value_counts(texts.drop_null())
    distinct, rows = counted.field("values"), counted.field("counts").to_pylist()
    if len(distinct) > _FEW:
        return {}
    numbers = _whole_if_possible(distinct.cast(kind)).to_pylist()
    labels = (text_of(number) or "" for number in numbers)
    return {
        text: (label, number)
        for text, label, number in zip(distinct.to_pylist(), labels, rows, strict=True)
        if text != label
    }


def has_infinite(part: Any) -> bool:
    """Whether an array of numbers has one that is infinite."""
    kind = part.type
    return bool(pa.types.is_floating(kind) and pc.any(pc.is_inf(part.cast(pa.float64()))).as_py())


def _whole_if_possible(array: Any) -> Any:
    try:
        return array.cast(pa.int64(), safe=True)
    except pa.ArrowException:
        return array
