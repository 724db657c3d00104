"""`hedgerow plan`: what would be spent on what. Opens no data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hedgerow.cli.options import (
    C1,
    C2,
    AsJson,
    Cap,
    Core,
    Delta,
    Depth,
    DistributionName,
    Epsilon,
    MaxCells,
    MaxPartitions,
    MethodName,
    Overwrite,
    PairsNumber,
    Personal,
    Schedule,
    ScheduleName,
    SchemaFile,
    ScoreName,
    SideFile,
    Specialisations,
    VariantName,
    WeightColumn,
    WeightsFile,
    WithDetail,
    method_of,
)
from hedgerow.cli.terminal import note, print_json, print_table, say, warn, warned


def plan(
    schema: SchemaFile,
    epsilon: Epsilon,
    method: MethodName = None,
    delta: Delta = "0",
    score: ScoreName = None,
    schedule: ScheduleName = Schedule.tuned,
    specialisations: Specialisations = None,
    depth: Depth = None,
    distribution: DistributionName = None,
    detail: WithDetail = False,
    pairs: PairsNumber = None,
    max_cells: MaxCells = None,
    variant: VariantName = None,
    core: Core = None,
    cap: Cap = None,
    c1: C1 = None,
    c2: C2 = None,
    max_partitions: MaxPartitions = None,
    side: SideFile = None,
    weights: WeightsFile = None,
    weight_column: WeightColumn = None,
    personal: Personal = None,
    rows: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, help="About how many rows the table has, as anyone may know."
        ),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="supermodular, given a side table: draw risk against utility, as PNG, SVG or PDF.",
        ),
    ] = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Show what would be spent on what; opens no data.

    The number of specialisations usually follows from a noisy count of the rows, which is only
    known when data is published; --rows gives a public guess to plan with.
    """
    from hedgerow.cli.words import caution, many, purpose_words, strength
    from hedgerow.publish.rows_plan import RowsPlan
    from hedgerow.schema import Schema

    known = Schema.load(schema)
    settings = method_of(
        method,
        known,
        score=score,
        schedule=schedule,
        specialisations=specialisations,
        depth=depth,
        distribution=distribution,
        detail=detail or None,
        pairs=pairs,
        max_cells=max_cells,
        variant=variant,
        core=core,
        cap=cap,
        c1=c1,
        c2=c2,
        max_partitions=max_partitions,
        side=side,
        weights=weights,
        weight_columns=weight_column or None,
        personal=personal or None,
    )
    for warning in known.warnings:
        warn(warning, as_json)
    planned = settings.plan(known, epsilon=epsilon, delta=delta, rows=rows)
    if plot is not None:
        from hedgerow.cli.rows import plot_plan

        plot_plan(settings, known, plot, overwrite)
    if as_json:
        print_json({"schema": known.name, **planned.to_dict(), "warnings": warned()})
        return
    amount = strength(planned.budget.epsilon, planned.budget.delta)
    say(f"{settings.name} on {known.name}, {amount}. No data was read.")
    if known.person is not None:
        say(f"Amounts are per row; a person may have {known.person.max_rows}.")
    if isinstance(planned, RowsPlan):
        say(planned.in_words())
    elif planned.specialisations is not None and planned.depth is not None:
        # The steps of DiffGen see everyone, so there is one path only.
        path = f", {planned.depth} on any path" if settings.name == "diffmulti" else ""
        say(f"At most {many(planned.specialisations, 'specialisation')}{path}.")
    lines = [[purpose_words(purpose), *rest] for purpose, *rest in planned.lines()]
    print_table(["would be spent on", "how often", "each"], lines)
    weak = caution(planned.budget.epsilon)
    if weak is not None:
        note(weak)
    if plot is not None:
        say(f"\nDrew risk against utility, on the side table, to {plot}.")
    if planned.grows and planned.depth is None:
        note("The rest follows from the noisy number of rows; add --rows N to see it for a guess.")
