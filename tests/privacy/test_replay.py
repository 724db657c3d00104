"""The replay audit of every method, schedule and accounting, on edge cases and at random."""

from __future__ import annotations

import itertools
import os

import numpy as np
import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st
from in_turn import in_turn
from unsound import SCHEMA

from hedgerow.audit.methods import AUDITED
from hedgerow.audit.neighbors import edge_cases, pair_of, picker, random_pair, random_schema
from hedgerow.audit.replay import record, replay
from hedgerow.audit.whole import check_books, replay_pair
from hedgerow.methods.api import run
from hedgerow.methods.diffgen import DiffGen
from hedgerow.methods.diffmulti import DiffMulti
from hedgerow.privacy.budget import Budget
from hedgerow.privacy.keystream import Keystream
from hedgerow.privacy.sampler import SecureSampler
from hedgerow.schema import Schema

SHORT = 60
EXAMPLES = int(os.environ.get("HEDGEROW_EXAMPLES", SHORT))  # more in `make audit`
TABLES = ("diffmulti", "diffgen", "cdiffgen", "marginals")
MODES = [mode for name in TABLES for mode in AUDITED[name].modes]
EDGES = {pair.words: pair for pair in edge_cases(SCHEMA, picker(1))}
LEAVES_ONLY = Schema.from_dict(
    {
        "name": "flat",
        "unit": "row",
        "attributes": {
            "a": {"type": "categorical", "values": ["x", "y"]},
            "b": {"type": "categorical", "values": ["u", "v", "w"]},
            "c": {"type": "categorical", "values": ["no", "yes"], "role": "class"},
        },
    }
)


def check(method, pair, budget, number):
    for finding in replay_pair(method, pair, budget, number):
        assert finding.complaint is None, finding


def test_the_edge_cases_are_what_they_say():
    assert len(EDGES) == 7
    for pair in EDGES.values():
        assert len(pair.with_it.codes) == len(pair.without.codes) + 1
        assert pair.with_it.codes[-1].tolist() == list(pair.extra)
    alone = EDGES["alone in its region"]
    assert not (alone.without.codes[:, :-1] == alone.extra[:-1]).any()
    unseen = EDGES["unseen class"]
    assert unseen.extra[-1] not in unseen.without.codes[:, -1]


def test_every_method_of_the_command_is_audited():
    from hedgerow.registry import METHODS

    assert set(METHODS) <= set(AUDITED)
    for entry in AUDITED.values():
        # what the paper of the one that needs a delta does is not private at any price
        schedules = (
            {"tuned"} if entry.needs_delta or entry.name == "marginals" else {"tuned", "paper"}
        )
        assert {mode.schedule for mode in entry.modes} == schedules
        assert entry.tiny and entry.experiments
        assert type(entry.modes[0])() in entry.modes, "what a user gets who says nothing"


@pytest.mark.parametrize(
    "mode, pair", in_turn(itertools.product(MODES, [0, "1e-6"]), EDGES, times=2), ids=str
)
def test_edge_cases(mode, pair):
    """Every mode meets both budgets, on pairs in turn; in `make audit` it meets both on each."""
    method, delta = mode
    turn = list(EDGES).index(pair) + MODES.index(method)
    for number, epsilon in enumerate(("1", "5")):
        if EXAMPLES > SHORT or number == turn % 2:
            check(method, EDGES[pair], Budget.of(epsilon, delta), number)


@pytest.mark.parametrize("delta", [0, "1e-6"], ids=["pure", "zcdp"])
@pytest.mark.parametrize("method", MODES, ids=repr)
def test_every_step_tells_its_price(method, delta):
    """Or the rule that a step loses no more than its charge would hold of nothing."""
    table = EDGES["one of many"].with_it

    def on(sampler):
        return run(table, method, Budget.of(1, delta), sampler)

    trace = replay(on, record(on, SecureSampler(Keystream(seed=1))))
    assert trace
    assert all(len(step.prices) == len(step.log_p) and (step.prices > 0).all() for step in trace)


@pytest.mark.parametrize("delta", [0, "1e-6"], ids=["pure", "zcdp"])
def test_permute_and_flip_where_weights_are_equal(delta):
    rows = [(0, 0, 0), (1, 2, 1), (1, 1, 1)]
    method = DiffMulti(specializations=3, depth=2)
    for number, extra in itertools.product(range(5), [(0, 0, 0), (1, 2, 0)]):
        check(method, pair_of("", LEAVES_ONLY, rows, extra), Budget.of(2, delta), number)


def test_sparse_release(monkeypatch):
    monkeypatch.setattr("hedgerow.methods.diffgen.DENSE_CELLS", 2)
    monkeypatch.setattr("hedgerow.methods.diffgen.SPURIOUS", 1)
    for method in (DiffGen(specializations=4), DiffGen(schedule="paper", specializations=4)):
        for number, pair in itertools.product(range(3), EDGES.values()):
            budget = Budget.of(3)
            outcome = run(pair.without, method, budget, SecureSampler(Keystream(seed=number)))
            assert outcome.measurements[-1].threshold is not None
            check(method, pair, budget, number)


@st.composite
def neighbors(draw):
    """A random schema, table and record."""

    def pick(low, high):
        return draw(st.integers(low, high))

    return random_pair(random_schema(pick), pick)


at_random = settings(
    max_examples=EXAMPLES, deadline=None, database=None, suppress_health_check=list(HealthCheck)
)


@seed(20)
@at_random
@given(neighbors(), st.sampled_from(MODES), st.sampled_from([0, "1e-9"]), st.integers(0, 99))
def test_random_schemas(pair, method, delta, number):
    check(method, pair, Budget.of("1.5", delta), number)


@seed(21)
@at_random
@given(neighbors(), st.sampled_from(MODES), st.sampled_from([0, "1e-9"]), st.integers(0, 99))
def test_every_published_path_spends_exactly_the_grant(pair, method, delta, number):
    budget = Budget.of("1.5", delta)
    outcome = run(pair.without, method, budget, SecureSampler(Keystream(seed=number)))
    assert check_books(outcome) is None


def test_the_ledger_check_can_fail():
    outcome = run(EDGES["ties"].without, MODES[0], Budget.of(1), SecureSampler(Keystream(seed=1)))
    assert check_books(outcome) is None
    outcome.ledger._spent["leaf"][outcome.published[0]] -= 1
    assert "did not spend" in check_books(outcome)
    outcome.ledger._spent["leaf"][outcome.published[0]] += 1
    outcome.ledger._spent["leaf"][0] += outcome.ledger.budgets["epsilon"].units
    assert "more epsilon" in check_books(outcome)


def test_a_pair_differs_in_nothing_else():
    pick = picker(3)
    for _ in range(20):
        pair = random_pair(random_schema(pick), pick)
        assert np.array_equal(pair.with_it.codes[:-1], pair.without.codes)
