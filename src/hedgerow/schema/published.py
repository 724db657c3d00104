"""What a schema publishes by itself: every bound, value, group and rule, for whoever signs it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hedgerow.schema.attributes import Attribute, Numeric
from hedgerow.schema.oddities import odd_bound, odd_label
from hedgerow.schema.schema import Schema

__all__ = ["PublishedColumn", "PublishedText", "published_columns"]

_LIST = 500  # labels, from which a taxonomy is a code book that nobody typed off the data
_RARE = "rare: fewer than 10 have it"
_BOUND = "odd: nobody would choose such a bound"


@dataclass(frozen=True)
class PublishedText:
    """A text that every release repeats, and why a person should look at it twice; mostly not."""

    text: str
    mark: str = ""


@dataclass(frozen=True)
class PublishedColumn:
    """All that a schema publishes about a column."""

    name: str
    texts: tuple[PublishedText, ...]

    @property
    def marked(self) -> tuple[PublishedText, ...]:
        """What should be looked at twice."""
        return tuple(one for one in self.texts if one.mark)


def published_columns(
    schema: Schema, rare: Mapping[str, Sequence[str]] | None = None
) -> list[PublishedColumn]:
    """Everything that a release of this schema publishes before anything is counted.

    Args:
        schema: The schema.
        rare: Values by column that few people have, if the holder of the data knows them. Marks
            then tell of the data, and are NOT PRIVATE.

    Example:
        >>> values = ["a", "ask Ann in ward 7, please."]
        >>> columns = {"ward": {"type": "categorical", "values": values}}
        >>> schema = Schema.from_dict({"name": "x", "unit": "row", "attributes": columns})
        >>> [(one.text, one.mark) for one in published_columns(schema)[0].marked]
        [('ask Ann in ward 7, please.', 'odd: it reads like a sentence')]
    """
    seldom = rare or {}
    found = [_column(one, set(seldom.get(one.name, ()))) for one in schema.columns]
    if schema.kind == "transactions":
        items, few = schema.transaction_items, set(seldom.get("items", ()))
        labels = dict.fromkeys((*items.labels, *(items.taxonomy.labels if items.semantic else ())))
        found.append(PublishedColumn("items", _texts(list(labels), few)))
    hidden = (*schema.identifiers, *(() if schema.person is None else (schema.person.column,)))
    if hidden:
        told = tuple(PublishedText(name, _mark(name)) for name in hidden)
        found.append(PublishedColumn("names of columns that are left out", told))
    if schema.rules:
        rules = tuple(PublishedText(rule.text) for rule in schema.rules)
        found.append(PublishedColumn("rules between columns", rules))
    about = [PublishedText(f"{key}: {value}") for key, value in schema.metadata.describe().items()]
    return [*found, PublishedColumn("about the table", (PublishedText(schema.name), *about))]


def _column(attribute: Attribute, rare: set[str]) -> PublishedColumn:
    group = [PublishedText(f"group {attribute.group}")] if attribute.group else []
    if isinstance(attribute, Numeric):
        low, high = attribute.edge(0), attribute.edge(attribute.grid - 1)
        bounds = [(f"from {low}", low), (f"to {high}", high)]
        ends = [PublishedText(text, _BOUND if odd_bound(one) else "") for text, one in bounds]
        every = PublishedText(f"in steps of {float(attribute.step):g}")
        common = [PublishedText(f"common: {float(one):g}") for one in attribute.common]
        return PublishedColumn(attribute.name, (*ends, every, *common, *group))
    rules = [PublishedText(f"{rule} is read as {leaf}", _mark(rule))
             for rule, leaf in attribute.reading.rules]  # fmt: skip
    labels = _texts(attribute.taxonomy.labels[1:], rare)
    return PublishedColumn(attribute.name, (*labels, *rules, *group))


def _texts(labels: Sequence[str], rare: set[str]) -> tuple[PublishedText, ...]:
    marks = (_RARE if one in rare else _mark(one) if len(labels) < _LIST else "" for one in labels)
    return tuple(PublishedText(one, mark) for one, mark in zip(labels, marks, strict=True))


def _mark(label: str) -> str:
    why = odd_label(label)
    return "long" if why == "is long" else f"odd: it {why}" if why else ""
