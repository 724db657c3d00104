"""`hedgerow query` and `table`: counts from a release, and how far off they may be."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hedgerow.cli.display.terminal import note, print_json, print_table, say, telling
from hedgerow.cli.files import check_place, is_same, table_writer, whole_file
from hedgerow.cli.options import AsJson, option
from hedgerow.errors import UsageError
from hedgerow.present.words import number

if TYPE_CHECKING:
    import pyarrow as pa

    from hedgerow.present.answers import Answer
    from hedgerow.release import Release
    from hedgerow.release.count_tables import CountTable, Summaries


NOT_MEASURED = "not measured"  # of `basis`
_IN_WORDS = 5  # up to so many answers are told in sentences, more in a table
_SHOWN = 200  # more rows than this nobody reads in a terminal


def query(
    release: Path,
    queries: Annotated[list[str] | None, typer.Argument(metavar="QUERY")] = None,
    file: Path | None = None,
    level: Annotated[str, option("SHARE")] = "0.95",
    mean: Annotated[str | None, option("NUMBER")] = None,
    total: Annotated[str | None, option("NUMBER", name="--sum")] = None,
    quantile: Annotated[str | None, option("NUMBER=PART")] = None,
    out: Path | None = None,
    overwrite: bool = False,
    as_json: AsJson = False,
) -> None:
    """Ask a release how many records meet some conditions, or hold some items.

    Each answer is an estimate with its typical error, from a model, and an interval from the
    noisy counts alone; by regions the noise and the uniformity error are shown apart. Items that
    begin with a dash go after two dashes: hedgerow query shop/ -- -3. Costs no further budget.

    Args:
        queries: Who to count, in quotes, or items; see docs/queries.md.
        file: Also ask the queries in this file, one per line.
        level: The coverage of intervals.
        mean: The mean of this number instead, for each query.
        total: The sum of this number, for each query.
        quantile: A quantile of this number, for each query: age=0.5 for the median.
        out: Write all answers to this file: .csv, .csv.gz or .parquet.

    Example:
        hedgerow query release/ "age in [30, 50] and smoker = yes"
    """
    from hedgerow.release import Release

    share = share_of(level)
    write = None if out is None else table_writer(out)
    if out is not None and file is not None and is_same(out, file):
        raise UsageError(
            "--out and --file name the same file, so the answers would replace the queries.",
            hint="Choose another --out.",
        )
    check_place(out, overwrite, release=release)
    opened = Release.load(release)
    answers: list[Answer]
    if summaries := _named_summaries(mean, total, quantile):
        if len(summaries) > 1:
            hint = "Write one of them, such as hedgerow query release/ --mean age."
            raise UsageError("--mean, --sum and --quantile do not go together.", hint=hint)
        caption, rows = _summarize_each(opened, queries or [], file, share, *summaries[0])
        answers, tell = rows.to_pylist(), partial(_tell_summary, caption, rows, 1)
    else:
        if not queries and file is None:
            hint = f"Write one in quotes, such as {opened.example}, or name a file with --file."
            raise UsageError("There is no query.", hint=hint)
        answers = _ask(opened, queries or [], file, share)
        tell = partial(_tell_answers, opened, answers, share)
        answers = list(map(_without_guesses, answers))
    if out is not None and write is not None:
        import pyarrow as pa

        with whole_file(out, overwrite, private=not opened.guarantee["private"]) as temporary:
            write(rows if summaries else pa.Table.from_pylist(answers), temporary)
    with telling(out):
        if as_json:
            print_json({"level": share, "answers": plain_rows(answers), "out": out})
        elif out is not None:
            say(f"Wrote the answers to {out}.")
        else:
            tell()


def share_of(level: str) -> float:
    """The level of the intervals as a number."""
    try:
        share = float(level)
    except ValueError:
        share = math.nan  # such as 95%, which gets the same hint
    if not 0 < share < 1:
        raise UsageError(
            "--level must be a number between 0 and 1.",
            hint="For 95% write --level 0.95, or leave it out.",
        )
    return share


def _ask(release: Release, texts: list[str], file: Path | None, level: float) -> list[Answer]:
    from hedgerow.present.answers import list_answers
    from hedgerow.schema import Vocabulary, read_queries

    queries: list[Any]
    if release.kind == "transactions":
        from hedgerow.cli.display.transactions import read_items, text_of

        queries = [read_items(line, release.schema.transaction_items)
                   for line in _list_queries(texts, file)]  # fmt: skip
        names = [text_of(items) for items in queries]
    else:
        vocabulary = Vocabulary(release.schema)
        queries = [vocabulary.parse(text) for text in texts]
        queries += [] if file is None else read_queries(file, release.schema)
        names = [vocabulary.text(one) for one in queries]
    if not queries:
        raise UsageError(f"{file} holds no query.", hint="Write one per line.")
    return list_answers(release, names, queries, level)


def _list_queries(texts: list[str], file: Path | None) -> list[str]:
    """All that is asked, what stands in a file last."""
    from hedgerow.schema.query import query_lines

    return texts + [text for _, text in (query_lines(file) if file is not None else [])]


def _without_guesses(answer: Answer) -> Answer:
    """The same without numbers if nothing was measured: files are read without their words."""
    if answer["basis"] != NOT_MEASURED:
        return answer
    words = ("query", "basis", "reliability")
    return {name: value if name in words else None for name, value in answer.items()}


def plain_rows(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows as JSON has them: nothing for a bound that is not there."""
    return [
        {n: None if isinstance(v, float) and not math.isfinite(v) else v for n, v in row.items()}
        for row in rows
    ]


def _tell_answers(release: Release, answers: list[Answer], level: float) -> None:
    """Answers in sentences if they are few, and otherwise as a table."""
    from hedgerow.present.answers import MISSING, describe_answer, how_to_read

    if len(answers) > _IN_WORDS:
        _tabulate(release, answers)
        say("", *how_to_read(release, answers, level))
        return
    for place, answer in enumerate(answers):
        if place and release.kind != "transactions":
            say("")
        say(answer["query"], *(f"  {line}" for line in describe_answer(release, answer, level)))
    if release.kind == "rows":
        say(f"\n{MISSING.format(those=release.schema.unit_names[1])}")


def _tabulate(release: Release, answers: list[Answer]) -> None:
    from hedgerow.estimate.answers import NOISE
    from hedgerow.present.answers import HEADS, KINDS

    shown, rows = [name for name in KINDS[release.kind][2] if name in answers[0]], []
    for answer in answers[:_SHOWN]:
        # what was not measured has ends, but no estimate that anybody should read
        silent = answer["basis"] == NOT_MEASURED
        numbers = [
            "-" if silent and name not in ("low", "high") else number(max(answer[name], 0.0))
            for name in shown
        ]
        noisy = answer["reliability"] == NOISE
        rows.append([answer["query"], *numbers, NOISE if noisy else answer["basis"]])
    heads = ["query", *(HEADS[name] for name in shown), "basis"]
    print_table(heads, rows, set(range(1, 1 + len(shown))))
    if len(answers) > _SHOWN:
        note(f"Only the first {_SHOWN} answers are shown; --out FILE writes them all.")


def _summarize_each(
    release: Release, texts: list[str], file: Path | None, level: float, what: str, number: str
) -> tuple[str, pa.Table]:
    """What to call the mean, sum or quantile of the records of each query, and the rows."""
    import pyarrow as pa

    from hedgerow.schema import Vocabulary

    lines = _list_queries(texts, file)
    if file is not None and not lines:
        raise UsageError(f"{file} holds no query.", hint="Write one per line.")
    vocabulary, lines = Vocabulary(release.schema), lines or ["everybody"]
    summaries = [_summarize(release, what, number, [], line, level) for line in lines]
    words = pa.array([vocabulary.text(vocabulary.parse(line)) for line in lines])
    rows = pa.concat_tables([one.to_arrow() for one in summaries]).combine_chunks()
    return summaries[0].caption(), rows.add_column(0, "query", words)


def table(
    release: Path,
    attributes: Annotated[list[str] | None, typer.Argument(metavar="ATTRIBUTE")] = None,
    where: Annotated[str | None, option("QUERY")] = None,
    by: Annotated[str, option("count|share|rows")] = "count",
    bins: Annotated[list[str] | None, option("NAME=...")] = None,
    mean: Annotated[str | None, option("NUMBER")] = None,
    total: Annotated[str | None, option("NUMBER", name="--sum")] = None,
    quantile: Annotated[str | None, option("NUMBER=PART")] = None,
    rules: Annotated[float | None, option("CONFIDENCE")] = None,
    top: Annotated[int | None, option("N", min=1)] = None,
    level: Annotated[str, option("SHARE")] = "0.95",
    simultaneous: bool = False,
    out: Path | None = None,
    overwrite: bool = False,
    as_json: AsJson = False,
) -> None:
    """Show counts of all values of an attribute, or of several together, with intervals.

    Each cell has an estimate, an interval and a remark where there is mostly noise. Without an
    attribute, --out NAME.xlsx writes a workbook of all tables. Costs no further budget.

    Args:
        attributes: One attribute or several; item, or item item, for items.
        where: Count only what meets this query; see docs/queries.md.
        by: Counts, shares of the total, or shares of the last attribute in each row of the others.
        bins: How to divide an attribute: age=18,40,65 for bands that begin there, job=1 for a level
            of its taxonomy. Once for each.
        mean: The mean of this number instead, by the attributes.
        total: The sum of this number, by the attributes.
        quantile: A quantile of this number, by the attributes: age=0.5 for the median.
        rules: Association rules of items from this confidence on, instead of counts.
        top: Only the N largest cells.
        level: The coverage of intervals.
        simultaneous: Intervals that hold for all cells at once.
        out: Write it to this file: .csv, .csv.gz, .parquet, .html, .xlsx, .png, .svg or .pdf.

    Example:
        hedgerow table release/ occupation age --bins age=18,40,65
        hedgerow table release/ --out release.xlsx
    """
    from hedgerow.cli.display.transactions import read_items
    from hedgerow.release import Release

    share = share_of(level)
    if by not in ("count", "share", "rows"):
        raise UsageError(
            f"--by cannot be {by!r}.",
            hint="Write --by count, --by share for percentages, or --by rows.",
        )
    if by == "rows" and len(attributes or ()) < 2:
        raise UsageError(
            "--by rows needs two attributes.",
            hint="Write hedgerow table release/ occupation smoker --by rows, for example.",
        )
    if out is not None and out.suffix.lower() not in _DRAWN:
        table_writer(out, _DRAWN)  # which refuses what it cannot write
    check_place(out, overwrite, release=release)
    opened: Any = Release.load(release)
    tell: Callable[[], None]
    if rules is not None:
        if attributes or where or bins or simultaneous or by != "count":
            raise UsageError(
                "--rules goes with --top, --level and --out alone.",
                hint="Write hedgerow table release/ --rules 0.5, for example.",
            )
        if opened.kind != "transactions":
            raise UsageError(
                "only releases of items have association rules.",
                hint="Name attributes instead, such as hedgerow table release/ sex age.",
            )
        result: Any = opened.rules(least=rules, level=share, kind="arrow").slice(0, top)
        facts = {"level": share, "rules": plain_rows(result.to_pylist())}
        tell = partial(_tell_rules, opened, result, share)
    elif summaries := _named_summaries(mean, total, quantile):
        if len(summaries) > 1 or by != "count" or bins or top or simultaneous:
            raise UsageError(
                "--mean, --sum and --quantile go with attributes and --where alone.",
                hint="Write one of them, such as hedgerow table release/ sex --mean age.",
            )
        summary = _summarize(opened, *summaries[0], attributes or [], where, share)
        result = summary.to_arrow()
        groups = plain_rows(result.to_pylist())
        facts = {"level": summary.level, summary.what: summary.number.name, "groups": groups}
        tell = partial(_tell_summary, summary.caption(), result, len(summary.names))
    elif attributes:
        own, beside = (attributes[-1:], attributes[:-1]) if by == "rows" else (attributes, None)
        condition: Any = where
        if where is not None and opened.kind == "transactions":
            condition = read_items(where, opened.schema.transaction_items)
        result = opened.table(
            *own, by=beside, where=condition, share=by != "count", level=share,
            simultaneous=simultaneous, bins=_bins(bins or []), top=top,
        )  # fmt: skip
        facts = _describe_table(result)
        tell = partial(_tell_table, opened, result, where)
    elif out is None or out.suffix.lower() != ".xlsx":
        names = [attribute.name for attribute in opened.schema.columns]
        some = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
        hint = f"Name one of {some}; or --out NAME.xlsx for all tables."
        if opened.kind == "transactions":
            hint = "Write item, or item item for pairs; or --out NAME.xlsx for all tables."
        raise UsageError("There is no attribute.", hint=hint)
    if out is None:
        print_json(facts) if as_json else tell()
        return
    with whole_file(out, overwrite, private=not opened.guarantee["private"]) as temporary:
        if rules is not None or summaries:
            table_writer(out)(result if rules is None else _join_items(result), temporary)
        elif attributes:
            _write_table(opened, result, where, temporary)
        else:
            from hedgerow.present.tables import write_workbook

            write_workbook(opened, temporary)
    with telling(out):
        if as_json:
            print_json({"out": out})
        else:
            say(f"Wrote {out}.")


_DRAWN = (".html", ".xlsx", ".png", ".svg", ".pdf")  # files of a table that are no plain ones


def _named_summaries(
    mean: str | None, total: str | None, quantile: str | None
) -> list[tuple[str, str]]:
    """Which of these are asked for, and of what."""
    named = {"mean": mean, "sum": total, "quantile": quantile}
    return [(what, number) for what, number in named.items() if number is not None]


def _summarize(
    release: Release, what: str, number: str, by: list[str], where: str | None, level: float
) -> Summaries:
    """The mean, sum or quantile of a number, of each group."""
    name, more = number, list[float]()
    if what == "quantile":
        name, _, part = number.rpartition("=")
        try:
            more = [float(part)]
        except ValueError:
            hint = "Write --quantile age=0.5 for the median."
            raise UsageError(f"--quantile {number!r} names no part.", hint=hint) from None
    summaries: Summaries = getattr(release, what)(name, *more, by=by, where=where, level=level)
    return summaries


def _tell_summary(caption: str, rows: pa.Table, words: int) -> None:
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


def _join_items(rules: pa.Table) -> pa.Table:
    """Rules with the items that are held in one text, as every kind of file can hold them."""
    import pyarrow as pa

    given = pa.array([", ".join(one) for one in rules["given"].to_pylist()], pa.string())
    return rules.set_column(0, "given", given)


def _tell_rules(release: Release, rules: pa.Table, level: float) -> None:
    those = release.schema.unit_names[1]
    say(f"{release.schema.name}: of the {those} that hold some items, how many hold another\n")
    numbers = {"support": ",.0", "confidence": ".2", "lift": ".2"}
    rows = []
    for row in _join_items(rules).to_pylist()[:_SHOWN]:
        values = (
            (row[name + end], form)
            for name, form in numbers.items() for end in ("", "_low", "_high")
        )  # fmt: skip
        words = (f"{one:{form}f}" if math.isfinite(one) else "any" for one, form in values)
        rows.append([row["given"], row["then"], *words])
    heads = ["given", "then", *(head for name in numbers for head in (name, "from", "to"))]
    print_table(heads, rows, set(range(2, len(heads))))
    say(
        "",
        "from, to: intervals; each contains the true number with a probability of at least "
        f"{100 * level:g}%, for a rule that was chosen without looking.",
        "Rules were picked by their estimates, and the largest are often too large.",
        "lift: how many times as many hold it among those as among all.",
    )


def _bins(texts: list[str]) -> dict[str, Any]:
    divisions: dict[str, Any] = {}
    for text in texts:
        name, equals, values = text.rpartition("=")
        parts = [part.strip() for part in values.split(",")]
        if not equals or not name or not all(parts):
            raise UsageError(
                f"--bins {text!r} divides nothing.", hint="Write --bins age=18,40,65 or job=1."
            )
        level = len(parts) == 1 and parts[0].isdigit()
        divisions[name] = int(parts[0]) if level else parts
    return divisions


def _write_table(release: Release, counts: CountTable, where: str | None, path: Path) -> None:
    """Writes a table to a file of the kind that its name says."""
    from hedgerow.present import tables

    kind = path.suffix.lower()
    if kind not in _DRAWN:
        table_writer(path)(counts.to_arrow(), path)
    elif kind == ".html":
        from hedgerow.present import render

        page = render.page(tables.table_document(release, counts, where))
        path.write_text(page, encoding="utf-8")
    elif kind == ".xlsx":
        tables.write_sheet(release, counts, path, where)
    else:
        from hedgerow.release.count_tables import draw_table
        from hedgerow.schema.schema import display_label

        title = tables.title_of(release, counts, where)
        axes = draw_table(counts, title, partial(display_label, release.schema))
        axes.figure.savefig(path, dpi=130, format=kind[1:])


def _tell_table(release: Release, counts: CountTable, where: str | None) -> None:
    from hedgerow.present.tables import columns, headings, how_to_read, lines, title_of

    say(f"{title_of(release, counts, where)}\n")
    heads, rows = headings(counts, release.schema), lines(counts, release.schema)
    first = len(counts.names)
    shown = rows if len(rows) <= _SHOWN + 1 else [*rows[:_SHOWN], *rows[len(counts) :]]
    print_table(heads, shown, set(range(first, first + len(columns(counts)))))
    say("", *how_to_read(counts, release.schema))
    if len(shown) < len(rows):
        note(f"Only the first {_SHOWN} cells are shown; --out FILE writes them all.")


def _describe_table(counts: CountTable) -> dict[str, Any]:
    from hedgerow.estimate.answers import reliability

    (remark,), (total,) = reliability(counts.total), plain_rows(counts.total.to_arrow().to_pylist())
    names = ("estimate", "low", "high", "typical_error")
    known = remark != NOT_MEASURED
    return {
        "level": counts.level, "simultaneous": counts.simultaneous, "picked": counts.picked,
        "by": counts.by, "cells": plain_rows(counts.to_arrow().to_pylist()),
        "total": {name: total[name] if known else None for name in names} | {"reliability": remark},
    }  # fmt: skip
