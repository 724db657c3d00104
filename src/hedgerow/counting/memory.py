"""The in-memory engine: rows grouped by node, moved once a level."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from hedgerow.arrays import Ints, number_rows
from hedgerow.counting.engine import Codes, Domain, Histograms, Split
from hedgerow.counting.parts import Engine, HistogramQuestion, RowLayout, split_rows
from hedgerow.counting.sealed import Sealed
from hedgerow.data import Table
from hedgerow.errors import DataError

T = TypeVar("T")

# What is counted apart from nodes: the distinct records.


@dataclass(frozen=True, eq=False)
class DistinctRecords:
    """What a table holds, each distinct record once, in lexicographic order; travels sealed.

    Args:
        values: The codes of predictors, then of the class if there is one: [records, attributes].
        weights: Levels of people's own weights: [records, columns].
        counts: How many rows are the same.
    """

    values: Ints
    weights: Ints
    counts: Ints


MOST_ROWS = 1 << 31  # rows' places and counts have 32 bits
BATCH = 1 << 27  # bytes of histograms that are scored together


class MemoryEngine(Engine):
    """Counts rows that fit in memory: one part, which lies as it was read.

    Args:
        table: The private table; it is read, not changed.
        batch: How many bytes a batch of histograms may take until it has been scored.
    """

    def __init__(self, table: Table, batch: int = BATCH) -> None:
        if table.codes.shape[0] >= MOST_ROWS:
            raise DataError(
                "the table has more rows than the in-memory engine can count",
                hint="Take the engine streamed (--engine streamed, engine='streamed').",
            )
        layout = RowLayout.of_matrix(table.codes)
        super().__init__(Domain.of(table.schema), layout, batch, copies=1)
        self._table = table
        shape = len(table.codes), layout.stride
        self._rows, self._spare = np.empty(shape, np.uint8), np.empty(shape, np.uint8)
        self._rows.view(table.codes.dtype)[:, : table.codes.shape[1]] = table.codes
        classes = table.codes[:, self.domain.attributes]
        self._counts = np.bincount(classes, minlength=self.domain.classes)[None, :]
        self._bounds = np.array([[0], [len(table.codes)]], dtype=np.int32)  # of the latest nodes

    def _count(self, question: HistogramQuestion) -> Histograms:
        bounds = self._bounds.take(question.nodes, axis=1)
        return question.count(self._rows, self._layout, bounds)

    def _move(self, places: Ints, split: Split) -> Ints:
        bounds, moved = self._bounds.take(places, axis=1), None if split.final else self._spare
        self._bounds, counts = split_rows(
            self._rows, moved, self._layout, bounds, bounds[0], split, self.domain.classes
        )
        if not split.final:  # whatever may be split again has moved over
            self._rows, self._spare = self._spare, self._rows
        return counts

    def distinct_records(self) -> Sealed[DistinctRecords]:
        """Counts the distinct records of a table; weights of people's own make records differ."""
        table = self._table
        width = len(table.schema.attributes) + (table.schema.target is not None)
        own = table.weights
        columns: list[NDArray[Any]] = [table.codes[:, place] for place in range(width)]
        columns += [] if own is None else [own[:, place] for place in range(own.shape[1])]
        number = number_rows(columns, len(table.codes))
        _, first, counts = np.unique(number, return_index=True, return_counts=True)
        distinct = np.stack([column[first].astype(np.int64) for column in columns], axis=1)
        return Sealed(
            DistinctRecords(distinct[:, :width], distinct[:, width:], counts.astype(np.int64))
        )

    def _ask(
        self, ask: Callable[[Iterable[Codes]], T], add: Callable[[Sequence[T]], T], none: T
    ) -> T:
        return ask([self._table.codes])
