"""Small releases made by hand: no data, no noise, every number known."""

from __future__ import annotations

import copy
import sys
from dataclasses import replace
from fractions import Fraction
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from hedgerow.estimate.measurements import Measurement
from hedgerow.estimate.partition import GridPartition, TreePartition
from hedgerow.registry import OURS
from hedgerow.release import Release, TableRelease
from hedgerow.schema import Schema
from hedgerow.verification.regions import table_rules

UNIT = Fraction(1, 10)

PEOPLE = {
    "name": "people",
    "unit": "row",
    "attributes": {
        "age": {"type": "numeric", "low": 17, "high": 90, "missing": "other"},
        "job": {
            "type": "categorical",
            "taxonomy": {"Professional": ["Engineer", "Lawyer"], "Artist": ["Dancer", "=Writer"]},
        },
        "born": {"type": "numeric", "low": "2000-01-01", "high": "2000-12-31", "step": 7},
        "size": {"type": "numeric", "low": "0.0", "high": "2.0", "step": "0.1"},
        "well": {"type": "boolean"},
        "pay": {"type": "categorical", "values": ["low", "high"], "role": "class"},
    },
}


@pytest.fixture(autouse=True)
def somebodys_methods(monkeypatch: pytest.MonkeyPatch) -> None:
    """Methods that others installed, by which everybody pays for all of it."""
    made = ModuleType("somebodys_rules")
    made.RULES = {"tuned-1": table_rules(GridPartition, lambda release, booked: None)}  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "somebodys_rules", made)
    somebodys = replace(OURS["diffgen"], rules="somebodys_rules:RULES")
    for name in ("a public grid", "a method of somebody's own"):
        monkeypatch.setitem(OURS, name, somebodys)


def leaf_path(leaves: int, **spent: int) -> dict[str, Any]:
    return {"leaves": leaves, "spent": {"epsilon": spent}}


def entry(purpose: str, depth: int, units: int, nodes: int) -> dict[str, Any]:
    return {"purpose": purpose, "budget": "epsilon", "depth": depth, "units": units, "nodes": nodes}


def promise(**changes: Any) -> dict[str, Any]:
    return {
        "epsilon": "1",
        "delta": "0",
        "accounting": "pure",
        "unit_of_protection": "one row is one person",
        "neighbors": "add or remove one row",
        "began_as_draft": False,
        "private": True,
    } | changes


@pytest.fixture
def schema() -> Schema:
    return Schema.from_dict(copy.deepcopy(PEOPLE))


@pytest.fixture
def tree_release(schema: Schema) -> Release:
    """Age is cut at 40, then the older by job: three regions."""
    whole_lo = [0] * 5
    whole_hi = [attribute.size for attribute in schema.attributes]

    def box(age: tuple[int, int], job: tuple[int, int]) -> tuple[list[int], list[int]]:
        return [age[0], job[0], *whole_lo[2:]], [age[1], job[1], *whole_hi[2:]]

    tree = TreePartition.of(
        [
            (-1, 0, whole_lo, whole_hi),
            (0, -1, *box((0, 23), (0, 4))),
            (0, 1, *box((23, 75), (0, 4))),
            (2, -1, *box((23, 75), (0, 2))),
            (2, -1, *box((23, 75), (2, 4))),
        ]
    )
    measurements = (
        Measurement(
            name="rows",
            at="node",
            where=np.array([0]),
            values=np.array([[41]]),
            by_class=False,
            units=np.array([1]),
            unit=UNIT,
        ),
        Measurement(
            name="allocate",
            at="node",
            where=np.array([1, 2]),
            values=np.array([[9], [33]]),
            by_class=False,
            units=np.full(2, 1),
            unit=UNIT,
        ),
        Measurement(
            name="leaf",
            at="region",
            where=np.arange(3),
            values=np.array([[8, -1], [20, 3], [0, 12]]),
            by_class=True,
            units=np.array([6, 4, 4]),
            unit=UNIT,
        ),
    )
    ledger = {
        "accounting": "pure",
        "budgets": {"epsilon": {"unit": "1/10", "units": 10}},
        "person_rows": 1,
        "entries": [
            entry("rows", 0, 1, 1),
            entry("select", 0, 2, 1),
            entry("select", 1, 2, 1),
            entry("allocate", 0, 1, 1),
            entry("leaf", 1, 6, 1),
            entry("leaf", 2, 4, 2),
        ],
        "paths": [
            leaf_path(1, rows=1, select=2, allocate=1, leaf=6),
            leaf_path(2, rows=1, select=4, allocate=1, leaf=4),
        ],
    }
    return TableRelease(
        schema=schema,
        method="diffmulti",
        settings={"score": "max", "schedule": "tuned-1"},
        guarantee=promise(),
        ledger=ledger,
        partition=tree,
        measurements=measurements,
    )


@pytest.fixture
def grid_release(schema: Schema) -> Release:
    """Age cut at 40 times the two kinds of jobs, with every cell counted."""
    ends = [np.array([0, attribute.size], np.int32) for attribute in schema.attributes]
    grid = GridPartition(
        (np.array([0, 23, 75], np.int32), np.array([0, 2, 4], np.int32), *ends[2:])
    )
    leaf = Measurement(
        name="leaf",
        at="region",
        where=np.arange(4),
        values=np.array([[5, 1], [2, -3], [7, 7], [0, 2]]),
        by_class=True,
        units=np.full(4, 10),
        unit=UNIT,
    )
    ledger = {
        "accounting": "pure",
        "budgets": {"epsilon": {"unit": "1/10", "units": 10}},
        "person_rows": 1,
        "entries": [entry("leaf", 0, 10, 4)],
        "paths": [leaf_path(4, leaf=10)],
    }
    # a grid that nobody chose by looking at data, so that only its counts are paid for
    return TableRelease(
        schema=schema,
        method="a public grid",
        settings={"schedule": "tuned-1"},
        guarantee=promise(),
        ledger=ledger,
        partition=grid,
        measurements=(leaf,),
    )


@pytest.fixture
def sparse_release(grid_release: Release) -> Release:
    """The same grid, of which two cells passed a threshold of 4."""
    listed = Measurement(
        name="leaf",
        at="region",
        where=np.array([0, 2]),
        values=np.array([[5], [7]]),
        by_class=True,
        units=np.full(2, 10),
        unit=UNIT,
        threshold=4,
        klass=np.array([0, 1]),
    )
    return replace(grid_release, measurements=(listed,))


def shop(size: int, **rules: Any) -> Schema:
    items = {"universe": {"range": [1, size]}, "fan_out": 2, **rules}
    return Schema.from_dict({"name": "shop", "unit": "row", "items": items})


def counted(
    name: str,
    at: Any,
    values: Any,
    units: int = 1,
    unit: Fraction = Fraction(1),
    where: Any = None,
    max_contribution: int = 1,
) -> Measurement:
    column = np.asarray(values, np.int64).reshape(-1, 1)
    places = np.arange(len(column)) if where is None else np.asarray(where, np.int64)
    rates = np.full(len(column), units, np.int64)
    return Measurement(
        name=name,
        at=at,
        where=places,
        values=column,
        by_class=False,
        units=rates,
        unit=unit,
        max_contribution=max_contribution,
    )


def laplace(random: np.random.Generator, epsilon: float, size: int) -> np.ndarray:
    sampler = 1 - np.exp(-epsilon)
    return random.geometric(sampler, size) - random.geometric(sampler, size)


def records(random: np.random.Generator, number: int, items: int) -> np.ndarray:
    """Truth values, one row per record and column per item, with dependent items; none empty."""
    kind = random.random((number, 1)) < 0.3
    hold = np.where(kind, np.linspace(0.8, 0.1, items), np.linspace(0.05, 0.4, items))
    found = random.random((number, items)) < hold
    found[~found.any(axis=1), 0] = True
    return found


@pytest.fixture
def hand() -> SimpleNamespace:
    """What transactions are made of by hand: see the functions of these names above."""
    return SimpleNamespace(shop=shop, counted=counted, laplace=laplace, records=records)
