"""How a release was made of data, in sentences: the preparation of records, and the mechanisms."""

from __future__ import annotations

from hedgerow.methods import METHODS
from hedgerow.release import Release
from hedgerow.report import words
from hedgerow.schema import Schema

__all__ = ["mechanisms", "preparation"]

_CHOSEN: tuple[tuple[frozenset[str], str], ...] = (
    (
        frozenset(("select", "cut", "relate")),
        "Choices are made by the exponential mechanism or by permute-and-flip.",
    ),
    (
        frozenset(("test", "gate")),
        "Which partitions are divided further is decided by noisy counts and public thresholds.",
    ),
    (
        frozenset(("side",)),
        "Risks are measured on synthetic rows, published by DiffMulti from a part of the budget: "
        "with the exponential mechanism or permute-and-flip, and discrete Laplace noise.",
    ),
)


def preparation(schema: Schema) -> list[str]:
    """What is done to data before it is counted, as sentences."""
    told = []
    if schema.identifiers:
        told.append(f"Columns dropped: {', '.join(schema.identifiers)}.")
    if schema.kind == "transactions":
        items = schema.transaction_items
        told.append(
            f"Items outside the public universe: {items.foreign}; records without items: "
            f"{items.empty}; at most {items.max_items or 'any number of'} items of a record count."
        )
    return [
        *told,
        "Each rule looks at one record, or at the rows of one person, alone.",
    ]


def mechanisms(release: Release) -> str:
    """The mechanisms of a release, in a paragraph."""
    about = METHODS[release.method].words if release.method in METHODS else "is not installed here"
    told = release.describe()
    paid = {purpose for purpose, _, _ in words.spending(release.ledger, str)}
    chosen = [text for purposes, text in _CHOSEN if paid & purposes]
    sampled = (
        "All that the guarantee rests on is sampled exactly, in integer arithmetic, from a "
        "cryptographic random source."
    )
    parts = [f"{release.method} {about}.", *chosen, told.counts, sampled, told.suppressed or ""]
    return " ".join(part for part in parts if part)
