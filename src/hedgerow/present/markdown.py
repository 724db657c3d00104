"""A document as Markdown: text is escaped, and what is drawn is told in numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import singledispatch

from hedgerow.present.document import (
    Bar,
    Bullets,
    Card,
    Cards,
    Code,
    Document,
    Facts,
    Finding,
    Folded,
    Grid,
    Heading,
    Histogram,
    Legend,
    Part,
    Stack,
    Strip,
    Text,
    Tree,
)

_SPECIAL = re.compile(r"([\\`*_\[\]<>|#~$&])")
_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")


def markdown(document: Document) -> str:
    r"""The document as Markdown.

    Args:
        document: What to write.

    Example:
        >>> from hedgerow.present.document import Section
        >>> one = Section("One", (Text("x < y"), Bullets(("a",))))
        >>> print(markdown(Document(title="A_B", sections=(one,), numbered=True)), end="")
        # A\_B
        <BLANKLINE>
        ## 1. One
        <BLANKLINE>
        x \< y
        <BLANKLINE>
        - a
    """
    parts = [f"# {_plain(document.title)}"]
    parts += [f"**{_plain(f'{one.loud}. {one.why}')}**" for one in document.warnings]
    parts += _all(document.head)
    for number, one in enumerate(document.sections, 1):
        parts.append(f"## {f'{number}. ' if document.numbered else ''}{_plain(one.title)}")
        parts += _all(one.parts)
    if document.foot:
        parts.append(_plain(document.foot))
    return "\n\n".join(parts) + "\n"


def _all(parts: Iterable[Part]) -> list[str]:
    return [text for one in parts if (text := _written(one))]


@singledispatch
def _written(part: Part) -> str:
    raise TypeError(type(part).__name__)


@_written.register
def _(part: Text) -> str:
    words = _plain(part.words)
    return f"**{_plain(part.strong)}** {words}" if part.strong else words


@_written.register
def _(part: Heading) -> str:
    return f"### {_plain(part.words)}"


@_written.register
def _(part: Bullets) -> str:
    return "\n".join(
        f"- {_plain(one)}" if isinstance(one, str) else f"- **{_plain(one[0])}.** {_plain(one[1])}"
        for one in part.entries
    )


@_written.register
def _(part: Facts) -> str:
    return "\n".join(f"- {_plain(name)}: {_plain(value)}" for name, value in part.pairs)


@_written.register
def _(part: Code) -> str:
    return "\n".join(f"    {_UNSEEN.sub(_spelt, line)}" for line in part.lines)


@_written.register
def _(part: Grid) -> str:
    kept = [place for place, head in enumerate(part.heads) if isinstance(head, str)]
    rows: list[list[object]] = [[part.heads[place] for place in kept], ["---"] * len(kept)]
    rows += [[row[place] for place in kept] for row in part.rows]
    lines = [" | ".join(_cell(cell) for cell in row) for row in rows]
    return f"{_plain(part.caption)}:\n\n" + "\n".join(f"| {line} |" for line in lines)


def _cell(cell: object) -> str:
    if cell is None or isinstance(cell, Bar):
        return ""
    return "---" if cell == "---" else _plain(str(cell))


@_written.register
def _(part: Histogram) -> str:
    return _shares(part.caption, zip(part.labels, part.shares, strict=True))


@_written.register
def _(part: Stack) -> str:
    return _shares(part.caption, part.parts)


def _shares(caption: str, parts: Iterable[tuple[str, float]]) -> str:
    lines = [f"- {_plain(label)}: {share:.1%}" for label, share in parts]
    return f"{_plain(caption)}:\n\n" + "\n".join(lines)


@_written.register
def _(part: Strip) -> str:
    return f"{_plain(part.title)}: {_plain('; '.join(label for label, _ in part.parts))}"


@_written.register
def _(part: Tree) -> str:
    return _plain(part.caption)


@_written.register
def _(part: Legend) -> str:
    return ""  # nothing is drawn


@_written.register(Card)
@_written.register(Finding)
def _(part: Card | Finding) -> str:
    sentence = [_plain(part.sentence)] if isinstance(part, Finding) else []
    return "\n\n".join([f"### {_plain(part.title)}", *sentence, *_all(part.parts)])


@_written.register
def _(part: Cards) -> str:
    return "\n\n".join(_all(part.cards))


@_written.register
def _(part: Folded) -> str:
    return "\n\n".join([f"**{_plain(part.summary)}**", *_all(part.parts)])


def _spelt(found: re.Match[str]) -> str:
    return f"⟨U+{ord(found[0]):04X}⟩"


def _plain(text: str) -> str:
    """Text that Markdown shows as it is."""
    text = _SPECIAL.sub(r"\\\1", _UNSEEN.sub(_spelt, text))
    # at the start of a line these would make a list, and a name could look like an address
    text = re.sub(r"^(\s*\d*)([-+=.)])(?=[-=\s]|$)", r"\1\\\2", text)
    return text.replace("://", ":\\//")
