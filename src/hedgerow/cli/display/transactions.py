"""What commands show of published transactions."""

from __future__ import annotations

import difflib
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hedgerow.cli.display.terminal import print_json, print_table, say
from hedgerow.errors import UsageError
from hedgerow.present.regions import ShownRegion

if TYPE_CHECKING:
    import pyarrow as pa

    from hedgerow.cli.display.kinds import View
    from hedgerow.release import TransactionsRelease
    from hedgerow.schema import Items

__all__ = ["fimi_writer", "itemsets_of", "read_items", "show_transactions", "text_of"]


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
            listed = json.loads(text)
        except ValueError:
            listed = None
        if isinstance(listed, list) and all(isinstance(item, str | int) for item in listed):
            return [str(item) for item in listed]
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
    found = itemsets_of(text)
    unknown = [item for item in found if not _known(item, items)]
    if not unknown:
        return found
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


def show_transactions(release: TransactionsRelease, view: View) -> None:
    """Shows the guarantee and the most frequent itemsets, or the largest partitions.

    Args:
        release: Published transactions.
        view: What was asked for.
    """
    from hedgerow.cli.display import words
    from hedgerow.cli.display.picture import draw

    tree, plot = view.tree, view.plot
    heads, rows = _partitions(release, view.top) if tree else _frequent(release, view.top)
    if plot is not None:
        _, bars = (heads, rows) if rows and not tree else _frequent(release, 12)
        shown = [
            ShownRegion(
                number=place,
                where={},
                counts={"": round(max(0, row[1]))},
                named=text_of(row[0]),
                ends=(row[2], row[3]),
            )
            for place, row in enumerate(bars, 1)
        ]
        draw(release, shown, plot, view.overwrite)
    if view.as_json:
        named = [dict(zip(heads, row, strict=True)) for row in rows]
        key = "partitions" if tree else "frequent"
        print_json({**words.facts(release), key: named, "plot": view.drawn})
        return
    told = release.describe()
    holds = f"{words.regions(release)} by {release.method}." if told.number else told.summary
    say(f"{release.schema.name}: {holds}")
    for line in words.guarantee(release):
        say(line)
    those = release.schema.unit_names[1]
    if tree:
        headings = ["items, or groups of them", those]
    else:
        headings = [f"{those} that hold", "about", "from", "to (95% interval)"]
    if rows:
        say()
        print_table(
            headings,
            [[text_of(row[0]), *(_number(value) for value in row[1:])] for row in rows],
            set(range(1, len(headings))),
        )
    if rows and not tree:
        say("(--top N for more; itemsets.txt lists the published counts themselves)")
    if plot is not None:
        say(f"\nDrew the most frequent itemsets to {plot}.")


def _frequent(release: TransactionsRelease, top: int) -> tuple[list[str], list[list[Any]]]:
    if not top:
        return ["items", "estimate", "low", "high"], []
    found = release.frequent(top, kind="arrow")
    rows = [list(row.values()) for row in found.to_pylist()]
    return list(found.column_names), rows


def _partitions(release: TransactionsRelease, top: int) -> tuple[list[str], list[list[Any]]]:
    from hedgerow.measured.itemsets import CutTree
    from hedgerow.schema.item_tree import ItemTree

    partition = release.partition
    if not isinstance(partition, CutTree):
        raise UsageError(
            "These transactions were not published by a tree.",
            hint="Leave --tree out, or publish with --variant tree.",
        )
    labels = ItemTree.of(release.items).labels
    leaf = next(m for m in release.measurements if m.name == "leaf")
    order = sorted(range(len(leaf.where)), key=lambda i: (-int(leaf.values[i, 0]), i))[:top]
    rows: list[list[Any]] = []
    for place in order:
        number = int(leaf.where[place])
        cut = [labels[node] for node in partition.nodes(number).tolist()]
        rows.append([cut, int(leaf.values[place, 0])])
    return ["cut", "count"], rows


def _number(value: float | None) -> str:
    if value is None or value == float("inf"):
        return "any number"
    return f"{max(0.0, value):,.0f}"


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
