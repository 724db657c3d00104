"""Our releases beside the simplest tables and the best specialists. NOT PRIVATE.

    python benchmarks/compare.py [--data DIR] [--quick] [--out DIR] [--json FILE]
        [--tables NAME ...] [--ours METHOD ...] [--only NAME ...] [--all] [--splits N] [--seeds N]
        [--epsilons E ...] [--opponent-splits N] [--opponent-epsilons E ...] [--known]
        [--opendp DIR] [--dpmm DIR] [--limit SECONDS]

UCI Adult, NIST's national excerpt with OWN_RENT as the class, nine public tables on which nothing
was tuned (small ones and strongly related ones among them) and a simulated one of 30 attributes:
see `tables.py`. Five splits into two thirds to publish and one third to test, epsilon 1, 0.5, 0.25
and 0.1. Every method gives as many simulated rows as it was given, at most 100,000, and answers to
queries; what only makes rows is asked by counting them. Measured are

- error, class_error, class, pairs, never, correlation: see `relationships.py`;
- tree and boosting: the accuracy on raw test rows of a model that was trained on the simulated rows
  (a tree by entropy with at least 20 records in a leaf; gradient boosting with scikit-learn's
  settings). Of boosting also the area under the ROC curve (AUC);
- CPU seconds of publishing and of drawing the rows, the median.

Printed first is where we lose (see `dominance.py`), then every comparison, then every method.

Ours are the methods of `--ours`, pure and with delta 1e-6; `default` is what `hr.publish` takes
without a method. They stand beside one-way tables and tables by class that are denoised like ours
and get the whole budget, and beside AIM and MST of OpenDP 0.16, which run in an environment of
their own, in the folder of `--opendp` (made there if need be). AIM gets all pairs as its workload,
and 16 rounds (by default it has 16 for each column) and a model of 16 MB, so that it finishes:
fewer rounds that are fitted to the end are better than more that are not. MST gets OpenDP's
defaults. Both have `--limit` CPU seconds, since they take minutes. Their rows are drawn
independently, since the default of mbi 1.1 relates columns that have a parent in common.
`--dpmm DIR` adds AIM (bounded to 1 MB and 100 steps), MST and PrivBayes of dpmm 0.1.9, `--all` also
our other methods and further baselines; `--only` names entries by hand.

Finished runs are kept in the folder of `--out`, so that a stopped comparison goes on where it was;
of others also their rows, so that they need not run again if a measure changes. Runs of ours are
kept for the commit that is measured, and not at all if files were changed since. With `--known`
opponents are shown as far as they are known, and not run.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

sys.path.insert(0, str(Path(__file__).parent))

import hedgerow as hr
from accuracy import boosting, mean_and_error, split
from data import add_data_option, adult
from dominance import Compared, losses, print_dominance, print_losses
from hedgerow.data import read
from hedgerow.errors import HedgerowError
from hedgerow.evaluation import NOT_PRIVATE, random_conjunctions
from hedgerow.release.table_releases import MarginalsRelease
from papers.baselines import (
    RPS,
    ContingencyTable,
    DiffPC45,
    Marginals,
    apart,
    mondrian,
    top_down_specialization,
)
from papers.baselines.apart import AIM_FINISHES, DPMM, OPENDP, Dpmm, OpenDP, install
from papers.classify import on_rows
from papers.clusters import cpu_seconds
from papers.data import adult_schema
from papers.figure import Runs
from relationships import QUERIES, Answers, judge, relative_errors
from results import Results, add_json_option, commit
from tables import Task, asked_for, cramers_v, nist, of_people, unseen, weakly_related, wide

EPSILONS = ("1", "0.5", "0.25", "0.1")
DELTA = "1e-6"
MOST_ROWS = 100_000
AIM = {"queries": 2, "steps": 1000, "max_size": 16.0, "rounds": 16}  # so that it finishes
SPARSE = ("capital-gain", "capital-loss")
JUDGED = 3  # runs that were judged otherwise are not taken from the folder
# unit, what is better, digits
COLUMNS = {
    "error": ("median relative error", "less", 3),
    "error_dense": ("median relative error", "less", 3),
    "class_error": ("median relative error", "less", 3),
    "class_error_one": ("median relative error", "less", 3),
    "class": ("total variation", "less", 3), "pairs": ("total variation", "less", 3),
    "never": ("share of rows", "less", 3), "correlation": ("correlation", "less", 3),
    "counted_correlation": ("correlation", "less", 3),
    "auc": ("AUC", "more", 3), "boosting": ("% right", "more", 1), "tree": ("% right", "more", 1),
    "cpu": ("CPU s", "less", 2),
}  # fmt: skip


@dataclass(frozen=True)
class Made:
    """What a method gave: rows, answers if it has its own, and what it cost."""

    rows: pa.Table
    answers: Answers | None
    seconds: float
    counted: tuple[tuple[int, int], ...] = ()  # pairs of attributes


Maker = Callable[[pa.Table, hr.Schema, str, int], Made]


def released(method: Any, delta: str = "0") -> Maker:
    """A method of ours, or a baseline that publishes regions."""

    def make(train: pa.Table, schema: hr.Schema, epsilon: str, seed: int) -> Made:
        def publish():
            release = hr.publish(train, schema, method, epsilon, delta=delta, seed=seed)
            return release, release.synthesize(min(MOST_ROWS, len(train)), seed=seed)

        (release, rows), seconds = cpu_seconds(publish)
        counted = ()
        if isinstance(release, MarginalsRelease):
            tables = (table.columns for table in release.tables.tables if table.grouped)
            counted = tuple((min(one[:2]), max(one[:2])) for one in tables)
        return Made(rows, lambda queries: release.count(queries).estimate, seconds, counted)

    return make


def anonymized(function: Any, k: int) -> Maker:
    def make(train: pa.Table, schema: hr.Schema, epsilon: str, seed: int) -> Made:
        def publish():
            release = function(train, schema, k)
            return release, release.synthesize(min(MOST_ROWS, len(train)), seed=seed)

        (release, rows), seconds = cpu_seconds(publish)
        return Made(rows, lambda queries: release.count(queries).estimate, seconds)

    return make


def product(method: Marginals, delta: str) -> Maker:
    def make(train: pa.Table, schema: hr.Schema, epsilon: str, seed: int) -> Made:
        def publish():
            model = method.publish(train, schema, epsilon, delta, seed)
            return model, model.synthesize(min(MOST_ROWS, len(train)), seed=seed)

        (model, rows), seconds = cpu_seconds(publish)
        return Made(rows, model.count, seconds)

    return make


def specialist(method: Dpmm | OpenDP, folder: Path, environment: Path) -> Maker:
    """A method of another package, whose rows are kept in a folder."""

    def make(train: pa.Table, schema: hr.Schema, epsilon: str, seed: int) -> Made:
        raw = hashlib.sha256(read(train, schema).codes.tobytes()).hexdigest()
        unlimited = str(replace(method, limit=None))
        names = json.dumps([unlimited, schema.to_dict(), raw, epsilon, seed], default=str)
        place = folder / f"{hashlib.sha256(names.encode()).hexdigest()[:24]}.parquet"
        if not place.exists():
            python = install(environment, DPMM if isinstance(method, Dpmm) else OPENDP)
            rows, seconds = method.publish(train, schema, float(epsilon), seed, python)
            folder.mkdir(parents=True, exist_ok=True)
            parquet.write_table(rows.replace_schema_metadata({"cpu": str(seconds)}), place)
        rows = parquet.read_table(place)
        return Made(rows, None, float(rows.schema.metadata[b"cpu"]))

    return make


def raw(train: pa.Table, schema: hr.Schema, epsilon: str, seed: int) -> Made:
    return Made(train, None, 0.0)


@dataclass(frozen=True)
class Entry:
    """Who is compared.

    Args:
        make: Makes its rows.
        delta: The delta of its guarantee; None if it has none, so that epsilon plays no part.
        settings: What else tells its runs apart.
        role: "ours"; "simple", one of the simplest tables; "specialist"; or "other".
    """

    make: Maker
    delta: str | None = "0"
    settings: str = ""
    role: str = "other"


def entries_of(given: argparse.Namespace) -> dict[str, Entry]:
    """Everybody who can be compared, by name."""
    now = commit()
    entries = {"raw rows": Entry(raw, None)}
    for name in given.ours:
        for delta in ("0", DELTA):
            method = None if name == "default" else name
            entries[f"{name}, delta {delta}"] = Entry(released(method, delta), delta, now, "ours")
    for name, method in (
        ("one-way tables", Marginals(by_class=False)), ("tables by class", Marginals()),
    ):  # fmt: skip
        for delta in ("0", DELTA):
            entries[f"{name}, delta {delta}"] = Entry(product(method, delta), delta, role="simple")
    entries |= specialists(given)
    others: dict[str, tuple[Maker, str | None]] = {
        "DiffMulti": (released(hr.DiffMulti()), "0"),
        "DiffGen": (released(hr.DiffGen()), "0"),
        "CDiffGen": (released(hr.CDiffGen()), "0"),
        "RPS": (released(RPS()), "0"),
        "DiffP-C4.5": (released(DiffPC45()), "0"),
        "contingency table": (released(ContingencyTable()), "0"),
        "Mondrian, k = 60 (not private)": (anonymized(mondrian, 60), None),
        "TDS, k = 5 (not private)": (anonymized(top_down_specialization, 5), None),
    }
    return entries | {name: Entry(make, delta, now) for name, (make, delta) in others.items()}


def specialists(given: argparse.Namespace) -> dict[str, Entry]:
    """AIM and MST of OpenDP, pure and with a delta; of dpmm AIM, MST and PrivBayes, if named."""
    methods: dict[str, tuple[Dpmm | OpenDP, str, Path | None]] = {}
    for delta in ("0", DELTA):
        for name, theirs in (
            ("AIM", OpenDP("aim", delta=delta, settings=AIM, limit=given.limit)),
            ("MST", OpenDP("mst", delta=delta, limit=given.limit)),
        ):
            methods[f"{name}, delta {delta}"] = (theirs, delta, given.opendp)
    if given.dpmm or given.all:
        for name, key, settings in (
            ("AIM", "aim", AIM_FINISHES), ("MST", "mst", {}), ("PrivBayes", "privbayes", {}),
        ):  # fmt: skip
            method = Dpmm(key, delta=float(DELTA), settings=settings, limit=given.limit)
            methods[f"{name} of dpmm, delta {DELTA}"] = (method, DELTA, given.dpmm)
    kept = given.out / "rows"
    entries = {}
    for name, (method, delta, folder) in methods.items():
        place = folder or given.out / ("dpmm" if isinstance(method, Dpmm) else "opendp")
        make = specialist(method, kept, place.resolve())
        entries[name] = Entry(make, delta, str(method), "specialist")
    return entries


def all_tables(folder: Path | None) -> Iterator[Task | str]:
    yield nist(folder, "OWN_RENT")
    yield from of_people()
    yield Task("Adult", adult(folder), adult_schema(), True)
    yield weakly_related()
    yield wide()
    yield from unseen()


def measure(
    made: Made,
    train: pa.Table,
    test: pa.Table,
    schema: hr.Schema,
    number: int,
    models: tuple[str, ...] = ("tree", "boosting"),
) -> dict[str, float]:
    raw, rows = read(train, schema), read(made.rows, schema)
    worth = judge(raw, rows, made.answers, schema, number, made.counted) | {"cpu": made.seconds}
    sparse = {place for place, a in enumerate(schema.attributes) if a.name in SPARSE}
    if sparse:
        queries = random_conjunctions(schema, QUERIES, (2, 4), seed=number)
        dense = [query for query in queries if not sparse & {a for a, _ in query.where}]
        worth["error_dense"] = float(np.median(relative_errors(raw, rows, made.answers, dense)))
    if schema.target is not None and len(made.rows):
        if "tree" in models:
            worth["tree"] = on_rows(made.rows, test, schema, "tree")
        if "boosting" in models:
            worth["boosting"], worth["auc"] = boosting(made.rows, test, schema)
    return worth


Line = dict[str, tuple[float, float]]
"""Of each column the mean and its standard error."""


def told(line: Line, column: str) -> str:
    """A mean and its standard error, which one run does not tell."""
    (mean, error), digits = line[column], COLUMNS[column][2]
    if np.isnan(mean):
        return "-"
    return f"{mean:.{digits}f}" + ("" if np.isnan(error) else f" ± {error:.{digits}f}")


def line_of(runs: list[dict[str, float]]) -> Line:
    """The means of some runs."""
    line = {c: mean_and_error([one.get(c, np.nan) for one in runs]) for c in COLUMNS}
    # the first run compiles, which a mean would spread over all of them
    line["cpu"] = (float(np.median([one.get("cpu", np.nan) for one in runs])), np.nan)
    return line


def show(task: Task, lines: dict[tuple[str, str], list[dict[str, float]]]) -> None:
    """The table of a table, in Markdown."""
    related = list(cramers_v(read(task.rows, task.schema)).values())
    print(
        f"\n{task.name}: {len(task.rows):,} rows, {len(task.schema.attributes)} attributes;"
        f" Cramer's V of two of them: mean {np.mean(related):.3f}, median {np.median(related):.3f}"
    )
    shown = [column for column in COLUMNS if column != "error_dense"]
    print(f"\n| | epsilon | runs | {' | '.join(shown)} |\n|" + " --- |" * (len(shown) + 3))
    for (name, epsilon), runs in sorted(lines.items(), key=lambda pair: -float(pair[0][1] or 9)):
        line = line_of(runs)
        cells = {column: told(line, column) for column in shown}
        if not np.isnan(line["error_dense"][0]):
            cells["error"] += f" ({line['error_dense'][0]:.3f})"
        if any("unfinished" in one for one in runs):
            cells["error"] = "not finished"
        words = (name, epsilon, len(runs), *cells.values())
        print("| " + " | ".join(map(str, words)) + " |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_data_option(parser)
    parser.add_argument("--quick", action="store_true", help="one split, epsilon 0.1 and 1")
    parser.add_argument("--splits", type=int, default=5, help="how many splits")
    parser.add_argument("--seeds", type=int, default=1, help="how many releases of each")
    parser.add_argument("--epsilons", nargs="+", default=EPSILONS, metavar="E")
    parser.add_argument("--out", type=Path, default=Path("compare"), help="where results are kept")
    parser.add_argument("--tables", nargs="+", metavar="NAME", help="these tables alone")
    parser.add_argument("--ours", nargs="+", default=["default"], metavar="METHOD",
                        help="methods of ours, by name")  # fmt: skip
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these entries alone")
    parser.add_argument("--all", action="store_true", help="also our other methods and baselines")
    parser.add_argument("--known", action="store_true", help="run no opponent")
    parser.add_argument("--dpmm", type=Path, metavar="DIR", help="an environment with dpmm 0.1.9")
    parser.add_argument("--opendp", type=Path, metavar="DIR",
                        help="an environment with opendp[mbi] 0.16")  # fmt: skip
    parser.add_argument("--opponent-splits", type=int, default=5)
    parser.add_argument("--opponent-epsilons", nargs="+", default=EPSILONS, metavar="E")
    parser.add_argument("--limit", type=int, default=900, help="CPU seconds for a run of theirs")
    add_json_option(parser)
    given = parser.parse_args()
    entries = entries_of(given)
    if given.only:
        unknown = set(given.only) - set(entries)
        if unknown:
            sys.exit(f"There is no {', '.join(unknown)}; there are {', '.join(entries)}.")
        entries = {name: entries[name] for name in given.only}
    elif not given.all:
        entries = {n: e for n, e in entries.items() if e.role != "other" or n == "raw rows"}
    results = Results("compare")
    print(NOT_PRIVATE)
    everything: dict[str, dict[tuple[str, str], list[dict[str, float]]]] = {}
    compared: list[Compared] = []
    with tempfile.TemporaryDirectory() as passing:
        kept = {
            "": Runs(given.out / "runs.jsonl"),
            commit(): Runs((Path(passing) if _changed() else given.out) / f"{commit()}.jsonl"),
        }
        tasks = list(asked_for(all_tables(given.data), given.tables))
        for task in tasks:
            lines = everything[task.name] = {}
            for name, entry in entries.items():
                for epsilon, runs in runs_of(kept, task, name, entry, given):
                    lines[name, epsilon] = runs
                    for column, (unit, better, _) in COLUMNS.items():
                        names = (task.name, name, f"epsilon {epsilon or 'none'}", column)
                        mean = line_of(runs)[column][0]
                        results.add(mean, unit, *names, f"{len(runs)} runs", better=better)
            compared += losses(task.name, lines, {n: (e.role, e.delta) for n, e in entries.items()})
            results.write(given.json)
    print_losses(compared)
    print_dominance(compared)
    for task in tasks:
        show(task, everything[task.name])


def _changed() -> bool:
    return commit().endswith("-dirty") or not commit()


def runs_of(
    kept: dict[str, Runs], task: Task, name: str, entry: Entry, given: argparse.Namespace
) -> Iterator[tuple[str, list[dict[str, float]]]]:
    """For each epsilon the runs of one method on one table; nothing where there is none."""
    theirs = entry.role == "specialist"
    epsilons = given.opponent_epsilons if theirs else given.epsilons
    splits = given.opponent_splits if theirs else given.splits
    if given.quick:
        epsilons, splits = ("1", "0.1"), 1
    for epsilon in epsilons if entry.delta is not None else ("",):
        runs = []
        for again in range(given.seeds if entry.delta is not None and not theirs else 1):
            for number in range(splits):
                key: dict[str, object] = {
                    "table": task.name, "method": name, "epsilon": epsilon, "split": number,
                    "seed": again, "settings": entry.settings, "judged": JUDGED,
                }  # fmt: skip
                store = kept.get(entry.settings, kept[""])
                if given.known and theirs and not store.knows(key):
                    continue
                try:
                    runs.append(one_run(store, key, task, entry) | {"run": number + 1000 * again})
                except HedgerowError as error:
                    print(f"{task.name}, {name} is left out: {error}", file=sys.stderr)
                    return
        if runs:
            yield epsilon, runs


def one_run(store: Runs, key: dict[str, Any], task: Task, entry: Entry) -> dict[str, float]:
    """What a release of one split was worth; known from an earlier run, or measured now."""

    def compute() -> dict[str, float]:
        train, test = split(task.rows, key["split"])
        seed = key["split"] + 1000 * key["seed"]
        try:
            made = entry.make(train, task.schema, key["epsilon"], seed)
        except apart.Unfinished:
            return {"unfinished": 1.0}
        return measure(made, train, test, task.schema, key["split"])

    if not store.knows(key):
        words = (key[name] for name in ("table", "method", "epsilon", "split"))
        print(", ".join(map(str, words)), file=sys.stderr, flush=True)
    return store.get(key, compute)


if __name__ == "__main__":
    main()
