"""Tables of a release as an Excel workbook, written by XlsxWriter."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

from hedgerow.errors import UsageError
from hedgerow.estimate.answers import reliability
from hedgerow.estimate.queries import NOT_MEASURED
from hedgerow.present.tables import REMARKS, TOTAL, how_to_read, named_tables, title_of, titles_of
from hedgerow.present.words import guarantee, unmeasured
from hedgerow.release import Release
from hedgerow.release.tabulate import CountTable
from hedgerow.schema.schema import display_label

_NOT_IN_NAMES = re.compile(r"[\[\]:*?/\\']")
_LONGEST_NAME = 31
_LONGEST_TEXT = 32_000
_MOST_ROWS = 1_000_000  # that a sheet takes, about


def write_sheet(release: Release, table: CountTable, path: Path, where: str | None = None) -> None:
    """Writes one table, with what it means on a cover.

    Args:
        release: Where it comes from.
        table: The table.
        path: The file, which is replaced.
        where: The condition that its cells meet, in words.
    """
    with _Book(path) as book:
        book.cover(release, [title_of(release, table, where)])
        book.table(release, title_of(release, table, where), table)


def write_workbook(release: Release, path: Path) -> None:
    """Writes a workbook: a cover, tables that the schema names, all others, and the regions.

    Args:
        release: The release.
        path: The file, which is replaced.
    """
    asked, counted = named_tables(release), release.counted_tables()
    others = [names for names in counted if {*names} not in map(set, asked)]
    tables = [release.table(*names) for names in (*asked, *others)]
    with _Book(path) as book:
        titles = [title_of(release, table, None) for table in tables]
        book.cover(release, titles)
        for title, table in zip(titles, tables, strict=True):
            book.table(release, title, table)
        if release.kind == "table":
            book.rows("regions", release.generalized("arrow"))  # type: ignore[attr-defined]


def _columns(table: CountTable) -> list[str]:
    """The columns behind the labels, called as in frames and data files."""
    if table.lower_only:
        return ["low"]
    typical = [] if table.answers.typical_error is None else ["typical_error"]
    basis = [] if table.answers.basis is None else ["basis"]
    return ["estimate", "low", "high", *typical, "reliability", *basis]


_CALLED = {
    "from, to": "low, high", "usually within": "typical_error", "about": "estimate",
    "at least": "low",
}  # fmt: skip


class _Book:
    """A workbook that is being written. Texts are texts: none of them is taken for a formula."""

    def __init__(self, path: Path) -> None:
        try:
            import xlsxwriter
        except ImportError:
            raise UsageError(
                "Excel files need XlsxWriter, which is not installed.",
                hint="pip install 'hedgerow[excel]', or write .csv.",
            ) from None
        self._book: Any = xlsxwriter.Workbook(str(path), {"constant_memory": False})
        self._bold = self._book.add_format({"bold": True})
        self._soft = self._book.add_format({"font_color": "#4c5a52", "text_wrap": True})
        self._formats = {
            "count": self._book.add_format({"num_format": "#,##0"}),
            "share": self._book.add_format({"num_format": "0.0%"}),
        }
        self._names: set[str] = set()

    def __enter__(self) -> _Book:
        return self

    def __exit__(self, *_: object) -> None:
        self._book.close()

    def cover(self, release: Release, titles: list[str]) -> None:
        """What this is, what is promised, and what is where."""
        sheet = self._sheet("about")
        sheet.set_column(0, 0, 100)
        told = release.describe()
        rows = [
            (release.schema.name, self._bold),
            (f"Tables from a release by hedgerow ({release.method}).", None),
            (" ".join(guarantee(release)), self._soft),
            (told.suppressed or "", self._soft),
            (unmeasured(release) or "", self._soft),
            ("How to read the tables", self._bold),
            ("All numbers are noisy: noise was added to protect people. 'low' and 'high' are the "
             "ends of 95% intervals: each holds the true count in at least 95 of 100 releases. "
             "'estimate' is the best guess, 'typical_error' a guess of how far it is off.",
             self._soft),
            *((words, self._soft) for words in REMARKS.values()),
            ("Tables in this workbook", self._bold),
            *((title, None) for title in titles),
        ]  # fmt: skip
        for place, (text, form) in enumerate(row for row in rows if row[0]):
            sheet.write_string(place, 0, text[:_LONGEST_TEXT], form)

    def table(self, release: Release, title: str, table: CountTable) -> None:
        """A sheet with a table: numbers as numbers, the total below."""
        sheet = self._sheet(" & ".join(titles_of(table, release.schema)))
        sheet.write_string(0, 0, title[:_LONGEST_TEXT], self._bold)
        names = len(table.names)
        sheet.set_column(0, names - 1, 24)
        sheet.set_column(names, names + 6, 14)
        for column, heading in enumerate([*titles_of(table, release.schema), *_columns(table)]):
            sheet.write_string(2, column, heading, self._bold)
        found, form = table.answers, self._formats[table.by]
        numbers = [name for name in _columns(table) if name not in ("reliability", "basis")]
        row = 3
        known = table.known
        for place, remark in enumerate(table.reliability):
            for column, labels in enumerate(table.labels):
                shown = display_label(release.schema, table.names[column], labels[place])
                sheet.write_string(row, column, shown.replace("\u00a0", " ")[:_LONGEST_TEXT])
            for column, name in enumerate(numbers, names):
                if known[place]:
                    self._number(sheet, row, column, float(getattr(found, name)[place]), form)
            if not table.lower_only:
                basis = [] if found.basis is None else [str(found.basis[place])]
                sheet.write_row(row, names + len(numbers), [remark, *basis])
            row += 1
        if not table.groups or table.by == "count":
            self._total(sheet, row, table, numbers)
        for sentence in how_to_read(table, release.schema):
            for word, name in _CALLED.items():
                sentence = sentence.replace(f"{word}:", f"{name}:")
            row += 1
            sheet.write_string(row + 1, 0, sentence)
        sheet.freeze_panes(3, 0)

    def _total(self, sheet: Any, row: int, table: CountTable, numbers: list[str]) -> None:
        """The line below all cells."""
        names, form = len(table.names), self._formats[table.by]
        sheet.write_string(row, 0, TOTAL, self._bold)
        if table.by == "share":
            sheet.write_number(row, names, 1, form)
        elif (remark := reliability(table.total)[0]) != NOT_MEASURED:
            for column, name in enumerate(numbers, names):
                self._number(sheet, row, column, float(getattr(table.total, name)[0]), form)
            if not table.lower_only:
                sheet.write_string(row, names + len(numbers), remark)

    def rows(self, name: str, rows: Any) -> None:
        """A sheet with an Arrow table."""
        sheet = self._sheet(name)
        for column, field in enumerate(rows.column_names):
            sheet.write_string(0, column, field, self._bold)
            for row, value in enumerate(rows[field].slice(0, _MOST_ROWS).to_pylist(), 1):
                if isinstance(value, int | float):
                    sheet.write_number(row, column, value)
                elif value is not None:
                    sheet.write_string(row, column, str(value)[:_LONGEST_TEXT])

    def _number(self, sheet: Any, row: int, column: int, value: float, form: Any) -> None:
        if math.isfinite(value):
            sheet.write_number(row, column, value, form)
        else:
            sheet.write_string(row, column, "not known")

    def _sheet(self, name: str) -> Any:
        """A new sheet; Excel wants short names, all different, without some characters."""
        plain = _NOT_IN_NAMES.sub(" ", name).strip()[:_LONGEST_NAME] or "table"
        found, number = plain, 2
        while found.casefold() in self._names:
            end = f" {number}"
            found, number = plain[: _LONGEST_NAME - len(end)] + end, number + 1
        self._names.add(found.casefold())
        return self._book.add_worksheet(found)
