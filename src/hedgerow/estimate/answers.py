"""Answers to count queries, each with an interval whose parts are told apart.

A query weighs each region by the share of it that it overlaps, which is right if records lie evenly
inside a region that the query cuts. Nobody knows that. So an interval is made of two bounds that do
not need it: the truth is at least the count of the regions wholly inside the query, and at most the
count of those it touches. With the noise of these two counts, half of the error on either side, the
interval holds the truth at its level wherever records lie. If no region is cut, both counts are the
estimate itself, and noise is all there is.

The noise of a sum comes from the exact variance of that combination of measurements and a bound on
the tails of any such combination (`hedgerow.estimate.noise`).
"""

from __future__ import annotations

import numbers
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hedgerow.arrays import Floats, Ints
from hedgerow.errors import ReleaseError, UsageError
from hedgerow.estimate.basis import ASSUMED_EVEN, MEASURED
from hedgerow.estimate.fit import Fit
from hedgerow.estimate.index import Index, grid_index, tree_index
from hedgerow.estimate.noise import half_width
from hedgerow.estimate.query_kernels import descend
from hedgerow.measured.partition import GridPartition, Partition
from hedgerow.schema import Schema
from hedgerow.store.frames import FramedRows

if TYPE_CHECKING:
    from hedgerow.schema.query import Query

__all__ = [
    "Answers",
    "Packed",
    "answer",
    "check_level",
    "grouped",
    "interval",
    "by_model",
    "pack",
    "read_many",
    "sums",
    "with_queries",
]


INNER, EVEN, TOUCHED = range(3)

USUAL = 0.95  # of typical errors too

_BATCH = 1000  # queries that a thread answers at a time


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Answers(FramedRows):
    """Answers to queries, one number per query in every array.

    `answers[0]` is the first answer, `answers["low"]` are all lower ends, and `to_pandas`,
    `to_polars` and `to_arrow` give a frame with one row per query.

    Args:
        estimate: The estimated counts, not rounded; noise can make them negative.
        low: The lower ends of the intervals: whole numbers, at least 0.
        high: The upper ends.
        noise: Half the width of the interval that noise alone asks for, around the estimate.
        uniformity_low: How much further down the truth may lie because regions are cut by the
            query.
        uniformity_high: How much further up. These three are not known with marginals, where the
            interval comes from many sources.
        level: The probability that an interval holds the truth, at least.
        typical_error: With marginals, and for itemsets, how far the estimate is off in most
            queries: a guess by the model, which promises nothing. Else not known.
        basis: What each answer rests on: "measured", "modelled", "assumed even" or "not measured"
            (`hedgerow.estimate.basis`).
        asked: The queries, and what makes the function that writes one in words; both are used
            when words are wanted, since there may be very many.

    Example:
        >>> none = np.zeros(2)
        >>> found = Answers(estimate=np.array([100.0, 4.0]), low=np.array([90.0, 0.0]),
        ...     high=np.array([110.0, 9.0]), noise=none, uniformity_low=none,
        ...     uniformity_high=none, level=0.95)
        >>> found[0].estimate, found["high"].tolist(), len(found[1:])
        (100.0, [110.0, 9.0], 1)
    """

    estimate: Floats
    low: Floats
    high: Floats
    noise: Floats
    uniformity_low: Floats
    uniformity_high: Floats
    level: float
    typical_error: Floats | None = None
    basis: NDArray[np.str_] | None = None
    asked: tuple[Sequence[Any], Callable[[], Callable[[Any], str]]] | None = None

    def __len__(self) -> int:
        """The number of queries."""
        return len(self.estimate)

    @property
    def queries(self) -> list[str | None] | None:
        """The queries in words; None for one that was made by hand and has none."""
        if self.asked is None:
            return None
        queries, writer = self.asked
        write = writer()
        found: list[str | None] = []
        for query in queries:
            try:
                found.append(write(query))
            except UsageError:
                found.append(None)
        return found

    def take(self, places: Any) -> Self:
        """See `FramedRows.take`."""
        names = ("estimate", "low", "high", "noise", "uniformity_low", "uniformity_high")
        may = ("typical_error", "basis")
        known = [*names, *(name for name in may if getattr(self, name) is not None)]
        asked = self.asked
        if asked is not None:
            asked = [asked[0][place] for place in places], asked[1]
        return replace(self, asked=asked, **{name: getattr(self, name)[places] for name in known})

    def caption(self) -> str:
        """See `Framed.caption`."""
        return f"Estimated counts with {self.level:.4g} intervals"

    def to_arrow(self) -> pa.Table:
        """An Arrow table with one row per query."""
        names = ["estimate", "low", "high", "noise", "uniformity_low", "uniformity_high"]
        if self.typical_error is not None:
            names[3:] = ["typical_error"]
        if self.basis is not None:
            names.append("basis")
        words = self.queries
        first = {} if words is None else {"query": pa.array(words, pa.string())}
        return pa.table(first | {name: getattr(self, name) for name in names})


def with_queries(answers: Answers, queries: Sequence[Query], schema: Schema) -> Answers:
    """Answers that know what was asked."""
    return replace(answers, asked=(queries, partial(_writer, schema)))


def _writer(schema: Schema) -> Callable[[Query], str]:
    from hedgerow.schema.query import Vocabulary

    return Vocabulary(schema).text


def by_model(
    estimate: Floats, typical_error: Floats, ends: tuple[Floats, Floats], level: float
) -> Answers:
    """Answers whose estimates are a model's, beside intervals that do not depend on it.

    Estimates stay as they are, so that those of parts add up to that of the whole. Where one lies
    outside its interval, which is rare, the interval is stretched to hold it: that costs no
    coverage.

    Args:
        estimate: The estimates.
        typical_error: How far they are off, by the model.
        ends: The lower and upper ends of the intervals.
        level: Their level.
    """
    low, high = ends
    estimate = np.maximum(estimate, 0.0)
    low, high = np.minimum(low, np.floor(estimate)), np.maximum(high, np.ceil(estimate))
    unknown = np.full(len(estimate), np.nan)
    if level >= USUAL:  # a guess that is wider than what is guaranteed says nothing
        room = np.maximum(estimate - low, high - estimate)
        # from 0 to 0: an interval that noise left nothing of is no reason to be sure
        typical_error = np.where(room > 0, np.minimum(typical_error, room), typical_error)
    return Answers(
        estimate=estimate,
        low=low,
        high=high,
        noise=unknown,
        uniformity_low=unknown,
        uniformity_high=unknown,
        level=level,
        typical_error=typical_error,
    )


@dataclass(frozen=True, eq=False, kw_only=True)
class Packed:
    """Queries as arrays.

    Args:
        start: Where the conditions of each query begin; one more than there are queries.
        attribute: The attribute of each condition.
        begin: Where the intervals of each condition begin; one more than there are conditions.
        lows: The lower ends of intervals, in code units.
        highs: The upper ends.
    """

    start: Ints
    attribute: Ints
    begin: Ints
    lows: Floats
    highs: Floats


def check_level(level: object) -> float:
    """The level of intervals as a number between 0 and 1.

    Raises:
        UsageError: If it is none.
    """
    # a number of NumPy will do; it is made a float first, since that may round it to 1
    share = float(level) if isinstance(level, numbers.Real) else 0.0
    if not 0 < share < 1:
        raise UsageError(
            "the level of an interval must lie between 0 and 1",
            hint="Use 0.95 for intervals that hold the truth 95 times in 100.",
        )
    return share


def read_many(queries: object, schema: Schema) -> list[Query]:
    """One query or many, in any form, as a list.

    Raises:
        UsageError: If one cannot be understood, or does not fit the schema.
    """
    from hedgerow.schema.query import Query, Vocabulary

    words = Vocabulary(schema)
    if isinstance(queries, (Query, str, Mapping)):
        queries = [queries]
    if isinstance(queries, (bytes, bytearray)) or not isinstance(queries, Iterable):
        raise _unreadable(queries)
    found: list[Query] = []
    for query in queries:
        if isinstance(query, Query):  # first, since very many are given in this form
            found.append(query)
        elif isinstance(query, str):
            found.append(words.parse(query))
        elif isinstance(query, Mapping):
            found.append(words.of(query))
        else:
            raise _unreadable(query)
    _check(found, schema)
    return found


def _unreadable(query: object) -> UsageError:
    hint = "Give text, a mapping from attributes to values, or a Query."
    if query is None:
        hint += ' For the whole table give "everybody".'
    elif isinstance(query, (bytes, bytearray)):
        hint = 'Make it text first, such as query.decode("utf-8").'
    return UsageError(f"a query cannot be read from type {type(query).__name__}", hint=hint)


def _check(queries: Sequence[Query], schema: Schema) -> None:
    """Queries made by hand may name places that this schema does not have."""
    attributes, classes = len(schema.attributes), len(schema.classes)
    places = {place for query in queries for place, _ in query.where}
    codes = {code for query in queries for code in query.classes or ()}
    if any(not 0 <= p < attributes for p in places) or any(not 0 <= c < classes for c in codes):
        raise UsageError(
            "a query names an attribute or a class that this release does not have",
            hint="Make it with Query.parse or Query.of and the schema of this release.",
        )


def pack(queries: Sequence[Query]) -> Packed:
    """Queries as arrays."""
    conditions = [condition for query in queries for condition in query.where]
    intervals = [interval for _, several in conditions for interval in several]
    ends = np.array(intervals, np.float64).reshape(-1, 2)
    return Packed(
        start=np.cumsum([0, *(len(query.where) for query in queries)]),
        attribute=np.array([place for place, _ in conditions], np.int64),
        begin=np.cumsum([0, *(len(several) for _, several in conditions)]),
        lows=np.ascontiguousarray(ends[:, 0]),
        highs=np.ascontiguousarray(ends[:, 1]),
    )


def answer(partition: Partition, fit: Fit, queries: Sequence[Query], level: float) -> Answers:
    """Answers queries on a release that is not thresholded.

    Args:
        partition: The regions.
        fit: Their consistent counts.
        queries: The queries.
        level: The level of the intervals.

    Raises:
        ReleaseError: If a region was not counted at all.
    """
    if not np.isfinite(fit.variance).all():
        raise ReleaseError(
            "a region of this release was not counted, so queries cannot be answered",
            hint="Ask whoever published the release for a fresh copy.",
        )
    estimate, variance = sums(partition, fit, queries)
    cut = (estimate != estimate[:, [INNER]]).any(axis=1) | (variance != variance[:, [INNER]]).any(
        axis=1
    )
    found = interval(estimate, half_width(np.sqrt(variance), level), level)
    return replace(found, basis=np.where(cut, ASSUMED_EVEN, MEASURED))


def sums(partition: Partition, fit: Fit, queries: Sequence[Query]) -> tuple[Floats, Floats]:
    """The inner, even and touched sum of each query, and their variances by the tails.

    Args:
        partition: The regions.
        fit: Their consistent counts.
        queries: The queries.

    Returns:
        Two arrays of shape [queries, 3].
    """
    # on a grid, attributes that a query does not name are summed out first
    on_grid = isinstance(partition, GridPartition)
    groups = grouped(queries, lambda query: tuple(a for a, _ in query.where) if on_grid else ())
    estimate, variance = np.zeros((len(queries), 3)), np.zeros((len(queries), 3))
    for attributes, members in groups.items():
        index = (
            grid_index(partition, fit, attributes)
            if isinstance(partition, GridPartition)
            else tree_index(partition, fit)
        )
        for classes, some in grouped([queries[q] for q in members], lambda q: q.classes).items():
            here = members[some]
            packed = pack([queries[q] for q in here])
            estimate[here], variance[here] = _sums(index, fit, packed, attributes, classes)
    return estimate, variance


def interval(estimate: Floats, width: Floats, level: float) -> Answers:
    """Puts an interval together from the three sums of each query.

    Args:
        estimate: The inner, even and touched sums, shape [queries, 3].
        width: How far the noise of each may reach, at the level.
        level: The level.
    """
    even, noise = estimate[:, EVEN], width[:, EVEN]
    low = np.minimum(estimate[:, INNER] - width[:, INNER], even - noise)
    high = np.maximum(estimate[:, TOUCHED] + width[:, TOUCHED], even + noise)
    return Answers(
        estimate=even,
        # the truth is a whole number, so an interval may end at one
        low=np.maximum(np.ceil(low - 1e-9), 0.0),
        high=np.maximum(np.floor(high + 1e-9), 0.0),
        noise=noise,
        uniformity_low=(even - noise) - low,
        uniformity_high=high - (even + noise),
        level=level,
    )


def grouped(queries: Sequence[Query], key: Callable[[Query], Any]) -> dict[Any, Ints]:
    """The places of queries that agree in something."""
    groups: dict[Any, list[int]] = {}
    for place, query in enumerate(queries):
        groups.setdefault(key(query), []).append(place)
    return {value: np.array(places) for value, places in groups.items()}


def _sums(
    index: Index,
    fit: Fit,
    packed: Packed,
    attributes: tuple[int, ...],
    classes: tuple[int, ...] | None,
) -> tuple[Floats, Floats]:
    """The three sums of queries on the same classes."""
    evidence = fit.evidence
    chosen = list(range(evidence.classes)) if classes is None else list(classes)
    many, of = len(chosen), evidence.classes
    on_top, by_cover = evidence.total is not None, fit.rule == "none"
    estimate = index.counts[:, chosen].sum(axis=1)
    whole = 1.0 if on_top else many / of
    alone = index.apart * (many * (1 - many / of))
    if on_top and by_cover:
        # without adjustment a node wholly inside is counted by its own measurement alone
        estimate, alone = _cover(fit, chosen)
        whole = 0.0
    weights = np.column_stack(
        [estimate, index.share, index.variance, alone, index.own, index.below]
    )
    out = np.zeros((len(packed.start) - 1, 3, 4))
    place = np.searchsorted(attributes, packed.attribute) if attributes else packed.attribute

    def some(begin: int) -> None:
        descend(
            index.shape, weights, index.sizes, index.deepest, whole,
            packed.start[begin : begin + _BATCH + 1], place, packed.begin, packed.lows,
            packed.highs, out[begin : begin + _BATCH],
        )  # fmt: skip

    batches = range(0, len(out), _BATCH)
    if len(batches) == 1:
        some(0)
    else:
        # the loops run without Python's lock, so threads share the work
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(some, batches))
    found, a, c, r = np.moveaxis(out, 2, 0)
    root = index.variance[0]
    if on_top and not by_cover:
        # one level more: the total, below it the classes, which share alike what it is off by
        assert evidence.total is not None
        own, mean = fit.total_own, many * a / of
        rest = many * ((a - mean) ** 2 * root + 2 * (a - mean) * c + r)
        rest += (of - many) * mean**2 * root
        c = (1 - own) * (many * ((a - mean) * root + c) - (of - many) * mean * root)
        noise = float(evidence.total.tail[0]) if own else 0.0
        root = own**2 * noise + (1 - own) ** 2 * of * root
        a, r = mean, rest
    return found, np.maximum(a**2 * root + 2 * a * c + r, 0.0)


def _cover(fit: Fit, chosen: list[int]) -> tuple[Floats, Floats]:
    """What was measured at each node, or below it where it was not, and its variance."""
    nodes = fit.evidence.nodes
    measured = np.isfinite(nodes.variance).astype(np.float64)
    passes = replace(fit.passes, own=measured)
    estimate = passes.first(nodes.values[:, chosen]).sum(axis=1)
    return estimate, len(chosen) * passes.spread(nodes.tail).first
