"""Differences between two schemas, what a schema publishes, and what to look at first."""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from hedgerow.schema.attributes import Attribute, Categorical, Numeric
from hedgerow.schema.schema import Schema
from hedgerow.schema.taxonomy import Taxonomy
from hedgerow.schema.taxonomy_files import branch_of, paths_of

# What is different between two schemas, such as last year's and this year's. All public.


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
    about, columns, items, tables, rules = (
        [one.pop(key, {}) for one in (before, after)]
        for key in ("metadata", "attributes", "items", "tables", "rules")
    )
    changes = [("schema", line) for line in _by_key(before, after)]
    for what, lists in (("table", tables), ("rule", rules)):
        olds, news = ({_text(one): "" for one in given} for given in lists)
        changes += [("schema", line) for line in _compare(what, olds, news)]
    changes += [("metadata", line) for line in _by_key(*about)]
    if old.items is not None and new.items is not None:
        lines = _by_key(*items) + _trees(old.items.taxonomy, new.items.taxonomy)
        return changes + [("items", line) for line in lines]
    if old.kind != new.kind:
        words = {"table": "a table", "transactions": "transactions"}
        line = f"it describes {words[new.kind]}, and before {words[old.kind]}"
        return [*changes, ("schema", line)]
    first, second = columns
    changes += [(name, "the column was removed") for name in first if name not in second]
    changes += [(name, "the column was added") for name in second if name not in first]
    both = [name for name in second if name in first]
    if [name for name in first if name in second] != both:
        changes.append(("schema", "the columns are in another order"))
    for name in both:
        changes += [(name, line) for line in _by_key(first[name], second[name])]
        one, other = (next((column for column in schema.columns if column.name == name), None)
                      for schema in (old, new))  # fmt: skip
        if isinstance(one, Categorical) and isinstance(other, Categorical) and one.bands is None:
            changes += [(name, line) for line in _trees(one.taxonomy, other.taxonomy)]
    return changes


def _by_key(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    lines = []
    for key in before | after:
        one, other = before.get(key), after.get(key)
        if key == "recode":
            lines += _compare("rule", one or {}, other or {}, "led to another value")
        elif key not in _TREE and one != other:
            was, now = ("not given" if value is None else repr(value) for value in (one, other))
            lines.append(f"{key} is {now}, and was {was}")
    return lines


def _text(given: Any) -> str:
    """A rule, or a table, in words."""
    if isinstance(given, str):
        return given
    return f"{' '.join(given['attributes'])} (weight {given['weight']})"


def _compare(
    what: str, before: Mapping[str, Any], after: Mapping[str, Any], moved: str = "", *more: str
) -> list[str]:
    """What is different between two lists of things, each with what it stands for."""
    lines = [
        *_some([one for one in before if one not in after], what, "removed"),
        *_some([one for one in after if one not in before], what, "added"),
        *_some([one for one in after if one in before and after[one] != before[one]], what, moved),
        *more,
    ]
    return lines or ([] if [*before] == [*after] else [f"the {what}s are in another order"])


def _trees(before: Taxonomy, after: Taxonomy) -> list[str]:
    first, second = before.labels[0], after.labels[0]
    root = [] if first == second else [f"root is {second!r}, and was {first!r}"]
    old, new = (
        {path[0]: path[1:-1] for path in paths_of(branch_of(one))} for one in (before, after)
    )
    return _compare("value", old, new, "put into other groups", *root)


def _some(names: Sequence[str], what: str, done: str) -> list[str]:
    if not names:
        return []
    listing = ", ".join(map(repr, names[:_SHOWN])) + (", ..." if names[_SHOWN:] else "")
    number, verb = (f"1 {what}", "was") if len(names) == 1 else (f"{len(names)} {what}s", "were")
    return [f"{number} {verb} {done}: {listing}"]


# Values and bounds of a schema at which a person should look before they are published.
#
# A schema is published with every release. What looks like somebody's own words, like a way to
# reach them, or like a number that nobody would choose as a bound, was more likely read off data
# than written from a form, a law or a code book.


_LONGEST, _MOST_WORDS = 60, 8  # characters and words of a value that is no free text
_SENTENCE = re.compile(r"\S+\s+\S+\s.*[.!?]|.*[^\W\d_]{3}[.!?]\s+\S.*", re.DOTALL)
_ADDRESS = re.compile(r"[^@\s]+@[^@\s]+\.\w")
_LINK = re.compile(r"https?://|www\.\w", re.IGNORECASE)
_BAND = re.compile(r"\W*\d[\d.,' ]*(?:\W+|\s*to\s*)?[\d.,' ]*\W*")
_PHONE = re.compile(r"(?<!\d)[+(0]\d*[\d ()/-]{6,}\d")
_NUMBER = re.compile(r"\d{7}")
_DIGITS = 3  # significant digits of a bound that somebody would choose
_YEARS = range(1850, 2151)


def odd_label(label: str) -> str:
    """Why a value may be somebody's own words, as the end of "it ..."; nothing if it may not.

    Example:
        >>> odd_label("was lonely after the divorce."), odd_label("ann@example.org")
        ('reads like a sentence', 'holds an e-mail address')
        >>> [odd_label(one) for one in ("never married", "[1000000, 2000000)", "St. Anne")]
        ['', '', '']
    """
    if _ADDRESS.search(label):
        return "holds an e-mail address"
    if _LINK.search(label):
        return "holds a link"
    if len(label) > _LONGEST:
        return "is long"
    if len(label.split()) > _MOST_WORDS or _SENTENCE.fullmatch(label):
        return "reads like a sentence"
    if _BAND.fullmatch(label) and not _PHONE.fullmatch(label):
        return ""
    if _PHONE.search(label):
        return "holds what may be a phone number"
    return "holds a long number" if _NUMBER.search(label) else ""


def odd_bound(bound: int | Decimal | datetime.date) -> bool:
    """Whether a bound looks as if it was read off data: nobody would choose such a number.

    Example:
        >>> [odd_bound(one) for one in (0, 120, 99_999, 2024, 48_731, Decimal("12.75"))]
        [False, False, False, False, True, True]
        >>> odd_bound(datetime.date(1937, 3, 14)), odd_bound(datetime.date(1930, 12, 31))
        (True, False)
    """
    if isinstance(bound, datetime.date):
        return bound.day != 1 and (bound + datetime.timedelta(days=1)).day != 1
    digits = f"{abs(bound):f}".replace(".", "").strip("0") if bound else ""
    nines = set(digits) <= {"9"}
    return len(digits) > _DIGITS and not nines and bound not in _YEARS


# What a schema publishes by itself: every bound, value, group and rule, for whoever signs it.


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
    columns = [_column(one, set(seldom.get(one.name, ()))) for one in schema.columns]
    if schema.kind == "transactions":
        items, few = schema.transaction_items, set(seldom.get("items", ()))
        labels = dict.fromkeys((*items.labels, *(items.taxonomy.labels if items.semantic else ())))
        columns.append(PublishedColumn("items", _texts(list(labels), few)))
    hidden = (*schema.identifiers, *(() if schema.person is None else (schema.person.column,)))
    about = [f"{key}: {value}" for key, value in schema.metadata.describe().items()]
    others = {
        "names of columns that are left out": [PublishedText(one, _mark(one)) for one in hidden],
        "rules between columns": [PublishedText(rule.text) for rule in schema.rules],
        "about the table": [PublishedText(one) for one in (schema.name, *about)],
    }
    return columns + [PublishedColumn(name, tuple(some)) for name, some in others.items() if some]


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
