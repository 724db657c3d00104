"""The conditions of many queries as arrays, so that whole columns of them are looked at at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hedgerow.arrays import Floats, Ints
from hedgerow.schema.relations import CLASS

if TYPE_CHECKING:
    from hedgerow.schema.query import Intervals, Query

__all__ = ["CLASS", "Conditions", "Covered"]


@dataclass(frozen=True, eq=False)
class Covered:
    """The cells of a table that conditions cover, each [conditions, cells].

    Args:
        share: How far.
        inner: Those wholly covered.
        touched: Those covered at least in part.
    """

    share: Floats
    inner: NDArray[np.bool_]
    touched: NDArray[np.bool_]

    @property
    def cut(self) -> NDArray[np.bool_]:
        """The cells that are covered in part."""
        return self.touched & ~self.inner


@dataclass(frozen=True, kw_only=True, eq=False)
class Conditions:
    """The conditions of queries, one after the other; that on the class is the last of a query.

    Args:
        queries: How many queries there are.
        query: The query of each condition.
        place: Its attribute, or `CLASS`.
        begin: Where its intervals begin; one more than there are conditions.
        lows: The lower ends of intervals, in code units.
        highs: The upper ends.
    """

    queries: int
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
        several = [query.where + (_of_class(query) if with_class else ()) for query in queries]
        flat = list(each(several))
        ends = np.fromiter(each(each(intervals for _, intervals in flat)), np.float64)
        many = np.fromiter((len(intervals) for _, intervals in flat), np.int64, len(flat))
        return Conditions(
            queries=len(queries),
            query=np.repeat(np.arange(len(queries)), [len(one) for one in several]),
            place=np.fromiter((place for place, _ in flat), np.int64, len(flat)),
            begin=np.concatenate([[0], np.cumsum(many)]),
            lows=np.ascontiguousarray(ends[::2]),
            highs=np.ascontiguousarray(ends[1::2]),
        )

    @property
    def number(self) -> Ints:
        """How many conditions each query has."""
        return np.bincount(self.query, minlength=self.queries)

    @property
    def start(self) -> Ints:
        """Where the conditions of each query begin; one more than there are queries."""
        return np.concatenate([[0], np.cumsum(self.number)])

    def slice(self, first: int, last: int) -> Conditions:
        """The conditions of some neighbouring queries, as far as there are so many.

        Example:
            >>> from hedgerow.schema.query import Query
            >>> asked = Conditions.of([Query((), (1,)), Query(), Query(((0, ((0.0, 2.0),)),))])
            >>> asked.slice(1, 3).query.tolist(), asked.slice(1, 3).highs.tolist()
            ([1], [2.0])
        """
        last = min(last, self.queries)
        start, end = self.start[[first, last]]
        one, other = self.begin[[start, end]]
        return Conditions(
            queries=last - first,
            query=self.query[start:end] - first,
            place=self.place[start:end],
            begin=self.begin[start : end + 1] - one,
            lows=self.lows[one:other],
            highs=self.highs[one:other],
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
        found = np.zeros((len(chosen), *values.shape[1:]))
        some = np.flatnonzero(many)
        if len(some):
            found[some] = np.add.reduceat(values, (np.cumsum(many) - many)[some], axis=0)
        return found

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
            >>> found.inner.tolist(), found.touched.tolist(), found.cut.tolist()
            ([[False, True, False]], [[True, True, False]], [[True, False, False]])
        """
        low, high = edges[:-1].astype(np.float64), edges[1:].astype(np.float64)
        starts, stops = self.ends(chosen)
        inside = np.minimum(high, stops[:, None]) - np.maximum(low, starts[:, None])
        held = self.summed(chosen, np.maximum(0.0, inside))
        return Covered(held / (high - low), held >= high - low - 1e-9, held > 0)

    def cuts(self, chosen: Ints, edges: Ints) -> NDArray[np.bool_]:
        """Whether each of some conditions covers a cell in part: an interval ends inside it.

        Example:
            >>> from hedgerow.schema.query import Query
            >>> asked = Conditions.of([Query(((0, ((0.0, high),)),)) for high in (10.0, 12.5)])
            >>> asked.cuts(np.array([0, 1]), np.array([0, 10, 20])).tolist()
            [False, True]
        """
        ends = np.stack(self.ends(chosen), axis=1)
        next_edge = edges[np.minimum(np.searchsorted(edges, ends - 1e-9), len(edges) - 1)]
        inside = np.abs(next_edge - ends).max(axis=1, initial=0.0)
        return self.summed(chosen, inside) > 1e-9  # noqa: PLR2004


def _of_class(query: Query) -> tuple[tuple[int, Intervals], ...]:
    if query.classes is None:
        return ()
    return ((CLASS, tuple((float(code), float(code + 1)) for code in query.classes)),)
