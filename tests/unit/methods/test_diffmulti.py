"""DiffMulti: with a budget without bound it is the algorithm that looks at the data."""

from __future__ import annotations

from fractions import Fraction
from typing import Literal

import numpy as np
import pytest

from hedgerow.counting.memory import MemoryEngine
from hedgerow.data import Table
from hedgerow.estimate.partition import TreePartition
from hedgerow.methods.diffmulti import DiffMulti
from hedgerow.methods.publisher import Outcome
from hedgerow.privacy.budget import Budget
from hedgerow.privacy.keystream import Keystream
from hedgerow.privacy.sampler import SecureSampler
from hedgerow.schema import Categorical, Numeric, Schema

ENDLESS = Budget(Fraction(10**6))
SCHEMA = Schema.from_dict(
    {
        "name": "people",
        "unit": "row",
        "attributes": {
            "age": {"type": "numeric", "low": 0, "high": 29, "step": 1},
            "job": {
                "type": "categorical",
                "taxonomy": {"L": ["a", "b"], "R": {"S": ["c", "d"], "T": ["e", "f", "g"]}},
            },
            "pay": {"type": "numeric", "low": 0, "high": 9, "step": 1},
            "ill": {"type": "categorical", "values": ["no", "yes", "maybe"], "role": "class"},
        },
    }
)


def table(rows: int = 400, seed: int = 5) -> Table:
    """Rows whose class follows age, job and pay, with some noise."""
    rng = np.random.default_rng(seed)
    age, job, pay = (rng.integers(0, size, rows) for size in (30, 7, 10))
    ill = ((age > 12) & (job < 4)).astype(int) + ((pay > 6) & (age < 20))
    ill = np.where(rng.random(rows) < 0.15, rng.integers(0, 3, rows), ill)
    return Table(SCHEMA, np.stack([age, job, pay, ill], axis=1).astype(np.uint16))


def run(method: DiffMulti, data: Table, budget: Budget = ENDLESS, seed: int = 3) -> Outcome:
    plan = method.plan_for(data.schema, budget)
    return method.run(MemoryEngine(data), data.schema, plan, SecureSampler(Keystream(seed=seed)))


def score_of(
    name: str, rows: np.ndarray, a: int, parts: list[tuple[int, int]], *, paper: bool = False
) -> Fraction:
    """A score by its definition, without fixed point; `paper` compares penalties and not gains."""
    split = [rows[(rows[:, a] >= lo) & (rows[:, a] < hi)] for lo, hi in parts]
    counts = [np.bincount(child[:, -1], minlength=3).tolist() for child in split]
    if name == "max":
        return Fraction(sum(max(c) for c in counts))
    if name == "gini":
        return sum((Fraction(sum(n * n for n in c), sum(c)) for c in counts if sum(c)), Fraction(0))
    size = SCHEMA.attributes[a].size
    if name == "ncp":
        wide = [(len(child), hi - lo) for child, (lo, hi) in zip(split, parts, strict=True)]
        before = 0 if paper else len(rows) * (parts[-1][1] - parts[0][0])
        return Fraction(before - sum(number * width for number, width in wide if width > 1), size)
    return -Fraction(sum(len(child) ** 2 for child in split), max(1, len(rows)))


def ways(lo: list[int], hi: list[int], a: int) -> dict[int, list[tuple[int, int]]]:
    """All cuts of an attribute of a region, with the parts they make."""
    attribute = SCHEMA.attributes[a]
    if isinstance(attribute, Numeric):
        return {cut: [(lo[a], cut), (cut, hi[a])] for cut in range(lo[a] + 1, hi[a])}
    assert isinstance(attribute, Categorical)
    tree = attribute.taxonomy
    below = tree.children[tree.node(lo[a], hi[a])]
    return {-1: [tree.spans[child] for child in below]} if below else {}


def inside(data: Table, lo: list[int], hi: list[int]) -> np.ndarray:
    codes = data.codes.astype(np.int64)
    return codes[((codes[:, :-1] >= lo) & (codes[:, :-1] < hi)).all(axis=1)]


def children(tree: TreePartition, node: int) -> list[int]:
    return np.flatnonzero(tree.parent == node).tolist()


def chosen_cut(tree: TreePartition, node: int) -> tuple[int, int]:
    a = int(tree.split[node])
    numeric = isinstance(SCHEMA.attributes[a], Numeric)
    return a, int(tree.lo[children(tree, node)[1], a]) if numeric else -1


@pytest.mark.parametrize("score", ["max", "gini", "ncp", "discernibility"])
@pytest.mark.parametrize("distribution", ["fair", "even"])
def test_an_endless_budget_picks_the_best_split(
    score: str, distribution: Literal["fair", "even"]
) -> None:
    data = table()
    method = DiffMulti(score=score, specializations=25, depth=8, distribution=distribution)
    tree = run(method, data).partition
    assert isinstance(tree, TreePartition)
    inner = np.flatnonzero(tree.split >= 0)
    assert len(inner) == 25
    slack = {"max": 0, "gini": Fraction(10, 2**8), "ncp": Fraction(400, 2**16)}.get(
        score, Fraction(1, 2**8)
    )
    for node in inner.tolist():
        lo, hi = tree.lo[node].tolist(), tree.hi[node].tolist()
        rows = inside(data, lo, hi)
        scores = {
            (a, cut): score_of(score, rows, a, parts)
            for a in range(3)
            for cut, parts in ways(lo, hi, a).items()
        }
        assert scores[chosen_cut(tree, node)] >= max(scores.values()) - slack


@pytest.mark.parametrize("score", ["max", "gini", "ncp"])
def test_an_endless_budget_on_the_papers_schedule(score: str) -> None:
    """Cuts are drawn for each interval once and inherited; then the best value is specialized."""
    data = table()
    method = DiffMulti(score=score, schedule="paper", specializations=25, depth=8)
    tree = run(method, data).partition
    assert isinstance(tree, TreePartition)
    slack = {"max": 0, "gini": Fraction(10, 2**8), "ncp": Fraction(400, 2**16)}[score]
    inner = np.flatnonzero(tree.split >= 0).tolist()
    assert len(inner) == 25
    for node in inner:
        a, cut = chosen_cut(tree, node)
        lo, hi = tree.lo[node].tolist(), tree.hi[node].tolist()
        rows = inside(data, lo, hi)
        mine = score_of(score, rows, a, ways(lo, hi, a)[cut], paper=True)
        others = [score_of(score, rows, 1, parts, paper=True) for parts in ways(lo, hi, 1).values()]
        assert all(mine >= other - slack for other in others)
        if cut >= 0:
            # the cut was the best where its interval came to be
            source = node
            while source and (
                tree.lo[tree.parent[source], a] == lo[a]
                and tree.hi[tree.parent[source], a] == hi[a]
            ):
                source = int(tree.parent[source])
            there = inside(data, tree.lo[source].tolist(), tree.hi[source].tolist())
            scores = {
                c: score_of(score, there, a, parts, paper=True)
                for c, parts in ways(lo, hi, a).items()
            }
            assert scores[cut] >= max(scores.values()) - slack


def test_an_endless_budget_counts_exactly() -> None:
    data = table()
    outcome = run(DiffMulti(specializations=25, depth=8), data)
    named = {m.name: m for m in outcome.measurements}
    assert named["rows"].values.tolist() == [[400]]
    assert outcome.plan.specializations == 25
    tree = outcome.partition
    assert isinstance(tree, TreePartition)
    for region, values in zip(named["leaf"].where, named["leaf"].values.tolist(), strict=True):
        lo, hi = (side[0].tolist() for side in tree.bounds(np.array([region])))
        assert values == np.bincount(inside(data, lo, hi)[:, -1], minlength=3).tolist()
    for node, (value,) in zip(
        named["allocate"].where, named["allocate"].values.tolist(), strict=True
    ):
        assert value == len(inside(data, tree.lo[node].tolist(), tree.hi[node].tolist()))


def test_rights_to_specialize_follow_the_sizes() -> None:
    """All the root's rights but one go to its children in proportion to their records."""
    data = table()
    tree = run(DiffMulti(specializations=41, depth=30), data).partition
    assert isinstance(tree, TreePartition)
    inner = tree.split >= 0
    below = np.zeros(len(inner), dtype=np.int64)
    for node in range(len(inner) - 1, -1, -1):
        below[node] += inner[node]
        if node:
            below[tree.parent[node]] += below[node]
    assert below[0] == 41
    for child in children(tree, 0):
        size = len(inside(data, tree.lo[child].tolist(), tree.hi[child].tolist()))
        assert abs(below[child] - 40 * size / 400) <= 1


@pytest.mark.parametrize("schedule", ["tuned", "paper"])
@pytest.mark.parametrize("distribution", ["fair", "even"])
def test_no_path_and_no_tree_is_larger_than_allowed(
    schedule: Literal["tuned", "paper"], distribution: Literal["fair", "even"]
) -> None:
    for size, depth in ((1, 5), (12, 1), (12, 3), (200, 4)):
        method = DiffMulti(
            schedule=schedule,
            distribution=distribution,
            specializations=size,
            depth=depth,
        )
        tree = run(method, table(), Budget(Fraction(1, 2)), seed=size).partition
        assert isinstance(tree, TreePartition)
        assert (tree.split >= 0).sum() <= size
        assert tree.depth.max() <= depth
        if size == 1:
            assert (tree.split >= 0).sum() == 1
        if depth == 1:
            assert (tree.split >= 0).tolist().count(True) == 1


def test_every_leaf_uses_what_its_own_path_has_left() -> None:
    outcome = run(DiffMulti(specializations=30, depth=6), table(), Budget(Fraction(1)))
    tree = outcome.partition
    assert isinstance(tree, TreePartition)
    leaf = next(m for m in outcome.measurements if m.name == "leaf")
    epsilon = {
        int(depth): {leaf.unit * int(u) for u in leaf.units[tree.depth[tree.leaves] == depth]}
        for depth in np.unique(tree.depth[tree.leaves])
    }
    assert len(epsilon) > 1
    shallow, deep = min(epsilon), max(epsilon)
    assert min(epsilon[shallow]) > max(epsilon[deep])
    assert all(Fraction(29, 100) <= e < 1 for found in epsilon.values() for e in found)


def test_a_delta_gives_leaves_a_second_count() -> None:
    budget = Budget(Fraction(1), Fraction(1, 10**6))
    outcome = run(DiffMulti(specializations=10, depth=6), table(), budget)
    names = [m.name for m in outcome.measurements]
    assert names == ["rows", "allocate", "leaf", "spare"]
    leaf, spare = outcome.measurements[2:]
    assert set((leaf.units * leaf.unit).tolist()) == {Fraction(29, 100)}
    assert set(spare.where.tolist()) <= set(leaf.where.tolist())
