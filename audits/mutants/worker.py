"""Tries mutants one after another in a copy of the tree: a server that forks for each.

What the tests need is imported once, hedgerow itself in every child anew. A child has so many
seconds of CPU; a mutant that takes longer than that hangs, and is caught. Speaks JSON, a line for
each mutant: `python worker.py TREE MODULE...`, with the modules to import once.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import resource
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

SLACK = 20  # a child may wait that many times longer than it may compute


class Noted:
    """A pytest plugin: the tests that failed, and the CPU seconds of every file."""

    def __init__(self) -> None:
        self.failed: list[str] = []
        self.seconds: dict[str, float] = {}
        self.before = time.process_time()

    def note(self, report: Any) -> None:
        now = time.process_time()
        file = report.nodeid.partition("::")[0]
        self.seconds[file] = self.seconds.get(file, 0.0) + now - self.before
        self.before = now
        if report.failed and report.nodeid not in self.failed:
            self.failed.append(report.nodeid)

    pytest_runtest_logreport = note
    pytest_collectreport = note


def run_child(tree: Path, asked: dict[str, Any], out: int) -> None:
    """Runs the tests in this process and ends it: 0 if all of them pass, 1 if one fails.

    It stops at the first that fails, unless `whole`: then it tells all of them, and what each file
    took.
    """
    plain, seconds, whole = asked.get("plain", ""), asked["seconds"], asked.get("whole", False)
    os.setsid()
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    with open(os.devnull, "r+b", buffering=0) as nothing:
        for stream in (0, 1, 2):
            os.dup2(nothing.fileno(), stream)
    gc.disable()
    sys.dont_write_bytecode = True  # two mutants may have the same size and second
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    os.environ["HEDGEROW_EXAMPLES"] = "60"  # of replays, and all that other tests ask for
    import pytest
    from hypothesis import Phase, settings

    phases = (Phase.explicit, Phase.generate, Phase.target)
    settings.register_profile("mutants", database=None, derandomize=True, phases=phases)
    settings.load_profile("mutants")
    try:
        if plain:
            compile_none_of(plain)
    except Exception:
        os.write(out, b"import")
        os._exit(1)
    noted = Noted()
    words = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--no-header", *asked["tests"]]
    words += [] if whole else ["-x"]
    # plugins were imported before pytest could rewrite them, which it warns of
    words += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]
    code = int(pytest.main(words, plugins=[noted]))
    if code == pytest.ExitCode.USAGE_ERROR and cannot_import(asked["path"]):
        os.write(out, b"import")  # which conftest.py noticed before any test could
        os._exit(1)
    said = json.dumps([noted.failed, noted.seconds]) if whole else (*noted.failed, "")[0][:2000]
    os.write(out, said.encode())
    os._exit(code)


def cannot_import(path: str) -> bool:
    """Whether a file of the package no longer is a module that can be imported."""
    try:
        importlib.import_module(path.removeprefix("src/").removesuffix(".py").replace("/", "."))
    except Exception:
        return True
    return False


def compile_none_of(module: str) -> None:
    """Imports a module, and has its loops run as plain Python."""
    from hedgerow.compiled import Kernel

    for kernel in vars(importlib.import_module(module)).values():
        if isinstance(kernel, Kernel):
            kernel._compiled = kernel.python


def attempt(tree: Path, asked: dict[str, Any]) -> dict[str, Any]:
    """Runs tests in a child, with a file changed for as long as it lives."""
    path, kept = None, None
    if asked.get("path"):
        path = tree / asked["path"]
        kept, times = path.read_bytes(), path.stat()
        path.write_text(asked["text"], encoding="utf-8")
        later = times.st_mtime + 10 + asked.get("number", 0)
        os.utime(path, (later, later))
    reads, writes = os.pipe()
    child = os.fork()
    if not child:
        os.close(reads)
        run_child(tree, asked, writes)
    os.close(writes)
    status, cpu = wait(child, asked["seconds"] * SLACK)
    said = os.read(reads, 1 << 16).decode(errors="replace")
    os.close(reads)
    if path is not None and kept is not None:
        path.write_bytes(kept)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    code = os.WEXITSTATUS(status)
    verdict = {0: "survived", 1: "caught", 2: "caught"}.get(code, f"pytest ended with {code}")
    if verdict == "caught" and not said:  # no test has failed: pytest itself has
        verdict = f"pytest ended with {code} and named no test"
    if os.WIFSIGNALED(status):
        verdict = "hangs"
    return {"verdict": verdict, "by": said, "seconds": round(cpu, 1)}


def wait(child: int, seconds: float) -> tuple[int, float]:
    """The child's status and CPU seconds; it is ended, with all it started, when time is up."""
    until = time.monotonic() + seconds
    pause = 0.01
    while time.monotonic() < until:
        done, status, used = os.wait4(child, os.WNOHANG)
        if done:
            break
        time.sleep(pause)
        pause = min(0.2, 1.2 * pause)
    else:
        os.kill(child, signal.SIGKILL)
        _, status, used = os.wait4(child, 0)
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(child, signal.SIGKILL)  # what it started itself
    return status, used.ru_utime + used.ru_stime


def main() -> None:
    tree = Path(sys.argv[1]).resolve()
    os.chdir(tree)
    sys.path[:0] = [str(tree / "src")]
    os.environ["PYTHONPATH"] = str(tree / "src")
    for name in sys.argv[2:]:
        with suppress(ImportError):
            importlib.import_module(name)
    assert "hedgerow" not in sys.modules
    gc.collect()
    gc.freeze()  # or every child would go through all that was imported
    print("ready", flush=True)
    for line in sys.stdin:
        print(json.dumps(attempt(tree, json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
