"""What noise alone does to a group's share: the law of its excess, and how often it surprises."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from hedgerow.arrays import Floats, Ints
from hedgerow.estimate.intervals import Excess, _tail_of
from hedgerow.estimate.tables import NoisyTable


@pytest.mark.parametrize("t", [2.5, 5.0, 9.0, 13.0])
def test_tails_of_laplace_sums_are_the_exact_ones_from_above(t: float) -> None:
    """Of one, of two alike, and of two whose scales differ, in closed form."""
    alone = math.exp(-t) / 2
    alike = (2 + t) * math.exp(-t) / 4
    unlike = (4 * math.exp(-t / 2) - math.exp(-t)) / 6  # scales 2 and 1
    for scales, often, exact in (
        ([1.0], [1], alone), ([1.0], [2], alike), ([2.0, 1.0], [1, 1], unlike)
    ):  # fmt: skip
        found = _tail_of(t, 2 * np.array(scales) ** 2, np.array(often, float))
        assert 0 <= found / exact - 1 < 0.02


def test_many_small_noises_are_nearly_normal() -> None:
    variance, often = np.array([2.0]), np.array([4096.0])
    found = _tail_of(3 * math.sqrt(2 * 4096), variance, often)
    assert found == pytest.approx(math.erfc(3 / math.sqrt(2)) / 2, rel=0.01)
    with np.errstate(over="raise", invalid="raise"):  # though E exp(s X) is beyond all numbers
        assert _tail_of(10_000.0, variance, often) < 1e-300
    normal = _tail_of(3.0, np.array([0.25]), np.array([4.0]), normal=True)
    assert normal == pytest.approx(math.erfc(3 / math.sqrt(2)) / 2, rel=1e-6)


GROUPS = np.array([[1, 0, 0, 0], [1, 1, 0, 0], [0, 0, 1, 0]], bool)
VALUES = np.array([[0, 1]] * 3, bool)


def noise(random: np.random.Generator, shape: Any, scale: float) -> Ints:
    """Discrete Laplace noise."""
    p = 1 - math.exp(-1 / scale)
    return random.geometric(p, shape) - random.geometric(p, shape)


def table(kind: str, columns: tuple[int, ...], values: Ints, scale: float) -> NoisyTable:
    variance = 0.5 / math.sinh(0.5 / scale) ** 2
    return NoisyTable(
        kind=kind, columns=columns, values=values, variance=variance, tail=2 * scale**2,
        law="laplace",
    )  # fmt: skip


def surprises(counts: Ints, random: np.random.Generator) -> tuple[Floats, Floats]:
    """Two tables of the group by the value, one of them larger, and one without the group."""
    more = np.stack([counts // 3, counts - counts // 3], axis=1)
    apart = np.stack([counts.sum(axis=0) // 2, counts.sum(axis=0) - counts.sum(axis=0) // 2])
    tables = [
        table("by_class", (0, 2), counts + noise(random, counts.shape, 9.0), 9.0),
        table("named", (0, 1, 2), more + noise(random, more.shape, 6.0), 6.0),
        table("by_class", (1, 2), apart + noise(random, apart.shape, 9.0), 9.0),
    ]
    total = counts.sum()
    common = counts[:, 1].sum() / total + np.array([[-0.002], [0.002]]) * np.ones(3)
    sizes = GROUPS @ counts.sum(axis=1) / total + np.array([[-0.005], [0.005]])
    return Excess(tables=tables, by=(0,), outcome=2).surprises(GROUPS, VALUES, common, sizes)


def test_equal_shares_surprise_as_seldom_as_said_and_not_much_more_seldom() -> None:
    """Of 3,000 draws 30 are expected below 1%; more than 55 come with a probability of 2e-5.

    That so few come would mean that claims are weaker than they need to be: below 8 with 1e-5.
    """
    counts = np.array([[900, 100], [1800, 200], [450, 50], [2700, 300]])
    random = np.random.default_rng(1)
    often = np.zeros((2, 3))
    for _ in range(3000):
        often += np.stack(surprises(counts, random)) <= 0.01
    assert often.max() <= 55
    assert often.min() >= 8


def test_a_share_that_differs_surprises_on_its_side() -> None:
    counts = np.array([[700, 300], [1900, 100], [450, 50], [2700, 300]])
    above, below = surprises(counts, np.random.default_rng(1))
    assert above[0] < 1e-6 and below[0] == 1
    assert above[2] > 1e-3 and below[2] > 1e-3
