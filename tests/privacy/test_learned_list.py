"""The list of mutants that the learned distinguisher must find: its laws, losses and reasons."""

from __future__ import annotations

import json
import math
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from hedgerow.audit.replay import replay, tail
from hedgerow.privacy.sampler import Listing

AUDITS = Path(__file__).parents[2] / "audits"


@pytest.fixture(scope="module")
def learned():
    sys.path.insert(0, str(AUDITS))
    try:
        import learned as module

        yield module
    finally:
        sys.path.remove(str(AUDITS))


def test_every_mutant_is_tried_or_spared_for_a_reason(learned):
    from learned_jobs import ALIVE, SPARED

    assert not ALIVE.keys() & SPARED.keys()
    listed = json.loads(learned.LIST.read_text(encoding="utf-8"))
    assert listed.keys() == ALIVE.keys() | SPARED.keys()
    for name, row in listed.items():
        assert not (row["listed"] and name in SPARED)
        assert row["listed"] or learned.why_spared(row)
    assert listed.keys() <= {mutant.name for mutant in learned.BY_HAND}


def test_every_mode_is_attacked(learned):
    from hedgerow.audit import AUDITED

    jobs = learned.real_jobs()
    assert len({job.name for job in jobs}) == len(jobs)
    for job in jobs:
        method, budget, _ = learned.setting(job)
        assert method.name == job.method.partition(":")[0]
        assert budget.delta == Fraction(job.delta)
    modes = {job.method for job in jobs}
    assert len(modes) >= sum(len(entry.modes) for entry in AUDITED.values())


def test_mutated_noise_has_the_law_that_is_told(learned):
    """Each sums to 1, and has the flaw: less spread, more zeros, one noise for all."""
    import learned_laws as laws

    values, rate = np.arange(-80, 81), np.full((161, 1), 0.7)
    column = values[:, None]
    half = np.exp(laws._half_the_noise(np.abs(column), rate))
    assert math.isclose(half.sum(), 1) and math.isclose(half[81] / half[80], math.exp(-1.4))
    twice = np.exp(laws._zero_twice(np.abs(column), rate))
    assert math.isclose(twice.sum(), 1) and math.isclose(twice[81] / twice[80], math.exp(-0.7) / 2)
    both = np.stack([values, values], axis=1)
    assert math.isclose(np.exp(laws._shared(both, rate)).sum(), 1)
    assert laws._shared(np.array([[1, 2]]), rate[:1])[0] == -np.inf


def test_mutated_lists_have_the_law_that_is_told(learned):
    """Without a flaw it is the replayer's; with one, an empty or a large cell gives itself away."""
    import learned_laws as laws

    cells, counts = np.array([1, 3]), np.array([4, 1])
    shown = (np.array([1, 2]), np.array([3, 5]))
    rule = Listing(law="sparse", rate=Fraction(1, 2), threshold=3, number=6)
    trace = replay(lambda sampler: sampler.listed(cells, counts, rule), [("sparse", shown)])
    exact, values = {1: 4, 3: 1}, {1: 3, 2: 5}
    sound = laws._listing(0.5, exact, values, 6, 3)
    assert math.isclose(sound, float(trace[0].log_p[0]))
    later = laws._listing(0.5, exact, values, 6, 3, later=1)
    changed = math.log(tail(0.5, 4) / tail(0.5, 3))
    changed += 3 * math.log((1 - tail(0.5, 4)) / (1 - tail(0.5, 3)))
    assert math.isclose(later - sound, changed)
    assert laws._listing(0.5, exact, {2: 5}, 6, 3, always=True) == -math.inf
    assert laws._listing(0.5, exact, {1: 2}, 6, 3) == -math.inf
    assert laws._listing(0.5, exact, {1: 2}, 6, 3, always=True) > -math.inf


def test_the_loss_of_the_best_event(learned):
    """Half of the transcripts have a ratio of 2, one in a thousand a larger one."""
    ratios = np.concatenate([[9.0], np.full(499, 2.0), np.full(500, -1.0)])
    loss, probability = learned.best_event(ratios, 0.0)
    assert 2 < loss < 2.1 and 0.01 <= probability < 0.05  # the rare one is not enough for 1%
    assert learned.best_event(ratios, 0.005)[0] < loss
    loss, probability = learned.best_event(ratios[1:], 0.0)
    assert math.isclose(loss, 2) and math.isclose(probability, 0.5, abs_tol=0.01)
    loss, probability = learned.best_event(np.array([np.inf, np.inf, 0.0, 0.0]), 0.0)
    assert loss == math.inf and probability == 0.5
