"""One-way tables without most of their noise.

A table with many empty cells is mostly noise: each of them holds some, and together they draw
records away from the others. So where most cells lie within the noise, only those that stand out
are believed, and the few records that are then missing are laid where they are likely. A cell of
one value that may hold very many records, or none, whatever its neighbours hold (the lowest one, 0,
a common one, "other") is always believed.
"""

from __future__ import annotations

import numpy as np

from hedgerow.arrays import Bools, Floats
from hedgerow.estimate.rounding import project

__all__ = ["LEAST", "denoise"]


LEAST = 1e-6  # no cell is quite impossible: the noise hides small ones
_STANDS_OUT = 2.5  # standard deviations
_MOST_SMALL = 0.6  # of the cells, for a table that is believed as it is
_FALL = 4.0  # from one cell to the next, beside those that stand out


def denoise(
    counts: Floats,
    total: float,
    noise: float | Floats,
    *,
    ordered: bool,
    own: Bools | None = None,
) -> Floats:
    """Counts of cells that are not negative and add up to a total.

    Args:
        counts: The noisy counts.
        total: What they add up to, above 0.
        noise: The standard deviation of their noise, one for all or one for each.
        ordered: Whether neighbouring cells are alike, as those of numbers are.
        own: Cells of a value that neighbours say nothing about, such as 0 or "other": they keep
            their own noisy count, however small it is.

    Example:
        >>> denoise(np.array([60.0, 41.0]), 100.0, 1.0, ordered=True).tolist()
        [59.5, 40.5]
        >>> noisy = np.array([101.0, 5.0, -5.0, -1.0])
        >>> denoise(noisy, 100.0, 4.0, ordered=False).round(6).tolist()
        [100.0, 0.0, 0.0, 0.0]
        >>> denoise(noisy, 100.0, 4.0, ordered=False, own=noisy == 5).round(1).tolist()
        [95.3, 4.7, 0.0, 0.0]
    """
    square = np.square(noise)
    each = np.broadcast_to(square, counts.shape)
    shares = each.sum() / square if square.ndim else len(counts)
    counts = counts + (total - counts.sum()) / shares
    small = counts < _STANDS_OUT * noise
    rest = np.ones(len(counts), np.bool_) if own is None else ~own
    if small.sum() <= _MOST_SMALL * len(counts):
        kept = np.where(rest, 0.0, np.maximum(counts, 0.0))
        left = max(total - float(kept.sum()), LEAST)
        kept[rest] = project(counts[rest], each[rest] / each.max(), left)
        return np.asarray(kept * (total / kept.sum()))
    beside = np.flatnonzero(~small)
    small &= rest
    kept = np.where(small, 0.0, np.maximum(counts, 0.0))
    missing = total - float(kept.sum())
    if not kept.any():
        return np.full(len(counts), total / len(counts))
    if missing > 0 and small.any():
        # what the kept cells' own noise may have made
        made = each[~small].sum() if square.ndim else noise**2 * (len(counts) - small.sum())
        missing *= max(0.0, 1 - float(made) / missing**2)
        likely = small.astype(np.float64)
        if ordered and len(beside):
            apart = np.abs(np.arange(len(counts))[:, None] - beside).min(axis=1)
            likely *= _FALL**-apart
        kept += missing * likely / likely.sum()
    return np.asarray(kept * (total / kept.sum()))
