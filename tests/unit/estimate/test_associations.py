"""Association rules: ratios of counts, between ends that hold them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import hedgerow as hr
from hedgerow.errors import UsageError
from hedgerow.schema import Schema

RECORDS = [["a", "b"]] * 300 + [["a"]] * 100 + [["b"]] * 200 + [["c"]] * 400


def release(epsilon: str, seed: int) -> hr.TransactionsRelease:
    schema = Schema.from_dict({"name": "s", "unit": "row", "items": {"universe": ["a", "b", "c"]}})
    found = hr.publish(pa.table({"items": RECORDS}), schema, epsilon=epsilon, seed=seed)
    assert isinstance(found, hr.TransactionsRelease)
    return found


def test_confidence_and_lift_are_ratios_of_counts() -> None:
    """Without noise to speak of: 300 of 400, 300 of 500, and 0.75 of half of all."""
    found = release("50", 1).rules(20, least=0.1, kind="arrow").to_pylist()
    assert [(one["given"], one["then"]) for one in found] == [(["a"], "b"), (["b"], "a")]
    assert [one["confidence"] for one in found] == pytest.approx([0.75, 0.6], abs=0.01)
    assert [one["lift"] for one in found] == pytest.approx([1.5, 1.5], abs=0.02)
    assert [one["support"] for one in found] == pytest.approx([300, 300], abs=2)
    assert not release("50", 1).rules(20, least=0.76, kind="arrow").num_rows


def test_intervals_hold_and_estimates_lie_in_them() -> None:
    """At a level of 95%, 40 runs miss 7 times or more with a probability below 0.5%."""
    true = {"support": 300, "confidence": 0.75, "lift": 1.5}
    missed = dict.fromkeys(true, 0)
    for seed in range(40):
        rules = release("1", seed).rules(20, least=0.0, level=0.95, kind="arrow").to_pylist()
        (one,) = (rule for rule in rules if rule["given"] == ["a"] and rule["then"] == "b")
        for name, value in true.items():
            assert one[f"{name}_low"] <= one[name] <= one[f"{name}_high"]
            missed[name] += not one[f"{name}_low"] <= value <= one[f"{name}_high"]
    assert max(missed.values()) < 7


def test_a_release_of_single_items_has_no_rules() -> None:
    schema = Schema.from_dict({"name": "s", "unit": "row", "items": {"universe": ["a"]}})
    found = hr.publish(pa.table({"items": [["a"]] * 9}), schema, epsilon=1, seed=1)
    assert isinstance(found, hr.TransactionsRelease)
    assert not found.rules(kind="arrow").num_rows


@pytest.mark.parametrize("least", [-0.1, 1.1, np.nan])
def test_a_confidence_is_a_share(least: float) -> None:
    with pytest.raises(UsageError, match="confidence"):
        release("1", 1).rules(least=least)
