"""What a page says of the schema, and of how the data were prepared."""

from __future__ import annotations

from hedgerow.data.records import ItemPreparation
from hedgerow.data.table import Preparation
from hedgerow.report.html import Safe, join, table, tag
from hedgerow.schema import Schema

# What became of rows or records, in words. NOT PRIVATE: for the holder of the data alone.


_HEADS = ["attribute", "missing", "outside", "foreign", "became other", "clipped", "dropped"]
_CLASSES = ["class", "of rows read", "of rows counted", "moved by"]
_FINE = "Every value was counted as it is."

Tables = list[tuple[str, list[str], list[list[str]]]]
"""Tables, each with its caption and its heads."""


def about_rows(found: Preparation | ItemPreparation) -> list[str]:
    """What became of rows or records, as sentences.

    Example:
        >>> about_rows(Preparation(rows=9, dropped=1, unidentified=0, capped=2, people=5,
        ...     people_capped=1, attributes=(), classes=(), read=(), kept=()))[0]
        'Of 9 rows 6 are counted: rules of the schema dropped 1, the cap on rows per person left
        out 2.'
    """
    if isinstance(found, ItemPreparation):
        return _about_records(found)
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
    if not _about_values(found):
        told.append(_FINE)
    for rule, rows in found.broken.items():
        told.append(f"{rows:,} of the rows break the rule: {rule}.")
    return told


def _about_records(found: ItemPreparation) -> list[str]:
    told = [f"Of {found.records:,} records {found.counted:,} are counted."]
    if found.rows is not None:
        told.insert(
            0, f"Of {found.rows:,} rows {found.unidentified:,} belong to no person and are dropped."
        )
    if found.empty and not found.dropped:
        told.append(f"{found.empty:,} of them have no item of the universe: (empty) stands there.")
    return told


def about_tables(found: Preparation | ItemPreparation) -> Tables:
    """What became of values or items, and how class shares moved; only what there is to tell."""
    if isinstance(found, ItemPreparation):
        tables = [("Items and records that are not counted as they are",
                   ["what", "number", "share"], _about_items(found))]  # fmt: skip
    else:
        tables = [
            ("Values that are missing or outside their domain, and what became of them",
             *_without_zeros(_HEADS, _about_values(found))),
            ("How the class shares moved", _CLASSES, _about_shares(found)),
        ]  # fmt: skip
    return [one for one in tables if one[2]]


def _about_items(found: ItemPreparation) -> list[list[str]]:
    cap = f"the cap of {found.max_items}"
    lines = (
        ("items outside the universe, left out", found.foreign, found.items),
        ("items that a record holds twice, counted once", found.repeated, found.items),
        (f"items over {cap}, left out", found.capped, found.items),
        (f"records with more items than {cap}", found.over, found.records),
        ("records without an item of the universe", found.empty, found.records),
    )
    return [[what, f"{n:,}", f"{n / max(1, of):.1%}"] for what, n, of in lines if n]


def _about_values(found: Preparation) -> list[list[str]]:
    """For each attribute with odd values, how many there are of which; columns as in _HEADS."""
    rows = []
    for one in found.attributes:
        numbers = (one.missing, one.outside, one.foreign, one.other, one.clipped, one.dropped)
        if any(numbers):
            share = max(1, found.rows)
            rows.append([one.name, *(f"{n:,} ({n / share:.1%})" if n else "0" for n in numbers)])
    return rows


def _without_zeros(heads: list[str], rows: list[list[str]]) -> tuple[list[str], list[list[str]]]:
    """A table without columns that have nothing to tell.

    Example:
        >>> _without_zeros(["attribute", "missing", "clipped"], [["age", "0", "2 (1.0%)"]])
        (['attribute', 'clipped'], [['age', '2 (1.0%)']])
    """
    told = [place for place in range(len(heads)) if any(row[place] != "0" for row in rows)]
    return [heads[place] for place in told], [[row[place] for place in told] for row in rows]


def _about_shares(found: Preparation) -> list[list[str]]:
    """Shares of the class before and after, where rows were left out."""
    if found.counted == found.rows:
        return []
    return [
        [label, f"{before:.1%}", f"{after:.1%}", f"{(after - before) * 100:+.1f} points"]
        for label, before, after in zip(found.classes, found.read, found.kept, strict=True)
    ]


def prepared(found: Preparation | ItemPreparation) -> Safe:
    """All of it for a page."""
    parts = [tag("p", sentence) for sentence in about_rows(found)]
    for caption, heads, rows in about_tables(found):
        parts.append(table(caption, heads, rows, range(1, len(heads))))
    return join([*parts, *(tag("p", text, class_="bad") for text in found.warnings())])


# Whose data it is and what for, as the schema's metadata tells.


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
