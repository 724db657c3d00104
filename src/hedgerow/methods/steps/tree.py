"""A partition tree as it grows. Everything here is public: it follows from what was drawn."""

from __future__ import annotations

import numpy as np

from hedgerow.arrays import Bools, Ints, Small
from hedgerow.counting.engine import Domain, Split
from hedgerow.measured.partition import TreePartition
from hedgerow.privacy.sampler import Choices

__all__ = ["GrowingTree", "share_evenly", "share_fairly", "tree_of_cuts"]

Codes = Small

_MOST_WEIGHT = 1 << 38  # times any quota it fits 64 bits; more can only be noise


class GrowingTree:
    """Regions by node number; children of one node are contiguous and ordered by their codes."""

    def __init__(self, domain: Domain) -> None:
        self.domain = domain
        self.parent = np.full(1, -1, dtype=np.int64)
        self.depth = np.zeros(1, dtype=np.int64)
        self.split_on = np.full(1, -1, dtype=np.int64)
        self.lo: Codes = np.zeros((1, domain.attributes), dtype=np.int32)
        self.hi: Codes = domain.sizes[None, :].copy()
        self.taxon: Codes = domain.root[None, :].copy()

    def splittable(self, nodes: Ints) -> Bools:
        """Which attributes of each node can be specialised."""
        return self.domain.splittable(self.lo[nodes], self.hi[nodes], self.taxon[nodes])

    def open_nodes(self, nodes: Ints) -> Bools:
        """Which nodes can be specialised at all."""
        return np.asarray(self.splittable(nodes).any(axis=1), dtype=np.bool_)

    def specialise(self, nodes: Ints, choices: Choices, *, final: bool) -> tuple[Split, Ints]:
        """Adds the children of nodes; after the final level no child will be split again.

        Returns the split for the engine and, for each child, its parent's place in `nodes`.
        """
        attribute = choices.part
        taxon = self.taxon[nodes, attribute]
        numeric = taxon < 0
        number = np.where(
            numeric, 2, self.domain.children[taxon] if len(self.domain.children) else 2
        )
        place = np.repeat(np.arange(len(nodes)), number)
        which = np.arange(len(place)) - np.repeat(np.cumsum(number) - number, number)
        first_child = len(self.parent)
        a = attribute[place]
        lo, hi, taxa = self.lo[nodes[place]], self.hi[nodes[place]], self.taxon[nodes[place]]
        rows = np.arange(len(place))
        if len(self.domain.children):
            child = np.where(numeric[place], 0, self.domain.first_child[taxon[place]] + which)
            child_lo, child_hi = self.domain.node_lo[child], self.domain.node_hi[child]
        else:
            child = child_lo = child_hi = np.zeros(len(place), dtype=np.int32)
        cut = choices.cut[place]
        is_numeric = numeric[place]
        lo[rows, a] = np.where(is_numeric, np.where(which == 0, lo[rows, a], cut), child_lo)
        hi[rows, a] = np.where(is_numeric, np.where(which == 0, cut, hi[rows, a]), child_hi)
        taxa[rows, a] = np.where(is_numeric, -1, child)
        inner = which > 0
        split = Split(
            nodes=nodes,
            attribute=attribute,
            edge_start=np.concatenate([[0], np.cumsum(number - 1)]).astype(np.int64),
            edges=lo[rows[inner], a[inner]],
            first_child=first_child,
            final=final,
        )
        self.split_on[nodes] = attribute
        self.parent = np.concatenate([self.parent, nodes[place]])
        self.depth = np.concatenate([self.depth, self.depth[nodes[place]] + 1])
        self.split_on = np.concatenate([self.split_on, np.full(len(place), -1, dtype=np.int64)])
        self.lo, self.hi = np.concatenate([self.lo, lo]), np.concatenate([self.hi, hi])
        self.taxon = np.concatenate([self.taxon, taxa])
        return split, place

    def sort_by_level(self) -> None:
        """Renumbers nodes in breadth-first order; children of one node stay together."""
        order = np.zeros(1, dtype=np.int64)
        place = np.zeros(len(self.parent), dtype=np.int64)
        for depth in range(1, int(self.depth.max()) + 1):
            nodes = np.flatnonzero(self.depth == depth)
            nodes = nodes[np.argsort(place[self.parent[nodes]], kind="stable")]
            place[nodes] = len(order) + np.arange(len(nodes))
            order = np.concatenate([order, nodes])
        self.parent = np.where(self.parent[order] < 0, -1, place[self.parent[order]])
        self.depth, self.split_on = self.depth[order], self.split_on[order]
        self.lo, self.hi, self.taxon = self.lo[order], self.hi[order], self.taxon[order]

    def partition(self) -> TreePartition:
        """The finished tree."""
        return TreePartition(
            parent=self.parent.astype(np.int32),
            depth=self.depth.astype(np.int16),
            split=self.split_on.astype(np.int16),
            lo=self.lo,
            hi=self.hi,
        )


def tree_of_cuts(domain: Domain, steps: list[tuple[int, int, int, int]]) -> TreePartition:
    """The tree that single-dimensional specialisations make, taken in order.

    Args:
        domain: The public domain.
        steps: The attribute, the interval [lo, hi) and the cut of each specialised value; it
            splits every region that has this value. A cut of -1 stands for a taxonomy node.
    """
    tree = GrowingTree(domain)
    for attribute, lo, hi, cut in steps:
        has_value = (tree.lo[:, attribute] == lo) & (tree.hi[:, attribute] == hi)
        nodes = np.flatnonzero(has_value & (tree.split_on < 0))
        choices = Choices(np.full(len(nodes), attribute), np.full(len(nodes), cut))
        tree.specialise(nodes, choices, final=False)
    tree.sort_by_level()
    return tree.partition()


def share_fairly(
    quota: Ints, place: Ints, noisy: Ints, open_: Bools, first_to_gain: Ints | None = None
) -> Ints:
    """Shares each parent's quota among its children in proportion to noisy counts.

    Whole numbers by largest remainder, ties to the first child; the sum is kept exactly. Children
    that cannot be specialised get nothing, unless none can.

    Args:
        quota: What each parent has to give.
        place: The parent of each child, in increasing order.
        noisy: The children's noisy counts; negative ones count as 0.
        open_: Which children can be specialised at all.
        first_to_gain: The child of each parent, by its rank, who is the first to get one of those
            that are left over, and then the next; without it, the largest remainders.

    Example:
        >>> place = np.array([0, 0])
        >>> share_fairly(np.array([20]), place, np.array([8, 2]), np.array([True, True]))
        array([16,  4])
    """
    parents = len(quota)
    weight = np.where(open_, np.clip(noisy, 0, _MOST_WEIGHT), 0)
    nothing = np.bincount(place, weights=weight > 0, minlength=parents) == 0
    weight = np.where(nothing[place], open_.astype(np.int64), weight)
    total = _sums(weight, place, parents)
    total_c, quota_c = np.maximum(total[place], 1), quota[place]
    share = quota_c * weight // total_c
    rest = quota_c * weight % total_c
    over = np.where(total > 0, quota - _sums(share, place, parents), 0)
    number = np.bincount(place, minlength=parents)
    first = np.concatenate([[0], np.cumsum(number)[:-1]])
    if first_to_gain is not None:
        rest = -((np.arange(len(place)) - (first + first_to_gain)[place]) % number[place])
    order = np.lexsort((np.arange(len(place)), -rest, place))
    rank = np.empty(len(place), dtype=np.int64)
    rank[order] = np.arange(len(place)) - first[place[order]]
    return share + ((rank < over[place]) & open_)


def share_evenly(quota: Ints, place: Ints, open_: Bools) -> Ints:
    """Shares each parent's quota equally: it looks at no data and costs nothing."""
    return share_fairly(quota, place, np.ones(len(place), dtype=np.int64), open_)


def _sums(values: Ints, place: Ints, parents: int) -> Ints:
    sums = np.zeros(parents, dtype=np.int64)
    np.add.at(sums, place, values)
    return sums
