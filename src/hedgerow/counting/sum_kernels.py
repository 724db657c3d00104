"""The loops behind `sums`. Loads numba."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from hedgerow.arrays import Ints

__all__ = ["add_pairs", "add_residuals", "fill_probabilities"]

Codes = NDArray[Any]

_PROBABILITY = 256


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def _probabilities(codes: Any, tables: Any, exponentials: Ints, found: Ints) -> None:
    """The class probabilities of one record, by whole numbers alone."""
    split, first, upper, region, base, lookup, start, shift = tables
    node = np.int64(0)
    while split[node] >= 0:
        code = codes[split[node]]
        node = first[node]
        while code >= upper[node]:
            node += 1
    classes = base.shape[1]
    for k in range(classes):
        found[k] = base[region[node], k]
    for a in range(len(start)):
        cell = lookup[start[a] + codes[a]]
        for k in range(classes):
            found[k] += shift[cell, k]
    largest = found.max()
    total = np.int64(0)
    for k in range(classes):
        found[k] = exponentials[min(largest - found[k], len(exponentials) - 1)]
        total += found[k]
    for k in range(classes):
        found[k] = (2 * _PROBABILITY * found[k] + total) // (2 * total)


@njit(cache=True, nogil=True)
def fill_probabilities(rows: Codes, tables: Any, exponentials: Ints, out: Ints) -> None:
    """The class probabilities of every row; `tables` as `ClassModel.tables` gives them."""
    for row in range(rows.shape[0]):
        _probabilities(rows[row], tables, exponentials, out[row])


@njit(cache=True, nogil=True)
def add_residuals(rows: Codes, tables: Any, exponentials: Ints, out: Ints) -> None:
    """Adds what every row has of each class, less its probability, to the row's cells."""
    classes, lookup, start = tables[4].shape[1], tables[5], tables[6]
    found = np.empty(classes, np.int64)
    for row in range(rows.shape[0]):
        codes = rows[row]
        _probabilities(codes, tables, exponentials, found)
        for k in range(classes):
            found[k] = -found[k]
        found[codes[len(start)]] += _PROBABILITY
        for a in range(len(start)):
            cell = lookup[start[a] + codes[a]] * classes
            for k in range(classes):
                out[cell + k] += found[k]
