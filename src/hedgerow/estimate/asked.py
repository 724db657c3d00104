"""Count queries as they are asked: read, checked and grouped."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from hedgerow.arrays import Ints
from hedgerow.errors import UsageError
from hedgerow.schema import Schema

if TYPE_CHECKING:
    from hedgerow.schema.query import Query

__all__ = ["check_level", "grouped", "read_many"]


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


def grouped(queries: Sequence[Query], key: Callable[[Query], Any]) -> dict[Any, Ints]:
    """The places of queries that agree in something."""
    groups: dict[Any, list[int]] = {}
    for place, query in enumerate(queries):
        groups.setdefault(key(query), []).append(place)
    return {value: np.array(places) for value, places in groups.items()}
