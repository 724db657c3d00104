"""What the holder of a wide table waits for: `evaluate`, `report --raw` and `report`.

    python benchmarks/holder.py [--quick] [--times N] [--json FILE]

100,000 simulated rows of about 70,000 people with 44 attributes (`wide.py`), as large as a
hospital's table of visits. Each command runs in a process of its own; CPU seconds include its
children.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import pyarrow.csv

sys.path.insert(0, str(Path(__file__).parent))

import hedgerow as hr
from results import Results, add_json_option
from wide import wide_schema, wide_table

ROWS, ATTRIBUTES = 100_000, 44


def cpu(*words: str) -> float:
    """CPU seconds of a command, its children included."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-m", "hedgerow", *words], check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows, once")
    parser.add_argument("--times", type=int, default=3, help="runs, of which the best counts")
    add_json_option(parser)
    arguments = parser.parse_args()
    rows, times = (ROWS // 10, 1) if arguments.quick else (ROWS, arguments.times)
    results = Results("holder")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        raw, release, page = (str(folder / part) for part in ("people.csv", "release", "page.html"))
        schema = wide_schema(ATTRIBUTES - 1, people=True)
        (folder / "schema.json").write_text(json.dumps(schema.to_dict()), encoding="utf-8")
        table = wide_table(rows, ATTRIBUTES - 1, seed=1, rows_each=1.4)
        pyarrow.csv.write_csv(table, raw)
        hr.publish(raw, schema, epsilon=1, seed=1).save(release)
        print(f"{rows:,} rows, {ATTRIBUTES} attributes")
        for what, words in (
            ("evaluate", ("evaluate", raw, release)),
            ("evaluate --quick", ("evaluate", raw, release, "--quick")),
            ("report --raw", ("report", release, "--raw", raw, "--out", page, "--overwrite")),
            ("report", ("report", release, "--out", page, "--overwrite")),
        ):
            best = min(cpu(*words) for _ in range(times))
            print(f"  {what}: {best:.1f} s of CPU", flush=True)
            results.add(best, "s", what, f"{rows:,} rows")
    results.write(arguments.json)


if __name__ == "__main__":
    main()
