"""What a release found: how the class goes with attributes, and its most telling tables."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from hedgerow.release import Release
from hedgerow.release.histogram import Spread
from hedgerow.report.charts import bar, hardly, labels_of, numbers, widths_of
from hedgerow.report.html import Safe, join, picture, table, tag
from hedgerow.report.kinds import KINDS
from hedgerow.report.labels import part_of, rounded, rounded_share
from hedgerow.report.sections.associations import Association
from hedgerow.report.tables import picked
from hedgerow.report.words import capped, many
from hedgerow.schema import Numeric
from hedgerow.schema.query import Query

_TABLES = 4
_VALUES = 8  # of each; the others are told together
_WIDE = 0.6  # an interval of a share that says next to nothing
_ERROR = 0.05
_TO = re.compile("[ \u00a0]to\u00a0(?:under\u00a0)?")


def notable(release: Release, most: int = _TABLES) -> list[Spread]:
    """The tables to show first: the class, then those that differ most from an even spread.

    Only values whose counts stand out of the noise speak for a table. Of numbers, an even spread
    has as many in a band as the band is wide.

    Args:
        release: The release.
        most: How many tables.
    """
    target = release.schema.target
    found: list[tuple[bool, float, int, Spread]] = []
    for spread in release.histograms():
        known = [not hardly(spread, place) for place in range(len(spread.labels))]
        if not spread.measured or not any(known):
            continue
        widths = widths_of(spread)
        uneven = float(np.abs(spread.shares - widths / widths.sum())[known].sum())
        found.append((target is None or spread.name != target.name, -uneven, len(found), spread))
    return [spread for *_, spread in sorted(found)[:most]]


def findings(release: Release) -> Safe | None:
    """The section, or None if nothing stands out of the noise."""
    kind = KINDS[release.kind]
    if kind.least is not None:
        return _certain(release)
    target, people = release.schema.target, release.schema.unit_names[1]
    related, told = (
        kind.related(release, _TABLES) if kind.related and target else [],
        notable(release),
    )
    cards = [_related(one, target.name, people) for one in related if target]
    cards += [_card(release, spread) for spread in told]
    if not cards:
        return None
    note = (
        f"Numbers of {people}. A thin line is the 95% interval: it contains the true number with a "
        "probability of at least 95%, whatever the data looks like. Where lines overlap, do not "
        "say which number is larger."
    )
    if (cap := capped(release.schema)) is not None:
        note += f" {cap}"
    if any("told pale" in card for card in cards):
        note += " Hollow bars are mostly noise."
    if any(
        len(_shown(one)) < len(one.labels) for one in told if not isinstance(one.attribute, Numeric)
    ):
        note += f" {picked('Of many values, those that are listed')}"
    if related and target:
        note += (
            " The intervals of shares by group hold all at once with 95%. Differences between "
            "groups do not show causes."
        )
    return join([tag("div", *cards, class_="cards broad"), tag("p", note, class_="note")])


def _related(found: Association, target: str, people: str) -> Safe:
    """The share of a class by group, with the two groups that differ most in a sentence."""
    most, least = int(found.low.argmax()), int(found.high.argmin())
    name, labels = found.attribute.name, found.labels
    ends = zip(found.shares.tolist(), found.low.tolist(), found.high.tolist(), strict=True)
    said = [rounded_share(*one) for one in ends]

    def told(place: int) -> str:
        about, ends = said[place]
        return f"{about} ({ends})"

    sentence = (
        f"{target} is {found.value} for {told(most)} of {people} with {name} "
        f"{labels[most]}, and for {told(least)} of those with {labels[least]}."
    )
    shown = [i for i in range(len(labels)) if found.high[i] - found.low[i] < _WIDE]
    rows: list[list[Any]] = [
        [
            labels[i],
            bar(found.shares[i], found.low[i], found.high[i]),
            *said[i],
        ]
        for i in shown
    ]
    heads = [name, picture("100%"), f"{target} {found.value}", "95% interval"]
    caption = f"{target} {found.value} by {name}: share of {people}"
    more = len(labels) - len(shown)
    return tag(
        "div",
        tag("h3", f"{target} by {name}"),
        tag("p", sentence),
        table(caption, heads, rows, {2, 3}),
        tag("p", f"Too little is known about {many(more, 'more group')}.", class_="note")
        if more
        else None,
    )


def _card(release: Release, spread: Spread) -> Safe:
    name, people = (
        "items" if spread.attribute is None else spread.name,
        release.schema.unit_names[1],
    )
    if isinstance(spread.attribute, Numeric):
        inner = join([tag("p", median(release, spread)), numbers(spread)])
    else:
        inner = _values(spread, name, people)
    return tag("div", tag("h3", name), inner)


def _values(spread: Spread, name: str, people: str) -> Safe:
    """The largest values that stand out of the noise, with a sentence about the first."""
    shown = _shown(spread)
    first = int(np.argmax(spread.counts))
    top = max([float(spread.high[p]) for p in shown if np.isfinite(spread.high[p])], default=1.0)
    labels, rows = labels_of(spread), []
    for place in shown:
        found = [float(one[place]) for one in (spread.counts, spread.low, spread.high)]
        rows.append([labels[place], bar(*(one / top for one in found)), *rounded(*found)])
    more = len(labels) - len(shown)
    heads = ["value", picture(f"{top:,.0f}"), "about", "95% interval"]
    return join(
        [
            tag("p", _sentence(spread, labels, first, people)),
            table(f"{name}: {people}", heads, rows, {2, 3}),
            tag(
                "p",
                f"and {more:,} more, with smaller estimates or mostly noise",
                class_="note",
            )
            if more > 0
            else None,
        ]
    )


def _shown(spread: Spread) -> list[int]:
    """The places of the values that are listed."""
    order = np.argsort(-spread.counts, kind="stable").tolist()
    shown = [place for place in order if not hardly(spread, place)][:_VALUES]
    return shown if spread.attribute is None else sorted(shown)  # as the schema has them


def _sentence(spread: Spread, labels: list[str], first: int, people: str) -> str:
    """Which value is the most frequent, as far as the intervals tell."""
    about, ends = rounded(*(float(n[first]) for n in (spread.counts, spread.low, spread.high)))
    told = f"about {about} {people} (95% interval: {ends})"
    if float(spread.low[first]) > float(np.max(np.delete(spread.high, first), initial=0.0)):
        return f"The most frequent is {labels[first]}: {told}."
    return (
        f"{labels[first]} has {told}; whether it is the most frequent, the intervals do not tell."
    )


def median(release: Release, spread: Spread) -> str:
    """Between which values the median lies, as far as intervals tell; bands say nothing of that.

    Every edge of a band is tried, so each gets its part of the error.
    """
    attribute = spread.attribute
    assert isinstance(attribute, Numeric)
    place = [one.name for one in release.schema.attributes].index(spread.name)
    edges = [edge for edge in spread.edges if 0 < edge < attribute.grid]
    sides = [((0.0, float(edge)),) for edge in edges]
    sides += [((float(edge), float(attribute.grid)),) for edge in edges]
    low, high = 0, attribute.grid
    if edges:
        asked = [Query(((place, side),)) for side in sides]
        found = release.count(asked, 1 - _ERROR / len(asked))
        (below, above), (most_below, most_above) = (
            np.split(ends, 2) for ends in (found.low, found.high)
        )
        low = max([e for e, more in zip(edges, above > most_below, strict=True) if more], default=0)
        high = min([e for e, more in zip(edges, below > most_above, strict=True) if more],
                   default=attribute.grid)  # fmt: skip
    if (low, high) == (0, attribute.grid):
        return "Where the median lies, the intervals do not tell."
    first, *last = _TO.split(part_of(attribute, low, high))
    where = f"lies between {first} and {last[0]}" if last else f"is {first}"
    return f"The median {where}, with 95% confidence."


def _certain(release: Release) -> Safe | None:
    """What generalised rows tell for certain, as sentences."""
    least, people = KINDS[release.kind].least, release.schema.unit_names[1]
    assert least is not None
    best = [
        (number, name, label)
        for name, values in least(release)
        for label, number in sorted(values, key=lambda one: -one[1])[:1]
    ]
    target = release.schema.target
    best.sort(key=lambda one: (target is None or one[1] != target.name, -one[0]))
    if not best:
        return None
    lines = [
        tag("li", f"At least {number:,.0f} {people}: {name} ", tag("strong", label))
        for number, name, label in best[:_VALUES]
    ]
    return join(
        [
            tag("ul", *lines, class_="limits"),
            tag(
                "p",
                f"With a probability of 95% all of these hold. {people.capitalize()} whose rows "
                "are suppressed are missing, and nobody can say how many they are. So there are no "
                f"upper ends, and shares of all {people} are not known.",
                class_="note",
            ),
        ]
    )
