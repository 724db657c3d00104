"""Tables of counts and summaries of numbers with intervals: a release's answers alone make them.

A cell is a count query. Estimates are those of `count`, so tables agree with it and with each
other; ends are those of `count` at a level that follows from how many of them must hold together.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from itertools import pairwise, product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, Self, TypedDict

import numpy as np
import pyarrow as pa

from hedgerow.arrays import Bools, Floats, Ints
from hedgerow.errors import UsageError
from hedgerow.estimate.answers import NOISE, Answers, reliability
from hedgerow.estimate.queries import ASSUMED_EVEN, NOT_MEASURED, check_level, read_many
from hedgerow.estimate.tables import MOST_VALUES, own_codes
from hedgerow.schema import Attribute, Categorical, Numeric, Query, Schema
from hedgerow.schema.attributes import read_number
from hedgerow.schema.conditions import suggest
from hedgerow.schema.query import Intervals, Numbers, overlap
from hedgerow.store.frames import Frame, FramedRows, as_kind
from hedgerow.suggestions import answer_mistakes, as_text, whole
from hedgerow.surroundings import load_plainly

if TYPE_CHECKING:
    from hedgerow.release.base import Release

Division = tuple[tuple[str, float, float], ...]
"""How an attribute is divided: for each part its label, and where it begins and ends, in codes."""

Bins = Mapping[str, Iterable[object] | int]


class TableOptions(TypedDict, total=False):
    """What `Release.table` takes beside attributes, and `Release.plot` with it."""

    by: str | Sequence[str] | None
    where: str | Query | Mapping[str, object] | Iterable[object] | None
    share: bool
    level: float
    simultaneous: bool
    bins: Bins | None
    top: int | None


MOST_CELLS = 1_000_000
LEAST_ERROR = 1e-12  # of one interval: less is lost when it is taken from 1
_OF_COLUMNS = ("mean", "median", "quantile", "sum", "value_counts")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class CountTable(FramedRows):
    """Counts, or shares, of all cells of some attributes.

    `table[0]` is the first cell, `table["estimate"]` are all estimates, and `to_pandas`,
    `to_polars` and `to_arrow` give a frame with one row per cell.

    Args:
        names: The columns that tell cells apart.
        labels: For each column, the label of every cell.
        answers: What the release says of each cell.
        total: What it says of all of them together.
        by: Whether these are counts or shares: of the total, or of the groups.
        simultaneous: Whether the intervals hold all together at the level.
        picked: Whether cells were picked by their estimates and the intervals do not allow for it.
            One that holds with 95% for a cell chosen beforehand holds less often for the largest.
        groups: The columns, the last of `names`, whose values are groups of their own.
        column_of: The release, if this is one attribute of it by itself: `release["age"]` has a
            mean, as a column of pandas has.

    Example:
        >>> from hedgerow import publish, sample
        >>> release = publish(sample.people(500), sample.schema(), epsilon=100, seed=1)
        >>> release.table("smoker")
        Counts by smoker, with 0.95 intervals:
        smoker  estimate    low   high ...
    """

    _called = "table"

    names: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]
    answers: Answers
    total: Answers
    by: Literal["count", "share"]
    simultaneous: bool
    picked: bool = False
    groups: tuple[str, ...] = ()
    column_of: Any = None

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if name in _OF_COLUMNS and self.column_of is not None:
                return partial(getattr(self.column_of, name), self.names[0])
            return super().__getattr__(name)

    def __len__(self) -> int:
        """The number of cells."""
        return len(self.answers)

    @property
    def level(self) -> float:
        """The level of the intervals."""
        return self.answers.level

    @property
    def reliability(self) -> tuple[str, ...]:
        """What each estimate is worth, in a word; see the function of this name."""
        return reliability(self.answers)

    @property
    def known(self) -> Bools:
        """Which cells have an estimate: an even spread, where nothing was measured, is none."""
        return np.array([one != NOT_MEASURED for one in self.reliability], np.bool_)

    @property
    def lower_only(self) -> bool:
        """Whether only lower ends are known, since nobody knows how many there are in all."""
        return bool(np.isinf(self.total.high).any())

    def to_arrow(self) -> pa.Table:
        """An Arrow table with one row per cell; null is what is not known."""
        return rows_of_cells(self.names, self.labels, self.answers)

    @answer_mistakes
    def pivot(self, values: str = "estimate", *, kind: str = "pandas") -> Frame:
        """One of the numbers as a wide frame: the values of the last attribute are its columns.

        Args:
            values: Which: "estimate", "low", "high", "typical_error", "reliability".
            kind: The kind of frame wanted; with pandas the other attributes are the index.

        Raises:
            UsageError: If the table has one attribute alone, or no such column.

        Example:
            >>> from hedgerow import publish, sample
            >>> people, schema = sample.people(500), sample.schema()
            >>> release = publish(people, schema, "diffgen", epsilon=10, seed=1)
            >>> release.table("sex", by="readmitted").pivot(kind="arrow").column_names
            ['sex', 'no', 'yes']
        """
        if len(self.names) < 2:
            raise UsageError(
                f"a table of {self.names[0]} alone has nothing to be turned into columns",
                hint="Ask for two attributes: release.table(one, by=another).pivot().",
            )
        rows = self.to_arrow()
        if values not in rows.column_names[len(self.names) :]:
            raise self._no_column(values, rows)
        numbers = rows[values].to_pylist()
        *index, across = self.names
        wide: dict[tuple[str, ...], dict[str, Any]] = {}
        for labels, number in zip(zip(*self.labels, strict=True), numbers, strict=True):
            wide.setdefault(labels[:-1], {})[labels[-1]] = number
        columns = dict(zip(index, map(list, zip(*wide, strict=True)), strict=True))
        for label in dict.fromkeys(self.labels[-1]):
            name = label if label not in index else f"{across}: {label}"
            columns[name] = [cells.get(label) for cells in wide.values()]
        frame = as_kind(pa.table(columns), kind)
        if kind == "pandas":
            frame = frame.set_index(index).rename_axis(columns=across)
        return frame

    def caption(self) -> str:
        """See `Framed.caption`."""
        what = "Counts" if self.by == "count" else "Shares"
        if self.groups:
            what += f" of {', '.join(self.names[: len(self.names) - len(self.groups)])}"
        by = ", ".join(self.groups or self.names)
        return f"{what} by {by}, with {self.level:.4g} intervals"

    def take(self, places: Any) -> Self:
        """See `FramedRows.take`."""
        return replace(
            self,
            labels=tuple(tuple(column[place] for place in places) for column in self.labels),
            answers=self.answers.take(places),
            column_of=None,
        )

    @answer_mistakes
    def plot(self, ax: Axes | None = None) -> Axes:
        """Draws the table with error bars, as `Release.plot` does."""
        return draw_table(self, self.caption(), ax=ax)

    @answer_mistakes
    def largest(self, number: int) -> CountTable:
        """The cells with the largest estimates, the largest first; then those without any.

        Example:
            >>> from hedgerow import publish, sample
            >>> people, schema = sample.people(500), sample.schema()
            >>> release = publish(people, schema, "diffgen", epsilon=10, seed=1)
            >>> release.table("readmitted").largest(1)["readmitted"].tolist()
            ['no']
        """
        order = np.lexsort((-self.answers.estimate * self.known, ~self.known))
        order = order[: whole("number", number)]
        # intervals that hold for all cells at once hold for those that are kept
        picked = self.picked or (len(order) < len(self) and not self.simultaneous)
        return replace(self.take(order), picked=picked)


def rows_of_cells(
    names: tuple[str, ...], labels: tuple[tuple[str, ...], ...], answers: Answers
) -> pa.Table:
    """The columns that tell cells apart, and what is said of each; null is what is not known."""
    columns: dict[str, Any] = dict(zip(names, labels, strict=True))
    words = reliability(answers)
    unknown = np.array([one == NOT_MEASURED for one in words], np.bool_)
    for name in ("estimate", "low", "high", "typical_error"):
        values = getattr(answers, name)
        columns[name] = (
            pa.nulls(len(words), pa.float64()) if values is None else pa.array(values, mask=unknown)
        )
    columns["reliability"] = list(words)
    if answers.standard_error is not None:
        columns["standard_error"] = answers.standard_error
    if answers.basis is not None:
        columns["basis"] = answers.basis.tolist()
    return pa.table(columns)


def check_table(top: object, simultaneous: object, share: object, bins: object = None) -> None:
    """Refuses arguments of a table that cannot be meant."""
    for name, value in (("share", share), ("simultaneous", simultaneous)):
        if not isinstance(value, bool | np.bool_):
            raise UsageError(f"{name} must be True or False.", hint=f"Write {name}=True.")
    if top is not None and whole("top", top) < 0:
        raise UsageError("top cannot be negative.", hint="Write top=10, or leave it out.")
    if bins is not None and not isinstance(bins, Mapping):
        raise UsageError(
            f"bins cannot be of type {type(bins).__name__}.",
            hint="It is a dictionary by attribute, such as bins={name: [0, 18, 65]}.",
        )


def tabulate(
    names: tuple[str, ...],
    labels: tuple[tuple[str, ...], ...],
    cells: list[Any],
    whole: Any,
    ask: Callable[..., Answers],
    share: bool,
    level: float,
    simultaneous: bool,
    of: Sequence[Any] | None = None,
    groups: tuple[str, ...] = (),
) -> CountTable:
    """Asks for all cells and for their total.

    With shares, a cell's ends and the total's must both hold: each gets half of the error. All
    together, every cell gets its part of the error (Bonferroni), and every group that is a total.

    Args:
        names: The columns that tell cells apart.
        labels: For each column, the label of every cell.
        cells: A query for each cell.
        whole: The query for all of them.
        ask: Answers queries at a level, as `Release.count` does.
        share: Whether shares are asked for.
        level: How often the intervals must hold.
        simultaneous: Whether all of them at once.
        of: For each cell the query for the group that it is a share of; else all of them.
        groups: The columns whose values are these groups.
    """
    error = 1 - check_level(level)
    half = error / 2 if share else error
    each = half / max(1, len(cells)) if simultaneous else half
    if each < LEAST_ERROR:
        raise UsageError(
            "so many intervals cannot all be so sure.", hint="Take a lower level, or fewer cells."
        )
    found, total = ask(cells, level=1 - each), ask([whole], level=1 - half)
    if share:
        sizes = total
        if of is not None:
            distinct = list(dict.fromkeys(of))
            sizes = ask(distinct, level=1 - (half / len(distinct) if simultaneous else half))
            sizes = sizes.take([distinct.index(group) for group in of])
        found = _shares(found, sizes)
    return CountTable(
        names=names,
        labels=labels,
        answers=replace(found, level=level),
        total=replace(total, level=level),
        by="share" if share else "count",
        simultaneous=simultaneous,
        groups=groups,
    )


def _shares(found: Answers, total: Answers) -> Answers:
    """Shares of the total, or of one for each; a share grows with its cell and falls with it."""
    whole, most = total.estimate, total.high

    def over(numbers: Floats | None, by: Floats) -> Any:
        if numbers is not None:
            return np.where(by > 0, np.minimum(numbers / by, 1.0), 1.0)

    unknown = np.full(len(found), np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        return Answers(
            estimate=np.where(whole > 0, found.estimate / whole, 0.0),
            low=np.where((most > 0) & (most < math.inf), over(found.low, most), 0.0),
            high=over(found.high, total.low),
            noise=unknown, uniformity_low=unknown, uniformity_high=unknown,
            level=found.level,
            typical_error=over(found.typical_error, whole),
            standard_error=over(found.standard_error, whole),
            basis=found.basis,
        )  # fmt: skip


def divisions_of(
    schema: Schema,
    names: tuple[str, ...],
    bins: Bins | None,
    usual: Callable[[int], tuple[int, ...]],
) -> list[tuple[int, Division]]:
    """For each attribute its place among the schema's columns, the class last, and its parts.

    Args:
        schema: The schema.
        names: The attributes.
        bins: How some of them are to be divided.
        usual: The edges of the bands of the others, by their places.
    """
    columns = schema.columns
    places = {attribute.name: place for place, attribute in enumerate(columns)}
    bins = bins or {}
    for name in (*names, *bins):
        if not isinstance(name, str):
            raise UsageError(
                "a table is asked for by the names of attributes",
                hint=f"Write release.table({', '.join(map(as_text, list(places)[:2]))}), each name "
                "by itself.",
            )
        if name not in places:
            raise UsageError(
                f"the schema has no attribute {name!r}",
                hint=suggest(name, list(places), "Its attributes"),
            )
    if not names or len(set(names)) < len(names):
        hint = f"Name {' '.join(dict.fromkeys(names) or list(places)[:2])}."
        raise UsageError("a table needs attributes, each of them once", hint=hint)
    if stray := [name for name in bins if name not in names]:
        raise UsageError(
            f"bins divide {stray[0]!r}, which the table does not have",
            hint="Name it as an attribute of the table too.",
        )
    divisions: list[tuple[int, Division]] = []
    for name in names:
        place, wanted = places[name], bins.get(name)
        column = columns[place]
        if isinstance(column, Categorical):
            parts = _groups(column, wanted)
        elif wanted is None:
            parts = tuple((column.label(*span), *span) for span in pairwise(usual(place)))
        else:
            spans, at = pairwise(_edges(column, wanted)), Numbers(column).position
            parts = tuple((column.label(low, high), at(low), at(high)) for low, high in spans)
        divisions.append((place, parts))
    return divisions


def cells_of(
    schema: Schema, divisions: list[tuple[int, Division]], where: Query
) -> tuple[tuple[tuple[str, ...], ...], list[Query]]:
    """The labels and the queries of all cells, in the order of the schema."""
    number = math.prod(len(division) for _, division in divisions)
    if number > MOST_CELLS:
        raise UsageError(
            f"the table would have {number:,} cells",
            hint=f"Take fewer attributes or wider bins: at most {MOST_CELLS:,}.",
        )
    labels: list[tuple[str, ...]] = []
    cells = []
    for parts in product(*(division for _, division in divisions)):
        conditions: dict[int, Intervals] = dict(where.where)
        classes = where.classes
        possible = True
        for (place, _), (_, low, high) in zip(divisions, parts, strict=True):
            if place == len(schema.attributes):
                kept = range(int(low), int(high)) if classes is None else classes
                classes = tuple(code for code in kept if low <= code < high)
                possible &= bool(classes)
            else:
                part: Intervals = ((float(low), float(high)),)
                met = overlap(conditions[place], part) if place in conditions else part
                conditions[place] = met
                possible &= bool(met)
        if possible:
            labels.append(tuple(label for label, _, _ in parts))
            cells.append(Query(tuple(sorted(conditions.items())), classes))
    if not cells:
        raise UsageError("no cell of the table meets the condition", hint="Ask for a wider one.")
    return tuple(zip(*labels, strict=True)), cells


def names_in(given: Iterable[Any]) -> tuple[Any, ...]:
    """Names that were given one by one, or as lists of them.

    Example:
        >>> names_in(("age", ["sex", "job"]))
        ('age', 'sex', 'job')
    """
    return tuple(
        name for one in given for name in (one if isinstance(one, list | tuple) else [one])
    )


def _groups(attribute: Categorical, level: Iterable[object] | int | None) -> Division:
    """The groups of a taxonomy on a level, and values that lie above it."""
    if level is not None and (isinstance(level, bool) or not isinstance(level, int)):
        raise UsageError(
            f"{attribute.name} is divided by a level of its taxonomy",
            hint=f"Write --bins {attribute.name}=1, or in Python bins={{{attribute.name!r}: "
            "1}; 2 is the level below.",
        )
    taxonomy = attribute.taxonomy
    depth = [0] * len(taxonomy.labels)
    for node, parent in enumerate(taxonomy.parents):
        if parent >= 0:
            depth[node] = depth[parent] + 1
    deepest = max(depth)
    levels: list[Division] = [
        tuple(
            (label, *taxonomy.spans[node])
            for node, label in enumerate(taxonomy.labels)
            if depth[node] == one or (depth[node] < one and not taxonomy.children[node])
        )
        for one in range(deepest + 1)
    ]
    if level is None:
        fitting = (one for one in range(deepest, 1, -1) if len(levels[one]) <= MOST_VALUES)
        level = next(fitting, min(1, deepest))
    if not 0 <= level <= deepest:
        raise UsageError(
            f"the taxonomy of {attribute.name} has no level {level}",
            hint=f"Its levels are 1 to {deepest}.",
        )
    return tuple(sorted(levels[level], key=lambda part: part[1]))


def _edges(attribute: Numeric, wanted: Iterable[object] | int) -> list[Fraction]:
    """Where bands begin, in steps, from the values that were given; it may be inside a step."""
    starts = [str(attribute.edge(attribute.grid * part // 3)) for part in range(3)]
    if isinstance(wanted, int | str) or not (given := list(wanted)):
        raise UsageError(
            f"{attribute.name} is divided by the lower ends of its bands",
            hint=f"Write --bins {attribute.name}={','.join(starts)}, or in Python "
            f"bins={{{attribute.name!r}: [{', '.join(starts)}]}}.",
        )
    edges = {Fraction(0), Fraction(attribute.grid), Fraction(attribute.size)}
    dated, whole = attribute.kind == "date", attribute.kind != "decimal"
    for value in given:
        number = read_number(str(value))
        if (
            number is None
            or (number[1] == "date") != dated
            or not attribute.low <= number[0] <= attribute.high
        ):
            raise UsageError(
                f"{value} is not between the bounds of {attribute.name}",
                hint=f"They are {attribute.edge(0)} and {attribute.edge(attribute.grid)}.",
            )
        edge = ((math.ceil(number[0]) if whole else number[0]) - attribute.low) / attribute.step
        if not whole and edge.denominator > 1:
            raise UsageError(
                f"{attribute.name} was counted in steps of {float(attribute.step):g}, and {value} "
                "lies inside one",
                hint=f"Begin at {attribute.edge(int(edge))} or {attribute.edge(int(edge) + 1)}.",
            )
        edges.add(edge)
    return sorted(edges)


# Pictures of tables, with error bars: what is noise looks like noise.


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
    make = Figure if pyplot is None else pyplot.figure
    figure = make(figsize=size, layout="constrained")
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
    notes = [of, f"thin line: {100 * table.level:g}% interval"]
    if table.answers.typical_error is not None:
        notes.append("thick line: typical error")
    notes += [BEYOND] if (high[known] > most).any() else []
    if faint := [remark for remark in (*PALE, NOT_MEASURED) if remark in table.reliability]:
        notes.append(f"pale: {' or '.join(faint)}")
    if table.lower_only:
        notes = [f"at least so many, each with {100 * table.level:g}%"]
        notes.append("how many more, nobody knows")
    axes.set_xlabel(_plain("; ".join(notes)))
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


def _plain(text: str) -> str:
    return text.replace("$", r"\$")  # which would begin a formula


# How many records have each value of an attribute, as a release tells: post-processing alone.


BINS = 20
"""Numbers are told in at most so many steps."""

_LARGE = 0.15  # the share of all records from which a band is divided, if it can be


@dataclass(frozen=True, eq=False, kw_only=True)
class Spread:
    """The values of an attribute with the number of records that each has.

    Args:
        name: The attribute.
        labels: Values, or steps of numbers.
        edges: The first code of each, and one past the last.
        counts: Estimated numbers of records, not below 0.
        low: The lower ends of the intervals around them.
        high: The upper ends; infinite where nothing is known.
        attribute: The attribute itself; None for items.
        measured: Whether the release says anything about it; if not, counts are equal parts.
        remarks: What each count is worth (`hedgerow.release.count_tables.reliability`).
    """

    name: str
    labels: tuple[str, ...]
    edges: tuple[int, ...]
    counts: Floats
    low: Floats
    high: Floats
    attribute: Attribute | None = None
    measured: bool = True
    remarks: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """What people call the attribute."""
        return self.name if self.attribute is None else self.attribute.title

    @property
    def shares(self) -> Floats:
        """The counts as shares of their sum."""
        total = float(self.counts.sum())
        return self.counts / total if total > 0 else np.zeros(len(self.counts))


def bins(attribute: Attribute) -> tuple[int, ...]:
    """Edges of codes: every value, or round steps of numbers; what is "other" stands alone.

    Example:
        >>> from fractions import Fraction
        >>> from hedgerow.schema import Numeric
        >>> age = Numeric("age", low=Fraction(18), high=Fraction(99), step=Fraction(1),
        ...     kind="integer")
        >>> edges = bins(age)
        >>> [age.label(low, high) for low, high in zip(edges[:3], edges[1:4])]
        ['[18, 20)', '[20, 25)', '[25, 30)']
    """
    if isinstance(attribute, Categorical) or attribute.grid <= BINS:
        return tuple(range(attribute.size + 1))
    if attribute.scale == "log":
        return (*_growing(attribute), *([attribute.size] if attribute.has_other else []))
    width, digit = 1, 0
    while attribute.grid > width * (BINS - 1):
        width = (1, 2, 5)[digit % 3] * 10 ** (digit // 3)
        digit += 1
    # numbers that are multiples of the step divide better than those that are not
    first = 0
    if attribute.kind != "date":
        first = int(-(attribute.low / attribute.step) % width)
    inner = [code for code in range(first, attribute.grid, width) if code > 0]
    return (0, *inner, attribute.grid, *([attribute.size] if attribute.has_other else []))


def bands(attribute: Attribute, measured: Ints) -> tuple[int, ...]:
    """Edges of codes that are all edges of measured cells: the nearest to those of `bins`.

    The lowest value, zero and values that the schema calls common stand alone if they were measured
    alone.

    Args:
        attribute: The attribute.
        measured: The edges of its measured cells.

    Example:
        >>> pay = Numeric("pay", low=Fraction(0), high=Fraction(99), step=Fraction(1),
        ...     kind="integer")
        >>> bands(pay, np.array([0, 1, 33, 66, 100]))
        (0, 1, 33, 66, 100)
    """
    usual = bins(attribute)
    if isinstance(attribute, Categorical):  # of many values, groups were counted
        return usual if len(measured) == len(usual) else tuple(measured.tolist())
    near = np.abs(measured[:, None] - np.array(usual)).argmin(axis=0)
    found = {0, attribute.size, *measured[near].tolist()}
    for code in own_codes(attribute):
        found |= {code, code + 1} & {*measured.tolist()}
    return tuple(sorted(found))


def divided(edges: tuple[int, ...], measured: Ints, counts: Floats) -> tuple[int, ...]:
    """The same bands, but large ones divided where finer cells were counted.

    Args:
        edges: The edges of bands.
        measured: The edges of all measured cells, those of the bands among them.
        counts: How many records each of these cells holds, about.

    Example:
        >>> measured = np.array([0, 10, 12, 14, 20, 100])
        >>> divided((0, 10, 20, 100), measured, np.array([5.0, 30.0, 30.0, 25.0, 10.0]))
        (0, 10, 12, 14, 20, 100)
    """
    below = np.concatenate([[0.0], np.cumsum(np.maximum(counts, 0.0))])
    whole = max(float(below[-1]), 1e-9)
    found = {*edges}
    for low, high in pairwise(edges):
        first, last = np.searchsorted(measured, [low, high]).tolist()
        share = float(below[last] - below[first]) / whole
        if share > _LARGE and last - first > 1:
            parts = math.ceil(share / _LARGE) + 1
            goals = below[first] + np.arange(1, parts) * share * whole / parts
            inner = below[first + 1 : last]
            nearest = np.abs(inner[:, None] - goals).argmin(axis=0)
            found |= {*measured[first + 1 + nearest].tolist()}
    return tuple(sorted(found))


def _growing(attribute: Numeric) -> tuple[int, ...]:
    """The codes at which 1, 10, 100, ... begin, or 1, 2, 5, 10, ... if there are few of them."""
    low, high, step = attribute.low, attribute.high, attribute.step
    decades = [sign * Fraction(10) ** power for power in range(-9, 40) for sign in (-1, 1)]
    found: set[int] = {0, attribute.grid}
    for digits in ((1,), (1, 2, 5)):
        starts = [Fraction(0), *(digit * decade for decade in decades for digit in digits)]
        codes = {math.ceil((start - low) / step) for start in starts if low < start <= high}
        if len(codes) < BINS:
            found = {0, attribute.grid, *codes}
    return tuple(sorted(found))


def spread_of(
    name: str,
    labels: tuple[str, ...],
    edges: tuple[int, ...],
    answers: Answers,
    attribute: Attribute | None = None,
) -> Spread:
    """The spread of an attribute, or of items, by what a release answers for each value."""
    return Spread(
        name=name,
        labels=labels,
        edges=edges,
        counts=np.maximum(answers.estimate, 0.0),
        low=answers.low,
        high=answers.high,
        attribute=attribute,
        measured=answers.basis is None or bool((answers.basis != NOT_MEASURED).any()),
        remarks=reliability(answers),
    )


# Means, sums and quantiles of a numeric attribute, by group, made of a release's own answers.
#
# Estimates are the model's: records lie evenly in the cells that were counted. Intervals are
# guaranteed, one by one, since they come from guaranteed ends of counts:
#
# - *Sums.* Let t_0 < t_1 < ... be where the cells begin. What n records sum up to is at least
#   t_0 n + sum_j (t_j - t_(j-1)) G_j, with G_j the number of records at t_j or above, and at most
#   the same with the largest values of cells. All ends hold at once (Bonferroni).
# - *Means* are the same over n.
# - *Quantiles.* The smallest value that a part q of the records does not exceed is at least t if
#   fewer than q n records surely lie below t. Places t are tried upwards until that is not sure. If
#   the end is too high, then it is so because of the first place above the true quantile, which is
#   fixed; so nothing is paid for the choice. Upper ends are found downwards alike.
#
# Releases of marginals bound sums and means more closely where a table counts all that is asked
# for: there they are one weighted sum of its numbers (`hedgerow.estimate.intervals`).
#
# Records whose value is "other" are left out.


What = Literal["mean", "sum", "quantile"]
MOST_PARTS = 64  # of a number whose cells are not known
MOST_COUNTS = 2_000_000


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Summaries(FramedRows):
    """A mean, a sum or a quantile of a number for each group, with an interval.

    `summaries[0]` is the first group, `summaries["estimate"]` are all estimates.

    Args:
        what: Which of the three.
        number: The attribute.
        names: The columns that tell groups apart.
        labels: For each of them, the label of every group.
        estimate: The estimates; not a number where nobody is estimated to be.
        low: The lower ends of the intervals.
        high: The upper ends.
        level: The probability that an interval holds the truth, at least.

    Example:
        >>> from hedgerow import publish, sample
        >>> release = publish(sample.people(500), sample.schema(), epsilon=100, seed=1)
        >>> found = release.mean("age", by="smoker")
        >>> found["smoker"].tolist(), bool((found["low"] < found["estimate"]).all())
        (['false', 'true'], True)
    """

    _called = "summaries"

    what: What
    number: Numeric
    names: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]
    estimate: Floats
    low: Floats
    high: Floats
    level: float

    def __len__(self) -> int:
        """The number of groups."""
        return len(self.estimate)

    def __float__(self) -> float:
        """The estimate, if there is one group alone."""
        if len(self) != 1:
            raise UsageError(
                f"{len(self)} groups are not one number", hint='Write summaries["estimate"].'
            )
        return float(self.estimate[0])

    def caption(self) -> str:
        """See `Framed.caption`."""
        by = f" by {', '.join(self.names)}" if self.names else ""
        level = f"{100 * self.level:.4g}%"
        what = self.what.capitalize()
        return f"{what} of {self.number.name}{by}, with guaranteed {level} intervals"

    def take(self, places: Any) -> Self:
        """See `FramedRows.take`."""
        return replace(
            self,
            labels=tuple(tuple(column[place] for place in places) for column in self.labels),
            estimate=self.estimate[places], low=self.low[places], high=self.high[places],
        )  # fmt: skip

    def to_arrow(self) -> pa.Table:
        """An Arrow table with one row per group; means and quantiles of dates are dates."""
        columns: dict[str, Any] = dict(zip(self.names, self.labels, strict=True))
        for name, to_whole in (("estimate", round), ("low", math.floor), ("high", math.ceil)):
            values: Floats = getattr(self, name)
            if self.number.kind == "date":
                days = [to_whole(v) if math.isfinite(v) else None for v in values.tolist()]
                columns[name] = pa.array(days, pa.date32())
            else:
                columns[name] = pa.array(values, mask=np.isnan(values))
        return pa.table(columns)


def join(parts: Sequence[Summaries], name: str, labels: tuple[str, ...]) -> Summaries:
    """Summaries of one number below each other, told apart by one more column."""
    first = parts[0]
    below = zip(*(one.labels for one in parts), strict=True)
    return replace(
        first,
        names=(name, *first.names),
        labels=(labels, *(tuple(label for one in column for label in one) for column in below)),
        estimate=np.concatenate([one.estimate for one in parts]),
        low=np.concatenate([one.low for one in parts]),
        high=np.concatenate([one.high for one in parts]),
    )


@dataclass(frozen=True, eq=False)
class Values:
    """The cells of a number and the values that lie in them.

    Args:
        edges: The edges of the cells, in codes: without that of "other".
        least: The smallest value of each.
        most: The largest.
    """

    edges: Ints
    least: Floats
    most: Floats

    @staticmethod
    def of(number: Numeric, edges: Ints) -> Values:
        """The values between some edges.

        Example:
            >>> from fractions import Fraction
            >>> age = Numeric("age", low=Fraction(17), high=Fraction(90), step=Fraction(1),
            ...     kind="integer")
            >>> found = Values.of(age, np.array([0, 3, 74]))
            >>> found.least.tolist(), found.most.tolist()
            ([17.0, 20.0], [19.0, 90.0])
        """
        edges = np.unique(np.clip([0, *edges, number.grid], 0, number.grid)).astype(np.int64)
        starts = [float(number.low + int(code) * number.step) for code in edges]
        gap = 0.0 if number.kind == "decimal" else 1.0  # decimals may come as near as they like
        most = np.minimum(np.array(starts[1:]) - gap, float(number.high))
        least = np.array(starts[:-1])
        return Values(edges, least, np.maximum(most, least))


def summarize(
    release: Release, what: What, attribute: str, by: str | Sequence[str] | None, where: Any,
    level: float, part: float = 0.5,
) -> Summaries:  # fmt: skip
    """Summarizes an attribute for each group.

    Args:
        release: The release.
        what: What is asked for.
        attribute: The number.
        by: The attributes whose values are the groups.
        where: A query that all records must meet, if any.
        level: The probability that an interval holds the truth, at least.
        part: Of a quantile, the part of the records that it does not exceed.
    """
    schema = release.schema
    (whole,) = read_many(Query(()) if where is None else where, schema)
    share = check_level(level)
    named: object = attribute
    if not isinstance(named, str):
        calls = f"release.{what}(name)"
        if isinstance(named, list | tuple) and all(isinstance(one, str) for one in named):
            calls = f"[{calls} for name in {named!r}]"
        raise UsageError(
            "one attribute is summarized at a time, named by text", hint=f"Write {calls}."
        )
    place, number = _numeric(schema, attribute)
    if what == "sum" and number.kind == "date":
        raise UsageError("dates have no sum", hint=f"Ask for the mean of {attribute}.")
    if not 0 < part < 1:
        raise UsageError("a quantile is for a part between 0 and 1", hint="0.5 is the median.")
    names = (by,) if isinstance(by, str) else tuple(by or ())
    if attribute in names:
        raise UsageError(f"{attribute!r} is summarized, so it cannot be a group too")
    labels: tuple[tuple[str, ...], ...] = ()
    groups = [whole]
    if names:
        labels, groups = cells_of(schema, divisions_of(schema, names, None, release.bands), whole)
    values = Values.of(number, release.measured_edges(place))
    if len(values.edges) == 2:  # nobody knows its cells
        values = Values.of(number, np.arange(MOST_PARTS + 1) * number.grid // MOST_PARTS)
    if len(groups) * len(values.edges) > MOST_COUNTS:
        raise UsageError("there are too many groups", hint="Take fewer attributes for groups.")
    asker = _Asker(release, place, values, groups)
    if what == "quantile":
        estimate, (low, high) = asker.quantiles(part), asker.quantile_ends(part, share)
    else:
        estimate = asker.sums(mean=what == "mean")
        low, high = asker.sum_ends(share, mean=what == "mean")
    if what == "sum":  # of people of whom nobody has less than nothing, or more
        low = np.maximum(low, 0.0) if values.least[0] >= 0 else low
        high = np.minimum(high, 0.0) if values.most[-1] <= 0 else high
    stretched = np.fmin(low, estimate), np.fmax(high, estimate)  # which costs no coverage
    return Summaries(
        what=what, number=number, names=names, labels=labels, estimate=estimate,
        low=stretched[0], high=stretched[1], level=level,
    )  # fmt: skip


def _numeric(schema: Schema, attribute: str) -> tuple[int, Numeric]:
    numbers = {
        one.name: (place, one)
        for place, one in enumerate(schema.attributes)
        if isinstance(one, Numeric)
    }
    if attribute not in numbers:
        hint = suggest(attribute, list(numbers), "Its numbers") if numbers else "It has none."
        if attribute in schema:
            hint = f"Write release.table({as_text(attribute)}, share=True). {hint}"
        raise UsageError(f"{attribute!r} is not a numeric attribute of the schema", hint=hint)
    return numbers[attribute]


class _Asker:
    """Counts of a number's cells in each group, and of what lies on either side of an edge."""

    def __init__(
        self, release: Release, place: int, values: Values, groups: Sequence[Query]
    ) -> None:
        self.release, self.place, self.values, self.groups = release, place, values, groups

    def _counts(self, spans: Sequence[tuple[int, int]], level: float | None) -> Floats:
        """Estimates, or with a level lower and upper ends: [1 or 2, groups, spans]."""
        queries, at = [], []
        for row, group in enumerate(self.groups):
            conditions = dict(group.where)
            if not all(conditions.values()) or group.classes == ():
                continue
            for column, (low, high) in enumerate(spans):
                span = ((float(low), float(high)),)
                if met := overlap(conditions.get(self.place, span), span):
                    where = tuple(sorted((conditions | {self.place: met}).items()))
                    queries.append(Query(where, group.classes))
                    at.append((row, column))
        counts = np.zeros((1 if level is None else 2, len(self.groups), len(spans)))
        if not queries:
            return counts
        rows, columns = np.array(at).T
        if level is None:
            counts[0, rows, columns] = np.maximum(self.release.estimate(queries), 0.0)
        else:
            answers = self.release.count(queries, level=level)
            counts[:, rows, columns] = answers.low, answers.high
        return counts

    def _cells(self) -> Floats:
        return np.asarray(self._counts([*pairwise(self.values.edges.tolist())], None)[0])

    def sums(self, *, mean: bool) -> Floats:
        """Sums, or means, by the model."""
        cells = self._cells()
        number = cells.sum(axis=1)
        middles = (self.values.least + self.values.most) / 2  # if records lie evenly
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray((cells @ middles) / (number if mean else 1.0))

    def sum_ends(self, level: float, *, mean: bool) -> tuple[Floats, Floats]:
        """Guaranteed ends of sums or means."""
        unknown = math.nan, math.nan
        close = [self.release.sum_ends(self.place, one, level, mean=mean) for one in self.groups]
        ends = np.array([one or unknown for one in close]).T
        if not np.isnan(ends).any():
            return ends[0], ends[1]
        edges = self.values.edges
        spans = [(int(edge), int(edges[-1])) for edge in edges[:-1]]  # the first is all of them
        low, high = self._counts(spans, 1 - (1 - level) / len(spans))
        least, most = self.values.least, self.values.most
        high = np.minimum(high, high[:, :1])
        up, down = np.diff(most) @ high[:, 1:].T, np.diff(least) @ low[:, 1:].T
        fewest, number = low[:, 0], high[:, 0]
        if mean:
            with np.errstate(invalid="ignore", divide="ignore"):
                parts = np.nan_to_num(np.minimum(1.0, high[:, 1:] / low[:, :1]), nan=1.0)
                down = np.where(number > 0, down / number, 0.0)
            loose = least[0] + down, np.maximum(most[0] + parts @ np.diff(most), least[0])
        else:
            down += np.minimum(least[0] * fewest, least[0] * number)
            loose = down, up + np.maximum(most[0] * fewest, most[0] * number)
        lower, upper = np.where(np.isnan(ends[0]), loose, ends)
        return lower, upper

    def quantiles(self, part: float) -> Floats:
        """Quantiles by the model."""
        cells = self._cells()
        least, most = self.values.least, self.values.most
        quantiles = np.full(len(cells), np.nan)
        for row, counts in enumerate(cells):
            below = np.concatenate([[0.0], np.cumsum(counts)])
            if below[-1] > 0:
                goal = part * below[-1]
                cell = min(int(np.searchsorted(below[1:], goal)), len(counts) - 1)
                inside = (goal - below[cell]) / max(counts[cell], 1e-12)
                quantiles[row] = least[cell] + min(1.0, inside) * (most[cell] - least[cell])
        return quantiles

    def quantile_ends(self, part: float, level: float) -> tuple[Floats, Floats]:
        """Guaranteed ends of quantiles."""
        edges, error = self.values.edges, 1 - level
        # a fifth for the number of records, two for the count on either side
        number = self._counts([(int(edges[0]), int(edges[-1]))], 1 - error / 5)
        below = self._counts([(0, int(edge)) for edge in edges[1:-1]], 1 - 2 * error / 5)
        fewer = below[1] < part * number[0]
        more = below[0] >= part * number[1]
        # how many edges hold without a gap, from either end
        first = np.cumprod(fewer, axis=1).sum(axis=1)
        last = np.cumprod(more[:, ::-1], axis=1).sum(axis=1)
        some = number[0, :, 0] > 0
        low = np.where(some, self.values.least[first], self.values.least[0])
        high = np.where(some, self.values.most[::-1][last], self.values.most[-1])
        return low, high
