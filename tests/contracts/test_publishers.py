"""What every publisher owes, whatever its settings: it publishes anything, spends exactly what was
granted on every path, covers the domain once, and draws the same from the same seed."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from in_turn import in_turn

from hedgerow.counting.items import MemoryItems
from hedgerow.counting.memory import MemoryEngine
from hedgerow.data import Table, Transactions
from hedgerow.estimate.tables import Tables
from hedgerow.methods.cdiffgen import CDiffGen
from hedgerow.methods.diffgen import DiffGen
from hedgerow.methods.diffmulti import DiffMulti
from hedgerow.methods.diffpart import DiffPart
from hedgerow.methods.publisher import Outcome, Publisher
from hedgerow.methods.supermodular import Supermodular
from hedgerow.privacy.budget import Budget
from hedgerow.privacy.keystream import Keystream
from hedgerow.privacy.sampler import SecureSampler
from hedgerow.registry import OURS, load
from hedgerow.schema import Schema

PUBLISHERS: dict[str, Publisher] = {
    "diffmulti": DiffMulti(),
    "diffmulti, even": DiffMulti(specializations=20, depth=5, distribution="even"),
    "diffmulti, paper": DiffMulti(schedule="paper", specializations=30),
    "diffmulti, paper, even": DiffMulti(schedule="paper", depth=3, distribution="even"),
    "diffmulti, one": DiffMulti(specializations=1),
    "diffmulti, shallow": DiffMulti(depth=1),
    "diffmulti, paper, shallow": DiffMulti(schedule="paper", depth=1),
    "diffmulti, ncp": DiffMulti(score="ncp", specializations=15),
    "diffmulti, discernibility": DiffMulti(score="discernibility", specializations=15),
    "diffmulti, gini": DiffMulti(score="gini", specializations=15),
    "diffgen": DiffGen(),
    "diffgen, paper": DiffGen(schedule="paper"),
    "diffgen, one": DiffGen(specializations=1),
    "diffgen, gini": DiffGen(score="gini", specializations=5),
    "diffgen, infogain": DiffGen(score="infogain", specializations=5),
    "diffgen, discernibility": DiffGen(score="discernibility", specializations=5),
    "diffgen, few cells": DiffGen(specializations=9, max_cells=6),
    "cdiffgen": CDiffGen(),
    "cdiffgen, paper": CDiffGen(schedule="paper"),
    "cdiffgen, few cells": CDiffGen(specializations=9, max_cells=6),
}
OTHERS: dict[str, Publisher] = {
    "diffpart": DiffPart(),
    "diffpart, core": DiffPart(core=2, cap=3),
    "diffpart, tree": DiffPart(variant="tree"),
    "diffpart, paper": DiffPart(schedule="paper", c1=0.5, c2=0.1),
    "supermodular": Supermodular(),
    "supermodular, aggregate": Supermodular(model="aggregate"),
    "supermodular, sampled": Supermodular(mode="sampled", keep="1/10"),
}
"""Those that publish no regions of a table."""
for known, method in OURS.items():
    if method.data == "table" and known not in PUBLISHERS | OTHERS:
        PUBLISHERS[known] = load(method.settings)()
BUDGETS = {
    "pure": Budget(Fraction(1)),
    "zcdp": Budget(Fraction(1), Fraction(1, 10**6)),
    "odd": Budget(Fraction(123457, 10**6)),
    "small": Budget(Fraction(1, 1000)),
    "small zcdp": Budget(Fraction(1, 1000), Fraction(1, 10**9)),
    "several rows": Budget(Fraction(1, 3), Fraction(1, 10**6), 7),
}


def schema(attributes: dict[str, Any], *, classed: bool = True) -> Schema:
    ill = {"ill": {"type": "categorical", "values": ["no", "yes", "maybe"], "role": "class"}}
    return Schema.from_dict(
        {"name": "simulated", "unit": "row", "attributes": attributes | (ill if classed else {})}
    )


MIXED = {
    "age": {"type": "numeric", "low": 0, "high": 19, "step": 1},
    "job": {"type": "categorical", "taxonomy": {"L": ["a", "b"], "R": ["c", "d", "e"]}},
    "only": {"type": "categorical", "values": ["x"]},
    "dose": {"type": "numeric", "low": 0, "high": 1, "step": 1},
}
SCHEMAS = {
    "mixed": schema(MIXED),
    "without a class": schema(MIXED, classed=False),
    "nothing to split": schema({"only": MIXED["only"]}),
    "numbers alone": schema({"age": MIXED["age"]}),
    "taxonomies alone": schema({"job": MIXED["job"]}),
}


def table(made: Schema, rows: int, seed: int = 1) -> Table:
    rng = np.random.default_rng(seed)
    columns = [rng.integers(0, a.size, rows) for a in made.attributes]
    columns.append(rng.integers(0, max(1, len(made.classes)), rows))
    return Table(made, np.ascontiguousarray(np.stack(columns, axis=1).astype(np.uint16)))


def fitting(publisher: Publisher, made: Schema) -> bool:
    """Whether a score that needs a class has one."""
    score = publisher.settings().get("score")
    return bool(made.target) or score in (None, "ncp", "discernibility")


def run(publisher: Publisher, data: Table, budget: Budget, seed: int = 1, **engine: int) -> Outcome:
    plan = publisher.plan_for(data.schema, budget)
    return publisher.run(
        MemoryEngine(data, **engine), data.schema, plan, SecureSampler(Keystream(seed=seed))
    )


def check(outcome: Outcome, made: Schema) -> None:
    """The whole contract of one outcome."""
    # every path spends exactly the grant, or what a paper spends of it
    book = outcome.ledger.book(outcome.published, outcome.sharing)
    for path in book["paths"]:
        for name, budget in outcome.ledger.budgets.items():
            spent = sum(path["spent"][name].values())
            assert spent == budget.units if outcome.plan.spends_all else spent <= budget.units
    assert outcome.plan.spends_all != (outcome.plan.schedule == "paper")
    for measurement in outcome.measurements:
        assert (measurement.units > 0).all()
        assert (np.diff(measurement.where) >= 0).all()
    if outcome.kind == "marginals":
        check_tables(outcome, made)
    else:
        check_regions(outcome, made, book)


def check_tables(outcome: Outcome, made: Schema) -> None:
    """Everybody paid for everything, and cells that cover each attribute were counted."""
    (path,) = outcome.ledger.book(outcome.published, outcome.sharing)["paths"]
    assert path["leaves"] == 1
    outcome.partition.check(made)
    tables = Tables.of(made, outcome.partition, outcome.measurements)
    counted = {column for one in tables.tables for column in one.columns}
    assert counted >= set(outcome.partition.counted)
    assert tables.tables


def check_regions(outcome: Outcome, made: Schema, book: Any) -> None:
    """Regions cover the domain, and each was counted and paid for."""
    assert sum(path["leaves"] for path in book["paths"]) == outcome.partition.cells
    # the regions cover the domain, each place once
    rng = np.random.default_rng(0)
    codes = np.stack([rng.integers(0, a.size, 50) for a in made.attributes], axis=1)
    regions = outcome.partition.locate(codes)
    lo, hi = outcome.partition.bounds(regions)
    assert ((codes >= lo) & (codes < hi)).all()
    # every region was counted, every class apart, and everything was paid for
    leaf = next(m for m in outcome.measurements if m.name in ("leaf", "count"))
    if leaf.name == "leaf" and leaf.threshold is None:
        assert leaf.where.tolist() == list(range(outcome.partition.cells))
        assert leaf.values.shape == (outcome.partition.cells, max(1, len(made.classes)))


def same(one: Outcome, other: Outcome) -> bool:
    book = [o.ledger.book(o.published, o.sharing) for o in (one, other)]
    return bool(
        one.partition == other.partition
        and one.measurements == other.measurements
        and book[0] == book[1]
    )


@pytest.mark.parametrize(
    ("name", "case"),
    in_turn(PUBLISHERS, itertools.product(SCHEMAS, [0, 1, 300]), times=6),
    ids=str,
)
def test_anything_can_be_published(name: str, case: tuple[str, int]) -> None:
    """On tables of every shape: of nobody, of one record and of a crowd."""
    shape, rows = case
    publisher, made = PUBLISHERS[name], SCHEMAS[shape]
    if not fitting(publisher, made):
        return
    for budget in ("pure", "zcdp"):
        outcome = run(publisher, table(made, rows), BUDGETS[budget])
        check(outcome, made)
        if shape == "nothing to split":
            assert outcome.partition.cells == 1
        else:
            assert outcome.partition.cells > 1


@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("name", PUBLISHERS)
def test_any_budget_is_spent_exactly(name: str, budget: str) -> None:
    made = SCHEMAS["mixed"]
    check(run(PUBLISHERS[name], table(made, 100), BUDGETS[budget]), made)


@pytest.mark.parametrize("name", PUBLISHERS)
def test_the_same_seed_gives_the_same_and_another_another(name: str) -> None:
    data = table(SCHEMAS["mixed"], 300)
    one = run(PUBLISHERS[name], data, BUDGETS["pure"])
    assert same(one, run(PUBLISHERS[name], data, BUDGETS["pure"]))
    assert not same(one, run(PUBLISHERS[name], data, BUDGETS["pure"], seed=2))


@pytest.mark.parametrize("budget", ["pure", "zcdp"])
@pytest.mark.parametrize("name", PUBLISHERS)
def test_batches_change_nothing(name: str, budget: str) -> None:
    """Noise is drawn in a fixed order, however the engine cuts its answers."""
    data = table(SCHEMAS["mixed"], 300)
    whole = run(PUBLISHERS[name], data, BUDGETS[budget])
    for batch in (1, 2000):
        assert same(whole, run(PUBLISHERS[name], data, BUDGETS[budget], batch=batch))


@pytest.mark.parametrize("name", PUBLISHERS)
def test_the_order_of_rows_changes_nothing(name: str) -> None:
    data = table(SCHEMAS["mixed"], 300)
    shuffled = Table(data.schema, np.ascontiguousarray(data.codes[::-1]))
    one, other = (run(PUBLISHERS[name], rows, BUDGETS["pure"]) for rows in (data, shuffled))
    assert same(one, other)


@pytest.mark.kernels
@pytest.mark.parametrize("name", PUBLISHERS)
def test_the_width_of_codes_changes_nothing(name: str) -> None:
    data = table(SCHEMAS["mixed"], 300)
    wide = Table(data.schema, data.codes.astype(np.uint32))
    assert same(
        run(PUBLISHERS[name], data, BUDGETS["pure"]), run(PUBLISHERS[name], wide, BUDGETS["pure"])
    )


@pytest.mark.parametrize("name", ["diffmulti", "diffmulti, paper", "diffgen", "diffgen, paper"])
def test_three_hundred_attributes(name: str) -> None:
    kinds = [MIXED["job"], MIXED["dose"], MIXED["age"]]
    made = schema({f"a{i}": kinds[i % 3] for i in range(300)})
    check(run(PUBLISHERS[name], table(made, 50), BUDGETS["pure"]), made)


@pytest.mark.parametrize("name", ["diffmulti", "diffmulti, paper", "diffgen", "diffgen, paper"])
def test_a_domain_of_ten_to_the_thirty(name: str) -> None:
    made = schema({f"a{i}": {"type": "numeric", "low": 0, "high": 999} for i in range(10)})
    check(run(PUBLISHERS[name], table(made, 200), BUDGETS["pure"]), made)


@pytest.mark.parametrize("name", PUBLISHERS)
def test_a_plan_needs_no_data_and_the_run_keeps_to_it(name: str) -> None:
    made = SCHEMAS["mixed"]
    plan = PUBLISHERS[name].plan(made, 1)
    outcome = run(PUBLISHERS[name], table(made, 300), BUDGETS["pure"])
    assert outcome.plan.budgets == plan.budgets
    assert outcome.plan.allowances[: len(plan.allowances)] == plan.allowances
    if plan.specializations is not None:
        assert outcome.plan.specializations == plan.specializations
    granted = {line.purpose: line for line in outcome.plan.allowances}
    for entry in outcome.ledger.book(outcome.published, outcome.sharing)["entries"]:
        fixed = granted[entry["purpose"]].at(entry["depth"])
        assert fixed is None or entry["units"] == fixed


ITEMS = Schema.from_dict(
    {"name": "baskets", "unit": "row", "items": {"universe": {"range": [1, 12]}, "fan_out": 3}}
)


def records(rows: int, seed: int = 1) -> list[list[int]]:
    rng = np.random.default_rng(seed)
    return [sorted(rng.choice(12, rng.integers(1, 6), replace=False).tolist()) for _ in range(rows)]


def others_run(
    publisher: Publisher, rows: int, budget: Budget, seed: int = 1, *, backwards: bool = False
) -> Outcome:
    step = -1 if backwards else 1
    engine: Any
    if isinstance(publisher, DiffPart):
        made, found = ITEMS, records(rows)[::step]
        start = np.cumsum([0, *(len(record) for record in found)])
        flat = np.array([item for record in found for item in record], np.int32)
        engine = MemoryItems(Transactions(made, start.astype(np.int64), flat))
    else:
        made = schema({"age": MIXED["age"], "job": MIXED["job"]})
        data = table(made, rows)
        engine = MemoryEngine(Table(made, np.ascontiguousarray(data.codes[::step])))
    plan = publisher.plan_for(made, budget)
    return publisher.run(engine, made, plan, SecureSampler(Keystream(seed=seed)))


def others_same(one: Any, other: Any) -> bool:
    book = [o.ledger.book(o.published, o.sharing) for o in (one, other)]
    if book[0] != book[1]:
        return False
    return all(
        np.array_equal(left, right) if isinstance(left, np.ndarray) else left == right
        for left, right in zip(one.parts.values(), other.parts.values(), strict=True)
    )


def test_every_method_keeps_the_contract() -> None:
    kept = {type(publisher) for publisher in (PUBLISHERS | OTHERS).values()}
    assert {load(method.settings) for method in OURS.values()} == kept


@pytest.mark.parametrize("rows", [0, 1, 400], ids=["empty", "one record", "crowd"])
@pytest.mark.parametrize("name", OTHERS)
def test_what_is_no_table_of_regions_can_be_published(name: str, rows: int) -> None:
    """Every path spends exactly the grant, by charges that the plan names."""
    outcome = others_run(OTHERS[name], rows, BUDGETS["zcdp"])
    book = outcome.ledger.book(outcome.published, outcome.sharing)
    for path in book["paths"]:
        for budget, granted in outcome.ledger.budgets.items():
            assert sum(path["spent"][budget].values()) == granted.units
    allowed = {line.purpose: line for line in outcome.plan.allowances}
    for entry in book["entries"]:
        fixed = allowed[entry["purpose"]].at(entry["depth"])
        assert fixed is None or entry["units"] == fixed


@pytest.mark.parametrize("name", OTHERS)
def test_there_too_seeds_decide_and_the_order_of_records_does_not(name: str) -> None:
    one = others_run(OTHERS[name], 400, BUDGETS["zcdp"])
    assert others_same(one, others_run(OTHERS[name], 400, BUDGETS["zcdp"]))
    assert others_same(one, others_run(OTHERS[name], 400, BUDGETS["zcdp"], backwards=True))
    assert not others_same(one, others_run(OTHERS[name], 400, BUDGETS["zcdp"], seed=2))
