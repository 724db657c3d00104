"""A million rows in a file: what reading, encoding and publishing take, beside DuckDB and Polars.

    python benchmarks/reading.py [--data DIR] [--quick] [--json FILE]

CPU seconds of all threads, the best of several runs, and the same in passes of np.bincount over
the rows (one class histogram of every attribute). Adult's records are copied, with values redrawn,
as in `speed.py`. DuckDB and Polars read all columns into memory and do no more.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from functools import partial
from pathlib import Path

import pyarrow.csv
import pyarrow.parquet as pq

sys.path.insert(0, str(Path(__file__).parent))

from data import ADULT_SCHEMA as SCHEMA
from data import add_data_option, adult
from hedgerow import DiffMulti, Marginals, Schema
from hedgerow.data import read
from hedgerow.data.table import RowStream
from results import Results, add_json_option
from speed import PATHS, blow_up, cpu, decoded, histogram_pass, publishing

METHODS = {
    "Marginals": Marginals(),
    "DiffMulti h = 10,000": DiffMulti(specializations=10_000, depth=PATHS),
}


def _batches(path: str, schema: Schema) -> None:
    """Reads a file as `read` does, and encodes nothing."""
    for _ in RowStream(path, schema).batches():
        pass


def _duckdb(path: str) -> None:
    import duckdb

    with duckdb.connect() as connection:
        connection.sql(f"SELECT * FROM '{path}'").to_arrow_table()


def _polars(path: str) -> None:
    import polars

    (polars.read_csv if path.endswith(".csv") else polars.read_parquet)(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    add_data_option(parser)
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows")
    add_json_option(parser)
    arguments = parser.parse_args()
    rows, times = (100_000, 2) if arguments.quick else (1_000_000, 5)
    results = Results("reading")
    schema = Schema.load(SCHEMA)
    table = blow_up(read(adult(arguments.data), schema), rows)
    one_pass = cpu(histogram_pass(table), times)

    def show(name: str, what: str, seconds: float) -> None:
        print(f"{name:<8} {what:<34} {seconds:>7.3f} s {seconds / one_pass:>7.1f} passes",
              flush=True)  # fmt: skip
        results.add(seconds, "s", name, what)
        results.add(seconds / one_pass, "passes", name, what, "in passes")

    print(f"{rows:,} rows, 14 attributes and a class; one pass {one_pass:.4f} s")
    with tempfile.TemporaryDirectory() as folder:
        frame = decoded(table)
        for name in ("parquet", "csv"):
            path = f"{folder}/people.{name}"
            if name == "csv":
                pyarrow.csv.write_csv(frame, path)
            else:
                pq.write_table(frame, path)

            def whole(method: DiffMulti | Marginals, path: str = path) -> None:
                publishing(read(path, schema), method)()

            reading = cpu(lambda path=path: _batches(path, schema), times)
            encoding = cpu(lambda path=path: read(path, schema), times) - reading
            show(name, "reading", reading)
            show(name, "encoding", encoding)
            for words, method in METHODS.items():
                whole(method)  # compiled, or loaded from the cache
                both = cpu(partial(whole, method), times)
                show(name, f"publishing, {words}", both - reading - encoding)
                show(name, f"all three, {words}", both)
                ratio = both / reading
                print(f"{name:<8} {'':<34} {ratio:>7.1f} times the reading", flush=True)
                results.add(ratio, "times", name, f"all three, {words}", "times reading")
            for other, action in (("DuckDB reading", _duckdb), ("Polars reading", _polars)):
                try:
                    show(name, other, cpu(lambda path=path, go=action: go(path), times))
                except ImportError:
                    print(f"{name:<8} {other}: not installed")
    results.write(arguments.json)


if __name__ == "__main__":
    main()
