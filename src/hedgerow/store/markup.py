"""HTML that is safe by construction: whatever is not marked as `Safe` is escaped.

Names and values come from schemas and releases of anybody. Text is escaped where it enters a tag,
and characters that turn the direction of writing are spelt out, so that a label cannot rearrange
what stands beside it.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence
from typing import Self

_TURNING = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2028\u2029\u2066-\u2069\ufeff]")
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_LONGEST = 1000  # characters of one text: more nobody reads
_VOID = {"meta", "br", "hr", "rect", "line", "circle", "path"}


class Safe(str):
    """Text that is HTML already."""

    def __html__(self) -> Self:
        """Itself, for templates, which escape all else."""
        return self


Part = str | None
"""What a tag may hold: `Safe`, or plain text, which is escaped; None is nothing."""


def _escape(text: str) -> str:
    """Text as HTML shows it.

    Example:
        >>> _escape('<b> & "c"')
        '&lt;b&gt; &amp; &quot;c&quot;'
    """
    return html.escape(legible(text))


def legible(text: str) -> str:
    """Visible text, no longer than anybody reads; not escaped yet."""
    return visible(text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…")


def visible(text: str) -> str:
    """Text that cannot rearrange what stands beside it; not escaped yet.

    Example:
        >>> visible("a\u202eb")
        'a⟨U+202E⟩b'
    """
    text = _TURNING.sub(lambda found: f"⟨U+{ord(found[0]):04X}⟩", text)
    return _UNSEEN.sub("\ufffd", text)


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


def small_table(caption: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table for a notebook, without a style of its own.

    Args:
        caption: What it shows.
        columns: The headings.
        rows: The cells; numbers are rounded.

    Example:
        >>> small_table("<b>", ["count"], [[12345.67]])
        '<table><caption>&lt;b&gt;</caption>...<td>12,345.7</td>...
    """
    head = tag("tr", *(tag("th", name) for name in columns))
    body = (tag("tr", *(tag("td", cell_text(one)) for one in row)) for row in rows)
    return tag("table", tag("caption", caption), tag("thead", head), tag("tbody", *body))


def cell_text(value: object) -> str:
    """A value as text that is short and shows what it holds; not escaped yet."""
    if isinstance(value, float):
        return f"{value:,.1f}" if abs(value) >= 10 else f"{value:.3g}"
    return "" if value is None else visible(str(value))
