"""The options of commands: what docstrings say of them, and those that several share.

A command's parameters are plain. Its `Args` say what they are for, and of those that several
commands share the list below. Options for the settings of methods are in `settings`.

Args:
    release: The folder of a release.
    schema: The schema file.
    epsilon: The privacy budget, as a decimal or a fraction (1, 0.5, 1/3). Smaller is safer. More
        than six decimals are rounded down.
    delta: 0 for the pure guarantee, or a tiny number such as 1e-9 (see docs/choosing.md).
    yes_epsilon: The same epsilon once more, which one above 10 has to be.
    delimiter: The delimiter of a CSV file, if its first line does not determine it; tab for a tab.
    line_breaks: Quoted values of a CSV file may contain line breaks; the file must be well formed.
    table: A database: the table, or schema.table.
    query: A database: a query instead of a table.
    row_wise: I know that each row of the query depends on one person alone (see docs/scale.md); the
        release says so.
    allow_empty: Accept an input without any record.
    seed: For tests: repeatable noise. The release is then NOT private.
    dataset: The data set in the ledger; default: the schema's name.
    quick: A rough comparison: 200 counts, one model, and smaller samples of rows.
    overwrite: Replace an existing file or folder.
    as_json: Print the result as JSON, for other programs.
"""

from __future__ import annotations

import inspect
import re
import sys
import typing
from collections.abc import Callable
from copy import copy
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hedgerow.cli.display.terminal import note, warn
from hedgerow.errors import UsageError

if TYPE_CHECKING:
    from hedgerow.methods.publisher import Publisher
    from hedgerow.schema import Layout, Schema


def arguments(documented: Any) -> dict[str, str]:
    """What a docstring says of each argument, on one line each."""
    part = (inspect.getdoc(documented) or "").partition("Args:\n")[2].partition("\n\n")[0]
    pairs = re.findall(r"^    (\w+): (.*(?:\n        .*)*)", part, re.MULTILINE)
    return {name: " ".join(text.split()) for name, text in pairs}


def prose(documented: Any) -> str:
    """What a docstring says before it comes to arguments and examples."""
    return re.split(r"\n\n(?:Args|Example):\n", inspect.getdoc(documented) or "")[0]


def examples(documented: Any) -> list[str]:
    """The examples of a docstring, a line each."""
    lines = (inspect.getdoc(documented) or "").partition("Example:\n")[2].splitlines()
    return [line.removeprefix("    ") for line in lines]


def ending(documented: Any) -> str:
    """The end of a command's help: how it is used."""
    # A backspace alone on a line keeps the parser from refilling what follows.
    return "\n".join(["\b", "Example:", *(f"  {line}" for line in examples(documented))])


def explain(command: Callable[..., None]) -> Callable[..., None]:
    """A command as the parser takes it: every option with what docstrings say that it is for."""
    texts, parameters = arguments(sys.modules[__name__]) | arguments(command), []
    for one in inspect.signature(command, eval_str=True).parameters.values():
        if one.name != "ctx":
            is_plain = typing.get_origin(one.annotation) is not Annotated
            kind, info = (one.annotation, None) if is_plain else typing.get_args(one.annotation)
            info = copy(info or (typer.Argument() if one.default is one.empty else option()))
            info.help = texts[one.name]
            if kind is bool and info.default is ...:  # nothing turns it off
                info.default = f"--{one.name.replace('_', '-')}"
            one = one.replace(annotation=Annotated[kind, info])
        parameters.append(one)
    set_parameters(command, parameters)
    return command


def set_parameters(command: Any, parameters: list[inspect.Parameter]) -> None:
    """Has a function say that it takes these."""
    command.__signature__ = inspect.Signature(parameters)
    command.__annotations__ = {one.name: one.annotation for one in parameters}


def option(metavar: str | None = None, *, name: str | None = None, **more: Any) -> Any:
    """An option of a command.

    Args:
        metavar: What it takes.
        name: What it is called, if not as the parameter.
        more: Its bounds, or how it is read.
    """
    return typer.Option(*([name] if name else []), metavar=metavar, **more)


def _delimiter(given: str) -> str:
    """The delimiter that was meant: a tab is hard to type."""
    return "\t" if given in ("tab", "TAB", "\\t") else given


Engine = StrEnum("Engine", ["memory", "streamed", "dask"])

AsJson = Annotated[bool, option(name="--json")]
Delimiter = Annotated[str | None, option("CHAR", parser=_delimiter)]
SchemaFile = Annotated[Path, option()]
Number = Annotated[str, option("NUMBER")]
YesEpsilon = Annotated[str | None, option("NUMBER")]
Name = Annotated[str | None, option("NAME")]
QueryText = Annotated[str | None, option("SELECT")]
Columns = Annotated[list[str] | None, option("COLUMNS")]


def layout_of(encoding: str | None, header_row: int | None, sheet: str | None) -> Layout:
    """What was said about a file before there is a schema that declares it."""
    from typing import get_args

    from hedgerow.schema.attributes import Encoding, Layout

    names = get_args(Encoding)
    if encoding is not None and encoding not in names:
        raise UsageError(
            f"--encoding cannot be {encoding!r}.", hint=f"It can be {', '.join(names)}."
        )
    if header_row is not None and header_row < 1:
        raise UsageError("--header-row is below 1.", hint="Lines and rows are counted from 1.")
    chosen: Any = encoding
    return Layout(encoding=chosen, header_row=header_row, sheet=sheet)


def source_of(data: str, table: str | None, query: str | None, row_wise: bool = False) -> Any:
    """What to read: a database's table or query, or a path or address as it was given."""
    from hedgerow.data.source import Database, is_database

    if is_database(data):
        if row_wise and query is None:
            raise UsageError("--row-wise is about a --query.", hint="Leave it out.")
        return Database(data, table=table, query=query, row_wise=row_wise)
    if table is not None or query is not None or row_wise:
        raise UsageError(
            "--table with a single name, --query and --row-wise are for databases.",
            hint=f"Write duckdb:///{data.lstrip('/')} for a DuckDB file, or leave them out."
            if data.endswith((".duckdb", ".db"))
            else "Give the address of one, postgresql://... or duckdb:///..., or leave them out.",
        )
    return data


def split_tables(given: list[str]) -> tuple[str | None, list[str]]:
    """The table of a database, which is a single name, and the tables that a release should hold.

    Example:
        >>> split_tables(["home illness", "clinic.people"])
        ('clinic.people', ['home illness'])
        >>> split_tables(['"my people"'])
        ('my people', [])
    """
    from hedgerow.schema.conditions import Misread, read_names

    sources, tables = [], []
    for text in given:
        try:
            names = [name.text for name in read_names(text)]
        except Misread:
            names = [text]
        if len(names) == 1:
            sources.append(names[0])
        else:
            tables.append(text)
    if len(sources) > 1:
        raise UsageError(
            "--table names more than one table of a database.",
            hint='A table that the release should hold has two or three columns: "home illness".',
        )
    return (sources[0] if sources else None), tables


def tell_of_taxonomy(method: Publisher, schema: Schema) -> None:
    """Says what a taxonomy of items is used for, if there is one."""
    items = schema.transaction_items
    if method.schedule == "paper" or not items.semantic:
        return
    if method.settings().get("variant") == "tree":
        note("The taxonomy divides the records: groups of items are published in its words.")
        return
    group = next((n for n, below in enumerate(items.taxonomy.children) if below and n), 0)
    note(
        "The taxonomy makes estimates of rare items better, and its groups can be asked for, such "
        f'as "{items.taxonomy.labels[group]}". --variant tree divides records by it.'
    )


def warn_of_delta(method: Publisher, schema: Schema, delta: str) -> None:
    """Says so if a delta was asked for that the method has no use for."""
    from hedgerow.privacy.budget import read_number

    if read_number("delta", delta) == 0 or method.data != schema.kind:  # which is refused
        return
    if not method.spends_delta(schema):
        warn(f"{method.name} has no use for a delta: it buys nothing, and none is spent.")


def check_epsilon(epsilon: str, again: str | None, as_json: bool = False) -> None:
    """Says so if less will be spent than was asked for, and has a large epsilon said twice.

    Args:
        epsilon: The epsilon; with many decimals it is rounded down.
        again: What an option says the second time; whoever sits at a terminal is asked for it.
        as_json: Whether nobody is to be asked.
    """
    from hedgerow.cli.asking import ask, on_terminal
    from hedgerow.ledger.file import plain
    from hedgerow.privacy.budget import LARGE_EPSILON, Budget, read_number, refuse_large

    spent = Budget.of(epsilon).epsilon
    if spent != read_number("epsilon", epsilon):
        warn(f"epsilon {epsilon} is rounded down to {plain(spent)}, to six decimals.")
    if spent > LARGE_EPSILON and again is None and not as_json and on_terminal():
        words = f"Epsilon {epsilon} protects hardly anybody. Type it again to spend it: "
        again = ask(words) or None
    refuse_large(epsilon, again)
