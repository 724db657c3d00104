"""The loop that deals classes out to rows. Loads numba."""

from __future__ import annotations

import numpy as np
from numba import njit

from hedgerow.arrays import Floats, Ints

__all__ = ["deal"]


@njit(cache=True)
def deal(
    cells: Ints,
    region: Ints,
    shares: Floats,
    order: Ints,
    chance: Floats,
    room: tuple[int, int, int],
    firmness: float,
) -> Ints:
    """Gives each row a class by its shares, less what its cells have had too much of already.

    Args:
        cells: What each row is counted in, besides its region: [rows, cells of a row].
        region: The region of each row.
        shares: The shares of the classes: [rows, classes].
        order: In which order rows get their class.
        chance: A uniform number for each.
        room: The numbers of regions, cells and classes.
        firmness: How much of the excess is taken off at once.
    """
    excess = np.zeros(room)
    classes = room[2]
    dealt = np.zeros(len(order), np.int64)
    wish = np.zeros(classes)
    for turn in range(len(order)):
        row = order[turn]
        where = region[row]
        total = 0.0
        for k in range(classes):
            over = 0.0
            largest = 0.0
            for c in range(cells.shape[1]):
                over += excess[where, cells[row, c], k]
                largest = max(largest, abs(excess[where, cells[row, c], k]))
            # no more is taken off than one of the cells has: small regions would be overfilled
            off = min(largest, max(-largest, firmness * over / cells.shape[1]))
            wish[k] = max(0.0, shares[row, k] - off)
            total += wish[k]
        mark = chance[turn] * total
        found = 0
        while found < classes - 1 and mark >= wish[found]:
            mark -= wish[found]
            found += 1
        dealt[row] = found
        for c in range(cells.shape[1]):
            for k in range(classes):
                excess[where, cells[row, c], k] -= shares[row, k]
            excess[where, cells[row, c], found] += 1.0
    return dealt
