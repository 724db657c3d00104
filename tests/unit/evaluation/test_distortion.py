"""Discernibility and NCP equal what a few records give by hand."""

from __future__ import annotations

import numpy as np
import pytest

import hedgerow
from hedgerow.data import Table
from hedgerow.estimate.partition import GridPartition, TreePartition
from hedgerow.evaluation import discernibility, ncp
from hedgerow.schema import Schema

SCHEMA = Schema.from_dict(
    {
        "name": "small",
        "unit": "row",
        "attributes": {
            "age": {"type": "numeric", "low": 0, "high": 9, "step": 1},
            "job": {"type": "categorical", "taxonomy": {"P": ["a", "b"], "Q": ["c", "d"]}},
            "ill": {"type": "categorical", "values": ["no", "yes"], "role": "class"},
        },
    }
)
ROWS = Table(
    SCHEMA,
    np.array([[0, 0, 0], [4, 1, 1], [5, 0, 0], [9, 3, 1], [9, 2, 1]], dtype=np.uint16),
)


def grid(ages: list[int], jobs: list[int]) -> GridPartition:
    return GridPartition((np.array(ages), np.array(jobs)))


def test_one_region_is_the_worst():
    everything = grid([0, 10], [0, 4])
    assert discernibility(ROWS, everything) == 25
    assert ncp(ROWS, everything) == 1


def test_single_values_cost_nothing():
    exact = grid(list(range(11)), [0, 1, 2, 3, 4])
    assert discernibility(ROWS, exact) == 5
    assert ncp(ROWS, exact) == 0


def test_by_hand():
    # ages 0-4 and 5-9; jobs P as a group, c and d apart
    partition = grid([0, 5, 10], [0, 2, 3, 4])
    assert discernibility(ROWS, partition) == 4 + 1 + 1 + 1
    age, group = 5 / 10, 2 / 4
    assert ncp(ROWS, partition) == pytest.approx((3 * (age + group) + 2 * (age + 0)) / (5 * 2))


def test_trees_count_like_grids():
    tree = TreePartition(
        parent=np.array([-1, 0, 0], dtype=np.int32), depth=np.array([0, 1, 1], dtype=np.int16),
        split=np.array([0, -1, -1], dtype=np.int16),
        lo=np.array([[0, 0], [0, 0], [5, 0]], dtype=np.int32),
        hi=np.array([[10, 4], [5, 4], [10, 4]], dtype=np.int32),
    )  # fmt: skip
    same = grid([0, 5, 10], [0, 4])
    assert discernibility(ROWS, tree) == discernibility(ROWS, same) == 4 + 9
    assert ncp(ROWS, tree) == ncp(ROWS, same) == pytest.approx((0.5 + 1) / 2)


def test_a_finer_release_is_less_distorted():
    from hedgerow import sample

    people, schema = sample.people(800, seed=1), sample.schema()
    table = hedgerow.data.read(people, schema)
    coarse, fine = (
        hedgerow.publish(people, schema, hedgerow.DiffMulti(specializations=h), 5, seed=2)
        for h in (2, 60)
    )
    assert discernibility(table, fine.partition) < discernibility(table, coarse.partition)
    assert ncp(table, fine.partition) < ncp(table, coarse.partition)


def test_an_empty_table_has_no_penalty():
    nobody = Table(SCHEMA, np.zeros((0, 3), dtype=np.uint16))
    assert discernibility(nobody, grid([0, 10], [0, 4])) == 0
    assert ncp(nobody, grid([0, 10], [0, 4])) == 0
