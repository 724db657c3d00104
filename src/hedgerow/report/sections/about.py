"""Whose data it is and what for, as the schema's metadata tells."""

from __future__ import annotations

from hedgerow.report.html import Safe, tag
from hedgerow.schema import Schema

__all__ = ["about", "facts"]

_NAMES = {
    "institution": "published by",
    "contact": "contact",
    "period": "period",
    "licence": "licence",
    "purpose": "purpose",
    "recipients": "recipients",
}


def facts(schema: Schema) -> list[tuple[str, str]]:
    """What the metadata tells, in the words of a reader; the sign-off last.

    Example:
        >>> from hedgerow.schema import Schema
        >>> facts(Schema.from_dict({"name": "x", "unit": "row", "metadata": {"period": "1999"},
        ...     "attributes": {"a": {"type": "boolean"}}}))
        [('period', '1999'), ('one row is', 'a person')]
    """
    told = schema.metadata.describe()
    found = [(name, told[key]) for key, name in _NAMES.items() if key in told]
    if not told:
        return []
    record = "record" if schema.kind == "transactions" else "row"
    one = schema.unit_names[0]
    if one != record:
        found.append((f"one {record} is", f"{'an' if one[0].lower() in 'aeiou' else 'a'} {one}"))
    if schema.is_signed_off:
        found.append(("schema signed off by", f"{told['reviewer']}, {told['reviewed']}"))
    return found


def about(schema: Schema) -> Safe | None:
    """The same as a list for a page; None if the schema has no metadata."""
    told = facts(schema)
    if not told:
        return None
    return tag("dl", *(tag("div", tag("dt", k), tag("dd", v)) for k, v in told), class_="about")
