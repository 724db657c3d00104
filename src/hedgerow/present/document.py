"""A document as plain data, which says nothing of how it looks, and as text for a terminal.

What is drawn on a page is told in numbers. By hand: loading rich would take longer than all else
that `hedgerow show` and `query` do.
"""

from __future__ import annotations

import math
import re
import textwrap
import unicodedata
from collections.abc import Collection, Sequence
from dataclasses import KW_ONLY, dataclass
from itertools import zip_longest
from typing import Literal

_ENDS = (1, 2, 2.5, 5, 10)  # and times ten

Swatch = Literal["bar", "hollow", "interval", "raw"]


@dataclass(frozen=True)
class Text:
    """A paragraph with a tone; one without is a plain string.

    Args:
        words: What it says.
        tone: How: a "note" is smaller, "bad" is a warning, "good" good news, a "lead" larger,
            a "heading" stands above what follows.
        strong: Words in front of it that are stressed.
    """

    words: str
    tone: Literal["", "note", "bad", "good", "lead", "heading"] = ""
    strong: str = ""


@dataclass(frozen=True)
class Bullets:
    """A list: each entry a text, or some words to stress and a text."""

    entries: tuple[str | tuple[str, str], ...]


@dataclass(frozen=True)
class Facts:
    """Names with values.

    Args:
        pairs: Both.
        large: Whether they are figures to be seen at once.
    """

    pairs: tuple[tuple[str, str], ...]
    large: bool = False


@dataclass(frozen=True)
class Code:
    """Lines to be typed; those that begin with # explain."""

    lines: tuple[str, ...]


# Tables and charts.


@dataclass(frozen=True)
class Scale:
    """The axis of a column of bars.

    Args:
        most: Where it ends; it begins at 0.
        unit: What is counted: "people", or "%" for shares, which are given from 0 to 1.
    """

    most: float
    unit: str

    @staticmethod
    def until(most: float, unit: str) -> Scale:
        """The axis that holds a number and ends at a round one.

        Example:
            >>> Scale.until(0.43, "%").most, Scale.until(1730, "people").most
            (0.5, 2000.0)
        """
        if not 0 < most < math.inf:
            return Scale(1.0, unit)
        ten = 10.0 ** math.floor(math.log10(most))
        end = float(next(end * ten for end in _ENDS if end * ten >= most * (1 - 1e-9)))
        return Scale(min(1.0, end) if unit == "%" else end, unit)


@dataclass(frozen=True)
class Bar:
    """A bar in a cell of a table, with its interval.

    Args:
        value: The estimate.
        low: The lower end of the interval, if there is one.
        high: The upper end.
        hollow: Whether the value is hardly known.
        raw: The raw value, if it is to be shown.
        is_raw: Whether the value itself was computed from raw data.
    """

    value: float
    _: KW_ONLY
    low: float | None = None
    high: float | None = None
    hollow: bool = False
    raw: float | None = None
    is_raw: bool = False


Cell = str | Bar | None


@dataclass(frozen=True)
class Grid:
    """A table with a caption; the first cell of a row is its heading.

    Args:
        caption: What it shows.
        heads: The headings; that of a column of bars is their scale.
        rows: The cells.
        numbers: The columns that hold numbers.
        long: Whether the headings of rows are whole sentences.
        whole: Whether it is printed in one piece.
    """

    caption: str
    heads: tuple[str | Scale, ...]
    _: KW_ONLY
    rows: Sequence[Sequence[Cell]]
    numbers: Collection[int] = ()
    long: bool = False
    whole: bool = False


@dataclass(frozen=True, kw_only=True)
class Histogram:
    """The bands of a number, drawn to scale: the area of a bar is its share.

    Args:
        caption: What it shows.
        bands: Each in words, its share, its width on the axis, and what is drawn: its share, or
            its share per unit where bands differ in width.
        unit: What a height is.
        axis: What the numbers below are.
        ticks: Places on the axis, from 0 to 1, and what stands there.
    """

    caption: str
    bands: tuple[tuple[str, float, float, Bar], ...]
    unit: str
    axis: str
    ticks: tuple[tuple[float, str], ...]

    @property
    def parts(self) -> tuple[tuple[str, float], ...]:
        """The bands in words, and their shares."""
        return tuple((label, share) for label, share, *_ in self.bands)


@dataclass(frozen=True)
class Stack:
    """Parts of a whole beside each other, with a legend."""

    caption: str
    parts: tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class Strip:
    """What lies beside each other on a line, each part with its width."""

    title: str
    parts: tuple[tuple[str, float], ...]


@dataclass(frozen=True, kw_only=True)
class Box:
    """A node of a tree as it is drawn.

    Args:
        where: What tells it from its parent.
        count: Its published count.
        mark: The share of the most frequent class in it, if there is a class.
        regions: How many regions it is divided into.
        divided: Whether it has branches, which need not be drawn.
        below: Its branches, as far as they are drawn.
        merged: How many branches it stands for, if it is what is left of several.
        root: Whether everything is below it. The head of a page tells how many that is, by all
            measurements, so it is not told again.
    """

    where: str
    count: int
    mark: float
    regions: int
    divided: bool = False
    below: tuple[Box, ...] = ()
    merged: int = 0
    root: bool = False


@dataclass(frozen=True)
class Tree:
    """A tree from the top, boxes as wide as their counts, and the same in words."""

    caption: str
    root: Box


@dataclass(frozen=True)
class Legend:
    """What colors and shapes mean."""

    entries: tuple[tuple[Swatch, str], ...]


# What holds other parts.


@dataclass(frozen=True)
class Card:
    """A small part with a title; a finding has a sentence, and the numbers that bear it out."""

    title: str
    parts: tuple[Part, ...]
    finding: str = ""


@dataclass(frozen=True)
class Cards:
    """Cards beside each other where there is room."""

    cards: tuple[Card, ...]
    broad: bool = False


@dataclass(frozen=True)
class Folded:
    """Parts that are shown when somebody wants them."""

    summary: str
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Section:
    """A heading and what stands below it.

    Args:
        title: The heading.
        parts: The parts.
        key: Its name in addresses, if it can be led to.
    """

    title: str
    parts: Sequence[Part]
    key: str = ""


Part = (
    str
    | Text
    | Bullets
    | Facts
    | Code
    | Grid
    | Histogram
    | Stack
    | Strip
    | Tree
    | Legend
    | Card
    | Cards
    | Folded
)


Parts = tuple[Part, ...]


@dataclass(frozen=True, kw_only=True)
class Document:
    """Everything on a page.

    Args:
        title: What it is about.
        brand: What it is, in some words above the title.
        head: What stands below the title.
        sections: The sections.
        foot: How it was made.
        warnings: What nobody may overlook: some loud words, and why.
        private: Whether it may be passed on; if not, it was computed from raw data or a test.
        name: The title of the window, if not the title.
        numbered: Whether sections have numbers; if not, links lead to those with a key.
    """

    title: str
    brand: str = "hedgerow"
    head: tuple[Part, ...] = ()
    sections: tuple[Section, ...] = ()
    foot: str = ""
    warnings: tuple[tuple[str, str], ...] = ()
    private: bool = True
    name: str = ""
    numbered: bool = False


# As text for a terminal.


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
        >>> one = Section("One", (Bullets(("a", "b")),))
        >>> print(text(Document(title="T", sections=(one,)), 40))
        T
        <BLANKLINE>
        One
        - a
        - b
    """
    blocks = [_wrap(document.title, width)]
    blocks += [_wrap(". ".join(warning), width) for warning in document.warnings]
    blocks += [_lines(one, width, bars) for one in document.head]
    for section in document.sections:
        lines = [section.title] if section.title else []
        for number, part in enumerate(section.parts):
            block = _lines(part, width, bars)
            # tables stand by themselves, sentences below each other
            heading = isinstance(part, Text) and part.tone == "heading"
            apart = (heading or isinstance(part, Grid | Cards | Card)) and number > 0
            lines += ["", *block] if apart and block else block
        blocks.append(lines)
    if document.foot:
        blocks.append(_wrap(document.foot, width))
    return "\n\n".join("\n".join(block) for block in blocks if block).replace("\u00a0", " ")


def _wrap(words: str, width: int, indent: str = "") -> list[str]:
    return textwrap.wrap(
        words.replace("\u00a0", " "), max(20, width), subsequent_indent=indent,
        break_long_words=False, break_on_hyphens=False,
    ) or [""]  # fmt: skip


def _lines(part: Part, width: int, bars: bool) -> list[str]:
    """A part in lines."""
    match part:
        case str():
            return _wrap(part, width)
        case Text():
            return _wrap(f"{part.strong} {part.words}".strip(), width)
        case Bullets():
            entries = (one if isinstance(one, str) else ". ".join(one) for one in part.entries)
            return [line for one in entries for line in _wrap(f"- {one}", width, "  ")]
        case Facts():
            return [line for pair in part.pairs for line in _wrap(": ".join(pair), width)]
        case Code():
            return [f"  {line}" for line in part.lines]
        case Grid():
            return _grid(part, width, bars)
        case Histogram() | Stack():
            return _grid(_shares(part), width, bars)
        case Strip():
            labels = "; ".join(label for label, _ in part.parts)
            return _wrap(f"{part.title}: {labels}", width, "  ")
        case Tree():
            return _branch(part.root, "", "")
        case Legend():
            signs = {"bar": _BAR, "hollow": _VAGUE, "interval": _BOTH + _BEYOND}
            key = ", ".join(
                f"{signs[name]} {words}" for name, words in part.entries if name in signs
            )
            return _wrap(key, width) if bars else []
        case Cards():
            blocks = (["", *_lines(one, width, bars)] for one in part.cards)
            return [line for block in blocks for line in block][1:]
        case Card() | Folded():
            lines = [] if isinstance(part, Folded) else [part.title]
            lines += _wrap(part.finding, width) if isinstance(part, Card) and part.finding else []
            return [*lines, *(line for one in part.parts for line in _lines(one, width, bars))]


def _shares(part: Histogram | Stack) -> Grid:
    """Bands of a number, or parts of a whole, as a table with bars."""
    name, most, hollow = "what for", Scale(1.0, "%"), [False] * len(part.parts)
    if isinstance(part, Histogram):
        most = Scale.until(max((share for _, share in part.parts), default=1.0), "%")
        name, hollow = part.axis, [bar.hollow for *_, bar in part.bands]
    rows = tuple(
        (label, Bar(share, hollow=pale), f"{share:.1%}")
        for (label, share), pale in zip(part.parts, hollow, strict=True)
    )
    return Grid(part.caption, (name, most, "share"), rows=rows, numbers=frozenset({2}))


def _grid(part: Grid, width: int, bars: bool) -> list[str]:
    plain = [place for place, head in enumerate(part.heads) if isinstance(head, str)]
    for places in ([*range(len(part.heads))] if bars else plain, plain):
        heads = [_head(part.heads[place]) for place in places]
        rows = [[_cell(row[place], part.heads[place]) for place in places] for row in part.rows]
        lists = zip(heads, *rows, strict=True)
        if sum(max(map(_cells, cells)) + 2 for cells in lists) <= width + 2:
            break  # else without bars
    right = {at for at, place in enumerate(places) if place in part.numbers}
    return [*_wrap(part.caption, width), *table_lines(heads, rows, right, width)]


def _head(head: str | Scale) -> str:
    if isinstance(head, str):
        return head
    end = f"{100 * head.most:.3g}%" if head.unit == "%" else f"{head.most:,.6g}"
    return f"0{end:>{_LONG - 1}}"


def _cell(cell: Cell, head: str | Scale) -> str:
    """A cell; a bar is shaded where its interval lies, which is a line beyond its end.

    Example:
        >>> _cell(Bar(0.5, low=0.4, high=0.6), Scale(1.0, "%"))
        '████████▒▒──'
    """
    if not isinstance(cell, Bar) or isinstance(head, str):
        return str(cell or "").replace("\u00a0", " ")
    line = ""
    low, high = cell.low, cell.high
    for place in range(_LONG):
        at = (place + 0.5) * head.most / _LONG
        inside = low is not None and high is not None and low < at < high
        if at <= cell.value:
            line += _BOTH if inside else _VAGUE if cell.hollow else _BAR
        else:
            line += _BEYOND if inside else " "
    return line.rstrip()


def _branch(box: Box, before: str, below: str) -> list[str]:
    more = " ..." if box.divided and not box.below else ""
    lines = [f"{before}{box.where}{more}: {box.count:,}"]
    for number, child in enumerate(box.below, 1):
        last = number == len(box.below)
        ends = ("└── ", "    ") if last else ("├── ", "│   ")
        lines += _branch(child, below + ends[0], below + ends[1])
    return lines


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
