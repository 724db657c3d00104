"""The learned distinguisher: it finds what is there, accuses nobody else, and sees every mode."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from unittest.mock import patch

import numpy as np
import pytest
from scipy.stats import binom
from unsound import leaves_that_take_all, publishing_the_number_of_records

from hedgerow.audit import audit, methods
from hedgerow.audit.distinguish import at_least, at_most, presence
from hedgerow.audit.learned import Viewer, distinguish, learn, log_ratios, search_pair, worth
from hedgerow.audit.methods import AUDITED, describe
from hedgerow.audit.neighbors import TINY_TABLES, edge_cases, pair_of, picker, random_pair
from hedgerow.methods.api import run
from hedgerow.methods.cdiffgen import CDiffGen
from hedgerow.methods.diffgen import DiffGen
from hedgerow.methods.diffmulti import DiffMulti
from hedgerow.privacy.budget import Budget
from hedgerow.privacy.keystream import Keystream
from hedgerow.privacy.sampler import SecureSampler

CLASSES = TINY_TABLES["2 values and a class"]
PAIR = pair_of("", CLASSES, [(0, 0)] * 5, (1, 1))
ONE_STEP = DiffGen(specializations=1)
ERROR = 1e-6 / 20  # of each bound below, of which there are fewer than twenty


def drawn(method, budget=None):
    budget = budget or Budget.of(1)
    return lambda table, sampler: run(table, method, budget, sampler)


def laplace_at(factor):
    """Noise of so many times the rate that was paid for."""
    honest = SecureSampler.laplace

    def laplace(self, exact, rates):
        return honest(self, exact, replace(rates, values=tuple(factor * v for v in rates.values)))

    return patch.object(SecureSampler, "laplace", laplace)


# what is there is found, and nothing else ------------------------------------------------------


def test_noise_that_was_paid_for_passes():
    found = distinguish(PAIR, drawn(ONE_STEP), 161, 0, ERROR, seed=1)
    assert found.runs == 81
    assert found.bound <= 1


def test_noise_of_a_sixth_is_found():
    """The count of the record's own cell loses 3.5 instead of 0.59, on an event of 97%.

    Of 200 fresh releases of each neighbor 194 and 6 have it, on average; the bound falls below 1
    with probability 1e-11, summed over both binomials.
    """
    with laplace_at(Fraction(6)):
        found = distinguish(PAIR, drawn(ONE_STEP), 400, 0, ERROR, seed=1)
    assert found.bound > 1


def test_metadata_are_seen():
    found = distinguish(PAIR, publishing_the_number_of_records(), 200, 0, ERROR, seed=1)
    assert found.hits == (100, 0) and found.bound > 1


def test_numbers_that_share_their_noise_are_found():
    """No number is too exact by itself, and what lies between two of them is exact."""
    honest = SecureSampler.laplace

    def laplace(self, exact, rates):
        return exact + (honest(self, exact, rates) - exact)[..., :1]

    with patch.object(SecureSampler, "laplace", laplace):
        found = distinguish(PAIR, drawn(ONE_STEP), 200, 0, ERROR, seed=1)
    assert found.hits == (100, 0) and found.bound > 1


def test_a_key_that_everybody_knows_is_found():
    """Without a seed every release has a stream of its own; if all have one key, all are alike."""
    with patch("os.urandom", lambda number: bytes(number)):
        found = distinguish(PAIR, drawn(ONE_STEP), 200, 0, ERROR)
    assert found.hits == (100, 0) and found.bound > 1


def test_the_bound_is_that_of_clopper_and_pearson_and_takes_delta_off():
    with laplace_at(Fraction(6)):
        exact = distinguish(PAIR, drawn(ONE_STEP), 200, 0, 1e-3, seed=1)
        loose = distinguish(PAIR, drawn(ONE_STEP), 200, 0.2, 1e-3, seed=1)
    often, seldom = exact.hits
    assert often > seldom
    low, high = at_least(often, 100, 5e-4), at_most(seldom, 100, 5e-4)
    assert math.isclose(exact.bound, math.log(low / high))
    often, seldom = loose.hits
    low, high = at_least(often, 100, 5e-4), at_most(seldom, 100, 5e-4)
    assert math.isclose(loose.bound, max(0.0, math.log((low - 0.2) / high)))


def test_what_was_learned_is_judged_by_fresh_releases():
    """A flaw that stops after half of the releases was learned, and proves nothing."""
    calls = iter(range(10**6))

    def leaky_at_first(table, sampler):
        outcome = run(table, ONE_STEP, Budget.of(1), sampler)
        if next(calls) < 100:
            outcome = replace(outcome, plan=replace(outcome.plan, depth=len(table.codes)))
        return outcome

    found = distinguish(PAIR, leaky_at_first, 100, 0, ERROR, seed=1)
    assert found.trained > 1 and found.bound == 0 and found.hits == (0, 0)


def test_equal_laws_are_accused_as_seldom_as_stated():
    """150 times at an error of 20%: more than 47 accusations happen once in 10,000 if it holds."""
    source = np.random.default_rng(5)
    numbers = np.arange(6, dtype=np.int32)
    wrong = 0
    for _ in range(150):
        sides = [[(numbers, row) for row in source.integers(0, 4, (60, 6)) * 1.0] for _ in range(2)]
        event = learn((sides[0][:30], sides[1][:30]), 0, 0.2)
        hits = [int(event.happens(side[30:]).sum()) for side in sides]
        often, seldom = hits if event.flipped else hits[::-1]
        wrong += at_least(often, 30, 0.1) > at_most(seldom, 30, 0.1)
    assert binom.sf(47, 150, 0.2) < 1e-3
    assert wrong <= 47


def test_both_directions_are_tried():
    """An event that only the smaller table shows, and one that only the larger one does."""
    common, rare = (np.array([0]), np.array([1.0])), (np.array([0, 1]), np.array([1.0, 1.0]))
    sides = [common] * 200, [common] * 100 + [rare] * 100
    for seen, flipped in ((sides, False), (sides[::-1], True)):
        event = learn(seen, 0, 1e-3)
        assert event.flipped == flipped
        assert [int(event.happens(side).sum()) for side in seen] == [
            100 if flipped else 0,
            0 if flipped else 100,
        ]


def test_few_releases_teach_nothing():
    found = distinguish(PAIR, drawn(ONE_STEP), 10, 0, ERROR, seed=1)
    assert found.bound == 0 and found.hits == (0, 0)


@pytest.mark.parametrize("name", ["marginals", "diffmulti", "diffgen", "cdiffgen"])
def test_presence_is_seen_where_there_is_no_noise(name):
    """On every edge case: among nobody, among others, among others of the same kind."""
    method, seen = AUDITED[name].modes[0], set()
    with laplace_at(Fraction(10**6)):
        for pair in edge_cases(CLASSES, picker(1)):
            ((_, event),) = presence(pair).events.items()
            for table in pair.tables:
                outcome = run(table, method, Budget.of(1), SecureSampler(Keystream(seed=1)))
                seen.add((table is pair.with_it, event(outcome)))
    assert seen == {(False, False), (True, True)}


# neighbors by search --------------------------------------------------------------------------


def test_the_search_finds_better_neighbors_than_chance():
    method = DiffMulti(specializations=2, depth=2)
    budget = Budget.of(1)
    drawn = [search_pair(method, lambda _: CLASSES, budget, seed, 1) for seed in range(9)]
    best = search_pair(method, lambda _: CLASSES, budget, 3, candidates=12)
    worths = [worth(method, pair, budget, 1, 3) for pair in drawn]
    assert worth(method, best, budget, 2, 9) > np.quantile(worths, 0.7) > np.quantile(worths, 0.2)
    one, again = (search_pair(method, lambda _: CLASSES, budget, 3, 2) for _ in range(2))
    assert again.extra == one.extra and (again.without.codes == one.without.codes).all()


def test_likelihood_ratios_of_transcripts():
    one, other = log_ratios(ONE_STEP, PAIR, Budget.of(1), 1, 5)
    assert len(one) == len(other) == 5
    assert np.abs([one, other]).max() <= 1 + 1e-9
    with leaves_that_take_all():
        grown = DiffMulti(specializations=2, depth=2)
        grid = pair_of("", TINY_TABLES["a 4x2 grid"], [], (1, 1, 0))
        ratios = np.concatenate(log_ratios(grown, grid, Budget.of(1), 1, 20))
    assert np.abs(ratios).max() > 1


def test_a_release_that_follows_from_private_data_is_an_infinite_ratio():
    """Transcripts are alike, and what is published is not."""

    def telling(table, method, budget, sampler):
        outcome = run(table, method, budget, sampler)
        return replace(outcome, plan=replace(outcome.plan, depth=len(table.codes)))

    with patch("hedgerow.audit.learned.run", telling):
        ratios = log_ratios(ONE_STEP, PAIR, Budget.of(1), 1, 2)
    assert np.isposinf(ratios).all()


# every method and mode -------------------------------------------------------------------------


@pytest.mark.parametrize("name", AUDITED)
def test_every_mode_is_seen(name):
    """Numbers at the record's place are there, and the features of one release have one length."""
    entry, pick = AUDITED[name], picker(4)
    budget = Budget.of(1, "1e-6" if entry.needs_delta else 0)
    for mode in entry.modes:
        schemas = entry.tiny_schemas.values()
        schema = next(s for s in schemas if s.items or s.target or entry.needs_delta)
        pair = random_pair(schema, pick)
        viewer, sampler = Viewer(pair), SecureSampler(Keystream(seed=2))
        for table in pair.tables:
            which, values = viewer(run(table, mode, budget, sampler))
            assert len(set(which.tolist())) == len(which) == len(values)
        if entry.needs_delta or schema.items is not None:
            continue
        assert any("evidence" in key for key in viewer._number if isinstance(key, tuple))


def test_counts_are_held_against_what_the_others_make():
    """Without noise every number that counts the record has one more, and all others nothing."""
    pair = pair_of("", CLASSES, [(0, 0)] * 5 + [(1, 1)] * 3 + [(1, 0)], (1, 1))
    with laplace_at(Fraction(10**6)):
        for method in (ONE_STEP, DiffMulti(specializations=1, depth=1), CDiffGen()):
            viewer = Viewer(pair)
            names = viewer._number
            for table, more in zip(pair.tables, (0.0, 1.0), strict=True):
                which, values = viewer(
                    run(table, method, Budget.of(1), SecureSampler(Keystream(seed=2)))
                )
                number = {feature: place for place, feature in enumerate(which.tolist())}
                surplus = [key for key in names if isinstance(key, tuple) and "surplus" in key]
                assert {key[0] for key in surplus} >= {"rows"}
                assert {values[number[names[key]]] for key in surplus} == {more}
                assert (values[number[names["evidence"]]] > 0) == bool(more)


def test_the_audit_learns_for_every_mode(monkeypatch):
    """The other audits of a method are left out here: they are as before."""
    entry = replace(AUDITED["diffpart"], tiny=(), experiments=())
    monkeypatch.setitem(methods._load_all(), "diffpart", entry)
    for other in ("_replay", "_rules", "_deep", "_files", "_distinguish_files"):
        monkeypatch.setattr(f"hedgerow.audit.whole.{other}", lambda *_: iter(()))
    report = audit("diffpart", runs=20, seed=2)
    lines = [line for line in report.lines if line.audit == "learned"]
    assert [line.mode for line in lines] == [describe(mode) for mode in entry.modes]
    assert all(line.ok and line.tried == 40 for line in lines)
    assert all(line.bound <= 1 for line in lines)
    report = audit("diffpart", runs=20, seed=2, learned=False)
    assert {line.audit for line in report.lines} == {"P"}
