"""How useful are releases of UCI Adult for classification? NOT PRIVATE.

    python benchmarks/use.py [--data DIR] [--quick] [--json FILE]

The 45,222 complete rows; two thirds are published, one third is tested; mean over ten splits. A
test row is assigned to its region and given the region's majority class: by the estimates that
`predict` uses, and by the whole numbers that the generalized table shows. Beside our figures stand
those of the methods' authors, whose programs were built and run on the same rows with Weka's C4.5
trained on their output. For the `paper` schedules we therefore also train a tree in the manner of
C4.5 on the generalized table: scikit-learn's, by entropy, with at least 2 records in a leaf and
pruned by cost and complexity, since Weka is not at hand.

Runs are seeded, so that figures can be had again; the table is public.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

sys.path.insert(0, str(Path(__file__).parent))

import hedgerow as hr
from accuracy import by_counts, by_estimates, mean_and_error, split
from data import ADULT_SCHEMA as SCHEMA
from data import add_data_option, adult
from hedgerow.evaluation import NOT_PRIVATE
from papers.classify import baseline, lower_bound, on_output
from results import Results, add_json_option

EPSILONS = ("1", "0.5", "0.25", "0.1")


@dataclass(frozen=True)
class Entry:
    """One method with its settings, and what its authors' program reached."""

    label: str
    method: hr.DiffMulti | hr.DiffGen
    delta: str = "0"
    authors: tuple[float | None, ...] = (None,) * len(EPSILONS)

    @property
    def paper(self) -> bool:
        return self.method.schedule == "paper"


ENTRIES = (
    Entry("DiffMulti tuned", hr.DiffMulti()),
    Entry("DiffMulti tuned, delta 1e-6", hr.DiffMulti(), "1e-6"),
    Entry("DiffMulti tuned, Max", hr.DiffMulti(score="max")),
    Entry(
        "DiffMulti paper, Max, h = 1000",
        hr.DiffMulti(schedule="paper", score="max", specializations=1000),
        authors=(82.8, None, None, 77.3),
    ),
    Entry(
        "DiffMulti paper, Max, h = 300",
        hr.DiffMulti(schedule="paper", score="max", specializations=300),
        authors=(82.4, None, None, 80.8),
    ),
    Entry("DiffGen tuned", hr.DiffGen()),
    Entry("DiffGen tuned, delta 1e-6", hr.DiffGen(), "1e-6"),
    Entry(
        "DiffGen paper, Max, h = 10",
        hr.DiffGen(schedule="paper", score="max", specializations=10),
        authors=(82.1, 81.6, 79.6, 78.8),
    ),
    Entry(
        "DiffGen paper, InfoGain, h = 10",
        hr.DiffGen(schedule="paper", score="infogain", specializations=10),
        authors=(78.7, 78.6, 78.3, 77.7),
    ),
)


@dataclass(frozen=True)
class Line:
    """A line of the report: for each epsilon a mean, a standard error and the authors' figure."""

    label: str
    how: str
    means: tuple[tuple[float, float], ...]
    authors: tuple[float | None, ...]


def measure(rows: pa.Table, schema: hr.Schema, entry: Entry, splits: int) -> Iterator[Line]:
    """Publishes on every split at every epsilon, and tests in two or three ways."""
    ways: dict[str, Callable[[hr.Release, pa.Table], float]] = {
        "region's majority": by_estimates, "the same by printed counts": by_counts,
    }  # fmt: skip
    if entry.paper:
        ways["tree on the output"] = on_output
    scores = {how: np.empty((len(EPSILONS), splits)) for how in ways}
    for number in range(splits):
        train, test = split(rows, number)
        for place, epsilon in enumerate(EPSILONS):
            release = hr.publish(
                train, schema, method=entry.method, epsilon=epsilon, delta=entry.delta, seed=number
            )
            for how, way in ways.items():
                scores[how][place, number] = way(release, test)
    for how, found in scores.items():
        means = tuple(mean_and_error(row) for row in found)
        # the authors' figures come from a tree that was trained on the output
        authors = entry.authors if how == "tree on the output" else (None,) * len(means)
        yield Line(entry.label, how, means, authors)


def baselines(rows: pa.Table, schema: hr.Schema, splits: int) -> Iterator[Line]:
    """What the raw rows allow, and what no attributes allow."""
    raw, majority = [], []
    for number in range(splits):
        train, test = split(rows, number)
        raw.append(baseline(train, test, schema))
        majority.append(lower_bound(train, test, schema))
    none = (None,) * len(EPSILONS)
    yield Line("raw rows", "tree on the rows", (mean_and_error(raw),) * 4, (85.3, *none[1:]))
    yield Line("no attributes", "largest class", (mean_and_error(majority),) * 4, (75.4, *none[1:]))


def show(lines: list[Line]) -> None:
    """Prints the table."""
    width = max(len(f"{line.label}: {line.how}") for line in lines)
    print(f"{'':{width}}" + "".join(f"  epsilon {epsilon:<11}" for epsilon in EPSILONS))
    for line in lines:
        cells = ""
        for (mean, error), authors in zip(line.means, line.authors, strict=True):
            theirs = f"({authors:.1f})" if authors is not None else ""
            cells += f"  {mean:5.2f} ±{error:5.2f} {theirs:6}"
        print(f"{f'{line.label}: {line.how}':{width}}{cells}".rstrip())
    print("In brackets: the authors' programs, or for the baselines C4.5 of Weka.")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_data_option(parser)
    parser.add_argument("--quick", action="store_true", help="two splits in place of ten")
    add_json_option(parser)
    given = parser.parse_args()
    try:
        import sklearn  # noqa: F401
    except ImportError:
        sys.exit("This benchmark trains trees with scikit-learn: pip install scikit-learn")
    rows, schema = adult(given.data), hr.Schema.load(SCHEMA)
    splits = 2 if given.quick else 10
    print(NOT_PRIVATE)
    print(f"UCI Adult, accuracy in percent ± standard error, mean over {splits} splits")
    lines = [line for entry in ENTRIES for line in measure(rows, schema, entry, splits)]
    lines += baselines(rows, schema, splits)
    show(lines)
    results = Results("use")
    for line in lines:
        for epsilon, (mean, _) in zip(EPSILONS, line.means, strict=True):
            names = (line.label, line.how, f"epsilon {epsilon}", f"{splits} splits")
            results.add(mean, "% right", *names, better="more")
    results.write(given.json)


if __name__ == "__main__":
    main()
