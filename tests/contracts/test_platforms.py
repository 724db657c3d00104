"""The main path asks the system for nothing that Windows or macOS lacks.

Neither is at hand: a process that pretends goes all the way. What stays untested is the systems
themselves, such as how they lock files.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PRETEND = """
import os, signal, sqlite3, subprocess, sys, types
from pathlib import Path
import cryptography.hazmat.primitives.ciphers, numba, numpy, pandas, pyarrow.parquet, pydantic

platform, folder = sys.argv[1], Path(sys.argv[2])
gone = ["sched_getaffinity", "posix_fallocate", "O_CLOEXEC"]
if platform == "win32":
    gone += ["getuid", "geteuid", "killpg", "fork", "fchmod", "O_NOFOLLOW", "O_NONBLOCK"]
    gone += ["O_DIRECTORY", "getpgid", "setsid", "chown", "sysconf"]
    sys.modules |= {"fcntl": None, "resource": None, "pwd": None, "grp": None}
    locks = types.ModuleType("msvcrt")
    locks.LK_NBLCK, locks.locking = 2, lambda handle, mode, size: None
    sys.modules["msvcrt"] = locks
    del signal.SIGKILL
    real = os.open

    def open_file(path, *given, **more):
        if os.path.isdir(path):
            raise PermissionError(13, "a folder is not opened on Windows")
        return real(path, *given, **more)

    os.open = open_file
for name in gone:
    if hasattr(os, name):
        delattr(os, name)
sys.platform = platform

import hedgerow as hr

people, schema = hr.sample.people(200, seed=3), hr.sample.schema()
ledger = hr.BudgetLedger(folder / "b.ledger")
ledger.open("people", epsilon=9)
place = folder / "release"
hr.publish(
    people, schema, sys.argv[3], epsilon=4, out=place, ledger=ledger.path, dataset="people",
)
release = hr.load(place)
assert hr.verify(place), hr.verify(place)
assert "<html" in release.to_html(folder / "release.html")
release.save(place, overwrite=True)
(account,) = ledger.accounts()
print("left", account.left[0], {one.state for one in account.entries})
from hedgerow.studio import jobs
task = subprocess.Popen([sys.executable, "-c", "input()"], stdin=-1, start_new_session=True)
jobs._signal(task, signal.SIGTERM)
print("ended", task.wait(600) != 0)
"""


@pytest.mark.parametrize(
    ("platform", "method"),
    [
        ("win32", "marginals"),
        ("darwin", "diffmulti"),
        pytest.param("win32", "diffmulti", marks=pytest.mark.long),
        pytest.param("darwin", "marginals", marks=pytest.mark.long),
    ],
)
def test_the_main_path_runs_where_linux_is_not(platform: str, method: str, tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PRETEND, platform, str(tmp_path), method],
        capture_output=True, text=True, check=False, timeout=600,
    )  # fmt: skip
    assert done.stdout.splitlines() == ["left 5 {'published'}", "ended True"], done.stderr
