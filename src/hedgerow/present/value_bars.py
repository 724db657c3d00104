"""How values are distributed, as the release tells; beside the raw ones, if these are given."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from hedgerow.arrays import Bools, Floats
from hedgerow.present.document import (
    Bar,
    Card,
    Cards,
    Cell,
    Folded,
    Grid,
    Histogram,
    Legend,
    Parts,
    Scale,
    Swatch,
    Text,
)
from hedgerow.present.kinds import KINDS, Least
from hedgerow.present.tables import REMARKS, explain_picking
from hedgerow.present.words import round_count, round_interval
from hedgerow.release import Release
from hedgerow.release.count_tables import PALE, Spread
from hedgerow.schema import Categorical, Numeric
from hedgerow.schema.query import Query, Vocabulary
from hedgerow.schema.schema import part_of

_SHOWN = 8  # values of a categorical attribute; the others are told together
_IN_NUMBERS = 40  # values in the table of all numbers
_ASKED = 3  # attributes that examples are about
_ALONE = 3  # times narrower than others: a value by itself, which looks like an axis, not an area


def labels_of(spread: Spread) -> list[str]:
    """The values of a spread as a page writes them."""
    if spread.attribute is None:
        return list(spread.labels)
    return [part_of(spread.attribute, low, high) for low, high in pairwise(spread.edges)]


def vague(spread: Spread) -> Bools:
    """Which values are hardly known, and drawn hollow."""
    return np.isin(spread.remarks, PALE)


def ends_of(spread: Spread, place: int) -> tuple[float, float, float]:
    """The number of records with a value, and both ends of its interval."""
    return float(spread.counts[place]), float(spread.low[place]), float(spread.high[place])


def widths_of(spread: Spread) -> Floats:
    """How wide each band is, in units of the attribute or in days.

    Bands that grow with the values are taken to be equal, and so are categories.
    """
    attribute = spread.attribute
    if not isinstance(attribute, Numeric) or attribute.scale == "log":
        return np.ones(len(spread.labels))
    return np.asarray(np.diff(spread.edges) * float(attribute.step), np.float64)


def alone(spread: Spread) -> list[int]:
    """The values that do not belong on an axis of numbers: "other", and single ones among bands."""
    attribute = spread.attribute
    if not isinstance(attribute, Numeric):
        return []
    widths = widths_of(spread)
    narrow = (np.diff(spread.edges) == 1) & (_ALONE * widths < np.median(widths))
    return [p for p in range(len(widths)) if narrow[p] or spread.edges[p] >= attribute.grid]


def values(release: Release, raw: Sequence[Sequence[float]] | None) -> Parts:
    """One small picture for each attribute, with its numbers; what is mostly noise comes last.

    Args:
        release: The release.
        raw: For each attribute the raw shares of the same values, if they are to be shown.
    """
    kind, people = KINDS[release.kind], release.schema.unit_names[1]
    if kind.least is not None:
        return _certain(release, kind.least(release))
    spreads, items = release.histograms(), release.schema.kind == "transactions"
    everybody = release.count_all()
    ends = (everybody.estimate, everybody.low, everybody.high)
    total, low, high = (float(one[0]) for one in ends)
    cards: tuple[list[Card], list[Card]] = ([], [])  # those that tell something, and the others
    for place, spread in enumerate(spreads):
        if spread.measured:
            beside = None if raw is None else np.asarray(raw[place])
            card = _card(spread, beside, people, total if items else None)
            cards[bool(vague(spread).all())].append(card)
    said = {remark for spread in spreads if spread.measured for remark in spread.remarks}
    key: list[tuple[Swatch, str]] = [("bar", "released"), ("interval", "95% interval")]
    if said & {*PALE}:
        key.insert(1, ("hollow", f"hollow: released, but {' or '.join(PALE)}"))
    if raw is not None:
        key.append(("raw", "raw (NOT PRIVATE)"))
    about, _ = round_count(total, low, high)
    lead = [f"Shares are of the {people} that the release counts, about {about}."]
    if items:
        lead.append(
            f"{people.capitalize()} hold several items, so shares add up to more than 100%."
        )
    if any(len(s.shares) > _SHOWN for s in spreads if not isinstance(s.attribute, Numeric)):
        lead.append(
            f"Where there are many values, those with the {_SHOWN} largest estimates are drawn; "
            f"others may be as frequent, as far as intervals tell. {explain_picking('Those')}"
        )
    if any(isinstance(one, Numeric) for one in release.schema.attributes):
        lead.append(
            "Numbers are drawn to scale: the area of a bar is its share. Where bands differ in "
            "width, the height is the share per unit. A line that reaches the top may go on."
        )
    lead.append(kind.assumed.format(people=people))
    meant = " ".join(REMARKS[one] for one in REMARKS if one in said)
    silent = ", ".join(spread.title for spread in spreads if not spread.measured)
    clear, noise = map(tuple, cards)
    pale: Parts = ("Of these, the release tells mostly noise:", Cards(noise))
    return (
        " ".join(lead).rstrip(),
        Legend(tuple(key)),
        *([Cards(clear)] if clear else []),
        *(pale if noise else ()),
        *([Text(meant, "note")] if meant else []),
        *([f"Not measured: the release says nothing about {silent}."] if silent else []),
    )


def _certain(release: Release, known: list[Least]) -> Parts:
    """How many people have a value at least, by attribute; all bars to one scale."""
    people, published = release.schema.unit_names[1], release.count_all()
    total = max(1.0, float(published.estimate[0]))
    cards = []
    for name, ends in known:
        rows = [(label, Bar(number), f"{number:,.0f}") for label, number in ends]
        heads = ("value", Scale.until(total, people), "at least")
        cards.append(Card(name, (Grid(f"{name}: {people}", heads, rows=rows, numbers={2}),)))
    names = {name for name, _ in known}
    silent = ", ".join(one.name for one in release.schema.columns if one.name not in names)
    return (
        f"How many {people} have a value at least; with 95% all of these numbers hold. Bars are "
        f"to one scale; published rows hold about {total:,.0f} {people}. A value may contain "
        "another, and many rows leave a value open, so the numbers of an attribute do not add "
        "up. Shares are not known.",
        *([Cards(tuple(cards))] if cards else []),
        *([f"Nothing is known about {silent}."] if silent else []),
    )


def _card(spread: Spread, raw: Any, units: str, of: float | None) -> Card:
    """A picture and all numbers; `of` is what shares are of, if not the sum of all counts."""
    name, labels = spread.title if of is None else "how often each item occurs", labels_of(spread)
    order = np.argsort(-spread.counts, kind="stable").tolist()
    if isinstance(spread.attribute, Numeric):
        drawn = bands_parts(spread, raw)
    else:
        drawn = (share_bars(spread, sorted(order[:_SHOWN]), raw, of),)
    shares = spread.counts / max(float(spread.counts.sum()) if of is None else of, 1e-9)
    rows: list[tuple[Cell, ...]] = []
    for place in sorted(order[:_IN_NUMBERS]):  # as the schema has them
        row = (labels[place], *round_count(*ends_of(spread, place)), spread.remarks[place])
        rows.append(row if raw is None else (*row, f"{raw[place]:.1%}", f"{shares[place]:.1%}"))
    heads: tuple[str, ...] = ("value", "about", "95% interval", "remark")
    heads += () if raw is None else ("raw share", "released share")
    more = len(shares) - len(rows)
    rest = [Text(f"and {more:,} more", "note")] if more > 0 else []
    table = Grid(f"{name}: {units}", heads, rows=rows, numbers={1, 2, *range(4, len(heads))})
    return Card(name, (*drawn, Folded(f"In numbers: {name}", (table, *rest))))


def bands_parts(spread: Spread, raw: Any = None) -> Parts:
    """The bands of a number as a histogram, and below it what stands `alone`.

    It is to scale: where bands differ in width, heights are densities.

    Args:
        spread: The bands.
        raw: The raw shares, if they are to be shown.
    """
    attribute, single = spread.attribute, alone(spread)
    assert isinstance(attribute, Numeric)
    least = float(np.delete(spread.shares, single).max(initial=0.0))
    below: Parts = (share_bars(spread, single, raw, least=least),) if single else ()
    drawn = [place for place in range(len(spread.labels)) if place not in single]
    if not drawn:
        return below
    total = max(float(spread.counts.sum()), 1e-9)
    widths = widths_of(spread)
    even = bool(np.ptp(widths[drawn]) == 0)
    per = np.ones(len(widths)) if even else widths
    heights, low, high = (
        (one / total / per).tolist() for one in (spread.counts, spread.low, spread.high)
    )
    unit = "share per day" if attribute.kind == "date" else "share per unit"
    if even:
        unit = "share in a band" + ("; bands grow" if attribute.scale == "log" else "")
    ends = np.array([0.0, *np.cumsum(widths[drawn])]) / float(widths[drawn].sum())
    first, last = spread.edges[drawn[0]], min(spread.edges[drawn[-1] + 1], attribute.grid)
    ticks = [(0.0, str(attribute.edge(first))), (1.0, str(attribute.edge(last)))]
    center = int(np.abs(ends - 0.5).argmin())
    if 0.25 < ends[center] < 0.75:
        ticks.insert(1, (float(ends[center]), str(attribute.edge(spread.edges[drawn[center]]))))
    labels, shares, pale = labels_of(spread), spread.shares.tolist(), vague(spread).tolist()
    bands = []
    for place in drawn:
        beside = None if raw is None else float(raw[place] / per[place])
        bar = Bar(heights[place], low=low[place], high=high[place], hollow=pale[place], raw=beside)
        bands.append((labels[place], shares[place], float(widths[place]), bar))
    chart = Histogram(
        caption=spread.title, bands=tuple(bands), unit=unit, axis=attribute.title,
        ticks=tuple(ticks),
    )  # fmt: skip
    return (chart, *below)


def share_bars(
    spread: Spread, shown: list[int], raw: Any = None, of: float | None = None, least: float = 0.0
) -> Grid:
    """A table of values with bars. Of what is hardly known the interval is told, and no share.

    Args:
        spread: All values.
        shown: The places of those to draw.
        raw: The raw shares, if they are to be shown.
        of: What shares are of; without it, the sum of all counts.
        least: The share at which bars end, if none is larger.
    """
    total = max(float(spread.counts.sum()) if of is None else of, 1e-9)
    labels, shares, pale = labels_of(spread), spread.counts / total, vague(spread)
    known = [float(spread.high[place]) / total for place in shown if not pale[place]]
    tops = [*shares[shown].tolist(), *known, *([] if raw is None else raw[shown].tolist()), least]
    top = min(1.0, max(1e-9, *(one for one in tops if np.isfinite(one))))
    rows: list[tuple[Cell, ...]] = []
    for place in shown:
        low, high = (min(1.0, float(one[place]) / total) for one in (spread.low, spread.high))
        hollow, share = bool(pale[place]), float(shares[place])
        beside = None if raw is None else float(raw[place])
        said = round_interval(low, high) if hollow else f"{share:.0%}"
        bar = Bar(share, low=low, high=high, hollow=hollow, raw=beside)
        rows.append((labels[place], bar, said if beside is None else f"{said} / {beside:.0%}"))
    if len(shown) < len(shares) and not isinstance(spread.attribute, Numeric):
        rest = None
        if of is None:
            rest = f"{1 - float(shares[shown].sum()):.0%}"
            rest += "" if raw is None else f" / {1 - float(raw[shown].sum()):.0%}"
        rows.append((f"{len(shares) - len(shown):,} more", None, rest))
    heads = ("value", Scale.until(top, "%"), "share" if raw is None else "released / raw")
    return Grid(f"{spread.title}: shares", heads, rows=rows, numbers={2})


def questions(release: Release) -> Parts:
    """Some questions that the release answers, so that a reader sees how sure answers are."""
    kind = KINDS[release.kind]
    if kind.cuts is None:
        return ()  # its itemsets are such questions, and so is what is known at least
    asked, people = _examples(release, kind.cuts), release.schema.unit_names[1]
    vocabulary, answers = Vocabulary(release.schema), release.count(asked)
    numbers = (one.tolist() for one in (answers.estimate, answers.low, answers.high))
    rows = [
        (vocabulary.text(query), *round_count(*ends))
        for query, *ends in zip(asked, *numbers, strict=True)
    ]
    heads = ("question", "about", "95% interval")
    return (
        f"Anybody can ask the release how many {people} meet some conditions, written as in "
        f"the table; [ and ] include both ends. An interval is narrow {kind.narrow}.",
        Grid(f"How many {people} are there?", heads, rows=rows, numbers={1, 2}),
    )


def _examples(release: Release, cuts: Callable[[Any, int], tuple[int, Any]]) -> list[Query]:
    """Everybody, then conditions on the attributes that the release divides most.

    A condition is part of an attribute: one side of where it is cut most, or a branch of its
    taxonomy.
    """
    schema = release.schema
    known = [cuts(release, place) for place in range(len(schema.attributes))]
    finest = sorted(range(len(known)), key=lambda a: -known[a][0])[:_ASKED]
    halves: dict[int, tuple[int, tuple[tuple[float, float], ...]]] = {}
    for place in finest:
        attribute, edges = schema.attributes[place], known[place][1]
        if isinstance(attribute, Categorical):
            children = attribute.taxonomy.children[0]
            low, high = attribute.taxonomy.spans[children[0]] if children else (0, attribute.size)
        else:
            inner = edges[(edges > 0) & (edges < attribute.grid)]
            low, high = 0, max(1, int(inner[0]) if len(inner) else attribute.grid // 2)
        halves[place] = (place, ((float(low), float(high)),))
    examples = [Query(()), *(Query((halves[a],)) for a in finest)]
    for one, other in pairwise(finest):
        examples.append(Query(tuple(sorted((halves[one], halves[other])))))
    if schema.classes:
        last = len(schema.classes) - 1
        examples += [Query((), (last,)), Query((halves[finest[0]],), (last,))]
    return examples
