"""What every method would spend on what, over many budgets and sizes: just what it was before.

Plans are public rules, made of constants that were tuned: which budget, how often and at what price
each thing is bought. For every method in several settings its plans are kept in
`golden_plans.json`, a line for each budget and number of rows. Whatever changes one changes what
releases are made of. If that is meant, write the file anew:
HEDGEROW_GOLDEN=write python -m pytest tests/contracts/test_golden_plans.py
"""

from __future__ import annotations

import json
import os
import zlib
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import hedgerow as hr
from hedgerow.methods.plan import RowsPlan
from hedgerow.methods.publisher import Publisher
from hedgerow.privacy.budget import Budget
from hedgerow.privacy.ledger import Allowance
from hedgerow.schema import Schema

GOLDEN = Path(__file__).with_name("golden_plans.json")
SHOWN = 4  # longer lists of units are told by their length, sum and checksum


def table(classes: int, numbers: int, words: int, **more: Any) -> Schema:
    attributes: dict[str, Any] = {}
    for place in range(numbers):
        attributes[f"n{place}"] = {"type": "numeric", "low": 0, "high": 7 * 9**place}
    for place in range(words):
        attributes[f"w{place}"] = {
            "type": "categorical",
            "taxonomy": {"L": ["a", "b"], "R": {"S": ["c", "d"], "T": [f"e{i}" for i in range(3)]}},
        }
    if classes:
        values = [f"c{i}" for i in range(classes)]
        attributes["ill"] = {"type": "categorical", "values": values, "role": "class"}
    return Schema.from_dict({"name": "s", "unit": "row", "attributes": attributes, **more})


def items(size: int, **more: int) -> Schema:
    told = {"universe": {"range": [1, size]}, **more}
    return Schema.from_dict({"name": "s", "unit": "row", "items": told})


SCHEMAS = {
    "narrow": table(2, 1, 1),
    "wide": table(3, 4, 8),
    "many classes": table(7, 3, 2),
    "no class": table(0, 3, 3),
    "no numbers": table(2, 0, 3),
    "named": table(2, 2, 2, tables=[["n0", "w0"], {"attributes": ["n1", "ill"], "weight": 3}]),
    "few items": items(9),
    "some items": items(60, fan_out=3),
    "many items": items(4000, fan_out=8),
}
METHODS: dict[str, Publisher] = {
    "marginals": hr.Marginals(),
    "marginals, pairs": hr.Marginals(pairs=7),
    "diffmulti": hr.DiffMulti(),
    "diffmulti, even": hr.DiffMulti(specializations=40, depth=6, distribution="even"),
    "diffmulti, paper": hr.DiffMulti(schedule="paper"),
    "diffgen": hr.DiffGen(),
    "diffgen, nine": hr.DiffGen(specializations=9),
    "diffgen, paper": hr.DiffGen(schedule="paper"),
    "cdiffgen": hr.CDiffGen(),
    "cdiffgen, paper": hr.CDiffGen(schedule="paper", specializations=7),
    "diffpart": hr.DiffPart(),
    "diffpart, core": hr.DiffPart(core=4, cap=3),
    "diffpart, tree": hr.DiffPart(variant="tree"),
    "diffpart, paper": hr.DiffPart(schedule="paper"),
    "supermodular": hr.Supermodular(),
    "supermodular, sampled": hr.Supermodular(mode="sampled", side_share=20),
}
SMALL, LARGE = Fraction(1, 10**9), Fraction(1, 10**5)
BUDGETS = {
    "weak": (Budget(Fraction(1, 20)), 5_000),
    "unknown": (Budget(Fraction(1)), None),
    "pure": (Budget(Fraction(1)), 20_000),
    "pure, few rows": (Budget(Fraction(1, 2)), 300),
    "strong": (Budget(Fraction(9)), 1_000_000),
    "delta": (Budget(Fraction(1), SMALL), 3_000),
    "delta, many rows": (Budget(Fraction(3, 10), LARGE), 100_000),
    "delta, unknown": (Budget(Fraction(2), SMALL), None),
    "person": (Budget(Fraction(2), Fraction(0), 4), 30_000),
    "person, delta": (Budget(Fraction(2), LARGE, 7), 8_000),
}
# their rules go by amounts, and by what a deviation of the noise is of the number of rows
MANY = {
    f"{epsilon} {delta} {rows}": (Budget(Fraction(epsilon), Fraction(delta)), rows)
    for epsilon in ("1/5", "1", "6")
    for delta in ("0", "1/1000000")
    for rows in (0, 40, 700, 2_000, 9_000, 50_000)
}


def told(line: Allowance, cost: str) -> str:
    """What is bought, for how many units, how often, how far it reaches, and at least for what."""
    units = line.units
    if units is None:
        price = f"{cost}, least {line.least}"
    elif len(units) <= SHOWN:
        price = "+".join(map(str, units))
    else:
        price = f"{len(units)} sum {sum(units)} checksum {zlib.crc32(repr(units).encode())}"
    return f"{line.purpose}: {line.budget} {price} x{line.uses} reach {line.reach}"


def plan_of(method: Publisher, schema: Schema, budget: Budget, rows: int | None) -> list[Any]:
    """The budgets, what is bought from them, and how far the plan goes."""
    if budget.delta and not method.spends_delta(schema):
        budget = Budget(budget.epsilon, Fraction(0), budget.rows)
    plan = method.plan_for(schema, budget, rows)
    parts = [f"{part.name} {part.units} of {part.unit}" for part in plan.budgets.parts]
    many, words = len(plan.allowances), plan.lines()
    bought = [
        told(line, cost) for line, (*_, cost) in zip(plan.allowances, words[:many], strict=True)
    ] + ["; ".join(more) for more in words[many:]]
    if isinstance(plan, RowsPlan):
        return [parts, bought, plan.rule]
    return [parts, bought, plan.specializations, plan.depth]


def plans() -> dict[str, Any]:
    found = {}
    for name, method in METHODS.items():
        for where, schema in SCHEMAS.items():
            if schema.kind == method.data:
                budgets = BUDGETS | (MANY if name == "marginals" else {})
                for amount, (budget, rows) in budgets.items():
                    if method.name == "supermodular" and not budget.delta:
                        continue
                    found[f"{name}; {where}; {amount}"] = plan_of(method, schema, budget, rows)
    return found


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    made: dict[str, Any] = json.loads(json.dumps(plans()))
    return made


def test_the_file_is_written_on_request_alone(found: dict[str, Any]) -> None:
    if os.environ.get("HEDGEROW_GOLDEN") == "write":
        lines = [f"{json.dumps(name)}: {json.dumps(plan)}" for name, plan in found.items()]
        GOLDEN.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    assert json.loads(GOLDEN.read_text(encoding="utf-8")).keys() == found.keys()


@pytest.mark.parametrize("method", METHODS)
def test_plans_are_what_they_were(method: str, found: dict[str, Any]) -> None:
    golden = json.loads(GOLDEN.read_text(encoding="utf-8"))
    for name, plan in golden.items():
        if name.startswith(f"{method};"):
            assert found[name] == plan, name
