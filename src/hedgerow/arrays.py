"""Types of arrays, by what they hold, and the order of rows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Small = NDArray[np.int32]  # codes and nodes, of which there are many
Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Bools = NDArray[np.bool_]
Bytes = NDArray[np.uint8]
Words = NDArray[np.uint64]


def number_rows(columns: Iterable[NDArray[Any]], rows: int) -> Ints:
    """A number for each row: alike for rows that are alike, and in lexicographic order.

    Args:
        columns: Whole numbers from 0 on.
        rows: How many rows there are, also if there is no column.

    Example:
        >>> number_rows([np.array([1, 0, 1]), np.array([2, 5, 2])], 3).tolist()
        [8, 5, 8]
    """
    number, size = np.zeros(rows, np.int64), 1
    for column in columns:
        most = int(column.max(initial=0)) + 1
        if size * most >= 1 << 62:  # so many columns that 64 bits would not hold them
            number = np.unique(number, return_inverse=True)[1].reshape(-1).astype(np.int64)
            size = int(number.max(initial=0)) + 1
        number *= most
        number += column
        size *= most
    return number
