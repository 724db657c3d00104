"""What is spent on marginals, and that scores part by no more than is paid for."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from hedgerow.counting.memory import MemoryEngine
from hedgerow.counting.sums import ClassModel, PairTables, Residuals
from hedgerow.measured.edges import edges_of
from hedgerow.measured.marginals import CellMap, Pairs
from hedgerow.privacy.budget import UnitBudget
from hedgerow.publish.marginals import pairs as pairs_module
from hedgerow.publish.marginals import rounds
from hedgerow.publish.marginals.shares import share_marginals
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
SIZES = [attribute.size for attribute in SCHEMA.attributes]


def shared(schema, name, epsilon, rows, pairs):
    unit = Fraction(epsilon) / 100_000 if name == "epsilon" else Fraction(epsilon) ** 2 / 10**7
    return share_marginals(
        schema,
        UnitBudget(name, unit, 99_000),
        99_000,
        float(Fraction(epsilon)),
        rows,
        (pairs, None),
    )


@pytest.mark.parametrize("rows", [0, 100, 3_000, 30_000, 10**9])
@pytest.mark.parametrize("epsilon", ["1/1000", "1/10", "1", "20"])
@pytest.mark.parametrize("pairs", [None, 1, 4, 40])
@pytest.mark.parametrize("name", ["epsilon", "rho"])
def test_no_more_is_spent_than_there_is(rows, epsilon, pairs, name):
    share = shared(SCHEMA, name, epsilon, rows, pairs)
    spent = sum(line.units[0] * line.uses for line in share.lines())
    assert {line.budget for line in share.lines()} == {name}
    assert spent + share.tree <= 99_000
    assert spent + share.tree >= 98_900
    assert 1 <= share.counted <= 5 and share.pairs <= max(0, share.counted - 1)
    assert min(line.units[0] for line in share.lines()) > 0 and share.tree > 0
    assert share.rounds >= 3


def test_without_a_class_there_are_no_rounds_and_x_gets_their_part():
    plain = Schema.from_dict(
        {"name": "s", "unit": "row", "attributes": {n: ATTRIBUTES[n] for n in "abc"}}
    )
    with_class, without = (shared(s, "epsilon", "1", 30_000, None) for s in (SCHEMA, plain))
    assert without.rounds == without.pick == 0
    assert without.one_way + without.two_way > with_class.one_way + with_class.two_way


def _drawn(rng, rows=30):
    return np.stack([rng.integers(0, size, rows) for size in [*SIZES, 2]], axis=1)


def _opened(sealed):
    return sealed._Sealed__content


def test_scores_of_pairs_part_by_no_more_than_is_paid_for():
    """One record moves every score by 1, up or down: two of them part by 2, and do."""
    rng = np.random.default_rng(8)
    pairs = Pairs.of(SCHEMA, [rng.integers(0, 9, len(edges_of(a)) - 1) for a in SCHEMA.attributes])
    expected = rng.integers(0, 4, int(pairs.start[-1]))

    def scored(codes):
        engine = MemoryEngine(Table(SCHEMA, codes.astype(np.uint16)))
        tables = _opened(engine.sums(PairTables(pairs.edges)))
        return np.add.reduceat(np.abs(tables - expected), pairs.start[:-1])

    most = 0
    for _ in range(40):
        codes = _drawn(rng)
        moved = scored(codes) - scored(codes[1:])
        assert set(moved.tolist()) <= {-1, 1}
        most = max(most, int(moved.max() - moved.min()))
    assert most == pairs_module.SCORE_RANGE
    with_nothing = pairs_module.among(np.array([5, -5]), nothing=True)
    assert with_nothing.score.tolist() == [5, -5, 0]


def test_residuals_move_by_no_more_than_is_paid_for():
    """A record adds from -256 to 256 to one cell of each attribute, so scores part by 512."""
    rng = np.random.default_rng(3)
    cells = CellMap.of(SCHEMA)
    most = 0
    for trial in range(60):
        wild = 4000 if trial % 2 else 50
        model = ClassModel(
            split=np.array([-1]), first=np.array([0]), upper=np.array([SIZES[0]]),
            region=np.array([0]), base=rng.integers(-wild, wild, (1, 2)), edges=cells.edges,
            shift=rng.integers(-wild, wild, (cells.cells, 2)),
        )  # fmt: skip

        def summed(codes, model=model):
            engine = MemoryEngine(Table(SCHEMA, codes.astype(np.uint16)))
            return _opened(engine.sums(Residuals(model))).reshape(-1, 2)

        codes = _drawn(rng)
        one, other = summed(codes), summed(codes[1:])
        moved = np.abs(one - other)
        assert (np.add.reduceat(moved, cells.start[:-2], axis=0) <= 256).all()
        assert ((one - other) != 0).sum(axis=0).max() <= len(SIZES)
        scores = [np.add.reduceat(np.abs(part[:, 1]), cells.start[:-2]) for part in (one, other)]
        parted = scores[0] - scores[1]
        most = max(most, int(parted.max() - parted.min()))
    assert 256 < most <= rounds.SCORE_RANGE == 512


def test_pairs_of_tables_that_noise_has_emptied_are_independent():
    nothing = np.zeros(3, np.int64)
    assert pairs_module._independent(nothing, nothing[:2]).tolist() == [0] * 6
    large = np.full(3, 10**10)
    assert pairs_module._independent(large, large).tolist() == [10**10 // 3] * 9
