"""Tables of counts with intervals, made of a release's own answers: post-processing alone.

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
from hedgerow.estimate.queries import ASSUMED_EVEN, NOT_MEASURED, check_level
from hedgerow.estimate.tables import MOST_VALUES
from hedgerow.schema import Attribute, Categorical, Numeric, Query, Schema
from hedgerow.schema.attributes import read_number
from hedgerow.schema.conditions import suggest
from hedgerow.schema.query import Intervals, Numbers, overlap
from hedgerow.store.frames import Frame, FramedRows, as_kind
from hedgerow.suggestions import answer_mistakes, as_text, whole
from hedgerow.surroundings import load_plainly

Division = tuple[tuple[str, float, float], ...]
"""How an attribute is divided: for each part its label, and where it begins and ends, in codes."""

Bins = Mapping[str, Iterable[object] | int]


class Ask(Protocol):
    """Answers queries at a level, as `Release.count` does."""

    def __call__(self, queries: list[Any], /, *, level: float) -> Answers:
        """One answer for each query."""


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
        columns = {
            name: list(part) for name, part in zip(index, zip(*wide, strict=True), strict=True)
        }
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
        return replace(
            self.take(order),
            # intervals that hold for all cells at once hold for those that are kept
            picked=self.picked or (len(order) < len(self) and not self.simultaneous),
        )


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
    ask: Ask,
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
        ask: Answers queries at a level.
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
    whole, most, least = total.estimate, total.high, total.low

    def over(numbers: Floats, by: Floats) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(by > 0, np.minimum(numbers / by, 1.0), 1.0)

    unknown = np.full(len(found), np.nan)
    typical, error = found.typical_error, found.standard_error
    some = (most > 0) & (most < math.inf)
    with np.errstate(divide="ignore", invalid="ignore"):
        estimate = np.where(whole > 0, found.estimate / whole, 0.0)
    return Answers(
        estimate=estimate,
        low=np.where(some, over(found.low, most), 0.0),
        high=over(found.high, least),
        noise=unknown, uniformity_low=unknown, uniformity_high=unknown,
        level=found.level,
        typical_error=None if typical is None else over(typical, whole),
        standard_error=None if error is None else over(error, whole),
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
    return [
        (place, _division(columns[place], bins.get(name), usual(place)))
        for name, place in ((name, places[name]) for name in names)
    ]


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


def _division(
    attribute: Attribute, wanted: Iterable[object] | int | None, usual: tuple[int, ...]
) -> Division:
    if isinstance(attribute, Categorical):
        return _groups(attribute, wanted)
    if wanted is None:
        return tuple((attribute.label(*span), *span) for span in pairwise(usual))
    at = Numbers(attribute).position
    return tuple(
        (attribute.label(low, high), at(low), at(high))
        for low, high in pairwise(_edges(attribute, wanted))
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
