"""Drafts the items of transactions from private data, for a person to correct and adopt."""

from __future__ import annotations

import codecs
import json
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from hedgerow.errors import DataError
from hedgerow.schema.diff import odd_label
from hedgerow.schema.items import DEFAULT_FAN_OUT, EMPTY
from hedgerow.schema.lint import label_fault, range_fault
from hedgerow.table.drafting.guess import FEWEST
from hedgerow.table.encode import plain_array, text_of
from hedgerow.table.readers.choose import magic_of
from hedgerow.table.readers.text.faults import explain, open_binary
from hedgerow.table.transactions.transactions import is_text

__all__ = [
    "MOST",
    "NO_UNIT",
    "PREFACE",
    "ItemSketch",
    "item_separator",
    "items_draft",
    "items_of_lists",
    "items_of_text",
    "looks_like_transactions",
    "may_hold_lines",
    "universe_lines",
    "universe_of",
]

_HEAD = 1 << 16
MOST = 20_000  # more items than this belong in a file of their own
_NUMBER = re.compile(r"0|-?[1-9]\d{0,17}", re.ASCII)
# Stands where a person must state the unit of protection; no schema is read with it.
NO_UNIT = "row or person?"
_UNIT = """\
# Whom does a release protect? `unit: row` if each record is one person. If a person can have
# several records, put their items together first, or write `unit: person` and give a table with
# one row for each item of a person (`person:` and `item:` below `items:` name its columns)."""
_DELIMITERS = re.compile(r"[,;|\t]")

PREFACE = """\
# A DRAFT, made by reading PRIVATE data: the items below were taken from the records of real
# people, and a release must not depend on that. Nobody but you should see this file yet, and
# `hedgerow publish` refuses it. Before you take the mark away:
#
#   1. The universe must come from public knowledge: a catalogue, a code book, a site map. Complete
#      it until you would have written the same without the data. It can be a range of numbers,
#      a list, or the path of a file with one item per line. Its order matters: neighbours are
#      grouped, `fan_out` at a time. If you know a better grouping, write `taxonomy:` instead.
#   2. Check what is to happen to items outside the universe (`foreign:` drop or error) and to
#      records without items (`empty:` drop, or dummy to count them).
#   3. Leave `max_items:` out, as here, unless long records must not be read in full: what it drops
#      is lost, while DiffPart gives items of long records less weight and corrects for that.
#   4. State whom a release protects (`unit:`). Until then no command reads this file.
#
# Then sign it: `hedgerow sign` shows all that is published and takes the mark away. Leave
# `began_as_draft: true`: releases say so honestly, and name who signed the schema off.
"""


def may_hold_lines(path: Path) -> bool:
    """Whether a file is a text whose name does not say that it is a table."""
    try:
        text = is_text(path)
    except DataError:  # its name is not that of a text file, so what is in it decides
        text = False
    return text and not path.name.lower().removesuffix(".gz").endswith((".csv", ".tsv"))


def looks_like_transactions(path: Path) -> bool:
    """Whether a file seems to hold one record of items per line, rather than a table."""
    name = path.name.lower().removesuffix(".gz")
    if not may_hold_lines(path):
        return False
    gzipped = magic_of(path)[:2] == b"\x1f\x8b"
    try:
        with open_binary(path, gzipped) as file:
            head = file.read(_HEAD).removeprefix(codecs.BOM_UTF8)
    except (OSError, EOFError, zlib.error) as error:
        raise explain(error, path, gzipped) from None
    if b"\0" in head:
        return False
    if name.endswith((".dat", ".fimi")):
        return True
    if len(head) > _HEAD // 2:  # the last line may be cut
        head = head[: head.rfind(b"\n") + 1] or head
    words = head.decode("utf-8", "replace")
    lines = [line.split() for line in words.splitlines()]
    several = any(len(line) > 1 for line in lines)
    if all(_NUMBER.fullmatch(word) for line in lines for word in line):
        return any(lines) and several
    return several and not _DELIMITERS.search(words)


def item_separator(path: Path) -> str | None:
    r"""What separates the items of a text file whose lines seem to be transactions.

    Lines of a table have as many fields as it has columns, but for a mistake here and there; the
    numbers of items differ from line to line.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "shop.csv"
        >>> _ = path.write_text("bread;jam;tea\nmilk\ntea;milk\n")
        >>> item_separator(path)
        ';'
    """
    gzipped = magic_of(path)[:2] == b"\x1f\x8b"
    try:
        with open_binary(path, gzipped) as file:
            head = file.read(_HEAD)
    except (OSError, EOFError, zlib.error):
        return None
    text = head.decode("utf-8", "replace")
    marks = _DELIMITERS.findall(text)
    if not marks or '"' in text or "\0" in text:  # quoted values belong to a table
        return None
    between = max(sorted(set(marks)), key=marks.count)
    lengths = [line.count(between) + 1 for line in text.splitlines() if line.strip()]
    usual = max(set(lengths), key=lengths.count)
    unusual = sum(length != usual for length in lengths)
    return between if 4 * unusual >= len(lengths) else None


def items_of_text(path: Path, separator: str = " ") -> set[str]:
    """The items that may be proposed of a text file with one record per line.

    Args:
        path: The file.
        separator: What separates items; a space stands for any blanks.
    """
    gzipped = magic_of(path)[:2] == b"\x1f\x8b"
    records: Counter[bytes] = Counter()
    between = None if separator == " " else separator.encode()
    try:
        with open_binary(path, gzipped) as file:
            start = True
            for line in file:
                line = line.removeprefix(codecs.BOM_UTF8) if start else line
                records.update(set(map(bytes.strip, line.split(between))))
                start = False
    except (OSError, EOFError, zlib.error) as error:
        raise explain(error, path, gzipped) from None
    often = (word for word, number in records.items() if word and number >= FEWEST)
    return {word for word in (one.decode("utf-8", "replace") for one in often)
            if not odd_label(word)}  # fmt: skip


def items_of_lists(parts: Sequence[Any], column: str) -> set[str]:
    """The items that may be proposed of a list column, given as Arrow arrays."""
    records: Counter[str] = Counter()
    for part in parts:
        values = plain_array(part.flatten(), column)
        if pa.types.is_dictionary(values.type):
            values = pc.take(values.dictionary, values.indices)
        each = pa.table({"record": pc.list_parent_indices(part), "item": values})
        once = each.group_by(["record", "item"]).aggregate([])["item"]
        for counted in pc.value_counts(once.combine_chunks()).to_pylist():
            records[text_of(counted["values"]) or ""] += counted["counts"]
    return {text for text, number in records.items()
            if text and number >= FEWEST and not odd_label(text)}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class ItemSketch:
    """Transactions as a draft sees them. It was read off PRIVATE data.

    Args:
        title: The name of the schema, as YAML.
        labels: The items that may be proposed: enough records have each of them.
        what: How messages call the source.
        column: The column they stand in, as YAML; None for a text file.
        path: The text file, if it is one.
    """

    title: str
    labels: Iterable[str]
    what: str
    column: str | None = None
    path: Path | None = None

    def items(self, separator: str = " ") -> list[str]:
        """The items that may be proposed and written down, in order: numbers by their size."""
        seen = self.labels
        if self.path is not None and separator != " ":
            seen = items_of_text(self.path, separator)
        known = {label for label in seen if label_fault(label) is None and label != EMPTY}
        numbers = all(map(_NUMBER.fullmatch, known))
        return sorted(known, key=int) if numbers else sorted(known)


def universe_of(items: Sequence[str], what: str) -> range | Sequence[str]:
    """A range, if it would hold few numbers that are no items; else the list of items.

    Raises:
        DataError: If no person could check the list, or nothing may be proposed.
    """
    if not items:
        raise DataError(
            f"{what}: there is no item from which a universe could be drafted",
            hint=f"An item that fewer than {FEWEST} records have, or that looks like free text, "
            "may be one person's, and is not proposed. Write the schema by hand.",
        )
    if all(map(_NUMBER.fullmatch, items)) and _dense([int(items[0]), int(items[-1])], len(items)):
        return range(int(items[0]), int(items[-1]) + 1)
    if len(items) > MOST:
        raise DataError(
            f"{what}: there are too many items for a list that a person could check",
            hint="Write the public list of items to a file, one per line, and a schema by hand: "
            "items: {universe: items.txt}.",
        )
    return items


def items_draft(sketch: ItemSketch) -> str:
    """The text of a schema file for transactions, marked as a draft.

    Example:
        >>> sketch = ItemSketch(title="clicks", labels=["1", "2", "4"], what="clicks.dat")
        >>> text = items_draft(sketch)
        >>> print(text[text.index("unit: row or"):], end="")
        unit: row or person?
        draft: true
        began_as_draft: true
        items:
          universe: {range: [1, 4]}
          fan_out: 10
          foreign: drop
          empty: drop
    """
    separator = (sketch.path and item_separator(sketch.path)) or " "
    universe = universe_of(sketch.items(separator), sketch.what)
    lines = [f"name: {sketch.title}", _UNIT, f"unit: {NO_UNIT}"]
    lines += ["draft: true", "began_as_draft: true", "items:"]
    lines += [] if sketch.column is None else [f"  column: {sketch.column}"]
    lines += [] if separator == " " else [f"  separator: {json.dumps(separator)}"]
    lines += universe_lines(universe)
    lines += [f"  fan_out: {DEFAULT_FAN_OUT}", "  foreign: drop", "  empty: drop"]
    return PREFACE + "\n".join(lines) + "\n"


def universe_lines(universe: range | Sequence[str]) -> list[str]:
    """The lines of a schema file that say which items there are."""
    if isinstance(universe, range):
        return [f"  universe: {{range: [{universe.start}, {universe.stop - 1}]}}"]
    return ["  universe:", *(f"    - {json.dumps(one, ensure_ascii=False)}" for one in universe)]


def _dense(ends: Sequence[int], number: int) -> bool:
    """Whether a range would hold few numbers that are no items."""
    span = ends[1] - ends[0] + 1
    return range_fault(*ends) is None and span <= 4 * number + 100
