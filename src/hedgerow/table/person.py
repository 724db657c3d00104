"""Several rows per person: a public cap, kept by a rule that looks at one person alone."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from hedgerow.table.encode import MISSING_WORDS, plain_array

__all__ = ["cap_rows", "first_rows", "id_digests", "new_key", "person_ids", "row_hash"]

_MIX = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB  # the multipliers of the splitmix64 finaliser


def person_ids(array: Any, column: str) -> tuple[Any, NDArray[np.bool_]]:
    """The ids of a column in plain form, and which rows have one.

    A row without an id cannot be counted towards anybody's cap, so it is left out.

    Example:
        >>> ids, known = person_ids(pa.array([" ann ", "", None, "bob"]), "patient")
        >>> ids.to_pylist()[0], known.tolist()
        ('ann', [True, False, False, True])
    """
    array = plain_array(_exact(array), column)
    if pa.types.is_null(array.type):  # what Arrow makes of a column that is empty throughout
        return array.cast(pa.string()), np.zeros(len(array), bool)
    if pa.types.is_string(array.type):
        array = pc.utf8_trim_whitespace(array)
        words = pa.array(sorted(MISSING_WORDS), pa.string())
        missing = pc.or_kleene(pc.is_null(array), pc.is_in(pc.utf8_lower(array), value_set=words))
    else:
        missing = pc.is_null(array, nan_is_null=True)
    return array, ~missing.to_numpy(zero_copy_only=False)


def _exact(array: Any) -> Any:
    """The array without what plain types would round: two people must not become one."""
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    if pa.types.is_dictionary(array.type):
        array = pc.take(array.dictionary, array.indices)
    kind = array.type
    if pa.types.is_timestamp(kind) or pa.types.is_date64(kind):
        return array.cast(pa.int64())
    if pa.types.is_date32(kind):
        return array.cast(pa.int32())
    return array.cast(pa.string()) if pa.types.is_decimal(kind) else array


def cap_rows(
    codes: NDArray[np.unsignedinteger[Any]], person: NDArray[Any], max_rows: int
) -> NDArray[np.int64]:
    """The rows to keep: at most `max_rows` of each person.

    Which rows of a person stay depends on that person's rows alone, and not on their order in the
    file. They are ranked by a fixed, public hash of their codes: ranking by the codes themselves
    would always keep the smallest values.

    Args:
        codes: The rows.
        person: A number for each row that tells people apart.
        max_rows: The public cap.

    Example:
        >>> rows = np.array([[1], [2], [3], [9]], np.uint16)
        >>> keep = cap_rows(rows, np.array([7, 7, 7, 8]), 2)
        >>> len(keep), 3 in keep
        (3, True)
    """
    columns = [codes[:, place] for place in range(codes.shape[1])]
    return first_rows((person,), row_hash(columns), max_rows)


def first_rows(
    person: Sequence[NDArray[Any]], rank: NDArray[np.uint64], max_rows: int
) -> NDArray[np.int64]:
    """The rows to keep, in their order: at most `max_rows` of each person, lowest rank first.

    Args:
        person: Numbers that together tell people apart, for each row.
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


def row_hash(columns: Sequence[NDArray[Any]]) -> NDArray[np.uint64]:
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


def id_digests(ids: Any, key: bytes) -> NDArray[np.uint64]:
    """Two numbers for each id that tell people apart, made with a key that nobody knows.

    128 bits: among 10^10 people the chance that any two are taken for one is below 10^-18. With a
    fixed hash somebody could choose an id that collides with another's.

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
    found: NDArray[np.uint64] = numbers[distinct.indices.to_numpy(zero_copy_only=False)]
    return found
