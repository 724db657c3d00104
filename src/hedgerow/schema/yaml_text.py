"""Reads the text of schema files as trees that remember their lines, and writes it; faults."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from typing import Any, NoReturn

from hedgerow.errors import SchemaError
from hedgerow.surroundings import allowed_folder

# Faults of a schema or a taxonomy: where, what, and how to mend it.


MAX_DEPTH = 64  # of a taxonomy

_SHOWN = 10
_ALIKE = 2  # so many warnings that are alike are told one by one
_QUOTED = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|\d+")
# Control characters, lone surrogates and the byte-order mark: none can be seen, few can be saved.
UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff]")


@dataclass(frozen=True)
class Fault:
    """One thing to mend.

    Args:
        what: What is wrong, without a full stop.
        hint: What to do about it, a sentence.
        file: The file it is in, if it came from one.
        line: The line, counted from 1.
        place: The path of the key that is meant, such as `("attributes", "age", "low")`.

    Example:
        >>> print(Fault("low is not below high", "Swap them.", file="schema.yaml", line=3))
        schema.yaml:3: low is not below high. Swap them.
    """

    what: str
    hint: str
    _: KW_ONLY
    file: str | None = None
    line: int | None = None
    place: tuple[str, ...] = ()

    @property
    def message(self) -> str:
        """Where and what, without the hint."""
        if self.file is None:
            return self.what
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        return f"{place}: {self.what}"

    def __str__(self) -> str:
        """Where, what and the hint, on one line."""
        return f"{self.message}. {self.hint}"


Where = int | str | tuple[str, ...] | None
"""A line, a key below the place that a report is about, or the keys down to it."""


@dataclass(frozen=True)
class Report:
    """A place in a file, and what a reader finds: faults, which forbid going on, and warnings.

    Reports of other places, and of other files that belong to it, share the lists of both.

    Args:
        file: The file.
        folder: The folder of other files.
        place: The path of the keys that it is about.
        subject: What messages begin with, such as "attribute 'age': ".
        lines: The lines of keys, by their paths.
        shared: Taxonomies by name: each tree as it was written, its file, and that one's folder.
        faults: What forbids going on.
        warnings: What does not.

    Example:
        >>> report = Report("jobs.csv")
        >>> report.warn("a group has a single member", "Nothing to do.", 2)
        >>> print(report.warnings[0])
        jobs.csv:2: a group has a single member. Nothing to do.
    """

    file: str | None = None
    _: KW_ONLY
    folder: Path | None = None
    place: tuple[str, ...] = ()
    subject: str = ""
    lines: dict[tuple[str, ...], int | None] = field(default_factory=dict)
    shared: dict[str, tuple[Node, str | None, Path | None]] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)
    warnings: list[Fault] = field(default_factory=list)

    def at(self, file: str | None, folder: Path | None = None) -> Report:
        """The same about another file."""
        return replace(self, file=file, folder=folder, lines={})

    def below(self, *place: str, subject: str = "") -> Report:
        """The same about a part of the file."""
        subject = subject or self.subject or f"{place[0]}: "
        return replace(self, place=(*self.place, *place), subject=subject)

    def line(self, *keys: str) -> int | None:
        """The line of a key, or of what it stands under."""
        path = (*self.place, *keys)
        known = (path[:n] for n in range(len(path), 0, -1) if path[:n] in self.lines)
        return self.lines.get(next(known, ()))

    def fault(self, what: str, hint: str, at: Where = ()) -> None:
        """Adds a fault, on a line or at a key."""
        self.faults.append(self._complain(what, hint, at))

    def refuse(self, what: str, hint: str, at: Where = ()) -> NoReturn:
        """Adds a fault, and gives up what was being read.

        Raises:
            SchemaError: With all faults so far.
        """
        self.fault(what, hint, at)
        raise_faults(self.faults)
        raise AssertionError  # raise_faults has raised

    @contextmanager
    def gather(self) -> Iterator[None]:
        """Goes on where a part is given up, so that all faults are told at once."""
        before = len(self.faults)
        try:
            yield
        except SchemaError:
            if len(self.faults) == before:
                raise

    def warn(self, what: str, hint: str, at: Where = ()) -> None:
        """Adds a warning, on a line or at a key."""
        self.warnings.append(self._complain(what, hint, at))

    def fault_each(self, complaints: Iterable[tuple[str, str, str]]) -> None:
        """Adds faults at their keys."""
        for key, what, hint in complaints:
            self.fault(what, hint, key)

    def _complain(self, what: str, hint: str, at: Where) -> Fault:
        keys = (at,) if isinstance(at, str) else at if isinstance(at, tuple) else ()
        line = self.line(*keys) if isinstance(at, str | tuple) else at
        place = (*self.place, *keys)
        return Fault(self.subject + what, hint, file=self.file, line=line, place=place)


def merge_alike(warnings: Sequence[Fault]) -> list[Fault]:
    """Warnings with one line for three or more that differ only in the names they quote.

    Example:
        >>> many = [Fault(f"attribute {n!r}: it is flat", "Add groups.") for n in "abcd"]
        >>> [str(warning) for warning in merge_alike(many)]
        ["attribute 'a': it is flat (and 3 more: attribute 'b', attribute 'c', ...). Add groups."]
    """
    alike: dict[tuple[str, str], list[Fault]] = {}
    for warning in warnings:
        alike.setdefault((_QUOTED.sub("", warning.what), warning.hint), []).append(warning)
    merged = []
    for group in alike.values():
        first, *others = group
        if len(group) <= _ALIKE:
            merged += group
            continue
        subjects = [*dict.fromkeys(other.what.partition(": ")[0] for other in others)]
        listing = ", ".join([*subjects[:_ALIKE], *(["..."] if subjects[_ALIKE:] else [])])
        merged.append(replace(first, what=f"{first.what} (and {len(others)} more: {listing})"))
    return merged


def raise_faults(faults: Sequence[Fault]) -> None:
    """Raises one SchemaError that shows the first faults; does nothing if there are none.

    Example:
        >>> raise_faults([])
        >>> raise_faults([Fault("the file is empty", "Write a schema into it.", file="a.yaml")])
        Traceback (most recent call last):
        ...
        hedgerow.errors.SchemaError: a.yaml: the file is empty
          Write a schema into it.
    """
    if not faults:
        return
    places = [fault.place for fault in faults[:_SHOWN] if fault.place]
    if len(faults) == 1:
        raise SchemaError(faults[0].message, faults[0].hint, places)
    more = f"; {len(faults) - _SHOWN} more like them are not shown" if faults[_SHOWN:] else ""
    lines = ["the schema has several faults:", *map(str, faults[:_SHOWN])]
    raise SchemaError("\n  ".join(lines), f"Correct these, then try again{more}.", places)


def label_fault(label: str) -> tuple[str, str] | None:
    """What is wrong with a label, and the hint; None if it is fine.

    Example:
        >>> label_fault("  ")
        ('a name is blank', 'Give it a name, or remove it.')
    """
    if not label.strip():
        return "a name is blank", "Give it a name, or remove it."
    if UNSEEN.search(label):
        what = f"the name {label!r} holds a line break or an invisible control character"
        return what, "Type the name again by hand."
    return None


# A document as a tree of texts, lists and mappings that remember their lines.
#
# Every scalar stays the text that somebody wrote: the country code `No` must not become false, nor
# the postcode `007` the number seven. What a text means is decided by the key it stands under.


MAX_NESTING = 2 * MAX_DEPTH + 8  # lists of mappings take two levels for one of a taxonomy
# A range of leaves, such as 390..459.
RANGE = re.compile(r"([A-Za-z]*)(\d{1,15})\.\.([A-Za-z]*)(\d{1,15})", re.ASCII)
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
class ListNode:
    """A list."""

    items: list[Node] = field(default_factory=list)
    line: int | None = None

    @property
    def texts(self) -> list[Text]:
        """Its members if all of them are texts, else none."""
        texts = [item for item in self.items if isinstance(item, Text)]
        return texts if len(texts) == len(self.items) else []


@dataclass(slots=True)
class Entries:
    """A mapping, in the order of the file."""

    pairs: list[tuple[Text, Node]] = field(default_factory=list)
    line: int | None = None


Node = Text | ListNode | Entries


def typed_text(node: Node | None) -> str | None:
    """The first text of a tree that was a truth value or a decimal number in Python."""
    if isinstance(node, Text):
        return node.value if node.typed else None
    if isinstance(node, ListNode):
        parts = node.items
    else:
        parts = [] if node is None else [part for pair in node.pairs for part in pair]
    return next((text for text in map(typed_text, parts) if text is not None), None)


def from_python(value: Any, depth: int = 0) -> Node:
    """The tree of a Python value, such as JSON holds.

    Raises:
        SchemaError: For a value that a schema file could not hold.

    Example:
        >>> from_python({"step": 0.5}).pairs[0][1].value
        '0.5'
    """
    if depth > MAX_NESTING:
        Report().refuse("the schema is nested too deeply", "Remove levels from it.")
    if value is None:
        return Text("", plain=True)
    if isinstance(value, str):
        return Text(value)
    if isinstance(value, bool):
        return Text("true" if value else "false", typed=True)
    if isinstance(value, int) and value.bit_length() > _MOST_BITS:
        Report().refuse("the schema holds a number with very many digits", "Shorten it.")
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
        return ListNode([from_python(item, depth + 1) for item in value])
    what = f"the schema holds a Python object of type {type(value).__name__}"
    Report().refuse(what, "Use texts, numbers, dates, lists and dictionaries only.")


_OURS = Path(__file__).resolve().parents[2]  # what comes with hedgerow is public

# What starts a text here that YAML takes for something else: a band, a star, a comparison.
_NEEDS_QUOTES = r"(?:^|[\[{,:-])\s*([*&!%@`>|]|\[(?=[-+\d.]+\s*[-,]\s*[-+\d.]+\)))"


def read_text(path: Path, report: Report) -> str:
    """The text of a UTF-8 file, with or without a byte-order mark.

    Raises:
        SchemaError: If it cannot be read, as the report has it.
    """
    inside, line = allowed_folder(), None
    try:
        # links are followed first: what counts is where a name leads
        if inside and not any(map(path.resolve().is_relative_to, (inside, _OURS))):
            what = "the file lies outside the folder of the studio"
            hint = "Copy it into the folder, beside the schema, and name it there."
        else:
            text = path.read_bytes().decode("utf-8-sig")
            if text.strip():
                return text
            what, hint = "the file is empty", "Write its content, or name another file."
    except FileNotFoundError:
        what, hint = "there is no such file", "Check the path for a misspelling."
    except OSError as error:
        what = f"the file cannot be opened ({error.strerror or 'it cannot be read'})"
        hint = "Check the path, and that you may read the file."
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        what = "the file is not UTF-8 text"
        hint = 'Save the file as UTF-8 (a spreadsheet may call it "CSV UTF-8").'
    report.at(str(path)).refuse(what, hint, line)


def parse_yaml(text: str, report: Report) -> Node:
    """The tree of a YAML text.

    Raises:
        SchemaError: If it has none, as the report has it.

    Example:
        >>> node = parse_yaml("norway: No", Report())
        >>> node.pairs[0][1].value
        'No'
    """
    import yaml  # type: ignore[import-untyped,unused-ignore]  # no release needs it

    before, node = len(report.faults), None
    # The C parser is about fifty times as fast, but not every platform has it.
    events: Iterator[Any] = yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    try:
        for event in events:
            line = event.start_mark.line + 1
            if isinstance(event, yaml.DocumentStartEvent) and node is not None:
                hint = "Keep one document, and remove the line ---."
                report.refuse("the file holds several documents", hint, line)
            if isinstance(event, yaml.NodeEvent):
                node = _read_node(event, events, report)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
        line = None if mark is None else mark.line + 1
        problem = getattr(error, "problem", None)
        if problem is None and hasattr(error, "position"):
            line = text.count("\n", 0, error.position) + 1
            problem = "an invisible control character"
        report.fault(f"this is not YAML ({problem})", _yaml_hint(text, line), line)
    raise_faults(report.faults[before:])
    if node is None:
        report.refuse("the file is empty", "Write its content, or name another file.")
    return node


def _yaml_hint(text: str, line: int | None) -> str:
    lines = text.splitlines()
    written = lines[line - 1] if line is not None and line <= len(lines) else ""
    if "\t" in written:
        return "Indent with spaces; a tab is not allowed there."
    if match := re.search(_NEEDS_QUOTES, written):
        return f'Put quotes around a text that starts with {match[1]}, such as "{match[1]}...".'
    if written.count(": ") > 1 and "{" not in written:
        return "Put quotes around a text that contains a colon and a space."
    return "Look for a missing colon, bracket, quote or indent on this line or the one before."


def _read_node(
    event: Any, events: Iterator[Any], report: Report, depth: int = 0, is_key: bool = False
) -> Node:
    """The node that begins with an event, of which the next ones are read."""
    import yaml

    line = event.start_mark.line + 1
    if event.anchor is not None:
        what = "anchors (&) and aliases (*) are not allowed, as they can make a cycle"
        hint = "Write the part out in both places; a text that starts with * or & needs quotes."
        report.refuse(what, hint, line)
    if event.tag is not None:
        hint = "Remove the word that starts with an exclamation mark, or quote the text."
        report.refuse("tags (!) are not allowed", hint, line)
    if isinstance(event, yaml.ScalarEvent):
        return Text(event.value, line=line, plain=event.implicit[0])  # implicit: without quotes
    if depth >= MAX_NESTING:
        what = f"lists and groups are nested more than {MAX_NESTING} deep"
        report.refuse(what, "Remove levels.", line)
    if is_key:
        hint = "Put quotes around a key that holds brackets."
        report.refuse("a key is not a single text", hint, line)
    if isinstance(event, yaml.SequenceStartEvent):
        members = ListNode([], line)
        while not isinstance(below := next(events), yaml.SequenceEndEvent):
            members.items.append(_read_node(below, events, report, depth + 1))
        return members
    entries, seen = Entries([], line), dict[str, int | None]()
    while not isinstance(below := next(events), yaml.MappingEndEvent):
        key = _read_node(below, events, report, depth + 1, is_key=True)
        assert isinstance(key, Text)
        if key.value in seen:
            what = f"{key.value!r} is repeated (first on line {seen[key.value]})"
            report.fault(what, "Keep one of the two.", key.line)
        seen.setdefault(key.value, key.line)
        entries.pairs.append((key, _read_node(next(events), events, report, depth + 1)))
    return entries


# Writes the dictionary form of a schema as YAML that other tools read alike.


class _Bare(str):
    """A decimal number or a date, which needs no quotes."""


def dump(document: dict[str, Any]) -> str:
    """The YAML text of a schema's dictionary form.

    Example:
        >>> print(dump({"name": "x", "unit": "row", "attributes": {"day": {
        ...     "type": "numeric", "low": "2020-01-01", "high": "2020-12-31", "step": 7}}}), end="")
        name: x
        unit: row
        attributes:
          day:
            type: numeric
            low: 2020-01-01
            high: 2020-12-31
            step: 7
    """
    columns = {}
    for name, column in document.get("attributes", {}).items():
        numbers: dict[str, Any] = {
            key: _Bare(column[key])
            for key in ("low", "high", "step")
            if isinstance(column.get(key), str)
        }
        for key in {"common", "bands"} & set(column):
            numbers[key] = [_Bare(one) if isinstance(one, str) else one for one in column[key]]
        columns[name] = column | numbers
    return dump_tree(document | ({"attributes": columns} if columns else {}))


def dump_tree(document: Any) -> str:
    """The YAML text of mappings, lists and texts.

    Example:
        >>> print(dump_tree({"Any": ["No", "1..3"]}), end="")
        Any:
        - 'No'
        - '1..3'
    """
    import yaml

    class Dumper(yaml.SafeDumper):  # type: ignore[misc,unused-ignore]
        def ignore_aliases(self, data: Any) -> bool:
            return True  # our reader refuses anchors

    def write_bare(dumper: Any, value: _Bare) -> Any:
        kind = "timestamp" if "-" in value[1:] else "float"
        return dumper.represent_scalar(f"tag:yaml.org,2002:{kind}", str(value))

    def write_text(dumper: Any, value: str) -> Any:
        # without quotes a range would stand for many leaves
        quoted = "'" if RANGE.fullmatch(value) else None
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=quoted)

    Dumper.add_representer(_Bare, write_bare)
    Dumper.add_representer(str, write_text)
    text: str = yaml.dump(document, Dumper=Dumper, sort_keys=False, allow_unicode=True, width=100)
    return text
