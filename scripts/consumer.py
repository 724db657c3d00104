"""Checks the types that a consumer sees, in an environment of its own: `make dist`.

`tests/consumer/right.py` must satisfy `mypy --strict`, and `wrong.py` must be refused in exactly
the lines that say so, by the rule that they name.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from pathlib import Path

from installed import clean, environment

SCRIPTS = Path(__file__).resolve().parents[1] / "tests" / "consumer"
EXPECTED = re.compile(r"# refused: ([\w-]+)$")
FOUND = re.compile(r":(\d+): error: .*\[([\w-]+)\]$")


def expected(text: str) -> set[tuple[int, str]]:
    r"""The lines that a checker must refuse, and why.

    Example:
        >>> expected("good()\nbad(1)  # refused: arg-type")
        {(2, 'arg-type')}
    """
    marks = ((number, EXPECTED.search(line)) for number, line in enumerate(text.splitlines(), 1))
    return {(number, mark[1]) for number, mark in marks if mark}


def found(text: str) -> set[tuple[int, str]]:
    """The lines that mypy refused, and why.

    Example:
        >>> found("wrong.py:2: error: Argument 1 has type int  [arg-type]")
        {(2, 'arg-type')}
    """
    marks = map(FOUND.search, text.splitlines())
    return {(int(mark[1]), mark[2]) for mark in marks if mark}


def main(wheel: Path, sdist: Path, given: argparse.Namespace) -> None:
    """Ends with an error if mypy is wrong about one of the scripts."""
    folder = wheel.parents[2] / "types"
    python = environment(folder, f"{wheel}[sklearn]")
    checker = environment(folder.with_name("mypy"), "mypy")
    for name in ("right.py", "wrong.py"):
        script = folder / name  # away from our own settings
        script.write_bytes((SCRIPTS / name).read_bytes())
        command = [checker, "-m", "mypy", "--strict", "--python-executable", python, name]
        done = subprocess.run(command, cwd=folder, env=clean(), capture_output=True, text=True)
        wanted = expected(script.read_text(encoding="utf-8"))
        if found(done.stdout) != wanted or done.returncode != bool(wanted):
            sys.exit(f"mypy --strict of {name}\n{done.stdout}{done.stderr}")
        print(f"{name}: {len(wanted)} lines refused, as they must be", flush=True)
