"""The replay audit of transactions: every schedule and variant, on edge cases and at random."""

from __future__ import annotations

import math
import os
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st
from in_turn import in_turn

from hedgerow.audit.methods import AUDITED
from hedgerow.audit.replay import DivergedError, compare, record, replay
from hedgerow.counting.items import MemoryItems
from hedgerow.data import Transactions
from hedgerow.errors import LeakError
from hedgerow.methods import diffpart
from hedgerow.methods.api import run
from hedgerow.methods.diffpart import DiffPart
from hedgerow.methods.plan import support_units
from hedgerow.privacy.budget import Budget, UnitBudget, rho_of_epsilon
from hedgerow.privacy.curator import Curator, Gate
from hedgerow.privacy.keystream import Keystream
from hedgerow.privacy.ledger import Allowance, Ledger
from hedgerow.privacy.sampler import Listing, SecureSampler
from hedgerow.schema import Schema

ROUNDING = 1e-9
EXAMPLES = int(os.environ.get("HEDGEROW_EXAMPLES", "60"))

METHODS = AUDITED["diffpart"].modes
UNEVEN = {"L": {"M": ["a", "b"], "c": None}, "R": ["d", "e", "f"], "g": None}


def schema(universe: dict | None = None, **rules) -> Schema:
    universe = universe or {"universe": {"range": [1, 6]}, "fan_out": 2}
    return Schema.from_dict({"name": "small", "unit": "row", "items": universe | rules})


SCHEMAS = {
    "binary": schema(),
    "flat": schema({"universe": {"range": [1, 5]}, "fan_out": 10}),
    "uneven": schema({"taxonomy": UNEVEN}),
    "one item": schema({"universe": ["only"]}),
    "two items": schema({"universe": ["one", "other"]}),
}


def transactions(made: Schema, records: list[list[int]]) -> Transactions:
    start = np.concatenate([[0], np.cumsum([len(r) for r in records])]).astype(np.int64)
    codes = np.asarray([code for r in records for code in sorted(set(r))], dtype=np.int32)
    return Transactions(made, start, codes)


def audit(method, made, records, extra, budget, number, engine=MemoryItems):
    def on(data):
        plan = method.plan_for(made, budget)
        return lambda sampler: method.run(engine(data), made, plan, sampler)

    without, with_it = transactions(made, records), transactions(made, [*records, extra])
    for drawn_from in (without, with_it):
        outcomes = record(on(drawn_from), SecureSampler(Keystream(seed=number)))
        traces = replay(on(without), outcomes), replay(on(with_it), outcomes)
        in_rho = {step.purpose for step in traces[0] if step.kind == "gaussian"}
        yield compare(*traces, in_rho)


def check(method, made, records, extra, epsilon, number):
    for found in audit(method, made, records, extra, Budget.of(epsilon), number):
        assert max(found.touched, default=0) <= 1, "a step that cannot see the record has changed"
        assert abs(found.loss) <= float(Fraction(epsilon)) + ROUNDING


def crowd(items: int, number: int, start: int = 0) -> list[list[int]]:
    source = np.random.default_rng(start)
    sizes = source.integers(1, items + 1, number)
    return [sorted(source.choice(items, size, replace=False).tolist()) for size in sizes]


@pytest.mark.parametrize(("method", "shape"), in_turn(METHODS, SCHEMAS, times=2), ids=repr)
def test_edge_cases(method, shape):
    made = SCHEMAS[shape]
    items = made.items.size
    everything = list(range(items))
    pairs = [
        ([], everything),
        ([], [0]),
        ([[0]] * 9, [items - 1]),
        ([[0]] * 9 + [everything] * 3, everything),
        (crowd(items, 30), [items - 1]),
        (crowd(items, 30), everything),
        ([[0], [items - 1]] * 5, sorted({0, items - 1})),
    ]
    for number, (records, extra) in enumerate(pairs):
        for epsilon in ("1", "6"):
            check(method, made, records, extra, epsilon, number)


SUPPORTS = support_units(40, Fraction(1), None)
RHO = Budget.of(1, "0.009")  # with such a delta Gaussian noise is less from a cap of six on


def spent_in_rho(method, made, records, extra, number, engine=MemoryItems, budget=RHO):
    """How much of each budget is used at most, as a share of it."""
    found_most = {"epsilon": 0.0, "rho": 0.0}
    part = budget.epsilon * SUPPORTS / diffpart.UNITS
    for found in audit(method, made, records, extra, budget, number, engine):
        assert max(found.touched, default=0) <= 1
        assert found.log_ratio.keys() >= {"size", "support", "cell"}
        rho = max(found.divergence.values())  # 0 where Laplace noise was less
        kept = {
            name: ratio for name, ratio in found.log_ratio.items() if name != "support" or not rho
        }
        limit = budget.epsilon - part if rho else budget.epsilon
        shares = abs(sum(kept.values())) / limit, rho / rho_of_epsilon(part, budget.delta)
        for name, spent in zip(found_most, shares, strict=True):
            found_most[name] = max(found_most[name], float(spent))
    return found_most


WIDE = DiffPart(cap=6, core=3)
MANY = schema({"universe": {"range": [1, 40]}, "fan_out": 3})


@pytest.mark.parametrize(("method", "made"), [(WIDE, SCHEMAS["binary"]), (DiffPart(core=1), MANY)])
def test_what_is_paid_in_rho_costs_rho(method, made):
    """Renyi divergences add up to rho at most, and nearly to it where the cap is that of a record:
    one of as many items as count in full costs just what was booked."""
    most, items = 0.0, made.items.size
    for number, extra in enumerate(([0], list(range(items)))):
        for records in ([], [[0]] * 9, [list(range(items))] * 1000):
            found = spent_in_rho(method, made, records, extra, number, budget=RHO)
            assert max(found.values()) <= 1 + ROUNDING
            most = max(most, found["rho"])
    assert most > 0.99 if method is WIDE else most > 0.5


@pytest.mark.parametrize(
    "method", [DiffPart(), DiffPart(variant="tree"), DiffPart(core=5), DiffPart(core=2, cap=2)]
)
def test_a_delta_that_buys_nothing_is_not_spent(method):
    """Neither where nothing could have Gaussian noise nor where it would be more than Laplace's."""
    data = transactions(SCHEMAS["flat"], crowd(5, 30))
    outcome = run(data, method, Budget.of(1, "1e-6"), SecureSampler(Keystream(seed=1)))
    assert outcome.plan.budget.delta == 0 and outcome.plan.accounting == "pure"
    assert outcome.ledger.budgets.keys() == {"epsilon"}


def test_gaussian_supports_that_pay_for_one_item_are_caught(monkeypatch):
    """Six items in full have squares of six, not of three."""

    class Half(Curator):
        def noisy(self, purpose, depth, accounts, exact, units=None, max_contribution=1):
            paid = max_contribution // (2 if self.law(purpose) == "gaussian" else 1)
            return super().noisy(purpose, depth, accounts, exact, units, paid)

    arguments = (WIDE, SCHEMAS["binary"], crowd(6, 30), list(range(6)), 1)
    assert spent_in_rho(*arguments)["rho"] <= 1 + ROUNDING
    monkeypatch.setattr(diffpart, "Curator", Half)
    assert spent_in_rho(*arguments)["rho"] > 1.5


def test_gaussian_supports_without_a_cap_are_caught():
    made = schema({"universe": {"range": [1, 12]}, "fan_out": 3})
    arguments = (DiffPart(core=1, cap=6), made, [[0]] * 4, list(range(12)), 1)
    assert spent_in_rho(*arguments)["rho"] <= 1 + ROUNDING
    assert spent_in_rho(*arguments, engine=Uncapped)["rho"] > 1.5


def test_epsilon_that_is_exchanged_after_it_was_spent_is_refused():
    ledger = Ledger([UnitBudget("epsilon", Fraction(1, 10), 10)])
    ledger.allow([Allowance("size", "epsilon", units=(4,), uses=1)])
    ledger.charge("size", 0, np.zeros(1, dtype=np.int64))
    with pytest.raises(LeakError, match="spent before"):
        ledger.exchange("support", 7, Fraction(1, 8))
    ledger.exchange("support", 6, Fraction(1, 8))
    assert {part.name: part.total for part in ledger.budgets.values()} == {
        "epsilon": Fraction(4, 10), "rho": Fraction(1, 8),
    }  # fmt: skip
    with pytest.raises(LeakError, match="too late"):
        ledger.exchange("cell", 1, Fraction(1, 8))


@st.composite
def neighbors(draw):
    items = draw(st.integers(1, 7))
    fan = draw(st.integers(2, 8))
    made = schema({"universe": {"range": [1, items]}, "fan_out": fan})
    one = st.lists(st.integers(0, items - 1), min_size=1, max_size=items, unique=True)
    return made, draw(st.lists(one, max_size=12)), draw(one)


@seed(30)
@settings(max_examples=EXAMPLES, deadline=None, database=None,
          suppress_health_check=list(HealthCheck))  # fmt: skip
@given(neighbors(), st.sampled_from(METHODS), st.integers(0, 99))
def test_random_universes(pair, method, number):
    check(method, *pair, "3/2", number)


@seed(31)
@settings(max_examples=EXAMPLES, deadline=None, database=None,
          suppress_health_check=list(HealthCheck))  # fmt: skip
@given(neighbors(), st.sampled_from(METHODS), st.integers(0, 99))
def test_chains_spend_exactly_the_grant(pair, method, number):
    made, records, _ = pair
    outcome = run(
        transactions(made, records),
        method,
        Budget.of("1.25"),
        SecureSampler(Keystream(seed=number)),
    )
    book = outcome.ledger.book(outcome.published, outcome.sharing)
    for path in book["paths"]:
        assert sum(path["spent"]["epsilon"].values()) == diffpart.UNITS
    accounts = np.arange(outcome.ledger._accounts)
    assert (outcome.ledger.left("epsilon", accounts) >= 0).all()


# unsound that must be caught


def worst(method, made, records, extra, epsilon, engine=MemoryItems, tries=60, enough=math.inf):
    """The largest loss found; infinite if a transcript is impossible or the method diverges.

    A loss beyond `enough` ends the search.
    """
    most = 0.0
    for number in range(tries):
        try:
            for found in audit(method, made, records, extra, Budget.of(epsilon), number, engine):
                most = max(most, abs(found.loss))
        except (DivergedError, OverflowError):
            return math.inf
        if most > enough:
            break
    return most


def test_testing_leaves_before_counting_them_is_caught(monkeypatch):
    """P1: a leaf is tested with alpha and then counted with all that was never subtracted."""

    class Twice(Curator):
        def sparse(self, purpose, cells, number, threshold, depth=0, account=0, units=None):
            rate = self.noise_rate(purpose, diffpart.UNITS // 3)
            tested = cells.map(lambda pair: pair)
            rule = Listing(
                law="mark", rate=rate, threshold=threshold, number=number, purpose=purpose
            )
            self._sampler.listed(*tested._Sealed__content, rule)
            return super().sparse(purpose, cells, number, threshold, depth, account, units)

    method = DiffPart(schedule="paper", c1=0.01, c2=0.01)
    made = SCHEMAS["flat"]
    arguments = (method, made, [[0]] * 5, [1], "1")
    assert worst(*arguments) <= 1 + ROUNDING
    monkeypatch.setattr(diffpart, "Curator", Twice)
    assert worst(*arguments, enough=1.05) > 1.05


def test_a_gate_that_asks_no_more_of_deeper_levels_is_caught(monkeypatch):
    """Without the step for each level, every decision on a path costs anew."""

    class Flat(Curator):
        def pass_gate(self, purpose, gate, cells, number, depth):
            return super().pass_gate(purpose, gate, cells, number, 0)

    made = schema({"universe": {"range": [1, 64]}, "fan_out": 2})
    method = DiffPart(variant="tree", cap=1)
    monkeypatch.setattr(diffpart, "TREE_SUPPORT_UNITS", 10)
    monkeypatch.setattr(diffpart, "SIZE_UNITS", {"tree": 10})
    monkeypatch.setattr(diffpart, "GATE_UNITS", 999_000)
    step = Gate.of(Fraction(999, 1000) * 8, 3).step
    records = [[63]] * (step - 1)
    assert worst(method, made, records, [63], "8", tries=20) <= 8 + ROUNDING
    monkeypatch.setattr(diffpart, "Curator", Flat)
    assert worst(method, made, records, [63], "8", tries=200, enough=8.5) > 8.5


class Uncapped(MemoryItems):
    """A cap that the engine does not keep to."""

    def supports(self, cap, group, groups):
        return super().supports(self.items, group, groups)


class RoundedUp(MemoryItems):
    """Weights that are rounded up: a record with 6 items adds 6 units too many."""

    def supports(self, cap, group, groups):
        def more(counts):
            start, items = self._part.records
            size = np.diff(start)
            extra = np.zeros_like(counts)
            for one in np.flatnonzero(size > cap).tolist():
                codes = items[start[one] : start[one + 1]]
                np.add.at(extra, group[codes], 400)
            return counts + extra

        return super().supports(cap, group, groups).map(more)


@pytest.mark.parametrize("engine", [Uncapped, RoundedUp])
def test_counting_more_items_than_paid_for_is_caught(engine):
    method = DiffPart(core=1, cap=1)
    arguments = (method, SCHEMAS["binary"], [[0]] * 4, [0, 1, 2, 3, 4, 5], "1")
    assert worst(*arguments, tries=20) <= 1 + ROUNDING
    assert worst(*arguments, engine=engine, tries=20, enough=1.5) > 1.5
