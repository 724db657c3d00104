"""All methods and baselines on UCI Adult, side by side. NOT PRIVATE.

    python benchmarks/compare.py [--data DIR] [--quick] [--out DIR] [--only NAME ...] [--dpmm DIR]
        [--splits N] [--seeds N] [--epsilons E ...]

The 45,222 complete rows, five splits into two thirds to publish and one third to test, epsilon 0.1,
0.25, 0.5 and 1. Every method gives simulated rows, as many as it counts, and answers to 1,000
random conjunctions of 2 to 4 attributes (an interval of a numeric one, a random half of the values
of a categorical one). Measured are

- tree and boosting: the accuracy on raw test rows of a model that was trained on the simulated rows
  (a tree by entropy with at least 20 records in a leaf; gradient boosting with scikit-learn's
  settings). Raw rows give 84.7% and 87.0%. Of boosting also the area under the ROC curve (AUC);
- error: the median of |answer - truth| / max(truth, 0.1% of the rows) over all queries, in brackets
  without those on capital-gain and capital-loss. What only makes rows is asked by counting them;
- CPU seconds of publishing and of drawing the rows.

Finished runs are kept in the folder of `--out`, so that a stopped comparison goes on where it was.
AIM, MST and PrivBayes run in an environment of their own, which `--dpmm DIR` names (it is made if
it is not there; Python 3.10 or 3.11).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

sys.path.insert(0, str(Path(__file__).parent))

import hedgerow as hr
from accuracy import boosting, mean_and_error, split
from data import add_data_option, adult
from hedgerow.errors import HedgerowError
from hedgerow.evaluate import NOT_PRIVATE, cpu_seconds, exact_counts, on_rows, random_conjunctions
from hedgerow.experiments.baselines import (
    RPS,
    ContingencyTable,
    DiffPC45,
    Marginals,
    mondrian,
    top_down_specialisation,
)
from hedgerow.experiments.baselines.dpmm import Dpmm, install
from hedgerow.experiments.data import adult_schema
from hedgerow.experiments.figures.runs import Runs
from hedgerow.table import read

EPSILONS = ("0.1", "0.25", "0.5", "1")
QUERIES, SANITY = 1000, 0.001
MOST_ROWS = 100_000
SPARSE = ("capital-gain", "capital-loss")
COLUMNS = ("tree", "boosting", "auc", "error", "error_dense", "cpu")


@dataclass(frozen=True)
class Made:
    """What a method gave: rows, answers if it has its own, and what it cost."""

    rows: pa.Table
    answers: Callable[[list[Any]], Any] | None
    seconds: float


Maker = Callable[[pa.Table, hr.Schema, str, int], Made]


def released(method: Any, delta: str = "0") -> Maker:
    """A method of ours, or a baseline that publishes regions."""

    def make(train: pa.Table, schema: hr.Schema, epsilon: str, seed: int) -> Made:
        def publish():
            release = hr.publish(train, schema, method, epsilon, delta=delta, seed=seed)
            # noise on very many cells counts millions, more than a model needs to see
            return release, release.synthesize(min(MOST_ROWS, int(release.counts.sum())), seed)

        (release, rows), seconds = cpu_seconds(publish)
        return Made(rows, lambda queries: release.count(queries).estimate, seconds)

    return make


def anonymised(function: Any, k: int) -> Maker:
    def make(train: pa.Table, schema: hr.Schema, epsilon: str, seed: int) -> Made:
        def publish():
            release = function(train, schema, k)
            return release, release.synthesize(seed=seed)

        (release, rows), seconds = cpu_seconds(publish)
        return Made(rows, lambda queries: release.count(queries).estimate, seconds)

    return make


def product(method: Marginals) -> Maker:
    def make(train: pa.Table, schema: hr.Schema, epsilon: str, seed: int) -> Made:
        def publish():
            model = method.publish(train, schema, epsilon, seed=seed)
            return model, model.synthesize(seed=seed)

        (model, rows), seconds = cpu_seconds(publish)
        return Made(rows, model.count, seconds)

    return make


def apart(name: Any, python: Path) -> Maker:
    def make(train: pa.Table, schema: hr.Schema, epsilon: str, seed: int) -> Made:
        rows, seconds = Dpmm(name).publish(train, schema, float(epsilon), seed, python)
        return Made(rows, None, seconds)

    return make


def raw(train: pa.Table, schema: hr.Schema, epsilon: str, seed: int) -> Made:
    return Made(train, None, 0.0)


# whether epsilon plays a part, and who makes it
METHODS: dict[str, tuple[bool, Maker]] = {
    "raw rows": (False, raw),
    "DiffMulti": (True, released(hr.DiffMulti(marginals=False))),
    "DiffMulti, marginals": (True, released(hr.DiffMulti(marginals=True))),
    "DiffMulti, marginals, delta 1e-6": (True, released(hr.DiffMulti(marginals=True), "1e-6")),
    "DiffGen": (True, released(hr.DiffGen())),
    "CDiffGen": (True, released(hr.CDiffGen())),
    "marginals by class": (True, product(Marginals())),
    "marginals": (True, product(Marginals(by_class=False))),
    "RPS": (True, released(RPS())),
    "DiffP-C4.5": (True, released(DiffPC45())),
    "contingency table": (True, released(ContingencyTable())),
    "Mondrian, k = 60 (not private)": (False, anonymised(mondrian, 60)),
    "TDS, k = 5 (not private)": (False, anonymised(top_down_specialisation, 5)),
}
APART = {"AIM": "aim", "MST": "mst", "PrivBayes": "privbayes"}


def measure(
    made: Made,
    train: pa.Table,
    test: pa.Table,
    schema: hr.Schema,
    number: int,
    models: tuple[str, ...] = ("tree", "boosting"),
) -> dict[str, float]:
    queries = random_conjunctions(schema, QUERIES, (2, 4), seed=number)
    sparse = {place for place, a in enumerate(schema.attributes) if a.name in SPARSE}
    dense = np.asarray([not sparse & {a for a, _ in query.where} for query in queries])
    truth = exact_counts(read(train, schema), queries)
    if made.answers is not None:
        answers = np.asarray(made.answers(queries))
    else:
        answers = exact_counts(read(made.rows, schema), queries) * (len(train) / len(made.rows))
    off = np.abs(answers - truth) / np.maximum(truth, SANITY * len(train))
    found = {"error": np.median(off), "error_dense": np.median(off[dense]), "cpu": made.seconds}
    if schema.target is not None and len(made.rows):
        if "tree" in models:
            found["tree"] = on_rows(made.rows, test, schema, "tree")
        if "boosting" in models:
            found["boosting"], found["auc"] = boosting(made.rows, test, schema)
    return found


def cell(found: tuple[float, float], digits: int) -> str:
    """A mean and its standard error, which one run does not tell."""
    mean, error = found
    known = "" if np.isnan(error) else f" ±{error:.{digits}f}"
    return f"{f'{mean:.{digits}f}{known}':>13}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_data_option(parser)
    parser.add_argument("--quick", action="store_true", help="one split, epsilon 0.1 and 1")
    parser.add_argument("--splits", type=int, default=5, help="how many of the five splits")
    parser.add_argument("--seeds", type=int, default=1, help="how many releases of each")
    parser.add_argument("--epsilons", nargs="+", default=EPSILONS, metavar="E")
    parser.add_argument("--out", type=Path, default=Path("compare"), help="where results are kept")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these methods alone")
    parser.add_argument("--dpmm", type=Path, metavar="DIR", help="an environment with dpmm 0.1.9")
    given = parser.parse_args()
    methods = dict(METHODS)
    if given.dpmm is None:
        print("AIM, MST and PrivBayes are left out: name an environment with --dpmm.")
    else:
        try:
            python = install(given.dpmm.resolve())
            methods |= {name: (True, apart(key, python)) for name, key in APART.items()}
        except HedgerowError as error:
            print(f"AIM, MST and PrivBayes are left out: {error}")
    if given.only:
        unknown = set(given.only) - set(methods)
        if unknown:
            sys.exit(f"There is no {', '.join(unknown)}; there are {', '.join(methods)}.")
        methods = {name: methods[name] for name in given.only}
    rows, schema = adult(given.data), adult_schema()
    runs = Runs(given.out / "runs.jsonl")
    epsilons, splits = (("0.1", "1"), 1) if given.quick else (given.epsilons, given.splits)
    print(NOT_PRIVATE)
    print(f"{'':34}{'epsilon':>8}  {'tree':>13}  {'boosting':>13}  {'AUC':>13}  "
          f"{'error':>21}  {'CPU s':>7}")  # fmt: skip
    for name, (uses_epsilon, make) in methods.items():
        for epsilon in epsilons if uses_epsilon else ("-",):
            found = []
            for again in range(given.seeds if uses_epsilon else 1):
                for number in range(splits):
                    key = {"method": name, "epsilon": epsilon, "split": number}
                    key |= {"seed": again} if again else {}

                    def compute(number=number, make=make, epsilon=epsilon, again=again):
                        train, test = split(rows, number)
                        made = make(train, schema, epsilon, number + 1000 * again)
                        return measure(made, train, test, schema, number)

                    found.append(runs.get(key, compute))
            mean = {c: mean_and_error([one.get(c, np.nan) for one in found]) for c in COLUMNS}
            print(f"{name:34}{epsilon:>8}  {cell(mean['tree'], 1)}  {cell(mean['boosting'], 1)}  "
                  f"{cell(mean['auc'], 3)}  {cell(mean['error'], 3)} "
                  f"({mean['error_dense'][0]:.3f})  {mean['cpu'][0]:>7.2f}",
                  flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
