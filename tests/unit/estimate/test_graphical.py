"""The model is the distribution that its definition names, and its parts agree."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hedgerow.arrays import Floats, Ints
from hedgerow.estimate import graphical
from hedgerow.estimate.graphical import GraphicalModel, fit_model
from hedgerow.estimate.measurements import Measurement
from hedgerow.estimate.tables import Cells, NoisyTable, Tables
from hedgerow.schema import Query, Schema

SIZES = [2, 3, 2, 2]  # the class is the last


def schema_of(rules: list[str] | None = None) -> Schema:
    attributes: dict[str, object] = {
        name: {"type": "categorical", "values": [f"{name}{i}" for i in range(size)]}
        for name, size in zip("abc", SIZES, strict=False)
    }
    attributes["k"] = {"type": "categorical", "values": ["k0", "k1"], "role": "class"}
    content = {"name": "s", "unit": "row", "attributes": attributes}
    return Schema.from_dict(content | ({"rules": rules} if rules else {}))


def measured(name: str, columns: list[tuple[int, ...]], joint: Floats, seed: int) -> Measurement:
    """Tables of a joint distribution, with a little noise."""
    random = np.random.default_rng(seed)
    parts = []
    for table in columns:
        others = tuple(axis for axis in range(joint.ndim) if axis not in table)
        summed = joint.sum(axis=others)
        kept = [axis for axis in range(joint.ndim) if axis in table]
        parts.append(np.transpose(summed, [kept.index(axis) for axis in table]).ravel())
    values = np.rint(np.concatenate(parts) + random.normal(scale=3, size=sum(map(len, parts))))
    return Measurement(
        name=name, at="cell", where=np.arange(len(values)), values=values.astype(np.int64)[:, None],
        by_class=False, units=np.full(len(values), 1), unit=Fraction(1, 9), law="gaussian",
        tables=tuple(columns), max_contribution=len(columns),
    )  # fmt: skip


def tables_of(schema: Schema, joint: Floats) -> Tables:
    last = len(SIZES) - 1
    by_class = [(a, last) for a in range(last)]
    some = [
        measured("by_class", by_class, joint, 1),
        measured("pairs", [(1, 0), (2, 1)], joint, 2),
        measured("more_pairs", [(2, 0)], joint, 3),
    ]
    return Tables.of(schema, Cells.of(schema, 16), some)


def joint_of(model: GraphicalModel) -> Floats:
    """The whole joint distribution of a model, from its cliques."""
    joint = np.ones(SIZES)
    tree = model.tree
    places = np.indices(SIZES)

    def factor(mass: Floats, columns: tuple[int, ...], shape: tuple[int, ...]) -> Floats:
        index = np.ravel_multi_index([places[c] for c in columns], shape) if columns else 0
        return np.asarray(mass)[index]

    for c, clique in enumerate(tree.cliques):
        mass = model.mass[tree.start[c] : tree.start[c + 1]]
        joint = joint * factor(mass, clique, tree.shapes[c])
        if tree.parent[c] >= 0:
            others = tuple(i for i, v in enumerate(clique) if v not in tree.shared[c])
            shared = mass.reshape(tree.shapes[c]).sum(axis=others)
            below = factor(shared.ravel(), tree.shared[c], shared.shape)
            joint = np.divide(joint, below, out=np.zeros_like(joint), where=below > 0)
    return joint


def dual_gradient(model: GraphicalModel) -> Floats:
    """M p - y + lambda s^2 theta by the whole joint distribution, in parts of the noise.

    Every table is moved to the number of records: no model has another total.
    """
    joint = joint_of(model)
    parts, start = [], 0
    for table in model.tables.tables:
        others = tuple(axis for axis in range(joint.ndim) if axis not in table.columns)
        summed = joint.sum(axis=others)
        kept = [axis for axis in range(joint.ndim) if axis in table.columns]
        expected = np.transpose(summed, [kept.index(axis) for axis in table.columns])
        deviation = table.variance**0.5
        trust = min(graphical.MOST_TRUST, graphical.TRUST / deviation)
        theta = model.theta[start : start + expected.size]
        start += expected.size
        beyond = expected.ravel() - table.values.ravel()
        off = beyond - beyond.mean() + trust * table.variance * theta
        parts.append(off / deviation)
    return np.concatenate(parts)


@pytest.fixture(scope="module")
def joint() -> Floats:
    shares = np.random.default_rng(4).dirichlet(np.full(np.prod(SIZES), 0.6))
    return (5000 * shares).reshape(SIZES)


@pytest.fixture(scope="module")
def model(joint: Floats) -> GraphicalModel:
    return fit_model(tables_of(schema_of(), joint))


def test_the_fit_is_where_the_gradient_vanishes(model: GraphicalModel) -> None:
    assert np.sqrt(np.mean(dual_gradient(model) ** 2)) < 1.01 * graphical.CONVERGED


def test_the_model_is_a_product_of_its_factors(model: GraphicalModel) -> None:
    """Nothing but the factors and the reference: what they leave open has the most entropy."""
    joint = joint_of(model)
    assert joint.sum() == pytest.approx(model.tables.number)
    logs = np.log(joint)
    start = 0
    places = np.indices(SIZES)
    for table in model.tables.tables:
        size = table.values.size
        theta = model.theta[start : start + size].reshape(table.values.shape)
        start += size
        logs -= theta[tuple(places[c] for c in table.columns)]
    for a in range(len(SIZES) - 1):
        mass = graphical.denoised(model.tables, a)
        logs -= np.log(mass / mass.sum())[places[a]]
    assert np.ptp(logs) < 1e-6


def test_a_warm_start_ends_where_a_cold_one_does(joint: Floats, model: GraphicalModel) -> None:
    tables = tables_of(schema_of(), joint)
    fewer = Tables(
        schema=tables.schema, cells=tables.cells, tables=tables.tables[:4], fine={}, totals=()
    )
    warm = fit_model(tables, fit_model(fewer))
    noise = min(table.variance for table in tables.tables) ** 0.5
    assert np.abs(joint_of(warm) - joint_of(model)).max() < noise


def test_class_probabilities_are_those_of_the_joint_distribution(model: GraphicalModel) -> None:
    joint = joint_of(model)
    codes = np.array([*itertools.product(*map(range, SIZES[:-1]))])
    shares = model.probabilities(codes)
    expected = joint.reshape(-1, SIZES[-1])
    assert shares == pytest.approx(expected / expected.sum(axis=1, keepdims=True), abs=1e-6)


def test_counts_and_rows_come_from_the_joint_distribution(model: GraphicalModel) -> None:
    joint = joint_of(model)
    queries = [
        Query(((0, ((0.0, 1.0),)), (2, ((1.0, 2.0),)))),
        Query(((1, ((1.0, 3.0),)),), (1,)),
        Query(),
    ]
    expected = [joint[0, :, 1].sum(), joint[:, 1:, :, 1].sum(), joint.sum()]
    rows = len(model.stand_ins[0])
    # each clique on the way rounds by a row or so in each cell of what it shares
    room = 60 * model.tables.number / rows
    assert model.count(queries) == pytest.approx(expected, abs=room)
    codes = model.draw(5000, np.random.default_rng(0))
    drawn = np.zeros(SIZES)
    np.add.at(drawn, tuple(codes), model.tables.number / 5000)
    assert np.abs(drawn - joint).max() < 60 * model.tables.number / 5000


def test_no_estimate_and_no_row_breaks_a_rule(joint: Floats) -> None:
    schema = schema_of(["a = a0 implies b = b0", "not (c = c1 and k = k0)"])
    model = fit_model(tables_of(schema, joint))
    assert np.isfinite(model.theta).all()
    *codes, classes = model.stand_ins
    assert not schema.breaks_rules(np.stack(codes, axis=1), classes).any()
    broken = Query(((0, ((0.0, 1.0),)), (1, ((1.0, 3.0),))))
    assert model.count([broken])[0] == 0
    assert model.probabilities(np.array([[1, 0, 1]]))[0, 0] == 0


def test_noise_where_nobody_was_seen_becomes_nobody(joint: Floats) -> None:
    """Many were expected in a cell, and its count is within the noise; else it is believed."""
    even = np.full_like(joint, 5000 / joint.size)
    even[0, 0] = 0  # 333 would be expected

    def left(values: float, deviation: float) -> float:
        tables = tables_of(schema_of(), even)
        changed = [
            replace(table, variance=deviation**2, values=_with_corner(table.values, values))
            if table.columns == (1, 0)
            else table
            for table in tables.tables
        ]
        fitted = fit_model(replace(tables, tables=tuple(changed)))
        return float(fitted.marginal((1, 0))[0, 0])

    assert left(149, 75) < 20
    assert left(151, 75) > 60
    assert left(149, 120) > 60  # 333 are not three deviations


def _with_corner(values: Ints, corner: float) -> Ints:
    changed = values.copy()
    changed[0, 0] = round(corner)
    return changed


def test_nobody_at_all_is_no_obstacle() -> None:
    schema = schema_of()
    model = fit_model(tables_of(schema, np.zeros(SIZES)))
    assert np.isfinite(model.mass).all()
    columns = model.draw(3, np.random.default_rng(0))
    assert np.shape(columns) == (4, 3)


ORACLE = json.loads((Path(__file__).parent / "private_pgm.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", ORACLE, ids=lambda case: "x".join(map(str, case["sizes"])))
def test_tables_that_are_trusted_are_fitted_as_private_pgm_does(
    monkeypatch: pytest.MonkeyPatch, case: dict[str, Any]
) -> None:
    """What `benchmarks/oracle.py` had mbi 2.0 make of the same tables."""
    for name, value in (("MOST_TRUST", 1e-6), ("CONVERGED", 1e-5), ("MOST_STEPS", 5000)):
        monkeypatch.setattr(graphical, name, value)
    schema = Schema.from_dict({"name": "s", "unit": "row", "attributes": {
        f"v{number}": {"type": "categorical", "values": [f"{number}.{v}" for v in range(size)]}
        for number, size in enumerate(case["sizes"])
    }})  # fmt: skip
    tables = tuple(
        NoisyTable(
            kind="single" if len(table["columns"]) == 1 else "named",
            columns=tuple(table["columns"]),
            values=np.array(table["values"]).reshape([case["sizes"][c] for c in table["columns"]]),
            variance=table["deviation"] ** 2,
            tail=table["deviation"] ** 2,
            law="gaussian",
        )
        for table in case["tables"]
    )
    known = ((float(case["total"]), 1e-9),)
    model = fit_model(
        Tables(schema=schema, cells=Cells.of(schema, 16), tables=tables, fine={}, totals=known)
    )
    for table, held in zip(tables, case["tables"], strict=True):
        found = model.marginal(table.columns).ravel()
        # where noise is as large as counts, mbi's steps are small in the end
        near = 2e-6 if held["deviation"] > 10 else 1e-6
        assert found == pytest.approx(held["expected"], abs=near * case["total"])
