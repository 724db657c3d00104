"""Means, sums and quantiles of a numeric attribute, by group, made of a release's own answers.

Estimates are the model's: records lie evenly in the cells that were counted. Intervals are
guaranteed, one by one, since they come from guaranteed ends of counts:

- *Sums.* Let t_0 < t_1 < ... be where the cells begin. What n records sum up to is at least
  t_0 n + sum_j (t_j - t_(j-1)) G_j, with G_j the number of records at t_j or above, and at most the
  same with the largest values of cells. All ends hold at once (Bonferroni).
- *Means* are the same over n.
- *Quantiles.* The smallest value that a part q of the records does not exceed is at least t if
  fewer than q n records surely lie below t. Places t are tried upwards until that is not sure. If
  the end is too high, then it is so because of the first place above the true quantile, which is
  fixed; so nothing is paid for the choice. Upper ends are found downwards alike.

Releases of marginals bound sums and means more closely where a table counts all that is asked for:
there they are one weighted sum of its numbers (`hedgerow.estimate.intervals`).

Records whose value is "other" are left out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
import pyarrow as pa

from hedgerow.arrays import Floats, Ints
from hedgerow.errors import UsageError
from hedgerow.estimate.answers import Answers, reliability
from hedgerow.estimate.queries import NOT_MEASURED, check_level, read_many
from hedgerow.estimate.tables import own_codes
from hedgerow.release.count_tables import cells_of, divisions_of
from hedgerow.schema import Attribute, Categorical, Items, Numeric, Query, Schema
from hedgerow.schema.conditions import suggest
from hedgerow.schema.query import overlap
from hedgerow.store.frames import FramedRows
from hedgerow.suggestions import as_text

if TYPE_CHECKING:
    from hedgerow.release.base import Release

# How many records have each value of an attribute, as a release tells: post-processing alone.


Ask = Callable[[list[Query]], Answers]

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


def spreads(
    schema: Schema, ask: Ask, usual: Callable[[int], tuple[int, ...]]
) -> tuple[Spread, ...]:
    """The spread of every attribute, and of the class, by a release's own answers.

    Args:
        schema: The schema of a table.
        ask: Answers queries about it.
        usual: The edges of the bands of the attribute at a place.
    """
    edges = [usual(place) for place in range(len(schema.columns))]
    labels: list[tuple[str, ...]] = []
    queries: list[Query] = []
    for place, column in enumerate(schema.columns):
        parts = tuple((column.label(*span), *span) for span in pairwise(edges[place]))
        (names,), cells = cells_of(schema, [(place, parts)], Query(()))
        labels.append(names)
        queries += cells
    answers = ask(queries)  # all at once, which is far quicker
    ends = np.cumsum([0, *map(len, labels)]).tolist()
    return tuple(
        _spread(column.name, names, some, answers.take(range(low, high)), column)
        for column, names, some, (low, high) in zip(
            schema.columns, labels, edges, pairwise(ends), strict=True
        )
    )


def item_spread(items: Items, ask: Callable[[list[list[str]]], Answers]) -> Spread:
    """How many records hold each item."""
    labels = tuple(items.labels)
    edges = tuple(range(len(labels) + 1))
    return _spread("item", labels, edges, ask([[label] for label in labels]))


def _spread(
    name: str,
    labels: tuple[str, ...],
    edges: tuple[int, ...],
    answers: Answers,
    attribute: Attribute | None = None,
) -> Spread:
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
        several = isinstance(named, list | tuple) and all(isinstance(one, str) for one in named)
        calls = (
            f"[release.{what}(name) for name in {named!r}]" if several else f"release.{what}(name)"
        )
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
            for column, (low, high) in enumerate(spans):
                query = _between(group, self.place, low, high)
                if query is not None:
                    queries.append(query)
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
        edges = self.values.edges.tolist()
        return np.asarray(self._counts(list(zip(edges[:-1], edges[1:], strict=True)), None)[0])

    def sums(self, *, mean: bool) -> Floats:
        """Sums, or means, by the model."""
        cells = self._cells()
        number = cells.sum(axis=1)
        middles = (self.values.least + self.values.most) / 2  # if records lie evenly
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray((cells @ middles) / (number if mean else 1.0))

    def sum_ends(self, level: float, *, mean: bool) -> tuple[Floats, Floats]:
        """Guaranteed ends of sums or means."""
        ends = np.full((2, len(self.groups)), np.nan)
        for row, group in enumerate(self.groups):
            close = self.release.sum_ends(self.place, group, level, mean=mean)
            if close is not None:
                ends[:, row] = close
        if not np.isnan(ends).any():
            return ends[0], ends[1]
        edges = self.values.edges
        spans = [(int(edge), int(edges[-1])) for edge in edges[:-1]]  # the first is all of them
        low, high = self._counts(spans, 1 - (1 - level) / len(spans))
        least, most = self.values.least, self.values.most
        high = np.minimum(high, high[:, :1])
        up, down = np.diff(most) @ high[:, 1:].T, np.diff(least) @ low[:, 1:].T
        if mean:
            with np.errstate(invalid="ignore", divide="ignore"):
                parts = np.nan_to_num(np.minimum(1.0, high[:, 1:] / low[:, :1]), nan=1.0)
                down = np.where(high[:, 0] > 0, down / high[:, 0], 0.0)
            loose = least[0] + down, np.maximum(most[0] + parts @ np.diff(most), least[0])
        else:
            both = low[:, 0], high[:, 0]
            loose = (
                np.minimum(*(least[0] * n for n in both)) + down,
                np.maximum(*(most[0] * n for n in both)) + up,
            )
        unknown = np.isnan(ends[0])
        return np.where(unknown, loose[0], ends[0]), np.where(unknown, loose[1], ends[1])

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


def _between(group: Query, place: int, low: int, high: int) -> Query | None:
    """A group's records with codes from low to high; None where that is nobody."""
    conditions = dict(group.where)
    span = ((float(low), float(high)),)
    met = overlap(conditions[place], span) if place in conditions else span
    if not met or any(not codes for codes in conditions.values()) or group.classes == ():
        return None
    return Query(tuple(sorted((conditions | {place: met}).items())), group.classes)
