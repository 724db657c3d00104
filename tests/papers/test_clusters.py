"""Match points equal those of the full matrices, and clusters are found where they are."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from hedgerow.data import Table
from hedgerow.errors import UsageError
from hedgerow.estimate.partition import GridPartition
from hedgerow.schema import Schema
from papers.clusters import cluster_records, cluster_regions, cpu_seconds, match_point

pytest.importorskip("sklearn")

SCHEMA = Schema.from_dict(
    {
        "name": "small",
        "unit": "row",
        "attributes": {
            "age": {"type": "numeric", "low": 0, "high": 99, "step": 1},
            "job": {"type": "categorical", "values": ["a", "b", "c"]},
        },
    }
)


def two_crowds() -> Table:
    source = np.random.default_rng(2)
    young = np.stack([source.integers(0, 20, 60), np.zeros(60, int), np.zeros(60, int)], axis=1)
    old = np.stack([source.integers(80, 100, 40), np.full(40, 2), np.zeros(40, int)], axis=1)
    return Table(SCHEMA, np.concatenate([young, old]).astype(np.uint16))


def test_match_point_is_the_share_of_equal_cells():
    source = np.random.default_rng(1)
    for _ in range(20):
        one, other = source.integers(0, 3, (2, 17))
        first = one[:, None] == one[None, :]
        second = other[:, None] == other[None, :]
        assert match_point(one, other) == pytest.approx((first == second).mean())


def test_names_of_clusters_do_not_matter():
    one = np.array([0, 0, 1, 2])
    assert match_point(one, np.array([7, 7, 3, 5])) == 1


def test_both_clusterings_are_of_the_same_records():
    with pytest.raises(UsageError):
        match_point(np.array([0]), np.array([0, 1]))


def test_crowds_are_found_in_records_and_in_regions():
    table = two_crowds()
    raw = cluster_records(table)
    assert match_point(raw, np.repeat([0, 1], [60, 40])) == 1
    halves = GridPartition((np.array([0, 50, 100]), np.array([0, 3])))
    assert match_point(raw, cluster_regions(table, halves)) == 1
    nothing = GridPartition((np.array([0, 100]), np.array([0, 3])))
    together = cluster_regions(table, nothing)
    assert match_point(raw, together) == pytest.approx((60**2 + 40**2) / 100**2)


def test_a_missing_library_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.cluster", None)
    with pytest.raises(UsageError, match=r"hedgerow\[evaluate\]"):
        cluster_records(two_crowds())


def test_the_shortest_of_several_runs_counts() -> None:
    calls: list[int] = []
    result, seconds = cpu_seconds(lambda: calls.append(1) or len(calls), repeats=3)
    assert result == 3
    assert seconds >= 0
