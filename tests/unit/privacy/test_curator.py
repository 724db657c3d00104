"""The curator charges, then opens, then draws, at the rate that the charge buys."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from hedgerow.counting.sealed import Sealed
from hedgerow.errors import LeakError
from hedgerow.privacy.budget import UnitBudget
from hedgerow.privacy.curator import Curator, Gate
from hedgerow.privacy.ledger import Allowance, Ledger
from hedgerow.privacy.sampler import Candidates, Choices, Listing, Rates

ROOT = np.array([0])
ONE = np.array([1])
SCORED: Sealed[Candidates] = Sealed(
    Candidates(start=np.array([0, 1]), score=ONE, weight=ONE, count=ONE, part=ONE, first=ONE)
)


class Watcher:
    """A chance that draws nothing and remembers what it was asked, and what was booked then."""

    def __init__(self) -> None:
        self.ledger: Ledger
        self.rates: tuple[Fraction, ...] = ()
        self.flip: bool | None = None
        self.law = ""
        self.left: dict[str, int] = {}

    def _look(self, rates: tuple[Fraction, ...]) -> None:
        self.rates = rates
        self.left = {
            budget: int(self.ledger.left(budget, ROOT)[0]) for budget in self.ledger.budgets
        }

    def select(self, candidates: Candidates, rates: Rates, flip: bool) -> Choices:
        self._look(rates.values)
        self.flip = flip
        return Choices(ROOT, ROOT)

    def laplace(self, exact: Any, rates: Rates) -> Any:
        self._look(rates.values)
        self.law = "laplace"
        return exact

    def gaussian(self, exact: Any, rates: Rates) -> Any:
        self._look(rates.values)
        self.law = "gaussian"
        return exact

    def listed(self, cells: Any, counts: Any, rule: Listing) -> Any:
        self._look((rule.rate,))
        return cells, counts


def curator() -> tuple[Curator, Watcher]:
    ledger = Ledger(
        [UnitBudget("epsilon", Fraction(1, 10), 10), UnitBudget("rho", Fraction(1, 50), 10)]
    )
    ledger.allow(
        [
            Allowance("pure", "epsilon", units=(3,), uses=1),
            Allowance("zcdp", "rho", units=(4,), uses=1),
            Allowance("leaf", "epsilon", units=None, uses=1),
            Allowance("spare", "rho", units=None, uses=1),
        ]
    )
    watcher = Watcher()
    watcher.ledger = ledger
    return Curator(ledger, watcher), watcher


def test_a_pure_selection_has_the_rate_that_its_charge_buys() -> None:
    made, watcher = curator()
    made.select("pure", 0, ROOT, SCORED, score_range=4, flip=True)
    assert watcher.rates == (Fraction(3, 10) / 4,)
    assert watcher.flip is True
    assert watcher.left["epsilon"] == 7  # booked before anything was drawn


def test_a_zcdp_selection_is_rounded_down_and_never_flips() -> None:
    made, watcher = curator()
    made.select("zcdp", 0, ROOT, SCORED, score_range=4, flip=True)
    (rate,) = watcher.rates
    assert (rate * 4) ** 2 / 8 <= Fraction(4, 50)
    assert float(rate) == pytest.approx((8 * 4 / 50) ** 0.5 / 4, rel=1e-6)
    assert watcher.flip is False  # permute-and-flip has no bounded range
    assert watcher.left["rho"] == 6


def test_noise_has_the_rate_that_its_charge_buys() -> None:
    made, watcher = curator()
    noisy, units = made.laplace("pure", 0, ROOT, Sealed(np.array([[5]])))
    assert watcher.rates == (Fraction(3, 10),)
    assert (noisy.tolist(), units.tolist()) == ([[5]], [3])
    noisy, units = made.gaussian("zcdp", 0, ROOT, Sealed(np.array([[5]])))
    assert watcher.rates[0] / 2 <= Fraction(4, 50)  # what it costs
    assert float(watcher.rates[0]) == pytest.approx(2 * 4 / 50, rel=1e-7)
    assert (noisy.tolist(), units.tolist()) == ([[5]], [4])
    _, _, sparse_units = made.sparse("leaf", Sealed((ROOT, ONE)), 9, 2)
    assert (watcher.rates, sparse_units) == ((Fraction(7, 10),), 7)
    assert watcher.left == {"epsilon": 0, "rho": 6}


@pytest.mark.parametrize("squares", [1, 2, 3, 14, 65536])
def test_gaussian_noise_grows_with_the_squares_of_a_records_changes(squares: int) -> None:
    """k tables cost k / (2 sigma^2), and never more than was booked, however it is rounded."""
    for unit in (Fraction(1, 50), Fraction(1, 3), Fraction(123457, 10**11), Fraction(7)):
        ledger = Ledger([UnitBudget("rho", unit, 10)])
        ledger.allow([Allowance("tables", "rho", units=None, uses=1)])
        watcher = Watcher()
        watcher.ledger = ledger
        made = Curator(ledger, watcher)
        exact = Sealed(np.array([[5, 6]]))
        made.gaussian("tables", 0, ROOT, exact, np.array([4]), max_contribution=squares)
        (rate,) = watcher.rates
        Rates(values=(rate,), which=ROOT).terms()
        paid = 4 * unit
        assert 0 <= paid - squares * rate / 2 < paid / 10**4
        assert watcher.left == {"rho": 6}


@pytest.mark.parametrize("tables", [1, 2, 3, 14])
def test_laplace_noise_grows_with_the_numbers_that_count_a_record(tables: int) -> None:
    made, watcher = curator()
    made.laplace("pure", 0, ROOT, Sealed(np.array([[5, 6]])), max_contribution=tables)
    assert watcher.rates == (Fraction(3, 10) / tables,)


def test_each_budget_buys_its_own_noise() -> None:
    for purpose, law in (("pure", "laplace"), ("zcdp", "gaussian")):
        made, watcher = curator()
        made.noisy(purpose, 0, ROOT, Sealed(np.array([[5]])))
        assert (watcher.law, made.law(purpose)) == (law, law)
        assert watcher.rates == (made.noise_rate(purpose, {"pure": 3, "zcdp": 4}[purpose]),)
    for draw, purpose in ((made.gaussian, "leaf"), (made.laplace, "spare")):
        watcher.rates = ()
        with pytest.raises(LeakError, match="is not paid in"):
            draw(purpose, 0, ROOT, Sealed(np.array([[5]])))
        assert watcher.rates == ()
    assert watcher.left == {"epsilon": 10, "rho": 6}


@pytest.mark.parametrize("purpose", ["pure", "zcdp"])
def test_a_refused_charge_draws_nothing(purpose: str) -> None:
    made, watcher = curator()
    made.noisy(purpose, 0, ROOT, Sealed(np.array([[5]])))
    watcher.rates = ()
    looked: list[Any] = []

    def gathered(found: Any) -> Any:
        looked.append(found)
        return found

    for attempt in (
        lambda: made.laplace(purpose, 0, ROOT, Sealed(np.array([[5]]))),
        lambda: made.gaussian(purpose, 0, ROOT, Sealed(np.array([[5]]))),
        lambda: made.select(purpose, 0, ROOT, SCORED, score_range=1, flip=False),
        lambda: made.sparse(purpose, Sealed((ROOT, ONE)), 9, 2),
        lambda: made.mark(purpose, Sealed((ROOT, ONE)), 9, 2, 0, 0, 1),
        lambda: made.nonempty(purpose, Sealed((ROOT, ONE)), gathered, 2),
        lambda: made.keep(purpose, Sealed((ROOT, ONE)), gathered, Fraction(1, 2), 2),
        lambda: made.open_gate(purpose, 3),
        lambda: made.laplace("other", 0, ROOT, Sealed(np.array([[5]]))),
        lambda: made.gaussian("other", 0, ROOT, Sealed(np.array([[5]]))),
    ):
        with pytest.raises(LeakError):
            attempt()
        assert watcher.rates == ()
    assert looked == []


def test_a_gate_that_was_not_paid_for_decides_nothing() -> None:
    made, watcher = curator()
    gate = Gate.of(Fraction(1, 2), 3)
    for purpose in ("pure", "other"):
        with pytest.raises(LeakError, match="before it was paid for"):
            made.pass_gate(purpose, gate, Sealed((ROOT, ONE)), 9, 0)
    assert watcher.rates == ()


def test_rows_are_paid_for_before_they_are_looked_at() -> None:
    """What becomes of a record may be drawn when it is looked at, so the charge comes first."""
    made, watcher = curator()
    left = []

    def gather(found: Any) -> Any:
        left.append(made.ledger.left("epsilon", ROOT).tolist())
        return found

    made.nonempty("pure", Sealed((ROOT, ONE)), gather, 2)
    assert watcher.rates == (Fraction(3, 10),)
    assert watcher.left["epsilon"] == 7
    made.keep("leaf", Sealed((ROOT, ONE)), gather, Fraction(1, 2), 2)
    assert watcher.rates == (Fraction(1, 2),)
    assert watcher.left["epsilon"] == 0
    assert left == [[7], [0]]


def test_a_gate_is_passed_from_the_top_down() -> None:
    """Its price is that of one walk down each path: a level above is not asked about again."""
    made, watcher = curator()
    gate = made.open_gate("pure", 3)
    for depth in (0, 0, 1, 2, 2):  # several partitions of a level
        made.pass_gate("pure", gate, Sealed((ROOT, ONE)), 9, depth)
    assert watcher.rates == (gate.rate,)
    watcher.rates = ()
    for depth in (1, 0, -1):
        with pytest.raises(LeakError, match="level above"):
            made.pass_gate("pure", gate, Sealed((ROOT, ONE)), 9, depth)
    assert watcher.rates == ()
    made.pass_gate("pure", gate, Sealed((ROOT, ONE)), 9, 3)


def test_what_crashed_is_spent() -> None:
    made, watcher = curator()

    def crash(*_: object) -> Choices:
        raise MemoryError

    watcher.select = crash  # type: ignore[method-assign]
    with pytest.raises(MemoryError):
        made.select("pure", 0, ROOT, SCORED, score_range=1, flip=False)
    assert made.ledger.left("epsilon", ROOT).tolist() == [7]


def test_awkward_fractions_are_rounded_down_to_what_samplers_hold() -> None:
    unit = Fraction(123457, 10**11)
    ledger = Ledger([UnitBudget("epsilon", unit, 100_000)])
    ledger.allow([Allowance("select", "epsilon", units=(4847,), uses=1)])
    watcher = Watcher()
    watcher.ledger = ledger
    Curator(ledger, watcher).select("select", 0, ROOT, SCORED, score_range=131_074, flip=True)
    wanted = unit * 4847 / 131_074
    (rate,) = watcher.rates
    Rates(values=(rate,), which=ROOT).terms()
    assert 0 < wanted - rate < wanted / 10**6
