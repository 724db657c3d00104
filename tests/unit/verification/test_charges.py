"""`verify` recomputes what was spent: honest releases of every kind pass, tampered ones do not."""

from __future__ import annotations

import copy
import json
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from in_turn import in_turn

from hedgerow import CDiffGen, DiffGen, DiffMulti, DiffPart, Marginals, publish
from hedgerow.estimate.measurements import Measurement
from hedgerow.estimate.partition import GridPartition
from hedgerow.methods import diffgen
from hedgerow.schema import Schema
from hedgerow.verification import verify
from hedgerow.verification.regions import _Steps
from hedgerow.verification.rules import Book, Failed, afford

METHODS = {
    "diffmulti": DiffMulti(),
    "diffmulti, deep": DiffMulti(specializations=40, depth=6),
    "diffmulti, even": DiffMulti(specializations=40, depth=6, distribution="even"),
    "diffmulti, shallow": DiffMulti(specializations=5, depth=1),
    "diffmulti, paper": DiffMulti(schedule="paper", specializations=30),
    "diffmulti, paper, even": DiffMulti(schedule="paper", depth=3, distribution="even"),
    "diffmulti, paper, shallow": DiffMulti(schedule="paper", depth=1),
    "diffgen": DiffGen(specializations=6),
    "diffgen, by rule": DiffGen(),
    "diffgen, paper": DiffGen(schedule="paper"),
    "diffgen, few cells": DiffGen(specializations=9, max_cells=6),
    "cdiffgen": CDiffGen(specializations=6),
    "cdiffgen, by rule": CDiffGen(),
    "cdiffgen, paper": CDiffGen(schedule="paper"),
    "marginals": Marginals(),
}
BUDGETS = {"pure": ("1", "0"), "zcdp": ("1", "1e-9"), "small": ("1/1000", "1e-9")}
ATTRIBUTES = {
    "age": {"type": "numeric", "low": 0, "high": 19, "step": 1},
    "flat": {"type": "numeric", "low": 0, "high": 1, "step": 2},  # a single code
    "pay": {"type": "numeric", "low": 0, "high": 3, "step": 1, "missing": "other"},
    "job": {"type": "categorical", "taxonomy": {"L": ["a", "b"], "R": ["c", {"S": ["d", "e"]}]}},
    "ill": {"type": "boolean", "role": "class"},
}
PERSON = {"who": {"role": "person", "max_rows": 3}}


def made(method, epsilon="1", delta="0", rows=300, attributes=ATTRIBUTES):
    """A release that says it is private, of a run that can be repeated."""
    rng = np.random.default_rng(rows)
    columns = {
        "age": pa.array(rng.integers(0, 20, rows)),
        "flat": pa.array(np.zeros(rows, np.int64)),
        "pay": pa.array(rng.integers(0, 4, rows)),
        "job": pa.array(rng.choice(list("abcde"), rows).tolist(), pa.string()),
        "ill": pa.array(rng.choice(["no", "yes"], rows).tolist(), pa.string()),
        "who": pa.array(rng.integers(0, 1 + rows // 2, rows)),
    }
    unit = "person" if "who" in attributes else "row"
    schema = Schema.from_dict(
        {"name": "simulated", "unit": unit, "attributes": copy.deepcopy(attributes)}
    )
    table = pa.table({name: column for name, column in columns.items() if name in attributes})
    release = publish(table, schema, method, epsilon, delta, seed=7, allow_empty=True)
    return replace(release, guarantee=release.guarantee | {"private": True})


def made_of_sets(method, epsilon, delta):
    """The same of transactions."""
    rng = np.random.default_rng(1)
    lists = [np.unique(rng.zipf(1.5, 5) % 30 + 1).tolist() for _ in range(2000)]
    items = {"universe": {"range": [1, 40]}, "column": "x"}
    schema = Schema.from_dict({"name": "simulated", "unit": "row", "items": items})
    release = publish(pa.table({"x": lists}), schema, method, epsilon, delta, seed=4)
    return replace(release, guarantee=release.guarantee | {"private": True})


def made_of_pairs(epsilon, delta):
    """The same of attributes that go together."""
    a = np.arange(3000) % 10
    columns = {"a": a, "b": a, "c": 9 - a, "d": np.arange(3000) // 10 % 10}
    attributes = {name: {"type": "numeric", "low": 0, "high": 9} for name in columns}
    schema = Schema.from_dict({"name": "simulated", "unit": "row", "attributes": attributes})
    release = publish(pa.table(columns), schema, Marginals(), epsilon, delta, seed=4)
    return replace(release, guarantee=release.guarantee | {"private": True})


RELATED = {
    "marginals, pairs": made_of_pairs,
    "diffpart": lambda *budget: made_of_sets(DiffPart(), *budget),
    "diffpart, tree": lambda *budget: made_of_sets(DiffPart(variant="tree"), *budget),
}


def failing(release):
    return {check.name: check.words for check in verify(release).checks if not check.ok}


@pytest.mark.slow
@pytest.mark.parametrize("method, budget", in_turn(METHODS, BUDGETS))
def test_honest_releases_of_every_kind_pass(method, budget):
    for rows in (0, 1, 300):
        assert failing(made(METHODS[method], *BUDGETS[budget], rows)) == {}
    assert failing(made(METHODS[method], *BUDGETS[budget], attributes=ATTRIBUTES | PERSON)) == {}


@pytest.mark.parametrize("delta", ["0", "1e-9"])
@pytest.mark.parametrize("rows", [0, 300])
@pytest.mark.parametrize("steps", [3, 6])
def test_honest_sparse_releases_pass(monkeypatch, tmp_path, delta, rows, steps):
    monkeypatch.setattr(diffgen, "DENSE_CELLS", 4)
    release = made(DiffGen(specializations=steps), "1", delta, rows)
    assert release.measurements[1].threshold is not None
    release.save(tmp_path / "r")
    assert failing(release) == failing(tmp_path / "r") == {}


@pytest.mark.parametrize(
    "attributes",
    [
        {name: ATTRIBUTES[name] for name in ("age", "pay")},
        {name: ATTRIBUTES[name] for name in ("job", "ill")},
        {name: ATTRIBUTES[name] for name in ("flat", "ill")},
    ],
    ids=["only numbers", "no numbers", "nothing to split"],
)
@pytest.mark.parametrize("method", [DiffMulti, DiffGen, CDiffGen])
@pytest.mark.parametrize("schedule", ["tuned", "paper"])
def test_honest_releases_of_plain_schemas_pass(attributes, method, schedule):
    for delta in ("0", "1e-9"):
        assert failing(made(method(schedule=schedule), "1", delta, 50, attributes)) == {}


GROWN = {
    "tuned": (METHODS["diffmulti, deep"], "1", "0"),
    "zcdp": (METHODS["diffmulti, deep"], "1", "1e-9"),
    "paper": (METHODS["diffmulti, paper"], "1", "0"),
    "grid": (METHODS["diffgen"], "1", "1e-9"),
    "grid, paper": (METHODS["diffgen, paper"], "1", "0"),
    "consistent": (METHODS["cdiffgen"], "1", "1e-9"),
}


@pytest.fixture(scope="module")
def grown():
    return {name: made(*run) for name, run in GROWN.items()}


def with_measurement(release, name, **changes):
    return replace(
        release,
        measurements=tuple(
            replace(m, **{key: change(m) for key, change in changes.items()})
            if m.name == name
            else m
            for m in release.measurements
        ),
    )


@pytest.mark.parametrize("kind", GROWN)
def test_counts_that_nobody_paid_for_are_caught(grown, kind):
    release = grown[kind]
    cells = np.arange(release.partition.cells)
    for name in ("extra", "count" if kind != "consistent" else "leaf"):
        extra = Measurement(
            name=name, at="region", where=cells, values=np.zeros((len(cells), 2), np.int64),
            by_class=True, units=np.ones(len(cells), np.int64), unit=Fraction(1000),
        )  # fmt: skip
        assert "measurements" in failing(
            replace(release, measurements=(*release.measurements, extra))
        )
    for again in release.measurements:
        twice = replace(release, measurements=(*release.measurements, again))
        assert "is there twice" in failing(twice)["measurements"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", GROWN)
@pytest.mark.parametrize("factor", [2, 10**6, Fraction(1001, 1000)])
def test_less_noise_than_was_paid_for_is_caught(grown, tmp_path, kind, factor):
    for measurement in grown[kind].measurements:
        better = with_measurement(
            grown[kind], measurement.name, unit=lambda m: m.unit * Fraction(factor)
        )
        assert "measurements" in failing(better), measurement.name
    better.save(tmp_path / "r")
    assert "measurements" in failing(tmp_path / "r")


def test_less_noise_on_one_place_is_caught(grown):
    def first_doubled(measurement):
        units = measurement.units.copy()
        units[0] *= 2
        return units

    for release in grown.values():
        for measurement in release.measurements:
            better = with_measurement(release, measurement.name, units=first_doubled)
            assert "measurements" in failing(better), measurement.name


def test_a_count_in_more_places_than_were_charged_is_caught(grown):
    tree = grown["tuned"]
    nodes = np.arange(len(tree.partition.parent))
    counted = {
        "where": lambda m: nodes,
        "values": lambda m: np.zeros((len(nodes), 1), np.int64),
        "units": lambda m: np.full(len(nodes), m.units[0]),
    }
    assert "accounts" in failing(with_measurement(tree, "allocate", **counted))
    assert "several places" in failing(with_measurement(tree, "rows", **counted))["measurements"]


@pytest.mark.parametrize("at", ["cell", "item"])
def test_a_place_of_another_kind_is_caught(grown, at):
    for release in grown.values():
        for measurement in release.measurements:
            away = with_measurement(release, measurement.name, at=lambda m: at)
            assert "its kind does not have" in failing(away)["measurements"]


@pytest.mark.parametrize("where", [-1, 10**9])
def test_a_place_that_does_not_exist_is_caught(grown, where):
    for release in grown.values():
        for measurement in release.measurements:
            away = with_measurement(
                release, measurement.name, where=lambda m: np.append(m.where[:-1], where)
            )
            assert "does not exist" in failing(away)["measurements"]


def changed(release, purpose, **changes):
    """The release with other entries for a purpose, each field by its own rule."""
    ledger = json.loads(json.dumps(release.ledger))
    for entry in ledger["entries"]:
        if entry["purpose"] == purpose:
            entry |= {key: change(entry[key]) for key, change in changes.items()}
    return replace(release, ledger=ledger)


@pytest.mark.slow
@pytest.mark.parametrize(
    "change",
    [
        {"units": lambda units: units * 50},
        {"units": lambda units: units + 1},
        {"units": lambda units: max(0, units - 1)},
        {"nodes": lambda nodes: nodes * 2},
        {"nodes": lambda nodes: nodes + 10**30},
        {"units": lambda units: units + 2**64},
    ],
)
@pytest.mark.parametrize("kind", GROWN)
def test_entries_that_the_paths_do_not_show_are_caught(grown, kind, change):
    for purpose in {entry["purpose"] for entry in grown[kind].ledger["entries"]}:
        assert "accounts" in failing(changed(grown[kind], purpose, **change)), purpose


def test_entries_at_other_depths_are_caught(grown):
    for kind in ("tuned", "zcdp", "paper"):
        for purpose in {entry["purpose"] for entry in grown[kind].ledger["entries"]} - {"rows"}:
            for further in (1, 10**30):
                deeper = changed(grown[kind], purpose, depth=lambda d, more=further: d + more)
                assert "accounts" in failing(deeper), purpose


def test_growth_that_was_left_out_of_the_books_is_caught(grown):
    """The purpose is gone from entries and paths, and the grant is as much less."""
    for kind, purpose in (("tuned", "select"), ("paper", "select"), ("paper", "cut")):
        ledger = copy.deepcopy(grown[kind].ledger)
        ledger["entries"] = [e for e in ledger["entries"] if e["purpose"] != purpose]
        for path in ledger["paths"]:
            path["spent"]["epsilon"].pop(purpose)
        assert "nothing was booked" in failing(replace(grown[kind], ledger=ledger))["accounts"]


def without(release, *purposes):
    """The release as if these purposes had never been paid for: a smaller budget, well added up."""
    ledger = json.loads(json.dumps(release.ledger))
    ledger["entries"] = [e for e in ledger["entries"] if e["purpose"] not in purposes]
    for path in ledger["paths"]:
        for spent in path["spent"].values():
            for purpose in purposes:
                spent.pop(purpose, None)
    for budget in list(ledger["budgets"]):
        ledger["budgets"][budget]["units"] = max(
            sum(path["spent"].get(budget, {}).values()) for path in ledger["paths"]
        )
    kept = tuple(m for m in release.measurements if m.name not in purposes)
    return replace(release, ledger=ledger, measurements=kept)


FORGED = {
    f"{name}, without {purpose}": (name, purpose)
    for name, purposes in {
        "diffgen": ("select", "rows"),
        "diffgen, by rule": ("select", "rows"),
        "diffgen, paper": ("select", "cut"),
        "cdiffgen": ("select", "rows"),
        "cdiffgen, paper": ("select", "cut"),
        "diffmulti": ("rows",),
        "diffmulti, deep": ("rows",),
        "marginals": ("rows", "relate", "again"),
        "marginals, pairs": ("rows", "relate", "pairs"),
        "diffpart": ("size", "support", "cell"),
        "diffpart, tree": ("size", "support", "gate", "leaf"),
    }.items()
    for purpose in purposes
}


@pytest.mark.slow
@pytest.mark.parametrize("budget", ["pure", "zcdp"])
@pytest.mark.parametrize("forged", FORGED)
def test_regions_that_nobody_paid_for_are_caught(forged, budget):
    name, purpose = FORGED[forged]
    kind = name.partition(",")[0]
    if name in RELATED:
        honest = RELATED[name](*BUDGETS[budget])
    else:
        honest = made(METHODS[name], *BUDGETS[budget], rows=3000 if kind == "marginals" else 300)
    assert any(entry["purpose"] == purpose for entry in honest.ledger["entries"])
    assert failing(honest) == {}
    forgery = without(honest, purpose)
    assert verify(forgery).epsilon < verify(honest).epsilon
    if kind in ("marginals", "diffpart"):  # what was counted tells as well
        assert {"accounts", "measurements", "tables"} & failing(forgery).keys()
        return
    assert honest.partition.cells > 1
    # all else adds up, so that nothing but the regions tells
    assert failing(forgery).keys() == {"accounts"}
    assert "nothing was booked for" in failing(forgery)["accounts"]


@pytest.mark.parametrize("name", ["diffgen", "diffgen, paper", "cdiffgen", "cdiffgen, paper"])
def test_fewer_choices_than_the_regions_show_are_caught(name):
    """One draw is left out, or is said to be of another depth, and all sums are mended."""
    honest = made(METHODS[name])
    for purpose in ("select", "cut") if "paper" in name else ("select",):
        entries = [e for e in honest.ledger["entries"] if e["purpose"] == purpose]
        for entry in entries:
            fewer = json.loads(json.dumps(honest.ledger))
            place = fewer["entries"].index(entry)
            fewer["entries"][place]["nodes"] -= 1
            if not fewer["entries"][place]["nodes"]:
                del fewer["entries"][place]
            for path in fewer["paths"]:
                path["spent"]["epsilon"][purpose] -= entry["units"]
            fewer["budgets"]["epsilon"]["units"] -= entry["units"]
            if purpose == "select" or not entry["depth"]:
                assert "accounts" in failing(replace(honest, ledger=fewer))
            moved = json.loads(json.dumps(honest.ledger))
            moved["entries"][moved["entries"].index(entry)]["depth"] = 77
            assert "accounts" in failing(replace(honest, ledger=moved))


def test_a_tree_that_is_no_product_of_cuts_is_no_tree_of_steps():
    tree = made(METHODS["diffmulti, deep"])
    words = failing(
        replace(tree, method="cdiffgen", settings=tree.settings | {"schedule": "tuned-1"})
    )["accounts"]
    assert "not the product" in words


def test_specializations_are_recounted_from_the_cuts():
    """By hand, from the steps that were taken, for many runs."""
    for method in (DiffGen(specializations=7), DiffGen(schedule="paper", specializations=7)):
        release = made(method)
        edges = list(release.partition.edges)
        selected = sum(e["nodes"] for e in release.ledger["entries"] if e["purpose"] == "select")
        steps = _Steps.of(release.partition, release.schema)
        assert steps.all == selected
        assert steps.numbers == sum(len(edges[place]) - 2 for place in (0, 1, 2))
    job = edges[3]
    for cut, nodes in (
        ([0, 5], 0), ([0, 2, 5], 1), ([0, 1, 2, 5], 2), ([0, 2, 3, 5], 2), ([0, 2, 3, 4, 5], 3),
    ):  # fmt: skip
        edges[3] = np.asarray(cut, job.dtype)
        assert _Steps.of(GridPartition(tuple(edges)), release.schema).nodes == nodes
    edges[3] = np.asarray([0, 3, 5], job.dtype)
    with pytest.raises(Failed, match="no node of its taxonomy"):
        _Steps.of(GridPartition(tuple(edges)), release.schema)


def test_spending_that_was_moved_between_paths_is_caught(grown):
    """All sums stay as they are; only which regions spent what is another thing."""
    for kind in ("tuned", "zcdp", "paper"):
        ledger = copy.deepcopy(grown[kind].ledger)
        first, *others = ledger["paths"]
        other = next(path for path in others if path["leaves"] != first["leaves"])
        first["spent"], other["spent"] = other["spent"], first["spent"]
        assert failing(replace(grown[kind], ledger=ledger)).keys() == {"accounts"}


@pytest.mark.slow
@pytest.mark.parametrize(
    "tamper",
    [
        lambda m: m["budgets"]["epsilon"].update(units=2**70),
        lambda m: m["entries"][0].update(purpose=["rows"]),
        lambda m: m["entries"][0].update(purpose=7),
        lambda m: m["entries"][0].update(budget={}),
        lambda m: m["entries"][0].update(depth=0.5),
        lambda m: m["entries"][0].update(nodes="1"),
        lambda m: m["entries"].append(m["entries"][0] | {"budget": "rho"}),
        lambda m: m["entries"].extend(
            m["entries"][0] | {"purpose": f"gift {number}"} for number in range(10**4)
        ),
        lambda m: m.update(entries={"rows": 1}),
        lambda m: m.update(entries=None),
        lambda m: m.update(paths=[[]]),
        lambda m: m["paths"][0].update(spent=[]),
        lambda m: m["paths"][0]["spent"].update(epsilon=3),
    ],
)
def test_malformed_ledgers_fail_and_do_not_crash(grown, tamper):
    for release in grown.values():
        ledger = json.loads(json.dumps(release.ledger))
        tamper(ledger)
        assert "accounts" in failing(replace(release, ledger=ledger))


def test_a_hidden_threshold_is_caught(grown):
    for kind in ("tuned", "grid"):
        few = with_measurement(grown[kind], "leaf", threshold=lambda m: 3)
        assert "measurements" in failing(few)


def test_an_unknown_purpose_falls_on_everyone(grown):
    """Methods of others may pay for other things; then every path must have paid all of it."""
    ledger = copy.deepcopy(grown["grid"].ledger)
    for entry in ledger["entries"]:
        if entry["purpose"] == "select":
            entry["purpose"] = "wander"
    for path in ledger["paths"]:
        path["spent"]["rho"]["wander"] = path["spent"]["rho"].pop("select")
    release = replace(grown["grid"], ledger=ledger, method="a method of somebody's own")
    assert failing(release) == {}
    ledger["entries"].append(ledger["entries"][-1] | {"depth": 99})
    assert "accounts" in failing(release)


RHO = Book(purpose="tables", budget="rho", unit=Fraction(1, 50), granted=10, entries={(0, 4): 1})


def one_count(rate, law, max_contribution=1):
    one = np.array([1])
    return Measurement(
        name="tables", at="node", where=one, values=one[:, None], by_class=False, units=one,
        unit=Fraction(rate), max_contribution=max_contribution, law=law,
    )  # fmt: skip


def affordable(measurement, book):
    try:
        afford(measurement, book, np.array([4]))
    except Failed:
        return False
    return True


@pytest.mark.parametrize("squares", [1, 2, 14])
def test_gaussian_noise_is_held_to_its_own_price(squares):
    """k / (2 sigma^2) in rho: what was charged is 4/50."""
    paid = Fraction(4, 50)
    fair = 2 * paid / squares
    assert affordable(one_count(fair, "gaussian", squares), RHO)
    assert affordable(one_count(fair * Fraction(999, 1000), "gaussian", squares), RHO)
    for wrong in (
        fair * Fraction(1001, 1000),  # hardly too little noise
        2 * fair,  # half the variance
        2 * paid / squares * (squares + 1),  # the price of one table less
    ):
        assert not affordable(one_count(wrong, "gaussian", squares), RHO)
    if squares > 1:
        assert not affordable(one_count(2 * paid, "gaussian", squares), RHO)  # that of one table


def test_each_law_is_paid_in_its_own_way():
    epsilon = replace(RHO, budget="epsilon")
    for rate in (Fraction(4, 50), Fraction(8, 50), Fraction(1, 10**6)):
        assert not affordable(one_count(rate, "gaussian"), epsilon)
    assert affordable(one_count(Fraction(4, 50), "laplace"), epsilon)
    # releases of older versions: Laplace noise of rate e costs e^2 / 2
    assert affordable(one_count(Fraction(4, 10), "laplace"), RHO)
    assert not affordable(one_count(Fraction(41, 100), "laplace"), RHO)


@pytest.mark.parametrize("kind", GROWN)
def test_noise_of_another_law_than_was_paid_for_is_caught(grown, kind):
    """Epsilon buys no Gaussian noise, and rho not Laplace noise of the same variance."""
    for measurement in grown[kind].measurements:
        if measurement.law == "laplace":
            other = with_measurement(grown[kind], measurement.name, law=lambda m: "gaussian")
        else:
            root = int(math.sqrt(2 / float(measurement.variance[0])) * 10**6)
            other = with_measurement(
                grown[kind], measurement.name, law=lambda m: "laplace",
                units=lambda m, r=root: np.full(len(m.units), r), unit=lambda m: Fraction(1, 10**6),
            )  # fmt: skip
        if measurement.threshold is None:
            assert "measurements" in failing(other), measurement.name


def test_counts_in_rho_have_gaussian_noise(grown):
    laws = {m.name: m.law for m in grown["zcdp"].measurements}
    assert laws["spare"] == laws["allocate"] == "gaussian"
    assert laws["rows"] == laws["leaf"] == "laplace"
    assert {m.law for m in grown["tuned"].measurements} == {"laplace"}
