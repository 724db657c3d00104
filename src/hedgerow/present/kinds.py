"""What is said of one kind of release and not of others, in one table by kind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.errors import HedgerowError, UsageError
from hedgerow.estimate.partition import CoreCells, CutTree, GridPartition, TreePartition
from hedgerow.present import words
from hedgerow.present.document import (
    Bar,
    Box,
    Cell,
    Folded,
    Grid,
    Heading,
    Part,
    Scale,
    Text,
    Tree,
)
from hedgerow.present.regions import (
    HEADS,
    cuts,
    grid_parts,
    largest,
    nested,
    shown_tables,
    tree_parts,
    what_was_counted,
)
from hedgerow.present.tables import picked
from hedgerow.present.words import rounded
from hedgerow.release import MarginalsRelease, RowsRelease, TableRelease, TransactionsRelease
from hedgerow.release.rows import FRONTIER_WORDS
from hedgerow.schema import Attribute, Numeric, Query, Schema
from hedgerow.schema.item_tree import ItemTree
from hedgerow.schema.schema import part_of

Ints = NDArray[np.integer]
_NOISE = "Small counts are mostly noise"
_UNFOLDED = 6  # longer lists are folded
_CLASSES = 4  # more do not fit beside each other
_ERROR = 0.05

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
        small: What small counts do not tell: a title and a text.
        cuts: Into how many parts an attribute is divided, and the codes where, the one to tell
            first in front; None if there are no attributes.
        least: What is known to be true of so many at least, where that is all that is known.
        assumed: How numbers of values come about where they were not counted, as a sentence.
        narrow: Where intervals are narrow, as the end of a sentence.
    """

    values: str
    public: str
    columns: Callable[[Schema], tuple[Part, ...]]
    division: Callable[[Any, int], tuple[Part, ...]]
    making: Callable[[Any], tuple[Part, ...]]
    listing: Callable[[Any, int], dict[str, Any]]
    steps: Callable[[Any, int, int], tuple[tuple[Part, ...], dict[str, Any]]]
    small: Callable[[Any], tuple[str, str]]
    cuts: Callable[[Any, int], tuple[int, Ints]] | None
    least: Callable[[Any], list[Least]] | None = None
    assumed: str = ""
    narrow: str = ""


def _called(attribute: Attribute) -> str:
    """The name of a column, and what people call it."""
    return attribute.name + (f" ({attribute.caption})" if attribute.caption else "")


def _columns(schema: Schema) -> tuple[Part, ...]:
    rows = []
    for attribute in schema.attributes:
        if isinstance(attribute, Numeric):
            domain = f"{attribute.edge(0)} to {attribute.edge(attribute.grid)}"
            kind: str = attribute.kind
        else:
            domain = words.many(attribute.size, "value")
            kind = "boolean" if attribute.boolean else "categories"
        rows.append((_called(attribute), kind, domain))
    if schema.target is not None:
        rows.append((_called(schema.target), "the class", words.many(len(schema.classes), "value")))
    parts: list[Part] = [
        Grid("The public columns", ("attribute", "kind", "domain"), rows=tuple(rows))
    ]
    if schema.identifiers:
        parts.append(Text(f"Dropped before publishing: {', '.join(schema.identifiers)}."))
    return (Folded(f"{len(rows)} public columns", tuple(parts)),)


def _universe(schema: Schema) -> tuple[Part, ...]:
    items = schema.transaction_items
    shown = ", ".join(items.labels[:12])
    more = " and so on" if items.size > 12 else ""
    return (Text(f"A universe of {items.size:,} items is public: {shown}{more}."),)


def _small_regions(release: TableRelease) -> tuple[str, str]:
    return _NOISE, (
        "A region with a small count may in fact be empty, and nothing is known about where "
        f"{release.schema.unit_names[1]} are inside a region."
    )


def _small_cells(release: MarginalsRelease) -> tuple[str, str]:
    return _NOISE, (
        "A cell with a small count may in fact be empty, and how attributes go together is known "
        "only as far as they were counted together: the rest follows from a model."
    )


def _small_itemsets(release: TransactionsRelease) -> tuple[str, str]:
    return _NOISE, (
        "A set of items with a small count may in fact be in no record, and which items occur "
        "together is known only as far as they were counted together."
    )


def _small_rows(release: RowsRelease) -> tuple[str, str]:
    people = release.schema.unit_names[1]
    return "Small counts tell little", (
        f"A generalized row with a small count tells little about how many {people} share it, and "
        f"inside a row nothing is known about where {people} are."
    )


def _region_cuts(release: TableRelease, place: int) -> tuple[int, Ints]:
    partition = release.partition
    if isinstance(partition, GridPartition):
        return _middle_first(partition.edges[place])
    return int((partition.split == place).sum()), _often(partition.lo[:, place])


def _cell_cuts(release: MarginalsRelease, place: int) -> tuple[int, Ints]:
    return _middle_first(release.measured_edges(place))


def _middle_first(edges: Ints) -> tuple[int, Ints]:
    """How many parts edges make, and the inner ones."""
    inner = edges[1:-1]
    return max(0, len(edges) - 1), np.roll(inner, -(len(inner) // 2))


def _row_cuts(release: RowsRelease, place: int) -> tuple[int, Ints]:
    return len(np.unique(release.lo[:, place])), _often(release.lo[:, place])


def _often(codes: Ints) -> Ints:
    """Distinct codes, the most frequent first."""
    found, often = np.unique(codes, return_counts=True)
    return np.asarray(found[np.argsort(-often, kind="stable")])


# What was published, and the largest of it.


def _folded(grid: Grid) -> Part:
    """A table, folded if it is long."""
    return grid if len(grid.rows) <= _UNFOLDED else Folded(grid.caption, (grid,))


def _division(release: TableRelease) -> tuple[Part, ...]:
    if isinstance(release.partition, GridPartition):
        return grid_parts(release, release.partition)
    return tree_parts(release, release.partition)


def _regions(release: TableRelease, top: int) -> tuple[Part, ...]:
    """The largest regions of a table."""
    shown = largest(release, top, part_of)
    classes, target = release.schema.classes, release.schema.target
    most = max((region.ends[1] for region in shown), default=0.0) or 1.0
    people = release.schema.unit_names[1]
    named = list(classes) if target is not None and len(classes) <= _CLASSES else []
    heads: list[str | Scale] = ["where", people, "95% interval", Scale.until(most, people)]
    heads += [f"{target.title} {name}" for name in named if target]
    heads += ["mostly"] if len(classes) > _CLASSES else []
    rows: list[tuple[Cell, ...]] = []
    for region in shown:
        split = [region.share(name) for name in named]
        if len(classes) > _CLASSES:
            first = sorted(region.counts, key=lambda name: -region.counts[name])[:3]
            split.append(", ".join(f"{one} {region.share(one)}" for one in first))
        low, high = region.ends
        bar = Bar(region.total, low=low, high=high)
        rows.append((region.words, *rounded(region.total, low, high), bar, *split))
    caption = f"The {len(shown)} largest regions: noisy counts"
    caption += ", and by how much noise may move shares (±)" if named else ""
    numbers = frozenset({1, 2, *range(4, 4 + len(named))})
    parts: list[Part] = [
        _folded(Grid(caption, tuple(heads), rows=tuple(rows), numbers=numbers, long=True))
    ]
    if len(rows) < len(release.regions):
        parts.append(Text(picked("These regions"), "note"))
    return tuple(parts)


def _tables(release: MarginalsRelease, top: int) -> tuple[Part, ...]:
    """Which tables were counted, and how noisy each is."""
    shown = shown_tables(release)
    rows = tuple(
        (one.words, f"{one.cells:,}", f"± {words.number(one.error)}", one.counted_as)
        for one in shown[:top]
    )
    caption = "The tables that were counted, and how far noise may move a cell, with 95%"
    return (_folded(Grid(caption, HEADS, rows=rows, numbers=frozenset({1, 2}))),)


def _tables_made(release: MarginalsRelease) -> tuple[Part, ...]:
    return (Text(what_was_counted(release)),)


def _rows_made(release: RowsRelease) -> tuple[Part, ...]:
    """How much is left open in generalized rows."""
    total, people = max(1, int(release.counts.sum())), release.schema.unit_names[1]
    width = (release.hi - release.lo).astype(np.float64)
    open_parts: list[tuple[Cell, ...]] = []
    for place, attribute in enumerate(release.attributes):
        left = np.where(width[:, place] > 1, width[:, place] / attribute.size, 0.0)
        share = float((left * release.counts).sum()) / total
        exact = float(release.counts[width[:, place] <= 1].sum()) / total
        open_parts.append((attribute.title, f"{share:.0%}", Bar(share), f"{exact:.0%}"))
    return (
        Text(
            f"Every record was generalized by itself. What enough {people} share is published: "
            f"{words.many(len(release.counts), 'generalized row')}. Rows overlap: they do not "
            f"divide all {people} into separate groups."
        ),
        Grid(
            f"How much is left open in each attribute, on average over the {people} published",
            ("attribute", "of its domain left open", Scale(1.0, "%"), "given exactly"),
            rows=tuple(open_parts),
            numbers=frozenset({1, 3}),
        ),
        *_frontier(release.frontier),
    )


def _rows(release: RowsRelease, top: int) -> tuple[Part, ...]:
    """The generalized rows that most people share."""
    people, most = release.schema.unit_names[1], int(release.counts.max(initial=0)) or 1
    rows: list[tuple[Cell, ...]] = []
    for row in np.argsort(-release.counts, kind="stable")[:top].tolist():
        where = ", ".join(
            f"{one.title} {part_of(one, int(release.lo[row, place]), int(release.hi[row, place]))}"
            for place, one in enumerate(release.attributes)
            if release.hi[row, place] - release.lo[row, place] < one.size
        )
        count = int(release.counts[row])
        rows.append((where or "everyone", f"{count:,}", Bar(count)))
    sampled = release.settings.get("mode") == "sampled"
    counted = f"Counts of sampled {people}" if sampled else "Noisy counts"
    return (
        Heading(f"The rows that most {people} share"),
        Grid(
            counted,
            ("where", people, Scale.until(most, people)),
            rows=tuple(rows),
            numbers=frozenset({1}),
            long=True,
        ),
    )


def _frontier(frontier: dict[str, Any]) -> tuple[Part, ...]:
    """What other settings would have meant; nothing if it cannot be read."""
    try:
        setting, word = FRONTIER_WORDS[frontier["model"]]
        rows = tuple(
            (f"{float(p[setting]):.3g}", f"{float(p['utility']):.2f}", f"{float(p['risk']):.3g}")
            for p in frontier["points"]
        )
        chosen = frontier["chosen"]
        best = float(frontier["most_utility"])
        sentence = (
            "How far a row is generalized weighs what it tells (utility) against how much it "
            "would help to recognise somebody (risk). Measured on a table that is public or was "
            f"paid for, rows keep {float(chosen['utility']) / best:.0%} of the utility of exact "
            f"ones, with a mean risk of {float(chosen['risk']):.3g}."
        )
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError):
        return ()
    settings = Grid(
        "Utility and risk by setting",
        (word, "utility", "risk"),
        rows=rows,
        numbers=frozenset({0, 1, 2}),
    )
    return (Text(sentence), Folded("What other settings would mean", (settings,)))


def _itemsets_made(release: TransactionsRelease) -> tuple[Part, ...]:
    """How transactions were divided."""
    partition, items = release.partition, release.items
    those = release.schema.unit_names[1]
    if isinstance(partition, CoreCells):
        named = ", ".join(items.labels[code] for code in partition.core.tolist())
        how = (
            f"Which of the {len(partition.core)} most frequent items {those} hold together was "
            f"counted set by set ({named}); of every item, how many {those} hold it; and how many "
            f"items {those} have."
        )
        if len(partition.core) == items.size:
            how = f"Which items {those} hold together was counted set by set."
        elif len(partition.core) == 1:
            how = (
                f"Of every item was counted how many {those} hold it, and how many items each has."
            )
    else:
        labels = ItemTree.of(items).labels
        first = [labels[node] for node in partition.nodes(0).tolist()]
        how = (
            f"{those.capitalize()} were divided by the groups of items they hold, from "
            f"{', '.join(first)} down, into {words.many(partition.cells, 'partition')}."
        )
    return (Text(how),)


def item_rows(release: TransactionsRelease, top: int) -> list[dict[str, Any]]:
    """The most frequent itemsets; none where there is nothing to list."""
    try:
        return release.frequent(top, kind="arrow").to_pylist() if top else []
    except HedgerowError:
        return []


def _itemsets(release: TransactionsRelease, top: int) -> tuple[Part, ...]:
    """The most frequent itemsets."""
    if not (rows := item_rows(release, top)):
        return ()
    most, those = max(row["high"] for row in rows) or 1.0, release.schema.unit_names[1]
    lines = []
    for row in rows:
        estimate, low, high = row["estimate"], row["low"], row["high"]
        about, ends = rounded(estimate, low, high)
        items = ", ".join(row["items"]) or f"all {those}"
        lines.append((items, about, Bar(max(0.0, estimate), low=low, high=high), ends))
    caption = f"How many {those} hold all of these items, whatever else they hold"
    heads = ("items", "about", Scale.until(most, those), "95% interval")
    return (
        Heading("The most frequent itemsets"),
        Grid(caption, heads, rows=tuple(lines), numbers=frozenset({1, 3})),
        Text(picked("These itemsets"), "note"),
    )


# The same for machines, and how parts were made.


def _list_regions(release: TableRelease, top: int) -> dict[str, Any]:
    shown = [
        {
            "region": one.number,
            "where": one.where,
            "count": one.total,
            "give_or_take": one.error,
            "classes": None if list(one.counts) == [""] else one.counts,
        }
        for one in largest(release, top)
    ]
    return {"threshold": release.threshold, "largest": shown}


def _list_tables(release: MarginalsRelease, top: int) -> dict[str, Any]:
    shown = [
        {
            "attributes": one.names,
            "cells": one.cells,
            "give_or_take": one.error,
            "counted_as": one.counted_as,
        }
        for one in shown_tables(release)[:top]
    ]
    return {"counted": shown}


def _list_itemsets(release: TransactionsRelease, top: int) -> dict[str, Any]:
    return {"frequent": item_rows(release, top)}


def _list_rows(release: RowsRelease, top: int) -> dict[str, Any]:
    rows = release.generalized("arrow").to_pylist()
    rows.sort(key=lambda row: -row["count"])  # a stable sort: ties keep the canonical order
    shown = [
        {
            "where": {
                one.name: row[one.name]
                for one in release.attributes
                if row[one.name] != one.label(0, one.size)
            },
            "count": row["count"],
        }
        for row in rows[:top]
    ]
    told = {"suppression": release.ledger["suppression"], "frontier": release.frontier}
    return {**told, "largest": shown}


def _region_steps(
    release: TableRelease, depth: int, top: int
) -> tuple[tuple[Part, ...], dict[str, Any]]:
    if isinstance(release.partition, TreePartition):
        root = nested(release, release.partition, depth)
        return (Tree("The tree", _boxes(root)),), {"tree": root}
    parts = cuts(release, release.partition)
    rows = tuple((name, str(len(labels)), "; ".join(labels)) for name, labels in parts.items())
    words = "Every region is a combination of these parts"
    return (Grid(words, ("attribute", "parts", "which"), rows=rows, numbers=frozenset({1})),), {
        "tree": parts
    }


def _boxes(node: dict[str, Any]) -> Box:
    """A nested node to be drawn; dots stand for what lies deeper."""
    below = tuple(map(_boxes, node["below"]))
    more = " ..." if node["divided"] and not below else ""
    return Box(where=node["where"] + more, count=node["count"], mark=0.0, regions=1, below=below)


def _item_steps(
    release: TransactionsRelease, depth: int, top: int
) -> tuple[tuple[Part, ...], dict[str, Any]]:
    partition = release.partition
    if not isinstance(partition, CutTree):
        raise UsageError(
            "These transactions were not published by a tree.",
            hint="Leave --tree out, or publish with --variant tree.",
        )
    labels = ItemTree.of(release.items).labels
    leaf = next(m for m in release.measurements if m.name == "leaf")
    order = sorted(range(len(leaf.where)), key=lambda i: (-int(leaf.values[i, 0]), i))[:top]
    listed: list[dict[str, Any]] = [
        {
            "cut": [labels[node] for node in partition.nodes(int(leaf.where[place])).tolist()],
            "count": int(leaf.values[place, 0]),
        }
        for place in order
    ]
    rows = tuple((", ".join(one["cut"]), f"{max(0, one['count']):,}") for one in listed)
    heads = ("items, or groups of them", release.schema.unit_names[1])
    grid = Grid("The largest partitions", heads, rows=rows, numbers=frozenset({1}))
    return (grid,), {"partitions": listed}


def _no_steps(what: str) -> Callable[[Any, int, int], tuple[tuple[Part, ...], dict[str, Any]]]:
    def refuse(*_: Any) -> tuple[tuple[Part, ...], dict[str, Any]]:
        raise UsageError(what, hint="Leave --tree out.")

    return refuse


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
    found: list[Least] = []
    for place, attribute in enumerate(release.attributes):
        here = [(*nodes[i][1:], float(ends[i])) for i in range(len(nodes)) if nodes[i][0] == place]
        told = [
            (low, high, number)
            for low, high, number in here
            if number >= max(1.0, _LITTLE * total)
            and not any(
                number < _MORE * inner and low <= lo and hi <= high and hi - lo < high - low
                for lo, hi, inner in here
            )
        ]
        told = sorted(sorted(told, key=lambda one: -one[2])[:_MOST_VALUES])
        if told:
            values = [(part_of(attribute, low, high), number) for low, high, number in told]
            found.append((attribute.name, values))
    return found


_BOUNDS = "Bounds, values and taxonomies are"

KINDS: dict[str, Kind] = {
    "table": Kind(
        values="How values are distributed",
        public=_BOUNDS,
        columns=_columns,
        division=_regions,
        making=_division,
        listing=_list_regions,
        steps=_region_steps,
        small=_small_regions,
        cuts=_region_cuts,
        assumed="Inside a region {people} are assumed to be distributed evenly, so values that no "
        "region separates have the same share.",
        narrow="where a question follows the edges of the regions, and wide where it cuts through "
        "them",
    ),
    "marginals": Kind(
        values="How values are distributed",
        public=_BOUNDS,
        columns=_columns,
        division=_tables,
        making=_tables_made,
        listing=_list_tables,
        steps=_no_steps("Nothing was divided step by step, so there is no tree."),
        small=_small_cells,
        cuts=_cell_cuts,
        assumed="Estimates follow one model of all tables that were counted, and intervals come "
        "from the tables themselves.",
        narrow="where a table counted what is asked, and wide for other combinations",
    ),
    "transactions": Kind(
        values="How often items occur",
        public="The list of items and its groups are",
        columns=_universe,
        division=_itemsets,
        making=_itemsets_made,
        listing=_list_itemsets,
        steps=_item_steps,
        small=_small_itemsets,
        cuts=None,
    ),
    "rows": Kind(
        values="What is known at least",
        public=_BOUNDS,
        columns=_columns,
        division=_rows,
        making=_rows_made,
        listing=_list_rows,
        steps=_no_steps("Generalized rows have no tree."),
        small=_small_rows,
        cuts=_row_cuts,
        least=_least,
    ),
}
