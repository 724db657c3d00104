"""From the `items:` of a schema file to Items."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from hedgerow.schema.files.model import ItemsModel
from hedgerow.schema.files.nodes import Entries, Node, Text
from hedgerow.schema.files.nodes import Items as ListNode
from hedgerow.schema.files.yaml_reader import read_text
from hedgerow.schema.items import DEFAULT_FAN_OUT, Items
from hedgerow.schema.lint import Report, items_faults, label_fault, range_fault
from hedgerow.schema.taxonomies.shared import Shared, read_tree
from hedgerow.schema.taxonomies.taxonomy import Taxonomy
from hedgerow.schema.taxonomies.trees import grow

__all__ = ["ItemsSource", "build_items"]

_INTEGER = re.compile(r"[+-]?\d{1,30}", re.ASCII)
_SHAPES = "Write {range: [1, 99]}, a list [a, b, c], or the path of a file with one item per line."

Universe = range | tuple[str, ...] | Taxonomy


@dataclass(kw_only=True)
class ItemsSource:
    """Where the items were written: the file, the folder of other files, lines and faults."""

    file: str | None
    folder: Path | None
    lines: Mapping[tuple[str, ...], int | None]
    report: Report
    shared: Mapping[str, Shared]

    def line(self, key: str | None = None) -> int | None:
        """The line of a key, or of `items:` itself."""
        whole = self.lines.get(("items",))
        return whole if key is None else self.lines.get(("items", key), whole)

    def fault(self, key: str, what: str, hint: str) -> None:
        """Adds a fault at a key."""
        self.report.fault(f"items: {what}", hint, self.file, self.line(key))

    def warn(self, key: str, what: str, hint: str) -> None:
        """Adds a warning at a key."""
        self.report.warn(f"items: {what}", hint, self.file, self.line(key))


def build_items(model: ItemsModel, source: ItemsSource) -> Items | None:
    """Reads the universe and checks the rules; None, and faults in the report, if it has some."""
    before = len(source.report.faults)
    universe = _universe_or_taxonomy(model, source)
    if model.taxonomy is not None and model.fan_out is not None:
        what = "a taxonomy itself says how items are grouped"
        source.fault("fan_out", what, "Remove fan_out, or the taxonomy.")
    if universe is None or len(source.report.faults) > before:
        return None
    items = Items(
        universe=universe,
        fan_out=DEFAULT_FAN_OUT if model.fan_out is None else model.fan_out,
        foreign=model.foreign,
        empty=model.empty,
        max_items=model.max_items,
        column=model.column,
        separator=model.separator,
        person=model.person,
        item=model.item,
    )
    for fault in items_faults(items):
        source.fault(*fault)
    if len(source.report.faults) > before:
        return None
    if items.size == 1:
        what = "the universe has a single item, so a release can only count its records"
        source.warn("universe", what, "Nothing to do if that is meant.")
    if items.max_items is not None and items.max_items > items.size:
        what = "max_items is larger than the universe, so it caps nothing"
        source.warn("max_items", what, f"Write at most {items.size}.")
    return items


def _universe_or_taxonomy(model: ItemsModel, source: ItemsSource) -> Universe | None:
    if model.universe is not None and model.taxonomy is not None:
        what = "it has a universe and also a taxonomy"
        source.fault("taxonomy", what, "Keep one: a taxonomy's leaves are the universe.")
        return None
    if model.taxonomy is not None:
        return _taxonomy(model.taxonomy, model.root, source)
    if model.root is not None:
        source.fault("root", "root is for taxonomies only", "Remove it.")
        return None
    node: Node | None = model.universe
    if isinstance(node, Text) and not node.is_nothing and node.value.strip():
        return _from_file(node, source)
    if isinstance(node, Entries):
        return _range(node, source)
    if isinstance(node, ListNode):
        return _list(node, source)
    source.fault("universe", "it has neither a universe nor a taxonomy", _SHAPES)
    return None


def _taxonomy(node: Node, root: str | None, source: ItemsSource) -> Taxonomy | None:
    found = Report()
    tree = read_tree(Shared(node, source.file, source.folder), root, source.shared, found)
    file, branch = tree.file, tree.branch
    if tree.rules and branch is not None:
        hint = "Name a taxonomy whose leaves are the items as the data has them."
        found.fault("the taxonomy has rules, which items cannot have", hint, file, node.line)
    taxonomy = None if branch is None or found.faults else grow(branch, file, found)
    if taxonomy is not None and taxonomy.height == 0:
        found.warnings.clear()  # that there is a single item is told in our own words
    source.report.take(found, "items")
    return None if found.faults else taxonomy


def _range(node: Entries, source: ItemsSource) -> range | None:
    ends = node.pairs[0][1] if len(node.pairs) == 1 else None
    if ends is None or node.pairs[0][0].value != "range":
        source.fault("universe", "universe is neither a range nor a list", _SHAPES)
        return None
    texts = [
        end.value.strip()
        for end in (ends.items if isinstance(ends, ListNode) else [])
        if isinstance(end, Text) and _INTEGER.fullmatch(end.value.strip())
    ]
    if not isinstance(ends, ListNode) or len(texts) != 2 or len(ends.items) != 2:
        what = "range is not a pair of whole numbers"
        source.fault("universe", what, "Write the first and the last, such as {range: [1, 99]}.")
        return None
    low, high = map(int, texts)
    wrong = range_fault(low, high)
    if wrong is not None:  # before a range that Python itself could not measure is made
        source.fault("universe", *wrong)
        return None
    return range(low, high + 1)


def _list(node: ListNode, source: ItemsSource) -> tuple[str, ...] | None:
    texts = [item for item in node.items if isinstance(item, Text)]
    if not texts or len(texts) != len(node.items):
        source.fault("universe", "universe is not a list of items", _SHAPES)
        return None
    placed = [(text.value, text.line) for text in texts]
    return _labels(placed, source.file, source)


def _from_file(written: Text, source: ItemsSource) -> tuple[str, ...] | None:
    if source.folder is None:
        what = "universe names a file, but no folder to look in was given"
        source.fault("universe", what, "Pass folder=, or put the list of items itself there.")
        return None
    path = source.folder / written.value
    found = Report()
    if not os.path.isfile(path):  # which knows no errors, whatever the path
        hint = "Check the path; it is looked for beside the schema file."
        source.fault("universe", f"there is no file {str(path)!r} with the universe", hint)
        return None
    text = read_text(path, found)
    source.report.take(found, "items")
    if text is None:
        return None
    # Not splitlines, which also breaks at characters that only look like line breaks.
    lines = [line.strip() for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n")]
    placed = [(line, number) for number, line in enumerate(lines, start=1) if line]
    return _labels(placed, str(path), source)


def _labels(
    placed: Sequence[tuple[str, int | None]], file: str | None, source: ItemsSource
) -> tuple[str, ...]:
    """The labels; complains about blank and repeated ones, by their lines."""
    first: dict[str, int | None] = {}
    spaced = False
    for label, line in placed:
        wrong = label_fault(label)
        if wrong is not None:
            source.report.fault(f"items: {wrong[0]}", wrong[1], file, line)
        elif label in first:
            where = "" if first[label] is None else f" (first on line {first[label]})"
            what = f"items: the item {label!r} is repeated{where}"
            source.report.fault(what, "Keep one of the two.", file, line)
        else:
            first[label] = line
        if label != label.strip() and not spaced:
            spaced = True
            what = f"items: the item {label!r} starts or ends with a space"
            source.report.warn(what, "Remove it: items are read without one.", file, line)
    return tuple(first)
