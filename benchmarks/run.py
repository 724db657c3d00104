"""Runs all benchmarks one after another: `make bench`, or `make bench ARGS=--quick`.

With `ARGS='--json FILE'` the figures of those in RECORDED are also written to a file."""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from results import add_json_option

SCRIPTS = (
    "first_second.py",
    "speed.py",
    "use.py",
    "queries.py",
    "transactions.py",
    "personal.py",
    "many_attributes.py",
    "holder.py",
    "reading.py",
    "interval_coverage.py",
    "scale.py",
)
RECORDED = (
    "first_second.py",
    "speed.py",
    "use.py",
    "queries.py",
    "transactions.py",
    "many_attributes.py",
    "holder.py",
    "reading.py",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_json_option(parser)
    given, others = parser.parse_known_args()
    json = ["--json", given.json] if given.json else []
    folder = Path(__file__).parent
    failed = []
    for script in SCRIPTS:
        print(f"\n== {script}", flush=True)
        words = [*others, *(json if script in RECORDED else ())]
        if subprocess.run([sys.executable, folder / script, *words]).returncode:
            failed.append(script)
    if failed:
        sys.exit(f"These did not finish: {', '.join(failed)}.")


if __name__ == "__main__":
    main()
