"""Text made safe for pages and notebooks (HTML), and a small table for the latter.

Names and values come from schemas and releases of anybody. Characters that turn the direction of
writing are spelt out, so that a label cannot rearrange what stands beside it.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence

_TURNING = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2028\u2029\u2066-\u2069\ufeff]")
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_LONGEST = 1000  # characters of one text: more nobody reads


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

    def write_row(name: str, cells: Iterable[object]) -> str:
        shown = (html.escape(legible(cell_text(cell))) for cell in cells)
        return f"<tr>{''.join(f'<{name}>{cell}</{name}>' for cell in shown)}</tr>"

    head, body = write_row("th", columns), "".join(write_row("td", row) for row in rows)
    title = html.escape(legible(caption))
    return f"<table><caption>{title}</caption><thead>{head}</thead><tbody>{body}</tbody></table>"


def cell_text(value: object) -> str:
    """A value as text that is short and shows what it holds; not escaped yet."""
    if isinstance(value, float):
        return f"{value:,.1f}" if abs(value) >= 10 else f"{value:.3g}"
    return "" if value is None else visible(str(value))
