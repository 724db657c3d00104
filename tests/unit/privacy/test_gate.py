"""The gate against its formula: what each level subtracts, and what a whole path costs."""

from __future__ import annotations

import math
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from hedgerow.counting.sealed import Sealed
from hedgerow.errors import LeakError
from hedgerow.privacy import curator
from hedgerow.privacy.budget import UnitBudget
from hedgerow.privacy.curator import Curator, Gate
from hedgerow.privacy.keystream import Keystream
from hedgerow.privacy.ledger import Allowance, Ledger
from hedgerow.privacy.sampler import Listing, SecureSampler

DEPTHS = 10


class Watched(SecureSampler):
    """Notes what a gate hands to the mechanism."""

    def __init__(self) -> None:
        super().__init__(Keystream(seed=1))
        self.seen: list[tuple[list[int], Fraction, int]] = []

    def listed(self, cells: Any, counts: Any, rule: Listing) -> Any:
        assert rule.law == "mark"
        self.seen.append((counts.tolist(), rule.rate, rule.threshold))
        return super().listed(cells, counts, rule)


def handed_over(epsilon: Fraction, bits: int, counts: list[int]) -> Watched:
    """What the mechanism gets on every level of a path on which all counts stay the same."""
    ledger = Ledger((UnitBudget("epsilon", epsilon, 1),))
    ledger.allow([Allowance("gate", "epsilon", units=(1,), uses=1)])
    sampler = Watched()
    curator = Curator(ledger, sampler)
    gate = curator.open_gate("gate", bits)
    cells = Sealed((np.arange(len(counts)), np.asarray(counts)))
    for depth in range(DEPTHS):
        curator.pass_gate("gate", gate, cells, 2 * len(counts), depth)
    return sampler


def by_the_book(epsilon: float, bits: int) -> tuple[float, int]:
    """The rate and the step: lambda = (2 beta - 1) / ((beta - 1) epsilon), ceil(lambda ln beta)."""
    beta = 2.0**bits
    scale = (2 * beta - 1) / ((beta - 1) * epsilon)
    return 1 / scale, math.ceil(scale * math.log(beta))


@pytest.mark.parametrize("epsilon", [Fraction(1, 4), Fraction(1), Fraction(8)], ids=str)
@pytest.mark.parametrize("bits", [2, 3, 9])
def test_every_level_subtracts_one_step_more(epsilon: Fraction, bits: int) -> None:
    rate, step = by_the_book(float(epsilon), bits)
    counts = sorted({0, 1, step - 1, step, step + 1, 3 * step, 5 * step + 2, 40 * step})
    seen = handed_over(epsilon, bits, counts).seen
    assert len(seen) == DEPTHS
    for depth, (over, used, threshold) in enumerate(seen):
        assert over == [max(0, count - depth * step) for count in counts]
        assert threshold == step
        assert float(used) <= rate  # rounded down, never up
        assert math.isclose(float(used), rate, rel_tol=1e-9)


def test_a_step_is_never_below_its_logarithm() -> None:
    """By rounding up a logarithm that is itself rounded up; by a hair less, some step is short."""
    exact = Decimal(2).ln(Context(prec=40))
    assert 0 < Decimal(curator._LN2.numerator) / curator._LN2.denominator - exact < Decimal("1e-6")
    for bits in (1, 3, 9, 40):
        for epsilon in (Fraction(1, 1000), Fraction(1), Fraction(7, 3)):
            made = Gate.of(epsilon, bits)
            assert made.step * Decimal(made.rate.numerator) >= (
                bits * exact * made.rate.denominator
            )


def tail(rate: float, m: int) -> float:
    """P[DLap(rate) >= m]."""
    a = math.exp(-rate)
    return a**m / (1 + a) if m >= 0 else 1 - a ** (1 - m) / (1 + a)


def path_loss(fewer: Watched, more: Watched, passed: int) -> float:
    """What tells n records from n + 1, if so many decisions passed and the next did not."""
    loss = 0.0
    for depth in range(min(passed + 1, DEPTHS)):
        (before,), rate, threshold = fewer.seen[depth]
        (now,), _, _ = more.seen[depth]
        p, q = (tail(float(rate), threshold - over) for over in (before, now))
        loss += math.log(q / p) if depth < passed else math.log((1 - q) / (1 - p))
    return abs(loss)


@pytest.mark.parametrize("bits", [2, 3])
def test_no_path_costs_more_than_was_paid(bits: int) -> None:
    """All lengths of a path, all counts; and the bound is nearly reached."""
    epsilon = Fraction(1, 4)
    _, step = by_the_book(0.25, bits)
    watched = [handed_over(epsilon, bits, [count]) for count in range((DEPTHS + 1) * step)]
    worst = max(
        path_loss(fewer, more, passed)
        for fewer, more in zip(watched, watched[1:], strict=False)
        for passed in range(DEPTHS + 1)
    )
    assert 0.8 < worst / float(epsilon) <= 1


def test_a_gate_is_passed_downwards_once_it_is_paid() -> None:
    ledger = Ledger((UnitBudget("epsilon", Fraction(1), 1),))
    ledger.allow([Allowance("gate", "epsilon", units=(1,), uses=1)])
    curator = Curator(ledger, Watched())
    nobody = Sealed((np.zeros(0, np.int64), np.zeros(0, np.int64)))
    with pytest.raises(LeakError):
        curator.pass_gate("gate", Gate.of(Fraction(1), 3), nobody, 3, 0)  # nothing is booked
    gate = curator.open_gate("gate", 3)
    curator.pass_gate("gate", gate, nobody, 3, 2)
    with pytest.raises(LeakError):
        curator.pass_gate("gate", gate, nobody, 3, 1)


def test_a_gate_begins_above_all_levels() -> None:
    """Nobody can make one that has been used, or say how far."""
    assert Gate.of(Fraction(1), 3).level == 0
    with pytest.raises(TypeError):
        Gate(Fraction(1, 2), 5, 2)  # type: ignore[call-arg]
