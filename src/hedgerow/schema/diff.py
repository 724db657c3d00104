"""What is different between two schemas, such as last year's and this year's. All public."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hedgerow.schema.attributes import Categorical
from hedgerow.schema.schema import Schema
from hedgerow.schema.taxonomies.taxonomy import Taxonomy

__all__ = ["schema_diff"]

_SHOWN = 5
_TREE = ("values", "taxonomy", "root", "universe")


def schema_diff(old: Schema, new: Schema) -> list[tuple[str, str]]:
    """The differences: what each is about, and a sentence.

    Args:
        old: The first schema.
        new: The second.

    Example:
        >>> sex = {"type": "categorical", "values": ["f", "m"]}
        >>> old = Schema.from_dict({"name": "t", "attributes": {"sex": sex}})
        >>> new = {"name": "t", "attributes": {"sex": sex | {"values": ["f", "m", "x"]}}}
        >>> schema_diff(old, Schema.from_dict(new))
        [('sex', "1 value was added: 'x'")]
    """
    before, after = old.to_dict(), new.to_dict()
    found = [
        ("schema", sentence)
        for key in _keys(before, after)
        if key not in ("attributes", "items", "metadata", "tables", "rules")
        for sentence in _value(key, before.get(key), after.get(key))
    ]
    for what in ("table", "rule"):
        lists = before.get(f"{what}s", []), after.get(f"{what}s", [])
        found += [("schema", line) for line in _listed(what, *lists)]
    told, tells = before.get("metadata", {}), after.get("metadata", {})
    for key in _keys(told, tells):
        found += [("metadata", sentence) for sentence in _value(key, told.get(key), tells.get(key))]
    if old.items is not None and new.items is not None:
        found += [("items", line) for line in _keyed(before["items"], after["items"])]
        trees = old.items.taxonomy, new.items.taxonomy
        return found + [("items", line) for line in _trees(*trees)]
    if old.kind != new.kind:
        words = {"table": "a table", "transactions": "transactions"}
        line = f"it describes {words[new.kind]}, and before {words[old.kind]}"
        return [*found, ("schema", line)]
    first, second = before["attributes"], after["attributes"]
    for name in [name for name in first if name not in second]:
        found.append((name, "the column was removed"))
    for name in [name for name in second if name not in first]:
        found.append((name, "the column was added"))
    both = [name for name in second if name in first]
    if [name for name in first if name in second] != both:
        found.append(("schema", "the columns are in another order"))
    olds = {column.name: column for column in old.columns}
    news = {column.name: column for column in new.columns}
    for name in both:
        found += [(name, line) for line in _keyed(first[name], second[name])]
        one, other = olds.get(name), news.get(name)
        if isinstance(one, Categorical) and isinstance(other, Categorical) and one.bands is None:
            found += [(name, line) for line in _trees(one.taxonomy, other.taxonomy)]
    return found


def _keys(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    return [*before, *(key for key in after if key not in before)]


def _keyed(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    lines = []
    for key in _keys(before, after):
        if key == "recode":
            lines += _rules(before.get(key, {}), after.get(key, {}))
        elif key not in _TREE:
            lines += _value(key, before.get(key), after.get(key))
    return lines


def _value(key: str, before: Any, after: Any) -> list[str]:
    if before == after:
        return []
    return [f"{key} is {_shown(after)}, and was {_shown(before)}"]


def _shown(value: Any) -> str:
    return "not given" if value is None else repr(value)


def _listed(what: str, before: Sequence[Any], after: Sequence[Any]) -> list[str]:
    """What is different between two lists of tables or of rules."""
    first, second = (
        [one if isinstance(one, str) else f"{' '.join(one['attributes'])} (weight {one['weight']})"
         for one in given]
        for given in (before, after)
    )  # fmt: skip
    lines = [
        *_some([one for one in first if one not in second], what, "removed"),
        *_some([one for one in second if one not in first], what, "added"),
    ]
    return lines or ([] if first == second else [f"the {what}s are in another order"])


def _rules(before: dict[str, str], after: dict[str, str]) -> list[str]:
    gone = [rule for rule in before if rule not in after]
    added = [rule for rule in after if rule not in before]
    moved = [rule for rule in after if rule in before and after[rule] != before[rule]]
    lines = [
        *_some(gone, "rule", "removed"),
        *_some(added, "rule", "added"),
        *_some(moved, "rule", "led to another value"),
    ]
    if not lines and list(before) != list(after):
        lines = ["the rules are in another order"]
    return lines


def _trees(before: Taxonomy, after: Taxonomy) -> list[str]:
    if before == after:
        return []
    first, second = _above(before), _above(after)
    moved = [leaf for leaf in second if leaf in first and first[leaf] != second[leaf]]
    lines = [
        *_some([leaf for leaf in first if leaf not in second], "value", "removed"),
        *_some([leaf for leaf in second if leaf not in first], "value", "added"),
        *_some(moved, "value", "put into other groups"),
    ]
    if before.labels[0] != after.labels[0]:
        lines.append(f"root is {after.labels[0]!r}, and was {before.labels[0]!r}")
    return lines or ["the values are in another order"]


def _above(taxonomy: Taxonomy) -> dict[str, tuple[str, ...]]:
    """The groups above each leaf, without the root."""
    ways: list[tuple[str, ...]] = []
    for label, parent in zip(taxonomy.labels, taxonomy.parents, strict=True):
        ways.append((*ways[parent], label) if parent > 0 else (label,) if parent == 0 else ())
    return {
        label: way[:-1]
        for label, way, below in zip(taxonomy.labels, ways, taxonomy.children, strict=True)
        if not below
    }


def _some(names: Sequence[str], what: str, done: str) -> list[str]:
    if not names:
        return []
    told = ", ".join(map(repr, names[:_SHOWN])) + (", ..." if names[_SHOWN:] else "")
    number, verb = (f"1 {what}", "was") if len(names) == 1 else (f"{len(names)} {what}s", "were")
    return [f"{number} {verb} {done}: {told}"]
