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

__all__ = ["PAPER_NUMERIC_HEIGHT", "grid_size", "tree_size"]

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
