"""Conditions of count queries: from text to intervals of codes, and back."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple, NoReturn

from hedgerow.schema.attributes import (
    OTHER,
    Attribute,
    Categorical,
    Numeric,
    read_number,
)

# The grammar of count queries: from text to conditions. Knows no schema.
#
#     query      = "" | "everybody" | condition { ( "and" | "&" ) condition }
#     condition  = [ "not" ] name [ ( "in" | "not in" | "=" | "!=" ) values ]
#                | [ "not" ] name ( "<" | "<=" | ">" | ">=" ) words
#     values     = item | "{" item { "," item } "}"
#     item       = words | ( "[" | "(" ) words "," words ( "]" | ")" )
#
# Names and words may hold blanks. Quotes, single or double, allow any character in them. An
# unquoted "and" begins a new condition only if a name and an operator follow, so that `job in
# Health and care and age > 30` has two conditions.


_QUOTED = r'"(?:[^"\\]|\\.|"")*"' + r"|'(?:[^'\\]|\\.|'')*'"
_OPERATOR = r"<=|>=|==|!=|<>|[=<>≤≥≠]"
_PLAIN = r"(?:(?!!=)[^\s\[\](){},\"=<>≤≥≠])"  # what an unquoted word is made of
_NAME = rf"(?!(?:and|in)(?!\S)){_PLAIN}+"
_TOKEN = re.compile(
    rf"\s*(?:(?P<quoted>{_QUOTED})|(?P<operator>{_OPERATOR})|(?P<mark>[\[\](){{}},])"
    rf"|(?P<word>(?!'){_PLAIN}+)|(?P<wrong>\S))",
    re.S,
)
# A quote in the middle of a word, as in Bachelor's, is a plain character.
_LANDMARK, _IMPLIES = (
    re.compile(
        rf"(?<![^\s\[\](){{}},=<>≤≥])(?:{_QUOTED})|[\[\](){{}}]"
        rf"|(?P<word>(?<![^\s\])}}\"']){word}(?![^\s\"]))",
        re.I | re.S,
    )
    for word in ("(?:and|&&?)", "implies")
)
_NOT = re.compile(r"\s*not\s*\((.*)\)\s*", re.I | re.S)
_NEW_CONDITION = re.compile(
    rf"\s*(?:(?:{_QUOTED})|{_NAME}(?:\s+{_NAME})*)\s*(?:{_OPERATOR}|(?<![^\s\"'])in(?![^\s\[({{\"]))"
    r"|\s*\Z",
    re.I | re.S,
)
_BARE = re.compile(rf"(?!')(?!(?:and|in|everybody)\Z){_PLAIN}+", re.I)
_ESCAPED = re.compile(r"\\([\\\"'])|\"\"|''")

FORM = (
    'Write conditions such as  age in [30, 50] and sex = Female  or  job in {"Tech support", Law}.'
)


class Misread(Exception):
    """What is wrong with a query, and the part that is to blame if it was a text."""

    def __init__(self, what: str, hint: str, part: Word | Span | None = None) -> None:
        super().__init__(what)
        self.what, self.hint, self.part = what, hint, part or Word("")


class Word(NamedTuple):
    """A name, number or label, or an operator or mark, and where it stands in its condition."""

    text: str
    start: int = 0
    end: int = 0
    kind: str = ""


class Span(NamedTuple):
    """An interval; a bound that is None is open to that side."""

    low: Word | None
    high: Word | None
    low_closed: bool
    high_closed: bool
    start: int = 0
    end: int = 0


Item = Word | Span


class Condition(NamedTuple):
    """An attribute by name, and what its value may be, or may not; no items mean `true`."""

    name: Word
    items: tuple[Item, ...]
    negated: bool = False


def split(text: str, truths: re.Pattern[str] | None = None) -> list[tuple[int, str]]:
    """Cuts a query into the texts of its conditions, each with its place.

    Args:
        text: The query.
        truths: What begins where a boolean attribute stands alone, see `standing_alone`.

    Example:
        >>> split("job in Health and care and age > 30")
        [(0, 'job in Health and care'), (27, 'age > 30')]
        >>> split("age > 30 and not smoker", standing_alone(["smoker"]))
        [(0, 'age > 30'), (13, 'not smoker')]
        >>> split(" Everybody ")
        []
    """
    if text.strip().casefold() in ("", "everybody"):
        return []
    parts = []
    begin = depth = closed = 0
    for landmark in _LANDMARK.finditer(text):
        if landmark.lastgroup is None:  # a bracket or something quoted
            depth = max(0, depth + (landmark[0] in "[({") - (landmark[0] in "])}"))
            closed = landmark.end()
            continue
        ended = not text[max(begin, closed) : landmark.start()].strip()  # no words are open
        begins = _NEW_CONDITION.match(text, landmark.end())
        begins = begins or (truths and truths.match(text, landmark.end()))
        if depth == 0 and (ended or begins):
            parts.append((begin, text[begin : landmark.start()]))
            begin = landmark.end()
    parts.append((begin, text[begin:]))
    return [(place + len(part) - len(part.lstrip()), part.strip()) for place, part in parts]


def standing_alone(names: Iterable[str]) -> re.Pattern[str] | None:
    """What finds that one of these names is a whole condition, as in `age > 50 and smoker`."""
    known = "|".join(re.escape(quote(name)) for name in names)
    whole = rf"\s*(?:not\s+)?(?:{known})\s*(?:\Z|(?=(?<=\s)(?:and|&&?)\s))"
    return re.compile(whole) if known else None


def split_rule(text: str) -> tuple[str, str | None]:
    """Cuts a rule into what is met and what that implies; nothing for `not (...)`.

    Raises:
        Misread: If it has neither form.

    Example:
        >>> split_rule("age < 15 implies job = none")
        ('age < 15', 'job = none')
        >>> split_rule("not (sex = male and pregnant = true)")
        ('sex = male and pregnant = true', None)
    """
    depth, cuts = 0, []
    for mark in _IMPLIES.finditer(text):
        if mark.lastgroup is None:
            depth = max(0, depth + (mark[0] in "[({") - (mark[0] in "])}"))
        elif depth == 0:
            cuts.append(mark.span())
    if len(cuts) == 1:
        ((start, end),) = cuts
        if text[:start].strip() and text[end:].strip():
            return text[:start].strip(), text[end:].strip()
    negated = _NOT.fullmatch(text)
    if cuts or negated is None or not negated[1].strip():
        raise Misread(
            "it is neither of the form  ... implies ...  nor  not (...)",
            "Write, for example, age < 15 implies education = none, or not (sex = male and "
            "pregnant = true). A value that holds the word implies needs quotes.",
        )
    return negated[1].strip(), None


def read_names(text: str) -> list[Word]:
    """Names of columns with blanks between them, or with commas if names hold blanks.

    Raises:
        Misread: If something else stands between them.

    Example:
        >>> [name.text for name in read_names("home illness")]
        ['home', 'illness']
        >>> [name.text for name in read_names('home town, "illness, if any"')]
        ['home town', 'illness, if any']
    """
    reader = _Reader(text)
    commas = any(token.kind == "mark" and token.text == "," for token in reader.tokens)
    names: list[Word] = []
    while reader.token.kind != "end" or not names or commas:
        token = reader.token
        if commas or token.kind == "quoted":
            names.append(reader.words("the name of a column"))
        elif token.kind == "word":
            names.append(token)
            reader.next += 1
        else:
            hint = 'Write names with blanks between them, such as  home illness  or  "home town" '
            reader.fail("the name of a column", f"{hint}illness.")
        if commas and not reader.take(","):
            break
    if reader.token.kind != "end":
        reader.fail("a comma or the end")
    return names


def no_logic(name: str) -> str | None:
    """A hint where the name of an attribute holds `between`, `is` or `or`.

    Example:
        >>> no_logic("age between 30")
        'Write both bounds in brackets, such as  age in [30, 50].'
        >>> no_logic("smoker or alone")
        "There is no 'or': list values in braces, or ask several queries."
        >>> no_logic("order")
    """
    words = name.casefold().split()
    for verb in [verb for verb in ("between", "is") if verb in words[1:]]:
        start = " ".join(name.split()[: words.index(verb, 1)])
        if verb == "between":
            return f"Write both bounds in brackets, such as  {start} in [30, 50]."
        sign = "!=" if "not" in words else "="  # null, or not null
        return f"Write what is missing as  {start} {sign} other."
    if "or" not in words:
        return None
    return "There is no 'or': list values in braces, or ask several queries."


def quote(text: str) -> str:
    r"""A name or label as a query may hold it, in quotes if it needs them.

    Example:
        >>> print(quote("Female"), quote(">50K"), quote('say "x"'))
        Female ">50K" "say \"x\""
    """
    if _BARE.fullmatch(text):
        return text
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def read_condition(text: str) -> Condition:
    """Reads the text of one condition.

    Raises:
        Misread: If it does not follow the grammar.

    Example:
        >>> condition = read_condition("job in {Tech support, Law}")
        >>> condition.name.text, [item.text for item in condition.items]
        ('job', ['Tech support', 'Law'])
    """
    if not text:
        raise Misread("a condition is missing here", FORM)
    return _Reader(text).condition()


class _Reader:
    """Reads tokens from left to right."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.next = 0
        self.tokens = []
        for match in _TOKEN.finditer(text):
            kind = str(match.lastgroup)
            self.tokens.append(Word(match[kind], *match.span(kind), kind))
            if kind == "wrong":  # nothing after it is looked at; to read on could take very long
                break
        last = len(text.rstrip())
        self.tokens.append(Word("", last, last + 1, "end"))

    @property
    def token(self) -> Word:
        return self.tokens[self.next]

    def take(self, *texts: str) -> Word | None:
        """The next token if it is an operator or mark of these."""
        token = self.token
        if token.kind in ("operator", "mark") and token.text in texts:
            self.next += 1
            return token
        return None

    def is_word(self, *texts: str) -> bool:
        return self.token.kind == "word" and self.token.text.casefold() in texts

    def condition(self) -> Condition:
        negated = self.take_not()
        if self.is_word("not") and self.tokens[self.next + 1].text == "(":
            self.next += 1
            self.fail("an attribute", "Leave out the brackets, as in  not age > 30.")
        name = self.words("the name of an attribute", named=True)
        if self.take_not():
            negated = not negated
        items: tuple[Item, ...] = ()
        if self.is_word("in"):
            self.next += 1
            items = self.items()
        elif self.take("=", "=="):
            items = self.items()
        elif self.take("!=", "<>", "≠"):
            negated = not negated
            items = self.items()
        elif operator := self.take("<", "<=", "≤", ">", ">=", "≥"):
            bound, closed = self.words("a number or date"), operator.text in ("<=", "≤", ">=", "≥")
            below = operator.text in ("<", "<=", "≤")
            low, high = (None, bound) if below else (bound, None)
            span = Span(low, high, below or closed, closed or not below, operator.start, bound.end)
            items = (span,)
        elif self.token.kind != "end" or no_logic(name.text):
            self.fail(f"'in', '=' or a comparison after {name.text!r}", no_logic(name.text))
        if self.token.kind != "end":
            self.fail("'and' or the end of the query")
        return Condition(name, items, negated)

    def take_not(self) -> bool:
        """Whether a `not` stands here, and something that is not so: it may also be a name."""
        following = self.tokens[self.next + 1] if self.is_word("not") else None
        if following is None or following.kind not in ("word", "quoted"):
            return False
        self.next += 1
        return True

    def items(self) -> tuple[Item, ...]:
        listed = self.take("{")
        items = [self.item()]
        while listed and self.take(","):
            items.append(self.item())
        if listed and not self.take("}"):
            self.fail("',' or '}'")
        return tuple(items)

    def item(self) -> Item:
        opening = self.take("[", "(")
        if opening is None:
            return self.words("a value")
        low = self.words("the lower bound")
        if not self.take(","):
            self.fail("',' between the two bounds")
        high = self.words("the upper bound")
        closing = self.take("]", ")")
        if closing is None:
            self.fail("']' or ')'")
        return Span(low, high, opening.text == "[", closing.text == "]", opening.start, closing.end)

    def ends_name(self, first: bool) -> bool:
        following = self.tokens[self.next + 1].text.casefold()
        return self.is_word("in", "and") or (
            not first and self.is_word("not") and following == "in"
        )

    def words(self, wanted: str, named: bool = False) -> Word:
        """Something quoted, or all unquoted words up to the next operator or mark."""
        first = self.token
        if first.kind == "quoted":
            self.next += 1
            mark = first.text[0]  # only the quote in use is doubled
            inner = _ESCAPED.sub(
                lambda one: one[1] or (mark if one[0][0] == mark else one[0]), first.text[1:-1]
            )
            return Word(inner, first.start, first.end)
        while self.token.kind == "word" and not (named and self.ends_name(self.token is first)):
            self.next += 1
        if self.token is first:
            self.fail(wanted)
        end = self.tokens[self.next - 1].end
        return Word(self.text[first.start : end], first.start, end)

    def fail(self, wanted: str, hint: str | None = None) -> NoReturn:
        token = self.token
        if token.kind == "wrong" and token.text in "\"'":
            what, hint = "a quote is not closed", 'Close it, or write \\" for a quote in a label.'
        elif token.kind == "end":
            what = f"the condition ends where {wanted} should stand"
        else:
            what = f"{wanted} should stand here"
        if hint is None and token.text == ",":
            hint = "Put several values in braces, such as {Engineer, Lawyer}."
        elif hint is None and (token.kind in ("operator", "quoted") or self.is_word("or")):
            hint = "Join conditions with 'and'. Quote a name or label that holds a special "
            hint += "character, such as \">50K\". There is no 'or': list values in braces, or ask "
            hint += "two queries."
        raise Misread(what, hint or FORM, token)


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
_LISTED = 12  # more names than this would bury the message


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


def suggest(wrong: str, known: Sequence[str], these: str) -> str:
    """A hint for a name that is not known: the nearest ones, or all if they are few.

    Example:
        >>> suggest("lawer", ["Engineer", "Lawyer"], "Its values")
        'Did you mean Lawyer? Its values are Engineer, Lawyer.'
    """
    folded: dict[str, str] = {}
    for name in known:
        folded.setdefault(name.casefold(), name)
    close = [quote(folded[name]) for name in get_close_matches(wrong.casefold(), folded, 3)]
    words = [f"Did you mean {' or '.join(close)}?"] if close else []
    if len(known) <= _LISTED:
        words.append(f"{these} are {', '.join(map(quote, known))}.")
    elif not close:
        words.append(f"{these} stand in the schema, which is part of the release (manifest.json).")
    return " ".join(words)


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
