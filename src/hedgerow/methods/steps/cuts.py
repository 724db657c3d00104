"""DiffGen's state: the cut of each attribute, and what may be specialised next. All public."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from hedgerow.arrays import Bools, Ints, Small
from hedgerow.counting.engine import Domain, Histograms
from hedgerow.methods.steps import scores
from hedgerow.methods.steps.scores import ALL_CUTS, SKIP, Score
from hedgerow.privacy.sampler import Candidates

__all__ = ["Cuts"]


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
        """Which values can be specialised without exceeding the cap on regions."""
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
        """Scores what may be specialised next, as one set of candidates.

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

    def specialise(self, value: int, cut: int) -> None:
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
