"""What marginals say about records: a forest of pairs of attributes, after shrinking noise.

Single attributes are made to agree with the totals of the regions and with the pairs (weighted by
the inverse of the noise). Where a noisy pair differs from independence by no more than its noise
does, it is taken for independent: each deviation d with noise of deviation s becomes
d * max(0, 1 - s^2 / d^2). The chosen pairs form no ring, so records can be drawn attribute by
attribute, each from the one before.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow.estimate.rounding import project
from hedgerow.measured.marginals import Marginals, edges_of

__all__ = ["Forest", "fit_forest", "shrunk", "spread"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Random = np.random.Generator

_LEAST = 1e-6  # no cell is quite impossible: the noise hides small ones
_ROUNDS = 10


@dataclass(frozen=True, eq=False)
class Forest:
    """A distribution of records, without the class.

    Args:
        codes: Of each attribute, how many records have each code.
        part: Of each attribute, the part of each code.
        group: Of each attribute, the group of each code.
        groups: Of each attribute, how many records lie in each group.
        pair: Of some pairs of attributes, how many records lie in both groups.
        shares: Of each attribute, the noisy class counts of its parts, none negative; None if
            classes were not counted apart.
        noise: The standard deviation of the noise on `shares`.
    """

    codes: tuple[Floats, ...]
    part: tuple[Ints, ...]
    group: tuple[Ints, ...]
    groups: tuple[Floats, ...]
    pair: dict[tuple[int, int], Floats]
    shares: tuple[Floats, ...] | None
    noise: float

    def draw(self, rows: int, random: Random) -> Ints:
        """Records as codes, [rows, attributes], whose shares come as near as whole numbers can."""
        groups = np.empty((rows, len(self.codes)), np.int64)
        beside: dict[int, list[tuple[int, Floats]]] = {a: [] for a in range(len(self.codes))}
        for (one, other), table in self.pair.items():
            beside[one].append((other, table))
            beside[other].append((one, table.T))
        drawn = np.zeros(len(self.codes), np.bool_)
        for root in range(len(self.codes)):
            if drawn[root]:
                continue
            drawn[root] = True
            groups[:, root] = spread(self.groups[root], rows, random)
            waiting = [root]
            while waiting:
                known = waiting.pop()
                for new, table in beside[known]:
                    if not drawn[new]:
                        drawn[new] = True
                        waiting.append(new)
                        _fill(groups, known, new, table, random)
        for place in range(len(self.codes)):
            codes = np.empty(rows, np.int64)
            order, starts = _sorted(groups[:, place], len(self.groups[place]))
            inside = np.searchsorted(self.group[place], np.arange(len(starts)))
            for value, low in enumerate(inside[:-1].tolist()):
                here = order[starts[value] : starts[value + 1]]
                weight = self.codes[place][low : inside[value + 1]]
                codes[here] = low + spread(weight, len(here), random)
            groups[:, place] = codes
        return groups


def fit_forest(marginals: Marginals, totals: Floats) -> Forest:
    """Fits a forest to noisy tables.

    Args:
        marginals: The tables.
        totals: How many records there are of each class, by the regions.
    """
    total = max(1.0, float(totals.sum()))
    if not marginals.by_class:
        totals = totals.sum(keepdims=True)
    shares, codes, part, group = [], [], [], []
    groups: list[Floats] = []
    for place, attribute in enumerate(marginals.schema.attributes):
        edges = edges_of(attribute)
        table = marginals.single[place].astype(np.float64)
        known = np.stack(
            [
                project(table[:, k], np.ones(len(table)), float(most))
                for k, most in enumerate(totals)
            ],
            axis=1,
        )
        which = np.repeat(np.arange(len(table)), np.diff(edges))
        mass = known.sum(axis=1) + _LEAST
        inside = _inside(marginals, place, mass, which)
        cut = marginals.pairs.edges[place]
        shares.append(known)
        part.append(which)
        codes.append(inside * (total / inside.sum()))
        group.append(np.repeat(np.arange(len(cut) - 1), np.diff(cut)))
        groups.append(np.bincount(group[-1], codes[-1]).astype(np.float64))
    agreed = _agreed(marginals, groups, part, group, total)
    codes = [
        code * (new / old)[which]
        for code, new, old, which in zip(codes, agreed, groups, group, strict=True)
    ]
    pair = {
        (one, other): _shrunk_pair(table, agreed[one], agreed[other], marginals.noise["two_way"])
        for (one, other), table in marginals.pair.items()
    }
    by_class = tuple(shares) if marginals.by_class and len(totals) > 1 else None
    return Forest(
        tuple(codes), tuple(part), tuple(group), tuple(agreed), pair, by_class,
        marginals.noise["one_way"],
    )  # fmt: skip


def shrunk(deviation: Floats, noise: Floats | float) -> Floats:
    """Deviations less what noise of such a deviation would make of nothing.

    Example:
        >>> shrunk(np.array([1.0, -4.0]), 2.0).tolist()
        [0.0, -3.0]
    """
    square = np.maximum(deviation**2, 1e-12)
    kept: Floats = deviation * np.maximum(0.0, 1 - noise**2 / square)
    return kept


def spread(weight: Floats, number: int, random: Random) -> Ints:
    """So many indices in random order, each as often as its weight asks for, but for rounding.

    Example:
        >>> np.bincount(spread(np.array([1.0, 3.0]), 8, np.random.default_rng(1))).tolist()
        [2, 6]
    """
    ends = np.cumsum(weight)
    if not ends[-1] > 0:
        return random.integers(len(weight), size=number)
    marks = (np.arange(number) + random.random()) * (ends[-1] / max(1, number))
    found = np.minimum(np.searchsorted(ends, marks, side="right"), len(weight) - 1)
    return random.permutation(found)


def _inside(marginals: Marginals, place: int, mass: Floats, part: Ints) -> Floats:
    """How the records of each part lie on its codes: evenly, but for codes that stand out."""
    evenly = (mass / np.bincount(part))[part]
    if place not in marginals.fine:
        return evenly
    counts = marginals.fine[place].astype(np.float64)
    # of so many codes, noise alone takes about one half over this; the rate is sqrt(2) / deviation
    high = marginals.noise["fine"] / np.sqrt(2) * np.log(len(counts))
    counts = np.where(counts < high, 0.0, counts)
    seen = np.bincount(part, counts)
    scale = np.minimum(1.0, mass / np.maximum(seen, 1e-9))
    rest = np.maximum(mass - seen, 0.0) / np.bincount(part)
    return np.asarray(counts * scale[part] + rest[part] + _LEAST)


def _agreed(
    marginals: Marginals, groups: list[Floats], part: list[Ints], group: list[Ints], total: float
) -> list[Floats]:
    """The records of each group, by its own table and by the pairs that it is in."""
    classes = marginals.single[0].shape[1]
    sums, weights = [], []
    for place, mass in enumerate(groups):
        # a group is made of parts, and each of them of classes
        pieces = np.array(
            [len(np.unique(part[place][group[place] == g])) for g in range(len(mass))]
        )
        weight = 1 / (marginals.noise["one_way"] ** 2 * classes * np.maximum(1, pieces))
        sums.append(mass * weight)
        weights.append(weight)
    for (one, other), table in marginals.pair.items():
        for place, axis in ((one, 1), (other, 0)):
            weight = 1 / (marginals.noise["two_way"] ** 2 * table.shape[axis])
            sums[place] = sums[place] + table.sum(axis=axis) * weight
            weights[place] = weights[place] + weight
    found = []
    for summed, weight in zip(sums, weights, strict=True):
        mass = project(summed / weight, np.ones(len(summed)), total) + _LEAST
        found.append(mass * (total / mass.sum()))
    return found


def _shrunk_pair(noisy: Ints, rows: Floats, columns: Floats, noise: float) -> Floats:
    """A table with these sums that is independent where the noise lets it."""
    alone = np.outer(rows, columns) / rows.sum()
    table: Floats = np.maximum(alone + shrunk(noisy - alone, noise), _LEAST * alone + 1e-12)
    for _ in range(_ROUNDS):
        table = table * (rows / table.sum(axis=1))[:, None]
        table = table * (columns / table.sum(axis=0))[None, :]
    return table


def _fill(groups: Ints, known: int, new: int, table: Floats, random: Random) -> None:
    """Draws the groups of one attribute, given those of another."""
    order, starts = _sorted(groups[:, known], len(table))
    for value, weight in enumerate(table):
        here = order[starts[value] : starts[value + 1]]
        groups[here, new] = spread(weight, len(here), random)


def _sorted(values: Ints, number: int) -> tuple[Ints, Ints]:
    """An order by value, and where each value begins in it."""
    order = np.argsort(values, kind="stable")
    return order, np.searchsorted(values[order], np.arange(number + 1))
