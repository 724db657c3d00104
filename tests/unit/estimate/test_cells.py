from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.estimate.cells import (
    estimate_cells,
    noisy_total,
    project,
    round_to_total,
    whole_counts,
)
from hedgerow.estimate.measurements import Measurement
from hedgerow.estimate.partition import GridPartition, TreePartition

numbers = st.integers(-50, 50).map(float)
weights = st.sampled_from([0.25, 1.0, 2.0, 8.0])
pairs = st.lists(st.tuples(numbers, weights), min_size=1, max_size=8)


def brute_projection(x, v, total):
    """Tries every set of numbers that stay above zero; the best feasible one is the answer."""
    best, best_loss = None, math.inf
    for mask in range(1, 2 ** len(x)):
        kept = np.array([mask >> i & 1 for i in range(len(x))], bool)
        level = (x[kept].sum() - total) / v[kept].sum()
        q = np.where(kept, x - v * level, 0.0)
        if (q >= -1e-9).all():
            loss = float((((q - x) ** 2) / v).sum())
            if loss < best_loss:
                best, best_loss = q, loss
    return best


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(pairs, st.integers(0, 120))
def test_projection_equals_brute_force(cells, total):
    x, v = (np.array(column) for column in zip(*cells, strict=True))
    got = project(x, v, total)
    assert got.min() >= 0
    assert got.sum() == pytest.approx(total, abs=1e-6)
    assert got == pytest.approx(brute_projection(x, v, total), abs=1e-6)


def test_cells_without_variance_stay():
    got = project(np.array([[0.0, 5.0], [3.0, 0.0]]), np.array([[0.0, 1.0], [1.0, 0.0]]), 10)
    assert got.tolist() == [[0.0, 6.0], [4.0, 0.0]]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.floats(0, 1000), min_size=1, max_size=30))
def test_rounding_keeps_the_sum_and_moves_nothing_by_one_or_more(values):
    x = np.array(values)
    total = round(x.sum())
    if total == 0:
        x = np.zeros_like(x)
    elif x.sum():
        x = x * (total / x.sum())
    got = round_to_total(x, total)
    assert got.sum() == total
    assert (got >= 0).all()
    assert (np.abs(got - x) < 1 + 1e-6).all()


def test_ties_go_to_the_earlier_cell():
    assert round_to_total(np.array([0.5, 0.5, 0.5, 0.5]), 2).tolist() == [1, 1, 0, 0]


def test_rounding_survives_sums_that_are_off():
    assert round_to_total(np.array([1.0, 2.0]), 8).tolist() == [4, 4]
    assert round_to_total(np.array([1.0, 2.0, 4.0]), 3).tolist() == [1, 2, 0]


def test_variance_is_that_of_the_discrete_laplace_law():
    for epsilon in (Fraction(1, 10), Fraction(1), Fraction(5)):
        a = math.exp(-epsilon)
        law = [(1 - a) / (1 + a) * a ** abs(z) for z in range(-2000, 2001)]
        expected = sum(p * z * z for p, z in zip(law, range(-2000, 2001), strict=True))
        one = np.ones(1, np.int64)
        got = Measurement(
            name="x",
            at="region",
            where=one * 0,
            values=one[:, None],
            by_class=False,
            units=one,
            unit=epsilon,
        ).variance
        assert got[0] == pytest.approx(expected, rel=1e-6)


def test_huge_epsilon_has_a_variance_that_still_divides():
    one = np.ones(1, np.int64)
    variance = Measurement(
        name="x",
        at="region",
        where=one,
        values=one[:, None],
        by_class=False,
        units=one,
        unit=Fraction(9999),
    ).variance
    assert 0 < variance[0] < 1e-9


def test_two_measurements_of_a_cell_are_weighed_by_their_precision(grid_release):
    leaf = grid_release.measurements[0]
    more = replace(leaf, values=leaf.values + 10, units=leaf.units * 2)
    cells = estimate_cells(grid_release.partition, [leaf, more], 2)
    v1, v2 = leaf.variance[0], more.variance[0]
    shift = 10 * (1 / v2) / (1 / v1 + 1 / v2)
    assert cells.values == pytest.approx(leaf.values + shift)
    assert cells.variance == pytest.approx(np.full((4, 2), 1 / (1 / v1 + 1 / v2)))


def test_counts_at_leaf_nodes_are_counts_of_regions(tree_release):
    leaf = tree_release.measurements[2]
    at_nodes = replace(leaf, at="node", where=tree_release.partition.leaves[leaf.where])
    release = replace(tree_release, measurements=(*tree_release.measurements[:2], at_nodes))
    assert np.array_equal(release.counts, tree_release.counts)


def test_the_total_is_the_best_of_all_measurements(tree_release):
    """Rows, allocated totals and classes of leaves, against dense least squares."""
    rows, allocate, leaf = tree_release.measurements
    # unknowns: the classes of the three leaves; one row per measurement
    older, everyone = [0, 0, 1, 1, 1, 1], [1] * 6
    design = np.array([everyone, [1, 1, 0, 0, 0, 0], older, *np.eye(6)])
    measured = np.concatenate([m.values.ravel() for m in (rows, allocate, leaf)])
    noise = np.concatenate([rows.variance, allocate.variance, np.repeat(leaf.variance, 2)])
    precision = design.T @ (design / noise[:, None])
    expected = np.linalg.solve(precision, design.T @ (measured / noise))
    cells = tree_release.estimates
    assert cells.values.ravel() == pytest.approx(expected)
    assert cells.variance.ravel() == pytest.approx(np.diag(np.linalg.inv(precision)))
    assert noisy_total(cells) == pytest.approx(expected.sum())
    assert tree_release.counts.sum() == round(expected.sum())
    assert (tree_release.counts >= 0).all()


def test_a_second_count_of_the_root_joins_the_total(tree_release, sparse_release):
    rows = tree_release.measurements[0]
    spare = replace(rows, name="spare", values=rows.values + 20)
    for release in (tree_release, sparse_release):
        other = [m for m in release.measurements if m.name == "leaf"]
        alone = replace(release, measurements=(*other, rows)).counts.sum()
        both = replace(release, measurements=(*other, rows, spare)).counts.sum()
        assert both > alone
    assert both == 51  # nothing else counts the whole of a sparse release


def test_a_count_of_a_root_that_is_the_only_region_is_used_once():
    tree = TreePartition.of([(-1, -1, [0], [4])])
    one = np.array([1])
    leaf = Measurement(
        name="leaf",
        at="node",
        where=one * 0,
        values=np.array([[10]]),
        by_class=False,
        units=one,
        unit=Fraction(1),
    )
    rows = replace(leaf, name="rows", values=np.array([[20]]))
    assert whole_counts(estimate_cells(tree, [leaf, rows], 1)).tolist() == [[15]]


def test_without_a_measured_total_the_sum_is_that_of_the_leaves(grid_release):
    assert grid_release.counts.sum() == 21
    assert (grid_release.counts >= 0).all()


def test_a_table_that_looks_empty_counts_nobody(grid_release):
    leaf = grid_release.measurements[0]
    gone = replace(grid_release, measurements=(replace(leaf, values=leaf.values - 50),))
    assert not gone.counts.any()


def test_clipping_would_have_inflated_the_total():
    """Noise around empty cells: the total stays near the truth, which is 0."""
    random = np.random.default_rng(0)
    k = 10_000
    noise = random.geometric(0.1, (k, 2)) - random.geometric(0.1, (k, 2))
    leaf = Measurement(
        name="leaf",
        at="region",
        where=np.arange(k),
        values=noise,
        by_class=True,
        units=np.ones(k, int),
        unit=Fraction(1, 9),
    )
    grid = GridPartition((np.arange(k + 1, dtype=np.int32),))
    counts = whole_counts(estimate_cells(grid, [leaf], 2))
    assert counts.sum() == max(0, noise.sum())
    assert np.maximum(noise, 0).sum() > 50 * max(counts.sum(), 1)


def test_sparse_cells_are_kept_as_they_are_and_others_are_nobody(sparse_release):
    assert sparse_release.regions.tolist() == [0, 2]
    assert sparse_release.counts.tolist() == [[5, 0], [0, 7]]


def test_sparse_cells_add_up_to_a_measured_total(sparse_release, tree_release):
    rows = tree_release.measurements[0]
    release = replace(sparse_release, measurements=(rows, *sparse_release.measurements))
    assert release.counts.sum() == 41
    assert release.counts[0, 1] == release.counts[1, 0] == 0


def test_a_sparse_release_may_list_nothing(sparse_release, tree_release):
    none = np.empty(0, np.int64)
    leaf = replace(
        sparse_release.measurements[0],
        where=none,
        values=none.reshape(0, 1),
        units=none,
        klass=none,
    )
    for measurements in ((leaf,), (tree_release.measurements[0], leaf)):
        release = replace(sparse_release, measurements=measurements)
        assert release.counts.shape == (0, 2)
        assert release.generalized("arrow").num_rows == 0
        assert release.synthesize(kind="arrow").num_rows == 0


@pytest.mark.parametrize(
    "change",
    [
        {"values": np.array([[1, 2]])},
        {"values": np.array([1])},
        {"units": np.array([0])},
        {"unit": Fraction(0)},
        {"klass": np.array([0, 1])},
        {"where": np.array([0, 1])},
    ],
)
def test_a_malformed_measurement_is_refused(change):
    good = Measurement(
        name="rows",
        at="node",
        where=np.array([0]),
        values=np.array([[1]]),
        by_class=False,
        units=np.array([1]),
        unit=Fraction(1),
    )
    with pytest.raises(ValueError, match="rows"):
        replace(good, **change)
