"""Do private centroids find the clusters of the raw records? NOT PRIVATE: it looks at them.

    python benchmarks/clusters.py [--data DIR] [--runs N]

The match point of two clusters of UCI Adult's rows (or of some of them) and of the labels by
private centroids: the mean and the worst of 20 runs.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from data import ADULT_SCHEMA, add_data_option, adult
from hedgerow.counting.engine import nearest
from hedgerow.data import Table, read
from hedgerow.methods.clusters import find_centroids
from hedgerow.schema import Schema
from papers.clusters import cluster_records, match_point


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    add_data_option(parser)
    parser.add_argument("--runs", type=int, default=20)
    arguments = parser.parse_args()
    rows, schema = adult(arguments.data), Schema.load(ADULT_SCHEMA)
    codes = read(rows, schema).codes
    warnings.simplefilter("ignore")
    print("  rows epsilon  mean worst warned")
    for number in (2000, 8000, len(codes)):
        some = np.sort(np.random.default_rng(0).choice(len(codes), number, replace=False))
        raw = cluster_records(Table(schema, codes[some]), 2)
        for epsilon in ("0.1", "0.3", "1"):
            found = [
                find_centroids(rows.take(some), schema, 2, epsilon, seed=seed)
                for seed in range(arguments.runs)
            ]
            points = [match_point(raw, nearest(codes[some], schema, one.points)) for one in found]
            print(f"{number:>6} {epsilon:>7} {np.mean(points):>5.2f} {min(points):>5.2f} "
                  f"{sum(bool(one.remark) for one in found):>6}", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
