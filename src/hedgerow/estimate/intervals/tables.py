"""Sums over cells of noisy tables that all count the same records, and the noise of such sums.

Each of the tables b has m_b cells with noise of variance s^2, and total T_b. Something else, such
as the regions, tells the number of records too: T_0, with variance v_0. The best number of records
is the mean of all of them, weighted by the inverse of their variances: N^ = sum_b w_b T_b + w_0
T_0. Given that, least squares adds the same to every cell of a table: a sum S_a over k_a of the
cells becomes S^_a = S_a + q_a (N^ - T_a), with q_a = k_a / m_a.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hedgerow.arrays import Floats, Ints

__all__ = ["Sums", "Tables"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Sums:
    """Sums of noisy cells, some of which belong together.

    Args:
        table: The place of the table of each sum in `Tables.counts`.
        value: The sum.
        cells: How many cells it is of.
        group: Which sums belong together: those with the same number, of different tables.
        groups: How many groups there are.
    """

    table: Ints
    value: Floats
    cells: Ints
    group: Ints
    groups: int

    def gathered(self, values: Floats) -> Floats:
        """The sum of something over each group."""
        return np.bincount(self.group, values, self.groups).astype(np.float64)


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
        >>> men = Sums(table=np.array([0]), value=np.array([40.0]), cells=np.array([1]),
        ...            group=np.array([0]), groups=1)
        >>> [found.tolist() for found in tables.at_least(men)]  # half of the difference is here
        [[39.5], [3.0]]
    """

    counts: Mapping[Hashable, Floats]
    deviation: float
    total: tuple[float, float]

    @cached_property
    def place(self) -> dict[Hashable, int]:
        """The place of each table."""
        return {name: place for place, name in enumerate(self.counts)}

    @cached_property
    def cells(self) -> Ints:
        """How many cells each table has."""
        return np.array([len(table) for table in self.counts.values()], np.int64)

    @cached_property
    def totals(self) -> Floats:
        """The sum of each table."""
        return np.array([float(table.sum()) for table in self.counts.values()])

    @property
    def noise(self) -> float:
        """The variance of one cell's noise."""
        return self.deviation**2

    @cached_property
    def _exact(self) -> Floats:
        """The inverse of the variance of each table's total."""
        return np.asarray(1 / (self.cells * self.noise), np.float64)

    @cached_property
    def number(self) -> float:
        """The number of records."""
        summed = self.total[0] / self.total[1] + float((self._exact * self.totals).sum())
        return float(summed * self.variance)

    @cached_property
    def variance(self) -> float:
        """The variance of the number of records."""
        return float(1 / (1 / self.total[1] + self._exact.sum()))

    def without(self, sums: Sums) -> tuple[Floats, Floats]:
        """The number of records by everything but the tables of each group, and its variance."""
        exact = self._exact[sums.table]
        weight = 1 / self.variance - sums.gathered(exact)
        left = self.number / self.variance - sums.gathered(exact * self.totals[sums.table])
        return left / weight, 1 / weight

    def at_least(self, sums: Sums) -> tuple[Floats, Floats]:
        """How many records lie in d sums at once, at least: sum_a S^_a - (d - 1) N^ (Frechet).

        With R = sum_a q_a - (d - 1) this has the weight 1 - q_a + R w_a on the cells of S_a,
        R w_a - q_a on the other cells of that table, R w_b on those of other tables, and R w_0 on
        T_0: from these follows its variance. With d = 1 it is S^_a itself.

        Args:
            sums: The sums, those of each group at once.

        Returns:
            The value of each group, and its variance.
        """
        cells = self.cells[sums.table]
        part = sums.cells / cells
        rest = sums.gathered(part - 1) + 1
        shared = (rest * self.variance)[sums.group] * self._exact[sums.table]
        value = rest * self.number + sums.gathered(sums.value - part * self.totals[sums.table])
        variance = rest**2 * self.variance + self.noise * sums.gathered(
            sums.cells * (1 - part + shared) ** 2
            + (cells - sums.cells) * (shared - part) ** 2
            - cells * shared**2
        )
        return value, np.maximum(variance, 0.0)
