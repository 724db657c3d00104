"""The largest regions of a release and its tree, ready to be shown."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from hedgerow.estimate.answers import USUAL
from hedgerow.estimate.noise import half_width

if TYPE_CHECKING:
    from hedgerow.measured import GridPartition, TreePartition
    from hedgerow.release import TableRelease
    from hedgerow.schema import Attribute

__all__ = ["ShownRegion", "cuts", "largest", "nested"]

_ANY = 50  # points that noise may move a share by, from which it says nothing
_SEVERAL = 3  # members of a group that have the same value, from which they are counted


@dataclass(frozen=True, kw_only=True)
class ShownRegion:
    """A region as a reader sees it.

    Args:
        number: Its number in the release.
        where: The generalised value of each attribute that is narrower than its whole domain.
        counts: The published count of each class; of everything, under "", without a class.
        named: What it is called, if not by where it lies.
        ends: Between which numbers the true total lies, with 95%.
        variance: That of the noise of each class's count.
        moved: How far each class's count was moved to be whole, not negative, and in agreement with
            the others. Where most regions are empty, it takes more off large ones than noise does.
        groups: The group of each attribute of the schema that is in one.
    """

    number: int
    where: dict[str, str]
    counts: dict[str, int]
    named: str = ""
    ends: tuple[float, float] = (0.0, math.inf)
    variance: tuple[float, ...] = ()
    moved: tuple[float, ...] = ()
    groups: dict[str, str] = field(default_factory=dict)

    @property
    def total(self) -> int:
        """The published count of all classes together."""
        return sum(self.counts.values())

    @property
    def error(self) -> float:
        """How far noise, and what became of it, may move the total, with 95%."""
        return _reach(sum(self.variance)) + abs(sum(self.moved))

    def share(self, name: str) -> str:
        """The share of a class and how far noise may move it, rounded up, in words.

        Example:
            >>> ShownRegion(number=1, where={}, counts={"no": 60, "yes": 40}, variance=(9.0,
            ...     9.0)).share("yes")
            '40% ± 6'
            >>> ShownRegion(number=1, where={}, counts={"no": 0, "yes": 9}, variance=(9.0,
            ...     9.0)).share("yes")
            'not known'
        """
        if not self.total:
            return "-"
        part = self.counts.get(name, 0) / self.total
        own = self.variance[list(self.counts).index(name)]
        spread = (1 - 2 * part) * own + part**2 * sum(self.variance)
        turned = 0.0
        if self.moved:
            turned = abs(self.moved[list(self.counts).index(name)] - part * sum(self.moved))
        reach = math.ceil(100 * (_reach(spread) + turned) / self.total)
        return f"{part:.0%} ± {reach}" if reach < _ANY else "not known"

    @property
    def words(self) -> str:
        """Where the region lies, on one line; some of a group with the same value are counted.

        Example:
            >>> drugs = {f"drug {n}": "drugs" for n in range(9)}
            >>> where = {"age": "[18, 40)"} | {f"drug {n}": "no" for n in range(4)}
            >>> ShownRegion(number=1, where=where, counts={"": 5}, groups=drugs).words
            'age [18, 40), drugs (4 of 9) no'
        """
        alike = Counter((self.groups.get(name, ""), label) for name, label in self.where.items())
        sizes = Counter(self.groups.values())
        lies = []
        for name, label in self.where.items():
            group = self.groups.get(name, "")
            if group and alike[group, label] >= _SEVERAL:
                name = f"{group} ({alike[group, label]} of {sizes[group]})"
            lies.append(f"{name} {label}")
        return self.named or ", ".join(dict.fromkeys(lies)) or "everyone"


def _label(attribute: Attribute, low: int, high: int) -> str:
    return attribute.label(low, high)


def largest(
    release: TableRelease, most: int, named: Callable[[Attribute, int, int], str] = _label
) -> list[ShownRegion]:
    """The regions with the largest published counts, the largest first.

    Args:
        release: A release of a table.
        most: How many regions at most.
        named: What generalised values are called.
    """
    totals, variance = release.counts.sum(axis=1), release.estimates.variance
    moved = release.counts - release.estimates.values
    chosen = np.lexsort((release.regions, -totals))[:most]
    low, high = release.partition.bounds(release.regions[chosen])
    classes = release.schema.classes or ("",)
    groups = {one.name: one.group for one in release.schema.attributes if one.group}
    shown = []
    for place, row in enumerate(chosen.tolist()):
        where = {
            attribute.name: named(attribute, lo, hi)
            for attribute, lo, hi in zip(
                release.schema.attributes, low[place].tolist(), high[place].tolist(), strict=True
            )
            if hi - lo < attribute.size
        }
        counts = dict(zip(classes, release.counts[row].tolist(), strict=True))
        number, spread = int(release.regions[row]), tuple(variance[row].tolist())
        region = ShownRegion(
            number=number,
            where=where,
            counts=counts,
            variance=spread,
            moved=tuple(moved[row].tolist()),
            groups=groups,
        )
        measured, reach = region.total - sum(region.moved), _reach(sum(spread))
        low_end, high_end = min(region.total, measured - reach), max(region.total, measured + reach)
        shown.append(replace(region, ends=(max(0.0, low_end), high_end)))
    return shown


def _reach(variance: float) -> float:
    return float(half_width(np.sqrt(np.array([variance])), USUAL)[0])


def nested(release: TableRelease, tree: TreePartition, deepest: int) -> dict[str, Any]:
    """The upper part of a release's tree, as nested objects.

    Args:
        release: The release.
        tree: Its partition.
        deepest: Nodes below this depth are left out.

    Returns:
        The root: `where` it lies in its parent, its `count`, whether it is `divided`, and the
        nodes `below` it that are not left out.
    """
    totals = np.zeros(len(tree.parent), np.int64)
    totals[tree.leaves[release.regions]] = release.counts.sum(axis=1)
    for node in range(len(totals) - 1, 0, -1):  # children stand after their parents
        totals[tree.parent[node]] += totals[node]
    made: dict[int, dict[str, Any]] = {}
    for node in range(len(totals)):
        if tree.depth[node] > deepest:
            break
        where = "everyone"
        above = int(tree.parent[node])
        if above >= 0:
            axis = int(tree.split[above])
            attribute = release.schema.attributes[axis]
            label = attribute.label(int(tree.lo[node, axis]), int(tree.hi[node, axis]))
            where = f"{attribute.name} {label}"
        made[node] = {
            "where": where,
            "count": int(totals[node]),
            "divided": bool(tree.split[node] >= 0),
            "below": [],
        }
        if above >= 0:
            made[above]["below"].append(made[node])
    return made[0]


def cuts(
    release: TableRelease,
    grid: GridPartition,
    named: Callable[[Attribute, int, int], str] = _label,
) -> dict[str, list[str]]:
    """The parts of each attribute of a grid, as labels."""
    parts = {}
    for attribute, cut in zip(release.schema.attributes, grid.edges, strict=True):
        pairs = zip(cut, cut[1:], strict=False)
        parts[attribute.name] = [named(attribute, int(low), int(high)) for low, high in pairs]
    return parts
