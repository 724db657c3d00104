"""Does consistency pay? CDiffGen beside DiffGen on UCI Adult. NOT PRIVATE.

    python benchmarks/queries.py [--data DIR] [--quick] [--speed | --gains [--csv FILE]]
                                 [--json FILE]

For each epsilon, number of specializations and score: classification accuracy (2/3 to publish, 1/3
to test) and average relative error of range counts (sanity bound 0.1% of the rows) over random
queries that cover at least 50 leaves: conditions on one, two or three attributes whose edges
follow the regions, where only noise counts, and queries on two or three with edges anywhere.

With `--speed` instead: CPU seconds of counts of two to four conditions on a release.

With `--gains` instead: tables without a class, by the scores `ncp` and `discernibility`, as gains
and as the penalties that they were before, all else being equal. For each release NCP,
discernibility over the number of rows (how many records a record cannot be told from, on average)
and the average relative error of counts of two and three conditions that cover a fifth of the
domain. DiffMulti by `discernibility` is left out: inside a region both forms rank alike.
"""

from __future__ import annotations

import argparse
import csv
import math
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from unittest.mock import patch

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

import hedgerow as hr
from data import ADULT_SCHEMA as SCHEMA
from data import add_data_option, adult
from hedgerow.data import Table, read
from hedgerow.estimate.measurements import half_width
from hedgerow.evaluation import (
    NOT_PRIVATE,
    discernibility,
    exact_counts,
    ncp,
    random_conjunctions,
    random_queries,
)
from hedgerow.methods import scores
from hedgerow.methods.cdiffgen import GROWTH_UNITS
from hedgerow.methods.diffgen import ROWS_UNITS, UNITS
from hedgerow.schema.query import Query
from papers.cdiffgen import LEAVES, aligned_queries, covered
from results import Results, add_json_option, commit
from tables import Task, nist, of_people

SANITY = 0.001
KINDS = ("1 attribute", "2 attributes", "3 attributes", "anywhere")  # of queries


def large(release: hr.TableRelease, queries: list[Query]) -> list[Query]:
    """The queries that cover at least 50 leaves."""
    lo, hi = release.partition.bounds(np.arange(release.partition.cells))
    kept = []
    for query in queries:
        met = np.ones(len(lo), dtype=np.bool_)
        for a, ((low, high),) in query.where:
            met &= (lo[:, a] < high) & (hi[:, a] > low)
        if met.sum() >= LEAVES:
            kept.append(query)
    return kept


def relative_error(release: hr.TableRelease, table: Table, queries: list[Query]) -> float:
    queries = large(release, queries)
    if not queries:
        return float("nan")
    truth = exact_counts(table, queries)
    answers = release.count(queries)
    bound = SANITY * len(table.codes)
    return float(np.mean(np.abs(answers.estimate - truth) / np.maximum(truth, bound)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    add_data_option(parser)
    parser.add_argument("--quick", action="store_true", help="two epsilons, two runs")
    parser.add_argument(
        "--same-tree", action="store_true",
        help="instead: the noise of CDiffGen's answers over that of leaves alone, on one tree",
    )  # fmt: skip
    parser.add_argument("--speed", action="store_true", help="instead: CPU seconds of counts")
    parser.add_argument(
        "--gains", action="store_true", help="instead: scores as gains beside penalties"
    )
    parser.add_argument(
        "--csv", type=Path, metavar="FILE", help="with --gains: also write its table there"
    )
    add_json_option(parser)
    arguments = parser.parse_args()
    if arguments.gains:
        results = Results("gains")
        lines = gains(arguments.data, 2 if arguments.quick else RUNS, results)
        results.write(arguments.json)
        if arguments.csv is not None:
            with arguments.csv.open("w", newline="", encoding="utf-8") as file:
                csv.writer(file).writerows(lines)
        return
    schema = hr.Schema.load(SCHEMA)
    rows = adult(arguments.data)
    if arguments.speed:
        results = Results("queries")
        speed(rows, schema, 10_000 if arguments.quick else 100_000, results)
        results.write(arguments.json)
        return
    runs = 2 if arguments.quick else 5
    if arguments.same_tree:
        same_tree(rows, schema, runs)
        return
    epsilons = ("0.25", "1") if arguments.quick else ("0.1", "0.25", "0.5", "1")
    sizes = (7, 13) if arguments.quick else (4, 7, 10, 13, 16)
    print(NOT_PRIVATE)
    print("Relative errors are CDiffGen's over DiffGen's; in brackets DiffGen's own.")
    heads = "".join(f" {head:>17}" for head in ("1 attribute", "2", "3", "anywhere"))
    print(f"{'score':>8} {'schedule':>8} {'epsilon':>7} {'h':>3} |", end="")
    print(f" accuracy: DiffGen CDiffGen   |{heads}")
    results = Results("queries")
    for score in ("max", "infogain"):
        for schedule in ("tuned", "paper"):
            for epsilon in epsilons:
                for size in sizes:
                    found = np.full((2, 5, runs), np.nan)
                    for which, kind in enumerate((hr.DiffGen, hr.CDiffGen)):
                        method = kind(score=score, schedule=schedule, specializations=size)
                        for seed in range(runs):
                            found[which, :, seed] = measure(rows, schema, method, epsilon, seed)
                    plain, consistent = (mean_of_known(half) for half in found)
                    setting = (score, schedule, f"epsilon {epsilon}", f"h = {size}", f"{runs} runs")
                    for name, means in (("DiffGen", plain), ("CDiffGen", consistent)):
                        results.add(means[0], "% right", name, *setting, "accuracy", better="more")
                        for kind, mean in zip(KINDS, means[1:], strict=True):
                            results.add(mean, "relative error", name, *setting, kind)
                    ratios = "".join(
                        f" {new / old:>8.2f} ({old:>6.2f})" if old > 0 else " " * 18
                        for old, new in zip(plain[1:], consistent[1:], strict=True)
                    )
                    error = np.std(found[0, 0] - found[1, 0]) / np.sqrt(runs)
                    print(f"{score:>8} {schedule:>8} {epsilon:>7} {size:>3} |"
                          f" {plain[0]:>16.2f} {consistent[0]:>8.2f} ±{error:.1f} |{ratios}",
                          flush=True)  # fmt: skip
    results.write(arguments.json)


def speed(rows, schema, number: int, results: Results) -> None:
    """CPU seconds of many counts on Adult's release, as a recipient opens it."""
    queries = random_conjunctions(schema, number, (2, 4), seed=1)
    made = hr.publish(rows, schema, epsilon="1", seed=1)
    with tempfile.TemporaryDirectory() as folder:
        made.save(f"{folder}/release")
        release = hr.Release.load(f"{folder}/release")
    some = queries[:1000]
    for what, action in (
        ("the first count", lambda: release.estimate("everybody")),
        ("1,000 estimates for the first time", lambda: release.estimate(some)),
        ("1,000 estimates", lambda: release.estimate(some)),
        (f"{number:,} estimates", lambda: release.estimate(queries)),
        ("1,000 with intervals for the first time", lambda: release.count(some)),
        ("1,000 with intervals", lambda: release.count(some)),
        (f"{number:,} with intervals", lambda: release.count(queries)),
    ):
        start = time.process_time()
        action()
        seconds = time.process_time() - start
        print(f"{what:55}{seconds:8.2f} s", flush=True)
        results.add(seconds, "s", "counts", what)


RUNS = 5
HEAD = ("table", "method", "score", "epsilon", "measure", "gains", "its error", "penalties",
        "its error", "ratio", "standard errors apart", "runs", "commit")  # fmt: skip


def gains(folder: Path | None, runs: int, results: Results) -> list[tuple[object, ...]]:
    """What gains win over penalties on tables without a class: lines of a table."""
    print(NOT_PRIVATE)
    lines: list[tuple[object, ...]] = [HEAD]
    print("Gains, penalties in brackets, their ratio, and their difference in standard errors.")
    heads = "".join(f" {head:>36} |" for head in ("NCP", "discernibility", "count error"))
    print(f"{'table':>14} {'method':>10} {'score':>14} {'eps':>4} |{heads}")
    for task in without_class(folder):
        table = read(task.rows, task.schema)
        queries = [q for k in (2, 3) for q in random_queries(task.schema, 60, k, 0.2, seed=1)]
        truth = exact_counts(table, queries)
        for kind in (hr.DiffMulti, hr.DiffGen, hr.CDiffGen):
            for score in ("ncp",) if kind is hr.DiffMulti else ("ncp", "discernibility"):
                for epsilon in ("1", "0.1"):
                    found = np.empty((2, runs, 3))
                    for seed in range(runs):
                        for which, form in enumerate((partial(penalties, False), penalties)):
                            with form():
                                release = hr.publish(
                                    task.rows, task.schema, kind(score=score), epsilon, seed=seed
                                )
                            off = np.abs(release.estimate(queries) - truth)
                            found[which, seed] = (
                                ncp(table, release.partition),
                                discernibility(table, release.partition) / len(table.codes),
                                np.mean(off / np.maximum(truth, SANITY * len(table.codes))),
                            )
                    setting = (task.name, kind.name, score, f"epsilon {epsilon}", f"{runs} runs")
                    print(f"{task.name:>14} {kind.name:>10} {score:>14} {epsilon:>4} |", end="")
                    for place, measure in enumerate(("NCP", "discernibility", "count error")):
                        new, old = found[:, :, place]
                        for form, values in (("gains", new), ("penalties", old)):
                            results.add(values.mean(), "", *setting, measure, form)
                        # runs with the same seed share nothing but the noisy number of rows
                        errors = [math.sqrt(one.var(ddof=1) / runs) for one in (new, old)]
                        gap, error = new.mean() - old.mean(), math.hypot(*errors)
                        away = gap / error if error else math.copysign(math.inf, gap) if gap else 0
                        ratio = new.mean() / old.mean()
                        line = f" {new.mean():8.4g} ({old.mean():8.4g})"
                        print(f"{line} {ratio:8.2f} {away:+8.1f} |", end="")
                        numbers = (new.mean(), errors[0], old.mean(), errors[1], ratio, away)
                        told = (f"{number:.4g}" for number in numbers)
                        lines.append((task.name, kind.name, score, epsilon, measure, *told, runs,
                                      commit()))  # fmt: skip
                    print(flush=True)
    return lines


@contextmanager
def penalties(on: bool = True) -> Iterator[None]:
    """Compares the scores of all schedules as the papers do."""
    as_published = partial(as_penalties, scores.candidates)
    with (
        patch("hedgerow.methods.scores.candidates", as_published if on else scores.candidates),
        patch("hedgerow.methods.diffmulti.candidates", as_published if on else scores.candidates),
    ):
        yield


def as_penalties(candidates, *given, apart, paper):
    return candidates(*given, apart=apart, paper=True)


def without_class(folder: Path | None) -> Iterator[Task]:
    """Adult, NIST's excerpt and two tables of people, with every column a predictor."""
    found = [Task("Adult", adult(folder), hr.Schema.load(SCHEMA), True), nist(folder)]
    found += [t for t in of_people() if isinstance(t, str) or t.name in ("nassCDS", "labsup")]
    for task in found:
        if isinstance(task, str):
            print(task)
            continue
        document = task.schema.to_dict()
        for attribute in document["attributes"].values():
            attribute.pop("role", None)
        yield Task(task.name, task.rows, hr.Schema.from_dict(document), task.fitted)


def same_tree(rows, schema, runs: int) -> None:
    """How much noise the counts of inner nodes save, all else being equal.

    Leaves alone would get all of the counts' budget; their noise is known without drawing it.
    """
    counts = 1 - (GROWTH_UNITS + ROWS_UNITS) / UNITS  # of epsilon
    print(NOT_PRIVATE)
    print(f"{'epsilon':>7} {'h':>3} {'1 attribute':>12} {'2':>6} {'3':>6}")
    for epsilon in ("0.25", "1"):
        variance = 2 / (float(epsilon) * counts) ** 2 * len(schema.classes)
        for size in (10, 13, 16):
            ratios = {1: [], 2: [], 3: []}
            for seed in range(runs):
                method = hr.CDiffGen(score="max", specializations=size)
                release = hr.publish(rows, schema, method, epsilon, seed=seed)
                source = np.random.default_rng(seed)
                for attributes, found in ratios.items():
                    for query in aligned_queries(release, 100, attributes, source):
                        leaves = covered(release, query)
                        if leaves >= LEAVES:
                            alone = half_width(np.sqrt(leaves * variance), 0.95)
                            found.append(float(release.count(query).noise[0] / alone))
            means = " ".join(f"{np.mean(found):>6.2f}" for found in ratios.values())
            print(f"{epsilon:>7} {size:>3} {' ' * 5} {means}", flush=True)


def mean_of_known(values: np.ndarray) -> list[float]:
    """The mean of each row, leaving out runs without a query that is large enough."""
    known = [row[~np.isnan(row)] for row in values]
    return [float(row.mean()) if len(row) else float("nan") for row in known]


def measure(rows, schema, method, epsilon: str, seed: int) -> tuple[float, ...]:
    """Accuracy, and relative errors of aligned and of random queries."""
    source = np.random.default_rng(seed)
    order = source.permutation(rows.num_rows)
    train, test = order[: len(order) * 2 // 3], order[len(order) * 2 // 3 :]
    release = hr.publish(rows.take(train), schema, method, epsilon, seed=seed)
    held_out = rows.take(test)
    predicted = release.predict(held_out).column(0).to_numpy(zero_copy_only=False)
    actual = held_out.column(schema.target.name).to_numpy(zero_copy_only=False)
    table = read(rows.take(train), schema)
    aligned = [aligned_queries(release, 200, attributes, source) for attributes in (1, 2, 3)]
    anywhere = [
        query
        for attributes in (2, 3)
        for query in random_queries(schema, 100, attributes, 0.2, seed=seed)
    ]
    return (
        100 * float(np.mean(predicted == actual)),
        *(relative_error(release, table, queries) for queries in (*aligned, anywhere)),
    )


if __name__ == "__main__":
    main()
