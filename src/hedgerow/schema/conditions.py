"""Conditions on one attribute, to and from intervals of codes.

What a number means depends on how the attribute is written. Whole numbers and dates mean
themselves, whatever the step: [30, 50] ends before 51. Decimals are known only as the schema
rounds them, down to their step: with a step of 0.5 the number 2.5 is everyone from 2.5 up to, not
including, 3.0, and `<= 2.7` includes just the same people as `<= 2.5`.

Either way an attribute has a first value, `low`, and further ones at equal distances. They are
spread evenly over the codes, of which each holds as many as fit into a step; the last code ends at
`high` and may hold fewer.
"""

from __future__ import annotations

import datetime
import math
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, localcontext
from difflib import get_close_matches
from fractions import Fraction
from functools import cached_property

from hedgerow.schema.attributes import OTHER, Attribute, Categorical, Numeric
from hedgerow.schema.grammar import Item, Misread, Span, Word, quoted
from hedgerow.schema.grid import read_number

__all__ = ["Intervals", "Labels", "Numbers", "merged", "overlap", "suggest"]

Intervals = tuple[tuple[float, float], ...]

_EPOCH = datetime.date(1970, 1, 1)
_TRUTHS = {
    **dict.fromkeys(("true", "t", "yes", "y", "1"), "true"),
    **dict.fromkeys(("false", "f", "no", "n", "0"), "false"),
}
_RANGE = re.compile(r"(-?[\d.]+)\s*(?:-|–|to|\.\.)\s*(-?[\d.]+)")  # as people write one
_LISTED = 12  # more names than this would bury the message


def merged(intervals: Iterable[tuple[float, float]]) -> Intervals:
    """The same codes as disjoint intervals in increasing order that do not touch.

    Example:
        >>> merged([(4, 6), (0, 1), (1, 2), (5, 7)])
        ((0, 2), (4, 7))
    """
    found: list[tuple[float, float]] = []
    for low, high in sorted(intervals):
        if found and low <= found[-1][1]:
            found[-1] = (found[-1][0], max(high, found[-1][1]))
        else:
            found.append((low, high))
    return tuple(found)


def overlap(one: Intervals, other: Intervals) -> Intervals:
    """The codes that are in both.

    Example:
        >>> overlap(((0, 4), (6, 9)), ((3, 7),))
        ((3, 4), (6, 7))
    """
    both = ((max(a, c), min(b, d)) for a, b in one for c, d in other)
    return tuple((low, high) for low, high in both if low < high)


def suggest(wrong: str, known: Sequence[str], these: str) -> str:
    """A hint for a name that is not known: the nearest ones, or all if they are few.

    Example:
        >>> suggest("lawer", ["Engineer", "Lawyer"], "Its values")
        'Did you mean Lawyer? Its values are Engineer, Lawyer.'
    """
    folded: dict[str, str] = {}
    for name in known:
        folded.setdefault(name.casefold(), name)
    close = [quoted(folded[name]) for name in get_close_matches(wrong.casefold(), folded, 3)]
    words = [f"Did you mean {' or '.join(close)}?"] if close else []
    if len(known) <= _LISTED:
        words.append(f"{these} are {', '.join(map(quoted, known))}.")
    elif not close:
        words.append(f"{these} stand in the schema, which is part of the release (manifest.json).")
    return " ".join(words)


@dataclass(frozen=True)
class Labels:
    """Conditions on a categorical attribute: values and groups of its taxonomy."""

    attribute: Categorical

    def codes(self, items: tuple[Item, ...]) -> Intervals:
        """The codes of all that is listed.

        Raises:
            Misread: If a label is unknown, or an interval is asked for.
        """
        return merged(self._span(item) for item in items)

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
                labels.append(quoted(reach[1]))
        name = quoted(self.attribute.name)
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
        found: dict[float, list[tuple[int, str]]] = {}
        taxonomy = self.attribute.taxonomy
        for label, (low, high) in zip(taxonomy.labels, taxonomy.spans, strict=True):
            found.setdefault(low, []).append((high, label))  # preorder: larger nodes come first
        return found

    def _span(self, item: Item) -> tuple[float, float]:
        name = self.attribute.name
        if self.attribute.bands is not None and (isinstance(item, Span) or _is_number(item)):
            return self._in_bands(self.attribute.bands, item)
        if isinstance(item, Span):
            raise Misread(
                f"{name!r} has values and groups, not numbers, so it cannot lie in an interval",
                f"Name values or groups, such as {self._example}.",
                item.start,
                item.end,
            )
        spans = self._spans
        found = spans.get(item.text) or spans.get(unicodedata.normalize("NFC", item.text))
        if found is None and self.attribute.boolean:
            found = spans.get(_TRUTHS.get(item.text.casefold(), ""))
        if found is None and self.attribute.reading:
            found = self._as_in_data(item.text.strip())
        if found is None:
            raise Misread(
                f"{name!r} has no value or group {item.text!r}",
                suggest(item.text, self.attribute.taxonomy.labels, "Its values and groups"),
                item.start,
                item.end,
            )
        return float(found[0]), float(found[1])

    def _as_in_data(self, text: str) -> tuple[int, int] | None:
        """What data would become that is written like this, or a group but for what is ignored.

        A rule for all others is left out: any slip of the pen would be one of those.
        """
        reading = self.attribute.reading
        form = reading.form(text)
        leaf = self._forms.get(form) or reading.pattern(form)
        return self._spans.get(leaf or self._alike.get(reading.alike(text), ""))

    @cached_property
    def _forms(self) -> dict[str, str]:
        leaves = self.attribute.taxonomy.leaves
        return {form: leaves[code] for form, code in self.attribute.reading.forms(leaves).items()}

    @cached_property
    def _alike(self) -> dict[str, str]:
        labels = self.attribute.taxonomy.labels
        return {self.attribute.reading.alike(label): label for label in reversed(labels)}

    def _in_bands(self, grid: Numeric, item: Item) -> tuple[float, float]:
        """The bands of a class of numbers that an interval consists of."""
        found = Numbers(grid).codes((item,))[0]
        edges = [*self.attribute.edges, grid.grid]
        if not set(found) <= set(edges):
            starts = ", ".join(str(grid.edge(code)) for code in edges[:-1])
            raise Misread(
                f"{self.attribute.name!r} was counted in bands, and this ends inside one",
                f"Its bands begin at {starts}: write, such as, {self.attribute.name} >= "
                f"{grid.edge(edges[-2])}.",
                item.start,
                item.end,
            )
        low, high = (float(edges.index(int(code))) for code in found)
        return low, high

    @property
    def _example(self) -> str:
        some = self.attribute.taxonomy.leaves[:2]
        return f"{quoted(self.attribute.name)} in {{{', '.join(map(quoted, some))}}}"


@dataclass(frozen=True)
class Numbers:
    """Conditions on a numeric attribute: values, intervals, and "other" if it has that.

    Example:
        >>> weight = Numeric("weight", low=Fraction(0), high=Fraction(2500), step=Fraction(1000),
        ...     kind="integer")
        >>> Numbers(weight).codes((Span(Word("500"), Word("1999"), True, True),))
        ((0.5, 2.0),)
        >>> Numbers(weight).words(((0.5, 2.0),))
        'weight in [500, 1999]'
    """

    attribute: Numeric
    _known: dict[str, Fraction] = field(default_factory=dict, compare=False, repr=False)

    def codes(self, items: tuple[Item, ...]) -> Intervals:
        """The codes of all that is listed; what lies beyond the bounds is cut off.

        Raises:
            Misread: If something is no number, holds no value or lies outside the bounds.
        """
        return merged(self._interval(item) for item in items)

    def words(self, intervals: Intervals) -> str:
        """The condition in canonical words."""
        grid = self.attribute.grid
        items = [self._span_words(low, min(high, grid)) for low, high in intervals if low < grid]
        if intervals[-1][1] > grid:
            items.append(OTHER)
        name = quoted(self.attribute.name)
        if len(items) > 1:
            return f"{name} in {{{', '.join(items)}}}"
        return f"{name} {'in' if items[0][0] == '[' else '='} {items[0]}"

    @cached_property
    def _unit(self) -> Fraction:
        """The distance of values."""
        return self.attribute.step if self.attribute.kind == "decimal" else Fraction(1)

    @cached_property
    def _values(self) -> int:
        """How many values there are."""
        return int((self.attribute.high - self.attribute.low) / self._unit) + 1

    @cached_property
    def _per_code(self) -> int:
        """How many values a code holds, unless it is the last."""
        return int(self.attribute.step / self._unit)

    @cached_property
    def _before_last(self) -> int:
        """How many values all codes but the last hold."""
        return (self.attribute.grid - 1) * self._per_code

    def _position(self, place: int) -> float:
        """Where a value begins, in code units; values are numbered from 0."""
        if place <= self._before_last:
            return place / self._per_code
        room = self._values - self._before_last
        return ((self.attribute.grid - 1) * room + place - self._before_last) / room

    def _place(self, position: float) -> int:
        """The value that begins at a position."""
        whole = self.attribute.grid - 1
        if position <= whole:
            place = round(Fraction(position) * self._per_code)
        else:
            room = self._values - self._before_last
            place = self._before_last + round((Fraction(position) - whole) * room)
        if self._position(place) != position:
            raise _unsayable(self.attribute)
        return place

    def _interval(self, item: Item) -> tuple[float, float]:
        grid = self.attribute.grid
        if isinstance(item, Word):
            if item.text == OTHER and self.attribute.has_other:
                return float(grid), float(grid + 1)
            item = Span(item, item, True, True, item.start, item.end)
        first, beyond = self._places(item)
        first, beyond = max(first, 0), min(beyond, self._values)
        if first >= beyond:
            clips = self.attribute.outside == "clip"
            raise Misread(
                f"nothing of this lies within the bounds of {self.attribute.name!r}, "
                f"{self._shown(0)} to {self._bound(self.attribute.high)}",
                "Values beyond the bounds were counted as the nearer bound."
                if clips
                else "Ask for values within the bounds.",
                item.start,
                item.end,
            )
        low, high = self._position(first), self._position(beyond)
        # With billions of values in a code two of them may share a position.
        return low, max(high, math.nextafter(low, math.inf))

    def _places(self, span: Span) -> tuple[int, int]:
        """The first value of an interval, and the first beyond it."""
        first, beyond = 0, self._values
        low = high = None
        if span.low is not None:
            low = self._read(span.low)
            first = math.ceil(low) if span.low_closed else math.floor(low) + 1
        if span.high is not None:
            high = self._read(span.high)
            beyond = math.floor(high) + 1 if span.high_closed else math.ceil(high)
        if low is None or high is None or first < beyond:
            return first, beyond
        if low > high:
            what, hint = "the interval runs backwards", "Write the smaller bound first."
        elif low == high and span.low_closed and span.high_closed:
            what = f"{self.attribute.name!r} has no such value"
            hint = f"Its values are {self._shown(0)}, {self._shown(1)} and so on."
        else:
            what = f"the interval holds no value of {self.attribute.name!r}"
            hint = "A square bracket includes its bound, a round one does not."
        raise Misread(what, hint, span.start, span.end)

    def _read(self, word: Word) -> Fraction:
        """A bound, as a place among the values; between two of them if it is none itself."""
        place = self._known.get(word.text)
        if place is not None:
            return place
        dated = self.attribute.kind == "date"
        found = read_number(word.text)
        if found is None or (found[1] == "date") != dated:
            wanted = "a date such as 2024-01-31" if dated else "a number"
            hint = f"Write {wanted}, from {self._shown(0)} to {self._bound(self.attribute.high)}"
            hint += f", or {OTHER}." if self.attribute.has_other else "."
            if ends := _RANGE.fullmatch(word.text):
                hint = f"Write {quoted(self.attribute.name)} in [{ends[1]}, {ends[2]}]."
            raise Misread(
                f"{self.attribute.name!r} needs {wanted}, which {word.text!r} is not",
                hint,
                word.start,
                word.end,
            )
        place = (found[0] - self.attribute.low) / self._unit
        self._known[word.text] = place
        return place

    def _span_words(self, low: float, high: float) -> str:
        first, beyond = self._place(low), self._place(high)
        ends = beyond == self._values
        if self.attribute.kind != "decimal":
            last = self._shown(beyond - 1)
            return last if beyond - first == 1 else f"[{self._shown(first)}, {last}]"
        top = self._bound(self.attribute.high)
        start = self._shown(first)
        if ends:
            return top if start == top else f"[{start}, {top}]"
        return f"[{start}, {self._shown(beyond)})"

    def _shown(self, place: int) -> str:
        return self._bound(self.attribute.low + place * self._unit)

    def _bound(self, value: Fraction) -> str:
        if self.attribute.kind == "date":
            return (_EPOCH + datetime.timedelta(days=int(value))).isoformat()
        if value.denominator == 1:
            return str(value.numerator)
        with localcontext(prec=400):  # enough for every number that a schema can hold
            return format(Decimal(value.numerator) / Decimal(value.denominator), "f")


def _is_number(item: Item) -> bool:
    return isinstance(item, Word) and read_number(item.text) is not None


def _unsayable(attribute: Attribute) -> Misread:
    return Misread(
        f"the codes asked of {attribute.name!r} are no whole values, so no words say them",
        "Make queries with Query.parse or Query.of.",
    )
