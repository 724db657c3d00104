"""Bars with intervals in a cell, and histograms whose areas are shares."""

from __future__ import annotations

from typing import Any

import numpy as np

from hedgerow.arrays import Floats
from hedgerow.release.histogram import Spread
from hedgerow.release.plots import PALE
from hedgerow.report.html import Safe, join, picture, table, tag
from hedgerow.report.labels import part_of, percent, unsure
from hedgerow.schema import Numeric

_WIDTH, _HEIGHT, _TOP = 320, 90, 16
_ALONE = 3  # times narrower than others: a value by itself, which looks like an axis, not an area


def labels_of(spread: Spread) -> list[str]:
    """The values of a spread as a page writes them."""
    if spread.attribute is None:
        return list(spread.labels)
    pairs = zip(spread.edges[:-1], spread.edges[1:], strict=True)
    return [part_of(spread.attribute, low, high) for low, high in pairs]


def hardly(spread: Spread, place: int) -> bool:
    """Whether a value is hardly known, and drawn hollow."""
    return spread.remarks[place] in PALE


def widths_of(spread: Spread) -> Floats:
    """How wide each band is, in units of the attribute or in days.

    Bands that grow with the values are taken to be equal, and so are categories.
    """
    attribute = spread.attribute
    if not isinstance(attribute, Numeric) or attribute.scale == "log":
        return np.ones(len(spread.labels))
    return np.asarray(np.diff(spread.edges) * float(attribute.step), np.float64)


def apart(spread: Spread) -> list[int]:
    """The values that do not belong on an axis of numbers: "other", and single ones among bands."""
    attribute = spread.attribute
    if not isinstance(attribute, Numeric):
        return []
    widths = widths_of(spread)
    narrow = (np.diff(spread.edges) == 1) & (_ALONE * widths < np.median(widths))
    return [p for p in range(len(widths)) if narrow[p] or spread.edges[p] >= attribute.grid]


def bar(*numbers: float, hollow: bool = False, raw: float | None = None) -> Safe:
    """A bar with its interval as a thin line, and a raw one beside it; all from 0 to 1.

    Args:
        numbers: The value, and the ends of its interval.
        hollow: Whether the value is hardly known.
        raw: The raw value, if it is to be shown.
    """
    value, start, end = (100 * min(1.0, max(0.0, one)) for one in numbers)
    kind = "bar told pale" if hollow else "bar told"
    beside = None
    if raw is not None:
        beside = tag("span", class_="bar raw", style=f"width:{100 * min(1.0, raw):.2f}%")
    return tag(
        "span",
        tag("span", class_=kind, style=f"width:{value:.2f}%"),
        tag("span", class_="ends", style=f"margin-left:{start:.2f}%;width:{end - start:.2f}%"),
        beside,
        class_="bars",
    )


def numbers(spread: Spread, raw: Any = None) -> Safe:
    """The bands of a number as a histogram, and below it what stands `apart`.

    Args:
        spread: The bands.
        raw: The raw shares, if they are to be shown.
    """
    alone = apart(spread)
    bands = np.delete(spread.shares, alone)
    beside = share_bars(spread, alone, raw, least=float(bands.max(initial=0.0))) if alone else None
    return join([histogram(spread, raw), beside])


def share_bars(
    spread: Spread, shown: list[int], raw: Any = None, of: float | None = None, least: float = 0.0
) -> Safe:
    """A table of values with bars. Of what is hardly known the interval is told, and no share.

    Args:
        spread: All values.
        shown: The places of those to draw.
        raw: The raw shares, if they are to be shown.
        of: What shares are of; without it, the sum of all counts.
        least: The share at which bars end, if none is larger.
    """
    total = max(float(spread.counts.sum()) if of is None else of, 1e-9)
    labels, shares = labels_of(spread), spread.counts / total
    known = [float(spread.high[p]) / total for p in shown if not hardly(spread, p)]
    tops = [*shares[shown].tolist(), *known, *([] if raw is None else raw[shown].tolist()), least]
    top = min(1.0, max(1e-9, *(one for one in tops if np.isfinite(one))))
    rows: list[list[Any]] = []
    for place in shown:
        ends = [min(1.0, float(one[place]) / total) for one in (spread.low, spread.high)]
        hollow, share = hardly(spread, place), float(shares[place])
        beside = None if raw is None else float(raw[place])
        drawn = bar(
            *(one / top for one in (share, *ends)),
            hollow=hollow,
            raw=None if beside is None else beside / top,
        )
        said = unsure(*ends) if hollow else f"{share:.0%}"
        rows.append([labels[place], drawn, said if beside is None else f"{said} / {beside:.0%}"])
    if of is None and len(shown) < len(shares) and not isinstance(spread.attribute, Numeric):
        rest = f"{1 - float(shares[shown].sum()):.0%}"
        if raw is not None:
            rest += f" / {1 - float(raw[shown].sum()):.0%}"
        rows.append([f"{len(shares) - len(shown):,} more", None, rest])
    elif of is not None and len(shown) < len(shares):
        rows.append([f"{len(shares) - len(shown):,} more", None, None])
    heads = ["value", picture(percent(top)), "share" if raw is None else "released / raw"]
    return table(f"{spread.name}: shares", heads, rows, {2})


def histogram(spread: Spread, raw: Any = None) -> Safe | None:
    """The bands of a number, to scale: where they differ in width, heights are densities.

    Args:
        spread: The bands, of which those that stand `apart` are not drawn.
        raw: The raw shares, if they are to be shown.
    """
    attribute = spread.attribute
    assert isinstance(attribute, Numeric)
    left_out = apart(spread)
    drawn = [place for place in range(len(spread.labels)) if place not in left_out]
    if not drawn:
        return None
    total = max(float(spread.counts.sum()), 1e-9)
    widths = widths_of(spread)
    even = bool(np.ptp(widths[drawn]) == 0)
    per = np.ones(len(widths)) if even else widths
    tall, low, high = (
        numbers / total / per for numbers in (spread.counts, spread.low, spread.high)
    )
    beside = None if raw is None else np.asarray(raw) / per
    known = [float(high[place]) for place in drawn if not hardly(spread, place)]
    tops = [*tall[drawn].tolist(), *(one for one in known if np.isfinite(one)), 1e-9]
    top = max(tops if beside is None else [*tops, *beside[drawn].tolist()])
    top = min(top, 1.0) if even else top
    ends = np.array([0.0, *np.cumsum(widths[drawn])]) * _WIDTH / float(widths[drawn].sum())
    base = _TOP + _HEIGHT

    def level(number: float) -> float:
        return float(base - _HEIGHT * min(1.0, max(0.0, number / top)))

    parts = [
        tag("line", class_="axis", x1=0, x2=_WIDTH, y1=base, y2=base),
        tag("text", _scale(attribute, top, even), x=0, y=_TOP - 5),
    ]
    for place, left, right in zip(drawn, ends[:-1], ends[1:], strict=True):
        kind = "told pale" if hardly(spread, place) else "told"
        y, middle = level(tall[place]), (left + right) / 2
        gap = min(1.0, (right - left) / 6)
        parts.append(
            tag("rect", class_=kind, x=f"{left + gap:.1f}", y=f"{y:.1f}",
                width=f"{right - left - 2 * gap:.1f}", height=f"{base - y:.1f}")
        )  # fmt: skip
        parts.append(_line("err", middle, middle, level(low[place]), level(high[place])))
        if beside is not None:
            at = level(float(beside[place]))
            parts.append(_line("raw", left, right, at, at))
    first, last = spread.edges[drawn[0]], min(spread.edges[drawn[-1] + 1], attribute.grid)
    parts.append(tag("text", str(attribute.edge(first)), x=0, y=base + 14))
    centre = int(np.abs(ends - _WIDTH / 2).argmin())
    if _WIDTH / 4 < ends[centre] < _WIDTH * 3 / 4:
        at, words = float(ends[centre]), str(attribute.edge(spread.edges[drawn[centre]]))
        parts.append(_line("axis", at, at, base, base + 4))
        parts.append(tag("text", words, x=f"{at:.1f}", y=base + 14, text_anchor="middle"))
    parts.append(tag("text", str(attribute.edge(last)), x=_WIDTH, y=base + 14, text_anchor="end"))
    said = labels_of(spread)
    told = "; ".join(f"{said[place]}: {percent(spread.shares[place])}" for place in drawn)
    label = f"{spread.name}, shares of {len(drawn)} bands: {told}"
    box = f"0 0 {_WIDTH} {base + 20}"
    return tag("figure", tag("svg", *parts, viewBox=box, role="img", aria_label=label))


def _scale(attribute: Numeric, top: float, even: bool) -> str:
    """What the height of the picture stands for."""
    if even:
        return f"{percent(top)} in a band" + ("; bands grow" if attribute.scale == "log" else "")
    return f"{percent(top)} per {'day' if attribute.kind == 'date' else 'unit'}"


def _line(kind: str, x1: float, x2: float, y1: float, y2: float) -> Safe:
    places = {"x1": x1, "x2": x2, "y1": y1, "y2": y2}
    return tag("line", class_=kind, **{name: f"{at:.1f}" for name, at in places.items()})
