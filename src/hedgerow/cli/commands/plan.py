"""`hedgerow plan`: what would be spent on what. Opens no data."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from hedgerow.cli.display.terminal import note, print_json, print_table, say, warn, warned
from hedgerow.cli.options import (
    AsJson,
    Delta,
    NamedTables,
    Overwrite,
    SchemaFile,
    tell_of_taxonomy,
    warn_of_delta,
    warn_of_rounding,
    warn_of_tables,
)
from hedgerow.cli.settings import method_of
from hedgerow.errors import UsageError

_GUESS = 10_000  # rows, where nobody said how many


def plan(
    ctx: typer.Context,
    schema: SchemaFile,
    epsilon: Annotated[
        str | None,
        typer.Option(
            "--epsilon",
            metavar="NUMBER",
            help="The privacy budget; --simulate can do without it.",
        ),
    ] = None,
    delta: Delta = "0",
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
            help="Draw risk against utility (supermodular with a side table), or errors "
            "against epsilon (--simulate), as PNG, SVG or PDF.",
        ),
    ] = None,
    simulate: Annotated[
        bool,
        typer.Option(
            "--simulate",
            help="Show expected errors against epsilon and settings, on rows simulated from the "
            "schema.",
        ),
    ] = False,
    accuracy: Annotated[
        list[str] | None,
        typer.Option(
            "--accuracy",
            metavar="TARGET",
            help='Finds the epsilon for "illness by home within 60" (a table that the '
            'release will hold, from the law of its noise), "count of 500 within 60" '
            'or "job within 2%" (on simulated rows or a PUBLIC table); may be '
            'repeated.',
        ),
    ] = None,
    epsilons: Annotated[
        str | None,
        typer.Option(metavar="N,N,...", help="simulation: which epsilons; 0.1,0.5,1 by default."),
    ] = None,
    try_: Annotated[
        list[str] | None,
        typer.Option(
            "--try",
            metavar="SETTING=VALUE,VALUE",
            help="simulation: values of a setting to compare, such as depth=3,5 or "
            "method=marginals,diffmulti; once for each.",
        ),
    ] = None,
    public: Annotated[
        str | None,
        typer.Option(
            metavar="TABLE",
            help="simulation: a PUBLIC table that keeps to the schema, never the private one, "
            "instead of simulated rows.",
        ),
    ] = None,
    runs: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="simulation: runs of each setting; 5 by default."),
    ] = None,
    dependence: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE", min=0, max=1,
            help="simulation: how strongly simulated columns depend on each other; 0.5 by default.",
        ),
    ] = None,
    table: NamedTables = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:  # fmt: skip
    """Show what the budget would be spent on; opens no private data.

    --rows gives a public guess of the number of rows, where settings follow from a noisy one.
    --simulate publishes simulated rows (or a PUBLIC table) many times and shows the errors.
    --accuracy finds the epsilon. Of named tables it says how far off each will be.
    """
    from hedgerow.evaluation.expected import expected_errors
    from hedgerow.methods.plan import RowsPlan
    from hedgerow.present.words import caution, many, purpose_words, strength
    from hedgerow.schema import Schema
    from hedgerow.schema.attributes import describe_weight

    known = Schema.load(schema).with_tables(table or [])
    given, method = ctx.obj, ctx.obj.pop("method", None)
    for warning in known.warnings:
        warn(warning, as_json)
    if accuracy or simulate:
        from hedgerow.cli import simulate as trying
        from hedgerow.evaluation.expected import read_target

        if accuracy and (epsilon or epsilons or simulate):
            hint = "Leave --epsilon, --epsilons and --simulate out."
            raise UsageError("--accuracy finds the epsilon.", hint=hint)
        if accuracy:
            targets = [read_target(text, known) for text in accuracy]
            if method is None and not given and not try_ and known.kind == "table":
                named = any(target.columns for target in targets)  # one method measures such tables
                try_ = ["method=marginals" if named else "method=marginals,diffmulti"]
        trials = trying.Trials(
            schema=known, settings=trying.settings_of(known, method, given, try_ or []),
            delta=delta, rows=rows, runs=runs or (10 if accuracy else 5),
            dependence=0.5 if dependence is None else dependence, public=public, plot=plot,
            overwrite=overwrite, as_json=as_json,
        )  # fmt: skip
        if accuracy:
            trying.show_plan_by_accuracy(trials, targets)
        else:
            usual = [*trying.EPSILONS, *([epsilon] if epsilon else [])]
            trying.show_simulation(
                trials, _sort_epsilons(_numbers(epsilons) if epsilons else usual)
            )
        return
    for option, value in (
        ("--epsilons", epsilons), ("--try", try_), ("--public", public), ("--runs", runs),
        ("--dependence", dependence),
    ):  # fmt: skip
        if value:
            raise UsageError(f"{option} is for simulations.", hint="Add --simulate.")
    if epsilon is None:
        raise UsageError("Missing option '--epsilon'.", hint="Say how much may be spent: 1, say.")
    settings = method_of(method, known, given)
    warn_of_rounding(epsilon, as_json)
    warn_of_delta(settings, known, delta, as_json)
    warn_of_tables(settings, known, as_json)
    planned = settings.plan(known, epsilon=epsilon, delta=delta, rows=rows)
    promised = expected_errors(known, settings, epsilon, delta, rows)
    if plot is not None:
        from hedgerow.cli.display.picture import plot_plan

        plot_plan(settings, known, plot, overwrite)
    if as_json:
        print_json(
            {
                "schema": known.name,
                **planned.to_dict(),
                "usefulness": planned.usefulness,
                "largest": planned.largest,
                "tables": [asdict(promise) for promise in promised],
                "warnings": warned(),
            }
        )
        return
    guessed = False
    if rows is None and known.kind == "table":  # a remark says it of transactions
        likely = settings.plan(known, epsilon=epsilon, delta=delta, rows=_GUESS)
        guessed = likely.lines() != planned.lines()
        planned = likely if guessed else planned
    amount = strength(planned.budget.epsilon, planned.budget.delta)
    say(f"{settings.name} on {known.name}, {amount}. No data was read.")
    if known.person is not None:
        say(f"Amounts are per row; a person may have {known.person.max_rows}.")
    if isinstance(planned, RowsPlan):
        say(planned.in_words())
    elif planned.specializations is not None and planned.depth is not None:
        # Where steps see everyone, there is one path only.
        path = f", {planned.depth} on any path" if planned.depth < planned.specializations else ""
        say(f"At most {many(planned.specializations, 'specialization')}{path}.")
    lines = [[purpose_words(purpose), *rest] for purpose, *rest in planned.lines()]
    print_table(["would be spent on", "how often", "each"], lines)
    for words in (planned.remark, planned.usefulness, planned.largest):
        if words is not None:
            note(words)
    if promised:
        say("\nThe tables that you named, in 95 of 100 cases:")
        weights = [describe_weight(table.weight) for table in known.tables]
        print_table(
            ["table", "counts", "each off by less than", "weight"],
            [
                [promise.title, f"{promise.cells:,}", promise.format_error(), f"{weight}"]
                for promise, weight in zip(promised, weights, strict=True)
            ],
            {1, 2, 3},
        )
        if rows is not None or not guessed:
            say(f"Worked out for {promised[0].rows:,} rows, from the law of the noise alone.")
    tell_of_taxonomy(settings, known)
    weak = caution(planned.budget.epsilon)
    if weak is not None:
        note(f"{weak} See docs/choosing.md.")
    if plot is not None:
        say(f"\nDrew risk against utility, on the side table, to {plot}.")
    if guessed:
        note(
            f"This is for {_GUESS:,} rows, a guess: give yours with --rows N. A release follows a "
            "noisy count of the rows."
        )


def _numbers(text: str) -> list[str]:
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not parts:
        raise UsageError("--epsilons names none.", hint="Write --epsilons 0.1,0.5,1.")
    return parts


def _sort_epsilons(epsilons: list[str]) -> list[str]:
    """Each epsilon once, however it is written, the smallest first."""
    from hedgerow.privacy.budget import read_number

    known = {read_number("epsilon", text): text for text in reversed(epsilons)}
    return [known[number] for number in sorted(known)]
