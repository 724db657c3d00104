"""What grows, all of it public: a partition tree, or the cut of each attribute."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from hedgerow.arrays import Bools, Ints, Small
from hedgerow.counting.engine import Domain, Histograms, Split
from hedgerow.estimate.partition import TreePartition
from hedgerow.methods import scores
from hedgerow.methods.scores import ALL_CUTS, SKIP, Score
from hedgerow.privacy.sampler import Candidates, Choices

# A partition tree as it grows. Everything here is public: it follows from what was drawn.


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
        """Which attributes of each node can be specialized."""
        return self.domain.splittable(self.lo[nodes], self.hi[nodes], self.taxon[nodes])

    def open_nodes(self, nodes: Ints) -> Bools:
        """Which nodes can be specialized at all."""
        return np.asarray(self.splittable(nodes).any(axis=1), dtype=np.bool_)

    def specialize(self, nodes: Ints, choices: Choices, *, final: bool) -> tuple[Split, Ints]:
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
    """The tree that single-dimensional specializations make, taken in order.

    Args:
        domain: The public domain.
        steps: The attribute, the interval [lo, hi) and the cut of each specialized value; it
            splits every region that has this value. A cut of -1 stands for a taxonomy node.
    """
    tree = GrowingTree(domain)
    for attribute, lo, hi, cut in steps:
        has_value = (tree.lo[:, attribute] == lo) & (tree.hi[:, attribute] == hi)
        nodes = np.flatnonzero(has_value & (tree.split_on < 0))
        choices = Choices(np.full(len(nodes), attribute), np.full(len(nodes), cut))
        tree.specialize(nodes, choices, final=False)
    tree.sort_by_level()
    return tree.partition()


def share_fairly(
    quota: Ints, place: Ints, noisy: Ints, open_: Bools, first_to_gain: Ints | None = None
) -> Ints:
    """Shares each parent's quota among its children in proportion to noisy counts.

    Whole numbers by largest remainder, ties to the first child; the sum is kept exactly. Children
    that cannot be specialized get nothing, unless none can.

    Args:
        quota: What each parent has to give.
        place: The parent of each child, in increasing order.
        noisy: The children's noisy counts; negative ones count as 0.
        open_: Which children can be specialized at all.
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


# DiffGen's state: the cut of each attribute, and what may be specialized next. All public.


class Cuts:
    """The values of all cuts, each an interval of codes of one attribute.

    Args:
        domain: The public domain.
        max_cells: The most regions that the product of all cuts may have.
    """

    def __init__(self, domain: Domain, max_cells: int) -> None:
        self._domain = domain
        self._max_cells = max_cells
        self.attribute: Ints = np.arange(domain.attributes)
        self.lo: Ints = np.zeros(domain.attributes, dtype=np.int64)
        self.hi: Ints = domain.sizes.astype(np.int64)
        self.taxon: Ints = domain.root.astype(np.int64)
        self.split_point: Ints = np.full(domain.attributes, -1, dtype=np.int64)
        self.steps: list[tuple[int, int, int, int]] = []  # attribute, lo, hi, cut of each

    def _children(self, value: int) -> int:
        taxon = self.taxon[value]
        return 2 if taxon < 0 else int(self._domain.children[taxon])

    def open_values(self) -> Bools:
        """Which values can be specialized without exceeding the cap on regions."""
        parts = np.bincount(self.attribute, minlength=self._domain.attributes)
        cells = 1
        for number in parts.tolist():
            cells *= number
        fits = [
            cells // int(parts[a]) * (int(parts[a]) - 1 + self._children(value)) <= self._max_cells
            for value, a in enumerate(self.attribute)
        ]
        numeric = (self.taxon < 0) & (self.hi - self.lo >= 2)
        inner = np.asarray(
            [taxon >= 0 and self._domain.children[taxon] > 0 for taxon in self.taxon]
        )
        return np.asarray((numeric | inner) & fits, dtype=np.bool_)

    def without_split_point(self) -> Iterator[Ints]:
        """Numeric values that lack a split point, in groups whose values are disjoint."""
        lacking = (self.taxon < 0) & (self.hi - self.lo >= 2) & (self.split_point < 0)
        for a in np.unique(self.attribute[lacking]):
            yield np.flatnonzero(lacking & (self.attribute == a))

    def split_points(self, values: Ints, score: Score) -> Callable[[Histograms], Candidates]:
        """Scores all split points of some numeric values, each value by itself, as a paper does."""
        return self._scored(values, np.full(len(values), ALL_CUTS), score, paper=True)

    def candidates(self, score: Score, *, joint: bool) -> Callable[[Histograms], Candidates]:
        """Scores what may be specialized next, as one set of candidates.

        Args:
            score: The score.
            joint: Whether all split points of a numeric value are candidates, or only the one
                that was drawn for it, as in the paper.
        """
        values = np.flatnonzero(self.open_values())
        ask = np.where((self.taxon[values] >= 0) | joint, ALL_CUTS, self.split_point[values])
        scored = self._scored(values, ask, score, paper=not joint)

        def compute(marginals: Histograms) -> Candidates:
            each = scored(marginals)
            part = np.repeat(values, np.diff(each.start))
            ends = each.start[[0, -1]]
            return Candidates(
                start=ends,
                score=each.score,
                weight=each.weight,
                count=each.count,
                part=part,
                first=each.first,
            )

        return compute

    def _scored(
        self, values: Ints, ask: Ints, score: Score, *, paper: bool
    ) -> Callable[[Histograms], Candidates]:
        shape = (len(values), self._domain.attributes)
        places = (np.arange(len(values)), self.attribute[values])

        def spread(column: Ints, otherwise: int) -> Small:
            matrix = np.full(shape, otherwise, dtype=np.int32)
            matrix[places] = column
            return matrix

        lo, hi = spread(self.lo[values], 0), spread(self.hi[values], 0)
        score_all = scores.candidates(
            self._domain,
            lo,
            hi,
            spread(self.taxon[values], -1),
            spread(ask, SKIP),
            score,
            apart=True,
            paper=paper,
        )

        def compute(marginals: Histograms) -> Candidates:
            pieces, sizes = [], np.zeros(shape, dtype=np.int64)
            for i, a in zip(*places, strict=True):
                segment = slice(marginals.start[a], marginals.start[a + 1])
                ends = np.searchsorted(marginals.code[segment], (lo[i, a], hi[i, a]))
                pieces.append(np.arange(*(segment.start + ends)))
                sizes[i, a] = len(pieces[-1])
            take = np.concatenate(pieces)
            start = np.concatenate([[0], np.cumsum(sizes.ravel())])
            return score_all(Histograms(start, marginals.code[take], marginals.counts[take]))

        return compute

    def specialize(self, value: int, cut: int) -> None:
        """Replaces a value by its children: two intervals, or the children of a taxonomy node."""
        a, taxon = int(self.attribute[value]), self.taxon[value]
        self.steps.append((a, int(self.lo[value]), int(self.hi[value]), cut))
        if taxon < 0:
            ends = [(self.lo[value], cut, -1), (cut, self.hi[value], -1)]
        else:
            first = self._domain.first_child[taxon]
            ends = [
                (self._domain.node_lo[child], self._domain.node_hi[child], child)
                for child in range(first, first + self._domain.children[taxon])
            ]
        for name, column in zip(("lo", "hi", "taxon"), zip(*ends, strict=True), strict=True):
            kept = np.delete(getattr(self, name), value)
            setattr(self, name, np.concatenate([kept, np.asarray(column, dtype=np.int64)]))
        self.attribute = np.concatenate([np.delete(self.attribute, value), np.full(len(ends), a)])
        new = np.full(len(ends), -1, dtype=np.int64)
        self.split_point = np.concatenate([np.delete(self.split_point, value), new])

    def edges(self) -> tuple[Small, ...]:
        """The edges of each attribute's cut, from 0 to its size."""
        return tuple(
            np.append(np.sort(self.lo[self.attribute == a]), size).astype(np.int32)
            for a, size in enumerate(self._domain.sizes)
        )
