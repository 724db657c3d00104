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
from numpy.typing import NDArray

from hedgerow.counting import partition as work
from hedgerow.counting.crew import cores
from hedgerow.counting.domain import Domain
from hedgerow.counting.engine import Histograms, Split
from hedgerow.counting.layout import Layout
from hedgerow.counting.questions import Cells, histogram_questions
from hedgerow.counting.sealed import Sealed
from hedgerow.errors import DataError, HedgerowError, UsageError
from hedgerow.schema import Schema
from hedgerow.table import RowStream, Table
from hedgerow.table.parquet import Piece
from hedgerow.table.rules import Report

__all__ = ["ClusterEngine"]

Ints = NDArray[np.int64]
Told = Callable[[float], None]

_PATIENCE = 20  # seconds to wait for a scheduler, and for its first worker
_ROWS = 1 << 23  # of a partition, at most if row groups allow
_PER_WORKER = 4  # partitions, at least, so that none waits long for another
_MERGED = 8  # answers that one task adds up


def _silent(share: float) -> None:
    pass


class ClusterEngine:
    """Counts rows on a Dask cluster.

    Use `read` to make one, and close it at the end.

    Args:
        schema: The public schema.
        client: The connection to the cluster.
        states: The partitions, as futures.
        memory: How many bytes a batch of histograms may take in the driver.
    """

    def __init__(self, schema: Schema, client: Any, states: list[Any], memory: int) -> None:
        self.domain = Domain.of(schema)
        self._layout = Layout.of(self.domain)
        self._client = client
        self._states = states
        self._batch = memory // 4
        self._told: Told = _silent
        self._first = 0  # the number of the latest level's first node
        self._counts = np.zeros((0, self.domain.classes), dtype=np.int64)
        self._stack = ExitStack()

    @staticmethod
    def read(
        stream: RowStream, scheduler: str | None, memory: int, told: Told = _silent
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
            workers = sum(client.nthreads().values())
            names = [stream.source.names[place] for place in stream.wanted]
            parts, firsts = _grouped([_anywhere(piece) for piece in stream.source.pieces], workers)
            with _explained():
                states = client.map(
                    work.read_partition, parts, firsts, pure=False,
                    schema=stream.schema, wanted=names,
                )  # fmt: skip
                engine = ClusterEngine(stream.schema, client, states, memory)
                engine._wait(states, told)
                report = Report()
                for noted in client.gather(client.map(work.report_of, states, pure=False)):
                    report.merge(noted)
                stream.finish(report)
                engine._add_counts()
            engine._stack = stack.pop_all()
        return engine

    @staticmethod
    def of_table(table: Table, client: Any, partitions: int) -> ClusterEngine:
        """Takes the rows of a table in memory, for comparisons."""
        domain = Domain.of(table.schema)
        rows = Layout.of(domain).pack(list(table.codes.T))
        parts = np.array_split(rows, partitions)
        states = client.map(work.partition_of, parts, domain=domain, pure=False)
        engine = ClusterEngine(table.schema, client, states, 1 << 16)
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

    def watch(self, told: Told) -> None:
        """Has the share of the rows told that each pass has seen."""
        self._told = told

    def histograms(
        self,
        nodes: Ints,
        lo: NDArray[np.int32],
        hi: NDArray[np.int32],
        wanted: NDArray[np.bool_],
    ) -> Iterator[tuple[slice, Sealed[Histograms]]]:
        """See `Engine.histograms`."""
        for part, question in histogram_questions(
            nodes - self._first, self._counts[nodes].sum(axis=1), lo, hi, wanted,
            self.domain.classes, int(self._counts[0].sum()), self._batch, 2,
        ):  # fmt: skip
            with _explained():
                asked = self._send(question)
                answers = self._client.map(
                    work.count, self._states, [asked] * len(self._states), pure=False,
                    layout=self._layout,
                )  # fmt: skip
                tally = self._merged(work.merge, answers)
            yield part, Sealed(question.finish(tally))

    def split(self, split: Split) -> None:
        """See `Engine.split`."""
        with _explained():
            order = self._send((split.nodes - self._first, split))
            self._states = self._client.map(
                work.split_partition, self._states, [order] * len(self._states), pure=False,
                layout=self._layout, classes=self.domain.classes,
            )  # fmt: skip
            self._add_counts()
        self._first = split.first_child

    def class_counts(self, nodes: Ints) -> Sealed[Ints]:
        """See `Engine.class_counts`."""
        return Sealed(self._counts[nodes])

    def cell_counts(self, edges: tuple[NDArray[np.int32], ...]) -> Sealed[tuple[Ints, Ints]]:
        """See `Engine.cell_counts`."""
        with _explained():
            answers = self._client.map(
                work.count_cells, self._states, pure=False,
                layout=self._layout, edges=edges, classes=self.domain.classes,
            )  # fmt: skip
            found: Cells = self._merged(work.merge_cells, answers)
        return Sealed(found)

    def _send(self, content: Any) -> Any:
        """Sends something to the scheduler once, which can then make it again for any worker."""
        return self._client.submit(_itself, content, pure=False)

    def _add_counts(self) -> None:
        counted = self._client.map(work.class_counts, self._states, pure=False)
        self._wait(counted, self._told)
        counts = np.sum(self._client.gather(counted), axis=0)
        self._counts = np.concatenate([self._counts, counts])

    def _merged(self, merge: Callable[..., Any], answers: list[Any]) -> Any:
        """Adds up answers where they are, then those of different workers, a few at a time."""
        self._wait(answers, self._told)
        holders = self._client.who_has(answers)
        beside: dict[str, list[Any]] = {}
        for answer in answers:
            # a worker may have been lost just now: then its answers are made again elsewhere
            worker = next(iter(holders.get(answer.key, ())), "")
            beside.setdefault(worker, []).append(answer)
        pending = [
            self._client.submit(
                merge, group, pure=False, allow_other_workers=bool(worker),
                workers=[worker] if worker else None,
            )
            for worker, group in sorted(beside.items())
        ]  # fmt: skip
        while len(pending) > 1:
            groups = [pending[i : i + _MERGED] for i in range(0, len(pending), _MERGED)]
            pending = [self._client.submit(merge, group, pure=False) for group in groups]
        return pending[0].result()

    def _wait(self, futures: list[Any], told: Told) -> None:
        from distributed import as_completed

        for number, _ in enumerate(as_completed(futures, loop=self._client.loop), start=1):
            told(number / len(futures))


def _itself(content: Any) -> Any:
    return content


def _anywhere(piece: Piece) -> Piece:
    """The piece by a path that means the same in every process."""
    return piece if "://" in piece.path else replace(piece, path=os.path.abspath(piece.path))


def _grouped(pieces: Sequence[Piece], workers: int) -> tuple[list[list[Piece]], list[int]]:
    """Neighbouring pieces as partitions, and the number of each partition's first row."""
    total = sum(piece.rows for piece in pieces)
    most = min(_ROWS, -(-total // (_PER_WORKER * max(1, workers))))
    groups: list[list[Piece]] = [[]]
    firsts, size, seen = [0], 0, 0
    for piece in pieces:
        if groups[-1] and size + piece.rows > most:
            groups.append([])
            firsts.append(seen)
            size = 0
        groups[-1].append(piece)
        size += piece.rows
        seen += piece.rows
    return groups, firsts


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
            with _deaf_to_interrupts():
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
