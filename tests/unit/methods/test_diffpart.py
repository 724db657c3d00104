"""What DiffPart refuses, or bounds, before anything is spent."""

from __future__ import annotations

import re
from collections import Counter
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import binom

from hedgerow import DiffPart, publish
from hedgerow.estimate.supports import clear_from
from hedgerow.methods.diffpart import _tail, usefulness_bound
from hedgerow.privacy.budget import Budget, UnitBudget
from hedgerow.schema import Schema
from hedgerow.schema.items import ItemTree


def shop(size: int) -> Schema:
    return Schema.from_dict(
        {"name": "shop", "unit": "row", "items": {"universe": {"range": [1, size]}}}
    )


def test_only_a_core_of_some_items_spends_delta() -> None:
    large = shop(100_000)
    assert DiffPart().spends_delta(large) and DiffPart(core=5).spends_delta(large)
    assert not DiffPart(core=20).spends_delta(shop(20))
    assert not DiffPart(schedule="paper").spends_delta(large)


def test_gaussian_noise_that_cannot_be_drawn_is_laplace_noise() -> None:
    """The cap is so high that a share of rho buys no precision at all; epsilon buys some."""
    rows = pa.table({"x": [["1", "2"], ["7"]]})
    release = publish(rows, shop(100_000), DiffPart(cap=100_000), "0.01", delta="1e-6", seed=1)
    support = next(m for m in release.measurements if m.name == "support")
    assert (support.law, set(release.ledger["budgets"])) == ("laplace", {"epsilon"})


def test_a_cap_by_rule_can_be_drawn_whatever_the_sizes_are() -> None:
    """Long records ask for a large cap, and a tiny budget cannot pay it."""
    schema = shop(200_000)
    random = np.random.default_rng(3)
    held = [random.choice(200_000, 20_000, replace=False) + 1 for _ in range(3)]
    rows = pa.table({"x": pa.array([np.sort(one).astype(str).tolist() for one in held])})
    for seed in range(3):
        release = publish(rows, schema, DiffPart(), "0.01", delta="1e-6", seed=seed)
        assert release.settings["chosen"]["cap"] >= 1


def test_single_items_are_measured_only_where_records_count_in_full() -> None:
    rows = pa.table({"x": [["1"], ["1", "2", "3"], ["2", "24"]] * 300})
    for cap, basis in ((24, "measured"), (2, "modeled")):
        release = publish(rows, shop(24), DiffPart(core=2, cap=cap), "5", seed=1)
        assert release.count([["1"], ["24"]]).basis.tolist() == [basis, basis]


def stream(records: int, pages: int) -> list[list[str]]:
    """Visits of pages whose popularity falls as the power 1.3 of the rank; one in ten is long."""
    random = np.random.default_rng(5)
    steps = np.cumsum(np.arange(1, pages + 1) ** -1.3)
    size = np.where(random.random(records) < 0.1, 40, random.integers(1, 6, records))
    drawn = [np.searchsorted(steps, random.random(n) * steps[-1]) + 1 for n in size.tolist()]
    return [np.unique(one).astype(str).tolist() for one in drawn]


def test_the_head_of_a_click_stream_is_measured_like_a_head() -> None:
    """Each of the first ten pages is off by a fifth at most, though long visits count for less."""
    held = stream(12_000, 5_000)
    release = publish(pa.table({"x": held}), shop(5_000), DiffPart(), "1", seed=2)
    supports = Counter(page for one in held for page in one)
    first = [page for page, _ in supports.most_common(10)]
    answers = release.count([[page] for page in first])
    truth = np.array([supports[page] for page in first])
    assert (np.abs(answers.estimate - truth) <= 0.2 * truth).all()
    assert release.model.singles.sum() == pytest.approx(sum(supports.values()), rel=0.1)
    assert not {"mostly noise", "fair"} & set(answers.reliability)


@pytest.mark.parametrize("delta", ["0", "1e-6"])
def test_items_that_stand_out_keep_their_noisy_value(delta: str) -> None:
    rows = pa.table({"x": stream(12_000, 5_000)})
    release = publish(rows, shop(5_000), DiffPart(), "0.3", delta, seed=2)
    supports = release.model.supports
    bar = clear_from(5_000, supports.support.law) * supports.scale
    clear = np.flatnonzero(supports.noisy > bar)
    clear = clear[~np.isin(clear, release.partition.core)]
    assert len(clear) > 10
    noisy = supports.curve.supports(supports.noisy[clear], supports.cap)
    found = release.count([[str(code + 1)] for code in clear.tolist()])
    assert found.estimate == pytest.approx(noisy)


def test_estimates_lie_inside_their_intervals() -> None:
    """Noise far below zero leaves nothing of an interval, which is stretched to the estimate."""
    rows = pa.table({"x": stream(3_000, 1_000)})
    release = publish(rows, shop(1_000), DiffPart(), "0.1", seed=1)
    answers = release.count([[str(code)] for code in range(1, 1_001)])
    assert (answers.low < answers.estimate).all() and (answers.estimate < answers.high).all()
    assert answers.estimate == pytest.approx(release.model.singles)


@pytest.mark.parametrize(("size", "law"), [(1, "laplace"), (30, "gaussian")])
def test_gaussian_noise_is_chosen_for_long_records(size: int, law: str) -> None:
    """It grows with the root of the cap; without long records a delta is not spent."""
    random = np.random.default_rng(1)
    held = [random.choice(300, size, replace=False) + 1 for _ in range(2_000)]
    rows = pa.table({"x": [one.astype(str).tolist() for one in held]})
    release = publish(rows, shop(300), DiffPart(), "1", "1e-6", seed=3)
    support = next(m for m in release.measurements if m.name == "support")
    assert support.law == law
    assert (release.guarantee["delta"] == "0") == (law == "laplace")


def test_what_the_core_measured_well_is_not_mostly_noise() -> None:
    """An interval is wider than twice the standard error, as its ends come from several sources."""
    rows = pa.table({"x": [["1", "2"]] * 31 + [["1"], ["2"], ["3"]] * 300 + [["9"], ["7"]] * 9})
    release = publish(rows, shop(100), DiffPart(core=3), 4, seed=1)
    answers = release.count({"1", "2"})
    error, half = answers.standard_error[0], (answers.high[0] - answers.low[0]) / 2
    assert half / 1.96 > answers.estimate[0] / 3 > error
    assert answers.reliability == ("fair",)
    table = release.table("item", "item", top=3).to_arrow()
    names = zip(table["item"].to_pylist(), table["with"].to_pylist(), strict=True)
    place = [set(pair) for pair in names].index({"1", "2"})
    assert table["standard_error"][place].as_py() == pytest.approx(error)
    assert table["reliability"][place].as_py() == "fair"
    shares = release.table("item", "item", top=3, share=True)
    assert shares.reliability[place] == "fair"


@pytest.mark.slow
def test_what_theorem_4_2_says_holds() -> None:
    """Sets are about as frequent as what may get lost, so that some of them do."""
    schema = Schema.from_dict(
        {"name": "shop", "unit": "row", "items": {"universe": {"range": [1, 6]}, "fan_out": 3}}
    )
    method, runs, failure = DiffPart(schedule="paper", c1=2, c2=2), 150, 0.5
    budget = method.plan_for(schema, Budget(Fraction(1))).budgets.parts[0]
    items = schema.transaction_items
    bound = usefulness_bound(
        ItemTree.of(items), budget, method.max_partitions, c1=2, c2=2, failure=failure, sets=2
    )
    held = {(1,): bound + 5, (4, 5): bound - 9}
    rows = pa.table({"x": [[str(item) for item in one] for one in held for _ in range(held[one])]})
    tree, worst = ItemTree.of(items), []
    for seed in range(runs):
        release = publish(rows, schema, method, 1, seed=seed)
        counted = release.measurements[0]
        cuts = [tuple(release.partition.nodes(node).tolist()) for node in counted.where.tolist()]
        published = dict(zip(cuts, counted.values[:, 0].tolist(), strict=True))
        known = {tuple(leaf_of(tree, item) for item in one): held[one] for one in held}
        sets = set(known) | set(published)
        worst.append(max(abs(published.get(one, 0) - known.get(one, 0)) for one in sets))
    # each run fails with a chance of at most 0.5: this many have a chance of 1e-6
    assert sum(error > bound for error in worst) <= binom.isf(1e-6, runs, failure)
    assert max(worst) > bound / 2  # it is not true for want of anything that could get lost


def leaf_of(tree: ItemTree, item: int) -> int:
    """The node of an item."""
    (place,) = np.flatnonzero((tree.children == 0) & (tree.lo == item - 1))
    return int(place)


def test_tails_of_noise_are_those_of_its_law() -> None:
    for rate in (Fraction(1, 7), Fraction(2)):
        a = np.exp(-float(rate))
        law = (1 - a) / (1 + a) * a ** np.abs(np.arange(-2000, 2001))
        for chance in (0.3, 0.01, 1e-9):
            tail = _tail(rate, chance)
            above = law[2001 + tail :].sum()  # P[noise > tail]
            assert above <= chance * (1 + 1e-9)
            assert tail == 0 or law[2000 + tail :].sum() > chance * (1 - 1e-9)


@pytest.mark.slow
def test_records_that_are_too_few_for_thresholds_are_told_from_which_epsilon_on() -> None:
    def said(epsilon: str, records: int) -> str:
        return str(DiffPart(schedule="paper").plan(shop(1000), epsilon, rows=records).remark)

    few = re.search(r"Your 3,000 records are too few; from epsilon ([\d.]+) on", said("1", 3000))
    assert few is not None and 1 < float(few[1]) <= 10
    below = str(Fraction(few[1]) - Fraction(1, 10))
    assert "too few" in said(below, 3000) and "Of your 3,000 records" in said(few[1], 3000)
    assert "Your 3 records are too few, at any epsilon up to 10." in said("1", 3)
    assert "Your 0 records are too few, at any epsilon up to 10." in said("1", 0)


def test_the_bound_grows_with_the_threshold_that_leaves_out_sets() -> None:
    """Where all items lie together no set is tested but at the leaves, whose threshold has c1."""
    schema = Schema.from_dict(
        {"name": "shop", "unit": "row", "items": {"universe": {"range": [1, 3]}, "fan_out": 3}}
    )
    tree, budget = ItemTree.of(schema.transaction_items), UnitBudget("epsilon", Fraction(1), 1)
    bounds = [usefulness_bound(tree, budget, 9, c1=c1, c2=1) for c1 in range(1, 60)]
    steps = np.diff(bounds)
    assert (steps > 0).all() and steps.max() - steps.min() <= 1  # up to rounding, a multiple of c1
