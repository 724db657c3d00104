"""`hedgerow plan`: what would be spent on what. Opens no data."""

from __future__ import annotations

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
    Schedule,
    ScheduleName,
    SchemaFile,
    ScoreName,
    Specialisations,
    method_of,
)
from hedgerow.cli.terminal import print_json, print_table, say


def plan(
    schema: SchemaFile,
    epsilon: Epsilon,
    method: MethodName = Method.diffmulti,
    delta: Delta = "0",
    score: ScoreName = None,
    schedule: ScheduleName = Schedule.tuned,
    specialisations: Specialisations = None,
    depth: Depth = None,
    distribution: DistributionName = None,
    max_cells: MaxCells = None,
    rows: Annotated[
        int | None,
        typer.Option(metavar="N", help="About how many rows the table has, as anyone may know."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show what would be spent on what; opens no data.

    The number of specialisations usually follows from a noisy count of the rows, which is only
    known when data is published; --rows gives a public guess to plan with.
    """
    from hedgerow.schema import Schema

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
    planned = settings.plan(known, epsilon=epsilon, delta=delta, rows=rows)
    lines = [list(line) for line in planned.lines()]
    if as_json:
        names = ["purpose", "where", "budget"]
        print_json(
            {
                "schema": known.name,
                "method": method.value,
                "epsilon": epsilon,
                "delta": delta,
                "lines": [dict(zip(names, line, strict=True)) for line in lines],
            }
        )
        return
    say(f"{method.value} on {known.name}, epsilon = {epsilon}, delta = {delta}. No data was read.")
    print_table(["would be spent on", "where", "budget"], lines)
