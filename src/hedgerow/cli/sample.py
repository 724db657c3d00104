"""`hedgerow sample`: made-up rows that follow a release."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hedgerow.cli.options import AsJson, Overwrite
from hedgerow.cli.terminal import print_json, say, telling
from hedgerow.errors import UsageError


def sample(
    release: Annotated[Path, typer.Argument(help="The folder of a release.")],
    out: Annotated[Path, typer.Option(help="The file to write: .csv, .csv.gz or .parquet.")],
    rows: Annotated[
        int | None,
        typer.Option(metavar="N", help="How many rows; by default as many as the release counts."),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="The same seed gives the same rows.")] = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Draw synthetic rows from a release.

    The rows are made from the release alone and cost no further budget. They describe nobody.
    """
    from hedgerow.cli.files import refuse_existing, refuse_inside, table_writer, whole_file
    from hedgerow.release import Release

    write = table_writer(out)
    refuse_inside(out, release)
    refuse_existing(out, overwrite)
    if rows is not None and rows < 0:
        raise UsageError("--rows must not be negative.", hint="Leave it out, or give 0 or more.")
    drawn = Release.load(release).synthesize(rows, seed=seed, kind="arrow")
    with whole_file(out, overwrite) as temporary:
        write(drawn, temporary)
    with telling(out):
        if as_json:
            print_json({"rows": str(out), "columns": list(drawn.column_names)})
            return
        say(f"Wrote synthetic rows to {out}.")
