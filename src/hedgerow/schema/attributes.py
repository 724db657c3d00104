"""Attributes: public facts about a column. Every value becomes an integer code.

A numeric attribute lives on a public grid: code k stands for the values from `low + k * step`
up to, not including, the next grid point. A categorical attribute's codes are the leaves of its
taxonomy. What happens to a missing value, and to one outside the domain, is a public rule that
looks at that one record alone.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Literal

from hedgerow.schema.taxonomies.rules import Reading
from hedgerow.schema.taxonomies.taxonomy import Taxonomy
from hedgerow.schema.written import Decimal as Point
from hedgerow.schema.written import Thousands
from hedgerow.suggestions import check_fields

__all__ = ["Attribute", "Categorical", "Missing", "Numeric", "Outside", "in_bands"]

Missing = Literal["error", "other", "drop"]
Outside = Literal["error", "other", "clip", "drop"]
Splitting = Literal["allowed", "never"]

OTHER = "other"
LEAST_WEIGHT, MOST_WEIGHT = Fraction(1, 100), 100
MOST_COMMON, MOST_BANDS = 16, 64


@dataclass(frozen=True)
class Categorical:
    """A categorical attribute (booleans are one with two values).

    If a rule asks for an "other" leaf, the taxonomy already holds it (the reader adds it).

    Args:
        name: The column.
        taxonomy: Its values, which are the leaves.
        missing: What happens to a missing value.
        outside: What happens to a value that is no leaf.
        boolean: Whether the values are false and true.
        bands: For a class of numbers in bands: the grid that its values are read on.
        edges: And the first code of each band on that grid.
        reading: How values are read before they are looked up among the leaves.
        split: Whether regions may be divided by it.
        weight: How much a division by it counts when one is chosen, beside the others' weights.
        group: The attributes that it belongs to; together they count as one when one is chosen.
        column: What its column is called in the data, if not by its name.
    """

    name: str
    taxonomy: Taxonomy
    _: KW_ONLY
    missing: Missing = "error"
    outside: Literal["error", "other", "drop"] = "error"
    boolean: bool = False
    bands: Numeric | None = None
    edges: tuple[int, ...] = ()
    reading: Reading = Reading()
    split: Splitting = "allowed"
    weight: Fraction = Fraction(1)
    group: str = ""
    column: str = ""

    def __post_init__(self) -> None:
        """Refuses settings of the wrong type."""
        check_fields(self)

    @property
    def size(self) -> int:
        """The number of codes."""
        return len(self.taxonomy.leaves)

    def label(self, low: int, high: int) -> str:
        """The generalised value for the codes from low to high; neighbours if it is no group."""
        if (low, high) in self.taxonomy:
            return self.taxonomy.label(low, high)
        return f"{self.taxonomy.leaves[low]} to {self.taxonomy.leaves[high - 1]}"


@dataclass(frozen=True)
class Numeric:
    """A numeric attribute on a public grid.

    Args:
        name: The column.
        low: The smallest value; for dates, days since 1970-01-01.
        high: The largest value, itself included.
        step: The distance of grid points.
        kind: How values are written.
        missing: What happens to a missing value; "other" adds one more code after the grid.
        outside: What happens to a value outside the bounds.
        scale: Whether marginals count it in parts of equal width, or in parts that grow.
        common: Values that marginals count by themselves, ascending.
        decimal: The decimal sign of texts in the data; nothing if that is not declared.
        thousands: What separates groups of three digits in them, if anything.
        format: How dates are written in the data; nothing for 2024-01-31.
        split: Whether regions may be divided by it.
        weight: How much a division by it counts when one is chosen, beside the others' weights.
        group: The attributes that it belongs to; together they count as one when one is chosen.
        column: What its column is called in the data, if not by its name.

    Example:
        >>> age = Numeric("age", low=Fraction(17), high=Fraction(90), step=Fraction(1),
        ...     kind="integer")
        >>> age.size, age.label(1, 23), age.label(23, 74), age.label(3, 4)
        (74, '[18, 40)', '[40, 90]', '20')
    """

    name: str
    _: KW_ONLY
    low: Fraction
    high: Fraction
    step: Fraction
    kind: Literal["integer", "decimal", "date"]
    missing: Missing = "error"
    outside: Outside = "error"
    scale: Literal["linear", "log"] = "linear"
    common: tuple[Fraction, ...] = ()
    decimal: Point = ""
    thousands: Thousands = ""
    format: str = ""
    split: Splitting = "allowed"
    weight: Fraction = Fraction(1)
    group: str = ""
    column: str = ""

    def __post_init__(self) -> None:
        """Refuses settings of the wrong type; puts common values in order."""
        check_fields(self)
        object.__setattr__(self, "common", tuple(sorted(set(self.common))))

    @cached_property
    def grid(self) -> int:
        """The number of codes that stand for numbers."""
        return int((self.high - self.low) / self.step) + 1

    @property
    def has_other(self) -> bool:
        """Whether the last code stands for "other"."""
        return "other" in (self.missing, self.outside)

    @property
    def size(self) -> int:
        """The number of codes."""
        return self.grid + self.has_other

    def edge(self, code: int) -> int | Decimal | datetime.date:
        """The smallest value of a code; for the code after the grid, the upper bound."""
        value = min(self.low + code * self.step, self.high)
        if self.kind == "date":
            return datetime.date(1970, 1, 1) + datetime.timedelta(days=int(value))
        if self.kind == "integer":
            return int(value)
        return Decimal(value.numerator) / Decimal(value.denominator)

    def label(self, low: int, high: int) -> str:
        """The generalised value for the codes from low to high, such as `[18, 40)`."""
        if low >= self.grid:
            return OTHER
        other = " or other" if high > self.grid else ""
        high = min(high, self.grid)
        if high - low == 1 and self.step == 1 and self.kind != "decimal":
            return f"{self.edge(low)}{other}"
        closing = "]" if high == self.grid else ")"
        return f"[{self.edge(low)}, {self.edge(high)}{closing}{other}"


Attribute = Categorical | Numeric


def in_bands(numeric: Numeric, edges: Sequence[int]) -> Categorical:
    """A class of numbers: each band is a value.

    Args:
        numeric: The numbers, with the rules for missing ones and those outside.
        edges: The first code of each band on their grid.

    Example:
        >>> age = Numeric("age", low=Fraction(0), high=Fraction(99), step=Fraction(1),
        ...     kind="integer", outside="clip")
        >>> in_bands(age, [0, 20]).taxonomy.leaves
        ('[0, 20)', '[20, 99]')
    """
    plain = replace(numeric, missing="error", outside="error", scale="linear", common=())
    ends = [*edges[1:], numeric.grid]
    labels = [plain.label(low, high) for low, high in zip(edges, ends, strict=True)]
    outside = numeric.outside
    return Categorical(
        numeric.name, Taxonomy.flat([*labels, *([OTHER] if numeric.has_other else [])]),
        missing=numeric.missing, outside="error" if outside == "clip" else outside,
        bands=replace(plain, outside="clip" if outside == "clip" else "error"),
        edges=tuple(edges), column=numeric.column,
    )  # fmt: skip
