"""Counting single attributes and the class, and large cells of numbers again."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hedgerow.arrays import Ints
from hedgerow.counting.engine import Histograms
from hedgerow.counting.sealed import Sealed
from hedgerow.measured.edges import fine_edges, recounted
from hedgerow.measured.marginals import CellMap
from hedgerow.measured.measurements import Measurement
from hedgerow.privacy.curator import Curator
from hedgerow.publish.steps.measure import buy_cells
from hedgerow.schema import Schema

__all__ = ["count_again", "count_single", "part_counts"]


def count_single(
    curator: Curator, seen: Sealed[Histograms], schema: Schema, counted: int
) -> tuple[Measurement, list[Ints]]:
    """Counts the first attributes in cells, and the class.

    Returns the measurement, and the noisy table of each attribute; an empty one where there is a
    single value.
    """
    cells = CellMap.of(schema)
    places = cells.tables(counted)

    def flat(found: Histograms) -> Ints:
        tables = [part_counts(found, a, cells.edges[a]) for a in places]
        classes = [tables[0].sum(axis=0)] if schema.classes else []
        return np.concatenate([*(table.sum(axis=1) for table in tables), *classes])

    bought = [(cells.numbers(places), seen.map(flat))]
    drawn = buy_cells(curator, "one_way", bought, numbers=len(places) + bool(schema.classes))
    sizes = [len(cells.edges[a]) - 1 if a in places else 0 for a in range(counted)]
    single = np.split(drawn.values[:, 0], np.cumsum(sizes))[:counted]
    return drawn, single


def count_again(
    curator: Curator, seen: Sealed[Histograms], schema: Schema, single: list[Ints], rows: int
) -> Measurement | None:
    """Counts large cells of numbers in parts; None if there is no such cell.

    A record lies in one cell of an attribute at most, so it is counted once for each attribute.
    """
    cells = CellMap.of(schema)
    places: list[tuple[int, Ints]] = []
    for a, table in enumerate(single):
        if not len(table):
            continue
        edges = cells.edges[a]
        for cell in recounted(schema.attributes[a], edges, table, rows).tolist():
            places.append((a, fine_edges(int(edges[cell]), int(edges[cell + 1]))))
    if not places:
        return None
    exact = seen.map(
        lambda found: np.concatenate(
            [part_counts(found, a, edges).sum(axis=1) for a, edges in places]
        )
    )
    where = np.concatenate([cells.first_code[a] + edges[:-1] for a, edges in places])
    return buy_cells(curator, "fine", [(where, exact)], numbers=len({a for a, _ in places}))


def part_counts(histograms: Histograms, a: int, edges: Ints | NDArray[np.int32]) -> Ints:
    """The class counts of each part of an attribute; codes beyond the edges are left out."""
    part = slice(histograms.start[a], histograms.start[a + 1])
    table = np.zeros((len(edges) - 1, histograms.counts.shape[1]), dtype=np.int64)
    place = np.searchsorted(edges, histograms.code[part], side="right") - 1
    inside = (place >= 0) & (place < len(table))
    np.add.at(table, place[inside], histograms.counts[part][inside])
    return table
