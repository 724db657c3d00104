"""Options that several commands share. Those for the settings of methods are in `settings`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hedgerow.cli.display.terminal import note, warn
from hedgerow.errors import UsageError

if TYPE_CHECKING:
    from hedgerow.methods.publisher import Publisher
    from hedgerow.schema import Layout, Schema


def option(help: str, metavar: str | None = None, *, name: str | None = None, **more: Any) -> Any:
    """An option of a command.

    Args:
        help: What it is for.
        metavar: What it takes.
        name: What it is called, if not as the parameter; of a flag, what turns it on.
        more: Its bounds.
    """
    return typer.Option(*([name] if name else []), metavar=metavar, help=help, **more)


class Engine(StrEnum):
    """Who counts."""

    memory = "memory"
    streamed = "streamed"
    dask = "dask"


AsJson = Annotated[bool, option("Print the result as JSON, for other programs.", name="--json")]
Overwrite = Annotated[bool, option("Replace an existing file or folder.", name="--overwrite")]
Delimiter = Annotated[
    str | None,
    option(
        "The delimiter of a CSV file, if its first line does not determine it; tab for a tab.",
        "CHAR",
    ),
]
LineBreaks = Annotated[
    bool,
    option(
        "Quoted values of a CSV file may contain line breaks; the file must be well formed.",
        name="--line-breaks",
    ),
]
Sheet = Annotated[str | None, option("A workbook: the sheet to read.", "NAME")]
HeaderRow = Annotated[
    int | None,
    option(
        "The line or row with the column names, if it is not the first that is not blank.", "NUMBER"
    ),
]
EncodingName = Annotated[
    str | None,
    option("A text file's encoding, if not UTF-8: cp1252, latin-1, utf-16-le, utf-16-be.", "NAME"),
]
SchemaFile = Annotated[Path, option("The schema file.")]
Epsilon = Annotated[
    str,
    option(
        "The privacy budget, as a decimal or a fraction (1, 0.5, 1/3). Smaller is safer. More "
        "than six decimals are rounded down.",
        "NUMBER",
    ),
]
Delta = Annotated[
    str,
    option(
        "0 for the pure guarantee, or a tiny number such as 1e-9 (see docs/choosing.md).", "NUMBER"
    ),
]
EngineName = Annotated[
    Engine | None,
    option(
        "Where rows are counted: in memory, with scratch files or on a cluster; by default "
        "the size of the input decides. The release is the same."
    ),
]
MemoryAmount = Annotated[str, option("About how much memory a streamed run may use.", "SIZE")]
ScratchFolder = Annotated[
    Path | None,
    option(
        "The folder for scratch files, which hold private codes and vanish with the run.", "FOLDER"
    ),
]
SchedulerAddress = Annotated[
    str | None,
    option("dask: the scheduler of a cluster; without it, processes on this machine.", "ADDRESS"),
]
TableName = Annotated[str | None, option("A database: the table, or schema.table.", "NAME")]
NamedTables = Annotated[
    list[str] | None,
    option(
        'A table that the release must hold, of two or three columns: "illness by home", or '
        '"illness by home, weight 2" if it matters twice as much; may be repeated.',
        "COLUMNS",
    ),
]
TableOrTables = Annotated[
    list[str] | None,
    option(
        'A table that the release must hold, of two or three columns: "illness by home", or '
        '"illness by home, weight 2" if it matters twice as much; may be repeated. A single '
        "name is a table of a database, or schema.table.",
        "COLUMNS",
    ),
]
QueryText = Annotated[str | None, option("A database: a query instead of a table.", "SELECT")]


RowWise = Annotated[
    bool,
    option(
        "I know that each row of the query depends on one person alone (see docs/scale.md); "
        "the release says so.",
        name="--row-wise",
    ),
]
AllowEmpty = Annotated[bool, option("Accept an input without any record.", name="--allow-empty")]
Seed = Annotated[
    int | None, option("For tests: repeatable noise. The release is then NOT private.")
]
Dataset = Annotated[
    str | None, option("The data set in the ledger; default: the schema's name.", "NAME")
]
YesEpsilon = Annotated[
    str | None, option("The same epsilon once more, which one above 10 has to be.", "NUMBER")
]


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
    from hedgerow.data.database import Database, is_database

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


def split_tables(given: list[str] | None) -> tuple[str | None, list[str]]:
    """The table of a database, which is a single name, and the tables that a release should hold.

    Example:
        >>> split_tables(["home illness", "clinic.people"])
        ('clinic.people', ['home illness'])
        >>> split_tables(['"my people"'])
        ('my people', [])
    """
    from hedgerow.schema.conditions import Misread, read_names

    sources, tables = [], []
    for text in given or []:
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


def words_for(data: str) -> str:
    """How messages call the data: an address of a database without its password."""
    from hedgerow.data.database import Database, is_database

    return Database(data).shown if is_database(data) else data


def delimiter_of(given: str | None) -> str | None:
    r"""The delimiter that was meant: a tab is hard to type.

    Example:
        >>> delimiter_of("tab"), delimiter_of(";")
        ('\t', ';')
    """
    return "\t" if given in ("tab", "TAB", "\\t") else given


def tell_of_taxonomy(method: Publisher, schema: Schema) -> None:
    """Says what a taxonomy of items is used for, if there is one."""
    if schema.kind == "table" or method.schedule == "paper":
        return
    items = schema.transaction_items
    if not items.semantic:
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


def warn_of_tables(method: Publisher, schema: Schema) -> None:
    """Says so if the schema names tables that the method does not measure."""
    from hedgerow.methods.publisher import ignored_tables

    if (sentence := ignored_tables(method, schema)) is not None:
        warn(sentence)


def confirm_large(epsilon: str, again: str | None, as_json: bool) -> None:
    """Has a large epsilon said twice: by an option, or by whoever sits at the terminal."""
    from hedgerow.cli.asking import on_terminal
    from hedgerow.privacy.budget import LARGE_EPSILON, Budget, refuse_large

    large = Budget.of(epsilon).epsilon > LARGE_EPSILON
    if large and again is None and not as_json and on_terminal():
        typer.echo(f"Epsilon {epsilon} protects hardly anybody. Type it again to spend it: ",
                   nl=False, err=True)  # fmt: skip
        again = input().strip() or None
    refuse_large(epsilon, again)


def warn_of_rounding(epsilon: str) -> None:
    """Says so if less will be spent than was asked for, since epsilon has too many decimals."""
    from hedgerow.ledger.file import plain
    from hedgerow.privacy.budget import Budget, read_number

    spent = Budget.of(epsilon).epsilon
    if spent != read_number("epsilon", epsilon):
        warn(f"epsilon {epsilon} is rounded down to {plain(spent)}, to six decimals.")
