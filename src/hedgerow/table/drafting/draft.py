"""Drafts a schema from private data, for a person to correct and adopt.

This is the one place that reads a domain off the data. The text it writes says so, and carries
the mark that makes `publish` refuse it until a person has taken the mark away.
"""

from __future__ import annotations

import json
import os
import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hedgerow.errors import DataError
from hedgerow.schema.lint import column_fault, label_fault
from hedgerow.schema.written import PLAIN, Layout
from hedgerow.table.database import Database
from hedgerow.table.drafting.draft_items import (
    NO_UNIT,
    item_separator,
    items_draft,
    items_of_lists,
    items_of_text,
    looks_like_transactions,
)
from hedgerow.table.drafting.guess import Guess, guess_column
from hedgerow.table.encode import is_list
from hedgerow.table.frames import split_text
from hedgerow.table.header import check_header
from hedgerow.table.readers import open_source

__all__ = ["draft_schema"]

_CLASS_NAMES = ("class", "target", "salary", "income", "label", "outcome", "diagnosis")
_CLASS_VALUES = 20
_WIDTH = 94  # of comments

_UNIT = (
    "Whom does a release protect? `unit: row` if each row is one person; `unit: person` if a",
    "person can have several rows, which a column with `role: person` tells.",
)

_PREFACE = """\
# A DRAFT, made by reading PRIVATE data: bounds and values below were taken from the records of
# real people, and a release must not depend on that. Nobody but you should see this file yet,
# and `hedgerow publish` refuses it. Before you take the mark away, go through every column:
#
#   1. Bounds (low, high), scales and values must come from public knowledge: a form, a law, a code
#      book.
#      Widen, complete or shorten them until you would have written the same without the data.
#   2. Write taxonomies: groups of values make better releases than a flat list
#      (`taxonomy:` takes a nested mapping, a YAML file or an ARX hierarchy).
#   3. Check what is to happen to a missing value (`missing:`) and to one outside the domain
#      (`outside:`): error, other, drop, and for numbers also clip.
#   4. Check the roles: what identifies somebody is `role: identifier` and is left out; the column
#      to be predicted is `role: class`; if people have several rows, the column that tells them
#      apart is `role: person` with `max_rows: ...`.
#   5. State whom a release protects (`unit:`). Until then no command reads this file.
#
# Then delete the line `draft: true`. Leave `began_as_draft: true`: releases say so honestly, or
# name who signed the schema off (`metadata:`, with institution, contact, reviewer and others).
"""


@dataclass(frozen=True)
class _Column:
    name: str
    guess: Guess
    role: str | None = None


def draft_schema(
    source: Any,
    *,
    delimiter: str | None = None,
    line_breaks: bool = False,
    trust_header: bool = False,
    written: Layout = PLAIN,
) -> str:
    """Drafts the text of a schema file from private data.

    Args:
        source: Whatever `read` takes.
        delimiter: The delimiter of a CSV file, if its first line is not to tell it.
        line_breaks: Whether quoted values of a CSV file may hold line breaks; without it a record
            is a line.
        trust_header: Whether the first line holds names even if it looks like a record.
        written: How the file is encoded, which sheet is meant and where its names stand.

    Returns:
        YAML text, marked as a draft, which `Schema.load` reads once a person has stated the unit
        of protection. It describes transactions if the data is a text file with one record of
        items per line, or has a column of lists.

    Raises:
        DataError: If the data cannot be read, has no column to publish, or seems to have no
            header.

    Example:
        >>> import pyarrow as pa
        >>> text = draft_schema(pa.table({"age": [18, 40, 81], "smoker": ["yes", "no", "no"]}))
        >>> print(text[text.index("attributes:"):], end="")
        attributes:
          age: {type: numeric, low: 15, high: 85, step: 1, outside: clip}
          smoker: {type: boolean}
        # No column looked like a class. Give one `role: class` if releases should tell about it.
    """
    is_path = isinstance(source, (str, os.PathLike))
    title = _key(_title(source))
    if is_path and delimiter is None and not line_breaks and written == PLAIN:
        path = Path(os.fsdecode(source))
        if looks_like_transactions(path):
            return items_draft(title, items_of_text(path), str(path))
    opened = open_source(
        source,
        delimiter=delimiter,
        line_breaks=line_breaks,
        written=written,
        split=None if is_path else split_text(" "),
    )
    parts: list[list[Any]] = [[] for _ in opened.names]
    try:
        for batch in opened.batches(range(len(opened.names))):
            for place, part in enumerate(parts):
                part.append(batch.column(place))
    except DataError as error:
        between = item_separator(Path(os.fsdecode(source))) if is_path else None
        if between is None:
            raise
        raise DataError(
            error.message,
            hint=f"{error.hint} If every line holds the items of one person, write a schema for "
            f"transactions by hand, with `separator: {json.dumps(between)}` below `items:` (see "
            "docs/transactions.md).",
        ) from None
    for name, part in zip(opened.names, parts, strict=True):
        if part and is_list(part[0].type) and label_fault(name) is None:
            return items_draft(title, items_of_lists(part, name), opened.what, _key(name))
    if not trust_header:
        check_header(opened.names, parts, opened.what)
    columns = []
    for name, part in zip(opened.names, parts, strict=True):
        classlike = name.casefold() in _CLASS_NAMES
        guess = guess_column(name, part, prefer_values=classlike)
        columns.append(_Column(name, _respect_names(name, guess)))
    columns = _choose_person(_choose_class(columns))
    if not any(map(len, parts[0] if parts else ())):
        raise DataError(
            f"{opened.what}: there are no records in it, so nothing can be drafted",
            hint="Look whether this is the right input, or write the schema by hand.",
        )
    if not any(column.guess.published and column.role is None for column in columns):
        raise DataError(
            f"{opened.what}: there is no column from which an attribute could be drafted",
            hint=(
                ""
                if len(columns) > 1
                else "Only one column was found: if there are more, name "
                "what stands between them (--delimiter, delimiter=). "
            )
            + "Columns without values, and ones that identify people, cannot be published. "
            "Write the schema by hand. If each row is one item of a person, describe the items: "
            "items: {person: ..., item: ..., universe: ...} (see docs/transactions.md).",
        )
    return _text(title, columns, written)


def _respect_names(name: str, guess: Guess) -> Guess:
    if guess.published and column_fault(name, True) is not None:
        return Guess(comment="This name is taken: rename the column to publish it.")
    return guess


def _choose_class(columns: Sequence[_Column]) -> list[_Column]:
    """Gives the role of the class to the likeliest column, if there are others beside it."""
    chosen = list(columns)
    able = [place for place, column in enumerate(columns) if column.guess.published]
    if len(able) < 2:
        return chosen
    for wanted in _CLASS_NAMES:
        for place in reversed(able):
            column = columns[place]
            few = 0 < len(column.guess.labels) <= _CLASS_VALUES
            if few and column.name.casefold() == wanted:
                chosen[place] = replace(column, role="class")
                return chosen
    return chosen


def _choose_person(columns: Sequence[_Column]) -> list[_Column]:
    """Gives the role of the person to the likeliest column whose values repeat, if there is one."""
    chosen, ranks = list(columns), {}
    for place, column in enumerate(columns):
        people = column.guess.people
        if people is not None and people.repeats and column_fault(column.name, False) is None:
            ranks[place] = people.rank
    if not any(ranks.values()):
        return chosen
    place = max(ranks, key=ranks.__getitem__)  # the first of the likeliest
    guess = chosen[place].guess
    assert guess.people is not None
    guess = replace(guess, comment=guess.people.comment(chosen=True))
    chosen[place] = replace(chosen[place], guess=guess, role="person")
    return chosen


def _title(source: Any) -> str:
    if isinstance(source, (str, os.PathLike)):
        return Path(os.fsdecode(source)).name.split(".")[0] or "table"
    if isinstance(source, Database) and source.table is not None:
        return source.table.split(".")[-1] or "table"
    return "table"


def _text(title: str, columns: Sequence[_Column], written: Layout) -> str:
    told_apart = [_key(column.name) for column in columns if column.role == "person"]
    lines = [
        f"name: {title}",
        *(f"# {line}" for line in _UNIT),
        *(f"# Below, {name} seems to tell people apart: see there." for name in told_apart),
        f"unit: {NO_UNIT}",
        "draft: true",
        "began_as_draft: true",
        *(["file:"] if written != PLAIN else []),
        *(f"  {key}: {json.dumps(value)}" for key, value in written.describe().items()),
        "attributes:",
    ]
    for column in columns:
        if column_fault(column.name, False) is not None:
            lines.append("  # A column is left out here: its name cannot be written. Rename it.")
            continue
        lines.extend(_entry(column))
    if not any(column.role == "class" for column in columns):
        lines.append(
            "# No column looked like a class. "
            "Give one `role: class` if releases should tell about it."
        )
    return _PREFACE + "\n".join(lines) + "\n"


def _entry(column: _Column) -> list[str]:
    guess, key = column.guess, _key(column.name)
    lines = [f"  # {line}" for line in _wrapped(guess.comment)]
    if guess.settings is None:
        role = "person, max_rows: 3" if column.role == "person" else "identifier"
        return [*lines, f"  {key}: {{role: {role}}}"]
    settings = dict(guess.settings)
    if column.role is not None:
        settings["role"] = column.role
    if settings["type"] != "categorical":
        inside = ", ".join(f"{name}: {value}" for name, value in settings.items())
        return [*lines, f"  {key}: {{{inside}}}"]
    lines.append(f"  {key}:")
    lines.extend(f"    {name}: {value}" for name, value in settings.items())
    lines.append("    values:")
    lines.extend(f"      - {json.dumps(label, ensure_ascii=False)}" for label in guess.labels)
    return lines


def _wrapped(comment: str) -> list[str]:
    """The lines of a comment; what is to be copied (`...` or {...}) stays in one of them."""
    whole = re.sub(r"`.*?`|\{.*?\}", lambda found: found[0].replace(" ", "\0"), comment)
    return [line.replace("\0", " ") for line in textwrap.wrap(whole, _WIDTH)]


_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_WORDS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})


def _key(text: str) -> str:
    """A YAML key, in quotes if YAML might take it for something else."""
    if _PLAIN.fullmatch(text) and text.casefold() not in _WORDS:
        return text
    return json.dumps(text, ensure_ascii=False)
