"""Baselines do what they say, on cases small enough to check."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import hedgerow
from hedgerow import sample
from hedgerow.data import Table, read
from hedgerow.errors import UsageError
from hedgerow.evaluation import exact_counts, random_queries
from hedgerow.privacy.budget import rho_of_epsilon
from hedgerow.schema import Schema
from hedgerow.schema.query import Query
from papers.baselines import (
    RPS,
    ContingencyTable,
    DiffPC45,
    DPCube,
    ItemsetTable,
    Marginals,
    marginals,
    mondrian,
    top_down_specialization,
)
from papers.classify import by_regions, lower_bound

SCHEMA = Schema.from_dict(
    {
        "name": "small",
        "unit": "row",
        "attributes": {
            "age": {"type": "numeric", "low": 0, "high": 15, "step": 1},
            "job": {"type": "categorical", "taxonomy": {"P": ["a", "b"], "Q": ["c", "d"]}},
            "ill": {"type": "categorical", "values": ["no", "yes"], "role": "class"},
        },
    }
)
HUGE = 100  # an epsilon without noise to speak of


def people(number: int = 600, seed: int = 1) -> Table:
    """Somebody is ill from age 8 on, if the job is c or d, with few exceptions."""
    source = np.random.default_rng(seed)
    age, job = source.integers(0, 16, number), source.integers(0, 4, number)
    ill = ((age >= 8) & (job >= 2)) ^ (source.random(number) < 0.05)
    return Table(SCHEMA, np.stack([age, job, ill], axis=1).astype(np.uint16))


def frame(table: Table) -> pa.Table:
    job, classes = SCHEMA.attributes[1].taxonomy.leaves, SCHEMA.classes
    age, jobs, ill = table.codes.T
    return pa.table({"age": age, "job": [job[c] for c in jobs], "ill": [classes[c] for c in ill]})


ROWS, TEST = frame(people()), frame(people(seed=2))


@pytest.mark.parametrize(
    "method", [ContingencyTable(), RPS(depth=5), DPCube(), DiffPC45(depth=4)], ids=repr
)
def test_without_noise_regions_count_exactly(method):
    release = hedgerow.publish(ROWS, SCHEMA, method, epsilon=HUGE, seed=4)
    counts = np.zeros((release.partition.cells, 2), dtype=np.int64)
    table = people()
    found = release.partition.locate(table.codes[:, :2])
    np.add.at(counts, (found, table.codes[:, 2]), 1)
    assert (release.counts == counts[release.regions]).all()


def test_a_contingency_table_has_all_combinations():
    release = hedgerow.publish(ROWS, SCHEMA, ContingencyTable(), epsilon=1, seed=1)
    assert release.partition.cells == 16 * 4
    coarse = hedgerow.publish(ROWS, SCHEMA, ContingencyTable(max_cells=64), epsilon=1, seed=1)
    assert coarse.partition.cells == 8 * 4


def test_cells_that_cannot_be_numbered_are_refused():
    with pytest.raises(UsageError, match="too many cells"):
        hedgerow.publish(ROWS, SCHEMA, ContingencyTable(max_cells=4), epsilon=1, seed=1)
    with pytest.raises(UsageError, match="too many"):
        DPCube().plan(sample.schema(), 1)


def test_all_sets_of_items_are_counted():
    shop = Schema.from_dict(
        {"name": "shop", "unit": "row", "items": {"universe": {"range": [1, 3]}}}
    )
    rows = pa.table({"items": [["1"], ["1", "3"], ["1", "3"], ["2"]]})
    release = hedgerow.publish(rows, shop, ItemsetTable(), epsilon=HUGE, seed=1)
    assert release.measurements[0].values[:, 0].tolist() == [0, 1, 1, 0, 0, 2, 0, 0]
    wide = Schema.from_dict(
        {"name": "shop", "unit": "row", "items": {"universe": {"range": [1, 30]}}}
    )
    with pytest.raises(UsageError, match="too many sets"):
        ItemsetTable().plan(wide, 1)


def test_baselines_know_what_they_are_for():
    shop = Schema.from_dict(
        {"name": "shop", "unit": "row", "items": {"universe": {"range": [1, 3]}}}
    )
    with pytest.raises(UsageError, match="publishes tables"):
        RPS().plan(shop, 1)
    with pytest.raises(UsageError, match="publishes transactions"):
        ItemsetTable().plan(SCHEMA, 1)
    with pytest.raises(UsageError, match="pure"):
        RPS().plan(SCHEMA, 1, "1e-6")


def test_medians_balance_the_regions():
    release = hedgerow.publish(ROWS, SCHEMA, RPS(depth=3), epsilon=HUGE, seed=2)
    sizes = release.counts.sum(axis=1)
    assert len(sizes) == 8
    assert sizes.min() > 600 / 8 / 3


def test_dpcube_cuts_where_cells_differ():
    release = hedgerow.publish(ROWS, SCHEMA, DPCube(), epsilon=20, seed=3)
    assert by_regions(release, TEST) > 90
    noise = Table(SCHEMA, np.zeros((0, 3), dtype=np.uint16))
    nothing = hedgerow.publish(
        frame(noise), SCHEMA, DPCube(), epsilon="0.1", seed=3, allow_empty=True
    )
    parts = nothing.measurements[1]
    assert parts.name == "leaf" and len(parts.where) <= 5  # noise alone is hardly cut


def test_a_private_tree_predicts():
    release = hedgerow.publish(ROWS, SCHEMA, DiffPC45(depth=4), epsilon=20, seed=3)
    assert by_regions(release, TEST) > lower_bound(ROWS, TEST, SCHEMA) + 10


@pytest.mark.parametrize("make", [mondrian, top_down_specialization])
def test_k_anonymous_groups_keep_k(make):
    for k in (5, 40):
        release = make(ROWS, SCHEMA, k)
        sizes = release.counts.sum(axis=1)
        assert sizes[sizes > 0].min() >= k
        assert sizes.sum() == 600
        assert release.guarantee["private"] is False
        assert by_regions(release, TEST) > 90
    assert make(ROWS, SCHEMA, 10_000).partition.cells == 1


def test_top_down_specialization_divides_gain_by_lost_anonymity():
    """x tells more of the class, but leaves a group of 8 where y leaves 20; only one fits."""
    two = {"type": "categorical", "values": ["a", "b"]}
    schema = Schema.from_dict(
        {
            "name": "s",
            "unit": "row",
            "attributes": {"x": two, "y": two, "ill": two | {"role": "class"}},
        }
    )
    x = ["b"] * 8 + ["a"] * 32
    ill = ["b"] * 20 + ["a"] * 20
    y = ["b"] * 4 + ["a"] * 1 + ["b"] * 11 + ["a"] * 4 + ["b"] * 5 + ["a"] * 15
    release = top_down_specialization(pa.table({"x": x, "y": y, "ill": ill}), schema, k=8)
    lo, hi = release.partition.bounds(np.arange(release.partition.cells))
    assert [tuple(pair) for pair in zip(lo[:, 0], hi[:, 0], strict=True)] == [(0, 2), (0, 2)]
    assert sorted(release.counts.sum(axis=1).tolist()) == [20, 20]


def test_mondrian_without_a_class_halves_what_is_widest():
    plain = Schema.from_dict(
        {
            "name": "ages",
            "unit": "row",
            "attributes": {"age": {"type": "numeric", "low": 0, "high": 15}},
        }
    )
    ages = pa.table({"age": [0, 0, 1, 1, 9, 9, 10, 15]})
    release = mondrian(ages, plain, 2)
    assert release.counts.sum(axis=1).tolist() == [2, 2, 2, 2]


class TestMarginals:
    def test_without_noise_they_are_exact(self):
        table = people()
        model = Marginals().publish(ROWS, SCHEMA, HUGE, seed=1)
        by_hand = np.zeros((16, 2))
        np.add.at(by_hand, (table.codes[:, 0], table.codes[:, 2]), 1)
        assert model.shares[0] == pytest.approx(by_hand, abs=1e-6)
        assert model.totals == pytest.approx(by_hand.sum(axis=0))

    def test_without_the_class_all_classes_look_alike(self):
        model = Marginals(by_class=False).publish(ROWS, SCHEMA, HUGE, seed=1)
        ill = model.shares[0] / model.totals
        assert ill[:, 0] == pytest.approx(ill[:, 1])

    def test_rows_have_the_published_shares(self):
        table = people()
        for by_class in (True, False):
            model = Marginals(by_class=by_class).publish(ROWS, SCHEMA, HUGE, seed=1)
            made = read(model.synthesize(seed=2), SCHEMA)
            for a, size in enumerate((16, 4, 2)):
                one, other = (np.bincount(t.codes[:, a], minlength=size) for t in (table, made))
                assert np.abs(one - other).max() <= 2
        assert model.synthesize(50, seed=1).num_rows == 50

    def test_answers_multiply_shares_within_classes(self):
        model = Marginals().publish(ROWS, SCHEMA, HUGE, seed=1)
        table = people()
        single = Query(((0, ((0.0, 8.0),)),))
        assert model.count([single]) == pytest.approx(exact_counts(table, [single]))
        both = Query(((0, ((0.0, 8.0),)), (1, ((0.0, 2.0),))), (1,))
        young, job, ill = (
            table.codes[:, 0] < 8, table.codes[:, 1] < 2, table.codes[:, 2] == 1,
        )  # fmt: skip
        by_hand = (young & ill).sum() * (job & ill).sum() / ill.sum()
        assert model.count([both]) == pytest.approx([by_hand])

    @pytest.mark.parametrize("delta", ["0", "1e-6"])
    def test_the_noise_is_what_the_whole_budget_buys(self, delta, monkeypatch):
        rho = float(rho_of_epsilon(Fraction(1), Fraction(1, 10**6)))
        bought = 2**0.5 * 2 if delta == "0" else (2 / (2 * rho)) ** 0.5  # two tables
        drawn = []

        def remember(counts, total, noise, **_):
            assert noise == pytest.approx(bought, rel=1e-6)
            drawn.extend(counts)
            return np.full(len(counts), total / len(counts))

        monkeypatch.setattr(marginals, "denoise", remember)
        for seed in range(40):
            Marginals().publish(ROWS.slice(0, 0), SCHEMA, 1, delta, seed=seed)
        # 1,600 cells without a record: the variance's standard error is at most 6%
        assert np.mean(np.square(drawn)) == pytest.approx(bought**2, rel=0.25)

    def test_noise_is_made_to_agree(self):
        model = Marginals().publish(ROWS, SCHEMA, "0.2", seed=1)
        for share in model.shares:
            assert (share >= 0).all()
            assert share.sum(axis=0) == pytest.approx(model.totals)
        queries = random_queries(SCHEMA, 20, 2, 0.3, seed=1)
        assert (model.count(queries) >= 0).all()
