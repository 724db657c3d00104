"""What a release says and how good it is: `show`, `sample`, `report`, `dossier`, `evaluate`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hedgerow.cli import options
from hedgerow.cli.display import terminal
from hedgerow.cli.display.terminal import print_document, print_json, say, telling, warn, warned
from hedgerow.cli.files import check_place, table_writer, whole_file, write_text
from hedgerow.cli.options import option
from hedgerow.errors import UsageError

if TYPE_CHECKING:
    from hedgerow.evaluation.scorecard import Judgment
    from hedgerow.present.dossier import Booked
    from hedgerow.release import Release


def show(
    release: Path,
    top: Annotated[int, option("N", min=0)] = 12,
    tree: bool = False,
    depth: Annotated[int, option("G", min=0)] = 3,
    plot: Annotated[Path | None, option("FILE")] = None,
    overwrite: bool = False,
    as_json: options.AsJson = False,
) -> None:
    """Show what a release says, what it promises, and its tables, regions or itemsets.

    Counts are the published, noisy ones.

    Args:
        top: How many tables, or largest regions or itemsets, to list.
        tree: Draw how regions were made instead.
        depth: How deep to draw with --tree.
        plot: Also draw the first finding, or the largest regions, to this PNG, SVG or PDF.

    Example:
        hedgerow show release/ --top 20 --plot release.png
    """
    from hedgerow.present.kinds import KINDS
    from hedgerow.present.report import overview
    from hedgerow.present.words import summary
    from hedgerow.release import Release

    if plot is not None:
        from hedgerow.cli.display.picture import check_picture

        check_picture(plot)
        check_place(plot, overwrite, "--plot", release)
    opened = Release.load(release)
    kind = KINDS[opened.kind]
    parts, steps = kind.steps(opened, depth, top) if tree else (None, {})
    drawn = ""
    if plot is not None:
        from hedgerow.cli.display.picture import DRAW

        drawn = DRAW[opened.kind](opened, top, plot, overwrite)
    if as_json:
        print_json({**summary(opened), **kind.listing(opened, top), **steps, "plot": plot})
        return
    print_document(overview(opened, top, parts))
    if plot is not None:
        say(f"\nDrew {drawn} to {plot}.")


def report(
    release: Path,
    out: Annotated[Path, option("FILE")],
    raw: Annotated[str | None, option("DATA")] = None,
    seed: int = 0,
    side: Annotated[Path | None, option("FILE")] = None,
    quick: bool = False,
    overwrite: bool = False,
    delimiter: options.Delimiter = None,
    line_breaks: bool = False,
    table: options.Name = None,
    query: options.QueryText = None,
    as_json: options.AsJson = False,
) -> None:
    """Write a page about a release: what was published, what is guaranteed, and how good it is.

    One HTML file that opens without a network. With --raw it is only for the steward; without, it
    may be passed on with the release. Exit code 1 if the release fails its own checks.

    Args:
        out: The HTML file to write.
        raw: Also compare with the raw data it was made from. The page is then NOT PRIVATE.
        seed: With --raw, which counts are asked and which rows are learnt from.
        side: With --raw and supermodular, the side table of the release.

    Example:
        hedgerow report release/ --out report.html
        hedgerow report release/ --raw people.csv --out not-private.html
    """
    from hedgerow.present import render
    from hedgerow.present.report import doubt, open_and_verify
    from hedgerow.present.report import report as document

    _refuse_no_page(out)
    if raw is None and (table or query or delimiter or line_breaks or side or quick):
        raise UsageError(
            "--table, --query, --delimiter, --line-breaks, --side and --quick are about raw data, "
            "and there is none.",
            hint="Leave them out, or name the raw data with --raw.",
        )
    check_place(out, overwrite)
    opened, verdict = open_and_verify(release)
    against = None
    if raw is not None:
        source = raw_source(raw, release, table, query)
        against = judge_release(
            source, opened, delimiter, seed=seed, side=side, line_breaks=line_breaks, quick=quick
        )
    doubted, seeded = doubt(opened, verdict), not opened.guarantee["private"]
    text = render.page(document(opened, verdict, against))
    write_text(out, text, overwrite, private=raw is not None or seeded)
    if doubted is not None:
        warn(f"{doubted.loud}. {doubted.why}")
    with telling(out):
        if as_json:
            private = raw is None and not seeded and doubted is None
            print_json({"report": out, "private": private, "warnings": warned()})
        elif raw is not None:
            say(
                f"Wrote {out}. It is NOT PRIVATE: computed from the raw data, for its holder alone."
            )
        elif doubted is not None:
            say(f"Wrote {out}. It warns of the release, which cannot be {doubted.what}.")
        elif seeded:
            say(f"Wrote a page about a test release, NOT PRIVATE, to {out}.")
        else:
            say(f"Wrote a page for recipients to {out}: made from the release alone.")
    if doubted is not None:
        raise typer.Exit(doubted.exit_code)


_PAGES = (".html", ".htm")


def _refuse_no_page(out: Path) -> None:
    if out.suffix.lower() not in _PAGES:
        raise UsageError(f"{out} is not a page.", hint="Let --out end in .html.")


def dossier(
    release: Path,
    out: Annotated[Path | None, option("FILE")] = None,
    record: Annotated[Path | None, option("FILE")] = None,
    catalog: Annotated[Path | None, option("FILE")] = None,
    url: Annotated[str, option("URL")] = "",
    health_category: Annotated[str, option("URL")] = "",
    ledger: Annotated[Path | None, option("FILE")] = None,
    dataset: Annotated[str | None, option("NAME")] = None,
    published: Annotated[str | None, option("DATE")] = None,
    overwrite: bool = False,
    as_json: options.AsJson = False,
) -> None:
    """Write what a data protection officer or ethics board must know about a release.

    By the topics of NIST SP 800-226, with a line for a signature; what hedgerow cannot know is
    left open. Exit code 1 if the release fails its own checks. Changed files get no document.

    Args:
        out: The document, .html or .md; if nothing else is asked for, dossier.html.
        record: A deployment record for the OpenDP Deployments Registry, as .yaml.
        catalog: The tables, described for data portals, as .zip: CSV on the Web, Data Package,
            Croissant and DCAT-AP, with a data dictionary.
        url: With --catalog, where the files of the archive will lie.
        health_category: With --catalog, the category of health data; the record is then
            HealthDCAT-AP.
        ledger: The budget ledger that the release was booked in.
        dataset: With --ledger, the data set of a release that is not in it.
        published: With --record or --catalog, when it was published (2026-01-31), if no ledger
            knows it.

    Example:
        hedgerow dossier release/ --ledger clinic.ledger --out dossier.html
        hedgerow dossier release/ --record deployment.yaml --published 2026-01-31
    """
    from hedgerow.present import catalog as catalogs
    from hedgerow.present import render
    from hedgerow.present.dossier import dossier as document
    from hedgerow.present.report import doubt, open_and_verify

    if out is None and record is None and catalog is None:
        out = release.absolute().parent / "dossier.html"
    listing = catalogs.Listing(url=url, health=health_category, published=published)
    for file, name, usual, others in (
        (out, "--out", ".html", (".md", ".htm", ".markdown")),
        (record, "--record", ".yaml", (".yml",)),
        (catalog, "--catalog", ".zip", ()),
    ):
        if file is not None and file.suffix.lower() not in (usual, *others):
            what = f"cannot end in {file.suffix}" if file.suffix else "has no ending"
            ends = f"{usual} or .md" if name == "--out" else usual
            raise UsageError(
                f"The name {file} {what}; the ending says what to write.",
                hint=f"Let {name} end in {ends}: {file}{usual}.",
            )
        check_place(file, overwrite, name)
    opened, verdict = open_and_verify(release)
    booked = None if ledger is None else _booked(opened, release, ledger, dataset)
    seeded = not opened.guarantee["private"]
    to_complete, unsaid, lines = list[str](), list[str](), list[str]()
    # before anything is written, since both may be refused
    files = None if catalog is None else catalogs.catalog(opened, verdict, listing, booked)
    deployment = {} if record is None else catalogs.deployment_record(
        opened, verdict, published, booked
    )  # fmt: skip
    if out is not None:
        contents = document(opened, verdict, booked)
        write = render.page if out.suffix.lower() in _PAGES else render.markdown
        write_text(out, write(contents), overwrite, private=seeded)
        warn(*map(". ".join, contents.warnings))
        lines.append(f"Wrote {out}. What it leaves open is for a person to complete and sign.")
    if record is not None:
        to_complete = catalogs.open_places(deployment)
        write_text(record, catalogs.record_text(deployment), overwrite, private=seeded)
        lines.append(f"Wrote {record}. To be completed by a person: {', '.join(to_complete)}.")
    if catalog is not None and files is not None:
        unsaid = catalogs.open_answers(opened, listing)
        with whole_file(catalog, overwrite, "--catalog", private=seeded) as temporary:
            catalogs.write_archive(files, temporary)
        more = f" A portal may ask for: {', '.join(unsaid)}." if unsaid else ""
        lines.append(f"Wrote {catalog}: unpack it where people download the tables.{more}")
    doubted = doubt(opened, verdict)
    with telling(out or record or catalog or release):
        if as_json:
            written = {"dossier": out, "record": record, "catalog": catalog}
            lists = {"to_complete": to_complete, "unsaid": unsaid, "warnings": warned()}
            print_json(written | lists)
        else:
            say(*lines)
    if doubted is not None:
        raise typer.Exit(doubted.exit_code)


def _booked(release: Release, folder: Path, ledger: Path, dataset: str | None) -> Booked:
    """The data set of a release in a ledger, and its entry; warns of what is wrong."""
    from hedgerow.ledger.file import digest_of
    from hedgerow.ledger.ledger import BudgetLedger
    from hedgerow.present.dossier import doubts, found_in

    accounts = {account.name: account for account in BudgetLedger(ledger).accounts()}
    booked, why = found_in(tuple(accounts.values()), release, digest_of(folder))
    if booked is not None and booked[1] is not None:
        warn(*doubts(release, booked[1]))
        return booked
    warn(*filter(None, [why]))
    name = dataset or (release.schema.name if booked is None else booked[0].name)
    if name in accounts:
        warn(f"The release is not booked in {ledger}.")
        return accounts[name], None
    raise UsageError(
        f"{ledger} has neither this release nor a data set called {name!r}.",
        hint=f"Name its data set with --dataset: {', '.join(accounts) or 'none'}.",
    )


def sample(
    release: Path,
    out: Annotated[Path, option()],
    rows: Annotated[int | None, option("N")] = None,
    seed: int | None = None,
    overwrite: bool = False,
    as_json: options.AsJson = False,
) -> None:
    """Draw synthetic rows, or records of items, from a release.

    Records of items are one per line (.dat), lists (.parquet) or a row for each item (.csv).
    Rows describe nobody and cost no further budget.

    Args:
        out: The file to write: .csv, .csv.gz or .parquet; items: also .dat.
        rows: How many rows; by default as many as the release counts.
        seed: The same seed gives the same rows.

    Example:
        hedgerow sample release/ --out rows.csv
    """
    from hedgerow.cli.display.transactions import fimi_writer
    from hedgerow.release import Release

    text = out.suffix.lower() in (".dat", ".txt")
    write = fimi_writer if text else table_writer(out)
    check_place(out, overwrite, release=release)
    if rows is not None and rows < 0:
        raise UsageError("--rows must not be negative.", hint="Leave it out, or give 0 or more.")
    opened = Release.load(release)
    form: dict[str, Any] = {}
    if opened.kind == "transactions":
        form = {"form": "long" if ".csv" in out.suffixes else "lists"}
    elif text:
        raise UsageError(f"{out} is for items.", hint="Let it end in .csv, .csv.gz or .parquet.")
    drawn = opened.synthesize(rows, seed=seed, kind="arrow", **form)
    with whole_file(out, overwrite, private=not opened.guarantee["private"]) as temporary:
        write(drawn, temporary)
    with telling(out):
        if as_json:
            unmeasured = [*opened.unmeasured]
            print_json({"rows": out, "columns": drawn.column_names, "not_measured": unmeasured})
            return
        say(f"Wrote synthetic {opened.describe().record}s to {out}.")
        if opened.unmeasured:
            say(
                f"Not measured: {', '.join(opened.unmeasured)}. The release says nothing about "
                "these columns, and their values are drawn evenly."
            )


# With raw data, so NOT PRIVATE.


_BANNER = "NOT PRIVATE: computed from the raw data. For its holder alone; keep it out of releases."


def evaluate(
    raw: str,
    release: Path,
    queries: Annotated[int, option("N")] = 1000,
    seed: int = 0,
    side: Annotated[Path | None, option("FILE")] = None,
    quick: bool = False,
    out: Annotated[Path | None, option("FILE")] = None,
    overwrite: bool = False,
    delimiter: options.Delimiter = None,
    line_breaks: bool = False,
    table: options.Name = None,
    query: options.QueryText = None,
    as_json: options.AsJson = False,
) -> None:
    """Compare a release with the raw data it was made from. The result is NOT PRIVATE.

    The guarantee covers nothing of it: keep it to yourself, and do not publish again because of
    what you saw.

    Args:
        raw: The raw data that was published: whatever `publish` takes.
        release: The folder of the release made from it.
        queries: How many random counts to ask both for.
        seed: Which counts, and which rows models learn from.
        side: supermodular: the side table of the release.
        out: Also write all numbers to this JSON file.

    Example:
        hedgerow evaluate people.csv release/
    """
    from hedgerow.present.against import evaluation
    from hedgerow.release import Release

    check_place(out, overwrite)
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
            print_json({**facts, "out": out, "warnings": warned()})
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
    return options.source_of(raw, table, query)


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

    with terminal.progress("Comparing") as bar, terminal.data_warnings():
        judgment = scorecard.evaluate(source, release, delimiter=delimiter, progress=bar, **more)
    if not judgment.matches:
        warn(f"{strange(judgment)} What follows says nothing.")
    warn(*(f"{sentence[0].upper()}{sentence[1:]}." for sentence in judgment.notes))
    return judgment


def compare(
    releases: list[Path],
    raw: Annotated[str | None, option("DATA")] = None,
    simulate: bool = False,
    out: Annotated[Path | None, option("FILE")] = None,
    seed: int = 0,
    overwrite: bool = False,
    delimiter: options.Delimiter = None,
    line_breaks: bool = False,
    table: options.Name = None,
    query: options.QueryText = None,
    as_json: options.AsJson = False,
) -> None:
    """Show releases side by side: what they guarantee, and how accurate their numbers are.

    With --raw the result is NOT PRIVATE, and choosing a release by it is outside the guarantee.

    Args:
        releases: The folders of two or more releases.
        raw: Also compare with the raw data they were made from.
        simulate: Also compare simulated rows published with the settings of each, to choose without
            private data.
        out: Also write a page, as HTML.
        seed: With --raw, which counts are asked for.

    Example:
        hedgerow compare first/ second/ --simulate
        hedgerow compare first/ second/ --raw people.csv --out not-private.html
    """
    from hedgerow.evaluation.compare import compare_opened, folder_names
    from hedgerow.present import render
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
        _refuse_no_page(out)
        check_place(out, overwrite)
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
        write_text(out, render.page(page), overwrite, private=not facts.private)
    with telling(out):
        if as_json:
            print_json(facts.to_dict() | {"out": out, "warnings": warned()})
            return
        print_document(page)
        if out is not None:
            say(f"\nWrote {out}." + ("" if facts.private else " It is NOT PRIVATE."))
