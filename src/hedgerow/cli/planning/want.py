"""`hedgerow plan --want`: the epsilon that reaches an accuracy, on simulated or public data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hedgerow.cli.display.columns import print_table
from hedgerow.cli.display.progress import progress
from hedgerow.cli.display.terminal import data_warnings, note, print_json, say, warned
from hedgerow.cli.planning.trials import Trials

if TYPE_CHECKING:
    from hedgerow.evaluate.by_accuracy import Granted, Promise
    from hedgerow.schema import Schema

__all__ = ["show_plan_by_accuracy"]

_BAR = 20


def show_plan_by_accuracy(trials: Trials, wanted: list[str]) -> None:
    """Finds the epsilon and prints it, with the errors of other epsilons.

    Args:
        trials: What is tried.
        wanted: The wishes, as they were written.
    """
    from hedgerow.cli.display.words import many
    from hedgerow.evaluate.by_accuracy import FIRST, most_epsilons, plan_by_accuracy
    from hedgerow.evaluate.wishes import read_wish

    schema, settings, runs, rows = trials.schema, trials.settings, trials.runs, trials.rows
    wishes = [read_wish(text, schema) for text in wanted]
    trials.check()
    if not trials.as_json:
        named = " and ".join(setting for setting, _ in settings)
        least, most, each = len(FIRST), most_epsilons(len(wishes)), runs * len(settings)
        note(
            f"Tries {named}: {least} to {most} epsilons, with {many(runs, 'release')} of each, so "
            f"{least * each} to {most * each} releases. With many attributes this takes minutes; "
            "--runs N tries fewer."
        )
    with progress("Trying") as tell, data_warnings(trials.as_json):
        found = plan_by_accuracy(
            schema, wishes, settings, delta=trials.delta, rows=rows, runs=runs,
            dependence=trials.dependence, public=trials.public,
            progress=lambda share: tell(share) if tell else None,
            stage=lambda words: tell.stage(words) if tell else None,
        )  # fmt: skip
    best = found[0]
    if trials.plot is not None:
        _draw(best, schema.name, trials)
    if trials.as_json:
        facts = {
            "plans": [one.to_dict() for one in found],
            "caps": _caps(schema, best, trials.delta),
        }
        print_json({"schema": schema.name, **facts, "warnings": [*warned(), *_about(best, rows)]})
        return
    data = "simulated rows" if trials.public is None else f"rows of {trials.public}"
    say(f"{schema.name}: {best.runs} releases of {best.rows:,} {data} for each epsilon.\n")
    _tell(best)
    for other in found[1:]:
        reached = "does not reach all of them" if other.epsilon is None else (
            f"needs epsilon {other.epsilon}"
        )  # fmt: skip
        say(f"{other.setting} {reached}.")
    for cap in _caps(schema, best, trials.delta):
        told = f"epsilon would be {cap['epsilon']:g}" if best.epsilon is not None else (
            f"an epsilon of {cap['epsilon']:g} would be as accurate as {_tried(best)} is here"
        )  # fmt: skip
        say(f"With max_rows: {cap['max_rows']} {told}.")
    for line in _about(best, rows):
        say(line)
    if trials.plot is not None:
        say(f"\nDrew errors against epsilon to {trials.plot}.")


def _tell(best: Promise) -> None:
    if best.epsilon is not None:
        say(f"Epsilon {best.epsilon} with {best.setting} reaches all targets.")
    else:
        say("No epsilon up to 10 reaches all targets. Ask for less accuracy, or for larger counts.")
    rows = [[one.wish.text, one.epsilon or _at_best(one)] for one in best.granted]
    print_table(["target", "epsilon"], rows, {1})
    for one in best.granted:
        if all(error is None for error in one.errors.values()):
            say(f"{one.wish.text}: no value or band has a count near that in these rows.")
            continue
        say(f"\n{one.wish.text}: error at 95% with {best.setting}, by epsilon")
        known = [error for error in one.errors.values() if error is not None]
        lines = []
        for epsilon, error in one.errors.items():
            if error is not None:
                bar = "#" * max(1, round(_BAR * error / max(known)))
                mark = "reached" if error <= one.wish.bound else ""
                lines.append([epsilon, one.wish.shown(error), bar, mark])
        print_table(["epsilon", "error", "", ""], lines, {0, 1})


def _draw(found: Promise, name: str, trials: Trials) -> None:
    """Draws the error of each wish against epsilon, as a share of what was wished for."""
    from hedgerow.cli.files import whole_file
    from hedgerow.release.plots import new_figure

    figure, axes = new_figure((8, 5))
    for one in found.granted:
        points = [(float(e), x / one.wish.bound) for e, x in one.errors.items() if x is not None]
        if points:
            label = one.wish.text.replace("$", r"\$")  # matplotlib would read it as a formula
            axes.plot(*zip(*points, strict=True), "o-", lw=1, label=label)
    axes.axhline(1.0, ls=":", lw=1)
    axes.set(xscale="log", yscale="log", xlabel="epsilon")
    axes.set_ylabel("error at 95%, divided by the target")
    axes.spines[["top", "right"]].set_visible(False)
    title = f"{name}, {found.rows:,} rows: below the dotted line a target is reached"
    axes.set_title(title, fontsize=10, loc="left", parse_math=False)
    axes.legend(loc="best", frameon=False, fontsize=8)
    path, private = trials.plot, trials.public is not None
    assert path is not None
    with whole_file(path, trials.overwrite, "--plot", private=private) as temporary:
        figure.savefig(temporary, dpi=130, format=path.suffix[1:].lower())


def _at_best(one: Granted) -> str:
    """How near to a target that is not reached the releases came."""
    found = [(error, epsilon) for epsilon, error in one.errors.items() if error is not None]
    if not found:
        return "not reached"
    error, epsilon = min(found)
    return f"not reached: within {one.wish.shown(error)} at {epsilon}"


def _tried(best: Promise) -> str:
    """The largest epsilon that was tried."""
    return max((e for one in best.granted for e in one.errors), key=float)


def _caps(schema: Schema, best: Promise, delta: str) -> list[dict[str, float]]:
    """What other caps on rows per person would take: the budget is divided by the cap.

    Where no epsilon reaches all targets, what is as accurate as the largest that was tried.
    """
    if schema.person is None or float(delta) > 0:
        return []
    most = schema.person.max_rows
    each = float(best.epsilon or _tried(best)) / most
    return [
        {"max_rows": cap, "epsilon": each * cap}
        for cap in sorted({1, 2, 3, 5, most, 2 * most})
        if cap != most
    ]


def _about(best: Promise, rows: int | None) -> list[str]:
    lines = [
        "An error at 95%: in 95 of 100 cases the error is smaller, on data like this; a margin of "
        "15% is in it. A count: of one value, or one band, of one attribute. A table: its largest "
        "error, in percent of all records."
    ]
    if best.public is None:
        assumed = "" if rows is not None else " 10,000 rows are an assumption: give yours (--rows)."
        lines.append(f"No data was read. Rows were simulated from the schema alone.{assumed}")
    else:
        lines.append(f"Nothing but {best.public} was read. Never name a private table there.")
    return lines
