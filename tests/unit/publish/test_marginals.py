"""What is spent on marginals, and that its counts are those of the table but for the noise."""

from __future__ import annotations

from fractions import Fraction
from functools import partial

import numpy as np
import pytest

from hedgerow.counting.memory import MemoryEngine
from hedgerow.measured.marginals import Pairs, edges_of
from hedgerow.privacy.budget import UnitBudget
from hedgerow.privacy.curator import Curator
from hedgerow.privacy.ledger import Ledger
from hedgerow.publish.marginals import (
    SCORE_RANGE,
    _dependence,
    _fours,
    _independent,
    _pair_tables,
    share_marginals,
)
from hedgerow.schema import Schema
from hedgerow.table import Table

ATTRIBUTES = {
    "a": {"type": "numeric", "low": 0, "high": 39, "step": 1},
    "b": {"type": "categorical", "values": ["x", "y", "z"]},
    "c": {"type": "boolean"},
    "d": {"type": "numeric", "low": 0, "high": 3, "step": 1},
    "e": {"type": "categorical", "values": list("pqrst")},
    "k": {"type": "boolean", "role": "class"},
}
SCHEMA = Schema.from_dict({"name": "s", "unit": "row", "attributes": ATTRIBUTES})


@pytest.mark.parametrize("attributes", range(1, 12))
def test_every_two_attributes_meet_in_some_four(attributes):
    sets = list(_fours(attributes))
    assert max(map(len, sets)) <= 4
    for one in range(attributes):
        for other in range(one):
            assert any(one in places and other in places for places in sets)


def scoring(pairs, single, curator, share):
    """The score of pairs as a run has it."""
    noise = 1 / float(curator.noise_rate("two_way", share.pair, share.pairs))
    return partial(_dependence, expected=_independent(pairs, single), noise=noise)


def test_the_tables_of_pairs_are_exact():
    rng = np.random.default_rng(5)
    sizes = [attribute.size for attribute in SCHEMA.attributes]
    codes = np.stack([rng.integers(0, size, 500) for size in [*sizes, 2]], axis=1)
    engine = MemoryEngine(Table(SCHEMA, codes.astype(np.uint16)))
    single = [np.ones((len(edges_of(a)) - 1, 2), np.int64) for a in SCHEMA.attributes]
    pairs = Pairs.of(SCHEMA, single)
    tables = _pair_tables(engine, pairs)._Sealed__content
    assert len(tables) == 10
    for (one, other), table in tables.items():
        wanted = np.zeros(pairs.shape(one, other), np.int64)
        row = np.searchsorted(pairs.edges[one], codes[:, one], side="right") - 1
        column = np.searchsorted(pairs.edges[other], codes[:, other], side="right") - 1
        np.add.at(wanted, (row, column), 1)
        assert np.array_equal(table, wanted)


@pytest.mark.parametrize("rows", [0, 100, 3_000, 30_000, 10**9])
@pytest.mark.parametrize("epsilon", ["1/1000", "1/10", "1", "20"])
@pytest.mark.parametrize("pairs", [None, 1, 4, 40])
def test_detail_never_spends_more_than_its_share(rows, epsilon, pairs):
    share = share_marginals(SCHEMA, Fraction(epsilon), rows, 100_000, pairs)
    spent = share.single + share.fine + share.relate * share.pairs + share.pair * bool(share.pairs)
    assert 0.999 * share.units <= spent <= share.units <= 40_000
    assert share.pairs <= 4 and (pairs is None or share.pairs == min(pairs, 4))
    granted = sum(line.units[0] * line.uses for line in share.lines())
    assert granted == spent


def test_very_many_records_do_not_overflow_the_scores():
    share = share_marginals(SCHEMA, Fraction(1), 10**10, 100_000, 1)
    ledger = Ledger([UnitBudget("epsilon", Fraction(1, 100_000), 100_000)])
    ledger.allow(share.lines())
    single = [np.full((len(edges_of(a)) - 1, 2), 10**9) for a in SCHEMA.attributes]
    score = scoring(Pairs.of(SCHEMA, single), single, Curator(ledger, None), share)
    even = np.full((3, 8), 10**10 // 24)
    alone = score({(1, 0): even})[1, 0]
    skewed = even.copy()
    skewed[0, 0] += 10**9
    assert score({(1, 0): skewed})[1, 0] != alone
    assert abs(alone) < 10**11


def test_pairs_of_very_many_attributes_are_not_looked_at():
    attributes = {f"a{i}": {"type": "boolean"} for i in range(61)}
    schema = Schema.from_dict({"name": "s", "unit": "row", "attributes": attributes})
    assert share_marginals(schema, Fraction(1), 10**9, 100_000).pairs == 0
    assert share_marginals(schema, Fraction(1), 10**9, 100_000, 3).pairs == 0


def test_scores_of_pairs_part_by_no_more_than_is_paid_for():
    """One record moves every score by 1, up or down: two of them part by 2, and do."""
    rng = np.random.default_rng(8)
    share = share_marginals(SCHEMA, Fraction(1), 30_000, 100_000, 2)
    ledger = Ledger([UnitBudget("epsilon", Fraction(1, 100_000), 100_000)])
    ledger.allow(share.lines())
    single = [rng.integers(0, 9, (len(edges_of(a)) - 1, 2)) for a in SCHEMA.attributes]
    pairs = Pairs.of(SCHEMA, single)
    score = scoring(pairs, single, Curator(ledger, None), share)
    sizes = [attribute.size for attribute in SCHEMA.attributes]

    def scored(codes):
        engine = MemoryEngine(Table(SCHEMA, codes.astype(np.uint16)))
        return _pair_tables(engine, pairs).map(score)._Sealed__content

    most = 0
    for _ in range(40):
        codes = np.stack([rng.integers(0, size, 30) for size in [*sizes, 2]], axis=1)
        before, after = scored(codes[1:]), scored(codes)
        moved = [after[pair] - before[pair] for pair in before]
        assert set(moved) <= {-1, 1}
        most = max(most, max(moved) - min(moved))
    assert most == SCORE_RANGE


def test_pairs_of_tables_that_noise_has_emptied_have_scores_like_others():
    share = share_marginals(SCHEMA, Fraction(1), 30_000, 100_000, 2)
    ledger = Ledger([UnitBudget("epsilon", Fraction(1, 100_000), 100_000)])
    ledger.allow(share.lines())
    single = [np.full((len(edges_of(a)) - 1, 2), -3) for a in SCHEMA.attributes]
    score = scoring(Pairs.of(SCHEMA, single), single, Curator(ledger, None), share)
    table = np.zeros((3, 8), np.int64)
    empty = score({(1, 0): table})[1, 0]
    table[0, 0] = 7
    assert score({(1, 0): table})[1, 0] == empty + 7
    assert -(10**6) < empty < 0
