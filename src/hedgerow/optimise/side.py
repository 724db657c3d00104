"""One index over the public side table, from which the counts of every record's lattice come.

Side rows become ranks among the distinct codes of each attribute. A node covers an interval of
codes, so it covers an interval of ranks, and the level at which a record's value and a side value
meet is read off a small table. The attributes are divided in two halves: distinct combinations of
the first half point at distinct combinations of the second, so that placing all side rows in a
record's lattice takes one step for each distinct row, not one for each of its values.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow.arrays import Bytes, Ints, Small
from hedgerow.errors import UsageError
from hedgerow.optimise.hierarchy import Forest

__all__ = ["Side"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Side:
    """The side table, ready for lookups. All of it is public.

    Args:
        rows: How many rows it has.
        half: How many attributes belong to the first half.
        ranks: How many distinct codes each attribute has; tables of ranks lie one after another.
        node_lo: The first rank of each node of the forest.
        node_hi: One past its last rank.
        first: Distinct combinations of the first half, as ranks: [combinations, half].
        second: Those of the second half.
        start: Where the rows of each first combination begin in `then` and `count`.
        then: The second combination of each distinct row.
        count: How many rows it stands for.
    """

    rows: int
    half: int
    ranks: Ints
    node_lo: Small
    node_hi: Small
    first: Small
    second: Small
    start: Small
    then: Small
    count: Small

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
            rows=len(codes), half=half, ranks=ranks, node_lo=node_lo, node_hi=node_hi, first=first,
            second=second,
            start=start.astype(np.int32), then=(pairs % len(second)).astype(np.int32),
            count=counts.astype(np.int32),
        )  # fmt: skip

    @property
    def rank_start(self) -> Ints:
        """Where each attribute's table of ranks begins, and where the last one ends."""
        return np.concatenate([[0], np.cumsum(self.ranks)])

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
        counts = np.bincount(index.reshape(-1), self.count, len(pairs)).astype(np.int64)
        levels = np.concatenate([first[pairs // len(second)], second[pairs % len(second)]], axis=1)
        return np.ascontiguousarray(levels.astype(np.uint8)), counts


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
