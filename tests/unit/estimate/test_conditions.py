from __future__ import annotations

import numpy as np

from hedgerow.estimate.queries import Conditions
from hedgerow.schema import CLASS, Query

ASKED = Conditions.of([
    Query(((0, ((0.0, 1.0), (5.0, 20.0))), (2, ((1.0, 3.0),))), (0, 2)),
    Query(()),
    Query(((0, ((1.0, 10.0),)),)),
    Query(((0, ()),)),
])  # fmt: skip
EDGES = np.array([0, 1, 10, 20])


def test_conditions_of_queries() -> None:
    assert ASKED.start.tolist() == [0, 3, 3, 4, 5]
    assert ASKED.place.tolist() == [0, 2, CLASS, 0, 0]
    assert [found.tolist() for found in ASKED.ends(ASKED.on(CLASS))] == [[0.0, 2.0], [1.0, 3.0]]
    assert ASKED.summed(ASKED.on(0), np.array([1.0, 2.0, 5.0])).tolist() == [3.0, 5.0, 0.0]


def test_cells_that_are_covered() -> None:
    found = ASKED.cover(ASKED.on(0), EDGES)
    assert found.inner.tolist() == [[True, False, True], [False, True, False], [False] * 3]
    assert (found.touched & ~found.inner).tolist() == [
        [False, True, False],
        [False] * 3,
        [False] * 3,
    ]
    assert found.share[0, 1] == 5 / 9 and not found.touched[2].any()


def test_without_queries() -> None:
    nothing = Conditions.of([])
    assert nothing.start.tolist() == [0] and nothing.cover(nothing.on(0), EDGES).inner.size == 0
