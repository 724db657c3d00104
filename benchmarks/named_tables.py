"""Do the errors that are promised of named tables hold? NOT PRIVATE.

    python benchmarks/named_tables.py [--data DIR] [--releases 20] [--epsilon 1] [--delta 0]
        [--only NAME]

Three public tables with three named tables each, published many times under several seeds. Before
that, `expected_errors` says for each by how much its counts will be off at most in 95 of 100 cases,
from the schema, the budget and the number of rows, rounded to thousands, alone. A case is a cell of
the named table in one release, as the release shows it. Printed are the promised error, and in how
many cases it held, for each table and over all: 93 to 99% is the aim.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

import hedgerow as hr
from data import ADULT_SCHEMA, add_data_option, adult
from hedgerow import sample
from hedgerow.data import read
from hedgerow.evaluation import NOT_PRIVATE, exact_counts
from hedgerow.evaluation.expected import expected_errors
from hedgerow.evaluation.simulate import publish_seeded
from hedgerow.release.count_tables import cells_of, divisions_of
from hedgerow.schema.query import Query
from tables import Task, nist

NAMED = {
    "Adult": ("salary education", "occupation sex", "marital-status race salary"),
    "sample 20000": ("readmitted home", "occupation smoker", "age sex"),
    "NIST national": ("OWN_RENT EDU", "RAC1P DVET", "AGEP MSP"),
}


def available(folder: Path | None) -> Iterator[Task | str]:
    """The tables, by the names above."""
    yield Task("Adult", adult(folder), hr.Schema.load(ADULT_SCHEMA), False)
    yield Task("sample 20000", sample.people(20_000), sample.schema(), False)
    yield nist(folder)


def main() -> None:
    """Prints the figures of all tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    add_data_option(parser)
    parser.add_argument("--releases", type=int, default=20, metavar="N")
    parser.add_argument("--epsilon", default="1")
    parser.add_argument("--delta", default="0")
    parser.add_argument("--only", action="append", metavar="NAME", help="tables with this name")
    options = parser.parse_args()
    print(NOT_PRIVATE)
    print(f"epsilon {options.epsilon}, delta {options.delta}, {options.releases} releases each")
    print(f"{'table':14} {'named':30} {'cells':>6} {'off by less than':>16} {'held':>6}")
    held_of_all = []
    for task in available(options.data):
        if isinstance(task, str):
            print(task)
            continue
        if options.only and not any(name in task.name for name in options.only):
            continue
        schema = task.schema.with_tables(NAMED[task.name])
        table, method = read(task.rows, schema), hr.Marginals()
        rows = round(len(table.codes), -3)
        promises = expected_errors(schema, method, options.epsilon, options.delta, rows)
        held: list[list[float]] = [[] for _ in promises]
        for seed in range(options.releases):
            release = publish_seeded(table, method, options.epsilon, options.delta, seed)
            for promise, cases in zip(promises, held, strict=True):
                divisions = divisions_of(schema, promise.names, None, release.bands)
                _, cells = cells_of(schema, divisions, Query(()))
                off = np.abs(release.estimate(cells) - exact_counts(table, cells))
                cases.append(float((off < promise.error).mean()))
        for promise, cases in zip(promises, held, strict=True):
            share = float(np.mean(cases))
            print(
                f"{task.name:14} {promise.title:30} {promise.cells:>6} "
                f"{promise.format_error():>16} {share:>6.1%}",
                flush=True,
            )
            held_of_all.append(share)
    print(f"all: {np.mean(held_of_all):.1%}")


if __name__ == "__main__":
    main()
