"""What DiffPart refuses, or bounds, before anything is spent."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pyarrow as pa
from scipy.stats import binom

from hedgerow import DiffPart, publish
from hedgerow.methods.diffpart import _tail, usefulness_bound
from hedgerow.privacy.budget import Budget
from hedgerow.schema import Schema
from hedgerow.schema.item_tree import ItemTree


def shop(size: int) -> Schema:
    return Schema.from_dict(
        {"name": "shop", "unit": "row", "items": {"universe": {"range": [1, size]}}}
    )


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
