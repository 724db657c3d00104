"""Supports: sums that are right, shrinkage that helps, intervals that hold."""

from __future__ import annotations

import math
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

from hedgerow.estimate.supports import Supports, clear_from, prior_groups, shrink
from hedgerow.methods.plan import size_edges
from hedgerow.schema import Items
from hedgerow.schema.items import WEIGHT
from hedgerow.schema.taxonomy import Taxonomy

ITEMS, RECORDS = 300, 4000


def baskets(random: np.random.Generator) -> np.ndarray:
    """Records with a long tail of sizes, and items by a power law."""
    chance = 1 / np.arange(1, ITEMS + 1)
    wanted = (1 + 4 * random.pareto(2.5, RECORDS)).clip(max=150)
    keys = random.exponential(size=(RECORDS, ITEMS)) / chance
    return keys.argsort(axis=1).argsort(axis=1) < wanted[:, None].astype(int)


def measured(
    hand: SimpleNamespace,
    held: np.ndarray,
    cap: int,
    random: np.random.Generator,
    epsilon: float = 1.0,
) -> Supports:
    number = held.sum(axis=1)
    edges = size_edges(ITEMS)

    def noisy(name: str, at: str, exact: np.ndarray, rate: float, reach: int, **more):
        drawn = exact + hand.laplace(random, rate / reach, len(exact))
        unit = Fraction(rate).limit_denominator(1000) / reach
        return hand.counted(name, at, drawn, unit=unit, max_contribution=reach, **more)

    place = np.searchsorted(edges, number, side="right") - 1
    counts = np.bincount(place, minlength=len(edges))
    size = noisy("size", "size", counts, epsilon / 10, 1, where=edges)
    exact = np.where(number <= cap, WEIGHT, WEIGHT * cap // np.maximum(number, 1)) @ held
    support = noisy("support", "item", exact, epsilon * 0.9, WEIGHT * cap)
    return Supports(items=Items(range(ITEMS)), support=support, size=size)


def test_sums_are_right_and_supports_better_than_noisy(hand: SimpleNamespace) -> None:
    """Fixed seeds; a sum has a deviation of 9% at most, so the mean of 12 is within 8%."""
    sums, ours, theirs = [], 0.0, 0.0
    for seed in range(12):
        random = np.random.default_rng(seed)
        held = baskets(random)
        exact = held.sum(axis=0)
        found = measured(hand, held, 3, random)
        sums.append(found.singles[0].sum() / exact.sum())
        assert found.singles[0].sum() == pytest.approx(found.curve.items)
        plain = np.maximum(found.noisy / found.share, 0)
        ours += float(np.abs(found.singles[0] - exact).mean())
        theirs += float(np.abs(plain - exact).mean())
    assert ours < 0.9 * theirs
    assert np.mean(sums) == pytest.approx(1, abs=0.08)


def covered(hand: SimpleNamespace, runs: int, narrow: float) -> np.ndarray:
    random = np.random.default_rng(4)
    held = baskets(random)
    groups = [np.array([0]), np.array([7]), np.array([250]), np.arange(10, 60)]
    exact = np.array([held[:, group].any(axis=1).sum() for group in groups])
    inside = np.zeros(len(groups))
    for _ in range(runs):
        low, top = measured(hand, held, 3, random).bounds(groups, 0.9)
        middle, half = (low + top) / 2, (top - low) / 2 * narrow
        inside += (middle - half <= exact) & (exact <= middle + half)
    return inside


@pytest.mark.slow
def test_intervals_hold_the_truth(hand: SimpleNamespace) -> None:
    """At a level of 90%, 100 runs fall below 77 with probability 1e-4 each if it is kept."""
    assert covered(hand, 100, 1.0).min() >= 77


@pytest.mark.slow
def test_narrower_intervals_would_be_found_out(hand: SimpleNamespace) -> None:
    assert covered(hand, 100, 0.2).min() < 77


def test_groups_of_a_taxonomy_inform_their_items() -> None:
    random = np.random.default_rng(5)
    exact = np.repeat([0.0, 40.0], 200)  # one group of rare items and one of frequent ones
    noisy = exact + random.laplace(0, 20, 400)
    together = shrink(noisy, 20, np.array([0, 400]))
    apart = shrink(noisy, 20, np.array([0, 200, 400]))
    assert np.abs(apart - exact).mean() < 0.8 * np.abs(together - exact).mean()


def test_groups_are_those_of_the_taxonomy_if_they_are_large_enough() -> None:
    wide = {f"g{n}": [f"{n}-{i}" for i in range(20)] for n in range(3)}
    small = {"g3": [f"3-{i}" for i in range(4)], "g4": ["4-0", "4-1"]}
    items = Items(Taxonomy.from_nested("all", wide | small))
    assert prior_groups(items).tolist() == [0, 20, 40, 60, 66]


@pytest.mark.parametrize("number", [1, 1000, 40_000])
def test_noise_of_either_law_exceeds_its_bar_as_often(number: int) -> None:
    """A normal value of variance 2 exceeds t with probability erfc(t / 2) / 2."""
    laplace, gaussian = clear_from(number), clear_from(number, "gaussian")
    assert math.erfc(gaussian / 2) == pytest.approx(math.exp(-laplace))
