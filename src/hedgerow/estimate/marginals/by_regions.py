"""What regions say about the cells of one attribute, together with its own table.

Where regions are divided by an attribute, their counts add up to counts of its cells, often with
less noise than its own table has. Both count the same records, so they are combined by their
variances. This is for estimates: intervals come from each measurement by itself.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hedgerow.arrays import Floats, Ints

__all__ = ["Sides", "combined"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Sides:
    """Regions as one attribute sees them.

    Args:
        low: The first code of each region.
        high: The code after its last one.
        counts: How many records each holds, by the release.
        variance: The variances of these counts.
    """

    low: Ints
    high: Ints
    counts: Floats
    variance: Floats


def combined(table: Floats, variance: Floats, edges: Ints, regions: Sides) -> tuple[Floats, Floats]:
    """A table and the variances of its cells, with what regions say about them.

    Only cells that regions tell apart gain by it: between two codes that no region reaches across
    lies a block of cells, whose total both sides know.

    Args:
        table: The noisy counts of the cells.
        variance: Their variances.
        edges: The first code of each cell, and the code after the last one.
        regions: The regions, which hold everybody once.

    Example:
        >>> cut = Sides(low=np.array([0, 0, 2]), high=np.array([2, 2, 3]),
        ...             counts=np.array([30.0, 20.0, 6.0]), variance=np.array([1.0, 1.0, 1.0]))
        >>> found, left = combined(np.array([20.0, 20.0, 9.0]), np.ones(3), np.arange(4), cut)
        >>> found.tolist(), left.tolist()
        ([22.5, 22.5, 7.5], [0.75, 0.75, 0.5])
    """
    first = np.searchsorted(edges, regions.low, "right")
    last = np.searchsorted(edges, regions.high, "left")
    crossing = np.bincount(first, minlength=len(edges) + 1)
    crossing = np.cumsum(crossing - np.bincount(np.maximum(first, last), minlength=len(crossing)))
    borders = edges[crossing[: len(edges)] == 0]
    block = np.searchsorted(borders, edges[:-1], "right") - 1
    where = np.searchsorted(borders, regions.low, "right") - 1
    blocks = len(borders) - 1
    if blocks < 2:
        return table, variance
    spread = np.bincount(block, variance, blocks)
    gain = 1 / (spread + np.bincount(where, regions.variance, blocks))
    apart = np.bincount(where, regions.counts, blocks) - np.bincount(block, table, blocks)
    return (
        table + variance * (gain * apart)[block],
        variance - variance**2 * gain[block],
    )
