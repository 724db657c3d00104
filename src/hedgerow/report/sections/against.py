"""A release against the raw data, for its holder alone. NOT PRIVATE."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hedgerow.report.html import Safe, bars, join, picture, table, tag
from hedgerow.report.labels import percent

if TYPE_CHECKING:
    from hedgerow.evaluation.measures import Classification
    from hedgerow.evaluation.scorecard import Judgement


def strange(found: Judgement) -> str:
    """What to say if the data cannot be that of the release."""
    many = found.unit_names[1]
    return f"The release cannot be of this data: the number of {many} in it is too far off."


def sanity(found: Judgement) -> str:
    """The count to which errors of smaller ones are relative."""
    bound = f"{found.counts.sanity:,.0f}"
    return f"{bound} {found.unit_names[0 if bound == '1' else 1]}"


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
            f"Of all attributes {worst.name} differs most from the raw data: "
            f"{worst.total_variation:.1%} of its values would have to change."
        )
    if told is not None:
        best = max([m.released for m in told.models] + ([told.regions] if told.regions else [0.0]))
        line = f"{told.target} is predicted correctly for {best:.1f}% of {found.unit_names[1]}"
        if told.models:
            line += f", by models from raw rows for {max(m.raw for m in told.models):.1f}%"
        lines.append(f"{line}, and by always naming the same class for {told.majority:.1f}%.")
    return lines


def values_against(found: Judgement) -> Safe:
    """How far each attribute's values are off."""
    rows: list[list[Any]] = []
    for one in found.marginals:
        off = one.total_variation
        name = "items" if found.itemsets else one.name
        rows.append([name, f"{off:.1%}", bars([("raw", off)])])
    return table(
        f"The share of {found.unit_names[1]} that would have to change for the values to be those "
        "of the raw data",
        ["attribute", "off by", picture("100%")],
        rows,
        {1},
    )


def counts_against(found: Judgement) -> Safe:
    """Errors of random counts."""
    counts, many = found.counts, found.unit_names[1]
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
                "-" if line.width is None else f"{line.width:,.0f}",
            ]
        )
    sentence = (
        f"{counts.overall.queries:,} random questions were asked of the release and of the raw "
        f"data. Half of the answers are off by less than {counts.overall.median:.1%}. "
        f"{counts.overall.covered:.1%} of the intervals contain the truth; at least "
        f"{counts.level:.0%} should."
    )
    heads = [what, "median error", picture(percent(top)), "mean error", f"in {many}", "covered",
             "width"]  # fmt: skip
    parts = [
        tag("p", sentence),
        table(f"Errors by the number of {what}", heads, rows, {1, 3, 4, 5, 6}),
        tag(
            "p",
            f"Errors are relative to the true count, or to {sanity(found)} if that is "
            "more. Covered: how often the stated interval contains the truth. Width: the median "
            f"width of these intervals, in {many}.",
            class_="note",
        ),
    ]
    if found.itemsets:
        tops: list[list[Any]] = [
            [f"{t.number}", f"{t.found}", f"{t.utility:.2f}", bars([("told", t.utility)])]
            for t in found.itemsets
        ]
        caption = "The most frequent itemsets: how many are found, and how much of their counts"
        heads = ["of the top", "are found", "utility, 1 is best", picture("1")]
        parts.append(table(caption, heads, tops, {1, 2}))
    return join(parts)


def classes_against(found: Judgement) -> Safe | None:
    """How well the class can be predicted."""
    told, many = found.classification, found.unit_names[1]
    if told is None:
        return None
    rows: list[list[Any]] = [
        ["always the most frequent class", f"{told.majority:.1f}%", "", _scale(told.majority)]
    ]
    if told.regions is not None:
        rows.append(
            ["the prediction by the release", f"{told.regions:.1f}%", "", _scale(told.regions)]
        )
    rows += [
        [m.words, f"{m.released:.1f}%", f"{m.raw:.1f}%", _scale(m.released, m.raw)]
        for m in told.models
    ]
    parts = [
        tag(
            "p",
            f"How often is {told.target} predicted correctly, on {told.rows:,} {many} of the raw "
            "data? Models learn from synthetic rows of the release, and for comparison from raw "
            "rows.",
        ),
        table(
            f"{many[0].upper()}{many[1:]} predicted correctly",
            ["how", "from the release", "from raw rows", picture("100%")],
            rows,
            {1, 2},
        ),
        _by_class(told),
        tag(
            "p",
            f"These {many} are a sample: percentages may be off by {told.margin:.1f} points (95%).",
            class_="note",
        )
        if told.margin
        else None,
        tag(
            "p",
            "The raw rows tested on are the ones that were published, so the release has seen "
            "them; its guarantee bounds how much that helps. Models from raw rows are tested on "
            "rows they did not learn from.",
            class_="note",
        ),
    ]
    return join([*parts, *(tag("p", note, class_="note") for note in found.notes)])


SKILL = (
    "AUC: 0.5 for guesses, 1 at best. Calibration: how far stated probabilities lie from how often "
    "they are right, 0 at best. Recall of a class: how much of it is found."
)


def skills(told: Classification) -> tuple[list[str], list[list[str]]]:
    """AUC, calibration and recall by model, from the release and from raw rows: heads and lines."""
    heads = ["model", "AUC", "calibration", *(f"recall of {name}" for name in told.classes)]
    lines = []
    for model in told.models:
        both = [model.skill, *([] if model.raw_skill is None else [model.raw_skill])]
        columns = [[one.auc, one.calibration, *one.recall] for one in both]
        cells = []
        for place, values in enumerate(zip(*columns, strict=True)):
            style = ".3f" if place < 2 else ".0f"
            told_values = ["-" if value is None else f"{value:{style}}" for value in values]
            cells.append(" / ".join(told_values) + ("" if place < 2 else "%"))
        lines.append([model.words, *cells])
    return heads, lines


def _by_class(told: Classification) -> Safe | None:
    if not told.models:
        return None
    heads, lines = skills(told)
    shown = table("From the release / from raw rows", heads, lines, range(1, len(heads)))
    return join([shown, tag("p", SKILL, class_="note")])


def tables_against(found: Judgement) -> Safe | None:
    """Errors of the one-way tables, and the score of pairs."""
    if not found.tables:
        return None
    rows = [
        [one.name, f"{one.cells:,}", f"{one.mean:,.1f}", f"{one.worst:,.0f}", f"{one.covered:.1%}",
         "-" if one.width is None else f"{one.width:,.0f}"]
        for one in found.tables
    ]  # fmt: skip
    heads = ["attribute", "cells", "mean error", "worst error", "covered", "width"]
    caption = f"Each attribute's table: errors and widths of intervals in {found.unit_names[1]}"
    score = None
    if found.k_marginal is not None:
        score = f"Pairs of attributes in synthetic rows: {found.k_marginal:.0f} of 1,000."
    return join([table(caption, heads, rows, range(1, 6)), tag("p", score) if score else None])


def _scale(told: float, raw: float | None = None) -> Safe:
    drawn = [("told", told / 100)]
    return bars(drawn if raw is None else [*drawn, ("raw", raw / 100)])


def detail_against(found: Judgement) -> Safe | None:
    """How coarse regions or rows are."""
    detail, own = found.distortion, found.personal
    if detail is None:
        return None
    one, many = found.unit_names
    rows: list[list[Any]] = [
        ["certainty lost (NCP): 0 if every value is exact, 1 if nothing is", f"{detail.ncp:.3f}"]
    ]
    if detail.discernibility is not None:
        rows.append(
            ["discernibility: the sum of squared sizes of regions", f"{detail.discernibility:,}"]
        )
        rows.append([f"{many} in the same region as a typical {one}", f"{detail.alike:,.0f}"])
    if own is not None:
        where = "the side table" if own.side == "given" else "the raw table itself"
        rows.append([f"{many} in published rows, about", f"{own.published:.0%}"])
        rows.append([f"mean utility by {one}", f"{own.utility:.2f} of {own.most_utility:.2f}"])
        rows.append([f"mean risk by {one}, measured on {where}", f"{own.risk:.3g}"])
    return table("Measures of coarseness", ["measure", "value"], rows, {1})
