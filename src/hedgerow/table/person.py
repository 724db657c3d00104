"""Several rows per person: a public cap, kept by a rule that looks at one person alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from hedgerow.table.encode import MISSING_WORDS, plain_array

__all__ = ["cap_rows", "person_ids"]

_MIX = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB  # the multipliers of the splitmix64 finaliser


def person_ids(array: Any, column: str) -> tuple[Any, NDArray[np.bool_]]:
    """The ids of a column in plain form, and which rows have one.

    A row without an id cannot be counted towards anybody's cap, so it is left out.

    Example:
        >>> ids, known = person_ids(pa.array([" ann ", "", None, "bob"]), "patient")
        >>> ids.to_pylist()[0], known.tolist()
        ('ann', [True, False, False, True])
    """
    array = plain_array(array, column)
    if pa.types.is_null(array.type):  # what Arrow makes of a column that is empty throughout
        return array.cast(pa.string()), np.zeros(len(array), bool)
    if pa.types.is_dictionary(array.type):
        array = pc.take(array.dictionary, array.indices)
    if pa.types.is_string(array.type):
        array = pc.utf8_trim_whitespace(array)
        words = pa.array(sorted(MISSING_WORDS), pa.string())
        missing = pc.or_kleene(pc.is_null(array), pc.is_in(pc.utf8_lower(array), value_set=words))
    else:
        missing = pc.is_null(array, nan_is_null=True)
    return array, ~missing.to_numpy(zero_copy_only=False)


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
    if not len(codes):
        return np.zeros(0, np.int64)
    order = np.lexsort((_hash(codes), person))
    sorted_person = person[order]
    starts = np.flatnonzero(np.r_[True, sorted_person[1:] != sorted_person[:-1]])
    sizes = np.diff(np.r_[starts, len(order)])
    rank = np.arange(len(order)) - np.repeat(starts, sizes)
    return np.sort(order[rank < max_rows])


def _hash(codes: NDArray[np.unsignedinteger[Any]]) -> NDArray[np.uint64]:
    mixed = np.zeros(len(codes), np.uint64)
    for column in range(codes.shape[1]):
        mixed += codes[:, column]
        mixed += np.uint64(0x9E3779B97F4A7C15)
        for shift, factor in zip((30, 27), _MIX, strict=True):
            mixed ^= mixed >> np.uint64(shift)
            mixed *= np.uint64(factor)
        mixed ^= mixed >> np.uint64(31)
    return mixed
