"""A junction tree gives what the whole joint distribution gives."""

import math

import numpy as np
import pytest

from hedgerow.estimate.junction import Detail, JunctionTree

CASES = [
    ([2, 3, 4], [(0, 1), (1, 2)]),
    ([2, 3, 4], [(0,), (1,), (2,)]),
    ([2, 3, 2, 3], [(0, 1), (1, 2), (2, 3), (0, 3)]),
    ([3, 2, 2, 2, 3], [(0, 1, 2), (2, 3), (3, 4), (1, 4)]),
    ([2, 2, 2, 2, 2], [(0, 4), (1, 4), (2, 4), (3, 4), (0, 1), (2, 3)]),
    ([5], [(0,)]),
]


def joint_of(tree, logits):
    """The whole joint distribution over groups, or cells of details, and its axes."""
    axes = {}
    for clique, (variables, shape) in enumerate(zip(tree.cliques, tree.shapes, strict=True)):
        for v, size in zip(variables, shape, strict=True):
            fine = clique in tree.details and tree.details[clique][0] == v
            axes[v, fine] = size
    names = sorted(axes)
    sizes = [axes[name] for name in names]
    places = dict(zip(names, np.indices(sizes), strict=True))
    total = np.zeros(sizes)
    for clique, variables in enumerate(tree.cliques):
        index = np.zeros(sizes, np.int64)
        for v, size in zip(variables, tree.shapes[clique], strict=True):
            fine = clique in tree.details and tree.details[clique][0] == v
            index = index * size + places[v, fine]
        total += logits[tree.start[clique] + index]
    for v, detail in tree.details.values():
        total[detail.group[places[v, True]] != places[v, False]] = -np.inf
    return np.exp(total), names, places


@pytest.mark.parametrize(("sizes", "together"), CASES)
@pytest.mark.parametrize("fine", [False, True])
def test_marginals_are_those_of_the_joint_distribution(sizes, together, fine):
    random = np.random.default_rng(5)
    details = {}
    if fine:
        details = {0: Detail(np.arange(2 * sizes[0]) // 2, (len(sizes) - 1,) * (len(sizes) > 1))}
    tree = JunctionTree.of(sizes, together, details)
    logits = random.normal(size=tree.start[-1])
    mass, log_normalizer = tree.calibrate(logits, 100.0)
    joint, _, places = joint_of(tree, logits)
    assert log_normalizer == pytest.approx(math.log(joint.sum()), abs=1e-9)
    joint *= 100.0 / joint.sum()
    for clique, variables in enumerate(tree.cliques):
        index = np.zeros(joint.shape, np.int64)
        for v, size in zip(variables, tree.shapes[clique], strict=True):
            is_fine = clique in tree.details and tree.details[clique][0] == v
            index = index * size + places[v, is_fine]
        here = mass[tree.start[clique] : tree.start[clique + 1]]
        expected = np.bincount(index.ravel(), joint.ravel(), len(here))
        assert np.abs(here - expected).max() < 1e-9


@pytest.mark.parametrize(("sizes", "together"), CASES)
def test_cliques_hold_what_is_asked_for_and_hang_together(sizes, together):
    tree = JunctionTree.of(sizes, together)
    for one in together:
        assert any(set(one) <= set(clique) for clique in tree.cliques)
    for v in range(len(sizes)):  # the cliques with a variable are a tree: one has no parent in it
        holding = {c for c, clique in enumerate(tree.cliques) if v in clique}
        assert sum(tree.parent[c] not in holding for c in holding) == 1
    assert (
        tree.cells
        == tree.start[-1]
        == sum(math.prod(sizes[v] for v in clique) for clique in tree.cliques)
    )


def test_an_impossible_cell_stays_empty():
    tree = JunctionTree.of([2, 2, 2], [(0, 1), (1, 2)])
    logits = np.zeros(tree.start[-1])
    logits[tree.start[0]] = -1e6
    mass, _ = tree.calibrate(logits, 6.0)
    assert mass[0] == 0
    assert np.isfinite(mass).all()


def test_rows_have_the_marginals_but_for_rounding():
    random = np.random.default_rng(1)
    detail = {1: Detail(np.array([0, 0, 1, 2, 2, 2]), (3,))}
    tree = JunctionTree.of([3, 3, 2, 2], [(0, 1), (1, 2), (1, 3)], detail)
    mass, _ = tree.calibrate(random.normal(size=tree.start[-1]), 5000.0)
    groups, cells = tree.draw(mass, 5000, random)
    for clique, variables in enumerate(tree.cliques):
        index = np.zeros(5000, np.int64)
        for v, size in zip(variables, tree.shapes[clique], strict=True):
            is_fine = clique in tree.details and tree.details[clique][0] == v
            index = index * size + (cells[v] if is_fine else groups[v])
        here = mass[tree.start[clique] : tree.start[clique + 1]]
        # each separator rounds once on the way from the root, by one row or so in every cell
        assert np.abs(np.bincount(index, minlength=len(here)) - here).max() < 12
    assert np.array_equal(detail[1].group[cells[1]], groups[1])


@pytest.mark.parametrize(("sizes", "together"), CASES)
def test_growth_is_never_less_than_what_a_pair_adds(sizes, together):
    every = [*together, *((v,) for v in range(len(sizes)))]
    tree = JunctionTree.of(sizes, every)
    pairs = [(a, b) for a in range(len(sizes)) for b in range(a)]
    for pair, growth in zip(pairs, tree.growth(pairs), strict=True):
        # the tree itself with one variable put into the cliques on the way
        assert JunctionTree.of(sizes, [*every, pair]).cells <= tree.cells + growth
