"""What marginals say about records: a forest of pairs of attributes, after shrinking noise.

Single attributes are made to agree with the pairs, weighted by the inverse of the noise. Where a
noisy pair differs from independence by no more than its noise does, it is taken for independent:
each deviation d with noise of deviation s becomes d * max(0, 1 - s^2 / d^2). The chosen pairs form
no ring, so records can be drawn attribute by attribute, each from the one before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow.arrays import Floats, Ints
from hedgerow.estimate.marginals.by_regions import Sides
from hedgerow.estimate.marginals.denoise import (
    LEAST,
    beside_of,
    code_masses,
)
from hedgerow.estimate.rounding import project
from hedgerow.measured.marginals import Marginals

__all__ = ["Forest", "fit_forest", "short", "shrunk", "spread"]

Random = np.random.Generator

_ROUNDS = 10


@dataclass(frozen=True, eq=False, kw_only=True)
class Forest:
    """A distribution of records, without the class.

    Args:
        total: How many records there are.
        codes: Of each attribute, how many records have each code.
        group: Of each attribute, the group of each code; all in one if it was not measured.
        groups: Of each attribute, how many records lie in each group.
        pair: Of some pairs of attributes, how many records lie in both groups.
        extra: The noisy tables of further pairs, which rows are weighed by, and their noise.
    """

    total: float
    codes: tuple[Floats, ...]
    group: tuple[Ints, ...]
    groups: tuple[Floats, ...]
    pair: dict[tuple[int, int], Floats]
    extra: tuple[Mapping[tuple[int, int], Ints], float] = ({}, 0.0)

    def draw(self, rows: int, random: Random) -> Ints:
        """Records as codes, [rows, attributes], whose shares come as near as whole numbers can."""
        groups = np.empty((len(self.codes), rows), np.int64)
        beside = self._beside()
        drawn = np.zeros(len(self.codes), np.bool_)
        for root in range(len(self.codes)):
            if drawn[root]:
                continue
            drawn[root] = True
            groups[root] = spread(self.groups[root], rows, random)
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
            order, starts = _sorted(groups[place], len(self.groups[place]))
            inside = np.searchsorted(self.group[place], np.arange(len(starts)))
            for value, low in enumerate(inside[:-1].tolist()):
                here = order[starts[value] : starts[value + 1]]
                weight = self.codes[place][low : inside[value + 1]]
                codes[here] = low + spread(weight, len(here), random)
            groups[place] = codes
        return groups.T

    def beside(self, place: int) -> list[Floats]:
        """How many records lie in each group of an attribute and of every other attribute."""
        mass = self.groups[place]
        found = [np.outer(mass, other) / self.total for other in self.groups]
        found[place] = np.diag(mass)
        beside, waiting, seen = self._beside(), [place], {place}
        while waiting:
            known = waiting.pop()
            for new, table in beside[known]:
                if new not in seen:
                    seen.add(new)
                    waiting.append(new)
                    sums = np.maximum(table.sum(axis=1, keepdims=True), LEAST)
                    found[new] = found[known] @ (table / sums)
        return found

    def _beside(self) -> dict[int, list[tuple[int, Floats]]]:
        """The pairs that each attribute is in, its own groups first."""
        beside: dict[int, list[tuple[int, Floats]]] = {a: [] for a in range(len(self.codes))}
        for (one, other), table in self.pair.items():
            beside[one].append((other, table))
            beside[other].append((one, table.T))
        return beside


def fit_forest(marginals: Marginals, total: float, regions: Sequence[Sides] = ()) -> Forest:
    """Fits a forest to noisy tables.

    Args:
        marginals: The tables.
        total: How many records there are.
        regions: What regions say about each attribute, if they are known.
    """
    codes = list(code_masses(marginals, total, regions))
    group, groups = [], []
    for place, mass in enumerate(codes):
        related = place < len(marginals.pairs.edges)
        cut = marginals.pairs.edges[place] if related else np.array([0, len(mass)])
        cells = marginals.cells.edges[place]
        which = np.repeat(np.arange(len(cut) - 1), np.diff(cut))
        own = np.bincount(which, mass).astype(np.float64)
        agreed = own
        if related and len(cut) < len(cells):
            pieces = np.diff(np.searchsorted(cells, cut))
            agreed = _agreed(marginals, place, own, pieces, total)
        codes[place] = mass * (agreed / np.maximum(own, 1e-12))[which]
        group.append(which)
        groups.append(agreed)
    pair = {
        (one, other): _shrunk_pair(table, groups[one], groups[other], marginals.noise["two_way"])
        for (one, other), table in marginals.pair.items()
    }
    extra = marginals.extra, marginals.noise.get("extra", 0.0)
    return Forest(
        total=total,
        codes=tuple(codes),
        group=tuple(group),
        groups=tuple(groups),
        pair=pair,
        extra=extra,
    )


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
    stops = np.append(np.searchsorted(marks, ends[:-1]), number)
    return random.permutation(np.repeat(np.arange(len(weight)), np.diff(stops, prepend=0)))


def _agreed(marginals: Marginals, place: int, groups: Floats, pieces: Ints, total: float) -> Floats:
    """The records of each group of a number, by its own table and by the pairs that it is in.

    Args:
        marginals: The tables.
        place: The attribute.
        groups: The records of each group by its own table.
        pieces: How many cells each group is made of.
        total: How many records there are.
    """
    beside = beside_of(marginals, place)
    own = marginals.noise["one_way"] ** 2
    if not beside or 2 * (groups > 2 * np.sqrt(own)).sum() < len(groups):
        return groups
    weight = 1 / (own * np.maximum(1, pieces))
    summed = groups * weight
    for counts, variance in beside:
        summed = summed + counts / variance
        weight = weight + 1 / variance
    mass = project(summed / weight, np.ones(len(groups)), total) + LEAST
    return np.asarray(mass * (total / mass.sum()))


def _shrunk_pair(noisy: Ints, rows: Floats, columns: Floats, noise: float) -> Floats:
    """A table with these sums that is independent where the noise lets it."""
    alone = np.outer(rows, columns) / rows.sum()
    table: Floats = np.maximum(alone + shrunk(noisy - alone, noise), LEAST * alone + 1e-12)
    for _ in range(_ROUNDS):
        table = table * (rows / table.sum(axis=1))[:, None]
        table = table * (columns / table.sum(axis=0))[None, :]
    return table


def _fill(groups: Ints, known: int, new: int, table: Floats, random: Random) -> None:
    """Draws the groups of one attribute, given those of another."""
    order, starts = _sorted(groups[known], len(table))
    for value, weight in enumerate(table):
        here = order[starts[value] : starts[value + 1]]
        groups[new, here] = spread(weight, len(here), random)


def _sorted(values: Ints, number: int) -> tuple[Ints, Ints]:
    """An order by value, and where each value begins in it."""
    starts = np.concatenate([[0], np.cumsum(np.bincount(values, minlength=number))])
    return np.argsort(short(values), kind="stable"), starts


def short(values: Ints) -> Ints | NDArray[np.uint16]:
    """The same numbers in two bytes if they fit, which are sorted several times faster."""
    fits = len(values) == 0 or (values.min() >= 0 and values.max() < 1 << 16)
    return values.astype(np.uint16) if fits else values
