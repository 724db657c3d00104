"""Tables and queries of databases, streamed as Arrow batches: PostgreSQL (ADBC) and DuckDB."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import unquote

from hedgerow.data.source import (
    BATCH_ROWS,
    DUCKDB,
    Database,
    Source,
    check_names,
    load_package,
    no_file,
)
from hedgerow.errors import DataError, HedgerowError, UsageError

# A view in a file of somebody else's is text that is run: it reads that file, and nothing else.
_ALONE: dict[str, Any] = {
    "enable_external_access": False,
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "lock_configuration": True,
}

# What servers answer (SQLSTATE, by its first characters), in words and with a way out.
_STATES = {
    "28": ("it does not let you in", "Check user and password (PGPASSWORD, ~/.pgpass)."),
    "3D": ("it has no database of that name", "Check the last part of the address."),
    "42501": ("you may not read that table", "Ask for the right to SELECT from it."),
    "42P01": ("it has no such table", "Check the name; write it as schema.table if need be."),
    "42703": ("the query names a column that is not there", "Check the query."),
    "42": ("the query is not right", "Try it in psql first. It must be one SELECT."),
    "08": ("it cannot be reached", "Check host and port, and that it is running."),
    "57": ("it broke off", "Try again; look whether it has a time limit for queries."),
}


def open_database(database: Database) -> Source:
    """Asks for the names of the columns; rows are fetched when they are read."""
    if (database.table is None) == (database.query is None):
        raise UsageError(
            f"{database.shown}: name either a table or a query",
            hint="Write --table people, or --query 'SELECT age, sex FROM people'.",
        )
    inner = (database.query or "").strip().rstrip(";")
    if database.table is not None:
        inner = f"SELECT * FROM {'.'.join(map(_quoted, database.table.split('.')))}"
    what = database.shown
    with _reader(database, f"SELECT * FROM ({inner}) AS hedgerow_rows LIMIT 0") as reader:
        columns = [str(name) for name in reader.schema.names]
    names = check_names(columns, what)

    def batches(wanted: Sequence[int]) -> Iterator[Any]:
        asked = ", ".join(_quoted(columns[place]) for place in wanted)
        with _reader(database, f"SELECT {asked} FROM ({inner}) AS hedgerow_rows") as reader:
            try:
                for batch in iter(reader.read_next_batch, None):
                    for start in range(0, batch.num_rows, BATCH_ROWS):
                        yield batch.slice(start, BATCH_ROWS)
            except Exception as error:
                _refuse(database, error)

    return Source(what=what, names=names, batches=batches)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


@contextmanager
def _reader(database: Database, query: str) -> Iterator[Any]:
    """The reader of a query's rows, inside its connection."""
    duckdb = database.url.startswith(DUCKDB)
    module = "duckdb" if duckdb else "adbc_driver_postgresql.dbapi"
    driver = load_package(module, f"{database.shown}: reading it", "database")
    with ExitStack() as stack:
        try:
            if duckdb:
                reader = _ask_duckdb(driver, database, query, stack)
            else:
                connection = stack.enter_context(closing(driver.connect(database.url)))
                cursor = stack.enter_context(closing(connection.cursor()))
                cursor.execute("SET TRANSACTION READ ONLY")
                cursor.execute(query)
                reader = cursor.fetch_record_batch()
        except HedgerowError:
            raise
        except Exception as error:
            _refuse(database, error)
        yield reader


def _ask_duckdb(duckdb: Any, database: Database, query: str, stack: ExitStack) -> Any:
    path = Path(unquote(database.url[len(DUCKDB) :]))
    for way in (path, Path(str(path).lstrip("/"))):  # duckdb:///file.db may mean either
        if way.is_file():
            break
    else:
        raise no_file(path, "Check the path after duckdb://.")
    connection = duckdb.connect(str(way), read_only=True, config=_ALONE)
    rows: Any = stack.enter_context(closing(connection)).sql(query)
    fetch = getattr(rows, "to_arrow_reader", None) or rows.fetch_arrow_reader
    return fetch(BATCH_ROWS)


def _refuse(database: Database, error: Exception) -> NoReturn:
    state = str(getattr(error, "sqlstate", None) or "")
    kind = type(error).__name__
    words, way = "the query or the connection failed", "Try the query in the database's own tool."
    if kind in ("CatalogException", "BinderException", "ParserException"):  # DuckDB's
        words, way = _STATES["42P01" if kind == "CatalogException" else "42"]
        way = way.replace("psql", "duckdb")
    if kind == "PermissionException":
        words = "a view or the query asks for another file, a server or an extension"
        way = "Nothing outside the database is opened: copy what it needs into a table of it."
    for beginning, said in sorted(_STATES.items()):  # longer ones later, so that they win
        if state.startswith(beginning):
            words, way = said
    mark = f" ({state})" if state.isalnum() else ""
    raise DataError(f"{database.shown}: {words}{mark}", hint=way) from None
