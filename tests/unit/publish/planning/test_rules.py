"""Rules that choose settings from public facts."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.estimate.itemsets.sizes import SizeCurve
from hedgerow.publish.diffmulti import MOST_DEPTH, MOST_SPECIALISATIONS
from hedgerow.publish.planning.rules import (
    REST_EDGES,
    core_size,
    grid_size,
    item_cap,
    size_edges,
    support_cap,
    tree_size,
)

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


def test_bins_of_sizes() -> None:
    assert size_edges(300).tolist() == [
        1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32, 48, 64, 128
    ]  # fmt: skip
    assert [size_edges(most).tolist() for most in (1, 3, 9)] == [
        [1], [1, 2, 3], [1, 2, 3, 4, 5, 6, 7, 8],
    ]  # fmt: skip
    assert REST_EDGES == (0, 1, 2, 3, 4, 6, 9, 15)


@pytest.mark.parametrize(
    "items, sizes",
    [
        (2, [1, 2, 2, 2, 2, 2, 2]),
        (5, [1, 5, 5, 5, 5, 5, 5]),
        (16, [1, 5, 12, 16, 16, 16, 16]),
        (17, [1, 5, 12, 17, 17, 17, 17]),
        (18, [1, 5, 12, 14, 14, 14, 14]),
        (40, [1, 5, 12, 14, 14, 14, 14]),
    ],
)
def test_sizes_of_cores(items: int, sizes: list[int]) -> None:
    assert [core_size(items, 10**power, 1.0) for power in range(2, 9)] == sizes


def test_a_core_grows_with_records_and_epsilon() -> None:
    assert [core_size(40, n, 0.5) for n in (1000, 5000, 20_000, 50_000)] == [3, 8, 12, 14]
    assert [core_size(40, n, 1.0) for n in (500, 2500, 10_000, 25_000)] == [3, 8, 12, 14]


def curve(mean: float, records: float, most: int = 64) -> SizeCurve:
    """Geometric sizes."""
    size = np.arange(1.0, most + 1)
    share = (1 - 1 / mean) ** size
    return SizeCurve(size=size, stretch=np.ones(most), records=records * share / share.sum())


def laplace(epsilon: float) -> Callable[[int], float]:
    return lambda cap: 2 * (cap / epsilon) ** 2


def average(found: SizeCurve, items: int, epsilon: float) -> int:
    return item_cap(found, found.items / items, laplace(epsilon))


def test_caps_grow_with_epsilon_and_records() -> None:
    found = [average(curve(10, 1e5), 1000, e) for e in (0.01, 0.1, 1.0)]
    assert found == sorted(set(found))
    found = [average(curve(10, n), 1000, 0.5) for n in (1e2, 1e3, 1e4, 1e5)]
    assert found == sorted(found) and found[0] < found[-1]


def test_gaussian_noise_allows_larger_caps() -> None:
    """Noise of the root of the cap, as large as Laplace noise at a cap of 4."""
    for records in (1e2, 1e3, 1e4):
        found = curve(10, records)
        mean = found.items / 1000
        wide = item_cap(found, mean, lambda cap: 2 * (4 / 0.5) ** 2 * cap / 4)
        assert wide > item_cap(found, mean, laplace(0.5))


@pytest.mark.parametrize("crowd, beyond", [(300, 0.2), (800, 1 / 8), (3200, 1 / 16)])
def test_no_cap_is_beyond_what_the_crowd_allows(crowd: int, beyond: float) -> None:
    """A quarter of the records is longer, less by the root of the crowd where items crowd."""
    for mean in (2, 5, 20):
        found = curve(mean, 1e9)
        items = round(1e9 / crowd)
        cap, anew = support_cap(found, items, lambda cap: 0.0, 1.0)
        assert not anew
        assert found.records[found.size >= cap].sum() / found.records.sum() >= beyond
        assert support_cap(found, items, lambda cap: 0.0, 4.0)[0] > cap


def test_the_head_is_counted_anew_where_it_wants_another_cap_and_stands_out() -> None:
    long, short = curve(300, 1e5, most=2000), curve(1.5, 1e5, most=4)
    assert support_cap(long, 40_000, laplace(1.0), 1.0)[1]
    assert not support_cap(long, 300, laplace(1.0), 1.0)[1]  # all but everything is the head
    assert not support_cap(long, 40_000, laplace(1e-3), 1e-3)[1]  # which nobody could pick out
    assert not support_cap(short, 40_000, laplace(1.0), 1.0)[1]


def test_nobody_at_all_has_rules_too() -> None:
    nobody = SizeCurve(size=np.arange(1.0, 4.0), stretch=np.ones(3), records=np.zeros(3))
    assert support_cap(nobody, 3, laplace(1.0), 1.0) == (1, False)
