"""`hedgerow compare`: several releases side by side."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hedgerow.cli.commands.evaluate import judged
from hedgerow.cli.display.terminal import print_json, print_table, say, telling, warn, warned
from hedgerow.cli.options import AsJson, Delimiter, LineBreaks, Overwrite, QueryText, TableName
from hedgerow.errors import UsageError

if TYPE_CHECKING:
    from hedgerow.evaluation.compare import Comparison


def compare(
    releases: Annotated[list[Path], typer.Argument(help="The folders of two or more releases.")],
    raw: Annotated[
        str | None,
        typer.Option(
            metavar="DATA",
            help="Also compare with the raw data they were made from.",
        ),
    ] = None,
    simulate: Annotated[
        bool,
        typer.Option(
            "--simulate",
            help="Also compare simulated rows published with the settings of each, to "
            "choose without private data.",
        ),
    ] = False,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write a page, as HTML.")
    ] = None,
    seed: Annotated[int, typer.Option(help="With --raw, which counts are asked for.")] = 0,
    overwrite: Overwrite = False,
    delimiter: Delimiter = None,
    line_breaks: LineBreaks = False,
    table: TableName = None,
    query: QueryText = None,
    as_json: AsJson = False,
) -> None:
    """Show releases side by side: what they guarantee, and how accurate their numbers are.

    With --raw the result is NOT PRIVATE, and choosing a release by it is outside the guarantee.
    """
    from hedgerow.cli.files import refuse_existing, refuse_inside, refuse_releases, write_text
    from hedgerow.evaluation.compare import compared, folder_names
    from hedgerow.present import html
    from hedgerow.present.against import CHOOSING, comparison
    from hedgerow.release import Release

    if len(releases) < 2:
        raise UsageError("There is nothing to compare.", hint="Name at least two releases.")
    if raw is None and (table or query or delimiter or line_breaks):
        raise UsageError(
            "--table, --query, --delimiter and --line-breaks are about raw data.",
            hint="Leave them out, or name the raw data with --raw.",
        )
    if out is not None:
        if out.suffix.lower() not in (".html", ".htm"):
            raise UsageError(f"{out} is not a page.", hint="Let --out end in .html.")
        for folder in releases:
            refuse_inside(out, folder)
        refuse_releases(out)
        refuse_existing(out, overwrite)
    opened = [Release.load(folder) for folder in releases]
    kinds = {release.schema.kind: folder for release, folder in zip(opened, releases, strict=True)}
    if len(kinds) > 1:
        raise UsageError(
            f"{kinds['table']} is of a table and {kinds['transactions']} of transactions, which "
            "have no numbers in common.",
            hint="Compare releases of the same data.",
        )
    found_raw = []
    if raw is not None:
        for folder in releases:
            found_raw.append(
                judged(raw, folder, table, query, delimiter, seed, as_json, line_breaks=line_breaks)
            )
        warn(CHOOSING, as_json)
    found = compared(folder_names(releases), opened, found_raw, simulated=simulate)
    if out is not None:
        write_text(out, html.page(comparison(found)), overwrite, private=not found.private)
    with nullcontext() if out is None else telling(out):
        if as_json:
            print_json(found.to_dict() | {"out": out and str(out), "warnings": warned()})
            return
        _tell(found)
        if out is not None:
            say(f"\nWrote {out}." + ("" if found.private else " It is NOT PRIVATE."))


def _tell(comparison: Comparison) -> None:
    from hedgerow.present.against import SOURCES

    for source, words in SOURCES.items():
        lines = [line for line in comparison.lines if line.source == source]
        if not lines:
            continue
        say(f"\n{words}")
        rows = [
            [
                line.words,
                *(t + (" *" if n in line.best else "") for n, t in enumerate(line.shown)),
            ]
            for line in lines
        ]
        print_table(["measure", *comparison.names], rows, set(range(1, len(comparison.names) + 1)))
    say("* the best of these on a line. A smaller epsilon protects better.")
