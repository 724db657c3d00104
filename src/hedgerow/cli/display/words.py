"""What commands say of a schema, a release and its books, in words. Everything here is public."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from hedgerow.present.words import (
    ALTOGETHER,
    caution,
    decimal,
    guarantee,
    many,
    purpose_words,
    regions,
    spending,
    spent,
    spent_of,
    strength,
    times,
    unmeasured,
)

if TYPE_CHECKING:
    from hedgerow.release import Release
    from hedgerow.schema.diff import PublishedColumn

__all__ = [
    "booked",
    "caution",
    "decimal",
    "facts",
    "guarantee",
    "many",
    "print_published",
    "published",
    "purpose_words",
    "regions",
    "spending",
    "spent",
    "spent_of",
    "strength",
    "times",
    "unmeasured",
]


# What commands say of a release and its books, in words. Everything here is public.


def published(release: Release) -> str:
    """How many regions a release has, and by which method."""
    return f"{regions(release)} by {release.method}"


def booked(facts: dict[str, Any]) -> str:
    """What a budget ledger says of a release, and what is left."""
    from hedgerow.ledger.ledger import plain

    left = plain(Fraction(facts["epsilon_left"]))
    return (
        f"Booked as release {facts['release']} in {facts['file']}: {facts['dataset']} has epsilon "
        f"{left} left."
    )


def facts(release: Release) -> dict[str, Any]:
    """The same for machines."""
    told = release.describe()
    return {
        "kind": release.kind,
        "method": release.method,
        "settings": release.settings,
        "schema": release.schema.name,
        "guarantee": release.guarantee,
        told.parts: told.number,
        "not_measured": list(release.unmeasured),
        "spent_per": "person" if release.schema.person is None else "row",
        "spent": [
            {"purpose": purpose, "budget": budget, "amount": amount}
            for purpose, budget, amount in spending(release.ledger)
            if purpose != ALTOGETHER
        ],
    }


# What a schema publishes by itself, column by column, as it is signed off.


_SHOWN = 60  # texts of a column that are not marked, after which only their number is told


def print_published(columns: Sequence[PublishedColumn], put: Callable[[str], None]) -> None:
    """Prints every bound, value and label that is published, and marks what is rare, long or odd.

    Args:
        columns: What is published about each column.
        put: Where a line goes.
    """
    put("Every release publishes this, whatever is counted:")
    for column in columns:
        plain = [one.text for one in column.texts if not one.mark]
        more = f", ... and {len(plain) - _SHOWN} more (--json)" if len(plain) > _SHOWN else ""
        put(f"  {column.name}: {', '.join(plain[:_SHOWN])}{more}".rstrip(": "))
        for one in column.marked:
            put(f"    ! {one.text}  [{one.mark}]")
    marked = sum(len(column.marked) for column in columns)
    if marked:
        put(f"{marked} are marked with !: could anybody have written them without the data?")
