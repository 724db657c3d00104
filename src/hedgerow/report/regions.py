"""The largest regions of a release and its tree, ready to be shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hedgerow.measured import GridPartition, TreePartition
    from hedgerow.release import TableRelease

__all__ = ["ShownRegion", "cuts", "largest", "nested"]


@dataclass(frozen=True)
class ShownRegion:
    """A region as a reader sees it.

    Args:
        number: Its number in the release.
        where: The generalised value of each attribute that is narrower than its whole domain.
        counts: The published count of each class; of everything, under "", without a class.
        named: What it is called, if not by where it lies.
    """

    number: int
    where: dict[str, str]
    counts: dict[str, int]
    named: str = ""

    @property
    def total(self) -> int:
        """The published count of all classes together."""
        return sum(self.counts.values())

    @property
    def words(self) -> str:
        """Where the region lies, on one line."""
        lies = ", ".join(f"{name} {label}" for name, label in self.where.items())
        return self.named or lies or "everyone"


def largest(release: TableRelease, most: int) -> list[ShownRegion]:
    """The regions with the largest published counts, the largest first.

    Args:
        release: A release of a table.
        most: How many regions at most.
    """
    import numpy as np

    totals = release.counts.sum(axis=1)
    chosen = np.lexsort((release.regions, -totals))[:most]
    low, high = release.partition.bounds(release.regions[chosen])
    classes = release.schema.classes or ("",)
    shown = []
    for place, row in enumerate(chosen.tolist()):
        where = {
            attribute.name: attribute.label(lo, hi)
            for attribute, lo, hi in zip(
                release.schema.attributes, low[place].tolist(), high[place].tolist(), strict=True
            )
            if hi - lo < attribute.size
        }
        counts = dict(zip(classes, release.counts[row].tolist(), strict=True))
        shown.append(ShownRegion(int(release.regions[row]), where, counts))
    return shown


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
    import numpy as np

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


def cuts(release: TableRelease, grid: GridPartition) -> dict[str, list[str]]:
    """The parts of each attribute of a grid, as labels."""
    parts = {}
    for attribute, cut in zip(release.schema.attributes, grid.edges, strict=True):
        pairs = zip(cut, cut[1:], strict=False)
        parts[attribute.name] = [attribute.label(int(low), int(high)) for low, high in pairs]
    return parts
