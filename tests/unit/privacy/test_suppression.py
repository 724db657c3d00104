"""The deltas of leaving rows out, against plain sums, and against what `verify` works out."""

from __future__ import annotations

import math
from decimal import Context, Decimal
from fractions import Fraction

import pytest

from hedgerow.errors import UsageError
from hedgerow.privacy import suppression
from hedgerow.privacy.suppression import (
    least_group,
    least_threshold,
    noisy_delta,
    sampled_delta,
    sampling_allowed,
)
from hedgerow.verification import supermodular as verify_rows
from hedgerow.verification.supermodular import listing_delta, sampling_delta, sampling_floor

CASES = [("1", 12, "0.2"), ("1", 5, "0.5"), ("0.7", 9, "0.3"), ("2", 3, "0.8"), ("0.2", 4, "0.1")]


def plain(epsilon: float, group: int, share: float, most: int = 150) -> float:
    """The formula as it stands, up to n = 150."""
    best = 0.0
    for n in range(most):
        point = [math.comb(n, j) * share**j * (1 - share) ** (n - j) for j in range(n + 1)]
        tail = 0.0
        for place in range(n, max(group - 1, 0) - 1, -1):
            best = max(best, share * point[place] - math.expm1(epsilon) * tail)
            tail += point[place]
    return best


@pytest.mark.parametrize("epsilon, group, share", CASES)
def test_sampled_delta_is_the_formula(epsilon, group, share):
    exact = (Fraction(epsilon), group, Fraction(share))
    expected = plain(float(epsilon), group, float(share))
    assert float(sampled_delta(*exact)) == pytest.approx(expected, rel=1e-12)
    assert float(sampling_delta(*exact)) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("epsilon, group, share", CASES)
def test_deltas_are_rounded_up_and_agree(epsilon, group, share):
    exact = (Fraction(epsilon), group, Fraction(share))
    ours, theirs = sampled_delta(*exact), sampling_delta(*exact)
    assert abs(ours / theirs - 1) < Fraction(1, 10**30)
    # the first term alone, exactly, from below: neither may fall short of it
    e_up = Fraction(math.exp(float(exact[0]))) * (1 + Fraction(1, 10**12))
    n, place, s = group + 1, group - 1, exact[2]
    point = [math.comb(n, j) * s**j * (1 - s) ** (n - j) for j in range(n + 1)]
    assert min(ours, theirs) >= s * point[place] - (e_up - 1) * sum(point[place + 1 :])


def test_the_least_groups_that_were_worked_out_by_hand():
    shares = [Fraction(s, 20) for s in (1, 2, 4, 6, 8, 10, 12)]
    small = [least_group(Fraction(1), Fraction(1, 10**6), s) for s in shares]
    tiny = [least_group(Fraction(1), Fraction(1, 10**9), s) for s in shares]
    assert small == [6, 8, 12, 17, 25, 35, 51]
    assert tiny == [9, 12, 19, 28, 41, 58, 86]


@pytest.mark.parametrize("epsilon, delta, share", [("1", 6, "0.3"), ("0.5", 9, "0.2")])
def test_least_groups_are_just_enough(epsilon, delta, share):
    e, d, s = Fraction(epsilon), Fraction(1, 10**delta), Fraction(share)
    group = least_group(e, d, s)
    assert sampled_delta(e, group, s) <= d < sampled_delta(e, group - 1, s)


@pytest.mark.slow
def test_a_huge_group_is_refused():
    with pytest.raises(UsageError, match="huge"):
        # a hair above the least epsilon that can pay for so many
        least_group(Fraction("4.6052"), Fraction(1, 10**30), Fraction("0.99"))


@pytest.mark.parametrize("rate", ["1", "0.1", "1/3", "5"])
@pytest.mark.parametrize("threshold", [1, 2, 15, 100])
def test_noisy_delta_is_the_tail(rate, threshold):
    e = Fraction(rate)
    a = math.exp(-float(e))
    expected = a ** (threshold - 1) / (1 + a)
    assert float(noisy_delta(e, threshold)) == pytest.approx(expected, rel=1e-12)
    assert float(listing_delta(e, threshold)) == pytest.approx(expected, rel=1e-12)
    assert abs(listing_delta(e, threshold) - noisy_delta(e, threshold)) < Fraction(1, 10**38)


@pytest.mark.parametrize("rate", ["1", "0.01", "3/7"])
def test_least_thresholds_are_just_enough(rate):
    e, d = Fraction(rate), Fraction(1, 10**7)
    threshold = least_threshold(e, d)
    assert noisy_delta(e, threshold) <= d < noisy_delta(e, threshold - 1)


def test_what_sampling_costs_at_least():
    for share in (Fraction(1, 100), Fraction(1, 5), Fraction(9, 10)):
        floor = sampling_floor(share)
        assert float(floor) == pytest.approx(-math.log1p(-float(share)), rel=1e-12)
        above, below = (Fraction(round(floor * 10**9) + k, 10**9) for k in (2, -2))
        assert sampling_allowed(above, share)
        assert not sampling_allowed(below, share)
    assert not sampling_allowed(Fraction(100), Fraction(1))
    assert not sampling_allowed(Fraction(1), Fraction(0))


def test_the_growth_is_rounded_down():
    """Against the exponential function to twice as many digits, which rounds to nearest too."""
    finer = Context(prec=110)
    for number in range(1, 400):
        epsilon = Fraction(number, 37)
        above = finer.exp(finer.divide(Decimal(number), Decimal(37)))
        growth = suppression._growth(epsilon)
        # what was taken away is more than half of a last digit, and still next to nothing
        assert Fraction(1, 10**48) < 1 - Fraction(growth) / Fraction(above) < Fraction(1, 10**45)


def test_no_group_is_larger_than_verify_looks_at():
    epsilon, delta = Fraction("0.51"), Fraction(1, 10**9)
    shares = [Fraction(step, 100) for step in range(1, 40)]
    sizes = []
    for share in shares:
        try:
            sizes.append(least_group(epsilon, delta, share))
        except UsageError:
            break
    assert max(sizes) <= suppression._MOST_GROUP == verify_rows._MOST_LEAST
