"""The Dask engine: workers count where the data is, the driver adds up (and draws all noise).

Rows stay in the workers' memory as partitions (see `partition`); what moves is questions, splits
and counts. When a worker is lost, Dask makes its partitions again from the files and the splits.
"""

from __future__ import annotations

import logging
import os
import pydoc
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from hedgerow.arrays import Bools, Ints, Small
from hedgerow.counting import partition as work
from hedgerow.counting.engine import Domain, Histograms, Split
from hedgerow.counting.layout import Layout
from hedgerow.counting.sealed import Sealed
from hedgerow.counting.sums import RowSums
from hedgerow.counting.tallies import Cells, histogram_questions
from hedgerow.counting.threads import cores
from hedgerow.errors import DataError, HedgerowError, UsageError
from hedgerow.schema import Schema
from hedgerow.table import RowStream, Table
from hedgerow.table.parquet import Piece
from hedgerow.table.rules import Report
from hedgerow.table.source import Progress, silent

__all__ = ["WORKER_SETTINGS", "ClusterEngine"]


_PATIENCE = 20  # seconds to wait for a scheduler, and for its first worker
_REACH = 3  # seconds to wait for a worker that may be behind a wall
_ROWS = 1 << 23  # of a partition, at most if row groups allow
_PER_THREAD = 2  # partitions, at least: one of them is there twice while it is split
_MERGED = 8  # answers that one task adds up
_TAKEN = 2  # answers that the driver adds up itself


# Dask has a worker give every freed piece of memory back, so that the system has to clear it again
# for the next one: that takes a third of the time of reading. These are for processes on Linux.
_ENVIRONMENT = "distributed.nanny.pre-spawn-environ"
WORKER_SETTINGS = {
    f"{_ENVIRONMENT}.MALLOC_TRIM_THRESHOLD_": 1 << 24,
    f"{_ENVIRONMENT}.MALLOC_MMAP_THRESHOLD_": 1 << 22,
}


class ClusterEngine:
    """Counts rows on a Dask cluster.

    Use `read` to make one, and close it at the end.

    Args:
        schema: The public schema.
        client: The connection to the cluster.
        memory: How many bytes a batch of histograms may take in the driver.
    """

    def __init__(self, schema: Schema, client: Any, memory: int) -> None:
        self.domain = Domain.of(schema)
        self._layout = Layout.of(self.domain)
        self._client = client
        self._threads: dict[str, int] = client.nthreads()  # of each worker
        self._direct = _reachable(client, [*self._threads])
        self._states: list[Any] = []  # the partitions, as futures
        self._beside: list[tuple[str, list[int]]] = []  # which of them each worker has
        self._batch = memory // 4
        self._told: Progress = silent
        self._first = 0  # the number of the latest level's first node
        self._counts = np.zeros((0, self.domain.classes), dtype=np.int64)
        self._stack = ExitStack()

    @staticmethod
    def read(
        stream: RowStream, scheduler: str | None, memory: int, told: Progress = silent
    ) -> ClusterEngine:
        """Has the workers read all rows; refuses what breaks the schema when all were seen.

        Args:
            stream: The input, in Parquet files that the workers can open too.
            scheduler: The address of a scheduler, or None for processes on this machine.
            memory: How many bytes the driver may take, about.
            told: Called with the share of the input that has been read.
        """
        _check_input(stream)
        with ExitStack() as stack:
            client = stack.enter_context(_connected(scheduler))
            engine = ClusterEngine(stream.schema, client, memory)
            names = [stream.source.names[place] for place in stream.wanted]
            parts, firsts = _grouped(
                [_anywhere(piece) for piece in stream.source.pieces], sum(engine._threads.values())
            )
            with _explained():
                engine._states = client.map(
                    work.read_partition, parts, firsts, pure=False,
                    schema=stream.schema, wanted=names,
                )  # fmt: skip
                engine._wait(engine._states, told)
                engine._look()
                report = Report()
                for noted in client.gather(client.map(work.report_of, engine._states, pure=False)):
                    report.merge(noted)
                stream.empty = not any(piece.rows for piece in stream.source.pieces)
                stream.finish(report)
                engine._add_counts()
            engine._stack = stack.pop_all()
        return engine

    @staticmethod
    def of_table(table: Table, client: Any, partitions: int) -> ClusterEngine:
        """Takes the rows of a table in memory, for comparisons."""
        engine = ClusterEngine(table.schema, client, 1 << 16)
        rows = engine._layout.pack(list(table.codes.T))
        engine._states = client.map(
            work.partition_of, np.array_split(rows, partitions), domain=engine.domain, pure=False
        )
        engine._wait(engine._states, silent)
        engine._look()
        engine._add_counts()
        return engine

    def __enter__(self) -> ClusterEngine:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Has the workers forget the rows, and ends processes that were started for them."""
        self._states = []
        self._stack.close()

    def watch(self, told: Progress) -> None:
        """Has the share of the rows told that each pass has seen."""
        self._told = told

    def histograms(
        self,
        nodes: Ints,
        lo: Small,
        hi: Small,
        wanted: Bools,
    ) -> Iterator[tuple[slice, Sealed[Histograms]]]:
        """See `Engine.histograms`."""
        for part, question in histogram_questions(
            nodes - self._first, self._counts[nodes].sum(axis=1), lo, hi, wanted,
            self.domain.classes, int(self._counts[0].sum()), self._batch, _TAKEN + 1,
        ):  # fmt: skip
            with _explained():
                tally = self._asked(work.count, work.merge, question=question, layout=self._layout)
            yield part, Sealed(question.finish(tally))

    def split(self, split: Split) -> None:
        """See `Engine.split`."""
        with _explained():
            # Each task carries the split: sent as a value of its own it would lie on some workers,
            # and Dask would move rows there.
            order = (split.nodes - self._first, split)
            self._states = self._client.map(
                work.split_partition, self._states, [order] * len(self._states), pure=False,
                layout=self._layout, classes=self.domain.classes,
            )  # fmt: skip
            self._add_counts()
        self._first = split.first_child

    def class_counts(self, nodes: Ints) -> Sealed[Ints]:
        """See `Engine.class_counts`."""
        return Sealed(self._counts[nodes])

    def cell_counts(self, edges: tuple[Small, ...]) -> Sealed[tuple[Ints, Ints]]:
        """See `Engine.cell_counts`."""
        with _explained():
            found: Cells = self._asked(
                work.count_cells, work.merge_cells, layout=self._layout, edges=edges,
                classes=self.domain.classes,
            )  # fmt: skip
        return Sealed(found)

    def sums(self, question: RowSums) -> Sealed[Ints]:
        """See `Engine.sums`."""
        with _explained():
            total: Ints = self._asked(
                work.sum_rows, work.merge_counts, layout=self._layout, question=question
            )
        return Sealed(total)

    def _look(self) -> None:
        """Notes which partitions lie side by side.

        A question about them then goes where they are, since that is the cheapest. Dask could also
        be told so, but it would forget such a task if all workers were lost at once.
        """
        holders = self._client.who_has(self._states)
        beside: dict[str, list[int]] = {}
        for place, state in enumerate(self._states):
            # a worker may have been lost just now: then its partitions are made again elsewhere
            beside.setdefault(min(holders.get(state.key, ()), default=""), []).append(place)
        self._beside = sorted(beside.items())
        if not self._threads.keys() >= beside.keys() - {""}:
            self._threads = self._client.nthreads()

    def _add_counts(self) -> None:
        counts = self._asked(work.class_counts, work.merge_counts)
        self._counts = np.concatenate([self._counts, counts])
        self._look()

    def _asked(self, ask: Callable[..., Any], merge: Callable[..., Any], **question: Any) -> Any:
        """Asks each worker once about all its partitions, and adds up the answers."""
        answers = [
            self._client.submit(
                ask, [self._states[place] for place in places], pure=False,
                threads=self._threads.get(worker, 1), **question,
            )
            for worker, places in self._beside
        ]  # fmt: skip
        return self._merged(merge, answers)

    def _merged(self, merge: Callable[..., Any], answers: list[Any]) -> Any:
        """Adds up the answers of different workers, a few at a time."""
        pending = answers
        while len(pending) > _TAKEN:
            groups = [pending[i : i + _MERGED] for i in range(0, len(pending), _MERGED)]
            pending = [self._client.submit(merge, group, pure=False) for group in groups]
        self._wait(answers, self._told)
        return merge(self._client.gather(pending, direct=self._direct))

    def _wait(self, futures: list[Any], told: Progress) -> None:
        from distributed import as_completed

        for number, _ in enumerate(as_completed(futures, loop=self._client.loop), start=1):
            told(number / len(futures))


def _anywhere(piece: Piece) -> Piece:
    """The piece by a path that means the same in every process."""
    return piece if "://" in piece.path else replace(piece, path=os.path.abspath(piece.path))


def _grouped(pieces: Sequence[Piece], threads: int) -> tuple[list[list[Piece]], list[int]]:
    """Neighbouring pieces as partitions of equal size, about, and each one's first row."""
    total = sum(piece.rows for piece in pieces)
    number = _PER_THREAD * max(1, threads)
    number *= max(1, -(-total // (number * _ROWS)))
    groups: list[list[Piece]] = []
    firsts, seen, latest = [], 0, -1
    for piece in pieces:
        turn = (2 * seen + piece.rows) * number // (2 * total) if total else 0
        if turn != latest:
            groups.append([])
            firsts.append(seen)
            latest = turn
        groups[-1].append(piece)
        seen += piece.rows
    return groups or [[]], firsts or [0]


def _check_input(stream: RowStream) -> None:
    if not stream.source.pieces:
        raise UsageError(
            f"{stream.source.what}: the Dask engine reads Parquet files",
            hint="Write the table to Parquet files where all workers can open them, or take the "
            "engine streamed.",
        )
    if stream.schema.person is not None:
        raise UsageError(
            "The Dask engine cannot cap the rows of a person, which may lie on any worker.",
            hint="Take the engine streamed, or keep at most max_rows rows of each person in the "
            "data and leave the person column out.",
        )


@contextmanager
def _connected(scheduler: str | None) -> Iterator[Any]:
    """A connection to a cluster whose workers have been looked at."""
    try:
        import dask
        from distributed import Client, LocalCluster
    except ImportError:
        raise UsageError(
            "The Dask engine needs the package distributed.",
            hint="Install it with: pip install 'hedgerow[dask]'.",
        ) from None
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # it quotes what failed
    with ExitStack() as stack:
        where: Any = scheduler
        if scheduler is None:
            # Without a limit nothing is spilled to files, which a crash would leave behind; and
            # with keys of this run alone no other user of the machine can talk to the workers.
            with _deaf_to_interrupts(), dask.config.set(WORKER_SETTINGS):
                started = LocalCluster(
                    n_workers=cores(), threads_per_worker=1, processes=True, memory_limit=0,
                    host="127.0.0.1", dashboard_address="127.0.0.1:0", security=True,
                    silence_logs=logging.CRITICAL,
                )  # fmt: skip
            where = stack.enter_context(started)
        try:
            client = stack.enter_context(Client(where, timeout=_PATIENCE, set_as_default=False))
        except (OSError, TimeoutError, ValueError, TypeError):
            raise UsageError(
                f"there is no Dask scheduler at {scheduler}",
                hint="Check the address, such as tcp://10.0.0.5:8786, and that it is running.",
            ) from None
        _check_workers(client)
        yield client


def _reachable(client: Any, workers: Sequence[str]) -> bool:
    """Whether answers can be fetched from workers: by way of the scheduler it takes far longer."""
    from distributed.comm.core import connect

    async def answers(address: str) -> bool:
        try:
            line = await connect(address, timeout=_REACH, **client.connection_args)
        except (OSError, TimeoutError):
            return False
        line.abort()
        return True

    return bool(workers) and bool(client.sync(answers, workers[0]))


@contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """Processes that are started here do not hear Ctrl-C, which a terminal sends to all.

    The driver hears it and ends them; they would only print where they were.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    usual = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)


def _check_workers(client: Any) -> None:
    """Refuses a cluster on which hedgerow is missing or another one."""
    from hedgerow import __version__

    try:
        client.wait_for_workers(1, timeout=_PATIENCE)
    except TimeoutError:
        raise UsageError(
            "the Dask scheduler has no workers", hint="Start some: dask worker ADDRESS."
        ) from None
    # A function of Python's own, so that a worker without hedgerow can answer too.
    found = client.run(pydoc.locate, "hedgerow.__version__", on_error="return")
    for worker, version in found.items():
        if version != __version__:
            known = isinstance(version, str)
            what = f"has hedgerow {version}" if known else "has no hedgerow that can be loaded"
            raise UsageError(
                f"the worker {worker} {what}; here it is {__version__}",
                hint=f"Install hedgerow[dask] {__version__} for all workers.",
            )


@contextmanager
def _explained() -> Iterator[None]:
    """Tells what a cluster could not do in our words; its own may quote a record."""
    from distributed import KilledWorker
    from distributed.client import FutureCancelledError

    try:
        yield
    except HedgerowError:
        raise
    except KilledWorker:
        raise DataError(
            "workers of the cluster died again and again",
            hint="Give them more memory, or start more of them. Rows stay in their memory.",
        ) from None
    except (FutureCancelledError, OSError, TimeoutError) as error:
        raise DataError(
            f"the connection to the cluster was lost ({type(error).__name__})",
            hint="Nothing was released. Look at the scheduler, and run it again.",
        ) from None
