"""Rules read noisy numbers alone: draws are forced on data that have nothing in common."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from hedgerow.audit.methods import AUDITED
from hedgerow.audit.neighbors import (
    TINY_TABLES,
    Pick,
    categorical,
    numeric,
    picker,
    random_universe,
    schema_of,
)
from hedgerow.audit.replay import check_rules, first_difference, unlike_tables
from hedgerow.counting.memory import MemoryEngine
from hedgerow.data import Table
from hedgerow.methods import clusters, diffgen, diffmulti, diffpart, plan
from hedgerow.methods.api import run
from hedgerow.methods.diffgen import DiffGen
from hedgerow.methods.diffmulti import DiffMulti
from hedgerow.methods.diffpart import DiffPart
from hedgerow.privacy.budget import Budget
from hedgerow.privacy.keystream import Keystream
from hedgerow.privacy.sampler import SecureSampler
from hedgerow.schema import Schema

MODES = [(entry, mode) for entry in AUDITED.values() for mode in entry.modes]
BUDGET = Budget.of(5)
MANY = 3_000  # at this epsilon all rules have turned by then
SHOP = Schema.from_dict(
    {"name": "shop", "unit": "row", "items": {"universe": {"range": [1, 30]}, "fan_out": 3}}
)
PEOPLE = Schema.from_dict(
    {
        "name": "people",
        "unit": "row",
        "attributes": {
            "age": {"type": "numeric", "low": 0, "high": 30, "step": 1},
            "job": {"type": "categorical", "values": ["a", "b", "c"]},
            "home": {"type": "categorical", "values": ["x", "y"]},
            "ill": {"type": "categorical", "values": ["no", "yes"], "role": "class"},
        },
    }
)


def long_schema(pick: Pick) -> Schema:
    """Attributes that have more codes than a table of marginals has parts."""
    attributes: dict[str, Any] = {"long": numeric(pick(16, 40))}
    if pick(0, 2) == 0:
        attributes["many"] = categorical(*(f"m{i}" for i in range(pick(65, 70))))
    if pick(0, 1):
        attributes["few"] = categorical("x", "y", "z")
    if pick(0, 2):
        attributes["class"] = categorical(*(f"k{i}" for i in range(pick(1, 3))), role="class")
    return schema_of("simulated", attributes=attributes)


def schema_for(entry):
    if entry.schemas is random_universe:
        return SHOP
    return TINY_TABLES["a 4x4 grid"] if entry.needs_delta else PEOPLE


@pytest.mark.parametrize("entry, method", MODES, ids=[f"{e.name}, {m!r}" for e, m in MODES])
def test_draws_decide_everything_that_is_public(entry, method):
    budget = Budget.of(5, "1e-6") if entry.needs_delta else BUDGET
    schema = schema_for(entry)
    if isinstance(method, DiffPart) and method.schedule == "paper":
        schema = random_universe(lambda low, high: high)  # where low thresholds let all pass
    tables = unlike_tables(schema, picker(1), 60 if entry.needs_delta else MANY)
    assert check_rules(method, tables, budget) is None


@pytest.mark.parametrize(
    "method",
    [DiffMulti(), DiffGen(), DiffPart()],
    ids=repr,
)
def test_draws_decide_everything_with_a_delta(method):
    schema, budget = SHOP if isinstance(method, DiffPart) else PEOPLE, Budget.of(5, "1e-6")
    if isinstance(method, DiffPart):  # which decides when it is run
        method, budget = DiffPart(cap=20), Budget.of(5, "0.009")
        several = unlike_tables(schema, picker(1), MANY)
        found = [run(table, method, budget, SecureSampler(Keystream(seed=1))) for table in several]
        assert {outcome.plan.accounting for outcome in found} == {"zcdp"}
    else:
        assert method.plan_for(schema, budget).accounting == "zcdp"
    assert check_rules(method, unlike_tables(schema, picker(1), MANY), budget) is None


def test_the_rules_do_turn_between_these_tables():
    """Or nothing would be shown: by the noisy number of rows, sizes and shares are others."""
    few, many = 3, MANY
    assert plan.core_size(30, few, 2.0) < plan.core_size(30, many, 2.0)
    assert diffmulti.tree_size(Fraction(5), few) != diffmulti.tree_size(Fraction(5), many)
    assert diffgen.grid_size(Fraction(5), few) != diffgen.grid_size(Fraction(5), many)


def on_clusters(schema, clusters_wanted=3, rounds=3):
    def on(table):
        def told(sampler):
            found = clusters.run(table, clusters_wanted, rounds, Budget.of(1), sampler)
            return found.points.tobytes(), repr(found.ledger), found.epsilon

        return told

    return [on(table) for table in unlike_tables(schema, picker(2), 400)]


def test_clustering_reads_noisy_sums_alone():
    for schema in (PEOPLE, long_schema(picker(5))):
        runs = on_clusters(schema)
        for first in range(3):
            assert first_difference([runs[first], *runs], seed=first) is None


# rules that look at the data are caught -------------------------------------------------------


def exact_rows(engine, edges):
    return int(engine.sizes(edges)._Sealed__content.sum())


def test_a_core_of_exactly_as_many_items_as_records_pay_for_is_caught(monkeypatch):
    honest = DiffPart._core

    def peeping(self, items, budget, rows, supports=None):
        return honest(self, items, budget, self.__dict__.get("exact", rows), supports)

    def run(self, engine, *args, **kwargs):
        object.__setattr__(self, "exact", exact_rows(engine, np.array([1])))
        return ran(self, engine, *args, **kwargs)

    ran = DiffPart.run
    monkeypatch.setattr(DiffPart, "_core", peeping)
    monkeypatch.setattr(DiffPart, "run", run)
    found = check_rules(DiffPart(), unlike_tables(SHOP, picker(1), MANY), BUDGET)
    assert found is not None


def test_a_cap_from_exact_sizes_is_caught(monkeypatch):
    seen = []

    def counted(curator, purpose, at, where, exact, max_contribution=1):
        seen.append(exact._Sealed__content)
        return honest(curator, purpose, at, where, exact, max_contribution)

    honest = diffpart._counted
    monkeypatch.setattr(diffpart, "_counted", counted)
    monkeypatch.setattr(diffpart, "best_cap", lambda *_: 1 + int(seen[-1].sum() > 9))
    tables = unlike_tables(SHOP, picker(1), MANY)
    assert check_rules(DiffPart(variant="tree"), tables, BUDGET) is not None


@pytest.mark.parametrize("method", [DiffMulti(), DiffGen()], ids=repr)
def test_a_size_from_the_exact_number_of_rows_is_caught(method, monkeypatch):
    """Though neither the plan's words nor any draw before it shows that number."""
    seen = []
    honest = MemoryEngine.__init__

    def counting(self, table, *rest):
        seen.append(len(table.codes))
        honest(self, table, *rest)

    monkeypatch.setattr(MemoryEngine, "__init__", counting)
    for module, rule in ((diffmulti, "tree_size"), (diffgen, "grid_size")):
        own = getattr(module, rule)
        monkeypatch.setattr(module, rule, lambda e, rows, *rest, own=own: own(e, seen[-1], *rest))
    assert check_rules(method, unlike_tables(PEOPLE, picker(1), MANY), BUDGET) is not None


def test_centroids_from_exact_sums_are_caught(monkeypatch):
    """The first round's mean of the raw records is used to begin with."""
    honest = clusters.label_codes
    seen: list[Table] = []

    def remember(table, schema, points):
        seen.append(table)
        return honest(table, schema, points)

    def exact(schema, number, mean):
        share = float(len(seen[-1].codes) > 100)
        return np.full((number, len(mean)), share)

    monkeypatch.setattr(clusters, "label_codes", remember)
    monkeypatch.setattr(clusters, "_first", exact)
    assert first_difference(on_clusters(PEOPLE)) is not None
