"""Guaranteed ends: against brute force without noise, and by their coverage with it."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from hedgerow.estimate.supports import most_records, tails, weights

EDGES = np.array([1, 2, 3, 4, 6, 9])
MOST = 12
FAILURES = {0.1: 68, 0.3: 154}
"""More failures than this in 400 runs have probability 1e-5, if each has the given probability."""


def sizes_of(hand: SimpleNamespace, size: np.ndarray, noise: np.ndarray | int = 0, unit: int = 1):
    place = np.searchsorted(EDGES, size, side="right") - 1
    counts = np.bincount(place, minlength=len(EDGES)) + noise
    return hand.counted("size", "size", counts, unit=unit, where=EDGES)


@pytest.mark.parametrize("cap", [1, 3, 5])
def test_no_set_of_records_is_larger(hand: SimpleNamespace, cap: int) -> None:
    """For any records that hold an item, their number is at most what their weights allow."""
    random = np.random.default_rng(cap)
    size = random.geometric(0.3, 200).clip(max=MOST)
    sizes = sizes_of(hand, size, unit=10**6)
    for _ in range(300):
        by_size = random.random() * (size if random.random() < 0.5 else 1 / size)
        chosen = random.random(len(size)) < by_size / by_size.max() if np.ndim(by_size) else []
        y = weights(size[chosen], cap).sum()
        (most,) = most_records(np.array([y]), sizes, MOST, cap, 0.01)
        assert np.count_nonzero(chosen) <= most + 1e-6
        for s in range(cap, MOST + 1):  # the simple bound is never below it
            simple = y / weights(np.array([s]), cap)[0] + np.count_nonzero(size > s)
            if s in EDGES[1:] - 1:
                assert most <= simple + 3 * len(EDGES)


@pytest.mark.parametrize("error", FAILURES)
def test_tails_hold_together(hand: SimpleNamespace, error: float) -> None:
    random = np.random.default_rng(8)
    size = random.geometric(0.3, 500).clip(max=MOST)
    exact = np.array([np.count_nonzero(size >= edge) for edge in EDGES])
    failed = 0
    for _ in range(400):
        found = sizes_of(hand, size, hand.laplace(random, 0.5, len(EDGES)), unit=1)
        found = hand.counted("size", "size", found.values[:, 0], unit=0.5, where=EDGES)
        failed += bool((tails(found, error) < exact).any())
    assert failed <= FAILURES[error]


def test_bounds_without_noise_would_be_found_out(hand: SimpleNamespace) -> None:
    random = np.random.default_rng(9)
    size = random.geometric(0.3, 500).clip(max=MOST)
    exact = np.array([np.count_nonzero(size >= edge) for edge in EDGES])
    failed = 0
    for _ in range(400):
        noisy = sizes_of(hand, size, hand.laplace(random, 0.5, len(EDGES))).values[:, 0]
        failed += bool((np.cumsum(noisy[::-1])[::-1] < exact).any())
    assert failed > FAILURES[0.3]
