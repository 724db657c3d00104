"""Pages, tables and bars as HTML; `hedgerow.store.markup` escapes whatever enters a tag."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from importlib import resources

from hedgerow.store.markup import Part, Safe, join, tag

__all__ = ["Part", "Safe", "bars", "document", "join", "picture", "table", "tag"]

# nothing may be loaded and no script run, even if a mistake of ours let one in
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"

_PICTURE = "as a bar"
_DATE = re.compile(r"(\d{4}-\d\d-\d\d)")


def picture(most: str) -> str:
    r"""The heading of a column of bars, for which a phone has no room; where they end is said.

    Example:
        >>> picture("100%")
        'as a bar, 0\xa0to\xa0100%'
    """
    return f"{_PICTURE}, 0\u00a0to\u00a0{most}"


def document(title: str, *body: Part, listed: bool = True) -> str:
    """A whole page in one file, without scripts or anything from elsewhere.

    Args:
        title: Its title.
        body: What is on it.
        listed: Whether search engines may list it.
    """
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="referrer", content="no-referrer"),
        None if listed else tag("meta", name="robots", content="noindex"),
        tag("title", title),
        tag(
            "style",
            Safe(resources.files("hedgerow.report").joinpath("style.css").read_text("utf-8")),
        ),
    )
    return f"<!DOCTYPE html>\n{tag('html', head, tag('body', *body), lang='en')}\n"


def table(
    caption: str,
    columns: list[str],
    rows: Iterable[Sequence[Part]],
    numbers: Iterable[int] = (),
    long: bool = False,
) -> Safe:
    """A table with a caption; the first cell of a row is its heading.

    Args:
        caption: What it shows.
        columns: The headings.
        rows: The cells.
        numbers: The columns that hold numbers.
        long: Whether the headings of rows are whole sentences.
    """
    right = set(numbers)

    def kind(place: int) -> str | None:
        drawn = "pic" if columns[place].startswith(_PICTURE) else None
        return "num" if place in right else drawn

    head = [tag("th", name, scope="col", class_=kind(i)) for i, name in enumerate(columns)]
    body = [
        tag(
            "tr",
            *(
                tag("th", _kept(cell), scope="row", class_=kind(i))
                if i == 0
                else tag("td", cell, class_=kind(i))
                for i, cell in enumerate(row)
            ),
        )
        for row in rows
    ]
    inner = tag(
        "table",
        tag("caption", tag("span", caption)),
        tag("thead", tag("tr", *head)),
        tag("tbody", *body),
        class_="long" if long else None,
    )
    # a table wider than its place scrolls by itself, and can be scrolled by keyboard
    return tag("div", inner, class_="wide", tabindex=0, role="group", aria_label=caption)


def _kept(text: Part) -> Part:
    """Text in which no line ends inside a date."""
    if text is None or isinstance(text, Safe):
        return text
    pieces = _DATE.split(text)
    return join(tag("span", one, class_="keep") if i % 2 else one for i, one in enumerate(pieces))


def bars(shares: Iterable[tuple[str, float]]) -> Safe:
    """Bars above each other in a cell, each a class and a share from 0 to 1; no text."""
    return tag(
        "span",
        *(
            tag("span", class_=f"bar {name}", style=f"width:{min(1.0, max(0.0, share)):.2%}")
            for name, share in shares
        ),
        class_="bars",
    )
