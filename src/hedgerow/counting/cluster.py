"""The Dask engines: workers count where the data is, the driver adds up (and draws all noise).

Records stay in the workers' memory as partitions; what moves is questions, splits and counts. A
partition is never changed: a split makes a new one from the old. So Dask can make any of them again
from the files and the splits, when the worker that had it is lost.
"""

from __future__ import annotations

import logging
import os
import pydoc
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from copy import copy
from dataclasses import replace
from itertools import pairwise
from operator import attrgetter
from typing import Any, TypeVar

import numpy as np

from hedgerow.compiled import cores
from hedgerow.counting.engine import Domain
from hedgerow.counting.items import ItemEngine, ItemPart
from hedgerow.counting.parts import Crew, Engine, Part, Parted, RowLayout, RowPart, sum_counts
from hedgerow.data import RowStream
from hedgerow.data.lookup import items_of
from hedgerow.data.parquet import Piece, read_piece
from hedgerow.data.source import Progress, silent
from hedgerow.data.table import Report, encode_columns
from hedgerow.data.transactions import Records, open_pieces
from hedgerow.errors import DataError, HedgerowError, UsageError
from hedgerow.schema import Schema
from hedgerow.surroundings import shield_processes

T = TypeVar("T")

# The connection to a Dask cluster: refused in our words, and closed whatever happens.


PATIENCE = 20  # seconds to wait for a scheduler, and for its first worker
_NEAR = 3  # seconds to wait for a worker that may be behind a wall

# Dask has a worker give every freed piece of memory back, so that the system has to clear it again
# for the next one: that takes a third of the time of reading. These are for processes on Linux.
_ENVIRONMENT = "distributed.nanny.pre-spawn-environ"
WORKER_SETTINGS = {
    f"{_ENVIRONMENT}.MALLOC_TRIM_THRESHOLD_": 1 << 24,
    f"{_ENVIRONMENT}.MALLOC_MMAP_THRESHOLD_": 1 << 22,
}


@contextmanager
def connect(scheduler: str | None) -> Iterator[Any]:
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
            shield_processes()
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
            client = stack.enter_context(Client(where, timeout=PATIENCE, set_as_default=False))
        except (OSError, TimeoutError, ValueError, TypeError):
            raise UsageError(
                f"there is no Dask scheduler at {scheduler}",
                hint="Check the address, such as tcp://10.0.0.5:8786, and that it is running.",
            ) from None
        check_workers(client)
        yield client


def reachable(client: Any, workers: Sequence[str]) -> bool:
    """Whether answers can be fetched from workers: by way of the scheduler it takes far longer."""
    from distributed.comm.core import connect

    async def answers(address: str) -> bool:
        try:
            line = await connect(address, timeout=_NEAR, **client.connection_args)
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


def check_workers(client: Any) -> None:
    """Refuses a cluster on which hedgerow is missing or another one."""
    from hedgerow import __version__

    try:
        client.wait_for_workers(1, timeout=PATIENCE)
    except TimeoutError:
        raise UsageError(
            "the Dask scheduler has no workers", hint="Start some: dask worker ADDRESS."
        ) from None
    # A function of Python's own, so that a worker without hedgerow can answer too.
    versions = client.run(pydoc.locate, "hedgerow.__version__", on_error="return")
    for worker, version in versions.items():
        if version != __version__:
            known = isinstance(version, str)
            what = f"has hedgerow {version}" if known else "has no hedgerow that can be loaded"
            raise UsageError(
                f"the worker {worker} {what}; here it is {__version__}",
                hint=f"Install hedgerow[dask] {__version__} for all workers.",
            )


@contextmanager
def explain_failures() -> Iterator[None]:
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


# Partitions of the data on the workers of a cluster, and how all of them are asked.


_ROWS = 1 << 23  # of a partition, at most if row groups allow
_PER_THREAD = 2  # partitions, at least: one of them is there twice while it is split
_MERGED = 8  # answers that one task adds up
TAKEN = 2  # answers that the driver adds up itself


class Workers(Parted):
    """The partitions of one run, as futures.

    Args:
        client: The connection to the cluster.
    """

    def __init__(self, client: Any) -> None:
        self._client = client
        self._threads: dict[str, int] = client.nthreads()  # of each worker
        self._direct = reachable(client, [*self._threads])
        self._states: list[Any] = []  # the partitions, as futures
        self._beside: list[tuple[str, list[int]]] = []  # which of them each worker has
        self._stack = ExitStack()

    def close(self) -> None:
        """Has the workers forget the data, and ends processes that were started for them."""
        self._states = []
        self._stack.close()

    def _read(
        self, pieces: Sequence[Piece], read: Callable[..., Any], told: Progress, **how: Any
    ) -> None:
        """Has the workers read all pieces; `read` takes some of them and the first one's number."""
        # by paths that mean the same in every process
        anywhere = [
            piece if "://" in piece.path else replace(piece, path=os.path.abspath(piece.path))
            for piece in pieces
        ]
        parts, firsts = group_pieces(anywhere, sum(self._threads.values()))
        self._start(read, parts, firsts, told=told, **how)

    def _start(
        self, make: Callable[..., Any], *each: Sequence[Any], told: Progress = silent, **how: Any
    ) -> None:
        """Makes the partitions, one from each of some values."""
        self._states = self._client.map(make, *each, pure=False, **how)
        self._wait(self._states, told)
        self._look()

    @explain_failures()
    def _change(self, change: Callable[[Any], T], add: Callable[[Sequence[T]], T], none: T) -> T:
        """Makes each partition anew from the old one.

        Each task carries the order: sent as a value of its own it would lie on some workers, and
        Dask would move records there.
        """
        orders = [change] * len(self._states)
        self._states = self._client.map(_change_part, self._states, orders, pure=False)
        return self._latest(add)

    def _latest(self, add: Callable[[Sequence[T]], T]) -> T:
        """What all partitions answered when they were changed or read, added up."""
        total: T = self._ask(attrgetter("answer"), add)
        self._look()
        return total

    def _noted(self) -> list[Any]:
        """What was odd about each partition's records as they were read."""
        asked = self._client.map(attrgetter("noted"), self._states, pure=False)
        notes: list[Any] = self._client.gather(asked)
        return notes

    @explain_failures()
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

    @explain_failures()
    def _ask(self, ask: Callable[[Any], T], add: Callable[[Sequence[T]], T], none: Any = None) -> T:
        """Asks each worker once about all its partitions, and adds up the answers, a few at a time.

        Args:
            ask: What a partition answers.
            add: Adds up answers, none of which it changes.
            none: An answer of no record, which nobody needs: there is a partition.
        """
        answers = pending = [
            self._client.submit(
                _ask_parts, [self._states[place] for place in places], ask, add,
                self._threads.get(worker, 1), pure=False,
            )
            for worker, places in self._beside
        ]  # fmt: skip
        while len(pending) > TAKEN:
            groups = [pending[i : i + _MERGED] for i in range(0, len(pending), _MERGED)]
            pending = [self._client.submit(add, group, pure=False) for group in groups]
        self._wait(answers, self._told)
        total: T = add(self._client.gather(pending, direct=self._direct))
        return total

    def _wait(self, futures: list[Any], told: Progress) -> None:
        from distributed import as_completed

        for number, _ in enumerate(as_completed(futures, loop=self._client.loop), start=1):
            told(number / len(futures))


def group_pieces(pieces: Sequence[Piece], threads: int) -> tuple[list[list[Piece]], list[int]]:
    """Neighboring pieces as partitions of equal size, about, and each one's first row."""
    rows = np.array([piece.rows for piece in pieces], np.int64)
    seen, total = np.cumsum(rows) - rows, int(rows.sum())
    number = _PER_THREAD * max(1, threads)
    number *= max(1, -(-total // (number * _ROWS)))
    turn = (2 * seen + rows) * number // max(1, 2 * total)
    first = np.flatnonzero(np.diff(turn, prepend=-1)).tolist()
    groups = [list(pieces[begin:end]) for begin, end in pairwise([*first, len(pieces)])]
    return groups or [[]], seen[first].tolist() or [0]


def _ask_parts(
    parts: Sequence[Part], ask: Callable[[Any], T], add: Callable[[Sequence[T]], T], threads: int
) -> T:
    """What a worker's partitions answer, asked by threads: it does nothing else meanwhile."""
    crew = Crew(min(threads, len(parts)))
    try:
        return add(list(crew.map(ask, parts)))
    finally:
        crew.dismiss()


def _change_part(part: Part, change: Callable[[Any], Any]) -> Part:
    """The part after a change; nothing that the old one holds is written to."""
    part = copy(part)
    part.answer = change(part)
    return part


# Tables.


class ClusterEngine(Workers, Engine):
    """Counts rows on a Dask cluster.

    Use `read` to make one, and close it at the end.

    Args:
        schema: The public schema.
        client: The connection to the cluster.
        memory: How many bytes a batch of histograms may take in the driver.
    """

    def __init__(self, schema: Schema, client: Any, memory: int) -> None:
        Workers.__init__(self, client)
        domain = Domain.of(schema)
        Engine.__init__(self, domain, RowLayout.of(domain), memory // 4, TAKEN + 1)

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
        pieces, schema = stream.source.pieces, stream.schema
        if not pieces:
            raise UsageError(
                f"{stream.source.what}: the Dask engine reads Parquet files",
                hint="Write the table to Parquet files where all workers can open them, or take "
                "the engine streamed.",
            )
        if schema.person is not None:
            raise UsageError(
                "The Dask engine cannot cap the rows of a person, which may lie on any worker.",
                hint="Take the engine streamed, or keep at most max_rows rows of each person in "
                "the data and leave the person column out.",
            )
        with ExitStack() as stack:
            client = stack.enter_context(connect(scheduler))
            engine = ClusterEngine(schema, client, memory)
            names = [stream.source.names[place] for place in stream.wanted]
            with explain_failures():
                engine._read(pieces, read_rows, told, schema=schema, wanted=names)
                report = Report()
                for noted in engine._noted():
                    report.merge(noted)
                stream.empty = not any(piece.rows for piece in pieces)
                stream.finish(report)
                engine._counts = engine._latest(sum_counts)
            engine._stack = stack.pop_all()
        return engine


def read_rows(
    pieces: Sequence[Piece], first_row: int, schema: Schema, wanted: Sequence[str]
) -> RowPart:
    """Reads and encodes pieces of the input."""
    domain = Domain.of(schema)
    layout = RowLayout.of(domain)
    report = Report()
    blocks = [np.zeros((0, layout.stride), dtype=np.uint8)]
    for piece in pieces:
        for batch in read_piece(piece, wanted, threads=False):  # others read at the same time
            columns, stays = encode_columns(batch, schema.columns, report, first_row)
            first_row += batch.num_rows
            if schema.target is None:
                columns.append(np.zeros(batch.num_rows, dtype=np.int64))
            packed = layout.pack(columns)
            blocks.append(packed[stays])
    part = RowPart(np.concatenate(blocks), layout, domain.classes)
    part.noted = report
    return part


# Transactions.


class ClusterItems(Workers, ItemEngine):
    """Counts transactions on a Dask cluster.

    Use `read` to make one, and close it at the end.

    Args:
        schema: The public schema.
        client: The connection to the cluster.
    """

    def __init__(self, schema: Schema, client: Any) -> None:
        assert schema.items is not None
        Workers.__init__(self, client)
        ItemEngine.__init__(self, schema.items.size)

    @staticmethod
    def read(
        source: Any,
        schema: Schema,
        scheduler: str | None,
        told: Progress = silent,
        allow_empty: bool = True,
    ) -> ClusterItems:
        """Has the workers read all records; refuses what breaks the schema when all were seen.

        Args:
            source: Parquet files that the workers can open too, with one record per row.
            schema: The public schema.
            scheduler: The address of a scheduler, or None for processes on this machine.
            told: Called with the share of the input that has been read.
            allow_empty: Whether an input without any record is in order.
        """
        assert schema.items is not None
        if schema.items.person is not None:
            raise UsageError(
                "The Dask engine cannot gather the items of a person, which may lie on any worker.",
                hint="Take the engine streamed, or write one row for each person with a list of "
                "items.",
            )
        pieces, column, records = open_pieces(source, schema)
        if not pieces:
            raise UsageError(
                f"{records.what}: the Dask engine reads Parquet files",
                hint="Write the transactions to Parquet files where all workers can open them, one "
                "list of items in a row, or take the engine streamed.",
            )
        with ExitStack() as stack:
            client = stack.enter_context(connect(scheduler))
            engine = ClusterItems(schema, client)
            with explain_failures():
                engine._read(pieces, read_items, told, schema=schema, column=column)
                for noted in engine._noted():
                    records.noted.merge(noted)
                records.done(allow_empty)
                engine._held = engine._latest(sum_counts)
            engine._stack = stack.pop_all()
        return engine


def read_items(pieces: Sequence[Piece], first: int, schema: Schema, column: str) -> ItemPart:
    """Reads and encodes pieces of the input; `first` is the number of the first record."""
    assert schema.items is not None
    records = Records(schema.items, "", lambda places: [], first=first)
    for piece in pieces:
        for batch in read_piece(piece, [column], threads=False):  # others read at the same time
            records.add(*items_of(batch.column(0), column, records.lookup))
    part = ItemPart(records.finish())
    part.noted = records.noted
    return part
