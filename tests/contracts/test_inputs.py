"""What `publish` refuses to take, and that nothing is booked for it."""

from __future__ import annotations

import gzip
import json
import os
import random
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hedgerow as hr
from hedgerow.errors import DataError, DataWarning, ReleaseError, UsageError
from hedgerow.ledger.ledger import BudgetLedger
from hedgerow.methods.clusters import find_centroids
from hedgerow.release.files import check_guarantee
from hedgerow.schema import Schema

ATTRIBUTES = {
    "age": {"type": "numeric", "low": 0, "high": 30, "outside": "clip"},
    "job": {"type": "categorical", "values": ["nurse", "cook"], "missing": "drop"},
    "ill": {"type": "boolean", "role": "class"},
}
SCHEMA = Schema.from_dict({"name": "clinic", "unit": "row", "attributes": ATTRIBUTES})
CAPPED = Schema.from_dict(
    {
        "name": "clinic",
        "unit": "person",
        "attributes": ATTRIBUTES | {"who": {"role": "person", "max_rows": 2}},
    }
)
SHOP = Schema.from_dict({"name": "clinic", "unit": "row", "items": {"universe": ["tea", "milk"]}})
VISITS = Schema.from_dict(
    {
        "name": "clinic",
        "unit": "person",
        "items": {"universe": ["tea", "milk"], "person": "who", "item": "what"},
    }
)


def people(number: int, seed: int = 1) -> pa.Table:
    draw = np.random.default_rng(seed)
    return pa.table(
        {
            "age": np.minimum(draw.geometric(0.1, number), 30),
            "job": draw.choice(["nurse", "cook"], number),
            "ill": draw.choice(["true", "false"], number),
        }
    )


def write_csv(rows: pa.Table, path: Path) -> Path:
    lines = [rows.column_names, *(row.values() for row in rows.to_pylist())]
    path.write_text("".join(",".join(map(str, line)) + "\n" for line in lines))
    return path


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    BudgetLedger(tmp_path / "clinic.ledger").open("clinic", 10, delta="0.001")
    return tmp_path / "clinic.ledger"


def booked(ledger: Path) -> int:
    (account,) = BudgetLedger(ledger).accounts()
    return len(account.entries)


# the side table


def as_it_is(private: Path, folder: Path) -> Any:
    return private


def spelt_otherwise(private: Path, folder: Path) -> Any:
    return os.path.relpath(private)


def symbolic_link(private: Path, folder: Path) -> Any:
    (folder / "public.csv").symlink_to(private)
    return folder / "public.csv"


def hard_link(private: Path, folder: Path) -> Any:
    os.link(private, folder / "public.csv")
    return str(folder / "public.csv")


def copied(private: Path, folder: Path) -> Any:
    return shutil.copy(private, folder / "public.csv")


def gzipped(private: Path, folder: Path) -> Any:
    (folder / "public.csv.gz").write_bytes(gzip.compress(private.read_bytes()))
    return folder / "public.csv.gz"


def shuffled(private: Path, folder: Path) -> Any:
    head, *lines = private.read_text().splitlines()
    random.Random(1).shuffle(lines)
    (folder / "public.csv").write_text("\n".join([head, *lines]))
    return folder / "public.csv"


def other_columns_first(private: Path, folder: Path) -> Any:
    return people(400).select(["ill", "job", "age"])


def parquet(private: Path, folder: Path) -> Any:
    pq.write_table(people(400), folder / "public.parquet")
    return folder / "public.parquet"


def stream(private: Path, folder: Path) -> Any:
    rows = people(400)
    return pa.RecordBatchReader.from_batches(rows.schema, rows.to_batches())


def pandas_frame(private: Path, folder: Path) -> Any:
    return people(400).to_pandas()


@pytest.mark.parametrize(
    "disguise",
    [as_it_is, spelt_otherwise, symbolic_link, hard_link, copied, gzipped, shuffled,
     other_columns_first, parquet, stream, pandas_frame],
)  # fmt: skip
def test_the_private_table_is_no_side_table(disguise: Any, tmp_path: Path, ledger: Path) -> None:
    private = write_csv(people(400), tmp_path / "people.csv")
    (tmp_path / "public").mkdir()
    method = hr.Supermodular(side=disguise(private, tmp_path / "public"))
    with pytest.raises(UsageError, match="side table .* private table") as found:
        hr.publish(private, SCHEMA, method, 1, "1e-6", ledger=ledger)
    assert "400" not in str(found.value).replace(str(tmp_path), "")
    assert booked(ledger) == 0


@pytest.mark.parametrize("side", ["parts", "parts/*.parquet", "parts/b.parquet"])
@pytest.mark.parametrize("private", ["parts", "parts/*.parquet", "parts/b.parquet"])
def test_nor_is_a_part_of_it(private: str, side: str, tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    pq.write_table(people(300, 1), tmp_path / "parts" / "a.parquet")
    pq.write_table(people(300, 2), tmp_path / "parts" / "b.parquet")
    method = hr.Supermodular(side=f"{tmp_path}/{side}")
    with pytest.raises(UsageError, match="private table itself"):
        hr.publish(f"{tmp_path}/{private}", SCHEMA, method, 1, "1e-6")


def test_nor_is_the_frame_itself() -> None:
    rows = people(300)
    with pytest.raises(UsageError, match="private table itself"):
        hr.publish(rows, SCHEMA, hr.Supermodular(side=rows), 1, "1e-6")


def test_nor_is_a_table_of_the_database(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect(str(tmp_path / "c.db")) as connection:
        connection.register("arrived", people(300))
        connection.execute("CREATE TABLE people AS SELECT * FROM arrived")
    url = f"duckdb://{tmp_path}/c.db"
    table = hr.Database(url, table="people")
    for side in (table, hr.Database(url, table="main.people")):
        with pytest.raises(UsageError, match="private table itself"):
            hr.publish(table, SCHEMA, hr.Supermodular(side=side), 1, "1e-6")
    for side in (hr.Database(url, query="SELECT * FROM people ORDER BY age"), people(300)):
        with pytest.raises(UsageError, match="same records"):
            hr.publish(table, SCHEMA, hr.Supermodular(side=side), 1, "1e-6")


def test_the_cap_on_rows_hides_nothing() -> None:
    """Rows are compared before those beyond the cap are taken away."""
    rows = people(300).append_column("who", pa.array([f"p{n // 3}" for n in range(300)]))
    for side in (rows.take(list(reversed(range(300)))), people(300)):
        with pytest.raises(UsageError, match="same records"):
            hr.publish(rows, CAPPED, hr.Supermodular(side=side), 1, "1e-6")


def test_a_table_of_other_people_is_a_side_table() -> None:
    method = hr.Supermodular(side=people(300, 2), risk=0.3)
    release: Any = hr.publish(people(400), SCHEMA, method, 1, "1e-6", seed=1)
    assert release.settings["side"] == "public"
    rows = people(300, 2)
    once = pa.RecordBatchReader.from_batches(rows.schema, rows.to_batches())
    again: Any = hr.publish(
        people(400), SCHEMA, hr.Supermodular(side=once, risk=0.3), 1, "1e-6", seed=1
    )
    assert again.frontier == release.frontier and again.counts.tolist() == release.counts.tolist()


# queries


@pytest.fixture
def database(tmp_path: Path) -> str:
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect(str(tmp_path / "c.db")) as connection:
        connection.register("arrived", people(400))
        connection.execute("CREATE TABLE people AS SELECT * FROM arrived")
    return f"duckdb://{tmp_path}/c.db"


MIXED = "SELECT age - (SELECT min(age) FROM people) AS age, job, ill FROM people LIMIT 300"


@pytest.mark.parametrize("query", ["SELECT * FROM people", MIXED])
def test_a_query_needs_somebodys_word(query: str, database: str, ledger: Path) -> None:
    source = hr.Database(database, query=query)
    with pytest.raises(UsageError, match="may mix the records") as found:
        hr.publish(source, SCHEMA, ledger=ledger)
    assert "row_wise=True" in str(found.value)
    with pytest.raises(UsageError, match="may mix the records"):
        find_centroids(source, SCHEMA, ledger=ledger)
    assert booked(ledger) == 0


@pytest.mark.parametrize("method", [hr.DiffMulti(), hr.Supermodular(risk=0.3)], ids=str)
def test_the_manifest_records_that_word(method: Any, database: str, tmp_path: Path) -> None:
    source = hr.Database(database, query="SELECT age, job, ill FROM people", row_wise=True)
    release = hr.publish(source, SCHEMA, method, 1, "1e-6")
    release.save(tmp_path / "release")
    manifest = json.loads((tmp_path / "release" / "manifest.json").read_text())
    assert manifest["guarantee"]["row_wise_query"] is True
    assert "SELECT" not in (tmp_path / "release" / "manifest.json").read_text()
    assert hr.Release.load(tmp_path / "release").guarantee["row_wise_query"] is True
    verdict = hr.verify(tmp_path / "release")
    assert verdict.ok, verdict
    assert any("acknowledged" in check.words for check in verdict.checks)
    denied = replace(release, guarantee=release.guarantee | {"row_wise_query": False})
    assert not hr.verify(denied).ok
    with pytest.raises(ReleaseError, match="row-wise"):
        check_guarantee(release.guarantee | {"row_wise_query": "yes"})


def test_tables_need_no_word_and_their_manifest_says_nothing(database: str) -> None:
    release = hr.publish(hr.Database(database, table="people"), SCHEMA)
    assert "row_wise_query" not in release.guarantee
    assert "row_wise_query" not in hr.publish(people(9), SCHEMA).guarantee


# inputs without records


def empty_sources(folder: Path) -> dict[str, tuple[Any, Schema]]:
    none = people(0)
    write_csv(none, folder / "none.csv")
    (folder / "none.csv.gz").write_bytes(gzip.compress((folder / "none.csv").read_bytes()))
    pq.write_table(none, folder / "none.parquet")
    (folder / "parts").mkdir()
    for name in ("a", "b"):
        pq.write_table(none, folder / "parts" / f"{name}.parquet")
    (folder / "none.dat").write_text("")
    (folder / "visits.csv").write_text("who,what\n")
    lists = pa.table({"bought": pa.array([], pa.list_(pa.string()))})
    visits = pa.table({"who": pa.array([], pa.string()), "what": pa.array([], pa.string())})
    return {
        "csv": (folder / "none.csv", SCHEMA),
        "gzip": (folder / "none.csv.gz", SCHEMA),
        "parquet": (folder / "none.parquet", SCHEMA),
        "folder": (folder / "parts", SCHEMA),
        "arrow": (none, SCHEMA),
        "pandas": (none.to_pandas(), SCHEMA),
        "stream": (pa.RecordBatchReader.from_batches(none.schema, []), SCHEMA),
        "people": (none.append_column("who", pa.array([], pa.string())), CAPPED),
        "lines": (folder / "none.dat", SHOP),
        "lists": (lists, SHOP),
        "visits": (visits, VISITS),
        "visits in a file": (folder / "visits.csv", VISITS),
    }


KINDS = ["csv", "gzip", "parquet", "folder", "arrow", "pandas", "stream", "people", "lines",
         "lists", "visits", "visits in a file"]  # fmt: skip


@pytest.mark.filterwarnings("ignore::hedgerow.errors.DataWarning")
@pytest.mark.parametrize("engine", ["memory", "streamed"])
@pytest.mark.parametrize("kind", KINDS)
def test_an_input_without_records_is_refused(
    kind: str, engine: str, tmp_path: Path, ledger: Path
) -> None:
    source, schema = empty_sources(tmp_path)[kind]
    with pytest.raises(DataError, match="no records in it") as found:
        hr.publish(source, schema, engine=engine, ledger=ledger)
    assert "allow_empty=True" in str(found.value)
    assert booked(ledger) == 0
    (tmp_path / "again").mkdir()
    source, schema = empty_sources(tmp_path / "again")[kind]  # a stream can be read once
    hr.publish(source, schema, engine=engine, ledger=ledger, allow_empty=True)
    assert booked(ledger) == 1


def test_a_cluster_refuses_it_too(workers: None, tmp_path: Path) -> None:
    source, schema = empty_sources(tmp_path)["folder"]
    with pytest.raises(DataError, match="no records in it"):
        hr.publish(source, schema, engine="dask")


def test_centroids_of_nobody_are_refused(ledger: Path) -> None:
    with pytest.raises(DataError, match="no records in it"):
        find_centroids(people(0), SCHEMA, ledger=ledger)
    assert booked(ledger) == 0
    with pytest.warns(DataWarning, match="too few people"):
        find_centroids(people(0), SCHEMA, ledger=ledger, allow_empty=True)


@pytest.mark.filterwarnings("ignore::hedgerow.errors.DataWarning")
@pytest.mark.parametrize("engine", ["memory", "streamed"])
def test_that_rules_leave_no_record_stops_no_run(engine: str, tmp_path: Path) -> None:
    """Whether one is left is a fact about what stands in records; a release must not hang on it."""
    dropped = pa.table({"age": [3], "job": pa.nulls(1, pa.string()), "ill": ["true"]})
    hr.publish(dropped, SCHEMA, engine=engine)
    (tmp_path / "blank.dat").write_text("\n")
    (tmp_path / "foreign.dat").write_text("beer\n")
    nameless = pa.table({"who": pa.nulls(2, pa.string()), "what": ["tea", "milk"]})
    for source, schema in (
        (tmp_path / "blank.dat", SHOP), (tmp_path / "foreign.dat", SHOP), (nameless, VISITS),
    ):  # fmt: skip
        hr.publish(source, schema, engine=engine)
