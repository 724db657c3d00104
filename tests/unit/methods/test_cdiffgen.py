"""How CDiffGen shares what is left among the levels of a tree: every path gets all of it."""

from __future__ import annotations

import numpy as np
import pytest

from hedgerow.estimate.partition import TreePartition
from hedgerow.methods.cdiffgen import CDiffGen, _shares


def chain(depth: int) -> TreePartition:
    """A tree in which every split cuts one leaf off: inner nodes 0, 2, 4, ... ."""
    parent, level, split = [-1], [0], [-1]
    node = 0
    for step in range(depth):
        split[node] = 0
        parent += [node, node]
        level += [step + 1, step + 1]
        split += [-1, -1]
        node = len(parent) - 1
    nothing = np.zeros((len(parent), 1), np.int32)
    return TreePartition(
        parent=np.array(parent, np.int32), depth=np.array(level, np.int16), split=np.array(split,
        np.int16), lo=nothing, hi=nothing + 1,
    )  # fmt: skip


def along(tree: TreePartition, share: np.ndarray, leaf: int) -> list[int]:
    """The shares on the path to a leaf, from the root."""
    found = []
    while leaf >= 0:
        found.append(int(share[leaf]))
        leaf = int(tree.parent[leaf])
    return found[::-1]


@pytest.mark.parametrize("units", [200, 1_000, 59_999])
@pytest.mark.parametrize("depth", [0, 1, 2, 7, 120])
def test_every_path_gets_everything(depth: int, units: int) -> None:
    tree = chain(depth)
    share = _shares(tree, units)
    for leaf in np.flatnonzero(tree.split < 0).tolist():
        path = along(tree, share, leaf)
        assert sum(path) == units
        assert min(path) > 0


@pytest.mark.parametrize(
    "depth, units, token, middle",
    [
        (3, 60_000, 60, 9_000),
        (8, 59_000, 59, 8_850),
        (99, 60_000, 60, 9_000),
        (120, 60_000, 49, 9_000),  # tokens take a tenth together
        (120, 1_300, 1, 195),
    ],
)
def test_the_middle_level_gets_the_most_and_others_a_token(
    depth: int, units: int, token: int, middle: int
) -> None:
    tree = chain(depth)
    path = along(tree, _shares(tree, units), len(tree.parent) - 1)
    expected = [token] * depth
    expected[depth // 2] = middle
    assert path == [*expected, units - sum(expected)]


def test_few_units() -> None:
    tree = chain(3)
    assert along(tree, _shares(tree, 6), 6) == [1, 1, 1, 3]


def test_what_makes_counts_agree() -> None:
    assert CDiffGen(schedule="paper").settings()["consistency"] == "averaging"
    assert CDiffGen().settings()["consistency"] == "least squares"
