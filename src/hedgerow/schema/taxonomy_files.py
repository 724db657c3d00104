"""Taxonomies as trees with line numbers: grown, read from files of each form, and written."""

from __future__ import annotations

import csv
import io
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from importlib import resources
from itertools import combinations, groupby, pairwise, zip_longest
from pathlib import Path
from typing import Any

from hedgerow.errors import SchemaError
from hedgerow.schema.taxonomy import Reading, Taxonomy, pattern_of, taxonomy_faults
from hedgerow.schema.yaml_text import (
    MAX_DEPTH,
    RANGE,
    Entries,
    Fault,
    ListNode,
    Node,
    Report,
    Text,
    dump_tree,
    label_fault,
    parse_yaml,
    raise_faults,
    read_text,
)

# Grows a taxonomy from a tree with line numbers, and lints it on the way.


DEFAULT_ROOT = "Any"
MOST_IN_RANGE = 100_000


@dataclass(slots=True)
class Branch:
    """A label and what hangs below it; a leaf has nothing below."""

    label: str
    line: int | None = None
    below: list[Branch] = field(default_factory=list)


def branch_from_node(node: Node, root: str | None, report: Report) -> Branch:
    """The tree of a nested document.

    A single group at the top is the root, unless another root was asked for.

    Args:
        node: Mappings for groups of groups, lists for groups of values.
        root: The label of the root, if the schema gives one.
        report: Takes the faults.
    """
    top = _below(node, "the taxonomy", report)
    if len(top) == 1 and top[0].below and root in (None, top[0].label):
        return top[0]
    return Branch(DEFAULT_ROOT if root is None else root, node.line, top)


def branch_of(taxonomy: Taxonomy) -> Branch:
    """The tree of a finished taxonomy."""
    branches = [Branch(label) for label in taxonomy.labels]
    for branch, parent in zip(branches[1:], taxonomy.parents[1:], strict=True):
        branches[parent].below.append(branch)
    return branches[0]


def leaves_of(text: Text, report: Report) -> list[Branch]:
    """The leaves that a text stands for: a range such as `390..459` for many, others for one.

    Example:
        >>> [leaf.label for leaf in leaves_of(Text("E08..E10", line=1, plain=True), Report())]
        ['E08', 'E09', 'E10']
    """
    match = RANGE.fullmatch(text.value) if text.plain else None  # in quotes it is a text
    if match is None:
        return [Branch(text.value, text.line)]
    letters, low, high = match[1], int(match[2]), int(match[4])
    padded = match[2].startswith("0") and len(match[2]) > 1
    if letters != match[3] or low > high or (padded and len(match[2]) != len(match[4])):
        what = f"the range {text.value!r} does not lead from a smaller number to a larger one"
        hint = "Write both ends alike, such as 390..459, 001..139 or E800..E999."
        report.fault(what, hint, text.line)
        return []
    if high - low >= MOST_IN_RANGE:
        what = f"the range {text.value!r} has more than {MOST_IN_RANGE} values"
        report.fault(what, "Choose a smaller range, or a numeric attribute.", text.line)
        return []
    width = len(match[2]) if padded else 0
    return [Branch(f"{letters}{n:0{width}d}", text.line) for n in range(low, high + 1)]


def _below(node: Node, owner: str, report: Report) -> list[Branch]:
    if isinstance(node, Text):
        hint = f"Write members as a list, such as [{node.value or 'a, b'}]."
        report.fault(f"{owner} has a single text where its members should be", hint, node.line)
        return []
    branches: list[Branch] = []
    parts: list[Node] = list(node.items) if isinstance(node, ListNode) else [node]
    for part in parts:
        if isinstance(part, Text):
            branches += leaves_of(part, report)
        elif isinstance(part, ListNode):
            hint = "Give the inner list a name, such as {Group: [a, b]}."
            report.fault(f"{owner} holds a list inside a list", hint, part.line)
        else:
            for key, below in part.pairs:
                if isinstance(below, Text) and below.is_nothing:
                    branches += leaves_of(key, report)
                else:
                    members = _below(below, f"the group {key.value!r}", report)
                    branches.append(Branch(key.value, key.line, members))
    if not branches:
        hint = "List its members, or write the name alone if it is a value."
        report.fault(f"{owner} has no members", hint, node.line)
    return branches


def grow(root: Branch, report: Report) -> Taxonomy:
    """A taxonomy from a tree; faults and warnings go to the report.

    Groups of a single member say nothing and would cost budget, so they are collapsed: to the
    upper label, or to the leaf's if the member is a leaf.

    Args:
        root: The tree.
        report: Takes the faults and warnings. After a fault the taxonomy is not to be used.

    Example:
        >>> tree = Branch("Any", 1, [Branch("Europe", 2, [Branch("Italy", 3)]), Branch("Asia", 4)])
        >>> report = Report("country.yaml")
        >>> grow(tree, report).leaves
        ('Italy', 'Asia')
        >>> print(report.warnings[0])
        country.yaml:2: the group 'Europe' has a single member. Such groups are left out.
    """
    labels: list[str] = []
    parents: list[int] = []
    seen: dict[str, tuple[Branch, Branch]] = {}
    chains: list[Branch] = []
    spaced: list[Branch] = []
    stack = [(root, root, -1, 0)]
    while stack:
        branch, above, parent, depth = stack.pop()
        label, top = branch.label, branch
        while len(branch.below) == 1:  # a unary chain
            (only,) = branch.below
            if only.label != branch.label:  # the same label again is only padding
                chains.append(branch)
            label = label if only.below else only.label
            above, branch = branch, only
        wrong = label_fault(label)
        if wrong is not None:
            report.fault(*wrong, top.line)
        elif label in seen:
            before, parent_before = seen[label]
            first = "" if before.line is None else f" (first on line {before.line})"
            if branch.below or before.below or parent_before is above:
                hint = "Give every value and group a name of its own, the root included."
                report.fault(f"the name {label!r} is repeated{first}", hint, branch.line)
            else:
                parents_of = f"{parent_before.label!r} and {above.label!r}"
                what = f"the leaf {label!r} is under two parents, {parents_of}{first}"
                report.fault(what, "Keep it under one of them.", branch.line)
        else:
            seen[label] = (branch, above)
            if label != label.strip():
                spaced.append(branch)
        if depth > MAX_DEPTH:
            what = f"the taxonomy is deeper than {MAX_DEPTH} levels"
            report.fault(what, "Remove levels from it.", top.line)
            break
        node = len(labels)
        labels.append(label)
        parents.append(parent)
        stack += [(child, branch, node, depth + 1) for child in reversed(branch.below)]
    if len(labels) == 1:
        what = "the taxonomy is a single value, so it can never be split"
        report.warn(what, "Remove the attribute if it says nothing.", root.line)
    elif chains:
        more = f", and so do {len(chains) - 1} more" if len(chains) > 1 else ""
        what = f"the group {chains[0].label!r} has a single member{more}"
        report.warn(what, "Such groups are left out.", chains[0].line)
    if spaced:
        what = f"the name {spaced[0].label!r} starts or ends with a space"
        report.warn(what, "Remove the space unless the data has it too.", spaced[0].line)
    return Taxonomy(tuple(labels), tuple(parents))


# ARX hierarchy files: one row for each value, from the value itself up to the root.
#
#     Engineer;Professional;*
#     Lawyer;Professional;*
#     Artist;Artist;*
#
# Rows are of equal length; a label that is repeated on the next level only fills the row up.


_Rows = list[tuple[int, list[str]]]


def read_arx(path: str | Path) -> Taxonomy:
    """Reads a taxonomy from an ARX hierarchy file, separated by semicolons or commas.

    Raises:
        SchemaError: With the file and line of what is wrong, and how to mend it.
    """
    report = Report(str(path))
    taxonomy = grow(branch_from_arx(read_text(Path(path), report), report), report)
    raise_faults(report.faults)
    return taxonomy


def write_arx(taxonomy: Taxonomy, path: str | Path) -> None:
    """Writes a taxonomy as an ARX hierarchy file, which `read_arx` reads back unchanged.

    Example:
        >>> import tempfile
        >>> jobs = Taxonomy.from_nested("*", {"Expert": ["Engineer", "Lawyer"], "Artist": None})
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     write_arx(jobs, f"{folder}/jobs.csv")
        ...     print(Path(folder, "jobs.csv").read_text(), read_arx(f"{folder}/jobs.csv") == jobs)
        Engineer;Expert;*
        Lawyer;Expert;*
        Artist;Artist;*
         True
    """
    raise_faults([Fault(what, hint) for what, hint in taxonomy_faults(taxonomy)])
    try:
        Path(path).write_text(arx_text(branch_of(taxonomy)), encoding="utf-8", newline="")
    except OSError as error:
        raise SchemaError(
            f"{path}: the file cannot be written ({error.strerror})",
            hint="Choose a folder that exists and that you may write to.",
        ) from error


def paths_of(root: Branch) -> list[list[str]]:
    """Every leaf of a tree with the groups above it, from the leaf up to the root."""
    paths: list[list[str]] = []
    stack = [(root, [root.label])]
    while stack:
        branch, path = stack.pop()
        if not branch.below:
            paths.append(path)
        stack += [(child, [child.label, *path]) for child in reversed(branch.below)]
    return paths


def arx_text(root: Branch) -> str:
    """A tree as an ARX hierarchy; short rows are filled up with their value."""
    paths = paths_of(root)
    width = max(map(len, paths))
    # a single column has no separator to tell by, so its commas must stand in quotes
    quoting = csv.QUOTE_ALL if width == 1 else csv.QUOTE_MINIMAL
    rows = [[path[0]] * (width - len(path)) + path for path in paths]
    return _csv(rows, delimiter=";", quoting=quoting)


def branch_from_arx(text: str, report: Report, new_root: str | None = None) -> Branch:
    """The tree of an ARX file's text.

    Args:
        text: The text.
        report: Takes the faults.
        new_root: Another name for the root of a tree that is more than a root.

    Raises:
        SchemaError: If there are faults.
    """
    before = len(report.faults)
    rows = _read_rows(text, "", 1, report)
    width = max((len(fields) for _, fields in rows), default=0)
    if not rows:
        report.refuse("the file is empty", "Write one row for each value.")
    if width > MAX_DEPTH + 1:
        what = f"the rows have more than {MAX_DEPTH + 1} levels"
        report.refuse(what, "Remove levels.", rows[0][0])
    for line, fields in rows:
        if len(fields) != width:
            what = f"a ragged row: it has {len(fields)} levels where others have {width}"
            report.fault(what, f"Repeat {fields[0]!r} at its start until it has {width}.", line)
        elif not all(label.strip() for label in fields):
            level = next(i for i, label in enumerate(fields) if not label.strip()) + 1
            hint = "Fill it with the name before it, and remove a separator at the row's end."
            report.fault(f"the name on level {level} of the row is blank", hint, line)
    raise_faults(report.faults[before:])
    root = _join(rows, report)
    if new_root is not None and root.below:
        root.label = new_root
    return root


def _read_rows(text: str, delimiter: str, start: int, report: Report) -> _Rows:
    """The rows of a table with their lines; without a delimiter semicolons or commas separate."""
    rows, line = _Rows(), start
    try:
        if not delimiter:
            first = next(csv.reader(io.StringIO(text, newline=""), delimiter=";"))
            delimiter = ";" if len(first) > 1 else ","
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
        for fields in reader:
            if fields:
                rows.append((line, fields))
            line = start + reader.line_num
    except csv.Error as error:
        hint = "Look for a stray or missing quote on this line."
        report.refuse(f"this is not CSV ({error})", hint, line)
    return rows


def _join(rows: _Rows, report: Report) -> Branch:
    """The tree that rows make together; raises if there are faults."""
    first, (*_, top) = rows[0]
    for line, fields in rows:
        if fields[-1] != top:
            what = f"the row ends in {fields[-1]!r}, but line {first} in {top!r}"
            hint = "End every row in the same name, such as *; add a last column for it."
            report.refuse(what, hint, line)
    before = len(report.faults)
    branches = {top: Branch(top, first)}
    parents: dict[str, tuple[str, int]] = {}  # and the line that says so
    groups: set[str] = set()
    values: dict[str, int] = {}
    for line, fields in rows:
        faults = len(report.faults)
        padded = (label for label, _ in groupby(reversed(fields)))
        for parent, child in pairwise(padded):
            groups.add(parent)
            known, known_line = parents.get(child, (None, 0))
            if known == parent:
                continue
            above = parent
            while above != child and above in parents:
                above = parents[above][0]
            if above == child:
                what = f"a cycle: {child!r} is below {parent!r} here, and above it elsewhere"
                report.fault(what, "Give one of the two another name.", line)
            elif known is not None:
                what = f"the {'group' if child in groups else 'leaf'} {child!r} is under two "
                what += f"parents, {parent!r} here and {known!r} on line {known_line}"
                report.fault(what, "Keep it under one of them.", line)
            else:
                parents[child] = (parent, line)
                branches[child] = Branch(child, line)
                branches[parent].below.append(branches[child])
        if fields[0] in values and len(report.faults) == faults:
            what = f"the value {fields[0]!r} is repeated (first on line {values[fields[0]]})"
            report.fault(what, "Remove one of the two rows.", line)
        values.setdefault(fields[0], line)
    raise_faults(report.faults[before:])
    for value, line in values.items():
        if value in groups:
            what = f"the name {value!r} is repeated: it is a value and also a group"
            report.fault(what, "Give the group another name.", line)
    raise_faults(report.faults[before:])
    return branches[top]


# Taxonomies as tables: mappings of values to groups, and code lists.
#
#     rule,value,group            code,parent,label
#     390-459,Circulatory,Body    C,,Manufacturing
#     E*,External,                10,C,Food
#
# Their first line says which of the two they are; without it a file is an ARX hierarchy.


LabelPath = tuple[list[str], int | None]
"""A leaf with the groups above it, upwards, and the line that says so."""

_Records = list[tuple[int, dict[str, list[str]]]]
"""The lines of a table, and what stands there in the columns of each name."""


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
    branch: Branch
    rules: list[RuleLine] = field(default_factory=list)


def branch_from_paths(paths: Iterable[LabelPath], root: str | None) -> Branch:
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


def read_mapping(text: str, root: str | None, report: Report) -> Tree | None:
    """The tree of a mapping or a code list; None if the file has no first line of either."""
    lines = text.splitlines(keepends=True)
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
    rows: _Records = []
    rest = "".join(lines[skipped + 1 :])
    for line, fields in _read_rows(rest, mark, skipped + 2, report):
        if len(fields) > len(names) and any(map(str.strip, fields)):
            what = f"the line has {len(fields)} fields where the first line has {len(names)}"
            report.fault(what, "Put quotes around a text with a separator in it.", line)
        cells: dict[str, list[str]] = {name: [] for name in names}
        for name, cell in zip_longest(names, fields[: len(names)], fillvalue=""):
            cells[name].append(cell.strip())
        if any(map(any, cells.values())):
            rows.append((line, cells))
    raise_faults(report.faults[before:])
    if not rows:
        report.refuse("the file has no values", "Write one line for each.")
    branch, rules = (_mapping if mapping else _code_list)(rows, root, report)
    return Tree(report.file, branch, rules)


def _mapping(rows: _Records, root: str | None, report: Report) -> tuple[Branch, list[RuleLine]]:
    paths, rules = list[LabelPath](), list[RuleLine]()
    for line, cells in rows:
        value, groups = cells["value"][0], cells.get("group", [])
        while groups and not groups[-1]:
            groups.pop()
        if not value or not all(groups):
            what = f"the {'value' if not value else 'group between two others'} is blank"
            report.fault(what, "Fill it in, or remove the line.", line)
            continue
        paths.append(([value, *groups], line))
        said = dict.fromkeys(filter(None, cells.get("rule", [])))
        rules += [RuleLine(rule, value, line) for rule in said
                  if rule != value or pattern_of(rule)]  # fmt: skip
    return branch_from_paths(paths, root), rules


def _code_list(rows: _Records, root: str | None, report: Report) -> tuple[Branch, list[RuleLine]]:
    often = Counter(label for _, cells in rows for label in cells.get("label", [])[:1])
    branches: dict[str, Branch] = {}
    parents: dict[str, str] = {}
    for line, cells in rows:
        code, label = cells["code"][0], cells.get("label", [""])[0]
        if not code or code in branches:
            what = f"the code {code!r} is repeated" if code else "a code is blank"
            report.fault(what, "Give every line a code of its own.", line)
            continue
        # many lists have one name for a group and for its only or last member
        name = f"{code} {label or code}" if often[label] > 1 else label or code
        branches[code], parents[code] = Branch(name, line), cells["parent"][0]
    top = Branch(DEFAULT_ROOT if root is None else root, 1)
    for own, branch in branches.items():
        if parents[own] and parents[own] not in branches:
            what, hint = f"the parent {parents[own]!r} is not a code of the list", "Add a line for "
            report.fault(what, f"{hint}it, or leave the parent blank.", branch.line)
            continue
        (branches[parents[own]] if parents[own] else top).below.append(branch)
        above, steps = parents[own], 0
        while above and steps <= len(parents):
            above, steps = parents.get(above, ""), steps + 1
        if above:
            what = f"a cycle: the code {own!r} is below itself"
            report.refuse(what, "Mend its parents.", branch.line)
    rules = [RuleLine(own, branch.label, branch.line) for own, branch in branches.items()
             if not branch.below and own != branch.label]  # fmt: skip
    single = len(top.below) == 1 and top.below[0].below and not root
    return top.below[0] if single else top, rules


# Files of several trees in nested braces (`.hchy`), as the DiffGen authors' program reads them.
#
#     education:discrete:generalization
#     {Any {Secondary {9th} {10th}} {University {Bachelors} {Masters}}}
#
# A line with a name and a kind, then the tree: each pair of braces holds a label and what is below
# it. A bar begins a comment. What is neither discrete nor continuous is left out.


_HEAD = re.compile(r"([^{}|:]+):\s*(?:discrete|continuous)\b[^{}]*")
_TOKEN = re.compile(r"[{}]|[^{}]+")


def read_hchy(text: str, report: Report) -> dict[str, Branch]:
    r"""The trees of a file by the names of their attributes; faults go to the report.

    Example:
        >>> text = "| sexes\nsex:discrete:generalization\n{Any {Female} {Male}}\n"
        >>> trees = read_hchy(text, Report("adult.hchy"))
        >>> [branch.label for branch in trees["sex"].below]
        ['Female', 'Male']
    """
    before, trees = len(report.faults), dict[str, Branch]()
    name, first, body = "", 0, list[tuple[int, str]]()
    lines = [line.partition("|")[0].strip() for line in text.splitlines()]
    for number, line in enumerate([*lines, ":"], start=1):
        if line[:1] not in ("{", "}", "") and (":" in line or not name):
            if name and name in trees:
                hint = "Give every tree a name of its own."
                report.fault(f"the name {name!r} is repeated", hint, first)
            elif name:
                tree = _braces(body, name, first, report)
                if tree is not None:
                    trees[name] = tree
            head = _HEAD.fullmatch(line)
            name, first, body = head[1].strip() if head else "", number, []
        elif name:
            body.append((number, line))
    if not trees and len(report.faults) == before:
        hint = "Write a line such as sex:discrete, and below it {Any {Female} {Male}}."
        report.fault("the file has no tree", hint)
    return trees


def _braces(body: list[tuple[int, str]], name: str, first: int, report: Report) -> Branch | None:
    """The tree in nested braces."""
    roots: list[Branch] = []
    above: list[Branch] = []  # open braces
    what, line = "", first
    for number, text in body:
        for token in filter(None, (part.strip() for part in _TOKEN.findall(text))):
            if what:
                break
            line = number
            if token == "{":
                branch = Branch("", number)
                (above[-1].below if above else roots).append(branch)
                above.append(branch)
                what = f"is deeper than {MAX_DEPTH} levels" if len(above) > MAX_DEPTH + 1 else ""
            elif not above:
                closes = token == "}"
                what = "closes one brace too many" if closes else "has text outside its braces"
            elif token == "}":
                if not above.pop().label:
                    what = "has braces without a name"
            elif above[-1].label or above[-1].below:
                what = "has two names in one pair of braces"
            else:
                above[-1].label = token
    if not what and (above or len(roots) != 1):
        what = "lacks a closing brace" if above else "is not one pair of braces"
    if what:
        hint = "Each pair of braces holds a name and the pairs below it: {Any {Female} {Male}}."
        report.fault(f"the tree {name!r} {what}", hint, line)
        return None
    return roots[0]


# Taxonomies as texts: nested YAML, ARX hierarchies, code lists and mappings; and their lint.


WIDE = 50  # children of one group; more are hard to read, and each is one step of a budget
_SHOWN = 3


def to_nested(root: Branch) -> Any:
    """The tree below a root as mappings and lists, groups of one member included."""
    if not any(child.below for child in root.below):
        return [child.label for child in root.below]
    return {child.label: to_nested(child) if child.below else None for child in root.below}


def _rules_of(tree: Tree) -> dict[str, list[str]]:
    rules: dict[str, list[str]] = {}
    for rule in tree.rules:
        rules.setdefault(rule.leaf, []).append(rule.rule)
    return rules


def _codes(tree: Tree, root: Branch) -> str:
    rules = _rules_of(tree)
    rows = [["code", "parent", "label"]]
    stack = [(child, "") for child in reversed(root.below)]
    while stack:
        branch, parent = stack.pop()
        plain = [rule for rule in rules.get(branch.label, []) if not pattern_of(rule)]
        code = branch.label if branch.below or not plain else plain[0]
        rows.append([code, parent, branch.label])
        stack += [(child, code) for child in reversed(branch.below)]
    return _csv(rows)


def _mapping_csv(tree: Tree, root: Branch) -> str:
    rules, paths = _rules_of(tree), paths_of(root)
    columns = max(map(len, rules.values()), default=0)
    groups = max(1, max(map(len, paths)) - 2)  # one at least tells it from a list
    rows = [["rule"] * columns + ["value"] + ["group"] * groups]
    for path in paths:
        own = rules.get(path[0], [])
        rows.append([*own, *[""] * (columns - len(own)), path[0], *path[1:-1]])
        rows[-1] += [""] * (len(rows[0]) - len(rows[-1]))
    return _csv(rows)


def _csv(rows: list[list[str]], **form: Any) -> str:
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n", **form).writerows(rows)
    return text.getvalue()


FORMATS: dict[str, Callable[[Tree, Branch], str]] = {
    "yaml": lambda _, root: dump_tree({root.label: to_nested(root)}),
    "arx": lambda _, root: arx_text(root),
    "codes": _codes,
    "mapping": _mapping_csv,
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
    lines: list[str] = []

    def add(branch: Branch, level: int) -> int:
        place, shown = len(lines), level <= depth
        lines.extend(["  " * level + branch.label] if shown else [])
        leaves = sum(add(child, level + 1) for child in branch.below)
        if shown and leaves:
            lines[place] += f" ({leaves} {'leaf' if leaves == 1 else 'leaves'})"
        return leaves or 1

    add(root, 0)
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
    lines = (
        (alone, "group has a single member, and is", "groups have a single member, and are",
         "left out of releases: {}."),
        (wide, "group has", "groups have", f"more than {WIDE} members: {{}}. Add a level."),
        (alike, "name differs", "names differ", "from another only in case or spaces: {}."),
        (_overlaps(reading), "pair of rules overlaps", "pairs of rules overlap",
         "with different leaves, and the first decides: {}."),
    )  # fmt: skip
    return [
        f"{len(names)} {one if len(names) == 1 else more} "
        + end.format(", ".join(map(repr, names[:_SHOWN])) + (", ..." if names[_SHOWN:] else ""))
        for names, one, more, end in lines
        if names
    ]


def _overlaps(reading: Reading) -> list[str]:
    """Pairs of ranges, prefixes and bands that fit the same value and lead to different leaves."""
    rules = [(rule, leaf, pattern) for rule, leaf in reading.rules if (pattern := pattern_of(rule))]
    return [
        f"{rule} and {other}"
        for (rule, leaf, one), (other, end, two) in combinations(rules, 2)
        if leaf != end and (any(map(one.fits, two.examples)) or any(map(two.fits, one.examples)))
    ]


# Taxonomies that are named: files beside the schema, and lists that come with hedgerow.


_SUFFIXES = (".yaml", ".yml", ".json", ".csv", ".txt")


def built_in() -> dict[str, str]:
    """The lists that come with hedgerow: the text of each file, by name."""
    folder = resources.files("hedgerow.schema") / "lists"
    files = sorted(folder.iterdir(), key=lambda file: file.name)
    return {file.name[:-4]: file.read_text(encoding="utf-8") for file in files
            if file.name.endswith(".csv")}  # fmt: skip


def read_tree(written: Node, root: str | None, report: Report) -> Tree:
    """The tree that `taxonomy:` stands for, and the rules beside it.

    Args:
        written: What stands there: a name, a path, or the tree itself.
        root: The label of the root, if the schema gives one.
        report: Knows the folder to look in, and the taxonomies that are shared; takes the faults.

    Raises:
        SchemaError: If there is no tree to go on with.
    """
    if isinstance(written, Text) and written.value in report.shared:
        written, file, folder = report.shared[written.value]  # which names no other one
        report = report.at(file, folder)
    if not isinstance(written, Text):
        return Tree(report.file, branch_from_node(written, root, report))
    if written.is_nothing or not written.value.strip():
        report.refuse("taxonomy is blank", "Name a file, or write the tree itself.", written.line)
    lists = {} if Path(written.value).suffix.lower() in _SUFFIXES else built_in()
    if written.value in lists:
        return parse_taxonomy(lists[written.value], ".csv", root, report.at(written.value))
    if report.folder is None:
        what = "taxonomy names a file, but no folder to look in was given"
        hint = "Pass folder=, or put the taxonomy itself there as nested dictionaries."
        report.refuse(what, hint, written.line)
    place, _, attribute = written.value.rpartition("#")
    if not place.lower().endswith(".hchy"):
        place, attribute = written.value, ""
    path = report.folder / place
    suffix, name = path.suffix.lower(), str(path)
    if not os.path.isfile(path):  # which knows no errors, whatever the path
        hint = "Check the path; it is looked for beside the schema file."
        if lists:
            hint += f" The lists that come with hedgerow are {', '.join(lists)}."
        report.refuse(f"there is no taxonomy file {name!r}", hint, written.line)
    if suffix not in (*_SUFFIXES, ".hchy"):
        what = f"the kind of the taxonomy file {name!r} is unknown"
        hint = "Name it .yaml if it is nested, or .csv if it is an ARX hierarchy."
        report.refuse(what, hint, written.line)
    report, before = report.at(name), len(report.faults)
    text = read_text(path, report)
    if suffix != ".hchy":
        return parse_taxonomy(text, suffix, root, report)
    trees = read_hchy(text, report)  # of which one is that of the attribute
    if trees and attribute not in trees:
        what = f"the file has no tree {attribute!r}" if attribute else "the file has several trees"
        hint = f"Name one of them, as in {path.name}#{next(iter(trees))}: {', '.join(trees)}."
        report.fault(what, hint)
    raise_faults(report.faults[before:])
    branch = trees[attribute]
    if root is not None and branch.below:
        branch.label = root
    return Tree(name, branch)


def parse_taxonomy(text: str, suffix: str, root: str | None, report: Report) -> Tree:
    r"""The tree in a text, which the suffix of its file says how to read.

    Args:
        text: What the file holds.
        suffix: .yaml, .yml or .json for nested trees, .csv or .txt for tables.
        root: The label of the root, if one is given.
        report: Takes the faults.

    Example:
        >>> tree = parse_taxonomy("rule,value\nE*,External\n", ".csv", None, Report("a.csv"))
        >>> tree.branch.below[0].label, tree.rules[0].rule
        ('External', 'E*')
    """
    if suffix not in (".csv", ".txt"):
        return Tree(report.file, branch_from_node(parse_yaml(text, report), root, report))
    tree = read_mapping(text, root, report)
    return tree or Tree(report.file, branch_from_arx(text, report, root))


# Taxonomies that columns, or schemas, share: `taxonomies:` and `include:`.


def read_shared(own: Node | None, include: Node | None, report: Report) -> None:
    """Reads the shared taxonomies of a schema, which the report then knows by name.

    Args:
        own: What stands under `taxonomies:`, if anything.
        include: What stands under `include:`, if anything.
        report: Takes them, and the faults.
    """
    if own is not None:
        with report.gather():
            _share(own, report.line("taxonomies"), report)
    paths = include.items if isinstance(include, ListNode) else [] if include is None else [include]
    line = report.line("include")
    for path in paths:
        with report.gather():
            if not isinstance(path, Text) or path.is_nothing or not path.value.strip():
                hint = "Write include: shared.yaml, or a list of paths."
                report.refuse("include does not name a file", hint, line)
            if report.folder is None:
                hint = "Pass folder=, or put the taxonomies themselves there."
                what = "include names a file, but no folder to look in was given"
                report.refuse(what, hint, line)
            file = report.folder / path.value
            if not os.path.isfile(file):
                hint = "Check the path; it is looked for beside the schema file."
                report.refuse(f"there is no file {str(file)!r} to include", hint, path.line)
            there = report.at(str(file), file.parent)
            node = parse_yaml(read_text(file, there), there)
            pairs = node.pairs if isinstance(node, Entries) else []
            if [key.value for key, _ in pairs] != ["taxonomies"]:
                what = "a file that is included has the key taxonomies, and no other"
                there.refuse(what, "Write the trees below a line  taxonomies:.", node.line)
            _share(pairs[0][1], pairs[0][0].line, there)


def _share(node: Node, line: int | None, report: Report) -> None:
    if not isinstance(node, Entries):
        hint = "Write one per line, such as  ward: {Surgery: [S1, S2], Medicine: [M1, M2]}."
        report.refuse("taxonomies is not a mapping of names to trees", hint, line)
    for key, below in node.pairs:
        if key.value in report.shared:
            where = report.shared[key.value][1] or "the schema"
            what = f"the taxonomy {key.value!r} is already in {where}"
            report.fault(what, "Rename one of the two.", key.line)
        report.shared.setdefault(key.value, (below, report.file, report.folder))
