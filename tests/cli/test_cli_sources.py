"""Where rows may come from and how they are counted, on the real command."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from hedgerow import sample

Hedge = Callable[..., Any]


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a schema and the same rows as a CSV file, Parquet files and a database."""
    duckdb = pytest.importorskip("duckdb")
    folder = tmp_path_factory.mktemp("people")
    sample.write(folder, rows=900, seed=5)
    rows = sample.people(900, seed=5)
    (folder / "parts").mkdir()
    pq.write_table(rows.slice(0, 500), folder / "parts" / "a.parquet", row_group_size=100)
    pq.write_table(rows.slice(500), folder / "parts" / "b.parquet")
    with duckdb.connect(str(folder / "people.db")) as connection:
        connection.register("arrived", rows)
        connection.execute("CREATE TABLE people AS SELECT * FROM arrived")
    return folder


def table(hedge: Hedge, people: Path, out: Path, *words: object) -> bytes:
    """The published table of a seeded run."""
    done = hedge(
        "publish", *words, "--schema", people / "schema.yaml", "--epsilon", 1, "--seed", 3,
        "--out", out,
    )  # fmt: skip
    assert done.exit_code == 0, done.stderr
    return (out / "measurements.parquet").read_bytes()


@pytest.mark.kernels
def test_every_way_in_gives_the_same_release(hedge: Hedge, people: Path, tmp_path: Path) -> None:
    expected = table(hedge, people, tmp_path / "csv", people / "people.csv")
    ways: list[list[object]] = [
        [people / "people.csv", "--engine", "streamed", "--memory", "1GB"],
        [people / "parts"],
        [people / "parts", "--engine", "streamed", "--scratch", tmp_path],
        [f"{people}/parts/*.parquet"],
        [f"file://{people}/parts"],
        [f"duckdb://{people}/people.db", "--table", "people"],
        [f"duckdb://{people}/people.db", "--query", "SELECT * FROM people", "--row-wise"],
    ]
    for number, words in enumerate(ways):
        assert table(hedge, people, tmp_path / str(number), *words) == expected, words


@pytest.mark.kernels
def test_a_database_leaves_nothing_to_say_at_the_end(people: Path, tmp_path: Path) -> None:
    """In a process of its own: what is never freed is told by libraries when Python ends."""
    words = [
        f"duckdb://{people}/people.db",
        "--table",
        "people",
        "--schema",
        people / "schema.yaml",
    ]
    done = subprocess.run(
        [sys.executable, "-m", "hedgerow", "publish", *words, "--epsilon", "1",
         "--out", tmp_path / "release"],
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "leaked" not in done.stderr


def test_a_query_needs_an_acknowledgement(hedge: Hedge, people: Path, tmp_path: Path) -> None:
    query = [f"duckdb://{people}/people.db", "--query", "SELECT * FROM people LIMIT 9"]
    common = ["--schema", people / "schema.yaml", "--epsilon", 1, "--out", tmp_path / "r"]
    done = hedge("publish", *query, *common)
    assert done.exit_code == 2 and "--row-wise" in done.stderr and not (tmp_path / "r").exists()
    done = hedge("check", people / "schema.yaml", "--data", *query)
    assert done.exit_code == 2 and "--row-wise" in done.stderr
    done = hedge("check", people / "schema.yaml", "--data", *query, "--row-wise")
    assert done.exit_code == 0, done.stderr
    done = hedge("publish", *query, "--row-wise", *common)
    assert done.exit_code == 0, done.stderr
    assert "acknowledged, not checked" in hedge("show", tmp_path / "r").stdout
    assert "acknowledged" in hedge("verify", tmp_path / "r").stdout
    done = hedge("report", tmp_path / "r", "--out", tmp_path / "r.html")
    assert done.exit_code == 0, done.stderr
    assert "came from a database query" in (tmp_path / "r.html").read_text(encoding="utf-8")
    for words in ([people / "people.csv"], [query[0], "--table", "people"]):
        done = hedge("publish", *words, "--row-wise", *common, "--overwrite")
        assert done.exit_code == 2 and "--row-wise" in done.stderr


def test_an_empty_input(hedge: Hedge, people: Path, tmp_path: Path) -> None:
    head = (people / "people.csv").read_text(encoding="utf-8").splitlines()[0]
    (tmp_path / "none.csv").write_text(head + "\n", encoding="utf-8")
    words = [tmp_path / "none.csv", "--schema", people / "schema.yaml", "--epsilon", 1]
    done = hedge("publish", *words, "--out", tmp_path / "r")
    assert done.exit_code == 4 and "no records" in done.stderr and "--allow-empty" in done.stderr
    check = ["check", people / "schema.yaml", "--data", tmp_path / "none.csv"]
    assert hedge(*check).exit_code == 4 and hedge(*check, "--allow-empty").exit_code == 0
    done = hedge("publish", *words, "--out", tmp_path / "r", "--allow-empty")
    assert done.exit_code == 0, done.stderr


def test_a_cluster(people: Path, hedge: Hedge, tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    expected = table(hedge, people, tmp_path / "memory", people / "parts")
    # on one core, for there is a worker for each
    program = (
        "import os, sys\n"
        "if hasattr(os, 'sched_setaffinity'):\n"
        "    os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])\n"
        "from hedgerow.__main__ import main\n"
        "if __name__ == '__main__': main()\n"
    )
    (tmp_path / "command.py").write_text(program, encoding="utf-8")
    words = ["publish", people / "parts", "--engine", "dask", "--schema", people / "schema.yaml"]
    words += ["--epsilon", 1, "--seed", 3, "--out", tmp_path / "dask"]
    done = subprocess.run(
        [sys.executable, tmp_path / "command.py", *map(str, words)], capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "dask" / "measurements.parquet").read_bytes() == expected


def test_postgres(postgres: str, people: Path, hedge: Hedge, tmp_path: Path) -> None:
    from adbc_driver_postgresql import dbapi

    with dbapi.connect(postgres) as connection, connection.cursor() as cursor:
        cursor.adbc_ingest("people", sample.people(900, seed=5), mode="replace")
        connection.commit()
    expected = table(hedge, people, tmp_path / "csv", people / "people.csv")
    found = table(hedge, people, tmp_path / "pg", postgres, "--table", "people")
    assert found == expected
    for path in (tmp_path / "pg").rglob("*.*"):
        content = path.read_bytes()
        assert b"steward" not in content and b"hedge%20" not in content
    done = hedge("check", people / "schema.yaml", "--data", postgres, "--table", "people")
    assert done.exit_code == 0 and "follows the schema" in done.stdout
    for words in (["--table", "nothing"], ["--query", "SELECT"], []):
        done = hedge(
            "publish", postgres, "--schema", people / "schema.yaml", "--epsilon", 1, "--out",
            tmp_path / "no", *words,
        )  # fmt: skip
        assert done.exit_code in (2, 4) and not (tmp_path / "no").exists()
        assert "steward" not in done.stderr and "hedge%20" not in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--memory", "much"], "no amount of memory"),
        (["--memory", "10MB"], "at least"),
        (["--scratch", "/no/such/folder"], "no such folder"),
        (["--engine", "memory", "--scheduler", "tcp://127.0.0.1:1"], "Dask engine alone"),
        (["--engine", "dask"], "reads Parquet"),
        (["--table", "people"], "for databases"),
    ],
)
def test_settings_that_cannot_be_meant(
    hedge: Hedge, people: Path, tmp_path: Path, words: list[str], said: str
) -> None:
    done = hedge(
        "publish", people / "people.csv", "--schema", people / "schema.yaml", "--epsilon", 1,
        "--out", tmp_path / "r", *words,
    )  # fmt: skip
    assert done.exit_code == 2 and said in done.stderr, done.stderr
    assert not (tmp_path / "r").exists()


def test_no_scheduler(
    hedge: Hedge, people: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr("hedgerow.counting.cluster.PATIENCE", 1)
    done = hedge(
        "publish", people / "parts", "--schema", people / "schema.yaml", "--epsilon", 1,
        "--out", tmp_path / "r", "--scheduler", "tcp://127.0.0.1:1", "--json",
    )  # fmt: skip
    error = json.loads(done.stderr)["error"]
    assert done.exit_code == 2 and "no Dask scheduler" in error["message"]


@pytest.mark.skipif(os.name == "nt", reason="sends a POSIX signal")
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGKILL"])
@pytest.mark.parametrize("when", ["fill", "split"])
def test_nothing_is_left_in_the_scratch_folder(
    child: Callable[..., tuple[int, str, str]], people: Path, tmp_path: Path, name: str, when: str
) -> None:
    """Rows lie on disk when the signal comes, and yet there is no file then or afterwards."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    program = (
        "import signal, hedgerow.cli\n"
        "from hedgerow.counting import streamed\n"
        "tiny = streamed.Memory(chunk=1000, rows=0, bounds=0, batch=3000)\n"
        "streamed.Memory.of = lambda *_: tiny\n"
        f"usual = streamed.StreamedEngine.{when}\n"
        "def stop(self, *rest):\n"
        "    usual(self, *rest)\n"
        f"    assert self.bytes_on_disk and not os.listdir({str(scratch)!r})\n"
        f"    os.kill(os.getpid(), signal.{name})\n"
        f"streamed.StreamedEngine.{when} = stop\n"
        "hedgerow.cli.main()"
    )
    words = ["publish", people / "parts", "--schema", people / "schema.yaml", "--epsilon", 1]
    words += ["--out", tmp_path / "r", "--engine", "streamed", "--scratch", scratch]
    words += ["--method", "diffmulti"] if when == "split" else []  # only regions are divided
    code, _, told = child(program, *words)
    number = int(getattr(signal, name))
    assert code == (-number if name == "SIGKILL" else 128 + number), told
    assert list(scratch.iterdir()) == [] and not (tmp_path / "r").exists()


def test_a_duckdb_file_is_named_by_its_address(hedge, survey, tmp_path) -> None:
    done = hedge("publish", "clinic.duckdb", "--table", "people", "--schema",
                 survey / "schema.yaml", "--epsilon", 1, "--out", tmp_path / "r")  # fmt: skip
    assert done.exit_code == 2 and "duckdb:///clinic.duckdb" in done.stderr
