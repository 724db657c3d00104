"""The connection to a Dask cluster: refused in our words, and closed whatever happens."""

from __future__ import annotations

import logging
import pydoc
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from hedgerow.compiled import cores
from hedgerow.errors import DataError, HedgerowError, UsageError
from hedgerow.surroundings import shield_processes

__all__ = ["WORKER_SETTINGS", "check_workers", "connected", "explained", "reachable"]

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
