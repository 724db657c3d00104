"""The tests at full size: what is marked `long` or tried on examples, and longer replays.

    python audits/long_tests.py --examples 2000

`make test` leaves out the first, has Hypothesis try a third of its examples, and replays 60. Ends
with the exit code of pytest. `--files` runs some files alone.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
REPLAYS = ("tests/privacy/test_replay.py", "tests/privacy/test_replay_transactions.py")


def run(files: list[str], marked: str, examples: int) -> int:
    """Runs those tests of some files and prints the last line of their report."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-m", marked, *files],
        env=os.environ | {"HEDGEROW_EXAMPLES": str(examples)},
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    lines = done.stdout.strip().splitlines() or ["no test ran"]
    print("\n".join(lines[-1:] if done.returncode == 0 else lines), flush=True)
    return done.returncode


def main(arguments: list[str] | None = None) -> int:
    """Runs the tests; the first exit code that is not 0."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--examples", type=int, default=2000, help="of each Hypothesis test")
    parser.add_argument("--files", nargs="*", default=["tests"], help="with tests that are long")
    asked = parser.parse_args(arguments)
    others = [*asked.files, *(f"--ignore={name}" for name in REPLAYS)]
    codes = [run(others, "long or hypothesis", asked.examples)] if asked.files else []
    codes.append(run([*REPLAYS], "long or not long", asked.examples))
    return next((code for code in codes if code), 0)


if __name__ == "__main__":
    sys.exit(main())
