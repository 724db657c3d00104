"""How values are spread, as the release tells; beside the raw ones, if these are given."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hedgerow.release import Release
from hedgerow.release.histogram import Spread
from hedgerow.release.plots import PALE
from hedgerow.report.divisions import whole
from hedgerow.report.html import PICTURE, Safe, bars, join, table, tag
from hedgerow.report.kinds import KINDS
from hedgerow.schema import Attribute, Categorical, Numeric
from hedgerow.schema.query import Query, Vocabulary

__all__ = ["questions", "values"]

_SHOWN = 8  # values of a categorical attribute; the others are told together
_IN_NUMBERS = 40  # values in the table of all numbers
_ASKED = 3  # attributes that examples are about
_WIDE = (
    "estimates follow a model of all that was counted, and intervals come from the counts "
    "themselves, so an estimate need not lie in the middle of its interval"
)
_WIDTH, _HEIGHT, _TOP = 320, 90, 14


def values(release: Release, raw: Sequence[Sequence[float]] | None) -> Safe:
    """One small picture for each attribute, with its numbers.

    Args:
        release: The release.
        raw: For each attribute the raw shares of the same values, if they are to be shown.
    """
    cards = []
    silent = []
    for place, spread in enumerate(release.histograms()):
        beside = None if raw is None else np.asarray(raw[place])
        if spread.measured:
            cards.append(_card(spread, beside, release.schema.unit_names[1]))
        else:
            silent.append(spread.name)
    key = [tag("li", tag("i", class_="c1"), "released")]
    key.append(tag("li", tag("i", class_="pale"), f"released, {' or '.join(PALE)}"))
    if raw is not None:
        key.append(tag("li", tag("i", class_="c2"), "raw (NOT PRIVATE)"))
    even = None
    if release.marginals is not None:
        even = tag("p", f"Under “In numbers”, {_WIDE}.")
    elif KINDS[release.kind].cuts is not None:
        even = tag(
            "p",
            f"Inside a region {release.schema.unit_names[1]} are taken to be spread evenly, so "
            "values that no region tells apart have the same share.",
        )
    nothing = None
    if silent:
        nothing = tag("p", f"Not measured: the release says nothing about {', '.join(silent)}.")
    drawn = tag("div", *cards, class_="cards") if cards else None
    return join([even, tag("ul", *key, class_="key"), drawn, nothing])


def _card(spread: Spread, raw: Any, units: str) -> Safe:
    numeric = isinstance(spread.attribute, Numeric)
    name = "how often each item occurs" if spread.attribute is None else spread.name
    shares = spread.shares
    picture = _histogram(spread, raw) if numeric else _bars(spread, raw)
    rows = []
    for place in _first(shares, _IN_NUMBERS, numeric):
        row = [
            spread.labels[place],
            whole(float(spread.counts[place])),
            whole(float(spread.low[place])),
            whole(float(spread.high[place])),
            spread.remarks[place],
        ]
        rows.append(row if raw is None else [*row, f"{raw[place]:.1%}", f"{shares[place]:.1%}"])
    heads = ["value", "about", "from", "to (95% interval)", "remark"]
    heads += [] if raw is None else ["raw share", "released share"]
    right = {1, 2, 3, *range(5, len(heads))}
    numbers = table(f"{name}: {units}", heads, rows, right)
    more = len(shares) - len(rows)
    return tag(
        "div",
        tag("h3", name),
        picture,
        tag(
            "details",
            tag("summary", "In numbers", tag("span", f": {name}", class_="soft")),
            numbers,
            tag("p", f"and {more:,} more", class_="note") if more > 0 else None,
        ),
    )


def _first(shares: Any, most: int, in_order: bool) -> list[int]:
    """The places to show: the largest if there are too many, else all."""
    if in_order or len(shares) <= most:
        return list(range(min(len(shares), most)))
    return sorted(np.argsort(-shares, kind="stable")[:most].tolist())  # as the schema has them


def _bars(spread: Spread, raw: Any) -> Safe:
    shares = spread.shares
    shown = _first(shares, _SHOWN, False)
    top = max(float(shares.max()), 0.0 if raw is None else float(raw.max()), 1e-9)
    rows: list[list[Any]] = []
    for place in shown:
        drawn = [(_told(spread, place), float(shares[place]) / top)]
        said = f"{shares[place]:.0%}"
        if raw is not None:
            drawn.append(("raw", float(raw[place]) / top))
            said += f" / {raw[place]:.0%}"
        rows.append([spread.labels[place], bars(drawn), said])
    if len(shown) < len(shares):
        rest = f"{1 - float(shares[shown].sum()):.0%}"
        if raw is not None:
            rest += f" / {1 - float(raw[shown].sum()):.0%}"
        rows.append([f"{len(shares) - len(shown):,} others", None, rest])
    heads = ["value", PICTURE, "share" if raw is None else "released / raw"]
    of = " of all items held" if spread.attribute is None else ""
    return table(f"{spread.name}: shares{of}", heads, rows, {2})


def _told(spread: Spread, place: int) -> str:
    """How a value is drawn: what is hardly known is pale."""
    return "told pale" if spread.remarks[place] in PALE else "told"


def _histogram(spread: Spread, raw: Any) -> Safe:
    shares = spread.shares
    top = max(float(shares.max()), 0.0 if raw is None else float(raw.max()), 1e-9)
    step = _WIDTH / len(shares)
    base = _TOP + _HEIGHT
    drawn = [
        tag("line", class_="axis", x1=0, x2=_WIDTH, y1=base, y2=base),
        tag("text", f"{top:.0%}", x=0, y=_TOP - 4),
    ]
    for place, share in enumerate(shares.tolist()):
        tall = _HEIGHT * share / top
        left, wide = place * step + 1, max(step - 2, 1)
        drawn.append(
            tag("rect", class_=_told(spread, place), x=f"{left:.1f}", y=f"{base - tall:.1f}",
                width=f"{wide:.1f}", height=f"{tall:.1f}")
        )  # fmt: skip
        if raw is not None:
            high = f"{base - _HEIGHT * float(raw[place]) / top:.1f}"
            drawn.append(
                tag("line", class_="raw", x1=f"{left - 1:.1f}", x2=f"{left + wide + 1:.1f}",
                    y1=high, y2=high)
            )  # fmt: skip
    first, last = spread.labels[0], spread.labels[-1]
    drawn.append(tag("text", _short(first), x=0, y=base + 14))
    drawn.append(tag("text", _short(last), x=_WIDTH, y=base + 14, text_anchor="end"))
    place = int(shares.argmax())
    label = (
        f"{spread.name}: shares of {len(shares)} steps from {first} to {last}; by the release most "
        f"are in {spread.labels[place]}, {shares[place]:.0%}"
    )
    if raw is not None:
        most = int(raw.argmax())
        label += f", and in the raw data in {spread.labels[most]}, {raw[most]:.0%}"
    box = f"0 0 {_WIDTH} {base + 20}"
    return tag("figure", tag("svg", *drawn, viewBox=box, role="img", aria_label=label))


def _short(label: str) -> str:
    return label if len(label) <= 26 else label[:25] + "…"


def questions(release: Release) -> Safe | None:
    """Some questions that the release answers, so that a reader sees how sure answers are."""
    cuts = KINDS[release.kind].cuts
    if cuts is None:
        return None  # its itemsets are such questions
    asked, people = _examples(release, cuts), release.schema.unit_names[1]
    vocabulary = Vocabulary(release.schema)
    answers = release.count(asked)
    rows = [
        [
            vocabulary.text(query),
            whole(answers.estimate[place]),
            f"{whole(answers.low[place])} to {whole(answers.high[place])}",
        ]
        for place, query in enumerate(asked)
    ]
    return join(
        [
            tag(
                "p",
                f"Anybody can ask the release how many {people} meet some conditions. An interval "
                "is "
                + (
                    "narrow where a question follows the edges of the regions, and wide where it "
                    "cuts through them."
                    if release.marginals is None
                    else "narrow for one attribute and for a pair that was counted, and wide for "
                    f"other combinations. Here {_WIDE}."
                ),
            ),
            table(
                f"How many {people} are there?", ["question", "about", "95% interval"], rows, {1, 2}
            ),
        ]
    )


def _examples(release: Release, cuts: Callable[[Any, int], tuple[int, Any]]) -> list[Query]:
    """Everybody, then conditions on the attributes that the release divides most."""
    schema = release.schema
    known = [cuts(release, place) for place in range(len(schema.attributes))]
    finest = sorted(range(len(known)), key=lambda a: -known[a][0])[:_ASKED]
    halves = {a: (a, _half(schema.attributes[a], known[a][1])) for a in finest}
    found = [Query(()), *(Query((halves[a],)) for a in finest)]
    for one, other in zip(finest, finest[1:], strict=False):
        found.append(Query(tuple(sorted((halves[one], halves[other])))))
    if schema.classes:
        last = len(schema.classes) - 1
        found += [Query((), (last,)), Query((halves[finest[0]],), (last,))]
    return found


def _half(attribute: Attribute, edges: Any) -> tuple[tuple[float, float], ...]:
    """Part of an attribute: one side of where it is cut most, or a branch of its taxonomy."""
    if isinstance(attribute, Categorical):
        children = attribute.taxonomy.children[0]
        low, high = attribute.taxonomy.spans[children[0]] if children else (0, attribute.size)
        return ((float(low), float(high)),)
    inner = edges[(edges > 0) & (edges < attribute.grid)]
    middle = int(inner[0]) if len(inner) else attribute.grid // 2
    return ((0.0, float(max(1, middle))),)
