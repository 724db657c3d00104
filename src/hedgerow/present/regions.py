"""Regions, the tree that made them, and measured tables, ready to be shown."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from hedgerow.estimate.answers import USUAL
from hedgerow.estimate.noise import half_width
from hedgerow.estimate.partition import GridPartition, TreePartition
from hedgerow.estimate.tables import ROUNDS
from hedgerow.present import words
from hedgerow.present.document import Box, Part, Strip, Text, Tree
from hedgerow.release import TableRelease
from hedgerow.schema.schema import part_of

if TYPE_CHECKING:
    from hedgerow.release import MarginalsRelease
    from hedgerow.schema import Attribute


# The largest regions of a release and its tree, ready to be shown.


_ANY = 50  # points that noise may move a share by, from which it says nothing
_SEVERAL = 3  # members of a group that have the same value, from which they are counted


@dataclass(frozen=True, kw_only=True)
class ShownRegion:
    """A region as a reader sees it.

    Args:
        number: Its number in the release.
        where: The generalized value of each attribute that is narrower than its whole domain.
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
        named: What generalized values are called.
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
            where = f"{attribute.title} {label}"
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


# The regions of a table as pictures: a tree seen from the top, or a grid by its cuts.


_LEVELS = 5
_LEAST = 0.012  # the share of everybody below which a branch is drawn together with others
_PARTS = 40


def upper_tree(release: TableRelease, tree: TreePartition) -> Box:
    """The upper part of a tree, with small branches drawn together."""
    nodes = len(tree.parent)
    counts = np.zeros((nodes, release.counts.shape[1]), np.int64)
    counts[tree.leaves[release.regions]] = release.counts
    regions = (tree.split < 0).astype(np.int64)
    for depth in range(int(tree.depth.max()), 0, -1):
        here = np.flatnonzero(tree.depth == depth)
        np.add.at(counts, tree.parent[here], counts[here])
        np.add.at(regions, tree.parent[here], regions[here])
    totals, largest = counts.sum(axis=1), int(counts[0].argmax())
    first = np.searchsorted(tree.parent[1:], np.arange(nodes)) + 1  # children stand side by side
    last = np.searchsorted(tree.parent[1:], np.arange(nodes), side="right") + 1
    everybody, classes = max(1, int(totals[0])), bool(release.schema.classes)

    def box(where: str, counted: list[int], below: tuple[Box, ...], merged: int = 0) -> Box:
        total = int(totals[counted].sum())
        mark = int(counts[counted, largest].sum()) / max(1, total) if classes else 0.0
        return Box(
            where=where, count=total, mark=mark, regions=int(regions[counted].sum()),
            below=below, merged=merged, root=counted == [0],
        )  # fmt: skip

    def branch(node: int, where: str) -> Box:
        if tree.depth[node] >= _LEVELS or tree.split[node] < 0:
            return box(where, [node], ())
        axis = int(tree.split[node])
        attribute = release.schema.attributes[axis]
        small, below = [], []
        for child in range(int(first[node]), int(last[node])):
            if totals[child] < _LEAST * everybody:
                small.append(child)
                continue
            label = part_of(attribute, int(tree.lo[child, axis]), int(tree.hi[child, axis]))
            below.append(branch(child, f"{attribute.title} {label}"))
        if small:
            name = words.many(len(small), "smaller part")
            below.append(box(name, small, (), len(small)))
        return box(where, [node], tuple(below))

    return branch(0, "everyone")


def tree_parts(release: TableRelease, tree: TreePartition) -> tuple[Part, ...]:
    """The tree from the top, boxes as wide as their counts, and what they show."""
    root = upper_tree(release, tree)
    target, says = release.schema.target, ""
    if target is not None:
        name = release.schema.classes[int(release.counts.sum(axis=0).argmax())]
        says = (
            " The strip at the bottom of a box is as long as the share of "
            f"{target.title} {name} in it."
        )
    regions, depth = words.many(root.regions, "region"), int(tree.depth.max())
    stripes = "; striped boxes stand for several small parts" if _striped(root) else ""
    return (
        Text(
            f"All {release.schema.unit_names[1]} were divided step by step into {regions}, at most "
            f"{words.many(depth, 'step')} deep. Boxes are as wide as their noisy counts{stripes}."
            f"{says}"
        ),
        Tree(
            f"The tree of {regions} from the top, each box as wide as its count; the list below "
            "says it in words.",
            root,
        ),
    )


def _striped(box: Box) -> bool:
    return bool(box.merged) or any(_striped(child) for child in box.below)


def grid_parts(release: TableRelease, grid: GridPartition) -> tuple[Part, ...]:
    """One strip for each attribute, cut where the grid cuts it."""
    strips, whole = [], []
    for attribute, edges, labels in zip(
        release.schema.attributes, grid.edges, cuts(release, grid, part_of).values(), strict=True
    ):
        if len(labels) == 1:
            whole.append(attribute.name)
            continue
        shown = list(zip(labels, np.diff(edges).tolist(), strict=True))[:_PARTS]
        strips.append(Strip(f"{attribute.title}: {words.many(len(labels), 'part')}", tuple(shown)))
    left = [Text(f"Not divided: {', '.join(whole)}.", "note")] if whole else []
    return (
        Text(
            "Every region is a combination of one part of each attribute: "
            f"{words.many(grid.cells, 'region')} in all."
        ),
        *strips,
        *left,
    )


# Which tables a release counted, ready to be shown: in words, with their noise.


HEADS = ("table", "cells", "give or take", "counted as")

_AS = {
    "named": "named by the schema",
    **dict.fromkeys(ROUNDS, "a chosen pair"),
    "by_class": "an attribute by the class",
    "single": "an attribute alone",
    "again": "the same again",
}


@dataclass(frozen=True, kw_only=True)
class ShownTable:
    """A table of noisy counts as a reader sees it.

    Args:
        names: Its columns, in the order of the schema.
        cells: How many cells it has; of pairs, groups of values.
        error: How far noise may move the count of a cell, with 95%.
        counted_as: Why it was counted.
    """

    names: tuple[str, ...]
    cells: int
    error: float
    counted_as: str

    @property
    def words(self) -> str:
        """Its columns on one line.

        Example:
            >>> ShownTable(names=("age", "ill"), cells=34, error=9.5, counted_as="").words
            'age by ill'
        """
        return " by ".join(self.names)


def shown_tables(release: MarginalsRelease) -> list[ShownTable]:
    """Every table that was counted: those that were named or chosen first.

    Args:
        release: A release of tables.
    """
    names, order = [one.name for one in release.schema.columns], list(_AS)
    return [
        ShownTable(
            names=tuple(names[column] for column in sorted(table.columns)),
            cells=table.values.size,
            error=float(
                half_width(np.sqrt(table.tail), USUAL, 1.0 if table.law == "laplace" else 0.0)
            ),
            counted_as=_AS[table.kind],
        )
        for table in sorted(release.tables.tables, key=lambda one: order.index(one.kind))
    ]


def what_was_counted(release: MarginalsRelease) -> str:
    """What was counted, as a sentence: each kind of table with its number.

    Args:
        release: A release of tables.
    """
    kinds = [table.kind for table in release.tables.tables]
    schema, every = release.schema, len(release.partition.counted)
    parts = []
    for kind, by in (("by_class", " by the class"), ("single", " alone")):
        if number := sum(
            table.kind == kind and table.columns[0] != release.partition.attributes
            for table in release.tables.tables
        ):
            which = "every attribute" if number == every else f"{number} of {every} attributes"
            parts.append(which + by)
    if named := kinds.count("named"):
        parts.append(f"{named} table{'' if named == 1 else 's'} that the schema names")
    chosen = [table.columns for table in release.tables.tables if table.grouped]
    if chosen:
        classed = sum(len(columns) == 3 for columns in chosen)
        by = f", {classed} of them by the class" if classed else ""
        parts.append(
            f"{len(chosen)} chosen pair{'' if len(chosen) == 1 else 's'} of attributes{by}"
        )
    if fine := sorted({place for place, _ in release.tables.fine}):
        those = ", ".join(schema.attributes[place].title for place in fine)
        parts.append(f"large groups of {those} again in parts")
    return f"Counted over all {schema.unit_names[1]}: {'; '.join(parts)}."
