"""`hedgerow report`: a page about a release that can be shown around."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hedgerow.cli.commands.evaluate import Quick, judged
from hedgerow.cli.display.terminal import print_json, say, telling, warn, warned
from hedgerow.cli.options import AsJson, Delimiter, LineBreaks, Overwrite, QueryText, TableName
from hedgerow.errors import UsageError


def report(
    release: Annotated[Path, typer.Argument(help="The folder of a release.")],
    out: Annotated[Path, typer.Option(metavar="FILE", help="The HTML file to write.")],
    raw: Annotated[
        str | None,
        typer.Option(
            metavar="DATA",
            help="Also compare with the raw data it was made from. The page is then NOT PRIVATE.",
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option(help="With --raw, which counts are asked and which rows are learnt from.")
    ] = 0,
    side: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="With --raw and supermodular, the side table of the release."
        ),
    ] = None,
    quick: Quick = False,
    overwrite: Overwrite = False,
    delimiter: Delimiter = None,
    line_breaks: LineBreaks = False,
    table: TableName = None,
    query: QueryText = None,
    as_json: AsJson = False,
) -> None:
    """Write a page about a release: what was published, what is guaranteed, and how good it is.

    One HTML file that opens without a network. With --raw it is only for the steward; without, it
    may be passed on with the release. Exit code 1 if the release fails its own checks.
    """
    from hedgerow.cli.files import refuse_existing, refuse_inside, refuse_releases, write_text
    from hedgerow.present import html
    from hedgerow.present.report import doubt, open_and_verify
    from hedgerow.present.report import report as document

    if out.suffix.lower() not in (".html", ".htm"):
        raise UsageError(f"{out} is not a page.", hint="Let --out end in .html.")
    if raw is None and (table or query or delimiter or line_breaks or side or quick):
        raise UsageError(
            "--table, --query, --delimiter, --line-breaks, --side and --quick are about raw data, "
            "and there is none.",
            hint="Leave them out, or name the raw data with --raw.",
        )
    refuse_inside(out, release)
    refuse_releases(out)
    refuse_existing(out, overwrite)
    opened, verdict = open_and_verify(release)
    against = None
    if raw is not None:
        against = judged(
            raw, release, table, query, delimiter, seed, as_json, side=side,
            line_breaks=line_breaks, quick=quick, opened=opened,
        )  # fmt: skip
    doubted, seeded = doubt(opened, verdict), not opened.guarantee["private"]
    text = html.page(document(opened, verdict, against))
    write_text(out, text, overwrite, private=raw is not None or seeded)
    if doubted is not None:
        warn(f"{doubted.loud}. {doubted.why}", as_json)
    with telling(out):
        if as_json:
            private = raw is None and not seeded and doubted is None
            print_json({"report": str(out), "private": private, "warnings": warned()})
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
