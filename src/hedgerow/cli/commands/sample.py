"""`hedgerow sample`: synthetic rows that follow a release."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from hedgerow.cli.display.terminal import print_json, say, telling
from hedgerow.cli.options import AsJson, Overwrite
from hedgerow.errors import UsageError


def sample(
    release: Annotated[Path, typer.Argument(help="The folder of a release.")],
    out: Annotated[
        Path, typer.Option(help="The file to write: .csv, .csv.gz or .parquet; items: also .dat.")
    ],
    rows: Annotated[
        int | None,
        typer.Option(metavar="N", help="How many rows; by default as many as the release counts."),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="The same seed gives the same rows.")] = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Draw synthetic rows, or records of items, from a release.

    Records of items are one per line (.dat), lists (.parquet) or a row for each item (.csv).
    Rows describe nobody and cost no further budget.
    """
    from hedgerow.cli.display.transactions import fimi_writer
    from hedgerow.cli.files import refuse_existing, refuse_inside, table_writer, whole_file
    from hedgerow.release import Release

    text = out.suffix.lower() in (".dat", ".txt")
    write = fimi_writer if text else table_writer(out)
    refuse_inside(out, release)
    refuse_existing(out, overwrite)
    if rows is not None and rows < 0:
        raise UsageError("--rows must not be negative.", hint="Leave it out, or give 0 or more.")
    opened = Release.load(release)
    form: dict[str, Any] = {}
    if opened.kind == "transactions":
        form = {"form": "long" if ".csv" in out.suffixes else "lists"}
    elif text:
        raise UsageError(f"{out} is for items.", hint="Let it end in .csv, .csv.gz or .parquet.")
    drawn = opened.synthesize(rows, seed=seed, kind="arrow", **form)
    with whole_file(out, overwrite, private=not opened.guarantee["private"]) as temporary:
        write(drawn, temporary)
    with telling(out):
        if as_json:
            columns = {"columns": list(drawn.column_names), "not_measured": [*opened.unmeasured]}
            print_json({"rows": str(out), **columns})
            return
        say(f"Wrote synthetic {opened.describe().record}s to {out}.")
        if opened.unmeasured:
            say(
                f"Not measured: {', '.join(opened.unmeasured)}. The release says nothing about "
                "these columns, and their values are drawn evenly."
            )
