"""What is said of one kind of release and not of others: its parts, how they came about, in words.

A table by kind (`KINDS`), and what it consists of: regions and the tree or grid that made them,
counted tables, itemsets, generalized rows.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import HedgerowError, UsageError
from hedgerow.estimate.answers import USUAL
from hedgerow.estimate.measurements import half_width
from hedgerow.estimate.partition import CoreCells, CutTree, GridPartition, TreePartition
from hedgerow.estimate.tables import ROUNDS
from hedgerow.present.document import (
    Bar,
    Box,
    Cell,
    Folded,
    Grid,
    Part,
    Parts,
    Scale,
    Strip,
    Text,
    Tree,
)
from hedgerow.present.tables import explain_picking
from hedgerow.present.words import many, number, round_count
from hedgerow.release import MarginalsRelease, RowsRelease, TableRelease, TransactionsRelease
from hedgerow.release.table_releases import FRONTIER_WORDS
from hedgerow.schema import Attribute, Numeric, Query, Schema
from hedgerow.schema.items import ItemTree
from hedgerow.schema.schema import part_of

_UNFOLDED = 6  # longer lists are folded
_CLASSES = 4  # more do not fit beside each other
_ERROR = 0.05

Codes = NDArray[np.integer]
Naming = Callable[[Any, int, int], str]
"""What to call the values of an attribute from one code to another."""

Least = tuple[str, list[tuple[str, float]]]
"""An attribute, and generalized values with the number of people who have it at least."""


@dataclass(frozen=True, kw_only=True)
class Kind:
    """What hangs on the kind of release.

    Args:
        values: The title above how often values occur.
        public: What of the schema is published, as the beginning of a sentence.
        columns: The public columns, or items.
        division: What was published, and so many of the largest of it.
        making: How the parts came about.
        listing: So many of the largest, for machines.
        steps: How the parts were made step by step, so deep and so many of them, in parts and for
            machines; an error where there were no steps.
        small: What small counts do not tell: a title, and a text with a place for people.
        cuts: Into how many parts an attribute is divided, and the codes where, the one to tell
            first in front; None where no examples of questions are shown.
        least: What is known to be true of so many at least, where that is all that is known.
        assumed: How numbers of values come about where they were not counted, as a sentence.
        narrow: Where intervals are narrow, as the end of a sentence.
    """

    values: str
    public: str
    columns: Callable[[Schema], Parts]
    division: Callable[[Any, int], Parts]
    making: Callable[[Any], Parts]
    listing: Callable[[Any, int], dict[str, Any]]
    steps: Callable[[Any, int, int], tuple[Parts, dict[str, Any]]]
    small: tuple[str, str]
    cuts: Callable[[Any, int], tuple[int, Codes]] | None = None
    least: Callable[[Any], list[Least]] | None = None
    assumed: str = ""
    narrow: str = ""


# Public columns and items.


def _describe_columns(schema: Schema) -> Parts:
    rows = []
    for attribute in schema.columns:
        domain = many(attribute.size, "value")
        if attribute is schema.target:
            kind = "the class"
        elif isinstance(attribute, Numeric):
            kind = attribute.kind
            domain = f"{attribute.edge(0)} to {attribute.edge(attribute.grid)}"
        else:
            kind = "boolean" if attribute.boolean else "categories"
        caption = f" ({attribute.caption})" if attribute.caption else ""
        rows.append((attribute.name + caption, kind, domain))
    parts: list[Part] = [Grid("The public columns", ("attribute", "kind", "domain"), rows=rows)]
    if schema.identifiers:
        parts.append(f"Dropped before publishing: {', '.join(schema.identifiers)}.")
    return (Folded(f"{len(rows)} public columns", tuple(parts)),)


def _describe_universe(schema: Schema) -> Parts:
    items = schema.transaction_items
    more = " and so on" if items.size > 12 else ""
    return (f"A universe of {items.size:,} items is public: {', '.join(items.labels[:12])}{more}.",)


def _fold(grid: Grid) -> Part:
    """A table, folded if it is long."""
    return grid if len(grid.rows) <= _UNFOLDED else Folded(grid.caption, (grid,))


# Regions of a table.


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
        place, part = list(self.counts).index(name), self.counts[name] / self.total
        spread = (1 - 2 * part) * self.variance[place] + part**2 * sum(self.variance)
        turned = abs(self.moved[place] - part * sum(self.moved)) if self.moved else 0.0
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


def _reach(variance: float) -> float:
    return float(half_width(np.sqrt(np.array([variance])), USUAL)[0])


def _label(attribute: Attribute, low: int, high: int) -> str:
    return attribute.label(low, high)


def largest(release: TableRelease, most: int, named: Naming = _label) -> list[ShownRegion]:
    """The regions with the largest published counts, the largest first.

    Args:
        release: A release of a table.
        most: How many regions at most.
        named: What generalized values are called.
    """
    schema, variance = release.schema, release.estimates.variance
    moved = release.counts - release.estimates.values
    chosen = np.lexsort((release.regions, -release.counts.sum(axis=1)))[:most]
    low, high = release.partition.bounds(release.regions[chosen])
    shown = []
    for row, lows, highs in zip(chosen.tolist(), low.tolist(), high.tolist(), strict=True):
        spans = zip(schema.attributes, lows, highs, strict=True)
        counts, by, spread = (one[row].tolist() for one in (release.counts, moved, variance))
        total, measured, reach = sum(counts), sum(counts) - sum(by), _reach(sum(spread))
        shown.append(ShownRegion(
            number=int(release.regions[row]),
            where={a.name: named(a, lo, hi) for a, lo, hi in spans if hi - lo < a.size},
            counts=dict(zip(schema.classes or ("",), counts, strict=True)),
            ends=(max(0.0, min(total, measured - reach)), max(total, measured + reach)),
            variance=tuple(spread), moved=tuple(by),
            groups={one.name: one.group for one in schema.attributes if one.group},
        ))  # fmt: skip
    return shown


def _regions(release: TableRelease, top: int) -> Parts:
    """The largest regions of a table."""
    shown = largest(release, top, part_of)
    classes, target = release.schema.classes, release.schema.target
    most = max((region.ends[1] for region in shown), default=0.0) or 1.0
    people = release.schema.unit_names[1]
    named = classes if target is not None and len(classes) <= _CLASSES else ()
    heads: list[str | Scale] = ["where", people, "95% interval", Scale.until(most, people)]
    heads += [f"{target.title} {name}" for name in named if target]
    heads += ["mostly"] if len(classes) > _CLASSES else []
    rows: list[tuple[Cell, ...]] = []
    for region in shown:
        split = [region.share(name) for name in named]
        if len(classes) > _CLASSES:
            first = sorted(region.counts, key=region.counts.__getitem__, reverse=True)[:3]
            split = [", ".join(f"{one} {region.share(one)}" for one in first)]
        low, high = region.ends
        bar = Bar(region.total, low=low, high=high)
        rows.append((region.words, *round_count(region.total, low, high), bar, *split))
    caption = f"The {len(shown)} largest regions: noisy counts"
    caption += ", and by how much noise may move shares (±)" if named else ""
    numbers = {1, 2, *range(4, 4 + len(named))}
    table = _fold(Grid(caption, tuple(heads), rows=rows, numbers=numbers, long=True))
    note = (Text(explain_picking("These regions"), "note"),)
    return (table, *(note if len(rows) < len(release.regions) else ()))


def _list_regions(release: TableRelease, top: int) -> dict[str, Any]:
    shown = [
        {"region": one.number, "where": one.where, "count": one.total,
         "give_or_take": one.error, "classes": one.counts if release.schema.classes else None}
        for one in largest(release, top)
    ]  # fmt: skip
    return {"threshold": release.threshold, "largest": shown}


# How regions came about: a tree seen from the top, or a grid by its cuts.


_LEVELS = 5
_LEAST = 0.012  # the share of everybody below which a branch is drawn together with others
_PARTS = 40


def cuts(
    release: TableRelease,
    grid: GridPartition,
    named: Naming = _label,
) -> dict[str, list[str]]:
    """The parts of each attribute of a grid, as labels."""
    return {
        one.name: [named(one, *span) for span in pairwise(edges.tolist())]
        for one, edges in zip(release.schema.attributes, grid.edges, strict=True)
    }


def upper_tree(
    release: TableRelease,
    tree: TreePartition,
    deepest: int = _LEVELS,
    least: float = _LEAST,
    named: Naming = part_of,
) -> Box:
    """The upper part of a release's tree.

    Args:
        release: The release.
        tree: Its partition.
        deepest: Nodes below this depth are left out.
        least: Branches with a smaller share of everybody are drawn together.
        named: What generalized values are called.
    """
    nodes = len(tree.parent)
    counts = np.zeros((nodes, release.counts.shape[1]), np.int64)
    counts[tree.leaves[release.regions]] = release.counts
    regions = (tree.split < 0).astype(np.int64)
    for depth in range(int(tree.depth.max()), 0, -1):  # every node has the sum of its branches
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
            divided=not merged and bool(tree.split[counted[0]] >= 0), below=below, merged=merged,
            root=counted == [0],
        )  # fmt: skip

    def branch(node: int, where: str) -> Box:
        if tree.depth[node] >= deepest or tree.split[node] < 0:
            return box(where, [node], ())
        axis = int(tree.split[node])
        attribute = release.schema.attributes[axis]
        small, below = [], []
        for child in range(int(first[node]), int(last[node])):
            if totals[child] < least * everybody:
                small.append(child)
                continue
            label = named(attribute, int(tree.lo[child, axis]), int(tree.hi[child, axis]))
            below.append(branch(child, f"{attribute.title} {label}"))
        if small:
            below.append(box(many(len(small), "smaller part"), small, (), len(small)))
        return box(where, [node], tuple(below))

    return branch(0, "everyone")


def grow_tree(release: TableRelease, tree: TreePartition, deepest: int) -> Box:
    """The upper part of a tree with every branch and exact labels, as machines get it."""
    return upper_tree(release, tree, deepest, -math.inf, _label)


def tree_parts(release: TableRelease, tree: TreePartition) -> Parts:
    """The tree from the top, boxes as wide as their counts, and what they show."""
    root = upper_tree(release, tree)
    target, says = release.schema.target, ""
    if target is not None:
        name = release.schema.classes[int(release.counts.sum(axis=0).argmax())]
        says = (
            " The strip at the bottom of a box is as long as the share of "
            f"{target.title} {name} in it."
        )
    regions, depth = many(root.regions, "region"), int(tree.depth.max())
    stripes = "; striped boxes stand for several small parts" if _is_striped(root) else ""
    return (
        f"All {release.schema.unit_names[1]} were divided step by step into {regions}, at most "
        f"{many(depth, 'step')} deep. Boxes are as wide as their noisy counts{stripes}.{says}",
        Tree(
            f"The tree of {regions} from the top, each box as wide as its count; the list below "
            "says it in words.",
            root,
        ),
    )


def _is_striped(box: Box) -> bool:
    return bool(box.merged) or any(_is_striped(child) for child in box.below)


def _division(release: TableRelease) -> Parts:
    """The tree, or one strip for each attribute, cut where the grid cuts it."""
    grid = release.partition
    if not isinstance(grid, GridPartition):
        return tree_parts(release, grid)
    strips, parts = [], cuts(release, grid, part_of)
    whole = ", ".join(name for name, labels in parts.items() if len(labels) == 1)
    for one, edges in zip(release.schema.attributes, grid.edges, strict=True):
        if len(labels := parts[one.name]) > 1:
            shown = zip(labels[:_PARTS], np.diff(edges).tolist(), strict=False)
            strips.append(Strip(f"{one.title}: {many(len(labels), 'part')}", tuple(shown)))
    return (
        "Every region is a combination of one part of each attribute: "
        f"{many(grid.cells, 'region')} in all.",
        *strips,
        *([Text(f"Not divided: {whole}.", "note")] if whole else []),
    )


def _region_steps(release: TableRelease, depth: int, top: int) -> tuple[Parts, dict[str, Any]]:
    if isinstance(release.partition, TreePartition):
        root = grow_tree(release, release.partition, depth)
        return (Tree("The tree", root),), {"tree": _describe_box(root)}
    parts = cuts(release, release.partition)
    rows = [(name, str(len(labels)), "; ".join(labels)) for name, labels in parts.items()]
    words = "Every region is a combination of these parts"
    return (Grid(words, ("attribute", "parts", "which"), rows=rows, numbers={1}),), {"tree": parts}


def _describe_box(box: Box) -> dict[str, Any]:
    """A node for machines."""
    below = [_describe_box(one) for one in box.below]
    return {"where": box.where, "count": box.count, "divided": box.divided, "below": below}


def _region_cuts(release: TableRelease, place: int) -> tuple[int, Codes]:
    partition = release.partition
    if isinstance(partition, GridPartition):
        return _middle_first(partition.edges[place])
    codes, often = np.unique(partition.lo[:, place], return_counts=True)
    return int((partition.split == place).sum()), codes[np.argsort(-often, kind="stable")]


# Counted tables.


_AS = {
    "named": "named by the schema",
    **dict.fromkeys(ROUNDS, "a chosen pair"),
    "by_class": "an attribute by the class",
    "single": "an attribute alone",
    "again": "the same again",
}


def _list_tables(release: MarginalsRelease, top: int) -> dict[str, Any]:
    """Every table that was counted: those that were named or chosen first."""
    names, order = [one.name for one in release.schema.columns], list(_AS)
    tables = sorted(release.tables.tables, key=lambda one: order.index(one.kind))
    widths = (half_width(np.sqrt(x.tail), USUAL, normal=x.law == "gaussian") for x in tables[:top])
    shown = [
        {"attributes": tuple(names[column] for column in sorted(one.columns)),
         "cells": one.values.size,  # of pairs, groups of values
         "give_or_take": float(width), "counted_as": _AS[one.kind]}
        for one, width in zip(tables, widths, strict=False)
    ]  # fmt: skip
    return {"counted": shown}


def _tables(release: MarginalsRelease, top: int) -> Parts:
    """Which tables were counted, and how noisy each is."""
    rows = [
        (" by ".join(names), f"{cells:,}", f"± {number(reach)}", kind)
        for names, cells, reach, kind in map(dict.values, _list_tables(release, top)["counted"])
    ]
    caption = "The tables that were counted, and how far noise may move a cell, with 95%"
    heads = ("table", "cells", "give or take", "counted as")
    return (_fold(Grid(caption, heads, rows=rows, numbers={1, 2})),)


def _tables_made(release: MarginalsRelease) -> Parts:
    """What was counted, as a sentence: each kind of table with its number."""
    tables, every = release.tables.tables, len(release.partition.counted)
    schema, parts = release.schema, []
    for kind, by in (("by_class", " by the class"), ("single", " alone")):
        if counted := sum(
            table.kind == kind and table.columns[0] != release.partition.attributes
            for table in tables
        ):
            which = "every attribute" if counted == every else f"{counted} of {every} attributes"
            parts.append(which + by)
    if named := sum(table.kind == "named" for table in tables):
        parts.append(f"{many(named, 'table')} that the schema names")
    if chosen := [table.columns for table in tables if table.grouped]:
        classed = sum(len(columns) == 3 for columns in chosen)
        by = f", {classed} of them by the class" if classed else ""
        parts.append(f"{many(len(chosen), 'chosen pair')} of attributes{by}")
    if fine := sorted({place for place, _ in release.tables.fine}):
        those = ", ".join(schema.attributes[place].title for place in fine)
        parts.append(f"large groups of {those} again in parts")
    return (f"Counted over all {schema.unit_names[1]}: {'; '.join(parts)}.",)


def _middle_first(edges: Codes) -> tuple[int, Codes]:
    """How many parts edges make, and the inner ones."""
    inner = edges[1:-1]
    return max(0, len(edges) - 1), np.roll(inner, -(len(inner) // 2))


# Generalized rows.


def _rows_made(release: RowsRelease) -> Parts:
    """How much is left open in generalized rows."""
    total, people = max(1, int(release.counts.sum())), release.schema.unit_names[1]
    width = (release.hi - release.lo).astype(np.float64)
    rows: list[tuple[Cell, ...]] = []
    for place, attribute in enumerate(release.attributes):
        left = np.where(width[:, place] > 1, width[:, place] / attribute.size, 0.0)
        share = float((left * release.counts).sum()) / total
        exact = float(release.counts[width[:, place] <= 1].sum()) / total
        rows.append((attribute.title, f"{share:.0%}", Bar(share), f"{exact:.0%}"))
    caption = f"How much is left open in each attribute, on average over the {people} published"
    heads = ("attribute", "of its domain left open", Scale(1.0, "%"), "given exactly")
    return (
        f"Every record was generalized by itself. What enough {people} share is published: "
        f"{many(len(release.counts), 'generalized row')}. Rows overlap: they do not divide all "
        f"{people} into separate groups.",
        Grid(caption, heads, rows=rows, numbers={1, 3}),
        *_frontier(release.frontier),
    )


def _rows(release: RowsRelease, top: int) -> Parts:
    """The generalized rows that most people share."""
    people, most = release.schema.unit_names[1], int(release.counts.max(initial=0)) or 1
    rows: list[tuple[Cell, ...]] = []
    for row in np.argsort(-release.counts, kind="stable")[:top]:
        count, ends = int(release.counts[row]), (release.lo[row].tolist(), release.hi[row].tolist())
        where = ", ".join(
            f"{one.title} {part_of(one, low, high)}"
            for one, low, high in zip(release.attributes, *ends, strict=True)
            if high - low < one.size
        )
        rows.append((where or "everyone", f"{count:,}", Bar(count)))
    sampled = release.settings.get("mode") == "sampled"
    counted = f"Counts of sampled {people}" if sampled else "Noisy counts"
    heads = ("where", people, Scale.until(most, people))
    return (
        Text(f"The rows that most {people} share", "heading"),
        Grid(counted, heads, rows=rows, numbers={1}, long=True),
    )


def _frontier(frontier: dict[str, Any]) -> Parts:
    """What other settings would have meant; nothing if it cannot be read."""
    try:
        setting, word = FRONTIER_WORDS[frontier["model"]]
        numbers = [[float(p[x]) for x in (setting, "utility", "risk")] for p in frontier["points"]]
        rows = [(f"{at:.3g}", f"{utility:.2f}", f"{risk:.3g}") for at, utility, risk in numbers]
        utility, risk = (float(frontier["chosen"][name]) for name in ("utility", "risk"))
        sentence = (
            "How far a row is generalized weighs what it tells (utility) against how much it "
            "would help to recognise somebody (risk). Measured on a table that is public or was "
            f"paid for, rows keep {utility / float(frontier['most_utility']):.0%} of the utility "
            f"of exact ones, with a mean risk of {risk:.3g}."
        )
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError):
        return ()
    heads = (word, "utility", "risk")
    settings = Grid("Utility and risk by setting", heads, rows=rows, numbers={0, 1, 2})
    return (sentence, Folded("What other settings would mean", (settings,)))


def _list_rows(release: RowsRelease, top: int) -> dict[str, Any]:
    rows = release.generalized("arrow").to_pylist()
    rows.sort(key=lambda row: -row["count"])  # a stable sort: ties keep the canonical order
    whole = {one.name: one.label(0, one.size) for one in release.attributes}
    shown = [
        {"where": {k: row[k] for k, v in whole.items() if row[k] != v}, "count": row["count"]}
        for row in rows[:top]
    ]
    about = {"suppression": release.ledger["suppression"], "frontier": release.frontier}
    return {**about, "largest": shown}


def _refuse_steps(what: str) -> Callable[[Any, int, int], tuple[Parts, dict[str, Any]]]:
    def refuse(*_: Any) -> tuple[Parts, dict[str, Any]]:
        raise UsageError(what, hint="Leave --tree out.")

    return refuse


# Itemsets.


def _itemsets_made(release: TransactionsRelease) -> Parts:
    """How transactions were divided."""
    partition, items = release.partition, release.items
    those = release.schema.unit_names[1]
    if not isinstance(partition, CoreCells):
        labels = ItemTree.of(items).labels
        first = ", ".join(labels[node] for node in partition.nodes(0).tolist())
        return (
            f"{those.capitalize()} were divided by the groups of items they hold, from {first} "
            f"down, into {many(partition.cells, 'partition')}.",
        )
    if len(partition.core) == items.size:
        return (f"Which items {those} hold together was counted set by set.",)
    if len(partition.core) == 1:
        return (
            f"Of every item was counted how many {those} hold it, and how many items each has.",
        )
    named = ", ".join(items.labels[code] for code in partition.core.tolist())
    return (
        f"Which of the {len(partition.core)} most frequent items {those} hold together was "
        f"counted set by set ({named}); of every item, how many {those} hold it; and how many "
        f"items {those} have.",
    )


def item_rows(release: TransactionsRelease, top: int) -> list[dict[str, Any]]:
    """The most frequent itemsets; none where there is nothing to list."""
    try:
        return release.frequent(top, kind="arrow").to_pylist() if top else []
    except HedgerowError:
        return []


def _itemsets(release: TransactionsRelease, top: int) -> Parts:
    """The most frequent itemsets."""
    if not (rows := item_rows(release, top)):
        return ()
    most, those = max(row["high"] for row in rows) or 1.0, release.schema.unit_names[1]
    lines = []
    for row in rows:
        estimate, low, high = row["estimate"], row["low"], row["high"]
        about, ends = round_count(estimate, low, high)
        items = ", ".join(row["items"]) or f"all {those}"
        lines.append((items, about, Bar(max(0.0, estimate), low=low, high=high), ends))
    caption = f"How many {those} hold all of these items, whatever else they hold"
    heads = ("items", "about", Scale.until(most, those), "95% interval")
    return (
        Text("The most frequent itemsets", "heading"),
        Grid(caption, heads, rows=lines, numbers={1, 3}),
        Text(explain_picking("These itemsets"), "note"),
    )


def _item_steps(release: TransactionsRelease, depth: int, top: int) -> tuple[Parts, dict[str, Any]]:
    partition = release.partition
    if not isinstance(partition, CutTree):
        raise UsageError(
            "These transactions were not published by a tree.",
            hint="Leave --tree out, or publish with --variant tree.",
        )
    labels = ItemTree.of(release.items).labels
    leaf = next(m for m in release.measurements if m.name == "leaf")
    order = np.argsort(-leaf.values[:, 0], kind="stable")[:top]
    shown: list[dict[str, Any]] = [
        {"cut": [labels[node] for node in partition.nodes(place).tolist()], "count": count}
        for place, count in zip(
            leaf.where[order].tolist(), leaf.values[order, 0].tolist(), strict=True
        )
    ]
    rows = [(", ".join(one["cut"]), f"{max(0, one['count']):,}") for one in shown]
    heads = ("items, or groups of them", release.schema.unit_names[1])
    grid = Grid("The largest partitions", heads, rows=rows, numbers={1})
    return (grid,), {"partitions": shown}


# What generalized rows tell: lower ends that hold together. Shares of everybody are unknown.


_MOST_VALUES = 6  # values of an attribute
_LITTLE = 0.01  # of the people published: less is not worth a line
_MORE = 1.05  # a wider value is worth telling if it holds so many times more people


def _least(release: RowsRelease) -> list[Least]:
    """For each attribute, and the class, values and how many people have them at least.

    A value may contain another. With 95% all of these numbers hold at once. Which values are in
    published rows depends on what was drawn, so every value that could have been gets its part of
    the error: a hierarchy over so many codes has less than twice as many nodes.
    """
    asked: list[Query] = []
    nodes: list[tuple[int, int, int]] = []
    known = len(release.schema.attributes)
    for place, attribute in enumerate(release.attributes):
        pairs = np.unique(np.stack([release.lo[:, place], release.hi[:, place]], axis=1), axis=0)
        for low, high in pairs.tolist():
            if high - low < min(attribute.size, getattr(attribute, "grid", attribute.size)):
                nodes.append((place, low, high))
                part = ((place, ((float(low), float(high)),)),)
                asked.append(Query(part) if place < known else Query((), tuple(range(low, high))))
    if not asked:
        return []
    total = float(release.counts.sum()) / release.sampling_rate
    possible = sum(2 * attribute.size for attribute in release.attributes)
    ends = release.count(asked, level=1 - _ERROR / possible).low
    shown: list[Least] = []
    for place, attribute in enumerate(release.attributes):
        here = [(*nodes[i][1:], float(ends[i])) for i in range(len(nodes)) if nodes[i][0] == place]
        kept = [
            (low, high, number)
            for low, high, number in here
            if number >= max(1.0, _LITTLE * total)
            and not any(
                number < _MORE * inner and low <= lo and hi <= high and hi - lo < high - low
                for lo, hi, inner in here
            )
        ]
        kept = sorted(sorted(kept, key=lambda one: -one[2])[:_MOST_VALUES])
        if kept:
            values = [(part_of(attribute, low, high), number) for low, high, number in kept]
            shown.append((attribute.name, values))
    return shown


_BOUNDS = "Bounds, values and taxonomies are"
_NOISE = "Small counts are mostly noise"

KINDS: dict[str, Kind] = {
    "table": Kind(
        values="How values are distributed",
        public=_BOUNDS,
        columns=_describe_columns,
        division=_regions,
        making=_division,
        listing=_list_regions,
        steps=_region_steps,
        small=(
            _NOISE,
            "A region with a small count may in fact be empty, and nothing is known about where "
            "{people} are inside a region.",
        ),
        cuts=_region_cuts,
        assumed="Inside a region {people} are assumed to be distributed evenly, so values that no "
        "region separates have the same share.",
        narrow="where a question follows the edges of the regions, and wide where it cuts through "
        "them",
    ),
    "marginals": Kind(
        values="How values are distributed",
        public=_BOUNDS,
        columns=_describe_columns,
        division=_tables,
        making=_tables_made,
        listing=_list_tables,
        steps=_refuse_steps("Nothing was divided step by step, so there is no tree."),
        small=(
            _NOISE,
            "A cell with a small count may in fact be empty, and how attributes go together is "
            "known only as far as they were counted together: the rest follows from a model.",
        ),
        cuts=lambda release, place: _middle_first(release.measured_edges(place)),
        assumed="Estimates follow one model of all tables that were counted, and intervals come "
        "from the tables themselves.",
        narrow="where a table counted what is asked, and wide for other combinations",
    ),
    "transactions": Kind(
        values="How often items occur",
        public="The list of items and its groups are",
        columns=_describe_universe,
        division=_itemsets,
        making=_itemsets_made,
        listing=lambda release, top: {"frequent": item_rows(release, top)},
        steps=_item_steps,
        small=(
            _NOISE,
            "A set of items with a small count may in fact be in no record, and which items occur "
            "together is known only as far as they were counted together.",
        ),
    ),
    "rows": Kind(
        values="What is known at least",
        public=_BOUNDS,
        columns=_describe_columns,
        division=_rows,
        making=_rows_made,
        listing=_list_rows,
        steps=_refuse_steps("Generalized rows have no tree."),
        small=(
            "Small counts tell little",
            "A generalized row with a small count tells little about how many {people} share it, "
            "and inside a row nothing is known about where {people} are.",
        ),
        least=_least,
    ),
}
