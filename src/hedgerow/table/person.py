"""Several rows per person: a public cap, kept by a rule that looks at one person alone."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from hedgerow.arrays import Bools, Ints, Small, Words
from hedgerow.table.encode import MISSING_WORDS, plain_array

__all__ = [
    "cap_rows",
    "first_rows",
    "id_digests",
    "new_key",
    "person_ids",
    "person_numbers",
    "row_hash",
]

_MIX = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB  # the multipliers of the splitmix64 finaliser


def person_ids(array: Any, column: str) -> tuple[Any, Bools]:
    """The ids of a column in the one form that identifies people, and which rows have one.

    Files and batches may hold the same id in different types, so every id has one text, whatever
    its type: a whole number its digits, other numbers the shortest that tells them apart, a time
    its ISO form, text itself without outer spaces, in NFC. The array holds these texts, or
    64-bit integers that stand for theirs.

    A row without an id cannot be counted towards anybody's cap, so it is left out.

    Example:
        >>> ids, known = person_ids(pa.array([" ann ", "", None, "bob"]), "patient")
        >>> ids.to_pylist()[0], known.tolist()
        ('ann', [True, False, False, True])
        >>> person_ids(pa.array([-0.0, 7.0, 0.5]), "patient")[0].to_pylist()
        ['0', '7', '0.5']
    """
    array = _one_form(_plain(array, column))
    if pa.types.is_string(array.type):
        words = pa.array(sorted(MISSING_WORDS), pa.string())
        missing = pc.or_kleene(pc.is_null(array), pc.is_in(pc.utf8_lower(array), value_set=words))
    else:
        missing = pc.is_null(array)
    return array, ~missing.to_numpy(zero_copy_only=False)


def person_numbers(people: Sequence[Any]) -> Small:
    """A number for each row that identifies people, from the ids of all batches in turn.

    Args:
        people: What `person_ids` gave for each batch, at least one.

    Example:
        >>> parts = [pa.array([7, 8]), pa.array([7.0, 0.5])]
        >>> person_numbers([person_ids(ids, "patient")[0] for ids in parts]).tolist()
        [0, 1, 0, 2]
    """
    if len({ids.type for ids in people}) > 1:
        people = [ids.cast(pa.string()) for ids in people]
    numbers = pa.chunked_array(people).dictionary_encode().combine_chunks().indices
    found: Small = numbers.to_numpy(zero_copy_only=False)
    return found


def _plain(array: Any, column: str) -> Any:
    """The array without wrappings; types that plain arrays would round are left as they are."""
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    if pa.types.is_dictionary(array.type):
        array = pc.take(array.dictionary, array.indices)
    kind = array.type
    exact = pa.types.is_decimal(kind) or pa.types.is_floating(kind)
    if exact or pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        return array
    return plain_array(array, column)


def _one_form(array: Any) -> Any:
    """Ids as texts, or as 64-bit integers whose digits are their texts."""
    types, kind = pa.types, array.type
    if types.is_string(kind):
        return pc.utf8_trim_whitespace(pc.utf8_normalize(array, form="NFC"))
    if types.is_uint64(kind):
        return array.cast(pa.string())
    if types.is_integer(kind):
        return array.cast(pa.int64())
    if types.is_floating(kind):
        return _floats(array)
    if types.is_decimal(kind):
        return _by_text(array, lambda values: [_trimmed(f"{v:f}") for v in values.to_pylist()])
    if types.is_timestamp(kind) or types.is_date(kind):
        unit = "D" if types.is_date32(kind) else "ms" if types.is_date64(kind) else kind.unit
        return _by_text(array, lambda values: _moments(values, unit))
    return array.cast(pa.string())  # booleans, and what has no value at all


def _floats(array: Any) -> Any:
    own = array.type.to_pandas_dtype()  # the shortest text is that of the number's own width
    wide = array.cast(pa.float64())
    wide = pc.if_else(pc.is_nan(wide), pa.scalar(None, wide.type), wide)
    size = pc.abs(wide)
    small = pc.and_(pc.less(size, 2.0**53), pc.equal(wide, pc.trunc(wide)))
    if pc.all(small).as_py() is not False:  # whole numbers, as pandas holds them beside gaps
        return wide.cast(pa.int64())
    return _by_text(wide, lambda values: [_float_text(own(v)) for v in values.to_pylist()])


def _float_text(value: Any) -> str:
    if not np.isfinite(value):
        return str(value)
    if value == np.trunc(value):
        return str(int(value))  # also of -0, and of numbers that are too large for integers
    return _trimmed(np.format_float_positional(value))


def _trimmed(text: str) -> str:
    """A decimal number without zeros at its end.

    Example:
        >>> _trimmed("7.00"), _trimmed("70"), _trimmed("0.50")
        ('7', '70', '0.5')
    """
    return text.rstrip("0").rstrip(".") if "." in text else text


def _moments(values: Any, unit: str) -> list[str]:
    """Moments in ISO form without zeros at the end, so that neither unit nor type shows."""
    whole = values.cast(pa.int32() if unit == "D" else pa.int64()).to_numpy()
    texts = np.datetime_as_string(whole.astype(np.int64).view(f"datetime64[{unit}]"))
    return [_trimmed(text).removesuffix("T00:00:00") for text in texts.tolist()]


def _by_text(array: Any, texts: Callable[[Any], list[str]]) -> Any:
    """The texts of an array's values, each value looked at once."""
    distinct = array.dictionary_encode()
    return pc.take(pa.array(texts(distinct.dictionary), pa.string()), distinct.indices)


def cap_rows(codes: NDArray[np.unsignedinteger[Any]], person: NDArray[Any], max_rows: int) -> Ints:
    """The rows to keep: at most `max_rows` of each person.

    Which rows of a person stay depends on that person's rows alone, and not on their order in the
    file. They are ranked by a fixed, public hash of their codes: ranking by the codes themselves
    would always keep the smallest values.

    Args:
        codes: The rows.
        person: A number for each row that identifies people.
        max_rows: The public cap.

    Example:
        >>> rows = np.array([[1], [2], [3], [9]], np.uint16)
        >>> keep = cap_rows(rows, np.array([7, 7, 7, 8]), 2)
        >>> len(keep), 3 in keep
        (3, True)
    """
    columns = [codes[:, place] for place in range(codes.shape[1])]
    return first_rows((person,), row_hash(columns), max_rows)


def first_rows(person: Sequence[NDArray[Any]], rank: Words, max_rows: int) -> Ints:
    """The rows to keep, in their order: at most `max_rows` of each person, lowest rank first.

    Args:
        person: Numbers that together identify people, for each row.
        rank: The rank of each row among its person's.
        max_rows: The public cap.

    Example:
        >>> first_rows((np.array([7, 8, 7]),), np.array([2, 5, 1], np.uint64), 1).tolist()
        [1, 2]
    """
    if not len(rank):
        return np.zeros(0, np.int64)
    order = np.lexsort((rank, *person))
    new = np.zeros(len(order), bool)
    new[0] = True
    for key in person:
        new[1:] |= key[order[1:]] != key[order[:-1]]
    starts = np.flatnonzero(new)
    sizes = np.diff(np.r_[starts, len(order)])
    place = np.arange(len(order)) - np.repeat(starts, sizes)
    return np.sort(order[place < max_rows])


def row_hash(columns: Sequence[NDArray[Any]]) -> Words:
    """A fixed, public hash of each row's codes: the predictors, then the class."""
    mixed = np.zeros(len(columns[0]), np.uint64)
    for column in columns:
        mixed += column.astype(np.uint64)
        mixed += np.uint64(0x9E3779B97F4A7C15)
        for shift, factor in zip((30, 27), _MIX, strict=True):
            mixed ^= mixed >> np.uint64(shift)
            mixed *= np.uint64(factor)
        mixed ^= mixed >> np.uint64(31)
    return mixed


def new_key() -> bytes:
    """A key for the digests of one run; which rows stay does not depend on it."""
    return os.urandom(32)


def id_digests(ids: Any, key: bytes) -> Words:
    """Two numbers for each id that identify people, made with a key that nobody knows.

    128 bits: among 10^10 people the chance that any two are taken for one is below 10^-18. With a
    fixed hash somebody could choose an id that collides with another's.

    Args:
        ids: What `person_ids` gave.
        key: What `new_key` gave.

    Example:
        >>> digests = id_digests(pa.array(["ann", "bob", "ann"]), b"secret")
        >>> (digests[0] == digests[2]).all(), (digests[0] == digests[1]).any()
        (np.True_, np.False_)
    """
    distinct = ids.cast(pa.string()).dictionary_encode()
    made = b"".join(
        hashlib.blake2b(text.encode(), digest_size=16, key=key).digest()
        for text in distinct.dictionary.to_pylist()
    )
    numbers = np.frombuffer(made, np.uint64).reshape(-1, 2)
    found: Words = numbers[distinct.indices.to_numpy(zero_copy_only=False)]
    return found
