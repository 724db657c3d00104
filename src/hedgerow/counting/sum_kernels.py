"""The loops behind `sums`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.arrays import Ints
from hedgerow.compiled import kernel

__all__ = ["add_pairs"]

Codes = NDArray[Any]


def _pairs(rows: Codes, lookup: Ints, start: Ints, groups: Ints, out: Ints) -> None:
    """`add_pairs` by NumPy, pair by pair."""
    group = [lookup[first + rows[:, one].astype(np.int64)] for one, first in enumerate(start)]
    table = 0
    for one in range(len(groups)):
        for other in range(one):
            size = int(groups[one] * groups[other])
            cells = group[one] * groups[other] + group[other]
            out[table : table + size] += np.bincount(cells, minlength=size)
            table += size


@kernel(
    steps=lambda rows, lookup, start, groups, out: (len(rows) // 40 + 20) * len(groups) ** 2,
    small=_pairs,
)
def add_pairs(rows: Codes, lookup: Ints, start: Ints, groups: Ints, out: Ints) -> None:
    """Counts every pair of groups that a row lies in."""
    attributes = len(groups)
    group = np.empty(attributes, np.int64)
    for row in range(rows.shape[0]):
        table = 0
        for one in range(attributes):
            group[one] = lookup[start[one] + rows[row, one]]
            for other in range(one):
                out[table + group[one] * groups[other] + group[other]] += 1
                table += groups[one] * groups[other]
