"""Do the public rules for the size of a tree hold on tables they were not fitted on? NOT PRIVATE.

    python benchmarks/rules.py [--data DIR] [--method diffgen] [--quick] [--csv FILE]

For each table and epsilon: the accuracy of the default settings, and that of the best of a grid of
sizes set by hand. The best is chosen on one half of the splits and measured on the other, and the
other way round: the best of many noisy figures would flatter itself. The difference is the regret:
what somebody gains who could try all sizes for free, which nobody can under a guarantee.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parent))

import hedgerow as hr
from accuracy import by_estimates, mean_and_error, split
from data import add_data_option
from hedgerow.evaluation import NOT_PRIVATE
from tables import Task, tasks

Method = hr.DiffMulti | hr.DiffGen
EPSILONS = ("0.1", "0.3", "1")
SIZES, DEPTHS = (1, 3, 10, 30, 100, 300, 1000), (1, 2, 3, 4, 6, 8, 11, 14)
STEPS = (1, 2, 3, 4, 6, 8, 10, 13, 16)


@dataclass(frozen=True)
class Finding:
    """One line of the report."""

    table: str
    fitted: bool
    epsilon: str
    largest_class: float
    rule: float
    error: float
    best: float
    chosen: str

    @property
    def regret(self) -> float:
        return self.best - self.rule


def by_hand(method: str, weight: float) -> list[Method]:
    """The settings that are tried; `weight` is epsilon times the number of rows."""
    if method == "diffgen":
        return [hr.DiffGen(specializations=size) for size in STEPS]
    return [
        hr.DiffMulti(specializations=size, depth=depth)
        for size in SIZES
        if size <= max(1, weight / 10)
        for depth in DEPTHS
        if depth <= size < 2 ** (depth + 2)  # a cap that may bind, but not everywhere
    ]


def scores(task: Task, method: Method, epsilon: str, splits: int) -> NDArray[np.float64]:
    """The accuracy on every split."""
    found = []
    for number in range(splits):
        train, test = split(task.rows, number)
        release = hr.publish(train, task.schema, method=method, epsilon=epsilon, seed=number)
        found.append(by_estimates(release, test))
    return np.asarray(found)


def best_by_hand(tried: NDArray[np.float64]) -> float:
    """The accuracy of the best settings, chosen and measured on different splits."""
    first, second = tried[:, ::2].mean(axis=1), tried[:, 1::2].mean(axis=1)
    return float(second[first.argmax()] + first[second.argmax()]) / 2


def examine(task: Task, method: str, splits: int) -> Iterator[Finding]:
    """The rule and the grid on one table."""
    assert task.schema.target is not None
    number = pc.value_counts(task.rows[task.schema.target.name]).field("counts").to_numpy()
    default: Method = hr.DiffGen() if method == "diffgen" else hr.DiffMulti()
    rows = len(task.rows) * 2 // 3
    for epsilon in EPSILONS:
        plan = default.plan(task.schema, epsilon, rows=rows)
        ruled = mean_and_error(scores(task, default, epsilon, splits))
        grid = by_hand(method, float(epsilon) * rows)
        tried = np.asarray([scores(task, settings, epsilon, splits) for settings in grid])
        chosen = f"{plan.specializations}, {plan.depth}"
        largest = float(100 * number.max() / number.sum())
        yield Finding(task.name, task.fitted, epsilon, largest, *ruled, best_by_hand(tried), chosen)


def show(finding: Finding) -> None:
    print(
        f"{finding.table:21}{'' if finding.fitted else 'fresh':7}{finding.epsilon:8}"
        f"{finding.largest_class:8.1f}{finding.rule:9.2f} ±{finding.error:5.2f}"
        f"{finding.best:10.2f}{finding.regret:9.2f}   {finding.chosen}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_data_option(parser)
    parser.add_argument("--method", choices=("diffmulti", "diffgen"), default="diffmulti")
    parser.add_argument("--quick", action="store_true", help="two splits in place of ten")
    parser.add_argument("--csv", type=Path, metavar="FILE", help="also write the figures there")
    given = parser.parse_args()
    print(NOT_PRIVATE)
    print("Accuracy in percent. `fresh`: not looked at when the rules were chosen.")
    print(f"{'table':28}epsilon  largest     rule        by hand   regret   chosen h, depth")
    found = []
    for task in tasks(given.data):
        if isinstance(task, str):
            print(task)
            continue
        for finding in examine(task, given.method, 2 if given.quick else 10):
            show(finding)
            found.append(finding)
    for fitted in (True, False):
        regrets = [finding.regret for finding in found if finding.fitted == fitted]
        if regrets:
            words = "fitted" if fitted else "fresh"
            middle = f"median {np.median(regrets):.2f}"
            print(f"mean regret on {words} tables: {np.mean(regrets):.2f} ({middle})")
    if given.csv:
        with given.csv.open("w", newline="", encoding="utf-8") as file:
            out = csv.writer(file)
            out.writerow(["table", "fitted", "epsilon", "largest class", "rule", "standard error",
                          "by hand", "regret", "chosen"])  # fmt: skip
            for each in found:
                out.writerow([each.table, each.fitted, each.epsilon, each.largest_class, each.rule,
                              each.error, each.best, each.regret, each.chosen])  # fmt: skip


if __name__ == "__main__":
    main()
