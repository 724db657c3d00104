"""Lattices too large to list: the aggregate model, and a bound on the threshold model.

**Aggregate**: trade / risk + utility ** kappa. With risk = S / T this is xi / S for the
supermodular xi = trade * T + S * u^kappa, and Dinkelbach turns the ratio into a few supermodular
maximizations: for the value a of the best generalization so far, find one with xi - a S above 0; if
there is none, a is the best. For kappa = 1 the function is a sum of terms over rows and pairs of
attributes, which a minimum cut maximizes; for larger kappa it is left to the minimum-norm point,
after the ring family was extended to all sets.

**Threshold**, relaxed: Algorithm 1 of the paper relaxes the lattice to the convex hull of its
characteristic vectors and rounds the solution. It cuts the sensitivities into layers so that count
and sensitivity can be bounded apart; that is not needed. With risk = S / T, the constraint says
c T - S >= 0, and the left side is supermodular as it stands, so its Lovasz extension is concave and
one convex program replaces all layers. Its Lagrangian max u + m (c T - S) is a minimum cut for each
multiplier m, and the least value over m is the value of the program: no generalization that is
allowed has more utility. The solution mixes two maximizers; its level sets are these, their meet
and their join. Random rounding, repeated until the constraint holds, favours general sets of low
utility, so the theorem of the paper fails. All level sets are looked at instead, those that are
allowed are walked down from as far as the constraint lets them, and what was achieved is reported
beside the bound.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from hedgerow.arrays import Bools, Floats, Ints
from hedgerow.compiled import kernel
from hedgerow.errors import UsageError
from hedgerow.optimize.descend import descend_from
from hedgerow.optimize.model import Aim, Record

_ROUNDS = 100
_VERTICES = 1000
_TOLERANCE = 1e-10  # relative to the squared size of the vertices
_SLACK = 1e-9
_NEVER = 1e300  # the capacity of what is never cut


@dataclass(frozen=True, eq=False, kw_only=True)
class Found:
    """A generalization, and how good any can be.

    Args:
        point: How many steps up in each attribute.
        utility: Its utility.
        risk: Its risk.
        value: What was maximized, at this point.
        bound: No generalization has more than this.
    """

    point: Ints
    utility: float
    risk: float
    value: float
    bound: float


def maximize_aggregate(
    record: Record, aim: Aim, solver: Literal["auto", "cut", "norm point"] = "auto"
) -> Found:
    """Dinkelbach's method.

    Args:
        record: The record.
        aim: The aggregate model.
        solver: "cut" serves kappa = 1 alone; "auto" takes it where it serves.
    """
    if solver == "auto":
        solver = "cut" if aim.kappa == 1 else "norm point"
    top = record.heights
    least = float(record.sensitivities(top))
    best = _Best(record, aim)
    best.see(np.stack([np.zeros_like(top), top]))
    bound = np.inf
    for _ in range(_ROUNDS):
        before = best.value
        if solver == "cut":
            gain, pairs = _terms(record, before)
            best.see(best_selection(record, gain, pairs, aim.trade)[None, :])
            excess = 0.0 if best.value <= before * (1 + 1e-12) else np.inf
        else:
            excess = _by_norm_point(record, aim, best, before)
        if best.value <= before * (1 + 1e-12):
            bound = before + max(0.0, excess) / least
            break
    return _found(record, best.point, best.value, bound)


class _Best:
    """Keeps the best of all generalizations that were met."""

    def __init__(self, record: Record, aim: Aim) -> None:
        self._record, self._aim = record, aim
        self.value = -np.inf

    def see(self, points: Ints, counts: Ints | None = None) -> None:
        if counts is None:
            counts = np.asarray([self._record.count(point) for point in points], dtype=np.int64)
        utility, weight = self._record.utilities(points), self._record.sensitivities(points)
        values = self._aim.trade * counts / weight + utility**self._aim.kappa
        place = int(np.argmax(values))
        if values[place] > self.value:
            self.value, self.point = float(values[place]), points[place].copy()


def _terms(record: Record, value: float) -> tuple[Floats, tuple[Ints, Ints, Floats]]:
    """Gains of elements and losses of pairs that make S u - value S, up to a constant.

    With y = 1 for a selected element, w_i(x) = W_i + sum of dw (1 - y), W_i at the root; likewise
    utilities. The product over two attributes holds dw du (1 - y)(1 - y'), which is a constant
    - dw du y' - dw du y (1 - y'): a loss of the second and one of the pair.
    """
    tops_w = np.asarray([table[-1] for table in record.weight])
    tops_u = np.asarray([table[-1] for table in record.utility])
    dw, du = _fall(record.weight), _fall(record.utility)
    place = record.attribute_of
    gain = value * dw
    gain -= dw * (tops_u.sum() - tops_u[place]) + du * (tops_w.sum() - tops_w[place])
    gain -= _fall(tuple(w * u for w, u in zip(record.weight, record.utility, strict=True)))
    first, second = np.nonzero(place[:, None] != place[None, :])
    loss = dw[first] * du[second]
    np.subtract.at(gain, second, loss)
    return gain, (first, second, loss)


def _fall(tables: tuple[Floats, ...]) -> Floats:
    """By how much each element makes a sum fall."""
    return np.concatenate([-np.diff(table) for table in tables])


def _by_norm_point(record: Record, aim: Aim, best: _Best, value: float) -> float:
    """Maximizes xi - value S; returns what no generalization exceeds."""
    elements = record.elements

    def whole(points: Ints, counts: Ints) -> Floats:
        weight = record.sensitivities(points)
        return np.asarray(
            aim.trade * counts + weight * (record.utilities(points) ** aim.kappa - value)
        )

    # the extension from the ring family to all sets: g(closure) + b(X) - b(closure), with b of an
    # element what it adds to the largest generalization without it, if that is above 0
    price = np.empty(elements)
    for element in range(elements):
        without = record.heights.copy()
        without[record.attribute_of[element]] = record.level_of[element] - 1
        with_it = without.copy()
        with_it[record.attribute_of[element]] += 1
        pair = np.stack([without, with_it])
        counts = np.asarray([record.count(point) for point in pair], dtype=np.int64)
        low, high = whole(pair, counts)
        price[element] = max(0.0, high - low)
    first = np.cumsum(record.heights) - record.heights
    paid = [
        np.concatenate([[0.0], np.cumsum(price[start : start + height])])
        for start, height in zip(first.tolist(), record.heights.tolist(), strict=True)
    ]
    nothing = [0.0]

    def vertex(order: Ints) -> Floats:
        points, counts = record.chain(order)
        best.see(points, counts)
        values = whole(points, counts)
        nothing[0] = float(values[0])
        closure = np.zeros(len(points))
        for place, table in enumerate(paid):
            closure += table[points[:, place]]
        values += np.concatenate([[0.0], np.cumsum(price[order])]) - closure
        found = np.empty(elements)
        found[order] = -np.diff(values)  # submodular: minus the function
        return found

    def excess(point: Floats) -> float:
        return nothing[0] - float(np.minimum(point, 0.0).sum())

    scale = _SLACK * max(1.0, value) * float(record.sensitivities(record.heights))

    def enough(point: Floats) -> bool:
        # something better was found, or there is nothing better
        return best.value > value * (1 + 1e-6) or excess(point) <= scale

    return excess(minimum_norm_point(vertex, elements, enough))


def approximate_threshold(record: Record, aim: Aim) -> Found:
    """A generalization within the risk, and a bound on the utility of any.

    Raises:
        UsageError: If not even the most general values are within it.
    """
    risk = aim.risk
    assert risk is not None
    no_pairs = (np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))
    dw, du = _fall(record.weight), _fall(record.utility)

    def look(point: Ints) -> tuple[Ints, float, float]:
        """A point, its utility and by how much it is allowed."""
        slack = risk * record.count(point) - float(record.sensitivities(point))
        return point, float(record.utilities(point)), slack

    allowed, refused = look(record.heights.copy()), look(np.zeros_like(record.heights))
    if allowed[2] < 0:
        raise UsageError(
            "No generalization has so little risk, not even the most general one.",
            hint="Take a larger risk threshold, or a larger side table.",
        )
    if refused[2] >= 0:
        return _found(record, *refused[:2], refused[1])
    bound = refused[1]
    seen = [allowed]
    for _ in range(60):
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
    place = int(np.argmax(utilities))
    return _found(record, ends[place], float(utilities[place]), bound)


def _found(record: Record, point: Ints, value: float, bound: float) -> Found:
    weight, count = float(record.sensitivities(point)), record.count(point)
    return Found(
        point=point, utility=float(record.utilities(point)), value=value,
        risk=weight / count if count else np.inf, bound=max(bound, value),
    )  # fmt: skip


def best_selection(
    record: Record, gain: Floats, pairs: tuple[Ints, Ints, Floats], row_gain: float
) -> Ints:
    """The generalization with the greatest sum of gains, by a minimum cut.

    Elements are selected: a gain (or loss) for each, a loss for each pair of which the first is
    selected and the second is not, a gain for each side row all of whose elements are selected, and
    (i, l) only together with (i, l - 1). The best selection is the source side of a minimum cut.
    What lets this serve the aggregate model with kappa = 1 is that a product of two falling
    functions of two attributes is a sum of such pairs.

    Args:
        record: The record.
        gain: Of each element, may be negative.
        pairs: First element, second element, loss if the first is selected without the second.
        row_gain: For each side row that becomes consistent.

    Returns:
        The generalization; the least one if several are best.
    """
    elements, attributes = record.elements, len(record.heights)
    rows = len(record.levels)
    source, sink = elements + rows, elements + rows + 1
    first = np.cumsum(record.heights) - record.heights
    row, place = np.nonzero(record.levels)  # level 0 asks for nothing
    needed = first[place] + record.levels[row, place] - 1
    inner = np.flatnonzero(record.level_of > 1)
    up, down = np.flatnonzero(gain > 0), np.flatnonzero(gain < 0)
    edges = (
        (np.full(rows, source), elements + np.arange(rows), row_gain * record.counts),
        (elements + row, needed, np.full(len(row), _NEVER)),
        (inner, inner - 1, np.full(len(inner), _NEVER)),
        pairs,
        (np.full(len(up), source), up, gain[up]),
        (down, np.full(len(down), sink), -gain[down]),
    )
    tail, head, room = (np.concatenate(column) for column in zip(*edges, strict=True))
    fine = room > 0
    side = _source_side(
        source, sink, tail[fine].astype(np.int64), head[fine].astype(np.int64),
        room[fine].astype(np.float64),
    )  # fmt: skip
    point = np.zeros(attributes, np.int64)
    np.maximum.at(point, record.attribute_of, np.where(side[:elements], record.level_of, 0))
    return point


@kernel()
def _source_side(source: int, sink: int, tail: Ints, head: Ints, room: Floats) -> Bools:
    """Dinic's algorithm; edge 2 e leads forth and 2 e + 1 back."""
    nodes, edges = sink + 1, tail.size
    to = np.empty(2 * edges, np.int64)
    left = np.zeros(2 * edges)
    start = np.zeros(nodes + 1, np.int64)
    largest = 0.0
    for e in range(edges):
        to[2 * e], to[2 * e + 1] = head[e], tail[e]
        left[2 * e] = room[e]
        start[tail[e] + 1] += 1
        start[head[e] + 1] += 1
        if room[e] < 1e299:
            largest = max(largest, room[e])
    least = largest * 1e-13  # what is left of a capacity below this is rounding
    for node in range(nodes):
        start[node + 1] += start[node]
    at = start[:-1].copy()
    listed = np.empty(2 * edges, np.int64)
    for e in range(edges):
        listed[at[tail[e]]] = 2 * e
        at[tail[e]] += 1
        listed[at[head[e]]] = 2 * e + 1
        at[head[e]] += 1
    far = np.empty(nodes, np.int64)
    queue = np.empty(nodes, np.int64)
    path = np.empty(nodes, np.int64)
    while True:
        far[:] = -1
        far[source] = 0
        queue[0] = source
        begin, end = 0, 1
        while begin < end:
            node = queue[begin]
            begin += 1
            for place in range(start[node], start[node + 1]):
                e = listed[place]
                if left[e] > least and far[to[e]] < 0:
                    far[to[e]] = far[node] + 1
                    queue[end] = to[e]
                    end += 1
        if far[sink] < 0:
            return far >= 0
        at[:] = start[:-1]
        depth = 0
        node = source
        while True:
            if node == sink:
                flow = np.inf
                for step in range(depth):
                    flow = min(flow, left[path[step]])
                back = depth
                for step in range(depth - 1, -1, -1):
                    e = path[step]
                    left[e] -= flow
                    left[e ^ 1] += flow
                    if left[e] <= least:
                        back = step
                depth = back
                node = to[path[back] ^ 1]
                continue
            moved = False
            while at[node] < start[node + 1]:
                e = listed[at[node]]
                if left[e] > least and far[to[e]] == far[node] + 1:
                    path[depth] = e
                    depth += 1
                    node = to[e]
                    moved = True
                    break
                at[node] += 1
            if not moved:
                if depth == 0:
                    break
                depth -= 1
                node = to[path[depth] ^ 1]
                at[node] += 1


def minimum_norm_point(
    vertex: Callable[[Ints], Floats], elements: int, enough: Callable[[Floats], bool]
) -> Floats:
    """The minimum-norm point of a base polytope (Fujishige and Wolfe).

    For a submodular F with F(empty) = 0, let x be the point of least norm of its base polytope. The
    elements with x < 0 minimize F, and for every point x of the polytope the sum of its negative
    parts bounds min F from below: a certificate, whatever rounding has done. Vertices come from
    the greedy algorithm, one for each order of the elements; whatever sets the greedy algorithm
    meets are handed to the caller, who may find in them what the certificate asks for.

    Args:
        vertex: The vertex of an order of the elements.
        elements: How many there are.
        enough: Called with each point; says whether its certificate will do.

    Returns:
        The last point; its negative parts bound the minimum. If rounding leaves nothing to go on
        with, that is the best so far.

    Example:
        >>> cost = np.array([3.0, -2.0])  # a modular function has one vertex
        >>> minimum_norm_point(lambda order: cost, 2, lambda x: False)
        array([ 3., -2.])
    """
    point = vertex(np.arange(elements))
    corral = point[None, :].copy()
    share = np.ones(1)
    largest = float(point @ point)
    for _ in range(_VERTICES):
        if enough(point):
            break
        new = vertex(np.argsort(point, kind="stable"))
        largest = max(largest, float(new @ new))
        if point @ point - point @ new <= _TOLERANCE * largest:
            break
        if (np.abs(corral - new[None, :]).max(axis=1) <= 1e-14 * np.sqrt(largest)).any():
            break  # rounding has brought back a vertex that is there already
        corral = np.concatenate([corral, new[None, :]])
        share = np.append(share, 0.0)
        while True:  # until the nearest point of the affine hull lies inside
            try:
                inside = _affine(corral)
            except np.linalg.LinAlgError:
                return point  # the certificate of any point of the polytope holds
            if (inside > 1e-12).all():
                share = inside
                break
            falling = share - inside > 1e-15
            falling &= inside <= 1e-12
            step = float((share[falling] / (share - inside)[falling]).min()) if falling.any() else 0
            share = (1 - step) * share + step * inside
            keep = share > 1e-12
            if keep.all():
                keep[np.argmin(share)] = False
            corral, share = corral[keep], share[keep]
            share = share / share.sum()
        point = share @ corral
    return point


def _affine(corral: Floats) -> Floats:
    """The weights of the point of least norm in the affine hull of some points.

    Raises:
        LinAlgError: If rounding has made the points too much alike for that.
    """
    number = len(corral)
    scale = max(float(np.abs(corral).max()), 1e-300)
    scaled = corral / scale
    system = np.ones((number + 1, number + 1))
    system[0, 0] = 0.0
    system[1:, 1:] = scaled @ scaled.T
    right = np.zeros(number + 1)
    right[0] = 1.0
    try:
        found = np.linalg.solve(system, right)
    except np.linalg.LinAlgError:
        found = np.linalg.lstsq(system, right, rcond=None)[0]
    if not np.isfinite(found).all():
        raise np.linalg.LinAlgError
    return np.asarray(found[1:])
