"""The public side table, and what it says of one record: how many rows a generalization fits.

Side rows become ranks among the distinct codes of each attribute. A node covers an interval of
codes, so it covers an interval of ranks, and the level at which a record's value and a side value
meet is read off a small table. The attributes are divided in two halves: distinct combinations of
the first half point at distinct combinations of the second, so that placing all side rows in a
record's lattice takes one step for each distinct row, not one for each of its values.

A record's lattice is a ring family. An element (i, l) says that attribute i is generalized at least
l times. Sets of elements that hold (i, l - 1) with (i, l) are the generalizations of the record,
and a set of any elements stands for the smallest one that holds it (its closure). A side row is
consistent with a generalization if the level at which it meets the record is reached in every
attribute; so along a growing chain of generalizations each row enters once, and one pass over the
rows counts for the whole chain.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow.arrays import Bytes, Floats, Ints, Small
from hedgerow.compiled import kernel
from hedgerow.errors import UsageError
from hedgerow.optimize.model import Forest, Worth


class Side(NamedTuple):
    """The side table, ready for lookups. All of it is public.

    Args:
        rows: How many rows it has.
        half: How many attributes belong to the first half.
        ranks: How many distinct codes each attribute has; tables of ranks lie one after another.
        rank_start: Where each attribute's table begins, and where the last one ends.
        node_lo: The first rank of each node of the forest.
        node_hi: One past its last rank.
        first: Distinct combinations of the first half, as ranks: [combinations, half].
        second: Those of the second half.
        start: Where the rows of each first combination begin in `then` and `times`.
        then: The second combination of each distinct row.
        times: How many rows it stands for.
    """

    rows: int
    half: int
    ranks: Ints
    rank_start: Ints
    node_lo: Small
    node_hi: Small
    first: Small
    second: Small
    start: Small
    then: Small
    times: Small

    @staticmethod
    def of(forest: Forest, codes: NDArray[np.integer]) -> Side:
        """Makes the index.

        Args:
            forest: The hierarchies.
            codes: The side rows: [rows, attributes].

        Raises:
            UsageError: If there are no rows, or rows of another width.
        """
        if codes.ndim != 2 or codes.shape[1] != forest.attributes:
            raise UsageError(
                "The side table does not have the attributes of the schema.",
                hint="Give a side table that the same schema describes.",
            )
        if not len(codes):
            raise UsageError(
                "The side table has no rows, so every risk would be infinite.",
                hint="Give a public table with rows, or leave it out to have one made.",
            )
        if len(codes) >= 1 << 31:
            raise UsageError("The side table has too many rows.", hint="Give a sample of it.")
        ranked = np.empty(codes.shape, np.int32)
        node_lo = np.empty(len(forest.lo), np.int32)
        node_hi = np.empty(len(forest.lo), np.int32)
        ranks = np.empty(forest.attributes, np.int64)
        ends = np.append(forest.root[1:], len(forest.lo))
        for place in range(forest.attributes):
            distinct, index = np.unique(codes[:, place], return_inverse=True)
            ranked[:, place] = index.reshape(-1)
            ranks[place] = len(distinct)
            part = slice(int(forest.root[place]), int(ends[place]))
            node_lo[part] = np.searchsorted(distinct, forest.lo[part])
            node_hi[part] = np.searchsorted(distinct, forest.hi[part])
        half = _halve(forest.heights() + 1)
        first, first_of = _distinct(ranked[:, :half])
        second, second_of = _distinct(ranked[:, half:])
        pairs, counts = np.unique(
            first_of.astype(np.int64) * len(second) + second_of, return_counts=True
        )
        start = np.searchsorted(pairs, np.arange(len(first) + 1, dtype=np.int64) * len(second))
        return Side(
            rows=len(codes), half=half, ranks=ranks,
            rank_start=np.concatenate([[0], np.cumsum(ranks)]),
            node_lo=node_lo, node_hi=node_hi, first=first, second=second,
            start=start.astype(np.int32), then=(pairs % len(second)).astype(np.int32),
            times=counts.astype(np.int32),
        )  # fmt: skip

    def meeting_levels(self, forest: Forest, leaves: Small) -> tuple[Bytes, Ints]:
        """The level at which each side row becomes consistent with a record, by attribute.

        Args:
            forest: The hierarchies.
            leaves: The leaf nodes of the record.

        Returns:
            Distinct rows of levels, and how many side rows have each.
        """
        columns = []
        for place, leaf in enumerate(leaves.tolist()):
            level = np.empty(int(self.ranks[place]), np.uint8)
            chain = []
            while leaf >= 0:
                chain.append(leaf)
                leaf = int(forest.parent[leaf])
            for depth in reversed(range(len(chain))):  # the root covers all, then ever less
                level[self.node_lo[chain[depth]] : self.node_hi[chain[depth]]] = depth
            columns.append(level)
        first, first_of = _distinct(_looked_up(columns[: self.half], self.first))
        second, second_of = _distinct(_looked_up(columns[self.half :], self.second))
        of_row = np.repeat(first_of, np.diff(self.start)).astype(np.int64)
        key = of_row * len(second) + second_of[self.then]
        pairs, index = np.unique(key, return_inverse=True)
        counts = np.bincount(index.reshape(-1), self.times, len(pairs)).astype(np.int64)
        levels = np.concatenate([first[pairs // len(second)], second[pairs % len(second)]], axis=1)
        return np.ascontiguousarray(levels.astype(np.uint8)), counts


@dataclass(frozen=True, eq=False, kw_only=True)
class Record:
    """A record's generalizations: x[i] steps up in attribute i.

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
        """How many generalizations there are."""
        total = 1
        for height in self.heights.tolist():
            total *= height + 1
        return total

    def utilities(self, points: Ints) -> Floats:
        """The utility of generalizations: [points, attributes]."""
        return self._sums(self.utility, points)

    def sensitivities(self, points: Ints) -> Floats:
        """The sensitivity of generalizations."""
        return self._sums(self.weight, points)

    def _sums(self, tables: tuple[Floats, ...], points: Ints) -> Floats:
        total = np.zeros(len(points))
        for place, table in enumerate(tables):
            total += table[points[:, place]]
        return total

    def count(self, point: Ints) -> int:
        """How many side rows a generalization could stand for."""
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
        """The counts of a growing chain of generalizations, whether or not it is maximal."""
        entered = np.zeros(len(points) + 1, np.int64)
        _enter(self.levels, self.counts, points, entered)
        return np.cumsum(entered)[:-1]


def _halve(lengths: Ints) -> int:
    """How many attributes make the product of their chains about the root of all."""
    logs = np.cumsum(np.log2(lengths.astype(np.float64)))
    if len(lengths) == 1:
        return 1
    return int(np.argmin(np.abs(logs[:-1] - logs[-1] / 2))) + 1


def _looked_up(tables: list[Bytes], ranks: Small) -> Small:
    found = np.empty(ranks.shape, np.int32)
    for place, table in enumerate(tables):
        found[:, place] = table[ranks[:, place]]
    return found


def _distinct(rows: Small) -> tuple[Small, Ints]:
    """Distinct rows in order, and the place of each row's; one if there are no columns."""
    key = np.zeros(len(rows), np.int64)
    for column in rows.T:
        _, small = np.unique(column, return_inverse=True)
        key = key * (int(small.max(initial=0)) + 1) + small.reshape(-1)
        _, dense = np.unique(key, return_inverse=True)  # so that the product never overflows
        key = dense.reshape(-1).astype(np.int64)
    _, place, index = np.unique(key, return_index=True, return_inverse=True)
    return np.ascontiguousarray(rows[place]), index.reshape(-1).astype(np.int64)


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
