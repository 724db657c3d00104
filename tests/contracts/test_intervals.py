"""Intervals of every method hold the truth as often as they say, and not much more often.

One query per release, so that misses are independent. At level 0.8 a miss has a chance of at most
0.2, and more than 41 of 100 misses one of 5e-7. Queries for nodes cut no region, so noise is all
there is; the bound on it is nearly tight there (a miss has a chance of about 0.18), and fewer than
3 misses have one below 1e-5. Seeds are fixed, so that nothing here is ever flaky.
"""

from __future__ import annotations

import numpy as np
import pytest

import hedgerow as hr
from hedgerow import sample
from hedgerow.data import read
from hedgerow.methods.api import run
from hedgerow.privacy.budget import Budget
from hedgerow.privacy.keystream import Keystream
from hedgerow.privacy.sampler import SecureSampler
from hedgerow.schema.query import Query

RELEASES, MOST, LEAST = 100, 41, 3


def a_query(partition, classes, source):
    """The box of a random node, or between random edges of a grid; maybe a class."""
    if hasattr(partition, "edges"):
        ends = [np.sort(source.choice(edges, 2, replace=False)) for edges in partition.edges]
        sizes = [edges[-1] for edges in partition.edges]
        lo, hi = np.array(ends).T
    else:
        node = source.integers(len(partition.parent))
        lo, hi, sizes = partition.lo[node], partition.hi[node], partition.hi[0]
    where = [
        (a, ((float(low), float(high)),))
        for a, (low, high, size) in enumerate(zip(lo, hi, sizes, strict=True))
        if high - low < size
    ]
    klass = None if source.random() < 0.5 else (int(source.integers(classes)),)
    return Query(tuple(where), klass)


def truth(codes, query):
    met = np.ones(len(codes), bool)
    for a, ((low, high),) in query.where:
        met &= (codes[:, a] >= low) & (codes[:, a] < high)
    return (met & (np.isin(codes[:, -1], query.classes) if query.classes else True)).sum()


@pytest.mark.parametrize(
    "method",
    [
        hr.DiffMulti(specializations=20),
        hr.CDiffGen(specializations=4),
        hr.CDiffGen(specializations=4, schedule="paper"),
        hr.DiffGen(specializations=4),
    ],
    ids=lambda method: f"{method.name} {method.schedule}",
)
def test_intervals_hold_as_often_as_they_say(method):
    schema = sample.schema()
    table = read(sample.people(1000), schema)
    missed = 0
    for seed in range(RELEASES):
        source = np.random.default_rng(seed)
        done = run(table, method, Budget.of("1/2", 0), SecureSampler(Keystream(seed)))
        release = hr.TableRelease(
            schema=schema,
            method=method.name,
            settings=method.settings(),
            guarantee={},
            ledger={},
            partition=done.partition,
            measurements=done.measurements,
        )
        query = a_query(done.partition, len(schema.classes), source)
        answers = release.count(query, level=0.8)
        assert answers.uniformity_low[0] == answers.uniformity_high[0] == 0
        # the ends before they were clipped at 0, which holds more than asked
        off = abs(answers.estimate[0] - truth(table.codes, query))
        missed += off > answers.noise[0]
    assert LEAST <= missed <= MOST
