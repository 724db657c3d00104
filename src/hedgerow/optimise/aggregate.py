"""The aggregate model on lattices too large to list: trade / risk + utility ** kappa.

With risk = S / T this is xi / S for the supermodular xi = trade * T + S * u^kappa, and Dinkelbach
turns the ratio into a few supermodular maximisations: for the value a of the best generalisation
so far, find one with xi - a S above 0; if there is none, a is the best. For kappa = 1 the function
is a sum of terms over rows and pairs of attributes, which a minimum cut maximises; for larger
kappa it is left to the minimum-norm point, after the ring family was extended to all sets.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from hedgerow.arrays import Floats, Ints
from hedgerow.optimise.cut import best_selection
from hedgerow.optimise.model import Aim
from hedgerow.optimise.norm_point import minimum_norm_point
from hedgerow.optimise.record import Record

__all__ = ["Found", "maximise_aggregate"]


_ROUNDS = 100
_SLACK = 1e-9


@dataclass(frozen=True, eq=False, kw_only=True)
class Found:
    """A generalisation, and how good any can be.

    Args:
        point: How many steps up in each attribute.
        utility: Its utility.
        risk: Its risk.
        value: What was maximised, at this point.
        bound: No generalisation has more than this.
    """

    point: Ints
    utility: float
    risk: float
    value: float
    bound: float


def maximise_aggregate(
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
    least = float(record.sensitivities(top[None, :])[0])
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
    return Found(
        point=best.point,
        utility=best.utility,
        risk=best.risk,
        value=best.value,
        bound=max(bound, best.value),
    )


class _Best:
    """Keeps the best of all generalisations that were met."""

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
            self.value = float(values[place])
            self.point = points[place].copy()
            self.utility = float(utility[place])
            self.risk = float(weight[place] / counts[place]) if counts[place] else np.inf


def _terms(record: Record, value: float) -> tuple[Floats, tuple[Ints, Ints, Floats]]:
    """Gains of elements and losses of pairs that make S u - value S, up to a constant.

    With y = 1 for a selected element, w_i(x) = W_i + sum of dw (1 - y), W_i at the root; likewise
    utilities. The product over two attributes holds dw du (1 - y)(1 - y'), which is a constant
    - dw du y' - dw du y (1 - y'): a loss of the second and one of the pair.
    """
    tops_w = np.asarray([table[-1] for table in record.weight])
    tops_u = np.asarray([table[-1] for table in record.utility])
    dw = np.concatenate([-np.diff(table) for table in record.weight])
    du = np.concatenate([-np.diff(table) for table in record.utility])
    place = record.attribute_of
    gain = value * dw
    gain -= dw * (tops_u.sum() - tops_u[place]) + du * (tops_w.sum() - tops_w[place])
    own = [-np.diff(w * u) for w, u in zip(record.weight, record.utility, strict=True)]
    gain -= np.concatenate(own)
    first, second = np.nonzero(place[:, None] != place[None, :])
    loss = dw[first] * du[second]
    np.subtract.at(gain, second, loss)
    return gain, (first, second, loss)


def _by_norm_point(record: Record, aim: Aim, best: _Best, value: float) -> float:
    """Maximises xi - value S; returns what no generalisation exceeds."""
    elements = record.elements

    def whole(points: Ints, counts: Ints) -> Floats:
        weight = record.sensitivities(points)
        return np.asarray(
            aim.trade * counts + weight * (record.utilities(points) ** aim.kappa - value)
        )

    # the extension from the ring family to all sets: g(closure) + b(X) - b(closure), with b of an
    # element what it adds to the largest generalisation without it, if that is above 0
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

    scale = _SLACK * max(1.0, value) * float(record.sensitivities(record.heights[None, :])[0])

    def enough(point: Floats) -> bool:
        # something better was found, or there is nothing better
        return best.value > value * (1 + 1e-6) or excess(point) <= scale

    return excess(minimum_norm_point(vertex, elements, enough))
