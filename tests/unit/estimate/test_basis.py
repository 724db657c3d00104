from __future__ import annotations

import numpy as np

from hedgerow.estimate.intervals import Bounds
from hedgerow.estimate.queries import basis_of
from hedgerow.estimate.tables import Cells, NoisyTable, Tables
from hedgerow.schema import CLASS, Query, Schema

SCHEMA = Schema.from_dict(
    {
        "name": "s",
        "unit": "row",
        "attributes": {
            **{name: {"type": "numeric", "low": 0, "high": 20} for name in "abcd"},
            "ill": {"type": "boolean", "role": "class"},
        },
    }
)
EDGES, GROUP = np.array([0, 10, 20, 21]), np.array([0, 1, 0])
CELLS = Cells(edges=(EDGES,) * 4, group=(GROUP,) * 4, classes=2)


def table(kind: str, *columns: int) -> NoisyTable:
    shape = CELLS.shape(columns, grouped=kind == "pairs")
    return NoisyTable(
        kind=kind, columns=columns, values=np.ones(shape, np.int64), variance=1.0, tail=1.0,
        law="laplace",
    )  # fmt: skip


BOUNDS = Bounds(
    Tables(
        schema=SCHEMA,
        cells=CELLS,
        tables=(
            *(table("by_class", a, 4) for a in range(3)),
            table("named", 0, 1),
            table("pairs", 2, 0),
        ),
        fine={
            (0, 1): (np.ones(10, np.int64), 1e-4),
            (1, 1): (np.ones(10, np.int64), 1.0),  # mostly noise, so nothing is told of parts
        },
        totals=((2.0, 1.0),),
    )
)
FIRST, SECOND, THIRD, FOURTH = (((place, ((0.0, 10.0),)),) for place in range(4))
GROUP_OF_FIRST, GROUP_OF_THIRD = (((place, ((0.0, 10.0), (20.0, 21.0))),) for place in (0, 2))
QUERIES = {
    Query(): "measured",
    Query(FIRST): "measured",
    Query((), (1,)): "measured",
    Query(FIRST, (1,)): "measured",
    Query(FIRST + SECOND): "measured",
    Query(GROUP_OF_FIRST + GROUP_OF_THIRD): "measured",
    Query(((0, ((12.0, 20.0),)),)): "measured",
    Query(((0, ((12.5, 20.0),)),)): "modeled",
    Query(((0, ((12.0, 20.0),)),), (1,)): "modeled",
    Query(((1, ((12.0, 20.0),)),)): "modeled",
    Query(FIRST + THIRD): "modeled",
    Query(SECOND + THIRD): "modeled",
    Query(FIRST + SECOND, (0,)): "modeled",
    Query(FIRST + SECOND + THIRD): "modeled",
    Query(FOURTH): "not measured",
    Query(FIRST + FOURTH, (0,)): "not measured",
}


def test_the_basis_of_queries_with_marginals() -> None:
    asked = list(QUERIES)
    together = BOUNDS.together(BOUNDS.compare(asked))
    assert basis_of(asked, together, {3}, "modeled").tolist() == list(QUERIES.values())
    # an attribute without a table, but divided by regions, is not unknown
    assert basis_of([Query(FOURTH)], np.array([False]), ()).tolist() == ["assumed even"]


def test_a_class_may_be_unknown_too() -> None:
    asked, together = [Query(FIRST, (0,)), Query(FIRST)], np.array([False, True])
    assert basis_of(asked, together, {CLASS}).tolist() == ["not measured", "measured"]
