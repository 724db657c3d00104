"""Gaussian noise under every audit: replay, enumeration and distinguishers, with broken twins."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

from hedgerow.audit.distinguish import ERROR, epsilon_bound
from hedgerow.audit.enumeration import hockey_stick, law
from hedgerow.audit.replay import (
    ORDERS,
    DivergedError,
    Telling,
    compare,
    gaussian_mass,
    gaussian_tail,
    record,
    replay,
)
from hedgerow.counting.sealed import Sealed
from hedgerow.privacy.budget import UnitBudget, epsilon_of_rho
from hedgerow.privacy.curator import Curator
from hedgerow.privacy.keystream import Keystream
from hedgerow.privacy.ledger import Allowance, Ledger
from hedgerow.privacy.sampler import Sampler, SecureSampler

ROOT = np.zeros(1, dtype=np.int64)
RATES = (1e-6, 0.02, 0.3, 0.99, 1.01, 3.0, 40.0)


def tables(exact: list[int], rho: Fraction, squares: int) -> Callable[[Sampler], Any]:
    """A run that counts some numbers once, all in one charge of rho."""

    def run(sampler: Sampler) -> Any:
        ledger = Ledger([UnitBudget("rho", rho, 1)])
        ledger.allow([Allowance("tables", "rho", units=(1,), uses=1)])
        counts = Sealed(np.array([exact], dtype=np.int64))
        drawn, _ = Curator(ledger, sampler).gaussian(
            "tables", 0, ROOT, counts, max_contribution=squares
        )
        return tuple(drawn[0].tolist())

    return run


# twins that are broken ---------------------------------------------------------------------------


def rate_of(wrong: Callable[[Fraction, int], Fraction]) -> Any:
    """The curator with another rule from rho and the squares to 1 over the variance."""

    def noise_rate(self: Curator, purpose: str, units: int, max_contribution: int = 1) -> Fraction:
        return wrong(self.ledger.amount(purpose, units), max_contribution)

    return patch.object(Curator, "noise_rate", noise_rate)


def root(value: Fraction) -> Fraction:
    return Fraction(math.isqrt(int(value * 10**12)), 10**6)


TWINS: dict[str, Callable[[Fraction, int], Fraction]] = {
    "half the variance": lambda rho, k: 4 * rho / k,
    "30% too little": lambda rho, k: 2 * rho / k * Fraction(13, 10),
    "sigma for its square": lambda rho, k: root(2 * rho / k),
    "one table for k": lambda rho, k: 2 * rho,
    "the root of k for k": lambda rho, k: 2 * rho / root(Fraction(k)),
    "a Laplace rate": lambda rho, k: root(2 * rho),
}

# the law -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("rate", RATES)
def test_the_law_against_plain_sums(rate: float) -> None:
    reach = math.ceil(math.sqrt(100 / rate)) + 2
    z = np.arange(-reach, reach + 1)
    for center in (0.0, 0.25, 0.5, 1.5, -3.2, 7.0):
        plain = np.exp(-rate * (z + round(center) - center) ** 2 / 2).sum()
        assert gaussian_mass(rate, center) == pytest.approx(math.log(plain), rel=1e-12, abs=1e-13)
        assert gaussian_mass(rate, center) <= gaussian_mass(rate) + 1e-12
    mass = np.exp(-rate * z.astype(float) ** 2 / 2)
    mass /= mass.sum()
    for m in (-3, -1, 0, 1, 2, reach // 2):
        tail = mass[z >= m].sum()
        assert gaussian_tail(rate, m) == pytest.approx(tail, rel=1e-9, abs=1e-300)


# replay ------------------------------------------------------------------------------------------

NEIGHBORS = [
    ([5, 0, 3], [6, 0, 3], 1),  # one number by one
    ([5, 0, 3], [6, 1, 4], 3),  # three tables
    ([5, 0, 3], [5, 2, 3], 4),  # one number by two
    ([5, 0, 3], [4, 2, 3], 5),
]


def losses(one: list[int], other: list[int], rho: Fraction, squares: int, seed: int) -> Any:
    runs = [tables(exact, rho, squares) for exact in (one, other)]
    outcomes = record(runs[0], SecureSampler(Keystream(seed)))
    return compare(*(replay(run, outcomes) for run in runs), {"tables"})


@pytest.mark.parametrize("rho", [Fraction(1, 1000), Fraction(1, 7), Fraction(3)], ids=str)
@pytest.mark.parametrize("one, other, squares", NEIGHBORS)
def test_replay_finds_what_was_charged(
    one: list[int], other: list[int], squares: int, rho: Fraction
) -> None:
    """No order loses more than rho, and an order at which c is a whole number loses all of it."""
    found = losses(one, other, rho, squares, seed=1)
    assert max(found.divergence.values()) <= float(rho) * (1 + 1e-9)
    assert found.strain <= 1 + 1e-9
    assert found.divergence[2.0] == pytest.approx(float(rho), rel=1e-5)
    assert set(found.divergence) == set(ORDERS)
    # the likelihood ratio of the outcome, by hand
    rate = float(2 * rho / squares)
    outcome = record(tables(one, rho, squares), SecureSampler(Keystream(1)))[0][1][0]
    a, b = ((outcome - np.array(exact)) ** 2 for exact in (one, other))
    assert found.loss == pytest.approx(rate * (a.sum() - b.sum()) / 2, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("twin", TWINS)
def test_replay_catches_noise_that_was_not_paid_for(twin: str) -> None:
    one, other, squares = NEIGHBORS[1]
    with rate_of(TWINS[twin]):
        found = losses(one, other, Fraction(1, 50), squares, seed=2)
    assert found.strain > 1.2
    assert max(found.divergence.values()) > 1.2 / 50


def test_replay_catches_a_record_that_moves_more_than_was_paid_for() -> None:
    assert losses([5, 0], [5, 2], Fraction(1, 50), 2, seed=3).strain > 1.9
    assert losses([5, 0], [6, 1], Fraction(1, 50), 1, seed=3).strain > 1.9


def test_replay_needs_the_same_draws() -> None:
    outcomes = record(tables([1, 2], Fraction(1), 1), SecureSampler(Keystream(4)))
    with pytest.raises(DivergedError):
        replay(tables([1, 2, 3], Fraction(1), 1), outcomes)
    with pytest.raises(DivergedError):
        replay(lambda sampler: sampler.coin(np.array([3])), outcomes)


def test_the_most_telling_outcome_lies_far_out() -> None:
    assert tables([4], Fraction(1), 1)(Telling(2)) == (24,)


# enumeration -------------------------------------------------------------------------------------


@pytest.mark.parametrize("rho", [Fraction(1, 50), Fraction(1, 2)], ids=str)
def test_enumerated_laws_keep_epsilon_and_delta(rho: Fraction) -> None:
    """Of one number that moves by one, and of two; twins with too little noise do not."""
    reach = math.ceil(5 / math.sqrt(2 * float(rho)))
    window = (-reach, reach)
    laws = [law(tables([exact], rho, 1), window) for exact in (0, 1)]
    assert all(math.isclose(math.fsum(found.values()), 1) for found in laws)
    for delta in (Fraction(1, 100), Fraction(1, 10**4)):
        assert hockey_stick(*laws, float(epsilon_of_rho(rho, delta))) <= float(delta)
    delta = Fraction(1, 100)
    with rate_of(lambda rho, k: 8 * rho):
        broken = [law(tables([exact], rho, 1), window) for exact in (0, 1)]
    assert hockey_stick(*broken, float(epsilon_of_rho(rho, delta))) > float(delta)


def test_enumerated_laws_of_several_numbers() -> None:
    rho, delta = Fraction(1, 2), Fraction(1, 100)
    epsilon = float(epsilon_of_rho(rho, delta))
    ends = [[0, 0], [1, 1]]

    def both() -> list[Any]:
        return [law(tables(exact, rho, 2), (-5, 6)) for exact in ends]

    assert hockey_stick(*both(), epsilon) <= float(delta)
    with rate_of(lambda rho, k: 6 * rho):
        assert hockey_stick(*both(), epsilon) > float(delta)
    # the joint law is the product: noises are independent
    one, joint = law(tables([0], Fraction(1, 4), 1), (-5, 6)), both()[0]
    for u, v in itertools.product((-1, 0, 2), repeat=2):
        assert joint[u, v] == pytest.approx(one[u,] * one[v,], rel=1e-6)


# distinguishers ----------------------------------------------------------------------------------


def seen(rho: Fraction, seed: int, runs: int = 100_000) -> float:
    """The epsilon that frequencies of "at least so many" prove, at delta 1e-6."""
    ledger = Ledger([UnitBudget("rho", rho, 1)])
    ledger.allow([Allowance("count", "rho", units=(1,), uses=1)])
    curator = Curator(ledger, SecureSampler(Keystream(seed)))
    both = np.repeat([[0], [1]], runs, axis=1)
    drawn = curator.gaussian("count", 0, ROOT, Sealed(both.reshape(1, -1)))[0].reshape(2, runs)
    events = (1, 12)
    hits = [((drawn[0] >= t).sum(), (drawn[1] >= t).sum()) for t in events]
    error = ERROR / len(events)
    return max(epsilon_bound((int(a), int(b)), runs, 1e-6, error) for a, b in hits)


def test_distinguishers_find_sigma_for_its_square() -> None:
    """Wrong with a probability of at most 1e-6, and of none for these seeds."""
    rho = Fraction(1, 5000)
    claim = float(epsilon_of_rho(rho, Fraction(1, 10**6)))
    assert seen(rho, seed=5) <= claim
    with rate_of(TWINS["sigma for its square"]):
        assert seen(rho, seed=5) > claim
