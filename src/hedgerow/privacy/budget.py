"""Budgets as exact fractions, and the conversion between zCDP and (epsilon, delta).

Whatever is rounded is rounded so that the stated guarantee is never less than the truth.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any, Literal

import numpy as np

from hedgerow.errors import UsageError

Number = int | float | str | Decimal | Fraction | np.integer[Any] | np.floating[Any]
"""A number in any sensible form. A float means the shortest decimal that Python or NumPy writes it
as: `0.1 + 0.2` is 0.30000000000000004, exactly."""

MOST_EPSILON = 100
LARGE_EPSILON = 10
"""Above it somebody has to say the number twice: what one record adds can be told almost surely."""
MOST_DIGITS = 6
MOST_ROW_TERM = 10**9  # with a plan's units it still fits the samplers
LARGEST_TERM = 1 << 50
"""Numerators and denominators of rates lie below this, so that samplers need 64 bits."""

_LONGEST = 60  # characters of a number that a person would write
_ROOT_BITS = 24


@dataclass(frozen=True)
class UnitBudget:
    """One currency: so many units of so much epsilon (or rho) each.

    Example:
        >>> UnitBudget("epsilon", Fraction(1, 200), 100).total
        Fraction(1, 2)
    """

    name: Literal["epsilon", "rho"]
    unit: Fraction
    units: int

    @property
    def total(self) -> Fraction:
        """What the budget holds."""
        return self.unit * self.units


@dataclass(frozen=True)
class Budget:
    """What one release may spend.

    Args:
        epsilon: The loss that one person may suffer.
        delta: 0 for pure differential privacy.
        rows: The most rows of one person; each row gets an equal part of the budget.

    Example:
        >>> Budget.of("0.1").epsilon
        Fraction(1, 10)
    """

    epsilon: Fraction
    delta: Fraction = Fraction(0)
    rows: int = 1

    @staticmethod
    def of(epsilon: Number, delta: Number = 0, rows: int = 1) -> Budget:
        """Reads and checks a budget as a person gave it.

        Samplers need an epsilon whose denominator is at most a million, such as 1/3 or 0.25. Any
        other is rounded DOWN to six decimals, so that never more is spent than was asked for.

        Example:
            >>> Budget.of(0.1 + 0.2).epsilon, Budget.of(Fraction(1, 3)).epsilon
            (Fraction(3, 10), Fraction(1, 3))
            >>> float(Budget.of(np.log(3)).epsilon)
            1.098612
        """
        exact_epsilon = read_number("epsilon", epsilon)
        exact_delta = read_number("delta", delta)
        common = "Common choices lie between 0.1 and 2."
        scale, given = 10**MOST_DIGITS, exact_epsilon
        if exact_epsilon.denominator > scale:
            exact_epsilon = Fraction(int(exact_epsilon * scale), scale)
        row_epsilon, both = exact_epsilon / rows, ("epsilon", "max_rows")
        for refused, words, hint, *names in (
            (given <= 0, "epsilon must be above 0.", common, "epsilon"),
            (given > MOST_EPSILON, f"epsilon above {MOST_EPSILON} protects nobody.", common,
             "epsilon"),
            (not 0 <= exact_delta < Fraction(1, 100), "delta must be at least 0 and below 0.01.",
             "Take 0, or far less than 1 over the number of people, such as 1e-9.", "delta"),
            (0 < exact_delta < Fraction(1, 10**30), "delta is below 1e-30.",
             "Take 0 or a larger one.", "delta"),
            (row_epsilon < Fraction(1, scale),
             "epsilon leaves next to nothing for each row of a person.",
             "Take a larger epsilon, or a smaller cap on rows per person.", *both),
            (row_epsilon.denominator > MOST_ROW_TERM,
             "epsilon has too many decimals to be divided among the rows of one person.",
             "Use fewer decimals, or a rounder cap on rows per person.", *both),
        ):  # fmt: skip
            if refused:
                raise UsageError(words, hint, [(name,) for name in names])
        return Budget(exact_epsilon, exact_delta, rows)

    @property
    def row_epsilon(self) -> Fraction:
        """The part of epsilon that one row may cost: all rows of a person add up."""
        return self.epsilon / self.rows

    @property
    def row_delta(self) -> Fraction:
        """The delta of one row.

        A mechanism that is (e, d)-DP for one row is (k e, d (1 + exp(e) + ... + exp((k-1) e)))-DP
        for k rows; each of the k terms is at most exp(epsilon), which 3^ceil(epsilon) bounds.
        """
        if self.rows == 1:
            return self.delta
        bound: int = 3 ** math.ceil(self.epsilon)
        return self.delta / (self.rows * bound)


def refuse_large(epsilon: Number, again: Number | None) -> None:
    """Refuses a large epsilon that was not said a second time.

    Args:
        epsilon: The epsilon.
        again: What was said the second time, if anything was.

    Raises:
        UsageError: If it was not, or if it was another number.

    Example:
        >>> refuse_large(10, None), refuse_large("50", 50)
        (None, None)
        >>> refuse_large(50, None)
        Traceback (most recent call last):
        hedgerow.errors.UsageError: an epsilon above 10 protects hardly anybody, ...
    """
    amount = Budget.of(epsilon).epsilon
    if again is not None and Budget.of(again).epsilon != amount:
        raise UsageError(
            f"epsilon was said twice, and differently: {epsilon} and {again}.",
            hint="Look which of the two is meant; nothing was spent.",
        )
    if again is None and amount > LARGE_EPSILON:
        raise UsageError(
            f"an epsilon above {LARGE_EPSILON} protects hardly anybody, so it is said twice.",
            hint=f"If {epsilon} is meant, add --yes-epsilon {epsilon}; docs/choosing.md helps.",
        )


def read_number(name: str, value: Number) -> Fraction:
    """A number as a person wrote it, exactly: 1, "0.5" or "1/3".

    Raises:
        UsageError: If it is none.
    """
    try:
        # a float means the decimal that it is written as (numpy's write their type as well)
        written = float.__repr__(value) if isinstance(value, float) else str(value)
        if len(written) > _LONGEST:
            raise ValueError
        top, slash, bottom = written.partition("/")
        return _decimal(top) / (_decimal(bottom) if slash else 1)
    except (ValueError, ArithmeticError):
        zero = "Write 0, or a tiny number such as 1e-9."
        raise UsageError(
            f"{name} must be a finite number.",
            hint=zero if name == "delta" else "Write it like 1, 0.5 or 1/3.",
            places=[(name,)],
        ) from None


def _decimal(text: str) -> Fraction:
    number = Decimal(text)
    if not number.is_finite() or abs(number.adjusted()) > _LONGEST:  # 1e999999999 has many digits
        raise ValueError
    return Fraction(number)


def root_below(square: Fraction) -> Fraction:
    """A fraction with a small denominator whose square is not above the given one.

    Small roots get a few more binary digits, so that they lose no more than others.
    """
    bits = _ROOT_BITS + min(8, max(0, (square.denominator // square.numerator).bit_length() // 2))
    return Fraction(math.isqrt((square.numerator << 2 * bits) // square.denominator), 1 << bits)


def rate_below(rate: Fraction) -> Fraction:
    """A rate whose terms fit the samplers: the same, or one that is a little less.

    Example:
        >>> rate_below(Fraction(1, 3)), rate_below(Fraction(3**40, 4 * 3**40 - 1))
        (Fraction(1, 3), Fraction(1, 4))
    """
    if max(rate.numerator, rate.denominator) < LARGEST_TERM:
        return rate
    scale = LARGEST_TERM >> 1 + int(rate).bit_length()
    return Fraction(int(rate * scale), scale)


def precision_below(precision: Fraction) -> Fraction:
    """A precision of Gaussian noise (1 over its variance) that fits the samplers.

    It is never above the given one, so that noise is never less than what was paid for, and lies
    below it by one in 16 million at most while the standard deviation is below 5,000. Its
    denominator is a power of two, which samplers are fastest with.

    Example:
        >>> precision_below(Fraction(1, 4)), float(precision_below(Fraction(1, 3)))
        (Fraction(1, 4), 0.3333333283662796)
    """
    bits = _ROOT_BITS + (precision.denominator // precision.numerator).bit_length()
    bits = min(bits, LARGEST_TERM.bit_length() - 2)
    return Fraction((precision.numerator << bits) // precision.denominator, 1 << bits)


def choice_rate(currency: str, amount: Fraction, score_range: int) -> Fraction:
    """The rate of the exponential mechanism that an amount buys, rounded down, maybe to 0.

    With rate r it costs r * score_range (pure), or (r * score_range)^2 / 8 (zCDP).
    """
    return rate_below((amount if currency == "epsilon" else root_below(8 * amount)) / score_range)


def noise_rate(currency: str, amount: Fraction, max_contribution: int) -> Fraction:
    """The rate of the noise on counts that an amount buys, rounded down, maybe to 0.

    Laplace noise of rate e is e-DP, and a record that is counted in `max_contribution` numbers
    pays for each: epsilon / max_contribution. The rate of Gaussian noise is 1 over its variance
    parameter: 2 rho / max_contribution, see `Curator.gaussian`.
    """
    if currency == "epsilon":
        return rate_below(amount / max_contribution)
    return precision_below(2 * amount / max_contribution)


def epsilon_of_rho(rho: Fraction, delta: Fraction) -> Fraction:
    """An epsilon such that rho-zCDP implies (epsilon, delta)-DP, rounded up.

    For every alpha > 1, rho-zCDP gives (epsilon, delta)-DP with
    epsilon = alpha rho + (ln(1/delta) + (alpha - 1) ln(1 - 1/alpha) - ln(alpha)) / (alpha - 1)
    (Canonne, Kamath and Steinke 2020). Any alpha is sound; the best is found by ternary search.
    """

    def bound(alpha: float) -> float:
        log_inverse_delta = math.log(delta.denominator) - math.log(delta.numerator)
        slack = (alpha - 1) * math.log1p(-1 / alpha) - math.log(alpha)
        return alpha * float(rho) + (log_inverse_delta + slack) / (alpha - 1)

    if rho == 0:
        return Fraction(0)
    low, high = 1.0 + 1e-6, 1e15
    for _ in range(120):
        first = low * (high / low) ** (1 / 3)
        second = low * (high / low) ** (2 / 3)
        if bound(first) <= bound(second):
            high = second
        else:
            low = first
    # far above the rounding error of the dozen float operations behind it
    return Fraction(max(0.0, bound(low))) * (1 + Fraction(1, 10**9)) + Fraction(1, 10**12)


@lru_cache
def rho_of_epsilon(epsilon: Fraction, delta: Fraction) -> Fraction:
    """The largest rho, to nine digits and rounded down, that gives (epsilon, delta)-DP."""
    scale = 10**24
    low, high = 0, 100 * scale
    while high - low > 1:
        middle = (low + high) // 2
        if epsilon_of_rho(Fraction(middle, scale), delta) <= epsilon:
            low = middle
        else:
            high = middle
    digits = 10 ** max(0, len(str(low)) - 9)
    return Fraction(low // digits * digits, scale)
