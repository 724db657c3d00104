"""Taxonomies as texts: nested YAML, ARX hierarchies, code lists and mappings; and their lint."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from typing import Any

from hedgerow.schema.files.yaml_writer import dump_tree
from hedgerow.schema.taxonomies.arx import arx_text, paths_of
from hedgerow.schema.taxonomies.mapping_file import Tree
from hedgerow.schema.taxonomies.rules import Reading, examples, is_pattern
from hedgerow.schema.taxonomies.trees import Branch

__all__ = ["FORMATS", "KEEP_RULES", "WIDE", "lint_tree", "nested", "outline"]

WIDE = 50  # children of one group; more are hard to read, and each is one step of a budget
_SHOWN = 3


def nested(root: Branch) -> Any:
    """The tree below a root as mappings and lists, groups of one member included."""
    if not any(child.below for child in root.below):
        return [child.label for child in root.below]
    return {child.label: nested(child) if child.below else None for child in root.below}


def _yaml(tree: Tree, root: Branch) -> str:
    return dump_tree({root.label: nested(root)})


def _arx(tree: Tree, root: Branch) -> str:
    return arx_text(root)


def _rules_of(tree: Tree) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for rule in tree.rules:
        found.setdefault(rule.leaf, []).append(rule.rule)
    return found


def _codes(tree: Tree, root: Branch) -> str:
    rules = _rules_of(tree)
    rows = [["code", "parent", "label"]]
    stack = [(child, "") for child in reversed(root.below)]
    while stack:
        branch, parent = stack.pop()
        plain = [rule for rule in rules.get(branch.label, []) if not is_pattern(rule)]
        code = branch.label if branch.below or not plain else plain[0]
        rows.append([code, parent, branch.label])
        stack += [(child, code) for child in reversed(branch.below)]
    return _csv(rows)


def _mapping(tree: Tree, root: Branch) -> str:
    rules, paths = _rules_of(tree), paths_of(root)
    columns = max((len(found) for found in rules.values()), default=0)
    groups = max(1, max(len(path) for path in paths) - 2)  # one at least tells it from a list
    rows = [["rule"] * columns + ["value"] + ["group"] * groups]
    for path in paths:
        own = rules.get(path[0], [])
        above = path[1:-1]
        rows.append(
            own + [""] * (columns - len(own)) + [path[0], *above] + [""] * (groups - len(above))
        )
    return _csv(rows)


def _csv(rows: list[list[str]]) -> str:
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


FORMATS: dict[str, Callable[[Tree, Branch], str]] = {
    "yaml": _yaml,
    "arx": _arx,
    "codes": _codes,
    "mapping": _mapping,
}
KEEP_RULES = ("mapping",)


def outline(root: Branch, depth: int) -> list[str]:
    """The tree as indented lines, with the number of leaves of each group.

    Args:
        root: The tree.
        depth: How many levels below the root to show.

    Example:
        >>> outline(Branch("Any", 1, [Branch("Europe", 2, [Branch("Italy"), Branch("Malta")])]), 1)
        ['Any (2 leaves)', '  Europe (2 leaves)']
    """
    counts: dict[int, int] = {}

    def count(branch: Branch) -> int:
        counts[id(branch)] = sum(map(count, branch.below)) if branch.below else 1
        return counts[id(branch)]

    count(root)
    lines = []
    stack = [(root, 0)]
    while stack:
        branch, level = stack.pop()
        number = counts[id(branch)]
        leaves = f" ({number} {'leaf' if number == 1 else 'leaves'})" if branch.below else ""
        lines.append("  " * level + branch.label + leaves)
        if level < depth:
            stack += [(child, level + 1) for child in reversed(branch.below)]
    return lines


def lint_tree(root: Branch, reading: Reading) -> list[str]:
    """What may be better about a sound taxonomy, one line for all that is alike.

    Example:
        >>> tree = Branch("Any", 1, [Branch("Europe", 2, [Branch("Italy")]), Branch("italy ")])
        >>> for line in lint_tree(tree, Reading()):
        ...     print(line)
        1 group has a single member, and is left out of releases: 'Europe'.
        1 name differs from another only in case or spaces: 'italy '.
    """
    alone, wide, alike = [], [], []
    seen: set[str] = set()
    stack = [root]
    while stack:
        branch = stack.pop()
        form = "".join(branch.label.split()).casefold()
        if form in seen:
            alike.append(branch.label)
        seen.add(form)
        if len(branch.below) == 1 and branch.below[0].label != branch.label:
            alone.append(branch.label)
        if len(branch.below) > WIDE:
            wide.append(branch.label)
        stack += reversed(branch.below)
    found = [
        _line(alone, "group has a single member, and is", "groups have a single member, and are")
        + "left out of releases: {}.",
        _line(wide, "group has", "groups have") + f"more than {WIDE} members: {{}}. Add a level.",
        _line(alike, "name differs", "names differ") + "from another only in case or spaces: {}.",
        _line(_overlaps(reading), "pair of rules overlaps", "pairs of rules overlap")
        + "with different leaves, and the first decides: {}.",
    ]
    names = (alone, wide, alike, _overlaps(reading))
    return [
        line.format(", ".join(map(repr, some[:_SHOWN])) + (", ..." if some[_SHOWN:] else ""))
        for line, some in zip(found, names, strict=True)
        if some
    ]


def _line(names: list[str], one: str, more: str) -> str:
    return f"{len(names)} {one if len(names) == 1 else more} "


def _overlaps(reading: Reading) -> list[str]:
    """Pairs of ranges, prefixes and bands that fit the same value and lead to different leaves."""
    patterns = [(rule, leaf) for rule, leaf in reading.rules if examples(rule)]
    fits = [Reading(((rule, leaf),)) for rule, leaf in patterns]
    values = [examples(rule) for rule, _ in patterns]
    return [
        f"{patterns[i][0]} and {patterns[j][0]}"
        for i in range(len(patterns))
        for j in range(i + 1, len(patterns))
        if patterns[i][1] != patterns[j][1]
        and (
            any(fits[i].pattern(value) for value in values[j])
            or any(fits[j].pattern(value) for value in values[i])
        )
    ]
