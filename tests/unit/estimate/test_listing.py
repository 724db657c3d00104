"""From which count on an itemset is listed."""

from __future__ import annotations

import math

import pytest

from hedgerow.estimate.itemsets import public_threshold
from hedgerow.estimate.measurements import LAWS, Law


def reached(least: int, variance: float, law: Law) -> float:
    """How likely noise of a continuous law of this variance, made discrete, is `least` or more."""

    def mass(noise: int) -> float:
        size = noise**2 / variance / 2 if law == "gaussian" else noise * math.sqrt(2 / variance)
        return math.exp(-size)

    far = 60 * math.ceil(math.sqrt(variance))
    return sum(map(mass, range(least, far))) / (1 + 2 * sum(map(mass, range(1, far))))


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("places", [1, 2, 100, 2**17])
@pytest.mark.parametrize("variance", [2.0, 5.5, 30.0, 200.0, 1e4])
def test_of_empty_places_half_a_one_is_listed_on_average(
    variance: float, places: int, law: Law
) -> None:
    least = public_threshold(variance, places, law)
    assert places * reached(least, variance, law) <= 0.5
    slack = 2 if law == "gaussian" else 1  # a normal noise stands for a discrete one
    assert least == 1 or places * reached(least - slack, variance, law) > 0.5


def test_gaussian_noise_stands_out_earlier_than_laplace_noise_of_equal_variance() -> None:
    sigmas = [public_threshold(1e4, 2**17, law) / 100 for law in LAWS]
    assert sigmas == [8.34, 4.49]
