"""The paper's three models, and how each is solved.

A record's generalizations x have a utility u(x) and a risk r(x) = sensitivity(x) / count(x).

* Threshold: the largest u(x) with r(x) at most c. NP-hard in the number of attributes.
* Least risk, its dual (C1' and C3' of the paper): the least r(x) with u(x) at least c.
* Aggregate: the largest lambda / r(x) + u(x) ** kappa. Polynomial.

| lattice          | threshold               | least risk           | aggregate         |
|------------------|-------------------------|----------------------|-------------------|
| up to 2^20       | `search`: exact         | `search`: exact      | `search`: exact   |
| larger           | `descend`: walks        | `descend_to_utility` | cuts, norm points |
| larger, thorough | `approximate_threshold` | as above             | as above          |

What becomes of a record follows from that record and from public facts alone: the hierarchies, the
side table, the settings, and the size of its own lattice. Nothing here looks at another record.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hedgerow.arrays import Floats, Ints, Small
from hedgerow.errors import UsageError
from hedgerow.optimize.aggregate import Found, approximate_threshold, maximize_aggregate
from hedgerow.optimize.descend import descend, descend_to_utility
from hedgerow.optimize.exact import LARGEST, Solutions, search
from hedgerow.optimize.model import Aim, Forest, Worth
from hedgerow.optimize.side import Record, Side

_AT_ONCE = 1 << 26  # generalizations, so that progress can be shown


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
    progress: Callable[[float], None] = lambda _: None,
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
        progress: Called with the share of the records that is done.
    """
    number = len(leaves)
    nodes, sums = np.full(leaves.shape, -1, np.int32), np.zeros((number, 3))
    fits = (forest.depth[leaves] + 1.0).prod(axis=1) <= largest
    done = 0

    def put(places: Ints, some: Solutions) -> None:
        nonlocal done
        nodes[places] = np.where(some.solved[:, None], some.nodes, -1)
        columns = (some.utility, some.sensitivity, some.count)
        sums[places] = np.where(some.solved[:, None], np.stack(columns, axis=1), 0.0)
        done += len(places)
        progress(done / number)

    small = np.flatnonzero(fits)
    portion = max(1, _AT_ONCE // min(largest, forest.largest_lattice()))
    for begin in range(0, len(small), portion):
        places = small[begin : begin + portion]
        put(places, search(forest, side, worth, aim, leaves[places], factor[places], largest))
    rest = np.flatnonzero(~fits)
    if aim.model == "aggregate" or (aim.model == "threshold" and thorough):
        for place in rest.tolist():
            record = Record.of(forest, side, worth, leaves[place], factor[place])
            put(np.asarray([place]), _alone(forest, record, leaves[place], aim))
    elif len(rest):
        walk = descend if aim.model == "threshold" else descend_to_utility
        before = done
        put(rest, walk(
            forest, side, worth, aim, leaves[rest], factor[rest],
            progress=lambda few: progress((before + few) / number),
        ))  # fmt: skip
    return Solutions.of(nodes, sums)


def _alone(forest: Forest, record: Record, leaves: Small, aim: Aim) -> Solutions:
    """One record, by the polynomial methods."""
    top = record.heights
    nodes, sums = np.full((1, len(top)), -1, np.int32), np.zeros((1, 3))
    if aim.risk is None:
        best: Found = maximize_aggregate(record, aim)
    elif record.count(top) * aim.risk < float(record.sensitivities(top[None, :])[0]):
        return Solutions.of(nodes, sums)  # not even the most general values are allowed
    else:
        best = approximate_threshold(record, aim)
    for column, (leaf, steps) in enumerate(zip(leaves.tolist(), best.point.tolist(), strict=True)):
        for _ in range(steps):
            leaf = int(forest.parent[leaf])
        nodes[0, column] = leaf
    sums[0] = (
        best.utility, float(record.sensitivities(best.point[None, :])[0]), record.count(best.point)
    )  # fmt: skip
    return Solutions.of(nodes, sums)
