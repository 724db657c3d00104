"""How a tree grows and how rights to specialize are shared."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.counting.engine import Domain
from hedgerow.methods.diffmulti import GrowingTree, share_evenly, share_fairly
from hedgerow.privacy.sampler import Choices
from hedgerow.schema import Categorical, Numeric, Schema, Taxonomy

SCHEMA = Schema(
    "simulated",
    (
        Numeric("age", low=Fraction(0), high=Fraction(4), step=Fraction(1), kind="integer"),
        Categorical("job", Taxonomy.from_nested("Any", {"L": ["a", "b"], "R": ["c", "d", "e"]})),
        Categorical("only", Taxonomy(("x",), (-1,))),
        Numeric("dose", low=Fraction(0), high=Fraction(1), step=Fraction(1), kind="integer"),
    ),
    unit="row",
)


# --- sharing -------------------------------------------------------------------------------


def largest_remainder(quota: int, noisy: list[int], open_: list[bool]) -> list[int]:
    """The same by fractions, for one parent."""
    weight = [max(0, n) if o else 0 for n, o in zip(noisy, open_, strict=True)]
    if not any(weight):
        weight = [int(o) for o in open_]
    if not any(weight):
        return [0] * len(weight)
    exact = [Fraction(quota * w, sum(weight)) for w in weight]
    share = [int(e) for e in exact]
    order = sorted(range(len(share)), key=lambda i: (share[i] - exact[i], i))
    for i in order[: quota - sum(share)]:
        share[i] += 1
    return share


FAMILY = st.tuples(
    st.integers(0, 10**7),
    st.lists(
        st.tuples(st.integers(-50, 10**6) | st.integers(0, 3), st.booleans()),
        min_size=1,
        max_size=6,
    ),
)


@given(st.lists(FAMILY, min_size=1, max_size=5))
@settings(deadline=None, derandomize=True)
def test_shares_are_proportional_whole_and_add_up(
    families: list[tuple[int, list[tuple[int, bool]]]],
) -> None:
    quota = np.array([family[0] for family in families])
    place = np.repeat(np.arange(len(families)), [len(family[1]) for family in families])
    noisy = np.array([n for family in families for n, _ in family[1]])
    open_ = np.array([o for family in families for _, o in family[1]])
    share = share_fairly(quota, place, noisy, open_)
    expected = [
        largest_remainder(family[0], [n for n, _ in family[1]], [o for _, o in family[1]])
        for family in families
    ]
    assert share.tolist() == list(itertools.chain(*expected))
    assert (share >= 0).all()
    assert not share[~open_].any()
    for parent in range(len(families)):
        mine = place == parent
        if open_[mine].any():
            assert share[mine].sum() == quota[parent]


def test_empty_regions_count_like_others() -> None:
    """Nothing but noise says zero: then every open child gets the same."""
    place, everyone = np.zeros(4, np.int64), np.ones(4, np.bool_)
    assert share_fairly(np.array([10]), place, np.array([-3, 0, -1, 0]), everyone).tolist() == [
        3,
        3,
        2,
        2,
    ]
    assert share_evenly(np.array([10]), place, everyone).tolist() == [3, 3, 2, 2]
    closed = np.array([True, False, True, False])
    assert share_evenly(np.array([5]), place, closed).tolist() == [3, 0, 2, 0]
    assert share_evenly(np.array([5]), place, ~everyone).tolist() == [0, 0, 0, 0]


def test_wild_noise_does_not_overflow() -> None:
    noisy = np.array([2**60, 2**60, -(2**60)])
    share = share_fairly(np.array([10**7]), np.zeros(3, np.int64), noisy, np.ones(3, np.bool_))
    assert share.tolist() == [5 * 10**6, 5 * 10**6, 0]


# --- growing -------------------------------------------------------------------------------


@given(st.data())
@settings(max_examples=40, deadline=None, derandomize=True)
def test_the_leaves_cover_every_cell_once(data: st.DataObject) -> None:
    domain = Domain.of(SCHEMA)
    tree = GrowingTree(domain)
    nodes = np.array([0])
    for _ in range(data.draw(st.integers(0, 5))):
        valid = tree.splittable(nodes)
        nodes = nodes[valid.any(axis=1)]
        if not len(nodes):
            break
        part, cut = [], []
        for node in nodes:
            a = data.draw(
                st.sampled_from(np.flatnonzero(tree.splittable(np.array([node]))[0]).tolist())
            )
            part.append(a)
            numeric = domain.root[a] < 0
            bounds = (int(tree.lo[node, a]) + 1, int(tree.hi[node, a]) - 1)
            cut.append(data.draw(st.integers(*bounds)) if numeric else -1)
        before = len(tree.parent)
        split, place = tree.specialize(nodes, Choices(np.array(part), np.array(cut)), final=False)
        assert split.first_child == before
        assert len(split.edges) + len(nodes) == len(place) == len(tree.parent) - before
        assert (tree.parent[before:] == nodes[place]).all()
        nodes = before + np.arange(len(place))
    partition = tree.partition()
    cells = np.array(list(itertools.product(*(range(size) for size in domain.sizes))))
    lo, hi = partition.bounds(np.arange(partition.cells))
    inside = ((cells[:, None] >= lo) & (cells[:, None] < hi)).all(axis=2)
    assert (inside.sum(axis=1) == 1).all()
    assert partition.locate(cells).tolist() == inside.argmax(axis=1).tolist()
    # a region of a categorical attribute is a node of its taxonomy
    job = SCHEMA.attributes[1]
    for low, high in zip(lo[:, 1].tolist(), hi[:, 1].tolist(), strict=True):
        assert job.label(low, high)


def test_children_of_a_taxonomy_node_and_of_an_interval() -> None:
    tree = GrowingTree(Domain.of(SCHEMA))
    split, _ = tree.specialize(np.array([0]), Choices(np.array([1]), np.array([-1])), final=False)
    assert split.edges.tolist() == [2]
    assert [tree.lo[1:, 1].tolist(), tree.hi[1:, 1].tolist()] == [[0, 2], [2, 5]]
    both = np.array([1, 2])
    split, place = tree.specialize(both, Choices(np.array([1, 0]), np.array([-1, 3])), final=True)
    assert split.final
    assert split.edge_start.tolist() == [0, 1, 2]
    assert split.edges.tolist() == [1, 3]
    assert place.tolist() == [0, 0, 1, 1]
    assert tree.depth.tolist() == [0, 1, 1, 2, 2, 2, 2]
    assert tree.lo[3:, 0].tolist() == [0, 0, 0, 3]
    assert tree.hi[3:, 0].tolist() == [5, 5, 3, 5]
    assert not tree.splittable(np.array([3]))[0, 1]  # a leaf of the taxonomy
    assert tree.splittable(np.array([5]))[0].tolist() == [True, True, False, True]


def test_counts_of_a_long_path_never_run_out_of_budget():
    """Every path adds up to all units, and every node has some, however deep the tree is."""
    from hedgerow.estimate.partition import TreePartition
    from hedgerow.methods.cdiffgen import _shares

    for depth in (0, 1, 2, 9, 99, 900, 9000):
        # a chain: every split cuts off one leaf
        parent = np.concatenate([[-1], np.repeat(np.arange(0, 2 * depth, 2), 2)]).astype(np.int64)
        split = np.full(len(parent), -1)
        split[parent[1:]] = 0
        zeros = np.zeros((len(parent), 1), dtype=np.int32)
        levels = np.concatenate([[0], np.repeat(np.arange(1, depth + 1), 2)])
        tree = TreePartition(
            parent=parent.astype(np.int32),
            depth=levels.astype(np.int16),
            split=split.astype(np.int16),
            lo=zeros,
            hi=zeros + 1,
        )
        shares = _shares(tree, 59_000)
        assert (shares > 0).all()
        total = np.zeros(len(parent), dtype=np.int64)
        for node in range(len(parent)):
            total[node] = shares[node] + (total[parent[node]] if node else 0)
        assert (total[split < 0] == 59_000).all()


def test_a_tree_that_was_not_split_is_one_leaf() -> None:
    tree = GrowingTree(Domain.of(SCHEMA)).partition()
    assert (tree.parent.tolist(), tree.depth.tolist(), tree.split.tolist()) == ([-1], [0], [-1])
    assert tree.leaves.tolist() == [0]
