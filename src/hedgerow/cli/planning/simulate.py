"""`hedgerow plan --simulate`: what settings would be worth, on data that is simulated or public."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hedgerow.cli.display.columns import print_table
from hedgerow.cli.display.progress import progress
from hedgerow.cli.display.terminal import data_warnings, print_json, say, warned
from hedgerow.cli.options import warn_of_delta
from hedgerow.cli.planning.trials import Trials

if TYPE_CHECKING:
    from hedgerow.evaluate.simulate import Point, Simulation

__all__ = ["EPSILONS", "show_simulation"]

EPSILONS = ("0.1", "0.5", "1")
_BAR = 10
_SHOWN = ("specialisations", "depth")  # these have columns of their own


def show_simulation(trials: Trials, epsilons: list[str]) -> None:
    """Simulates and prints what was found.

    Args:
        trials: What is tried.
        epsilons: The epsilons to try.
    """
    from hedgerow.cli.display.picture import draw_simulation
    from hedgerow.evaluate.simulate import simulate

    trials.check()
    for _, method in trials.settings[:1]:
        warn_of_delta(method, trials.schema, epsilons[0], trials.delta, trials.as_json)
    words = "Simulating" if trials.public is None else "Trying the public table"
    with progress(words) as tell, data_warnings(trials.as_json):
        found = simulate(
            trials.schema, trials.settings, epsilons, delta=trials.delta, rows=trials.rows,
            runs=trials.runs, dependence=trials.dependence, public=trials.public,
            progress=lambda share: tell(share) if tell else None,
        )  # fmt: skip
    if trials.plot is not None:
        draw_simulation(found, trials.plot, trials.overwrite)
    if trials.as_json:
        caution = [*warned(), *_about(found, trials.rows)]
        print_json(found.to_dict() | {"delta": trials.delta, "warnings": caution})
        return
    say(_title(found))
    say()
    _table(found)
    say()
    for line in (*_legend(found), *_about(found, trials.rows)):
        say(line)
    if trials.plot is not None:
        say(f"\nDrew errors against epsilon to {trials.plot}.")


def _title(found: Simulation) -> str:
    runs = "1 run" if found.runs == 1 else f"{found.runs} runs"
    if found.public is None:
        return (
            f"{found.schema}: releases of {found.rows:,} simulated rows, {runs} of each setting. "
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
    sizes = ["h", "depth"] if deep else ["parts"]
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
