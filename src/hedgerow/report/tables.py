"""A table of counts for people to read: the same words on the terminal, on a page and in Excel."""

from __future__ import annotations

from hedgerow.estimate.answers import Answers
from hedgerow.estimate.basis import NOT_MEASURED
from hedgerow.release import Release
from hedgerow.release.tabulate import CountTable
from hedgerow.report.html import document, tag
from hedgerow.report.html import table as html_table
from hedgerow.report.words import guarantee, number, percent

__all__ = ["headings", "how_to_read", "lines", "table_page", "title_of"]

REMARKS = {
    "good": "",
    "caution": "use with caution",
    "unreliable": "mostly noise",
    "not measured": "not measured",
}
TOTAL = "total"


def headings(table: CountTable) -> list[str]:
    """The names of the columns: what tells cells apart, then numbers, then a remark."""
    typical = [] if table.answers.typical_error is None else ["usually within"]
    return [*table.names, "about", *typical, "from", "to", "remark"]


def lines(table: CountTable) -> list[list[str]]:
    """Every cell in words, and the total."""

    def told(answers: Answers, place: int, share: bool) -> list[str]:
        typical = [] if answers.typical_error is None else [answers.typical_error[place]]
        values = [max(answers.estimate[place], 0.0), *typical, answers.low[place]]
        values.append(answers.high[place])
        words = [f"{value:.1%}" if share else number(float(value)) for value in values]
        if answers.basis is not None and answers.basis[place] == NOT_MEASURED:
            words[: 1 + len(typical)] = ["-"] * (1 + len(typical))  # an even spread is no finding
        return words

    share = table.by == "share"
    cells = zip(*table.labels, strict=True)
    found = [
        [*labels, *told(table.answers, place, share), REMARKS[remark]]
        for place, (labels, remark) in enumerate(zip(cells, table.reliability, strict=True))
    ]
    blank = [""] * (len(table.names) - 1)
    return [*found, [TOTAL, *blank, *told(table.total, 0, False), ""]]


def title_of(release: Release, table: CountTable, where: str | None) -> str:
    """What a table shows, as a heading."""
    by = " by ".join(dict.fromkeys(table.names))
    shown = f"{release.schema.name}: {'shares' if table.by == 'share' else 'counts'} by {by}"
    return shown + (f", where {where}" if where else "")


def how_to_read(table: CountTable) -> list[str]:
    """What the columns mean, as sentences."""
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
            "about: the estimate, if records are spread evenly inside the regions that a cell cuts."
        )
    else:
        found.append(
            "about: the estimate of a model. usually within: its typical error by the same model; "
            "nothing is promised about either."
        )
    found.append(
        "use with caution, mostly noise: the standard error is more than 16.5% or 33.3% of the "
        "estimate."
    )
    if NOT_MEASURED in table.reliability:
        found.append("not measured: the release says nothing about it beyond the interval.")
    if "item" in table.names:
        found.append("total: all records, each once; a record counts for every item that it holds.")
    return found


def table_page(release: Release, table: CountTable, where: str | None = None) -> str:
    """A table as a page of its own, in one file."""
    title, heads = title_of(release, table, where), headings(table)
    first = len(table.names)
    body = tag(
        "section",
        *(tag("p", sentence, class_="soft") for sentence in guarantee(release)),
        html_table(title, heads, lines(table), range(first, len(heads) - 1)),
        *(tag("p", sentence, class_="note") for sentence in how_to_read(table)),
    )
    head = tag("header", tag("p", "hedgerow", class_="brand"), tag("h1", title), class_="top")
    return document(title, tag("div", head, tag("main", body), class_="sheet"))
