"""The exact binomial draw: its bounds against many digits, its law against exact probabilities."""

from __future__ import annotations

import decimal
import math
from collections.abc import Callable, Hashable, Iterable, Mapping
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from hedgerow.privacy import sampler
from hedgerow.privacy.keystream import Keystream
from hedgerow.privacy.sampler import sample_tail

Judge = Callable[[Iterable[Hashable], Mapping[Hashable, float]], bool]


def exact_exp_minus(x: Fraction, digits: int = 120) -> Fraction:
    with decimal.localcontext(prec=digits):
        return Fraction((-Decimal(x.numerator) / Decimal(x.denominator)).exp())


def tail_probability(rate: float, threshold: int) -> float:
    return math.exp(-rate * threshold) / (1 + math.exp(-rate))


@given(
    st.fractions(min_value=Fraction(1, 10**9), max_value=200, max_denominator=10**9),
    st.sampled_from([16, 64, 200]),
)
@settings(max_examples=60, deadline=None, derandomize=True)
def test_the_exponential_is_bracketed_and_tight(x: Fraction, precision: int) -> None:
    low, high = sampler._exp_minus(x, precision)
    true = exact_exp_minus(x) * 2**precision
    assert low <= true <= high
    assert high - low <= 3


@given(
    st.fractions(min_value=Fraction(1, 1000), max_value=5, max_denominator=1000),
    st.integers(1, 40),
    st.integers(1, 10**6),
)
@settings(max_examples=60, deadline=None, derandomize=True)
def test_the_tail_and_its_powers_are_bracketed(rate: Fraction, threshold: int, power: int) -> None:
    precision = 160
    one = 1 << precision
    low, high = sampler.bound_tail(rate, threshold, precision)
    true = exact_exp_minus(rate * threshold) / (1 + exact_exp_minus(rate))
    assert low <= true * one <= high
    assert high - low <= 8
    with decimal.localcontext(prec=120):
        nothing = Fraction(Decimal(1 - true.numerator / Decimal(true.denominator)) ** power)
    low, high = sampler._power((one - high, one - low), power, precision)
    slack = Fraction(1, 10**100)
    assert low <= (nothing + slack) * one
    assert (nothing - slack) * one <= high
    assert high - low <= 64 * power


@pytest.mark.slow
@pytest.mark.parametrize(
    "trials, rate, threshold",
    [
        (1, Fraction(1, 2), 1),
        (7, Fraction(1), 1),
        (40, Fraction(1, 2), 3),
        (1000, Fraction(1, 3), 9),
    ],
)
def test_the_law(trials: int, rate: Fraction, threshold: int, fits: Judge) -> None:
    stream = Keystream(seed=41)
    drawn = [sample_tail(stream, trials, rate, threshold) for _ in range(4_000)]
    p = tail_probability(float(rate), threshold)

    def law(p: float) -> dict[Hashable, float]:
        return {k: float(stats.binom.pmf(k, trials, p)) for k in range(trials + 1)}

    assert fits(drawn, law(p))
    for wrong in (1.3, 1 / 1.3):
        assert not fits(drawn, law(min(1.0, p * wrong)))
        twin = tail_probability(float(rate) * wrong, threshold)  # noise of the wrong scale
        assert trials == 1 or not fits(drawn, law(twin))


def test_more_trials_than_one_portion_holds(fits: Judge) -> None:
    """A mean of about 186 is drawn in portions of a mean of 32, and their sum is binomial too."""
    stream = Keystream(seed=42)
    drawn = [sample_tail(stream, 500, Fraction(1, 100), 1) for _ in range(800)]
    p = tail_probability(0.01, 1)
    assert fits(drawn, {k: float(stats.binom.pmf(k, 500, p)) for k in range(501)})


def test_trials_without_bound_and_a_tiny_probability(fits: Judge) -> None:
    """10^30 empty cells of which about 5.8 are listed: the law is Poisson to 28 digits."""
    stream = Keystream(seed=43)
    drawn = [sample_tail(stream, 10**30, Fraction(1), 67) for _ in range(2_000)]
    mean = 1e30 * tail_probability(1.0, 67)
    assert 5 < mean < 7
    assert fits(drawn, {k: float(stats.poisson.pmf(k, mean)) for k in range(60)})
    assert not fits(drawn, {k: float(stats.poisson.pmf(k, mean * 1.3)) for k in range(60)})


def test_edges() -> None:
    stream = Keystream(seed=44)
    assert sample_tail(stream, 0, Fraction(1), 1) == 0
    assert stream.at.tolist() == [0, 0]  # no trial needs no randomness
    assert sample_tail(stream, 10**6, Fraction(50), 40) == 0
    assert sample_tail(stream, 10**30, Fraction(100), 10**6) == 0


def test_a_comparison_that_bits_cannot_decide_asks_for_more() -> None:
    """U agrees with P[K = 0] in its first 64 bits, so 64 more are read."""
    trials, rate, threshold = 3, Fraction(1), 1
    precision = 400
    one = 1 << precision
    low, high = sampler.bound_tail(rate, threshold, precision)
    nothing = sampler._power((one - high, one - low), trials, precision)[0]
    first = nothing >> precision - 64
    assert sampler._invert(first, 64, trials, rate, threshold) is None
    assert sampler._invert(first - 1, 64, trials, rate, threshold) == 0
    assert sampler._invert(first + 1, 64, trials, rate, threshold) == 1

    class Fixed(Keystream):
        def __init__(self, *words: int) -> None:
            self.left = list(words)

        def bits(self, number: int) -> int:
            assert number == 64
            return self.left.pop(0)

    second = nothing >> precision - 128 & (1 << 64) - 1
    assert sample_tail(Fixed(first, second - 1), trials, rate, threshold) == 0
    assert sample_tail(Fixed(first, second + 1), trials, rate, threshold) == 1


@pytest.mark.parametrize("x", [Fraction(0), Fraction(1, 10**30), Fraction(1, 10**9)])
def test_a_bracket_stays_within_one(x: Fraction) -> None:
    low, high = sampler._exp_minus(x, 64)
    assert 0 < low <= high <= 1 << 64


def test_trials_are_drawn_in_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a mean of about 32, or the sums of an inversion would be long."""
    asked = []
    monkeypatch.setattr(sampler, "_sample", lambda stream, n, *_: asked.append(n) or 0)
    sample_tail(Keystream(seed=1), 10_000, Fraction(1), 1)
    p = tail_probability(1.0, 1)
    assert sum(asked) == 10_000
    assert asked[0] == int(32 / p) and max(asked) == asked[0]
