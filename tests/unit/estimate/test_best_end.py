from __future__ import annotations

import numpy as np
import pytest

from hedgerow.estimate.intervals import _GRID, best_upper_ends, half_tails
from hedgerow.estimate.measurements import factor, tail

RUNS = 20_000
ALPHA = 0.05


def most_failures(alpha: float) -> int:
    """What RUNS runs exceed with probability 1e-9 at most: Bernstein's bound."""
    log = -np.log(1e-9)
    return int(RUNS * alpha + log / 3 + np.sqrt(log**2 / 9 + 2 * log * RUNS * alpha * (1 - alpha)))


@pytest.mark.parametrize("gaps", [(0.0,), (0.0, 0.0, 0.0, 0.0), (0.0, 1.0, 3.0), (0.0, 0.5, 50.0)])
@pytest.mark.parametrize("law", ["laplace", "normal"])
def test_ends_fail_no_more_often_than_they_may(gaps: tuple[float, ...], law: str) -> None:
    """False alarms with probability 1e-9; the choice of the least value fails far more often."""
    random = np.random.default_rng(3)
    scale = np.array([10.0, 20.0, 5.0, 10.0])[: len(gaps)]
    noise = random.laplace(0, scale / 2**0.5, (RUNS, len(gaps)))
    if law == "normal":
        noise = random.normal(0, scale, (RUNS, len(gaps)))
    values = 1000.0 + np.array(gaps) * scale + noise
    shape = np.broadcast_to(scale, values.shape)
    nothing, alpha = np.zeros(values.shape), np.full(RUNS, ALPHA)
    ends = best_upper_ends(values, shape, nothing, alpha, normal=law == "normal")
    assert (ends < 1000.0).sum() <= most_failures(ALPHA)
    if len(gaps) == 4:
        naive = (values + factor(1 - 2 * ALPHA) * scale).min(axis=1)
        assert (naive < 1000.0).sum() > most_failures(ALPHA)
        # and the allowance is not wasted: a fifth of what it may fail, at least
        assert (ends < 1000.0).sum() > RUNS * ALPHA / 5


def test_far_candidates_cost_little() -> None:
    def end(*values: float) -> float:
        row = np.array([values])
        ones = np.ones(row.shape)
        return float(best_upper_ends(row, 10 * ones, 0.5 * ones, np.array([0.025]))[0])

    alone, beside_far, beside_near = end(100.0), end(100.0, 900.0), end(100.0, 101.0)
    assert alone < beside_far < alone + 1.5 < beside_near
    assert end(100.0, np.inf) == alone


def test_no_candidate_and_tiny_errors() -> None:
    nothing = np.full((1, 2), np.inf)
    ones = np.ones((1, 2))
    assert np.isinf(best_upper_ends(nothing, ones, ones, np.array([0.05])))[0]
    assert np.isinf(best_upper_ends(np.empty((1, 0)), ones[:, :0], ones[:, :0], np.array([0.1])))[0]
    two = best_upper_ends(np.zeros((1, 2)), ones, 0 * ones, np.array([1e-8]))[0]
    # less the tenth that the first step takes, in equal parts
    assert two == pytest.approx(factor(1 - 0.9e-8), rel=1e-6)


def test_the_tails_are_those_of_the_noise() -> None:
    assert (2 * half_tails(normal=False)).tolist() == pytest.approx(
        [tail(float(t)) for t in _GRID], rel=1e-12
    )


@pytest.mark.parametrize("normal", [False, True])
def test_chords_are_never_below_the_tails(normal: bool) -> None:
    tails = half_tails(normal=normal)
    for place in np.random.default_rng(1).uniform(0, _GRID[-1], 150):
        chord = float(np.interp(place, _GRID, tails))
        assert chord >= tail(float(place), normal=normal) / 2 - 1e-15
    assert np.interp(99.0, _GRID, tails) > 0.0
