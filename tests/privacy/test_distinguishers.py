"""The bounds of the distinguishers, and every trial on the real methods."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import pytest
from scipy.stats import beta

from hedgerow.audit import audit, methods
from hedgerow.audit.distinguish import ERROR, at_least, at_most, epsilon_bound, tally
from hedgerow.audit.methods import AUDITED
from hedgerow.methods.api import run
from hedgerow.privacy.budget import Budget

TRIALS = {
    "diffmulti": {"T1", "T2", "T3", "T4", "T5", "T5c", "T10", "T11", "T12"},
    "diffgen": {"T2", "T4", "T5", "T5c", "T10", "T11", "T12"},
    "diffpart": {"T6", "T7", "T13", "T14"},
    "marginals": {"T4", "T5", "T5c", "T11", "T12"},
    "supermodular": {"T9"},
    "cdiffgen": {"T2", "T4", "T5", "T5c", "T8", "T10", "T11", "T12"},
}
RUNS = 12  # see `test_real_methods_pass`
EXTREME = {"T12", "T3", "T2"}


@pytest.mark.parametrize("runs", [1, 7, 400, 20_000])
def test_bounds_are_those_of_clopper_and_pearson(runs):
    for hits in {0, 1, runs // 3, runs - 1, runs}:
        for error in (1e-2, 1e-9):
            low = beta.ppf(error, hits, runs - hits + 1) if hits else 0.0
            high = beta.isf(error, hits + 1, runs - hits) if hits < runs else 1.0
            assert math.isclose(at_least(hits, runs, error), low, rel_tol=1e-7, abs_tol=1e-12)
            assert math.isclose(at_most(hits, runs, error), high, rel_tol=1e-7, abs_tol=1e-12)


def test_a_bound_on_epsilon():
    assert epsilon_bound((0, 0), 0, 0, 1e-6) == 0
    assert epsilon_bound((500, 500), 1000, 0, 1e-6) == 0
    both = [epsilon_bound(hits, 20_000, 0, 1e-6) for hits in ((0, 20_000), (20_000, 0))]
    assert both[0] == both[1] and 7 < both[0] < 8
    assert epsilon_bound((0, 20), 20_000, 0.5, 1e-6) == 0


def test_a_fair_coin_is_not_accused():
    """Two equal laws: over many repetitions the bound on epsilon is 0 but for the stated share."""
    import numpy as np

    source = np.random.default_rng(8)
    wrong = sum(
        epsilon_bound(tuple(source.binomial(300, 0.3, 2).tolist()), 300, 0, 0.2) > 0
        for _ in range(400)
    )
    assert wrong <= 400 * 0.2


def usual_delta(entry):
    return "1e-6" if entry.needs_delta else 0


def runs_of(name, delta):
    """With another delta no event is looked for, and a trial need only run."""
    return RUNS if delta == usual_delta(AUDITED[name]) else 3


@cache
def tallies(name, delta):
    """Every trial of a method, its budget and how often its events happened on either side."""
    found, runs = [], runs_of(name, delta)
    for number, experiment in enumerate(AUDITED[name].experiments):
        budget, method = Budget.of(experiment.epsilon or 1, delta), experiment.method
        trial = experiment.trial(method, budget)
        hits, done = tally(
            trial,
            lambda table, sampler, m=method, b=budget: run(table, m, b, sampler),
            runs,
            number,
        )
        assert done == runs
        found.append((trial.name, budget, hits))
    return found


@pytest.mark.parametrize("delta", [0, "1e-6"], ids=["pure", "zcdp"])
@pytest.mark.parametrize("name", AUDITED)
def test_real_methods_pass(name, delta):
    """Every trial runs on the real method, and none accuses it.

    Nor could it: an event that happens in all of 12 runs on one side and in none on the other
    bounds epsilon by 0 (in 40 runs by 0.49, less than any claim here), so that the rates of false
    alarms and of flaws that are noticed are both 0. What notices a flaw is `test_unsound`, which
    runs the same trials on sound code as often as each flaw needs, and `make audit`, with 20,000
    runs.
    """
    assert epsilon_bound((0, RUNS), RUNS, 0, ERROR / 200) == 0
    if AUDITED[name].needs_delta and not delta:
        return
    seen = set()
    for trial, budget, hits in tallies(name, delta):
        seen.add(trial)
        for hit in hits.values():
            bound = epsilon_bound(hit, runs_of(name, delta), float(budget.delta), ERROR / 200)
            assert bound <= float(budget.epsilon), (trial, hits)
    assert seen == TRIALS[name]


def test_events_do_happen():
    """An event that never happens would find nothing: each happens in a sound run or a broken one.

    Those that no sound run shows are the digits of floats and shares beyond all bounds. A rare one
    gets more runs: 1,200 in all, in which an event of one run in a hundred is missed once in
    170,000 times.
    """
    never = set()
    for name, entry in AUDITED.items():
        found = tallies(name, usual_delta(entry))
        for number, (trial, budget, hits) in enumerate(found):
            unseen = {event for event, hit in hits.items() if not sum(hit)}
            if unseen and trial not in EXTREME:
                experiment = entry.experiments[number]
                again, _ = tally(
                    experiment.trial(experiment.method, budget),
                    lambda table, sampler, m=experiment.method, b=budget: run(table, m, b, sampler),
                    100 * RUNS // 2,
                    1000 + number,
                )
                unseen = {event for event in unseen if not sum(again[event])}
            never |= {trial} if unseen else set()
    assert never <= EXTREME


@pytest.fixture
def few_modes(monkeypatch):
    """Two modes of a method, each of which other tests attack."""
    few = replace(AUDITED["diffgen"], modes=AUDITED["diffgen"].modes[:2])
    monkeypatch.setitem(methods._load_all(), "diffgen", few)


@pytest.mark.usefixtures("few_modes")
def test_the_whole_audit_of_a_method():
    report = audit("diffgen", runs=12, seed=2, most_paths=40)
    assert report.ok
    kinds = {line.audit for line in report.lines}
    assert {"replay", "ledger", "enumeration", "T4", "P", "learned"} <= kinds
    assert 0 < report.bound <= 1


@pytest.mark.usefixtures("few_modes")
def test_the_same_seed_gives_the_same_audit():
    one, again = (audit("diffgen", runs=4, seed=2, most_paths=12) for _ in range(2))
    assert one == again
    assert {"replay", "ledger", "rules", "files", "T4", "P", "F", "learned"} <= {
        line.audit for line in one.lines
    }


def test_time_can_run_out():
    assert not audit("diffgen", seconds=0.0, seed=1).lines
    assert not audit("diffgen", seconds=0.0, seed=1).ok  # nothing tried, nothing shown
