"""Guaranteed intervals of counts on a release with marginals.

The error alpha is split between the two ends, since the lower end of a query with several
conditions is mostly 0, and at each end between two families of bounds (`candidates`): the ends of
both hold together, so the better one may be taken.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING

import numpy as np

from hedgerow.arrays import Floats, Ints
from hedgerow.estimate.intervals.best_end import best_upper_ends
from hedgerow.estimate.intervals.candidates import Measured, bounds_of
from hedgerow.estimate.intervals.conditions import CLASS, Conditions
from hedgerow.estimate.intervals.tables import Tables
from hedgerow.measured.edges import fine_edges
from hedgerow.measured.marginals import Marginals

if TYPE_CHECKING:
    from collections.abc import Mapping


__all__ = ["guaranteed_ends", "measured_tables"]


# Parts of alpha with 0, 1, 2 and more conditions: of the upper end, and at either end of bounds
# that are always there. With two conditions a measured pair gives both ends.
_UPPER = (0.5, 0.5, 0.6, 0.95)
_FIXED = (0.9, 0.7, 0.5, 0.7)


def measured_tables(
    marginals: Marginals, deviations: Mapping[str, float], total: tuple[float, float]
) -> Measured:
    """The tables of a release, for bounds.

    Args:
        marginals: The tables.
        deviations: The standard deviation of each kind's noise, for its tails.
        total: The number of records by the regions, and its variance.
    """
    counts: dict[Hashable, Floats] = {
        place: table.astype(np.float64)
        for place, table in enumerate(marginals.single)
        if len(table)
    }
    edges = {place: cut for place, cut in enumerate(marginals.cells.edges) if place in counts}
    if len(marginals.classes):
        edges[CLASS] = np.arange(len(marginals.classes) + 1)
        counts[CLASS] = marginals.classes.astype(np.float64)
    parts = {
        (place, cell): (
            fine_edges(int(edges[place][cell]), int(edges[place][cell + 1])),
            table.astype(np.float64),
        )
        for (place, cell), table in marginals.fine.items()
    }

    def tables(kind: str, found: Mapping[tuple[int, int], Ints]) -> Tables | None:
        flat: dict[Hashable, Floats] = {
            pair: table.ravel().astype(np.float64) for pair, table in found.items()
        }
        return Tables(counts=flat, deviation=deviations[kind], total=total) if flat else None

    return Measured(
        edges=edges,
        single=Tables(counts=counts, deviation=deviations["one_way"], total=total),
        parts=parts,
        parts_variance=deviations.get("fine", 0.0) ** 2,
        groups=dict(enumerate(marginals.pairs.edges)),
        pairs=tables("two_way", marginals.pair),
        extra=tables("extra", marginals.extra),
    )


def guaranteed_ends(
    measured: Measured,
    asked: Conditions,
    estimate: Floats,
    variance: Floats,
    level: float,
) -> tuple[Floats, Floats]:
    """The ends of intervals that hold the truth at a level, whatever the data looks like.

    Args:
        measured: The tables.
        asked: The conditions of the queries, which were chosen without looking at the release.
        estimate: By the regions: what lies inside, evenly and touched, shape [queries, 3].
        variance: The variances of these.
        level: The level.

    Returns:
        The lower and upper ends: whole numbers, at least 0.
    """
    many = np.minimum(asked.number, len(_UPPER) - 1)
    fixed, upper = np.array(_FIXED)[many], np.array(_UPPER)[many]
    low, high = (
        np.minimum(
            best_upper_ends(*side.fixed.padded(asked.queries), share * fixed),
            best_upper_ends(*side.chosen.padded(asked.queries), share * (1 - fixed)),
        )
        for side, share in zip(
            bounds_of(measured, asked, estimate, variance),
            ((1 - level) * (1 - upper), (1 - level) * upper),
            strict=True,
        )
    )
    # the truth is a whole number, so an interval may end at one
    return np.maximum(np.ceil(-low - 1e-9), 0.0), np.maximum(np.floor(high + 1e-9), 0.0)
