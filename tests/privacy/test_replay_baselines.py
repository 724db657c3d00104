"""The replay audit of the private baselines: they are compared with ours, so they must be private.

Each must keep to its epsilon on edge cases and at random, spend all of it, and be caught when
something is broken on purpose.
"""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from hedgerow.audit.replay import DivergedError, compare, record, replay
from hedgerow.data import Table, Transactions
from hedgerow.methods.api import run
from hedgerow.privacy.budget import Budget
from hedgerow.privacy.keystream import Keystream
from hedgerow.privacy.sampler import SecureSampler
from hedgerow.schema import Schema
from papers import baselines
from papers.baselines import cells, marginals, trees

ROUNDING = 1e-9
SCHEMA = Schema.from_dict(
    {
        "name": "small",
        "unit": "row",
        "attributes": {
            "age": {"type": "numeric", "low": 0, "high": 9, "step": 1},
            "job": {
                "type": "categorical",
                "taxonomy": {"Professional": ["Engineer", "Lawyer"], "Artist": ["Dancer", "Poet"]},
            },
            "dose": {"type": "numeric", "low": 0, "high": 3, "step": 1},
            "ill": {"type": "categorical", "values": ["no", "yes", "maybe"], "role": "class"},
        },
    }
)
SHOP = Schema.from_dict({"name": "shop", "unit": "row", "items": {"universe": {"range": [1, 5]}}})
METHODS = [
    baselines.ContingencyTable(),
    baselines.ContingencyTable(max_cells=40),
    baselines.RPS(depth=4),
    baselines.DPCube(),
    baselines.DiffPC45(depth=3),
    baselines.Marginals(by_class=True),
    baselines.Marginals(by_class=False),
]


def rows(*records):
    return np.asarray(records, dtype=np.uint16).reshape(len(records), 4)


def crowd(number, start=0):
    source = np.random.default_rng(start)
    columns = [source.integers(0, size, number) for size in (10, 4, 4, 3)]
    return np.stack(columns, axis=1).astype(np.uint16)


PAIRS = {
    "empty table": (rows(), (5, 1, 2, 1)),
    "alone in its region": (rows(*[(0, 0, 0, 0)] * 12), (9, 3, 3, 0)),
    "grid ends": (crowd(15), (9, 3, 3, 2)),
    "unseen class": (rows(*[(3, 1, 1, 0), (7, 2, 2, 1)] * 6), (3, 1, 1, 2)),
    "ties": (rows((1, 0, 0, 0), (1, 0, 0, 1), (8, 3, 3, 0), (8, 3, 3, 1)), (1, 0, 0, 1)),
    "one of many": (crowd(60, 1), (4, 2, 1, 1)),
    "a heap in one cell": (rows(*[(0, 0, 0, 0)] * 200), (0, 0, 0, 1)),
}


def losses(on, table, with_it, number):
    """The log-likelihood ratios of one transcript of each neighbor."""
    for drawn_from in (table, with_it):
        outcomes = record(on(drawn_from), SecureSampler(Keystream(seed=number)))
        found = compare(replay(on(table), outcomes), replay(on(with_it), outcomes))
        assert max(found.touched) <= 1, "a step that cannot see the record has changed"
        yield found.loss


def worst(method, pairs=PAIRS, epsilon="2", runs=3):
    """The largest loss, or the first that is beyond epsilon."""
    budget, most = Budget.of(epsilon, 0), 0.0

    def on(codes):
        return lambda sampler: run(Table(SCHEMA, codes), method, budget, sampler)

    for (table, extra), number in itertools.product(pairs.values(), range(runs)):
        larger = np.concatenate([table, np.asarray([extra], np.uint16)])
        most = max(most, *map(abs, losses(on, table, larger, number)))
        if most > float(epsilon) + ROUNDING:
            break
    return most


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_no_transcript_tells_more_than_epsilon(method):
    assert 0 < worst(method) <= 2 + ROUNDING


def transactions(*records):
    start = np.concatenate([[0], np.cumsum([len(r) for r in records])]).astype(np.int64)
    codes = np.asarray([c for r in records for c in r], dtype=np.uint16)
    return Transactions(SHOP, start, codes)


@pytest.mark.parametrize(
    "records", [((0,),), ((0, 1), (2,), (0, 1, 2, 3, 4)), ((0,), (0,), (0,), (4,))]
)
def test_all_sets_of_items(records):
    budget = Budget.of("1.5", 0)

    def on(data):
        return lambda sampler: run(transactions(*data), baselines.ItemsetTable(), budget, sampler)

    for number in range(4):
        for loss in losses(on, records, (*records, (1, 3)), number):
            assert abs(loss) <= 1.5 + ROUNDING


@pytest.mark.parametrize(
    "method", [m for m in METHODS if not isinstance(m, baselines.Marginals)], ids=repr
)
def test_every_published_path_spends_the_grant(method):
    outcome = run(
        Table(SCHEMA, crowd(50)), method, Budget.of("1.5", 0), SecureSampler(Keystream(seed=3))
    )
    ledger = outcome.ledger
    assert (ledger.left("epsilon", outcome.published) == 0).all()
    assert ledger.budgets["epsilon"].total == Fraction(3, 2)


# Unsound on purpose.


def test_catches_medians_that_count_a_record_too_little(monkeypatch):
    monkeypatch.setattr(trees, "SCORE_RANGE", Fraction(1, 3))
    pairs = {name: PAIRS[name] for name in ("grid ends", "one of many")}  # the others tell less
    assert worst(baselines.RPS(depth=4), pairs, runs=30) > 2 + ROUNDING


def test_catches_marginals_that_forget_the_other_attributes(monkeypatch):
    honest = marginals.Curator.laplace

    def careless(self, *args, max_contribution=1):
        return honest(self, *args)

    monkeypatch.setattr(marginals.Curator, "laplace", careless)
    assert worst(baselines.Marginals()) > 2 + ROUNDING


def test_catches_a_cube_partitioned_by_exact_counts(monkeypatch):
    honest = cells._partition

    def peeking(monkeypatch):
        from hedgerow.counting.memory import MemoryEngine

        seen = {}
        told = MemoryEngine.cell_counts

        def remember(self, edges):
            sealed = told(self, edges)
            sealed.map(lambda cells: seen.update(sum=int(cells[1].sum())))
            return sealed

        monkeypatch.setattr(MemoryEngine, "cell_counts", remember)
        return lambda cube, variance: honest(cube, variance if seen["sum"] % 2 else 1e9)

    monkeypatch.setattr(cells, "_partition", peeking(monkeypatch))
    with pytest.raises((AssertionError, DivergedError, ValueError)):
        crowded = {"a heap in one cell": (rows(*[(0, 0, 0, 0)] * 200), (9, 3, 3, 0))}
        assert worst(baselines.DPCube(), crowded) <= 2 + ROUNDING
