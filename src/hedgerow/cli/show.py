"""`hedgerow show`: a look at a release."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hedgerow.cli.display.terminal import print_drawing, print_json, print_table, say
from hedgerow.cli.options import AsJson, Overwrite

if TYPE_CHECKING:
    from hedgerow.release import Release
    from hedgerow.report.regions import ShownRegion

_COLUMNS = 4  # more classes than this do not fit beside each other on a terminal


def show(
    release: Annotated[Path, typer.Argument(help="The folder of a release.")],
    top: Annotated[
        int,
        typer.Option(
            metavar="N", min=0, help="How many of the largest regions, or itemsets, to list."
        ),
    ] = 12,
    tree: Annotated[
        bool, typer.Option("--tree", help="Draw how the regions were made instead.")
    ] = False,
    depth: Annotated[
        int, typer.Option(metavar="G", min=0, help="How deep to draw with --tree.")
    ] = 3,
    plot: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also draw the largest regions to this PNG, SVG or PDF."),
    ] = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Show the guarantee and the largest regions, or most frequent itemsets, of a release.

    Needs no private data. Counts are the published, noisy ones.
    """
    from hedgerow.cli.display import words
    from hedgerow.release import Release, RowsRelease, TransactionsRelease
    from hedgerow.report.regions import largest

    if plot is not None:
        from hedgerow.cli.display.picture import check_picture, draw
        from hedgerow.cli.files import refuse_existing, refuse_inside

        check_picture(plot)
        refuse_inside(plot, release, "--plot")
        refuse_existing(plot, overwrite, "--plot")
    opened = Release.load(release)
    if isinstance(opened, TransactionsRelease):
        from hedgerow.cli.display.transactions import show_transactions

        show_transactions(opened, top, tree, plot, overwrite, as_json)
        return
    if isinstance(opened, RowsRelease):
        from hedgerow.cli.display.rows import show_rows

        show_rows(opened, top, tree, plot, overwrite, as_json)
        return
    regions = largest(opened, top)
    if plot is not None:
        draw(opened, regions or largest(opened, 12), plot, overwrite)
    if as_json:
        listed = [
            {"region": r.number, "where": r.where, "count": r.total, "classes": _classes(r)}
            for r in regions
        ]
        drawn = str(plot) if plot is not None else None
        thresholds = {m.threshold for m in opened.measurements if m.threshold is not None}
        more = {"threshold": min(thresholds, default=None), "largest": listed, "plot": drawn}
        grown = {"tree": _tree_facts(opened, depth)} if tree else {}
        print_json({**words.facts(opened), **more, **grown})
        return
    say(f"{opened.schema.name}: {words.published(opened)}.")
    for line in words.guarantee(opened):
        say(line)
    small = words.left_out(opened)
    if small is not None:
        say(small)
    say()
    if tree:
        _show_tree(opened, depth)
    else:
        _show_regions(opened, regions)
    if plot is not None:
        say(f"\nDrew the largest regions to {plot}.")


def _classes(region: ShownRegion) -> dict[str, int] | None:
    return None if list(region.counts) == [""] else region.counts


def _show_regions(release: Release, regions: list[ShownRegion]) -> None:
    classes = list(release.schema.classes)
    if len(classes) > _COLUMNS:
        rows = [[str(r.number), r.words, str(r.total), _mostly(r)] for r in regions]
        print_table(["region", "who", "count", "mostly"], rows, {0, 2})
        _tell_rest(release, regions)
        return
    rows = [
        [str(r.number), r.words, str(r.total), *(_share(r, name) for name in classes)]
        for r in regions
    ]
    target = release.schema.target
    headings = [f"{target.name} {name}" for name in classes] if target else []
    right = {0, *range(2, 3 + len(classes))}
    print_table(["region", "who", "count", *headings], rows, right)
    _tell_rest(release, regions)


def _tell_rest(release: Release, regions: list[ShownRegion]) -> None:
    if len(regions) < release.partition.cells:
        shown = "the largest" if len(regions) == 1 else f"the {len(regions)} largest"
        say(f"({shown}; --top N for more, or open table.csv)")


def _mostly(region: ShownRegion) -> str:
    """The most frequent classes, where there are too many for columns of their own."""
    first = sorted(region.counts, key=lambda name: -region.counts[name])[:3]
    return ", ".join(f"{name} {_share(region, name)}" for name in first) if region.total else "-"


def _share(region: ShownRegion, name: str) -> str:
    return f"{100 * region.counts.get(name, 0) / region.total:.0f}%" if region.total else "-"


def _show_tree(release: Release, depth: int) -> None:
    from hedgerow.cli.display.regions import branches
    from hedgerow.measured import TreePartition
    from hedgerow.report.regions import cuts

    if isinstance(release.partition, TreePartition):
        print_drawing(branches(release, release.partition, depth))
        return
    say("Every region is a combination of these parts:")
    parts = cuts(release, release.partition)
    rows = [[name, str(len(labels)), "; ".join(labels)] for name, labels in parts.items()]
    print_table(["attribute", "parts", "which"], rows, {1})


def _tree_facts(release: Release, depth: int) -> Any:
    """The tree as nested objects, or the parts of a grid by attribute."""
    from hedgerow.measured import TreePartition
    from hedgerow.report.regions import cuts, nested

    if isinstance(release.partition, TreePartition):
        return nested(release, release.partition, depth)
    return cuts(release, release.partition)
