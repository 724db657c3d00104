"""`hedgerow show`: a look at a release."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hedgerow.cli.options import AsJson
from hedgerow.cli.terminal import print_json, print_table, say

if TYPE_CHECKING:
    from hedgerow.cli.regions import ShownRegion
    from hedgerow.release import Release


def show(
    release: Annotated[Path, typer.Argument(help="The folder of a release.")],
    top: Annotated[
        int, typer.Option(metavar="N", min=0, help="How many of the largest regions to list.")
    ] = 12,
    tree: Annotated[
        bool, typer.Option("--tree", help="Draw how the regions were made instead.")
    ] = False,
    depth: Annotated[
        int, typer.Option(metavar="G", min=0, help="How deep to draw with --tree.")
    ] = 3,
    plot: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also draw the largest regions to this PNG or SVG."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show the guarantee and the largest regions of a release.

    Needs no private data. Counts are the published, noisy ones.
    """
    from hedgerow.cli import words
    from hedgerow.cli.regions import largest
    from hedgerow.release import Release

    opened = Release.load(release)
    regions = largest(opened, top)
    if plot is not None:
        from hedgerow.cli.picture import draw

        draw(opened, regions or largest(opened, 12), plot)
    if as_json:
        listed = [
            {"region": r.number, "where": r.where, "count": r.total, "classes": _classes(r)}
            for r in regions
        ]
        drawn = str(plot) if plot is not None else None
        print_json({**words.facts(opened), "largest": listed, "plot": drawn})
        return
    say(f"{opened.schema.name}: {opened.partition.cells} regions by {opened.method}.")
    for line in words.guarantee(opened):
        say(line)
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
    rows = [
        [str(r.number), r.words, str(r.total), *(_share(r, name) for name in classes)]
        for r in regions
    ]
    target = release.schema.target
    headings = [f"{target.name} {name}" for name in classes] if target else []
    right = {0, *range(2, 3 + len(classes))}
    print_table(["region", "who", "count", *headings], rows, right)
    if len(regions) < release.partition.cells:
        say(f"(the {len(regions)} largest; --top N for more, or open table.csv)")


def _share(region: ShownRegion, name: str) -> str:
    return f"{100 * region.counts.get(name, 0) / region.total:.0f}%" if region.total else "-"


def _show_tree(release: Release, depth: int) -> None:
    from rich.console import Console

    from hedgerow.cli.regions import branches, cuts
    from hedgerow.release import TreePartition

    if isinstance(release.partition, TreePartition):
        Console().print(branches(release, release.partition, depth))
        return
    say("Every region is a combination of these parts:")
    print_table(["attribute", "parts", "which"], cuts(release, release.partition.edges), {1})
