"""A release against the raw data, and what became of the data. NOT PRIVATE: for its holder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hedgerow.data.records import ItemPreparation
from hedgerow.data.table import Preparation
from hedgerow.evaluation.compare import Comparison
from hedgerow.present.document import (
    Bar,
    Cell,
    Document,
    Grid,
    Part,
    Parts,
    Scale,
    Section,
    Text,
    Warning,
)

if TYPE_CHECKING:
    from hedgerow.evaluation.measures import Classification
    from hedgerow.evaluation.scorecard import Judgment

# What became of rows or records, in words.


_HEADS = ["attribute", "missing", "outside", "foreign", "became other", "clipped", "dropped"]
_CLASSES = ["class", "of rows read", "of rows counted", "moved by"]
_FINE = "Every value was counted as it is."

Tables = list[tuple[str, list[str], list[list[str]]]]
"""Tables, each with its caption and its heads."""


def about_rows(found: Preparation | ItemPreparation) -> list[str]:
    """What became of rows or records, as sentences.

    Example:
        >>> about_rows(Preparation(rows=9, dropped=1, unidentified=0, capped=2, people=5,
        ...     people_capped=1, attributes=(), classes=(), read=(), kept=()))[0]
        'Of 9 rows 6 are counted: rules of the schema dropped 1, the cap on rows per person left
        out 2.'
    """
    if isinstance(found, ItemPreparation):
        return _about_records(found)
    why = []
    if found.dropped:
        why.append(f"rules of the schema dropped {found.dropped:,}")
    if found.unidentified:
        why.append(f"{found.unidentified:,} belong to no person")
    if found.capped:
        why.append(f"the cap on rows per person left out {found.capped:,}")
    told = [f"Of {found.rows:,} rows {found.counted:,} are counted{': ' if why else ''}"]
    told = [told[0] + ", ".join(why) + "."]
    if found.people is not None:
        told.append(
            f"They are of {found.people:,} people, of whom {found.people_capped:,} have more rows "
            "than the cap allows."
        )
    if not _about_values(found):
        told.append(_FINE)
    for rule, rows in found.broken.items():
        told.append(f"{rows:,} of the rows break the rule: {rule}.")
    return told


def _about_records(found: ItemPreparation) -> list[str]:
    told = [f"Of {found.records:,} records {found.counted:,} are counted."]
    if found.rows is not None:
        told.insert(
            0, f"Of {found.rows:,} rows {found.unidentified:,} belong to no person and are dropped."
        )
    if found.empty and not found.dropped:
        told.append(f"{found.empty:,} of them have no item of the universe: (empty) stands there.")
    return told


def about_tables(found: Preparation | ItemPreparation) -> Tables:
    """What became of values or items, and how class shares moved; only what there is to tell."""
    if isinstance(found, ItemPreparation):
        tables = [("Items and records that are not counted as they are",
                   ["what", "number", "share"], _about_items(found))]  # fmt: skip
    else:
        tables = [
            ("Values that are missing or outside their domain, and what became of them",
             *_without_zeros(_HEADS, _about_values(found))),
            ("How the class shares moved", _CLASSES, _about_shares(found)),
        ]  # fmt: skip
    return [one for one in tables if one[2]]


def _about_items(found: ItemPreparation) -> list[list[str]]:
    cap = f"the cap of {found.max_items}"
    lines = (
        ("items outside the universe, left out", found.foreign, found.items),
        ("items that a record holds twice, counted once", found.repeated, found.items),
        (f"items over {cap}, left out", found.capped, found.items),
        (f"records with more items than {cap}", found.over, found.records),
        ("records without an item of the universe", found.empty, found.records),
    )
    return [[what, f"{n:,}", f"{n / max(1, of):.1%}"] for what, n, of in lines if n]


def _about_values(found: Preparation) -> list[list[str]]:
    """For each attribute with odd values, how many there are of which; columns as in _HEADS."""
    rows = []
    for one in found.attributes:
        numbers = (one.missing, one.outside, one.foreign, one.other, one.clipped, one.dropped)
        if any(numbers):
            share = max(1, found.rows)
            rows.append([one.name, *(f"{n:,} ({n / share:.1%})" if n else "0" for n in numbers)])
    return rows


def _without_zeros(heads: list[str], rows: list[list[str]]) -> tuple[list[str], list[list[str]]]:
    """A table without columns that have nothing to tell.

    Example:
        >>> _without_zeros(["attribute", "missing", "clipped"], [["age", "0", "2 (1.0%)"]])
        (['attribute', 'clipped'], [['age', '2 (1.0%)']])
    """
    told = [place for place in range(len(heads)) if any(row[place] != "0" for row in rows)]
    return [heads[place] for place in told], [[row[place] for place in told] for row in rows]


def _about_shares(found: Preparation) -> list[list[str]]:
    """Shares of the class before and after, where rows were left out."""
    if found.counted == found.rows:
        return []
    return [
        [label, f"{before:.1%}", f"{after:.1%}", f"{(after - before) * 100:+.1f} points"]
        for label, before, after in zip(found.classes, found.read, found.kept, strict=True)
    ]


def prepared(found: Preparation | ItemPreparation) -> Parts:
    """All of it."""
    return (
        *(Text(sentence) for sentence in about_rows(found)),
        *(
            Grid(
                caption,
                tuple(heads),
                rows=tuple(map(tuple, rows)),
                numbers=frozenset(range(1, len(heads))),
            )
            for caption, heads, rows in about_tables(found)
        ),
        *(Text(text, "bad") for text in found.warnings()),
    )


# The comparison.


def sections(found: Judgment, beside: tuple[Part, ...] = ()) -> list[Section]:
    """The comparison by what is compared; what there is nothing to say about is left out.

    Args:
        found: The comparison.
        beside: What else is shown of the values.
    """
    doubt = () if found.matches else (Text(strange(found), "bad"),)
    rows = "records" if isinstance(found.preparation, ItemPreparation) else "rows"
    coarse = "regions" if found.personal is None else "rows"
    became = () if found.preparation is None else prepared(found.preparation)
    all_of_them = (
        Section("Values", (*doubt, *values_against(found), *beside), "values"),
        Section("Tables", tables_against(found), "tables"),
        Section("Counts", counts_against(found), "counts"),
        Section("Predictions", classes_against(found), "classes"),
        Section(f"How coarse the {coarse} are", detail_against(found), "coarse"),
        Section(f"What became of the {rows}", became, "prepared"),
    )
    return [section for section in all_of_them if section.parts]


def evaluation(found: Judgment) -> Document:
    """The comparison by itself."""
    counted = f"{found.records:,} {found.unit_names[1]}"
    return Document(
        title=f"{found.schema}: a release by {found.method} against {counted} of the raw data.",
        sections=tuple(sections(found)),
        private=False,
    )


def strange(found: Judgment) -> str:
    """What to say if the data cannot be that of the release."""
    many = found.unit_names[1]
    return f"The release cannot be of this data: the number of {many} in it is too far off."


def sanity(found: Judgment) -> str:
    """The count to which errors of smaller ones are relative."""
    bound = f"{found.counts.sanity:,.0f}"
    return f"{bound} {found.unit_names[0 if bound == '1' else 1]}"


def in_short(found: Judgment) -> list[str]:
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


def values_against(found: Judgment) -> Parts:
    """How far each attribute's values are off."""
    rows = []
    for one in found.marginals:
        name = "items" if found.itemsets else one.name
        pairs = zip(one.values, one.raw, one.released, strict=True)
        value, raw, released = max(pairs, key=lambda pair: abs(pair[1] - pair[2]))
        bar = Bar(one.total_variation, is_raw=True)
        most = f"{value}: {raw:.1%} raw, {released:.1%} released"
        rows.append((name, f"{one.total_variation:.1%}", bar, most))
    caption = (
        f"The share of {found.unit_names[1]} that would have to change for the values to be those "
        "of the raw data"
    )
    heads = ("attribute", "off by", Scale(1.0, "%"), "most at")
    return (Grid(caption, heads, rows=tuple(rows), numbers=frozenset({1})),)


def counts_against(found: Judgment) -> Parts:
    """Errors of random counts."""
    counts, many = found.counts, found.unit_names[1]
    what = "items" if found.itemsets else "conditions"
    rows: list[tuple[Cell, ...]] = []
    top = max(line.median for line in (*counts.lines, counts.overall)) or 1.0
    for line in (*counts.lines, counts.overall):
        rows.append(
            (
                "all" if line.size is None else str(line.size),
                f"{line.median:.1%}",
                Bar(line.median, is_raw=True),
                f"{line.mean:.1%}",
                f"{line.absolute:,.0f}",
                f"{line.covered:.1%}",
                "-" if line.width is None else f"{line.width:,.0f}",
            )
        )
    heads = (
        what,
        "median error",
        Scale.until(top, "%"),
        "mean error",
        f"in {many}",
        "covered",
        "width",
    )
    parts: list[Part] = [
        Text(
            f"{counts.overall.queries:,} random questions were asked of the release and of the raw "
            f"data. Half of the answers are off by less than {counts.overall.median:.1%}. "
            f"{counts.overall.covered:.1%} of the intervals contain the truth; at least "
            f"{counts.level:.0%} should."
        ),
        Grid(
            f"Errors by the number of {what}",
            heads,
            rows=tuple(rows),
            numbers=frozenset({1, 3, 4, 5, 6}),
        ),
        Text(
            f"Errors are relative to the true count, or to {sanity(found)} if that is "
            "more. Covered: how often the stated interval contains the truth. Width: the median "
            f"width of these intervals, in {many}.",
            "note",
        ),
    ]
    if found.itemsets:
        tops = tuple(
            (f"{t.number}", f"{t.found}", f"{t.utility:.2f}", Bar(t.utility))
            for t in found.itemsets
        )
        caption = "The most frequent itemsets: how many are found, and how much of their counts"
        top_heads = ("of the top", "are found", "utility, 1 is best", Scale(1.0, "utility"))
        parts.append(Grid(caption, top_heads, rows=tops, numbers=frozenset({1, 2})))
    return tuple(parts)


def classes_against(found: Judgment) -> Parts:
    """How well the class can be predicted."""
    told, many = found.classification, found.unit_names[1]
    if told is None:
        return ()
    rows: list[tuple[Cell, ...]] = [
        ("always the most frequent class", f"{told.majority:.1f}%", "", _bar(told.majority))
    ]
    if told.regions is not None:
        rows.append(
            ("the prediction by the release", f"{told.regions:.1f}%", "", _bar(told.regions))
        )
    rows += [
        (m.words, f"{m.released:.1f}%", f"{m.raw:.1f}%", _bar(m.released, m.raw))
        for m in told.models
    ]
    heads = ("how", "from the release", "from raw rows", Scale(1.0, "%"))
    margin = f"These {many} are a sample: percentages may be off by {told.margin:.1f} points (95%)."
    return (
        Text(
            f"Predicting {told.target} for {told.rows:,} {many} of the raw data. Models learn from "
            "synthetic rows of the release, and for comparison from raw rows."
        ),
        Grid(
            f"{many[0].upper()}{many[1:]} predicted correctly", heads, rows=tuple(rows),
            numbers=frozenset({1, 2}),
        ),
        *_by_class(told),
        *([Text(margin, "note")] if told.margin else []),
        Text(
            "The raw rows tested on are the ones that were published, so the release has seen "
            "them; its guarantee bounds how much that helps. Models from raw rows are tested on "
            "rows they did not learn from.",
            "note",
        ),
        *(Text(note, "note") for note in found.notes),
    )  # fmt: skip


def _bar(told: float, raw: float | None = None) -> Bar:
    return Bar(told / 100, raw=None if raw is None else raw / 100)


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


def _by_class(told: Classification) -> Parts:
    if not told.models:
        return ()
    heads, lines = skills(told)
    right, rows = frozenset(range(1, len(heads))), tuple(map(tuple, lines))
    return (
        Grid("From the release / from raw rows", tuple(heads), rows=rows, numbers=right),
        Text(SKILL, "note"),
    )


def tables_against(found: Judgment) -> Parts:
    """Errors of the one-way tables, and the score of pairs."""
    if not found.tables:
        return ()
    rows = tuple(
        (one.name, f"{one.cells:,}", f"{one.mean:,.1f}", f"{one.worst:,.0f}", f"{one.covered:.1%}",
         "-" if one.width is None else f"{one.width:,.0f}")
        for one in found.tables
    )  # fmt: skip
    heads = ("attribute", "cells", "mean error", "worst error", "covered", "width")
    caption = f"Each attribute's table: errors and interval widths in {found.unit_names[1]}"
    parts: list[Part] = [Grid(caption, heads, rows=rows, numbers=frozenset(range(1, 6)))]
    if found.k_marginal is not None:
        score = f"Pairs of attributes in synthetic rows: {found.k_marginal:.0f} of 1,000."
        parts.append(Text(score))
    return tuple(parts)


def detail_against(found: Judgment) -> Parts:
    """How coarse regions or rows are."""
    detail, own = found.distortion, found.personal
    if detail is None:
        return ()
    one, many = found.unit_names
    rows = [
        ("certainty lost (NCP): 0 if every value is exact, 1 if nothing is", f"{detail.ncp:.3f}")
    ]
    if detail.discernibility is not None:
        rows.append(
            ("discernibility: the sum of squared sizes of regions", f"{detail.discernibility:,}")
        )
        rows.append((f"{many} in the same region as a typical {one}", f"{detail.alike:,.0f}"))
    if own is not None:
        where = "the side table" if own.side == "given" else "the raw table itself"
        rows.append((f"{many} in published rows, about", f"{own.published:.0%}"))
        rows.append((f"mean utility by {one}", f"{own.utility:.2f} of {own.most_utility:.2f}"))
        rows.append((f"mean risk by {one}, measured on {where}", f"{own.risk:.3g}"))
    grid = Grid(
        "Measures of coarseness", ("measure", "value"), rows=tuple(rows), numbers=frozenset({1})
    )
    return (grid,)


# Releases side by side, on a page of their own.


SOURCES = {
    "release": "What the releases say themselves",
    "simulated": "On simulated rows, with the same settings",
    "raw": "Against the raw data (NOT PRIVATE)",
}
CHOOSING = (
    "Choosing a release because of how it compares with the raw data is outside the guarantee: the "
    "choice itself tells something about the data. Choose by what the releases say themselves, by "
    "simulated rows (--simulate) or before publishing (hedgerow plan)."
)
MARK = " (best)"
_CAPTIONS = {
    "release": "Guarantee, contents and widths of intervals",
    "simulated": "Mean errors and scores of trials",
    "raw": "Errors and scores",
}


def comparison(found: Comparison) -> Document:
    """Releases side by side."""
    raw = any(line.source == "raw" for line in found.lines)
    sections = []
    for source, title in SOURCES.items():
        rows = tuple(
            (
                line.words,
                *(
                    text + (MARK if place in line.best else "")
                    for place, text in enumerate(line.shown)
                ),
            )
            for line in found.lines
            if line.source == source
        )
        if rows:
            heads = ("measure", *found.names)
            right = frozenset(range(1, len(heads)))
            table = Grid(_CAPTIONS[source], heads, rows=rows, numbers=right, long=True)
            warning = (Text(CHOOSING, "bad"),) if source == "raw" else ()
            sections.append(Section(title, (*warning, table)))
    why = "A test release is in it."
    if raw:
        why = "This page is computed from the raw data, for its holder alone."
    marked = any(line.best for line in found.lines)
    note = "Best: among these releases, on this line. A smaller epsilon protects better."
    return Document(
        title=f"{len(found.names)} releases side by side",
        sections=tuple(sections),
        foot=note if marked else "",
        warnings=() if found.private else (Warning("NOT PRIVATE", why),),
        private=found.private,
    )
