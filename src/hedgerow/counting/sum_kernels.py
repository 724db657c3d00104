"""The loops behind `sums`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.arrays import Ints
from hedgerow.compiled import kernel

__all__ = ["add_pairs", "add_residuals", "add_tables", "fill_probabilities"]

Codes = NDArray[Any]

_PROBABILITY = 256


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


def _cells(rows: Codes, tables: Any) -> Ints:
    """The cells of every row: [rows, attributes]."""
    lookup, start = tables[5], tables[6]
    found: Ints = lookup[start + rows[:, : len(start)].astype(np.int64)]
    return found


def _fill(rows: Codes, tables: Any, exponentials: Ints, out: Ints) -> None:
    """`fill_probabilities` by NumPy."""
    split, first, upper, region, base, _, _, shift = tables
    node = np.zeros(len(rows), np.int64)
    going = np.flatnonzero(split[node] >= 0)
    while len(going):
        code = rows[going, split[node[going]]]
        below = first[node[going]]
        while (beyond := code >= upper[below]).any():
            below += beyond
        node[going] = below
        going = going[split[below] >= 0]
    logits = base[region[node]] + shift[_cells(rows, tables)].sum(axis=1)
    far = logits.max(axis=1, keepdims=True) - logits
    mass = exponentials[np.minimum(far, len(exponentials) - 1)]
    total = mass.sum(axis=1, keepdims=True)
    out[:] = (2 * _PROBABILITY * mass + total) // (2 * total)


def _steps(rows: Codes, tables: Any, *rest: Any) -> int:
    classes: int = tables[4].shape[1]
    return 300 + len(rows) * (len(tables[6]) + 2) * classes // 20


@kernel(steps=_steps, small=_fill)
def fill_probabilities(rows: Codes, tables: Any, exponentials: Ints, out: Ints) -> None:
    """The class probabilities of every row; `tables` as `ClassModel.tables` gives them."""
    for row in range(rows.shape[0]):
        _probabilities(rows[row], tables, exponentials, out[row])


def _residuals(rows: Codes, tables: Any, exponentials: Ints, out: Ints) -> None:
    """`add_residuals` by NumPy."""
    classes = tables[4].shape[1]
    left = np.empty((len(rows), classes), np.int64)
    _fill(rows, tables, exponentials, left)
    left *= -1
    left[np.arange(len(rows)), rows[:, len(tables[6])]] += _PROBABILITY
    cells = _cells(rows, tables)
    for k in range(classes):  # sums of so few whole numbers are exact in floating point
        weights = np.repeat(left[:, k], cells.shape[1])
        out[k::classes] += np.bincount(
            cells.ravel(), weights, minlength=len(out) // classes
        ).astype(np.int64)


@kernel(steps=_steps, small=_residuals)
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
