"""Budgets as people write them, and conversions that never state less than the truth."""

from __future__ import annotations

import decimal
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.errors import UsageError
from hedgerow.privacy.budget import (
    LARGEST_TERM,
    Budget,
    Number,
    UnitBudget,
    epsilon_of_rho,
    precision_below,
    rate_below,
    rho_of_epsilon,
    root_below,
)


@pytest.mark.parametrize(
    "written, exact",
    [
        (1, Fraction(1)),
        (0.1, Fraction(1, 10)),  # the decimal that was written, not its binary neighbor
        ("0.1", Fraction(1, 10)),
        (" 2.50 ", Fraction(5, 2)),
        ("1/3", Fraction(1, 3)),
        ("1e-3", Fraction(1, 1000)),
        (1e-6, Fraction(1, 10**6)),
        (Decimal("0.25"), Fraction(1, 4)),
        (Fraction(2, 7), Fraction(2, 7)),
        (np.float64(0.3), Fraction(3, 10)),
        (np.int64(2), Fraction(2)),
        (100, Fraction(100)),
    ],
)
def test_numbers_are_read_exactly(written: Number, exact: Fraction) -> None:
    epsilon = Budget.of(written).epsilon
    assert epsilon == exact
    assert type(epsilon.numerator) is int


@pytest.mark.parametrize(
    "written",
    [
        0, 0.0, "0", -1, "-0.5", "1/-2", math.nan, "nan", math.inf, -math.inf, "inf", 101, 10**400,
        "1e999999999", "1e-999999999", Decimal("1e999999"), "", "one", "1/0", "0/0", "1/2/3", None,
        True, np.bool_(True), [1], "0.0000001", 1e-300, "1/3000001", "9" * 5000,
    ],
)  # fmt: skip
def test_other_epsilons_are_refused_with_a_way_out(written: Number) -> None:
    with pytest.raises(UsageError) as caught:
        Budget.of(written)
    assert caught.value.hint
    assert "epsilon" in caught.value.message


@pytest.mark.parametrize("written", [-1e-9, 0.01, 1, "nan", math.inf, "1e-31", "x", None])
def test_other_deltas_are_refused_with_a_way_out(written: Number) -> None:
    with pytest.raises(UsageError) as caught:
        Budget.of(1, written)
    assert caught.value.hint
    assert "delta" in caught.value.message
    if written in (-1e-9, 0.01, 1):
        assert "at least 0 and below 0.01" in caught.value.message


@given(st.fractions(Fraction(1, 10**5), 99, max_denominator=10**12))
@settings(derandomize=True)
def test_an_epsilon_is_never_rounded_up(epsilon: Fraction) -> None:
    spent = Budget.of(epsilon).epsilon
    assert epsilon - Fraction(1, 10**6) < spent <= epsilon
    assert spent.denominator <= 10**6
    assert spent == epsilon or epsilon.denominator > 10**6


@pytest.mark.parametrize("written", ["1e-30", "3e-30", "0.0099999"])
def test_deltas_up_to_both_bounds_are_taken(written: str) -> None:
    assert Budget.of(1, written).delta == Fraction(written)


def test_rows_share_a_budget() -> None:
    budget = Budget.of("0.5", "1e-6", 8)
    assert budget.row_epsilon * 8 == budget.epsilon
    assert Budget.of(1, "1e-6").row_delta == Fraction(1, 10**6)
    assert Budget.of(1, 0, 50).row_delta == 0


@pytest.mark.parametrize(
    "epsilon, rows", [("0.123457", 1_001), ("0.123457", 11_111), ("0.000001", 2), ("0.5", 10**6)]
)
def test_shares_too_fine_to_be_drawn_are_refused(epsilon: str, rows: int) -> None:
    with pytest.raises(UsageError):
        Budget.of(epsilon, 0, rows)


@given(
    st.integers(1, 100 * 10**3).map(lambda n: Fraction(n, 1000)),
    st.integers(1, 40),
)
@settings(derandomize=True)
def test_deltas_of_rows_add_up_to_no_more_than_a_persons(epsilon: Fraction, rows: int) -> None:
    """Group privacy: d (1 + e^e + ... + e^((k - 1) e)) for k rows that are (e, d)-protected."""
    budget = Budget(epsilon, Fraction(1, 10**6), rows)
    with decimal.localcontext(prec=60):
        growth = (Decimal(epsilon.numerator) / Decimal(epsilon.denominator) / rows).exp()
        total = sum((growth**i for i in range(rows)), Decimal(0))
        person = Decimal(budget.row_delta.numerator) / Decimal(budget.row_delta.denominator) * total
        assert person <= Decimal("1e-6") * (1 + Decimal("1e-50"))


def test_a_pot_holds_its_units() -> None:
    assert UnitBudget("rho", Fraction(1, 7), 3).total == Fraction(3, 7)


# --- zCDP ----------------------------------------------------------------------------------


def least_delta(rho: Fraction, epsilon: Fraction) -> Decimal:
    """The delta of rho-zCDP at epsilon: the least over all orders a > 1 of
    exp((a - 1)(a rho - epsilon)) / (a - 1) * (1 - 1/a)^a. Floats find the order, and 40 digits
    judge it: any order is sound."""

    def log_delta(y: float) -> float:  # y = ln(a - 1)
        less_one = math.exp(y)
        order = less_one + 1
        grown = less_one * (order * float(rho) - float(epsilon))
        return grown - y + order * (math.log(less_one) - math.log(order))

    low, high = -10.0, 40.0
    for _ in range(150):
        first, second = low + (high - low) / 3, high - (high - low) / 3
        if log_delta(first) <= log_delta(second):
            high = second
        else:
            low = first
    with decimal.localcontext(prec=40):
        less_one = Decimal(low).exp()
        order = less_one + 1
        exact_rho, exact_epsilon = (
            Decimal(number.numerator) / Decimal(number.denominator) for number in (rho, epsilon)
        )
        grown = (less_one * (order * exact_rho - exact_epsilon)).exp()
        return grown / less_one * (order * (1 - 1 / order).ln()).exp()


@pytest.mark.slow
@given(
    st.integers(1, 8000).map(lambda n: Fraction(n, 1000)),
    st.sampled_from([Fraction(1, 10**3), Fraction(1, 10**6), Fraction(7, 10**12)]),
)
@settings(max_examples=30, deadline=None, derandomize=True)
def test_rho_of_epsilon_states_no_less_than_the_truth(epsilon: Fraction, delta: Fraction) -> None:
    rho = rho_of_epsilon(epsilon, delta)
    assert rho > 0
    stated = Decimal(delta.numerator) / Decimal(delta.denominator)
    assert least_delta(rho, epsilon) <= stated
    # and wastes next to nothing: with 0.1% more the guarantee could not be stated
    assert least_delta(rho * Fraction(1001, 1000), epsilon) > stated * Decimal("0.9")


@given(st.integers(1, 10**9), st.sampled_from([4, 6, 9, 30]))
@settings(max_examples=40, deadline=None, derandomize=True)
def test_epsilon_of_rho_states_no_less_than_the_truth(billionths: int, zeros: int) -> None:
    rho, delta = Fraction(billionths, 10**9), Fraction(1, 10**zeros)
    epsilon = epsilon_of_rho(rho, delta)
    assert least_delta(rho, epsilon) <= Decimal(f"1e-{zeros}") * (1 + Decimal("1e-6"))
    simple = float(rho) + 2 * math.sqrt(float(rho) * zeros * math.log(10))
    assert float(epsilon) <= simple * (1 + 1e-9) + 1e-9


@pytest.mark.parametrize("epsilon, rho", [("1", 0.0244), ("0.5", 0.00664)])
def test_figures_of_the_specification(epsilon: str, rho: float) -> None:
    found = float(rho_of_epsilon(Fraction(epsilon), Fraction(1, 10**6)))
    assert found == pytest.approx(rho, rel=0.005)


@given(st.integers(1, 10**8), st.integers(1, 10**8))
@settings(max_examples=20, deadline=None, derandomize=True)
def test_more_rho_costs_more(one: int, other: int) -> None:
    low, high = sorted((Fraction(one, 10**9), Fraction(other, 10**9)))
    delta = Fraction(1, 10**6)
    assert epsilon_of_rho(low, delta) <= epsilon_of_rho(high, delta) + Fraction(1, 10**9)


def test_nothing_costs_nothing() -> None:
    assert epsilon_of_rho(Fraction(0), Fraction(1, 10**6)) == 0


@pytest.mark.parametrize("epsilon", ["0.00001", "0.0001", "0.001"])
def test_small_epsilons_still_buy_some_rho(epsilon: str) -> None:
    exact = Fraction(epsilon)
    rho = rho_of_epsilon(exact, Fraction(1, 10**6))
    assert float(rho) > 0.9 * float(exact) ** 2 / (4 * math.log(10**6))
    assert epsilon_of_rho(rho, Fraction(1, 10**6)) <= exact


# --- rates ---------------------------------------------------------------------------------


@given(st.fractions(min_value=Fraction(1, 10**15), max_value=100, max_denominator=10**20))
@settings(derandomize=True)
def test_roots_are_rounded_down_and_close(square: Fraction) -> None:
    root = root_below(square)
    assert root > 0
    assert root**2 <= square
    assert float(root) >= math.sqrt(square) * (1 - 1e-2)
    assert root.denominator <= 1 << 32


@given(st.fractions(min_value=Fraction(1, 10**12), max_value=10**6, max_denominator=10**40))
@settings(derandomize=True)
def test_rates_are_rounded_down_and_fit(rate: Fraction) -> None:
    fitting = rate_below(rate)
    assert 0 < fitting <= rate
    assert max(fitting.numerator, fitting.denominator) < LARGEST_TERM
    assert float(fitting) >= float(rate) * (1 - 1e-2)
    if max(rate.numerator, rate.denominator) < LARGEST_TERM:
        assert fitting == rate


def test_hints_fit_what_is_asked_for():
    with pytest.raises(UsageError, match="delta must be a finite number(.|\n)*1e-9"):
        Budget.of(1, "nan")
    with pytest.raises(UsageError, match="epsilon must be a finite number(.|\n)*1/3"):
        Budget.of("nan")


def test_the_finest_shares_that_can_be_drawn() -> None:
    assert Budget.of("0.123457", 0, 1_000).row_epsilon == Fraction(123457, 10**9)
    assert Budget.of("0.001", 0, 1_000).row_epsilon == Fraction(1, 10**6)


@pytest.mark.slow
@pytest.mark.parametrize("rho", ["1/1000000", "1/1000", "1/10", "1", "10", "50", "90"])
@pytest.mark.parametrize("zeros", [3, 6, 30])
def test_the_best_order_is_found(rho: str, zeros: int) -> None:
    """Against orders so close to each other that none in between is better."""
    less_one = np.exp(np.arange(1, 40_000) / 1000 - 10)
    order = 1 + less_one
    slack = less_one * np.log1p(-1 / order) - np.log(order)
    bounds = order * float(Fraction(rho)) + (zeros * math.log(10) + slack) / less_one
    best = max(0.0, bounds.min())
    found = float(epsilon_of_rho(Fraction(rho), Fraction(1, 10**zeros)))
    assert best * (1 - 1e-6) <= found <= best * (1 + 2e-9) + 2e-12


def test_next_to_no_rho_is_never_said_to_cost_less_than_nothing() -> None:
    """The slack that stands for rounding errors is what is left."""
    assert epsilon_of_rho(Fraction(1, 10**15), Fraction(1, 101)) == Fraction(1, 10**12)


@pytest.mark.parametrize("epsilon", [0, -1, "-1/3"])
def test_an_epsilon_that_is_not_above_nothing_is_told_so(epsilon: Number) -> None:
    with pytest.raises(UsageError, match="must be above 0"):
        Budget.of(epsilon)


@pytest.mark.parametrize(
    "precision",
    [
        Fraction(1, 3),
        Fraction(7, 10**9),
        Fraction(123457, 1000003),
        Fraction(10**6, 3),
        Fraction(1, 10**12),
        Fraction(3**40, 4**35),
    ],
)
def test_precisions_are_rounded_towards_more_noise(precision: Fraction) -> None:
    fitting = precision_below(precision)
    assert 0 <= precision - fitting < precision / 10**2
    assert max(fitting.numerator, fitting.denominator) < LARGEST_TERM
    assert fitting.denominator & (fitting.denominator - 1) == 0
    if precision > Fraction(1, 25_000_000):
        assert precision - fitting < precision / 2**23


def test_precisions_that_fit_stay_as_they_are() -> None:
    for precision in (Fraction(1), Fraction(1, 4), Fraction(5, 2), Fraction(3, 1 << 40)):
        assert precision_below(precision) == precision
    assert precision_below(Fraction(1, 1 << 60)) == 0  # refused by a plan
