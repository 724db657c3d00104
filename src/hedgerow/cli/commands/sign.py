"""`hedgerow sign`: somebody confirms that all of a schema is public knowledge."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from hedgerow.cli.asking import on_terminal, print_published
from hedgerow.cli.display.terminal import (
    data_warnings,
    note,
    print_json,
    progress,
    say,
    warn,
    warned,
)
from hedgerow.cli.options import (
    AsJson,
    Delimiter,
    LineBreaks,
    QueryText,
    TableName,
    delimiter_of,
    source_of,
)
from hedgerow.errors import UsageError


def sign(
    schema: Annotated[Path, typer.Argument(help="The schema file.")],
    name: Annotated[
        str, typer.Option(help="Who has looked at all of it; every release states the name.")
    ],
    data: Annotated[
        str | None,
        typer.Option(
            help="Also look at this private table, and mark values that fewer than 10 people have. "
            "NOT PRIVATE."
        ),
    ] = None,
    delimiter: Delimiter = None,
    line_breaks: LineBreaks = False,
    table: TableName = None,
    query: QueryText = None,
    yes: Annotated[
        bool, typer.Option("--yes", help="It was looked at before; ask nothing.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Sign a schema off, or sign it again after a change.

    Shows all that a release of it publishes, with what is long or odd marked (with --data what
    is rare), asks whether anybody could have written that who never saw the data, and writes
    name, date and a fingerprint into the file; a draft's mark and comments are taken out. After a
    change `hedgerow publish` refuses it.
    """
    import datetime
    from dataclasses import asdict

    from hedgerow.schema import refuse_no_unit
    from hedgerow.schema.diff import published_columns
    from hedgerow.studio.schema_text import SchemaText

    text = SchemaText.load(schema)
    known = text.schema()
    refuse_no_unit(known)
    reviewer = name.strip()
    if not reviewer:
        raise UsageError("a person signs a schema by name.", hint='Write --name "Ada Brown".')
    for warning in known.warnings:
        warn(warning, as_json)
    rare: Any = {}
    if data is not None:
        from hedgerow.draft.check import check_rows

        if known.kind != "table":
            raise UsageError("--data is about the values of a table.", hint="Leave it out.")
        with progress("Checking the data") as bar, data_warnings(as_json):
            rare = check_rows(
                source_of(data, table, query), known, delimiter=delimiter_of(delimiter),
                line_breaks=line_breaks, progress=bar,
            ).rare  # fmt: skip
    published = published_columns(known, rare)
    if not as_json:
        print_published(published, say)
    if not yes:
        if as_json or not on_terminal():
            raise UsageError(
                "nobody is there who could look at the schema.",
                hint="Run it on a terminal, or write --yes after a person has looked at all that "
                f"`hedgerow check {schema}` lists.",
            )
        note("Could anybody have written all of this who never saw the data? (yes or no)")
        typer.echo("> ", nl=False, err=True)
        if input().strip().casefold() != "yes":
            note("Nothing was signed. Change what should not be published, and sign then.")
            raise typer.Exit(1)
    today = datetime.date.today().isoformat()
    text.sign(reviewer, today, known.fingerprint).save(text.mark)
    if as_json:
        print_json({
            "schema": str(schema), "reviewer": reviewer, "signed": today,
            "fingerprint": known.fingerprint,
            "published": [asdict(one) for one in published], "warnings": warned(),
        } | ({} if data is None else {"private": False}))  # fmt: skip
        return
    say(f"{reviewer} signed {schema} on {today}.")
