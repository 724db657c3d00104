"""Methods of other packages, each in an environment and a process of its own.

Such packages pin versions that cannot live beside ours. `install` makes an environment, and
`run_apart` runs a script of this folder in it that imports nothing of hedgerow.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import csv

from hedgerow.errors import UsageError

__all__ = ["Unfinished", "find_python", "install", "run_apart"]


class Unfinished(UsageError):
    """A method did not finish within the CPU seconds that it was given."""


def run_apart(
    runner: str,
    job: Mapping[str, Any],
    rows: pa.Table,
    read: Callable[[Path], pa.Table],
    *,
    package: str,
    python: Path,
) -> tuple[pa.Table, float]:
    """Simulated rows, and the CPU seconds they took.

    Args:
        runner: The script of this folder.
        job: What it is told: the `method`, the `limit` of CPU seconds (None for none; not on
            Windows), and what else it needs. Added are the files with the raw rows (`rows`), for
            the rows it makes (`made`) and for its CPU seconds (`cost`).
        rows: The raw rows.
        read: Reads the rows that were made.
        package: What must be installed.
        python: The interpreter of the environment that has it.

    Raises:
        Unfinished: If it was given up.
    """
    with tempfile.TemporaryDirectory() as folder:
        paths = {name: str(Path(folder) / name) for name in ("rows", "made", "cost")}
        csv.write_csv(rows, paths["rows"])
        task = Path(folder) / "job.json"
        task.write_text(json.dumps({**paths, **job}), encoding="utf-8")
        # no threads, since CPU time is compared
        alone = {
            **os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1",
            "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
        }  # fmt: skip
        # -I: neither our own packages nor the folder of the runner, where this file lies
        words = [str(python), "-I", str(Path(__file__).parent / runner), str(task)]
        done = subprocess.run(words, env=alone, capture_output=True, text=True, check=False)
        if job["limit"] is not None and done.returncode == -signal.SIGXCPU:
            raise Unfinished(f"{job['method']} did not finish within {job['limit']} CPU seconds.")
        if done.returncode:
            last = done.stderr.strip().splitlines()[-1:] or ["no message"]
            raise UsageError(
                f"{job['method']} of {package} did not finish: {last[0]}",
                hint=f"Is {package} installed for {python}?",
            )
        cost = json.loads(Path(paths["cost"]).read_text(encoding="utf-8"))
        return read(Path(paths["made"])), float(cost["cpu_seconds"])


def find_python(folder: Path) -> Path | None:
    """The interpreter of an environment in a folder, if there is one."""
    for place in ("bin/python", "Scripts/python.exe"):
        if (folder / place).exists():
            return folder / place
    return None


def install(folder: Path, package: str, pythons: tuple[tuple[int, int], ...]) -> Path:
    """Makes an environment with a package in a folder if need be, and returns its interpreter.

    Args:
        folder: Where it is, or is to be.
        package: What pip is asked for.
        pythons: The versions of Python that it can be installed in.

    Raises:
        UsageError: If this Python is none of them, or it cannot be installed.
    """
    found = find_python(folder)
    if found is None:
        if sys.version_info[:2] not in pythons:
            fitting = " or ".join(f"{major}.{minor}" for major, minor in pythons)
            raise UsageError(
                f"{package} needs Python {fitting}.",
                hint=f"Make an environment of such a Python in {folder}, and install it there.",
            )
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        found = find_python(folder)
        assert found is not None
    words = [str(found), "-I", "-c", f"import {package.partition('==')[0].partition('[')[0]}"]
    known = subprocess.run(words, capture_output=True, check=False)
    if known.returncode:
        words = [str(found), "-m", "pip", "install", "--quiet", *package.split()]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode:
            raise UsageError(
                f"{package} cannot be installed here.",
                hint="Is there a network, or an index of packages?",
            )
    return found
