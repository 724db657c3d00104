"""How fast? CPU time, best of several, and ratios in one run, since machines are noisy.

    python benchmarks/speed.py [--data DIR] [--quick] [--json FILE]

Rows are made as the papers do: records of UCI Adult are copied, and some of their values are
redrawn at random from the domain.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

sys.path.insert(0, str(Path(__file__).parent))

from data import ADULT_SCHEMA as SCHEMA
from data import add_data_option, adult
from hedgerow import CDiffGen, DiffGen, DiffMulti, Schema, publish
from hedgerow.counting.engine import Domain
from hedgerow.data import Table, read
from hedgerow.evaluation import random_conjunctions, random_queries
from hedgerow.methods.api import run
from hedgerow.privacy.budget import Budget
from hedgerow.privacy.keystream import Keystream
from hedgerow.privacy.sampler import SecureSampler
from results import Results, add_json_option

PATHS = 63  # the authors' cap on specializations along one path
REDRAWN = 0.2  # the share of values that are redrawn


def cpu(action: Callable[[], object], times: int) -> float:
    """The least CPU seconds over several runs."""
    best = float("inf")
    for _ in range(times):
        start = time.process_time()
        action()
        best = min(best, time.process_time() - start)
    return best


def blow_up(table: Table, rows: int, seed: int = 0) -> Table:
    """Copies of the table's records with some values redrawn."""
    source = np.random.default_rng(seed)
    codes = table.codes[np.arange(rows) % len(table.codes)]
    for attribute, size in enumerate(Domain.of(table.schema).sizes):
        changed = source.random(rows) < REDRAWN
        codes[changed, attribute] = source.integers(0, size, int(changed.sum()))
    return Table(table.schema, codes)


def decoded(table: Table) -> pa.Table:
    """The rows behind codes, as a steward would hold them."""
    columns = {}
    attributes = [*table.schema.attributes, table.schema.target]
    for place, attribute in enumerate(attributes):
        codes = table.codes[:, place].astype(np.int64)
        if hasattr(attribute, "taxonomy"):
            leaves = pa.array(attribute.taxonomy.leaves)
            columns[attribute.name] = pa.DictionaryArray.from_arrays(
                pa.array(codes.astype(np.int32)), leaves
            ).cast(pa.string())
        else:
            columns[attribute.name] = pa.array(int(attribute.low) + codes * int(attribute.step))
    return pa.table(columns)


def publishing(table: Table, method: Any) -> Callable[[], object]:
    return lambda: run(table, method, Budget.of(1), SecureSampler(Keystream()))


def histogram_pass(table: Table) -> Callable[[], object]:
    """One class histogram of every attribute by np.bincount; the keys are made beforehand."""
    classes = len(table.schema.classes)
    sizes = Domain.of(table.schema).sizes
    keys = [
        table.codes[:, a].astype(np.int64) * classes + table.codes[:, -1] for a in range(len(sizes))
    ]
    return lambda: [
        np.bincount(key, minlength=int(size) * classes)
        for key, size in zip(keys, sizes, strict=True)
    ]


def command(arguments: list[str], **environment: str) -> tuple[float, float, float]:
    """CPU seconds, wall seconds and peak MB of one command.

    A small process in between starts it: a child's peak memory begins at its parent's.
    """
    script = (
        "import json, resource, subprocess, sys, time\n"
        "start = time.perf_counter()\n"
        "subprocess.run(sys.argv[1:], check=True, capture_output=True)\n"
        "used = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
        "wall = time.perf_counter() - start\n"
        "print(json.dumps([used.ru_utime + used.ru_stime, wall, used.ru_maxrss / 1024]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        check=True, capture_output=True, text=True, env=os.environ | environment,
    )  # fmt: skip
    seconds, wall, peak = json.loads(done.stdout)
    return seconds, wall, peak


def show(results: Results, what: str, value: float, form: str, goal: str = "") -> None:
    """Prints a figure and notes it; its form is that of the number and, after a space, a unit."""
    number, _, unit = form.partition(" ")
    results.add(value, unit, what.strip())
    print(f"{what:<66} {f'{value:{number}} {unit}':>18}   {goal}", flush=True)


def marginals(results: Results, rows: pa.Table, schema: Schema) -> None:
    """The default: publishing and drawing rows, and many counts with their intervals."""
    queries = random_conjunctions(schema, 100_000, (2, 4), seed=1)
    publish(rows.slice(0, 2000), schema, epsilon=1, seed=1).count(queries[:10])  # compiled
    for delta in ("0", "1e-6"):
        made = []

        def drawn(delta: str = delta, made: list[Any] = made) -> None:
            release = publish(rows, schema, epsilon=1, delta=delta, seed=1)
            release.synthesize(len(rows), seed=1)
            made[:] = [release]

        name = f"45,222 rows: Marginals, delta {delta}, publishing and drawing"
        show(results, name, cpu(drawn, 2), ".2f s", "at most 3 s")
        seconds = cpu(lambda made=made: made[0].count(queries), 1)
        name = f"  delta {delta}: 100,000 counts and their intervals"
        show(results, name, seconds, ".2f s", "at most 5 s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    add_data_option(parser)
    parser.add_argument("--quick", action="store_true", help="fewer repetitions, no 10M rows")
    add_json_option(parser)
    arguments = parser.parse_args()
    results = Results("speed")
    times = 2 if arguments.quick else 5

    schema = Schema.load(SCHEMA)
    raw = read(adult(arguments.data), schema)
    million = blow_up(raw, 1_000_000)
    for method in (DiffMulti(specializations=100), DiffGen(specializations=4)):
        publishing(raw, method)()  # compiled, or loaded from the cache

    one_pass = cpu(histogram_pass(million), times)
    grown = cpu(publishing(million, DiffMulti(specializations=10_000, depth=PATHS)), times)
    show(results, "1M rows, 14 attributes: one np.bincount pass", one_pass, ".4f s")
    show(
        results,
        "  DiffMulti h = 10,000, growing and publishing",
        grown,
        ".2f s",
        "authors' C++: 11 s",
    )
    show(results, "  in passes", grown / one_pass, ".1f passes", "at most 40")
    for schedule in ("tuned", "paper"):
        method = DiffGen(score="max", specializations=15, schedule=schedule)
        seconds = cpu(publishing(million, method), times)
        show(results, f"  DiffGen Max h = 15, {schedule}", seconds, ".2f s", "authors' C++: 21 s")
    seconds = cpu(publishing(raw, DiffMulti(specializations=100_000, depth=PATHS)), times)
    goal = "under 2 s (authors': 4.2 s)"
    show(results, "45,222 rows: DiffMulti h = 100,000", seconds, ".2f s", goal)
    marginals(results, adult(arguments.data), schema)

    sizes = [100_000, 1_000_000] if arguments.quick else [100_000, 1_000_000, 10_000_000]
    for rows in sizes:
        table = million if rows == 1_000_000 else blow_up(raw, rows)
        seconds = cpu(publishing(table, DiffMulti(specializations=10_000, depth=PATHS)), 2)
        what = f"{rows:,} rows: DiffMulti h = 10,000"
        show(results, what, seconds / rows * 1e6, ".2f us/row", "linear")
        del table

    queries = random_queries(schema, 100_000, attributes=3, selectivity=0.1, seed=1)
    for method in (
        DiffMulti(specializations=10_000, depth=40),
        CDiffGen(score="max", specializations=13),
    ):
        release = publish(adult(arguments.data), schema, method, epsilon=1)
        release.count(queries[:10])  # compiled, or loaded from the cache
        seconds = cpu(lambda release=release: release.count(queries), 1)
        what = f"100,000 queries on {method.name}'s regions"
        goal = f"seconds; {release.partition.cells:,} regions"
        show(results, what, seconds, ".1f s", goal)

    hedgerow = [sys.executable, "-m", "hedgerow"]
    with tempfile.TemporaryDirectory() as folder:
        pq.write_table(decoded(million), f"{folder}/people.parquet")
        whole = [*hedgerow, "publish", f"{folder}/people.parquet", "--schema", str(SCHEMA)]
        whole += ["--epsilon", "1", "--overwrite"]
        found = [command([*whole, "--out", f"{folder}/release"]) for _ in range(times)]
        seconds, _, peak = min(found)
        what = "the whole command, 1M rows in Parquet to a release"
        show(results, what, seconds, ".2f s", "at most 4 s")
        show(results, "  its peak memory", peak, ".0f MB", "at most 700 MB")
        subprocess.run([sys.executable, "-m", "hedgerow.sample", folder], check=True, stdout=-3)
        demo = [*hedgerow, "publish", f"{folder}/people.csv", "--schema", f"{folder}/schema.yaml"]
        demo += ["--epsilon", "1", "--overwrite", "--out", f"{folder}/demo"]
        cache = {"NUMBA_CACHE_DIR": f"{folder}/cache"}
        _, first, _ = command(demo, **cache)
        _, later, _ = command(demo, **cache)
        show(results, "the demo's publish, first run ever (wall)", first, ".1f s", "at most 20 s")
        show(results, "  later runs (wall)", later, ".1f s", "at most 3 s")
    results.write(arguments.json)


if __name__ == "__main__":
    main()
