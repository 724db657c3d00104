"""Pictures of tables, with error bars: what is noise looks like noise."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from hedgerow.arrays import Bools, Floats, Ints
from hedgerow.errors import UsageError
from hedgerow.estimate.answers import NOISE
from hedgerow.estimate.queries import ASSUMED_EVEN, NOT_MEASURED
from hedgerow.surroundings import load_plainly

if TYPE_CHECKING:
    from hedgerow.release.tabulate import CountTable

MOST_BARS, MOST_COLORS = 100, 10
BAR, PALE_BAR, LINE, THICK = "#8fc4a6", "#e3ebe6", "#18211c", "#a8470a"
GROUPS = (BAR, "#e0b15a", "#8fb0d9", "#d59a9a", "#b3a0cf", "#a9a58a")
PALE = (NOISE, ASSUMED_EVEN)  # remarks on what should not catch the eye
BEYOND = "arrow: the interval goes on"
Shown = Callable[[str, str], str]
_ROOM = 2.5  # times what is well known, for what is not


class Axes(Protocol):
    """Axes of matplotlib, as far as they are needed here."""

    figure: Any

    def set_title(self, label: str) -> object:
        """Writes a title above them."""


def new_figure(size: tuple[float, float]) -> tuple[Any, Any]:
    """A figure with axes, without a window; of pyplot where that is in use, as in a notebook.

    Raises:
        UsageError: If matplotlib is not installed.
    """
    try:
        load_plainly("matplotlib", "matplotlibrc")
        from matplotlib.figure import Figure
    except ImportError:
        raise UsageError(
            "Pictures need matplotlib, which is not installed.",
            hint="Install it with: pip install 'hedgerow[plot]'",
        ) from None
    pyplot = sys.modules.get("matplotlib.pyplot")
    figure = (
        Figure(figsize=size, layout="constrained")
        if pyplot is None
        else pyplot.figure(figsize=size, layout="constrained")
    )
    return figure, figure.subplots()


def draw_table(
    table: CountTable,
    title: str,
    shown: Shown = lambda _, label: label,
    ax: Axes | None = None,
) -> Axes:
    """Draws a bar for each cell, with its interval as a line; cells that are mostly noise are pale.

    Few groups have a color each. Of two values' shares by group the second alone is drawn.

    Args:
        table: The table; cells of several attributes are labeled by all of them.
        title: What to write above it.
        shown: What the label of an attribute's value is called in the picture.
        ax: Where to draw; on axes of their own by default.

    Returns:
        The axes.

    Raises:
        UsageError: If there are too many cells to be seen, or matplotlib is not installed.
    """
    if isinstance(ax, str | Path):
        raise UsageError(
            "plot takes the axes to draw on, and writes no file itself.",
            hint=f"Write .plot().figure.savefig({str(ax)!r}).",
        )
    own = len(table.names) - len(table.groups)
    of = "share (%)" if table.by == "share" else "estimated count"
    if table.groups and table.by == "share" and own == 1 and len(set(table.labels[0])) == 2:  # noqa: PLR2004
        value = list(dict.fromkeys(table.labels[0]))[1]
        of = f"share of {table.names[0]} {shown(table.names[0], value)} (%)"
        table = table.take([at for at, label in enumerate(table.labels[0]) if label == value])
        table = replace(table, names=table.groups, labels=table.labels[1:], groups=())
    if table.groups and len(set(zip(*table.labels[own:], strict=True))) > MOST_COLORS:
        table = replace(table, groups=())
    if len(table) > MOST_BARS:
        raise UsageError(
            f"{len(table):,} bars cannot be told apart.",
            hint=f"Take wider bins or the largest cells (top): at most {MOST_BARS}.",
        )
    known = table.known
    if not known.any():
        raise UsageError(
            f"{' and '.join(table.names)} was not measured, so there is nothing to draw.",
            hint="Ask for attributes that the release says something about.",
        )
    axes: Any = ax
    if axes is None:
        _, axes = new_figure((9, 1.6 + 0.3 * max(len(table), 3)))
    found, scale = table.answers, 100.0 if table.by == "share" else 1.0
    noisy = ~known | np.isin(table.reliability, PALE)
    if table.lower_only:  # bars as long as what is known
        found, noisy = replace(found, estimate=found.low, high=found.low), ~known
    values = np.where(known, np.maximum(found.estimate, 0.0), 0.0) * scale
    low, high = found.low * scale, found.high * scale
    most = frame_of(values, np.where(known, high, 0.0), noisy)
    places = np.arange(len(table))
    groups = [*zip(*table.labels[own:], strict=True)] if table.groups else [()] * len(table)
    for place, group in enumerate(dict.fromkeys(groups)):
        mine = np.array([one == group for one in groups])
        color = GROUPS[place % len(GROUPS)]
        pale = f"{color}50" if table.groups else PALE_BAR
        bars = [pale if one else color for one in noisy[mine]]
        words = ", ".join(shown(*one) for one in zip(table.groups, group, strict=True))
        axes.barh(places[mine], values[mine], color=bars, height=0.72, label=_plain(words))
    if table.groups:
        axes.legend(title=_plain(", ".join(table.groups)), fontsize=8)
        for place, handle in enumerate(axes.get_legend().legend_handles):  # pale bars come first
            handle.set_color(GROUPS[place % len(GROUPS)])
    draw_ends(axes, places[known], low[known], high[known], most)
    if found.typical_error is not None:
        half = found.typical_error * scale
        ends = np.clip([values - half, values + half], low, np.minimum(high, most))
        axes.hlines(places[known], *ends[:, known], color=THICK, lw=3)
    labels = [
        ", ".join(shown(*one) for one in zip(table.names, cell, strict=True))
        for cell in zip(*table.labels, strict=True)
    ]
    axes.set_yticks(places, [_plain(label) for label in labels], fontsize=8)
    axes.set_ylim(len(table) - 0.4, -0.6)
    axes.set_xlabel(_plain(_words(table, of, bool((high[known] > most).any()))))
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_title(_plain(title), fontsize=10, loc="left")
    drawn: Axes = axes
    return drawn


def frame_of(values: Floats, high: Floats, noisy: Bools) -> float:
    """Where a picture ends: all estimates fit, and intervals but for very long ones of noise."""
    seen = high[np.isfinite(high) & ~noisy]
    longest = float(np.max(high[np.isfinite(high)], initial=0.0))
    most = max(1e-9, float(values.max()), float(np.max(seen, initial=0.0)))
    return longest if most <= longest <= _ROOM * most else most


def draw_ends(axes: Any, places: Ints, low: Floats, high: Floats, most: float) -> None:
    """Draws intervals as lines; an arrow marks those that go on beyond the frame."""
    beyond = high > most
    ends = np.where(beyond, 1.03 * most, high)
    axes.hlines(places, np.minimum(low, most), ends, color=LINE, lw=1)
    if beyond.any():
        at = np.full(beyond.sum(), 1.03 * most)
        axes.plot(at, places[beyond], ">", color=LINE, ms=5, clip_on=False)
    axes.set_xlim(0, 1.06 * most)
    axes.xaxis.set_major_formatter("{x:,.6g}")


def _words(table: CountTable, what: str, beyond: bool) -> str:
    if table.lower_only:
        return f"at least so many, each with {100 * table.level:g}%; how many more, nobody knows"
    told = f"{what}; thin line: {100 * table.level:g}% interval"
    if table.answers.typical_error is not None:
        told += "; thick line: typical error"
    if beyond:
        told += f"; {BEYOND}"
    pale = [remark for remark in (*PALE, NOT_MEASURED) if remark in table.reliability]
    return f"{told}; pale: {' or '.join(pale)}" if pale else told


def _plain(text: str) -> str:
    return text.replace("$", r"\$")  # which would begin a formula
