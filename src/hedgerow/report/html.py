"""HTML that is safe by construction: whatever is not marked as `Safe` is escaped.

Names and values come from schemas and releases of anybody. Text is escaped where it enters a tag,
and characters that turn the direction of writing are spelt out, so that a label cannot rearrange
what stands beside it.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence
from importlib import resources

__all__ = ["PICTURE", "Part", "Safe", "bars", "document", "join", "tag", "table"]

# nothing may be loaded and no script run, even if a mistake of ours let one in
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"

_TURNING = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2028\u2029\u2066-\u2069\ufeff]")
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_LONGEST = 1000  # characters of one text: more nobody reads
PICTURE = "as a bar"
"""The heading of a column of bars, for which a phone has no room."""

_VOID = {"meta", "br", "hr", "rect", "line", "circle", "path"}


class Safe(str):
    """Text that is HTML already."""


Part = str | None
"""What a tag may hold: `Safe`, or plain text, which is escaped; None is nothing."""


def _escape(text: str) -> str:
    """Text as HTML shows it.

    Example:
        >>> _escape('<b> & "c"')
        '&lt;b&gt; &amp; &quot;c&quot;'
    """
    if len(text) > _LONGEST:
        text = text[: _LONGEST - 1] + "…"
    text = _TURNING.sub(lambda found: f"⟨U+{ord(found[0]):04X}⟩", text)
    return html.escape(_UNSEEN.sub("\ufffd", text))


def join(parts: Iterable[Part], between: str = "") -> Safe:
    """Parts one after another."""
    return Safe(
        between.join(
            part if isinstance(part, Safe) else _escape(part) for part in parts if part is not None
        )
    )


def tag(name: str, /, *parts: Part, **attributes: str | int | float | bool | None) -> Safe:
    """An element.

    Args:
        name: Its name, never from data.
        parts: What is in it.
        attributes: By name, an underline at the end dropped and others made hyphens. None and
            False leave an attribute out.

    Example:
        >>> tag("td", "<5", class_="num", title=None)
        '<td class="num">&lt;5</td>'
    """
    given = ""
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        word = key.rstrip("_").replace("_", "-")
        given += f" {word}" if value is True else f' {word}="{_escape(str(value))}"'
    if name in _VOID and not parts:
        return Safe(f"<{name}{given}>" if name in ("meta", "br", "hr") else f"<{name}{given}/>")
    return Safe(f"<{name}{given}>{join(parts)}</{name}>")


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
