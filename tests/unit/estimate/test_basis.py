from __future__ import annotations

import numpy as np

from hedgerow.estimate.basis import basis_of, counted_together
from hedgerow.estimate.intervals.candidates import Measured
from hedgerow.estimate.intervals.conditions import CLASS, Conditions
from hedgerow.estimate.intervals.tables import Tables
from hedgerow.schema import Query

FIRST, SECOND, THIRD, FOURTH = (((place, ((0.0, 1.0),)),) for place in range(4))
COUNTS = {0: np.ones(2), 1: np.ones(2), 2: np.ones(2), CLASS: np.ones(2)}
MEASURED = Measured(
    edges={place: np.arange(3) for place in COUNTS},
    single=Tables(counts=COUNTS, deviation=1.0, total=(2.0, 1.0)),
    groups={place: np.arange(3) for place in range(3)},
    pairs=Tables(counts={(2, 0): np.ones(4)}, deviation=1.0, total=(2.0, 1.0)),
    extra=Tables(counts={(2, 1): np.ones(4)}, deviation=1.0, total=(2.0, 1.0)),
)
QUERIES = {
    Query(): "measured",
    Query(FIRST): "measured",
    Query((), (1,)): "measured",
    Query(FIRST + THIRD): "measured",
    Query(SECOND + THIRD): "measured",
    Query(FIRST + SECOND): "modelled",
    Query(FIRST, (1,)): "modelled",
    Query(FIRST + THIRD, (0,)): "modelled",
    Query(FIRST + SECOND + THIRD): "modelled",
    Query(FOURTH): "not measured",
    Query(FIRST + FOURTH, (0,)): "not measured",
}


def test_the_basis_of_queries_with_marginals() -> None:
    asked = list(QUERIES)
    together = counted_together(MEASURED, Conditions.of(asked))
    assert basis_of(asked, together, {3}, "modelled").tolist() == list(QUERIES.values())
    # an attribute without a table, but divided by regions, is not unknown
    assert basis_of([Query(FOURTH)], np.array([False]), ()).tolist() == ["assumed even"]


def test_a_class_may_be_unknown_too() -> None:
    asked, together = [Query(FIRST, (0,)), Query(FIRST)], np.array([False, True])
    assert basis_of(asked, together, {CLASS}).tolist() == ["not measured", "measured"]


def test_parts_of_cells_are_modelled_and_unions_of_cells_are_measured() -> None:
    coarse, fine = np.array([0, 10, 20, 21]), np.array([10, 12, 20])
    measured = Measured(
        edges={0: coarse, 1: coarse},
        single=Tables(counts={0: np.ones(3), 1: np.ones(3)}, deviation=1.0, total=(3.0, 1.0)),
        parts={(0, 1): (fine, np.ones(2))},
        groups={0: np.array([0, 10, 21]), 1: np.array([0, 20, 21])},
        pairs=Tables(counts={(1, 0): np.ones(4)}, deviation=1.0, total=(3.0, 1.0)),
    )

    def asked(*conditions: tuple[int, tuple[tuple[float, float], ...]]) -> bool:
        return bool(counted_together(measured, Conditions.of([Query(conditions)]))[0])

    assert asked((0, ((0.0, 10.0),)))
    assert asked((0, ((0.0, 10.0), (20.0, 21.0))))
    assert asked((0, ((10.0, 12.0),)))  # recounted
    assert asked((0, ((0.0, 12.0),)))
    assert not asked((0, ((10.0, 13.0),)))
    assert not asked((0, ((0.0, 10.0), (11.0, 12.0))))
    assert not asked((0, ((20.0, 20.2),)))  # one value of a code that stands for several
    assert not asked((1, ((10.0, 12.0),)))  # the other attribute was not recounted
    assert asked((0, ((0.0, 10.0),)), (1, ((0.0, 20.0),)))
    assert not asked((0, ((0.0, 10.0),)), (1, ((0.0, 10.0),)))  # a cell, but not a group
    assert not asked((0, ((10.0, 12.0),)), (1, ((0.0, 20.0),)))
