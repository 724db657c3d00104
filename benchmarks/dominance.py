"""Does a release ever lose to something simpler? NOT PRIVATE.

    python benchmarks/dominance.py [--data DIR] [--out DIR] [--splits N] [--tables NAME ...]
        [--epsilons E ...]

UCI Adult, NIST's national excerpt with and without a class, and tables that no rule was chosen on.
Two thirds are published and one third tests, as in `compare.py`, with the same measures. Our
method stands beside whoever gives the whole budget to one thing: plain marginals, marginals
by class, regions alone, and one-way tables of our own cells, denoised like ours. Printed are

- the error of counts, and its ratio to the better of both kinds of marginals: above 1.05 is a loss;
- the AUC of boosting, and how far it lies above the best of regions and marginals by class: below
  -0.01 is a loss.

Finished runs are kept in the folder of `--out`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa

sys.path.insert(0, str(Path(__file__).parent))

import hedgerow as hr
from accuracy import mean_and_error, split
from compare import EPSILONS, METHODS, Made, measure
from compare import OURS as OURS_BY_DELTA
from data import add_data_option, adult
from hedgerow.estimate.denoise import denoise
from hedgerow.evaluate import NOT_PRIVATE
from hedgerow.experiments.data import adult_schema
from hedgerow.experiments.figures.runs import Runs
from hedgerow.measured.edges import edges_of
from hedgerow.schema import Categorical
from hedgerow.table import read
from tables import Task, asked_for, nist, unseen

OURS, REGIONS = OURS_BY_DELTA["0"], "DiffMulti"
PLAIN, BY_CLASS = "marginals", "marginals by class"
DENOISED = "denoised"
MOST_RATIO, MOST_BEHIND = 1.05, 0.01


def denoised(train: pa.Table, schema: hr.Schema, epsilon: str, seed: int) -> Made:
    """One-way tables with the whole budget, denoised like ours; attributes are independent."""
    random = np.random.default_rng(seed)
    codes = read(train, schema).codes
    scale = len(schema.attributes) / float(epsilon)
    total = max(1.0, len(train) + random.laplace(0, 10 / float(epsilon)))  # for nothing
    masses = []
    for place, attribute in enumerate(schema.attributes):
        edges = edges_of(attribute)
        cells = np.histogram(codes[:, place], np.append(edges[:-1] - 0.5, attribute.size))[0]
        noisy = cells + random.laplace(0, scale, len(cells))
        ordered = not isinstance(attribute, Categorical)
        mass = denoise(noisy, total, 2**0.5 * scale, ordered=ordered) / np.diff(edges)
        masses.append(np.concatenate([[0], np.cumsum(np.repeat(mass, np.diff(edges)))]) / total)

    def share(place: int, low: float, high: float) -> float:
        codes = np.arange(len(masses[place]))
        return float(np.diff(np.interp([low, high], codes, masses[place]))[0])

    def count(queries):
        return [
            total * np.prod([sum(share(a, *ends) for ends in parts) for a, parts in query.where])
            for query in queries
        ]

    return Made(train.slice(0, 0), count, 0.0)


def all_tables(folder: Path | None) -> Iterator[Task | str]:
    yield Task("Adult", adult(folder), adult_schema(), True)
    yield nist(folder)
    yield nist(folder, "OWN_RENT")
    yield from unseen()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_data_option(parser)
    parser.add_argument("--out", type=Path, default=Path("dominance"), help="where results go")
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--tables", nargs="+", metavar="NAME", help="these alone")
    parser.add_argument("--epsilons", nargs="+", default=EPSILONS[::-1], metavar="E")
    given = parser.parse_args()
    runs = Runs(given.out / "runs.jsonl")
    makers = {name: METHODS[name].make for name in (OURS, REGIONS, PLAIN, BY_CLASS)}
    makers[DENOISED] = denoised
    print(NOT_PRIVATE)
    print("| table | epsilon | error | marginals | by class | ratio | denoised | AUC | by class "
          "| regions | ahead | lost |\n|" + " --- |" * 12)  # fmt: skip
    for task in asked_for(all_tables(given.data), given.tables):
        classless = task.schema.target is None
        for epsilon in given.epsilons:
            error, auc = {}, {}
            for name, make in makers.items():
                if classless and name in {BY_CLASS, REGIONS} - {OURS}:
                    continue
                found = []
                for number in range(given.splits):
                    key = {"table": task.name, "method": name, "epsilon": epsilon, "split": number}

                    def compute(number=number, make=make, task=task, epsilon=epsilon):
                        train, test = split(task.rows, number)
                        made = make(train, task.schema, epsilon, number)
                        return measure(made, train, test, task.schema, number, ("boosting",))

                    found.append(runs.get(key, compute))
                error[name] = mean_and_error([one["error"] for one in found])
                auc[name] = mean_and_error([one.get("auc", np.nan) for one in found])
            show(task.name, epsilon, error, auc)


def show(
    table: str,
    epsilon: str,
    error: dict[str, tuple[float, float]],
    auc: dict[str, tuple[float, float]],
) -> None:
    """One line of the table."""

    def told(found: dict[str, tuple[float, float]], name: str, error: bool = False) -> str:
        if name not in found or np.isnan(found[name][0]):
            return "-"
        return f"{found[name][0]:.3f}" + (f" ± {found[name][1]:.3f}" if error else "")

    ratio = error[OURS][0] / min(error[name][0] for name in (PLAIN, BY_CLASS) if name in error)
    ahead = auc[OURS][0] - max([auc[name][0] for name in (REGIONS, BY_CLASS) if name in auc] or [0])
    lost = ["counts"] * (ratio > MOST_RATIO) + ["AUC"] * (ahead < -MOST_BEHIND)
    print(f"| {table} | {epsilon} | {told(error, OURS, True)} | {told(error, PLAIN)} "
          f"| {told(error, BY_CLASS)} | {ratio:.2f} | {told(error, DENOISED)} "
          f"| {told(auc, OURS, True)} | {told(auc, BY_CLASS)} | {told(auc, REGIONS)} "
          f"| {'-' if np.isnan(ahead) else f'{ahead:+.3f}'} | {', '.join(lost)} |",
          flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
