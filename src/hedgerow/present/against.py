"""A release against the raw data, and what became of the data. NOT PRIVATE: for its holder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hedgerow.data.preparation import Fate, ItemPreparation, Preparation
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
)

if TYPE_CHECKING:
    from hedgerow.evaluation.measures import Classification
    from hedgerow.evaluation.scorecard import Judgment

# What became of rows or records, in words.


_FINE = "Every value was counted as it is."


def about_rows(found: Preparation | ItemPreparation) -> list[str]:
    """What became of rows or records, as sentences.

    Example:
        >>> about_rows(Preparation(rows=9, dropped=1, unidentified=0, capped=2, people=5,
        ...     people_capped=1, attributes=(), classes=(), read=(), kept=()))[0]
        'Of 9 rows 6 are counted: rules of the schema dropped 1, the cap on rows per person left
        out 2.'
    """
    if isinstance(found, ItemPreparation):
        lines = [f"Of {found.records:,} records {found.counted:,} are counted."]
        if found.rows is not None:
            nobody = f"{found.unidentified:,} belong to no person and are dropped."
            lines.insert(0, f"Of {found.rows:,} rows {nobody}")
        if found.empty and not found.dropped:
            dummy = "have no item of the universe: (empty) stands there."
            lines.append(f"{found.empty:,} of them {dummy}")
        return lines
    reasons = {
        f"rules of the schema dropped {found.dropped:,}": found.dropped,
        f"{found.unidentified:,} belong to no person": found.unidentified,
        f"the cap on rows per person left out {found.capped:,}": found.capped,
    }
    why = ", ".join(text for text, number in reasons.items() if number)
    lines = [f"Of {found.rows:,} rows {found.counted:,} are counted{': ' if why else ''}{why}."]
    if found.people is not None:
        lines.append(
            f"They are of {found.people:,} people, of whom {found.people_capped:,} have more rows "
            "than the cap allows."
        )
    if not any(any(_odd(one).values()) for one in found.attributes):
        lines.append(_FINE)
    broken = found.broken.items()
    return [*lines, *(f"{rows:,} of the rows break the rule: {rule}." for rule, rows in broken)]


def about_tables(found: Preparation | ItemPreparation) -> list[Grid]:
    """What became of values or items, and how class shares moved; only what there is to tell."""
    if isinstance(found, ItemPreparation):
        cap = f"the cap of {found.max_items}"
        lines = (
            ("items outside the universe, left out", found.foreign, found.items),
            ("items that a record holds twice, counted once", found.repeated, found.items),
            (f"items over {cap}, left out", found.capped, found.items),
            (f"records with more items than {cap}", found.over, found.records),
            ("records without an item of the universe", found.empty, found.records),
        )
        caption = "Items and records that are not counted as they are"
        items = [(what, f"{n:,}", f"{n / max(1, of):.1%}") for what, n, of in lines if n]
        return _tables((caption, ("what", "number", "share"), items))
    odd = {one.name: _odd(one) for one in found.attributes if any(_odd(one).values())}
    kinds = [kind for kind in next(iter(odd.values()), {}) if any(n[kind] for n in odd.values())]
    rows = max(1, found.rows)
    values = [
        (name, *(f"{numbers[k]:,} ({numbers[k] / rows:.1%})" if numbers[k] else "0" for k in kinds))
        for name, numbers in odd.items()
    ]
    moved = []
    if found.counted != found.rows:
        moved = [
            (label, f"{before:.1%}", f"{after:.1%}", f"{(after - before) * 100:+.1f} points")
            for label, before, after in zip(found.classes, found.read, found.kept, strict=True)
        ]
    what = "Values that are missing or outside their domain, and what became of them"
    return _tables(
        (what, ("attribute", *kinds), values),
        ("How the class shares moved", ("class", "of rows read", "of rows counted", "moved by"),
         moved),
    )  # fmt: skip


def _odd(fate: Fate) -> dict[str, int]:
    """How many values of an attribute are odd, by what is odd and what became of them."""
    return {
        "missing": fate.missing, "outside": fate.outside, "foreign": fate.foreign,
        "became other": fate.other, "clipped": fate.clipped, "dropped": fate.dropped,
    }  # fmt: skip


def _tables(*tables: tuple[str, tuple[str, ...], Sequence[Sequence[Cell]]]) -> list[Grid]:
    """Tables of numbers, of those that have rows."""
    return [
        Grid(caption, heads, rows=rows, numbers=range(1, len(heads)))
        for caption, heads, rows in tables
        if rows
    ]


def describe_preparation(found: Preparation | ItemPreparation) -> Parts:
    """All of it."""
    warnings = (Text(text, "bad") for text in found.warnings())
    return (*about_rows(found), *about_tables(found), *warnings)


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
    became = () if found.preparation is None else describe_preparation(found.preparation)
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


def _sanity(found: Judgment) -> str:
    """The count to which errors of smaller ones are relative."""
    bound = f"{found.counts.sanity:,.0f}"
    return f"{bound} {found.unit_names[0 if bound == '1' else 1]}"


def in_short(found: Judgment) -> list[str]:
    """The main numbers, as sentences; none if the data cannot be that of the release."""
    if not found.matches:
        return []
    counts, classes = found.counts.overall, found.classification
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
    if classes is not None:
        best = max(classes.regions or 0.0, *(m.released for m in classes.models), 0.0)
        line = f"{classes.target} is predicted correctly for {best:.1f}% of {found.unit_names[1]}"
        if classes.models:
            line += f", by models from raw rows for {max(m.raw for m in classes.models):.1f}%"
        lines.append(f"{line}, and by always naming the same class for {classes.majority:.1f}%.")
    return lines


def values_against(found: Judgment) -> Parts:
    """How far each attribute's values are off."""
    rows = []
    for one in found.marginals:
        name, off = "items" if found.itemsets else one.name, one.total_variation
        triples = zip(one.values, one.raw, one.released, strict=True)
        value, raw, released = max(triples, key=lambda triple: abs(triple[1] - triple[2]))
        most = f"{value}: {raw:.1%} raw, {released:.1%} released"
        rows.append((name, f"{off:.1%}", Bar(off, is_raw=True), most))
    caption = (
        f"The share of {found.unit_names[1]} that would have to change for the values to be those "
        "of the raw data"
    )
    heads = ("attribute", "off by", Scale(1.0, "%"), "most at")
    return (Grid(caption, heads, rows=rows, numbers={1}),)


def _width(value: float | None) -> str:
    return "-" if value is None else f"{value:,.0f}"


def counts_against(found: Judgment) -> Parts:
    """Errors of random counts."""
    counts, many = found.counts, found.unit_names[1]
    what, every = "items" if found.itemsets else "conditions", (*counts.lines, counts.overall)
    top = max(line.median for line in every) or 1.0
    rows = [
        (
            "all" if line.size is None else str(line.size),
            f"{line.median:.1%}",
            Bar(line.median, is_raw=True),
            f"{line.mean:.1%}",
            f"{line.absolute:,.0f}",
            f"{line.covered:.1%}",
            _width(line.width),
        )
        for line in every
    ]
    heads = (what, "median error", Scale.until(top, "%"), "mean error", f"in {many}", "covered",
             "width")  # fmt: skip
    parts: Parts = (
        f"{counts.overall.queries:,} random questions were asked of the release and of the raw "
        f"data. Half of the answers are off by less than {counts.overall.median:.1%}. "
        f"{counts.overall.covered:.1%} of the intervals contain the truth; at least "
        f"{counts.level:.0%} should.",
        Grid(f"Errors by the number of {what}", heads, rows=rows, numbers={1, 3, 4, 5, 6}),
        Text(
            f"Errors are relative to the true count, or to {_sanity(found)} if that is "
            "more. Covered: how often the stated interval contains the truth. Width: the median "
            f"width of these intervals, in {many}.",
            "note",
        ),
    )
    if not found.itemsets:
        return parts
    tops = [
        (f"{t.number}", f"{t.found}", f"{t.utility:.2f}", Bar(t.utility)) for t in found.itemsets
    ]
    caption = "The most frequent itemsets: how many are found, and how much of their counts"
    top_heads = ("of the top", "are found", "utility, 1 is best", Scale(1.0, "utility"))
    return (*parts, Grid(caption, top_heads, rows=tops, numbers={1, 2}))


def classes_against(found: Judgment) -> Parts:
    """How well the class can be predicted."""
    classes, many = found.classification, found.unit_names[1]
    if classes is None:
        return ()
    alone = {
        "always the most frequent class": classes.majority,
        "the prediction by the release": classes.regions,
    }
    rows: list[tuple[Cell, ...]] = [
        (how, f"{share:.1f}%", "", Bar(share / 100))
        for how, share in alone.items() if share is not None
    ]  # fmt: skip
    for model in classes.models:
        bar = Bar(model.released / 100, raw=model.raw / 100)
        rows.append((model.words, f"{model.released:.1f}%", f"{model.raw:.1f}%", bar))
    heads = ("how", "from the release", "from raw rows", Scale(1.0, "%"))
    caption = f"{many[0].upper()}{many[1:]} predicted correctly"
    margin = (
        f"These {many} are a sample: percentages may be off by {classes.margin:.1f} points (95%)."
    )
    return (
        f"Predicting {classes.target} for {classes.rows:,} {many} of the raw data. Models learn "
        "from synthetic rows of the release, and for comparison from raw rows.",
        Grid(caption, heads, rows=rows, numbers={1, 2}),
        *_by_class(classes),
        *([Text(margin, "note")] if classes.margin else []),
        Text(
            "The raw rows tested on are the ones that were published, so the release has seen "
            "them; its guarantee bounds how much that helps. Models from raw rows are tested on "
            "rows they did not learn from.",
            "note",
        ),
        *(Text(note, "note") for note in found.notes),
    )


def _by_class(classes: Classification) -> Parts:
    """AUC, calibration and recall by model, from the release and from raw rows."""
    if not classes.models:
        return ()
    heads = ("model", "AUC", "calibration", *(f"recall of {name}" for name in classes.classes))
    rows = []
    for model in classes.models:
        both = (one for one in (model.skill, model.raw_skill) if one is not None)
        columns = zip(*((one.auc, one.calibration, *one.recall) for one in both), strict=True)
        cells = []
        for place, values in enumerate(columns):
            style, unit = (".3f", "") if place < 2 else (".0f", "%")
            shown = ("-" if value is None else f"{value:{style}}" for value in values)
            cells.append(" / ".join(shown) + unit)
        rows.append((model.words, *cells))
    caption = "From the release / from raw rows"
    note = (
        "AUC: 0.5 for guesses, 1 at best. Calibration: how far stated probabilities lie from how "
        "often they are right, 0 at best. Recall of a class: how much of it is found."
    )
    grid = Grid(caption, heads, rows=rows, numbers=range(1, len(heads)))
    return (grid, Text(note, "note"))


def tables_against(found: Judgment) -> Parts:
    """Errors of the one-way tables, and the score of pairs."""
    if not found.tables:
        return ()
    rows = [
        (one.name, f"{one.cells:,}", f"{one.mean:,.1f}", f"{one.worst:,.0f}", f"{one.covered:.1%}",
         _width(one.width))
        for one in found.tables
    ]  # fmt: skip
    heads = ("attribute", "cells", "mean error", "worst error", "covered", "width")
    caption = f"Each attribute's table: errors and interval widths in {found.unit_names[1]}"
    parts: Parts = (Grid(caption, heads, rows=rows, numbers=range(1, 6)),)
    if found.k_marginal is None:
        return parts
    score = (
        f"Pairs of attributes in synthetic rows: {found.k_marginal:.0f} of 1,000 (k-marginal "
        "score, k = 2; 1,000 is best)."
    )
    return (*parts, score)


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
        rows += [
            ("discernibility: the sum of squared sizes of regions", f"{detail.discernibility:,}"),
            (f"{many} in the same region as a typical {one}", f"{detail.alike:,.0f}"),
        ]
    if own is not None:
        where = "the side table" if own.side == "given" else "the raw table itself"
        rows += [
            (f"{many} in published rows, about", f"{own.published:.0%}"),
            (f"mean utility by {one}", f"{own.utility:.2f} of {own.most_utility:.2f}"),
            (f"mean risk by {one}, measured on {where}", f"{own.risk:.3g}"),
        ]
    return (Grid("Measures of coarseness", ("measure", "value"), rows=rows, numbers={1}),)


# Releases side by side, on a page of their own.


_SOURCES = {
    "release": (
        "What the releases say themselves",
        "Guarantee, contents and widths of intervals",
    ),
    "simulated": ("On simulated rows, with the same settings", "Mean errors and scores of trials"),
    "raw": ("Against the raw data (NOT PRIVATE)", "Errors and scores"),
}
CHOOSING = (
    "Choosing a release because of how it compares with the raw data is outside the guarantee: the "
    "choice itself tells something about the data. Choose by what the releases say themselves, by "
    "simulated rows (--simulate) or before publishing (hedgerow plan)."
)
_MARK = " (best)"


def comparison(found: Comparison) -> Document:
    """Releases side by side."""
    sections = []
    for source, (title, caption) in _SOURCES.items():
        rows = [
            (
                line.words,
                *(f"{text}{_MARK if n in line.best else ''}" for n, text in enumerate(line.shown)),
            )
            for line in found.lines
            if line.source == source
        ]
        if rows:
            heads = ("measure", *found.names)
            table = Grid(caption, heads, rows=rows, numbers=range(1, len(heads)), long=True)
            warning = (Text(CHOOSING, "bad"),) if source == "raw" else ()
            sections.append(Section(title, (*warning, table)))
    why = "A test release is in it."
    if any(line.source == "raw" for line in found.lines):
        why = "This page is computed from the raw data, for its holder alone."
    marked = any(line.best for line in found.lines)
    note = "Best: among these releases, on this line. A smaller epsilon protects better."
    return Document(
        title=f"{len(found.names)} releases side by side",
        sections=tuple(sections),
        foot=note if marked else "",
        warnings=() if found.private else (("NOT PRIVATE", why),),
        private=found.private,
    )
