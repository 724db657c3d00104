"""A document as a page in one file, or as Markdown: nothing from elsewhere, all text escaped.

Names and values come from schemas and releases of anybody. Jinja2 escapes whatever a template
shows, and characters that turn the direction of writing are spelt out (`hedgerow.store.html_text`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from functools import cache
from importlib import resources
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from markupsafe import Markup, escape

from hedgerow.present.document import Document, Histogram, Part, Scale
from hedgerow.present.words import percent
from hedgerow.store.html_text import legible

if TYPE_CHECKING:
    from jinja2 import Environment


# Charts as SVG without scripts: what templates cannot say in short.


COLORS = 9
_LEFT, _WIDTH, _BASE, _HEIGHT = 40, 340, 116, 96  # of a histogram


def _tick(value: float, unit: str) -> str:
    """A number at an axis."""
    if unit == "%":
        return f"{100 * value:,.0f}%" if value >= 1 else f"{100 * value:.3g}%"
    return f"{value:,.0f}" if value >= 10 or value == round(value) else f"{value:.2g}"


def _along(value: float, most: float) -> float:
    """Where a number lies along a bar, which ends at 200."""
    return round(200 * min(1.0, max(0.0, value / most)), 2)


def _to_scale(chart: Histogram) -> tuple[float, list[dict[str, Any]]]:
    """Where the axis of a histogram ends, and where its bands lie on the page."""
    *_, widths, bars = zip(*chart.bands, strict=True)
    tops = [x for bar in bars for x in (bar.value, bar.raw) if x is not None]
    tops += [bar.high for bar in bars if not bar.hollow and math.isfinite(bar.high)]
    top = Scale.until(max(tops), "").most
    ends = _LEFT + np.array([0.0, *np.cumsum(widths)]) * _WIDTH / sum(widths)

    def level(value: float | None) -> float | None:
        return None if value is None else _BASE - _HEIGHT * min(1.0, max(0.0, value / top))

    levels = [[level(x) for x in (bar.value, bar.low, bar.high, bar.raw)] for bar in bars]
    return top, [
        {"left": left, "right": right, "hollow": bar.hollow}
        | dict(zip(("y", "low", "high", "raw"), those, strict=True))
        for (left, right), bar, those in zip(pairwise(ends.tolist()), bars, levels, strict=True)
    ]


# nothing may be loaded and no script run, even if a mistake of ours let one in
POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"

_DATE = re.compile(r"(\d{4}-\d\d-\d\d|--\w+)")


def page(document: Document) -> str:
    """The document as a whole page.

    Args:
        document: What to show.

    Example:
        >>> from hedgerow.present.document import Section, Text
        >>> text = page(Document(title="a", sections=(Section("b", (Text("<c>"),)),)))
        >>> text.startswith("<!DOCTYPE html>"), "&lt;c&gt;" in text
        (True, True)
    """
    template = _templates(legible).get_template("page.html")
    return template.render(document=document, policy=POLICY, style=Markup(style()))


def markdown(document: Document) -> str:
    r"""The document as Markdown.

    Args:
        document: What to write.

    Example:
        >>> from hedgerow.present.document import Bullets, Section, Text
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
    text = _templates(_in_markdown).get_template("page.md").render(document=document)
    return text.strip("\n") + "\n"


def fragment(parts: Iterable[Part]) -> Markup:
    """Parts of a document, to stand in a page that has the same style.

    Args:
        parts: The parts.
    """
    show: Any = _templates(legible).get_template("parts.html").module
    return Markup(show.all(tuple(parts)))


@cache
def style() -> str:
    """How pages look: on a screen light or dark, on a phone, and on paper."""
    return resources.files("hedgerow.present").joinpath("templates/style.css").read_text("utf-8")


@cache
def _templates(write: Callable[[str], str]) -> Environment:
    """The templates of pages, or of Markdown, with how they write a text."""
    # loaded when a page is made: commands that print do without
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    def show(value: Any) -> Any:
        """What a template shows of a value; Jinja2 escapes what is not marked as escaped."""
        if value is None:
            return ""
        return write(value) if isinstance(value, str) and not isinstance(value, Markup) else value

    folder = resources.files("hedgerow.present").joinpath("templates")
    made = Environment(
        loader=FunctionLoader(lambda name: folder.joinpath(name).read_text("utf-8")),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=show,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals["colors"] = COLORS
    made.filters.update(
        form=lambda part: type(part).__name__, keep=_keep, tick=_tick, along=_along,
        percent=percent, to_scale=_to_scale, code=lambda line: Markup(_UNSEEN.sub(_spell, line)),
    )  # fmt: skip
    made.tests.update(scale=lambda head: isinstance(head, Scale))
    return made


def _keep(text: str) -> Markup:
    """Text in which no line ends inside a date or an option."""
    pieces = [escape(legible(one)) for one in _DATE.split(text)]
    pieces[1::2] = [Markup('<span class="keep">{}</span>').format(one) for one in pieces[1::2]]
    return Markup().join(pieces)


_SPECIAL = re.compile(r"([\\`*_\[\]<>|#~$&])")
_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")


def _spell(match: re.Match[str]) -> str:
    return f"⟨U+{ord(match[0]):04X}⟩"


def _in_markdown(text: str) -> Markup:
    """Text that Markdown shows as it is."""
    text = _SPECIAL.sub(r"\\\1", _UNSEEN.sub(_spell, text))
    # at the start of a line these would make a list, and a name could look like an address
    text = re.sub(r"^(\s*\d*)([-+=.)])(?=[-=\s]|$)", r"\1\\\2", text)
    return Markup(text.replace("://", ":\\//"))
