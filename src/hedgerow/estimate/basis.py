"""What an answer rests on: counts of just what was asked for, a model of other counts, or nothing.

- *measured*: just what the query asks for was counted, so that the noise of counts is all there is.
  With marginals these are everybody, and what is made of whole cells: of one attribute's table or
  the class's, or of a pair's; by regions alone, queries that cut no region; of transactions,
  everybody, single items if long records count in full for them, and sets of items that were
  counted together.
- *modelled*: every attribute of the query was counted, but not all of them together, or not in
  parts as fine as the query's: the rest is a model's. Of generalised rows, all that cuts no row:
  people whose rows are suppressed are missing.
- *assumed even*: the same by regions alone, or by generalised rows: the query cuts some of them, in
  which records are assumed to lie evenly.
- *not measured*: the release says nothing about some attribute of the query. It has no table, and
  no region tells its values apart. The estimate takes them to be equally frequent.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hedgerow.arrays import Bools, Ints
from hedgerow.estimate.intervals.candidates import Measured, both_of
from hedgerow.estimate.intervals.conditions import CLASS, Conditions

if TYPE_CHECKING:
    from hedgerow.schema.query import Query

__all__ = [
    "ASSUMED_EVEN",
    "MEASURED",
    "MODELLED",
    "NOT_MEASURED",
    "basis_of",
    "cell_edges",
    "counted_together",
]


MEASURED, MODELLED = "measured", "modelled"
ASSUMED_EVEN, NOT_MEASURED = "assumed even", "not measured"
PAIR = 2


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


def counted_together(measured: Measured, asked: Conditions) -> Bools:
    """Whether what each query asks for is a union of cells of one table, with marginals.

    Args:
        measured: The tables.
        asked: The conditions of the queries.
    """
    number = asked.number
    together: Bools = number == 0
    alone = number[asked.query] == 1
    for place in measured.edges:
        here = np.flatnonzero((asked.place == place) & alone)
        together[asked.query[here]] = ~asked.cuts(here, cell_edges(measured, place))
    for pair in measured.two_way:
        query, *both = both_of(asked, pair)
        cut = [asked.cuts(one, measured.groups[at]) for one, at in zip(both, pair, strict=True)]
        here = number[query] == PAIR
        together[query[here]] = ~(cut[0] | cut[1])[here]
    return together


def cell_edges(measured: Measured, place: int) -> Ints:
    """The edges of all cells in which an attribute was counted, parts that were recounted too."""
    parts = [edges for (where, _), (edges, _) in measured.parts.items() if where == place]
    return np.unique(np.concatenate([measured.edges[place], *parts]))
