"""Guaranteed intervals of counts on a release with marginals.

The error alpha is split between the two ends, since the lower end of a query with several
conditions is mostly 0, and at each end between two families of bounds (`candidates`): the ends of
both hold together, so the better one may be taken.
"""

from __future__ import annotations

import numpy as np

from hedgerow.arrays import Floats
from hedgerow.estimate.intervals.best_end import best_upper_ends
from hedgerow.estimate.intervals.candidates import Measured, bounds_of
from hedgerow.estimate.intervals.conditions import Conditions

__all__ = ["guaranteed_ends"]


# Parts of alpha with 0, 1, 2 and more conditions: of the upper end, and at either end of bounds
# that are always there. With two conditions a measured pair gives both ends.
_UPPER = (0.5, 0.5, 0.6, 0.95)
_FIXED = (0.9, 0.7, 0.5, 0.7)


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
