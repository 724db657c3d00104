"""Reads YAML as texts with line numbers, and nothing more than that.

No tags, no anchors, no aliases: a schema is a description, and must not be able to build
objects, contain itself, or unfold into gigabytes.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from hedgerow.schema.files.nodes import MAX_NESTING, Entries, Items, Node, Text
from hedgerow.schema.lint import Report

__all__ = ["ONLY_INSIDE", "only_inside", "parse_yaml", "read_text"]

ONLY_INSIDE = "HEDGEROW_ONLY_INSIDE"
"""The variable that names the folder which a command of the studio must not leave."""

_OURS = Path(__file__).resolve().parents[2]  # what comes with hedgerow is public
_inside: ContextVar[Path | None] = ContextVar("inside", default=None)

# What starts a text here that YAML takes for something else: a band, a star, a comparison.
_NEEDS_QUOTES = r"(?:^|[\[{,:-])\s*([*&!%@`>|]|\[(?=[-+\d.]+\s*[-,]\s*[-+\d.]+\)))"


@contextmanager
def only_inside(folder: Path) -> Iterator[None]:
    """In this block no schema, taxonomy or list is read from outside a folder."""
    token = _inside.set(folder)
    try:
        yield
    finally:
        _inside.reset(token)


def _lies_in(path: Path, *folders: str | Path) -> bool:
    return any(path.is_relative_to(folder) for folder in folders)


def read_text(path: Path, report: Report) -> str | None:
    """The text of a UTF-8 file, with or without a byte-order mark; None if it has faults."""
    file = str(path)
    inside = _inside.get() or os.environ.get(ONLY_INSIDE)
    try:
        # links are followed first: what counts is where a name leads
        if inside and not _lies_in(path.resolve(), inside, _OURS):
            hint = "Copy it into the folder, beside the schema, and name it there."
            report.fault("the file lies outside the folder of the studio", hint, file)
            return None
        content = path.read_bytes()
    except FileNotFoundError:
        report.fault("there is no such file", "Check the path for a misspelling.", file)
        return None
    except OSError as error:
        reason = error.strerror or "it cannot be read"
        hint = "Check the path, and that you may read the file."
        report.fault(f"the file cannot be opened ({reason})", hint, file)
        return None
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        hint = 'Save the file as UTF-8 (a spreadsheet may call it "CSV UTF-8").'
        report.fault("the file is not UTF-8 text", hint, file, line)
        return None
    if not text.strip():
        report.fault("the file is empty", "Write its content, or name another file.", file)
        return None
    return text


def parse_yaml(text: str, file: str | None, report: Report) -> Node | None:
    """The tree of a YAML text; None, and faults in the report, if it has none.

    Example:
        >>> node = parse_yaml("norway: No", None, Report())
        >>> node.pairs[0][1].value
        'No'
    """
    import yaml  # type: ignore[import-untyped,unused-ignore]  # no release needs it

    before = len(report.faults)
    try:
        node = _compose(text, file, report)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
        line = None if mark is None else mark.line + 1
        problem = getattr(error, "problem", None)
        if problem is None and hasattr(error, "position"):
            line = text.count("\n", 0, error.position) + 1
            problem = "an invisible control character"
        report.fault(f"this is not YAML ({problem})", _yaml_hint(text, line), file, line)
        return None
    return node if len(report.faults) == before else None


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


def _compose(text: str, file: str | None, report: Report) -> Node | None:
    import yaml

    # The C parser is about fifty times as fast, but not every platform has it.
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    stack: list[Items | Entries] = []
    keys: list[Text | None] = []  # for each open mapping, the key that waits for its value
    seen: list[dict[str, int | None]] = []
    result: Node | None = None
    documents = 0
    for event in yaml.parse(text, Loader=loader):
        line = event.start_mark.line + 1 if event.start_mark is not None else 1
        kind = type(event)
        if kind is yaml.MappingEndEvent or kind is yaml.SequenceEndEvent:
            stack.pop()
            keys.pop()
            seen.pop()
            continue
        if kind is yaml.DocumentStartEvent:
            documents += 1
            if documents > 1:
                hint = "Keep one document, and remove the line ---."
                report.fault("the file holds several documents", hint, file, line)
                return None
            continue
        if kind is yaml.AliasEvent or getattr(event, "anchor", None) is not None:
            hint = "Write the part out in both places; a text that starts with * or & needs quotes."
            what = "anchors (&) and aliases (*) are not allowed, as they can make a cycle"
            report.fault(what, hint, file, line)
            return None
        if getattr(event, "tag", None) is not None:
            hint = "Remove the word that starts with an exclamation mark, or quote the text."
            report.fault("tags (!) are not allowed", hint, file, line)
            return None
        node: Node
        if isinstance(event, yaml.ScalarEvent):
            node = Text(event.value, line=line, plain=event.implicit[0])  # implicit: without quotes
        elif kind is yaml.MappingStartEvent:
            node = Entries([], line)
        elif kind is yaml.SequenceStartEvent:
            node = Items([], line)
        else:
            continue
        # hang the node below the innermost open list or mapping
        if not stack:
            result = node
        else:
            top = stack[-1]
            if type(top) is Items:
                top.items.append(node)
            elif type(top) is Entries:
                key = keys[-1]
                if key is not None:
                    top.pairs.append((key, node))
                    keys[-1] = None
                elif type(node) is not Text:
                    hint = "Put quotes around a key that holds brackets."
                    report.fault("a key is not a single text", hint, file, line)
                    return None
                else:
                    keys[-1] = node
                    if node.value in seen[-1]:
                        what = f"{node.value!r} is repeated (first on line {seen[-1][node.value]})"
                        report.fault(what, "Keep one of the two.", file, line)
                    seen[-1].setdefault(node.value, line)
        if not isinstance(node, Text):
            if len(stack) >= MAX_NESTING:
                what = f"lists and groups are nested more than {MAX_NESTING} deep"
                report.fault(what, "Remove levels.", file, line)
                return None
            stack.append(node)
            keys.append(None)
            seen.append({})
    if result is None:
        report.fault("the file is empty", "Write its content, or name another file.", file)
    return result
