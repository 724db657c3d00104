"""Amounts as a person would write them."""

from __future__ import annotations

from fractions import Fraction

import pytest

from hedgerow.ledger.file import plain


@pytest.mark.parametrize(
    "amount, text",
    [
        (Fraction(0), "0"),
        (Fraction(3), "3"),
        (Fraction(1, 10**4), "0.0001"),
        (Fraction(1, 10**4 + 1), "1/10001"),
        (Fraction(9, 10**5), "9e-5"),
        (Fraction(1, 10**40), "1e-40"),
        (Fraction(1, 2**41), "1/2199023255552"),  # no decimal that anybody would read
        (Fraction(10**50 + 1, 1), "1" + "0" * 49 + "1"),
        (Fraction(10**60 + 1, 10**40), "1" + "0" * 20 + "." + "0" * 39 + "1"),
    ],
)
def test_amounts_are_written_exactly(amount: Fraction, text: str) -> None:
    assert plain(amount) == text
    if "e" not in text:
        assert Fraction(text) == amount
