"""The largest regions of a release and its tree, ready to be shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hedgerow.release import Release, TreePartition

__all__ = ["ShownRegion", "branches", "cuts", "largest"]


@dataclass(frozen=True)
class ShownRegion:
    """A region as a reader sees it.

    Args:
        number: Its number in the release.
        where: The generalised value of each attribute that is narrower than its whole domain.
        counts: The published count of each class; of everything, under "", without a class.
    """

    number: int
    where: dict[str, str]
    counts: dict[str, int]

    @property
    def total(self) -> int:
        """The published count of all classes together."""
        return sum(self.counts.values())

    @property
    def words(self) -> str:
        """Where the region lies, on one line."""
        return ", ".join(f"{name} {label}" for name, label in self.where.items()) or "everyone"


def largest(release: Release, most: int) -> list[ShownRegion]:
    """The regions with the largest published counts, the largest first.

    Args:
        release: Any release.
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


def branches(release: Release, tree: TreePartition, deepest: int) -> Any:
    """The upper part of a release's tree, drawn with lines.

    Args:
        release: The release.
        tree: Its partition.
        deepest: Nodes below this depth are left out.
    """
    import numpy as np
    from rich.text import Text
    from rich.tree import Tree

    totals = np.zeros(len(tree.parent), np.int64)
    totals[tree.leaves[release.regions]] = release.counts.sum(axis=1)
    for node in range(len(totals) - 1, 0, -1):  # children stand after their parents
        totals[tree.parent[node]] += totals[node]
    drawn = {0: Tree(Text(f"everyone: {totals[0]}"))}
    for node in range(1, len(totals)):
        if tree.depth[node] > deepest:
            break
        above = int(tree.parent[node])
        axis = int(tree.split[above])
        attribute = release.schema.attributes[axis]
        label = attribute.label(int(tree.lo[node, axis]), int(tree.hi[node, axis]))
        more = " ..." if tree.depth[node] == deepest and tree.split[node] >= 0 else ""
        words = f"{attribute.name} {label}: {totals[node]}{more}"
        drawn[node] = drawn[above].add(Text(words))
    return drawn[0]


def cuts(release: Release, edges: tuple[Any, ...]) -> list[list[str]]:
    """The parts of each attribute of a grid: name and labels."""
    rows = []
    for attribute, cut in zip(release.schema.attributes, edges, strict=True):
        parts = [
            attribute.label(int(low), int(high)) for low, high in zip(cut, cut[1:], strict=False)
        ]
        rows.append([attribute.name, str(len(parts)), "; ".join(parts)])
    return rows
