"""A table of counts for people to read: the same words on the terminal, on a page and in Excel."""

from __future__ import annotations

from collections.abc import Callable
from itertools import zip_longest

import numpy as np

from hedgerow.estimate.answers import NOISE, reliability
from hedgerow.estimate.queries import ASSUMED_EVEN, MODELED, NOT_MEASURED, RULED_OUT
from hedgerow.present.document import Bar, Cell, Document, Grid, Scale, Section, Text
from hedgerow.present.words import capped, exact_percent, guarantee, number
from hedgerow.release import Release
from hedgerow.release.tabulate import PALE, CountTable, frame_of
from hedgerow.schema import Schema
from hedgerow.schema.schema import display_label

TOTAL = "total"
REMARKS = {
    "good": "good: the standard error is at most 16.5% of the estimate.",
    "fair": "fair: the standard error is at most a third of the estimate.",
    NOISE: "mostly noise: the standard error is more than a third of the estimate.",
    MODELED: "modeled: not counted by itself or not in full, so the estimate and its error are a "
    "model's.",
    ASSUMED_EVEN: "assumed even: it cuts regions, inside which an even spread is assumed; only the "
    "interval is known.",
    NOT_MEASURED: "not measured: the release says nothing about it.",
    RULED_OUT: "ruled out: by a rule of the schema, which is public, nobody is there.",
}


def columns(table: CountTable) -> dict[str, str]:
    """The numbers that are shown of a cell: what they are called, and their names in `Answers`.

    Where only lower ends are known, an estimate would be an even spread that nobody measured.
    """
    if table.lower_only:
        return {"at least": "low"}
    typical = {} if table.answers.typical_error is None else {"usually within": "typical_error"}
    return {"about": "estimate", **typical, "from": "low", "to": "high"}


def named_tables(release: Release) -> list[tuple[str, ...]]:
    """The columns of each table that the schema names, as far as it was counted."""
    columns, counted = release.schema.columns, [{*one} for one in release.counted_tables()]
    named = [tuple(columns[place].name for place in one.places) for one in release.schema.tables]
    return [names for names in named if {*names} in counted]


def titles_of(table: CountTable, schema: Schema) -> list[str]:
    """What people call the columns that tell cells apart."""
    called = {one.name: one.title for one in schema.columns}
    return [called.get(name, name) for name in table.names]


def headings(table: CountTable, schema: Schema) -> list[str]:
    """The heads of the columns: what tells cells apart, then numbers, then a remark."""
    return [*titles_of(table, schema), *columns(table), *([] if table.lower_only else ["remark"])]


def lines(table: CountTable, schema: Schema) -> list[list[str]]:
    """Every cell in words, and the total."""
    numbers = [np.maximum(getattr(table.answers, one), 0.0) for one in columns(table).values()]
    told: Callable[[float], str] = "{:.1%}".format if table.by == "share" else number
    rows = [
        [
            *(display_label(schema, *one) for one in zip(table.names, labels, strict=True)),
            *(told(float(one[place])) if known else "-" for one in numbers),
            *([] if table.lower_only else [remark]),
        ]
        for place, (labels, known, remark) in enumerate(
            zip(zip(*table.labels, strict=True), table.known, table.reliability, strict=True)
        )
    ]
    if table.by == "share" and table.groups:  # every group has its own whole
        return rows
    return [*rows, [TOTAL, *[""] * (len(table.names) - 1), *_total(table)]]


def _total(table: CountTable) -> list[str]:
    """The numbers and the remark of the line below all cells."""
    shown, (remark,) = columns(table).values(), reliability(table.total)
    said = [] if table.lower_only else [remark]
    if table.by == "share":
        return ["100%", *[""] * (len(shown) - 1 + len(said))]
    if remark == NOT_MEASURED:
        return [*["-"] * len(shown), *said]
    values = [max(0.0, float(getattr(table.total, one)[0])) for one in shown]
    return [*(number(value) for value in values), *said]


def title_of(release: Release, table: CountTable, where: str | None) -> str:
    """What a table shows, as a heading."""
    what = f"{'shares' if table.by == 'share' else 'counts'} of {release.schema.unit_names[1]}"
    by = (
        "pair of items"
        if "with" in table.names[1:]
        else " and ".join(titles_of(table, release.schema))
    )
    if table.by == "share" and table.groups and "item" not in table.names:
        titles, own = titles_of(table, release.schema), len(table.names) - len(table.groups)
        by = f"{' and '.join(titles[:own])}, of each {' and '.join(titles[own:])}"
    shown = f"{release.schema.name}: {what} by {by}"
    return shown + (f", where {where}" if where else "")


def picked(what: str) -> str:
    """What it means for intervals that the largest were picked, as a sentence.

    Example:
        >>> picked("Cells")[:36]
        'Cells were picked by their estimates'
    """
    return (
        f"{what} were picked by their estimates, and the largest are often too large: the level of "
        "an interval is that of one which was chosen without looking."
    )


def how_to_read(table: CountTable, schema: Schema) -> list[str]:
    """What the columns mean, as sentences.

    Args:
        table: The table.
        schema: The schema of the release.
    """
    level, units = exact_percent(table.level), schema.unit_names
    together = (
        f"with a probability of at least {level} all of them contain the truth"
        if table.simultaneous
        else f"each contains the true {'share' if table.by == 'share' else 'count'} with a "
        f"probability of at least {level}"
    )
    if table.lower_only:
        share = " How large shares are is not known." if table.by == "share" else ""
        return [
            f"at least: lower ends; with a probability of at least {level} "
            f"{'all of them hold' if table.simultaneous else 'each holds'}, whatever the data "
            "looks like.",
            f"Suppressed rows are missing, with their {units[1]}: there is no upper end.{share}",
            *([cap] if (cap := capped(schema)) is not None else []),
        ]
    found = [f"from, to: intervals; {together}, whatever the data looks like."]
    if table.answers.typical_error is None and "item" in table.names:
        found.append("about: the estimate, by a model of which items go together.")
    elif table.answers.typical_error is None:
        found.append(
            f"about: the estimate, if {units[1]} are spread evenly inside the regions that a cell "
            "cuts."
        )
    else:
        found.append(
            "about: the estimate of a model. usually within: its typical error by the same model; "
            "nothing is promised about either."
        )
    found += [words for remark, words in REMARKS.items() if remark in table.reliability]
    if table.picked:
        found.append(picked("Cells"))
    if (cap := capped(schema)) is not None:
        found.append(cap)
    if "item" in table.names:
        found.append(
            f"total: all {units[1]}, each once; above it a {units[0]} counts for every item in it."
        )
    if table.by == "share" and not table.groups:
        found.append(f"100% are about {number(max(0.0, float(table.total.estimate[0])))}.")
    return found


def count_grid(release: Release, table: CountTable, where: str | None = None) -> Grid:
    """A table with a bar for each cell, all on one scale."""
    found, people = table.answers, release.schema.unit_names[1]
    remarks, share = np.array(table.reliability), table.by == "share"
    noisy = ~table.known | np.isin(remarks, PALE)
    values = np.maximum(found.low if table.lower_only else found.estimate, 0.0)
    values = np.where(table.known, values, 0.0)
    high = values if table.lower_only else found.high
    most = frame_of(values, np.where(table.known, high, 0.0), noisy)
    bars: list[Cell] = [
        None
        if not table.known[place]
        else Bar(float(values[place]))
        if table.lower_only
        else Bar(
            float(values[place]),
            low=float(found.low[place]),
            high=float(high[place]),
            hollow=bool(noisy[place]),
        )
        for place in range(len(table))
    ]
    heads, first = headings(table, release.schema), len(table.names)
    last = first + len(columns(table))
    rows = [
        (*line[:last], bar, *line[last:])
        for line, bar in zip_longest(lines(table, release.schema), bars)
    ]
    scale = Scale.until(most, "%" if share else people)
    return Grid(
        title_of(release, table, where),
        (*heads[:last], scale, *heads[last:]),
        rows=tuple(rows),
        numbers=frozenset(range(first, last)),
    )


def table_document(release: Release, table: CountTable, where: str | None = None) -> Document:
    """A table as a document of its own."""
    return Document(
        title=title_of(release, table, where),
        sections=(
            Section(
                "Counts" if table.by == "count" else "Shares",
                (
                    *(Text(sentence) for sentence in guarantee(release)),
                    count_grid(release, table, where),
                    *(Text(words, "note") for words in how_to_read(table, release.schema)),
                ),
            ),
        ),
        private=bool(release.guarantee["private"]),
    )
