"""From the keys of a categorical column to its taxonomy and to how values are read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from hedgerow.schema.attributes import OTHER
from hedgerow.schema.files.model import CategoricalModel
from hedgerow.schema.files.nodes import Entries, Items, Node, Text, typed_text
from hedgerow.schema.lint import Report
from hedgerow.schema.taxonomies.mapping_file import RuleLine, Tree, branch_from_paths
from hedgerow.schema.taxonomies.rules import Reading, reading_faults
from hedgerow.schema.taxonomies.shared import Shared, read_tree
from hedgerow.schema.taxonomies.taxonomy import Taxonomy
from hedgerow.schema.taxonomies.trees import (
    DEFAULT_ROOT,
    Branch,
    grow,
    has_leaf,
    leaves_of,
)

__all__ = ["ColumnSource", "build_values"]

_SHOWN = 10  # of faults that are all alike
_RECODE = "Write rules and what they lead to, such as  390-459: Circulatory."


@dataclass(frozen=True, kw_only=True)
class ColumnSource:
    """Where a column was written: the file, the folder of other files, lines, shared taxonomies."""

    file: str | None
    folder: Path | None
    line: Callable[[str | None], int | None]
    shared: Mapping[str, Shared]


def build_values(
    column: CategoricalModel, source: ColumnSource, found: Report
) -> tuple[Taxonomy, Reading]:
    """The taxonomy of a column, and how its values are read.

    Args:
        column: The column.
        source: Where it was written.
        found: Takes the faults. After one, what is returned is a stand-in.
    """
    for key in ("values", "taxonomy", "recode"):
        text = typed_text(getattr(column, key))
        if text is not None:
            what = f"{key} holds {text}, which is not a text"
            hint = "YAML readers make it of texts like NO, on and 1e5: put quotes around them."
            found.warn(what, hint, source.file, source.line(key))
    own, paths = _rules(column.recode, source, found)
    tree = _tree(column, paths, source, found)
    branch = tree.branch
    if branch is not None and not found.faults:
        other = OTHER in (column.missing, column.outside)
        if other and has_leaf(branch, OTHER) and OTHER not in {rule.leaf for rule in own}:
            rule = "missing" if column.missing == OTHER else "outside"
            found.warn(
                f"{OTHER!r} is one of its values, so records that the rule `{rule}: {OTHER}` "
                "catches are counted with those that really have this value",
                "Nothing to do if that is meant; else choose another rule, or rename the value.",
                source.file,
                source.line(None),
            )
        taxonomy = grow(branch, tree.file, found, other=other)
        _check_values(column, taxonomy, source, found)
        # a column's own rules go before those of its taxonomy's file
        mine = {rule.rule for rule in own}
        rules = own + [rule for rule in tree.rules if rule.rule not in mine]
        rules = list({(rule.rule, rule.leaf): rule for rule in reversed(rules)}.values())[::-1]
        pairs = tuple((rule.rule, rule.leaf) for rule in rules)
        reading = Reading(pairs, tuple(column.ignore), column.cut_at)
        for place, what, hint in reading_faults(reading, taxonomy.leaves)[:_SHOWN]:
            if place < 0:
                found.fault(what, hint, source.file, source.line("ignore"))
            else:
                file = source.file if place < len(own) else tree.file
                found.fault(what, hint, file, rules[place].line)
        if not found.faults:
            return taxonomy, reading
    return Taxonomy.flat(("a", "b")), Reading()


def _tree(
    column: CategoricalModel,
    paths: list[tuple[list[str], int | None]],
    source: ColumnSource,
    found: Report,
) -> Tree:
    root, file = column.root, source.file
    if column.taxonomy is not None:
        own = Shared(column.taxonomy, file, source.folder)
        named = read_tree(own, root, source.shared, found)
    elif column.values is not None:
        leaves = [leaf for text in _listed(column, source, found) for leaf in text]
        label = DEFAULT_ROOT if root is None else root
        named = Tree(file, Branch(label, source.line("values"), leaves))
    elif paths:
        return Tree(file, branch_from_paths(paths, root))
    elif column.recode is None:
        hint = "Add values: [a, b], or taxonomy: with a file or a nested mapping."
        what = "it has neither values nor a taxonomy"
        found.fault(what, hint, file, source.line(None))
        return Tree(file)
    else:
        return Tree(file)
    for labels, line in paths:
        if len(labels) > 1:
            hint = "Write the leaf alone; groups are where the taxonomy has them."
            found.fault(f"a rule gives groups of {labels[0]!r}", hint, file, line)
    return named


def _rules(
    node: Node | None, source: ColumnSource, found: Report
) -> tuple[list[RuleLine], list[tuple[list[str], int | None]]]:
    """The rules of `recode:`, and each leaf with its groups."""
    rules: list[RuleLine] = []
    paths: list[tuple[list[str], int | None]] = []
    if node is None:
        return rules, paths
    if not isinstance(node, Entries) or not node.pairs:
        found.fault("recode is not a mapping of rules", _RECODE, source.file, source.line("recode"))
        return rules, paths
    for rule, target in node.pairs:
        parts = target.items if isinstance(target, Items) else [target]
        labels = [part.value for part in parts if isinstance(part, Text) and part.value.strip()]
        if not labels or len(labels) != len(parts):
            what = f"the rule {rule.value!r} does not lead to a value"
            found.fault(what, _RECODE, source.file, rule.line)
            continue
        rules.append(RuleLine(rule.value.strip(), labels[0], rule.line))
        paths.append((labels, rule.line))
    return rules, _without_repeats(paths)


def _without_repeats(
    paths: list[tuple[list[str], int | None]],
) -> list[tuple[list[str], int | None]]:
    """A leaf needs its groups only once: other rules may name it alone."""
    known = {labels[0] for labels, _ in paths if len(labels) > 1}
    return [path for path in paths if len(path[0]) > 1 or path[0][0] not in known]


def _listed(column: CategoricalModel, source: ColumnSource, found: Report) -> list[list[Branch]]:
    node = column.values
    items = node.items if isinstance(node, Items) else []
    texts = [item for item in items if isinstance(item, Text)]
    if not texts or len(texts) != len(items):
        hint = "Write values: [a, b, c]."
        found.fault("values is not a list of texts", hint, source.file, source.line("values"))
    return [leaves_of(text, source.file, found) for text in texts]


def _check_values(
    column: CategoricalModel, taxonomy: Taxonomy, source: ColumnSource, found: Report
) -> None:
    """Values beside a taxonomy are a check on it."""
    if column.values is None or column.taxonomy is None:
        return
    known = set(taxonomy.leaves)
    listed = [leaf for leaves in _listed(column, source, found) for leaf in leaves]
    for leaf in [leaf for leaf in listed if leaf.label not in known][:_SHOWN]:
        what = f"the value {leaf.label!r} is no leaf of the taxonomy"
        hint = "Add it to the taxonomy, or remove it from values."
        found.fault(what, hint, source.file, leaf.line)
