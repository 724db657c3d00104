"""Do intervals hold the truth as often as they say? NOT PRIVATE.

    python benchmarks/interval_coverage.py [--data DIR] [--quick] [--level 0.95] [--epsilon 1]

For CDiffGen and for DiffMulti (whose regions depend on noise): many releases of UCI Adult, and on
each many queries whose edges follow the regions. Printed are the share of intervals that hold the
truth, with a standard error clustered by release, since all answers of one release share its noise;
and their width beside that of the shortest symmetric interval for the same sum of noises, found by
drawing the noise of one release over and over.

`nodes` are queries for a node of the tree, which cut no region: there noise is all. `boxes` have
edges of regions in two or three attributes; in DiffMulti's tree they cut other regions, and the
interval also holds what may lie on either side of the cut. `classes` ask for one class as well.
"""

from __future__ import annotations

import argparse
import math
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

import hedgerow as hr
from data import ADULT_SCHEMA as SCHEMA
from data import add_data_option, adult
from hedgerow.data import Table, read
from hedgerow.estimate.partition import TreePartition
from hedgerow.evaluation import NOT_PRIVATE, exact_counts
from hedgerow.methods.api import run
from hedgerow.privacy.budget import Budget
from hedgerow.privacy.keystream import Keystream
from hedgerow.privacy.sampler import SecureSampler
from hedgerow.schema.query import Query


def release_of(table: Table, method: hr.DiffMulti | hr.CDiffGen, epsilon: str, seed: int):
    """A seeded release, without the ledger that nobody asks for here."""
    done = run(table, method, Budget.of(epsilon, 0), SecureSampler(Keystream(seed)))
    return hr.TableRelease(
        schema=table.schema,
        method=method.name,
        settings=method.settings(),
        guarantee={},
        ledger={},
        partition=done.partition,
        measurements=done.measurements,
    )


def node_queries(tree: TreePartition, number: int, source: np.random.Generator) -> list[Query]:
    """Queries for the boxes of random nodes."""
    sizes = tree.hi[0]
    queries = []
    for node in source.integers(0, len(tree.parent), number):
        narrow = np.flatnonzero(tree.hi[node] - tree.lo[node] < sizes)
        queries.append(
            Query(
                tuple(
                    (int(a), ((float(tree.lo[node, a]), float(tree.hi[node, a])),)) for a in narrow
                )
            )
        )
    return queries


def box_queries(tree: TreePartition, number: int, source: np.random.Generator) -> list[Query]:
    """Queries on two or three attributes between edges of regions."""
    edges = [np.unique(np.append(tree.lo[:, a], size)) for a, size in enumerate(tree.hi[0])]
    cut = [a for a, edge in enumerate(edges) if len(edge) > 2]
    queries = []
    for _ in range(number if cut else 0):
        where = []
        for a in np.sort(source.choice(cut, min(len(cut), source.integers(2, 4)), replace=False)):
            low, high = np.sort(source.choice(edges[a], 2, replace=False))
            where.append((int(a), ((float(low), float(high)),)))
        queries.append(Query(tuple(where)))
    return queries


def workload(
    tree: TreePartition, number: int, source: np.random.Generator
) -> dict[str, list[Query]]:
    """The kinds of queries, a quarter each."""
    many = number // 4
    kinds = {"nodes": node_queries(tree, many, source), "boxes": box_queries(tree, many, source)}
    for name, queries in list(kinds.items()):
        kinds[f"{name}, classes"] = [
            replace(query, classes=(int(source.integers(2)),)) for query in queries
        ]
    return kinds


def shortest(release: hr.TableRelease, queries: list[Query], level: float, draws: int, seed: int):
    """Half the width of the shortest symmetric interval for the noise of each query."""
    source = np.random.default_rng(seed)
    found = []
    for _ in range(draws):
        drawn = []
        for measurement in release.measurements:
            rate = 1 - np.exp(-measurement.units * float(measurement.unit))
            shape = measurement.values.shape
            noise = source.geometric(rate[:, None], shape) - source.geometric(rate[:, None], shape)
            drawn.append(replace(measurement, values=noise))
        found.append(replace(release, measurements=tuple(drawn)).count(queries).estimate)
    return np.quantile(np.abs(found), level, axis=0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    add_data_option(parser)
    parser.add_argument("--quick", action="store_true", help="20 releases and 200 queries")
    parser.add_argument("--level", type=float, default=0.95)
    parser.add_argument("--epsilon", default="1")
    options = parser.parse_args()
    releases, number, draws = (20, 200, 200) if options.quick else (200, 1000, 1000)
    table = read(adult(options.data), hr.Schema.load(SCHEMA))
    print(f"{NOT_PRIVATE} Nominal level {options.level:.0%}, epsilon {options.epsilon}, "
          f"{releases} releases, {number} queries each.")  # fmt: skip
    print(f"{'method':12}{'queries':18}{'held':>8}{'error':>8}{'width':>9}{'/ shortest':>12}")
    failed = False
    for method in (hr.CDiffGen(specializations=8), hr.DiffMulti()):
        held: dict[str, list[float]] = {}
        widths: dict[str, list[float]] = {}
        for seed in range(releases):
            release = release_of(table, method, options.epsilon, seed)
            kinds = workload(release.partition, number, np.random.default_rng(seed))
            for name, queries in kinds.items():
                answers = release.count(queries, level=options.level)
                true = exact_counts(table, queries)
                inside = (answers.low <= true) & (true <= answers.high)
                held.setdefault(name, []).append(inside.mean())
                widths.setdefault(name, []).append((answers.high - answers.low).mean())
        ratios = {}
        kinds = workload(release.partition, number, np.random.default_rng(releases))
        for name, queries in kinds.items():
            least = shortest(release, queries, options.level, draws, seed=1)
            ratios[name] = (
                2 * release.count(queries, level=options.level).noise.mean() / 2 / least.mean()
            )
        for name, shares in held.items():
            mean, error = np.mean(shares), np.std(shares, ddof=1) / math.sqrt(releases)
            fine = mean >= options.level - 3 * error
            failed |= not fine
            print(f"{method.name:12}{name:18}{mean:8.2%}{error:8.2%}{np.mean(widths[name]):9.1f}"
                  f"{ratios[name]:12.2f}{'' if fine else '   TOO FEW'}", flush=True)  # fmt: skip
    print("'/ shortest' compares the noise part alone, which is all there is for `nodes`.")
    sys.exit(failed)


if __name__ == "__main__":
    main()
