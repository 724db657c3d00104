"""What an answer rests on: counts of just what was asked for, a model of other counts, or nothing.

- *measured*: the attributes of the query were counted together, so that the noise of counts is all
  there is but for the edges of cells. With marginals these are everybody, one attribute or the
  class with a table, and two attributes whose pair has one; by regions alone, queries that cut no
  region.
- *modelled*: every attribute of the query was counted, but not all of them together, or not in
  parts as fine as the query's: the rest is a model's.
- *not measured*: the release says nothing about some attribute of the query. It has no table, and
  no region tells its values apart. The estimate takes them to be equally frequent.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hedgerow.arrays import Bools
from hedgerow.estimate.intervals.candidates import Measured, both_of
from hedgerow.estimate.intervals.conditions import CLASS, Conditions

if TYPE_CHECKING:
    from hedgerow.schema.query import Query

__all__ = ["MEASURED", "MODELLED", "NOT_MEASURED", "basis_of", "counted_together"]


MEASURED, MODELLED, NOT_MEASURED = "measured", "modelled", "not measured"


def basis_of(
    queries: Sequence[Query], together: Bools, unmeasured: Collection[int]
) -> NDArray[np.str_]:
    """The basis of each query.

    Args:
        queries: The queries.
        together: Whether just what each asks for was counted.
        unmeasured: The attributes that the release says nothing about, or `CLASS`.

    Example:
        >>> from hedgerow.schema.query import Query
        >>> asked = [Query(), Query(((0, ((0.0, 1.0),)),)), Query(((1, ((0.0, 1.0),)),))]
        >>> basis_of(asked, np.array([True, False, False]), {1}).tolist()
        ['measured', 'modelled', 'not measured']
    """
    unknown = [
        bool(unmeasured)
        and (
            any(place in unmeasured for place, _ in query.where)
            or (query.classes is not None and CLASS in unmeasured)
        )
        for query in queries
    ]
    return np.where(unknown, NOT_MEASURED, np.where(together, MEASURED, MODELLED))


def counted_together(measured: Measured, queries: Sequence[Query]) -> Bools:
    """Whether the tables of a release with marginals count just the attributes of each query.

    Args:
        measured: The tables.
        queries: The queries.
    """
    asked = Conditions.of(queries)
    number = asked.number
    together: Bools = number == 0
    listed = np.isin(asked.place, list(measured.edges))
    together[asked.query[listed & (number[asked.query] == 1)]] = True
    for pair in measured.two_way:
        query, _, _ = both_of(asked, pair)
        together[query[number[query] == 2]] = True
    return together
