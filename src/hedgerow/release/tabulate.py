"""Tables of counts with intervals, made of a release's own answers: post-processing alone.

A cell is a count query. Estimates are those of `count`, so tables agree with it and with each
other; ends are those of `count` at a level that follows from how many of them must hold together.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any, Literal, Self, TypedDict

import numpy as np
import pyarrow as pa

from hedgerow.arrays import Bools, Floats
from hedgerow.errors import UsageError
from hedgerow.estimate.answers import Answers
from hedgerow.estimate.queries import ASSUMED_EVEN, MODELLED, NOT_MEASURED, RULED_OUT, check_level
from hedgerow.schema import Attribute, Categorical, Numeric, Query, Schema
from hedgerow.schema.attributes import read_number
from hedgerow.schema.conditions import Intervals, overlap, suggest
from hedgerow.store.frames import FramedRows
from hedgerow.suggestions import answer_mistakes, as_text, whole

if TYPE_CHECKING:
    from hedgerow.release.plots import Figure

__all__ = [
    "Bins",
    "CountTable",
    "TableOptions",
    "cells_of",
    "check_table",
    "divisions_of",
    "tabulated",
]

Division = tuple[tuple[str, int, int], ...]
"""How an attribute is divided: for each part its label, first code, and one past its last."""

Bins = Mapping[str, Iterable[object] | int]
Ask = Callable[[list[Any], float], Answers]


class TableOptions(TypedDict, total=False):
    """What `Release.table` takes beside attributes, and `Release.plot` with it."""

    where: str | Query | Mapping[str, object] | Iterable[object] | None
    by: Literal["count", "share"]
    level: float
    simultaneous: bool
    bins: Bins | None
    top: int | None


MOST_CELLS = 1_000_000
LEAST_ERROR = 1e-12  # of one interval: less is lost when it is taken from 1
MOST_GROUPS = 30  # of a taxonomy, unless a level was asked for
GOOD, FAIR = 0.165, 1 / 3  # coefficients of variation, as statistical offices have them
NOISE = "mostly noise"
_NORMAL = 1.959964
_SAID = (ASSUMED_EVEN, NOT_MEASURED, RULED_OUT)


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
        by: Whether these are counts or shares of the total.
        simultaneous: Whether the intervals hold all together at the level.
        picked: Whether cells were picked by their estimates and the intervals do not allow for it.
            One that holds with 95% for a cell chosen beforehand holds less often for the largest.

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
        """An Arrow table with one row per cell."""
        found = self.answers
        columns: dict[str, Any] = dict(zip(self.names, self.labels, strict=True))
        unknown = ~self.known
        typical = [] if found.typical_error is None else ["typical_error"]
        for name in ("estimate", "low", "high", *typical):
            columns[name] = pa.array(getattr(found, name), mask=unknown)
        columns["reliability"] = list(self.reliability)
        if found.basis is not None:
            columns["basis"] = found.basis.tolist()
        return pa.table(columns)

    def caption(self) -> str:
        """See `Framed.caption`."""
        what = "Counts" if self.by == "count" else "Shares"
        return f"{what} by {', '.join(self.names)}, with {self.level:.4g} intervals"

    def take(self, places: Any) -> Self:
        """See `FramedRows.take`."""
        return replace(
            self,
            labels=tuple(tuple(column[place] for place in places) for column in self.labels),
            answers=self.answers.take(places),
        )

    @answer_mistakes
    def plot(self) -> Figure:
        """Draws the table with error bars, as `Release.plot` does."""
        from hedgerow.release.plots import draw_table

        return draw_table(self, self.caption())

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


def check_table(top: object, simultaneous: object, bins: object = None) -> None:
    """Refuses arguments of a table that cannot be meant."""
    if top is not None and whole("top", top) < 0:
        raise UsageError("top cannot be negative.", hint="Write top=10, or leave it out.")
    if not isinstance(simultaneous, bool | np.bool_):
        raise UsageError("simultaneous must be True or False.", hint="Write simultaneous=True.")
    if bins is not None and not isinstance(bins, Mapping):
        raise UsageError(
            f"bins cannot be of type {type(bins).__name__}.",
            hint="It is a dictionary by attribute, such as bins={name: [0, 18, 65]}.",
        )


def reliability(answers: Answers) -> tuple[str, ...]:
    """What each estimate is worth, by its coefficient of variation and by what it rests on.

    "good" up to 16.5%, "fair" up to a third, else "mostly noise". A guess that is neither measured
    nor mostly noise is "modelled". By regions alone, what cuts regions is "assumed even", whatever
    its error, which nobody knows. What was "not measured" is called so, and what a
    rule of the schema says that nobody is, "ruled out".

    Example:
        >>> unknown = np.full(3, np.nan)
        >>> found = Answers(estimate=np.array([100.0, 100.0, 10.0]),
        ...     low=np.array([90.0, 30.0, 0.0]), high=np.array([110.0, 170.0, 50.0]),
        ...     noise=unknown, uniformity_low=unknown, uniformity_high=unknown, level=0.95)
        >>> reliability(found)
        ('good', 'mostly noise', 'mostly noise')
    """
    half = answers.typical_error
    if half is None:
        endless = np.isinf(answers.high)  # the rows of others may be suppressed
        half = np.where(endless, answers.noise, (answers.high - answers.low) / 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = half / _NORMAL / answers.estimate
    poor = ~(ratio <= FAIR) | (answers.estimate <= 0)
    found = np.where(poor, NOISE, np.where(ratio <= GOOD, "good", "fair"))
    if answers.basis is not None:
        guess = (answers.basis == MODELLED) & ~poor
        found = np.where(guess | np.isin(answers.basis, _SAID), answers.basis, found)
    return tuple(found.tolist())


def tabulated(
    names: tuple[str, ...],
    labels: tuple[tuple[str, ...], ...],
    cells: list[Any],
    whole: Any,
    ask: Ask,
    by: str,
    level: float,
    simultaneous: bool,
) -> CountTable:
    """Asks for all cells and for their total.

    With shares, a cell's ends and the total's must both hold: each gets half of the error. All
    together, every cell gets its part of the error (Bonferroni).

    Args:
        names: The columns that tell cells apart.
        labels: For each column, the label of every cell.
        cells: A query for each cell.
        whole: The query for all of them.
        ask: Answers queries at a level.
        by: "count" or "share".
        level: How often the intervals must hold.
        simultaneous: Whether all of them at once.
    """
    if by not in ("count", "share"):
        raise UsageError(f"by cannot be {by!r}.", hint='Write by="count" or by="share".')
    error = 1 - check_level(level)
    shared = error / 2 if by == "share" else error
    each = shared / max(1, len(cells)) if simultaneous else shared
    if each < LEAST_ERROR:
        raise UsageError(
            "so many intervals cannot all be so sure.", hint="Take a lower level, or fewer cells."
        )
    found, total = ask(cells, 1 - each), ask([whole], 1 - shared)
    if by == "share":
        found = _shares(found, total)
    return CountTable(
        names=names,
        labels=labels,
        answers=replace(found, level=level),
        total=replace(total, level=level),
        by=by,  # type: ignore[arg-type]
        simultaneous=simultaneous,
    )


def _shares(found: Answers, total: Answers) -> Answers:
    """Shares of the total; a share grows with its cell and falls with the total."""
    whole, most, least = (float(end[0]) for end in (total.estimate, total.high, total.low))

    def over(numbers: Floats, by: float) -> Floats:
        return np.minimum(numbers / by, 1.0) if by > 0 else np.ones(len(numbers))

    unknown = np.full(len(found), np.nan)
    typical = found.typical_error
    return Answers(
        estimate=found.estimate / whole if whole > 0 else np.zeros(len(found)),
        low=over(found.low, most) if 0 < most < math.inf else np.zeros(len(found)),
        high=over(found.high, least),
        noise=unknown, uniformity_low=unknown, uniformity_high=unknown,
        level=found.level,
        typical_error=None if typical is None else over(typical, whole),
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
        hint = f"Write {' '.join(dict.fromkeys(names))}." if names else "Name one or several."
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
                kept = range(low, high) if classes is None else classes
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


def _division(
    attribute: Attribute, wanted: Iterable[object] | int | None, usual: tuple[int, ...]
) -> Division:
    if isinstance(attribute, Categorical):
        if wanted is not None and (isinstance(wanted, bool) or not isinstance(wanted, int)):
            raise UsageError(
                f"{attribute.name} is divided by a level of its taxonomy",
                hint=f"Write --bins {attribute.name}=1, or in Python bins={{{attribute.name!r}: "
                "1}; 2 is the level below.",
            )
        return _groups(attribute, wanted)
    edges = usual if wanted is None else _edges(attribute, wanted)
    pairs = zip(edges[:-1], edges[1:], strict=True)
    return tuple((attribute.label(low, high), low, high) for low, high in pairs)


def _groups(attribute: Categorical, level: int | None) -> Division:
    """The groups of a taxonomy on a level, and values that lie above it."""
    taxonomy = attribute.taxonomy
    depth = [0] * len(taxonomy.labels)
    for node, parent in enumerate(taxonomy.parents):
        if parent >= 0:
            depth[node] = depth[parent] + 1

    def parts(level: int) -> Division:
        return tuple(
            (label, *taxonomy.spans[node])
            for node, label in enumerate(taxonomy.labels)
            if depth[node] == level or (depth[node] < level and not taxonomy.children[node])
        )

    deepest = max(depth)
    if level is None:
        level = next((one for one in range(deepest, 1, -1) if len(parts(one)) <= MOST_GROUPS), 1)
        level = min(level, deepest)
    if not 0 <= level <= deepest:
        raise UsageError(
            f"the taxonomy of {attribute.name} has no level {level}",
            hint=f"Its levels are 1 to {deepest}.",
        )
    return tuple(sorted(parts(level), key=lambda part: part[1]))


def _edges(attribute: Numeric, wanted: Iterable[object] | int) -> tuple[int, ...]:
    """The codes at which bands begin, from the values that were given."""
    starts = [str(attribute.edge(attribute.grid * part // 3)) for part in range(3)]
    if isinstance(wanted, int | str) or not (given := list(wanted)):
        raise UsageError(
            f"{attribute.name} is divided by the lower ends of its bands",
            hint=f"Write --bins {attribute.name}={','.join(starts)}, or in Python "
            f"bins={{{attribute.name!r}: [{', '.join(starts)}]}}.",
        )
    codes = {0, attribute.grid, attribute.size}
    for value in given:
        number = read_number(str(value))
        if number is None or not attribute.low <= number[0] <= attribute.high:
            raise UsageError(
                f"{value} is not between the bounds of {attribute.name}",
                hint=f"They are {attribute.edge(0)} and {attribute.edge(attribute.grid)}.",
            )
        codes.add(math.ceil((number[0] - attribute.low) / attribute.step))
    return tuple(sorted(codes))
