from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.estimate.cells import project, round_to_total, share_out, whole_cells
from hedgerow.estimate.consistency import Fit
from hedgerow.estimate.measurements import Measurement
from hedgerow.estimate.partition import TreePartition


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 4), st.integers(-40, 60), st.sampled_from([0.1, 1.0, 7.0])),
        min_size=5,
        max_size=25,
    ),
    st.lists(st.integers(0, 50), min_size=5, max_size=5),
)
def test_groups_are_settled_as_if_each_were_alone(numbers, totals):
    numbers = [*((group, 1, 1.0) for group in range(5)), *numbers]  # no group is empty
    group, x, v = (np.array(column) for column in zip(*numbers, strict=True))
    got = share_out(x.astype(float), v, group, np.array(totals))
    for one, total in enumerate(totals):
        here = group == one
        expected = round_to_total(project(x[here].astype(float), v[here], total), total)
        assert got[here].tolist() == expected.tolist()
        assert got[here].sum() == total
        assert got[here].min() >= 0


def test_long_sums_that_are_off_still_add_up():
    x = np.array([1e15 + 0.3, 2.0, 5e14])
    got = share_out(x, np.array([1e12, 1.0, 1e6]), np.zeros(3, np.int64), np.array([10**15 + 7]))
    assert got.sum() == 10**15 + 7
    assert got.min() >= 0


def test_one_large_group_is_fast_enough_to_be_a_grid():
    random = np.random.default_rng(0)
    x = random.normal(0, 30, 300_000)
    got = share_out(x, np.ones(len(x)), np.zeros(len(x), np.int64), np.array([45_222]))
    assert got.sum() == 45_222
    assert got.min() == 0


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6))
def test_counts_add_up_at_every_node_and_class(seed):
    random = np.random.default_rng(seed)
    partition = chain(random)
    nodes = len(partition.parent)
    counted = Measurement(
        name="count", at="node", where=np.arange(nodes), values=random.integers(-9, 40, (nodes, 3)),
        by_class=True, units=random.integers(1, 9, nodes), unit=Fraction(1, 9),
    )  # fmt: skip
    found = Fit(partition, [counted], 3)
    cells = whole_cells(found)
    assert cells.shape == (partition.cells, 3)
    assert cells.min() >= 0
    assert cells.sum() == max(0, round(found.counts[0].sum()))
    # consistent counts that are whole and not negative already stay as they are
    truth = random.integers(0, 9, cells.shape)
    whole = np.zeros((nodes, 3))
    whole[partition.leaves] = truth
    whole = found.passes.levels.gathered(whole).astype(np.int64)
    exact = Measurement(
        name="count",
        at="node",
        where=np.arange(nodes),
        values=whole,
        by_class=True,
        units=counted.units,
        unit=Fraction(1, 9),
    )
    assert np.array_equal(whole_cells(Fit(partition, [exact], 3)), truth)


def chain(random) -> TreePartition:
    """A comb: every node but the last level's leaves splits off a leaf or two."""
    nodes = [(-1, -1, [0], [64])]
    open_node = 0
    for _ in range(int(random.integers(0, 6))):
        _, _, (low,), (high,) = nodes[open_node]
        if high - low < 4:
            break
        nodes[open_node] = (nodes[open_node][0], 0, [low], [high])
        cuts = sorted(
            random.choice(np.arange(low + 1, high), random.integers(1, 3), False).tolist()
        )
        ends = [low, *cuts, high]
        first = len(nodes)
        nodes += [(open_node, -1, [a], [b]) for a, b in zip(ends, ends[1:], strict=False)]
        open_node = first + int(np.argmax(np.diff(ends)))
    return TreePartition.of(nodes)


def test_top_down_beats_a_flat_projection_where_nodes_were_counted():
    """Many empty leaves beside a full one: their parent's count keeps their noise together."""
    random = np.random.default_rng(3)
    nodes = [(-1, 0, [0], [64]), (0, 0, [0], [32]), (0, 0, [32], [64])]
    nodes += [(1 + (leaf >= 32), -1, [leaf], [leaf + 1]) for leaf in range(64)]
    tree = TreePartition.of(nodes)
    truth = np.zeros(67)
    truth[3:35] = 20
    truth[:3] = 640, 640, 0
    errors = []
    for _ in range(30):
        noise = random.geometric(0.1, 67) - random.geometric(0.1, 67)
        counted = Measurement(
            name="count", at="node", where=np.arange(67), values=(truth + noise).astype(np.int64)[:,
            None], by_class=False, units=np.ones(67, np.int64), unit=Fraction(1, 10),
        )  # fmt: skip
        found = Fit(tree, [counted], 1)
        down = whole_cells(found)
        total = down.sum()
        flat = round_to_total(project(found.cells, np.ones((64, 1)), total), int(total))
        errors.append([np.square(x[:, 0] - truth[3:]).sum() for x in (down, flat)])
    assert np.mean(errors, axis=0)[0] < 0.9 * np.mean(errors, axis=0)[1]


@pytest.mark.parametrize("total", [0, 1, 5])
def test_a_group_of_one_takes_all(total):
    assert (
        share_out(np.array([-3.0]), np.ones(1), np.zeros(1, np.int64), np.array([total])) == total
    )
