"""`hedgerow publish`: a private table goes in, a release comes out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hedgerow.cli.options import (
    AsJson,
    Delta,
    Depth,
    DistributionName,
    Epsilon,
    MaxCells,
    Method,
    MethodName,
    Overwrite,
    Schedule,
    ScheduleName,
    SchemaFile,
    ScoreName,
    Specialisations,
    method_of,
)
from hedgerow.cli.terminal import note, print_json, print_table, progress, say


def publish(
    data: Annotated[Path, typer.Argument(help="The private table: CSV (also .gz) or Parquet.")],
    schema: SchemaFile,
    epsilon: Epsilon,
    out: Annotated[Path, typer.Option(help="The folder to write the release to.")],
    method: MethodName = Method.diffmulti,
    delta: Delta = "0",
    score: ScoreName = None,
    schedule: ScheduleName = Schedule.tuned,
    specialisations: Specialisations = None,
    depth: Depth = None,
    distribution: DistributionName = None,
    max_cells: MaxCells = None,
    overwrite: Overwrite = False,
    seed: Annotated[
        int | None,
        typer.Option(help="For tests: repeatable noise. The release is then NOT private."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Publish a table under differential privacy.

    The whole table is checked before any budget is spent. Each run that is published adds to what
    can be learnt about the people in the table: epsilons of several releases add up.
    """
    import hedgerow
    from hedgerow.cli import words
    from hedgerow.release.files import check_target
    from hedgerow.schema import Schema

    check_target(out, overwrite)  # before the data is read, and long before anything is spent
    settings = method_of(
        method,
        score=score,
        schedule=schedule,
        specialisations=specialisations,
        depth=depth,
        distribution=distribution,
        max_cells=max_cells,
    )
    known = Schema.load(schema)
    for warning in known.warnings:
        note(f"Warning: {warning}")
    with progress("Publishing") as bar:
        release = hedgerow.publish(
            data, known, method=settings, epsilon=epsilon, delta=delta, seed=seed, progress=bar
        )
        release.save(out, overwrite=overwrite)
    if as_json:
        print_json({"release": str(out), **words.facts(release)})
        return
    say(f"Published to {out}: {release.partition.cells} regions by {release.method}.")
    for line in words.guarantee(release):
        say(line)
    spent = [list(row) for row in words.spending(release.ledger)]
    print_table(["spent on", "of", "on any one path"], spent)
