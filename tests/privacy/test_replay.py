"""The replay audit of every method, schedule and accounting, on edge cases and at random."""

from __future__ import annotations

import itertools
import math
import os
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from hedgerow.privacy.budget import Budget
from hedgerow.privacy.chance import Dice
from hedgerow.privacy.keystream import Keystream
from hedgerow.privacy.ledger import Ledger
from hedgerow.privacy.replay import DivergedError, compare, record, replay
from hedgerow.publish import scores
from hedgerow.publish.api import run
from hedgerow.publish.cdiffgen import CDiffGen
from hedgerow.publish.diffgen import DiffGen
from hedgerow.publish.diffmulti import DiffMulti
from hedgerow.schema import Schema
from hedgerow.table import Table

ROUNDING = 1e-9
EXAMPLES = int(os.environ.get("HEDGEROW_EXAMPLES", "60"))  # more for a long audit
RHO = ("cut", "select", "allocate", "spare")

SCHEMA = Schema.from_dict(
    {
        "name": "small",
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
LEAVES_ONLY = Schema.from_dict(
    {
        "name": "flat",
        "attributes": {
            "a": {"type": "categorical", "values": ["x", "y"]},
            "b": {"type": "categorical", "values": ["u", "v", "w"]},
            "c": {"type": "categorical", "values": ["no", "yes"], "role": "class"},
        },
    }
)

METHODS = [
    DiffMulti(specialisations=8, depth=4),
    DiffMulti(specialisations=8, depth=4, distribution="even"),
    DiffMulti(specialisations=6, depth=3, score="gini"),
    DiffMulti(specialisations=6, depth=3, score="ncp"),
    DiffMulti(specialisations=6, depth=3, score="discernibility"),
    DiffMulti(),
    DiffMulti(schedule="paper", specialisations=8, depth=4),
    DiffMulti(schedule="paper", specialisations=5, depth=3, score="ncp"),
    DiffMulti(schedule="paper", specialisations=5, depth=3, distribution="even"),
    DiffGen(specialisations=4),
    DiffGen(),
    DiffGen(specialisations=3, score="gini"),
    DiffGen(specialisations=3, score="infogain"),
    DiffGen(schedule="paper", specialisations=4),
    DiffGen(schedule="paper", specialisations=3, score="infogain"),
    CDiffGen(specialisations=4),
    CDiffGen(score="gini"),
    CDiffGen(schedule="paper", specialisations=4),
]


def rows(*records: tuple[int, ...]) -> np.ndarray:
    return np.asarray(records, dtype=np.uint16).reshape(len(records), 4)


def crowd(number: int, start: int = 0) -> np.ndarray:
    source = np.random.default_rng(start)
    columns = [source.integers(0, size, number) for size in (10, 4, 4, 3)]
    return np.stack(columns, axis=1).astype(np.uint16)


# every pair: a table, and the record that its neighbour has in addition
PAIRS = {
    "empty table": (rows(), (5, 1, 2, 1)),
    "alone in its region": (rows(*[(0, 0, 0, 0)] * 12), (9, 3, 3, 0)),
    "low grid end": (crowd(15), (0, 0, 0, 0)),
    "high grid end": (crowd(15), (9, 3, 3, 2)),
    "unseen class": (rows(*[(3, 1, 1, 0), (7, 2, 2, 1)] * 6), (3, 1, 1, 2)),
    "ties": (rows((1, 0, 0, 0), (1, 0, 0, 1), (8, 3, 3, 0), (8, 3, 3, 1)), (1, 0, 0, 1)),
    "one of many": (crowd(40, 1), (4, 2, 1, 1)),
}


def audit(method, schema, table, extra, budget, number):
    """Replays one transcript of each neighbour on both."""
    with_it = np.concatenate([table, np.asarray([extra], dtype=np.uint16)])

    def on(codes):
        return lambda chance: run(Table(schema, codes), method, budget, chance)

    for drawn_from in (table, with_it):
        outcomes = record(on(drawn_from), Dice(Keystream(seed=number)))
        yield compare(replay(on(table), outcomes), replay(on(with_it), outcomes), RHO)


def check(method, schema, table, extra, budget, number):
    """Asserts the guarantee, by the rule that fits the accounting."""
    plan = method.plan_for(schema, budget, 0)
    pots = {pot.name: float(pot.total) for pot in plan.purse.pots}
    for found in audit(method, schema, table, extra, budget, number):
        assert max(found.touched) <= 1, "a step that cannot see the record has changed"
        if plan.purse.accounting == "pure":
            assert abs(found.loss) <= float(budget.epsilon) + ROUNDING
            continue
        pure = sum(ratio for purpose, ratio in found.log_ratio.items() if purpose not in RHO)
        assert abs(pure) <= pots["epsilon"] + ROUNDING
        assert max(found.divergence.values()) <= pots["rho"] + ROUNDING
        assert math.isfinite(found.loss)


@pytest.mark.parametrize("delta", [0, "1e-6"], ids=["pure", "zcdp"])
@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_edge_cases(method, pair, delta):
    table, extra = PAIRS[pair]
    for number, epsilon in enumerate(("1", "5")):
        check(method, SCHEMA, table, extra, Budget.of(epsilon, delta), number)


@pytest.mark.parametrize("delta", [0, "1e-6"], ids=["pure", "zcdp"])
def test_permute_and_flip_where_weights_are_equal(delta):
    table = np.asarray([(0, 0, 0), (1, 2, 1), (1, 1, 1)], dtype=np.uint16)
    method = DiffMulti(specialisations=3, depth=2)
    for number, extra in itertools.product(range(5), [(0, 0, 0), (1, 2, 0)]):
        check(method, LEAVES_ONLY, table, extra, Budget.of(2, delta), number)


def test_sparse_release(monkeypatch):
    monkeypatch.setattr("hedgerow.publish.diffgen.DENSE_CELLS", 2)
    monkeypatch.setattr("hedgerow.publish.diffgen.SPURIOUS", 1)
    for method in (DiffGen(specialisations=4), DiffGen(schedule="paper", specialisations=4)):
        for number, pair in itertools.product(range(3), PAIRS.values()):
            budget = Budget.of(3)
            outcome = run(Table(SCHEMA, pair[0]), method, budget, Dice(Keystream(seed=number)))
            assert outcome.measurements[-1].threshold is not None
            check(method, SCHEMA, *pair, budget, number)


@st.composite
def neighbours(draw):
    """A random schema, table and record."""
    attributes = {}
    for name in "abc"[: draw(st.integers(1, 3))]:
        if draw(st.booleans()):
            attributes[name] = {
                "type": "numeric", "low": 0, "high": draw(st.integers(1, 12)), "step": 1,
            }  # fmt: skip
        else:
            groups = draw(st.lists(st.integers(1, 3), min_size=1, max_size=3))
            attributes[name] = {
                "type": "categorical",
                "taxonomy": {
                    f"{name}{g}": [f"{name}{g}{i}" for i in range(size)]
                    for g, size in enumerate(groups)
                },
            }
    attributes["class"] = {
        "type": "categorical", "role": "class",
        "values": [f"k{i}" for i in range(draw(st.integers(1, 3)))],
    }  # fmt: skip
    schema = Schema.from_dict({"name": "any", "attributes": attributes})
    sizes = [attribute.size for attribute in schema.attributes] + [len(schema.classes)]
    row = st.tuples(*(st.integers(0, size - 1) for size in sizes))
    table = np.asarray(draw(st.lists(row, max_size=12)), dtype=np.uint16).reshape(-1, len(sizes))
    return schema, table, draw(row)


@seed(20)
@settings(max_examples=EXAMPLES, deadline=None, database=None,
          suppress_health_check=list(HealthCheck))  # fmt: skip
@given(neighbours(), st.sampled_from(METHODS), st.sampled_from([0, "1e-9"]), st.integers(0, 99))
def test_random_schemas(pair, method, delta, number):
    schema, table, extra = pair
    check(method, schema, table, extra, Budget.of("1.5", delta), number)


@seed(21)
@settings(max_examples=EXAMPLES, deadline=None, database=None,
          suppress_health_check=list(HealthCheck))  # fmt: skip
@given(neighbours(), st.sampled_from(METHODS), st.sampled_from([0, "1e-9"]), st.integers(0, 99))
def test_every_published_path_spends_exactly_the_grant(pair, method, delta, number):
    schema, table, _ = pair
    budget = Budget.of("1.5", delta)
    outcome = run(Table(schema, table), method, budget, Dice(Keystream(seed=number)))
    pots = outcome.ledger.pots
    for name in pots:
        assert (outcome.ledger.left(name, outcome.published) == 0).all()
        everyone = np.arange(outcome.ledger._accounts)
        assert (outcome.ledger.left(name, everyone) >= 0).all()
    if not delta:
        assert pots["epsilon"].total == Fraction(3, 2)
    book = outcome.ledger.book(outcome.published, outcome.sharing)
    assert sum(path["leaves"] for path in book["paths"]) == outcome.partition.cells


# Deliberately broken twins: an audit that catches nothing proves nothing.


def caught(method=METHODS[0], epsilon="1", pairs=PAIRS):
    for number in range(6):
        for table, extra in pairs.values():
            try:
                check(method, SCHEMA, table, extra, Budget.of(epsilon), number)
            except (AssertionError, DivergedError):
                return True
    return False


def test_the_sound_method_is_not_caught():
    assert not caught()


def test_catches_a_leaf_that_spends_the_whole_grant(monkeypatch):
    honest = Ledger.left

    def greedy(self, pot, accounts):
        spent = honest(self, pot, accounts)
        return np.full_like(spent, self.pots[pot].units)

    monkeypatch.setattr(Ledger, "left", greedy)
    assert caught()


def test_catches_split_points_taken_from_the_data(monkeypatch):
    honest = scores.candidates

    def from_data(domain, lo, hi, taxon, ask, score, *, apart):
        compute = honest(domain, lo, hi, taxon, ask, score, apart=apart)

        def only_at_records(histograms):
            every = compute(histograms)
            one_each = np.ones(len(every.count), dtype=np.int64)
            return replace(every, count=one_each)

        return only_at_records

    monkeypatch.setattr("hedgerow.publish.diffmulti.candidates", from_data)
    assert caught()


def test_catches_noise_left_out_where_nobody_is(monkeypatch):
    honest = Dice.laplace

    def skip_empty(self, exact, rates):
        return np.where(exact == 0, 0, honest(self, exact, rates))

    monkeypatch.setattr(Dice, "laplace", skip_empty)
    from hedgerow.privacy import replay as module

    told = module._Replayer.laplace

    def tell(self, exact, rates):
        forced = told(self, exact, rates)
        step = self.trace[-1]
        impossible = ((exact == 0) & (forced != 0)).reshape(len(step.log_p), -1).any(axis=1)
        step.log_p[impossible] = -math.inf
        return forced

    monkeypatch.setattr(module._Replayer, "laplace", tell)
    assert caught()


def test_catches_a_score_that_reads_other_records(monkeypatch):
    """M18: scores evaluated on the whole table instead of the region's records."""
    from hedgerow.counting.memory import MemoryEngine

    honest = MemoryEngine.histograms

    def of_everybody(self, nodes, lo, hi, wanted):
        begin, end = self._begin.copy(), self._end.copy()
        self._begin[:], self._end[:] = 0, len(self._table)
        kept_rows, self._rows = self._rows, np.ascontiguousarray(self._first)
        try:
            yield from list(
                honest(self, nodes, np.zeros_like(lo), hi * 0 + self.domain.sizes, wanted)
            )
        finally:
            self._begin, self._end, self._rows = begin, end, kept_rows

    init = MemoryEngine.__init__

    def remember(self, table, batch=1 << 21):
        init(self, table, batch)
        self._first = self._rows.copy()

    monkeypatch.setattr(MemoryEngine, "__init__", remember)
    monkeypatch.setattr(MemoryEngine, "histograms", of_everybody)
    assert caught(DiffMulti(specialisations=8, depth=4, score="gini"), "5")


def test_catches_a_sensitivity_that_is_too_small(monkeypatch):
    from hedgerow.privacy.curator import Curator

    honest = Curator.select

    def careless(self, *args, span, flip):
        return honest(self, *args, span=Fraction(span, 4), flip=flip)

    monkeypatch.setattr(Curator, "select", careless)
    assert caught(DiffMulti(specialisations=8, depth=4), "1")
