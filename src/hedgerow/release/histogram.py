"""How many records have each value of an attribute, as a release tells: post-processing alone."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np

from hedgerow.arrays import Floats, Ints
from hedgerow.estimate.answers import Answers, reliability
from hedgerow.estimate.queries import NOT_MEASURED
from hedgerow.measured.tables import own_codes
from hedgerow.schema import Attribute, Categorical, Items, Numeric, Schema
from hedgerow.schema.query import Query

Ask = Callable[[list[Query]], Answers]

BINS = 20
_LARGE = 0.15  # the share of all records from which a band is divided, if it can be
"""Numbers are told in at most so many steps."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Spread:
    """The values of an attribute with the number of records that each has.

    Args:
        name: The attribute.
        labels: Values, or steps of numbers.
        edges: The first code of each, and one past the last.
        counts: Estimated numbers of records, not below 0.
        low: The lower ends of the intervals around them.
        high: The upper ends; infinite where nothing is known.
        attribute: The attribute itself; None for items.
        measured: Whether the release says anything about it; if not, counts are equal parts.
        remarks: What each count is worth (`hedgerow.release.tabulate.reliability`).
    """

    name: str
    labels: tuple[str, ...]
    edges: tuple[int, ...]
    counts: Floats
    low: Floats
    high: Floats
    attribute: Attribute | None = None
    measured: bool = True
    remarks: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """What people call the attribute."""
        return self.name if self.attribute is None else self.attribute.title

    @property
    def shares(self) -> Floats:
        """The counts as shares of their sum."""
        total = float(self.counts.sum())
        return self.counts / total if total > 0 else np.zeros(len(self.counts))


def bins(attribute: Attribute, most: int = BINS) -> tuple[int, ...]:
    """Edges of codes: every value, or round steps of numbers; what is "other" stands alone.

    Example:
        >>> from fractions import Fraction
        >>> from hedgerow.schema import Numeric
        >>> age = Numeric("age", low=Fraction(18), high=Fraction(99), step=Fraction(1),
        ...     kind="integer")
        >>> edges = bins(age)
        >>> [age.label(low, high) for low, high in zip(edges[:3], edges[1:4])]
        ['[18, 20)', '[20, 25)', '[25, 30)']
    """
    if isinstance(attribute, Categorical) or attribute.grid <= most:
        return tuple(range(attribute.size + 1))
    if attribute.scale == "log":
        return (*_growing(attribute, most), *([attribute.size] if attribute.has_other else []))
    width, digit = 1, 0
    while attribute.grid > width * (most - 1):
        width = (1, 2, 5)[digit % 3] * 10 ** (digit // 3)
        digit += 1
    # numbers that are multiples of the step divide better than those that are not
    first = 0
    if attribute.kind != "date":
        first = int(-(attribute.low / attribute.step) % width)
    inner = [code for code in range(first, attribute.grid, width) if code > 0]
    return (0, *inner, attribute.grid, *([attribute.size] if attribute.has_other else []))


def bands(attribute: Attribute, measured: Ints) -> tuple[int, ...]:
    """Edges of codes that are all edges of measured cells: the nearest to those of `bins`.

    The lowest value, zero and values that the schema calls common stand alone if they were measured
    alone.

    Args:
        attribute: The attribute.
        measured: The edges of its measured cells.

    Example:
        >>> pay = Numeric("pay", low=Fraction(0), high=Fraction(99), step=Fraction(1),
        ...     kind="integer")
        >>> bands(pay, np.array([0, 1, 33, 66, 100]))
        (0, 1, 33, 66, 100)
    """
    usual = bins(attribute)
    if isinstance(attribute, Categorical):  # of many values, groups were counted
        return usual if len(measured) == len(usual) else tuple(measured.tolist())
    near = np.abs(measured[:, None] - np.array(usual)).argmin(axis=0)
    found = {0, attribute.size, *measured[near].tolist()}
    for code in own_codes(attribute):
        found |= {code, code + 1} & {*measured.tolist()}
    return tuple(sorted(found))


def divided(edges: tuple[int, ...], measured: Ints, counts: Floats) -> tuple[int, ...]:
    """The same bands, but large ones divided where finer cells were counted.

    Args:
        edges: The edges of bands.
        measured: The edges of all measured cells, those of the bands among them.
        counts: How many records each of these cells holds, about.

    Example:
        >>> measured = np.array([0, 10, 12, 14, 20, 100])
        >>> divided((0, 10, 20, 100), measured, np.array([5.0, 30.0, 30.0, 25.0, 10.0]))
        (0, 10, 12, 14, 20, 100)
    """
    below = np.concatenate([[0.0], np.cumsum(np.maximum(counts, 0.0))])
    whole = max(float(below[-1]), 1e-9)
    found = {*edges}
    for low, high in pairwise(edges):
        first, last = np.searchsorted(measured, [low, high]).tolist()
        share = float(below[last] - below[first]) / whole
        if share > _LARGE and last - first > 1:
            parts = math.ceil(share / _LARGE) + 1
            goals = below[first] + np.arange(1, parts) * share * whole / parts
            inner = below[first + 1 : last]
            nearest = np.abs(inner[:, None] - goals).argmin(axis=0)
            found |= {*measured[first + 1 + nearest].tolist()}
    return tuple(sorted(found))


def _growing(attribute: Numeric, most: int) -> tuple[int, ...]:
    """The codes at which 1, 10, 100, ... begin, or 1, 2, 5, 10, ... if there are few of them."""
    low, high, step = attribute.low, attribute.high, attribute.step
    decades = [sign * Fraction(10) ** power for power in range(-9, 40) for sign in (-1, 1)]
    found: set[int] = {0, attribute.grid}
    for digits in ((1,), (1, 2, 5)):
        starts = [Fraction(0), *(digit * decade for decade in decades for digit in digits)]
        codes = {math.ceil((start - low) / step) for start in starts if low < start <= high}
        if len(codes) < most:
            found = {0, attribute.grid, *codes}
    return tuple(sorted(found))


def spread_of(attribute: Attribute, edges: tuple[int, ...], answers: Answers) -> Spread:
    """The answers to one query for each step of an attribute."""
    labels = [attribute.label(low, high) for low, high in zip(edges[:-1], edges[1:], strict=True)]
    counts = np.maximum(answers.estimate, 0.0)
    low, high = answers.low, answers.high
    known = answers.basis is None or bool((answers.basis != NOT_MEASURED).any())
    told = reliability(answers)
    return Spread(
        name=attribute.name,
        labels=tuple(labels),
        edges=edges,
        counts=counts,
        low=low,
        high=high,
        attribute=attribute,
        measured=known,
        remarks=told,
    )


def spreads(
    schema: Schema, ask: Ask, usual: Callable[[int], tuple[int, ...]]
) -> tuple[Spread, ...]:
    """The spread of every attribute, and of the class, by a release's own answers.

    Args:
        schema: The schema of a table.
        ask: Answers queries about it.
        usual: The edges of the bands of the attribute at a place.
    """
    edges = [usual(place) for place in range(len(schema.columns))]
    asked = [
        Query(((place, ((float(low), float(high)),)),))
        if place < len(schema.attributes)
        else Query((), (low,))
        for place, some in enumerate(edges)
        for low, high in pairwise(some)
    ]
    answers = ask(asked)  # all at once, which is far quicker
    found, start = [], 0
    for attribute, some in zip(schema.columns, edges, strict=True):
        stop = start + len(some) - 1
        found.append(spread_of(attribute, some, answers.take(range(start, stop))))
        start = stop
    return tuple(found)


def item_spread(items: Items, ask: Callable[[list[list[str]]], Answers]) -> Spread:
    """How many records hold each item."""
    labels = tuple(items.labels)
    answers = ask([[label] for label in labels])
    return Spread(
        name="item",
        labels=labels,
        edges=tuple(range(len(labels) + 1)),
        counts=np.maximum(answers.estimate, 0.0),
        low=answers.low,
        high=answers.high,
        remarks=reliability(answers),
    )
