"""Thresholded releases: bounds that hold, on releases simulated by the law of the method."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from hedgerow.errors import ReleaseError
from hedgerow.estimate.answers import worst_noise
from hedgerow.estimate.measurements import Measurement
from hedgerow.estimate.partition import GridPartition
from hedgerow.release import TableRelease
from hedgerow.schema import Schema
from hedgerow.schema.query import Query

EPSILON = Fraction(1, 2)
CODES, PARTS = 12, 6
SCHEMA = Schema.from_dict(
    {
        "name": "grid",
        "unit": "row",
        "attributes": {
            **{name: {"type": "numeric", "low": 0, "high": CODES - 1} for name in "abc"},
            "kind": {"type": "categorical", "values": ["x", "y"], "role": "class"},
        },
    }
)
GRID = GridPartition(tuple(np.arange(0, CODES + 1, CODES // PARTS, dtype=np.int32) for _ in "abc"))


def noise(random, size, epsilon):
    p = 1 - math.exp(-epsilon)
    return random.geometric(p, size) - random.geometric(p, size)


def simulate(random, threshold=8, total=True):
    """Records crowd in a corner; the law is that of dense noise, cut at the threshold."""
    rows = random.integers(0, CODES, (900, 4)) * random.integers(0, 2, (900, 1))
    rows[:, 3] %= 2
    counts = np.zeros((GRID.cells, 2), np.int64)
    np.add.at(counts, (GRID.locate(rows[:, :3]), rows[:, 3]), 1)
    noisy = counts + noise(random, counts.shape, float(EPSILON))
    where, klass = np.nonzero(noisy >= threshold)
    some = [
        Measurement(
            name="leaf", at="region", where=where, values=noisy[where, klass][:, None],
            by_class=True,
            units=np.ones(len(where), np.int64), unit=EPSILON, threshold=threshold, klass=klass,
        )
    ]  # fmt: skip
    if total:
        drawn = 900 + noise(random, (1, 1), 0.1)
        one = np.ones(1, np.int64)
        some.append(
            Measurement(
                name="rows",
                at="node",
                where=0 * one,
                values=drawn,
                by_class=False,
                units=one,
                unit=Fraction(1, 10),
            )
        )
    return rows, TableRelease(
        schema=SCHEMA,
        method="diffgen",
        settings={},
        guarantee={},
        ledger={},
        partition=GRID,
        measurements=tuple(some),
    )


def queries(random, size):
    for _ in range(size):
        where = []
        for a in range(3):
            if random.random() < 0.7:
                low, high = np.sort(random.choice(CODES + 1, 2, False))
                where.append((a, ((float(low), float(high)),)))
        yield Query(tuple(where), None if random.random() < 0.5 else (int(random.integers(2)),))


def truth(rows, query):
    met = np.ones(len(rows), bool)
    for a, ((low, high),) in query.where:
        met &= (rows[:, a] >= low) & (rows[:, a] < high)
    if query.classes is not None:
        met &= np.isin(rows[:, 3], query.classes)
    return met.sum()


@pytest.mark.slow
@pytest.mark.parametrize("total", [True, False])
def test_intervals_hold_for_all_queries_at_once(total):
    """A release fails with a chance of at most 1%, so more than 4 of 40 with at most 5e-5."""
    random = np.random.default_rng(11)
    failed = 0
    for _ in range(40):
        rows, release = simulate(random, total=total)
        asked = [Query(), *queries(random, 60)]
        answers = release.count(asked, level=0.99)
        true = np.array([truth(rows, query) for query in asked])
        assert (answers.low <= answers.high).all()
        assert (answers.low >= 0).all()
        failed += ((true < answers.low) | (true > answers.high)).any()
    assert failed <= 4


def test_a_measured_total_keeps_intervals_from_being_silly():
    rows, release = simulate(np.random.default_rng(3))
    asked = [Query(), Query(((0, ((0.0, 6.0),)),))]
    with_total = release.count(asked)
    without = replace(release, measurements=release.measurements[:1]).count(asked)
    assert (with_total.high < without.high).all()
    assert with_total.high[0] < 900 + 60
    assert (with_total.low > 100).all()
    assert with_total.estimate == pytest.approx(without.estimate)


def test_listed_cells_are_weighed_by_their_share():
    _, release = simulate(np.random.default_rng(4))
    whole, half = Query(((0, ((0.0, 2.0),)),)), Query(((0, ((0.0, 1.0),)),))
    answers = release.count([whole, half])
    listed = release.measurements[0]
    first = GRID.bounds(listed.where)[0][:, 0] == 0
    assert answers.estimate[0] == listed.values[first].sum()
    assert answers.estimate[1] == answers.estimate[0] / 2
    assert answers.low[1] == 0
    assert answers.high[1] == answers.high[0]


def test_with_nothing_listed_only_the_total_is_known():
    _, release = simulate(np.random.default_rng(5))
    leaf, rows = release.measurements
    none = np.empty(0, np.int64)
    empty = replace(leaf, where=none, values=none.reshape(0, 1), units=none, klass=none)
    answers = replace(release, measurements=(empty, rows)).count("a < 4")
    assert answers.estimate[0] == answers.low[0] == 0
    assert answers.high[0] == release.count("").high[0]
    lost = replace(release, measurements=(empty,)).count("a < 4")
    assert lost.high[0] == math.inf
    assert lost.to_arrow()["typical_error"].to_pylist() == [None]  # regions state none
    numbers = lost.to_arrow().drop_columns(["query", "basis", "reliability", "typical_error"])
    assert not np.isnan(numbers.to_pandas().to_numpy()).any()


def test_huge_grids_need_no_list_of_their_cells():
    names = [f"a{k}" for k in range(30)]
    schema = Schema.from_dict(
        {
            "name": "wide",
            "unit": "row",
            "attributes": {n: {"type": "numeric", "low": 0, "high": 3} for n in names},
        }
    )
    grid = GridPartition(tuple(np.arange(5, dtype=np.int32) for _ in names))
    one = np.array([1])
    leaf = Measurement(
        name="leaf", at="region", where=np.array([4**30 - 1]), values=np.array([[500]]),
        by_class=True, units=one, unit=Fraction(1), threshold=60, klass=0 * one,
    )  # fmt: skip
    rows = Measurement(
        name="rows",
        at="node",
        where=0 * one,
        values=np.array([[800]]),
        by_class=False,
        units=one,
        unit=Fraction(1),
    )
    answers = TableRelease(
        schema=schema,
        method="diffgen",
        settings={},
        guarantee={},
        ledger={},
        partition=grid,
        measurements=(leaf, rows),
    ).count(["a0 = 3", "a0 < 3"])
    assert answers.estimate.tolist() == [500, 0]
    assert 400 < answers.low[0] < 500 and answers.low[1] == 0
    assert answers.high[0] == 803
    assert answers.high[1] == 803 - answers.low[0]


def test_worst_noise_is_the_union_bound():
    for epsilon, cells, error in ((0.5, 1, 0.05), (0.5, 1000, 0.05), (2.0, 10**6, 0.01)):
        reach = worst_noise(epsilon, cells, error)
        a = math.exp(-epsilon)
        beyond = [2 * a ** (reach + more) / (1 + a) * cells for more in (1, 0)]
        assert beyond[0] <= error < beyond[1]


def test_other_thresholded_releases_are_refused(sparse_release):
    twice = replace(sparse_release, measurements=sparse_release.measurements * 2)
    with pytest.raises(ReleaseError, match="thresholded"):
        twice.count("")
