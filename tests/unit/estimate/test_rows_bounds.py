"""Lower ends hold as often as they say, though only rows that stand out are seen."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from hedgerow.estimate.answers import least_by_noise, least_by_sampling
from hedgerow.privacy.suppression import least_group, least_threshold

ALPHA = 0.05
TRIALS = 4000
# P[Bin(4000, 0.05) > 265] is below 1e-5, so a sound bound fails here once in 100,000 times.
MOST_MISSES = 265


def _noisy(sizes: np.ndarray, rate: float, threshold: int, seed: int) -> tuple[np.ndarray, ...]:
    random = np.random.default_rng(seed)
    noise = random.geometric(1 - np.exp(-rate), (2, TRIALS, len(sizes)))
    counts = sizes[None, :] + noise[0] - noise[1]
    listed = counts >= threshold
    return (counts * listed).sum(axis=1), listed.sum(axis=1)


@pytest.mark.slow
@pytest.mark.parametrize("rate", [0.2, 0.7, 2.0])
@pytest.mark.parametrize(
    "sizes",
    [
        np.full(2000, 1),  # listed by chance alone
        np.full(400, 12),  # near the threshold: what is listed was helped by its noise
        np.array([500] * 20),
        np.arange(1, 300),
    ],
)
def test_noisy_rows(rate: float, sizes: np.ndarray) -> None:
    threshold = least_threshold(Fraction(rate).limit_denominator(10), Fraction(1, 10**6))
    totals, rows = _noisy(sizes, rate, threshold, seed=1)
    low = [
        least_by_noise(float(total), int(number), rate, threshold, ALPHA)
        for total, number in zip(totals, rows, strict=True)
    ]
    assert np.sum(np.asarray(low) > sizes.sum()) <= MOST_MISSES


def test_a_standard_error_would_promise_too_much() -> None:
    # the twin: the same data, with the usual bound for a sum of noisy counts
    sizes, rate, threshold = np.full(400, 12), 0.7, 15
    totals, rows = _noisy(sizes, rate, threshold, seed=2)
    twin = totals - 1.645 * np.sqrt(rows * 2) / rate
    few = np.flatnonzero(rows)
    truth = 12 * rows[few]  # what the listed rows stand for
    assert np.sum(twin[few] > truth) > 10 * MOST_MISSES
    ours = [least_by_noise(float(totals[i]), int(rows[i]), rate, threshold, ALPHA) for i in few]
    assert np.sum(np.asarray(ours) > sizes.sum()) == 0


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.1, 0.2, 0.5])
@pytest.mark.parametrize("sizes", [np.full(3000, 3), np.full(50, 60), np.array([1000, 5, 5])])
def test_sampled_rows(share: float, sizes: np.ndarray) -> None:
    least = least_group(Fraction(1), Fraction(1, 10**6), Fraction(share).limit_denominator(10))
    kept = np.random.default_rng(3).binomial(sizes, share, (TRIALS, len(sizes)))
    totals = (kept * (kept >= least)).sum(axis=1)
    low = np.asarray([least_by_sampling(float(total), share, ALPHA) for total in totals])
    assert np.sum(low > sizes.sum()) <= MOST_MISSES
    assert (low >= totals).all()  # whoever was kept is there


def test_large_rows_are_bounded_closely() -> None:
    assert least_by_noise(1000.0, 1, 1.0, 15, ALPHA) > 985
    assert least_by_noise(100_000.0, 100, 1.0, 15, ALPHA) > 99_800
    assert least_by_sampling(2000.0, 0.2, ALPHA) > 9000
    assert least_by_noise(1000.0, 1, 1.0, 15, 1e-6) < least_by_noise(1000.0, 1, 1.0, 15, ALPHA)


@pytest.mark.parametrize("rate, threshold", [(1e-12, 15), (1e9, 15), (1.0, 10**15)])
def test_strange_claims_get_the_certain_bound(rate: float, threshold: int) -> None:
    assert least_by_noise(1e6, 7, rate, threshold, ALPHA) == 7
