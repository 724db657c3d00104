"""Count queries in the schema's words: who should be counted, in public vocabulary alone.

The form is described in `docs/queries.md`, its grammar in `conditions.py`.
"""

from __future__ import annotations

import datetime
import math
import numbers
import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hedgerow.errors import UsageError
from hedgerow.schema.attributes import OTHER, Attribute, Categorical, Numeric, read_number
from hedgerow.schema.conditions import (
    FORM,
    Condition,
    Item,
    Misread,
    Span,
    Word,
    no_logic,
    quote,
    read_condition,
    split,
    standing_alone,
    suggest,
)
from hedgerow.suggestions import answer_mistakes

if TYPE_CHECKING:
    from hedgerow.schema.schema import Schema

_AND = " and "
_NESTED = 20
_LONGEST = 200_000  # characters; the time to read a query may grow with their square
_MOST_BITS = 1000  # Python itself refuses to write out very long numbers
_SHORTER = "Ask for a number within the bounds of the attribute."
_SHOWN = 60  # characters of a query that a message shows on either side of a mistake


# Conditions on one attribute, to and from intervals of codes.
#
# What a number means depends on how the attribute is written. Whole numbers and dates mean
# themselves, whatever the step: [30, 50] ends before 51. Decimals are known only as the schema
# rounds them, down to their step: with a step of 0.5 the number 2.5 is everyone from 2.5 up to, not
# including, 3.0, and `<= 2.7` includes just the same people as `<= 2.5`.
#
# Either way an attribute has a first value, `low`, and further ones at equal distances. They are
# spread evenly over the codes, of which each holds as many as fit into a step; the last code ends
# at `high` and may hold fewer.


Intervals = tuple[tuple[float, float], ...]

_TRUTHS = {
    **dict.fromkeys(("true", "t", "yes", "y", "1"), "true"),
    **dict.fromkeys(("false", "f", "no", "n", "0"), "false"),
}
_RANGE = re.compile(r"(-?[\d.]+)\s*(?:-|–|to|\.\.)\s*(-?[\d.]+)")  # as people write one


def merge(intervals: Iterable[tuple[float, float]]) -> Intervals:
    """The same codes as disjoint intervals in increasing order that do not touch.

    Example:
        >>> merge([(4, 6), (0, 1), (1, 2), (5, 7)])
        ((0, 2), (4, 7))
    """
    merged: list[tuple[float, float]] = []
    for low, high in sorted(intervals):
        if merged and low <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
        else:
            merged.append((low, high))
    return tuple(merged)


def overlap(one: Intervals, other: Intervals) -> Intervals:
    """The codes that are in both.

    Example:
        >>> overlap(((0, 4), (6, 9)), ((3, 7),))
        ((3, 4), (6, 7))
    """
    both = ((max(a, c), min(b, d)) for a, b in one for c, d in other)
    return tuple((low, high) for low, high in both if low < high)


def complement(some: Intervals, size: float) -> Intervals:
    """The codes below a size that are not among some.

    Example:
        >>> complement(((0, 2), (4, 5)), 7)
        ((2, 4), (5, 7))
    """
    ends = [0, *(end for interval in some for end in interval), size]
    return tuple((low, high) for low, high in zip(ends[::2], ends[1::2], strict=True) if low < high)


@dataclass(frozen=True)
class Labels:
    """Conditions on a categorical attribute: values and groups of its taxonomy."""

    attribute: Categorical

    def words(self, intervals: Intervals) -> str:
        """The condition in canonical words: as few labels as can be, largest groups first."""
        labels = []
        for low, high in intervals:
            while low < high:
                spans = self._starting.get(low, ())
                reach = next((span for span in spans if span[0] <= high), None)
                if reach is None:
                    raise _unsayable(self.attribute)
                low = reach[0]
                labels.append(quote(reach[1]))
        name = quote(self.attribute.name)
        if len(labels) > 1:
            return f"{name} in {{{', '.join(labels)}}}"
        ((low, high),) = intervals
        return f"{name} {'=' if high - low == 1 else 'in'} {labels[0]}"

    @cached_property
    def _spans(self) -> dict[str, tuple[int, int]]:
        taxonomy = self.attribute.taxonomy
        # Two spellings of one letter look the same to whoever types a query.
        composed = (unicodedata.normalize("NFC", label) for label in taxonomy.labels)
        spans = dict(zip(composed, taxonomy.spans, strict=True))
        return spans | dict(zip(taxonomy.labels, taxonomy.spans, strict=True))

    @cached_property
    def _starting(self) -> dict[float, list[tuple[int, str]]]:
        """The ends and labels of the nodes that begin at a code, largest first."""
        starts: dict[float, list[tuple[int, str]]] = {}
        taxonomy = self.attribute.taxonomy
        for label, (low, high) in zip(taxonomy.labels, taxonomy.spans, strict=True):
            starts.setdefault(low, []).append((high, label))  # preorder: larger nodes come first
        return starts

    def interval(self, item: Item) -> tuple[float, float]:
        """The codes of a value or group.

        Raises:
            Misread: If the label is unknown, or an interval is asked for.
        """
        name = self.attribute.name
        ordered = isinstance(item, Span) or read_number(item.text) is not None
        if self.attribute.bands is not None and ordered:
            return self._in_bands(self.attribute.bands, item)
        if isinstance(item, Span):
            some = ", ".join(map(quote, self.attribute.taxonomy.leaves[:2]))
            what = f"{name!r} has values and groups, not numbers, so it cannot lie in an interval"
            hint = f"Name values or groups, such as {quote(name)} in {{{some}}}."
            raise Misread(what, hint, item)
        spans = self._spans
        span = spans.get(item.text) or spans.get(unicodedata.normalize("NFC", item.text))
        if span is None and self.attribute.boolean:
            span = spans.get(_TRUTHS.get(item.text.casefold(), ""))
        if span is None and self.attribute.reading:
            span = self._as_in_data(item.text.strip())
        if span is None:
            hint = suggest(item.text, self.attribute.taxonomy.labels, "Its values and groups")
            raise Misread(f"{name!r} has no value or group {item.text!r}", hint, item)
        return float(span[0]), float(span[1])

    def _as_in_data(self, text: str) -> tuple[int, int] | None:
        """What data would become that is written like this, or a group but for what is ignored.

        A rule for all others is left out: any slip of the pen would be one of those.
        """
        reading = self.attribute.reading
        form = reading.form(text)
        forms, alike = self._forms
        leaf = forms.get(form) or reading.pattern(form)
        return self._spans.get(leaf or alike.get(reading.alike(text), ""))

    @cached_property
    def _forms(self) -> tuple[dict[str, str], dict[str, str]]:
        """The leaf of each form in data, and the label of each without what is ignored."""
        reading, taxonomy = self.attribute.reading, self.attribute.taxonomy
        codes = reading.forms(taxonomy.leaves)
        forms = {form: taxonomy.leaves[code] for form, code in codes.items()}
        return forms, {reading.alike(label): label for label in reversed(taxonomy.labels)}

    def _in_bands(self, grid: Numeric, item: Item) -> tuple[float, float]:
        """The bands of a class of numbers that an interval consists of."""
        span = Numbers(grid).interval(item)
        edges = [*self.attribute.edges, grid.grid]
        if not set(span) <= set(edges):
            starts = ", ".join(str(grid.edge(code)) for code in edges[:-1])
            what = f"{self.attribute.name!r} was counted in bands, and this ends inside one"
            hint = f"Its bands begin at {starts}: write, such as, {self.attribute.name} >= "
            raise Misread(what, f"{hint}{grid.edge(edges[-2])}.", item)
        low, high = (float(edges.index(int(code))) for code in span)
        return low, high


@dataclass
class Numbers:
    """Conditions on a numeric attribute: values, intervals, and "other" if it has that.

    Example:
        >>> weight = Numeric("weight", low=Fraction(0), high=Fraction(2500), step=Fraction(1000),
        ...     kind="integer")
        >>> Numbers(weight).interval(Span(Word("500"), Word("1999"), True, True))
        (0.5, 2.0)
        >>> Numbers(weight).words(((0.5, 2.0),))
        'weight in [500, 1999]'
    """

    attribute: Numeric

    def __post_init__(self) -> None:
        attribute = self.attribute
        # the distance of values; how many there are; how many a code holds, unless it is the last;
        # and how many all codes but the last hold
        self.unit = attribute.step if attribute.kind == "decimal" else Fraction(1)
        self.values = int((attribute.high - attribute.low) / self.unit) + 1
        self.per_code = int(attribute.step / self.unit)
        self.before_last = (attribute.grid - 1) * self.per_code
        self.places: dict[str, Fraction] = {}  # of bounds that were read

    def words(self, intervals: Intervals) -> str:
        """The condition in canonical words."""
        grid = self.attribute.grid
        items = [self._span_words(low, min(high, grid)) for low, high in intervals if low < grid]
        if intervals[-1][1] > grid:
            items.append(OTHER)
        name = quote(self.attribute.name)
        if len(items) > 1:
            return f"{name} in {{{', '.join(items)}}}"
        return f"{name} {'in' if items[0][0] == '[' else '='} {items[0]}"

    def position(self, edge: Fraction) -> float:
        """Where values begin that lie so many steps above the lowest, in code units."""
        return int(edge) if edge.denominator == 1 else self._position(int(edge * self.per_code))

    def _position(self, place: int) -> float:
        """Where a value begins, in code units; values are numbered from 0."""
        if place <= self.before_last:
            return place / self.per_code
        room = self.values - self.before_last
        return ((self.attribute.grid - 1) * room + place - self.before_last) / room

    def _place(self, position: float) -> int:
        """The value that begins at a position."""
        whole = self.attribute.grid - 1
        if position <= whole:
            place = round(Fraction(position) * self.per_code)
        else:
            room = self.values - self.before_last
            place = self.before_last + round((Fraction(position) - whole) * room)
        if self._position(place) != position:
            raise _unsayable(self.attribute)
        return place

    def interval(self, item: Item) -> tuple[float, float]:
        """The codes of a value or interval; what lies beyond the bounds is cut off.

        Raises:
            Misread: If it is no number, holds no value or lies outside the bounds.
        """
        grid = self.attribute.grid
        if isinstance(item, Word):
            if item.text == OTHER and self.attribute.has_other:
                return float(grid), float(grid + 1)
            item = Span(item, item, True, True, item.start, item.end)
        first, beyond = self._places(item)
        first, beyond = max(first, 0), min(beyond, self.values)
        if first >= beyond:
            clips = self.attribute.outside == "clip"
            hint = "Values beyond the bounds were counted as the nearer bound."
            raise Misread(
                f"nothing of this lies within the bounds of {self.attribute.name!r}, {self._ends}",
                hint if clips else "Ask for values within the bounds.",
                item,
            )
        low, high = self._position(first), self._position(beyond)
        # With billions of values in a code two of them may share a position.
        return low, max(high, math.nextafter(low, math.inf))

    def _places(self, span: Span) -> tuple[int, int]:
        """The first value of an interval, and the first beyond it."""
        first, beyond = 0, self.values
        low, high = (None if end is None else self._read(end) for end in (span.low, span.high))
        if low is not None:
            first = math.ceil(low) if span.low_closed else math.floor(low) + 1
        if high is not None:
            beyond = math.floor(high) + 1 if span.high_closed else math.ceil(high)
        if low is None or high is None or first < beyond:
            return first, beyond
        if low > high:
            what, hint = "the interval runs backwards", "Write the smaller bound first."
        elif low == high and span.low_closed and span.high_closed:
            what = f"{self.attribute.name!r} has no such value"
            hint = f"Its values are {self._show(0)}, {self._show(1)} and so on."
        else:
            what = f"the interval holds no value of {self.attribute.name!r}"
            hint = "A square bracket includes its bound, a round one does not."
        raise Misread(what, hint, span)

    def _read(self, word: Word) -> Fraction:
        """A bound, as a place among the values; between two of them if it is none itself."""
        place = self.places.get(word.text)
        if place is not None:
            return place
        dated = self.attribute.kind == "date"
        number = read_number(word.text)
        if number is None or (number[1] == "date") != dated:
            wanted = "a date such as 2024-01-31" if dated else "a number"
            other = f", or {OTHER}" if self.attribute.has_other else ""
            hint = f"Write {wanted}, from {self._ends}{other}."
            if ends := _RANGE.fullmatch(word.text):
                hint = f"Write {quote(self.attribute.name)} in [{ends[1]}, {ends[2]}]."
            what = f"{self.attribute.name!r} needs {wanted}, which {word.text!r} is not"
            raise Misread(what, hint, word)
        place = (number[0] - self.attribute.low) / self.unit
        self.places[word.text] = place
        return place

    def _span_words(self, low: float, high: float) -> str:
        first, beyond = self._place(low), self._place(high)
        start, last = self._show(first), self._show(beyond - 1)
        if self.attribute.kind == "decimal":
            if beyond < self.values:
                return f"[{start}, {self._show(beyond)})"
            last = self._write(self.attribute.high)
        return last if start == last else f"[{start}, {last}]"

    def _show(self, place: int) -> str:
        return self._write(self.attribute.low + place * self.unit)

    @property
    def _ends(self) -> str:
        return f"{self._show(0)} to {self._write(self.attribute.high)}"

    def _write(self, value: Fraction) -> str:
        return str(self.attribute.write(value)).removesuffix(".0")


def _unsayable(attribute: Attribute) -> Misread:
    return Misread(
        f"the codes asked of {attribute.name!r} are no whole values, so no words say them",
        "Make queries with Query.parse or Query.of.",
    )


# Queries, of several conditions.


@dataclass(frozen=True)
class Query:
    """A conjunction of conditions on predictors and the class.

    Args:
        where: For each constrained predictor, in increasing order, its place among the schema's
            attributes and the codes that count: disjoint, increasing, half-open intervals in code
            units that do not touch. Predictors that are not constrained are omitted.
        classes: The class codes that count, increasing; None for all.

    Example:
        >>> from hedgerow.schema import Schema
        >>> schema = Schema.from_dict({"name": "people", "unit": "row", "attributes": {
        ...     "age": {"type": "numeric", "low": 17, "high": 90},
        ...     "job": {"type": "categorical",
        ...             "taxonomy": {"Professional": ["Engineer", "Lawyer"], "Artist": None}},
        ...     "salary": {"type": "categorical", "values": ["<=50K", ">50K"], "role": "class"}}})
        >>> query = Query.parse("age in [30, 50] and job in Professional and salary = '>50K'",
        ...                     schema)
        >>> query
        Query(where=((0, ((13.0, 34.0),)), (1, ((0.0, 2.0),))), classes=(1,))
        >>> query.text(schema)
        'age in [30, 50] and job in Professional and salary = ">50K"'
        >>> Query.of({"age": (30, 50), "job": "Professional", "salary": ">50K"}, schema) == query
        True
    """

    where: tuple[tuple[int, Intervals], ...] = ()
    classes: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        """Refuses words, which need a schema to be understood."""
        if isinstance(self.where, str | Mapping):
            raise UsageError(
                "a query in words needs a schema to be understood.",
                hint="Write Query.parse(text, schema) or Query.of(mapping, schema); release.count "
                "takes texts and mappings as they are.",
            )

    @staticmethod
    @answer_mistakes
    def parse(text: str, schema: Schema) -> Query:
        """Reads a query from text.

        Args:
            text: Conditions joined by `and`; nothing, or `everybody`, for the whole table.
            schema: The public description of the table.

        Raises:
            UsageError: With the place of what is wrong.

        Example:
            >>> from hedgerow.schema import Schema
            >>> schema = Schema.from_dict({"name": "s", "unit": "row", "attributes": {
            ...     "age": {"type": "numeric", "low": 0, "high": 99}}})
            >>> Query.parse("age in [30, 50]", schema)
            Query(where=((0, ((30.0, 51.0),)),), classes=None)
        """
        return Vocabulary(schema).parse(text)

    @staticmethod
    @answer_mistakes
    def of(conditions: Mapping[str, Any], schema: Schema) -> Query:
        """Makes a query from a mapping of attributes to what their values may be.

        Args:
            conditions: A numeric attribute takes a number or date, a pair `(30, 50)` as a closed
                interval (None or an infinite bound leaves that side open), a `range`, or a list or
                set of these. A categorical attribute, or the class, takes a label, a truth
                value, or a list, tuple or set of these. Numbers, dates and arrays may be those of
                NumPy; an array is taken as a list.
            schema: The public description of the table.

        Raises:
            UsageError: With the attribute that is wrong.

        Example:
            >>> from hedgerow.schema import Schema
            >>> schema = Schema.from_dict({"name": "s", "unit": "row", "attributes": {
            ...     "age": {"type": "numeric", "low": 0, "high": 99}}})
            >>> Query.of({"age": (30, 50)}, schema) == Query.parse("age in [30, 50]", schema)
            True
        """
        return Vocabulary(schema).of(conditions)

    def text(self, schema: Schema) -> str:
        """The query in canonical words, which parse back to the same query.

        Raises:
            UsageError: If it was not made by `parse` or `of` and has no words in this schema.

        Example:
            >>> from hedgerow.schema import Schema
            >>> schema = Schema.from_dict({"name": "s", "unit": "row", "attributes": {
            ...     "age": {"type": "numeric", "low": 0, "high": 99}}})
            >>> Query.of({"age": (30, None)}, schema).text(schema)
            'age in [30, 99]'
        """
        return Vocabulary(schema).text(self)


class Vocabulary:
    """Reads and writes many queries on one schema; remembers each condition it has met."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        columns = schema.columns
        self._columns = [Numbers(a) if isinstance(a, Numeric) else Labels(a) for a in columns]
        self._places = {attribute.name: place for place, attribute in enumerate(columns)}
        self._truths = standing_alone(
            one.name for one in columns if isinstance(one, Categorical) and one.boolean
        )
        self._read: dict[str, tuple[int, Intervals]] = {}
        self._written: dict[tuple[int, Intervals], str] = {}

    def parse(self, text: str) -> Query:
        """Reads a query; see `Query.parse`."""
        return self.conjunction(self.codes(text))

    def codes(self, text: str) -> dict[int, Intervals]:
        """Reads a query as the codes that it allows on columns, by their places."""
        if len(text) > _LONGEST:
            hint = "Ask for groups instead of single values, or ask several shorter queries."
            raise UsageError(f"a query has more than {_LONGEST} characters", hint)
        where: dict[int, Intervals] = {}
        for start, part in self._met(text) or split(text, self._truths):
            try:
                if part not in self._read:
                    self._read[part] = self._resolve(read_condition(part))
                self._add(where, *self._read[part], len(part))
            except Misread as error:
                error.hint = self._unquote(part) or error.hint
                raise _pointing(error, text, start) from None
        return where

    def of(self, conditions: Mapping[str, Any]) -> Query:
        """Makes a query from a mapping; see `Query.of`."""
        where: dict[int, Intervals] = {}
        for name, wanted in conditions.items():
            if not isinstance(name, str):
                raise UsageError(
                    f"an attribute is named by text, not by type {type(name).__name__}",
                    'Write the name in quotes, such as {"age": (30, 50)}.',
                )
            try:
                place = self.place(Word(name))
                column = self._columns[place]
                numeric = isinstance(column, Numbers) or column.attribute.bands is not None
                items = tuple(_items(wanted, numeric, name))
                if not items:
                    what = f"{name!r} is given no value at all"
                    raise Misread(what, "Give a value, or leave it out.")
                self._add(where, *self._resolve(Condition(Word(name), items)))
            except Misread as error:
                message = error.what if repr(name) in error.what else f"{name!r}: {error.what}"
                raise UsageError(message, hint=error.hint) from None
        return self.conjunction(where)

    def text(self, query: Query) -> str:
        """Writes a query; see `Query.text`."""
        parts = list(query.where)
        if query.classes is not None:
            codes = merge((code, code + 1) for code in query.classes)
            parts.append((len(self.schema.attributes), codes))
        for part in parts:
            if part not in self._written:
                try:
                    self._written[part] = self._columns[part[0]].words(part[1])
                except Misread as error:
                    raise UsageError(error.what, hint=error.hint) from None
        return " and ".join(self._written[part] for part in parts) or "everybody"

    def _met(self, text: str) -> list[tuple[int, str]]:
        """What `split` would give, if all conditions were met before; else nothing.

        A condition that was read is whole: no quote or bracket is open where it ends, and it
        begins with a name and an operator. So an "and" between two such is one that joins them.
        """
        parts = []
        start, part = 0, ""
        for piece in text.split(_AND):
            part += piece
            if part in self._read:
                parts.append((start, part))
                start, part = start + len(part) + len(_AND), ""
            else:
                part += _AND  # perhaps a label that holds one
        return [] if part else parts

    def _unquote(self, part: str) -> str | None:
        """A hint where a name needs quotes and has none."""
        names = [name for name in self._places if name in part and quote(name) not in part]
        return f"The name needs quotes: {quote(max(names, key=len))}." if names else None

    def _resolve(self, condition: Condition) -> tuple[int, Intervals]:
        name, items, negated = condition
        place = self.place(name)
        column = self._columns[place]
        if not items and not (isinstance(column, Labels) and column.attribute.boolean):
            what = "the condition ends where 'in', '=' or a comparison after "
            end = Word("", name.end, name.end + 1)
            raise Misread(f"{what}{name.text!r} should stand", FORM, end)
        codes = merge(map(column.interval, items or (Word("true"),)))
        if negated:
            codes = complement(codes, column.attribute.size)
            if not codes:
                what = f"this leaves no value of {name.text!r}"
                raise Misread(what, "Leave the condition out.", name)
        return place, codes

    def place(self, name: Word) -> int:
        """The place of a column among the attributes, the class after them.

        Raises:
            Misread: If there is no such column in a release.
        """
        place = self._places.get(name.text)
        if place is not None:
            return place
        if name.text in (*self.schema.identifiers, self.schema.person_column):
            what = f"{name.text!r} is not in the release"
            hint = "It identifies people, so it was dropped."
        else:
            what = f"there is no attribute {name.text!r}"
            hint = no_logic(name.text) or suggest(name.text, list(self._places), "The attributes")
        raise Misread(what, hint, name)

    def _add(
        self, where: dict[int, Intervals], place: int, codes: Intervals, length: int = 0
    ) -> None:
        if place in where:
            codes = overlap(where[place], codes)
            if not codes:
                name = self._columns[place].attribute.name
                what = f"the conditions on {name!r} contradict each other, so nobody can meet them"
                raise Misread(what, "Keep one of them.", Word("", 0, length))
        where[place] = codes

    def conjunction(self, allowed: dict[int, Intervals]) -> Query:
        """The query that allows such codes on columns, by their places."""
        target = len(self.schema.attributes)
        classes: tuple[int, ...] | None = None
        where = []
        for place, codes in sorted(allowed.items()):
            low, high = codes[0]
            if low == 0 and high == self._columns[place].attribute.size:
                continue  # everyone meets it
            if place == target:
                classes = tuple(code for low, high in codes for code in range(int(low), int(high)))
            else:
                where.append((place, codes))
        return Query(tuple(where), classes)


def query_lines(path: str | Path) -> list[tuple[int, str]]:
    """The lines of a file of queries with their numbers, but for blank ones and comments.

    Raises:
        UsageError: If the file cannot be read.
    """
    try:
        lines = Path(path).read_text(encoding="utf-8-sig").split("\n")
    except OSError as error:
        why = (error.strerror or "it cannot be opened").lower()
        raise UsageError(f"{path} cannot be read: {why}", "Check the path.") from None
    except UnicodeDecodeError:
        hint = "Save it as plain text in UTF-8."
        raise UsageError(f"{path} is not a text file in UTF-8", hint) from None
    numbered = ((number, line.strip()) for number, line in enumerate(lines, start=1))
    return [(number, text) for number, text in numbered if text and not text.startswith("#")]


def read_queries(path: str | Path, schema: Schema) -> list[Query]:
    """Reads a file of queries: one per line; blank lines and lines that begin with # are skipped.

    Args:
        path: A text file in UTF-8.
        schema: The public description of the table.

    Raises:
        UsageError: With the file and line of what is wrong, or if the file cannot be read.
    """
    vocabulary, queries = Vocabulary(schema), []
    for number, text in query_lines(path):
        try:
            queries.append(vocabulary.parse(text))
        except UsageError as error:
            raise UsageError(f"{path}:{number}: {error.message}", error.hint) from None
    return queries


def _pointing(error: Misread, text: str, offset: int) -> UsageError:
    """The mistake with the query below it and carets below what is to blame."""
    part = error.part
    start, end = offset + part.start, offset + max(part.end, part.start + 1)
    begin = max(0, start - _SHOWN)
    shown = text[begin : end + _SHOWN]
    # One blank for each tab or line break, so that the carets stay below their characters.
    shown = "".join(" " if character.isspace() else character for character in shown)
    line = f"    {shown.rstrip()}\n    {' ' * (start - begin)}{'^' * min(end - start, _SHOWN)}"
    return UsageError(f"{error.what}\n{line}", hint=error.hint)


def _items(wanted: Any, numeric: bool, name: str, depth: int = 0) -> Iterable[Item]:
    """What a mapping says about an attribute, as the grammar would have read it."""
    if depth > _NESTED:
        raise Misread(f"the lists of {name!r} are nested too deeply", "Give one list of values.")
    if getattr(wanted, "ndim", 0) == 1:  # an array of NumPy, or a column of a frame
        wanted = list(wanted)
    if isinstance(wanted, range) and numeric:
        if wanted.step == 1 and len(wanted):
            yield Span(Word(str(wanted.start)), Word(str(wanted.stop)), True, False)
            return
        wanted = list(wanted)
    if isinstance(wanted, tuple) and numeric:
        if len(wanted) != 2:
            hint = "Write (30, 50); for several values use a list, such as [30, 40, 50]."
            raise Misread(f"an interval of {name!r} needs two bounds", hint)
        low, high = (
            None if bound is None or (isinstance(bound, float) and math.isinf(bound))
            else _word(bound, True)
            for bound in wanted
        )  # fmt: skip
        yield Span(low, high, True, True)
    elif isinstance(wanted, (list, tuple, set, frozenset, range)):
        members = wanted if isinstance(wanted, (list, tuple, range)) else sorted(wanted, key=str)
        for member in members:
            yield from _items(member, numeric, name, depth + 1)
    else:
        yield _word(wanted, numeric)


def _word(value: Any, numeric: bool) -> Word:
    if isinstance(value, str):
        return Word(value)
    if isinstance(value, datetime.date):  # a datetime is one too; its time of day does not matter
        return Word(value.isoformat()[:10])
    kind = getattr(getattr(value, "dtype", None), "kind", "")  # of a value of NumPy
    if kind == "M" and value.ndim == 0:
        return Word(str(value)[:10])  # a mere year or month stays short, and so is no date
    if kind == "b" and value.ndim == 0:
        value = bool(value)
    if isinstance(value, bool):  # before numbers, since it passes for one
        if not numeric:
            return Word("true" if value else "false")
    elif isinstance(value, numbers.Integral):
        if int(value).bit_length() > _MOST_BITS:
            raise Misread("a number has very many digits", _SHORTER)
        return Word(str(int(value)))
    elif isinstance(value, (Decimal, numbers.Real)) and math.isfinite(value):
        exact = value if isinstance(value, Decimal) else Decimal(repr(float(value)))
        if abs(exact.adjusted()) > _MOST_BITS or len(exact.as_tuple().digits) > _MOST_BITS:
            raise Misread("a number has very many digits", _SHORTER)
        return Word(format(exact, "f"))
    if isinstance(value, (bytes, bytearray)):
        hint = 'Make them text first, such as value.decode("utf-8").'
        raise Misread("bytes cannot be asked for", hint)
    hint = "Give a text, a finite number, a date, a pair of bounds, or a list of these."
    raise Misread(f"a value of type {type(value).__name__} cannot be asked for", hint)
