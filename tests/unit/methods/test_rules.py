"""Rules that choose settings from public facts."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.estimate.supports import SizeCurve
from hedgerow.methods.diffmulti import MOST_DEPTH, MOST_SPECIALIZATIONS
from hedgerow.methods.plan import (
    REST_EDGES,
    best_cap,
    core_size,
    gaussian_cap,
    grid_size,
    size_edges,
    support_caps,
    support_losses,
    tree_size,
)

EPSILONS = st.fractions(min_value=Fraction(1, 10**6), max_value=100, max_denominator=10**6)


@pytest.mark.slow
@given(EPSILONS, st.integers(0, 10**12))
@settings(derandomize=True)
def test_rules_always_give_settings_that_are_allowed(epsilon: Fraction, rows: int) -> None:
    size, depth = tree_size(epsilon, rows)
    assert 1 <= size <= MOST_SPECIALIZATIONS
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
    """200 records a specialization beyond the first 400, at epsilon 1."""
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
    assert REST_EDGES == (0, 1, 4, 15)


@pytest.mark.parametrize(
    "items, sizes",
    [
        (2, [1, 2, 2, 2, 2, 2, 2]),
        (5, [1, 5, 5, 5, 5, 5, 5]),
        (16, [1, 8, 14, 16, 16, 16, 16]),
        (17, [1, 8, 14, 17, 17, 17, 17]),
        (18, [1, 8, 14, 14, 14, 14, 14]),
        (40, [1, 8, 14, 14, 14, 14, 14]),
    ],
)
def test_sizes_of_cores(items: int, sizes: list[int]) -> None:
    assert [core_size(items, 10**power, 1.0) for power in range(2, 9)] == sizes


def test_a_core_grows_with_records_and_epsilon() -> None:
    assert [core_size(40, n, 0.5) for n in (1000, 5000, 20_000, 50_000)] == [6, 11, 14, 14]
    assert [core_size(40, n, 1.0) for n in (500, 2500, 10_000, 25_000)] == [6, 11, 14, 14]


def test_no_item_is_in_the_core_whose_support_the_noise_would_hide() -> None:
    """Of cells for 10 items with epsilon 1, half a sum is off by 64."""
    for support, size in ((220, 10), (205, 9), (0, 9), (-50, 9)):
        supports = np.array([10_000] * 9 + [support] * 30)
        assert core_size(40, 10**6, 1.0, supports) == size
    assert core_size(40, 10**6, 1.0, np.zeros(40, np.int64)) == 1


def curve(mean: float, records: float, most: int = 64) -> SizeCurve:
    """Geometric sizes."""
    size = np.arange(1.0, most + 1)
    share = (1 - 1 / mean) ** size
    return SizeCurve(size=size, stretch=np.ones(most), records=records * share / share.sum())


def laplace(epsilon: float) -> Callable[[int], float]:
    return lambda cap: 2 * (cap / epsilon) ** 2


def losses(
    found: SizeCurve, items: int, variance: Callable[[int], float]
) -> dict[int, tuple[float, float]]:
    caps = support_caps(found, items, items, 0.0)
    return {cap: support_losses(found, items, variance, cap) for cap in caps}


def test_caps_grow_with_epsilon_and_records() -> None:
    found = [best_cap(losses(curve(10, 1e5), 1000, laplace(e))) for e in (0.01, 0.1, 1.0)]
    assert found == sorted(set(found))
    found = [best_cap(losses(curve(10, n), 1000, laplace(0.5))) for n in (1e2, 1e3, 1e4, 1e5)]
    assert found == sorted(found) and found[0] < found[-1]


def test_gaussian_noise_allows_larger_caps() -> None:
    """Noise of the root of the cap, as large as Laplace noise at a cap of 4."""
    for records in (1e3, 1e4, 1e5):
        found = curve(10, records)
        wide = best_cap(losses(found, 1000, lambda cap: 2 * (4 / 0.5) ** 2 * cap / 4))
        assert wide > best_cap(losses(found, 1000, laplace(0.5)))


def test_a_cap_weighs_average_items_against_frequent_ones() -> None:
    """The chosen cap has the least product of both losses; each alone wants another one."""
    both = losses(curve(300, 1e5, most=2000), 40_000, laplace(1.0))
    every, top = (min(both, key=lambda cap: both[cap][kind]) for kind in (0, 1))
    assert every < best_cap(both) < top


def test_no_cap_is_better_where_a_loss_would_be_larger() -> None:
    found = curve(300, 1e5, most=2000)
    first = losses(found, 40_000, laplace(1.0))
    old = first[best_cap(first)]
    for scale in (0.5, 1.5):
        others = losses(found, 40_000, lambda cap: scale**2 * laplace(1.0)(cap))  # noqa: B023
        cap = best_cap(others, below=old)
        assert (cap > 0) == (scale < 1)
        assert not cap or (others[cap][0] <= old[0] and others[cap][1] <= old[1])


@pytest.mark.parametrize("crowd, beyond", [(30, 0.2), (300, 0.2), (800, 1 / 8), (3200, 1 / 16)])
def test_no_cap_is_beyond_what_the_crowd_allows(crowd: int, beyond: float) -> None:
    """A quarter of the records is longer, less by the root of the crowd where items crowd."""
    for mean in (2, 5, 20):
        found = curve(mean, 1e9)
        items = round(1e9 / crowd)
        cap = support_caps(found, items, items, 1.0)[-1]
        assert found.records[found.size > cap].sum() / found.records.sum() >= beyond / 2
        assert support_caps(found, items, items, 4.0)[-1] >= cap
        assert support_caps(found, items, items, 10 / crowd)[-1] > cap
    assert support_caps(found, items, 3, 0.0) == [1, 2, 3]


@pytest.mark.parametrize("records, items, bar", [(1e9, 1000, 0.709), (1e5, 100_000, 1.0)])
def test_gaussian_noise_must_be_smaller_than_laplace_noise(
    records: float, items: int, bar: float
) -> None:
    """Smaller on average by 5% where all items stand out: 0.95^2 pi / 4 of the variance."""
    found, first = curve(10, records), 3e3
    for share, cap in ((bar - 0.01, 64), (bar + 0.01, 0)):
        gaussian = share * first
        assert gaussian_cap(found, items, [64], lambda _: gaussian, (64, first)) == cap  # noqa: B023


def test_all_items_may_seem_further_off_where_the_average_one_is_noise() -> None:
    """A larger cap serves frequent items; where items are rare, the average one bears more."""
    found, first = curve(5, 1e5), 2e3
    old = support_losses(found, 40_000, lambda _: first, 8)
    new = support_losses(found, 40_000, lambda _: 3 * first, 32)
    assert old[0] < new[0] < 1.1 * old[0] and new[1] < old[1]
    assert gaussian_cap(found, 40_000, [32], lambda _: 3 * first, (8, first)) == 32


def test_nobody_at_all_has_rules_too() -> None:
    nobody = SizeCurve(size=np.arange(1.0, 4.0), stretch=np.ones(3), records=np.zeros(3))
    assert best_cap(losses(nobody, 3, laplace(1.0))) == 1


def test_few_items_are_all_among_the_most_frequent() -> None:
    """So both errors are the same."""
    every, top = support_losses(curve(5.0, 10_000.0), 80, lambda cap: 2.0 * cap**2, 4)
    assert every == pytest.approx(top)
