"""What was published, by its kind: regions, noisy tables, generalised rows, sets of items."""

from __future__ import annotations

from typing import Any

import numpy as np

from hedgerow.errors import HedgerowError
from hedgerow.measured import GridPartition
from hedgerow.measured.itemsets import CoreCells
from hedgerow.release import MarginalsRelease, RowsRelease, TableRelease, TransactionsRelease
from hedgerow.release.rows import FRONTIER_WORDS
from hedgerow.report import words
from hedgerow.report.charts import bar
from hedgerow.report.html import Safe, bars, join, picture, table, tag
from hedgerow.report.labels import part_of, rounded
from hedgerow.report.sections.regions import (
    HEADS,
    grid_picture,
    largest,
    shown_tables,
    tree_picture,
    what_was_counted,
)
from hedgerow.report.tables import picked
from hedgerow.schema.item_tree import ItemTree

_TOP = 12
_UNFOLDED = 6  # longer lists are folded
_CLASSES = 4


def regions(release: TableRelease) -> Safe:
    """How a table was divided, and its largest regions."""
    if isinstance(release.partition, GridPartition):
        drawing = grid_picture(release, release.partition)
    else:
        drawing = tree_picture(release, release.partition)
    shown = largest(release, _TOP, part_of)
    classes, target = release.schema.classes, release.schema.target
    most = max((region.ends[1] for region in shown), default=0.0) or 1.0
    named = list(classes) if target is not None and len(classes) <= _CLASSES else []
    shares = [f"{target.name} {name}" for name in named if target]
    heads = [
        "where",
        release.schema.unit_names[1],
        "95% interval",
        picture(f"{most:,.0f}"),
        *shares,
    ]
    rows: list[list[Any]] = []
    for region in shown:
        split = [region.share(name) for name in named]
        drawn = bar(*(one / most for one in (region.total, *region.ends)))
        rows.append([region.words, *rounded(region.total, *region.ends), drawn, *split])
    numbers = {1, 2, *range(4, len(heads))}
    caption = f"The {len(shown)} largest regions: noisy counts"
    caption += ", and by how much noise may move shares (±)" if named else ""
    listed = table(caption, heads, rows, numbers, True)
    if len(rows) > _UNFOLDED:
        listed = tag("details", tag("summary", f"The {len(rows)} largest regions"), listed)
    parts = [drawing, tag("h3", "The largest regions"), listed]
    if len(rows) < len(release.regions):
        parts.append(tag("p", picked("These regions"), class_="note"))
    small = release.describe().suppressed
    return join([*parts, tag("p", small, class_="note") if small else None])


def tables(release: MarginalsRelease) -> Safe:
    """Which tables were counted, and how noisy each is."""
    rows = [
        [one.words, f"{one.cells:,}", f"± {words.number(one.error)}", one.counted_as]
        for one in shown_tables(release)
    ]
    caption = "The tables that were counted, and how far noise may move a cell, with 95%"
    listed = table(caption, list(HEADS), rows, {1, 2})
    if len(rows) > _UNFOLDED:
        listed = tag("details", tag("summary", f"All {len(rows)} tables"), listed)
    return join([tag("p", what_was_counted(release)), listed])


def rows(release: RowsRelease) -> Safe:
    """How much is left open in generalised rows, and those that most people share."""
    total, people = max(1, int(release.counts.sum())), release.schema.unit_names[1]
    width = (release.hi - release.lo).astype(np.float64)
    open_parts = []
    for place, attribute in enumerate(release.attributes):
        left = np.where(width[:, place] > 1, width[:, place] / attribute.size, 0.0)
        share = float((left * release.counts).sum()) / total
        exact = float(release.counts[width[:, place] <= 1].sum()) / total
        drawn = bars([("told", share)])
        open_parts.append([attribute.name, f"{share:.0%}", drawn, f"{exact:.0%}"])
    most = int(release.counts.max(initial=0)) or 1
    told: list[list[Any]] = []
    for row in np.argsort(-release.counts, kind="stable")[:_TOP].tolist():
        count = int(release.counts[row])
        where = ", ".join(
            f"{one.name} {part_of(one, int(release.lo[row, place]), int(release.hi[row, place]))}"
            for place, one in enumerate(release.attributes)
            if width[row, place] < one.size
        )
        told.append([where or "everyone", f"{count:,}", bars([("told", count / most)])])
    suppressed = release.describe().suppressed
    sampled = release.settings.get("mode") == "sampled"
    counted = f"Counts of sampled {people}" if sampled else "Noisy counts"
    return join(
        [
            tag(
                "p",
                f"Every record was generalised by itself. What enough {people} share is published: "
                f"{words.many(len(release.counts), 'generalised row')}. Rows overlap: they do not "
                f"divide all {people} into separate groups.",
            ),
            tag("p", suppressed) if suppressed else None,
            table(
                f"How much is left open in each attribute, on average over the {people} published",
                ["attribute", "of its domain left open", picture("100%"), "given exactly"],
                open_parts,
                {1, 3},
            ),
            _frontier(release.frontier),
            tag("h3", f"The rows that most {people} share"),
            table(counted, ["where", people, picture(f"{most:,}")], told, {1}, True),
        ]
    )


def _frontier(frontier: dict[str, Any]) -> Safe | None:
    """What other settings would have meant; nothing if it cannot be read."""
    try:
        setting, word = FRONTIER_WORDS[frontier["model"]]
        rows = [
            [f"{float(p[setting]):.3g}", f"{float(p['utility']):.2f}", f"{float(p['risk']):.3g}"]
            for p in frontier["points"]
        ]
        chosen = frontier["chosen"]
        best = float(frontier["most_utility"])
        sentence = (
            "How far a row is generalised weighs what it tells (utility) against how much it "
            "would help to recognise somebody (risk). Measured on a table that is public or was "
            f"paid for, rows keep {float(chosen['utility']) / best:.0%} of the utility of exact "
            f"ones, with a mean risk of {float(chosen['risk']):.3g}."
        )
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError):
        return None
    return join(
        [
            tag("p", sentence),
            tag(
                "details",
                tag("summary", "What other settings would mean"),
                table("Utility and risk by setting", [word, "utility", "risk"], rows, {0, 1, 2}),
            ),
        ]
    )


def itemsets(release: TransactionsRelease) -> Safe:
    """How transactions were divided, and the most frequent itemsets."""
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
    return join([tag("p", how), _frequent(release)])


def _frequent(release: TransactionsRelease) -> Safe | None:
    try:
        found = release.frequent(_TOP, kind="arrow").to_pylist()
    except HedgerowError:
        return None  # there may be nothing to list
    most = max((row["high"] for row in found), default=0.0) or 1.0
    those = release.schema.unit_names[1]
    rows: list[list[Any]] = [
        [
            ", ".join(row["items"]) or f"all {those}",
            (told := rounded(row["estimate"], row["low"], row["high"]))[0],
            bar(*(row[one] / most for one in ("estimate", "low", "high"))),
            told[1],
        ]
        for row in found
    ]
    return join(
        [
            tag("h3", "The most frequent itemsets"),
            table(
                f"How many {those} hold all of these items, whatever else they hold",
                ["items", "about", picture(f"{most:,.0f}"), "95% interval"],
                rows,
                {1, 3},
            ),
            tag("p", picked("These itemsets"), class_="note"),
        ]
    )
