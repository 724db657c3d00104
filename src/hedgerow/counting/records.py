"""Distinct records and how many people have each, under seal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.arrays import Ints
from hedgerow.counting.sealed import Sealed
from hedgerow.table import Table

__all__ = ["Records", "distinct_records"]


@dataclass(frozen=True, eq=False)
class Records:
    """What a table holds, each distinct record once, in lexicographic order; travels sealed.

    Args:
        values: The codes of predictors, then of the class if there is one: [records, attributes].
        weights: Levels of people's own weights: [records, columns].
        counts: How many rows are the same.
    """

    values: Ints
    weights: Ints
    counts: Ints


def distinct_records(table: Table) -> Sealed[Records]:
    """Counts the distinct records of a table; weights of people's own make records differ."""
    width = len(table.schema.attributes) + (table.schema.target is not None)
    own = table.weights
    rows = table.codes.shape[0]
    columns: list[NDArray[Any]] = [table.codes[:, place] for place in range(width)]
    columns += [] if own is None else [own[:, place] for place in range(own.shape[1])]
    if not rows:
        nothing = np.zeros((0, len(columns)), np.int64)
        return Sealed(Records(nothing[:, :width], nothing[:, width:], np.zeros(0, np.int64)))
    key = np.zeros(rows, np.int64)
    size = 1
    for column in columns:
        most = int(column.max()) + 1
        if size * most >= 1 << 62:  # so many columns that a number would not hold them
            _, index = np.unique(key, return_inverse=True)
            key = index.reshape(-1).astype(np.int64)
            size = int(key.max()) + 1
        key *= most
        key += column
        size *= most
    _, first, counts = np.unique(key, return_index=True, return_counts=True)
    found = np.stack([column[first].astype(np.int64) for column in columns], axis=1)
    return Sealed(Records(found[:, :width], found[:, width:], counts.astype(np.int64)))
