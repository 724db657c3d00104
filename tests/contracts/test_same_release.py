"""The same seed gives the byte-identical release on every engine, for every method of tables."""

from __future__ import annotations

import os
import random
import signal
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hedgerow as hr
from hedgerow import sample
from hedgerow.counting import cluster, streamed
from hedgerow.counting.streamed import Memory
from hedgerow.methods.diffpart import DiffPart

METHODS: dict[str, dict[str, Any]] = {
    "marginals": {"method": hr.Marginals()},
    "marginals, zcdp": {"method": hr.Marginals(), "delta": "1e-9"},
    "marginals, named": {"method": hr.Marginals(pairs=3), "tables": [["age", "sex", "smoker"]]},
    "diffmulti": {"method": hr.DiffMulti()},
    "diffmulti, zcdp": {
        "method": hr.DiffMulti(specializations=60),
        "delta": "1e-9",
    },
    "diffmulti, paper": {"method": hr.DiffMulti(schedule="paper", specializations=40)},
    "diffmulti, ncp": {"method": hr.DiffMulti(score="ncp", specializations=25)},
    "diffgen": {"method": hr.DiffGen()},
    "diffgen, paper": {"method": hr.DiffGen(schedule="paper")},
    "diffgen, many cells": {"method": hr.DiffGen(specializations=17, max_cells=10**8)},
    "cdiffgen": {"method": hr.CDiffGen()},
    "cdiffgen, zcdp": {"method": hr.CDiffGen(schedule="paper"), "delta": "1e-9"},
}


def local_cluster() -> Any:
    """Two processes that only this test can reach."""
    distributed = pytest.importorskip("distributed")
    return distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, memory_limit=0, dashboard_address="127.0.0.1:0",
        silence_logs=50,
    )  # fmt: skip


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of Parquet files, of several row groups each."""
    folder = tmp_path_factory.mktemp("people")
    rows = sample.people(3000, seed=7)
    for number in range(2):
        part = rows.slice(number * 1700, 1700)
        pq.write_table(part, folder / f"part-{number}.parquet", row_group_size=400)
    return folder


@pytest.fixture(scope="module")
def scheduler(workers: None) -> Iterator[str]:
    """A cluster of two processes."""
    with local_cluster() as started:
        yield started.scheduler_address


def saved(people: Path, out: Path, **settings: Any) -> dict[str, bytes]:
    """The files of a seeded release."""
    release = hr.publish(people, sample.schema(), epsilon=1, seed=11, **settings)
    release.save(out)
    return {
        path.relative_to(out).as_posix(): path.read_bytes()
        for path in sorted(out.rglob("*"))
        if path.is_file()
    }


# which ask an engine what others of the same method ask
ALIKE = ("diffmulti, paper", "diffmulti, ncp", "diffgen, paper", "cdiffgen, zcdp")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.long] * (name in ALIKE)) for name in METHODS]
)
def test_every_engine_gives_the_same_bytes(
    name: str,
    people: Path,
    scheduler: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    settings = METHODS[name]
    expected = saved(people, tmp_path / "memory", engine="memory", **settings)
    assert expected == saved(people, tmp_path / "streamed", engine="streamed", **settings)
    if "delta" not in settings:  # how noise is drawn is not the engine's, and a cluster takes long
        on_cluster = {"engine": "dask", "scheduler": scheduler}
        assert expected == saved(people, tmp_path / "dask", **on_cluster, **settings)
    tiny = Memory(chunk=1000, rows=3000, bounds=500, batch=3000)
    monkeypatch.setattr(streamed.Memory, "of", lambda total, threads: tiny)
    assert expected == saved(people, tmp_path / "tiny", engine="streamed", **settings)


@pytest.mark.usefixtures("workers")
@pytest.mark.skipif(os.name == "nt", reason="kills a process")
@pytest.mark.parametrize(
    "method", ["diffmulti", pytest.param("diffgen", marks=pytest.mark.long)]
)  # a run of DiffGen may be over before a worker is killed
def test_a_lost_worker_changes_nothing(
    method: str, people: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker is killed between two levels and another while partitions are made again."""
    expected = saved(people, tmp_path / "memory", engine="memory", **METHODS[method])
    with local_cluster() as started:
        killed, timers = [], []

        def kill(engine: cluster.ClusterEngine) -> None:
            # a worker that is just dying does not answer, or is gone before it is killed
            pids = sorted(engine._client.run(os.getpid, on_error="ignore").values())
            with suppress(ProcessLookupError):
                if pids:
                    os.kill(pids[0], signal.SIGKILL)
                    killed.append(pids[0])

        def kill_later(engine: cluster.ClusterEngine) -> None:
            with suppress(Exception):  # the run may be over, and its cluster closed
                kill(engine)

        wait, split = cluster.ClusterEngine._wait, cluster.ClusterEngine.split
        calls = []

        def waiting(self: cluster.ClusterEngine, futures: Any, told: Any) -> None:
            calls.extend([1] if futures is not self._states else [])
            if futures is not self._states and len(calls) in (1, 4):
                # in the middle of a pass: the tasks have been sent, the answers are awaited
                timers.append(threading.Timer(0.05, kill_later, [self]))
                timers[-1].start()
            wait(self, futures, told)

        def splitting(self: cluster.ClusterEngine, order: Any) -> None:
            split(self, order)
            while order.first_child > 1 and not killed:
                kill(self)
            if order.first_child > 1 and len(killed) < 2:
                kill(self)

        monkeypatch.setattr(cluster.ClusterEngine, "_wait", waiting)
        monkeypatch.setattr(cluster.ClusterEngine, "split", splitting)
        address = started.scheduler_address
        found = saved(
            people, tmp_path / "dask", engine="dask", scheduler=address, **METHODS[method]
        )
        for timer in timers:
            timer.cancel()
            timer.join()
    assert found == expected and killed


@pytest.mark.parametrize("schedule", ["tuned", "paper"])
def test_transactions_too(
    schedule: str, scheduler: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DiffPart in memory, from scratch files and on a cluster, from text and from Parquet."""
    source = random.Random(3)
    records = [sorted(source.sample(range(1, 31), source.randint(1, 6))) for _ in range(2000)]
    text = tmp_path / "baskets.dat"
    text.write_text("".join(" ".join(map(str, r)) + "\n" for r in records), encoding="utf-8")
    lists = tmp_path / "transactions.parquet"
    pq.write_table(pa.table({"items": records}), lists, row_group_size=300)
    schema = hr.Schema.from_dict(
        {"name": "shop", "unit": "row", "items": {"universe": {"range": [1, 30]}}}
    )
    method = DiffPart(schedule=schedule)  # type: ignore[arg-type]

    def saved_items(path: Path, out: str, engine: str, **more: Any) -> dict[str, bytes]:
        release = hr.publish(path, schema, method, epsilon=1, seed=5, engine=engine, **more)
        release.save(tmp_path / out)
        return {
            file.relative_to(tmp_path / out).as_posix(): file.read_bytes()
            for file in sorted((tmp_path / out).rglob("*"))
            if file.is_file()
        }

    expected = saved_items(text, "memory", "memory")
    assert expected == saved_items(text, "streamed", "streamed")
    tiny = Memory(chunk=1000, rows=3000, bounds=500, batch=3000)
    monkeypatch.setattr(streamed.Memory, "of", lambda total, threads: tiny)
    assert expected == saved_items(text, "tiny", "streamed")
    assert expected == saved_items(lists, "lists", "streamed")
    assert expected == saved_items(lists, "dask", "dask", scheduler=scheduler)
