"""`hedgerow dossier`: documents about a release for those who must approve it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hedgerow.cli.display.terminal import print_json, say, telling, warn, warned
from hedgerow.cli.options import AsJson, Overwrite
from hedgerow.errors import UsageError

if TYPE_CHECKING:
    from hedgerow.present.dossier import Booked
    from hedgerow.release import Release

_PAGES = (".html", ".htm")
_TEXTS = (".md", ".markdown")


def dossier(
    release: Annotated[Path, typer.Argument(help="The folder of a release.")],
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The document, .html or .md; if nothing else is asked for, dossier.html.",
        ),
    ] = None,
    record: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="A deployment record for the OpenDP Deployments Registry, as .yaml.",
        ),
    ] = None,
    catalog: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The tables, described for data portals, as .zip: CSV on the Web, Data Package, "
            "Croissant and DCAT-AP, with a data dictionary.",
        ),
    ] = None,
    url: Annotated[
        str,
        typer.Option(
            metavar="URL", help="With --catalog, where the files of the archive will lie."
        ),
    ] = "",
    health_category: Annotated[
        str,
        typer.Option(
            metavar="URL",
            help="With --catalog, the category of health data; the record is then HealthDCAT-AP.",
        ),
    ] = "",
    ledger: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The budget ledger that the release was booked in."),
    ] = None,
    dataset: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="With --ledger, the data set of a release that is not in it."
        ),
    ] = None,
    published: Annotated[
        str | None,
        typer.Option(
            metavar="DATE",
            help="With --record or --catalog, when it was published (2026-01-31), if no ledger "
            "knows it.",
        ),
    ] = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Write what a data protection officer or ethics board must know about a release.

    By the topics of NIST SP 800-226, with a line for a signature; what hedgerow cannot know is
    left open. Exit code 1 if the release fails its own checks. Changed files get no document.
    """
    from hedgerow.cli.files import (
        refuse_existing,
        refuse_inside,
        refuse_releases,
        whole_file,
        write_text,
    )
    from hedgerow.present import html
    from hedgerow.present.catalog import (
        Listing,
        deployment_record,
        open_answers,
        open_places,
        record_text,
        write_archive,
    )
    from hedgerow.present.catalog import catalog as describe
    from hedgerow.present.dossier import dossier as document
    from hedgerow.present.report import doubt, open_and_verify
    from hedgerow.present.text import markdown

    if out is None and record is None and catalog is None:
        out = release.absolute().parent / "dossier.html"
    listing = Listing(url=url, health=health_category, published=published)
    for file, option, ends, words in (
        (out, "--out", (*_PAGES, *_TEXTS), f"Let --out end in .html or .md: {out}.html."),
        (record, "--record", (".yaml", ".yml"), f"Let --record end in .yaml: {record}.yaml."),
        (catalog, "--catalog", (".zip",), f"Let --catalog end in .zip: {catalog}.zip."),
    ):
        if file is None:
            continue
        if file.suffix.lower() not in ends:
            what = f"cannot end in {file.suffix}" if file.suffix else "has no ending"
            raise UsageError(f"The name {file} {what}; the ending says what to write.", hint=words)
        refuse_inside(file, release, option)
        refuse_releases(file, option)
        refuse_existing(file, overwrite, option)
    opened, verdict = open_and_verify(release)
    booked = None if ledger is None else _booked(opened, release, ledger, dataset, as_json)
    left: list[str] = []
    unsaid: list[str] = []
    # before anything is written, since both may be refused
    files = None if catalog is None else describe(opened, verdict, listing, booked)
    if record is not None:
        told = deployment_record(opened, verdict, published, booked)
        left = open_places(told)
        write_text(record, record_text(told), overwrite, private=not opened.guarantee["private"])
    if catalog is not None and files is not None:
        unsaid = open_answers(opened, listing)
        with whole_file(
            catalog, overwrite, "--catalog", private=not opened.guarantee["private"]
        ) as temporary:
            write_archive(files, temporary)
    if out is not None:
        made = document(opened, verdict, booked)
        write = html.page if out.suffix.lower() in _PAGES else markdown
        write_text(out, write(made), overwrite, private=not opened.guarantee["private"])
        for one in made.warnings:
            warn(f"{one.loud}. {one.why}", as_json)
    doubted = doubt(opened, verdict)
    with telling(out or record or catalog or release):
        if as_json:
            written = {"dossier": out, "record": record, "catalog": catalog}
            names = {what: file and str(file) for what, file in written.items()}
            print_json({**names, "to_complete": left, "unsaid": unsaid, "warnings": warned()})
        else:
            if out is not None:
                say(f"Wrote {out}. What it leaves open is for a person to complete and sign.")
            if record is not None:
                say(f"Wrote {record}. To be completed by a person: {', '.join(left)}.")
            if catalog is not None:
                more = f" A portal may ask for: {', '.join(unsaid)}." if unsaid else ""
                say(f"Wrote {catalog}: unpack it where people download the tables.{more}")
    if doubted is not None:
        raise typer.Exit(doubted.exit_code)


def _booked(
    release: Release, folder: Path, ledger: Path, dataset: str | None, as_json: bool
) -> Booked:
    """The data set of a release in a ledger, and its entry; warns of what is wrong."""
    from hedgerow.ledger.file import digest_of
    from hedgerow.ledger.ledger import BudgetLedger
    from hedgerow.present.dossier import doubts, found_in

    accounts = BudgetLedger(ledger).accounts()
    found, why = found_in(accounts, release, digest_of(folder))
    if found is not None and found[1] is not None:
        for sentence in doubts(release, found[1]):
            warn(sentence, as_json)
        return found
    if why is not None:
        warn(why, as_json)
    wanted = dataset or (release.schema.name if found is None else found[0].name)
    for account in accounts:
        if account.name == wanted:
            warn(f"The release is not booked in {ledger}.", as_json)
            return account, None
    raise UsageError(
        f"{ledger} has neither this release nor a data set called {wanted!r}.",
        hint=f"Name its data set with --dataset: {', '.join(a.name for a in accounts) or 'none'}.",
    )
