"""How values are spread, as the release tells; beside the raw ones, if these are given."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hedgerow.release import Release
from hedgerow.release.histogram import Spread
from hedgerow.release.plots import PALE
from hedgerow.report.charts import labels_of, numbers, share_bars
from hedgerow.report.html import Safe, bars, join, picture, table, tag
from hedgerow.report.kinds import KINDS
from hedgerow.report.labels import rounded
from hedgerow.report.sections.associations import Least
from hedgerow.report.tables import REMARKS, picked
from hedgerow.schema import Attribute, Categorical, Numeric
from hedgerow.schema.query import Query, Vocabulary

_SHOWN = 8  # values of a categorical attribute; the others are told together
_IN_NUMBERS = 40  # values in the table of all numbers
_ASKED = 3  # attributes that examples are about


def values(release: Release, raw: Sequence[Sequence[float]] | None) -> Safe:
    """One small picture for each attribute, with its numbers.

    Args:
        release: The release.
        raw: For each attribute the raw shares of the same values, if they are to be shown.
    """
    least = KINDS[release.kind].least
    if least is not None:
        return _certain(release, least(release))
    cards, silent, people = [], [], release.schema.unit_names[1]
    spreads, items = release.histograms(), release.schema.kind == "transactions"
    everybody = release.count_all()
    total = float(everybody.estimate[0])
    for place, spread in enumerate(spreads):
        if spread.measured:
            beside = None if raw is None else np.asarray(raw[place])
            cards.append(_card(spread, beside, people, total if items else None))
        else:
            silent.append(spread.name)
    key = [tag("li", tag("i", class_="c1"), "released")]
    if any("told pale" in card for card in cards):
        key.append(tag("li", tag("i", class_="pale"), f"hollow: released, but {' or '.join(PALE)}"))
    key.append(tag("li", tag("i", class_="err"), "95% interval"))
    if raw is not None:
        key.append(tag("li", tag("i", class_="c2"), "raw (NOT PRIVATE)"))
    about, _ = rounded(total, float(everybody.low[0]), float(everybody.high[0]))
    told = [f"Shares are of the {people} that the release counts, about {about}."]
    if items:
        told.append(
            f"{people.capitalize()} hold several items, so shares add up to more than 100%."
        )
    if any(len(s.shares) > _SHOWN for s in spreads if not isinstance(s.attribute, Numeric)):
        told.append(
            f"Where there are many values, those with the {_SHOWN} largest estimates are drawn; "
            f"others may be as frequent, as far as intervals tell. {picked('Those')}"
        )
    if any(isinstance(one, Numeric) for one in release.schema.attributes):
        told.append(
            "Numbers are drawn to scale: the area of a bar is its share. Where bands differ in "
            "width, the height is the share per unit. A line that reaches the top may go on."
        )
    if assumed := KINDS[release.kind].assumed:
        told.append(assumed.format(people=people))
    nothing = None
    if silent:
        nothing = tag("p", f"Not measured: the release says nothing about {', '.join(silent)}.")
    drawn = tag("div", *cards, class_="cards") if cards else None
    said = {remark for spread in spreads if spread.measured for remark in spread.remarks}
    meant = tag("p", *(f"{REMARKS[one]} " for one in REMARKS if one in said), class_="note")
    return join([tag("p", " ".join(told)), tag("ul", *key, class_="key"), drawn, meant, nothing])


def _certain(release: Release, found: list[Least]) -> Safe:
    """How many people have a value at least, by attribute; all bars to one scale."""
    people, published = release.schema.unit_names[1], release.count_all()
    total = max(1.0, float(published.estimate[0]))
    cards = []
    for name, told in found:
        rows = [[label, bars([("told", least / total)]), f"{least:,.0f}"] for label, least in told]
        heads = ["value", picture(f"{total:,.0f}"), "at least"]
        cards.append(tag("div", tag("h3", name), table(f"{name}: {people}", heads, rows, {2})))
    silent = [a.name for a in release.schema.columns if a.name not in {name for name, _ in found}]
    return join(
        [
            tag(
                "p",
                f"How many {people} have a value at least; with 95% all of these numbers hold. "
                f"Bars are to one scale, which ends at the {total:,.0f} {people} in published "
                "rows. A value may contain another, and many rows leave a value open, so the "
                "numbers of an attribute do not add up. Shares are not known.",
            ),
            tag("div", *cards, class_="cards") if cards else None,
            tag("p", f"Nothing is known about {', '.join(silent)}.") if silent else None,
        ]
    )


def _card(spread: Spread, raw: Any, units: str, of: float | None) -> Safe:
    """A picture and all numbers; `of` is what shares are of, if not the sum of all counts."""
    name, labels = spread.name if of is None else "how often each item occurs", labels_of(spread)
    if isinstance(spread.attribute, Numeric):
        drawn = numbers(spread, raw)
    else:
        drawn = share_bars(spread, _first(spread.counts, _SHOWN), raw, of)
    shares = spread.counts / max(float(spread.counts.sum()) if of is None else of, 1e-9)
    rows = []
    for place in _first(spread.counts, _IN_NUMBERS):
        found = (float(one[place]) for one in (spread.counts, spread.low, spread.high))
        row = [labels[place], *rounded(*found), spread.remarks[place]]
        rows.append(row if raw is None else [*row, f"{raw[place]:.1%}", f"{shares[place]:.1%}"])
    heads = ["value", "about", "95% interval", "remark"]
    heads += [] if raw is None else ["raw share", "released share"]
    told = table(f"{name}: {units}", heads, rows, {1, 2, *range(4, len(heads))})
    more = len(shares) - len(rows)
    return tag(
        "div",
        tag("h3", name),
        drawn,
        tag(
            "details",
            tag("summary", "In numbers", tag("span", f": {name}", class_="soft")),
            told,
            tag("p", f"and {more:,} more", class_="note") if more > 0 else None,
        ),
    )


def _first(counts: Any, most: int) -> list[int]:
    """The places of the largest, in the order of the schema."""
    return sorted(np.argsort(-counts, kind="stable")[:most].tolist())


def questions(release: Release) -> Safe | None:
    """Some questions that the release answers, so that a reader sees how sure answers are."""
    kind = KINDS[release.kind]
    if kind.cuts is None or kind.least is not None:
        return None  # its itemsets are such questions, and so is what is known at least
    asked, people = _examples(release, kind.cuts), release.schema.unit_names[1]
    vocabulary = Vocabulary(release.schema)
    answers = release.count(asked)
    rows = []
    for place, query in enumerate(asked):
        numbers = (float(one[place]) for one in (answers.estimate, answers.low, answers.high))
        rows.append([vocabulary.text(query), *rounded(*numbers)])
    return join(
        [
            tag(
                "p",
                f"Anybody can ask the release how many {people} meet some conditions, written as "
                f"in the table; [ and ] include both ends. An interval is narrow {kind.narrow}.",
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
