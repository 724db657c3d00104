"""Drafts a schema from private data, for a person to correct and adopt.

This is the one place that reads a domain off the data. The text it writes says so, and carries
the mark that makes `publish` refuse it until a person has taken the mark away.
"""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from hedgerow.errors import DataError
from hedgerow.schema.attributes import PLAIN, Layout
from hedgerow.schema.lint import label_fault
from hedgerow.table.drafting.draft_items import (
    NO_UNIT,
    ItemSketch,
    item_separator,
    items_draft,
    items_of_lists,
    items_of_text,
    looks_like_transactions,
    may_hold_lines,
)
from hedgerow.table.drafting.entries import entry, file_lines, key_of
from hedgerow.table.drafting.guess import Guess, guess_column
from hedgerow.table.drafting.guess_people import NAMED, not_a_person
from hedgerow.table.drafting.sketch import Column, Sketch, sketch_of
from hedgerow.table.drafting.tidy import once_each, texts_of
from hedgerow.table.encode import is_list
from hedgerow.table.readers.choose import open_source
from hedgerow.table.readers.database import Database
from hedgerow.table.readers.frames import split_text
from hedgerow.table.readers.header import check_header

__all__ = ["PREFACE", "draft_text", "sketch_table"]

_UNIT = (
    "Whom does a release protect? `unit: row` if each row is one person; `unit: person` if a",
    "person can have several rows, which a column with `role: person` tells.",
)

_IF_MORE = (
    "If a title stands above the names of the columns, tell their line: --header-row 2 (in Python "
    "written=Layout(header_row=2)). If there are more columns, name what stands between them: "
    "--delimiter (delimiter=)."
)

PREFACE = """\
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
# Then sign it: `hedgerow sign` shows all that is published and takes the mark away. Leave
# `began_as_draft: true`: releases say so honestly, and name who signed the schema off.
"""


def sketch_table(
    source: Any,
    *,
    delimiter: str | None = None,
    line_breaks: bool = False,
    trust_header: bool = False,
    written: Layout = PLAIN,
) -> Sketch | ItemSketch:
    """What a draft of a table or of transactions says; `draft_text` writes it as YAML.

    Args:
        source: Whatever `read` takes.
        delimiter: The delimiter of a CSV file, if its first line is not to tell it.
        line_breaks: Whether quoted values of a CSV file may hold line breaks; without it a record
            is a line.
        trust_header: Whether the first line holds names even if it looks like a record.
        written: How the file is encoded, which sheet is meant and where its names stand.

    Returns:
        The draft of a schema, which `Schema.load` reads once a person has stated the unit of
        protection. It describes transactions if the data is a text file with one record of items
        per line, or has a column of lists.

    Raises:
        DataError: If the data cannot be read, has no column to publish, or seems to have no
            header.

    Example:
        >>> import pyarrow as pa
        >>> rows = pa.table({"age": [18, 40, 81], "smoker": ["yes", "no", "no"]})
        >>> text = draft_text(sketch_table(rows))
        >>> print(text[text.index("attributes:"):], end="")
        attributes:
          age: {type: numeric, low: 0, high: 120, step: 1, outside: clip}
          smoker: {type: categorical, values: ["no", "yes"]}
        # No column looked like a class. Give one `role: class` if releases should tell about it.
    """
    is_path = isinstance(source, (str, os.PathLike))
    title = key_of(_title(source))
    if is_path and delimiter is None and not line_breaks and written == PLAIN:
        path = Path(os.fsdecode(source))
        if looks_like_transactions(path):
            seen = items_of_text(path)
            return ItemSketch(title=title, labels=seen, what=str(path), path=path)
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
        path = Path(os.fsdecode(source))
        if may_hold_lines(path) and not line_breaks and written == PLAIN:
            seen = items_of_text(path, between)
            return ItemSketch(title=title, labels=seen, what=str(path), path=path)
        raise DataError(
            error.message,
            hint=f"{error.hint} If every line holds the items of one person, write a schema for "
            f"transactions by hand, with `separator: {json.dumps(between)}` below `items:` (see "
            "docs/transactions.md).",
        ) from None
    for name, part in zip(opened.names, parts, strict=True):
        if part and is_list(part[0].type) and label_fault(name) is None:
            seen = items_of_lists(part, name)
            return ItemSketch(title=title, labels=seen, what=opened.what, column=key_of(name))
    if not trust_header:
        check_header(opened.names, parts, opened.what)
    if not any(map(len, parts[0] if parts else ())):
        raise DataError(
            f"{opened.what}: there are no records in it, so nothing can be drafted",
            hint="Look whether this is the right input, or write the schema by hand.",
        )
    guesses = [
        (name, guess_column(name, part)) for name, part in zip(opened.names, parts, strict=True)
    ]
    if (
        len(guesses) == 1
        and not trust_header
        and (guesses[0][1].settings or {}).get("type", "categorical") == "categorical"
    ):
        _refuse_records(parts[0], opened.what)
    sketch = sketch_of(title, _guess_again(guesses, parts), written)
    if not any(column.guess.published and column.role is None for column in sketch.columns):
        raise DataError(
            f"{opened.what}: there is no column from which an attribute could be drafted",
            hint=("" if len(guesses) > 1 else f"Only one column was found. {_IF_MORE} ")
            + "Columns without values, and ones that identify people, cannot be published. "
            "Write the schema by hand. If each row is one item of a person, describe the items: "
            "items: {person: ..., item: ..., universe: ...} (see docs/transactions.md).",
        )
    return sketch


def _guess_again(
    guesses: list[tuple[str, Guess]], parts: list[list[Any]]
) -> list[tuple[str, Guess]]:
    """The guesses, with no column for the person that cannot be one, and people counted, not rows.

    If people have several rows, a value of many rows may still be one person's.
    """
    told = {}
    for place, (name, guess) in enumerate(guesses):
        people = guess.people
        if people is not None and people.repeats and 0 < people.rank < NAMED:
            others = [(other, parts[n]) for n, (other, _) in enumerate(guesses) if n != place]
            if why := not_a_person(parts[place], others):
                told[name] = replace(people, why=why, rank=0)
    guesses = [
        (name, replace(guess, people=told[name], comment=told[name].comment(chosen=False)))
        if name in told else (name, guess) for name, guess in guesses
    ]  # fmt: skip
    person = sketch_of("", guesses).role("person")
    if person is None:
        return guesses
    place = next(n for n, (name, _) in enumerate(guesses) if name == person.name)
    who = texts_of(person.name, parts[place])
    return [
        (name, guess_column(name, once_each(name, part, who)) if guess.published else guess)
        for (name, guess), part in zip(guesses, parts, strict=True)
    ]


def _refuse_records(parts: list[Any], what: str) -> None:
    """Refuses a single column whose values are whole records: its name is a title above them."""
    texts = pa.chunked_array(parts)
    if not pa.types.is_string(texts.type):
        return
    for sign, word in ((",", "comma"), (";", "semicolon"), ("\t", "tab"), ("|", "bar")):
        if pc.min(pc.count_substring(texts, sign)).as_py():
            raise DataError(
                f"{what}: only one column was found, and there is a {word} in all of its values",
                hint=f"{_IF_MORE} If there really is one column, say so with --trust-header "
                "(trust_header=True in Python).",
            )


def _title(source: Any) -> str:
    if isinstance(source, (str, os.PathLike)):
        return Path(os.fsdecode(source)).name.split(".")[0] or "table"
    if isinstance(source, Database) and source.table is not None:
        return source.table.split(".")[-1] or "table"
    return "table"


def draft_text(sketch: Sketch | ItemSketch) -> str:
    """The text of a draft that nobody was asked about."""
    if isinstance(sketch, ItemSketch):
        return items_draft(sketch)
    person = sketch.role("person")
    lines = [
        f"name: {sketch.title}",
        *(f"# {line}" for line in _UNIT),
        *([] if person is None
          else [f"# Below, {key_of(person.name)} seems to identify people: see there."]),
        f"unit: {NO_UNIT}",
        "draft: true",
        "began_as_draft: true",
        *file_lines(sketch.written),
        "attributes:",
    ]  # fmt: skip
    if sketch.unwritable:
        lines.append("  # A column is left out here: its name cannot be written. Rename it.")
    for column in sketch.columns:
        lines.extend(_entry(column))
    if sketch.role("class") is None:
        lines.append(
            "# No column looked like a class. "
            "Give one `role: class` if releases should tell about it."
        )
    return PREFACE + "\n".join(lines) + "\n"


def _entry(column: Column) -> list[str]:
    guess = column.guess
    useless = f"{guess.useless[:1].upper()}{guess.useless[1:]}: drop it by {{role: identifier}}, "
    useless += "unless it is publicly known that there are others."
    comment = f"{useless} {guess.comment}" if guess.useless else guess.comment
    if guess.settings is None:
        person = column.role == "person"
        settings = {"role": "person", "max_rows": "3"} if person else {"role": "identifier"}
        return entry(column.name, settings, comment=comment)
    role = {} if column.role is None else {"role": column.role}
    listed = guess.settings["type"] == "categorical"
    labels, recode = (guess.labels, guess.recode) if listed else ((), {})
    return entry(column.name, {**guess.settings, **role}, labels, recode, comment)
