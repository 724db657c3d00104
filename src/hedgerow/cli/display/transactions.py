"""How items are written in queries, and records of items in files."""

from __future__ import annotations

import difflib
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

from hedgerow.errors import UsageError

if TYPE_CHECKING:
    import pyarrow as pa

    from hedgerow.schema import Items

_LISTED = 10_000  # in longer lists nobody waits for a near word


def itemsets_of(text: str) -> list[str]:
    """The items that a query names.

    Items stand apart by commas, or by blanks if there is no comma; items with either in them
    can be written as a JSON list.

    Example:
        >>> itemsets_of("1 4"), itemsets_of("green tea, milk"), itemsets_of('["a, b"]')
        (['1', '4'], ['green tea', 'milk'], ['a, b'])
    """
    if text.lstrip().startswith("["):
        try:
            items = json.loads(text)
        except ValueError:
            items = None
        if isinstance(items, list) and all(isinstance(item, str | int) for item in items):
            return [str(item) for item in items]
    parts = text.split(",") if "," in text else text.split()
    return [part.strip() for part in parts if part.strip()]


def read_items(text: str, items: Items) -> list[str]:
    """The items that a query names, all of them in the universe.

    Raises:
        UsageError: If one is not, with the way to write what was probably meant.

    Example:
        >>> from hedgerow.schema import Items
        >>> read_items("green tea", Items(("green tea", "milk")))
        ['green tea']
        >>> read_items("milk and tea", Items(("milk", "tea")))
        Traceback (most recent call last):
        hedgerow.errors.UsageError: 'and' is not an item of the universe
          For all who hold several items write commas between them: "milk, tea".
    """
    whole = text.strip()
    if whole and _known(whole, items):  # an item may have blanks or commas in it
        return [whole]
    if whole.casefold() == "everybody":
        return []
    names = itemsets_of(text)
    unknown = [item for item in names if not _known(item, items)]
    if not unknown:
        return names
    parts = [part.strip() for part in re.split(r"\s+(?:and|&|\+)\s+|,", whole, flags=re.I)]
    if len(parts) > 1 and all(_known(part, items) for part in parts):
        hint = f'For all who hold several items write commas between them: "{", ".join(parts)}".'
    else:
        # a range of numbers may be long, and needs no list of what is near
        known = () if isinstance(items.universe, range) else items.labels
        known = items.taxonomy.labels if items.semantic else known
        near = difflib.get_close_matches(unknown[0], known, 3) if len(known) <= _LISTED else []
        hint = "Write items as the schema does, with commas between them."
        if near:
            hint = f"Did you mean {' or '.join(repr(label) for label in near)}? {hint}"
        elif isinstance(items.universe, range):
            hint += f" They are the numbers {items.universe[0]} to {items.universe[-1]}."
    raise UsageError(f"{unknown[0]!r} is not an item of the universe", hint=hint)


def _known(label: str, items: Items) -> bool:
    """Whether something is an item of the universe, or a group of the taxonomy."""
    return int(items.codes_of([label])[0]) >= 0 or items.group_of(label) is not None


def text_of(items: list[str]) -> str:
    """An itemset for people to read.

    Example:
        >>> text_of(["milk", "tea"]), text_of([])
        ('milk, tea', 'everybody')
    """
    return ", ".join(items) or "everybody"


def fimi_writer(rows: pa.Table, path: Path) -> None:
    """Writes records as lines of items with blanks between them."""
    lines = []
    for items in rows.column("items").to_pylist():
        if any(item.split() != [item] for item in items):
            raise UsageError(
                "Items with blanks in them cannot be written as text.",
                hint="Let --out end in .csv or .parquet.",
            )
        lines.append(" ".join(items))
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
