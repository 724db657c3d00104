"""The replays of the tests at full size: more examples, and every budget on every pair.

    python audits/long_tests.py --examples 2000

`make test` runs the same files with 60 examples. Ends with the exit code of pytest.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
FILES = ("test_replay.py", "test_replay_transactions.py")


def main(arguments: list[str] | None = None) -> int:
    """Runs the tests and prints the last line of their report."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--examples", type=int, default=2000, help="of each Hypothesis test")
    asked = parser.parse_args(arguments)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider",
         *(str(ROOT / "tests" / "privacy" / name) for name in FILES)],
        env=os.environ | {"HEDGEROW_EXAMPLES": str(asked.examples)},
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    lines = done.stdout.strip().splitlines() or ["no test ran"]
    print("\n".join(lines[-1:] if done.returncode == 0 else lines))
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
