"""`hedgerow plan --simulate`: what settings would be worth, on data that is simulated or public."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
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
from hedgerow.methods import for_data

if TYPE_CHECKING:
    from hedgerow.evaluate.simulate import Point, Simulation
    from hedgerow.publish.publisher import Publisher
    from hedgerow.schema import Schema

__all__ = ["EPSILONS", "settings_of", "show_simulation"]

EPSILONS = ("0.1", "0.5", "1")
_COMPARED = ("diffmulti", "diffgen", "cdiffgen")  # if nothing is said
_NO_SETTINGS = ("side", "weights", "weight_columns")  # files and columns, with their own options
_BAR = 10
_SHOWN = ("specialisations", "depth")  # these have columns of their own


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
    found = []
    for one, combination in product(methods, product(*choices.values())):
        here = dict(zip(choices, combination, strict=True))
        settings = method_of(one, schema, {**given, **here})
        words = [f"{name} {value}" for name, value in here.items()]
        found.append((", ".join([settings.name, *words]), settings))
    return found


def _check_names(names: list[str], kind: Any) -> None:
    """Refuses what is no setting of a method."""
    known = [field.name for field in fields(kind) if field.name not in _NO_SETTINGS]
    for name in names:
        if name not in known:
            raise UsageError(
                f"--try: {name} is not a setting of {kind.name}.",
                hint=f"Settings: {', '.join(known)}.",
            )


def show_simulation(
    schema: Schema,
    settings: list[tuple[str, Publisher]],
    epsilons: list[str],
    delta: str,
    rows: int | None,
    runs: int,
    dependence: float,
    public: str | None,
    plot: Path | None,
    overwrite: bool,
    as_json: bool,
) -> None:
    """Simulates and prints what was found.

    Args:
        schema: The public schema.
        settings: Methods, each with what to call it.
        epsilons: The epsilons to try.
        delta: The same for all.
        rows: How many rows, as anyone may know.
        runs: How often each is tried.
        dependence: How strongly simulated columns depend on each other.
        public: The public table that was named, if any.
        plot: Where to draw it, if anywhere.
        overwrite: Whether to replace that file.
        as_json: Whether to print JSON.
    """
    from hedgerow.cli.display.picture import check_picture, draw_simulation
    from hedgerow.cli.files import refuse_existing
    from hedgerow.evaluate.simulate import simulate
    from hedgerow.table.readers.database import is_database

    if plot is not None:
        check_picture(plot)
        refuse_existing(plot, overwrite, "--plot")
    if public is not None and is_database(public):
        raise UsageError(
            "--public takes a file, not a database.",
            hint="Write the public table to a CSV or Parquet file and name that.",
        )
    for _, method in settings[:1]:
        warn_of_delta(method, schema, epsilons[0], delta, as_json)
    if public is not None and not as_json:
        note(f"{public} must really be public: what is shown about it is NOT PRIVATE.")
    words = "Simulating" if public is None else "Trying the public table"
    with progress(words) as tell, data_warnings(as_json):
        found = simulate(
            schema, settings, epsilons, delta=delta, rows=rows, runs=runs, dependence=dependence,
            public=public, progress=lambda share: tell(share) if tell else None,
        )  # fmt: skip
    if plot is not None:
        draw_simulation(found, plot, overwrite)
    if as_json:
        caution = [*warned(), *_about(found, rows)]
        print_json(found.to_dict() | {"delta": delta, "warnings": caution})
        return
    say(_title(found))
    say()
    _table(found)
    say()
    for line in (*_legend(found), *_about(found, rows)):
        say(line)
    if plot is not None:
        say(f"\nDrew errors against epsilon to {plot}.")


def _title(found: Simulation) -> str:
    runs = "1 run" if found.runs == 1 else f"{found.runs} runs"
    if found.public is None:
        return (
            f"{found.schema}: releases of {found.rows:,} MADE-UP rows, {runs} of each setting. "
            "No data was read."
        )
    return f"{found.schema}: releases of {found.rows:,} rows of {found.public}, {runs} of each."


def _table(found: Simulation) -> None:
    first, *others = found.measures
    heads = {
        "median_error": "median error", "mean_error": "mean error", "accuracy": "classes right",
        "median_itemset_error": "median error", "mean_itemset_error": "mean error",
        "top_utility": "top 20",
    }  # fmt: skip
    longest = max(point.measures[first].mean for point in found.points)
    deep = any(point.specialisations is not None for point in found.points)
    sizes = ["h", "depth"] if deep else ["regions"]
    columns = ["setting", "epsilon", *sizes, heads[first], "", *(heads[name] for name in others)]
    rows = []
    for point in found.points:
        chosen = [point.specialisations, point.depth] if deep else [round(point.regions)]
        middle = point.measures[first].mean
        bar = "#" * max(1, round(_BAR * middle / longest)) if longest > 0 else ""
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


def _legend(found: Simulation) -> list[str]:
    if "median_itemset_error" in found.measures:
        return [
            "error: of the supports of 300 random sets of 1 to 3 of the 50 most frequent items, "
            "relative to the truth (or to 0.1% of the records, if that is more).",
            "top 20: 1 if the 20 most frequent sets and their supports are told right.",
        ]
    lines = [
        "error: of 300 random counts over 2 to 4 attributes, relative to the truth (or to 0.1% of "
        f"the rows, if that is more). Somebody who knows the number of rows alone, and nothing of "
        f"how they are spread, has a median error of {found.blind:.3f}.",
    ]
    if found.floor is not None and "accuracy" in found.measures:
        best = "" if found.ceiling is None else (
            f", the best that is possible on these simulated rows is {found.ceiling:.1f}%"
        )  # fmt: skip
        lines.append(
            "classes right: of new rows, as the release predicts them. Knowing no attribute "
            f"gives {found.floor:.1f}%{best}."
        )
    return lines


def _about(found: Simulation, rows: int | None) -> list[str]:
    """What the figures are not."""
    if found.public is not None:
        lines = [
            f"These figures are for {found.public}; your table differs. Nothing but that table was "
            "read. Never name a private table here: trying settings on it would not be private."
        ]
        if rows is not None and rows > found.rows:
            lines.append(
                f"It has fewer rows than you asked for: {found.rows:,} were published, so "
                "expect smaller errors with more rows."
            )
        return lines
    assumed = "" if rows is not None else " 10,000 rows are an assumption: give yours with --rows."
    return [
        "The rows were simulated from the schema alone: six hidden kinds of people with habits of "
        f"their own, which a value follows with probability {found.dependence:g} (--dependence). "
        "Real data differs: use this to compare settings, and do not promise these figures."
        + assumed
    ]
