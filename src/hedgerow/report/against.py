"""A release against the raw data, for its holder alone. NOT PRIVATE."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hedgerow.report.html import PICTURE, Safe, bars, join, table, tag

if TYPE_CHECKING:
    from hedgerow.evaluate.scorecard import Judgement

__all__ = ["classes_against", "counts_against", "detail_against", "in_short", "values_against"]


def in_short(found: Judgement) -> list[str]:
    """The main numbers, as sentences; none if the data cannot be that of the release."""
    if not found.matches:
        return []
    counts, told = found.counts.overall, found.classification
    worst = max(found.marginals, key=lambda one: one.total_variation)
    lines = [f"Half of {counts.queries:,} random counts are off by less than {counts.median:.1%}."]
    if found.itemsets:
        top = found.itemsets[-1]
        lines.append(f"Of the {top.number} most frequent itemsets {top.found} are found.")
    else:
        lines.append(
            f"Of the attributes {worst.name} is told worst: {worst.total_variation:.1%} of its "
            "values would have to change."
        )
    if told is not None:
        best = max([m.released for m in told.models] + ([told.regions] if told.regions else [0.0]))
        line = f"{told.target} is told right for {best:.1f}% of rows"
        if told.models:
            line += f"; with the raw data {max(m.raw for m in told.models):.1f}%"
        lines.append(f"{line}, and {told.majority:.1f}% without any data.")
    return lines


def values_against(found: Judgement) -> Safe:
    """How far each attribute's values are off."""
    rows: list[list[Any]] = []
    for one in found.marginals:
        off = one.total_variation
        name = "items" if found.itemsets else one.name
        rows.append([name, f"{off:.1%}", bars([("raw", off)])])
    return table(
        "The share of records that would have to change for the values to be those of the raw data",
        ["attribute", "off by", PICTURE],
        rows,
        {1},
    )


def counts_against(found: Judgement) -> Safe:
    """Errors of random counts."""
    counts = found.counts
    what = "items" if found.itemsets else "conditions"
    rows: list[list[Any]] = []
    top = max(line.median for line in (*counts.lines, counts.overall)) or 1.0
    for line in (*counts.lines, counts.overall):
        rows.append(
            [
                "all" if line.size is None else str(line.size),
                f"{line.median:.1%}",
                bars([("raw", line.median / top)]),
                f"{line.mean:.1%}",
                f"{line.absolute:,.0f}",
                f"{line.covered:.1%}",
            ]
        )
    sentence = (
        f"{counts.overall.queries:,} random questions were asked of the release and of the raw "
        f"data. Half of the answers are off by less than {counts.overall.median:.1%}. "
        f"{counts.overall.covered:.1%} of the intervals hold the truth; at least "
        f"{counts.level:.0%} should."
    )
    heads = [what, "median error", PICTURE, "mean error", "mean error in records", "held"]
    parts = [
        tag("p", sentence),
        table(f"Errors by the number of {what}", heads, rows, {1, 3, 4, 5}),
        tag(
            "p",
            f"Errors are relative to the true count, or to {counts.sanity:,.0f} records if that is "
            "more. Held: how often the stated interval holds the truth.",
            class_="note",
        ),
    ]
    if found.itemsets:
        tops: list[list[Any]] = [
            [f"{t.number}", f"{t.found}", f"{t.utility:.2f}", bars([("told", t.utility)])]
            for t in found.itemsets
        ]
        caption = "The most frequent itemsets: how many are found, and how much of their counts"
        heads = ["of the top", "are found", "utility, 1 is best", PICTURE]
        parts.append(table(caption, heads, tops, {1, 2}))
    return join(parts)


def classes_against(found: Judgement) -> Safe | None:
    """How well the class can be predicted."""
    told = found.classification
    if told is None:
        return None
    rows: list[list[Any]] = [
        ["always the most frequent class", f"{told.majority:.1f}%", "", _scale(told.majority)]
    ]
    if told.regions is not None:
        rows.append(
            ["the majority of each region", f"{told.regions:.1f}%", "", _scale(told.regions)]
        )
    rows += [
        [m.words, f"{m.released:.1f}%", f"{m.raw:.1f}%", _scale(m.released, m.raw)]
        for m in told.models
    ]
    parts = [
        tag(
            "p",
            f"How often is {told.target} told right, on {told.rows:,} raw rows? Models learn from "
            "rows drawn from the release, beside the same models that learn from raw rows.",
        ),
        table(
            "Rows told right",
            ["how", "from the release", "from raw rows", PICTURE],
            rows,
            {1, 2},
        ),
        tag(
            "p",
            "The raw rows tested on are the ones that were published, so the release has seen "
            "them; its guarantee bounds how much that helps. Models from raw rows are tested on "
            "rows they did not learn from.",
            class_="note",
        ),
    ]
    return join([*parts, *(tag("p", note, class_="note") for note in found.notes)])


def _scale(told: float, raw: float | None = None) -> Safe:
    drawn = [("told", told / 100)]
    return bars(drawn if raw is None else [*drawn, ("raw", raw / 100)])


def detail_against(found: Judgement) -> Safe | None:
    """How coarse regions or rows are."""
    detail, own = found.distortion, found.personal
    if detail is None:
        return None
    rows: list[list[Any]] = [
        ["certainty lost (NCP): 0 if every value is exact, 1 if nothing is", f"{detail.ncp:.3f}"]
    ]
    if detail.discernibility is not None:
        rows.append(
            ["discernibility: the sum of squared sizes of regions", f"{detail.discernibility:,}"]
        )
        rows.append(["records in the same region as a typical record", f"{detail.alike:,.0f}"])
    if own is not None:
        where = "the side table" if own.side == "given" else "the raw table itself"
        rows.append(["records in published rows, about", f"{own.published:.0%}"])
        rows.append(["mean utility of a record", f"{own.utility:.2f} of {own.most_utility:.2f}"])
        rows.append([f"mean risk of a record, measured on {where}", f"{own.risk:.3g}"])
    return table("Measures of coarseness", ["measure", "value"], rows, {1})
