"""Sums over cells of noisy tables that all count the same records, and the noise of such sums.

Each of the tables b has m_b cells with noise of variance s^2, and total T_b. Something else, such
as the regions, tells the number of records too: T_0, with variance v_0. The best number of records
is the mean of all of them, weighted by the inverse of their variances: N^ = sum_b w_b T_b + w_0
T_0. Given that, least squares adds the same to every cell of a table: a sum S_a over k_a of the
cells becomes S^_a = S_a + q_a (N^ - T_a), with q_a = k_a / m_a.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hedgerow.arrays import Floats, Ints
from hedgerow.schema.conditions import Intervals

__all__ = ["Covered", "Sum", "Tables", "cover"]


@dataclass(frozen=True)
class Sum:
    """A sum of noisy cells of one table.

    Args:
        value: The sum.
        cells: How many cells.
    """

    value: float
    cells: int


@dataclass(frozen=True, kw_only=True, eq=False)
class Tables:
    """Tables that all count the same records, each cell with its own noise.

    Args:
        counts: The noisy counts of each table, flat.
        deviation: The standard deviation of one cell's noise, for its tails.
        total: The number of records by something else, and the variance of that.

    Example:
        >>> tables = Tables(counts={"sex": np.array([40.0, 62.0])}, deviation=2.0,
        ...                 total=(100.0, 8.0))
        >>> tables.number  # both tell it equally well
        101.0
        >>> tables.at_least({"sex": Sum(40.0, 1)})  # half of the difference belongs here
        (39.5, 3.0)
    """

    counts: Mapping[Hashable, Floats]
    deviation: float
    total: tuple[float, float]

    @cached_property
    def weights(self) -> dict[Hashable, float]:
        """The weight of each table's total in the number of records."""
        exact = {name: 1 / (len(table) * self.noise) for name, table in self.counts.items()}
        whole = sum(exact.values()) + 1 / self.total[1]
        return {name: weight / whole for name, weight in exact.items()}

    @property
    def noise(self) -> float:
        """The variance of one cell's noise."""
        return self.deviation**2

    @cached_property
    def number(self) -> float:
        """The number of records."""
        return self.without(())[0]

    @cached_property
    def variance(self) -> float:
        """The variance of the number of records."""
        return self.without(())[1]

    def without(self, names: Collection[Hashable]) -> tuple[float, float]:
        """The number of records by everything but some tables, and its variance."""
        value, weight = self.total[0] / self.total[1], 1 / self.total[1]
        for name, table in self.counts.items():
            if name not in names:
                mine = 1 / (len(table) * self.noise)
                value, weight = value + mine * float(table.sum()), weight + mine
        return value / weight, 1 / weight

    def at_least(self, sums: Mapping[Hashable, Sum]) -> tuple[float, float]:
        """How many records lie in d sums at once, at least: sum_a S^_a - (d - 1) N^ (Frechet).

        With R = sum_a q_a - (d - 1) this has the weight 1 - q_a + R w_a on the cells of S_a,
        R w_a - q_a on the other cells of that table, R w_b on those of other tables, and R w_0 on
        T_0: from these follows its variance. With d = 1 it is S^_a itself.

        Args:
            sums: Of d tables, the sum of some cells.

        Returns:
            The value and its variance.
        """
        parts = {name: one.cells / len(self.counts[name]) for name, one in sums.items()}
        rest = sum(parts.values()) - (len(sums) - 1)
        value, variance = rest * self.number, rest**2 * self.variance
        for name, one in sums.items():
            table, part, shared = self.counts[name], parts[name], rest * self.weights[name]
            value += one.value - part * float(table.sum())
            variance += self.noise * (
                one.cells * (1 - part + shared) ** 2
                + (len(table) - one.cells) * (shared - part) ** 2
                - len(table) * shared**2
            )
        return value, max(variance, 0.0)


@dataclass(frozen=True, eq=False)
class Covered:
    """The cells of a table that a condition covers.

    Args:
        inner: Those wholly covered.
        touched: Those covered at least in part.
    """

    inner: NDArray[np.bool_]
    touched: NDArray[np.bool_]

    @property
    def cut(self) -> Ints:
        """The cells that are covered in part."""
        return np.flatnonzero(self.touched & ~self.inner)


def cover(edges: Ints, intervals: Intervals) -> Covered:
    """Which cells a condition covers.

    Args:
        edges: The edges of the cells, in codes.
        intervals: The codes that count: disjoint, increasing, half-open.

    Example:
        >>> found = cover(np.array([0, 10, 20, 30]), ((5.0, 20.0),))
        >>> found.inner.tolist(), found.touched.tolist(), found.cut.tolist()
        ([False, True, False], [True, True, False], [0])
    """
    low, high = edges[:-1].astype(np.float64), edges[1:].astype(np.float64)
    held = np.zeros(len(low))
    for start, end in intervals:
        held += np.maximum(0.0, np.minimum(high, end) - np.maximum(low, start))
    return Covered(held >= high - low - 1e-9, held > 0)
