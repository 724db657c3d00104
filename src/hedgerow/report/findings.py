"""What a release found: its most telling tables, with error bars, in the schema's words."""

from __future__ import annotations

from typing import Any

import numpy as np

from hedgerow.release import Release
from hedgerow.release.histogram import Spread
from hedgerow.release.plots import PALE
from hedgerow.report.divisions import whole
from hedgerow.report.html import PICTURE, Safe, join, table, tag
from hedgerow.schema import Numeric

__all__ = ["findings", "notable"]

_TABLES = 4
_VALUES = 8  # of each; the others are told together


def notable(release: Release, most: int = _TABLES) -> list[Spread]:
    """The tables to show first: the class, then those that differ most from an even spread.

    Only values whose counts stand out of the noise speak for a table.

    Args:
        release: The release.
        most: How many tables.
    """
    target = release.schema.target
    found: list[tuple[bool, float, int, Spread]] = []
    for spread in release.histograms():
        known = [remark not in PALE for remark in spread.remarks]
        if not spread.measured or not any(known):
            continue
        shares = spread.shares
        uneven = float(np.abs(shares - 1 / len(shares))[known].sum())
        found.append((target is None or spread.name != target.name, -uneven, len(found), spread))
    return [spread for *_, spread in sorted(found)[:most]]


def findings(release: Release) -> Safe | None:
    """The section, or None if nothing stands out of the noise."""
    people = release.schema.unit_names[1]
    cards = [_card(spread, people) for spread in notable(release)]
    if not cards:
        return None
    note = (
        f"Numbers of {people}. A thin line is the 95% interval: it contains the true number with a "
        "probability of at least 95%, whatever the data looks like. Where lines overlap, do not "
        "say which number is larger. Pale bars are mostly noise."
    )
    return join([tag("div", *cards, class_="cards broad"), tag("p", note, class_="note")])


def _card(spread: Spread, people: str) -> Safe:
    items = spread.attribute is None
    order = np.argsort(-spread.counts, kind="stable")
    bands = isinstance(spread.attribute, Numeric)  # a few, and a gap between them would mislead
    shown = order[: None if bands else _VALUES].tolist()
    if not items:
        shown.sort()  # as the schema has them
    # one value that nobody knows anything about must not shrink the others
    ends = [spread.high[place] for place in shown if spread.remarks[place] not in PALE]
    top = max([float(end) for end in ends if np.isfinite(end)], default=1.0) or 1.0
    rows: list[list[Any]] = []
    for place in shown:
        low, high = float(spread.low[place]), float(spread.high[place])
        rows.append(
            [
                spread.labels[place],
                _bar(float(spread.counts[place]), low, high, top, spread.remarks[place] in PALE),
                whole(float(spread.counts[place])),
                f"{whole(low)} to {whole(high)}",
            ]
        )
    name = "items" if items else spread.name
    more = len(spread.labels) - len(shown)
    heads = ["value", PICTURE, "about", "95% interval"]
    return tag(
        "div",
        tag("h3", name),
        tag("p", _sentence(spread, order, people)),
        table(f"{name}: {people}", heads, rows, {2, 3}),
        tag("p", f"and {more:,} smaller ones", class_="note") if more > 0 else None,
    )


def _sentence(spread: Spread, order: Any, people: str) -> str:
    """Which value is the most frequent, as far as the intervals tell."""
    first = int(order[0])
    about = whole(float(spread.counts[first]))
    ends = f"{whole(float(spread.low[first]))} to {whole(float(spread.high[first]))}"
    told = f"about {about} {people} (95% interval: {ends})"
    rest = float(np.max(np.delete(spread.high, first), initial=0.0))
    # bands differ in width, so the largest of them need not be where values are densest
    what = "largest band" if isinstance(spread.attribute, Numeric) else "most frequent"
    if float(spread.low[first]) > rest:
        return f"The {what} is {spread.labels[first]}: {told}."
    return (
        f"{spread.labels[first]} has {told}; whether it is the {what}, the intervals do not tell."
    )


def _bar(value: float, low: float, high: float, top: float, pale: bool) -> Safe:
    """A bar with its interval as a thin line, on a scale that ends at `top`."""

    def place(number: float) -> float:
        return 100 * min(1.0, max(0.0, number / top))

    start, end = place(low), place(high)
    kind = "bar told pale" if pale else "bar told"
    return tag(
        "span",
        tag("span", class_=kind, style=f"width:{place(value):.2f}%"),
        tag("span", class_="ends", style=f"margin-left:{start:.2f}%;width:{end - start:.2f}%"),
        class_="bars",
    )
