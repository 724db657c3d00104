"""Answers, held against brute force: every share, coefficient and variance one by one."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.errors import ReleaseError, UsageError
from hedgerow.estimate.answers import Answers
from hedgerow.estimate.consistency import Fit, sums
from hedgerow.estimate.measurements import Measurement, factor
from hedgerow.estimate.partition import GridPartition, TreePartition
from hedgerow.release import TableRelease
from hedgerow.schema.query import Query

SIZES = (9, 6, 5)
UNIT = Fraction(1, 7)


def random_tree(random, steps: int) -> TreePartition:
    """Boxes over SIZES, split level by level at random into two or three parts."""
    nodes = [(-1, -1, [0] * len(SIZES), list(SIZES))]
    level = [0]
    while level and steps:
        below = []
        for node in level:
            parent, _, lo, hi = nodes[node]
            wide = [a for a in range(len(SIZES)) if hi[a] - lo[a] > 1]
            if not wide or not steps or (node and random.random() < 0.25):
                continue
            steps -= 1
            a = int(random.choice(wide))
            inside = np.arange(lo[a] + 1, hi[a])
            cuts = sorted(
                random.choice(inside, min(len(inside), int(random.integers(1, 3))), False)
            )
            nodes[node] = (parent, a, lo, hi)
            for low, high in itertools.pairwise([lo[a], *map(int, cuts), hi[a]]):
                below.append(len(nodes))
                box_lo, box_hi = list(lo), list(hi)
                box_lo[a], box_hi[a] = low, high
                nodes.append((node, -1, box_lo, box_hi))
        level = below
    return TreePartition.of(nodes)


def random_grid(random) -> GridPartition:
    return GridPartition(
        tuple(
            np.array([0, *sorted(random.choice(np.arange(1, n), random.integers(0, 3), False)), n])
            for n in SIZES
        )
    )


def random_query(random, classes: int) -> Query:
    where = []
    for a, size in enumerate(SIZES):
        if random.random() < 0.6:
            ends = np.sort(random.choice(np.arange(2 * size + 1), 2 * random.integers(1, 3), False))
            intervals = tuple((float(p) / 2, float(q) / 2) for p, q in ends.reshape(-1, 2))
            where.append((a, intervals))
    chosen = None
    if classes > 1 and random.random() < 0.6:
        chosen = tuple(
            sorted(random.choice(classes, random.integers(1, classes + 1), False).tolist())
        )
    return Query(tuple(where), chosen)


def counts_of(random, name, at, where, columns, by_class):
    values = random.integers(-20, 200, (len(where), columns))
    return Measurement(
        name=name,
        at=at,
        where=where,
        values=values,
        by_class=by_class,
        units=random.integers(1, 30, len(where)),
        unit=UNIT,
    )


def measured(random, partition, kind, classes):
    """What DiffMulti, CDiffGen or DiffGen would have measured."""
    some = [counts_of(random, "rows", "node", np.zeros(1, np.int64), 1, False)]
    if random.random() < 0.3:
        some = []
    regions = np.arange(partition.cells)
    if kind == "classes on top":
        nodes = np.arange(len(partition.parent))
        some.append(counts_of(random, "count", "node", nodes, classes, True))
        some.append(counts_of(random, "spare", "node", nodes[:1], classes, True))
    else:
        if isinstance(partition, TreePartition):
            nodes = np.flatnonzero(random.random(len(partition.parent)) < 0.5)
            some.append(counts_of(random, "allocate", "node", nodes, 1, False))
        some.append(counts_of(random, "leaf", "region", regions, classes, True))
        some.append(counts_of(random, "spare", "region", regions[::2], classes, True))
    return some


def shares(partition, query):
    """The share of every region that a query overlaps."""
    lo, hi = partition.bounds(np.arange(partition.cells))
    share = np.ones(partition.cells)
    for a, intervals in query.where:
        covered = sum(
            np.clip(np.minimum(hi[:, a], high) - np.maximum(lo[:, a], low), 0, None)
            for low, high in intervals
        )
        share *= covered / (hi[:, a] - lo[:, a])
    return share


def brute(partition, measurements, classes, rule, queries):
    """The three sums and their variances, from the coefficient of every single measurement."""

    def cells(some):
        return Fit(partition, some, classes, rule).cells

    def answer(found, query):
        share = shares(partition, query)
        weights = np.stack([share >= 1 - 1e-12, share, share > 0]).astype(float)
        chosen = list(range(classes)) if query.classes is None else list(query.classes)
        return weights @ found[..., chosen].sum(axis=-1).T

    coefficients, variances = [], []
    for place, measurement in enumerate(measurements):
        epsilon = measurement.units * float(measurement.unit)
        for cell in np.ndindex(measurement.values.shape):
            unit = np.zeros_like(measurement.values)
            unit[cell] = 1
            alone = [
                replace(m, values=unit if i == place else 0 * m.values)
                for i, m in enumerate(measurements)
            ]
            coefficients.append(cells(alone))
            variances.append(2 / epsilon[cell[0]] ** 2)
    for query in queries:
        spread = answer(np.stack(coefficients), query) ** 2 @ np.array(variances)
        yield answer(cells(measurements), query), spread


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(
    st.integers(0, 10**6),
    st.sampled_from(["classes on top", "classes below", "grid"]),
    st.sampled_from([1, 2, 3]),
    st.sampled_from(["least squares", "averaging", "leaves"]),
)
def test_sums_and_variances_equal_brute_force(seed, kind, classes, rule):
    random = np.random.default_rng(seed)
    partition = random_grid(random) if kind == "grid" else random_tree(random, 7)
    measurements = measured(random, partition, kind, classes)
    if rule == "leaves":
        rule = "least squares" if kind == "classes on top" and classes > 1 else "none"
    found = Fit(partition, measurements, classes, rule)
    queries = [Query(), *(random_query(random, classes) for _ in range(4))]
    estimate, variance = sums(partition, found, queries)
    told = brute(partition, measurements, classes, rule, queries)
    for place, (expected, spread) in enumerate(told):
        assert estimate[place] == pytest.approx(expected, rel=1e-9, abs=1e-7)
        assert variance[place] == pytest.approx(spread, rel=1e-9, abs=1e-7)


def test_without_adjustment_the_smallest_cover_is_counted():
    """C5: whole nodes by their own counts, disjoint ones not at all; cut alike is whole enough."""
    random = np.random.default_rng(5)
    partition = random_tree(random, 12)
    counted = counts_of(random, "count", "node", np.arange(len(partition.parent)), 2, True)
    found = Fit(partition, [counted], 2, "none")
    queries = [random_query(random, 2) for _ in range(50)]
    estimate, variance = sums(partition, found, queries)

    def splits_below(node):
        children = np.flatnonzero(partition.parent == node)
        return {int(partition.split[node])}.union(*map(splits_below, children))

    def cover(node, query):
        share, cut = 1.0, set()
        for a, intervals in query.where:
            low, high = partition.lo[node, a], partition.hi[node, a]
            inside = sum(max(0.0, min(high, q) - max(low, p)) for p, q in intervals)
            share *= inside / (high - low)
            cut |= {a} if inside < high - low else set()
        if share == 0 or not cut & splits_below(node):
            return [(node, share)] if share else []
        children = np.flatnonzero(partition.parent == node)
        return [part for child in children for part in cover(child, query)]

    tail = 2 / (counted.units * float(UNIT)) ** 2
    for place, query in enumerate(queries):
        chosen = [0, 1] if query.classes is None else list(query.classes)
        parts = cover(0, query)
        assert estimate[place, 1] == pytest.approx(
            sum(w * counted.values[node, chosen].sum() for node, w in parts)
        )
        assert variance[place, 1] == pytest.approx(
            sum(w * w * len(chosen) * tail[node] for node, w in parts)
        )


def test_attributes_beyond_the_bits_are_not_mixed_up():
    """Attributes 0 and 62 share a bit: the query cuts one of them, the tree divides both."""
    wide = 70

    def box(**narrow):
        lo, hi = [0] * wide, [4] * wide
        for name, (low, high) in narrow.items():
            lo[int(name[1:])], hi[int(name[1:])] = low, high
        return lo, hi

    tree = TreePartition.of(
        [
            (-1, 0, *box()),
            (0, 62, *box(a0=(0, 2))),
            (0, -1, *box(a0=(2, 4))),
            (1, -1, *box(a0=(0, 2), a62=(0, 1))),
            (1, -1, *box(a0=(0, 2), a62=(1, 4))),
        ]
    )
    random = np.random.default_rng(8)
    leaf = counts_of(random, "leaf", "region", np.arange(3), 1, True)
    queries = [
        Query(((a, ((low, low + width),)), *more))
        for a in (0, 62)
        for low in (0.0, 0.5, 1.0)
        for width in (0.5, 1.0, 2.0)
        for more in ((), ((63, ((1.0, 3.0),)),))
    ]
    estimate, variance = sums(tree, Fit(tree, [leaf], 1), queries)
    for place, query in enumerate(queries):
        ((expected, spread),) = brute(tree, [leaf], 1, "least squares", [query])
        assert estimate[place] == pytest.approx(expected)
        assert variance[place] == pytest.approx(spread)


@pytest.fixture
def asked(tree_release):
    """Age in the whole of the first region; half of it; the second and third by job."""
    return [
        Query(((0, ((0.0, 23.0),)),)),
        Query(((0, ((0.0, 11.5),)),)),
        Query(((0, ((23.0, 75.0),)), (1, ((2.0, 4.0),))), (1,)),
        Query(),
    ]


def test_uncut_queries_know_noise_alone(tree_release, asked):
    answers = tree_release.count(asked)
    for place in (0, 2, 3):
        assert answers.uniformity_low[place] == answers.uniformity_high[place] == 0
        low, high = (answers.estimate + s * answers.noise for s in (-1, 1))
        assert answers.low[place] == max(0, math.ceil(low[place]))
        assert answers.high[place] == math.floor(high[place])
    cells = tree_release.estimates.values
    assert answers.estimate[0] == pytest.approx(cells[0].sum())
    assert answers.estimate[2] == pytest.approx(cells[2, 1])
    assert answers.estimate[3] == pytest.approx(cells.sum())


def test_cut_regions_may_hold_all_or_nothing_inside_the_query(tree_release, asked):
    answers = tree_release.count(asked)
    assert answers.estimate[1] == pytest.approx(answers.estimate[0] / 2)
    assert answers.low[1] == 0
    assert answers.high[1] == answers.high[0]
    assert answers.noise[1] < answers.noise[0]
    assert answers.uniformity_high[1] > 0


def test_a_higher_level_is_a_wider_interval(tree_release, asked):
    narrow, wide = (tree_release.count(asked, level=level) for level in (0.5, 0.99))
    assert (narrow.noise < wide.noise).all()
    assert (narrow.low >= wide.low).all() and (narrow.high <= wide.high).all()
    deviation = [(a.noise - 0.5) / factor(a.level) for a in (narrow, wide)]
    assert deviation[0] == pytest.approx(deviation[1])


def test_queries_come_as_words_mappings_or_one_alone(tree_release):
    by_hand = Query(((0, ((0.0, 23.0),)),), (1,))
    many = tree_release.count(
        ["age < 40 and pay = high", {"age": (17, 39), "pay": "high"}, by_hand]
    )
    assert len(many) == 3
    assert len(set(many.estimate.tolist())) == 1
    alone = tree_release.count("age < 40 and pay = high")
    assert isinstance(alone, Answers)
    assert alone.estimate.tolist() == many.estimate[:1].tolist()
    assert len(tree_release.count([])) == 0
    assert tree_release.count({}).estimate == tree_release.count("").estimate


@pytest.mark.parametrize("level", [0, 1, -0.1, 2, float("nan"), "0.95"])
def test_a_level_that_is_none_is_refused(tree_release, level):
    with pytest.raises(UsageError, match="level"):
        tree_release.count("", level=level)


@pytest.mark.parametrize(
    "query", [7, Query(((5, ((0.0, 1.0),)),)), Query((), (2,)), Query(((-1, ((0.0, 1.0),)),))]
)
def test_what_is_no_query_of_this_schema_is_refused(tree_release, query):
    with pytest.raises(UsageError, match="query"):
        tree_release.count([query])


@pytest.mark.parametrize("queries", [None, 5, b"age < 40", [b"age < 40"], [None]])
def test_what_is_no_query_at_all_is_refused(tree_release, queries):
    with pytest.raises(UsageError, match="a query cannot be read from type"):
        tree_release.count(queries)


@pytest.mark.parametrize("level", [np.float32(0.75), np.float64(0.75)])
def test_a_level_may_be_a_number_of_numpy(tree_release, level):
    assert tree_release.count("", level=level).high == tree_release.count("", level=0.75).high


def test_answers_are_frames(tree_release, asked):
    answers = tree_release.count(asked)
    table = answers.to_arrow()
    assert table.column_names == [
        "query",
        "estimate",
        "low",
        "high",
        "typical_error",
        "reliability",
        "basis",
        "noise",
        "uniformity_low",
        "uniformity_high",
    ]
    assert table.num_rows == 4
    assert isinstance(answers.to_frame("polars"), pl.DataFrame)
    with pytest.raises(UsageError, match="kind"):
        answers.to_frame("excel")


def test_a_region_that_was_not_counted_cannot_be_asked(tree_release):
    rows, allocate, leaf = tree_release.measurements
    partial = replace(leaf, where=leaf.where[:2], values=leaf.values[:2], units=leaf.units[:2])
    with pytest.raises(ReleaseError, match="not counted"):
        replace(tree_release, measurements=(rows, allocate, partial)).count("")


def test_an_unknown_rule_of_consistency_is_refused(tree_release):
    with pytest.raises(ReleaseError, match="consistency"):
        replace(tree_release, settings={"consistency": "later"}).count("")


def test_a_release_of_one_region_can_be_asked(schema):
    lo, hi = [0] * 5, [attribute.size for attribute in schema.attributes]
    leaf = Measurement(
        name="leaf",
        at="region",
        where=np.array([0]),
        values=np.array([[40, 60]]),
        by_class=True,
        units=np.array([1]),
        unit=UNIT,
    )
    release = TableRelease(
        schema=schema,
        method="diffmulti",
        settings={},
        guarantee={},
        ledger={},
        partition=TreePartition.of([(-1, -1, lo, hi)]),
        measurements=(leaf,),
    )
    half = Query(((1, ((0.0, 2.0),)),))
    answers = release.count([Query(), half, replace(half, classes=(0,))])
    assert answers.estimate == pytest.approx([100, 50, 20])
    assert answers.low.tolist()[1:] == [0, 0]
    assert answers.high[1] == answers.high[0]
