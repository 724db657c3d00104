"""Databases: the same rows as from a file, and no secret in any message."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from hedgerow import sample
from hedgerow.data import Database, RowStream, read
from hedgerow.errors import DataError, HedgerowError, UsageError
from hedgerow.schema import Schema

duckdb = pytest.importorskip("duckdb")


@pytest.fixture(scope="module")
def people() -> pa.Table:
    return sample.people(70_000, seed=3)  # more than one batch


@pytest.fixture(scope="module")
def duck(people: pa.Table, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("duck") / "people.db"
    with duckdb.connect(str(path)) as connection:
        connection.register("arrived", people)
        connection.execute("CREATE TABLE people AS SELECT * FROM arrived")
    return f"duckdb://{path}"


@pytest.fixture(scope="module")
def filled(postgres: str, people: pa.Table) -> str:
    """The server, with the table in a schema whose name must be quoted."""
    from adbc_driver_postgresql import dbapi

    with dbapi.connect(postgres) as connection, connection.cursor() as cursor:
        cursor.execute('CREATE SCHEMA "The Clinic"')
        cursor.adbc_ingest("people", people, db_schema_name="The Clinic")
        connection.commit()
    return postgres


def same_rows(one: Any, other: Any) -> bool:
    """Whether two tables hold the same rows, in whatever order a server gives them."""
    rows = [
        np.sort(table.codes.view(f"V{table.codes[0].nbytes}").ravel()) for table in (one, other)
    ]
    return bool(np.array_equal(*rows))


@pytest.mark.slow
def test_duckdb(duck: str, people: pa.Table) -> None:
    expected = read(people, sample.schema())
    assert same_rows(read(Database(duck, table="people"), sample.schema()), expected)
    query = "SELECT * FROM people WHERE age >= 0;"
    assert same_rows(read(Database(duck, query=query), sample.schema()), expected)


@pytest.mark.slow
def test_postgres(filled: str, people: pa.Table) -> None:
    expected = read(people, sample.schema())
    table = Database(filled, table="The Clinic.people")
    assert same_rows(read(table, sample.schema()), expected)
    query = 'SELECT * FROM "The Clinic".people ORDER BY age'
    assert same_rows(read(Database(filled, query=query), sample.schema()), expected)


def test_rows_arrive_in_batches_of_the_columns_that_are_needed(filled: str, duck: str) -> None:
    for address, table in ((filled, "The Clinic.people"), (duck, "people")):
        stream = RowStream(Database(address, table=table), sample.schema())
        assert stream.source.capacity is None
        sizes = [batch.num_rows for _, batch in stream.batches()]
        assert len(sizes) > 1 and max(sizes) <= 1 << 16
        _, batch = next(stream.batches())
        assert batch.num_columns == len(stream.wanted)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"table": "nothing"}, "no such table"),
        ({"query": "SELEKT 1"}, "not right"),
        ({"query": "SELECT nothing FROM pg_class"}, "column that is not there"),
        ({"query": "DELETE FROM people"}, "not right"),
        ({"query": "SELECT 1; DROP TABLE people"}, "not right"),
        ({}, "either a table or a query"),
        ({"table": "a", "query": "b"}, "either a table or a query"),
    ],
)
def test_what_postgres_refuses(postgres: str, change: dict[str, str], words: str) -> None:
    with pytest.raises(HedgerowError, match=words) as caught:
        read(Database(postgres, **change), sample.schema())
    assert "hedge" not in str(caught.value) and "steward" not in str(caught.value)


def test_no_way_in(postgres: str) -> None:
    wrong = postgres.replace("hedge%20and%20row", "a%20secret%20guess")
    with pytest.raises(DataError) as caught:
        read(Database(wrong, table="people"), sample.schema())
    assert "guess" not in str(caught.value)
    assert "steward" not in repr(Database(wrong)) and "guess" not in repr(Database(wrong))
    closed = "postgresql://ann:secret@127.0.0.1:1/clinic"
    with pytest.raises(DataError) as caught:
        read(Database(closed, table="people"), sample.schema())
    assert "secret" not in str(caught.value) and "127.0.0.1/clinic" in str(caught.value)


@pytest.mark.parametrize("address", ["postgresql://ann:secret@[/x", "postgres://u:secret@h:port/x"])
def test_a_broken_address_shows_no_password(address: str) -> None:
    assert "secret" not in repr(Database(address))
    with pytest.raises(DataError) as caught:
        read(Database(address, table="people"), sample.schema())
    assert "secret" not in str(caught.value)


def test_what_duckdb_refuses(duck: str, tmp_path: Path) -> None:
    schema = sample.schema()
    for change, words in (
        ({"table": "nothing"}, "no such table"),
        ({"query": "SELEKT 1"}, "not right"),
        ({"query": "DROP TABLE people"}, "not right"),
    ):
        with pytest.raises(DataError, match=words):
            read(Database(duck, **change), schema)
    with pytest.raises(DataError, match="no such file"):
        read(Database("duckdb:///no/such.db", table="people"), schema)
    (tmp_path / "no.db").write_text("nonsense", encoding="utf-8")
    with pytest.raises(DataError):
        read(Database(f"duckdb://{tmp_path / 'no.db'}", table="people"), schema)


def test_a_view_in_a_file_reads_nothing_else(tmp_path: Path) -> None:
    """Somebody else's file holds text that is run when it is read."""
    secret = tmp_path / "secret.csv"
    secret.write_text("age\n1\n", encoding="utf-8")
    views = {
        "a_file": f"FROM read_csv('{secret}')",
        "a_text": f"SELECT content AS age FROM read_text('{secret}')",
        "a_row": "SELECT 1 AS age",
    }
    with duckdb.connect(str(tmp_path / "other.db")) as connection:
        for name, query in views.items():
            connection.execute(f"CREATE VIEW {name} AS {query}")
    address = f"duckdb://{tmp_path / 'other.db'}"
    schema = Schema.of({"name": "x", "unit": "row", "attributes": {
        "age": {"type": "numeric", "low": 0, "high": 9, "step": 1}}})  # fmt: skip
    read(Database(address, table="a_row"), schema)
    queries = ("LOAD httpfs", f"FROM '{secret}'", f"COPY a_row TO '{secret}'")
    for change in ({"table": "a_file"}, {"table": "a_text"}, *({"query": q} for q in queries)):
        with pytest.raises(DataError):
            read(Database(address, **change), schema)
    with pytest.raises(DataError, match="another file"):
        read(Database(address, table="a_file"), schema)
    assert secret.read_text("utf-8") == "age\n1\n"


def test_an_address_alone_needs_a_table(duck: str) -> None:
    with pytest.raises(UsageError, match="either a table or a query"):
        read(duck, sample.schema())
