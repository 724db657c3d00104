"""Public rules for transactions. They read public facts and noisy numbers, never the data."""

from __future__ import annotations

import math

import numpy as np

from hedgerow.arrays import Ints

__all__ = ["REST_EDGES", "WHOLE_UNIVERSE", "core_size", "item_cap", "size_edges"]


WHOLE_UNIVERSE = 17
"""Universes up to this size may be counted set by set."""

REST_EDGES = (0, 1, 2, 3, 4, 6, 9, 15)
"""Bins for the number of items that a record has beside a core."""

_LARGEST_CORE = 14
_NOISE_SHARE = 0.005  # of all records, which the noise of a single item's support may make up
_WHOLE_NOISE_SHARE = 0.02


def size_edges(most: int) -> Ints:
    """Bins for the number of items of a record: 1, 2, 3, 4, 6, 8, 12, 16, ...

    Example:
        >>> size_edges(17).tolist()
        [1, 2, 3, 4, 6, 8, 12, 16]
    """
    edges = [1]
    while edges[-1] < most:
        power = 1 << edges[-1].bit_length() - 1
        edges.append(edges[-1] + max(1, power // 2))
    return np.asarray([edge for edge in edges if edge <= most], dtype=np.int64)


def item_cap(edges: Ints, records: Ints, most: int, items: int, epsilon: float) -> int:
    """How many items of a record its supports count: what noise and truncation cost together.

    With a cap of L the noise on a support has about size L / epsilon, while an average support
    loses the items of longer records that are left out.

    Args:
        edges: The bins of the number of items.
        records: The noisy number of records in each.
        most: The most items that a record can have.
        items: The number of items in the universe.
        epsilon: What supports may cost a record.

    Example:
        >>> item_cap(size_edges(64), np.array([900, 300, 90, 30, 0, 2, -1, 1, 0, 0, 0, 0]), 64,
        ...          100, 0.5)
        2
    """
    held = np.maximum(records, 0)
    upper = np.append(edges[1:] - 1, most)
    middle = (edges + np.minimum(upper, 2 * edges)) / 2

    def cost(cap: int) -> float:
        lost = float((held * np.maximum(middle - cap, 0)).sum())
        return cap / epsilon + lost / items

    return min((int(cap) for cap in np.append(edges, most)), key=lambda cap: (cost(cap), cap))


def core_size(items: int, records: int, epsilon: float) -> int:
    """How many items to count set by set, given what the cells may cost a record.

    The support of one item of the core is the sum of half of all cells. Its noise should stay
    below half a percent of the records, so that cells are no worse than supports; a universe that
    fits as a whole may be a little noisier, since it needs no supports at all.

    Example:
        >>> core_size(17, 1_000_000, 1.0), core_size(1_000, 1_000_000, 0.35)
        (17, 14)
        >>> core_size(1_000, 20_000, 0.35), core_size(17, 100, 1.0)
        (7, 1)
    """

    def noise(core: int, bins: int) -> float:
        return math.sqrt((bins << core) / 2) * math.sqrt(2) / epsilon

    if items <= WHOLE_UNIVERSE and noise(items, 1) <= _WHOLE_NOISE_SHARE * records:
        return items
    core = 1
    while (
        core < min(_LARGEST_CORE, items - 1)
        and noise(core + 1, len(REST_EDGES)) <= _NOISE_SHARE * records
    ):
        core += 1
    return core
