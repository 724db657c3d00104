"""Results on paper: a CSV file and a plot for each figure, and a page for each paper."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hedgerow.evaluate.workload import NOT_PRIVATE
from hedgerow.surroundings import load_plainly
from papers.figure import Result

__all__ = ["draw", "write_page", "write_table"]

_MARKS = "osD^v<>Px*h"


def write_table(result: Result, path: Path) -> None:
    """Writes all points of a figure as CSV, with what the paper states beside them."""
    stated = {(one.series, one.x): one.value for one in result.figure.stated}
    with path.open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow([
            "series", result.figure.x or "x", result.figure.y, "low", "high", "runs", "paper",
        ])  # fmt: skip
        for line in result.lines:
            x = "" if line.x is None else line.x
            paper = stated.get((line.series, line.x), "")
            ends = (f"{value:.6g}" for value in (line.mean, line.low, line.high))
            out.writerow([line.series, x, *ends, line.runs, paper])


def draw(result: Result, path: Path) -> bool:
    """Draws a figure into a PNG file; False if matplotlib is not there to do it."""
    try:
        matplotlib = load_plainly("matplotlib", "matplotlibrc")
    except ImportError:
        return False
    matplotlib.use("Agg")
    from matplotlib import pyplot

    series = list(dict.fromkeys(line.series for line in result.lines))
    # a schedule of the same method has its colour
    kinds = list(dict.fromkeys(name.replace(", tuned", "") for name in series))
    colours = matplotlib.color_sequences["tab10" if len(kinds) <= 10 else "tab20"]
    words = [line.x for line in result.lines if isinstance(line.x, str)]
    axis = list(dict.fromkeys(words))

    def place(x: Any) -> Any:
        return axis.index(x) if isinstance(x, str) else x

    figure, axes = pyplot.subplots(figsize=(7.2, 4.2), dpi=90, layout="constrained")
    if all(line.x is None for line in result.lines):  # a table: one bar each
        low = min(line.low for line in result.lines)
        names = [line.series for line in result.lines]
        means = [line.mean for line in result.lines]
        half = [line.high - line.mean for line in result.lines]
        axes.barh(names, means, xerr=half, color="#5b7f5e")
        axes.set_xlim(left=max(0, low - 5))
        axes.set_xlabel(result.figure.y)
        axes.invert_yaxis()
    else:
        for name in series:
            lines = [line for line in result.lines if line.series == name]
            number = kinds.index(name.replace(", tuned", ""))
            colour, mark = colours[number % len(colours)], _MARKS[number % len(_MARKS)]
            if lines[0].x is None:
                axes.axhline(lines[0].mean, color=colour, linestyle=":", label=name)
                continue
            at = [place(line.x) for line in lines]
            dashed = "--" if ", tuned" in name else "-"
            axes.errorbar(
                at, [line.mean for line in lines],
                yerr=[[line.mean - line.low for line in lines],
                      [line.high - line.mean for line in lines]],
                color=colour, marker=mark, markersize=4, linestyle=dashed, capsize=2, label=name,
            )  # fmt: skip
        stated = [one for one in result.figure.stated if one.x is not None and one.series in series]
        stated = [one for one in stated if not isinstance(one.x, str) or one.x in axis]
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
        axes.legend(fontsize=7, loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
    axes.set_title(f"{result.figure.name}: {result.figure.title}", fontsize=9)
    axes.grid(alpha=0.3)
    figure.savefig(path, metadata={"Software": None})
    pyplot.close(figure)
    return True


def write_page(paper: str, title: str, results: Sequence[Result], path: Path, command: str) -> None:
    """Writes the page of a paper, with plots that lie beside it.

    Args:
        paper: Its short name.
        title: Its name in words.
        results: Its figures.
        path: Where to write; plots are looked for in the same folder.
        command: The command that made it.
    """
    parts = [
        f"# {title}",
        "",
        *_failing(results),
        f"*Written by `{command}`. {NOT_PRIVATE}*",
        "",
        "Every point is a mean over runs with its 95% interval. Runs are seeded, so the figures"
        " can be reproduced; the data is public. Stars mark numbers stated in the paper's text;"
        " no values were read off its figures.",
        "",
    ]
    for result in results:
        parts += _section(result, path.parent)
    path.write_text("\n".join(parts).rstrip() + "\n", encoding="utf-8")


def _failing(results: Sequence[Result]) -> list[str]:
    """What the paper says and these runs do not show: the first lines of its page."""
    found = []
    for result in results:
        figure = result.figure
        for claim in figure.claims:
            if points := claim.broken(result):
                found.append(f"- {figure.name}: {claim.words} Not here, {'; '.join(points)}.")
        if figure.fails and not result.skipped:
            found.append(f"- {figure.name}: {figure.fails}")
    if not found:
        return []
    return ["**What the paper says and these runs do not show:**", "", *found, ""]


def _section(result: Result, folder: Path) -> list[str]:
    figure = result.figure
    parts = [
        f"## {figure.name}: {figure.title}",
        "",
        f"The paper's settings: {figure.settings}",
        "",
    ]
    if result.skipped:
        return [*parts, f"Not run: {result.skipped}.", ""]
    which = "a quick run, with fewer points" if result.quick else "all points"
    times = "1 run of each" if result.runs == 1 else f"{result.runs} runs of each"
    told = f"This page: {which}, {times} (a full run has {figure.runs})."
    if result.runs < figure.runs:
        told += " Fewer than in the paper, to save CPU time"
        if result.cpu > 0:
            minutes = max(1, result.cpu / 60 * figure.runs / result.runs)
            told += f": all {figure.runs} would take about {minutes:.0f} minutes"
        told += "."
    parts += [told, ""]
    if (folder / f"{figure.name}.png").is_file():
        parts += [f"![{figure.title}]({figure.name}.png)", ""]
    if figure.stated:
        parts += ["| | at | the paper states | ours | |", "| --- | --- | --- | --- | --- |"]
        for one in figure.stated:
            line = result.at(one.series, one.x)
            ours = "not run" if line is None else _number(line.mean)
            if line is not None and line.high > line.low:
                ours += f" (from {_number(line.low)} to {_number(line.high)})"
            at = "" if one.x is None else one.x
            parts.append(f"| {one.series} | {at} | {_number(one.value)} | {ours} | {one.words} |")
        parts.append("")
    parts += [f"All numbers: [{figure.name}.csv]({figure.name}.csv).", ""]
    if figure.differs:
        parts += [f"Where ours differs: {figure.differs}", ""]
    return parts


def _number(value: float) -> str:
    """Four digits are all that runs can tell."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
