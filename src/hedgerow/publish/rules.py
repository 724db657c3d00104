"""Public rules that choose settings. They read public facts and what was drawn, never the data.

The papers tell the owner to try several sizes and keep the best, which breaks the guarantee. These
rules were fitted on UCI Adult and checked on tables they were not fitted on
(benchmarks/rules.py prints the check).
"""

from __future__ import annotations

import math
from fractions import Fraction

__all__ = ["PAPER_NUMERIC_HEIGHT", "grid_size", "tree_size"]

PAPER_NUMERIC_HEIGHT = 7
"""The height that DiffMulti's authors assume for a numeric attribute."""

_PER_SPECIALISATION = 100
_MOST = 1_000_000


def tree_size(
    epsilon: Fraction, rows: int, size: int | None = None, depth: int | None = None
) -> tuple[int, int]:
    """The number of specialisations and the depth cap of a tuned tree.

    A specialisation is worth its noise once it serves about 100/epsilon records. Halving such a
    tree evenly would take log2(h) levels; half as many again leave room for uneven data.

    Example:
        >>> tree_size(Fraction(1), 30_000)
        (300, 13)
    """
    if size is None:
        size = min(_MOST, max(1, int(epsilon * rows / _PER_SPECIALISATION)))
    if depth is None:
        depth = max(2, math.ceil(1.5 * math.log2(size + 1)))
    return size, depth


def grid_size(epsilon: Fraction, rows: int, size: int | None = None) -> int:
    """The number of specialisations of a tuned grid, whose regions multiply.

    Example:
        >>> grid_size(Fraction(1), 30_000)
        13
    """
    if size is not None:
        return size
    return min(64, max(2, math.ceil(1.5 * math.log2(max(2.0, float(epsilon) * rows / 100)))))
