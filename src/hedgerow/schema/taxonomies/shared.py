"""Taxonomies that columns, or schemas, share: `taxonomies:` and `include:`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from hedgerow.schema.files.nodes import Entries, Items, Node, Text
from hedgerow.schema.files.yaml_reader import parse_yaml, read_text
from hedgerow.schema.lint import Report
from hedgerow.schema.taxonomies.files import read_taxonomy_file
from hedgerow.schema.taxonomies.mapping_file import Tree
from hedgerow.schema.taxonomies.trees import branch_from_node

__all__ = ["Shared", "read_shared", "read_tree"]

Lines = Mapping[tuple[str, ...], int | None]


@dataclass(frozen=True)
class Shared:
    """A taxonomy as it was written, the file that it was written in, and that file's folder."""

    node: Node | None
    file: str | None
    folder: Path | None


def read_tree(
    written: Shared, root: str | None, shared: Mapping[str, Shared], found: Report
) -> Tree:
    """The tree that `taxonomy:` stands for: a name, a path, or the tree itself.

    Args:
        written: What stands there.
        root: The label of the root, if one is given.
        shared: Taxonomies by name.
        found: Takes the faults.
    """
    if isinstance(written.node, Text) and written.node.value in shared:
        written = shared[written.node.value]  # which names no other one: only the first step looks
    if isinstance(written.node, Text):
        return read_taxonomy_file(written.node, root, written.file, written.folder, found)
    assert written.node is not None
    return Tree(written.file, branch_from_node(written.node, root, written.file, found))


def read_shared(
    own: Shared, include: Node | None, lines: Lines, report: Report
) -> dict[str, Shared]:
    """The shared taxonomies of a schema by name.

    Args:
        own: What stands under `taxonomies:`, if anything.
        include: What stands under `include:`, if anything.
        lines: The line of each key.
        report: Takes the faults.
    """
    found: dict[str, Shared] = {}
    if own.node is not None:
        _add(own, lines.get(("taxonomies",)), found, report)
    paths = include.items if isinstance(include, Items) else [] if include is None else [include]
    line = lines.get(("include",))
    for path in paths:
        if not isinstance(path, Text) or path.is_nothing or not path.value.strip():
            hint = "Write include: shared.yaml, or a list of paths."
            report.fault("include does not name a file", hint, own.file, line)
        elif own.folder is None:
            hint = "Pass folder=, or put the taxonomies themselves there."
            what = "include names a file, but no folder to look in was given"
            report.fault(what, hint, own.file, line)
        elif not os.path.isfile(own.folder / path.value):
            hint = "Check the path; it is looked for beside the schema file."
            what = f"there is no file {str(own.folder / path.value)!r} to include"
            report.fault(what, hint, own.file, path.line)
        else:
            _include(own.folder / path.value, found, report)
    return found


def _include(path: Path, found: dict[str, Shared], report: Report) -> None:
    text = read_text(path, report)
    node = None if text is None else parse_yaml(text, str(path), report)
    if node is None:
        return
    pairs = node.pairs if isinstance(node, Entries) else []
    if [key.value for key, _ in pairs] != ["taxonomies"]:
        what = "a file that is included has the key taxonomies, and no other"
        hint = "Write the trees below a line  taxonomies:."
        report.fault(what, hint, str(path), node.line)
        return
    _add(Shared(pairs[0][1], str(path), path.parent), pairs[0][0].line, found, report)


def _add(whole: Shared, line: int | None, found: dict[str, Shared], report: Report) -> None:
    if not isinstance(whole.node, Entries):
        hint = "Write one per line, such as  ward: {Surgery: [S1, S2], Medicine: [M1, M2]}."
        report.fault("taxonomies is not a mapping of names to trees", hint, whole.file, line)
        return
    for key, below in whole.node.pairs:
        if key.value in found:
            where = found[key.value].file or "the schema"
            what = f"the taxonomy {key.value!r} is already in {where}"
            report.fault(what, "Rename one of the two.", whole.file, key.line)
        found.setdefault(key.value, Shared(below, whole.file, whole.folder))
