"""`hedgerow init`: a first draft of a schema."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from hedgerow.cli.asking import ask_for_schema, on_terminal
from hedgerow.cli.display.terminal import note, print_json, say, telling
from hedgerow.cli.options import (
    AsJson,
    Delimiter,
    EncodingName,
    HeaderRow,
    LineBreaks,
    Overwrite,
    QueryText,
    Sheet,
    TableOrTables,
    delimiter_of,
    layout_of,
    source_of,
    split_tables,
)
from hedgerow.errors import UsageError


def init(
    data: Annotated[
        str,
        typer.Argument(
            help="The private data: CSV (also .gz, .zip), workbook, lines of items, Parquet, "
            "postgresql://... "
            "or duckdb:///..."
        ),
    ],
    out: Annotated[Path, typer.Option(help="The schema file to write.")] = Path("schema.yaml"),
    overwrite: Overwrite = False,
    delimiter: Delimiter = None,
    line_breaks: LineBreaks = False,
    sheet: Sheet = None,
    header_row: HeaderRow = None,
    encoding: EncodingName = None,
    table: TableOrTables = None,
    query: QueryText = None,
    trust_header: Annotated[
        bool,
        typer.Option(
            "--trust-header", help="The first line holds names, even if it looks like a record."
        ),
    ] = False,
    person: Annotated[
        str | None,
        typer.Option(help="The column that tells people apart, if they have several rows."),
    ] = None,
    no_questions: Annotated[
        bool,
        typer.Option(
            "--no-questions", help="Ask nothing, as without a terminal, and write a draft."
        ),
    ] = False,
    proposals: Annotated[
        bool,
        typer.Option(
            "--proposals",
            help="With --json, also print what the questions are made from, as PRIVATE as "
            "the data.",
        ),
    ] = False,
    no_file: Annotated[
        bool,
        typer.Option("--no-file", help="With --proposals, write no draft."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Draft a schema from a table or transactions, for a person to finish.

    On a terminal it asks one question at a time: Enter accepts a proposal, ? explains, back
    returns; after Ctrl-C the same command continues. Proposals are read off PRIVATE data: a
    draft is refused until a person has replaced them with public knowledge and signed it.
    """
    from hedgerow.cli.files import refuse_existing, write_text
    from hedgerow.draft.draft import ItemSketch, Sketch, draft_text, sketch_table

    if no_file and not (proposals and as_json):
        raise UsageError("--no-file is for --proposals with --json.", hint="Omit it.")
    source_table, tables = split_tables(table)
    source = source_of(data, source_table, query)
    if not no_file:
        refuse_existing(out, overwrite)

    def draft(who: str | None) -> Sketch | ItemSketch:
        found = sketch_table(
            source,
            delimiter=delimiter_of(delimiter),
            line_breaks=line_breaks,
            trust_header=trust_header,
            written=layout_of(encoding, header_row, sheet),
            person=who or person,
        )
        if isinstance(found, Sketch):
            return found.with_tables(tables)
        for option, given in (("--table", tables), ("--person", person)):
            if given:
                what = f"{option} names columns, and these are records of items."
                raise UsageError(what, hint="Omit it.")
        return found

    if not (no_questions or as_json) and on_terminal():
        ask_for_schema(draft, out, overwrite, "..." if "://" in data else data)
        return
    drafted = draft(None)
    text = draft_text(drafted)
    if not no_file:
        write_text(out, text, overwrite, private=True)
    with telling(out):
        if as_json:
            place = None if no_file else str(out)
            facts: dict[str, Any] = {"schema": place, "draft": True, "read_private_data": True}
            if proposals and isinstance(drafted, Sketch):
                facts["proposals"] = drafted.to_dict()
            print_json(facts)
            return
        say(f"Wrote a draft to {out}.")
        if "\nitems:\n" in text:
            note(
                "This draft was read off PRIVATE data. Before you use it:\n"
                "  1. replace the universe by what is publicly known: all items there could be;\n"
                "  2. order them so that neighbors are alike, or write a taxonomy;\n"
                "  3. leave `max_items` out, unless long records must not be read in full;\n"
                "  4. state whom a release protects: `unit: row` if each record is one person;\n"
                "  5. run `hedgerow check`, then `hedgerow sign`, which takes `draft: true` away."
            )
            return
        note(
            "This draft was read off PRIVATE data. Before you use it:\n"
            "  1. replace bounds and values by what is publicly known about each column;\n"
            "  2. write taxonomies for long lists of values; choose the class and the "
            "identifiers;\n"
            "  3. state whom a release protects: `unit: row`, or `unit: person` if a person can\n"
            "     have several rows, with the column that identifies people\n"
            "     (`role: person, max_rows: ...`);\n"
            "  4. run `hedgerow check`, then `hedgerow sign`, which takes `draft: true` away."
        )
