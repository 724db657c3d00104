"""What DiffPart refuses, or bounds, before anything is spent."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from hedgerow import DiffPart, publish
from hedgerow.schema import Schema


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
    for cap, basis in ((24, "measured"), (2, "modelled")):
        release = publish(rows, shop(24), DiffPart(core=2, cap=cap), "5", seed=1)
        assert release.count([["1"], ["24"]]).basis.tolist() == [basis, basis]
