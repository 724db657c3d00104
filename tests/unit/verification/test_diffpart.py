"""`verify` knows what DiffPart's schedule buys, and refuses other charges, caps and noise."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from hedgerow import DiffPart, TransactionsRelease, publish
from hedgerow.schema import Schema
from hedgerow.schema.items import WEIGHT
from hedgerow.verification import verify

ITEMS = 24


@pytest.fixture(scope="module")
def shop() -> TransactionsRelease:
    """A release that says it is private, of a run that can be repeated."""
    random = np.random.default_rng(2)
    records = [
        random.choice(ITEMS, 1 + random.poisson(4), replace=False).astype(str).tolist()
        for _ in range(3000)
    ]
    schema = Schema.from_dict(
        {"name": "shop", "unit": "row", "items": {"universe": {"range": [0, ITEMS - 1]}}}
    )
    rows = pa.table({"x": pa.array(records, pa.list_(pa.string()))})
    release = publish(rows, schema, DiffPart(core=2), "1", seed=7)
    assert isinstance(release, TransactionsRelease)
    return replace(release, guarantee=release.guarantee | {"private": True})


def failing(release: TransactionsRelease) -> set[str]:
    return {check.name for check in verify(release).checks if not check.ok}


def counted(release: TransactionsRelease, name: str, **changes: Callable[[Any], Any]) -> Any:
    """The release with another measurement of this name."""
    return replace(
        release,
        measurements=tuple(
            replace(m, **{key: change(m) for key, change in changes.items()})
            if m.name == name
            else m
            for m in release.measurements
        ),
    )


def chosen(release: TransactionsRelease, **settings: int) -> Any:
    held = release.settings["chosen"] | settings
    return replace(release, settings=release.settings | {"chosen": held})


def test_an_honest_release_passes(shop: TransactionsRelease) -> None:
    names = [m.name for m in shop.measurements]
    assert names == ["size", "support", "cell"]
    assert failing(shop) == set()


@pytest.mark.parametrize("name", ["size", "support", "cell"])
def test_noise_that_was_not_paid_for_is_refused(shop: TransactionsRelease, name: str) -> None:
    assert "measurements" in failing(counted(shop, name, unit=lambda m: m.unit * 2))
    assert "measurements" in failing(counted(shop, name, law=lambda m: "gaussian"))
    rest = tuple(m for m in shop.measurements if m.name != name)
    assert failing(replace(shop, measurements=rest))


def test_a_cap_and_its_noise_belong_together(shop: TransactionsRelease) -> None:
    cap = shop.settings["chosen"]["cap"]
    assert "measurements" in failing(chosen(shop, cap=cap + 1))
    larger = counted(shop, "support", max_contribution=lambda m: m.max_contribution + WEIGHT)
    assert "measurements" in failing(larger)
    # both changed alike: records count for more than the noise pays for
    assert "measurements" in failing(chosen(larger, cap=cap + 1))
    alone = counted(shop, "support", max_contribution=lambda m: 1)
    assert "measurements" in failing(alone)


@pytest.mark.parametrize("more", [-1, 1])
@pytest.mark.parametrize("name", ["size", "support", "cell"])
def test_other_shares_of_the_budget_are_refused(
    shop: TransactionsRelease, name: str, more: int
) -> None:
    """Also if the entries agree with each other: the schedule is known."""
    other = "cell" if name != "cell" else "support"
    ledger = json.loads(json.dumps(shop.ledger))
    for entry in ledger["entries"]:
        if entry["purpose"] in (name, other):
            entry["units"] += more if entry["purpose"] == name else -more
    for path in ledger["paths"]:
        path["spent"]["epsilon"][name] += more
        path["spent"]["epsilon"][other] -= more
    assert failing(replace(shop, ledger=ledger))


def shaped(release: TransactionsRelease, **changes: Any) -> Any:
    """The release with other regions, of as many cells."""
    return replace(release, partition=replace(release.partition, **changes))


def asked(release: TransactionsRelease, **settings: Any) -> Any:
    return replace(release, settings=release.settings | settings)


@pytest.mark.parametrize(
    "lie",
    [
        lambda r: shaped(r, core=np.array([0, 1])),
        lambda r: shaped(r, rest=r.partition.rest + (r.partition.rest > 4)),
        lambda r: counted(r, "size", where=lambda m: m.where + 1),
        lambda r: counted(r, "size", where=lambda m: m.where + (m.where > 8)),
        lambda r: asked(r, cap=99),
        lambda r: asked(r, core=1),
        lambda r: asked(r, variant="tree"),
        lambda r: chosen(r, core=99),
        lambda r: replace(
            r, settings=r.settings | {"chosen": r.settings["chosen"] | {"variant": "tree"}}
        ),
    ],
)
def test_what_public_rules_chose_is_chosen_again(
    shop: TransactionsRelease, lie: Callable[[Any], Any]
) -> None:
    supports = next(m for m in shop.measurements if m.name == "support").values[:, 0]
    assert sorted(np.argsort(-supports)[:2]) != [0, 1]  # or the first lie would be none
    assert failing(shop) == set()
    assert "accounts" in failing(lie(shop))


def test_a_universe_that_is_counted_whole_on_demand() -> None:
    schema = Schema.from_dict(
        {"name": "shop", "unit": "row", "items": {"universe": {"range": [1, 18]}}}
    )
    rows = pa.table({"x": [["1", "2"], ["18"]] * 50})
    release = publish(rows, schema, DiffPart(core=18), "1", seed=7)
    assert failing(release) == {"private"}  # type: ignore[arg-type]


def test_a_delta_is_spent_by_schedules_that_have_it(shop: TransactionsRelease) -> None:
    schema = Schema.from_dict(
        {"name": "shop", "unit": "row", "items": {"universe": {"range": [1, 24]}}}
    )
    rows = pa.table({"x": [["1", "2"], ["18"]] * 50})
    release = publish(rows, schema, DiffPart(core=2, cap=24), "1", delta="1e-6", seed=7)
    assert release.ledger["accounting"] == "zcdp"
    assert failing(release) == {"private"}  # type: ignore[arg-type]


@pytest.mark.parametrize("variant", ["core", "tree"])
def test_a_cap_above_the_universe_caps_nothing(variant: Any) -> None:
    """A schema with 17 items may well say that 40 of them count."""
    items = {"universe": {"range": [1, 17]}, "max_items": 40}
    schema = Schema.from_dict({"name": "shop", "unit": "row", "items": items})
    rows = pa.table({"x": pa.array([["1", "2"], ["3"]] * 200, pa.list_(pa.string()))})
    release = publish(rows, schema, DiffPart(variant=variant), "1", seed=7)
    assert failing(release) == {"private"}  # since it was seeded
