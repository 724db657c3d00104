"""A table of counts for people to read: the same words on the terminal, on a page and in Excel.

Excel files are written by XlsxWriter.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np

from hedgerow.errors import UsageError
from hedgerow.estimate.answers import NOISE, reliability
from hedgerow.estimate.queries import ASSUMED_EVEN, MODELED, NOT_MEASURED, RULED_OUT
from hedgerow.present.document import Bar, Cell, Document, Grid, Parts, Scale, Section, Text
from hedgerow.present.words import describe_cap, exact_percent, guarantee, number, unmeasured
from hedgerow.release import Release
from hedgerow.release.count_tables import PALE, CountTable, frame_of
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
    write: Callable[[float], str] = "{:.1%}".format if table.by == "share" else number
    rows = []
    for place, (known, remark) in enumerate(zip(table.known, table.reliability, strict=True)):
        names = zip(table.names, table.labels, strict=True)
        rows.append([
            *(display_label(schema, name, labels[place]) for name, labels in names),
            *(write(float(one[place])) if known else "-" for one in numbers),
            *([] if table.lower_only else [remark]),
        ])  # fmt: skip
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
    titles, own = titles_of(table, release.schema), len(table.names) - len(table.groups)
    by = " and ".join(titles)
    if table.by == "share" and table.groups and "item" not in table.names:
        by = f"{' and '.join(titles[:own])}, of each {' and '.join(titles[own:])}"
    elif "with" in table.names[1:]:
        by = "pair of items"
    shown = f"{release.schema.name}: {what} by {by}"
    return shown + (f", where {where}" if where else "")


def explain_picking(what: str) -> str:
    """What it means for intervals that the largest were picked, as a sentence.

    Example:
        >>> explain_picking("Cells")[:36]
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
    cap = [] if (cap := describe_cap(schema)) is None else [cap]
    if table.lower_only:
        holds = "all of them hold" if table.simultaneous else "each holds"
        share = " How large shares are is not known." if table.by == "share" else ""
        return [
            f"at least: lower ends; with a probability of at least {level} {holds}, whatever the "
            "data looks like.",
            f"Suppressed rows are missing, with their {units[1]}: there is no upper end.{share}",
            *cap,
        ]
    together = (
        f"with a probability of at least {level} all of them contain the truth"
        if table.simultaneous
        else f"each contains the true {table.by} with a probability of at least {level}"
    )
    if table.answers.typical_error is not None:
        about = (
            "the estimate of a model. usually within: its typical error by the same model; nothing "
            "is promised about either."
        )
    elif "item" in table.names:
        about = "the estimate, by a model of which items go together."
    else:
        about = (
            f"the estimate, if {units[1]} are spread evenly inside the regions that a cell cuts."
        )
    lines = [
        f"from, to: intervals; {together}, whatever the data looks like.",
        f"about: {about}",
        *(words for remark, words in REMARKS.items() if remark in table.reliability),
        *([explain_picking("Cells")] if table.picked else []),
        *cap,
    ]
    if "item" in table.names:
        lines.append(
            f"total: all {units[1]}, each once; above it a {units[0]} counts for every item in it."
        )
    if table.by == "share" and not table.groups:
        lines.append(f"100% are about {number(max(0.0, float(table.total.estimate[0])))}.")
    return lines


def count_grid(release: Release, table: CountTable, where: str | None = None) -> Grid:
    """A table with a bar for each cell, all on one scale."""
    answers, people = table.answers, release.schema.unit_names[1]
    noisy = ~table.known | np.isin(table.reliability, PALE)
    values = np.maximum(answers.low if table.lower_only else answers.estimate, 0.0)
    values = np.where(table.known, values, 0.0)
    high = values if table.lower_only else answers.high
    most = frame_of(values, np.where(table.known, high, 0.0), noisy)
    bars: list[Cell] = [None] * len(table)
    for place in np.flatnonzero(table.known):
        bars[place] = Bar(float(values[place]))
        if not table.lower_only:
            low, top = float(answers.low[place]), float(high[place])
            bars[place] = Bar(float(values[place]), low=low, high=top, hollow=bool(noisy[place]))
    heads: list[str | Scale] = [*headings(table, release.schema)]
    first, last = len(table.names), len(table.names) + len(columns(table))
    heads.insert(last, Scale.until(most, "%" if table.by == "share" else people))
    rows = [
        (*line[:last], bar, *line[last:])
        for line, bar in zip_longest(lines(table, release.schema), bars)
    ]
    caption = title_of(release, table, where)
    return Grid(caption, tuple(heads), rows=rows, numbers=range(first, last))


def table_document(release: Release, table: CountTable, where: str | None = None) -> Document:
    """A table as a document of its own."""
    parts: Parts = (
        *guarantee(release),
        count_grid(release, table, where),
        *(Text(words, "note") for words in how_to_read(table, release.schema)),
    )
    return Document(
        title=title_of(release, table, where),
        sections=(Section("Counts" if table.by == "count" else "Shares", parts),),
        private=bool(release.guarantee["private"]),
    )


# The same as an Excel workbook.


_NOT_IN_NAMES = re.compile(r"[\[\]:*?/\\']")
_LONGEST_NAME = 31
_LONGEST_TEXT = 32_000
_MOST_ROWS = 1_000_000  # that a sheet takes, about
_IN_FILES = {  # what words for columns are called in frames, data files and workbooks
    "from, to": "low, high",
    "usually within": "typical_error",
    "about": "estimate",
    "at least": "low",
}


def write_sheet(release: Release, table: CountTable, path: Path, where: str | None = None) -> None:
    """Writes one table, with what it means on a cover.

    Args:
        release: Where it comes from.
        table: The table.
        path: The file, which is replaced.
        where: The condition that its cells meet, in words.
    """
    _write_book(release, path, [(title_of(release, table, where), table)])


def write_workbook(release: Release, path: Path) -> None:
    """Writes a workbook: a cover, tables that the schema names, all others, and the regions.

    Args:
        release: The release.
        path: The file, which is replaced.
    """
    named, counted = named_tables(release), release.counted_tables()
    others = [names for names in counted if {*names} not in map(set, named)]
    tables = [release.table(*names) for names in (*named, *others)]
    regions = release.generalized("arrow") if release.kind == "table" else None  # type: ignore[attr-defined]
    _write_book(release, path, [(title_of(release, one, None), one) for one in tables], regions)


def _write_book(
    release: Release, path: Path, tables: Sequence[tuple[str, CountTable]], regions: Any = None
) -> None:
    try:
        import xlsxwriter
    except ImportError:
        raise UsageError(
            "Excel files need XlsxWriter, which is not installed.",
            hint="pip install 'hedgerow[excel]', or write .csv.",
        ) from None
    plain = {"strings_to_formulas": False, "strings_to_urls": False}  # texts are texts
    with xlsxwriter.Workbook(str(path), plain) as book:
        bold = book.add_format({"bold": True})
        soft = book.add_format({"font_color": "#4c5a52", "text_wrap": True})
        forms = {
            "count": book.add_format({"num_format": "#,##0"}),
            "share": book.add_format({"num_format": "0.0%"}),
        }
        cover = [
            (release.schema.name, bold),
            (f"Tables from a release by hedgerow ({release.method}).", None),
            (" ".join(guarantee(release)), soft),
            (release.describe().suppressed, soft),
            (unmeasured(release), soft),
            ("How to read the tables", bold),
            ("All numbers are noisy: noise was added to protect people. 'low' and 'high' are the "
             "ends of 95% intervals: each holds the true count in at least 95 of 100 releases. "
             "'estimate' is the best guess, 'typical_error' a guess of how far it is off.", soft),
            *((words, soft) for words in REMARKS.values()),
            ("Tables in this workbook", bold),
            *((title, None) for title, _ in tables),
        ]  # fmt: skip
        sheet = _add_sheet(book, "about")
        sheet.set_column(0, 0, 100)
        for row, (text, form) in enumerate(line for line in cover if line[0]):
            sheet.write(row, 0, _cell(text), form)
        for title, table in tables:
            sheet = _add_sheet(book, " & ".join(titles_of(table, release.schema)))
            sheet.write(0, 0, _cell(title), bold)
            _write_table(sheet, release.schema, table, bold, forms[table.by])
        if regions is not None:
            sheet = _add_sheet(book, "regions")
            for column, name in enumerate(regions.column_names):
                values = regions[name].slice(0, _MOST_ROWS).to_pylist()
                sheet.write(0, column, name, bold)
                sheet.write_column(1, column, map(_cell, values))


def _cell(value: Any) -> Any:
    """What a cell takes: a number, a text that is not too long, or nothing."""
    if isinstance(value, float):
        return value if math.isfinite(value) else "not known"
    return value if value is None or isinstance(value, int) else str(value)[:_LONGEST_TEXT]


def _write_table(sheet: Any, schema: Schema, table: CountTable, bold: Any, form: Any) -> None:
    """Numbers as numbers, the total below."""
    answers, first = table.answers, len(table.names)
    numbers = ["low"] if table.lower_only else ["estimate", "low", "high"]
    numbers += [] if answers.typical_error is None or table.lower_only else ["typical_error"]
    basis = [] if answers.basis is None else ["basis"]
    remarks = [] if table.lower_only else ["reliability", *basis]
    sheet.set_column(0, first - 1, 24)
    sheet.set_column(first, first + 6, 14)
    sheet.set_column(first, first + len(numbers) - 1, 14, form)
    sheet.write_row(2, 0, [*titles_of(table, schema), *numbers, *remarks], bold)
    for place, remark in enumerate(table.reliability):
        labels = (
            display_label(schema, name, label[place])
            for name, label in zip(table.names, table.labels, strict=True)
        )
        cells = [
            *(label.replace("\u00a0", " ") for label in labels),
            *(float(getattr(answers, n)[place]) if table.known[place] else None for n in numbers),
            *([] if table.lower_only else [remark]),
            *(str(getattr(answers, one)[place]) for one in remarks[1:]),
        ]
        sheet.write_row(3 + place, 0, map(_cell, cells))
    row, (remark,) = 3 + len(table), reliability(table.total)
    if not table.groups or table.by == "count":
        sheet.write(row, 0, TOTAL, bold)
        if table.by == "share":
            sheet.write(row, first, 1)
        elif remark != NOT_MEASURED:
            total = [float(getattr(table.total, name)[0]) for name in numbers]
            sheet.write_row(row, first, map(_cell, [*total, *([remark] if remarks else [])]))
    for place, sentence in enumerate(how_to_read(table, schema), row + 2):
        for word, name in _IN_FILES.items():
            sentence = sentence.replace(f"{word}:", f"{name}:")
        sheet.write(place, 0, sentence)
    sheet.freeze_panes(3, 0)


def _add_sheet(book: Any, name: str) -> Any:
    """A new sheet; Excel wants short names, all different, without some characters."""
    plain = _NOT_IN_NAMES.sub(" ", name).strip()[:_LONGEST_NAME] or "table"
    known, unique, number = {one.casefold() for one in book.sheetnames}, plain, 2
    while unique.casefold() in known:
        end = f" {number}"
        unique, number = plain[: _LONGEST_NAME - len(end)] + end, number + 1
    return book.add_worksheet(unique)
