"""The bound on sums of noises, against exact convolutions."""

from __future__ import annotations

import math
from fractions import Fraction
from statistics import NormalDist

import numpy as np
import pytest

from hedgerow.estimate.measurements import Measurement, factor, half_width, tail

LEVELS = (0.5, 0.8, 0.9, 0.95, 0.99, 0.999)
STEPS = 60  # weights are multiples of 1/60, so sums lie on a lattice and convolve exactly


def gaussian(rate):
    """The law of one discrete Gaussian noise."""
    reach = math.ceil(math.sqrt(80 / rate)) + 1
    one = np.exp(-rate * np.arange(-reach, reach + 1.0) ** 2 / 2)
    return one / one.sum()


def laplace(rate):
    """The law of one discrete Laplace noise."""
    a = math.exp(-rate)
    reach = math.ceil(25 / rate)
    return (1 - a) / (1 + a) * a ** np.abs(np.arange(-reach, reach + 1))


def law(rates, weights, kinds=None):
    """The exact law of a weighted sum of discrete noises, on a lattice of 1/STEPS."""
    total = np.ones(1)
    for rate, weight, kind in zip(rates, weights, kinds or [laplace] * len(rates), strict=True):
        one = kind(rate)
        reach = len(one) // 2
        spaced = np.zeros(2 * reach * weight + 1)
        spaced[::weight] = one
        size = len(total) + len(spaced) - 1
        both = np.fft.irfft(np.fft.rfft(total, size) * np.fft.rfft(spaced, size), size)
        total = np.maximum(both, 0)
    return total


def within(chances, width):
    """P(|X| <= width) for a law around 0."""
    middle = len(chances) // 2
    reach = min(middle, math.floor(width * STEPS + 1e-9))
    return chances[middle - reach : middle + reach + 1].sum()


def deviation(rates, weights):
    return math.sqrt(sum(2 * (w / STEPS / r) ** 2 for r, w in zip(rates, weights, strict=True)))


def mixtures():
    random = np.random.default_rng(7)
    for rate in (0.05, 0.3, 1.0, 3.0, 6.0):
        for terms in (1, 2, 3, 6):
            yield [rate] * terms, [STEPS] * terms
    for _ in range(40):
        terms = int(random.integers(1, 7))
        rates = np.exp(random.uniform(math.log(0.1), math.log(3), terms))
        weights = random.choice([2, 5, 12, 20, 30, 45, 60], terms)
        weights[0] = STEPS
        yield rates.tolist(), weights.tolist()


@pytest.mark.slow
def test_intervals_hold_the_truth_at_every_level():
    for rates, weights in mixtures():
        chances = law(rates, weights)
        for level in LEVELS:
            width = half_width(np.array([deviation(rates, weights)]), level)[0]
            assert within(chances, width) >= level - 1e-12, (rates, weights, level)


def test_slow_noise_too():
    """Rates down to 0.02, where laws are long: one and two terms."""
    for rates in ([0.02], [0.02, 0.5], [0.02, 0.02]):
        chances = law(rates, [1] * len(rates))  # weight 1 on a lattice of whole numbers
        for level in LEVELS:
            width = factor(level) * math.sqrt(sum(2 / r**2 for r in rates)) + 0.5
            middle = len(chances) // 2
            reach = min(middle, math.floor(width))
            assert chances[middle - reach : middle + reach + 1].sum() >= level


def test_without_the_half_step_they_would_not():
    """Somewhere: the level at which one noise just needs a whole number more."""
    for rate in (0.5, 1.0, 2.0):
        chances = law([rate], [STEPS])
        level = within(chances, 8) + 1e-9  # so 9 is needed
        width = half_width(np.array([math.sqrt(2) / rate]), level)[0]
        assert width - 0.5 < 9 <= width


@pytest.mark.slow
def test_intervals_are_little_wider_than_they_must_be():
    """Against the shortest exact ones, counted in whole numbers; where noise is worth the name."""
    ratios = []
    for rates, weights in mixtures():
        if set(weights) != {STEPS} or max(rates) > 1:
            continue  # on fractions of a step, "shortest" depends on the lattice
        chances = law(rates, weights)
        for level in LEVELS:
            shortest = next(m for m in range(10_000) if within(chances, m) >= level)
            width = math.floor(half_width(np.array([deviation(rates, weights)]), level)[0])
            if shortest >= 3:  # below that one whole number more is half of all
                ratios.append((2 * width + 1) / (2 * shortest + 1))
    assert max(ratios) <= 1.5
    assert np.mean(ratios) <= 1.2


def test_the_factor_lies_just_above_both_limits():
    for level in LEVELS:
        normal = NormalDist().inv_cdf((1 + level) / 2)
        laplace = math.log(1 / (1 - level)) / math.sqrt(2)
        assert max(normal, laplace) - 1e-9 <= factor(level) <= 1.04 * max(normal, laplace)


def test_the_usual_factor_is_the_one_that_would_be_worked_out():
    assert factor(0.95) == pytest.approx(factor(math.nextafter(0.95, 1)), abs=1e-9)


def test_the_bound_holds_for_continuous_mixtures():
    """One Laplace noise and a normal one, in all proportions: P(|X| > t) in closed form."""
    for t in (0.3, 1.0, 1.6, 2.2, 3.5, 5.0):
        for share in (0.02, 0.2, 0.5, 0.8, 0.98):
            b, s = math.sqrt(share / 2), math.sqrt(1 - share)
            grid = np.linspace(-40 * b, 40 * b, 40_001)
            density = np.exp(-np.abs(grid) / b) / (2 * b)
            beyond = [
                1 - NormalDist(0, s).cdf(t - x) + NormalDist(0, s).cdf(-t - x) for x in grid[::40]
            ]
            chance = np.trapezoid(np.array(beyond) * density[::40], grid[::40])
            assert chance <= tail(t) + 1e-3  # the error of the rule of trapezoids


def test_no_interval_is_narrower_than_a_step():
    assert half_width(np.zeros(1), 0.95)[0] == 0.5
    assert tail(0.0) == 1.0


def mixed():
    """Rates, weights and laws of the noises in sums that hold Gaussian noise."""
    random = np.random.default_rng(8)
    for rate in (0.005, 0.1, 0.4, 0.6, 1.0, 2.0, 6.0):
        for gaussians, laplaces in ((1, 0), (2, 0), (5, 0), (1, 1), (2, 3)):
            other = [float(r) for r in np.exp(random.uniform(-2, 1, laplaces))]
            kinds = [gaussian] * gaussians + [laplace] * laplaces
            yield [rate] * gaussians + other, [STEPS] * len(kinds), kinds
    for _ in range(40):
        kinds = [(gaussian, laplace)[k] for k in random.integers(0, 2, random.integers(1, 7))]
        rates = np.exp(random.uniform(math.log(0.1), math.log(3), len(kinds)))
        weights = random.choice([2, 5, 12, 20, 30, 45, 60], len(kinds))
        weights[0] = STEPS
        yield rates.tolist(), weights.tolist(), kinds


def tails(rates, weights, kinds):
    """By `Measurement.tail_variance`, as estimates take it."""
    one = np.array([1])
    spread = 0.0
    for rate, weight, kind in zip(rates, weights, kinds, strict=True):
        counted = Measurement(name="rows", at="node", where=one, values=one[:, None],
                              by_class=False, units=one,
                              unit=Fraction(rate), law=kind.__name__)  # fmt: skip
        spread += float(counted.tail_variance[0]) * (weight / STEPS) ** 2
    return math.sqrt(spread)


@pytest.mark.slow
def test_sums_with_gaussian_noise_stay_within_their_intervals():
    for rates, weights, kinds in mixed():
        chances = law(rates, weights, kinds)
        for level in LEVELS:
            width = half_width(np.array([tails(rates, weights, kinds)]), level)[0]
            assert 1 - within(chances, width) <= (1 - level) * (1 + 1e-7) + 1e-12, (rates, kinds)


def test_gaussian_intervals_are_little_wider_than_they_must_be():
    for rate in (0.001, 0.02, 0.2):
        chances = law([rate] * 3, [STEPS] * 3, [gaussian] * 3)
        for level in LEVELS[:-1]:
            shortest = next(m for m in range(10_000) if within(chances, m) >= level)
            width = half_width(np.array([math.sqrt(3 / rate)]), level)[0]
            assert (2 * width + 1) / (2 * shortest + 1) <= 1.5


def test_two_thirds_of_the_noise_would_be_noticed():
    chances = law([0.02], [STEPS], [gaussian])
    width = half_width(np.array([math.sqrt(50) / 1.3]), 0.95)[0]
    assert within(chances, width) < 0.95


def test_the_sum_of_two_gaussians_is_nearly_one():
    """By the factor that the proof has: 1 + 5 exp(-2 pi^2 w)."""
    for rate in (0.5, 0.3, 1.0, 2.0):
        both, one = law([rate] * 2, [1, 1], [gaussian] * 2), gaussian(rate / 2)
        middle, other = len(both) // 2, len(one) // 2
        near = range(-math.ceil(3 / math.sqrt(rate)), math.ceil(3 / math.sqrt(rate)) + 1)
        ratios = [both[middle + x] / one[other + x] for x in near]
        assert max(ratios) <= 1 + 5 * math.exp(-2 * math.pi**2 / (2 * rate)) + 1e-12


def test_normal_noise_needs_no_more():
    for level in (0.8, 0.95, 0.99):
        normal = factor(level, normal=True)
        assert normal <= factor(level)
        assert normal == pytest.approx(NormalDist().inv_cdf((1 + level) / 2), rel=1e-4)


def test_intervals_of_normal_noise_hold_the_truth():
    for rates, weights, kinds in mixed():
        if set(weights) != {STEPS} or laplace in kinds:
            continue
        chances, spread = law(rates, weights, kinds), tails(rates, weights, kinds)
        for level in (0.8, 0.95):
            width = half_width(np.array([spread]), level, normal=True)[0]
            assert 1 - within(chances, width) <= (1 - level) * (1 + 1e-7) + 1e-12, (rates, kinds)


def test_a_share_that_is_too_small_would_be_noticed():
    """One Laplace noise alone, taken for a normal one."""
    chances = law([0.05], [STEPS])
    width = half_width(np.array([math.sqrt(2) / 0.05]), 0.99, normal=True)[0]
    assert within(chances, width) < 0.99
