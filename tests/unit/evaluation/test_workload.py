"""Workloads are random range counts, and errors are told as they are."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from hedgerow.data import Table
from hedgerow.errors import UsageError
from hedgerow.estimate.measurements import Measurement
from hedgerow.estimate.partition import GridPartition
from hedgerow.evaluation import (
    NOT_PRIVATE,
    error_table,
    exact_counts,
    random_conjunctions,
    random_queries,
)
from hedgerow.release import Release, TableRelease
from hedgerow.schema import Schema
from hedgerow.schema.query import Query

SCHEMA = Schema.from_dict(
    {
        "name": "small",
        "unit": "row",
        "attributes": {
            "age": {"type": "numeric", "low": 0, "high": 9, "step": 1},
            "job": {"type": "categorical", "taxonomy": {"P": ["a", "b"], "Q": ["c", "d", "e"]}},
            "ill": {"type": "categorical", "values": ["no", "yes"], "role": "class"},
        },
    }
)


def table(rows: int = 200) -> Table:
    source = np.random.default_rng(5)
    columns = [source.integers(0, size, rows) for size in (10, 5, 2)]
    return Table(SCHEMA, np.stack(columns, axis=1).astype(np.uint16))


def test_queries_are_as_asked_for_and_repeat_with_their_seed():
    queries = random_queries(SCHEMA, 50, attributes=2, selectivity=0.25, seed=1, with_class=True)
    assert queries == random_queries(SCHEMA, 50, 2, 0.25, seed=1, with_class=True)
    assert queries != random_queries(SCHEMA, 50, 2, 0.25, seed=2, with_class=True)
    spans = {tuple(map(float, span)) for span in SCHEMA.attributes[1].taxonomy.spans[1:]}
    for query in queries:
        (age, ((low, high),)), (job, (part,)) = query.where
        assert (age, job) == (0, 1)
        assert 0 <= low < high <= 10 and high - low == 5
        assert part in spans
        assert query.classes in ((0,), (1,))


@pytest.mark.parametrize(("attributes", "selectivity"), [(0, 0.1), (3, 0.1), (1, 0), (1, 1.5)])
def test_impossible_workloads_are_refused(attributes, selectivity):
    with pytest.raises(UsageError):
        random_queries(SCHEMA, 1, attributes, selectivity)


def test_exact_counts_equal_counting_by_hand():
    private = table()
    rows = private.codes.tolist()
    for query in random_queries(SCHEMA, 40, 2, 0.3, seed=3, with_class=True):
        (_, ((a, b),)), (_, ((c, d),)) = query.where
        (klass,) = query.classes
        by_hand = sum(a <= age < b and c <= job < d and ill == klass for age, job, ill in rows)
        assert exact_counts(private, [query]).tolist() == [by_hand]
    assert exact_counts(private, [Query()]).tolist() == [len(rows)]


def release(counts: list[list[int]]) -> Release:
    edges = (np.array([0, 5, 10]), np.array([0, 5]))
    leaf = Measurement(
        name="leaf",
        at="region",
        where=np.arange(2),
        values=np.array(counts),
        by_class=True,
        units=np.full(2, 1),
        unit=Fraction(1),
    )
    return TableRelease(
        schema=SCHEMA,
        method="diffgen",
        settings={},
        guarantee={"epsilon": "1"},
        ledger={},
        partition=GridPartition(edges),
        measurements=(leaf,),
    )


def test_errors_are_those_of_the_answers():
    private = table()
    young = np.count_nonzero(private.codes[:, 0] < 5)
    off_by_ten = release([[int(young) + 10, 0], [200 - int(young), 0]])
    queries = [Query(((0, ((0.0, 5.0),)),)), Query(((0, ((5.0, 10.0),)),)), Query()]
    found = error_table(private, off_by_ten, queries)
    assert found.attributes == (0, 1) and found.queries == (1, 2)
    assert found.absolute == pytest.approx((10, 5))
    assert found.relative == pytest.approx((10 / 200, 10 / young / 2))
    assert found.sanity == 1.0
    assert found.text().startswith(NOT_PRIVATE) and "NOT PRIVATE" in NOT_PRIVATE


def test_the_sanity_bound_tames_queries_that_nobody_meets():
    nobody = Table(SCHEMA, np.zeros((100, 3), dtype=np.uint16))
    asked = [Query(((0, ((5.0, 10.0),)),))]
    answered = release([[100, 0], [5, 0]])
    assert error_table(nobody, answered, asked, sanity=0.1).relative == pytest.approx((0.5,))
    assert error_table(nobody, answered, asked, sanity=0.01).relative == pytest.approx((5.0,))


def test_conjunctions_are_as_asked_for():
    queries = random_conjunctions(SCHEMA, 200, (1, 2), seed=1)
    assert queries == random_conjunctions(SCHEMA, 200, (1, 2), seed=1)
    assert {len(query.where) for query in queries} == {1, 2}
    sets = set()
    for query in queries:
        for a, intervals in query.where:
            assert all(0 <= low < high <= (10, 5)[a] for low, high in intervals)
            if a == 1:
                sets.add(intervals)
    assert len(sets) == 31  # every set of five values but the empty one
    with pytest.raises(UsageError):
        random_conjunctions(SCHEMA, 1, (2, 3))
