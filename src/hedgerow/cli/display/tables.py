"""A release of a table on the terminal: its largest regions, or how they were made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hedgerow.cli.display.columns import print_table
from hedgerow.cli.display.terminal import print_drawing, print_json, say
from hedgerow.report.sections.regions import largest, nested
from hedgerow.report.words import number

if TYPE_CHECKING:
    from hedgerow.cli.display.kinds import View
    from hedgerow.measured import TreePartition
    from hedgerow.release import TableRelease
    from hedgerow.report.sections.regions import ShownRegion

__all__ = ["branches", "show_table"]


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
    from hedgerow.report.sections.regions import cuts

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
    from hedgerow.report.sections.regions import cuts

    if isinstance(release.partition, TreePartition):
        return nested(release, release.partition, depth)
    return cuts(release, release.partition)
