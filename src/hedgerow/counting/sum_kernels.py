"""The loops behind `sums`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.arrays import Ints
from hedgerow.compiled import kernel

__all__ = ["add_tables"]

Codes = NDArray[Any]


def _tables(
    rows: Codes, columns: Ints, lookup: Ints, first: Ints, parts: Ints, begin: Ints, member: Ints,
    base: Ints, out: Ints,
) -> None:  # fmt: skip
    """`add_tables` by NumPy, table by table."""
    part = [
        lookup[start + rows[:, c].astype(np.int64)] for c, start in zip(columns, first, strict=True)
    ]
    for table, cells in enumerate(base[:-1]):
        index, counted = np.zeros(len(rows), np.int64), np.ones(len(rows), np.bool_)
        for c in member[begin[table] : begin[table + 1]]:
            index = index * parts[c] + part[c]
            counted &= part[c] >= 0
        size = int(base[table + 1] - cells)
        out[cells : cells + size] += np.bincount(index[counted], minlength=size)


@kernel(
    steps=lambda rows, columns, lookup, first, parts, begin, member, base, out: (
        (len(rows) // 40 + 20) * (len(columns) + len(member))
    ),
    small=_tables,
)
def add_tables(
    rows: Codes, columns: Ints, lookup: Ints, first: Ints, parts: Ints, begin: Ints, member: Ints,
    base: Ints, out: Ints,
) -> None:  # fmt: skip
    """Counts the cell of every table that a row lies in; a part below 0 lies in none."""
    part = np.empty(len(columns), np.int64)
    for row in range(rows.shape[0]):
        for c in range(len(columns)):
            part[c] = lookup[first[c] + rows[row, columns[c]]]
        for table in range(len(base) - 1):
            index = np.int64(0)
            for place in range(begin[table], begin[table + 1]):
                c = member[place]
                if part[c] < 0:
                    index = np.int64(-1)
                    break
                index = index * parts[c] + part[c]
            if index >= 0:
                out[base[table] + index] += 1
