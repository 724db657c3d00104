"""PrivBayes (Zhang et al. 2014, 2017), which DiffMulti's figure 10 compares with, as they tell it.

A Bayesian network of all columns, the class among them. Columns are added one by one with at most
three parents each; which column comes next, and with which parents, is chosen by the exponential
mechanism with the score R, half the distance between the joint distribution and that of independent
parts, whose sensitivity for n records is 3/n + 2/n^2. Three tenths of epsilon pay for these
choices, the rest for Laplace noise on the d joint distributions. Parents may not make a
distribution of more than n e / (2 d theta) cells (theta = 4), where e is what distributions get.
Numbers are cut into 16 equal parts. The number of records counts as public, as in those papers.

For comparison alone: its noise is NumPy's and seeded, and no ledger keeps its books.
"""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pyarrow as pa

from hedgerow.arrays import Floats, Ints
from hedgerow.data import read
from hedgerow.estimate.cells import values_of
from hedgerow.schema import Categorical, Schema

__all__ = ["choose_network", "draw_privbayes"]

BINS, PARENTS, NETWORK, THETA = 16, 3, 0.3, 4.0
Network = list[tuple[int, tuple[int, ...]]]


def draw_privbayes(rows: pa.Table, schema: Schema, epsilon: float, seed: int) -> pa.Table:
    """Simulated rows, as many as were given.

    Args:
        rows: The raw rows.
        schema: The public schema.
        epsilon: The whole epsilon.
        seed: For the same rows again.
    """
    random = np.random.default_rng(seed)
    codes = read(rows, schema).codes.astype(np.int64)
    cells = [
        np.arange(column.size)
        if isinstance(column, Categorical)
        else np.minimum(np.arange(column.size) * BINS // column.grid, BINS - 1)
        for column in schema.columns
    ]
    parts = np.stack([cell[codes[:, a]] for a, cell in enumerate(cells)], axis=1)
    sizes = [int(cell[-1]) + 1 for cell in cells]
    number, width = parts.shape
    share = epsilon * (1 - NETWORK)
    network = choose_network(
        parts, sizes, epsilon * NETWORK, number * share / (2 * width * THETA), random
    )
    drawn = np.zeros_like(parts)
    for a, parents in network:
        table = _joint(parts, sizes, a, parents)
        # two records that replace each other move two cells of each of the distributions
        table = np.maximum(table + random.laplace(0, 2 * width / share, table.shape), 0)
        empty = table.sum(axis=1) == 0
        table[empty] = 1
        below = np.cumsum(table, axis=1)
        law: Floats = below[:, :-1] / below[:, -1:]
        where = _place(drawn, sizes, parents)
        drawn[:, a] = (random.random((number, 1)) > law[where]).sum(axis=1)
    columns = {}
    for a, (column, cell) in enumerate(zip(schema.columns, cells, strict=True)):
        start = np.searchsorted(cell, np.arange(sizes[a]))
        wide = np.diff(np.append(start, len(cell)))
        code = start[drawn[:, a]] + (random.random(number) * wide[drawn[:, a]]).astype(np.int64)
        columns[column.name] = values_of(column, code, random)
    return pa.table(columns)


def choose_network(
    parts: Ints, sizes: list[int], epsilon: float, most: float, random: np.random.Generator
) -> Network:
    """Columns in the order in which they are drawn, each with its parents.

    Args:
        parts: The records.
        sizes: How many values each column has.
        epsilon: What the choices may cost.
        most: The largest number of cells of a distribution.
        random: Where randomness comes from.

    Example:
        >>> random = np.random.default_rng(1)
        >>> x = random.integers(0, 2, 1000)
        >>> parts = np.stack([x, x, random.integers(0, 2, 1000)], axis=1)
        >>> network = choose_network(parts, [2, 2, 2], 100.0, 4, random)
        >>> {0, 1} in [{column, *parents} for column, parents in network]
        True
    """
    number, width = parts.shape
    rate = epsilon / (width - 1) / (2 * (3 / number + 2 / number**2))
    known = dict[tuple[int, tuple[int, ...]], float]()
    network: Network = [(int(random.integers(width)), ())]
    while len(network) < width:
        before = sorted(column for column, _ in network)
        options: Network = []
        for column in set(range(width)) - set(before):
            fitting = {()} | {
                parents
                for many in range(1, PARENTS + 1)
                for parents in combinations(before, many)
                if sizes[column] * math.prod(sizes[a] for a in parents) <= most
            }
            # only sets that nothing fits beside
            options += [
                (column, parents)
                for parents in sorted(fitting)
                if len(parents) == PARENTS
                or not any(
                    tuple(sorted((*parents, a))) in fitting for a in before if a not in parents
                )
            ]
        for option in options:
            if option not in known:
                known[option] = _dependence(_joint(parts, sizes, *option))
        scores = np.array([known[option] for option in options])
        law = np.exp(rate * (scores - scores.max()))
        network.append(options[int(random.choice(len(options), p=law / law.sum()))])
    return network


def _joint(parts: Ints, sizes: list[int], column: int, parents: tuple[int, ...]) -> Floats:
    """How many records have each value of a column, for each combination of its parents."""
    rows = math.prod(sizes[a] for a in parents)
    cell = _place(parts, sizes, parents) * sizes[column] + parts[:, column]
    counts = np.bincount(cell, minlength=rows * sizes[column])
    return counts.reshape(rows, sizes[column]).astype(np.float64)


def _place(parts: Ints, sizes: list[int], columns: tuple[int, ...]) -> Ints:
    place = np.zeros(len(parts), dtype=np.int64)
    for a in columns:
        place = place * sizes[a] + parts[:, a]
    return place


def _dependence(table: Floats) -> float:
    """The score R: half the distance between a distribution and that of independent parts."""
    shares = table / table.sum()
    apart = shares.sum(axis=1, keepdims=True) * shares.sum(axis=0, keepdims=True)
    return float(np.abs(shares - apart).sum() / 2)
