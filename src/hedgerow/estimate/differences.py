"""Whether the share of a value in a group differs from its share among all, but for the noise.

Let T be the true counts of a table, g a group of its rows, v a value of its columns, c the share of
v among all, and l that of g. The excess of the group,

    E = sum over cells of (1_g - l) (1_v - c) T = (its share of v less that among all) x its size,

is 0 or less if the group's share of v is no higher. The noisy counts give E plus a weighted sum X
of the tables' noises, and X is symmetric. c and l are not known, but are fixed numbers: given a
box that holds them, the least E over the box and, for each noise, its largest weight in absolute
value over the box are used. Both are taken at a corner, since both are linear in c and in l.
P(X > t) grows with every weight: each noise is symmetric and unimodal, so X is less peaked the
more of any of them is in it (Birnbaum 1948). So if the share is no higher, and the box holds c and
l, what `surprises` finds is below p with a probability of at most p.

Weights are split as in `intervals`: their mean over the rows meets the number of records with each
value, by all tables that count the values; what differs from it meets the table itself.

**The law of X** for Laplace noises with scales b, weights w: E exp(z X) is the product M(z) of all
1 / (1 - (w b z)^2). For any 0 < s < 1 / max(w b) and step h the sum

    exp(-s t) h / (2 pi)  sum over whole j of  Re exp(-i j h t) M(s + i j h) / (s + i j h)

is, by Poisson's formula, P(X > t) plus the sum over k = 1, 2, ... and -1, -2, ... of
exp(2 pi k s / h) P(X > t + 2 pi k / h), so never below P(X > t). After J terms the rest is bounded:
at u >= U = J h the factor of the largest weight w b is at most (U / u)^2 a times what it is at U,
with x = s w b, e = (U w b)^2 and a = sqrt((1 - x)^2 + e) sqrt((1 + x)^2 + e) / e; all other factors
fall. So the rest is at most exp(-s t) |M(s + i U)| a / (2 pi). Discrete noises get half a step, as
in `noise`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hedgerow.arrays import Bools, Floats
from hedgerow.estimate.noise import LATTICE
from hedgerow.measured.tables import NoisyTable

_NODES, _STEP = 400, 3.0  # of the sum, and how much finer than the nearest pole
_PLACES = np.geomspace(0.01, 0.75, 24)  # for s, as parts of its largest value
_DISCRETE = 1 + 1e-7  # how much more often a discrete Gaussian noise lies beyond: see `noise`


@dataclass(frozen=True, eq=False, kw_only=True)
class Excess:
    """What tables tell of the shares of a value by groups.

    Args:
        tables: Tables whose noise was drawn when it was fixed which tables these are.
        by: The columns that groups are made by.
        outcome: The column of the value.
    """

    tables: Sequence[NoisyTable]
    by: tuple[int, ...]
    outcome: int

    @property
    def known(self) -> bool:
        """Whether a table counts all columns together, and all noise is of one law."""
        columns = {*self.by, self.outcome}
        laws = {table.law for table in self.tables}
        return len(laws) == 1 and any(columns <= {*table.columns} for table in self.tables)

    def surprises(
        self, groups: Bools, values: Bools, common: Floats, sizes: Floats
    ) -> tuple[Floats, Floats]:
        """How seldom noise alone puts a group so far above all, or below, at most.

        Args:
            groups: Which cells are in each group: [questions, cells of `by`, in order].
            values: Which cells are the value of each: [questions, cells of the outcome].
            common: The ends between which the value's share among all lies: [2, questions].
            sizes: The same for the group's share of all: [2, questions].

        Example:
            >>> table = NoisyTable(kind="named", columns=(0, 1), variance=8.0, tail=8.0,
            ...     law="laplace", values=np.array([[100, 300], [30, 370], [35, 365]]))
            >>> first, yes = np.array([[True, False, False]]), np.array([[True, False]])
            >>> above, below = Excess(tables=[table], by=(0,), outcome=1).surprises(
            ...     first, yes, np.array([[0.13], [0.15]]), np.array([[0.32], [0.35]]))
            >>> bool(above[0] < 1e-6), float(below[0])
            (True, 1.0)
        """
        last = self.outcome
        columns = (*self.by, last)
        holding = [table for table in self.tables if {*columns} <= {*table.columns}]
        counting = [table for table in self.tables if last in table.columns]
        margins = [_summed(table, columns).reshape(groups.shape[1], -1) for table in holding]
        own = _parts([table.tail * table.values.size for table in holding])
        number = values.shape[1]
        totals = _parts([table.tail * table.values.size for table in counting])
        margin = sum(u * m for u, m in zip(own, margins, strict=True))
        total = sum(w * _summed(t, (last,)) for w, t in zip(totals, counting, strict=True))
        held, rows = groups.sum(axis=1), groups.shape[1]
        part = held / rows
        cells = (groups - part[:, None]) @ margin  # [questions, values]
        many = values.sum(axis=1)

        corners = [(c, size) for c in common for size in sizes]
        excess = []
        weights: list[Floats] = []
        for c, size in corners:
            each = values - c[:, None]
            excess.append((each * (cells + (part - size)[:, None] * total)).sum(axis=1))
            found = []
            for table, w in zip(counting, totals, strict=True):
                of_all = w * (part - size)
                inside = [of_all]
                if table in holding:
                    direct = own[holding.index(table)]
                    inside = [of_all + direct * (1 - part), of_all - direct * part]
                found += [x * y for x in inside for y in (1 - c, c)]
            weights.append(np.abs(found))
        largest = np.max(weights, axis=0)  # [noises, questions]
        often, scale = [], []
        for table in counting:
            more = table.values.size // (number * (rows if table in holding else 1))
            sides = [held, rows - held] if table in holding else [np.ones(len(held))]
            often += [more * side * value for side in sides for value in (many, number - many)]
            each_side = 2 * len(sides)
            scale += [table.tail] * each_side
        variance = np.array(scale)[:, None] * largest**2
        step = LATTICE * largest.max(axis=0)
        normal = self.tables[0].law == "gaussian"
        ends = []
        for side in (np.min(excess, axis=0), -np.max(excess, axis=0)):
            ends.append(_tails(side - step, variance, np.array(often, np.float64), normal))
        return ends[0], ends[1]


def _parts(noise: Sequence[float]) -> Floats:
    """The part of each in an average by inverse variances."""
    weights = 1 / np.asarray(noise, np.float64)
    return np.asarray(weights / weights.sum())


def _summed(table: NoisyTable, columns: Sequence[int]) -> Floats:
    """A table summed over all but some columns, in their order."""
    kept = [table.columns.index(column) for column in columns]
    others = [axis for axis in range(len(table.columns)) if axis not in kept]
    values = table.values.transpose([*kept, *others]).astype(np.float64)
    return np.asarray(values.sum(axis=tuple(range(len(kept), values.ndim))))


def _tails(t: Floats, variance: Floats, often: Floats, normal: bool) -> Floats:
    """Bounds of P(X > t), each for a sum of noises.

    Args:
        t: Where; 1 is said below 0.
        variance: That of each noise: [noises, sums].
        often: How many of it there are, of the same shape.
        normal: Whether they are normal, and not Laplace noises.
    """
    found = np.ones(len(t))
    deviation = np.sqrt((variance * often).sum(axis=0))
    for place in np.flatnonzero(t > 2 * deviation).tolist():
        beyond = float(t[place])
        if normal:
            found[place] = _DISCRETE * math.erfc(beyond / deviation[place] / math.sqrt(2)) / 2
            continue
        there = (often[:, place] > 0) & (variance[:, place] > 0)
        found[place] = _laplace_tail(
            beyond, np.sqrt(variance[there, place] / 2), often[there, place]
        )
    return found


def _laplace_tail(t: float, scales: Floats, often: Floats) -> float:
    """P(X > t) for a sum of Laplace noises, rounded up: see above.

    Example:
        >>> alone = _laplace_tail(5.0, np.array([1.0]), np.array([1.0]))
        >>> bool(0 <= alone / (math.exp(-5) / 2) - 1 < 1e-3)
        True
    """
    if not len(scales):
        return 0.0 if t > 0 else 1.0
    most = 1 / float(scales.max())
    places = _PLACES * most
    growth = -(often * np.log1p(-((scales * places[:, None]) ** 2))).sum(axis=1)
    s = float(places[np.argmin(growth - places * t)])
    h = min(s, most - s) / _STEP
    z = s + 1j * h * np.arange(_NODES + 1)
    # times exp(-s t), since both by themselves could be beyond all numbers
    moments = np.exp(-(often * np.log1p(-((scales * z[:, None]) ** 2))).sum(axis=1) - s * t)
    terms = (np.exp(-1j * z.imag * t) * moments / z).real
    terms[0] /= 2
    x, end = s / most, (float(z.imag[-1]) / most) ** 2
    slower = math.sqrt(((1 - x) ** 2 + end) * ((1 + x) ** 2 + end)) / end
    rest = float(abs(moments[-1])) * slower / (2 * math.pi)
    return min(1.0, h / math.pi * float(terms.sum()) + rest)
