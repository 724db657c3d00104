"""Count queries in the schema's words: who is to be counted, told by public vocabulary alone."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Intervals", "Query"]

Intervals = tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Query:
    """A conjunction of conditions on predictors and the class.

    Args:
        where: For each constrained predictor, in increasing order, its place among the schema's
            attributes and the codes that count: disjoint, increasing, half-open intervals in code
            units that do not touch. Predictors that are not constrained are left out.
        classes: The class codes that count, increasing; None for all.
    """

    where: tuple[tuple[int, Intervals], ...] = ()
    classes: tuple[int, ...] | None = None
