"""What a release of a kind is called in words, so that whoever tells of it needs no kinds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from hedgerow.schema import Schema

__all__ = ["Description", "protected_rows"]


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
        people: Whom its counts are of.
        record: What one of the records is called that are drawn from it.
        example: A query that it understands, in quotes.
    """

    parts: Literal["regions", "itemsets", "rows"]
    part: str
    number: int
    summary: str
    largest: str
    protected: str
    suppressed: str | None
    people: str = "people counted"
    record: str = "row"
    example: str = '"age in [30, 50]"'


def protected_rows(schema: Schema) -> str:
    """The unit of protection of a table, in words."""
    if schema.person is None:
        return "any one row (one row is one person)"
    rows = schema.person.max_rows
    return f"any one person (with at most {rows} row{'' if rows == 1 else 's'})"
