"""One record's lattice as a ring family: counts along chains, for lattices too large to list.

An element (i, l) says that attribute i is generalised at least l times. Sets of elements that hold
(i, l - 1) with (i, l) are the generalisations of the record, and a set of any elements stands for
the smallest one that holds it (its closure). A side row is consistent with a generalisation if the
level at which it meets the record is reached in every attribute; so along a growing chain of
generalisations each row enters once, and one pass over the rows counts for the whole chain.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hedgerow.arrays import Bytes, Floats, Ints, Small
from hedgerow.compiled import kernel
from hedgerow.optimise.hierarchy import Forest
from hedgerow.optimise.model import Worth
from hedgerow.optimise.side import Side

__all__ = ["Record"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Record:
    """A record's generalisations: x[i] steps up in attribute i.

    Args:
        heights: How many steps each attribute has.
        utility: For each attribute the utility by level.
        weight: For each attribute the sensitivity by level, floor included.
        levels: Distinct levels at which side rows meet the record: [rows, attributes].
        counts: How many side rows have each.
    """

    heights: Ints
    utility: tuple[Floats, ...]
    weight: tuple[Floats, ...]
    levels: Bytes
    counts: Ints

    @staticmethod
    def of(forest: Forest, side: Side, worth: Worth, leaves: Small, factor: Floats) -> Record:
        """Takes one record out of a table's terms."""
        chains = []
        for leaf in leaves.tolist():
            chain = []
            while leaf >= 0:
                chain.append(leaf)
                leaf = int(forest.parent[leaf])
            chains.append(chain)
        levels, counts = side.meeting_levels(forest, leaves)
        return Record(
            heights=np.asarray([len(chain) - 1 for chain in chains], np.int64),
            utility=tuple(worth.utility[chain] for chain in chains),
            weight=tuple(
                np.maximum(worth.weight[chain] * own, worth.floor)
                for chain, own in zip(chains, factor.tolist(), strict=True)
            ),
            levels=levels,
            counts=counts,
        )

    @cached_property
    def elements(self) -> int:
        """How many elements there are."""
        return int(self.heights.sum())

    @cached_property
    def attribute_of(self) -> Ints:
        """The attribute of each element."""
        return np.repeat(np.arange(len(self.heights)), self.heights)

    @cached_property
    def level_of(self) -> Ints:
        """The level of each element, from 1."""
        starts = np.repeat(np.cumsum(self.heights) - self.heights, self.heights)
        return np.arange(self.elements) - starts + 1

    @property
    def size(self) -> int:
        """How many generalisations there are."""
        total = 1
        for height in self.heights.tolist():
            total *= height + 1
        return total

    def utilities(self, points: Ints) -> Floats:
        """The utility of generalisations: [points, attributes]."""
        return self._sums(self.utility, points)

    def sensitivities(self, points: Ints) -> Floats:
        """The sensitivity of generalisations."""
        return self._sums(self.weight, points)

    def _sums(self, tables: tuple[Floats, ...], points: Ints) -> Floats:
        total = np.zeros(len(points))
        for place, table in enumerate(tables):
            total += table[points[:, place]]
        return total

    def count(self, point: Ints) -> int:
        """How many side rows a generalisation could stand for."""
        return int(self.counts[(self.levels <= point[None, :]).all(axis=1)].sum())

    def chain(self, order: Ints) -> tuple[Ints, Ints]:
        """The closures of the prefixes of an order of elements, and their counts.

        Returns:
            Points [elements + 1, attributes], from the record itself on, and counts.
        """
        points = np.zeros((self.elements + 1, len(self.heights)), np.int64)
        _closures(self.attribute_of[order], self.level_of[order], points)
        return points, self.along(points)

    def along(self, points: Ints) -> Ints:
        """The counts of a growing chain of generalisations, whether or not it is maximal."""
        entered = np.zeros(len(points) + 1, np.int64)
        _enter(self.levels, self.counts, points, entered)
        return np.cumsum(entered)[:-1]


@kernel()
def _closures(attribute: Ints, level: Ints, points: Ints) -> None:
    for step in range(attribute.size):
        points[step + 1] = points[step]
        points[step + 1, attribute[step]] = max(points[step, attribute[step]], level[step])


@kernel()
def _enter(levels: Bytes, counts: Ints, points: Ints, entered: Ints) -> None:
    """Counts at which step of a chain each side row becomes consistent."""
    steps, attributes = points.shape
    reached = np.full((attributes, 256), steps)
    for place in range(attributes):
        level = 0
        for step in range(steps):
            while level <= points[step, place]:
                reached[place, level] = step
                level += 1
    for row in range(levels.shape[0]):
        step = 0
        for place in range(attributes):
            step = max(step, reached[place, levels[row, place]])
        entered[step] += counts[row]
