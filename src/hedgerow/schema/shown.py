"""What people see instead of a label that could be taken for another."""

from __future__ import annotations

from hedgerow.schema.attributes import OTHER, Attribute, Categorical
from hedgerow.schema.schema import Schema

__all__ = ["displayed", "other_of"]


def other_of(attribute: Attribute) -> str:
    """What the value `other` is called, if rules of the schema put values there.

    A schema may have a value of this name itself, or one that differs in a capital letter alone.
    """
    outside = "not listed" if isinstance(attribute, Categorical) else "out of bounds"
    rules = (attribute.missing, "missing"), (attribute.outside, outside)
    why = [word for rule, word in rules if rule == OTHER]
    return f"{OTHER} (incl. {' and '.join(why)})" if why else OTHER


def displayed(schema: Schema, name: str, label: str) -> str:
    """A label of a table as people see it: `other` says what is in it."""
    if label != OTHER:
        return label
    return next((other_of(one) for one in schema.columns if one.name == name), label)
