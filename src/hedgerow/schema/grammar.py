"""The grammar of count queries: from text to conditions. Knows no schema.

    query      = "" | "everybody" | condition { "and" condition }
    condition  = name ( "in" | "=" ) ( item | "{" item { "," item } "}" )
               | name ( "<" | "<=" | ">" | ">=" ) words
    item       = words | ( "[" | "(" ) words "," words ( "]" | ")" )

Names and words may hold blanks. Quotes, single or double, allow any character in them. An
unquoted "and" begins a new condition only if a name and an operator follow, so that `job in
Health and care and age > 30` has two conditions.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple, NoReturn

__all__ = [
    "Condition",
    "Item",
    "Misread",
    "Span",
    "Word",
    "no_logic",
    "quoted",
    "read_condition",
    "read_names",
    "split",
    "split_rule",
]

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
    for word in ("and", "implies")
)
_NOT = re.compile(r"\s*not\s*\((.*)\)\s*", re.I | re.S)
_NEW_CONDITION = re.compile(
    rf"\s*(?:(?:{_QUOTED})|{_NAME}(?:\s+{_NAME})*)\s*(?:{_OPERATOR}|(?<![^\s\"'])in(?![^\s\[({{\"]))"
    r"|\s*\Z",
    re.I | re.S,
)
_BARE = re.compile(rf"(?!')(?!(?:and|in|everybody)\Z){_PLAIN}+", re.I)
_ESCAPED = re.compile(r"\\([\\\"'])|\"\"|''")

_FORM = (
    'Write conditions such as  age in [30, 50] and sex = Female  or  job in {"Tech support", Law}.'
)


class Misread(Exception):
    """What is wrong with a query, and the characters that are to blame if it was a text."""

    def __init__(self, what: str, hint: str, start: int = 0, end: int = 0) -> None:
        super().__init__(what)
        self.what, self.hint, self.start, self.end = what, hint, start, end


class Word(NamedTuple):
    """A name, number or label, and where it stands in its condition."""

    text: str
    start: int = 0
    end: int = 0


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
    """An attribute by name, and what its value may be."""

    name: Word
    items: tuple[Item, ...]


def split(text: str) -> list[tuple[int, str]]:
    """Cuts a query into the texts of its conditions, each with its place.

    Example:
        >>> split("job in Health and care and age > 30")
        [(0, 'job in Health and care'), (27, 'age > 30')]
        >>> split(" Everybody ")
        []
    """
    if text.strip().casefold() in ("", "everybody"):
        return []
    parts = []
    begin = depth = closed = 0
    for found in _LANDMARK.finditer(text):
        if found.lastgroup is None:  # a bracket or something quoted
            depth = max(0, depth + (found[0] in "[({") - (found[0] in "])}"))
            closed = found.end()
            continue
        ended = not text[max(begin, closed) : found.start()].strip()  # no unquoted words are open
        if depth == 0 and (ended or _NEW_CONDITION.match(text, found.end())):
            parts.append((begin, text[begin : found.start()]))
            begin = found.end()
    parts.append((begin, text[begin:]))
    return [(place + len(part) - len(part.lstrip()), part.strip()) for place, part in parts]


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
        ['region', 'illness']
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
            names.append(Word(token.text, token.start, token.end))
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
    """A hint where the name of an attribute holds `between`, or begins or ends like `not` or `or`.

    Example:
        >>> no_logic("not smoker")
        "There is no 'not' and no 'or': list what is to count, or ask several queries."
        >>> no_logic("age between 30")
        'Write both bounds in brackets, such as  age in [30, 50].'
        >>> no_logic("knot")
    """
    words = name.casefold().split()
    if "between" in words[1:]:
        start = " ".join(name.split()[: words.index("between", 1)])
        return f"Write both bounds in brackets, such as  {start} in [30, 50]."
    if not {"not", "or"} & {*words[:1], *words[-1:]}:
        return None
    return "There is no 'not' and no 'or': list what is to count, or ask several queries."


def quoted(text: str) -> str:
    r"""A name or label as a query may hold it, in quotes if it needs them.

    Example:
        >>> print(quoted("Female"), quoted(">50K"), quoted('say "x"'))
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
        raise Misread("a condition is missing here", _FORM)
    return _Reader(text).condition()


class _Token(NamedTuple):
    kind: str
    text: str
    start: int
    end: int


class _Reader:
    """Reads tokens from left to right."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.next = 0
        self.tokens = []
        for found in _TOKEN.finditer(text):
            kind = str(found.lastgroup)
            self.tokens.append(_Token(kind, found[kind], found.start(kind), found.end(kind)))
            if kind == "wrong":  # nothing after it is looked at; to read on could take very long
                break
        last = len(text.rstrip())
        self.tokens.append(_Token("end", "", last, last + 1))

    @property
    def token(self) -> _Token:
        return self.tokens[self.next]

    def take(self, *texts: str) -> _Token | None:
        """The next token if it is an operator or mark of these."""
        token = self.token
        if token.kind in ("operator", "mark") and token.text in texts:
            self.next += 1
            return token
        return None

    def is_word(self, *texts: str) -> bool:
        return self.token.kind == "word" and self.token.text.casefold() in texts

    def condition(self) -> Condition:
        name = self.words("the name of an attribute", named=True)
        if self.is_word("in"):
            self.next += 1
            items = self.items()
        elif self.take("=", "=="):
            items = self.items()
        elif operator := self.take("<", "<=", "≤", ">", ">=", "≥"):
            items = (self.comparison(operator),)
        elif self.take("!=", "<>", "≠"):
            self.next -= 1
            self.fail("'in', '=' or a comparison", "There is no 'not': list what is to count.")
        else:
            self.fail(f"'in', '=' or a comparison after {name.text!r}", no_logic(name.text))
        if self.token.kind != "end":
            self.fail("'and' or the end of the query")
        return Condition(name, items)

    def comparison(self, operator: _Token) -> Span:
        bound = self.words("a number or date")
        closed = operator.text in ("<=", "≤", ">=", "≥")
        start, end = operator.start, bound.end
        if operator.text in ("<", "<=", "≤"):
            return Span(None, bound, True, closed, start, end)
        return Span(bound, None, closed, True, start, end)

    def items(self) -> tuple[Item, ...]:
        if not self.take("{"):
            return (self.item(),)
        items = [self.item()]
        while self.take(","):
            items.append(self.item())
        if not self.take("}"):
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

    def words(self, wanted: str, named: bool = False) -> Word:
        """Something quoted, or all unquoted words up to the next operator or mark."""
        first = self.token
        if first.kind == "quoted":
            self.next += 1
            inner = _ESCAPED.sub(_unescape(first.text[0]), first.text[1:-1])
            return Word(inner, first.start, first.end)
        while self.token.kind == "word" and not (named and self.is_word("in", "and")):
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
        raise Misread(what, hint or _hint(token), token.start, token.end)


def _hint(token: _Token) -> str:
    if token.text == ",":
        return "Put several values in braces, such as {Engineer, Lawyer}."
    if token.kind in ("operator", "quoted") or token.text.casefold() == "or":
        return (
            "Join conditions with 'and'. Quote a name or label that holds a special character, "
            "such as \">50K\". There is no 'or': list values in braces, or ask two queries."
        )
    return _FORM


def _unescape(quote: str) -> Callable[[re.Match[str]], str]:
    """Undoes what quoting did; only the quote in use is doubled."""

    def plain(found: re.Match[str]) -> str:
        if found[1]:
            return found[1]
        return quote if found[0][0] == quote else found[0]

    return plain
