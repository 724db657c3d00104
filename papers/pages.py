"""Results on paper: a CSV file and a plot for each figure, and a page for each paper."""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hedgerow.evaluation.measures import NOT_PRIVATE
from hedgerow.surroundings import load_plainly
from papers.figure import PROOF, Claim, Figure, Line, Result

__all__ = ["draw", "read_table", "write_page", "write_table"]

_MARKS = "osD^v<>Px*h"


def write_table(result: Result, path: Path) -> None:
    """Writes all points of a figure as CSV, with what the paper states beside them."""
    stated = {(one.series, one.x): one.value for one in result.figure.stated}
    with path.open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow([
            "series", "taxonomies", result.figure.x or "x", result.figure.y, "low", "high", "error",
            "runs", "CPU seconds of all runs", "paper", "commit",
        ])  # fmt: skip
        for line in result.lines:
            x = "" if line.x is None else line.x
            paper = stated.get((line.series, line.x), "")
            numbers = [f"{value:.6g}" for value in (line.mean, line.low, line.high, line.error)]
            out.writerow([
                line.series, line.taxonomies or "", x, *numbers, line.runs, f"{line.cpu:.6g}",
                paper, result.commit,
            ])  # fmt: skip


def read_table(figure: Figure, path: Path) -> Result | None:
    """What `write_table` wrote, if all points are there."""
    if not path.is_file():
        return None
    places = {(point.series, f"{'' if point.x is None else point.x}"): point.x
              for point in figure.points(False)}  # fmt: skip
    lines, commits = [], set()
    with path.open(newline="", encoding="utf-8") as file:
        _, *rows = csv.reader(file)
    for series, trees, x, *numbers, times, cpu, _, commit in rows:
        if (series, x) not in places or len(numbers) != 4:
            return None
        mean, low, high, error = map(float, numbers)
        lines.append(Line(
            series=series, x=places[series, x], mean=mean, low=low, high=high, runs=int(times),
            error=error, cpu=float(cpu), taxonomies=trees or None,  # type: ignore[arg-type]
        ))  # fmt: skip
        commits.add(commit)
    if {(line.series, line.x) for line in lines} != {(name, x) for (name, _), x in places.items()}:
        return None
    named = tuple(dict.fromkeys(line.taxonomies for line in lines if line.taxonomies))
    return Result(
        figure=figure, lines=tuple(lines), runs=lines[0].runs, quick=False,
        taxonomies=named or ("ours",), commit=", ".join(sorted(commits)),
    )  # fmt: skip


def draw(result: Result, path: Path) -> bool:
    """Draws a figure into a PNG file; False if matplotlib is not there to do it."""
    try:
        matplotlib = load_plainly("matplotlib", "matplotlibrc")
    except ImportError:
        return False
    matplotlib.use("Agg")
    from matplotlib import pyplot

    series = list(dict.fromkeys(line.series for line in result.lines))
    wide = len(result.taxonomies)
    figure, panels = pyplot.subplots(
        1, wide, figsize=(7.2 if wide == 1 else 11, 4.2), dpi=90, layout="constrained",
        sharey=True, squeeze=False,
    )  # fmt: skip
    for panel, whose in zip(panels[0], result.taxonomies, strict=True):
        lines = [line for line in result.lines if line.taxonomies in (whose, None)]
        colors = matplotlib.color_sequences["tab10" if len(series) <= 10 else "tab20"]
        _plot(result, lines, series, panel, colors)
        if wide > 1:
            panel.set_title("our taxonomies" if whose == "ours" else "the authors' taxonomies",
                            fontsize=8)  # fmt: skip
    if any(line.x is not None for line in result.lines):
        panels[0][-1].legend(fontsize=7, loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
    figure.suptitle(f"{result.figure.name}: {result.figure.title}", fontsize=9)
    figure.savefig(path, metadata={"Software": None})
    pyplot.close(figure)
    return True


def _plot(result: Result, lines: Sequence[Line], series: list[str], axes: Any, colors: Any) -> None:
    """One panel: a line for each curve, or bars where there is no axis."""
    axes.grid(alpha=0.3)
    if all(line.x is None for line in lines):  # a table: one bar each
        means = [line.mean for line in lines]
        half = [line.high - line.mean for line in lines]
        axes.barh([line.series for line in lines], means, xerr=half, color="#5b7f5e")
        axes.set_xlim(left=max(0, min(line.low for line in lines) - 5))
        axes.set_xlabel(result.figure.y)
        axes.invert_yaxis()
        return
    # a schedule of the same method has its color
    names = list(dict.fromkeys(name.replace(", tuned", "") for name in series))
    axis = list(dict.fromkeys(line.x for line in lines if isinstance(line.x, str)))

    def place(x: Any) -> Any:
        return axis.index(x) if isinstance(x, str) else x

    for name in series:
        curve = [line for line in lines if line.series == name]
        number = names.index(name.replace(", tuned", ""))
        color, mark = colors[number % len(colors)], _MARKS[number % len(_MARKS)]
        if not curve:
            continue
        if curve[0].x is None:
            axes.axhline(curve[0].mean, color=color, linestyle=":", label=name)
            continue
        axes.errorbar(
            [place(line.x) for line in curve], [line.mean for line in curve],
            yerr=[[line.mean - line.low for line in curve],
                  [line.high - line.mean for line in curve]],
            color=color, marker=mark, markersize=4, capsize=2, label=name,
            linestyle="--" if ", tuned" in name else "-",
        )  # fmt: skip
    stated = [
        one
        for one in result.figure.stated
        if one.x is not None
        and one.series in series
        and (not isinstance(one.x, str) or one.x in axis)
    ]
    if stated:
        axes.scatter(
            [place(one.x) for one in stated], [one.value for one in stated], marker="*",
            s=70, color="black", zorder=5, label="stated in the paper",
        )  # fmt: skip
    if axis:
        axes.set_xticks(range(len(axis)), axis)
    if result.figure.logarithmic:
        axes.set_yscale("log")
    axes.set_xlabel(result.figure.x)
    axes.set_ylabel(result.figure.y)


def write_page(
    title: str,
    claims: Sequence[Claim],
    results: Sequence[Result],
    path: Path,
    command: str,
    absent: str = "",
) -> None:
    """Writes the page of a paper, with plots that lie beside it.

    Args:
        title: The paper in words.
        claims: What it claims.
        results: Its figures.
        path: Where to write; plots are looked for in the same folder.
        command: The command that made it, and the commit.
        absent: What of the paper cannot be run, and why.
    """
    parts = [f"# {title}", "", *([absent, ""] if absent else [])]
    for reason in dict.fromkeys(one.skipped for one in results if one.skipped):
        names = ", ".join(one.figure.name for one in results if one.skipped == reason)
        parts += [f"**Not run: {names}**, {reason}.", ""]
    few = [one for one in results if not one.skipped and one.runs < one.figure.runs]
    if few:
        minutes = sum(
            line.cpu * (one.figure.runs / line.runs - 1) for one in few for line in one.lines
        )
        names = ", ".join(f"{one.figure.name} {one.runs} of {one.figure.runs}" for one in few)
        parts += [f"**Fewer runs than in the paper: {names}.** The others would take"
                  f" {math.ceil(minutes / 60)} CPU minutes.", ""]  # fmt: skip
    parts += _table(claims, results)
    parts += [f"*Written by {command}. {NOT_PRIVATE}*", ""]
    for result in results:
        if not result.skipped:
            parts += _section(result, path.parent)
    path.write_text("\n".join(parts).rstrip() + "\n", encoding="utf-8")


_KEY = "Means ± standard errors ([how to read them](README.md))."
_TREES = "**What depends on the taxonomies comes first, in bold.** "


def _table(claims: Sequence[Claim], results: Sequence[Result]) -> list[str]:
    """Every claim beside what runs show; those that depend on the taxonomies come first."""
    by_name = {result.figure.name: result for result in results}
    both = any("authors" in result.taxonomies for result in results)
    first, rest = list[str](), list[str]()
    for claim in claims:
        result = by_name.get(claim.figure)
        if result is None:
            continue  # of a figure that was not chosen
        ours, verdict = claim.verdict(by_name, "ours")
        theirs, other = claim.verdict(by_name, "authors")
        depends = False
        if theirs and ours and other != verdict:
            depends = {_clear(verdict), _clear(other)} == {"holds", "does not hold"}
            verdict = f"ours: {verdict}; theirs: {other}"
        elif theirs and not ours:
            verdict = other
        depends = depends or (claim.trees and bool(ours and theirs))
        runs = f"{result.runs}" if (ours or theirs) and ours != PROOF else ""
        words = f"**{claim.words}**" if depends else claim.words
        cells = [words, claim.stated, ours, *([theirs] if both else []), runs, verdict,
                 claim.why]  # fmt: skip
        row = "| " + " | ".join(cells).replace("; ", "<br>") + " |"
        (first if depends else rest).append(row)
    if not first and not rest:
        return []
    head = ["the paper says", "its number", "ours", *(["the authors' trees"] if both else [])]
    head += ["runs", "verdict", "why"]
    line = "| " + " | ".join(["---"] * len(head)) + " |"
    about = (_TREES if first else "") + _KEY
    return [about, "", "| " + " | ".join(head) + " |", line, *first, *rest, ""]


def _clear(verdict: str) -> str:
    """What a verdict on several points comes to: one that fails is enough."""
    return next((one for one in ("does not hold", "holds") if one in verdict), verdict)


def _section(result: Result, folder: Path) -> list[str]:
    figure = result.figure
    parts = [f"## {figure.name}: {figure.title}", ""]
    times = "1 run" if result.runs == 1 else f"{result.runs} runs"
    told = f"{figure.settings} {'A quick run with fewer points, ' if result.quick else ''}{times}."
    parts += [" ".join([told, *([figure.differs] if figure.differs else [])]), ""]
    table = f"{figure.name}.csv"
    if (folder / f"{figure.name}.png").is_file():
        return [*parts, f"[![{figure.title}]({figure.name}.png)]({table})", ""]
    return [*parts, f"[{table}]({table})", ""]
