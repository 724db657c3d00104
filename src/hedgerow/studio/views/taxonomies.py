"""The fourth step: groups of values, as a tree that can be changed with ordinary forms."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import count
from types import SimpleNamespace
from typing import Any

from starlette.responses import Response

from hedgerow.errors import UsageError
from hedgerow.schema import Categorical, Schema
from hedgerow.schema.attributes import OTHER
from hedgerow.schema.items import Items, group
from hedgerow.schema.taxonomy import Reading, Taxonomy
from hedgerow.schema.taxonomy_files import (
    DEFAULT_ROOT,
    Branch,
    branch_from_node,
    branch_of,
    built_in,
    lint_tree,
    to_nested,
)
from hedgerow.schema.yaml_text import Entries, ListNode, Node, Report, Text, from_python
from hedgerow.studio.folder import inside, is_data, look
from hedgerow.studio.schema_text import SchemaText
from hedgerow.studio.steps import Asked, Way
from hedgerow.studio.views.schema import save

_ITEMS = "items"  # what the items of transactions are called in the place of a column
_RULES = ("recode", "ignore", "cut_at")
_MOST = 3000  # nodes of a tree that a page can hold
_FILES = (".yaml", ".yml", ".csv")


def show(asked: Asked, exchange: SimpleNamespace | None = None) -> Response:
    """The tree of a column, with what could be better about it.

    Args:
        asked: What was asked for.
        exchange: What another tree would change, to be confirmed.
    """
    way, text, schema = asked.way, asked.text, asked.schema
    columns = _columns(schema)
    name = asked.get("column") or next(iter(columns), "")
    tree, lint, size = None, [], 0
    if name:
        column = _column(columns, name)
        branch = _tree(text, column)
        size = len(_nodes(branch))
        tree = _number(branch, count()) if size <= _MOST else None
        lint = lint_tree(branch, column.reading if isinstance(column, Categorical) else Reading())
    warnings = [one.replace(f"{text.path.parent}{os.sep}", "") for one in schema.warnings]
    command = ["taxonomy", way.argument("schema"), *(["--attribute", name] if name else [])]
    if schema.kind == "transactions":
        command = ["check", way.argument("schema")]
    return asked.page(
        "taxonomies", text=text, columns=columns, name=name, tree=tree, lint=lint,
        size=size, built_in=list(built_in()), files=_files(way), command=command,
        # numbers of another tree mean other nodes
        ticked=asked.every("node") if asked.get("seen") == text.mark else [],
        exchange=exchange, warnings=warnings, is_items=schema.kind == "transactions",
    )  # fmt: skip


def change(asked: Asked) -> Response:
    """Groups, moves, renames, dissolves, or takes another taxonomy."""
    way, text, schema = asked.way, asked.text, asked.schema
    name, action = asked.get("column"), asked.get("action")
    column = _column(_columns(schema), name)
    if action == "import":
        changed = _import(text, column, asked.get("source"), way)
        if not asked.get("confirmed"):
            return show(asked, _compare(text, changed.schema(), column, asked.get("source")))
    else:
        branch = _tree(text, column)
        groups = {id(one) for one, _ in _nodes(branch) if one.below}
        _regroup(branch, action, asked)
        _prune(branch, groups)
        changed = _write(text, schema, column, branch)
    return save(asked, changed, "taxonomies", column=name)


def _columns(schema: Schema) -> dict[str, Categorical | Items]:
    if schema.kind == "transactions":
        return {_ITEMS: schema.transaction_items}
    return {
        one.name: one
        for one in schema.columns
        if isinstance(one, Categorical) and not one.boolean and one.bands is None
    }


def _column(columns: dict[str, Categorical | Items], name: str) -> Categorical | Items:
    if name not in columns:
        raise UsageError(
            "this column has no taxonomy.", hint="Choose a column of categories from the list."
        )
    return columns[name]


def _tree(text: SchemaText, column: Categorical | Items) -> Branch:
    """The tree of a column as it was written, groups of a single member included.

    One from a file is the finished one, without the leaf that rules for odd values add. Items that
    nobody has grouped stand in groups of neighbors, as methods see them.
    """
    written = _settings(text, column).get("taxonomy")
    if isinstance(written, Entries | ListNode):
        return branch_from_node(written, column.taxonomy.labels[0], Report())
    if isinstance(column, Items):
        tree = column.universe
        if isinstance(tree, Taxonomy):
            return branch_of(tree)
        return replace(branch_of(group(column.given, column.fan_out)), label=DEFAULT_ROOT)
    root = branch_of(column.taxonomy)
    last = root.below[-1] if root.below else None
    added = OTHER in (column.missing, column.outside)
    if added and last is not None and last.label == OTHER and not last.below:
        root.below.pop()
    return root


def _settings(text: SchemaText, column: Categorical | Items) -> dict[str, Node]:
    return text.items if isinstance(column, Items) else text.columns[column.name]


def _nodes(branch: Branch, parent: Branch | None = None) -> list[tuple[Branch, Branch | None]]:
    """All nodes with their parents, in the order of the tree."""
    below = [pair for child in branch.below for pair in _nodes(child, branch)]
    return [(branch, parent), *below]


def _number(branch: Branch, numbers: Iterator[int]) -> dict[str, Any]:
    """A tree as the page shows it, each node with its number in the order of the tree."""
    shown = {"number": next(numbers), "label": branch.label}
    return shown | {"below": [_number(child, numbers) for child in branch.below]}


def _take(root: Branch, asked: Asked) -> list[tuple[Branch, Branch]]:
    """The nodes that were ticked, with their parents; not those below others that were."""
    nodes = _nodes(root)
    chosen: list[tuple[Branch, Branch]] = []
    for number in [int(one) for one in asked.every("node") if one.isdigit()]:
        branch, parent = nodes[number] if number < len(nodes) else nodes[0]
        above = (one for group, _ in chosen for one, _ in _nodes(group))
        if parent is not None and not any(one is branch for one in above):
            chosen.append((branch, parent))
    if not chosen:
        raise UsageError("nothing was ticked.", hint="Tick values or groups in the tree first.")
    return chosen


def _take_out(branch: Branch, parent: Branch, put: Sequence[Branch] = ()) -> int:
    """Puts others in the place of a node, which is told."""
    at = next(n for n, one in enumerate(parent.below) if one is branch)
    parent.below[at : at + 1] = put
    return at


def _regroup(root: Branch, action: str, asked: Asked) -> None:
    """Does to what is ticked what a button says."""
    if action not in ("group", "move", "dissolve", "rename"):
        raise UsageError("nothing was asked for.", hint="Use one of the buttons below the tree.")
    chosen, label = _take(root, asked), asked.get("label").strip()
    branch, parent = chosen[0]
    if action == "group":
        if not label:
            raise UsageError("the group has no name.", hint="Write a name for it.")
        at = [_take_out(one, above) for one, above in chosen][0]
        parent.below.insert(at, Branch(label, None, [one for one, _ in chosen]))
    elif action == "move":
        number, nodes = asked.get("target"), _nodes(root)
        target = nodes[int(number)][0] if number.isdigit() and int(number) < len(nodes) else None
        if target is None or (target is not root and not target.below):
            hint = "Choose one from the list."
            raise UsageError("the group to move to was not chosen.", hint=hint)
        for branch, parent in chosen:
            if any(one is target for one, _ in _nodes(branch)):
                raise UsageError("a group cannot lie in itself.", hint="Choose another group.")
            _take_out(branch, parent)
            target.below.append(branch)
    elif action == "dissolve":
        for branch, parent in chosen:
            if branch.below:
                _take_out(branch, parent, branch.below)
    else:
        if len(chosen) > 1 or not branch.below or not label:
            raise UsageError(
                "one group is renamed at a time, and values keep the names they have in the data.",
                hint="Tick one group and write its new name.",
            )
        branch.label = label


def _prune(branch: Branch, groups: set[int]) -> None:
    """Takes out groups that have become empty: a group without members would be a value."""
    for child in branch.below:
        _prune(child, groups)
    branch.below[:] = [one for one in branch.below if one.below or id(one) not in groups]


def _write(
    text: SchemaText, schema: Schema, column: Categorical | Items, root: Branch
) -> SchemaText:
    """The schema with this tree in it, and with the rules that came with a file."""
    flat = "universe" if isinstance(column, Items) else "values"
    settings: dict[str, Node] = {} if root.label == DEFAULT_ROOT else {"root": Text(root.label)}
    any_group = any(one.below for one in root.below)
    settings["taxonomy" if any_group else flat] = from_python(to_nested(root))
    if isinstance(column, Categorical):
        described = schema.to_dict()["attributes"][column.name]
        settings |= {key: from_python(described[key]) for key in _RULES if key in described}
    elif not any_group:
        settings.pop("root", None)
    return _with_tree(text, column, settings)


def _with_tree(text: SchemaText, column: Categorical | Items, tree: dict[str, Node]) -> SchemaText:
    """The schema with these settings in the place of all that say how values are grouped."""
    gone = ("values", "universe", "fan_out", "taxonomy", "root", *_RULES)
    kept = {key: node for key, node in _settings(text, column).items() if key not in gone}
    if isinstance(column, Items):
        return text.put(tree | kept, "items")
    return text.put(kept | tree, "attributes", column.name)


def _import(text: SchemaText, column: Categorical | Items, source: str, way: Way) -> SchemaText:
    """The schema with a taxonomy from a file of the folder, or a list by name."""
    if source in built_in():
        written = source
    else:
        path = inside(way.root, source)
        if source not in _files(way):
            raise UsageError(
                "this file is not a public list: it counts as private data, or lies elsewhere.",
                hint="If it is public, put it into a folder `taxonomies` beside the schema.",
            )
        written = str(path.relative_to(way.path("schema").parent))
    return _with_tree(text, column, {"taxonomy": Text(written)})


def _compare(
    text: SchemaText, schema: Schema, column: Categorical | Items, source: str
) -> SimpleNamespace:
    """What becomes of the values that stand there now.

    Where the tree comes from, how many values it has, those that it has, too, under a name that it
    reads as the same, and those that are lost.
    """
    before = [one.label for one, _ in _nodes(_tree(text, column))[1:] if not one.below]
    if isinstance(column, Items):
        leaves: Sequence[str] = schema.transaction_items.labels
        matching = set(leaves)
    else:
        new = next(one for one in schema.columns if one.name == column.name)
        assert isinstance(new, Categorical)
        reading, leaves = new.reading, new.taxonomy.leaves
        forms = reading.forms(leaves)
        matching = {one for one in before
                    if (form := reading.form(one)) in forms or reading.pattern(form)}  # fmt: skip
    same, lost = ([one for one in before if (one in matching) is yes] for yes in (True, False))
    return SimpleNamespace(source=source, values=len(leaves), matching=same, lost=lost)


def _files(way: Way) -> list[str]:
    """Files beside the schema that could hold a taxonomy: public lists, never data."""
    beside, listing = way.path("schema").parent, look(way.root)
    no = {*listing.data, *listing.schemas, way.get("data"), way.get("schema")}
    names = []
    for folder in (beside, beside / "taxonomies"):
        for one in sorted(folder.iterdir()) if folder.is_dir() else []:
            with suppress(OSError, RuntimeError):
                real = one.resolve(strict=True)  # a link may lead to data
                fits = real.is_file() and real.is_relative_to(beside) and not is_data(real)
                fits = fits and str(real.relative_to(way.root)) not in no
                if fits and one.suffix.lower() in _FILES:
                    names.append(str(one.relative_to(way.root)))
    return names
