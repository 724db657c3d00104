"""Taxonomies as tables: mappings of values to groups, and code lists.

    rule,value,group            code,parent,label
    390-459,Circulatory,Body    C,,Manufacturing
    E*,External,                10,C,Food

Their first line says which of the two they are; without it a file is an ARX hierarchy.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from hedgerow.schema.lint import Report
from hedgerow.schema.taxonomies.rules import is_pattern
from hedgerow.schema.taxonomies.trees import DEFAULT_ROOT, Branch

__all__ = ["RuleLine", "Tree", "branch_from_paths", "read_mapping"]

_Row = tuple[int, list[str]]
_Path = tuple[list[str], int | None]


@dataclass(frozen=True)
class RuleLine:
    """A rule, the leaf that it leads to, and the line that says so."""

    rule: str
    leaf: str
    line: int | None = None


@dataclass
class Tree:
    """What a taxonomy file holds: a tree, and rules that lead to its leaves."""

    file: str | None
    branch: Branch | None = None
    rules: list[RuleLine] = field(default_factory=list)


def branch_from_paths(paths: Iterable[_Path], root: str | None) -> Branch:
    """The tree of values that are each given with their groups, from the leaf upwards.

    Example:
        >>> tree = branch_from_paths([(["Oslo", "Norway"], 1), (["Bergen", "Norway"], 2)], None)
        >>> [branch.label for branch in tree.below[0].below]
        ['Oslo', 'Bergen']
    """
    top = Branch(DEFAULT_ROOT if root is None else root, 1)
    known: dict[tuple[str, ...], Branch] = {(): top}
    for labels, line in paths:
        way: tuple[str, ...] = ()
        for label in reversed(labels):
            above, way = known[way], (*way, label)
            if way not in known:
                known[way] = Branch(label, line)
                above.below.append(known[way])
    return top


def read_mapping(text: str, root: str | None, file: str, report: Report) -> Tree | None:
    """The tree of a mapping or a code list; None if the file has no first line of either."""
    lines = text.splitlines()
    skipped = next((n for n, line in enumerate(lines) if not line.startswith("#")), len(lines))
    if skipped == len(lines):
        return None
    first = lines[skipped]
    mark = max(",;\t", key=first.count)
    names = [name.strip().casefold() for name in next(csv.reader([first], delimiter=mark))]
    mapping = "value" in names and set(names) <= {"rule", "value", "group"} and len(names) > 1
    if not mapping and not {"code", "parent"} <= set(names):
        return None
    before = len(report.faults)
    rows: list[_Row] = []
    reader = csv.reader(lines[skipped + 1 :], delimiter=mark, strict=True)
    try:
        for fields in reader:
            line = skipped + 1 + reader.line_num
            cells = [cell.strip() for cell in fields]
            if not any(cells):
                continue
            if len(cells) > len(names):
                what = f"the line has {len(cells)} fields where the first line has {len(names)}"
                report.fault(what, "Put quotes around a text with a separator in it.", file, line)
            rows.append((line, cells + [""] * (len(names) - len(cells))))
    except csv.Error as error:
        hint = "Look for a stray or missing quote."
        report.fault(f"this is not CSV ({error})", hint, file, skipped + 2)
    if not rows:
        report.fault("the file has no values", "Write one line for each.", file)
    if len(report.faults) > before:
        return Tree(file)
    return (_mapping if mapping else _code_list)(names, rows, Tree(file), root, report)


def _mapping(
    names: list[str], rows: list[_Row], tree: Tree, root: str | None, report: Report
) -> Tree:
    paths: list[_Path] = []
    for line, cells in rows:
        value = cells[names.index("value")]
        groups = [cell for name, cell in zip(names, cells, strict=True) if name == "group"]
        while groups and not groups[-1]:
            groups.pop()
        if not value or not all(groups):
            what = f"the {'value' if not value else 'group between two others'} is blank"
            report.fault(what, "Fill it in, or remove the line.", tree.file, line)
            continue
        paths.append(([value, *groups], line))
        rules = [cell for name, cell in zip(names, cells, strict=True) if name == "rule" and cell]
        tree.rules += [
            RuleLine(rule, value, line)
            for rule in dict.fromkeys(rules)
            if rule != value or is_pattern(rule)
        ]
    tree.branch = branch_from_paths(paths, root)
    return tree


def _code_list(
    names: list[str], rows: list[_Row], tree: Tree, root: str | None, report: Report
) -> Tree:
    code, parent = names.index("code"), names.index("parent")
    label = names.index("label") if "label" in names else code
    often = Counter(cells[label] for _, cells in rows)
    branches: dict[str, Branch] = {}
    parents: dict[str, str] = {}
    for line, cells in rows:
        name = cells[label] or cells[code]
        if not cells[code] or cells[code] in branches:
            what = f"the code {cells[code]!r} is repeated" if cells[code] else "a code is blank"
            report.fault(what, "Give every line a code of its own.", tree.file, line)
            continue
        # many lists have one name for a group and for its only or last member
        name = f"{cells[code]} {name}" if often[cells[label]] > 1 and label != code else name
        branches[cells[code]] = Branch(name, line)
        parents[cells[code]] = cells[parent]
    top = Branch(DEFAULT_ROOT if root is None else root, 1)
    for own, branch in branches.items():
        if parents[own] and parents[own] not in branches:
            what = f"the parent {parents[own]!r} is not a code of the list"
            report.fault(
                what, "Add a line for it, or leave the parent blank.", tree.file, branch.line
            )
            continue
        (branches[parents[own]] if parents[own] else top).below.append(branch)
        above, steps = parents[own], 0
        while above and steps <= len(parents):
            above, steps = parents.get(above, ""), steps + 1
        if above:
            what = f"a cycle: the code {own!r} is below itself"
            report.fault(what, "Mend its parents.", tree.file, branch.line)
            return tree
    tree.branch = top.below[0] if len(top.below) == 1 and top.below[0].below and not root else top
    tree.rules = [
        RuleLine(own, branch.label, branch.line)
        for own, branch in branches.items()
        if not branch.below and own != branch.label
    ]
    return tree
