"""Curves of sizes: near the truth under noise, whatever the numbers."""

from __future__ import annotations

import numpy as np
import pytest

from hedgerow.estimate.supports import SizeCurve, fit_sizes, weights
from hedgerow.methods.plan import size_edges
from hedgerow.schema.items import WEIGHT

MOST = 1000


def binned(size: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    edges = size_edges(MOST)
    place = np.searchsorted(edges, size, side="right") - 1
    return edges, np.bincount(place, minlength=len(edges)).astype(float)


SIZES = {
    "poisson": lambda random: 1 + random.poisson(9, 100_000),
    "geometric": lambda random: random.geometric(0.1, 100_000),
    "long tail": lambda random: np.minimum(1 + 8 * random.pareto(2.2, 50_000), MOST).astype(int),
}


@pytest.mark.parametrize("shape", SIZES)
def test_the_sum_of_sizes_is_found(shape: str) -> None:
    """Fixed seeds; 4% is about twice the largest deviation that 200 other seeds gave."""
    random = np.random.default_rng(5)
    size = SIZES[shape](random)
    edges, exact = binned(size)
    noisy = exact + random.laplace(0, 20, len(edges))
    curve = fit_sizes(edges, noisy, 0.05, MOST)
    assert curve.items == pytest.approx(size.sum(), rel=0.04)
    for cap in (4, 16):
        exact_share = np.minimum(size, cap).sum() / size.sum()
        assert curve.share(cap) == pytest.approx(exact_share, rel=0.04)


def test_known_sums_hold_the_curve() -> None:
    random = np.random.default_rng(6)
    size = SIZES["long tail"](random)
    edges, exact = binned(size)
    known = (MOST, float(size.sum()), 1.0)
    curve = fit_sizes(edges, exact + random.laplace(0, 200, len(edges)), 0.005, MOST, [known])
    assert curve.items == pytest.approx(size.sum(), rel=1e-3)


@pytest.mark.parametrize("value", [0.0, -1e6, 1e12])
@pytest.mark.parametrize("most", [1, 2, 3, 70, 10**6])
@pytest.mark.parametrize("rate", [1e-9, 1.0, 1e5])
def test_whatever_was_drawn_curves_are_finite(value: float, most: int, rate: float) -> None:
    edges = size_edges(most)
    counts = np.full(len(edges), value)
    curve = fit_sizes(edges, counts, rate, most, [(1, value, 1.0)] if most > 1 else [])
    assert np.isfinite(curve.records).all() and (curve.records >= 0).all()
    assert 0 < curve.share(1) <= 1


def test_weights_are_those_of_the_engines() -> None:
    size = np.arange(1, 5000)
    whole = [WEIGHT if s <= 7 else WEIGHT * 7 // s for s in size.tolist()]
    assert (weights(size, 7) * WEIGHT).tolist() == whole


def test_density_is_that_of_the_points() -> None:
    curve = SizeCurve(
        size=np.array([1.0, 2.0, 4.5]),
        stretch=np.array([1.0, 1.0, 4.0]),
        records=np.array([8.0, 4, 4]),
    )
    assert curve.density(np.array([1.0, 2.0, 4.5])) == pytest.approx([8, 4, 1])
