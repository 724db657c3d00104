"""Public rules that choose settings. They read public facts and what was drawn, never the data.

The papers tell the owner to try several sizes and keep the best, which breaks the guarantee.

How the constants were found: by a coarse search over the mean accuracy on about twenty public
tables, UCI Adult with five different classes among them, at epsilon 0.1, 0.3 and 1. The search had
those tables before its eyes; `benchmarks/rules.py` prints what the rules lose to the best sizes set
by hand, there and on tables that were not looked at. The optimum is flat: between 100 and 200
records for each specialisation, and between 1.2 and 1.5 levels for each halving, figures hardly
move. What matters is to stay small where epsilon times rows is below some hundreds.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from hedgerow.arrays import Ints

__all__ = [
    "PAPER_NUMERIC_HEIGHT",
    "REST_EDGES",
    "WHOLE_UNIVERSE",
    "core_size",
    "grid_size",
    "item_cap",
    "size_edges",
    "tree_size",
]


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


PAPER_NUMERIC_HEIGHT = 7
"""The height that DiffMulti's authors assume for a numeric attribute."""

_PER_SPECIALISATION = 200
_ENTRANCE = 2  # specialisations' worth of records that must be there before a second one pays
_LEVELS_PER_HALVING = 1.2
_PER_CELL = 200
_MOST, _MOST_STEPS = 1_000_000, 64


def tree_size(
    epsilon: Fraction,
    rows: int,
    size: int | None = None,
    depth: int | None = None,
    classes: int = 2,
) -> tuple[int, int]:
    """The number of specialisations and the depth cap of a tuned tree.

    A specialisation is worth its noise once it serves about 200/epsilon records, beyond the first
    400/epsilon: in a small tree a wrong choice near the root costs more than a further level wins.
    With fewer than `classes - 1` specialisations some class could not have a region of its own.
    Halving such a tree evenly would take log2(h) levels; some more leave room for
    uneven data. No path is longer than the number of specialisations.

    Args:
        epsilon: What one row may lose.
        rows: The noisy number of rows.
        size: The number of specialisations, if it was set by hand.
        depth: The depth cap, if it was set by hand.
        classes: The number of classes in the schema.

    Example:
        >>> tree_size(Fraction(1), 30_000)
        (148, 9)
        >>> tree_size(Fraction(1, 10), 3_000)
        (1, 1)
    """
    if size is None:
        worth = int(epsilon * rows / _PER_SPECIALISATION) - _ENTRANCE
        size = min(_MOST, max(1, classes - 1, worth))
    if depth is None:
        depth = min(size, math.ceil(_LEVELS_PER_HALVING * math.log2(size + 1)))
    return size, depth


def grid_size(epsilon: Fraction, rows: int, size: int | None = None, classes: int = 2) -> int:
    """The number of specialisations of a tuned grid, whose regions multiply.

    Every specialisation about doubles the regions, and a region should hold about 200/epsilon
    records; there should be as many regions as classes.

    Args:
        epsilon: What one row may lose.
        rows: The noisy number of rows.
        size: The number of specialisations, if it was set by hand.
        classes: The number of classes in the schema.

    Example:
        >>> grid_size(Fraction(1), 30_000)
        8
    """
    if size is not None:
        return size
    worth = math.ceil(math.log2(max(1.0, float(epsilon * rows / _PER_CELL))))
    return min(_MOST_STEPS, max(1, math.ceil(math.log2(max(1, classes))), worth))
