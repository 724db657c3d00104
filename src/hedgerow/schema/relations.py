"""What is publicly known of columns together: tables that a release must hold, and what cannot be.

A rule such as `age < 15 implies education = none` is kept as conjunctions that no record meets,
here `age < 15 and education in {...all but none}`. A code of `other`, which stands for values that
are missing or outside the domain, is never forbidden by what a rule leaves out, only by name:
nobody knows what would stand there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeVar

from hedgerow.errors import UsageError
from hedgerow.schema.attributes import (
    OTHER,
    Attribute,
    Numeric,
    can_weigh,
    describe_weight,
    read_number,
)
from hedgerow.schema.conditions import Misread, Word, quote, read_names, split_rule
from hedgerow.schema.query import Intervals, Query, Vocabulary, complement, merge, overlap
from hedgerow.schema.yaml_text import Fault, label_fault
from hedgerow.suggestions import Checked

if TYPE_CHECKING:
    from hedgerow.arrays import Bools, Ints
    from hedgerow.schema.schema import Schema

CLASS = -1
"""The place of the class, beside those of attributes."""

MOST_TABLES = MOST_RULES = 100
_FEWEST, _MOST = 2, 3  # columns of a table
_MOST_RULED = 4  # columns of a rule
_MOST_TRIED = 2000  # partial records that are looked at for one that breaks no rule

_TABLE = (
    "Write, for example, illness by home; or [home town, illness] for names with blanks; or "
    "illness by home, weight 2."
)
_WEIGHT = re.compile(r"(.+?)([,;])?\s+weight:?\s+([\d./]+)\s*", re.IGNORECASE)
_BETWEEN = re.compile(r"\s*,\s*(?:and\s+)?|\s+(?:by|and)\s+")
_RULE = (
    "Write, for example, age < 15 implies education = none, or not (sex = male and pregnant = "
    "true). A value that holds such words needs quotes."
)

Complaint = tuple[int, str, str]
"""The place in a list, what is wrong there, and a hint."""

Made = TypeVar("Made")


@dataclass(frozen=True)
class NamedTable(Checked):
    """A table of counts that a release should hold.

    Args:
        places: Its columns: places among the schema's attributes, or `CLASS`.
        weight: How much it matters beside the others.
    """

    places: tuple[int, ...]
    weight: Fraction = Fraction(1)


@dataclass(frozen=True)
class Rule:
    """Something that cannot be.

    Args:
        text: The rule as it was written.
        impossible: Conjunctions that no record meets; their intervals end at whole codes.
    """

    text: str
    impossible: tuple[Query, ...]

    def breaks(self, columns: Sequence[Ints], classes: Ints | None) -> Bools:
        """Which rows break the rule.

        Args:
            columns: The codes of rows, one array for each attribute.
            classes: The codes of the class, if there is one.
        """
        import numpy as np  # slow to import, so only where there is data

        rows = len(columns[0])
        broken = np.zeros(rows, bool)
        for query in self.impossible:
            met = np.ones(rows, bool)
            for place, intervals in query.where:
                codes = columns[place]
                met &= np.any([(low <= codes) & (codes < high) for low, high in intervals], axis=0)
            if query.classes is not None:
                assert classes is not None, "the rule is about the class"
                met &= np.isin(classes, query.classes)
            broken |= met
        return broken


def read_tables(given: Sequence[Any], schema: Schema) -> tuple[list[NamedTable], list[Complaint]]:
    """Tables as a schema file names them, and what is wrong with the others.

    Args:
        given: Texts, lists of names, or mappings of `attributes` and `weight`.
        schema: What is known of the columns.

    Example:
        >>> from hedgerow import sample
        >>> read_tables(["sex smoker", ["readmitted", "sex"]], sample.schema())[0]
        [NamedTable(places=(1, 8), weight=Fraction(1, 1)),
        NamedTable(places=(-1, 1), weight=Fraction(1, 1))]
    """
    vocabulary = Vocabulary(schema)

    def read(one: Any) -> NamedTable:
        names, weight = one, Fraction(1)
        if isinstance(one, Mapping):
            if not {"attributes"} <= set(one) <= {"attributes", "weight"}:
                raise Misread("it is a mapping with other keys than attributes and weight", _TABLE)
            names, weight = one["attributes"], _weight(one.get("weight", 1))
        if isinstance(names, str):
            names, said = read_words(names, [column.name for column in schema.columns])
            weight = weight if said is None else _weight(said)
        if not isinstance(names, list | tuple) or not all(isinstance(n, str) for n in names):
            raise Misread("it is no text, no list of names and no mapping", _TABLE)
        places = [vocabulary.place(Word(name)) for name in names]
        if not _FEWEST <= len(places) <= _MOST or len(set(places)) < len(places):
            raise Misread(f"it does not name {_FEWEST} or {_MOST} different columns", _TABLE)
        for name, place in zip(names, places, strict=True):
            if schema.columns[place].size == 1:
                hint = "Leave it out: everybody has that value."
                raise Misread(f"{name!r} has a single value, so there is nothing to count", hint)
        last = len(schema.attributes)
        return NamedTable(tuple(CLASS if p == last else p for p in places), weight)

    return _read_each(given, MOST_TABLES, read, lambda table: frozenset(table.places))


def read_words(text: str, known: Collection[str]) -> tuple[list[str], str | None]:
    """The columns that a table is said to have in words, and its weight if one is said.

    A name may have other capitals, or blanks for underscores.

    Example:
        >>> read_words("illness by home town and sex, weight 2", ["Illness", "home_town", "sex"])
        (['Illness', 'home_town', 'sex'], '2')
        >>> read_words("home illness", ["home", "illness"])
        (['home', 'illness'], None)
        >>> read_words("illness by weight, weight 2", ["illness", "weight"])
        (['illness', 'weight'], '2')
    """
    weight = None
    match = _WEIGHT.fullmatch(text)
    if match and (match[2] or "weight" not in map(_plain, known)):
        text, weight = match[1], match[3]
    what, by, groups = text.partition(" by ")
    if not by or '"' in text or {"by", "and"} & {*known}:
        names = [name.text for name in read_names(text)]
        names = [name for name in names if name in known or name not in ("by", "and")]
    else:
        names = [what] if what.strip() in known else _BETWEEN.split(what)
        names += [groups] if groups.strip() in known else _BETWEEN.split(groups)
    return [_meant(name.strip(), known) for name in names], weight


def _meant(name: str, known: Collection[str]) -> str:
    meant = [one for one in known if _plain(one) == _plain(name)]
    return meant[0] if name not in known and len(meant) == 1 else name


def _plain(name: str) -> str:
    return re.sub(r"[\W_]+", " ", name).strip().casefold()


def read_rules(given: Sequence[Any], schema: Schema) -> tuple[list[Rule], list[Complaint]]:
    """Rules as a schema file states them, and what is wrong with the others.

    Args:
        given: Their texts.
        schema: What is known of the columns.

    Example:
        >>> from hedgerow.schema.schema import Schema
        >>> people = Schema.of({"name": "p", "unit": "row", "attributes": {
        ...     "age": {"type": "numeric", "low": 0, "high": 99, "step": 5},
        ...     "job": {"type": "categorical", "values": ["none", "clerk", "cook"]}}})
        >>> (rule,), _ = read_rules(["age < 15 implies job = none"], people)
        >>> rule.impossible[0].text(people)
        'age in [0, 14] and job in {clerk, cook}'
        >>> read_rules(["age < 17 implies job = none"], people)[1][0][1]
        "a bound on 'age' lies within a step of its grid"
    """
    vocabulary = Vocabulary(schema)

    def read(text: Any) -> Rule:
        if not isinstance(text, str) or label_fault(text) is not None:
            raise Misread("it is not a single line of text", _RULE)
        met, then = split_rule(text)
        left = _whole(vocabulary, met)
        right = None if then is None else _whole(vocabulary, then)
        if len({*left, *(right or ())}) > _MOST_RULED:
            hint = "Split it into several rules."
            raise Misread(f"it is about more than {_MOST_RULED} columns", hint)
        impossible = [left] if right is None else []
        for place, codes in (right or {}).items():
            rest = _all_but(codes, schema.columns[place])
            rest = overlap(left[place], rest) if place in left else rest
            impossible += [left | {place: rest}] if rest else []
        if not impossible:
            raise Misread("it forbids nothing", "Leave it out, or look for a mistake in it.")
        return Rule(text.strip(), tuple(map(vocabulary.conjunction, impossible)))

    rules, wrong = _read_each(given, MOST_RULES, read, lambda rule: frozenset(rule.impossible))
    if not wrong and rules and not _leaves_a_record(rules, schema):
        what = "together with the others it leaves nothing that a record could be"
        wrong.append((len(rules) - 1, what, "Look for rules that contradict each other."))
    return rules, wrong


def describe_tables(schema: Schema) -> list[Any]:
    """The tables of a schema as its file has them."""
    named = [([schema.columns[place].name for place in t.places], t.weight) for t in schema.tables]
    return [
        " ".join(map(quote, names)) if weight == 1
        else {"attributes": names, "weight": describe_weight(weight)}
        for names, weight in named
    ]  # fmt: skip


def relation_faults(schema: Schema) -> list[Fault]:
    """What is wrong with the tables and rules of a schema that was built in Python."""
    if schema.items is not None:
        what = "tables and rules are about columns, and the schema has items"
        return [Fault(what, "Leave them out.")] if schema.tables or schema.rules else []
    places = range(0 if schema.target is None else CLASS, len(schema.attributes))
    if any(not can_weigh(t.weight) or not {*t.places} <= {*places} for t in schema.tables):
        what = "tables have a place without a column, or a weight that a file cannot hold"
        return [Fault(what, "Make them with Schema.with_tables.")]
    faults = []
    tables = read_tables(describe_tables(schema), schema)
    rules = read_rules([rule.text for rule in schema.rules], schema)
    read: Any = (("tables", schema.tables, *tables), ("rules", schema.rules, *rules))
    for key, given, meant, wrong in read:
        faults += [Fault(f"{key}, number {n + 1}: {what}", hint) for n, what, hint in wrong]
        if not wrong and tuple(meant) != given:
            faults.append(Fault(f"{key} are not what they say", "Read them from a dictionary."))
    return faults


def end_codes(query: Query, place: int) -> Iterable[float]:
    """Where the intervals of a query begin and end on a column, if it is about that at all."""
    if place == CLASS:
        return [end for code in query.classes or () for end in (code, code + 1)]
    return [end for where, codes in query.where if where == place for pair in codes for end in pair]


def _read_each(
    given: Sequence[Any], most: int, read: Callable[[Any], Made], key: Callable[[Made], object]
) -> tuple[list[Made], list[Complaint]]:
    """What could be read, each once, and what is wrong with the rest."""
    if len(given) > most:
        return [], [(most, f"there are more than {most}", "Keep those that matter most.")]
    made: dict[object, Made] = {}
    wrong = []
    for number, one in enumerate(given):
        try:
            value = read(one)
        except (Misread, UsageError) as error:  # the latter with a line that shows where
            wrong.append((number, str(error.args[0]).partition("\n")[0], error.hint or ""))
            continue
        if key(value) in made:
            wrong.append((number, "the same is there already", "Keep one of the two."))
        made.setdefault(key(value), value)
    return list(made.values()), wrong


def _weight(given: Any) -> Fraction:
    number = read_number(str(given).strip())
    what = "its weight is not a number"
    if number is not None and number[1] != "date":
        if can_weigh(number[0]):
            return number[0]
        what += " from 0.01 to 100 with at most two decimals"
    raise Misread(what, "Write, for example, weight: 2.")


def _whole(vocabulary: Vocabulary, text: str) -> dict[int, Intervals]:
    """The codes that conditions allow on each column, which must begin and end at whole codes."""
    where = vocabulary.codes(text)
    for place, codes in where.items():
        attribute = vocabulary.schema.columns[place]
        for end in (end for pair in codes for end in pair):
            if end % 1 and isinstance(attribute, Numeric):
                below, above = attribute.edge(int(end)), attribute.edge(int(end) + 1)
                raise Misread(
                    f"a bound on {attribute.name!r} lies within a step of its grid",
                    f"Let it be at {below} or {above}: rows are counted by whole steps.",
                )
    return where


def _all_but(codes: Intervals, attribute: Attribute) -> Intervals:
    """The other codes, without that of `other`."""
    if OTHER in (attribute.missing, attribute.outside):
        if isinstance(attribute, Numeric):
            other = attribute.grid
        else:
            other = attribute.taxonomy.leaves.index(OTHER)
        codes = merge((*codes, (other, other + 1)))
    return complement(codes, attribute.size)


def _leaves_a_record(rules: Sequence[Rule], schema: Schema) -> bool:
    """Whether some record breaks no rule; a search that takes very long counts as one."""
    starts: dict[int, set[float]] = {}
    about: dict[int, list[dict[int, Intervals]]] = {}
    for query in (query for rule in rules for query in rule.impossible):
        classes = tuple((float(code), code + 1.0) for code in query.classes or ())
        allowed = dict(query.where) | ({CLASS: classes} if classes else {})
        if not allowed:  # everybody
            return False
        for place, codes in allowed.items():
            inside = {end for pair in codes for end in pair if end < schema.columns[place].size}
            starts.setdefault(place, {0.0}).update(inside)
            about.setdefault(place, []).append(allowed)
    tried = 0

    def is_free(record: dict[int, float], place: int) -> bool:
        """Whether no rule about a column forbids what is known of a record."""
        return not any(
            all(p in record and any(low <= record[p] < high for low, high in codes)
                for p, codes in allowed.items())
            for allowed in about[place]
        )  # fmt: skip

    def can_go_on(record: dict[int, float]) -> bool:
        nonlocal tried
        tried += 1
        ways = [
            [more for code in sorted(codes) if is_free(more := {**record, place: code}, place)]
            for place, codes in starts.items()
            if place not in record
        ]
        if not ways or tried > _MOST_TRIED:
            return True
        hardest = min(ways, key=len)
        return any(map(can_go_on, hardest))

    return can_go_on({})
