"""What `hedgerow plan` tries out: settings, and the epsilon that reaches an accuracy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hedgerow.cli.display.terminal import (
    data_warnings,
    note,
    print_json,
    print_table,
    progress,
    say,
    warned,
)
from hedgerow.cli.options import warn_of_delta
from hedgerow.cli.settings import kind_of, method_of
from hedgerow.errors import UsageError
from hedgerow.registry import for_data

if TYPE_CHECKING:
    from hedgerow.evaluation.expected import AccuracyPlan, AccuracyTarget, TargetResult
    from hedgerow.evaluation.simulate import Point, Simulation
    from hedgerow.methods.publisher import Publisher
    from hedgerow.schema import Schema

# What is tried by `hedgerow plan --simulate` and `--accuracy`: data, methods, how often.


_COMPARED = ("marginals", "diffmulti", "diffgen")  # if nothing is said
_NO_SETTINGS = ("side", "weights", "weight_columns")  # files and columns, with their own options


@dataclass(frozen=True, kw_only=True)
class Trials:
    """Releases to be tried, and how to show what came of them.

    Args:
        schema: The public schema.
        settings: Methods, each with what to call it.
        delta: The same for all.
        rows: How many rows, as anyone may know.
        runs: How often each is tried.
        dependence: How strongly simulated columns depend on each other.
        public: The public table that was named, if any.
        plot: Where to draw errors against epsilon, if anywhere.
        overwrite: Whether to replace that file.
        as_json: Whether to print JSON.
    """

    schema: Schema
    settings: list[tuple[str, Publisher]]
    delta: str
    rows: int | None
    runs: int
    dependence: float
    public: str | None
    plot: Path | None
    overwrite: bool
    as_json: bool

    def check(self) -> None:
        """Refuses what cannot be read or drawn, and says what a public table must be."""
        from hedgerow.cli.display.picture import check_picture
        from hedgerow.cli.files import refuse_existing
        from hedgerow.data.database import is_database

        if self.plot is not None:
            check_picture(self.plot)
            refuse_existing(self.plot, self.overwrite, "--plot")
        if self.public is not None and is_database(self.public):
            raise UsageError(
                "--public takes a file, not a database.",
                hint="Write the public table to a CSV or Parquet file and name that.",
            )
        if self.public is not None and not self.as_json:
            note(f"{self.public} must really be public: what is shown about it is NOT PRIVATE.")

    @property
    def common(self) -> dict[str, Any]:
        """What trials of all kinds take."""
        names = ("delta", "rows", "runs", "dependence", "public")
        return {name: getattr(self, name) for name in names}

    def close(self, remarks: list[str]) -> None:
        """Says what the figures are, and where they were drawn."""
        for line in remarks:
            say(line)
        if self.plot is not None:
            say(f"\nDrew errors against epsilon to {self.plot}.")


def settings_of(
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
        _check_names(list(choices), kind_of(one or for_data(schema.kind)[0]))
    combinations = []
    for one, combination in product(methods, product(*choices.values())):
        here = dict(zip(choices, combination, strict=True))
        settings = method_of(one, schema, {**given, **here})
        words = [f"{name} {value}" for name, value in here.items()]
        combinations.append((", ".join([settings.name, *words]), settings))
    return combinations


def _check_names(names: list[str], kind: Any) -> None:
    """Refuses what is no setting of a method."""
    known = [field.name for field in fields(kind) if field.name not in _NO_SETTINGS]
    for name in names:
        if name not in known:
            raise UsageError(
                f"--try: {name} is not a setting of {kind.name}.",
                hint=f"Settings: {', '.join(known)}.",
            )


# `hedgerow plan --accuracy`: the epsilon that reaches accuracy targets.


_BAR = 20


def show_plan_by_accuracy(trials: Trials, targets: list[AccuracyTarget]) -> None:
    """Finds the epsilon and prints it, with the errors of other epsilons.

    Args:
        trials: What is tried.
        targets: The accuracy targets.
    """
    from hedgerow.evaluation.expected import FIRST, most_epsilons, plan_by_accuracy
    from hedgerow.present.words import many

    schema, settings, runs = trials.schema, trials.settings, trials.runs
    trials.check()
    tried = any(not target.columns for target in targets)
    if tried and not trials.as_json:
        named = " and ".join(setting for setting, _ in settings)
        least, most, each = len(FIRST), most_epsilons(len(targets)), runs * len(settings)
        note(
            f"Tries {named}: {least} to {most} epsilons, with {many(runs, 'release')} of each, so "
            f"{least * each} to {most * each} releases. With many attributes this takes minutes; "
            "--runs N tries fewer."
        )
    with progress("Trying") as tell, data_warnings(trials.as_json):
        plans = plan_by_accuracy(
            schema, targets, settings, **trials.common,
            progress=lambda share: tell(share) if tell else None,
            stage=lambda words: tell.stage(words) if tell else None,
        )  # fmt: skip
    best = plans[0]
    if trials.plot is not None:
        _draw(best, schema.name, trials)
    caps = _caps(schema, best, trials.delta)
    if trials.as_json:
        facts = {"schema": schema.name, "plans": [plan.to_dict() for plan in plans], "caps": caps}
        print_json({**facts, "warnings": [*warned(), *_about(best, trials.rows)]})
        return
    data = "simulated rows" if trials.public is None else f"rows of {trials.public}"
    if tried:
        say(f"{schema.name}: {best.runs} releases of {best.rows:,} {data} for each epsilon.\n")
    else:
        say(f"{schema.name}, {best.rows:,} rows: worked out from the law of the noise.\n")
    _print_targets(best)
    for other in plans[1:]:
        needs = f"needs epsilon {other.epsilon}"
        say(f"{other.setting} {needs if other.epsilon else 'does not reach all of them'}.")
    for cap in caps:
        lowest = f"{cap['epsilon']:g}"
        words = f"an epsilon of {lowest} would be as accurate as {_largest_epsilon(best)} is here"
        words = words if best.epsilon is None else f"epsilon would be {lowest}"
        say(f"With max_rows: {cap['max_rows']} {words}.")
    trials.close(_about(best, trials.rows))


def _print_targets(best: AccuracyPlan) -> None:
    if best.epsilon is not None:
        say(f"Epsilon {best.epsilon} with {best.setting} reaches all targets.")
    else:
        say("No epsilon up to 10 reaches all targets. Ask for less accuracy, or for larger counts.")
    rows = [[one.target.text, one.epsilon or _at_best(one)] for one in best.targets]
    print_table(["target", "epsilon"], rows, {1})
    for one in best.targets:
        errors = {epsilon: error for epsilon, error in one.errors.items() if error is not None}
        if not errors:
            say(f"{one.target.text}: no value or band has a count near that in these rows.")
            continue
        say(f"\n{one.target.text}: error at 95% with {best.setting}, by epsilon")
        lines = []
        for epsilon, error in errors.items():
            bar = "#" * max(1, round(_BAR * error / max(errors.values())))
            mark = "reached" if error <= one.target.bound else ""
            lines.append([epsilon, one.target.format_error(error), bar, mark])
        print_table(["epsilon", "error", "", ""], lines, {0, 1})


def _draw(best: AccuracyPlan, name: str, trials: Trials) -> None:
    """Draws the error of each target against epsilon, as a share of what the target allows."""
    from hedgerow.cli.files import whole_file
    from hedgerow.release.tabulate import new_figure

    figure, axes = new_figure((8, 5))
    for one in best.targets:
        points = [(float(e), x / one.target.bound) for e, x in one.errors.items() if x is not None]
        if points:
            label = one.target.text.replace("$", r"\$")  # matplotlib would read it as a formula
            axes.plot(*zip(*points, strict=True), "o-", lw=1, label=label)
    axes.axhline(1.0, ls=":", lw=1)
    axes.set(xscale="log", yscale="log", xlabel="epsilon")
    axes.set_ylabel("error at 95%, divided by the target")
    axes.spines[["top", "right"]].set_visible(False)
    title = f"{name}, {best.rows:,} rows: below the dotted line a target is reached"
    axes.set_title(title, fontsize=10, loc="left", parse_math=False)
    axes.legend(loc="best", frameon=False, fontsize=8)
    path, private = trials.plot, trials.public is not None
    assert path is not None
    with whole_file(path, trials.overwrite, "--plot", private=private) as temporary:
        figure.savefig(temporary, dpi=130, format=path.suffix[1:].lower())


def _at_best(one: TargetResult) -> str:
    """How near to a target that is not reached the releases came."""
    errors = [(error, epsilon) for epsilon, error in one.errors.items() if error is not None]
    if not errors:
        return "not reached"
    error, epsilon = min(errors)
    return f"not reached: within {one.target.format_error(error)} at {epsilon}"


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
    lines = [
        "An error at 95%: in 95 of 100 cases the error is smaller, on data like this; a margin of "
        "15% is in it. A count: of one value, or one band, of one attribute. A table: its largest "
        "error, in percent of all records."
    ] if best.runs else [
        "In 95 of 100 cases a count of the table is off by less. Publish with the same --table, or "
        "write it into the schema under `tables:`."
    ]  # fmt: skip
    if not best.runs:
        return lines
    if best.public is None:
        assumed = "" if rows is not None else " 10,000 rows are an assumption: give yours (--rows)."
        lines.append(f"No data was read. Rows were simulated from the schema alone.{assumed}")
    else:
        lines.append(f"Nothing but {best.public} was read. Never name a private table there.")
    return lines


# `hedgerow plan --simulate`: what settings would be worth, on data that is simulated or public.


EPSILONS = ("0.1", "0.5", "1")
_SHORT_BAR = 10
_SHOWN = ("specializations", "depth")  # these have columns of their own


def show_simulation(trials: Trials, epsilons: list[str]) -> None:
    """Simulates and prints what was found.

    Args:
        trials: What is tried.
        epsilons: The epsilons to try.
    """
    from hedgerow.cli.display.picture import draw_simulation
    from hedgerow.evaluation.simulate import simulate

    trials.check()
    for _, method in trials.settings[:1]:
        warn_of_delta(method, trials.schema, trials.delta, trials.as_json)
    words = "Simulating" if trials.public is None else "Trying the public table"
    with progress(words) as tell, data_warnings(trials.as_json):
        simulation = simulate(
            trials.schema, trials.settings, epsilons, **trials.common,
            progress=lambda share: tell(share) if tell else None,
        )  # fmt: skip
    if trials.plot is not None:
        draw_simulation(simulation, trials.plot, trials.overwrite)
    if trials.as_json:
        caution = [*warned(), *_about_runs(simulation, trials.rows)]
        print_json(simulation.to_dict() | {"delta": trials.delta, "warnings": caution})
        return
    say(_title(simulation))
    say()
    _table(simulation)
    say()
    trials.close([*_legend(simulation), *_about_runs(simulation, trials.rows)])


def _title(simulation: Simulation) -> str:
    runs = "1 run" if simulation.runs == 1 else f"{simulation.runs} runs"
    if simulation.public is None:
        return (
            f"{simulation.schema}: releases of {simulation.rows:,} simulated rows, {runs} of each "
            "setting. No data was read."
        )
    rows = f"{simulation.rows:,} rows of {simulation.public}"
    return f"{simulation.schema}: releases of {rows}, {runs} of each."


def _table(simulation: Simulation) -> None:
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
        middle = point.measures[first].mean
        bar = "#" * max(1, round(_SHORT_BAR * middle / longest)) if longest > 0 else ""
        rows.append(
            [
                _short(point.setting) if deep else point.setting,
                point.epsilon,
                *("-" if number is None else str(number) for number in chosen),
                _cell(first, point),
                bar,
                *(_cell(name, point) for name in others),
            ]
        )
    print_table(columns, rows, set(range(1, len(columns))) - {columns.index("")})


def _short(setting: str) -> str:
    """A setting without what has columns of its own."""
    return ", ".join(part for part in setting.split(", ") if part.split(" ")[0] not in _SHOWN)


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
