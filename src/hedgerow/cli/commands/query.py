"""`hedgerow query`: counts from a release, and how far off they may be."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hedgerow.cli.display.terminal import note, print_json, print_table, say, telling
from hedgerow.cli.options import AsJson, Overwrite
from hedgerow.errors import UsageError
from hedgerow.present.words import exact_percent as percent
from hedgerow.present.words import number

if TYPE_CHECKING:
    import pyarrow as pa

    from hedgerow.release import Release
    from hedgerow.schema import Query

_MISSING = (
    "There is no upper end: {} in suppressed rows are missing, and nobody can say how many those "
    "are."
)
NOT_MEASURED, MODELED, RULED_OUT = "not measured", "modeled", "ruled out"  # of `basis`
_IN_WORDS = 5  # up to so many answers are told in sentences, more in a table
_IN_TABLE = 200  # more rows than this nobody reads in a terminal
_SWAMPED = 0.5  # a cut part beyond this share of the estimate says more than the estimate
_NUMBERS = ("estimate", "low", "high", "noise", "uniformity_low", "uniformity_high")
_ITEM_NUMBERS = ("estimate", "low", "high")  # of itemsets: their intervals have no two parts
_MODEL_NUMBERS = (*_ITEM_NUMBERS, "typical_error")  # by a model

_BASES = {
    "measured": "  basis: measured",
    "modeled": "  basis: modeled, since exactly this was not counted",
    "assumed even": "  basis: assumed even, since only a part of some {} is asked for",
}

Columns = dict[str, list[Any]]
"""The numbers of answers by name, and their `basis`."""


def query(
    release: Annotated[Path, typer.Argument(help="The folder of a release.")],
    queries: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="QUERY", help="Who to count, in quotes, or items; see docs/queries.md."
        ),
    ] = None,
    file: Annotated[
        Path | None, typer.Option(help="Also ask the queries in this file, one per line.")
    ] = None,
    level: Annotated[
        str,
        typer.Option(metavar="SHARE", help="The coverage of intervals."),
    ] = "0.95",
    mean: Annotated[
        str | None,
        typer.Option(metavar="NUMBER", help="The mean of this number instead, for each query."),
    ] = None,
    total: Annotated[
        str | None,
        typer.Option("--sum", metavar="NUMBER", help="The sum of this number, for each query."),
    ] = None,
    quantile: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBER=PART",
            help="A quantile of this number, for each query: age=0.5 for the median.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Write all answers to this file: .csv, .csv.gz or .parquet."),
    ] = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Ask a release how many records meet some conditions, or hold some items.

    Each answer is an estimate with its typical error, from a model, and an interval from the
    noisy counts alone; by regions the noise and the uniformity error are shown apart. Items that
    begin with a dash go after two dashes: hedgerow query shop/ -- -3. Costs no further budget.
    """
    from hedgerow.cli.files import is_same, refuse_existing, refuse_inside, table_writer, whole_file
    from hedgerow.release import Release

    share = share_of(level)
    write = None if out is None else table_writer(out)
    if out is not None:
        refuse_inside(out, release)
        if file is not None and is_same(out, file):
            raise UsageError(
                "--out and --file name the same file, so the answers would replace the queries.",
                hint="Choose another --out.",
            )
        refuse_existing(out, overwrite)
    opened = Release.load(release)
    if summaries := [one for one in (mean, total, quantile) if one is not None]:
        if len(summaries) > 1:
            hint = "Write one of them, such as hedgerow query release/ --mean age."
            raise UsageError("--mean, --sum and --quantile do not go together.", hint=hint)
        from hedgerow.cli.commands.table import plain_rows, print_summary

        caption, rows = _summarize(opened, queries or [], file, share, (mean, total, quantile))
        if out is not None and write is not None:
            with whole_file(out, overwrite, private=not opened.guarantee["private"]) as temporary:
                write(rows, temporary)
        if as_json:
            told = None if out is None else str(out)
            print_json({"level": share, "answers": plain_rows(rows), "out": told})
        elif out is not None:
            say(f"Wrote the answers to {out}.")
        else:
            print_summary(caption, rows, 1)
        return
    if not queries and file is None:
        example = opened.example
        hint = f"Write one in quotes, such as {example}, or name a file with --file."
        raise UsageError("There is no query.", hint=hint)
    texts, columns = _ask(opened, queries or [], file, share)
    if out is not None and write is not None:
        import pyarrow as pa

        with whole_file(out, overwrite, private=not opened.guarantee["private"]) as temporary:
            write(pa.table({"query": texts, **_known(columns)}), temporary)
        with telling(out):
            if as_json:
                print_json(_facts(texts, columns, share, str(out)))
            else:
                say(f"Wrote the answers to {out}.")
    elif as_json:
        print_json(_facts(texts, columns, share, None))
    else:
        _TELL[opened.kind](opened, texts, columns, share)


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


def _ask(
    release: Release, texts: list[str], file: Path | None, level: float
) -> tuple[list[str], Columns]:
    """The queries in canonical words, and the numbers of their answers."""
    from hedgerow.estimate.answers import reliability
    from hedgerow.schema import Vocabulary, read_queries
    from hedgerow.schema.query import query_lines

    if release.schema.kind == "transactions":
        from hedgerow.cli.display.transactions import read_items, text_of

        lines = texts + [text for _, text in (query_lines(file) if file is not None else [])]
        sets = [read_items(line, release.schema.transaction_items) for line in lines]
        if not sets:
            raise UsageError(f"{file} holds no query.", hint="Write one per line.")
        answers = release.count(sets, level=level)
        told = (*_ITEM_NUMBERS, "standard_error", "basis")
        columns = {name: getattr(answers, name).tolist() for name in told}
        columns["reliability"] = list(reliability(answers))
        return [text_of(items) for items in sets], columns
    vocabulary = Vocabulary(release.schema)
    asked: list[Query] = [vocabulary.parse(text) for text in texts]
    if file is not None:
        asked += read_queries(file, release.schema)
        if not asked:
            raise UsageError(f"{file} holds no query.", hint="Write one per line.")
    answers = release.count(asked, level=level)
    names = _NUMBERS if answers.typical_error is None else _MODEL_NUMBERS
    columns = {name: getattr(answers, name).tolist() for name in (*names, "basis")}
    columns["reliability"] = list(reliability(answers))
    return [vocabulary.text(one) for one in asked], columns


def _summarize(
    release: Release, texts: list[str], file: Path | None, level: float,
    which: tuple[str | None, str | None, str | None],
) -> tuple[str, pa.Table]:  # fmt: skip
    """What to call the mean, sum or quantile of the records of each query, and the rows."""
    import pyarrow as pa

    from hedgerow.cli.commands.table import summary_of
    from hedgerow.schema import Vocabulary
    from hedgerow.schema.query import query_lines

    lines = texts + [text for _, text in (query_lines(file) if file is not None else [])]
    if file is not None and not lines:
        raise UsageError(f"{file} holds no query.", hint="Write one per line.")
    vocabulary, lines = Vocabulary(release.schema), lines or ["everybody"]
    found = [summary_of(release, *which, [], line, level) for line in lines]
    words = pa.array([vocabulary.text(vocabulary.parse(line)) for line in lines])
    rows = pa.concat_tables([one.to_arrow() for one in found]).combine_chunks()
    return found[0].caption(), rows.add_column(0, "query", words)


def _facts(
    texts: list[str],
    columns: Columns,
    level: float,
    out: str | None,
) -> dict[str, Any]:
    rows = zip(*_known(columns).values(), strict=True)
    answers = [
        {
            "query": text,
            # JSON has no word for a bound that is not there.
            **{
                n: None if v in (None, math.inf, -math.inf) or v != v else v
                for n, v in zip(columns, row, strict=True)
            },
        }
        for text, row in zip(texts, rows, strict=True)
    ]
    return {"level": level, "answers": answers, "out": out}


def _known(columns: Columns) -> Columns:
    """The same without numbers where nothing was measured: files are read without their words."""
    basis = columns["basis"]
    return {
        name: values
        if name in ("basis", "reliability")
        else [None if b == NOT_MEASURED else v for v, b in zip(values, basis, strict=True)]
        for name, values in columns.items()
    }


def _tell_itemsets(release: Release, texts: list[str], columns: Columns, level: float) -> None:
    from hedgerow.cli.display.transactions import itemsets_of

    if len(texts) > _IN_WORDS:
        _tabulate(texts, columns)
        say(f"\nfrom, to: the {percent(level)} interval of the true count.")
        say("basis: measured if exactly this was counted, otherwise modeled.")
        return
    for place, text in enumerate(texts):
        estimate, low, high = (columns[n][place] for n in _ITEM_NUMBERS)
        held = " hold all of these" if len(itemsets_of(text)) > 1 else ""
        about = f"about {number(max(estimate, 0.0))} {release.schema.unit_names[1]}{held}"
        say(f"{text}\n  {about}; {percent(level)} interval: {_between(low, high)}")
        say(_BASES[columns["basis"][place]])
        _say_noise(columns, place)


def _tell_regions(release: Release, texts: list[str], columns: Columns, level: float) -> None:
    those = release.schema.unit_names[1]
    if len(texts) > _IN_WORDS:
        _tabulate(texts, columns)
        _explain(level, those)
        _explain_basis(release, columns)
        return
    for place, text in enumerate(texts):
        estimate, low, high, noise, below, above = (columns[n][place] for n in _NUMBERS)
        estimate = max(estimate, 0.0)  # noise may push it below, which nobody wants to read
        if place:
            say()
        if _tell_unmeasured(release, text, columns, place, level):
            continue
        say(text)
        if max(below, above) > _SWAMPED * estimate:
            # A number up front would be taken for the answer, and it is hardly more than a guess.
            say(
                f"  {percent(level)} interval: {_between(low, high)} (about {number(estimate)} if "
                f"{those} are spread evenly inside the regions that the query cuts)"
            )
        else:
            interval = f"{percent(level)} interval: {_between(low, high)}"
            say(f"  about {number(estimate)} {those}; {interval}")
        say(f"  noise: give or take {number(noise)}, added to protect people")
        if below > 0 or above > 0:
            say(
                f"  uniformity error: up to {number(below)} fewer or {number(above)} more, since "
                f"{those} may not lie evenly in regions the query cuts"
            )
        else:
            say("  uniformity error: none, the query follows the edges of the regions")
        say(_BASES[columns["basis"][place]].format("regions"))
        _say_noise(columns, place)


def _tell_tables(release: Release, texts: list[str], columns: Columns, level: float) -> None:
    """Answers of a release of tables: a model's estimate, and an interval without it."""
    if len(texts) > _IN_WORDS:
        _tabulate(texts, columns)
        say(
            f"\nfrom, to: the {percent(level)} interval of the true count, which holds whatever "
            "the data looks like.\nabout: the estimate, from a model of all tables that were "
            "counted. usually within: its typical error,\nby the same model; nothing is promised "
            "about either."
        )
        _explain_basis(release, columns)
        return
    for place, text in enumerate(texts):
        estimate, low, high, typical = (columns[n][place] for n in _MODEL_NUMBERS)
        if place:
            say()
        if _tell_unmeasured(release, text, columns, place, level):
            continue
        if columns["basis"][place] == RULED_OUT:
            say(f"{text}\n  0 {release.schema.unit_names[1]}, by a rule of the schema")
            continue
        say(
            f"{text}\n  about {number(max(estimate, 0.0))} {release.schema.unit_names[1]}, usually "
            f"within {number(typical)}, by a model of all tables that were counted"
        )
        say(f"  {percent(level)} interval, which does not rely on the model: {_between(low, high)}")
        say(_BASES[columns["basis"][place]])
        _say_noise(columns, place)


def _tell_rows(release: Any, texts: list[str], columns: Columns, level: float) -> None:
    """Answers of generalized rows: whoever is in suppressed rows is missing."""
    share: float = release.sampling_rate
    those = release.schema.unit_names[1]
    if len(texts) > _IN_WORDS:
        told = ("low", "estimate", "noise", "basis", "reliability")
        _tabulate(texts, {name: columns[name] for name in told})
        say(
            f"\nfrom: the lower end of the {percent(level)} interval; there is no upper end. "
            f"about: how many are in the published rows,\nif {those} are spread evenly inside what "
            f"a row leaves open. noise: give or take.\n{_MISSING.format(those)}"
        )
        return
    for place, text in enumerate(texts):
        estimate, low, noise = (columns[n][place] for n in ("estimate", "low", "noise"))
        if place:
            say()
        if _tell_unmeasured(release, text, columns, place, level):
            continue
        confidence = (
            f"with {percent(level)} confidence"
            if low > 0
            else "since no published row is wholly among these"
        )
        say(f"{text}\n  at least {number(low)}, {confidence}")
        say(
            f"  about {number(max(estimate, 0.0))} {those} are in the published rows, if they are "
            "spread evenly inside what a row leaves open"
        )
        cause = (
            "added to protect people"
            if share >= 1
            else f"since only {share:g} of them were sampled"
        )
        say(f"  noise: give or take {number(noise)} of these, {cause}")
        if columns["basis"][place] == MODELED:
            say(f"  basis: modeled, since {those} in suppressed rows are missing")
        else:
            say(_BASES[columns["basis"][place]].format("rows"))
    say(f"\n{_MISSING.format(those)}")


def _tell_unmeasured(
    release: Release, text: str, columns: Columns, place: int, level: float
) -> bool:
    """Tells an answer that nothing was measured for: the estimate is no finding."""
    if columns["basis"][place] != NOT_MEASURED:
        return False
    names = [name for name in release.unmeasured if name in text]
    say(
        f"{text}\n  not measured: the release says nothing about {', '.join(names)} (about "
        f"{number(max(columns['estimate'][place], 0.0))} if all values were equally frequent)"
    )
    low, high = columns["low"][place], columns["high"][place]
    say(f"  {percent(level)} interval: {_between(low, high)}")
    return True


def _explain_basis(release: Release, columns: Columns) -> None:
    otherwise = "assumed even" if "assumed even" in columns["basis"] else "modeled"
    say(f"basis: measured if exactly this was counted, otherwise {otherwise}.")
    if "mostly noise" in columns["reliability"]:
        from hedgerow.estimate.answers import NOISE
        from hedgerow.present.tables import REMARKS

        say(f"{REMARKS[NOISE].capitalize()}")
    if RULED_OUT in columns["basis"]:
        say("Ruled out: nobody, by a rule of the schema.")
    if NOT_MEASURED in columns["basis"]:
        say(f"Not measured: the release says nothing about {', '.join(release.unmeasured)}.")


def _tabulate(texts: list[str], columns: Columns) -> None:
    # The interval comes first: with uniformity error the estimate may be hardly more than a guess.
    order = ("low", "high", "estimate", *_NUMBERS[3:], "typical_error")
    shown = [name for name in order if name in columns]
    told = columns.get("basis")
    rows = []
    for place, text in enumerate(texts[:_IN_TABLE]):
        numbers = [number(max(columns[name][place], 0.0)) for name in shown]
        if told is not None and told[place] == NOT_MEASURED:
            # what was not measured has ends, but no estimate that anybody should read
            ends = ("low", "high")
            numbers = [n if name in ends else "-" for n, name in zip(numbers, shown, strict=True)]
        basis = [] if told is None else [told[place]]
        if _is_noise(columns, place):
            basis = [columns["reliability"][place]]
        rows.append([text, *numbers, *basis])
    names = ("from", "to", "about", "noise", "cut: fewer", "cut: more", "usually within")
    heads = dict(zip(order, names, strict=True))
    headings = ["query", *(heads[name] for name in shown), *([] if told is None else ["basis"])]
    print_table(headings, rows, set(range(1, 1 + len(shown))))
    if len(texts) > _IN_TABLE:
        note(f"Only the first {_IN_TABLE} answers are shown; --out FILE writes them all.")


def _is_noise(columns: Columns, place: int) -> bool:
    """Whether the noise of an answer is so large that the estimate says little."""
    return bool(columns["reliability"][place] == "mostly noise")


def _say_noise(columns: Columns, place: int) -> None:
    """Marks an answer that is mostly noise, as tables do."""
    from hedgerow.estimate.answers import NOISE
    from hedgerow.present.tables import REMARKS

    if _is_noise(columns, place):
        say(f"  {REMARKS[NOISE].rstrip('.')}")


def _explain(level: float, those: str) -> None:
    say(
        f"\nfrom, to: the {percent(level)} interval of the true count. about: the estimate "
        f"if {those} are\nspread evenly inside the regions that the query cuts. noise: give or "
        "take, from the noise alone.\ncut: how many fewer or more there may be besides, since they "
        "may not be spread evenly."
    )


def _between(low: float, high: float) -> str:
    if math.isinf(high):
        return f"at least {number(low)}"
    if high == 0:
        return "0 to 0, as noise took the count far below zero: it may well miss the truth"
    return f"between {number(low)} and {number(high)}"


_TELL = {
    "table": _tell_regions,
    "marginals": _tell_tables,
    "transactions": _tell_itemsets,
    "rows": _tell_rows,
}
"""How answers are told, by the kind of release."""
