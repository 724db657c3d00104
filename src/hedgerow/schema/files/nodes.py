"""A document as a tree of texts, lists and mappings that remember their lines.

Every scalar stays the text that somebody wrote: the country code `No` must not become false, nor
the postcode `007` the number seven. What a text means is decided by the key it stands under.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from decimal import Decimal
from typing import Any

from hedgerow.schema.lint import MAX_DEPTH, Fault, raise_faults

__all__ = ["MAX_NESTING", "Entries", "Items", "Node", "Text", "from_python", "typed_text"]

MAX_NESTING = 2 * MAX_DEPTH + 8  # lists of mappings take two levels for one of a taxonomy
_MOST_BITS = 1000  # Python itself refuses to write out very long numbers


@dataclass(slots=True)
class Text:
    """A scalar; plain if it was written without quotes, typed if it was not a text in Python."""

    value: str
    _: KW_ONLY
    line: int | None = None
    plain: bool = False
    typed: bool = False

    @property
    def is_nothing(self) -> bool:
        """Whether it stands for no value at all."""
        return self.plain and self.value.lower() in ("", "~", "null")


@dataclass(slots=True)
class Items:
    """A list."""

    items: list[Node] = field(default_factory=list)
    line: int | None = None


@dataclass(slots=True)
class Entries:
    """A mapping, in the order of the file."""

    pairs: list[tuple[Text, Node]] = field(default_factory=list)
    line: int | None = None


Node = Text | Items | Entries


def typed_text(node: Node | None) -> str | None:
    """The first text of a tree that was a truth value or a decimal number in Python."""
    if isinstance(node, Text):
        return node.value if node.typed else None
    if isinstance(node, Items):
        parts = node.items
    else:
        parts = [] if node is None else [part for pair in node.pairs for part in pair]
    return next((found for found in map(typed_text, parts) if found is not None), None)


def from_python(value: Any, depth: int = 0) -> Node:
    """The tree of a Python value, such as JSON holds.

    Raises:
        SchemaError: For a value that a schema file could not hold.

    Example:
        >>> from_python({"step": 0.5}).pairs[0][1].value
        '0.5'
    """
    if depth > MAX_NESTING:
        raise_faults([Fault("the schema is nested too deeply", "Remove levels from it.")])
    if value is None:
        return Text("", plain=True)
    if isinstance(value, str):
        return Text(value)
    if isinstance(value, bool):
        return Text("true" if value else "false", typed=True)
    if isinstance(value, int) and value.bit_length() > _MOST_BITS:
        raise_faults([Fault("the schema holds a number with very many digits", "Shorten it.")])
    if isinstance(value, int | float | Decimal):
        return Text(str(value), typed=isinstance(value, float))
    if isinstance(value, datetime.date):
        return Text(value.isoformat())
    if isinstance(value, Mapping):
        keys = [from_python(key) for key in value]
        below = [from_python(item, depth + 1) for item in value.values()]
        if all(isinstance(key, Text) for key in keys):
            return Entries([(k, b) for k, b in zip(keys, below, strict=True) if type(k) is Text])
    if isinstance(value, list | tuple):
        return Items([from_python(item, depth + 1) for item in value])
    what = f"the schema holds a Python object of type {type(value).__name__}"
    raise_faults([Fault(what, "Use texts, numbers, dates, lists and dictionaries only.")])
    raise AssertionError  # raise_faults has raised
