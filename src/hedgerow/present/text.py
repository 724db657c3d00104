"""A document as text for a terminal.

By hand: loading rich would take longer than all else that `hedgerow show` and `query` do.
"""

from __future__ import annotations

import re
import textwrap
import unicodedata
from collections.abc import Iterable, Sequence
from functools import singledispatch
from itertools import zip_longest

from hedgerow.present.document import (
    Bar,
    Box,
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
    Scale,
    Stack,
    Strip,
    Text,
    Tree,
)

_WORD = 12  # the narrowest column in which words can still be read
_LONG = 20  # of a bar
_BAR, _VAGUE, _BOTH, _BEYOND = "█", "░", "▒", "─"


def text(document: Document, width: int, bars: bool = True) -> str:
    """The document as text.

    Args:
        document: What to write.
        width: How many columns there are.
        bars: Whether bars are drawn, where there is room.

    Example:
        >>> from hedgerow.present.document import Section
        >>> one = Section("One", (Bullets(("a", "b")),))
        >>> print(text(Document(title="T", sections=(one,)), 40))
        T
        <BLANKLINE>
        One
        - a
        - b
    """
    paper = Paper(width, bars)
    blocks = [_wrapped(document.title, width)]
    blocks += [_wrapped(f"{one.loud}. {one.why}", width) for one in document.warnings]
    blocks += [_lines(one, paper) for one in document.head]
    for section in document.sections:
        lines = [section.title] if section.title else []
        for number, part in enumerate(section.parts):
            block = _lines(part, paper)
            # tables stand by themselves, sentences below each other
            apart = isinstance(part, Grid | Cards | Card | Finding | Heading) and number > 0
            lines += ["", *block] if apart and block else block
        blocks.append(lines)
    if document.foot:
        blocks.append(_wrapped(document.foot, width))
    return "\n\n".join("\n".join(block) for block in blocks if block).replace("\u00a0", " ")


class Paper:
    """Where text goes.

    Args:
        width: How many columns there are.
        bars: Whether bars are drawn.
    """

    def __init__(self, width: int, bars: bool = True) -> None:
        self.width, self.bars = width, bars


def _wrapped(words: str, width: int, indent: str = "") -> list[str]:
    return textwrap.wrap(
        words.replace("\u00a0", " "), max(20, width), subsequent_indent=indent,
        break_long_words=False, break_on_hyphens=False,
    ) or [""]  # fmt: skip


def _all(parts: Iterable[Part], paper: Paper) -> list[str]:
    return [line for one in parts for line in _lines(one, paper)]


@singledispatch
def _lines(part: Part, paper: Paper) -> list[str]:
    raise TypeError(type(part).__name__)


@_lines.register
def _(part: Text, paper: Paper) -> list[str]:
    return _wrapped(f"{part.strong} {part.words}".strip(), paper.width)


@_lines.register
def _(part: Heading, paper: Paper) -> list[str]:
    return _wrapped(part.words, paper.width)


@_lines.register
def _(part: Bullets, paper: Paper) -> list[str]:
    entries = (one if isinstance(one, str) else f"{one[0]}. {one[1]}" for one in part.entries)
    return [line for one in entries for line in _wrapped(f"- {one}", paper.width, "  ")]


@_lines.register
def _(part: Facts, paper: Paper) -> list[str]:
    return [
        line for name, value in part.pairs for line in _wrapped(f"{name}: {value}", paper.width)
    ]


@_lines.register
def _(part: Code, paper: Paper) -> list[str]:
    return [f"  {line}" for line in part.lines]


@_lines.register
def _(part: Grid, paper: Paper) -> list[str]:
    plain = [place for place, head in enumerate(part.heads) if isinstance(head, str)]
    places = list(range(len(part.heads))) if paper.bars else plain
    for kept in (places, plain):
        heads = [_head(part.heads[place]) for place in kept]
        rows = [[_cell(row[place], part.heads[place]) for place in kept] for row in part.rows]
        lists = zip(heads, *rows, strict=True)
        if sum(max(map(_cells, cells)) + 2 for cells in lists) <= paper.width + 2:
            break  # else without bars
    right = {at for at, place in enumerate(kept) if place in part.numbers}
    lines = table_lines(heads, rows, right, paper.width)
    return [*_wrapped(part.caption, paper.width), *lines]


def _head(head: str | Scale) -> str:
    if isinstance(head, str):
        return head
    end = f"{100 * head.most:.3g}%" if head.unit == "%" else f"{head.most:,.6g}"
    return f"0{end:>{_LONG - 1}}"


def _cell(cell: str | Bar | None, head: str | Scale) -> str:
    if isinstance(cell, Bar) and isinstance(head, Scale):
        return _bar(cell, head.most)
    return str(cell or "").replace("\u00a0", " ")


def _bar(bar: Bar, most: float) -> str:
    """A bar; where its interval lies it is shaded, and beyond its end a line.

    Example:
        >>> _bar(Bar(0.5, low=0.4, high=0.6), 1.0)
        '████████▒▒──'
    """
    line = []
    low, high = bar.low, bar.high
    if low is None or high is None:
        low = high = bar.value
    for place in range(_LONG):
        at = (place + 0.5) * most / _LONG
        inside = low < at < high
        if at <= bar.value:
            line.append(_BOTH if inside else _VAGUE if bar.hollow else _BAR)
        else:
            line.append(_BEYOND if inside else " ")
    return "".join(line).rstrip()


@_lines.register
def _(part: Histogram, paper: Paper) -> list[str]:
    most = Scale.until(max(part.shares, default=1.0), "%")
    rows = tuple(
        (label, Bar(share, hollow=hollow), f"{share:.1%}")
        for label, share, hollow in zip(part.labels, part.shares, part.hollow, strict=True)
    )
    heads = (part.axis, most, "share")
    return _lines(Grid(part.caption, heads, rows=rows, numbers=frozenset({2})), paper)


@_lines.register
def _(part: Stack, paper: Paper) -> list[str]:
    rows = tuple((name, Bar(share), f"{share:.1%}") for name, share in part.parts)
    heads = ("what for", Scale(1.0, "%"), "share")
    return _lines(Grid(part.caption, heads, rows=rows, numbers=frozenset({2})), paper)


@_lines.register
def _(part: Strip, paper: Paper) -> list[str]:
    said = "; ".join(label for label, _ in part.parts)
    return _wrapped(f"{part.title}: {said}", paper.width, "  ")


@_lines.register
def _(part: Tree, paper: Paper) -> list[str]:
    return _branch(part.root, "", "")


def _branch(box: Box, before: str, below: str) -> list[str]:
    lines = [f"{before}{box.where}: {box.count:,}"]
    for number, child in enumerate(box.below, 1):
        last = number == len(box.below)
        ends = ("└── ", "    ") if last else ("├── ", "│   ")
        lines += _branch(child, below + ends[0], below + ends[1])
    return lines


@_lines.register
def _(part: Legend, paper: Paper) -> list[str]:
    signs = {"bar": _BAR, "hollow": _VAGUE, "interval": _BOTH + _BEYOND}
    told = ", ".join(f"{signs[name]} {words}" for name, words in part.entries if name in signs)
    return _wrapped(told, paper.width) if paper.bars else []


@_lines.register(Card)
@_lines.register(Finding)
def _(part: Card | Finding, paper: Paper) -> list[str]:
    sentence = _wrapped(part.sentence, paper.width) if isinstance(part, Finding) else []
    return [part.title, *sentence, *_all(part.parts, paper)]


@_lines.register
def _(part: Cards, paper: Paper) -> list[str]:
    lines: list[str] = []
    for one in part.cards:
        lines += ["", *_lines(one, paper)] if lines else _lines(one, paper)
    return lines


@_lines.register
def _(part: Folded, paper: Paper) -> list[str]:
    return _all(part.parts, paper)


# Tables that fit the terminal.


def table_lines(
    columns: Sequence[str], rows: Sequence[Sequence[str]], right: set[int], width: int
) -> list[str]:
    """A table that fits, its headings in front; too narrow for a table, a line for each cell.

    Args:
        columns: The headings.
        rows: The cells.
        right: The columns that are aligned to the right.
        width: How many columns of signs there are.

    Example:
        >>> table_lines(["a", "n"], [["x", "10"]], {1}, 20)
        ['a   n', 'x  10']
    """
    lists = [[name, *(row[place] for row in rows)] for place, name in enumerate(columns)]
    natural = [max(map(_cells, cells)) for cells in lists]
    # Half a number would be a wrong one; a very long word can be read in pieces, if it must be.
    words = [max(_cells(word) for cell in cells for word in (*cell.split(), "")) for cells in lists]
    longest_cells = [max(map(_cells, cells[1:]), default=0) for cells in lists]
    heads = [max(_cells(word) for word in (*name.split(), "")) for name in columns]
    room = width - 2 * (len(columns) - 1)
    for longest in (room, _WORD):
        least = [max(head, min(word, longest)) for head, word in zip(heads, words, strict=True)]
        for place in right:
            least[place] = max(least[place], longest_cells[place])
        if sum(least) <= room:
            break
    widths = _widths(least, natural, room)
    readable = [max(one, min(cell, _WORD)) for one, cell in zip(least, longest_cells, strict=True)]
    if sum(readable) > room:
        return [
            line
            for row in rows
            for line in (
                *(f"{n}: {c}" if n else c for n, c in zip(columns, row, strict=True)), ""
            )
        ]  # fmt: skip
    lines = []
    for number, row in enumerate([columns, *rows]):
        folded = [_folded(cell, size) for cell, size in zip(row, widths, strict=True)]
        if number == 0:  # headings stand just above their columns
            most = max(map(len, folded))
            folded = [[""] * (most - len(cells)) + cells for cells in folded]
        for parts in zip_longest(*folded, fillvalue=""):
            cells = []
            for place, (part, size) in enumerate(zip(parts, widths, strict=True)):
                gap = " " * (size - _cells(part))
                cells.append(gap + part if place in right else part + gap)
            lines.append("  ".join(cells).rstrip())
    return lines


def _cells(text: str) -> int:
    """How many columns of a terminal a text takes."""
    if text.isascii():
        return len(text)
    marks = sum(unicodedata.combining(sign) > 0 for sign in text)
    wide = sum(unicodedata.east_asian_width(sign) in "WF" for sign in text)
    return len(text) + wide - marks


def _folded(text: str, width: int) -> list[str]:
    """A text in lines of some columns, broken between words, or within those that are longer.

    Example:
        >>> _folded("Adm-clerical or Craft", 9)
        ['Adm-cleri', 'cal or', 'Craft']
    """
    if _cells(text) <= width:
        return [text]
    lines = [""]
    for word in re.findall(r"\s*\S+", text):
        if lines[-1] and _cells(lines[-1] + word) > width:
            lines.append("")
            word = word.lstrip()
        for sign in word:
            if _cells(lines[-1] + sign) > width:
                lines.append("")
            lines[-1] += sign
    return lines


def _widths(least: list[int], natural: list[int], room: int) -> list[int]:
    """The widths of columns: none below its least, and what room is left where it is wanted.

    Example:
        >>> _widths([5, 12, 4], [5, 40, 9], 30)
        [5, 17, 8]
    """
    widths = list(least)
    while sum(widths) < room:
        wanting = [place for place, width in enumerate(widths) if width < natural[place]]
        if not wanting:
            break
        for place in wanting[: room - sum(widths)]:
            widths[place] += 1
    return widths
