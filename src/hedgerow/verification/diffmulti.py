"""The rules for DiffMulti: every node is charged for what was chosen there.

At each node that was specialized there is one `select`. Under the schedule `paper` there are draws
of split points before it, which are inherited. A tuned schedule buys the number of rows first.
"""

from __future__ import annotations

import numpy as np

from hedgerow.arrays import Ints
from hedgerow.estimate.partition import TreePartition
from hedgerow.release.table import TableRelease as Release
from hedgerow.schema import Numeric, Schema
from hedgerow.verification.charges import Charged, rows_booked, table_rules
from hedgerow.verification.prices import Book, Failed


def _tuned(release: Release, tree: TreePartition, booked: dict[str, Book]) -> list[Charged]:
    return _at_nodes(release, tree, booked, ["cut"] if "cut" in booked else [])


def _paper(release: Release, tree: TreePartition, booked: dict[str, Book]) -> list[Charged]:
    return _at_nodes(release, tree, booked, ["cut"])


def _at_nodes(
    release: Release, tree: TreePartition, booked: dict[str, Book], cut: list[str]
) -> list[Charged]:
    """What was charged at each node that was specialized."""
    for place in tree.divided:
        if release.schema.attributes[place].split == "never":
            raise Failed(
                f"regions are divided by {release.schema.attributes[place].name!r}, which is "
                "never split"
            )
    node = np.flatnonzero(tree.split >= 0)
    draws = {"select": np.ones(len(node), np.int64)}
    draws |= {purpose: _cut_draws(tree, release.schema)[node] for purpose in cut}
    for purpose, number in draws.items():
        if number.any() and purpose not in booked:
            raise Failed(f"nothing was booked for {purpose}, without which no tree grows")
    return [(purpose, node, number) for purpose, number in draws.items() if purpose in booked]


def _cut_draws(tree: TreePartition, schema: Schema) -> Ints:
    """How many split points are drawn at each node, were it split.

    At the root one for each numeric attribute; they are inherited, so that below one is drawn
    only for the interval that has just been cut.
    """
    numeric = np.array([isinstance(one, Numeric) and one.split != "never"
                        for one in schema.attributes])  # fmt: skip
    draws = np.zeros(len(tree.parent), np.int64)
    draws[0] = np.count_nonzero(numeric & (tree.hi[0] - tree.lo[0] >= 2))
    node = np.arange(1, len(draws))
    along = tree.split[tree.parent[1:]].astype(np.int64)
    draws[1:] = numeric[along] & (tree.hi[node, along] - tree.lo[node, along] >= 2)
    return draws


_SETTINGS = "schedule chosen score specializations depth distribution consistency"

RULES = {
    "tuned-1": table_rules(
        TreePartition, lambda release, booked: rows_booked(booked), _tuned, settings=_SETTINGS
    ),
    "paper-1": table_rules(
        TreePartition, lambda release, booked: None, _paper, settings=_SETTINGS, rest=True
    ),
}
