"""`hedgerow plan`: what would be spent on what, and how well it would do. Opens no data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hedgerow.cli import options
from hedgerow.cli.display.terminal import (
    data_warnings,
    note,
    print_json,
    print_table,
    progress,
    say,
    warn,
    warned,
)
from hedgerow.cli.files import refuse_existing
from hedgerow.cli.options import option
from hedgerow.cli.settings import kind_of, method_of
from hedgerow.errors import UsageError
from hedgerow.registry import for_data

if TYPE_CHECKING:
    from hedgerow.evaluation.expected import AccuracyPlan, AccuracyTarget
    from hedgerow.evaluation.simulate import Point, Simulation
    from hedgerow.methods.publisher import Publisher
    from hedgerow.schema import Schema


_GUESS = 10_000  # rows, where nobody said how many
_EPSILONS = ("0.1", "0.5", "1")  # that are simulated if nobody names any


def plan(
    ctx: typer.Context,
    schema: options.SchemaFile,
    epsilon: Annotated[str | None, option("NUMBER")] = None,
    delta: options.Number = "0",
    rows: Annotated[int | None, option("N", min=1)] = None,
    plot: Annotated[Path | None, option("FILE")] = None,
    simulate: bool = False,
    accuracy: Annotated[list[str] | None, option("TARGET")] = None,
    epsilons: Annotated[str | None, option("N,N,...")] = None,
    try_: Annotated[list[str] | None, option("SETTING=VALUE,VALUE", name="--try")] = None,
    public: Annotated[str | None, option("TABLE")] = None,
    runs: Annotated[int | None, option("N", min=1)] = None,
    dependence: Annotated[float | None, option("SHARE", min=0, max=1)] = None,
    table: options.Columns = None,
    overwrite: bool = False,
    as_json: options.AsJson = False,
) -> None:
    """Show what the budget would be spent on; opens no private data.

    --rows gives a public guess of the number of rows, where settings follow from a noisy one.
    --simulate publishes simulated rows (or a PUBLIC table) many times and shows the errors.
    --accuracy finds the epsilon. Of named tables it says how far off each will be.

    Args:
        epsilon: The privacy budget; --simulate can do without it.
        rows: About how many rows the table has, as anyone may know.
        plot: Draw risk against utility (supermodular with a side table), or errors against epsilon
            (--simulate), as PNG, SVG or PDF.
        simulate: Show expected errors against epsilon and settings, on rows simulated from the
            schema.
        accuracy: Finds the epsilon for "illness by home within 60" (a table that the release will
            hold, from the law of its noise), "count of 500 within 60" or "job within 2%" (on
            simulated rows or a PUBLIC table); may be repeated.
        epsilons: simulation: which epsilons; 0.1,0.5,1 by default.
        try_: simulation: values of a setting to compare, such as depth=3,5 or
            method=marginals,diffmulti; once for each.
        public: simulation: a PUBLIC table that keeps to the schema, never the private one, instead
            of simulated rows.
        runs: simulation: runs of each setting; 5 by default.
        dependence: simulation: how strongly simulated columns depend on each other; 0.5 by default.
        table: A table that the release must hold, of two or three columns: "illness by home", or
            "illness by home, weight 2" if it matters twice as much; may be repeated.

    Example:
        hedgerow plan --schema schema.yaml --epsilon 1 --rows 30000
        hedgerow plan --schema schema.yaml --simulate --rows 30000
        hedgerow plan --schema schema.yaml --epsilon 1 --table "illness by home"
        hedgerow plan --schema schema.yaml --rows 30000 --accuracy "count of 500 within 60"
    """
    from hedgerow.evaluation.expected import expected_errors, read_target
    from hedgerow.methods.plan import RowsPlan
    from hedgerow.methods.publisher import ignored_tables
    from hedgerow.present.words import caution, many, purpose_words, strength
    from hedgerow.schema import Schema
    from hedgerow.schema.attributes import describe_weight

    known = Schema.load(schema).with_tables(table or [])
    given, method = ctx.obj, ctx.obj.pop("method", None)
    warn(*known.warnings)
    if accuracy or simulate:
        targets: list[AccuracyTarget] = []
        if accuracy:
            if epsilon or epsilons or simulate:
                hint = "Leave --epsilon, --epsilons and --simulate out."
                raise UsageError("--accuracy finds the epsilon.", hint=hint)
            targets = [read_target(text, known) for text in accuracy]
            if method is None and not given and not try_ and known.kind == "table":
                named = any(target.columns for target in targets)  # one method measures such tables
                try_ = ["method=marginals" if named else "method=marginals,diffmulti"]
        trials: dict[str, Any] = {
            "methods": _combine(known, method, given, try_ or []), "delta": delta, "rows": rows,
            "runs": runs or (10 if accuracy else 5), "public": public,
            "dependence": 0.5 if dependence is None else dependence,
        }  # fmt: skip
        tried = [] if accuracy else _read_epsilons(epsilons, epsilon)
        _check_trials(public, plot, overwrite, as_json)
        if accuracy:
            lines = show_plan_by_accuracy(known, targets, trials, plot, overwrite, as_json)
        else:
            lines = show_simulation(known, tried, trials, plot, overwrite, as_json)
        say(*lines)
        if plot is not None and not as_json:
            say(f"\nDrew errors against epsilon to {plot}.")
        return
    of_simulations = {
        "--epsilons": epsilons, "--try": try_, "--public": public, "--runs": runs,
        "--dependence": dependence,
    }  # fmt: skip
    for name, value in of_simulations.items():
        if value:
            raise UsageError(f"{name} is for simulations.", hint="Add --simulate.")
    if epsilon is None:
        raise UsageError("Missing option '--epsilon'.", hint="Say how much may be spent: 1, say.")
    settings = method_of(method, known, given)
    options.check_epsilon(epsilon, epsilon)
    options.warn_of_delta(settings, known, delta)
    if (sentence := ignored_tables(settings, known)) is not None:
        warn(sentence)
    planned = settings.plan(known, epsilon=epsilon, delta=delta, rows=rows)
    promised = expected_errors(known, settings, epsilon, delta, rows)
    if plot is not None:
        from hedgerow.cli.display.picture import plot_plan

        plot_plan(settings, known, plot, overwrite)
    if as_json:
        print_json({
            "schema": known.name, **planned.to_dict(), "usefulness": planned.usefulness,
            "largest": planned.largest, "tables": list(map(asdict, promised)),
            "warnings": warned(),
        })  # fmt: skip
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
    spent = [[purpose_words(purpose), *rest] for purpose, *rest in planned.lines()]
    print_table(["would be spent on", "how often", "each"], spent)
    remarks = (planned.remark, planned.usefulness, planned.largest)
    note(*(words for words in remarks if words is not None))
    if promised:
        say("\nThe tables that you named, in 95 of 100 cases:")
        rows_of_tables = [
            [one.title, f"{one.cells:,}", one.format_error(), f"{describe_weight(table.weight)}"]
            for one, table in zip(promised, known.tables, strict=True)
        ]
        heads = ["table", "counts", "each off by less than", "weight"]
        print_table(heads, rows_of_tables, {1, 2, 3})
        if rows is not None or not guessed:
            say(f"Worked out for {promised[0].rows:,} rows, from the law of the noise alone.")
    if known.kind == "transactions":
        options.tell_of_taxonomy(settings, known)
    if (weak := caution(planned.budget.epsilon)) is not None:
        note(f"{weak} See docs/choosing.md.")
    if plot is not None:
        say(f"\nDrew risk against utility, on the side table, to {plot}.")
    if guessed:
        note(
            f"This is for {_GUESS:,} rows, a guess: give yours with --rows N. A release follows a "
            "noisy count of the rows."
        )


def _read_epsilons(several: str | None, one: str | None) -> list[str]:
    """The epsilons to try, each once, however it is written; the smallest first."""
    from hedgerow.privacy.budget import read_number

    texts = [*_EPSILONS, *([one] if one else [])]
    if several:
        texts = [part.strip() for part in several.split(",") if part.strip()]
    if not texts:
        raise UsageError("--epsilons names none.", hint="Write --epsilons 0.1,0.5,1.")
    numbers = {read_number("epsilon", text): text for text in reversed(texts)}
    return [numbers[number] for number in sorted(numbers)]


# What is tried by `hedgerow plan --simulate` and `--accuracy`: data, methods, how often.


_COMPARED = ("marginals", "diffmulti", "diffgen")  # if nothing is said
_NO_SETTINGS = ("side", "weights", "weight_columns")  # files and columns, with their own options


def _check_trials(public: str | None, plot: Path | None, overwrite: bool, as_json: bool) -> None:
    """Refuses what cannot be read or drawn, and says what a public table must be."""
    from hedgerow.cli.display.picture import check_picture
    from hedgerow.data.source import is_database

    if plot is not None:
        check_picture(plot)
        refuse_existing(plot, overwrite, "--plot")
    if public is not None and is_database(public):
        raise UsageError(
            "--public takes a file, not a database.",
            hint="Write the public table to a CSV or Parquet file and name that.",
        )
    if public is not None and not as_json:
        note(f"{public} must really be public: what is shown about it is NOT PRIVATE.")


def _combine(
    schema: Schema, method: str | None, given: Mapping[str, Any], tried: list[str]
) -> list[tuple[str, Publisher]]:
    """Every combination of what is to be tried, each with what to call it.

    Args:
        schema: What is to be published.
        method: The method that was named, if any.
        given: Options that are the same for all, as for `method_of`.
        tried: Assignments of several values, such as "depth=3,5".
    """
    choices: dict[str, list[str]] = {}
    for text in tried:
        name, equals, values = text.partition("=")
        name = name.strip().replace("-", "_")
        parts = [value.strip() for value in values.split(",")]
        if not equals or not name or not all(parts):
            raise UsageError(f"--try {text!r} names no values.", hint="Write --try depth=3,5,8.")
        if name in choices:
            raise UsageError(f"--try names {name!r} twice.", hint="Name all its values at once.")
        choices[name] = list(dict.fromkeys(parts))
    methods: list[str | None] = [*choices.pop("method", [])] or [method]
    if methods == [None] and not choices and not given and schema.kind == "table":
        methods = list(_COMPARED)
    for one in methods:
        kind = kind_of(one or for_data(schema.kind)[0])
        known = [field.name for field in fields(kind) if field.name not in _NO_SETTINGS]
        if unknown := [name for name in choices if name not in known]:
            what = f"--try: {unknown[0]} is not a setting of {kind.name}."
            raise UsageError(what, hint=f"Settings: {', '.join(known)}.")
    combinations = []
    for one, combination in product(methods, product(*choices.values())):
        here = dict(zip(choices, combination, strict=True))
        settings = method_of(one, schema, {**given, **here})
        words = [f"{name} {value}" for name, value in here.items()]
        combinations.append((", ".join([settings.name, *words]), settings))
    return combinations


# `hedgerow plan --accuracy`: the epsilon that reaches accuracy targets.


def show_plan_by_accuracy(
    schema: Schema, targets: list[AccuracyTarget], trials: dict[str, Any],
    plot: Path | None, overwrite: bool, as_json: bool,
) -> list[str]:  # fmt: skip
    """Finds the epsilon and prints it, with the errors of other epsilons.

    Args:
        schema: The public schema.
        targets: The accuracy targets.
        trials: What is tried, and how often.
        plot: Where to draw errors against epsilon, if anywhere.
        overwrite: Whether to replace that file.
        as_json: Whether to print JSON.

    Returns:
        What is to be said below.
    """
    from hedgerow.cli.display.picture import draw_accuracy
    from hedgerow.evaluation.expected import FIRST, most_epsilons, plan_by_accuracy
    from hedgerow.present.words import many

    tried = any(not target.columns for target in targets)
    if tried and not as_json:
        named, runs = [setting for setting, _ in trials["methods"]], trials["runs"]
        least, most, each = len(FIRST), most_epsilons(len(targets)), runs * len(named)
        note(
            f"Tries {' and '.join(named)}: {least} to {most} epsilons, with "
            f"{many(runs, 'release')} of each, so {least * each} to {most * each} releases. With "
            "many attributes this takes minutes; --runs N tries fewer."
        )
    with progress("Trying") as bar, data_warnings():
        plans = plan_by_accuracy(schema, targets, **trials, progress=bar, stage=bar.stage)
    best = plans[0]
    if plot is not None:
        draw_accuracy(best, schema.name, plot, overwrite)
    caps, remarks = _caps(schema, best, trials["delta"]), _about(best, trials["rows"])
    if as_json:
        facts = {"schema": schema.name, "plans": [plan.to_dict() for plan in plans], "caps": caps}
        print_json({**facts, "warnings": [*warned(), *remarks]})
        return []
    data = "simulated rows" if best.public is None else f"rows of {best.public}"
    if tried:
        say(f"{schema.name}: {best.runs} releases of {best.rows:,} {data} for each epsilon.\n")
    else:
        say(f"{schema.name}, {best.rows:,} rows: worked out from the law of the noise.\n")
    _print_targets(best)
    for other in plans[1:]:
        needs = f"needs epsilon {other.epsilon}"
        say(f"{other.setting} {needs if other.epsilon else 'does not reach all of them'}.")
    for cap in caps:
        words = f"epsilon would be {cap['epsilon']:g}"
        if best.epsilon is None:
            largest = _largest_epsilon(best)
            words = f"an epsilon of {cap['epsilon']:g} would be as accurate as {largest} is here"
        say(f"With max_rows: {cap['max_rows']} {words}.")
    return remarks


def _bar(value: float, most: float, width: int) -> str:
    return "#" * max(1, round(width * value / most)) if most > 0 else ""


def _print_targets(best: AccuracyPlan) -> None:
    if best.epsilon is not None:
        say(f"Epsilon {best.epsilon} with {best.setting} reaches all targets.")
    else:
        say("No epsilon up to 10 reaches all targets. Ask for less accuracy, or for larger counts.")
    reached = {
        one.target.text: {
            epsilon: error for epsilon, error in one.errors.items() if error is not None
        }
        for one in best.targets
    }
    rows = []
    for one in best.targets:
        near = "not reached"
        if errors := reached[one.target.text]:
            error, epsilon = min((error, epsilon) for epsilon, error in errors.items())
            near += f": within {one.target.format_error(error)} at {epsilon}"
        rows.append([one.target.text, one.epsilon or near])
    print_table(["target", "epsilon"], rows, {1})
    for one in best.targets:
        if not (errors := reached[one.target.text]):
            say(f"{one.target.text}: no value or band has a count near that in these rows.")
            continue
        say(f"\n{one.target.text}: error at 95% with {best.setting}, by epsilon")
        lines = [
            [epsilon, one.target.format_error(error), _bar(error, max(errors.values()), 20),
             "reached" if error <= one.target.bound else ""]
            for epsilon, error in errors.items()
        ]  # fmt: skip
        print_table(["epsilon", "error", "", ""], lines, {0, 1})


def _largest_epsilon(best: AccuracyPlan) -> str:
    """The largest epsilon that was tried."""
    return max((e for one in best.targets for e in one.errors), key=float)


def _caps(schema: Schema, best: AccuracyPlan, delta: str) -> list[dict[str, float]]:
    """What other caps on rows per person would take: the budget is divided by the cap.

    Where no epsilon reaches all targets, what is as accurate as the largest that was tried.
    """
    if schema.person is None or float(delta) > 0:
        return []
    most = schema.person.max_rows
    each = float(best.epsilon or _largest_epsilon(best)) / most
    return [
        {"max_rows": cap, "epsilon": each * cap}
        for cap in sorted({1, 2, 3, 5, most, 2 * most})
        if cap != most
    ]


def _about(best: AccuracyPlan, rows: int | None) -> list[str]:
    if not best.runs:
        return [
            "In 95 of 100 cases a count of the table is off by less. Publish with the same "
            "--table, or write it into the schema under `tables:`."
        ]
    read = f"Nothing but {best.public} was read. Never name a private table there."
    if best.public is None:
        assumed = "" if rows is not None else " 10,000 rows are an assumption: give yours (--rows)."
        read = f"No data was read. Rows were simulated from the schema alone.{assumed}"
    return [
        "An error at 95%: in 95 of 100 cases the error is smaller, on data like this; a margin of "
        "15% is in it. A count: of one value, or one band, of one attribute. A table: its largest "
        "error, in percent of all records.",
        read,
    ]


# `hedgerow plan --simulate`: what settings would be worth, on data that is simulated or public.


_SHOWN = ("specializations", "depth")  # these have columns of their own


def show_simulation(
    schema: Schema, epsilons: list[str], trials: dict[str, Any],
    plot: Path | None, overwrite: bool, as_json: bool,
) -> list[str]:  # fmt: skip
    """Simulates and prints what was found.

    Args:
        schema: The public schema.
        epsilons: The epsilons to try.
        trials: What is tried, and how often.
        plot: Where to draw errors against epsilon, if anywhere.
        overwrite: Whether to replace that file.
        as_json: Whether to print JSON.

    Returns:
        What is to be said below.
    """
    from hedgerow.cli.display.picture import draw_simulation
    from hedgerow.evaluation.simulate import simulate

    options.warn_of_delta(trials["methods"][0][1], schema, trials["delta"])
    words = "Simulating" if trials["public"] is None else "Trying the public table"
    with progress(words) as bar, data_warnings():
        simulation = simulate(schema, epsilons=epsilons, **trials, progress=bar)
    if plot is not None:
        draw_simulation(simulation, plot, overwrite)
    remarks = _about_runs(simulation, trials["rows"])
    if as_json:
        caution = [*warned(), *remarks]
        print_json(simulation.to_dict() | {"delta": trials["delta"], "warnings": caution})
        return []
    runs = "1 run" if simulation.runs == 1 else f"{simulation.runs} runs"
    if simulation.public is None:
        say(
            f"{simulation.schema}: releases of {simulation.rows:,} simulated rows, {runs} of each "
            "setting. No data was read.\n"
        )
    else:
        rows = f"{simulation.rows:,} rows of {simulation.public}"
        say(f"{simulation.schema}: releases of {rows}, {runs} of each.\n")
    _print_points(simulation)
    say("")
    return [*_legend(simulation), *remarks]


def _print_points(simulation: Simulation) -> None:
    first, *others = simulation.measures
    heads = {
        "median_error": "median error", "mean_error": "mean error", "accuracy": "classes right",
        "median_itemset_error": "median error", "mean_itemset_error": "mean error",
        "top_utility": "top 20",
    }  # fmt: skip
    longest = max(point.measures[first].mean for point in simulation.points)
    deep = any(point.specializations is not None for point in simulation.points)
    sizes = ["h", "depth"] if deep else ["parts"]
    columns = ["setting", "epsilon", *sizes, heads[first], "", *(heads[name] for name in others)]
    rows = []
    for point in simulation.points:
        chosen = [point.specializations, point.depth] if deep else [round(point.regions)]
        middle, parts = point.measures[first].mean, point.setting.split(", ")
        rows.append(
            [
                ", ".join(one for one in parts if not deep or one.split(" ")[0] not in _SHOWN),
                point.epsilon,
                *("-" if number is None else str(number) for number in chosen),
                _cell(first, point),
                _bar(middle, longest, 10),
                *(_cell(name, point) for name in others),
            ]
        )
    print_table(columns, rows, set(range(1, len(columns))) - {columns.index("")})


def _cell(name: str, point: Point) -> str:
    spread = point.measures.get(name)
    if spread is None:
        return "-"
    return f"{spread.mean:.1f}%" if name == "accuracy" else f"{spread.mean:.3f}"


def _legend(simulation: Simulation) -> list[str]:
    if "median_itemset_error" in simulation.measures:
        return [
            "error: of the supports of 300 random sets of 1 to 3 of the 50 most frequent items, "
            "relative to the truth (or to 0.1% of the records, if that is more).",
            "top 20: 1 if the 20 most frequent sets and their supports are told right.",
        ]
    lines = [
        "error: of 300 random counts over 2 to 4 attributes, relative to the truth (or to 0.1% of "
        f"the rows, if that is more). Somebody who knows the number of rows alone, and nothing of "
        f"how they are spread, has a median error of {simulation.blind:.3f}.",
    ]
    if simulation.floor is not None and "accuracy" in simulation.measures:
        best = "" if simulation.ceiling is None else (
            f", the best that is possible on these simulated rows is {simulation.ceiling:.1f}%"
        )  # fmt: skip
        lines.append(
            "classes right: of new rows, as the release predicts them. Knowing no attribute "
            f"gives {simulation.floor:.1f}%{best}."
        )
    return lines


def _about_runs(simulation: Simulation, rows: int | None) -> list[str]:
    """What the figures are not."""
    if simulation.public is not None:
        lines = [
            f"These figures are for {simulation.public}; your table differs. Nothing but that "
            "table was read. Never name a private table here: trying settings on it would not be "
            "private."
        ]
        if rows is not None and rows > simulation.rows:
            lines.append(
                f"It has fewer rows than you asked for: {simulation.rows:,} were published, so "
                "expect smaller errors with more rows."
            )
        return lines
    assumed = "" if rows is not None else " 10,000 rows are an assumption: give yours with --rows."
    return [
        "The rows were simulated from the schema alone: six hidden kinds of people with habits of "
        f"their own, which a value follows with probability {simulation.dependence:g} "
        "(--dependence). Real data differs: use this to compare settings, and do not promise these "
        f"figures.{assumed}"
    ]
