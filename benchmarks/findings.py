"""Are a report's findings true, and are the strongest differences among them? NOT PRIVATE.

    python benchmarks/findings.py [--data DIR] [--releases 5] [--epsilon 1] [--delta 0]
        [--only NAME]

Each table that is found (`tables.py`) is published with the default settings under several seeds.
Printed for each, as means over its releases:

- of the first five findings, how many are true in the raw data: the two groups of the sentence
  differ in the stated direction, and every interval that is drawn holds the raw share;
- of the five strongest true differences, how many are among the first ten findings. The truth
  looks at the class by each attribute, in groups that the report did not make: values, or tenths
  of the records for numbers, of at least 5% of all records; an attribute's difference is that of
  its two groups that lie furthest apart, in any class.

Findings were written with Adult and the simulated sample in view; NIST's excerpt, with several
classes, was looked at for the figures alone.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

import hedgerow as hr
from data import add_data_option
from hedgerow.arrays import Bools, Ints
from hedgerow.data import Table, read
from hedgerow.evaluation import NOT_PRIVATE
from hedgerow.evaluation.simulate import publish_seeded
from hedgerow.methods.marginals import Marginals
from hedgerow.present.findings import Difference, differences
from hedgerow.schema import Categorical
from tables import Task, nist, of_people, tasks

FIRST, AMONG, STRONGEST = 5, 10, 5
LEAST = 0.05  # of all records: a group of the truth
TENTH = 0.1
CLASSES = ("OWN_RENT", "DVET", "HOUSING_TYPE", "SEX")
"""Of NIST's excerpt, in turn."""


def is_true(found: Difference, table: Table) -> bool:
    """Whether the direction of a finding is right and all its intervals hold."""
    schema = table.schema
    places = [schema.columns.index(one) for one in found.by]
    outcome = table.codes[:, schema.columns.index(found.outcome)]
    value = (outcome >= found.codes[0]) & (outcome < found.codes[1])
    groups = [inside(table, places, group) for group in found.parts]
    if len(found.shares) > len(groups):  # all others than the group that the sentence names
        groups.append(~groups[min(found.most, found.least)])
    shares = np.array([value[group].mean() for group in groups])
    held = (found.low - 1e-9 <= shares) & (shares <= found.high + 1e-9)
    return bool(shares[found.most] > shares[found.least] and held.all())


def inside(table: Table, places: list[int], group: tuple[tuple[int, int], ...]) -> Bools:
    """Which records belong to a group."""
    member = np.ones(len(table.codes), bool)
    for place, (low, high) in zip(places, group, strict=True):
        member &= (table.codes[:, place] >= low) & (table.codes[:, place] < high)
    return member


def groups_of(codes: Ints, attribute: hr.Attribute) -> Iterator[Bools]:
    """The groups of an attribute that hold enough records."""
    values, counts = np.unique(codes, return_counts=True)
    if isinstance(attribute, Categorical):
        parts = [codes == value for value in values]
    else:
        # a value that many records have is a group by itself; the others are joined to tenths
        place, edge, names = 0.0, 0, np.zeros(len(values), np.int64)
        for at, count in enumerate(counts):
            names[at] = edge
            place += count
            if place >= TENTH * len(codes):
                place, edge = 0.0, edge + 1
        of = names[np.searchsorted(values, codes)]
        parts = [of == name for name in np.unique(names)]
    yield from (part for part in parts if part.sum() >= LEAST * len(codes))


def strongest(table: Table) -> list[str]:
    """The attributes whose groups differ most in the class."""
    schema, classes = table.schema, table.codes[:, -1]
    gaps = {}
    for place, attribute in enumerate(schema.attributes):
        groups = list(groups_of(table.codes[:, place].astype(np.int64), attribute))
        if len(groups) > 1:
            shares = np.array([
                np.bincount(classes[group], minlength=len(schema.classes)) / group.sum()
                for group in groups
            ])  # fmt: skip
            gaps[attribute.name] = float(np.ptp(shares, axis=0).max())
    return sorted(gaps, key=lambda name: -gaps[name])[:STRONGEST]


def available(folder: Path | None) -> Iterator[Task | str]:
    """All tables that can be found."""
    yield from tasks(folder)
    yield from of_people()
    yield from (nist(folder, target) for target in CLASSES)


def main() -> None:
    """Prints the figures of all tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    add_data_option(parser)
    parser.add_argument("--releases", type=int, default=5, metavar="N")
    parser.add_argument("--epsilon", default="1")
    parser.add_argument("--delta", default="0")
    parser.add_argument("--only", action="append", metavar="NAME", help="tables with this name")
    options = parser.parse_args()
    print(NOT_PRIVATE)
    print(f"epsilon {options.epsilon}, delta {options.delta}, {options.releases} releases each")
    print(f"{'table':28} {'rows':>7} {'findings':>8} {'true of first':>13} {'strongest found':>15}")
    for task in available(options.data):
        if isinstance(task, str):
            print(task)
            continue
        if options.only and not any(name in task.name for name in options.only):
            continue
        table = read(task.rows, task.schema)
        wanted = strongest(table)
        told, right, shown, hits = 0, 0, 0, 0
        for seed in range(options.releases):
            release = publish_seeded(table, Marginals(), options.epsilon, options.delta, seed)
            found, _ = differences(release)
            told += len(found)
            shown += len(found[:FIRST])
            right += sum(is_true(one, table) for one in found[:FIRST])
            names = {one.name for each in found[:AMONG] for one in each.by}
            hits += len(names & {*wanted})
        runs = options.releases
        print(
            f"{task.name[:28]:28} {len(table.codes):7,} {told / runs:8.1f} "
            f"{f'{right} of {shown}':>13} {f'{hits / runs:.1f} of {len(wanted)}':>15}",
            flush=True,
        )


if __name__ == "__main__":
    main()
