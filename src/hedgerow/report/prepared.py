"""What became of the rows, in words. NOT PRIVATE: for the holder of the data alone."""

from __future__ import annotations

from hedgerow.report.html import Safe, join, table, tag
from hedgerow.table.preparation import Preparation

__all__ = ["HEADS", "about_rows", "about_shares", "about_values", "prepared"]

HEADS = ["attribute", "missing", "outside", "foreign", "became other", "clipped", "dropped"]
_FINE = "Every value was counted as it is."


def about_rows(found: Preparation) -> list[str]:
    """What became of rows, as sentences.

    Example:
        >>> about_rows(Preparation(rows=9, dropped=1, unidentified=0, capped=2, people=5,
        ...     people_capped=1, attributes=(), classes=(), read=(), kept=()))[0]
        'Of 9 rows 6 are counted: rules of the schema dropped 1, the cap on rows per person left
        out 2.'
    """
    why = []
    if found.dropped:
        why.append(f"rules of the schema dropped {found.dropped:,}")
    if found.unidentified:
        why.append(f"{found.unidentified:,} belong to no person")
    if found.capped:
        why.append(f"the cap on rows per person left out {found.capped:,}")
    told = [f"Of {found.rows:,} rows {found.counted:,} are counted{': ' if why else ''}"]
    told = [told[0] + ", ".join(why) + "."]
    if found.people is not None:
        told.append(
            f"They are of {found.people:,} people, of whom {found.people_capped:,} have more rows "
            "than the cap allows."
        )
    return told


def about_values(found: Preparation) -> list[list[str]]:
    """For each attribute with odd values, how many there are of which; columns as in HEADS."""
    rows = []
    for one in found.attributes:
        numbers = (one.missing, one.outside, one.foreign, one.other, one.clipped, one.dropped)
        if any(numbers):
            share = max(1, found.rows)
            rows.append([one.name, *(f"{n:,} ({n / share:.1%})" if n else "0" for n in numbers)])
    return rows


def about_shares(found: Preparation) -> list[list[str]]:
    """Shares of the class before and after, where rows were left out."""
    if found.counted == found.rows:
        return []
    return [
        [label, f"{before:.1%}", f"{after:.1%}", f"{(after - before) * 100:+.1f} points"]
        for label, before, after in zip(found.classes, found.read, found.kept, strict=True)
    ]


def prepared(found: Preparation) -> Safe:
    """All of it for a page."""
    parts = [tag("p", sentence) for sentence in about_rows(found)]
    values, shares = about_values(found), about_shares(found)
    if values:
        caption = "Values that are missing or outside their domain, and what became of them"
        parts.append(table(caption, HEADS, values, range(1, len(HEADS))))
    else:
        parts.append(tag("p", _FINE))
    if shares:
        heads = ["class", "of rows read", "of rows counted", "moved by"]
        parts.append(table("How the class shares moved", heads, shares, {1, 2, 3}))
    return join([*parts, *(tag("p", text, class_="bad") for text in found.warnings())])
