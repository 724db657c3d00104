"""What an answer rests on: counts of just what was asked for, a model of other counts, or nothing.

- *measured*: just what the query asks for was counted, so that the noise of counts is all there is.
  With marginals these are everybody, and what is made of whole cells of one table, or of groups of
  cells where pairs are counted in these; by regions, queries that cut no region; of transactions,
  everybody, single items if long records count in full for them, and sets of items that were
  counted together.
- *modelled*: every attribute of the query was counted, but not all of them together, or not in
  parts as fine as the query's: the rest is a model's. Of generalised rows, all that cuts no row:
  people whose rows are suppressed are missing.
- *assumed even*: the same by regions alone, or by generalised rows: the query cuts some of them, in
  which records are assumed to lie evenly.
- *not measured*: the release says nothing about some attribute of the query. It has no table, and
  no region tells its values apart. The estimate takes them to be equally frequent.
- *ruled out*: a rule of the schema says that nobody meets the query, and nothing was looked up.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hedgerow.arrays import Bools
from hedgerow.estimate.intervals.conditions import CLASS

if TYPE_CHECKING:
    from hedgerow.schema.query import Query

__all__ = [
    "ASSUMED_EVEN",
    "MEASURED",
    "MODELLED",
    "NOT_MEASURED",
    "RULED_OUT",
    "basis_of",
]


MEASURED, MODELLED = "measured", "modelled"
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
