"""Count queries in the schema's words: who should be counted, in public vocabulary alone.

The form is described in `docs/queries.md`, its grammar in `conditions.py`.
"""

from __future__ import annotations

import datetime
import math
import numbers
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hedgerow.errors import UsageError
from hedgerow.schema.attributes import Categorical, Numeric
from hedgerow.schema.conditions import (
    FORM,
    Condition,
    Intervals,
    Item,
    Labels,
    Misread,
    Numbers,
    Span,
    Word,
    complement,
    merge,
    no_logic,
    overlap,
    quote,
    read_condition,
    split,
    standing_alone,
    suggest,
)
from hedgerow.suggestions import answer_mistakes

if TYPE_CHECKING:
    from hedgerow.schema.schema import Schema

__all__ = ["Intervals", "Query", "Vocabulary", "query_lines", "read_queries"]

_AND = " and "
_NESTED = 20
_LONGEST = 200_000  # characters; the time to read a query may grow with their square
_MOST_BITS = 1000  # Python itself refuses to write out very long numbers
_SHORTER = "Ask for a number within the bounds of the attribute."
_SHOWN = 60  # characters of a query that a message shows on either side of a mistake


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
