"""Count queries: how they are asked, their conditions as arrays, and what an answer rests on."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.arrays import Bools, Floats, Ints
from hedgerow.errors import UsageError
from hedgerow.schema import Schema
from hedgerow.schema.relations import CLASS

if TYPE_CHECKING:
    from hedgerow.schema.query import Intervals, Query

# The conditions of many queries as arrays, so that whole columns of them are looked at at once.


_DUST = 1e-9  # code units that are rounding errors of the query's bounds


@dataclass(frozen=True, eq=False)
class Covered:
    """The cells of a table that conditions cover, each [conditions, cells].

    Args:
        share: How far; just 1 of those wholly covered, just 0 of those not touched.
        inner: Those wholly covered.
        touched: Those covered at least in part.
    """

    share: Floats
    inner: Bools
    touched: Bools


@dataclass(frozen=True, kw_only=True, eq=False)
class Conditions:
    """The conditions of queries, one after the other; that on the class is the last of a query.

    Args:
        queries: How many queries there are.
        start: Where the conditions of each query begin; one more than there are queries.
        query: The query of each condition.
        place: Its attribute, or `CLASS`.
        begin: Where its intervals begin; one more than there are conditions.
        lows: The lower ends of intervals, in code units.
        highs: The upper ends.
    """

    queries: int
    start: Ints
    query: Ints
    place: Ints
    begin: Ints
    lows: Floats
    highs: Floats

    @staticmethod
    def of(queries: Sequence[Query], *, with_class: bool = True) -> Conditions:
        """The conditions of queries.

        Args:
            queries: The queries.
            with_class: Whether those on the class are among them.

        Example:
            >>> from hedgerow.schema.query import Query
            >>> found = Conditions.of([Query(((3, ((0.0, 2.0),)),), (1,)), Query()])
            >>> found.query.tolist(), found.place.tolist(), found.highs.tolist()
            ([0, 0], [3, -1], [2.0, 2.0])
        """
        each = chain.from_iterable
        several = [query.where + (of_class(query) if with_class else ()) for query in queries]
        flat = list(each(several))
        ends = np.fromiter(each(each(intervals for _, intervals in flat)), np.float64)
        many = np.fromiter((len(intervals) for _, intervals in flat), np.int64, len(flat))
        number = np.array([len(one) for one in several], np.int64)
        return Conditions(
            queries=len(queries),
            start=np.concatenate([[0], np.cumsum(number)]),
            query=np.repeat(np.arange(len(queries)), number),
            place=np.fromiter((place for place, _ in flat), np.int64, len(flat)),
            begin=np.concatenate([[0], np.cumsum(many)]),
            lows=np.ascontiguousarray(ends[::2]),
            highs=np.ascontiguousarray(ends[1::2]),
        )

    def on(self, place: int) -> Ints:
        """The conditions on an attribute, of which a query has at most one."""
        return np.flatnonzero(self.place == place)

    def summed(self, chosen: Ints, values: Floats) -> Floats:
        """Sums over the intervals of some conditions.

        Args:
            chosen: The conditions.
            values: Of each interval of each of them, one after the other: [intervals, ...].
        """
        many = self.begin[chosen + 1] - self.begin[chosen]
        sums = np.zeros((len(chosen), *values.shape[1:]))
        some = np.flatnonzero(many)
        if len(some):
            sums[some] = np.add.reduceat(values, (np.cumsum(many) - many)[some], axis=0)
        return sums

    def ends(self, chosen: Ints) -> tuple[Floats, Floats]:
        """The lower and upper ends of all intervals of some conditions, one after the other."""
        many = self.begin[chosen + 1] - self.begin[chosen]
        shift = self.begin[chosen] - np.cumsum(many) + many
        place = np.repeat(shift, many) + np.arange(int(many.sum()))
        return self.lows[place], self.highs[place]

    def cover(self, chosen: Ints, edges: Ints) -> Covered:
        """Which cells some conditions cover.

        Args:
            chosen: The conditions.
            edges: The edges of the cells, in codes.

        Example:
            >>> from hedgerow.schema.query import Query
            >>> asked = Conditions.of([Query(((0, ((5.0, 20.0),)),))])
            >>> found = asked.cover(np.array([0]), np.array([0, 10, 20, 30]))
            >>> found.inner.tolist(), found.touched.tolist()
            ([[False, True, False]], [[True, True, False]])
        """
        low, high = edges[:-1].astype(np.float64), edges[1:].astype(np.float64)
        starts, stops = self.ends(chosen)
        inside = np.minimum(high, stops[:, None]) - np.maximum(low, starts[:, None])
        held = self.summed(chosen, np.maximum(0.0, inside))
        inner, touched = held >= high - low - _DUST, held > _DUST
        return Covered(np.where(inner, 1.0, touched * held / (high - low)), inner, touched)


def of_class(query: Query, place: int = CLASS) -> tuple[tuple[int, Intervals], ...]:
    """The condition on the class, at some place, if a query has one."""
    if query.classes is None:
        return ()
    return ((place, tuple((float(code), float(code + 1)) for code in query.classes)),)


# Count queries as they are asked: read, checked and grouped.


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

    words = None
    if isinstance(queries, (Query, str, Mapping)):
        queries = [queries]
    if isinstance(queries, (bytes, bytearray)) or not isinstance(queries, Iterable):
        raise _unreadable(queries)
    several: list[Query] = []
    for query in queries:
        if isinstance(query, Query):  # first, since very many are given in this form
            several.append(query)
            continue
        if not isinstance(query, str | Mapping):
            raise _unreadable(query)
        words = words or Vocabulary(schema)
        several.append(words.parse(query) if isinstance(query, str) else words.of(query))
    # queries made by hand may name places that this schema does not have
    attributes, classes = len(schema.attributes), len(schema.classes)
    places = {place for query in several for place, _ in query.where}
    codes = {code for query in several for code in query.classes or ()}
    if any(not 0 <= p < attributes for p in places) or any(not 0 <= c < classes for c in codes):
        raise UsageError(
            "a query names an attribute or a class that this release does not have",
            hint="Make it with Query.parse or Query.of and the schema of this release.",
        )
    return several


def _unreadable(query: object) -> UsageError:
    hint = "Give text, a mapping from attributes to values, or a Query."
    if query is None:
        hint += ' For the whole table give "everybody".'
    elif isinstance(query, (bytes, bytearray)):
        hint = 'Make it text first, such as query.decode("utf-8").'
    return UsageError(f"a query cannot be read from type {type(query).__name__}", hint=hint)


def grouped(queries: Sequence[Query], key: Callable[[Query], Any]) -> dict[Any, Ints]:
    """The places of queries that agree in something."""
    groups: dict[Any, list[int]] = {}
    for place, query in enumerate(queries):
        groups.setdefault(key(query), []).append(place)
    return {value: np.array(places) for value, places in groups.items()}


# What an answer rests on: counts of just what was asked for, a model of other counts, or nothing.
#
# - *measured*: just what the query asks for was counted, so that the noise of counts is all there
#   is. With marginals these are everybody, and what is made of whole cells of one table, or of
#   groups of cells where pairs are counted in these; by regions, queries that cut no region; of
#   transactions, everybody, single items if long records count in full for them, and sets of items
#   that were counted together.
# - *modeled*: every attribute of the query was counted, but not all of them together, or not in
#   parts as fine as the query's: the rest is a model's. Of generalized rows, all that cuts no row:
#   people whose rows are suppressed are missing.
# - *assumed even*: the same by regions alone, or by generalized rows: the query cuts some of them,
#   in which records are assumed to lie evenly.
# - *not measured*: the release says nothing about some attribute of the query. It has no table,
#   and no region tells its values apart. The estimate takes them to be equally frequent.
# - *ruled out*: a rule of the schema says that nobody meets the query, and nothing was looked up.


MEASURED, MODELED = "measured", "modeled"
ASSUMED_EVEN, NOT_MEASURED = "assumed even", "not measured"
RULED_OUT = "ruled out"


def basis_of(
    queries: Sequence[Query],
    together: Bools,
    unmeasured: Collection[int],
    otherwise: str = ASSUMED_EVEN,
) -> NDArray[np.str_]:
    """The basis of each query.

    Args:
        queries: The queries.
        together: Whether just what each asks for was counted.
        unmeasured: The attributes that the release says nothing about, or `CLASS`.
        otherwise: What is done where it was not.

    Example:
        >>> from hedgerow.schema.query import Query
        >>> asked = [Query(), Query(((0, ((0.0, 1.0),)),)), Query(((1, ((0.0, 1.0),)),))]
        >>> basis_of(asked, np.array([True, False, False]), {1}).tolist()
        ['measured', 'assumed even', 'not measured']
    """
    unknown = [
        bool(unmeasured)
        and (
            any(place in unmeasured for place, _ in query.where)
            or (query.classes is not None and CLASS in unmeasured)
        )
        for query in queries
    ]
    return np.where(unknown, NOT_MEASURED, np.where(together, MEASURED, otherwise))


def find_ruled_out(schema: Schema, asked: Conditions) -> Bools:
    """Which queries lie inside what a rule of the schema says that nobody is."""
    forbidden = np.zeros(asked.queries, np.bool_)
    for query in (query for rule in schema.rules for query in rule.impossible):
        rule = Conditions.of([query])
        met = np.ones(asked.queries, np.bool_)
        for condition, place in enumerate(rule.place.tolist()):
            here, inside = asked.on(place), np.zeros(asked.queries, np.bool_)
            starts, stops = asked.ends(here)
            lows, highs = rule.ends(np.array([condition]))
            shared = np.minimum(highs, stops[:, None]) - np.maximum(lows, starts[:, None])
            outside = stops - starts - np.maximum(shared, 0.0).sum(axis=1)
            inside[asked.query[here]] = asked.summed(here, outside) < _DUST
            met &= inside
        forbidden |= met
    return forbidden
