"""Rules that choose settings from public facts."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.publish.diffmulti import MOST_DEPTH, MOST_SPECIALISATIONS
from hedgerow.publish.planning.rules import grid_size, tree_size

EPSILONS = st.fractions(min_value=Fraction(1, 10**6), max_value=100, max_denominator=10**6)


@given(EPSILONS, st.integers(0, 10**12))
@settings(derandomize=True)
def test_rules_always_give_settings_that_are_allowed(epsilon: Fraction, rows: int) -> None:
    size, depth = tree_size(epsilon, rows)
    assert 1 <= size <= MOST_SPECIALISATIONS
    assert 1 <= depth <= MOST_DEPTH
    assert 2**depth > size  # or the depth cap would make the size a lie
    assert 1 <= grid_size(epsilon, rows) <= 64


@given(EPSILONS, st.integers(0, 10**9), st.integers(1, 10**9))
@settings(derandomize=True)
def test_more_rows_never_make_a_smaller_tree(epsilon: Fraction, rows: int, more: int) -> None:
    assert tree_size(epsilon, rows) <= tree_size(epsilon, rows + more)
    assert grid_size(epsilon, rows) <= grid_size(epsilon, rows + more)


def test_what_was_set_by_hand_stays() -> None:
    assert tree_size(Fraction(1), 10**6, size=7, depth=3) == (7, 3)
    assert tree_size(Fraction(1), 10**6, depth=3)[1] == 3
    assert tree_size(Fraction(1), 10**6, size=7)[0] == 7
    assert grid_size(Fraction(1), 10**6, 5) == 5


@pytest.mark.parametrize("rows", [10_000, 1_000_000])
def test_the_depth_leaves_room_for_uneven_data(rows: int) -> None:
    size, depth = tree_size(Fraction(1), rows)
    assert math.log2(size) < depth <= 2 * math.log2(size) + 2


def test_the_sizes_of_trees() -> None:
    """200 records a specialisation beyond the first 400, at epsilon 1."""
    rows = (0, 599, 600, 799, 800, 1000, 5000, 10**5, 10**9)
    expected = [
        (1, 1), (1, 1), (1, 1), (1, 1), (2, 2), (3, 3), (23, 6), (498, 11), (1_000_000, 24),
    ]  # fmt: skip
    assert [tree_size(Fraction(1), number) for number in rows] == expected
    assert [tree_size(Fraction(1, 10), 10 * number) for number in rows] == expected
    by_classes = [tree_size(Fraction(1), 0, classes=classes) for classes in (1, 2, 3, 9)]
    assert by_classes == [(1, 1), (1, 1), (2, 2), (8, 4)]
    depths = [tree_size(Fraction(1), 0, size=size)[1] for size in (1, 2, 3, 4, 10, 100, 1000)]
    assert depths == [1, 2, 3, 3, 5, 8, 12]


def test_the_sizes_of_grids() -> None:
    """A region holds about 200 records, at epsilon 1."""
    rows = (0, 200, 201, 400, 401, 10**4, 10**9, 10**30)
    assert [grid_size(Fraction(1), n) for n in rows] == [1, 1, 1, 1, 2, 6, 23, 64]
    by_classes = [grid_size(Fraction(1), 0, classes=number) for number in (0, 1, 2, 3, 4, 5, 9)]
    assert by_classes == [1, 1, 1, 2, 2, 3, 4]
