"""What commands say of a release and its books, in words. Everything here is public."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from hedgerow.report.words import (
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

__all__ = [
    "booked",
    "caution",
    "decimal",
    "facts",
    "guarantee",
    "many",
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
