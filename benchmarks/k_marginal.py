"""NIST's k-marginal score of releases of the national excerpt. NOT PRIVATE.

    python benchmarks/k_marginal.py --sdnist DIR [--dpmm DIR] [--data DIR] [--out DIR]
        [--releases N] [--epsilon E] [--only NAME ...]

The ten demographic features of the Diverse Communities excerpt, without a class. Scored by sdnist
2.4 itself, in an environment of its own (Python 3.11, `pip install sdnist==2.4`): 1,000 less half
of the mean absolute difference of densities over all pairs of features, in thousandths. AIM and MST
of dpmm (see `compare.py`) take minutes, so of each of them one release is made. Finished runs are
kept in the folder of `--out`.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import csv

sys.path.insert(0, str(Path(__file__).parent))

import hedgerow as hr
from accuracy import mean_and_error
from data import add_data_option, find_folder
from hedgerow.evaluate import NOT_PRIVATE, cpu_seconds
from hedgerow.experiments.baselines.dpmm import Dpmm, find_python, install
from hedgerow.experiments.figures.runs import Runs
from tables import nist

DELTA = "1e-6"
SCORER = """
import sys
from pathlib import Path
import sdnist.strs as strs
from sdnist.load import TestDatasetName
from sdnist.report.dataset import Dataset  # before the metrics, which import it in a circle
from sdnist.metrics.kmarginal import KMarginal
from sdnist.utils import SimpleLogger

rows, root = map(Path, sys.argv[1:])
found = Dataset(rows, SimpleLogger(), TestDatasetName.national2019, root, False)
groups = found.config[strs.K_MARGINAL][strs.GROUP_FEATURES]
print("score", KMarginal(found.d_target_data, found.d_synthetic_data, groups).compute_score())
"""


def score(rows: pa.Table, python: Path, root: Path) -> float:
    """The score by sdnist, of 1,000."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.csv"
        csv.write_csv(rows, path, csv.WriteOptions(quoting_style="none"))
        done = subprocess.run(
            [str(python), "-I", "-c", SCORER, str(path), str(root)],
            cwd=folder, capture_output=True, text=True, check=False,
        )  # fmt: skip
    if done.returncode:
        sys.exit(f"sdnist did not score the rows: {done.stderr.strip().splitlines()[-1:]}")
    return float(done.stdout.split("score")[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_data_option(parser)
    parser.add_argument("--sdnist", type=Path, required=True, help="an environment with sdnist 2.4")
    parser.add_argument("--dpmm", type=Path, metavar="DIR", help="an environment with dpmm 0.1.9")
    parser.add_argument("--out", type=Path, default=Path("k_marginal"), help="where results go")
    parser.add_argument("--releases", type=int, default=5)
    parser.add_argument("--epsilon", default="1")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these alone")
    given = parser.parse_args()
    task, python = nist(given.data), find_python(given.sdnist)
    if isinstance(task, str):
        sys.exit(task)
    if python is None:
        sys.exit(f"There is no environment in {given.sdnist}: see the head of this file.")
    folder = find_folder(given.data)
    assert folder is not None
    root = (folder / "nist" / "diverse_communities_data_excerpts").resolve()

    def ours(delta: str, **settings: Any) -> Callable[[int], tuple[pa.Table, float]]:
        def make(seed: int) -> tuple[pa.Table, float]:
            def publish() -> pa.Table:
                release = hr.publish(
                    task.rows, task.schema, hr.DiffMulti(**settings), given.epsilon,
                    delta=delta, seed=seed,
                )  # fmt: skip
                return release.synthesize(seed=seed)

            return cpu_seconds(publish)

        return make

    methods = {
        "DiffMulti, marginals": (given.releases, ours("0", marginals=True)),
        f"DiffMulti, marginals, delta {DELTA}": (given.releases, ours(DELTA, marginals=True)),
        "DiffMulti, regions alone": (given.releases, ours("0", marginals=False)),
    }
    if given.dpmm:
        place = install(given.dpmm.resolve())
        for name in ("mst", "aim"):

            def make(seed: int, name: Any = name) -> tuple[pa.Table, float]:
                method = Dpmm(name, float(DELTA))
                return method.publish(task.rows, task.schema, float(given.epsilon), seed, place)

            methods[f"{name.upper()} of dpmm, delta {DELTA}"] = (1, make)
    runs = Runs(given.out / "runs.jsonl")
    print(NOT_PRIVATE)
    for name, (number, make) in methods.items():
        if given.only and name not in given.only:
            continue
        found = []
        for seed in range(number):

            def compute(make: Any = make, seed: int = seed) -> dict[str, float]:
                rows, seconds = make(seed)
                return {"score": score(rows, python, root), "cpu": seconds}

            found.append(
                runs.get({"method": name, "epsilon": given.epsilon, "seed": seed}, compute)
            )
        mean, error = mean_and_error([one["score"] for one in found])
        print(f"{name:36} {mean:7.1f} ± {error:.1f} of {number}", flush=True)


if __name__ == "__main__":
    main()
