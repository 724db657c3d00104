"""Taxonomies that are named: files beside the schema, and lists that come with hedgerow."""

from __future__ import annotations

import os
from importlib import resources
from pathlib import Path

from hedgerow.schema.files.nodes import Text
from hedgerow.schema.files.yaml_reader import parse_yaml, read_text
from hedgerow.schema.lint import Report
from hedgerow.schema.taxonomies.arx import branch_from_arx
from hedgerow.schema.taxonomies.hchy import read_hchy
from hedgerow.schema.taxonomies.mapping_file import Tree, read_mapping
from hedgerow.schema.taxonomies.trees import branch_from_node

__all__ = ["built_in", "parse_taxonomy", "read_taxonomy_file"]

_SUFFIXES = (".yaml", ".yml", ".json", ".csv", ".txt")


def built_in() -> dict[str, str]:
    """The lists that come with hedgerow: the text of each file, by name."""
    folder = resources.files("hedgerow.schema.taxonomies") / "lists"
    files = sorted(folder.iterdir(), key=lambda file: file.name)
    return {
        file.name.removesuffix(".csv"): file.read_text(encoding="utf-8")
        for file in files
        if file.name.endswith(".csv")
    }


def read_taxonomy_file(
    written: Text, root: str | None, file: str | None, folder: Path | None, found: Report
) -> Tree:
    """The tree in a file, if it has one, and the rules beside it.

    Args:
        written: The path, as the schema has it.
        root: The label of the root, if the schema gives one.
        file: The schema file, for messages.
        folder: Where to look for the taxonomy.
        found: Takes the faults.
    """
    if written.is_nothing or not written.value.strip():
        hint = "Name a file, or write the tree itself."
        found.fault("taxonomy is blank", hint, file, written.line)
        return Tree(None)
    listed = {} if Path(written.value).suffix.lower() in _SUFFIXES else built_in()
    if written.value in listed:
        return parse_taxonomy(listed[written.value], ".csv", root, written.value, found)
    if folder is None:
        what = "taxonomy names a file, but no folder to look in was given"
        hint = "Pass folder=, or put the taxonomy itself there as nested dictionaries."
        found.fault(what, hint, file, written.line)
        return Tree(None)
    place, mark, attribute = written.value.rpartition("#")
    if not (mark and place.lower().endswith(".hchy")):
        place, attribute = written.value, ""
    path = folder / place
    suffix, name = path.suffix.lower(), str(path)
    if not os.path.isfile(path):  # which knows no errors, whatever the path
        hint = "Check the path; it is looked for beside the schema file."
        if listed:
            hint += f" The lists that come with hedgerow are {', '.join(listed)}."
        found.fault(f"there is no taxonomy file {name!r}", hint, file, written.line)
        return Tree(name)
    if suffix == ".hchy":
        text = read_text(path, found)
        return Tree(name) if text is None else _one_of(text, attribute, root, name, found)
    if suffix not in _SUFFIXES:
        what = f"the kind of the taxonomy file {name!r} is unknown"
        hint = "Name it .yaml if it is nested, or .csv if it is an ARX hierarchy."
        found.fault(what, hint, file, written.line)
        return Tree(name)
    text = read_text(path, found)
    return Tree(name) if text is None else parse_taxonomy(text, suffix, root, name, found)


def _one_of(text: str, attribute: str, root: str | None, name: str, found: Report) -> Tree:
    """The tree of one attribute in a file of several."""
    trees = read_hchy(text, name, found)
    if trees and attribute not in trees:
        what = f"the file has no tree {attribute!r}" if attribute else "the file has several trees"
        hint = f"Name one of them, as in {Path(name).name}#{next(iter(trees))}: {', '.join(trees)}."
        found.fault(what, hint, name)
    branch = trees.get(attribute)
    if branch is not None and root is not None and branch.below:
        branch.label = root
    return Tree(name, branch)


def parse_taxonomy(text: str, suffix: str, root: str | None, name: str, found: Report) -> Tree:
    r"""The tree in a text, which the suffix of its file says how to read.

    Args:
        text: What the file holds.
        suffix: .yaml, .yml or .json for nested trees, .csv or .txt for tables.
        root: The label of the root, if one is given.
        name: What messages call the file.
        found: Takes the faults.

    Example:
        >>> tree = parse_taxonomy("rule,value\nE*,External\n", ".csv", None, "a.csv", Report())
        >>> tree.branch.below[0].label, tree.rules[0].rule
        ('External', 'E*')
    """
    if suffix not in (".csv", ".txt"):
        node = parse_yaml(text, name, found)
        return Tree(name, None if node is None else branch_from_node(node, root, name, found))
    tree = read_mapping(text, root, name, found)
    if tree is not None:
        return tree
    branch = branch_from_arx(text, name, found)
    if branch is not None and root is not None and branch.below:
        branch.label = root
    return Tree(name, branch)
