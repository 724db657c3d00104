"""Answers from cells: sums against brute force, intervals against their level."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from hedgerow.estimate.core import CoreModel, superset_sums
from hedgerow.estimate.itemsets import answer_sets
from hedgerow.estimate.partition import CoreCells
from hedgerow.estimate.supports import Supports
from hedgerow.schema.items import WEIGHT

NO_NOISE = Fraction(1000)


def cells_of(held: np.ndarray, core: list[int], rest: list[int]) -> np.ndarray:
    mask = (held[:, core] << np.arange(len(core))).sum(axis=1)
    others = held.sum(axis=1) - held[:, core].sum(axis=1)
    place = np.searchsorted(rest, others, side="right") - 1
    return np.bincount(mask * len(rest) + place, minlength=len(rest) << len(core))


def model_of_records(
    hand: SimpleNamespace,
    held: np.ndarray,
    core: list[int],
    rest: list[int],
    *,
    unit: Fraction = NO_NOISE,
    cap: int | None = None,
    random: np.random.Generator | None = None,
    **rules: Any,
) -> CoreModel:
    """Measures records; with a source of draws, with noise. Long records count by weight."""
    size = held.shape[1]
    epsilon = float(unit)
    reach = WEIGHT * (cap or size)
    numbers = held.sum(axis=1)
    weight = np.where(numbers <= reach // WEIGHT, WEIGHT, reach // np.maximum(numbers, 1))
    edges = np.arange(1, size + 1)
    exact = {
        "cell": cells_of(held, core, rest),
        "item": weight @ held,
        "size": np.bincount(numbers, minlength=size + 1)[1:],
    }
    if random is not None:
        for name, rate in (("cell", epsilon), ("item", epsilon / reach), ("size", epsilon)):
            exact[name] = exact[name] + hand.laplace(random, rate, len(exact[name]))
    items = hand.shop(size, **rules).items
    sizes = hand.counted("size", "size", exact["size"], unit=unit, where=edges)
    support = hand.counted(
        "support", "item", exact["item"], unit=unit / reach, max_contribution=reach
    )
    return CoreModel(
        items=items,
        partition=CoreCells(np.array(core), np.array(rest)),
        cell=hand.counted("cell", "region", exact["cell"], unit=unit),
        supports=None if len(core) == size else Supports(items=items, support=support, size=sizes),
        size=sizes,
    )


def truth(held: np.ndarray, one: Any) -> int:
    return int(held[:, list(one)].all(axis=1).sum())


def test_superset_sums_are_brute_force() -> None:
    values = np.random.default_rng(1).normal(size=64)
    plain = [sum(values[s] for s in range(64) if s & mask == mask) for mask in range(64)]
    assert superset_sums(values) == pytest.approx(plain)


def test_without_noise_sets_of_the_core_are_exact(hand: SimpleNamespace) -> None:
    held = hand.records(np.random.default_rng(2), 500, 6)
    model = model_of_records(hand, held, [1, 3, 4], [0, 1, 2])
    sets = [np.array(one, np.int64) for k in range(4) for one in combinations([1, 3, 4], k)]
    exact = [truth(held, one) for one in sets]
    assert model.estimates(sets) == pytest.approx(exact, abs=1e-6)
    low, high = model.bounds(sets, 0.95)
    assert (low <= exact).all() and (exact <= high).all()
    assert (high - low < 2).all()


def test_without_noise_single_items_are_exact(hand: SimpleNamespace) -> None:
    held = hand.records(np.random.default_rng(3), 500, 6)
    model = model_of_records(hand, held, [1, 3], [0, 1, 2])
    sets = [np.array([code]) for code in range(6)]
    assert model.estimates(sets) == pytest.approx([truth(held, one) for one in sets], rel=1e-3)
    assert model.others.pull[[1, 3]].tolist() == [0, 0]


@pytest.mark.slow
def test_independent_items_beyond_the_core_are_told(hand: SimpleNamespace) -> None:
    """Rare independent items: within 5 deviations of the truth's own spread, and 3 percent."""
    random = np.random.default_rng(4)
    held = random.random((200_000, 30)) < 0.05
    held = held[held.any(axis=1)]
    model = model_of_records(hand, held, [0, 1], list(range(12)))
    for one in ([5, 9], [0, 7], [1, 20, 28], [0, 1, 9]):
        exact = truth(held, one)
        found = float(model.estimates([np.array(one)])[0])
        assert abs(found - exact) < 5 * np.sqrt(exact) + 5 + 0.03 * exact


def test_public_rules_rule_cells_out(hand: SimpleNamespace) -> None:
    cells = CoreCells(np.arange(3), np.array([0]))
    schema = hand.shop(3, max_items=2)
    model = CoreModel(
        items=schema.items,
        partition=cells,
        cell=hand.counted("cell", "region", [9] * 8),
        supports=None,
        size=None,
    )
    assert np.flatnonzero(~model.possible[:, 0]).tolist() == [0, 7]
    found = answer_sets(model, [np.arange(3)], 0.95)
    assert (found.estimate[0], found.low[0], found.high[0]) == (0, 0, 0)
    schema = hand.shop(2, empty="dummy")  # the third item stands for an empty record
    model = CoreModel(
        items=schema.items,
        partition=cells,
        cell=hand.counted("cell", "region", [9] * 8),
        supports=None,
        size=None,
    )
    assert np.flatnonzero(model.possible[:, 0]).tolist() == [1, 2, 3, 4]
    wide = CoreModel(
        items=hand.shop(9).items, partition=CoreCells(np.arange(1), np.array([0, 2])),
        cell=hand.counted("cell", "region", [9] * 4), supports=None, size=None,
    )  # fmt: skip
    assert wide.possible.all()  # nothing in the core, and one item beside it


SETS = [[], [0], [2], [0, 3], [4], [7], [0, 4], [4, 7], [2, 5, 7], [0, 2, 3]]


def covered(hand: SimpleNamespace, runs: int, shrink: float) -> np.ndarray:
    """How often each set's interval holds the truth, intervals made narrower by a factor."""
    held = hand.records(np.random.default_rng(5), 3000, 8)
    sets = [np.array(one, np.int64) for one in SETS]
    exact = np.array([truth(held, one) for one in sets])
    inside = np.zeros(len(sets))
    for run in range(runs):
        random = np.random.default_rng(100 + run)
        model = model_of_records(
            hand, held, [0, 2, 3], [0, 1, 2, 4], unit=Fraction(1, 2), cap=2, random=random
        )
        low, high = model.bounds(sets, 0.9)
        middle, half = (low + high) / 2, (high - low) / 2 * shrink
        inside += (middle - half <= exact) & (exact <= middle + half)
    return inside


@pytest.mark.slow
def test_intervals_hold_the_truth(hand: SimpleNamespace) -> None:
    """At a level of 90%, 400 runs fall below 332 with probability 1e-5 each if it is kept."""
    assert covered(hand, 400, 1.0).min() >= 332


@pytest.mark.slow
def test_narrower_intervals_would_be_found_out(hand: SimpleNamespace) -> None:
    assert covered(hand, 400, 0.6).min() < 332


def test_estimates_lie_in_their_intervals(hand: SimpleNamespace) -> None:
    random = np.random.default_rng(6)
    held = hand.records(random, 300, 8)
    model = model_of_records(hand, held, [0, 2], [0, 1], unit=Fraction(1, 10), random=random)
    found = answer_sets(model, [np.array(one, np.int64) for one in SETS], 0.5)
    assert (found.low <= found.estimate).all() and (found.estimate <= found.high).all()


@pytest.mark.slow
@pytest.mark.parametrize("value", [0, -50, 10**12])
@pytest.mark.parametrize("unit", [Fraction(1, 10**6), Fraction(1), Fraction(10**5)])
def test_whatever_was_drawn_answers_are_finite(
    hand: SimpleNamespace, value: int, unit: Fraction
) -> None:
    for core, rest, size in (([0], [0], 1), ([0, 1], [0], 2), ([1], [0, 1, 5], 7), ([], [0], 3)):
        cells = CoreCells(np.array(core, np.int64), np.array(rest))
        cell = hand.counted("cell", "region", [value] * cells.cells, unit=unit)
        support = hand.counted(
            "support", "item", [value] * size, unit=unit / WEIGHT, max_contribution=WEIGHT
        )
        sizes = hand.counted("size", "size", [value] * size, unit=unit, where=np.arange(size) + 1)
        items = hand.shop(size).items
        for given in (None, Supports(items=items, support=support, size=sizes)):
            if given is None and len(core) < size:
                continue  # which is refused
            model = CoreModel(items=items, partition=cells, cell=cell, supports=given, size=sizes)
            sets = [np.arange(k) for k in range(size + 1)]
            found = answer_sets(model, sets, 0.95)
            assert np.isfinite(found.estimate).all() and (found.estimate >= 0).all()
            assert (found.low <= found.high).all()
