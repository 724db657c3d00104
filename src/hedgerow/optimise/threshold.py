"""The threshold model beyond enumeration: a Lovasz relaxation that also bounds what is possible.

Algorithm 1 of the paper relaxes the lattice to the convex hull of its characteristic vectors and
rounds the solution. It cuts the sensitivities into layers so that count and sensitivity can be
bounded apart; that is not needed. With risk = S / T, the constraint says c T - S >= 0, and the
left side is supermodular as it stands, so its Lovasz extension is concave and one convex program
replaces all layers. Its Lagrangian max u + m (c T - S) is a minimum cut for each multiplier m,
and the least value over m is the value of the program: no generalisation that is allowed has
more utility.

The solution mixes two maximisers; its level sets are these, their meet and their join. Random
rounding, repeated until the constraint holds, favours general sets of low utility, so the theorem
of the paper fails. All level sets are looked at instead, those that are allowed are walked down
from as far as the constraint lets them, and what was achieved is reported beside the bound.
"""

from __future__ import annotations

import numpy as np

from hedgerow.arrays import Ints
from hedgerow.errors import UsageError
from hedgerow.optimise.aggregate import Found
from hedgerow.optimise.cut import best_selection
from hedgerow.optimise.descend import descend_from
from hedgerow.optimise.model import Aim
from hedgerow.optimise.record import Record

__all__ = ["approximate_threshold"]


_ROUNDS = 60


def approximate_threshold(record: Record, aim: Aim) -> Found:
    """A generalisation within the risk, and a bound on the utility of any.

    Raises:
        UsageError: If not even the most general values are within it.
    """
    risk = aim.risk
    assert risk is not None
    no_pairs = (np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))
    dw = np.concatenate([-np.diff(table) for table in record.weight])
    du = np.concatenate([-np.diff(table) for table in record.utility])

    def look(point: Ints) -> tuple[Ints, float, float]:
        """A point, its utility and by how much it is allowed."""
        one = point[None, :]
        slack = risk * record.count(point) - float(record.sensitivities(one)[0])
        return point, float(record.utilities(one)[0]), slack

    allowed, refused = look(record.heights.copy()), look(np.zeros_like(record.heights))
    if allowed[2] < 0:
        raise UsageError(
            "No generalisation has so little risk, not even the most general one.",
            hint="Take a larger risk threshold, or a larger side table.",
        )
    if refused[2] >= 0:
        return _found(record, refused[0], refused[1])
    bound = refused[1]
    seen = [allowed]
    for _ in range(_ROUNDS):
        # where the lines of the two points cross, both bounds are the same
        multiplier = (refused[1] - allowed[1]) / (allowed[2] - refused[2])
        crossing = allowed[1] + multiplier * allowed[2]
        gain = multiplier * dw - du
        new = look(best_selection(record, gain, no_pairs, multiplier * risk))
        value = new[1] + multiplier * new[2]
        bound = min(bound, max(value, crossing))
        if value <= crossing + 1e-9 * max(1.0, abs(crossing)):
            break
        if new[2] >= 0:
            allowed = new
            seen.append(new)
        else:
            refused = new
    meet = np.minimum(allowed[0], refused[0])
    join = np.maximum(allowed[0], refused[0])
    seen += [point for point in (look(meet), look(join)) if point[2] >= 0]
    starts = {tuple(point[0].tolist()): point[0] for point in seen}
    starts[tuple(record.heights.tolist())] = record.heights
    ends = [descend_from(record, risk, start) for start in starts.values()]
    utilities = record.utilities(np.stack(ends))
    return _found(record, ends[int(np.argmax(utilities))], bound)


def _found(record: Record, point: Ints, bound: float) -> Found:
    utility = float(record.utilities(point[None, :])[0])
    risk = float(record.sensitivities(point[None, :])[0]) / record.count(point)
    return Found(point=point, utility=utility, risk=risk, value=utility, bound=max(bound, utility))
