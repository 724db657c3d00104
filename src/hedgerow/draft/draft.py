"""Drafts a schema from private data, for a person to correct and adopt."""

from __future__ import annotations

import codecs
import json
import os
import re
import textwrap
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from hedgerow.data.encode import flat_array, is_list, text_of
from hedgerow.data.frames import split_text
from hedgerow.data.open_input import check_header, magic_of, open_source
from hedgerow.data.preparation import FEWEST
from hedgerow.data.source import Database
from hedgerow.data.text import explain, open_binary
from hedgerow.data.transactions import is_text
from hedgerow.draft.guess import Guess, guess_column, word_order
from hedgerow.draft.people import NAMED, People, not_a_person, once_each, texts_of, words_of
from hedgerow.errors import DataError, UsageError
from hedgerow.schema import Schema
from hedgerow.schema.attributes import PLAIN, RESERVED, Layout, column_fault
from hedgerow.schema.build import load_schema
from hedgerow.schema.conditions import Misread
from hedgerow.schema.diff import odd_label
from hedgerow.schema.items import DEFAULT_FAN_OUT, EMPTY, range_fault
from hedgerow.schema.relations import read_words
from hedgerow.schema.schema import Unit
from hedgerow.schema.yaml_text import label_fault

# Drafts the items of transactions from private data, for a person to correct and adopt.


_HEAD = 1 << 16
MOST = 20_000  # more items than this belong in a file of their own
_NUMBER = re.compile(r"0|-?[1-9]\d{0,17}", re.ASCII)
# Stands where a person must state the unit of protection; no schema is read with it.
NO_UNIT = "row or person?"
_ITEMS_UNIT = """\
# Whom does a release protect? `unit: row` if each record is one person. If a person can have
# several records, put their items together first, or write `unit: person` and give a table with
# one row for each item of a person (`person:` and `item:` below `items:` name its columns)."""
_DELIMITERS = re.compile(r"[,;|\t]")

ITEMS_PREFACE = """\
# A DRAFT, made by reading PRIVATE data: the items below were taken from the records of real
# people, and a release must not depend on that. Nobody but you should see this file yet, and
# `hedgerow publish` refuses it. Before you take the mark away:
#
#   1. The universe must come from public knowledge: a catalog, a code book, a site map. Complete
#      it until you would have written the same without the data. It can be a range of numbers,
#      a list, or the path of a file with one item per line. Its order matters: neighbors are
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


@contextmanager
def _open_unpacked(path: Path) -> Iterator[Any]:
    """The bytes of a file, unpacked; what goes wrong is a DataError."""
    gzipped = magic_of(path)[:2] == b"\x1f\x8b"
    try:
        with open_binary(path, gzipped) as file:
            yield file
    except (OSError, EOFError, zlib.error) as error:
        raise explain(error, path, gzipped) from None


def may_hold_lines(path: Path) -> bool:
    """Whether a file is a text whose name does not say that it is a table."""
    with suppress(DataError):  # its name is not that of a text file, so what is in it decides
        table = path.name.lower().removesuffix(".gz").endswith((".csv", ".tsv"))
        return is_text(path) and not table
    return False


def looks_like_transactions(path: Path) -> bool:
    """Whether a file seems to hold one record of items per line, rather than a table."""
    name = path.name.lower().removesuffix(".gz")
    if not may_hold_lines(path):
        return False
    with _open_unpacked(path) as file:
        head = file.read(_HEAD).removeprefix(codecs.BOM_UTF8)
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
    try:
        with _open_unpacked(path) as file:
            head = file.read(_HEAD)
    except DataError:
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
    records: Counter[bytes] = Counter()
    between = None if separator == " " else separator.encode()
    with _open_unpacked(path) as file:
        for number, line in enumerate(file):
            line = line if number else line.removeprefix(codecs.BOM_UTF8)
            records.update(set(map(bytes.strip, line.split(between))))
    often = (word for word, number in records.items() if word and number >= FEWEST)
    return {word for one in often if not odd_label(word := one.decode("utf-8", "replace"))}


def items_of_lists(parts: Sequence[Any], column: str) -> set[str]:
    """The items that may be proposed of a list column, given as Arrow arrays."""
    records: Counter[str] = Counter()
    for part in parts:
        values = flat_array(part.flatten(), column)
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

    def lines(self, separator: str) -> list[str]:
        """The lines of a schema file that say where items stand."""
        column = [] if self.column is None else [f"  column: {self.column}"]
        return [*column, *([] if separator == " " else [f"  separator: {json.dumps(separator)}"])]


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
    lines = [f"name: {sketch.title}", _ITEMS_UNIT, f"unit: {NO_UNIT}"]
    lines += ["draft: true", "began_as_draft: true", "items:", *sketch.lines(separator)]
    lines += universe_lines(universe)
    lines += [f"  fan_out: {DEFAULT_FAN_OUT}", "  foreign: drop", "  empty: drop"]
    return ITEMS_PREFACE + "\n".join(lines) + "\n"


def universe_lines(universe: range | Sequence[str]) -> list[str]:
    """The lines of a schema file that say which items there are."""
    if isinstance(universe, range):
        return [f"  universe: {{range: [{universe.start}, {universe.stop - 1}]}}"]
    return ["  universe:", *(f"    - {quote(one)}" for one in universe)]


def _dense(ends: Sequence[int], number: int) -> bool:
    """Whether a range would hold few numbers that are no items."""
    span = ends[1] - ends[0] + 1
    return range_fault(*ends) is None and span <= 4 * number + 100


# The YAML text of columns in a draft.


_WIDTH = 94  # of comments
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_WORDS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})
SIGNED = """\
# Bounds and values were proposed from PRIVATE data, and confirmed as public knowledge by the
# reviewer below: anybody could have written them who never saw the data.
"""
_SHORT = 60  # characters of all values, up to which they stand in one line


def entry(name: str, guess: Guess, comment: str = "") -> list[str]:
    r"""The lines of one column.

    Args:
        name: Its name.
        guess: What it is.
        comment: What is said above it.

    Example:
        >>> sex = Guess(settings={"type": "categorical"}, labels=["f", "m"])
        >>> print(*entry("sex", sex, comment="Two."), sep="\n")
          # Two.
          sex: {type: categorical, values: ["f", "m"]}
    """
    lines = [f"  # {line}" for line in wrap(comment)]
    settings = guess.settings or {"role": "identifier"}
    if name in RESERVED and "type" in settings:
        settings = {**settings, "column": name}
        name = f"{name}_value"
    inside = [f"{key}: {value}" for key, value in settings.items()]
    categorical = settings.get("type") == "categorical"
    quoted = list(map(quote, guess.labels)) if categorical and "taxonomy" not in settings else []
    recode = guess.recode if categorical else {}
    if len(", ".join(quoted)) <= _SHORT and not recode:
        listed = [f"values: [{', '.join(quoted)}]"] if quoted else []
        return [*lines, f"  {key_of(name)}: {{{', '.join([*inside, *listed])}}}"]
    lines.append(f"  {key_of(name)}:")
    lines.extend(f"    {one}" for one in inside)
    if quoted:
        lines.append("    values:")
        lines.extend(f"      - {label}" for label in quoted)
    if recode:
        lines.append("    recode:")
        lines.extend(f"      {quote(rule)}: {quote(leaf)}" for rule, leaf in recode.items())
    return lines


def file_lines(written: Layout) -> list[str]:
    """The lines that say how the file is written, if that is unusual."""
    lines = [f"  {key}: {quote(value)}" for key, value in written.describe().items()]
    return ["file:", *lines] if lines else []


def wrap(comment: str) -> list[str]:
    """The lines of a comment; what is to be copied (`...` or {...}) stays in one of them."""
    whole = re.sub(r"`.*?`|\{.*?\}", lambda match: match[0].replace(" ", "\0"), comment)
    return [line.replace("\0", " ") for line in textwrap.wrap(whole, _WIDTH)]


def key_of(text: str) -> str:
    """A YAML key, in quotes if YAML might take it for something else."""
    if _PLAIN.fullmatch(text) and text.casefold() not in _WORDS:
        return text
    return quote(text)


def quote(text: str | int) -> str:
    """A text in quotes, or a number, as YAML reads it."""
    return json.dumps(text, ensure_ascii=False)


# What a draft says about a whole table: its columns, the class, the person, and columns alike.


_CLASS_VALUES, _CLASS_NUMBERS = 20, 10
_FEW, _FEW_CLASSES = (
    3,
    5,
)  # columns, of which none is the class by its place; classes of one that is
_CLASS_NAMES = (
    "class", "target", "y", "salary", "income", "label", "outcome", "diagnosis", "readmitted",
    "readmission", "churn", "churned", "survived", "default", "defaulted", "approved", "denied",
    "died", "mortality", "death", "dead", "vote", "voted", "relapse", "relapsed",
)  # fmt: skip
_ALONE = frozenset({"class", "label", "y"})  # words that say so only as the whole name
_AMOUNTS = frozenset({"salary", "income"})
# likelier than any that is guessed
_NAMED_PERSON = People(why="It was named", rank=NAMED + 1, repeats=True)
_FAMILY = 3  # columns that are alike, from which they are asked about once
_PAIRS = 8  # the same for columns of two values, which many tables have without any relation


@dataclass(frozen=True)
class Column:
    """A column, what it seems to be, and its role: class, person, or none in particular."""

    name: str
    guess: Guess
    role: str | None = None

    @property
    def has_classes(self) -> bool:
        """Whether it has few values, so that it can be the class."""
        most = _CLASS_NUMBERS if self.guess.type == "numeric" else _CLASS_VALUES
        return self.guess.published and 2 <= len(self.guess.labels) <= most

    @property
    def dropped(self) -> bool:
        """Whether it would better be dropped."""
        return self.role is None and (not self.guess.published or bool(self.guess.useless))


@dataclass(frozen=True, kw_only=True)
class Sketch:
    """A table as a draft sees it. It was read off PRIVATE data.

    Args:
        title: The name of the table.
        columns: Its columns in their order; those whose name cannot be written are left out.
        unwritable: How many of those there are.
        written: How the file is encoded, which sheet is meant and where its names stand.
        tables: Tables that releases should hold, each with its weight.
    """

    title: str
    columns: tuple[Column, ...]
    unwritable: int = 0
    written: Layout = PLAIN
    tables: tuple[tuple[tuple[str, ...], str], ...] = ()

    def to_dict(self) -> Any:
        """All of it as JSON can hold it, for another process. As PRIVATE as the data."""
        return asdict(self)

    @staticmethod
    def from_dict(document: Any) -> Sketch:
        """The sketch that another process tells.

        Example:
            >>> sketch = sketch_of("t", [("age", Guess(labels=("1", "2")))])
            >>> Sketch.from_dict(sketch.to_dict()) == sketch
            True
        """
        from pydantic import TypeAdapter

        return TypeAdapter(Sketch).validate_python(document)

    def with_tables(self, tables: Sequence[str]) -> Sketch:
        """The same with tables that releases should hold, each in words: "illness by home".

        Raises:
            UsageError: If one does not name two or three columns.

        Example:
            >>> sketch = sketch_of("t", [("Ill", Guess()), ("home_town", Guess())])
            >>> sketch.with_tables(["ill by home town, weight 2"]).tables
            ((('Ill', 'home_town'), '2'),)
        """
        names, read = [column.name for column in self.columns], []
        for text in tables:
            try:
                columns, weight = read_words(text, names)
            except Misread as fault:
                raise UsageError(f"--table {text!r}: {fault.what}.", hint=fault.hint) from None
            strange = [name for name in columns if name not in names]
            if strange or len({*columns}) != len(columns) or len(columns) not in (2, 3):
                what = f"there is no column {strange[0]!r}" if strange else "name 2 or 3 columns"
                raise UsageError(f"--table {text!r}: {what}.", hint=f"Columns: {', '.join(names)}.")
            read.append((tuple(columns), weight or "1"))
        return replace(self, tables=tuple(read))

    def tables_lines(self) -> list[str]:
        """The lines of a schema file that name these tables."""
        lines = ["tables:"] if self.tables else []
        for columns, weight in self.tables:
            names = f"[{', '.join(map(quote, columns))}]"
            heavy = f"{{attributes: {names}, weight: {weight}}}"
            lines.append(f"  - {names if weight == '1' else heavy}")
        return lines

    @property
    def rare(self) -> dict[str, Sequence[str]]:
        """Values by column that few rows or people have. NOT PRIVATE."""
        return {column.name: column.guess.rare for column in self.columns}

    def role(self, role: str) -> Column | None:
        """The column with a role, if there is one."""
        return next((column for column in self.columns if column.role == role), None)


def sketch_of(
    title: str,
    guesses: Iterable[tuple[str, Guess]],
    written: Layout = PLAIN,
    person: str | None = None,
) -> Sketch:
    """The sketch of a table, from what is guessed about each column by itself.

    Args:
        title: The name of the table.
        guesses: The columns.
        written: How the file is written.
        person: The column that tells people apart, if somebody named it.
    """
    columns = [
        Column(name, Guess(people=_NAMED_PERSON) if name == person else guess)
        for name, guess in guesses
    ]
    known = [column for column in columns if column_fault(column.name, False) is None]
    return Sketch(
        title=title, columns=_assign_roles(known), unwritable=len(columns) - len(known),
        written=written,
    )  # fmt: skip


def as_values(guess: Guess) -> Guess:
    """The same column, its numbers taken for labels."""
    settings = guess.settings or {}
    if guess.type == "numeric":
        rules = {key: settings.get(key, "clip") for key in ("missing", "outside")}
        kept = {key: rule for key, rule in rules.items() if rule != "clip"}
        odd = {"outside": "other"} if guess.partial else {}
        settings = {"type": "categorical", **kept, **odd}
    return replace(guess, settings=settings, useless="")


def _assign_roles(columns: Sequence[Column]) -> tuple[Column, ...]:
    """The columns, of which one may have the role of the class, and one that of the person."""
    chosen = list(columns)
    if (place := _find_class(columns)) is not None:
        guess = as_values(columns[place].guess)
        chosen[place] = replace(columns[place], guess=guess, role="class")
    guesses = enumerate(column.guess.people for column in columns)
    ranks = {place: people.rank for place, people in guesses if people and people.repeats}
    if any(ranks.values()):  # the first of the likeliest columns whose values repeat
        place = max(ranks, key=ranks.__getitem__)
        guess = columns[place].guess
        guess = replace(guess, comment=guess.people.comment(chosen=True) if guess.people else "")
        chosen[place] = replace(columns[place], guess=guess, role="person")
    return tuple(chosen)


def _find_class(columns: Sequence[Column]) -> int | None:
    """The place of the likeliest column, if there are others beside it."""
    published = sum(column.guess.published for column in columns)
    ranks = {
        place: _class_rank(column.name, len(column.guess.labels))
        for place, column in reversed([*enumerate(columns)])
        if column.has_classes and not column.guess.useless
    }
    if published > 1 and any(ranks.values()):
        return max(ranks, key=ranks.__getitem__)  # of equals the last column
    return len(columns) - 1 if published > _FEW and _may_stand_last(columns[-1]) else None


def _may_stand_last(column: Column) -> bool:
    """Whether the last column could be the class for standing there: few values, and no scale."""
    guess = column.guess
    if not column.has_classes or guess.useless:
        return False
    texts = guess.type != "numeric" and word_order(guess.labels) is None
    return len(guess.labels) == 2 or (texts and len(guess.labels) <= _FEW_CLASSES)


def _class_rank(name: str, values: int) -> int:
    """How likely a name is that of a class of so many values; 0 if it says nothing.

    A word such as `class` says so by itself alone: a social class is an attribute. An income in
    more than two bands is one, too, as a rule.

    Example:
        >>> _class_rank("class", 4) > _class_rank("income", 2) > _class_rank("patient_outcome", 2)
        True
        >>> _class_rank("BMI class", 4), _class_rank("income", 7)
        (0, 0)
    """
    names = [one for one in _CLASS_NAMES if values == 2 or one not in _AMOUNTS]
    if name.casefold() in names:
        return 2 * len(_CLASS_NAMES) - names.index(name.casefold())
    said = [word for word in words_of(name) if word in names and word not in _ALONE]
    return len(_CLASS_NAMES) - min(map(names.index, said)) if said else 0


def families(columns: Sequence[Column]) -> list[list[Column]]:
    """Columns in groups that are alike, each column in one group, by the order of the first.

    Two columns with the same three or more values make a family, and those between and beside them
    whose values are some of these belong to it: of many medicines, a few are never given in any
    dose. Of numbers that is not likely, since many scales begin with 1. Of columns with two values
    there must be more, since a yes or no is found in any table.

    Example:
        >>> def column(name, *labels):
        ...     return Column(name, Guess(settings={"type": "categorical"}, labels=labels))
        >>> doses = ("down", "no", "up")
        >>> table = [column("a", *doses), column("b", "no"), column("c", *doses), column("d", "no")]
        >>> [[one.name for one in several] for several in families(table)]
        [['a', 'b', 'c', 'd']]
    """
    listed: dict[frozenset[str], list[int]] = {}
    for place, column in enumerate(columns):
        if column.guess.published and len(column.guess.labels) > 1 and column.role is None:
            listed.setdefault(frozenset(column.guess.labels), []).append(place)
    member: dict[int, list[int]] = {}
    for labels, places in sorted(listed.items(), key=lambda pair: (-len(pair[0]), pair[1])):
        free = [place for place in places if place not in member]
        if len(free) < (2 if len(labels) > 2 else _PAIRS):
            continue
        fitting = {
            place for place, column in enumerate(columns)
            if column.guess.published and column.role is None and place not in member
            and column.guess.labels and labels >= set(column.guess.labels)
            and (place in free or not any(label.isdecimal() for label in labels))
        }  # fmt: skip
        first, last = free[0], free[-1]
        while first - 1 in fitting:
            first -= 1
        while last + 1 in fitting:
            last += 1
        inside = sorted(fitting & set(range(first, last + 1)))
        if len(inside) >= _FAMILY:
            member |= dict.fromkeys(inside, inside)
    groups = []
    for place, column in enumerate(columns):
        family = member.get(place, [place])
        if family[0] == place:
            widest = _widest([columns[one].guess for one in family])
            groups.append([replace(columns[one], guess=widest) for one in family]
                          if len(family) > 1 else [column])  # fmt: skip
    return groups


def _widest(guesses: Sequence[Guess]) -> Guess:
    """The guess with most values, with the rules that lead to them in any of the columns."""
    widest = max(guesses, key=lambda one: len(one.labels))
    rules = {
        rule: leaf for one in guesses for rule, leaf in one.recode.items()
        if rule not in widest.labels and leaf in widest.labels
    }  # fmt: skip
    others = {key: "other" for one in guesses for key in ("missing", "outside")
              if (one.settings or {}).get(key) == "other"}  # fmt: skip
    return replace(
        widest.having(**others), recode=rules,
        partial=any(one.partial for one in guesses),
        rare=[value for one in guesses for value in one.rare if value not in widest.labels],
    )  # fmt: skip


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
    person: str | None = None,
) -> Sketch | ItemSketch:
    """What a draft of a table or of transactions says; `draft_text` writes it as YAML.

    Args:
        source: Whatever `read` takes.
        delimiter: The delimiter of a CSV file, if its first line is not to tell it.
        line_breaks: Whether quoted values of a CSV file may hold line breaks; without it a record
            is a line.
        trust_header: Whether the first line holds names even if it looks like a record.
        written: How the file is encoded, which sheet is meant and where its names stand.
        person: The column that tells people apart: what is proposed, enough of them have. Without
            it the column counts that seems to, if there is one, and else rows.

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
    path = Path(os.fsdecode(source)) if isinstance(source, (str, os.PathLike)) else None
    title = key_of(_title(source))
    plain = path is not None and not line_breaks and written == PLAIN
    if path and plain and delimiter is None and looks_like_transactions(path):
        return ItemSketch(title=title, labels=items_of_text(path), what=str(path), path=path)
    opened = open_source(
        source,
        delimiter=delimiter,
        line_breaks=line_breaks,
        written=written,
        split=None if path else split_text(" "),
    )
    try:
        batches = list(opened.batches(range(len(opened.names))))
    except DataError as error:
        between = item_separator(path) if path else None
        if path is None or between is None:
            raise
        if plain and may_hold_lines(path):
            seen = items_of_text(path, between)
            return ItemSketch(title=title, labels=seen, what=str(path), path=path)
        raise DataError(
            error.message,
            hint=f"{error.hint} If every line holds the items of one person, write a schema for "
            f"transactions by hand, with `separator: {json.dumps(between)}` below `items:` (see "
            "docs/transactions.md).",
        ) from None
    parts = {
        name: [batch.column(place) for batch in batches] for place, name in enumerate(opened.names)
    }
    for name, part in parts.items():
        if part and is_list(part[0].type) and label_fault(name) is None:
            seen = items_of_lists(part, name)
            return ItemSketch(title=title, labels=seen, what=opened.what, column=key_of(name))
    if not trust_header:
        check_header(opened.names, list(parts.values()), opened.what)
    if not any(map(len, next(iter(parts.values()), ()))):
        raise DataError(
            f"{opened.what}: there are no records in it, so nothing can be drafted",
            hint="Look whether this is the right input, or write the schema by hand.",
        )
    guesses = {name: guess_column(name, part) for name, part in parts.items()}
    first = opened.names[0]
    if len(guesses) == 1 and not trust_header and guesses[first].type in ("", "categorical"):
        _refuse_records(parts[first], opened.what)
    if person is not None and person not in opened.names:
        raise UsageError(
            f"there is no column {person!r} that could tell people apart.",
            hint=f"Columns: {', '.join(opened.names)}.",
        )
    sketch = sketch_of(title, _guess_again(guesses, parts, person).items(), written, person)
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
    guesses: dict[str, Guess], parts: Mapping[str, list[Any]], named: str | None
) -> dict[str, Guess]:
    """The guesses, with no column for the person that cannot be one, and people counted, not rows.

    If people have several rows, a value of many rows may still be one person's.
    """
    for name, guess in guesses.items():
        people = guess.people
        if people is not None and people.repeats and 0 < people.rank < NAMED:
            others = [(other, part) for other, part in parts.items() if other != name]
            if why := not_a_person(parts[name], others):
                people = replace(people, why=why, rank=0)
                guesses[name] = replace(guess, people=people, comment=people.comment(chosen=False))
    person = sketch_of("", guesses.items(), person=named).role("person")
    if person is None:
        return guesses
    who = texts_of(person.name, parts[person.name])
    return {
        name: guess_column(name, *once_each(name, parts[name], who)) if guess.published else guess
        for name, guess in guesses.items()
    }


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
    lines += sketch.tables_lines()
    return PREFACE + "\n".join(lines) + "\n"


def draft_schema(source: Any, unit: Unit | None, delimiter: str | None) -> Schema:
    """A draft as a schema: see `Schema.draft`.

    Args:
        source: The data.
        unit: Whom a release is to protect, if that is known.
        delimiter: The delimiter of a CSV file.
    """
    text = draft_text(sketch_table(source, delimiter=delimiter))
    text = text.replace(f"unit: {NO_UNIT}\n", f"unit: {unit}\n" if unit else "", 1)
    return load_schema(Path("draft"), text)


def _entry(column: Column) -> list[str]:
    guess, comment = column.guess, column.guess.remark
    if guess.useless:
        comment = (
            f"{guess.useless[:1].upper()}{guess.useless[1:]}: drop it (role: identifier), unless "
            f"it is publicly known that there are others. {guess.comment}"
        )
    if column.role == "person":
        guess = replace(guess, settings={"role": "person", "max_rows": "3"})
    elif column.role is not None:
        guess = guess.having(role=column.role)
    return entry(column.name, guess, comment)
