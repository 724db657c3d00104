"""`hedgerow check`: is the schema right, and does the data follow it?"""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hedgerow.cli.display.terminal import (
    data_warnings,
    note,
    print_json,
    print_table,
    progress,
    say,
    tell_preparation,
    warn,
    warned,
)
from hedgerow.cli.options import (
    AllowEmpty,
    AsJson,
    Delimiter,
    LineBreaks,
    QueryText,
    RowWise,
    TableName,
    delimiter_of,
    source_of,
    words_for,
)
from hedgerow.errors import UsageError
from hedgerow.present.words import many

if TYPE_CHECKING:
    from hedgerow.schema import Attribute, Schema


def check(
    schema: Annotated[Path, typer.Argument(help="The schema file.")],
    data: Annotated[
        str | None, typer.Option(help="Also check whether this private data follows it.")
    ] = None,
    delimiter: Delimiter = None,
    line_breaks: LineBreaks = False,
    table: TableName = None,
    query: QueryText = None,
    row_wise: RowWise = False,
    allow_empty: AllowEmpty = False,
    unused: Annotated[
        bool,
        typer.Option(
            "--unused",
            help="With --data, also name values that no row has. NOT PRIVATE.",
        ),
    ] = False,
    show_values: Annotated[
        bool,
        typer.Option(
            "--show-values",
            help="With --data, also quote values that differ from the schema's only in "
            "case or spaces. NOT PRIVATE.",
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Check a schema and, with --data, whether data follows it.

    Lists all that a release publishes, and marks what looks like somebody's own words. With
    --data errors name rows and columns; warnings and counts are NOT PRIVATE.
    """
    from hedgerow.cli.asking import print_published
    from hedgerow.present.report import facts
    from hedgerow.schema import Schema, refuse_no_unit
    from hedgerow.schema.diff import published_columns

    known = Schema.load(schema)
    refuse_no_unit(known)
    for option, given in (("--unused", unused), ("--show-values", show_values)):
        if given and (data is None or known.kind != "table"):
            raise UsageError(
                f"{option} is about the data of a table.",
                hint=f"Give --data with a table, or leave {option} out.",
            )
    if known.is_draft and not as_json:
        note("This is a draft: sign it (`hedgerow sign`) when all of it is public knowledge.")
    for warning in known.warnings:
        warn(warning, as_json)
    preparation: Any = None
    if data is not None:
        from hedgerow.data import check_transactions, refuse_mixing
        from hedgerow.draft.check import check_rows

        source = source_of(data, table, query, row_wise)
        refuse_mixing(source)
        with progress("Checking the data") as bar, data_warnings(as_json):
            look: Any = check_transactions
            if known.kind == "table":
                look = partial(check_rows, quote=show_values, unused=unused)
            preparation = look(
                source,
                known,
                delimiter=delimiter_of(delimiter),
                line_breaks=line_breaks,
                progress=bar,
                allow_empty=allow_empty,
            )
    if as_json:
        told: dict[str, Any] = {"preparation": None}
        if preparation is not None:
            loud = (
                "NOT PRIVATE: `preparation` holds exact counts, for the holder of the data alone."
            )
            for sentence in (loud, *preparation.warnings()):
                warn(sentence, as_json)
            told = {"private": False, "preparation": asdict(preparation)}
        print_json(_facts(known, data) | told)
        return
    say(f"{known.name}: the schema is right{', but a draft' if known.is_draft else ''}.")
    if known.kind == "table":
        columns = [_row(attribute) for attribute in known.attributes]
        print_table(["attribute", "kind", "domain", "missing", "outside"], columns)
    else:
        print_table(["setting", "value"], [[key, str(value)] for key, value in _items(known)])
    if known.target is not None:
        say(f"class: {known.target.name} ({', '.join(known.classes)})")
    if known.identifiers:
        say(f"dropped: {', '.join(known.identifiers)}")
    say(_unit(known))
    for sentence in _relations(known):
        say(sentence)
    print_published(published_columns(known, getattr(preparation, "rare", None)), say)
    if known.is_draft or known.metadata.signed is None:
        say(f"Sign it when all of that is public knowledge: hedgerow sign {schema} --name ...")
    for name, value in facts(known):
        say(f"{name}: {value}")
    if data is not None:
        say(f"{words_for(data)} follows the schema.")
    if preparation is not None:
        tell_preparation(preparation)


def _items(schema: Schema) -> list[tuple[str, object]]:
    """What a schema says about items: words for people and programs alike."""
    items = schema.transaction_items
    first, last = items.labels[0], items.labels[-1]
    levels = many(items.taxonomy.height, "level")
    tree = "a taxonomy" if items.semantic else f"groups of {items.fan_out} neighbors"
    facts: list[tuple[str, object]] = [
        ("universe", f"{many(items.size, 'item')}, from {first} to {last}"),
        ("tree", f"{tree}, {levels}"),
        ("foreign", items.foreign),
        ("empty", items.empty),
        ("max_items", items.max_items or "no cap"),
    ]
    places = (("column", items.column), ("person", items.person), ("item", items.item))
    return facts + [(key, name) for key, name in places if name is not None]


def _unit(schema: Schema) -> str:
    if schema.kind == "transactions":
        column = schema.transaction_items.person
        one = "record" if column is None else f"value of {column}"
        return f"one {one} is one person"
    if schema.person is None:
        return "one row is one person"
    return (
        f"people are identified by {schema.person.column}; at most "
        f"{many(schema.person.max_rows, 'row')} of each "
        f"{'counts' if schema.person.max_rows == 1 else 'count'}"
    )


def _relations(schema: Schema) -> list[str]:
    """Tables that the release should hold, and what cannot be."""
    sentences = []
    for table in schema.tables:
        names = " by ".join(schema.columns[place].name for place in table.places)
        weight = f" (weight {float(table.weight):g})" if table.weight != 1 else ""
        sentences.append(f"the release should hold: {names}{weight}")
    return sentences + [f"rule: {rule.text}" for rule in schema.rules]


def _row(attribute: Attribute) -> list[str]:
    from hedgerow.schema import Numeric

    kind: str
    if isinstance(attribute, Numeric):
        domain = f"{attribute.edge(0)} to {attribute.edge(attribute.grid)} by {_step(attribute)}"
        kind = attribute.kind
    else:
        levels = many(attribute.taxonomy.height, "level")
        domain = f"{many(attribute.size, 'value')}, {levels}"
        kind = "boolean" if attribute.boolean else "categorical"
    return [attribute.name, kind, domain, attribute.missing, attribute.outside]


def _step(attribute: Any) -> str:
    if attribute.kind == "date":
        return many(int(attribute.step), "day")
    return f"{float(attribute.step):g}"


def _facts(schema: Schema, data: str | None) -> dict[str, Any]:
    from hedgerow.schema.diff import published_columns

    names = ["name", "kind", "domain", "missing", "outside"]
    return {
        "name": schema.name,
        "unit": schema.unit,
        "hash": schema.hash,
        "fingerprint": schema.fingerprint,
        "draft": schema.is_draft,
        "began_as_draft": schema.began_as_draft,
        "metadata": schema.metadata.describe(),
        "attributes": [dict(zip(names, _row(a), strict=True)) for a in schema.attributes],
        "class": schema.target.name if schema.target else None,
        "classes": list(schema.classes),
        "identifiers": list(schema.identifiers),
        "unit_of_protection": _unit(schema),
        "tables": schema.to_dict().get("tables", []),
        "rules": [rule.text for rule in schema.rules],
        "items": dict(_items(schema)) if schema.kind == "transactions" else None,
        "published": [asdict(one) for one in published_columns(schema)],
        "warnings": warned(),
        "data_follows_schema": True if data is not None else None,
    }
