"""Pages, tables and bars as HTML; `hedgerow.store.markup` escapes whatever enters a tag."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib import resources

from hedgerow.store.markup import Part, Safe, join, tag

__all__ = ["PICTURE", "Part", "Safe", "bars", "document", "join", "tag", "table"]

# nothing may be loaded and no script run, even if a mistake of ours let one in
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"

PICTURE = "as a bar"
"""The heading of a column of bars, for which a phone has no room."""


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
        picture = "pic" if columns[place] == PICTURE else None
        return "num" if place in right else picture

    head = [tag("th", name, scope="col", class_=kind(i)) for i, name in enumerate(columns)]
    body = [
        tag(
            "tr",
            *(
                tag("th", cell, scope="row", class_=kind(i))
                if i == 0
                else tag("td", cell, class_=kind(i))
                for i, cell in enumerate(row)
            ),
        )
        for row in rows
    ]
    inner = tag(
        "table",
        tag("caption", caption),
        tag("thead", tag("tr", *head)),
        tag("tbody", *body),
        class_="long" if long else None,
    )
    # a table wider than its place scrolls by itself, and can be scrolled by keyboard
    return tag("div", inner, class_="wide", tabindex=0, role="group", aria_label=caption)


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
