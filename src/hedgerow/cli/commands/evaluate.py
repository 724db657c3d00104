"""`hedgerow evaluate` and `compare`: how much use is left? With raw data, so NOT PRIVATE."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hedgerow.cli.display.terminal import (
    data_warnings,
    print_document,
    print_json,
    progress,
    say,
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
    option,
    source_of,
)
from hedgerow.errors import UsageError

if TYPE_CHECKING:
    from hedgerow.evaluation.scorecard import Judgment
    from hedgerow.release import Release


Quick = Annotated[
    bool,
    option(
        "A rough comparison: 200 counts, one model, and smaller samples of rows.", name="--quick"
    ),
]

_BANNER = "NOT PRIVATE: computed from the raw data. For its holder alone; keep it out of releases."


def evaluate(
    raw: Annotated[
        str, typer.Argument(help="The raw data that was published: whatever `publish` takes.")
    ],
    release: Annotated[Path, typer.Argument(help="The folder of the release made from it.")],
    queries: Annotated[int, option("How many random counts to ask both for.", "N")] = 1000,
    seed: Annotated[int, option("Which counts, and which rows models learn from.")] = 0,
    side: Annotated[
        Path | None, option("supermodular: the side table of the release.", "FILE")
    ] = None,
    quick: Quick = False,
    out: Annotated[Path | None, option("Also write all numbers to this JSON file.", "FILE")] = None,
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
    from hedgerow.present.against import evaluation
    from hedgerow.release import Release

    if out is not None:
        refuse_releases(out)
        refuse_existing(out, overwrite)
    source = raw_source(raw, release, table, query)
    judgment = judge_release(
        source, Release.load(release), delimiter, queries=queries, seed=seed,
        line_breaks=line_breaks, side=side, quick=quick,
    )  # fmt: skip
    facts = judgment.to_dict()
    if out is not None:
        import json

        text = json.dumps(facts, indent=2, ensure_ascii=False) + "\n"
        write_text(out, text, overwrite, private=True)
    with telling(out):
        if as_json:
            print_json({**facts, "out": None if out is None else str(out), "warnings": warned()})
            return
        say(f"{_BANNER}\n")
        print_document(evaluation(judgment))
        say(f"\n{_BANNER}")
        if out is not None:
            say(f"\nWrote all numbers to {out}. It is NOT PRIVATE either.")


def raw_source(raw: str, release: Path, table: str | None, query: str | None) -> Any:
    """The raw data, which is not a release itself."""
    from hedgerow.release.files import MANIFEST

    if Path(raw).is_dir() and (Path(raw) / MANIFEST).exists():
        raise UsageError(
            f"{raw} is a release, and the raw data belongs in its place.",
            hint=f"Swap them: hedgerow evaluate {release} {raw}"
            if release.is_file()
            else "Name the data that it was published from.",
        )
    return source_of(raw, table, query)


def judge_release(source: Any, release: Release, delimiter: str | None, **more: Any) -> Judgment:
    """The comparison; the steward is told what is odd about it.

    Args:
        source: The raw data.
        release: The release that was made from it.
        delimiter: The delimiter of a CSV file, as it was typed.
        more: What else `hedgerow.evaluation.scorecard.evaluate` takes.
    """
    from hedgerow.evaluation import scorecard
    from hedgerow.present.against import strange

    with progress("Comparing") as bar, data_warnings():
        judgment = scorecard.evaluate(
            source, release, delimiter=delimiter_of(delimiter), progress=bar, **more
        )
    if not judgment.matches:
        warn(f"{strange(judgment)} What follows says nothing.")
    for sentence in judgment.notes:
        warn(f"{sentence[0].upper()}{sentence[1:]}.")
    return judgment


def compare(
    releases: Annotated[list[Path], typer.Argument(help="The folders of two or more releases.")],
    raw: Annotated[
        str | None, option("Also compare with the raw data they were made from.", "DATA")
    ] = None,
    simulate: Annotated[
        bool,
        option(
            "Also compare simulated rows published with the settings of each, to choose without "
            "private data.",
            name="--simulate",
        ),
    ] = False,
    out: Annotated[Path | None, option("Also write a page, as HTML.", "FILE")] = None,
    seed: Annotated[int, option("With --raw, which counts are asked for.")] = 0,
    overwrite: Overwrite = False,
    delimiter: Delimiter = None,
    line_breaks: LineBreaks = False,
    table: TableName = None,
    query: QueryText = None,
    as_json: AsJson = False,
) -> None:
    """Show releases side by side: what they guarantee, and how accurate their numbers are.

    With --raw the result is NOT PRIVATE, and choosing a release by it is outside the guarantee.
    """
    from hedgerow.cli.files import refuse_existing, refuse_releases, write_text
    from hedgerow.evaluation.compare import compare_opened, folder_names
    from hedgerow.present import html
    from hedgerow.present.against import CHOOSING, comparison
    from hedgerow.release import Release

    if len(releases) < 2:
        raise UsageError("There is nothing to compare.", hint="Name at least two releases.")
    if raw is None and (table or query or delimiter or line_breaks):
        raise UsageError(
            "--table, --query, --delimiter and --line-breaks are about raw data.",
            hint="Leave them out, or name the raw data with --raw.",
        )
    if out is not None:
        if out.suffix.lower() not in (".html", ".htm"):
            raise UsageError(f"{out} is not a page.", hint="Let --out end in .html.")
        refuse_releases(out)
        refuse_existing(out, overwrite)
    opened = [Release.load(folder) for folder in releases]
    kinds = {release.schema.kind: folder for release, folder in zip(opened, releases, strict=True)}
    if len(kinds) > 1:
        raise UsageError(
            f"{kinds['table']} is of a table and {kinds['transactions']} of transactions, which "
            "have no numbers in common.",
            hint="Compare releases of the same data.",
        )
    judgments = []
    if raw is not None:
        source = raw_source(raw, releases[0], table, query)
        judgments = [
            judge_release(source, release, delimiter, seed=seed, line_breaks=line_breaks)
            for release in opened
        ]
        warn(CHOOSING)
    facts = compare_opened(folder_names(releases), opened, judgments, simulated=simulate)
    page = comparison(facts)
    if out is not None:
        write_text(out, html.page(page), overwrite, private=not facts.private)
    with telling(out):
        if as_json:
            print_json(facts.to_dict() | {"out": out and str(out), "warnings": warned()})
            return
        print_document(page)
        if out is not None:
            say(f"\nWrote {out}." + ("" if facts.private else " It is NOT PRIVATE."))
