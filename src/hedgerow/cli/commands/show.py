"""`hedgerow show`: a look at a release."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hedgerow.cli.display.terminal import print_document, print_json, say
from hedgerow.cli.options import AsJson, Overwrite


def show(
    release: Annotated[Path, typer.Argument(help="The folder of a release.")],
    top: Annotated[
        int,
        typer.Option(
            metavar="N", min=0, help="How many tables, or largest regions or itemsets, to list."
        ),
    ] = 12,
    tree: Annotated[
        bool, typer.Option("--tree", help="Draw how regions were made instead.")
    ] = False,
    depth: Annotated[
        int, typer.Option(metavar="G", min=0, help="How deep to draw with --tree.")
    ] = 3,
    plot: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Also draw the first finding, or the largest regions, to this PNG, SVG or PDF.",
        ),
    ] = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Show what a release says, what it promises, and its tables, regions or itemsets.

    Counts are the published, noisy ones.
    """
    from hedgerow.present.kinds import KINDS
    from hedgerow.present.report import overview
    from hedgerow.present.words import summary
    from hedgerow.release import Release

    if plot is not None:
        from hedgerow.cli.display.picture import check_picture
        from hedgerow.cli.files import refuse_existing, refuse_inside

        check_picture(plot)
        refuse_inside(plot, release, "--plot")
        refuse_existing(plot, overwrite, "--plot")
    opened = Release.load(release)
    kind = KINDS[opened.kind]
    parts, steps = kind.steps(opened, depth, top) if tree else (None, {})
    drawn = ""
    if plot is not None:
        from hedgerow.cli.display.picture import draw_release

        drawn = draw_release(opened, top, plot, overwrite)
    if as_json:
        listed = kind.listing(opened, top)
        print_json({**summary(opened), **listed, **steps, "plot": plot and str(plot)})
        return
    print_document(overview(opened, top, parts))
    if plot is not None:
        say(f"\nDrew {drawn} to {plot}.")
