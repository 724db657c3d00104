"""Runs all benchmarks one after another: `make bench`, or `make bench ARGS=--quick`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPTS = (
    "speed.py",
    "use.py",
    "queries.py",
    "transactions.py",
    "personal.py",
    "coverage.py",
    "scale.py",
)


def main() -> None:
    folder = Path(__file__).parent
    failed = []
    for script in SCRIPTS:
        print(f"\n== {script}", flush=True)
        if subprocess.run([sys.executable, folder / script, *sys.argv[1:]]).returncode:
            failed.append(script)
    if failed:
        sys.exit(f"These did not finish: {', '.join(failed)}.")


if __name__ == "__main__":
    main()
