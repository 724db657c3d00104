"""The whole law of every method on tiny domains: exact, and within what is claimed."""

from __future__ import annotations

import math

import pytest

from hedgerow.audit.enumeration import (
    TooManyPathsError,
    epsilon_between,
    freeze,
    hockey_stick,
    law,
    law_of,
)
from hedgerow.audit.methods import AUDITED
from hedgerow.audit.neighbors import TINY_TABLES, pair_of, tiny_pairs
from hedgerow.methods import diffpart
from hedgerow.methods.api import run
from hedgerow.methods.cdiffgen import CDiffGen
from hedgerow.methods.diffgen import DiffGen
from hedgerow.methods.diffmulti import DiffMulti
from hedgerow.methods.diffpart import DiffPart
from hedgerow.privacy.budget import Budget
from hedgerow.privacy.curator import Curator
from hedgerow.privacy.keystream import Keystream
from hedgerow.privacy.sampler import SecureSampler

# thousands of outcomes: left to `make audit`
SLOW = (DiffPart(core=1, cap=1),)
EVERY = [(entry, mode) for entry in AUDITED.values() for mode in entry.tiny]
TINY = [(entry, mode) for entry, mode in EVERY if mode not in SLOW and not entry.needs_delta]
SUPPRESSING = [(entry, mode) for entry, mode in EVERY if entry.needs_delta]
FAST = ("2 values", "1 value and a class", "2 values and a class", "2 items", "a 4x2 grid")
GRID = "a 4x2 grid"
# more than 260 outcomes where a smaller table is taken, or those of another line: left to
# `make audit`, which takes all tables
LARGE = [
    *((DiffMulti(specializations=2, depth=2), GRID, delta) for delta in (0, "1e-6")),
    *((DiffMulti(schedule="paper", specializations=2, depth=2), GRID, d) for d in (0, "1e-6")),
    *((DiffGen(specializations=2), GRID, delta) for delta in (0, "1e-6")),
    (DiffGen(schedule="paper", specializations=2), GRID, "1e-6"),
    *((CDiffGen(specializations=2), GRID, delta) for delta in (0, "1e-6")),
    *((CDiffGen(schedule="paper", specializations=2), GRID, delta) for delta in (0, "1e-6")),
]
TUNED = [
    DiffMulti(specializations=2, depth=2),
    DiffGen(specializations=2),
    CDiffGen(specializations=2),
]
EVEN = DiffMulti(specializations=2, depth=2, distribution="even")
COUNTED = CDiffGen(schedule="paper", specializations=2)  # grows and counts as DiffGen does
CLASSES = TINY_TABLES["2 values and a class"]


@pytest.mark.parametrize(
    "entry, method, delta",
    [
        pytest.param(
            entry,
            mode,
            delta,
            id=f"{mode!r}-{'zcdp' if delta else 'pure'}",
            # the paper's schedule has the same mechanisms, and fewer counts
            marks=[pytest.mark.long] if delta and mode in (*TUNED, EVEN, COUNTED) else [],
        )
        for entry, mode in TINY
        for delta in (0, "1e-6")
        # on so few items it draws the same with a delta; see below
        if not (delta and entry.name == "diffpart")
    ],
)
def test_whole_laws_of_neighbors(entry, method, delta):
    budget = Budget.of(1, delta)
    compared = 0
    for name in entry.tiny_schemas.keys() & set(FAST):
        if (method, name, delta) in LARGE:
            continue
        pair = tiny_pairs(entry.tiny_schemas[name])[-1]
        one, other = (law_of(method, table, budget, most_paths=900) for table in pair.tables)
        compared += 1
        for found in (one, other):
            assert math.isclose(sum(found.values()), 1, abs_tol=1e-9)
        assert hockey_stick(one, other, 1.0) <= float(budget.delta) + 1e-12
        bound = epsilon_between(one, other, float(budget.delta))
        # noise of Gaussian tables alone is far within what rho converts to
        assert (0.15 if delta and entry.name == "marginals" else 0.3) < bound <= 1 + 1e-9
    assert compared


def laws_of_gaussian_supports(monkeypatch):
    """Of two items, on neighbors; of so few Laplace noise is less, and would else be drawn."""
    monkeypatch.setattr(diffpart, "gaussian_cap", lambda curve, items, caps, *_: caps[0])
    pair = tiny_pairs(AUDITED["diffpart"].tiny_schemas["2 items"])[-1]
    method, budget = DiffPart(core=1, cap=1), Budget.of(1, "1e-6")
    return (law_of(method, table, budget, most_paths=900) for table in pair.tables)


def test_whole_laws_of_gaussian_supports(monkeypatch):
    """Supports and cells in rho."""
    one, other = laws_of_gaussian_supports(monkeypatch)
    assert hockey_stick(one, other, 1.0) <= 1e-6 + 1e-12
    assert 0.2 < epsilon_between(one, other, 1e-6) <= 1


def test_gaussian_noise_of_a_twentieth_is_found(monkeypatch):
    class Fine(Curator):
        def noisy(self, purpose, depth, accounts, exact, units=None, max_contribution=1):
            by = 400 if self.law(purpose) == "gaussian" else 1
            finer = -(-max_contribution // by)
            return super().noisy(purpose, depth, accounts, exact, units, finer)

    monkeypatch.setattr(diffpart, "Curator", Fine)
    assert hockey_stick(*laws_of_gaussian_supports(monkeypatch), 1.0) > 0.1


@pytest.mark.parametrize(
    "entry, method", SUPPRESSING, ids=[str(i) for i in range(len(SUPPRESSING))]
)
def test_whole_laws_where_delta_is_for_suppression(entry, method):
    """A delta so large that few people are enough to be listed."""
    budget = Budget.of(1, "0.009")
    (schema,) = entry.tiny_schemas.values()
    differ = 0.0
    for crowd in range(7):
        pair = pair_of("", schema, [(0, 0, 0)] * crowd, (0, 0, 0))
        one, other = (law_of(method, table, budget, (0, 12)) for table in pair.tables)
        assert math.isclose(sum(one.values()), 1, abs_tol=1e-9)
        assert hockey_stick(one, other, 1.0) <= 0.009 + 1e-12
        differ = max(differ, hockey_stick(one, other, 0.0))
    assert differ > 0.009


def test_a_sparse_release(monkeypatch):
    monkeypatch.setattr("hedgerow.methods.diffgen.DENSE_CELLS", 1)
    monkeypatch.setattr("hedgerow.methods.diffgen.SPURIOUS", 1)
    method = DiffGen(schedule="paper", specializations=1)
    pair = tiny_pairs(CLASSES)[-1]
    one, other = (law_of(method, table, Budget.of(3), (0, 2)) for table in pair.tables)
    assert math.isclose(sum(one.values()), 1, abs_tol=1e-9)
    # the choice had one candidate, so half of epsilon was lost, and exactly that
    assert math.isclose(epsilon_between(one, other), 1.5, abs_tol=1e-9)


def test_the_law_is_the_one_that_is_drawn():
    """Enumerated probabilities against frequencies of real draws, clamped alike.

    Draws for 1.3 times the budget would be missed with a probability of 0.06 (a noncentral
    chi-squared law), for three quarters of it with less than 1e-18.
    """
    import numpy as np

    method, budget = DiffGen(specializations=1), Budget.of(2)
    table = pair_of("", TINY_TABLES["a 4x2 grid"], [(0, 0, 0)], (3, 1, 0)).with_it
    sampler = SecureSampler(Keystream(seed=4))

    class Clamped:
        def __getattr__(self, name):
            return getattr(sampler, name)

        def laplace(self, exact, rates):
            return np.clip(sampler.laplace(exact, rates), 0, 1)

    whole = law_of(method, table, budget)
    runs = 2000
    seen = {}
    for _ in range(runs):
        key = freeze(run(table, method, budget, Clamped()))
        seen[key] = seen.get(key, 0) + 1
    assert seen.keys() <= whole.keys()
    statistic = sum((seen.get(key, 0) - runs * p) ** 2 / (runs * p) for key, p in whole.items())
    from scipy.stats import chi2

    assert 1e-6 < chi2.sf(statistic, len(whole) - 1) < 1 - 1e-6


def test_a_law_is_given_up_when_it_is_too_large():
    with pytest.raises(TooManyPathsError):
        law_of(DiffGen(specializations=1), tiny_pairs(CLASSES)[0].without, Budget.of(1), (0, 9), 50)


def test_laws_by_hand():
    one, other = {"a": 0.9, "b": 0.1}, {"a": 0.5, "b": 0.5}
    assert math.isclose(epsilon_between(one, other), math.log(5))
    assert math.isclose(hockey_stick(one, other, math.log(2)), 0.3)
    for delta in (0.05, 0.3):
        epsilon = epsilon_between(one, other, delta)
        assert math.isclose(hockey_stick(one, other, epsilon), delta)
    assert epsilon_between(one, {"a": 1.0}) == math.inf
    assert epsilon_between(one, {"a": 1.0}, 0.05) == math.inf
    assert math.isclose(epsilon_between(one, {"a": 1.0}, 0.1), math.log(1 / 0.9), abs_tol=0.2)
    assert law(lambda sampler: "always") == {"always": 1.0}
