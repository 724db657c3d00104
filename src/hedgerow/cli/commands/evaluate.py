"""`hedgerow evaluate`: how much use is left? Compares with the raw data, so NOT PRIVATE."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hedgerow.cli.display.terminal import (
    data_warnings,
    print_json,
    print_table,
    progress,
    say,
    tell_preparation,
    telling,
    warn,
    warned,
)
from hedgerow.cli.options import (
    AsJson,
    Delimiter,
    LineBreaks,
    Overwrite,
    QueryText,
    TableName,
    delimiter_of,
    source_of,
)
from hedgerow.errors import UsageError

if TYPE_CHECKING:
    from hedgerow.evaluation.scorecard import Judgment
    from hedgerow.release import Release

Quick = Annotated[
    bool,
    typer.Option(
        "--quick", help="A rough comparison: 200 counts, one model, and smaller samples of rows."
    ),
]

_BANNER = "NOT PRIVATE: computed from the raw data. For its holder alone; keep it out of releases."


def evaluate(
    raw: Annotated[
        str, typer.Argument(help="The raw data that was published: whatever `publish` takes.")
    ],
    release: Annotated[Path, typer.Argument(help="The folder of the release made from it.")],
    queries: Annotated[
        int, typer.Option(metavar="N", help="How many random counts to ask both for.")
    ] = 1000,
    seed: Annotated[int, typer.Option(help="Which counts, and which rows models learn from.")] = 0,
    side: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="supermodular: the side table of the release."),
    ] = None,
    quick: Quick = False,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write all numbers to this JSON file.")
    ] = None,
    overwrite: Overwrite = False,
    delimiter: Delimiter = None,
    line_breaks: LineBreaks = False,
    table: TableName = None,
    query: QueryText = None,
    as_json: AsJson = False,
) -> None:
    """Compare a release with the raw data it was made from. The result is NOT PRIVATE.

    The guarantee covers nothing of it: keep it to yourself, and do not publish again because of
    what you saw.
    """
    from hedgerow.cli.files import refuse_existing, refuse_releases, write_text

    if out is not None:
        refuse_releases(out)
        refuse_existing(out, overwrite)
    judgment = judged(
        raw, release, table, query, delimiter, seed, as_json, queries, side, line_breaks, quick
    )
    facts = judgment.to_dict()
    if out is not None:
        import json

        text = json.dumps(facts, indent=2, ensure_ascii=False) + "\n"
        write_text(out, text, overwrite, private=True)
    with nullcontext() if out is None else telling(out):
        if as_json:
            print_json({**facts, "out": None if out is None else str(out), "warnings": warned()})
            return
        _tell(judgment)
        if out is not None:
            say(f"\nWrote all numbers to {out}. It is NOT PRIVATE either.")


def judged(
    raw: str,
    release: Path,
    table: str | None,
    query: str | None,
    delimiter: str | None,
    seed: int,
    as_json: bool,
    queries: int = 1000,
    side: Path | None = None,
    line_breaks: bool = False,
    quick: bool = False,
    opened: Release | None = None,
) -> Judgment:
    """The comparison, with what is odd about it told to the steward; `opened` is the release."""
    from hedgerow.evaluation import scorecard
    from hedgerow.release import Release
    from hedgerow.release.manifest import MANIFEST

    if Path(raw).is_dir() and (Path(raw) / MANIFEST).exists():
        swapped = release.is_file()
        raise UsageError(
            f"{raw} is a release, and the raw data belongs in its place.",
            hint=f"Swap them: hedgerow evaluate {release} {raw}"
            if swapped
            else "Name the data that it was published from.",
        )
    opened = Release.load(release) if opened is None else opened
    with progress("Comparing") as bar, data_warnings(as_json):
        judgment = scorecard.evaluate(
            source_of(raw, table, query),
            opened,
            queries=queries,
            seed=seed,
            delimiter=delimiter_of(delimiter),
            line_breaks=line_breaks,
            side=side,
            quick=quick,
            progress=bar,
        )
    if not judgment.matches:
        from hedgerow.present.against import strange

        warn(f"{strange(judgment)} What follows says nothing.", as_json)
    for sentence in judgment.notes:
        warn(sentence[0].upper() + sentence[1:] + ".", as_json)
    return judgment


def _tell(judgment: Judgment) -> None:
    say(_BANNER)
    counted = f"{judgment.records:,} {judgment.unit_names[1]}"
    say(f"{judgment.schema}: a release by {judgment.method} against {counted} of the raw data.\n")
    _tell_marginals(judgment)
    _tell_tables(judgment)
    _tell_counts(judgment)
    if judgment.itemsets:
        rows = [[str(t.number), str(t.found), f"{t.utility:.2f}"] for t in judgment.itemsets]
        say(
            "\nThe most frequent itemsets: how many are found, and how much of their counts is left"
        )
        print_table(["top", "found", "utility (1 is best)"], rows, {0, 1, 2})
    if judgment.classification is not None:
        _tell_classes(judgment)
    if judgment.distortion is not None:
        _tell_detail(judgment)
    if judgment.preparation is not None:
        tell_preparation(judgment.preparation)
    say("\n" + _BANNER)


def _tell_marginals(judgment: Judgment) -> None:
    many = judgment.unit_names[1]
    say(f"Values: the share of {many} that would have to change (0% is best)")
    rows = [
        [_plural(m.name, judgment), f"{m.total_variation:.1%}", _worst(m)]
        for m in judgment.marginals
    ]
    print_table(["attribute", "off by", "most at"], rows, {1})


def _tell_tables(judgment: Judgment) -> None:
    if not judgment.tables:
        return
    many = judgment.unit_names[1]
    say(f"\nOne-way tables, as `hedgerow table` gives them; errors and widths in {many}")
    rows = [
        [
            one.name,
            f"{one.cells:,}",
            f"{one.mean:,.1f}",
            f"{one.worst:,.0f}",
            f"{one.covered:.1%}",
            "-" if one.width is None else f"{one.width:,.0f}",
        ]
        for one in judgment.tables
    ]
    heads = ["attribute", "cells", "mean error", "worst", "held", "width"]
    print_table(heads, rows, {1, 2, 3, 4, 5})
    if judgment.k_marginal is not None:
        say(
            f"Pairs of attributes in synthetic rows: {judgment.k_marginal:.0f} of 1,000 "
            "(k-marginal score, k = 2; 1,000 is best)."
        )


def _plural(name: str, judgment: Judgment) -> str:
    return "items" if judgment.itemsets else name


def _worst(marginal: Any) -> str:
    """The value whose share is off the most."""
    pairs = list(zip(marginal.values, marginal.raw, marginal.released, strict=True))
    value, raw, released = max(pairs, key=lambda pair: abs(pair[1] - pair[2]))
    return f"{value}: {raw:.1%} raw, {released:.1%} released"


def _tell_counts(judgment: Judgment) -> None:
    from hedgerow.present.against import sanity

    counts, many = judgment.counts, judgment.unit_names[1]
    what = "items" if judgment.itemsets else "conditions"
    say(f"\nCounts: {counts.overall.queries:,} random ones, by the number of {what}")
    rows = [
        [
            "all" if line.size is None else str(line.size),
            f"{line.queries:,}",
            f"{line.median:.1%}",
            f"{line.mean:.1%}",
            f"{line.absolute:,.1f}",
            f"{line.covered:.1%}",
            "-" if line.width is None else f"{line.width:,.0f}",
        ]
        for line in (*counts.lines, counts.overall)
    ]
    heads = [what, "counts", "median error", "mean error", f"mean error, {many}", "held", "width"]
    print_table(heads, rows, set(range(7)))
    say(
        f"Errors are relative to the true count, or to {sanity(judgment)} if that is "
        f"more. held: how often the stated interval holds the truth; {counts.level:.0%} is "
        f"promised. width: the median width of the intervals, in {many}."
    )


def _tell_classes(judgment: Judgment) -> None:
    from hedgerow.present.against import SKILL, skills

    classes, many = judgment.classification, judgment.unit_names[1]
    assert classes is not None
    say(f"\nPredicting {classes.target}: percent right of {classes.rows:,} {many} of the raw data")
    rows = [["always the most frequent class", f"{classes.majority:.1f}", ""]]
    if classes.regions is not None:
        rows.append(["prediction by the release", f"{classes.regions:.1f}", ""])
    rows += [[m.words, f"{m.released:.1f}", f"{m.raw:.1f}"] for m in classes.models]
    print_table(["how", "from the release", "from raw rows"], rows, {1, 2})
    if classes.models:
        heads, lines = skills(classes)
        say("\nThe same models by class; each from the release / from raw rows")
        print_table(heads, lines, set(range(1, len(heads))))
        say(SKILL)
    if classes.margin:
        say(
            f"These {many} are a sample: percentages may be off by {classes.margin:.1f} points "
            "(95%)."
        )
    say(
        "The raw rows tested on are the ones that were published, so the release has seen them; "
        "its guarantee\nbounds how much that helps. Models from raw rows are tested on rows they "
        "did not learn from."
    )


def _tell_detail(judgment: Judgment) -> None:
    detail, own = judgment.distortion, judgment.personal
    assert detail is not None
    one, many = judgment.unit_names
    rows = [["certainty lost (NCP, 0 is best, 1 is all)", f"{detail.ncp:.3f}"]]
    if detail.discernibility is not None:
        rows.append(["discernibility (sum of squared sizes)", f"{detail.discernibility:,}"])
        rows.append([f"{many} in the same region as a typical {one}", f"{detail.alike:,.0f}"])
    if own is not None:
        rows.append([f"{many} in published rows, about", f"{own.published:.0%}"])
        rows.append([f"mean utility by {one}", f"{own.utility:.2f} of {own.most_utility:.2f}"])
        rows.append([f"mean risk by {one}", f"{own.risk:.3g}"])
    say(f"\nHow coarse the {'regions' if own is None else 'rows'} are")
    print_table(["measure", "value"], rows, {1})
    if own is not None:
        where = "the side table" if own.side == "given" else "the raw table itself"
        say(f"Utility and risk are of {own.records} {many}, with risk measured on {where}.")
