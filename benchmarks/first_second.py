"""What a person waits for: the first command on a new machine, later ones, and counts.

    python benchmarks/first_second.py [--data DIR] [--quick] [--json FILE]

CPU time of whole processes, best of five, as multiples of `python -c "import numpy, pyarrow"` in
the same run. The first publish has an empty cache of compiled loops, and Python has compiled none
of hedgerow's modules before.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import hedgerow as hr
from data import ADULT_SCHEMA, add_data_option, adult
from hedgerow.evaluation import random_conjunctions
from hedgerow.sample import write
from results import Results, add_json_option
from speed import command, cpu, show


def processes(folder: str, times: int, results: Results) -> None:
    """Commands on the embedded sample."""
    # a copy of hedgerow that was never run, and a Python that keeps what it compiles
    source = Path(hr.__file__).parent
    shutil.copytree(source, f"{folder}/src/hedgerow", ignore=shutil.ignore_patterns("__pycache__"))
    os.environ["PYTHONPATH"] = f"{folder}/src"
    for name in ("PYTHONDONTWRITEBYTECODE", "NUMBA_CACHE_DIR"):
        os.environ.pop(name, None)

    def least(*words: str) -> float:
        return min(command([sys.executable, *words])[0] for _ in range(times))

    hedgerow = ("-m", "hedgerow")
    write(Path(folder))
    base = least("-c", "import numpy, pyarrow")
    show(results, "import numpy, pyarrow", base, ".3f s")
    publish = [*hedgerow, "publish", f"{folder}/people.csv", "--schema", f"{folder}/schema.yaml"]
    publish += ["--epsilon", "1", "--overwrite", "--out", f"{folder}/release"]
    first, _, _ = command([sys.executable, *publish])
    later = least(*publish)
    show(results, "the demo's publish, first run ever", first, ".2f s", "under 4 s")
    show(results, "  in later ones", first / later, ".2f times", "at most 4")
    show(results, "  later ones, in imports", later / base, ".2f times", "at most 6")
    release = f"{folder}/release"
    for words in (["show"], ["query", "age > 50"], ["verify"], ["table", "age"]):
        found = least(*hedgerow, words[0], release, *words[1:])
        goal = "at most 4" if words[0] != "table" else ""
        show(results, f"{words[0]}, in imports", found / base, ".2f times", goal)
    for name in ("report", "dossier"):
        found = least(*hedgerow, name, release, "--out", f"{folder}/{name}.html", "--overwrite")
        show(results, f"{name}, in imports", found / base, ".2f times")
    found = least(*hedgerow, "publish", "--help")
    show(results, "publish --help, in imports", found / base, ".2f times")


def counts(rows: str | Path, times: int, many: int, results: Results) -> None:
    """A recipient's counts on a release of Adult."""
    schema = hr.Schema.load(ADULT_SCHEMA)
    with tempfile.TemporaryDirectory() as folder:
        hr.publish(rows, schema, hr.DiffMulti(), epsilon=1, out=folder, overwrite=True)
        release = hr.Release.load(folder)
    queries = random_conjunctions(schema, many, (2, 4), seed=1)
    first = cpu(lambda: release.estimate(queries[:1]), 1)
    show(results, "the first estimate", first, ".2f s")
    release.count(queries[:100])

    def ask(number: int, how: Callable[[list[object]], object]) -> float:
        return cpu(lambda: how(queries[:number]), times if number < many else 1)

    show(results, "1,000 estimates", ask(1000, release.estimate), ".3f s", "at most 0.1 s")
    show(results, f"{many:,} estimates", ask(many, release.estimate), ".2f s", "at most 3 s")
    what = f"{many:,} counts with intervals"
    show(results, what, ask(many, release.count), ".1f s", "at most 60 s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    add_data_option(parser)
    parser.add_argument("--quick", action="store_true", help="fewer repetitions and queries")
    add_json_option(parser)
    arguments = parser.parse_args()
    results = Results("first second")
    times = 2 if arguments.quick else 5
    with tempfile.TemporaryDirectory() as folder:
        processes(folder, times, results)
    counts(adult(arguments.data), times, 10_000 if arguments.quick else 100_000, results)
    results.write(arguments.json)


if __name__ == "__main__":
    main()
