"""Pictures of tables, with error bars: what is noise looks like noise."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from hedgerow.errors import UsageError

if TYPE_CHECKING:
    from hedgerow.release.tabulate import CountTable

__all__ = ["Figure", "draw_table", "new_figure"]

MOST_BARS = 100


class Figure(Protocol):
    """A figure of matplotlib, as far as it is needed here."""

    def savefig(
        self, fname: str | os.PathLike[str], *, dpi: int = 100, format: str = "png"
    ) -> None:
        """Writes it to a file."""


def new_figure(size: tuple[float, float]) -> tuple[Any, Any]:
    """A figure with axes, without a window.

    Raises:
        UsageError: If matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise UsageError(
            "Pictures need matplotlib, which is not installed.",
            hint="Install it with: pip install 'hedgerow[plot]'",
        ) from None
    figure = Figure(figsize=size, layout="constrained")
    return figure, figure.subplots()


def draw_table(table: CountTable, title: str) -> Figure:
    """Draws a bar for each cell, with its interval as a line; cells that are mostly noise are pale.

    Args:
        table: The table; cells of several attributes are labelled by all of them.
        title: What to write above it.

    Returns:
        A figure of matplotlib.

    Raises:
        UsageError: If there are too many cells to be seen, or matplotlib is not installed.
    """
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
    figure, axes = new_figure((9, 1.6 + 0.3 * max(len(table), 3)))
    found, scale = table.answers, 100.0 if table.by == "share" else 1.0
    noisy = ~known | np.array([one == "unreliable" for one in table.reliability])
    values = np.where(known, np.maximum(found.estimate, 0.0), 0.0) * scale
    low, high = found.low * scale, found.high * scale
    seen = np.isfinite(high)
    most = max(1e-9, float(values.max()), float(np.max(high[seen & ~noisy], initial=0.0)))
    places = np.arange(len(table))
    colours = ["#e3ebe6" if one else "#8fc4a6" for one in noisy]
    axes.barh(places, values, color=colours, height=0.72)
    axes.hlines(places, low, np.where(seen, high, 10 * most), color="#18211c", lw=1)
    if found.typical_error is not None:
        half = found.typical_error * scale
        ends = np.maximum(values - half, 0.0), values + half
        axes.hlines(places[known], ends[0][known], ends[1][known], color="#a8470a", lw=3)
    labels = [", ".join(one) for one in zip(*table.labels, strict=True)]
    axes.set_yticks(places, [_plain(label) for label in labels], fontsize=8)
    axes.invert_yaxis()
    axes.set_xlim(0, 1.08 * most)
    axes.set_xlabel(_words(table))
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_title(_plain(title), fontsize=10, loc="left")
    drawn: Figure = figure
    return drawn


def _words(table: CountTable) -> str:
    what = "share (%)" if table.by == "share" else "estimated count"
    told = f"{what}; thin line: {100 * table.level:g}% interval"
    if table.answers.typical_error is not None:
        told += "; thick line: typical error"
    pale = "unreliable" in table.reliability or not table.known.all()
    return told + "; pale: mostly noise, or not measured" if pale else told


def _plain(text: str) -> str:
    return text.replace("$", r"\$")  # which would begin a formula
