"""A document as a page in one file: no scripts, nothing from elsewhere, and all text escaped.

Names and values come from schemas and releases of anybody. Jinja2 escapes whatever a template
shows, and characters that turn the direction of writing are spelt out (`hedgerow.store.frames`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from functools import cache, singledispatch
from importlib import resources
from typing import TYPE_CHECKING, Any

import numpy as np

from hedgerow.present.document import (
    Bar,
    Box,
    Document,
    Histogram,
    Legend,
    Part,
    Scale,
    Stack,
    Strip,
    Tree,
    nice_end,
)
from hedgerow.present.words import percent
from hedgerow.store.markup import Safe, join, legible, tag

if TYPE_CHECKING:
    from jinja2 import Environment


# Charts as SVG without scripts: bars with intervals, histograms, parts of a whole, trees.
#
# Every chart has an axis or a legend, and its numbers in words for those who do not see it. Colors
# are those of the style, so that they differ in the light, in the dark and on paper.

COLORS = 9
_LONG, _HIGH = 200, 16  # of a bar with its interval
_WIDTH, _HEIGHT, _LEFT, _TOP = 340, 96, 40, 20  # of a histogram
_READABLE = 0.075  # below this share a box has no room for words


@singledispatch
def draw(chart: Any, *_: Any) -> Safe:
    """A chart as HTML.

    Args:
        chart: What to draw; a bar needs its scale too.
    """
    raise TypeError(type(chart).__name__)


@draw.register
def _(chart: Scale) -> Safe:
    """The axis: where it begins, its middle, and where it ends."""
    ticks = [_tick(part * chart.most, chart.unit) for part in (0, 0.5, 1)]
    unit = None if chart.unit == "%" else tag("span", chart.unit, class_="unit")
    return join([unit, tag("span", *(tag("span", one) for one in ticks), class_="axis")])


def _tick(value: float, unit: str) -> str:
    if unit == "%":
        return f"{100 * value:,.0f}%" if value >= 1 else f"{100 * value:.3g}%"
    return f"{value:,.0f}" if value >= 10 or value == round(value) else f"{value:.2g}"


@draw.register
def _(chart: Bar, scale: Scale) -> Safe:
    """A bar; its interval is a line with ends, and an arrow where it goes on beyond the axis."""

    def at(value: float) -> float:
        return round(_LONG * min(1.0, max(0.0, value / scale.most)), 2)

    kind = "bar raw" if chart.is_raw else "bar hollow" if chart.hollow else "bar"
    parts = [_line("grid", x, x, 0, _HIGH) for x in (0, _LONG / 2, _LONG)]
    parts.append(tag("rect", class_=kind, x=0, y=3, width=at(chart.value), height=_HIGH - 6))
    if chart.raw is not None:
        parts.append(_line("raw", at(chart.raw), at(chart.raw), 0, _HIGH))
    if chart.low is not None and chart.high is not None:
        low, high, middle = at(chart.low), at(chart.high), _HIGH / 2
        parts.append(_line("err", low, high, middle, middle))
        parts.append(_line("err", low, low, middle - 4, middle + 4))
        if chart.high <= scale.most * (1 + 1e-9):
            parts.append(_line("err", high, high, middle - 4, middle + 4))
        else:
            path = f"M{_LONG - 6} {middle - 4}L{_LONG} {middle}L{_LONG - 6} {middle + 4}"
            parts.append(tag("path", class_="beyond", d=path))
    return tag("svg", *parts, class_="bars", viewBox=f"0 0 {_LONG} {_HIGH}",
               preserveAspectRatio="none", aria_hidden="true")  # fmt: skip


@draw.register
def _(chart: Histogram) -> Safe:
    tops = [*chart.heights, *(chart.raw or ())]
    tops += [
        high
        for high, hollow in zip(chart.high, chart.hollow, strict=True)
        if not hollow and math.isfinite(high)
    ]
    top = nice_end(max(tops, default=1.0))
    ends = _LEFT + np.array([0.0, *np.cumsum(chart.widths)]) * _WIDTH / sum(chart.widths)
    base = _TOP + _HEIGHT

    def level(number: float) -> float:
        return float(base - _HEIGHT * min(1.0, max(0.0, number / top)))

    parts = [tag("text", chart.unit, class_="unit", x=0, y=11)]
    for part in (0.0, 0.5, 1.0):
        y = level(part * top)
        parts.append(_line("axis" if part == 0 else "grid", _LEFT, _LEFT + _WIDTH, y, y))
        parts.append(
            tag("text", _tick(part * top, "%"), x=_LEFT - 5, y=f"{y + 4:.1f}", text_anchor="end")
        )
    for place, (left, right) in enumerate(zip(ends[:-1], ends[1:], strict=True)):
        kind = "bar hollow" if chart.hollow[place] else "bar"
        y, middle = level(chart.heights[place]), (left + right) / 2
        gap = min(1.0, (right - left) / 6)
        parts.append(
            tag("rect", class_=kind, x=f"{left + gap:.1f}", y=f"{y:.1f}",
                width=f"{right - left - 2 * gap:.1f}", height=f"{base - y:.1f}")
        )  # fmt: skip
        reach = level(chart.low[place]), level(chart.high[place])
        parts.append(_line("err", middle, middle, *reach))
        cap = min(3.0, (right - left) / 4)
        parts += [_line("err", middle - cap, middle + cap, end, end) for end in reach]
        if chart.raw is not None:
            parts.append(_line("raw", left, right, *[level(chart.raw[place])] * 2))
    for share, words in chart.ticks:
        x = _LEFT + share * _WIDTH
        anchor = "start" if share <= 0 else "end" if share >= 1 else "middle"
        parts.append(_line("axis", x, x, base, base + 4))
        parts.append(tag("text", words, x=f"{x:.1f}", y=base + 16, text_anchor=anchor))
    middle = _LEFT + _WIDTH / 2
    parts.append(
        tag("text", chart.axis, class_="unit", x=middle, y=base + 31, text_anchor="middle")
    )
    numbers = "; ".join(f"{label}: {percent(share)}" for label, share in chart.parts)
    label = f"{chart.caption}, shares of {len(chart.parts)} bands: {numbers}"
    box = f"0 0 {_LEFT + _WIDTH + 4} {base + 36}"
    return tag("figure", tag("svg", *parts, viewBox=box, role="img", aria_label=label))


def _line(kind: str, x1: float, x2: float, y1: float, y2: float) -> Safe:
    places = {"x1": x1, "x2": x2, "y1": y1, "y2": y2}
    return tag("line", class_=kind, **{name: f"{at:.1f}" for name, at in places.items()})


@draw.register
def _(chart: Stack) -> Safe:
    said = "; ".join(f"{name}, {share:.0%}" for name, share in chart.parts)
    pieces = [
        tag("span", class_=f"c{place % COLORS + 1}", style=f"flex:{share:.5f} 1 0")
        for place, (_, share) in enumerate(chart.parts)
    ]
    key = [
        tag("li", tag("i", class_=f"c{place % COLORS + 1}"), f"{name} ({share:.1%})")
        for place, (name, share) in enumerate(chart.parts)
    ]
    label = f"{chart.caption}: {said}"
    bar = tag("div", *pieces, class_="stack", role="img", aria_label=label)
    return join([bar, tag("ul", *key, class_="key")])


@draw.register
def _(chart: Strip) -> Safe:
    pieces = [
        tag("span", label, style=f"flex:{width:g} 1 0", title=label) for label, width in chart.parts
    ]
    said = "; ".join(label for label, _ in chart.parts)
    strip = tag("div", *pieces, class_="strip", role="img", aria_label=said)
    return join([tag("h3", chart.title), strip])


@draw.register
def _(chart: Legend) -> Safe:
    entries = (tag("li", tag("i", class_=swatch), words) for swatch, words in chart.entries)
    return tag("ul", *entries, class_="key")


@draw.register
def _(chart: Tree) -> Safe:
    inner = _box(chart.root, max(1, chart.root.count))
    return tag("div", inner, class_="tree", role="img", aria_label=chart.caption)


def _box(box: Box, everybody: int) -> Safe:
    share = box.count / everybody
    number = "" if box.root else f"{box.count:,}"
    inside: list[Safe] = []
    if share >= _READABLE:
        inside = [tag("b", box.where), tag("span", number)]
    if box.mark and box.count:
        inside.append(tag("span", class_="mark", style=f"width:{box.mark:.1%}"))
    kind = "box" + (" more" if box.merged else "") + ("" if share >= _READABLE else " thin")
    title = f"{box.where}: {number}" if number else box.where
    below = [_box(child, everybody) for child in box.below]
    return tag(
        "div",
        tag("div", *inside, class_=kind, title=title),
        tag("div", *below, class_="kids") if below else None,
        class_="node",
        style=f"flex:{max(box.count, 1)} 1 0",
    )


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
    template = _templates().get_template("page.html")
    return template.render(document=document, policy=POLICY, style=Safe(style()))


def fragment(parts: Iterable[Part]) -> Safe:
    """Parts of a document, to stand in a page that has the same style.

    Args:
        parts: The parts.
    """
    show: Any = _templates().get_template("parts.html").module
    return Safe(show.all(tuple(parts)))


@cache
def style() -> str:
    """How pages look: on a screen light or dark, on a phone, and on paper."""
    return resources.files("hedgerow.present").joinpath("templates/style.css").read_text("utf-8")


@cache
def _templates() -> Environment:
    # loaded when a page is made: commands that print do without
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    folder = resources.files("hedgerow.present").joinpath("templates")
    made = Environment(
        loader=FunctionLoader(lambda name: folder.joinpath(name).read_text("utf-8")),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(form=lambda part: type(part).__name__, draw=draw, keep=_keep)
    made.tests.update(scale=lambda head: isinstance(head, Scale))
    return made


def _shown(value: Any) -> Any:
    """What a template shows of a value; Jinja2 escapes it afterwards."""
    if value is None:
        return ""
    if not isinstance(value, str) or hasattr(value, "__html__"):
        return value
    return legible(value)


def _keep(text: str) -> Safe:
    """Text in which no line ends inside a date or an option."""
    pieces = _DATE.split(text)
    return join(tag("span", one, class_="keep") if i % 2 else one for i, one in enumerate(pieces))
