"""What a publisher may ask of transactions: exact counts of sets of records, under seal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from hedgerow.arrays import Ints
from hedgerow.counting.sealed import Sealed


@dataclass(frozen=True)
class Expansion:
    """How partitions are expanded: which stretches of items are told apart; public.

    Args:
        partitions: The partitions that are expanded.
        edge_start: [partitions + 1], into `edges`.
        edges: For each partition, the increasing ends of the stretches: stretch b holds the codes
            from edge b up to, not including, edge b + 1, so there is one edge more than there
            are stretches.
    """

    partitions: Ints
    edge_start: Ints
    edges: Ints


@dataclass(frozen=True)
class Masks:
    """The sub-partitions that hold records, by partition; travels sealed.

    Args:
        start: [partitions + 1], into the others.
        mask: Which stretches the records of a sub-partition have items in, as bits; increasing
            within a partition.
        count: How many records these are.
    """

    start: Ints
    mask: Ints
    count: Ints

    def of(self, place: int) -> tuple[Ints, Ints]:
        """Masks and counts of the partition at a place."""
        part = slice(self.start[place], self.start[place + 1])
        return self.mask[part], self.count[part]


class ItemEngine(Protocol):
    """Exact counts of transactions at any size. Every engine gives the same integers.

    Partitions are numbered by the publisher; partition 0 holds all records.
    """

    items: int

    def sizes(self, edges: Ints) -> Sealed[Ints]:
        """The number of records by their number of items: bin j holds edges[j] to edges[j + 1].

        Args:
            edges: The lower ends of the bins. A record with fewer items lies in none.
        """

    def supports(self, cap: int, group: Ints, groups: int) -> Sealed[Ints]:
        """Weighted supports of the items, summed over public groups of them.

        A record counts for each of its items, in units of 1 / WEIGHT: with WEIGHT if it has at
        most `cap` items, else with floor(WEIGHT * cap / its number of items). So it adds at most
        WEIGHT * cap to all sums together. Items in no group count for nothing, as if no record had
        them.

        Args:
            cap: How many items count in full.
            group: The group of each item, -1 for none.
            groups: How many groups there are.
        """

    def cells(self, core: Ints, rest: Ints) -> Sealed[Ints]:
        """The number of records in each cell of a core (see `release.itemsets.CoreCells`)."""

    def expand(self, expansion: Expansion) -> Sealed[Masks]:
        """The sub-partitions that records of some partitions fall into."""

    def keep(self, place: Ints, mask: Ints, first_child: int) -> None:
        """Moves the records of some sub-partitions of the latest expansion to new partitions.

        All others stay where they are.

        Args:
            place: The place of the expanded partition in the expansion, not decreasing.
            mask: The sub-partition.
            first_child: The number of the first new partition; the others are numbered on.
        """

    def counts(self, partitions: Ints) -> Sealed[Ints]:
        """The number of records that lie in each partition now: [partitions, 1]."""
