"""Connections to a Dask cluster, and what its workers run."""

from __future__ import annotations

import logging
import os
import pydoc
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any, Self

from hedgerow.compiled import cores
from hedgerow.data.parquet import Piece
from hedgerow.data.source import Progress, silent
from hedgerow.errors import DataError, HedgerowError, UsageError
from hedgerow.surroundings import shield_processes

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
def connected(scheduler: str | None) -> Iterator[Any]:
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
def explained() -> Iterator[None]:
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


class Workers:
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
        self._told: Progress = silent
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Has the workers forget the data, and ends processes that were started for them."""
        self._states = []
        self._stack.close()

    def watch(self, told: Progress) -> None:
        """Has the share of the data told that each pass has seen."""
        self._told = told

    def _read(
        self, pieces: Sequence[Piece], read: Callable[..., Any], told: Progress, **how: Any
    ) -> None:
        """Has the workers read all pieces; `read` takes some of them and the first one's number."""
        parts, firsts = grouped([_anywhere(piece) for piece in pieces], sum(self._threads.values()))
        self._start(read, parts, firsts, told=told, **how)

    def _start(
        self, make: Callable[..., Any], *each: Sequence[Any], told: Progress = silent, **how: Any
    ) -> None:
        """Makes the partitions, one from each of some values."""
        self._states = self._client.map(make, *each, pure=False, **how)
        self._wait(self._states, told)
        self._look()

    def _change(self, change: Callable[..., Any], order: Any, **how: Any) -> None:
        """Makes each partition anew from the old one and an order.

        Each task carries the order: sent as a value of its own it would lie on some workers, and
        Dask would move records there.
        """
        orders = [order] * len(self._states)
        self._states = self._client.map(change, self._states, orders, pure=False, **how)

    def _each(self, ask: Callable[[Any], Any]) -> list[Any]:
        """What each partition answers."""
        found: list[Any] = self._client.gather(self._client.map(ask, self._states, pure=False))
        return found

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
        while len(pending) > TAKEN:
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


def grouped(pieces: Sequence[Piece], threads: int) -> tuple[list[list[Piece]], list[int]]:
    """Neighboring pieces as partitions of equal size, about, and each one's first row."""
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
