"""NIST's own report on releases of its Diverse Community Excerpts. NOT PRIVATE.

    python benchmarks/sdnist.py --sdnist DIR --dpmm DIR [--data DIR] [--out DIR] [--json FILE]
        [--releases N] [--epsilon E] [--only NAME ...] [--limit SECONDS]
    python benchmarks/sdnist.py --sdnist DIR --dpmm DIR --install

The ten demographic features of the national excerpt, without a class. Each release is scored by
SDNist 2.4, `python -m sdnist.report rows.csv NATIONAL`, in an environment of its own, beside AIM
and MST of dpmm in theirs, and beside a sample of the raw rows. The second command makes both
environments, in the folders that are named, and does no more. It takes a Python 3.11 with access to
an index of packages; where hedgerow runs on another one, make them by hand (`python3.11 -m venv
DIR`, then `DIR/bin/pip install sdnist==2.4` or `dpmm==0.1.9`). What is told of each report:

- k-marginal: 1,000 less half of the mean absolute difference of densities over all pairs of
  features, in thousandths; NIST's main score. *like a sample of*: the share of the raw rows whose
  random sample comes closest to that score, by the same report;
- propensity: mean squared error of a model that tells raw rows from released ones (0: it cannot);
- correlation: the mean absolute difference of Kendall's correlations over all pairs of features;
- inconsistent: percent of the records that break NIST's rules, such as children with a doctorate,
  added up over its groups of rules;
- matches: percent of the raw rows that are unique in all ten features and are also among the
  released rows. A sample of raw rows shows what no protection gives.

Reports take most of a CPU minute each. Finished runs are kept in the folder of `--out`.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv

sys.path.insert(0, str(Path(__file__).parent))

import hedgerow as hr
from accuracy import mean_and_error
from data import add_data_option, find_folder
from hedgerow.errors import HedgerowError
from hedgerow.evaluation import NOT_PRIVATE
from papers.baselines.apart import AIM_FINISHES, Dpmm, Package, Unfinished, install
from papers.clusters import cpu_seconds
from papers.figure import Runs
from results import Results, add_json_option
from tables import nist

PACKAGE = "sdnist==2.4"
DELTA = "1e-6"
FIRST = 100  # seeds; some below were looked at when shares of our budget were chosen
# unit, what is better, digits
MEASURES = {
    "k-marginal": ("of 1,000", "more", 1), "like a sample of": ("%", "more", 0),
    "propensity": ("mean squared error", "less", 4), "correlation": ("difference", "less", 4),
    "inconsistent": ("%", "less", 2), "matches": ("%", "less", 1), "cpu": ("CPU s", "less", 1),
}  # fmt: skip

Maker = Callable[[int], tuple[pa.Table, float]]


def report(rows: pa.Table, python: Path, root: Path) -> dict[str, float]:
    """What SDNist says about rows.

    Args:
        rows: The released rows.
        python: The interpreter of the environment with SDNist.
        root: The folder of NIST's excerpts.
    """
    with tempfile.TemporaryDirectory() as folder:
        pyarrow.csv.write_csv(
            rows, Path(folder) / "rows.csv", pyarrow.csv.WriteOptions(quoting_style="none")
        )
        words = ["-m", "sdnist.report", "rows.csv", "NATIONAL", "--data-root", str(root)]
        done = subprocess.run(
            [str(python), "-I", *words], cwd=folder, capture_output=True, text=True, check=False,
            env={**os.environ, "BROWSER": "true", "MPLBACKEND": "Agg"},  # it would open the report
        )  # fmt: skip
        found = list(Path(folder).glob("reports/*/report.json"))
        if done.returncode or not found:
            sys.exit(f"SDNist did not finish: {done.stderr.strip().splitlines()[-1:]}")
        return measures(json.loads(found[0].read_text(encoding="utf-8")), found[0].parent)


def measures(told: dict[str, Any], folder: Path) -> dict[str, float]:
    """The figures of a report: its JSON file, and the folder with the tables that it names."""
    score = told["k_marginal"]["k_marginal_synopsys"]
    kendall = told["Correlations"]["kendall correlation difference"]["correlation_difference"]
    with (folder / kendall).open(encoding="utf-8") as file:
        _, *lines = csv.reader(file)
    table = np.abs(np.asarray([line[1:] for line in lines], dtype=np.float64))
    broken = told["inconsistencies"]["summary"]
    return {
        "k-marginal": score["k_marginal_score"],
        "like a sample of": score["sub_sampling_equivalent"],
        "propensity": told["propensity mean square error"]["pmse_score"],
        "correlation": float(table[np.triu_indices(len(table), 1)].mean()),
        "inconsistent": sum(one["Percent Records Inconsistent"] for one in broken),
        "matches": told["unique_exact_matches"]["percent records matched in target data"],
    }


def sampled(rows: pa.Table) -> Maker:
    """A tenth of the raw rows: what no protection gives."""
    return lambda seed: (
        rows.take(np.random.default_rng(seed).choice(len(rows), len(rows) // 10, replace=False)),
        0.0,
    )


def ours(rows: pa.Table, schema: hr.Schema, epsilon: str, delta: str) -> Maker:
    def make(seed: int) -> tuple[pa.Table, float]:
        def publish() -> pa.Table:
            release = hr.publish(rows, schema, epsilon=epsilon, delta=delta, seed=seed)
            return release.synthesize(seed=seed)

        return cpu_seconds(publish)

    return make


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_data_option(parser)
    parser.add_argument("--sdnist", type=Path, required=True, help=f"an environment of {PACKAGE}")
    parser.add_argument("--dpmm", type=Path, required=True, help="an environment of dpmm 0.1.9")
    parser.add_argument("--install", action="store_true", help="only make the environments")
    parser.add_argument("--out", type=Path, default=Path("sdnist"), help="where results are kept")
    parser.add_argument("--releases", type=int, default=3)
    parser.add_argument("--epsilon", default="1")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these alone")
    parser.add_argument("--limit", type=int, default=900, help="CPU seconds for a run of dpmm")
    add_json_option(parser)
    given = parser.parse_args()
    try:
        scorer, place = (
            install(given.sdnist.resolve(), Package(PACKAGE)),
            install(given.dpmm.resolve()),
        )
    except HedgerowError as error:
        sys.exit(str(error))
    if given.install:
        sys.exit(0)
    task = nist(given.data)
    if isinstance(task, str):
        sys.exit(task)
    root = Path(find_folder(given.data) or "", "nist", "diverse_communities_data_excerpts")
    rows, schema = task.rows, task.schema

    def theirs(name: Any, settings: Any) -> Maker:
        method = Dpmm(name, delta=float(DELTA), settings=settings, limit=given.limit)
        return lambda seed: method.publish(rows, schema, float(given.epsilon), seed, place)

    makers = {
        f"AIM, delta {DELTA}": theirs("aim", AIM_FINISHES),
        f"MST, delta {DELTA}": theirs("mst", {}),
        f"Marginals, delta {DELTA}": ours(rows, schema, given.epsilon, DELTA),
        "Marginals": ours(rows, schema, given.epsilon, "0"),
        "a tenth of the raw rows (not private)": sampled(rows),
    }
    runs, results = Runs(given.out / "runs.jsonl"), Results("sdnist")
    lines = {}
    print(NOT_PRIVATE)
    for name, make in makers.items():
        if given.only and name not in given.only:
            continue
        found = []
        for seed in range(FIRST, FIRST + given.releases):

            def compute(make: Maker = make, seed: int = seed) -> dict[str, float]:
                made, seconds = make(seed)
                return {**report(made, scorer, root.resolve()), "cpu": seconds}

            print(f"{name}, seed {seed}", file=sys.stderr)
            try:
                key = {"method": name, "epsilon": given.epsilon, "seed": seed}
                found.append(runs.get(key, compute))
            except Unfinished as error:
                print(f"{name}: {error}")
        if not found:
            continue
        lines[name] = {key: mean_and_error([one[key] for one in found]) for key in MEASURES}
        for key, (unit, better, _) in MEASURES.items():
            names = (name, f"epsilon {given.epsilon}", key, f"{len(found)} releases")
            results.add(lines[name][key][0], unit, *names, better=better)
    print(f"\nEpsilon {given.epsilon}, {given.releases} releases of each\n")
    print(f"| | {' | '.join(MEASURES)} |\n|" + " --- |" * (len(MEASURES) + 1))
    for name, line in sorted(lines.items(), key=lambda pair: -pair[1]["k-marginal"][0]):
        cells = [
            f"{line[key][0]:.{digits}f}"
            + ("" if np.isnan(line[key][1]) else f" ± {line[key][1]:.{digits}f}")
            for key, (_, _, digits) in MEASURES.items()
        ]
        print(f"| {name} | {' | '.join(cells)} |")
    results.write(given.json)


if __name__ == "__main__":
    main()
