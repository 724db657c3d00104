"""The model of a release with marginals, from which counts, rows and classes all come.

Where records lie follows from the forest and the regions (`rows`), which class they have from
logits (`classes`). So counts, rows and predictions agree, but for the whole numbers that rows are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from hedgerow.arrays import Floats, Ints
from hedgerow.estimate.cells import Cells
from hedgerow.estimate.marginals.bitmaps import Bitmaps, in_words
from hedgerow.estimate.marginals.by_regions import Sides
from hedgerow.estimate.marginals.classes import Logits
from hedgerow.estimate.marginals.denoise import record_total
from hedgerow.estimate.marginals.forest import Forest, Random, fit_forest
from hedgerow.estimate.marginals.rows import (
    Held,
    Weighed,
    deal_classes,
    most_rows,
    take_rows,
    weigh,
)
from hedgerow.measured.marginals import Marginals
from hedgerow.measured.partition import Partition

if TYPE_CHECKING:
    from hedgerow.schema.query import Query

__all__ = ["Model", "fit_model"]


COUNTED_IN = 150_000
"""The most rows that stand for the records when queries are answered."""

PER_RECORD = 10
"""And how many of them there are for each record."""

PER_ROW, LEAST_DRAWN, BLOCK = 3, 20_000, 50_000


@dataclass(frozen=True, eq=False, kw_only=True)
class Model:
    """What a release with marginals says about records.

    Args:
        marginals: The tables.
        forest: Where records lie.
        regions: What regions hold.
        shares: The class shares of each region by its counts alone, [regions, classes].
        by_class: How many records have each class, by all that counted them.
    """

    marginals: Marginals
    forest: Forest
    regions: Held
    shares: Floats
    by_class: Floats

    @cached_property
    def weighed(self) -> Weighed:
        """Rows to count in: of a small table fewer do, since noise is larger than their steps."""
        wanted = max(LEAST_DRAWN, int(PER_RECORD * self.forest.total))
        return in_words(self.stand_ins(min(COUNTED_IN, wanted)))

    def stand_ins(self, rows: int) -> Weighed:
        """About so many rows that stand for the records, the same at each time."""
        rows = min(rows, most_rows(len(self.forest.codes)))
        return weigh(self.forest, self.regions, rows, np.random.default_rng(0))

    @cached_property
    def _logits(self) -> Logits | None:
        logits = Logits.of(self.marginals)
        if logits is not None:
            found = self.weighed
            logits.balance(found.synthetic, found.region, found.weight, self.by_class)
        return logits

    def probabilities(self, codes: Ints, region: Ints | None = None) -> Floats:
        """The class probabilities of records, [records, classes]."""
        if region is None:
            region = self.regions.partition.locate(codes)
        if self._logits is None:
            return np.asarray(self.shares[region])
        return self._logits.probabilities(codes, region)

    @cached_property
    def _bitmaps(self) -> Bitmaps:
        return Bitmaps(self.weighed, [len(codes) for codes in self.forest.codes])

    @cached_property
    def _weighed_classes(self) -> Floats:
        return self.probabilities(self.weighed.synthetic, self.weighed.region)

    def count(self, queries: Sequence[Query]) -> Floats:
        """How many records meet each query."""
        asked = {query.classes for query in queries if query.classes is not None}
        planes = {one: self._bitmaps.planes(self._weighed_classes, one) for one in asked}
        return self._bitmaps.count(queries, planes)

    def draw(self, rows: int, random: Random) -> tuple[Ints, Ints]:
        """So many rows as codes, in random order, and their classes."""
        attributes = len(self.forest.codes)
        codes, classes = [np.empty((0, attributes), np.int64)], [np.empty(0, np.int64)]
        cells = [
            np.repeat(np.arange(len(edges) - 1), np.diff(edges))
            for edges in self.marginals.cells.edges
        ]
        left = rows
        while left > 0:
            size = min(left, BLOCK, most_rows(attributes) // PER_ROW)
            found = weigh(self.forest, self.regions, max(LEAST_DRAWN, PER_ROW * size), random)
            taken = take_rows(found, size, random)
            drawn, region = found.synthetic[taken], found.region[taken]
            features = np.stack([which[drawn[:, a]] for a, which in enumerate(cells)])
            shares = self.probabilities(drawn, region)
            regions = len(self.regions.counts)
            classes.append(deal_classes(features, region, shares, regions, random))
            codes.append(drawn)
            left -= size
        order = random.permutation(rows)
        return np.concatenate(codes)[order], np.concatenate(classes)[order]


def fit_model(
    marginals: Marginals,
    partition: Partition,
    cells: Cells,
    shares: Floats,
    *,
    with_regions: bool = False,
) -> Model:
    """Fits the model to everything that was measured.

    Args:
        marginals: The tables.
        partition: The regions.
        cells: What was counted in the regions, all of which are listed.
        shares: The class shares of each region, [regions, classes].
        with_regions: Whether regions also say how many records have a value. For estimates alone:
            rounds are published, and verified, against the model without it.
    """
    counts, variance = cells.values.sum(axis=1), cells.variance.sum(axis=1)
    total = record_total(marginals, [(float(counts.sum()), float(variance.sum()))])
    shares = np.maximum(shares, 1e-9)
    lo, hi = partition.bounds(np.arange(len(counts) if with_regions else 0))
    sides = [
        Sides(low=low, high=high, counts=counts, variance=variance)
        for low, high in zip(lo.T, hi.T, strict=True)
        if with_regions
    ]
    return Model(
        marginals=marginals,
        forest=fit_forest(marginals, total, sides),
        regions=Held(partition, counts, np.sqrt(variance)),
        shares=shares / shares.sum(axis=1, keepdims=True),
        by_class=_class_totals(marginals, cells, total),
    )


def _class_totals(marginals: Marginals, cells: Cells, total: float) -> Floats:
    """How many records have each class, by their own table and by the regions."""
    found, spread = cells.values.sum(axis=0), cells.variance.sum(axis=0)
    if len(marginals.classes):
        own = marginals.noise["one_way"] ** 2
        found = (found / spread + marginals.classes / own) / (1 / spread + 1 / own)
    found = np.maximum(found, 1e-9)
    return np.asarray(found * (total / found.sum()))
