"""Changes to the text of a schema file that leave the rest as it was, and its earlier versions.

A person may have written comments, ranges and names of files into it. So only the lines of a
changed column are written anew. The text is read as a schema before it replaces the file.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import tempfile
import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from itertools import groupby, takewhile
from pathlib import Path

from hedgerow.errors import HedgerowError, SchemaError
from hedgerow.schema import Schema
from hedgerow.schema.build import load_schema
from hedgerow.schema.diff import schema_diff
from hedgerow.schema.yaml_text import (
    Entries,
    ListNode,
    Node,
    Report,
    Text,
    parse_yaml,
    read_text,
)
from hedgerow.studio.folder import Conflict

_BARE = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_NUMBER = re.compile(r"[-+]?\d+(\.\d+)?|\d{4}-\d{2}-\d{2}")
_WORDS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})
_SIGNERS = ("reviewer", "reviewed", "signed")  # below `metadata:`
_SHORT = 70  # characters of a list on one line
_SAVING = threading.Lock()


def plain(value: str) -> Text:
    """A number, a date or a word of the schema's own, which needs no quotes.

    Example:
        >>> plain("17").plain, plain("no").plain
        (True, False)
    """
    bare = _NUMBER.fullmatch(value) or (_BARE.fullmatch(value) and value not in _WORDS)
    return Text(value, plain=bool(bare) or value in ("true", "false"))


@dataclass(frozen=True)
class SchemaText:
    r"""The text of a schema file.

    Args:
        path: The file.
        text: What it holds.

    Example:
        >>> schema = SchemaText(Path("s.yaml"), "name: s\nunit: row or person?\nattributes:\n"
        ...     "  # Why.\n  age: {type: numeric, low: 0, high: 9}\n")
        >>> schema.reason("age")
        'Why.'
        >>> stated = schema.put(plain("row"), "unit")
        >>> age = {"type": plain("numeric"), "low": plain("0"), "high": plain("99")}
        >>> print(stated.put(age, "attributes", "age").text)
        name: s
        unit: row
        attributes:
          # Why.
          age:
            type: numeric
            low: 0
            high: 99
        <BLANKLINE>
    """

    path: Path
    text: str

    @staticmethod
    def load(path: Path) -> SchemaText:
        """Reads a file, which may be a draft that no command reads yet."""
        return SchemaText(path, read_text(path, Report()))

    @property
    def previous(self) -> Version | None:
        """The version that the last change was made to, which undoing it restores."""
        now, known = current(self), versions(self.path)
        if now is None:  # it was changed elsewhere since
            return known[-1] if known else None
        return next((one for one in known if one.number == now.parent), None)

    @property
    def mark(self) -> str:
        """What tells this text from another one: two tabs must not overwrite each other."""
        return hashlib.sha256(self.text.encode("utf-8")).hexdigest()[:32]

    @cached_property
    def _root(self) -> Entries:
        node = parse_yaml(self.text, Report(str(self.path)))
        if not isinstance(node, Entries):
            raise SchemaError(f"{self.path}: this is not a schema", hint="Choose another file.")
        return node

    @cached_property
    def keys(self) -> dict[str, Node]:
        """What stands at the top of the file."""
        return {key.value: node for key, node in self._root.pairs}

    @cached_property
    def columns(self) -> dict[str, dict[str, Node]]:
        """The settings of every column."""
        columns = entries_of(self.keys.get("attributes"))
        return {name: entries_of(below) for name, below in columns.items()}

    @cached_property
    def items(self) -> dict[str, Node]:
        """The settings of the items of transactions; none for a table."""
        return entries_of(self.keys.get("items"))

    @property
    def _about(self) -> dict[str, Node]:
        """What stands below `metadata:`."""
        return entries_of(self.keys.get("metadata"))

    def value(self, key: str) -> str:
        """What a key at the top says, if it is a text."""
        node = self.keys.get(key)
        return node.value if isinstance(node, Text) else ""

    @cached_property
    def is_draft(self) -> bool:
        """Whether it is marked as a draft, or is not what was signed off any more."""
        if self.value("draft").lower() == "true":
            return True
        try:
            return "signed" in self._about and self.schema().is_draft
        except SchemaError:
            return True

    @property
    def has_unit(self) -> bool:
        """Whether it states whom a release protects."""
        return self.value("unit") in ("row", "person")

    def reason(self, column: str) -> str:
        """The comment above a column: why a draft describes it like that."""
        first, _ = self._lines("attributes", column)
        above = reversed(self.text.splitlines()[: first - 1])
        comments = takewhile(lambda line: line.strip().startswith("#"), above)
        return _join_comments([*comments][::-1])

    def alike(self) -> dict[str, tuple[str, ...]]:
        """Columns that are described alike, but for the role: all of them by the first."""
        families: dict[tuple[str, ...], list[str]] = {}
        for name, settings in self.columns.items():
            pairs = [(Text(key), one) for key, one in settings.items() if key != "role"]
            if pairs:
                families.setdefault(tuple(_below(Entries(pairs), "")), []).append(name)
        return {names[0]: tuple(names) for names in families.values()}

    def domains(self) -> dict[str, tuple[str, ...]]:
        """The bounds or values of every column that is published, however they are grouped."""
        domains = {name: _domain(settings) for name, settings in self.columns.items()}
        return {name: one for name, one in domains.items() if one}

    def put(self, value: Node | Mapping[str, Node] | None, *path: str) -> SchemaText:
        """The same with another value of a key, or without it.

        Args:
            value: The value; settings stay as they are written if they are the same.
            path: The key and those above it, from the top.
        """
        node: Node | None = self._root
        for key in path:
            node = entries_of(node).get(key)
        is_same = node is value
        if isinstance(value, Mapping):
            before = entries_of(node)
            is_same = [*before] == [*value] and all(before[key] is value[key] for key in value)
            value = block(value)
        if is_same:
            return self
        if node is None and len(path) == 1:  # a new key comes before the columns
            tops = [k.line for k, _ in self._root.pairs if k.value in ("attributes", "items")]
            first = tops[0] if tops and tops[0] else 1
            last, indent = first - 1, ""
        else:
            first, last = self._lines(*path)
            line = self.text.splitlines()[first - 1]
            indent = line[: len(line) - len(line.lstrip())]
        lines = self.text.splitlines()
        lines[first - 1 : last] = [] if value is None else _write(_key(path[-1]), value, indent)
        return SchemaText(self.path, "\n".join(lines) + "\n")

    def schema(self) -> Schema:
        """The schema that the text describes.

        Raises:
            SchemaError: If it describes none.
        """
        return load_schema(self.path, self.text)

    @property
    def is_signed(self) -> bool:
        """Whether a person has signed it off: by name, or by taking the mark of a draft away."""
        by_name = any(key in self._about for key in _SIGNERS)
        return not self.is_draft and (self._began_as_draft or by_name)

    @property
    def _is_signed_so(self) -> bool:
        """Whether it is to the letter what somebody signed, such as an earlier version."""
        try:
            about = self.schema().metadata
            return about.signed is not None and about.signed == self.schema().fingerprint
        except SchemaError:
            return False

    @property
    def _began_as_draft(self) -> bool:
        return self.value("began_as_draft").lower() == "true"

    def sign(self, reviewer: str, day: str, shown: str) -> SchemaText:
        """The same, signed off.

        Args:
            reviewer: Who signs.
            day: The date.
            shown: The fingerprint of the schema that the person saw, with its taxonomies.

        Raises:
            Conflict: If a file with a taxonomy has changed since.
        """
        if self.schema().fingerprint != shown:
            raise Conflict(
                "the schema, or a file with a taxonomy of it, was changed in the meantime.",
                hint="Look at it as it is now, and sign then. Nothing was written.",
            )
        signers = (Text(reviewer), Text(day, plain=True), Text(shown))
        signed = self._with_signers(dict(zip(_SIGNERS, signers, strict=True)))
        signed = signed.put(None, "draft")
        return signed._without_reasons() if self._began_as_draft else signed

    def _without_reasons(self) -> SchemaText:
        """The same without a draft's comments, which tell what the data is like.

        That people may have several rows stays, since pages warn of it until it is published.
        """
        from hedgerow.draft.draft import SIGNED
        from hedgerow.draft.people import REPEATED

        lines: list[str] = []
        every = [*self.text.splitlines(), ""]
        for are_comments, several in groupby(every, lambda line: line.lstrip().startswith("#")):
            part = list(several)
            words = _join_comments(part)
            if not are_comments or any(one in words for one in REPEATED):
                lines += part
        bare = replace(self, text=SIGNED + "\n".join(lines))
        return bare if bare._says() == self._says() else self

    def _with_signers(self, signers: Mapping[str, Node]) -> SchemaText:
        """The same with these signers in the place of the earlier ones."""
        about = {key: one for key, one in self._about.items() if key not in _SIGNERS}
        about |= signers
        return self.put(about or None, "metadata")

    def _says(self) -> list[str]:
        """What somebody signs, however it is laid out: all but the signature."""
        pairs = [pair for pair in self._root.pairs if pair[0].value not in ("draft", "metadata")]
        return _below(Entries(pairs), "")

    def save(self, seen: str, page: str = "", restored: int = 0) -> bool:
        """Writes the file, whole or not at all, if the text is a schema.

        Who signed it off has signed what it said then: if that changes, the file is a draft again.
        The text before stays in the history.

        Args:
            seen: The mark of the text that the person saw who changed it.
            page: The page that changes it; without one the history is left alone.
            restored: The number of the version that this is, which may be an unfinished draft.

        Returns:
            Whether a sign-off was withdrawn.

        Raises:
            Conflict: If the file has changed since.
            SchemaError: If the text is not a schema.
        """
        with _SAVING:
            before = SchemaText.load(self.path)
            if before.mark != seen:
                raise Conflict(
                    "the schema was changed in the meantime, in another tab or by hand.",
                    hint="Nothing was written. What you entered is still here: look at it beside "
                    "the schema as it is now, and save again.",
                )
            if not restored:
                self.schema()
            changed = before.is_signed and before._says() != self._says()
            withdrawn = changed and not self._is_signed_so
            bare = self._with_signers({}).put(plain("true"), "draft") if withdrawn else self
            handle, temporary = tempfile.mkstemp(dir=self.path.parent, prefix=f".{self.path.name}.")
            try:
                with open(handle, "w", encoding="utf-8") as file:
                    file.write(bare.text)
                shutil.copymode(self.path, temporary)
                os.replace(temporary, self.path)
            except BaseException:
                os.unlink(temporary)
                raise
            if restored and bare is self:
                go_to(self.path, restored)
            elif page and bare.text != before.text:
                record(before, bare.text, page)
            return withdrawn

    def _lines(self, *keys: str) -> tuple[int, int]:
        """The first and the last line of what stands under some keys, one below another."""
        lines = self.text.splitlines()
        node: Node = self._root
        first, end = 1, len(lines)
        for key in keys:
            pairs = node.pairs if isinstance(node, Entries) else []
            places = [one.line or 0 for one, _ in pairs]
            place = next((n for n, (one, _) in enumerate(pairs) if one.value == key), None)
            if place is None:
                raise SchemaError(f"{self.path}: there is no {key!r}", hint="Load the page again.")
            first = places[place]
            if places.count(first) > 1 or (len(keys) > 1 and not lines[first - 1].strip()):
                raise SchemaError(
                    f"{self.path}: line {first} holds several entries, which the studio cannot "
                    "change one by one",
                    hint="Write every column on a line of its own.",
                )
            end = places[place + 1] - 1 if place + 1 < len(pairs) else end
            node = pairs[place][1]
        while end > first and (not lines[end - 1].strip() or lines[end - 1].lstrip()[0] == "#"):
            end -= 1  # comments belong to what follows
        return first, end


def _join_comments(lines: list[str]) -> str:
    return " ".join(line.strip().lstrip("#").strip() for line in lines)


def block(settings: Mapping[str, Node]) -> Entries:
    """Settings as a node."""
    return Entries([(Text(key, plain=True), one) for key, one in settings.items()])


def entries_of(node: Node | None) -> dict[str, Node]:
    """What stands below a key, by the keys of its own."""
    return {key.value: one for key, one in node.pairs} if isinstance(node, Entries) else {}


def _domain(settings: Mapping[str, Node]) -> tuple[str, ...]:
    """The bounds, or the values in order."""
    bounds = [settings[key] for key in ("low", "high", "step") if key in settings]
    if bounds:
        return tuple(one.value for one in bounds if isinstance(one, Text))
    lists = [settings[key] for key in ("values", "taxonomy") if key in settings]
    return tuple(sorted(label for one in lists for label in _leaves(one)))


def _leaves(node: Node) -> list[str]:
    if isinstance(node, Text):
        return [] if node.is_nothing else [node.value]
    if isinstance(node, ListNode):
        return [label for one in node.items for label in _leaves(one)]
    return [label for key, one in node.pairs for label in _leaves(one) or [key.value]]


def _scalar(node: Text) -> str:
    """A text as YAML: as it was written, or in quotes."""
    if node.plain:
        return node.value
    return json.dumps(node.value, ensure_ascii=not node.value.isprintable())


def _fits_a_line(node: Text) -> bool:
    return not node.plain or not set(node.value) & set(",[]{}")


def _key(text: str) -> Text:
    return Text(text, plain=bool(_BARE.fullmatch(text)) and text.casefold() not in _WORDS)


def _write(key: Text, node: Node, indent: str) -> list[str]:
    """The lines of an entry."""
    first, *rest = _below(node, indent)
    return [f"{indent}{_scalar(key)}:{first}", *rest]


def _below(node: Node, indent: str) -> list[str]:
    """What follows a colon, the rest of its line first."""
    if isinstance(node, Text):
        return [f" {_scalar(node)}" if node.value or not node.plain else ""]
    if isinstance(node, ListNode):
        if all(isinstance(one, Text) and _fits_a_line(one) for one in node.items):
            short = ", ".join(_scalar(one) for one in node.items if isinstance(one, Text))
            if len(short) <= _SHORT:
                return [f" [{short}]"]
        return ["", *(line for one in node.items for line in _item(one, indent + "  "))]
    inner = indent + "  "
    return ["", *(line for key, one in node.pairs for line in _write(key, one, inner))]


def _item(node: Node, indent: str) -> list[str]:
    if isinstance(node, Text):
        return [f"{indent}- {_scalar(node)}"]
    line, *below = _below(node, indent)
    if line:  # a list that fits
        return [f"{indent}-{line}"]
    first, *rest = below or [f"{indent}  []"]
    return [f"{indent}- {first.lstrip()}", *rest]


# Earlier versions of a schema file, so that every change of the studio can be undone.
#
# They lie beside the schema in the studio's own folder, which only its owner can read: a draft may
# hold what was read off the data. Each knows which one it was made from. Going back deletes
# nothing, so that one can go forth again.

FOLDER = ".hedgerow-studio"
_HEAD = "current"
ELSEWHERE = "elsewhere"
"""Who made a change that the studio did not."""


@dataclass(frozen=True, kw_only=True)
class Version:
    """A version of a schema file.

    Args:
        number: Its place in the history, from 1.
        parent: The number of the version it was made from; 0 for the first.
        page: The page of the studio that made it, or `ELSEWHERE`.
        path: Where its text lies.
    """

    number: int
    parent: int
    page: str
    path: Path

    @property
    def text(self) -> str:
        """The text of the schema."""
        return self.path.read_text("utf-8")

    @property
    def time(self) -> str:
        """When it was made."""
        return datetime.fromtimestamp(self.path.stat().st_mtime).strftime("%Y-%m-%d %H:%M")


def versions(schema: Path) -> list[Version]:
    """All versions of a schema file, the oldest first.

    Args:
        schema: The schema file.
    """
    known = []
    for path in sorted(_folder(schema).glob("*.yaml")):
        if name := re.fullmatch(r"(\d+)-(\d+)-(.*)", path.stem):
            number, parent = int(name[1]), int(name[2])
            known.append(Version(number=number, parent=parent, page=name[3], path=path))
    return known


def current(text: SchemaText) -> Version | None:
    """The version that the file is now; None if it was never kept."""
    same = [one for one in versions(text.path) if one.text == text.text]
    head = _folder(text.path) / _HEAD
    number = head.read_text() if head.exists() else ""
    return next((one for one in same if str(one.number) == number), same[-1] if same else None)


def record(before: SchemaText, after: str, page: str) -> None:
    """Keeps both sides of a change.

    Args:
        before: The file before the change.
        after: Its text now.
        page: The page that made the change.
    """
    folder = _folder(before.path)
    for place in (folder.parents[1], folder.parent, folder):
        place.mkdir(mode=0o700, exist_ok=True)
    _keep(folder.parents[1] / ".gitignore", "*\n")
    known, now = versions(before.path), current(before)
    number = known[-1].number if known else 0
    if now is None:  # its first change here, or it was changed by hand in the meantime
        _keep(_name(folder, number + 1, number, ELSEWHERE), before.text)
        number += 1
    go_to(before.path, number + 1)
    _keep(_name(folder, number + 1, number if now is None else now.number, page), after)


def go_to(schema: Path, number: int) -> None:
    """Notes which version the file is now."""
    head = _folder(schema) / _HEAD
    head.unlink(missing_ok=True)
    _keep(head, str(number))


def forget(schema: Path) -> None:
    """Deletes all versions of a schema file but the file itself."""
    shutil.rmtree(_folder(schema), ignore_errors=True)


def _folder(schema: Path) -> Path:
    return schema.parent / FOLDER / "history" / schema.name


def _name(folder: Path, number: int, parent: int, page: str) -> Path:
    return folder / f"{number:05}-{parent:05}-{page}.yaml"


def _keep(path: Path, text: str) -> None:
    """Writes a new file that only its owner can read; one that is there stays as it is."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return
    with open(handle, "w", encoding="utf-8") as file:
        file.write(text)


def describe_change(before: SchemaText | None, after: SchemaText) -> list[str]:
    """What is different between two texts of a schema, in sentences."""
    if before is None:
        return []
    try:
        changes = schema_diff(before.schema(), after.schema())
    except HedgerowError:  # a draft that no command reads yet
        return ["The questions of the draft were answered."] if after.has_unit else []
    return [line if about == "schema" else f"{about}: {line}" for about, line in changes]
