"""A document as plain data: what is said, and not how it looks."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Literal

_ENDS = (1, 2, 2.5, 5, 10)  # and times ten

Swatch = Literal["bar", "hollow", "interval", "raw"]


@dataclass(frozen=True)
class Text:
    """A paragraph with a tone; one without is a plain string.

    Args:
        words: What it says.
        tone: How: a "note" is smaller, "bad" is a warning, "good" good news, a "lead" larger.
        strong: Words in front of it that are stressed.
    """

    words: str
    tone: Literal["", "note", "bad", "good", "lead"] = ""
    strong: str = ""


@dataclass(frozen=True)
class Heading:
    """A heading inside a section."""

    words: str


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
        end = nice_end(most)
        return Scale(min(1.0, end) if unit == "%" else end, unit)


def nice_end(most: float) -> float:
    """Where an axis ends that holds a number."""
    if not 0 < most < math.inf:
        return 1.0
    unit = 10.0 ** math.floor(math.log10(most))
    return float(next(end * unit for end in _ENDS if end * unit >= most * (1 - 1e-9)))


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
        parts: The bands in words, and their shares.
        heights: What is drawn: shares, or shares per unit where bands differ in width.
        low: The lower ends of the intervals of heights.
        high: The upper ends; infinite where nothing is known.
        widths: The widths of bands on the axis.
        hollow: Which bands are hardly known.
        raw: The raw heights, if they are to be shown.
        unit: What a height is.
        axis: What the numbers below are.
        ticks: Places on the axis, from 0 to 1, and what stands there.
    """

    caption: str
    parts: tuple[tuple[str, float], ...]
    heights: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    widths: tuple[float, ...]
    hollow: tuple[bool, ...]
    raw: tuple[float, ...] | None
    unit: str
    axis: str
    ticks: tuple[tuple[float, str], ...]


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
        below: Its branches, as far as they are drawn.
        merged: How many branches it stands for, if it is what is left of several.
        root: Whether everything is below it. The head of a page tells how many that is, by all
            measurements, so it is not told again.
    """

    where: str
    count: int
    mark: float
    regions: int
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
class Finding:
    """Something that stands out: a sentence, and the numbers that bear it out."""

    title: str
    sentence: str
    parts: tuple[Part, ...] = ()


@dataclass(frozen=True)
class Card:
    """A small part with a title."""

    title: str
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Cards:
    """Cards and findings, beside each other where there is room."""

    cards: tuple[Card | Finding, ...]
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
    | Heading
    | Bullets
    | Facts
    | Code
    | Grid
    | Histogram
    | Stack
    | Strip
    | Tree
    | Legend
    | Finding
    | Card
    | Cards
    | Folded
)


Parts = tuple[Part, ...]


@dataclass(frozen=True)
class Warning:
    """What nobody may overlook: some loud words, and why."""

    loud: str
    why: str


@dataclass(frozen=True, kw_only=True)
class Document:
    """Everything on a page.

    Args:
        title: What it is about.
        brand: What it is, in some words above the title.
        head: What stands below the title.
        sections: The sections.
        foot: How it was made.
        warnings: What nobody may overlook.
        private: Whether it may be passed on; if not, it was computed from raw data or a test.
        name: The title of the window, if not the title.
        numbered: Whether sections have numbers; if not, links lead to those with a key.
    """

    title: str
    brand: str = "hedgerow"
    head: tuple[Part, ...] = ()
    sections: tuple[Section, ...] = ()
    foot: str = ""
    warnings: tuple[Warning, ...] = ()
    private: bool = True
    name: str = ""
    numbered: bool = False
