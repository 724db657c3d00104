"""A table of counts for people to read: the same words on the terminal, on a page and in Excel."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hedgerow.estimate.basis import ASSUMED_EVEN, MODELLED, NOT_MEASURED
from hedgerow.release import Release
from hedgerow.release.tabulate import NOISE, CountTable, reliability
from hedgerow.report.html import document, tag
from hedgerow.report.html import table as html_table
from hedgerow.report.labels import displayed
from hedgerow.report.words import guarantee, number, percent
from hedgerow.schema import Schema

__all__ = ["NOTHING", "headings", "how_to_read", "lines", "picked", "table_page", "title_of"]

TOTAL = "total"
NOTHING = (
    "0 to 0: noise took the count so far below zero that nothing is left of the interval, which "
    "may well miss the truth. Go by the typical error."
)
REMARKS = {
    "good": "good: the standard error is at most 16.5% of the estimate.",
    "fair": "fair: the standard error is at most a third of the estimate.",
    NOISE: "mostly noise: the standard error is more than a third of the estimate.",
    MODELLED: "modelled: not counted by itself or not in full, so the estimate and its error are a "
    "model's.",
    ASSUMED_EVEN: "assumed even: it cuts regions, inside which an even spread is assumed; only the "
    "interval is known.",
    NOT_MEASURED: "not measured: the release says nothing about it.",
}


def headings(table: CountTable) -> list[str]:
    """The names of the columns: what tells cells apart, then numbers, then a remark."""
    typical = [] if table.answers.typical_error is None else ["usually within"]
    return [*table.names, "about", *typical, "from", "to", "remark"]


def lines(table: CountTable, schema: Schema) -> list[list[str]]:
    """Every cell in words, and the total."""
    found = table.answers
    typical = [] if found.typical_error is None else [found.typical_error]
    columns = [np.maximum(found.estimate, 0.0), *typical, found.low, found.high]
    told: Callable[[float], str] = "{:.1%}".format if table.by == "share" else number
    rows = [
        [
            *(displayed(schema, *one) for one in zip(table.names, labels, strict=True)),
            *(told(float(one[place])) if known else "-" for one in columns),
            remark,
        ]
        for place, (labels, known, remark) in enumerate(
            zip(zip(*table.labels, strict=True), table.known, table.reliability, strict=True)
        )
    ]
    return [*rows, [TOTAL, *[""] * (len(table.names) - 1), *_total(table, len(columns))]]


def _total(table: CountTable, numbers: int) -> list[str]:
    """The numbers and the remark of the line below all cells."""
    found = table.total
    (remark,) = reliability(found)
    if table.by == "share":
        return ["100%", *[""] * numbers]
    if remark == NOT_MEASURED:
        return [*["-"] * numbers, remark]
    typical = [] if found.typical_error is None else [found.typical_error[0]]
    values = [max(found.estimate[0], 0.0), *typical, found.low[0], found.high[0]]
    return [*(number(float(value)) for value in values), remark]


def title_of(release: Release, table: CountTable, where: str | None) -> str:
    """What a table shows, as a heading."""
    what = f"{'shares' if table.by == 'share' else 'counts'} of {release.schema.unit_names[1]}"
    by = "pair of items" if "with" in table.names[1:] else " and ".join(table.names)
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


def how_to_read(table: CountTable, units: tuple[str, str]) -> list[str]:
    """What the columns mean, as sentences.

    Args:
        table: The table.
        units: What one counted record is called, and several of them.
    """
    level = percent(table.level)
    together = (
        f"with a probability of at least {level} all of them contain the truth"
        if table.simultaneous
        else f"each contains the true {'share' if table.by == 'share' else 'count'} with a "
        f"probability of at least {level}"
    )
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
    if np.isinf(table.answers.high).any():
        found.append(f"Suppressed rows are missing, with their {units[1]}: there is no upper end.")
    if ((table.answers.low == 0) & (table.answers.high == 0) & table.known).any():
        found.append(NOTHING)
    if table.picked:
        found.append(picked("Cells"))
    if "item" in table.names:
        found.append(
            f"total: all {units[1]}, each once; above it a {units[0]} counts for every item in it."
        )
    if table.by == "share":
        found.append(f"100% are about {number(max(0.0, float(table.total.estimate[0])))}.")
    return found


def table_page(release: Release, table: CountTable, where: str | None = None) -> str:
    """A table as a page of its own, in one file."""
    title, heads = title_of(release, table, where), headings(table)
    first = len(table.names)
    body = tag(
        "section",
        *(tag("p", sentence, class_="soft") for sentence in guarantee(release)),
        html_table(title, heads, lines(table, release.schema), range(first, len(heads) - 1)),
        *(tag("p", told, class_="note") for told in how_to_read(table, release.schema.unit_names)),
    )
    head = tag("header", tag("p", "hedgerow", class_="brand"), tag("h1", title), class_="top")
    return document(title, tag("div", head, tag("main", body), class_="sheet"))
