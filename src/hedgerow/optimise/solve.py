"""The best generalisation of every record, by the way that its own lattice allows.

What becomes of a record follows from that record and from public facts alone: the hierarchies, the
side table, the settings, and the size of its own lattice. Nothing here looks at another record.
"""

from __future__ import annotations

import numpy as np

from hedgerow.arrays import Floats, Small
from hedgerow.errors import UsageError
from hedgerow.optimise.aggregate import Found, maximise_aggregate
from hedgerow.optimise.descend import descend
from hedgerow.optimise.exact import LARGEST, Solutions, search
from hedgerow.optimise.hierarchy import Forest
from hedgerow.optimise.model import Aim, Worth
from hedgerow.optimise.record import Record
from hedgerow.optimise.side import Side
from hedgerow.optimise.threshold import approximate_threshold

__all__ = ["check_possible", "solve"]


def check_possible(forest: Forest, side: Side, worth: Worth, aim: Aim, most: float) -> None:
    """Refuses a risk threshold that the most general values could break.

    Looks at public facts alone: whoever's record it is, the most general values stand for all
    side rows, and their sensitivity is at most that of the largest factor.

    Args:
        forest: The hierarchies.
        side: The side table.
        worth: Utility and sensitivity.
        aim: What is looked for.
        most: The largest factor that a record may have on a weight.

    Raises:
        UsageError: If the threshold cannot be kept.
    """
    if aim.risk is None:
        return
    least = float(np.maximum(worth.weight[forest.root] * most, worth.floor).sum()) / side.rows
    if aim.risk < least:
        raise UsageError(
            f"The risk threshold {aim.risk:g} is impossible: with {side.rows} side rows, even the "
            f"most general record may have a risk of {least:.3g}.",
            hint="Take a larger risk threshold, or a larger side table.",
        )


def solve(
    forest: Forest,
    side: Side,
    worth: Worth,
    aim: Aim,
    leaves: Small,
    factor: Floats,
    *,
    largest: int = LARGEST,
    thorough: bool = False,
) -> Solutions:
    """Solves distinct records.

    Args:
        forest: The hierarchies.
        side: The side table.
        worth: Utility and sensitivity.
        aim: What is looked for.
        leaves: The leaf nodes of the records.
        factor: What each record multiplies its weights by.
        largest: Lattices up to this size are searched through.
        thorough: For larger ones in the threshold model: whether to take the Lovasz relaxation
            too, which is slower by far, for a little more utility.
    """
    found = search(forest, side, worth, aim, leaves, factor, largest)
    rest = np.flatnonzero(~found.solved)
    if len(rest) and aim.threshold and not thorough:
        more = descend(forest, side, worth, aim, leaves[rest], factor[rest])
        found.nodes[rest], found.utility[rest] = more.nodes, more.utility
        found.sensitivity[rest], found.count[rest] = more.sensitivity, more.count
        found.solved[rest] = more.solved
    elif len(rest):
        way = approximate_threshold if aim.threshold else maximise_aggregate
        for place in rest.tolist():
            record = Record.of(forest, side, worth, leaves[place], factor[place])
            if aim.risk is not None and not _allowed(record, aim.risk):
                continue  # not even the most general values are
            _take(forest, record, leaves[place], way(record, aim), found, place)
    return found


def _allowed(record: Record, risk: float) -> bool:
    top = record.heights
    return record.count(top) * risk >= float(record.sensitivities(top[None, :])[0])


def _take(
    forest: Forest, record: Record, leaves: Small, best: Found, found: Solutions, place: int
) -> None:
    for column, (leaf, steps) in enumerate(zip(leaves.tolist(), best.point.tolist(), strict=True)):
        for _ in range(steps):
            leaf = int(forest.parent[leaf])
        found.nodes[place, column] = leaf
    found.utility[place] = best.utility
    found.sensitivity[place] = float(record.sensitivities(best.point[None, :])[0])
    found.count[place] = record.count(best.point)
    found.solved[place] = True
