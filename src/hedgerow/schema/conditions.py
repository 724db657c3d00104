"""The grammar of count queries: from text to conditions. Knows no schema.

    query      = "" | "everybody" | condition { ( "and" | "&" ) condition }
    condition  = [ "not" ] name [ ( "in" | "not in" | "=" | "!=" ) values ]
               | [ "not" ] name ( "<" | "<=" | ">" | ">=" ) words
    values     = item | "{" item { "," item } "}"
    item       = words | ( "[" | "(" ) words "," words ( "]" | ")" )

Names and words may hold blanks. Quotes, single or double, allow any character in them. An
unquoted "and" begins a new condition only if a name and an operator follow, so that `job in
Health and care and age > 30` has two conditions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import NamedTuple, NoReturn

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


_LISTED = 12  # more names than this would bury the message


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
