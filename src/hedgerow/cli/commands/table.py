"""`hedgerow table`: counts of all cells of some attributes, with intervals."""

from __future__ import annotations

import datetime
import math
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hedgerow.cli.display.terminal import note, print_json, print_table, say, telling
from hedgerow.cli.options import AsJson, Overwrite
from hedgerow.errors import UsageError

if TYPE_CHECKING:
    import pyarrow as pa

    from hedgerow.release import Release
    from hedgerow.release.summaries import Summaries
    from hedgerow.release.tabulate import CountTable

_SHOWN = 200  # more rows than this nobody reads in a terminal


def table(
    release: Annotated[Path, typer.Argument(help="The folder of a release.")],
    attributes: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="ATTRIBUTE", help="One attribute or several; item, or item item, for items."
        ),
    ] = None,
    where: Annotated[
        str | None,
        typer.Option(
            metavar="QUERY", help="Count only what meets this query; see docs/queries.md."
        ),
    ] = None,
    by: Annotated[
        str,
        typer.Option(
            metavar="count|share|rows",
            help="Counts, shares of the total, or shares of the last attribute in each row of the "
            "others.",
        ),
    ] = "count",
    bins: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=...",
            help="How to divide an attribute: age=18,40,65 for bands that begin there, job=1 for a "
            "level of its taxonomy. Once for each.",
        ),
    ] = None,
    mean: Annotated[
        str | None,
        typer.Option(metavar="NUMBER", help="The mean of this number instead, by the attributes."),
    ] = None,
    total: Annotated[
        str | None,
        typer.Option("--sum", metavar="NUMBER", help="The sum of this number, by the attributes."),
    ] = None,
    quantile: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBER=PART",
            help="A quantile of this number, by the attributes: age=0.5 for the median.",
        ),
    ] = None,
    rules: Annotated[
        float | None,
        typer.Option(
            metavar="CONFIDENCE",
            help="Association rules of items from this confidence on, instead of counts.",
        ),
    ] = None,
    top: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Only the N largest cells.")
    ] = None,
    level: Annotated[
        str, typer.Option(metavar="SHARE", help="The coverage of intervals.")
    ] = "0.95",
    simultaneous: Annotated[
        bool, typer.Option("--simultaneous", help="Intervals that hold for all cells at once.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Write it to this file: .csv, .csv.gz, .parquet, .html, .xlsx, .png, .svg or .pdf."
        ),
    ] = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Show counts of all values of an attribute, or of several together, with intervals.

    Each cell has an estimate, an interval and a remark where there is mostly noise. Without an
    attribute, --out NAME.xlsx writes a workbook of all tables. Costs no further budget.
    """
    from hedgerow.cli.commands.query import share_of
    from hedgerow.cli.files import refuse_existing, refuse_inside, whole_file
    from hedgerow.release import Release

    share = share_of(level)
    if by not in ("count", "share", "rows"):
        raise UsageError(
            f"--by cannot be {by!r}.",
            hint="Write --by count, --by share for percentages, or --by rows.",
        )
    if by == "rows" and len(attributes or ()) < 2:  # noqa: PLR2004
        raise UsageError(
            "--by rows needs two attributes.",
            hint="Write hedgerow table release/ occupation smoker --by rows, for example.",
        )
    write = None if out is None else _writer(out)
    if out is not None:
        refuse_inside(out, release)
        refuse_existing(out, overwrite)
    opened = Release.load(release)
    seeded = not opened.guarantee["private"]
    if rules is not None:
        if attributes or where or bins or simultaneous or by != "count":
            raise UsageError(
                "--rules goes with --top, --level and --out alone.",
                hint="Write hedgerow table release/ --rules 0.5, for example.",
            )
        listed = _rules(opened, rules, share).slice(0, top)
        if out is None:
            if not as_json:
                _tell_rules(opened, listed, share)
                return
            rows = [
                {name: None if value == math.inf else value for name, value in row.items()}
                for row in listed.to_pylist()
            ]
            print_json({"level": share, "rules": rows})
            return
        from hedgerow.cli.files import table_writer

        with whole_file(out, overwrite, private=seeded) as temporary:
            table_writer(out)(_joined(listed), temporary)
    elif summaries := [one for one in (mean, total, quantile) if one is not None]:
        if len(summaries) > 1 or by != "count" or bins or top or simultaneous:
            raise UsageError(
                "--mean, --sum and --quantile go with attributes and --where alone.",
                hint="Write one of them, such as hedgerow table release/ sex --mean age.",
            )
        summary = summary_of(opened, mean, total, quantile, attributes or [], where, share)
        if out is None:
            print_json(_plain(summary)) if as_json else _tell_summary(summary)
            return
        from hedgerow.cli.files import table_writer

        with whole_file(out, overwrite, private=seeded) as temporary:
            table_writer(out)(summary.to_arrow(), temporary)
    elif not attributes:
        if out is None or out.suffix.lower() != ".xlsx":
            raise UsageError("There is no attribute.", hint=_names(opened))
        from hedgerow.present.workbook import write_workbook

        with whole_file(out, overwrite, private=seeded) as temporary:
            write_workbook(opened, temporary)
    else:
        own, groups = (attributes[-1:], attributes[:-1]) if by == "rows" else (attributes, None)
        found = opened.table(
            *own,
            by=groups,
            where=_condition(opened, where),
            share=by != "count",
            level=share,
            simultaneous=simultaneous,
            bins=_bins(bins or []),
            top=top,
        )
        if out is None or write is None:
            if as_json:
                print_json(_facts(found))
            else:
                _tell(opened, found, where)
            return
        with whole_file(out, overwrite, private=seeded) as temporary:
            write(opened, found, temporary, where)
    with telling(out):
        if as_json:
            print_json({"out": str(out)})
        else:
            say(f"Wrote {out}.")


def summary_of(
    release: Release, mean: str | None, total: str | None, quantile: str | None,
    by: list[str], where: str | None, level: float,
) -> Summaries:  # fmt: skip
    """The mean, sum or quantile that options name, of each group."""
    if mean is not None:
        return release.mean(mean, by=by, where=where, level=level)
    if total is not None:
        return release.sum(total, by=by, where=where, level=level)
    name, _, part = (quantile or "").rpartition("=")
    try:
        return release.quantile(name, float(part), by=by, where=where, level=level)
    except ValueError:
        hint = "Write --quantile age=0.5 for the median."
        raise UsageError(f"--quantile {quantile!r} names no part.", hint=hint) from None


def _tell_summary(found: Summaries) -> None:
    print_summary(found.caption(), found.to_arrow(), len(found.names))


def print_summary(caption: str, rows: pa.Table, words: int) -> None:
    """Numbers of groups, the first columns of which are words."""
    say(f"{caption}\n")
    columns = [rows[name].to_pylist() for name in rows.column_names]
    shown = [
        ["-" if v is None else f"{v:,.6g}" if isinstance(v, float) else str(v) for v in row]
        for row in zip(*columns, strict=True)
    ]
    print_table(rows.column_names, shown[:_SHOWN], set(range(words, len(columns))))
    if len(shown) > _SHOWN:
        note(f"Only the first {_SHOWN} groups are shown; --out FILE writes them all.")


def _rules(release: Any, least: float, level: float) -> pa.Table:
    if release.kind != "transactions":
        raise UsageError(
            "only releases of items have association rules.",
            hint="Name attributes instead, such as hedgerow table release/ sex age.",
        )
    return release.rules(least=least, level=level, kind="arrow")


def _joined(rules: pa.Table) -> pa.Table:
    """Rules with the items that are held in one text, as every kind of file can hold them."""
    import pyarrow as pa

    given = pa.array([", ".join(one) for one in rules["given"].to_pylist()], pa.string())
    return rules.set_column(0, "given", given)


def _tell_rules(release: Release, rules: pa.Table, level: float) -> None:
    those = release.schema.unit_names[1]
    say(f"{release.schema.name}: of the {those} that hold some items, how many hold another\n")
    heads, rows = ["given", "then"], []
    for name in ("support", "confidence", "lift"):
        heads += [name, "from", "to"]
    for row in _joined(rules).to_pylist()[:_SHOWN]:
        values = [
            f"{row[name + end]:{form}f}" if math.isfinite(row[name + end]) else "any"
            for name, form in (("support", ",.0"), ("confidence", ".2"), ("lift", ".2"))
            for end in ("", "_low", "_high")
        ]
        rows.append([row["given"], row["then"], *values])
    print_table(heads, rows, set(range(2, len(heads))))
    say()
    say(f"from, to: intervals; each contains the true number with a probability of at least "
        f"{100 * level:g}%, for a rule that was chosen without looking.")  # fmt: skip
    say("Rules were picked by their estimates, and the largest are often too large.")
    say("lift: how many times as many hold it among those as among all.")


def _plain(found: Summaries) -> dict[str, Any]:
    groups = plain_rows(found.to_arrow())
    return {"level": found.level, found.what: found.number.name, "groups": groups}


def plain_rows(rows: pa.Table) -> list[dict[str, Any]]:
    """Rows as JSON has them: dates as texts, and nothing for what is not a number."""
    return [
        {
            name: str(v) if isinstance(v, datetime.date)
            else None if isinstance(v, float) and not math.isfinite(v) else v
            for name, v in row.items()
        }
        for row in rows.to_pylist()
    ]  # fmt: skip


def _names(release: Release) -> str:
    if release.kind == "transactions":
        return "Write item, or item item for pairs; or --out NAME.xlsx for all tables."
    names = [attribute.name for attribute in release.schema.columns]
    shown = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")  # noqa: PLR2004
    return f"Name one of {shown}; or --out NAME.xlsx for all tables."


def _condition(release: Release, where: str | None) -> Any:
    if where is None or release.kind != "transactions":
        return where
    from hedgerow.cli.display.transactions import read_items

    return read_items(where, release.schema.transaction_items)


def _bins(texts: list[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for text in texts:
        name, equals, values = text.rpartition("=")
        parts = [part.strip() for part in values.split(",")]
        if not equals or not name or not all(parts):
            raise UsageError(
                f"--bins {text!r} divides nothing.", hint="Write --bins age=18,40,65 or job=1."
            )
        level = len(parts) == 1 and parts[0].isdigit()
        found[name] = int(parts[0]) if level else parts
    return found


def _writer(out: Path) -> Any:
    """What writes a table to a file of this kind."""
    from hedgerow.cli.files import table_writer

    kind = out.suffix.lower()
    if kind == ".html":
        return _write_page
    if kind == ".xlsx":
        return _write_sheet
    if kind in (".png", ".svg", ".pdf"):
        return partial(_write_picture, kind[1:])
    write = table_writer(out, (".html", ".xlsx", ".png", ".svg", ".pdf"))
    return lambda release, found, path, where: write(found.to_arrow(), path)


def _write_page(release: Release, found: CountTable, path: Path, where: str | None) -> None:
    from hedgerow.present import html
    from hedgerow.present.tables import table_document

    path.write_text(html.page(table_document(release, found, where)), encoding="utf-8")


def _write_picture(
    kind: str, release: Release, found: CountTable, path: Path, where: str | None
) -> None:
    from hedgerow.present.tables import title_of
    from hedgerow.release.tabulate import draw_table
    from hedgerow.schema.schema import display_label

    title, shown = title_of(release, found, where), partial(display_label, release.schema)
    draw_table(found, title, shown).figure.savefig(path, dpi=130, format=kind)


def _write_sheet(release: Release, found: CountTable, path: Path, where: str | None) -> None:
    from hedgerow.present.workbook import write_sheet

    write_sheet(release, found, path, where)


def _tell(release: Release, found: CountTable, where: str | None) -> None:
    from hedgerow.present.tables import columns, headings, how_to_read, lines, title_of

    say(f"{title_of(release, found, where)}\n")
    heads, rows = headings(found, release.schema), lines(found, release.schema)
    first = len(found.names)
    shown = rows if len(rows) <= _SHOWN + 1 else [*rows[:_SHOWN], *rows[len(found) :]]
    print_table(heads, shown, set(range(first, first + len(columns(found)))))
    say()
    for sentence in how_to_read(found, release.schema):
        say(sentence)
    if len(shown) < len(rows):
        note(f"Only the first {_SHOWN} cells are shown; --out FILE writes them all.")


def _facts(found: CountTable) -> dict[str, Any]:
    from hedgerow.estimate.answers import reliability
    from hedgerow.estimate.queries import NOT_MEASURED

    def plain(value: Any) -> Any:
        # JSON has no word for a bound that is not there.
        return None if isinstance(value, float) and not math.isfinite(value) else value

    total = found.total
    (remark,) = reliability(total)
    known = remark != NOT_MEASURED
    return {
        "level": found.level,
        "simultaneous": found.simultaneous,
        "picked": found.picked,
        "by": found.by,
        "cells": [
            {name: plain(value) for name, value in row.items()}
            for row in found.to_arrow().to_pylist()
        ],
        "total": {
            **{
                name: plain(total.to_arrow()[name][0].as_py()) if known else None
                for name in ("estimate", "low", "high", "typical_error")
            },
            "reliability": remark,
        },
    }
