"""The in-memory engine: rows grouped by node, moved once a level."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.arrays import Ints, number_rows
from hedgerow.counting.engine import Domain
from hedgerow.counting.parts import Engine, RowLayout, RowPart
from hedgerow.counting.sealed import Sealed
from hedgerow.data import Table
from hedgerow.errors import DataError

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
        codes, layout = table.codes, RowLayout.of_matrix(table.codes)
        super().__init__(Domain.of(table.schema), layout, batch, copies=1)
        self._table = table
        rows = np.empty((len(codes), layout.stride), np.uint8)
        rows.view(codes.dtype)[:, : codes.shape[1]] = codes
        self._part = RowPart(rows, layout, self.domain.classes, codes)
        self._counts = self._part.answer

    def distinct_records(self) -> Sealed[tuple[Ints, Ints, Ints]]:
        """What the table holds, each distinct record once, in lexicographic order.

        The codes of predictors, then of the class if there is one: [records, attributes]; the
        levels of people's own weights, which make records differ: [records, columns]; and how many
        rows are the same.
        """
        table = self._table
        width = len(table.schema.attributes) + (table.schema.target is not None)
        own = table.weights
        columns: list[NDArray[Any]] = [table.codes[:, place] for place in range(width)]
        columns += [] if own is None else [own[:, place] for place in range(own.shape[1])]
        number = number_rows(columns, len(table.codes))
        _, first, counts = np.unique(number, return_index=True, return_counts=True)
        distinct = np.stack([column[first].astype(np.int64) for column in columns], axis=1)
        return Sealed((distinct[:, :width], distinct[:, width:], counts.astype(np.int64)))
