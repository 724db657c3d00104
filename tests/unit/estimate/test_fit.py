from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from hedgerow.estimate.consistency import RULES, Fit
from hedgerow.estimate.measurements import Measurement
from hedgerow.estimate.partition import GridPartition, TreePartition

UNIT = Fraction(1, 10)
TREE = TreePartition.of(
    [
        (-1, 0, [0], [9]),
        (0, 0, [0], [6]),
        (0, -1, [6], [9]),
        (1, -1, [0], [1]),
        (1, -1, [1], [4]),
        (1, -1, [4], [6]),
    ]
)


def measurement(name, at, where, values, by_class, units):
    return Measurement(
        name=name,
        at=at,
        where=np.array(where),
        values=np.array(values),
        by_class=by_class,
        units=np.array(units),
        unit=UNIT,
    )


def dense(design, values, variance):
    precision = design.T @ (design / variance[:, None])
    covariance = np.linalg.inv(precision)
    return covariance @ (design.T @ (values / variance)), np.diag(covariance)


def test_classes_on_top_equal_dense_least_squares():
    """Class counts at every node, twice at the root, and the total: 4 leaves times 3 classes."""
    random = np.random.default_rng(0)
    count = measurement(
        "count", "node", range(6), random.integers(-5, 50, (6, 3)), True, [2, 3, 9, 5, 4, 1]
    )
    spare = measurement("spare", "node", [0], [[90, 20, 11]], True, [4])
    rows = measurement("rows", "node", [0], [[140]], False, [3])
    below = np.zeros((6, 4))  # nodes by regions
    below[0], below[1, :3] = 1, 1
    below[TREE.leaves, np.arange(4)] = 1
    by_class = np.kron(below, np.eye(3))
    design = np.concatenate([by_class, by_class[:3], np.ones((1, 12))])
    values = np.concatenate([m.values.ravel() for m in (count, spare, rows)])
    variance = np.concatenate(
        [np.repeat(count.variance, 3), np.repeat(spare.variance, 3), rows.variance]
    )
    expected, spread = dense(design, values, variance)
    found = Fit(TREE, [count, spare, rows], 3)
    assert found.cells.ravel() == pytest.approx(expected, rel=1e-9)
    assert np.repeat(found.variance, 3) == pytest.approx(spread, rel=1e-9)
    assert found.counts == pytest.approx((by_class @ expected).reshape(6, 3), rel=1e-9)


def test_a_dense_grid_is_a_root_with_all_cells_below():
    grid = GridPartition((np.array([0, 2, 5]), np.array([0, 1, 4])))
    leaf = measurement("leaf", "region", range(4), [[5, 1], [2, -3], [7, 7], [0, 2]], True, [4] * 4)
    rows = measurement("rows", "node", [0], [[40]], False, [2])
    design = np.concatenate([np.eye(8), np.ones((1, 8))])
    variance = np.append(np.repeat(leaf.variance, 2), rows.variance)
    expected, spread = dense(design, np.append(leaf.values.ravel(), 40.0), variance)
    found = Fit(grid, [rows, leaf], 2)
    assert found.cells.ravel() == pytest.approx(expected)
    assert np.repeat(found.variance, 2) == pytest.approx(spread)


@pytest.mark.parametrize("rule", list(RULES))
def test_every_rule_gives_counts_that_agree(rule):
    random = np.random.default_rng(1)
    count = measurement(
        "count", "node", range(6), random.integers(0, 50, (6, 2)), True, [2, 3, 9, 5, 4, 1]
    )
    found = Fit(TREE, [count], 2, rule)
    assert found.counts[1] == pytest.approx(found.counts[3:6].sum(axis=0))
    assert found.counts[0] == pytest.approx(found.counts[1] + found.counts[2])


def test_without_consistency_leaves_stay_as_measured(tree_release):
    leaf = tree_release.measurements[2]
    raw = replace(tree_release, settings={"consistency": "none"})
    assert raw.estimates.values == pytest.approx(leaf.values)
    assert raw.estimates.variance == pytest.approx(np.repeat(leaf.variance[:, None], 2, axis=1))
    assert not np.allclose(tree_release.estimates.values, leaf.values)


def test_totals_of_inner_nodes_that_fit_no_tree_are_left_aside():
    random = np.random.default_rng(2)
    count = measurement("count", "node", range(6), random.integers(0, 50, (6, 2)), True, [3] * 6)
    odd = measurement("allocate", "node", [1], [[999]], False, [3])
    alone, both = (Fit(TREE, some, 2) for some in ([count], [count, odd]))
    assert np.array_equal(alone.counts, both.counts)
