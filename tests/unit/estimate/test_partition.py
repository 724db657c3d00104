from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.errors import ReleaseError
from hedgerow.estimate.partition import GridPartition, TreePartition


@st.composite
def trees(draw: st.DrawFn) -> tuple[TreePartition, tuple[int, ...]]:
    sizes = tuple(draw(st.lists(st.integers(1, 6), min_size=1, max_size=3)))
    nodes: list[list] = [[-1, -1, [0] * len(sizes), list(sizes)]]
    level = [0]
    while level and len(nodes) < 40:
        below = []
        for node in level:
            _, _, lo, hi = nodes[node]
            open_ = [a for a in range(len(sizes)) if hi[a] - lo[a] > 1]
            if not open_ or not draw(st.booleans()):
                continue
            along = draw(st.sampled_from(open_))
            inner = list(range(lo[along] + 1, hi[along]))
            cuts = sorted(draw(st.sets(st.sampled_from(inner), min_size=1)))
            nodes[node][1] = along
            for a, b in itertools.pairwise([lo[along], *cuts, hi[along]]):
                nodes.append([node, -1, [*lo], [*hi]])
                nodes[-1][2][along], nodes[-1][3][along] = a, b
                below.append(len(nodes) - 1)
        level = below
    return TreePartition.of([tuple(node) for node in nodes]), sizes


@st.composite
def grids(draw: st.DrawFn) -> tuple[GridPartition, tuple[int, ...]]:
    sizes = tuple(draw(st.lists(st.integers(1, 6), min_size=1, max_size=3)))
    edges = []
    for size in sizes:
        inner = draw(st.sets(st.integers(1, size - 1))) if size > 1 else set()
        edges.append(np.array([0, *sorted(inner), size], np.int32))
    return GridPartition(tuple(edges)), sizes


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(st.one_of(trees(), grids()))
def test_locate_bounds_and_parts_agree_with_looking_everywhere(made):
    partition, sizes = made
    partition.check(sizes)
    everywhere = np.array(list(itertools.product(*map(range, sizes))))
    regions = np.arange(partition.cells)
    lo, hi = partition.bounds(regions)
    inside = (everywhere[:, None] >= lo) & (everywhere[:, None] < hi)
    holds = inside.all(axis=2)
    assert (holds.sum(axis=1) == 1).all()
    assert np.array_equal(partition.locate(everywhere), holds.argmax(axis=1))
    assert sorted(map(tuple, lo)) == list(map(tuple, lo))  # canonical numbers
    for attribute in range(len(sizes)):
        parts = partition.parts(attribute, regions)
        assert np.array_equal(parts.lo[parts.index], lo[:, attribute])
        assert np.array_equal(parts.hi[parts.index], hi[:, attribute])
        pairs = list(zip(parts.lo, parts.hi, strict=True))
        assert len(set(pairs)) == len(pairs)


def test_rows_are_located_across_chunks():
    tree = TreePartition.of([(-1, 0, [0], [3]), *[(0, -1, [k], [k + 1]) for k in range(3)]])
    codes = np.tile(np.array([[2], [0], [1]], np.uint16), (50_000, 1))
    assert np.array_equal(tree.locate(codes), codes[:, 0])


def test_nobody_to_locate(tree_release, grid_release):
    for release in (tree_release, grid_release):
        assert release.partition.locate(np.empty((0, 5), np.uint16)).tolist() == []


def test_grid_numbers_stay_exact_for_huge_grids():
    grid = GridPartition(tuple(np.arange(5, dtype=np.int32) for _ in range(30)))
    assert grid.cells == 4**30
    last = np.full((1, 30), 3)
    region = grid.locate(last)
    assert int(region[0]) == 4**30 - 1
    assert np.array_equal(grid.bounds(region)[0], last)


@pytest.mark.parametrize(
    ("nodes", "rule"),
    [
        ([(-1, -1, [0, 0], [3, 2])], "whole domain"),
        ([(-1, 0, [0, 0], [4, 2])], "no children"),
        ([(-1, 0, [0, 0], [4, 2]), (0, -1, [0, 0], [2, 2]), (0, -1, [3, 0], [4, 2])], "fill"),
        ([(-1, 0, [0, 0], [4, 2]), (0, -1, [0, 0], [2, 2]), (0, -1, [2, 0], [3, 2])], "fill"),
        ([(-1, 0, [0, 0], [4, 2]), (0, -1, [0, 0], [2, 1]), (0, -1, [2, 0], [4, 2])], "fill"),
        ([(-1, 0, [0, 0], [4, 2]), (0, -1, [2, 0], [4, 2]), (0, -1, [0, 0], [2, 2])], "fill"),
        ([(-1, 2, [0, 0], [4, 2]), (0, -1, [0, 0], [4, 2])], "children"),
    ],
)
def test_what_is_no_tree_of_boxes_is_refused(nodes, rule):
    with pytest.raises(ReleaseError, match=rule):
        TreePartition.of(nodes).check((4, 2))


@pytest.mark.parametrize("edges", [[0, 2], [1, 4], [0, 2, 2, 4], [0, 3, 2, 4], [0]])
def test_what_is_no_cut_is_refused(edges):
    with pytest.raises(ReleaseError, match="fill"):
        GridPartition((np.array(edges, np.int32),)).check((4,))


def test_too_many_regions_are_refused():
    grid = GridPartition(tuple(np.arange(5, dtype=np.int32) for _ in range(32)))
    with pytest.raises(ReleaseError, match="numbered"):
        grid.check((4,) * 32)
