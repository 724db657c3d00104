"""The loop that deals classes out to rows."""

from __future__ import annotations

from typing import Any

from hedgerow.arrays import Floats, Ints
from hedgerow.compiled import kernel

__all__ = ["deal"]


def _steps(cells: Ints, shares: Floats, order: Ints, chance: Floats, wish: Floats, *_: Any) -> int:
    return len(cells) * len(wish) // 3


@kernel(steps=_steps)
def deal(
    cells: Ints,
    shares: Floats,
    order: Ints,
    chance: Floats,
    wish: Floats,
    excess: Floats,
    firmness: float,
    out: Ints,
) -> None:
    """Gives each row a class by its shares, less what its cells have had too much of already.

    Args:
        cells: Where the classes of each row's cells begin in `excess`: [rows, cells of a row],
            flat.
        shares: The shares of the classes: [rows, classes], flat.
        order: In which order rows get their class.
        chance: A uniform number for each.
        wish: Room for a number for each class.
        excess: What cells have had too much of: [cells, classes], flat; 0 at first.
        firmness: How much of the excess is taken off at once.
        out: Takes the classes.
    """
    classes = len(wish)
    many = len(cells) // len(order)
    for turn in range(len(order)):
        row = order[turn]
        own, first = row * classes, row * many
        total = 0.0
        for k in range(classes):
            over = 0.0
            largest = 0.0
            for c in range(first, first + many):
                here = excess[cells[c] + k]
                over += here
                largest = max(largest, abs(here))
            # no more is taken off than one of the cells has: small regions would be overfilled
            off = min(largest, max(-largest, firmness * over / many))
            wish[k] = max(0.0, shares[own + k] - off)
            total += wish[k]
        mark = chance[turn] * total
        found = 0
        while found < classes - 1 and mark >= wish[found]:
            mark -= wish[found]
            found += 1
        out[row] = found
        for c in range(first, first + many):
            for k in range(classes):
                excess[cells[c] + k] -= shares[own + k]
            excess[cells[c] + found] += 1.0
