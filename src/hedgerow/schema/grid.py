"""Reads the bounds and the step of a numeric attribute from the texts of a schema file."""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Literal

__all__ = ["Grid", "Kind", "read_grid", "read_number"]

_INTEGER = re.compile(r"[+-]?\d{1,40}", re.ASCII)
# At most 40 digits, and a small exponent: a bound of 1e999999999 would fill the memory.
_DECIMAL = re.compile(r"[+-]?(\d{1,40}\.?\d{0,40}|\.\d{1,40})([eE][+-]?\d{1,2})?", re.ASCII)
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_EPOCH = datetime.date(1970, 1, 1)

Kind = Literal["integer", "decimal", "date"]


@dataclass(frozen=True, kw_only=True)
class Grid:
    """The bounds and step of a numeric attribute; dates as days since 1970-01-01."""

    low: Fraction
    high: Fraction
    step: Fraction
    kind: Kind


def read_grid(texts: Mapping[str, str | None]) -> Grid | list[tuple[str, str, str]]:
    """The grid, or what is wrong with it: key, what and hint.

    Args:
        texts: `low`, `high` and `step` as written; without a step it is 1, save for decimals.

    Example:
        >>> read_grid({"low": "0", "high": "2.5", "step": "0.5"}).kind
        'decimal'
        >>> read_grid({"low": "2020-01-01", "high": "2020-12-31", "step": None}).step
        Fraction(1, 1)
        >>> read_grid({"low": "ten", "high": "20", "step": None})[0][:2]
        ('low', 'low is neither a number nor a date')
    """
    found: dict[str, tuple[Fraction, Kind]] = {}
    faults: list[tuple[str, str, str]] = []
    for key, text in texts.items():
        if text is None:
            continue
        number = read_number(text.strip())
        if number is None:
            hint = "Write a number such as 17 or 0.5, or a date such as 2020-01-31."
            faults.append((key, f"{key} is neither a number nor a date", hint))
        else:
            found[key] = number
    if faults:
        return faults
    (low, low_kind), (high, high_kind) = found["low"], found["high"]
    if "date" in (low_kind, high_kind):
        if low_kind != high_kind:
            return [("high", "low and high are not both dates", "Write both as 2020-01-31.")]
        step, step_kind = found.get("step", (Fraction(1), "integer"))
        if step_kind != "integer":
            return [("step", "step is not a whole number of days", "Write, for example, step: 7.")]
        return Grid(low=low, high=high, step=step, kind="date")
    if "step" not in found:
        if "decimal" in (low_kind, high_kind):
            hint = "Give the precision that matters, such as step: 0.5."
            return [("low", "step is missing, which decimal numbers need", hint)]
        return Grid(low=low, high=high, step=Fraction(1), kind="integer")
    step, step_kind = found["step"]
    if step_kind == "date":
        return [("step", "step is a date", "Give a number, such as step: 1.")]
    kinds = {low_kind, high_kind, step_kind}
    return Grid(low=low, high=high, step=step, kind="decimal" if "decimal" in kinds else "integer")


def read_number(text: str) -> tuple[Fraction, Kind] | None:
    """The number or date in a text, and how it is written; None if it is neither.

    Example:
        >>> read_number("0.50"), read_number("1970-01-03"), read_number("ten")
        ((Fraction(1, 2), 'decimal'), (Fraction(2, 1), 'date'), None)
    """
    if _INTEGER.fullmatch(text):
        return Fraction(int(text)), "integer"
    if _DECIMAL.fullmatch(text):
        return Fraction(Decimal(text)), "decimal"
    if _DATE.fullmatch(text):
        try:
            day = datetime.date.fromisoformat(text)
        except ValueError:
            return None
        return Fraction((day - _EPOCH).days), "date"
    return None
