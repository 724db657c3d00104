"""A release in words, as commands, reports and notebooks tell it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from hedgerow.schema import Categorical, Query, Schema


@dataclass(frozen=True, kw_only=True)
class Description:
    """A release in words, all of them public.

    Args:
        parts: What it is made of, as a name for programs.
        part: One of these, for people.
        number: How many there are.
        summary: What it holds, as a sentence or two.
        largest: What to show first.
        protected: Who is hidden: the unit of protection.
        suppressed: What is not published and why, as sentences; None if everything is.
        people: What its counts are of.
        counts: How the published counts come about, as sentences.
        processed: What is computed from them, as a sentence.
        record: What one of the records is called that are drawn from it.
    """

    parts: Literal["regions", "tables", "items", "itemsets", "rows"]
    part: str
    number: int
    summary: str
    largest: str
    protected: str
    suppressed: str | None
    people: str
    counts: str = ""
    processed: str = (
        "Noisy counts are made consistent and rounded; intervals and synthetic rows follow from "
        "them."
    )
    record: str = "row"


def protected_rows(schema: Schema) -> str:
    """The unit of protection of a table, in words."""
    if schema.person is None:
        return "any one row (one row is one person)"
    rows = schema.person.max_rows
    return f"any one person (with at most {rows} row{'' if rows == 1 else 's'})"


def example_of(schema: Schema) -> str:
    """A query about the first attribute that any release of a table understands.

    Example:
        >>> example_of(Schema.from_dict({"name": "s", "unit": "row", "attributes": {
        ...     "age": {"type": "numeric", "low": 0, "high": 99}}}))
        'age in [0, 49]'
    """
    first = schema.attributes[0]
    end = 1 if isinstance(first, Categorical) else max(1, first.grid // 2)
    return Query(((0, ((0.0, float(end)),)),)).text(schema)


def noisy_counts(guarantee: Mapping[str, object]) -> str:
    """How counts of all regions or itemsets come about, in words.

    Example:
        >>> noisy_counts({"accounting": "pure"})[:50]
        'Every published count has discrete Laplace noise; '
    """
    noise = "discrete Laplace noise"
    if guarantee.get("accounting") == "zcdp":
        noise = "discrete Gaussian or discrete Laplace noise"
    return (
        f"Every published count has {noise}; no floating-point number comes between an exact count "
        "and what is drawn."
    )
