"""A release of a table on the terminal: its regions, its tables of counts, or its rows."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hedgerow.cli.display.terminal import print_drawing, print_json, print_table, say
from hedgerow.errors import UsageError
from hedgerow.present.regions import HEADS, largest, nested, shown_tables, what_was_counted
from hedgerow.present.words import number

if TYPE_CHECKING:
    from hedgerow.cli.display.kinds import View
    from hedgerow.measured import TreePartition
    from hedgerow.present.regions import ShownRegion
    from hedgerow.release import MarginalsRelease, RowsRelease, TableRelease
    from hedgerow.schema import Schema

__all__ = [
    "branches",
    "plot_plan",
    "show_measured",
    "show_rows",
    "show_table",
]


# A release of a table on the terminal: its largest regions, or how they were made.


def branches(release: TableRelease, tree: TreePartition, deepest: int) -> Any:
    """The upper part of a release's tree, drawn with lines; see `nested`."""
    from rich.text import Text
    from rich.tree import Tree

    root = nested(release, tree, deepest)
    drawing = Tree(Text(f"{root['where']}: {root['count']:,}"))
    waiting = [(root, drawing)]
    while waiting:
        node, drawn = waiting.pop()
        for child in node["below"]:
            more = " ..." if child["divided"] and not child["below"] else ""
            words = Text(f"{child['where']}: {child['count']:,}{more}")
            waiting.append((child, drawn.add(words)))
    return drawing


_COLUMNS = 4  # more classes than this do not fit beside each other on a terminal


def show_table(release: TableRelease, view: View) -> None:
    """Shows the guarantee and the largest regions.

    Args:
        release: The release.
        view: What was asked for.
    """
    from hedgerow.cli.display import words
    from hedgerow.cli.display.picture import draw

    regions = largest(release, view.top)
    if view.plot is not None:
        draw(release, regions or largest(release, 12), view.plot, view.overwrite)
    if view.as_json:
        shown = [
            {
                "region": r.number,
                "where": r.where,
                "count": r.total,
                "give_or_take": r.error,
                "classes": _classes(r),
            }
            for r in regions
        ]
        more = {"threshold": release.threshold, "largest": shown, "plot": view.drawn}
        grown = {"tree": _tree_facts(release, view.depth)} if view.tree else {}
        print_json({**words.facts(release), **more, **grown})
        return
    say(f"{release.schema.name}: {words.published(release)}.")
    told = words.unmeasured(release)
    for line in (*words.guarantee(release), release.describe().suppressed, told):
        if line is not None:
            say(line)
    say()
    if view.tree:
        _show_tree(release, view.depth)
    else:
        _show_regions(release, regions)
    if view.plot is not None:
        say(f"\nDrew the largest regions to {view.plot}.")


def _classes(region: ShownRegion) -> dict[str, int] | None:
    return None if list(region.counts) == [""] else region.counts


def _show_regions(release: TableRelease, regions: list[ShownRegion]) -> None:
    classes = list(release.schema.classes)
    if len(classes) > _COLUMNS:
        headings, shares = ["mostly"], [[_mostly(r)] for r in regions]
    else:
        target = release.schema.target
        headings = [f"{target.name} {name}" for name in classes] if target else []
        shares = [[r.share(name) for name in classes] for r in regions]
    rows = [
        [str(r.number), r.words, number(r.total), number(r.error), *share]
        for r, share in zip(regions, shares, strict=True)
    ]
    right = {0, 2, 3, *(range(4, 4 + len(classes)) if len(classes) <= _COLUMNS else ())}
    print_table(
        ["region", "where", release.schema.unit_names[1], "give or take", *headings], rows, right
    )
    say("give or take, ±: how far noise may move counts and percentages, with 95%.")
    _tell_rest(release, regions)


def _tell_rest(release: TableRelease, regions: list[ShownRegion]) -> None:
    if len(regions) < release.partition.cells:
        shown = "the largest" if len(regions) == 1 else f"the {len(regions)} largest"
        say(f"({shown}; --top N for more, or open table.csv)")


def _mostly(region: ShownRegion) -> str:
    """The most frequent classes, where there are too many for columns of their own."""
    first = sorted(region.counts, key=lambda name: -region.counts[name])[:3]
    return ", ".join(f"{name} {region.share(name)}" for name in first) if region.total else "-"


def _show_tree(release: TableRelease, depth: int) -> None:
    from hedgerow.measured import TreePartition
    from hedgerow.present.regions import cuts

    if isinstance(release.partition, TreePartition):
        print_drawing(branches(release, release.partition, depth))
        return
    say("Every region is a combination of these parts:")
    parts = cuts(release, release.partition)
    rows = [[name, str(len(labels)), "; ".join(labels)] for name, labels in parts.items()]
    print_table(["attribute", "parts", "which"], rows, {1})


def _tree_facts(release: TableRelease, depth: int) -> Any:
    """The tree as nested objects, or the parts of a grid by attribute."""
    from hedgerow.measured import TreePartition
    from hedgerow.present.regions import cuts

    if isinstance(release.partition, TreePartition):
        return nested(release, release.partition, depth)
    return cuts(release, release.partition)


# Generalised rows on the terminal, and risk against utility as a picture.


def show_rows(release: RowsRelease, view: View) -> None:
    """Shows the guarantee and the rows that most people share, and draws risk against utility.

    Args:
        release: The release.
        view: What was asked for; a tree is refused, since rows have none.
    """
    from hedgerow.cli.display import words
    from hedgerow.cli.display.picture import draw_frontier

    if view.tree:
        raise UsageError("Generalised rows have no tree.", hint="Leave --tree out.")
    if view.plot is not None:
        title = f"{release.schema.name}: risk and utility, measured on the side table"
        seeded = not release.guarantee["private"]
        draw_frontier(release.frontier, title, view.plot, view.overwrite, private=seeded)
    rows = release.generalized("arrow").to_pylist()
    rows.sort(key=lambda row: -row["count"])  # a stable sort: ties keep the canonical order
    shown = [_told(release, row) for row in rows[: view.top]]
    if view.as_json:
        listed = [{"where": where, "count": count} for where, count in shown]
        more = {"suppression": release.ledger["suppression"], "frontier": release.frontier}
        print_json({**words.facts(release), **more, "largest": listed, "plot": view.drawn})
        return
    say(f"{release.schema.name}: {words.regions(release)} by {release.method}.")
    told = words.unmeasured(release)
    for line in (*words.guarantee(release), release.describe().suppressed, told):
        say(line or "")
    chosen = release.frontier["chosen"]
    say(
        f"On the side table, {release.schema.unit_names[1]} came to a mean utility of "
        f"{chosen['utility']:.2f} of {release.frontier['most_utility']:.2f}, and a mean "
        f"risk of {chosen['risk']:.3g}."
    )
    say()
    described = [
        [", ".join(f"{name} {label}" for name, label in where.items()) or "all", str(count)]
        for where, count in shown
    ]
    print_table(["where", release.schema.unit_names[1]], described, {1})
    if len(shown) < len(rows):
        say("(--top N for more, or open table.csv)")
    if view.plot is not None:
        say(f"\nDrew risk against utility to {view.plot}.")


def _told(release: RowsRelease, row: dict[str, Any]) -> tuple[dict[str, str], int]:
    """What a row says, without the values that say nothing."""
    where = {
        attribute.name: row[attribute.name]
        for attribute in release.attributes
        if row[attribute.name] != attribute.label(0, attribute.size)
    }
    return where, row["count"]


def plot_plan(settings: Any, schema: Schema, path: Path, overwrite: bool) -> None:
    """Draws what settings would mean, on a public side table.

    Raises:
        UsageError: If there is none: the private table is not looked at for a plan.
    """
    from hedgerow.cli.display.picture import check_picture, draw_frontier
    from hedgerow.cli.files import refuse_existing
    from hedgerow.methods.supermodular import Supermodular

    check_picture(path)
    refuse_existing(path, overwrite, "--plot")
    if not isinstance(settings, Supermodular) or settings.side is None:
        raise UsageError(
            "A plan can be drawn for supermodular with a public side table alone.",
            hint="Name one with --side, or leave --plot out.",
        )
    title = f"{schema.name}: risk and utility, measured on {settings.side}"
    draw_frontier(settings.picture(schema), title, path, overwrite, private=True)


# A release of noisy tables on the terminal: which tables it holds, and how noisy they are.


def show_measured(release: MarginalsRelease, view: View) -> None:
    """Shows the guarantee and the tables that were counted, and draws the most telling one.

    Args:
        release: The release.
        view: What was asked for; a tree is refused, since tables have none.
    """
    from hedgerow.cli.display import words
    from hedgerow.release.plots import MOST_BARS

    if view.tree:
        raise UsageError(
            "Nothing was divided step by step, so there is no tree.", hint="Leave --tree out."
        )
    cut = view.plot is not None and _draw(release, view.plot, view.overwrite)
    tables = shown_tables(release)
    if view.as_json:
        listed = [
            {"attributes": one.names, "cells": one.cells, "give_or_take": one.error,
             "counted_as": one.counted_as}
            for one in tables[: view.top]
        ]  # fmt: skip
        print_json({**words.facts(release), "counted": listed, "plot": view.drawn})
        return
    say(f"{release.schema.name}: {words.published(release)}.")
    for line in (*words.guarantee(release), words.unmeasured(release)):
        if line is not None:
            say(line)
    say(what_was_counted(release))
    say()
    rows = [
        [one.words, str(one.cells), number(one.error), one.counted_as] for one in tables[: view.top]
    ]
    print_table(list(HEADS), rows, {1, 2})
    say("give or take: how far noise may move the count of a cell, with 95%.")
    if len(rows) < len(tables):
        say(f"({len(rows)} of {len(tables)}; --top N for more)")
    say(f"hedgerow table RELEASE {tables[0].names[0]} shows counts; any attributes can be named.")
    if view.plot is not None:
        which = f"the most telling table{f' (its {MOST_BARS} largest cells)' if cut else ''}"
        say(f"\nDrew {which} to {view.plot}.")


def _draw(release: MarginalsRelease, path: Path, overwrite: bool) -> bool:
    """Draws the attribute whose groups differ most in the class, or that is most uneven.

    Returns:
        Whether there were too many cells, so that the largest alone were drawn.
    """
    from hedgerow.cli.files import whole_file
    from hedgerow.present.findings import differences, notable
    from hedgerow.present.tables import title_of
    from hedgerow.release.plots import MOST_BARS, draw_table
    from hedgerow.schema.schema import display_label

    schema = release.schema
    told, _ = differences(release)
    names = [one.name for first in told[:1] for one in (*first.by, first.outcome)]
    names = names or [one.name for one in notable(release, 1)] or [schema.attributes[0].name]
    table = release.table(*names)
    title, cut = title_of(release, table, None), len(table) > MOST_BARS
    if cut:
        table, title = table.largest(MOST_BARS), f"{title}, the {MOST_BARS} largest cells"
    figure = draw_table(table, title, partial(display_label, schema)).figure
    seeded = not release.guarantee["private"]
    with whole_file(path, overwrite, "--plot", private=seeded) as temporary:
        figure.savefig(temporary, dpi=130, format=path.suffix[1:].lower())
    return cut
