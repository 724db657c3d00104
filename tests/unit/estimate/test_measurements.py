"""Measurements know the law of their noise."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from hedgerow.estimate.measurements import Measurement

ONE = np.array([1])


def counted(rate: Fraction, law: str) -> Measurement:
    return Measurement(
        name="rows",
        at="node",
        where=ONE,
        values=ONE[:, None],
        by_class=False,
        units=ONE,
        unit=rate,
        law=law,
    )  # type: ignore[arg-type]


@pytest.mark.parametrize("rate", [Fraction(1, 500), Fraction(1), Fraction(11, 10), Fraction(7)])
def test_the_variance_is_that_of_the_exact_law(rate: Fraction) -> None:
    z = np.arange(-500, 501)
    for law, mass in (
        ("laplace", np.exp(-float(rate) * np.abs(z))),
        ("gaussian", np.exp(-float(rate) * z**2 / 2)),
    ):
        reach = 500 if law == "gaussian" or rate > Fraction(1, 10) else 0
        if reach:
            exact = (z**2 * mass).sum() / mass.sum()
            assert counted(rate, law).variance[0] == pytest.approx(exact, rel=1e-6)
    assert counted(rate, "gaussian").tail_variance[0] == max(2.0, 1 / float(rate))
    assert counted(rate, "laplace").tail_variance[0] == pytest.approx(2 / float(rate) ** 2)


def test_no_variance_is_0_or_infinite() -> None:
    for rate in (Fraction(1, 10**20), Fraction(10**6)):
        for law in ("laplace", "gaussian"):
            assert 0 < counted(rate, law).variance[0] < float("inf")


def test_measurements_with_other_noise_are_others() -> None:
    assert counted(Fraction(1), "laplace") != counted(Fraction(1), "gaussian")
    assert counted(Fraction(1), "gaussian") == counted(Fraction(1), "gaussian")


def test_what_is_listed_has_laplace_noise() -> None:
    with pytest.raises(ValueError, match="Laplace"):
        replace(counted(Fraction(1), "gaussian"), threshold=3)
