"""An engine seen through cells: numbers can be cut at a few public points only.

Fewer cuts to choose from make better choices, and regions that are made of the cells of marginals
can be compared with them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from hedgerow.arrays import Bools, Ints
from hedgerow.counting.engine import Engine, Histograms, Split
from hedgerow.counting.sealed import Sealed
from hedgerow.counting.sums import RowSums
from hedgerow.measured.edges import edges_of
from hedgerow.measured.partition import TreePartition
from hedgerow.schema import Numeric, Schema

__all__ = ["CoarseEngine"]

Codes = NDArray[np.int32]


class CoarseEngine:
    """Counts by the cells of numbers, and by the codes of all else.

    Args:
        engine: The private data.
        schema: The public schema, from which cells follow.
    """

    def __init__(self, engine: Engine, schema: Schema) -> None:
        self._engine = engine
        edges = [
            edges_of(attribute) if isinstance(attribute, Numeric) else np.arange(attribute.size + 1)
            for attribute in schema.attributes
        ]
        sizes = np.array([len(cut) - 1 for cut in edges], np.int32)
        self.domain = replace(engine.domain, sizes=sizes)
        self._edges = np.concatenate(edges).astype(np.int32)
        self._edge = np.cumsum([0, *map(len, edges)])[:-1]  # where those of an attribute begin
        self._cells = np.concatenate(
            [np.repeat(np.arange(len(cut) - 1), np.diff(cut)) for cut in edges]
        ).astype(np.int32)
        self._cell = np.cumsum([0, *(attribute.size for attribute in schema.attributes)])[:-1]

    def histograms(
        self, nodes: Ints, lo: Codes, hi: Codes, wanted: Bools
    ) -> Iterator[tuple[slice, Sealed[Histograms]]]:
        """See `Engine.histograms`."""
        for part, found in self._engine.histograms(nodes, self._code(lo), self._code(hi), wanted):
            yield part, found.map(self._merged)

    def split(self, split: Split) -> None:
        """See `Engine.split`."""
        attribute = np.repeat(split.attribute, np.diff(split.edge_start))
        self._engine.split(replace(split, edges=self._edges[self._edge[attribute] + split.edges]))

    def class_counts(self, nodes: Ints) -> Sealed[Ints]:
        """See `Engine.class_counts`."""
        return self._engine.class_counts(nodes)

    def cell_counts(self, edges: tuple[Codes, ...]) -> Sealed[tuple[Ints, Ints]]:
        """See `Engine.cell_counts`; these edges are codes."""
        return self._engine.cell_counts(edges)

    def sums(self, question: RowSums) -> Sealed[Ints]:
        """See `Engine.sums`."""
        return self._engine.sums(question)

    def in_codes(self, partition: TreePartition) -> TreePartition:
        """The regions by the codes that their cells are made of."""
        return replace(partition, lo=self._code(partition.lo), hi=self._code(partition.hi))

    def _code(self, cells: Codes) -> Codes:
        """The first code of each cell, [nodes, attributes]; of the end of the last, the size."""
        return self._edges[self._edge + cells]

    def _merged(self, found: Histograms) -> Histograms:
        """Adds up the codes of each cell."""
        code = found.code[: found.start[-1]]
        segment = np.repeat(np.arange(len(found.start) - 1), np.diff(found.start))
        cell = self._cells[self._cell[segment % len(self._cell)] + code]
        new = np.ones(len(code), np.bool_)
        new[1:] = (np.diff(cell) != 0) | (np.diff(segment) != 0)
        firsts = np.flatnonzero(new)
        counts = found.counts[: len(code)]
        if len(firsts):
            counts = np.add.reduceat(counts, firsts, axis=0, dtype=counts.dtype)
        return Histograms(np.searchsorted(firsts, found.start), cell[firsts], counts)
