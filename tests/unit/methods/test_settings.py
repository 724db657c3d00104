"""The defaults of every method, and the limits of its settings: the last that is taken, and the
first that is refused."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import pytest

import hedgerow as hr
from hedgerow.errors import UsageError
from hedgerow.methods import cdiffgen, diffgen, diffmulti, diffpart, supermodular
from hedgerow.schema import Schema

DEFAULTS: dict[Any, dict[str, Any]] = {
    hr.DiffMulti: {
        "score": None, "schedule": "tuned", "specializations": None, "depth": None,
        "distribution": "fair",
    },
    hr.DiffGen: {
        "score": None, "schedule": "tuned", "specializations": None, "max_cells": 1_000_000,
    },
    hr.CDiffGen: {
        "score": None, "schedule": "tuned", "specializations": None, "max_cells": 200_000,
    },
    hr.DiffPart: {
        "schedule": "tuned", "variant": None, "core": None, "cap": None, "c1": 2.75, "c2": 6.75,
        "max_partitions": 100_000,
    },
    hr.Supermodular: {
        "mode": "noisy", "model": "threshold", "risk": 0.1, "trade": 0.01, "kappa": 1,
        "utility": "log", "least_utility": 5.0, "rule": "fixed", "weights": None,
        "weight_columns": None,
        "weight_bounds": (0.0, 10.0), "floor": 0.1, "side": None, "side_share": 30, "keep": "1/5",
        "fan": 2, "sharpness": None, "thorough": False,
    },
}  # fmt: skip


@pytest.mark.parametrize("method", DEFAULTS, ids=lambda method: method.name)
def test_defaults(method: Any) -> None:
    kept = {name: asdict(method())[name] for name in DEFAULTS[method]}
    assert kept == DEFAULTS[method]


@pytest.mark.parametrize(
    "method, setting, most",
    [
        (hr.DiffMulti, "specializations", 10_000_000),
        (hr.DiffMulti, "depth", 1000),
        (hr.DiffGen, "specializations", 10_000),
        (hr.DiffGen, "max_cells", (1 << 62) // 1024),
        (hr.CDiffGen, "specializations", 10_000),
        (hr.CDiffGen, "max_cells", 1_000_000),
        (hr.DiffPart, "core", 20),
        (hr.DiffPart, "cap", 1_000_000),
        (hr.DiffPart, "max_partitions", 1_000_000),
        (hr.Marginals, "pairs", 1000),
        (hr.Supermodular, "side_share", 99),
        (hr.Supermodular, "fan", 100),
    ],
)
def test_limits(method: Any, setting: str, most: int) -> None:
    least = 2 if setting == "fan" else 1
    for taken in (least, most):
        assert getattr(method(**{setting: taken}), setting) == taken
    for refused in (least - 1, most + 1, -1, True, 1.5):
        with pytest.raises(UsageError, match=setting):
            method(**{setting: refused})
    with pytest.raises(UsageError) as caught:
        method(**{setting: -1})
    by_rule = getattr(method(), setting) is None  # otherwise it is a number, always the same
    assert ("public rule" in str(caught.value)) == by_rule


@pytest.mark.parametrize("setting", ["c1", "c2"])
def test_thresholds_of_the_paper(setting: str) -> None:
    for taken in (0.001, 1, 2.5, 999_999):
        assert getattr(hr.DiffPart(**{setting: taken}), setting) == taken
    for refused in (0, -1, 10**6, True, "2", None):
        with pytest.raises(UsageError, match=setting):
            hr.DiffPart(**{setting: refused})


def test_bounds_of_weights_are_in_order() -> None:
    assert hr.Supermodular(weight_bounds=(2.0, 2.0)).weight_bounds == (2.0, 2.0)
    with pytest.raises(UsageError, match="wrong way round"):
        hr.Supermodular(weight_bounds=(2.1, 2.0))


@pytest.mark.parametrize("keep", ["0", "1", "-1/2", "3/2"])
def test_a_share_that_is_kept_lies_between_nothing_and_everything(keep: str) -> None:
    with pytest.raises(UsageError, match="keep must lie"):
        hr.Supermodular(mode="sampled", keep=keep)


def test_what_the_budget_is_cut_into() -> None:
    """The divisions that the methods' pages state."""
    assert (diffmulti.UNITS, diffmulti.ROWS_UNITS) == (100_000, 1_000)
    assert (diffmulti.GROWTH_UNITS, diffmulti.ALLOCATE_UNITS) == (70_000, 7_000)
    assert (diffgen.UNITS, diffgen.ROWS_UNITS, diffgen.GROWTH_UNITS) == (100_000, 1_000, 50_000)
    assert (diffgen.DENSE_CELLS, diffgen.SPURIOUS) == (1_000_000, 10_000)
    assert (cdiffgen.GROWTH_UNITS, cdiffgen.PAPER_STEP) == (40_000, 1_000)
    assert (diffpart.UNITS, diffpart.GATE_UNITS) == (10**6, 250_000)
    assert diffpart.SIZE_UNITS == {"core": 50_000, "small": 20_000, "tree": 20_000}
    assert diffpart.TREE_SUPPORT_UNITS == 300_000
    assert supermodular.MOST_SIDE_ROWS == 50_000


def many_classes(number: int) -> Schema:
    classes = {"type": "categorical", "values": [f"c{i}" for i in range(number)], "role": "class"}
    attributes = {"a": {"type": "boolean"}, "c": classes}
    return Schema.from_dict({"name": "s", "unit": "row", "attributes": attributes})


def test_regions_times_classes_are_limited() -> None:
    """CDiffGen counts every node, so that 10 million numbers are the most."""
    schema = many_classes(100)
    hr.CDiffGen(max_cells=100_000).plan(schema, 1)
    with pytest.raises(UsageError, match="max_cells"):
        hr.CDiffGen(max_cells=100_001).plan(schema, 1)


def test_the_papers_schedule_needs_a_tree_with_few_inner_nodes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each inner node's test needs a unit of one half of the budget."""
    monkeypatch.setattr(diffpart, "UNITS", 10)
    for last, inner in ((6, 5), (7, 6)):
        items = {"universe": {"range": [1, last]}, "fan_out": 2}
        schema = Schema.from_dict({"name": "s", "unit": "row", "items": items})
        if inner == 5:
            hr.DiffPart(schedule="paper").plan(schema, 1)
        else:
            with pytest.raises(UsageError, match="inner nodes"):
                hr.DiffPart(schedule="paper").plan(schema, 1)


def test_diffpart_has_no_tree_to_specialize() -> None:
    schema = Schema.from_dict(
        {"name": "s", "unit": "row", "items": {"universe": {"range": [1, 9]}, "fan_out": 3}}
    )
    for method in (hr.DiffPart(), hr.DiffPart(variant="tree"), hr.DiffPart(schedule="paper")):
        plan = method.plan(schema, 1)
        assert not plan.grows
        assert "grow" not in [purpose for purpose, *_ in plan.lines()]


def test_sizes_that_the_papers_take() -> None:
    attributes = {
        "a": {"type": "numeric", "low": 0, "high": 9},
        "b": {"type": "boolean"},
        "c": {"type": "boolean", "role": "class"},
    }
    schema = Schema.from_dict({"name": "s", "unit": "row", "attributes": attributes})
    sizes = {method: method(schedule="paper").plan(schema, 1) for method in list(DEFAULTS)[:3]}
    assert [plan.specializations for plan in sizes.values()] == [1000, 10, 10]
    assert sizes[hr.DiffMulti].depth == 7 + 1  # the heights of all taxonomies, 7 for a number


def test_releases_by_the_paper_say_what_was_done_to_counts() -> None:
    rules = {hr.DiffMulti: "none", hr.DiffGen: "none", hr.CDiffGen: "averaging"}
    for method, rule in rules.items():
        assert method(schedule="paper").settings()["consistency"] == rule
        assert method().settings().get("consistency") != "none"
