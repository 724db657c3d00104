from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.estimate.consistency import (
    Levels,
    averaging_passes,
    leaf_passes,
    least_squares_passes,
)


def least_squares(parent, measured, variance):
    """The best consistent counts, and their variances."""
    passes = least_squares_passes(parent, variance)
    return passes.second(passes.first(measured)), passes.spread(variance).final


def averaging(parent, measured):
    """The averaging of CDiffGen's paper, every node measured."""
    passes = averaging_passes(parent, np.array([Fraction(1)] * len(measured), object))
    return passes.second(passes.first(measured))


VARIANCES = [Fraction(1, 3), Fraction(1), Fraction(5), Fraction(700)]


@st.composite
def trees(draw, most=14):
    """Parents of random trees: stars, chains, and all between; any order with parents first."""
    size = draw(st.integers(1, most))
    reach = draw(st.sampled_from([1, 3, most]))
    return [-1] + [draw(st.integers(max(0, node - reach), node - 1)) for node in range(1, size)]


@st.composite
def measured_trees(draw, leaves_too=False):
    parent = draw(trees())
    inner = set(parent)
    values = [Fraction(draw(st.integers(-30, 90))) for _ in parent]
    variances = [draw(st.sampled_from(VARIANCES)) for _ in parent]
    for node in range(len(parent)):
        if (node in inner or leaves_too) and draw(st.integers(0, 2)) == 0:
            variances[node] = math.inf
    return parent, values, variances


def descendants(parent):
    """For each node the leaves below it, as a 0/1 row per node."""
    inner = set(parent)
    leaves = [node for node in range(len(parent)) if node not in inner]
    rows = [[Fraction(0)] * len(leaves) for _ in parent]
    for column, leaf in enumerate(leaves):
        node = leaf
        while node >= 0:
            rows[node][column] = Fraction(1)
            node = parent[node]
    return rows


def solve(matrix, rhs):
    """Gauss and Jordan in fractions; rhs may have several columns."""
    size = len(matrix)
    work = [list(row) + list(more) for row, more in zip(matrix, rhs, strict=True)]
    for i in range(size):
        pivot = next(j for j in range(i, size) if work[j][i] != 0)
        work[i], work[pivot] = work[pivot], work[i]
        work[i] = [value / work[i][i] for value in work[i]]
        for j in range(size):
            if j != i and work[j][i]:
                work[j] = [a - work[j][i] * b for a, b in zip(work[j], work[i], strict=True)]
    return [row[size:] for row in work]


def dense(parent, values, variances):
    """The normal equations of the leaves, solved in fractions: counts and variances of nodes."""
    rows = descendants(parent)
    leaves = len(rows[0])
    used = [n for n in range(len(parent)) if variances[n] != math.inf]
    normal = [
        [sum(rows[n][i] * rows[n][j] / variances[n] for n in used) for j in range(leaves)]
        for i in range(leaves)
    ]
    unit = [[int(i == j) for j in range(leaves)] for i in range(leaves)]
    right = [
        [sum(rows[n][i] * values[n] / variances[n] for n in used), *unit[i]] for i in range(leaves)
    ]
    solved = solve(normal, right)
    best, covariance = [row[0] for row in solved], [row[1:] for row in solved]
    counts = [sum(r * b for r, b in zip(row, best, strict=True)) for row in rows]
    spread = [
        sum(row[i] * covariance[i][j] * row[j] for i in range(leaves) for j in range(leaves))
        for row in rows
    ]
    return counts, spread


def exact(values):
    return np.array(values, object)


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(measured_trees())
def test_two_passes_solve_the_normal_equations_exactly(tree):
    parent, values, variances = tree
    counts, spread = least_squares(np.array(parent), exact(values), exact(variances))
    expected, expected_spread = dense(parent, values, variances)
    assert list(counts) == expected
    assert list(spread) == expected_spread


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6))
def test_floats_agree_with_dense_least_squares(seed):
    """To 1e-9 of the largest number, for variances that differ by a factor of 10,000."""
    random = np.random.default_rng(seed)
    size = int(random.integers(2, 200))
    reach = int(random.choice([1, 4, size]))
    parent = np.array([-1, *(random.integers(max(0, n - reach), n) for n in range(1, size))])
    leaf = np.bincount(parent[1:], minlength=size) == 0
    variance = 10 ** random.uniform(-2, 2, size)
    variance[~leaf & (random.random(size) < 0.4)] = np.inf
    values = random.normal(0, 100, (size, 2))
    rows = np.zeros((size, size))
    for node in np.flatnonzero(leaf):
        above = node
        while above >= 0:
            rows[above, node] = 1
            above = parent[above]
    rows = rows[:, leaf]
    used = np.isfinite(variance)
    scale = 1 / np.sqrt(variance[used])
    best, *_ = np.linalg.lstsq(
        rows[used] * scale[:, None], values[used] * scale[:, None], rcond=None
    )
    inverse = np.linalg.inv((rows[used] / variance[used, None]).T @ rows[used])
    counts, spread = least_squares(parent, values, variance)
    assert np.abs(counts - rows @ best).max() <= 1e-9 * np.abs(values).max()
    assert spread == pytest.approx(np.einsum("ij,jk,ik->i", rows, inverse, rows), rel=1e-9)


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(measured_trees(leaves_too=True))
def test_unmeasured_leaves_get_what_is_left(tree):
    parent, values, variances = tree
    counts, spread = least_squares(np.array(parent), exact(values), exact(variances))
    children: dict[int, list[int]] = {}
    for node, above in enumerate(parent):
        children.setdefault(above, []).append(node)
    for node, below in children.items():
        if node >= 0:
            assert counts[node] == sum(counts[child] for child in below)
    # what can be told at all is told best: tell the rest with next to no weight
    loose = [Fraction(10**12) if v == math.inf and n not in children else v
             for n, v in enumerate(variances)]  # fmt: skip
    zero = [v if variances[n] != math.inf else Fraction(0) for n, v in enumerate(values)]
    expected, expected_spread = dense(parent, zero, loose)
    for node in range(len(parent)):
        told = expected_spread[node] < 10**9
        assert told == (spread[node] != math.inf)
        if told:
            assert float(counts[node]) == pytest.approx(float(expected[node]), abs=1e-4)
            assert float(spread[node]) == pytest.approx(float(expected_spread[node]), rel=1e-4)


def test_siblings_that_nobody_measured_share_evenly():
    parent = np.array([-1, 0, 0, 0])
    counts, spread = least_squares(
        parent, np.array([10.0, 4.0, 0.0, 0.0]), np.array([1.0, 1.0, np.inf, np.inf])
    )
    assert counts.tolist() == [10.0, 4.0, 3.0, 3.0]
    assert spread.tolist() == [1.0, 1.0, math.inf, math.inf]


@settings(max_examples=80, deadline=None)
@given(measured_trees(), st.sampled_from([least_squares_passes, averaging_passes, leaf_passes]))
def test_spread_is_the_variance_of_what_the_passes_compute(tree, rule):
    """Counts are linear in the measurements: unit measurements give every coefficient."""
    parent, _, variances = (np.array(part, object) for part in tree)
    parent = parent.astype(np.int64)
    passes = rule(parent, variances)
    unit = exact([[Fraction(int(i == j)) for j in range(len(parent))] for i in range(len(parent))])
    coefficients = passes.second(passes.first(unit))
    known = variances != math.inf
    assert all(coefficients[:, ~known].ravel() == 0)
    expected = (coefficients[:, known] ** 2 * variances[known]).sum(axis=1)
    assert list(passes.spread(variances).final) == list(expected)


@settings(max_examples=80, deadline=None)
@given(trees(), st.data())
def test_averaging_follows_the_repaired_algorithm(parent, data):
    values = [Fraction(data.draw(st.integers(-20, 60))) for _ in parent]
    children = [
        [c for c, above in enumerate(parent) if above == node] for node in range(len(parent))
    ]

    def size(node):
        return 1 + sum(size(child) for child in children[node])

    def leaves(node):
        return sum(leaves(child) for child in children[node]) if children[node] else 1

    first = list(values)
    for node in reversed(range(len(parent))):
        if children[node]:
            summed = sum(first[child] for child in children[node])
            first[node] = (
                leaves(node) * values[node] + (size(node) - leaves(node)) * summed
            ) / size(node)
    final = list(first)
    for node in range(1, len(parent)):
        beside = children[parent[node]]
        apart = final[parent[node]] - sum(first[child] for child in beside)
        final[node] = first[node] + apart / len(beside)
    assert list(averaging(np.array(parent), exact(values))) == final


def test_averaging_is_least_squares_on_a_full_tree_and_nowhere_else():
    full = np.array([-1, 0, 0, 1, 1, 2, 2])
    values = exact([Fraction(v) for v in (20, 8, 13, 3, 4, 9, 2)])
    one = exact([Fraction(1)] * 7)
    assert list(averaging(full, values)) == list(least_squares(full, values, one)[0])
    uneven = np.array([-1, 0, 0, 1, 1])  # a leaf beside a node with two leaves: 5/8, not 3/5
    got = least_squares(uneven, values[:5], one[:5])[0]
    assert least_squares_passes(uneven, one[:5]).own[0] == Fraction(5, 8)
    assert averaging_passes(uneven, one[:5]).own[0] == Fraction(3, 5)
    assert list(averaging(uneven, values[:5])) != list(got)


@given(trees(most=40))
def test_levels_follow_the_depth(parent):
    levels = Levels(np.array(parent))
    depth = []
    for above in parent:
        depth.append(0 if above < 0 else depth[above] + 1)
    assert sorted(np.concatenate(levels.nodes).tolist()) == list(range(len(parent)))
    for level, nodes in enumerate(levels.nodes):
        assert {depth[node] for node in nodes} == {level}
    for level in range(1, len(levels.nodes)):
        above = levels.nodes[level - 1][levels.up[level]]
        assert above.tolist() == [parent[node] for node in levels.nodes[level]]
    ones = np.ones(len(parent))
    inner = set(parent)
    assert levels.gathered(ones)[0] == sum(node not in inner for node in range(len(parent)))


def test_a_parent_behind_its_child_is_our_own_bug():
    with pytest.raises(ValueError, match="before"):
        _ = Levels(np.array([-1, 5, 5])).nodes
