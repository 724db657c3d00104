"""What the workers of a cluster do: each has partitions of the rows, and answers questions.

A partition is never changed: a split makes a new one from the old. So the cluster can make any of
them again from the files and the splits, when the worker that had it is lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.counting.domain import Domain
from hedgerow.counting.engine import Split
from hedgerow.counting.layout import Bytes, Layout
from hedgerow.counting.questions import (
    Bounds,
    Cells,
    HistogramQuestion,
    Tally,
    cells_of,
    split_rows,
    sum_cells,
)
from hedgerow.schema import Schema
from hedgerow.table.parquet import Piece, read_piece
from hedgerow.table.rules import Report
from hedgerow.table.stream import encode_columns

__all__ = [
    "Partition",
    "class_counts",
    "count",
    "count_cells",
    "merge",
    "merge_cells",
    "partition_of",
    "read_partition",
    "report_of",
    "split_partition",
]

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Partition:
    """Some of the rows, grouped by the nodes of the latest level.

    Args:
        rows: Packed rows.
        bounds: Where the rows of each node lie.
        counts: The class counts of each node.
        report: What was odd about the rows as they were read.
        closed: Rows of nodes that were not split, so that nobody asks for them but by cells.
    """

    rows: Bytes
    bounds: Bounds
    counts: Ints
    report: Report
    closed: tuple[Bytes, ...] = ()

    def __repr__(self) -> str:
        """Nothing: a repr ends up in logs and on dashboards."""
        return "Partition(...)"


def partition_of(rows: Bytes, domain: Domain, report: Report | None = None) -> Partition:
    """A partition whose rows all belong to the root."""
    column = Layout.of(domain).column(rows, -1)
    return Partition(
        rows,
        np.array([[0], [len(rows)]], dtype=np.int32),
        np.bincount(column, minlength=domain.classes).astype(np.int64)[None, :],
        report or Report(),
    )


def read_partition(
    pieces: Sequence[Piece], first_row: int, schema: Schema, wanted: Sequence[str]
) -> Partition:
    """Reads and encodes pieces of the input."""
    domain = Domain.of(schema)
    layout = Layout.of(domain)
    attributes: list[Any] = [*schema.attributes]
    if schema.target is not None:
        attributes.append(schema.target)
    report = Report()
    blocks = [np.zeros((0, layout.stride), dtype=np.uint8)]
    for piece in pieces:
        for batch in read_piece(piece, wanted, threads=False):  # others read at the same time
            columns, stays = encode_columns(batch, attributes, report, first_row)
            first_row += batch.num_rows
            if schema.target is None:
                columns.append(np.zeros(batch.num_rows, dtype=np.int64))
            packed = layout.pack(columns)
            blocks.append(packed if stays is None else packed[stays])
    return partition_of(np.concatenate(blocks), domain, report)


def split_partition(
    partition: Partition, order: tuple[Ints, Split], layout: Layout, classes: int
) -> Partition:
    """The partition after a split; `order` holds the places of the split's nodes, and the split."""
    places, split = order
    rows = partition.rows
    bounds = np.ascontiguousarray(partition.bounds[:, places])
    size = bounds[1] - bounds[0]
    closed = partition.closed
    if split.final:
        moved, into = None, bounds[0]
    else:
        # rows that may be split again lie together, and no other row is copied twice
        into = (np.cumsum(size) - size).astype(np.int32)
        moved = np.empty((int(size.sum()), layout.stride), dtype=np.uint8)
        if len(moved) < len(rows):
            stays = np.ones(len(rows), dtype=np.bool_)
            for first, last in bounds.T.tolist():
                stays[first:last] = False
            closed = (*closed, rows[stays])
    inner, counts = split_rows(rows, moved, layout, bounds, into, split, classes)
    return Partition(rows if moved is None else moved, inner, counts, partition.report, closed)


def class_counts(partition: Partition) -> Ints:
    """The class counts of the nodes of the latest level."""
    return partition.counts


def report_of(partition: Partition) -> Report:
    """What was odd about the rows."""
    return partition.report


def count(partition: Partition, question: HistogramQuestion, layout: Layout) -> Tally:
    """Answers a question about histograms."""
    tally = question.tally()
    question.count(partition.rows, layout, partition.bounds, tally)
    return tally


def merge(tallies: Sequence[Tally]) -> Tally:
    """Adds up answers, none of which is changed."""
    total = Tally(tallies[0].counts.copy(), [*tallies[0].keys])
    for tally in tallies[1:]:
        total.add(tally)
    return total


def count_cells(
    partition: Partition, layout: Layout, edges: Sequence[NDArray[np.int32]], classes: int
) -> Cells:
    """The nonempty cells of a product of cuts."""
    return sum_cells(
        [cells_of(rows, layout, edges, classes) for rows in (partition.rows, *partition.closed)]
    )


def merge_cells(parts: Sequence[Cells]) -> Cells:
    """Adds up cells."""
    return sum_cells(parts)
