"""Beyond memory, beyond one machine: simulated rows like Adult's, from Parquet to a release.

    python benchmarks/scale.py [--rows 1000000 10000000] [--dask-rows 20000000] [--kills 20]
                               [--folder DIR] [--quick]

DiffMulti with 10,000 specializations. Every run is a process of its own, so that its peak memory
is its own. CPU seconds count all threads and workers. Rows are written to a temporary folder first:
about 10 bytes each.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

sys.path.insert(0, str(Path(__file__).parent))

from data import ADULT_SCHEMA as SCHEMA

GROUP = 1_000_000
SIZE, PATHS = 10_000, 63  # specializations, and the authors' cap on those along one path


def write_rows(folder: Path, rows: int) -> None:
    """Simulated rows, a file for every ten million; small groups, one for each worker."""
    import hedgerow as hr

    schema = hr.Schema.load(SCHEMA)
    folder.mkdir(parents=True)
    writer: Any = None
    for first in range(0, rows, GROUP):
        block = _block(schema, min(GROUP, rows - first), seed=first // GROUP)
        if first % (10 * GROUP) == 0:
            if writer is not None:
                writer.close()
            writer = pq.ParquetWriter(folder / f"{first // GROUP:05}.parquet", block.schema)
        writer.write_table(block, row_group_size=min(GROUP, -(-rows // 10)))
    writer.close()


def _block(schema: Any, rows: int, seed: int) -> pa.Table:
    """Skewed values; the class leans on age, education and hours, as people's incomes do."""
    source = np.random.default_rng(seed)
    columns, lean = {}, np.zeros(rows, dtype=np.float32)
    for attribute in schema.attributes:
        place = source.random(rows, dtype=np.float32) ** 2
        codes = (place * attribute.size).astype(np.int32)
        if attribute.name in ("age", "education-num", "hours-per-week", "capital-gain"):
            lean += place
        if hasattr(attribute, "taxonomy"):
            leaves = pa.array(attribute.taxonomy.leaves)
            columns[attribute.name] = pa.DictionaryArray.from_arrays(pa.array(codes), leaves)
        else:
            columns[attribute.name] = pa.array(int(attribute.low) + codes * int(attribute.step))
    rich = lean + source.random(rows, dtype=np.float32) > 2.2
    columns["salary"] = pa.DictionaryArray.from_arrays(
        pa.array(rich.astype(np.int32)), pa.array(schema.classes)
    )
    return pa.table(columns)


def cpu() -> float:
    """CPU seconds of this process and of those it has waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def one(engine: str, folder: str, workers: int, memory: str) -> dict[str, Any]:
    """One run in this process, in figures."""
    import hedgerow as hr
    from hedgerow.counting.parts import RowLayout
    from hedgerow.counting.streamed import StreamedEngine

    schema = hr.Schema.load(SCHEMA)
    method = hr.DiffMulti(specializations=SIZE, depth=PATHS)
    read: list[tuple[float, float]] = []
    levels: set[str] = set()
    scratch = [0]

    def stage(words: str) -> None:
        if words.startswith("level"):
            if not read:
                read.append((time.perf_counter(), cpu()))
            levels.add(words.split(":")[0])

    usual = StreamedEngine.split

    def split(self: Any, *rest: Any) -> Any:
        found = usual(self, *rest)
        scratch[0] = max(scratch[0], self.bytes_on_disk)
        return found

    StreamedEngine.split = split  # type: ignore[method-assign]
    # compiled, or loaded from the cache, before anything is measured
    small = Path(folder).parent / "small"
    hr.publish(small, schema, method, epsilon=1, engine="memory" if engine == "dask" else engine)
    read.clear()
    levels.clear()
    settings: dict[str, Any] = {"engine": engine, "memory": memory, "stage": stage, "seed": 1}
    if engine == "dask":
        cluster = local_cluster(workers)
        hr.publish(
            small, schema, method, epsilon=1, engine="dask", scheduler=cluster.scheduler_address
        )
        settings["scheduler"] = cluster.scheduler_address
    read.clear()
    levels.clear()
    wall, own = time.perf_counter(), cpu()
    used = own + (worker_cpu(cluster) if engine == "dask" else 0)
    release = hr.publish(folder, schema, method, epsilon=1, **settings)
    wall_end, own_end = time.perf_counter(), cpu()
    used_end = own_end + (worker_cpu(cluster) if engine == "dask" else 0)
    if engine == "dask":
        cluster.close()
    layout = RowLayout.of_sizes([a.size for a in schema.attributes] + [len(schema.classes)])
    return {
        "wall": wall_end - wall,
        "driver": own_end - own,
        "cpu": used_end - used,
        "grow_wall": wall_end - read[0][0],
        "grow_cpu": cpu() - read[0][1] if engine != "dask" else None,
        "levels": len(levels),
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "scratch": scratch[0],
        "code_bytes": int(layout.width.sum()),
        "regions": release.partition.cells,
        "print": hash_of(release),
    }


def hash_of(release: Any) -> str:
    import hashlib

    with tempfile.TemporaryDirectory() as folder:
        release.save(Path(folder) / "r")
        files = sorted(one for one in (Path(folder) / "r").rglob("*") if one.is_file())
        return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:16]


def local_cluster(workers: int) -> Any:
    """Processes with the settings of those that `--engine dask` starts."""
    import dask
    from distributed import LocalCluster

    from hedgerow.counting.cluster import WORKER_SETTINGS

    with dask.config.set(WORKER_SETTINGS):
        return LocalCluster(
            n_workers=workers, threads_per_worker=1, memory_limit=0, silence_logs=50,
            dashboard_address="127.0.0.1:0",
        )  # fmt: skip


def worker_cpu(cluster: Any) -> float:
    """CPU seconds that the workers have used so far."""
    from distributed import Client

    with Client(cluster.scheduler_address, set_as_default=False) as client:
        return float(sum(client.run(time.process_time).values()))


def kills(folder: str, times: int) -> dict[str, Any]:
    """Kills a worker at a random moment, again and again; counts the runs that differ."""
    from distributed import Client

    import hedgerow as hr

    schema = hr.Schema.load(SCHEMA)
    method = hr.DiffMulti(specializations=1000, depth=20)

    def run(**settings: Any) -> str:
        return hash_of(hr.publish(folder, schema, method, epsilon=1, seed=1, **settings))

    def attempt(number: int | None) -> tuple[str, bool]:
        """One run on a cluster of its own: Dask itself does not always replace a dead worker."""
        with local_cluster(2) as cluster:
            address = cluster.scheduler_address
            with Client(address, set_as_default=False) as client:
                pids = sorted(client.run(os.getpid).values())
            start = time.perf_counter()
            if number is None:
                found = run(engine="dask", scheduler=address)
                takes.append(time.perf_counter() - start)
                return found, False
            sampler = random.Random(number)
            kill = [sampler.choice(pids), signal.SIGKILL]
            timer = threading.Timer(sampler.uniform(0, min(takes)), os.kill, kill)
            timer.start()
            found = run(engine="dask", scheduler=address)
            died = not timer.is_alive()
            timer.cancel()
            return found, died

    expected = run(engine="memory")
    takes: list[float] = []
    for _ in range(2):  # compiled, or loaded from the cache, the second time
        assert attempt(None)[0] == expected
    found = []
    while sum(died for _, died in found) < times:  # a run may be over before its kill comes
        found.append(attempt(len(found)))
    return {
        "killed": sum(died for _, died in found),
        "differ": sum(made != expected for made, _ in found),
    }


def child(*words: object) -> dict[str, Any]:
    """Runs a part of this script in a process of its own."""
    done = subprocess.run(
        [sys.executable, __file__, *map(str, words)], stdout=subprocess.PIPE, text=True, check=True
    )
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def show(what: str, value: str, goal: str = "") -> None:
    print(f"{what:<66} {value:>18}   {goal}", flush=True)


def compare_engines(folder: Path, sizes: list[int], how: list[str]) -> None:
    reference = None
    for rows in sizes:
        found = child("--one", "streamed", folder / str(rows), *how)
        per_level = found["grow_cpu"] / rows / found["levels"] * 1e9
        show(f"{rows:,} rows streamed: wall", f"{found['wall']:.1f} s")
        show("  rows a second, reading and growing", f"{rows / found['wall']:,.0f}", "linear")
        show("  CPU", f"{found['cpu']:.1f} s")
        show("  peak memory", f"{found['peak_mb']:.0f} MB", "under 2,000 MB")
        codes = rows * found["code_bytes"]
        show(
            "  scratch on disk, in bytes of the codes",
            f"{found['scratch'] / codes:.2f}",
            "at most 2",
        )
        show(f"  CPU a row and level ({found['levels']} levels)", f"{per_level:.1f} ns")
        if rows <= 10_000_000:
            base = child("--one", "memory", folder / str(rows), *how)
            show("  in memory: CPU, peak", f"{base['cpu']:.1f} s, {base['peak_mb']:.0f} MB")
            reference = base["grow_cpu"] / rows / base["levels"] * 1e9
            show("  the same in memory", f"{reference:.1f} ns")
            same = "yes" if base["print"] == found["print"] else "NO"
            show("  the same release", same, "yes")
        if reference:
            show("  streamed in terms of memory", f"{per_level / reference:.2f}", "at most 3")


def compare_clusters(folder: Path, rows: int, how: list[str]) -> None:
    streamed = child("--one", "streamed", folder / str(rows), *how)
    show(f"{rows:,} rows streamed: wall, CPU", f"{streamed['wall']:.1f} s, {streamed['cpu']:.1f} s")
    walls = {}
    for workers in (1, 2):
        found = child("--one", "dask", folder / str(rows), "--workers", workers, *how)
        walls[workers] = found["wall"]
        words = f"{found['wall']:.1f} s, {found['cpu']:.1f} s"
        show(f"  Dask, workers: {workers}: wall, CPU", words)
        show("  of which in the driver: CPU", f"{found['driver']:.1f} s")
        ratio = found["cpu"] / streamed["cpu"]
        show("  CPU in terms of streamed", f"{ratio:.2f}", "at most 1.3")
        show("  the same release", "yes" if found["print"] == streamed["print"] else "NO", "yes")
    show("  two workers in terms of one", f"{walls[1] / walls[2]:.2f}", "at least 1.6")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", type=int, nargs="*", default=[1_000_000, 10_000_000, 100_000_000])
    parser.add_argument("--dask-rows", type=int, default=20_000_000)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--folder", help="where rows are written; a temporary folder by default")
    parser.add_argument("--memory", default="2GB")
    parser.add_argument("--quick", action="store_true", help="a million rows, two million for Dask")
    parser.add_argument("--data", help="taken for the sake of `make bench`; not needed")
    parser.add_argument("--workers", type=int, default=2, help=argparse.SUPPRESS)
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--kill", help=argparse.SUPPRESS)
    parser.add_argument("--write", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.write:
        write_rows(Path(arguments.write[0]), int(arguments.write[1]))
        print("{}")
    elif arguments.one:
        print(json.dumps(one(*arguments.one, arguments.workers, arguments.memory)))
    elif arguments.kill:
        print(json.dumps(kills(arguments.kill, arguments.kills)))
    else:
        if arguments.quick:
            arguments.rows, arguments.dask_rows, arguments.kills = [1_000_000], 2_000_000, 3
        with tempfile.TemporaryDirectory(dir=arguments.folder) as name:
            run_all(Path(name), arguments)


def run_all(folder: Path, arguments: argparse.Namespace) -> None:
    child("--write", folder / "small", 10_000)
    for rows in {*arguments.rows, arguments.dask_rows} - {0}:
        child("--write", folder / str(rows), rows)
    how = ["--memory", arguments.memory]
    compare_engines(folder, arguments.rows, how)
    if arguments.dask_rows:
        compare_clusters(folder, arguments.dask_rows, how)
    if arguments.kills:
        child("--write", folder / "kills", 500_000)
        found = child("--kill", folder / "kills", "--kills", arguments.kills)
        show(
            f"a worker killed, {found['killed']} times: releases that differ",
            str(found["differ"]),
            "0",
        )


if __name__ == "__main__":
    main()
