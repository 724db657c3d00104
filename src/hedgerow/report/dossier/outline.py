"""A document as plain parts, which become a page or Markdown. Text is escaped in both."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from hedgerow.report.html import Safe, document, table, tag

__all__ = ["Bullets", "Grid", "Part", "Section", "as_html", "as_markdown"]

_SHORT = 24  # characters: longer headings of rows need room on a phone, others leave it
_SPECIAL = re.compile(r"([\\`*_\[\]<>|#~$&])")
_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")


@dataclass(frozen=True)
class Bullets:
    """A list: each entry a text, or some words to stress and a text."""

    entries: tuple[str | tuple[str, str], ...]


@dataclass(frozen=True)
class Grid:
    """A table with a caption."""

    caption: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


Part = str | Bullets | Grid


@dataclass(frozen=True)
class Section:
    """A heading and what stands below it."""

    title: str
    parts: tuple[Part, ...]


def as_html(title: str, lead: str, sections: Sequence[Section], warning: str | None = None) -> str:
    """The document as a page in one file, in the style of the report.

    Args:
        title: Its title.
        lead: What it is, in a sentence.
        sections: Its sections, which are numbered.
        warning: What nobody may overlook, if anything.
    """
    body = [
        tag("section", tag("h2", f"{number}. {one.title}"), *map(_html, one.parts))
        for number, one in enumerate(sections, 1)
    ]
    head = tag("header", tag("p", "hedgerow", class_="brand"), tag("h1", title),
               tag("p", lead, class_="lead"), class_="top")  # fmt: skip
    banner = None
    if warning is not None:
        words = tag("p", tag("strong", warning))
        banner = tag("aside", words, class_="banner", aria_label="Warning")
    return document(title, banner, tag("div", head, tag("main", *body), class_="sheet"))


def _html(part: Part) -> Safe:
    if isinstance(part, Grid):
        long = any(len(row[0]) > _SHORT for row in part.rows)
        return table(part.caption, list(part.heads), part.rows, long=long)
    if isinstance(part, Bullets):
        entries = [
            tag("li", one)
            if isinstance(one, str)
            else tag("li", tag("strong", f"{one[0]}. "), one[1])
            for one in part.entries
        ]
        return tag("ul", *entries, class_="limits")
    return tag("p", part)


def as_markdown(
    title: str, lead: str, sections: Sequence[Section], warning: str | None = None
) -> str:
    r"""The same as Markdown.

    Example:
        >>> one = Section("One", ("x < y", Bullets(("a",))))
        >>> print(as_markdown("A_B", "About.", [one]), end="")
        # A\_B
        <BLANKLINE>
        About.
        <BLANKLINE>
        ## 1. One
        <BLANKLINE>
        x \< y
        <BLANKLINE>
        - a
    """
    parts = [f"# {_plain(title)}"]
    parts += [] if warning is None else [f"**{_plain(warning)}**"]
    parts.append(_plain(lead))
    for number, one in enumerate(sections, 1):
        parts += [f"## {number}. {_plain(one.title)}", *map(_markdown, one.parts)]
    return "\n\n".join(parts) + "\n"


def _markdown(part: Part) -> str:
    if isinstance(part, Grid):
        lines = [part.heads, ("---",) * len(part.heads), *part.rows]
        cells = [
            " | ".join(cell if cell == "---" else _plain(cell) for cell in line) for line in lines
        ]
        return f"{_plain(part.caption)}:\n\n" + "\n".join(f"| {line} |" for line in cells)
    if isinstance(part, Bullets):
        return "\n".join(
            f"- {_plain(one)}"
            if isinstance(one, str)
            else f"- **{_plain(one[0])}.** {_plain(one[1])}"
            for one in part.entries
        )
    return _plain(part)


def _plain(text: str) -> str:
    """Text that Markdown shows as it is."""
    text = _UNSEEN.sub(lambda found: f"⟨U+{ord(found[0]):04X}⟩", text)
    text = _SPECIAL.sub(r"\\\1", text)
    # at the start of a line these would make a list, and a name could look like an address
    text = re.sub(r"^(\s*\d*)([-+=.)])(?=[-=\s]|$)", r"\1\\\2", text)
    return text.replace("://", ":\\//")
