"""Grows a taxonomy from a tree with line numbers, and lints it on the way."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from hedgerow.schema.attributes import OTHER
from hedgerow.schema.files.nodes import Entries, Items, Node, Text
from hedgerow.schema.lint import MAX_DEPTH, Report, label_fault
from hedgerow.schema.taxonomies.taxonomy import Taxonomy

__all__ = [
    "DEFAULT_ROOT",
    "Branch",
    "branch_from_node",
    "branch_of",
    "grow",
    "has_leaf",
    "is_range",
    "leaves_of",
]

DEFAULT_ROOT = "Any"
MOST_IN_RANGE = 100_000
_RANGE = re.compile(r"([A-Za-z]*)(\d{1,15})\.\.([A-Za-z]*)(\d{1,15})", re.ASCII)


@dataclass(slots=True)
class Branch:
    """A label and what hangs below it; a leaf has nothing below."""

    label: str
    line: int | None = None
    below: list[Branch] = field(default_factory=list)


def branch_from_node(node: Node, root: str | None, file: str | None, report: Report) -> Branch:
    """The tree of a nested document.

    A single group at the top is the root, unless another root was asked for.

    Args:
        node: Mappings for groups of groups, lists for groups of values.
        root: The label of the root, if the schema gives one.
        file: The file, for messages.
        report: Takes the faults.
    """
    top = _below(node, "the taxonomy", file, report)
    if len(top) == 1 and top[0].below and root in (None, top[0].label):
        return top[0]
    return Branch(DEFAULT_ROOT if root is None else root, node.line, top)


def is_range(text: str) -> re.Match[str] | None:
    """The parts of a range of leaves such as `390..459`; None for any other text."""
    return _RANGE.fullmatch(text)


def branch_of(taxonomy: Taxonomy) -> Branch:
    """The tree of a finished taxonomy."""
    branches = [Branch(label) for label in taxonomy.labels]
    for branch, parent in zip(branches[1:], taxonomy.parents[1:], strict=True):
        branches[parent].below.append(branch)
    return branches[0]


def leaves_of(text: Text, file: str | None, report: Report) -> list[Branch]:
    """The leaves that a text stands for: a range such as `390..459` for many, others for one.

    Example:
        >>> [leaf.label for leaf in leaves_of(Text("E08..E10", line=1, plain=True), None, Report())]
        ['E08', 'E09', 'E10']
    """
    match = is_range(text.value) if text.plain else None  # in quotes it is a text
    if match is None:
        return [Branch(text.value, text.line)]
    letters, low, high = match[1], int(match[2]), int(match[4])
    padded = match[2].startswith("0") and len(match[2]) > 1
    if letters != match[3] or low > high or (padded and len(match[2]) != len(match[4])):
        what = f"the range {text.value!r} does not lead from a smaller number to a larger one"
        hint = "Write both ends alike, such as 390..459, 001..139 or E800..E999."
        report.fault(what, hint, file, text.line)
        return []
    if high - low >= MOST_IN_RANGE:
        what = f"the range {text.value!r} has more than {MOST_IN_RANGE} values"
        report.fault(what, "Choose a smaller range, or a numeric attribute.", file, text.line)
        return []
    width = len(match[2]) if padded else 0
    return [Branch(f"{letters}{n:0{width}d}", text.line) for n in range(low, high + 1)]


def _below(node: Node, owner: str, file: str | None, report: Report) -> list[Branch]:
    if isinstance(node, Text):
        hint = f"Write members as a list, such as [{node.value or 'a, b'}]."
        what = f"{owner} has a single text where its members should be"
        report.fault(what, hint, file, node.line)
        return []
    branches: list[Branch] = []
    parts: list[Node] = list(node.items) if isinstance(node, Items) else [node]
    for part in parts:
        if isinstance(part, Text):
            branches += leaves_of(part, file, report)
        elif isinstance(part, Items):
            hint = "Give the inner list a name, such as {Group: [a, b]}."
            report.fault(f"{owner} holds a list inside a list", hint, file, part.line)
        else:
            branches += _members(part, file, report)
    if not branches:
        hint = "List its members, or write the name alone if it is a value."
        report.fault(f"{owner} has no members", hint, file, node.line)
    return branches


def _members(entries: Entries, file: str | None, report: Report) -> list[Branch]:
    branches: list[Branch] = []
    for key, below in entries.pairs:
        if isinstance(below, Text) and below.is_nothing:
            branches += leaves_of(key, file, report)
            continue
        members = _below(below, f"the group {key.value!r}", file, report)
        branches.append(Branch(key.value, key.line, members))
    return branches


def grow(root: Branch, file: str | None, report: Report, *, other: bool = False) -> Taxonomy:
    """A taxonomy from a tree; faults and warnings go to the report.

    Groups of a single member say nothing and would cost budget, so they are collapsed: to the
    upper label, or to the leaf's if the member is a leaf.

    Args:
        root: The tree.
        file: The file, for messages.
        report: Takes the faults and warnings. After a fault the taxonomy is not to be used.
        other: Whether the taxonomy must have a leaf "other".

    Example:
        >>> tree = Branch("Any", 1, [Branch("Europe", 2, [Branch("Italy", 3)]), Branch("Asia", 4)])
        >>> report = Report()
        >>> grow(tree, "country.yaml", report).leaves
        ('Italy', 'Asia')
        >>> print(report.warnings[0])
        country.yaml:2: the group 'Europe' has a single member. Such groups are left out.
    """
    if other and not has_leaf(root, OTHER):
        known = root if root.below else Branch(DEFAULT_ROOT, root.line, [root])
        root = Branch(known.label, known.line, [*known.below, Branch(OTHER, known.line)])
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
            report.fault(*wrong, file, top.line)
        elif label in seen:
            _repeated(label, seen[label], (branch, above), file, report)
        else:
            seen[label] = (branch, above)
            if label != label.strip():
                spaced.append(branch)
        if depth > MAX_DEPTH:
            what = f"the taxonomy is deeper than {MAX_DEPTH} levels"
            report.fault(what, "Remove levels from it.", file, top.line)
            break
        node = len(labels)
        labels.append(label)
        parents.append(parent)
        stack += [(child, branch, node, depth + 1) for child in reversed(branch.below)]
    if len(labels) == 1:
        what = "the taxonomy is a single value, so it can never be split"
        report.warn(what, "Remove the attribute if it says nothing.", file, root.line)
    elif chains:
        more = f", and so do {len(chains) - 1} more" if len(chains) > 1 else ""
        what = f"the group {chains[0].label!r} has a single member{more}"
        report.warn(what, "Such groups are left out.", file, chains[0].line)
    if spaced:
        what = f"the name {spaced[0].label!r} starts or ends with a space"
        report.warn(what, "Remove the space unless the data has it too.", file, spaced[0].line)
    return Taxonomy(tuple(labels), tuple(parents))


def has_leaf(root: Branch, label: str) -> bool:
    """Whether a tree has a leaf of this label."""
    stack = [root]
    while stack:
        branch = stack.pop()
        if not branch.below and branch.label == label:
            return True
        stack += branch.below
    return False


def _repeated(
    label: str,
    old: tuple[Branch, Branch],
    new: tuple[Branch, Branch],
    file: str | None,
    report: Report,
) -> None:
    """Complains about a label that comes twice; both times with what it was written below."""
    (before, first_parent), (branch, parent) = old, new
    first = "" if before.line is None else f" (first on line {before.line})"
    if branch.below or before.below or first_parent is parent:
        hint = "Give every value and group a name of its own, the root included."
        report.fault(f"the name {label!r} is repeated{first}", hint, file, branch.line)
        return
    parents = f"{first_parent.label!r} and {parent.label!r}"
    what = f"the leaf {label!r} is under two parents, {parents}{first}"
    report.fault(what, "Keep it under one of them.", file, branch.line)
