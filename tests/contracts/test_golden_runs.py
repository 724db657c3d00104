"""What every method asks of sampler, and at what price: just what it asked before.

For each method a seeded run on a small table is kept in `golden_runs.json`: its plan, and every
draw with its purpose, its rates, what it looked at and what came out. Whatever changes any of it
changes what is spent on what, or what releases are made of. If that is meant, write the file anew:
HEDGEROW_GOLDEN=write python -m pytest tests/contracts/test_golden_runs.py
"""

from __future__ import annotations

import dataclasses
import json
import os
import zlib
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest

import hedgerow as hr
from hedgerow.data import Table, Transactions
from hedgerow.methods import clusters
from hedgerow.methods.api import run
from hedgerow.methods.publisher import Publisher
from hedgerow.privacy.budget import Budget
from hedgerow.privacy.keystream import Keystream
from hedgerow.privacy.sampler import Rates, SecureSampler
from hedgerow.schema import Schema

pytestmark = pytest.mark.kernels

GOLDEN = Path(__file__).with_name("golden_runs.json")
SHOWN = 6  # longer arrays are told by their shape, sum and checksum

TABLE = Schema.from_dict(
    {
        "name": "small",
        "unit": "row",
        "attributes": {
            "age": {"type": "numeric", "low": 0, "high": 39, "step": 1},
            "job": {"type": "categorical", "taxonomy": {"L": ["a", "b"], "R": ["c", "d", "e"]}},
            "dose": {"type": "numeric", "low": 0, "high": 3, "step": 1},
            "ill": {"type": "categorical", "values": ["no", "yes", "maybe"], "role": "class"},
        },
    }
)
ITEMS = Schema.from_dict(
    {"name": "small", "unit": "row", "items": {"universe": {"range": [1, 20]}, "fan_out": 3}}
)
PURE, DELTA = Budget(Fraction(1)), Budget(Fraction(1), Fraction(1, 10**6))
PERSON = Budget(Fraction(2), Fraction(1, 10**6), 3)
STRONG_DELTA = Budget(Fraction(20), Fraction(1, 10**6))
WEAK, STRONG = Budget(Fraction(1, 10)), Budget(Fraction(20))
RUNS: dict[str, tuple[Publisher, Budget, int]] = {
    "marginals": (hr.Marginals(), PURE, 3000),
    "marginals, delta": (hr.Marginals(), DELTA, 3000),
    "marginals, weak": (hr.Marginals(), WEAK, 300),
    "marginals, person": (hr.Marginals(), PERSON, 3000),
    "marginals, pairs": (hr.Marginals(pairs=2), STRONG, 500),
    "diffmulti": (hr.DiffMulti(), PURE, 3000),
    "diffmulti, strong": (hr.DiffMulti(), STRONG, 2000),
    "diffmulti, weak": (hr.DiffMulti(), WEAK, 300),
    "diffmulti, person": (hr.DiffMulti(specializations=9), PERSON, 500),
    "diffmulti, even": (
        hr.DiffMulti(specializations=20, depth=5, distribution="even"), PURE, 500),
    "diffmulti, paper": (hr.DiffMulti(schedule="paper", specializations=30), STRONG, 500),
    "diffmulti, paper, delta": (hr.DiffMulti(schedule="paper", depth=4), DELTA, 500),
    "diffmulti, paper, even": (
        hr.DiffMulti(schedule="paper", depth=3, distribution="even"), PURE, 500),
    "diffmulti, ncp": (hr.DiffMulti(score="ncp", specializations=15), STRONG, 500),
    "diffmulti, gini": (
        hr.DiffMulti(score="gini", specializations=15), STRONG, 500),
    "diffmulti, discernibility": (
        hr.DiffMulti(score="discernibility", specializations=15), STRONG, 500),
    "diffgen": (hr.DiffGen(), PURE, 3000),
    "diffgen, delta": (hr.DiffGen(specializations=6), DELTA, 500),
    "diffgen, infogain": (hr.DiffGen(score="infogain", specializations=5), STRONG, 500),
    "diffgen, gini": (hr.DiffGen(score="gini", specializations=5), STRONG, 500),
    "diffgen, paper": (hr.DiffGen(schedule="paper", specializations=6), STRONG, 500),
    "diffgen, few cells": (hr.DiffGen(specializations=9, max_cells=6), STRONG, 500),
    "cdiffgen": (hr.CDiffGen(), PURE, 3000),
    "cdiffgen, delta": (hr.CDiffGen(specializations=6), DELTA, 500),
    "cdiffgen, paper": (hr.CDiffGen(schedule="paper", specializations=6), STRONG, 500),
    "diffgen, listed": (hr.DiffGen(specializations=6), STRONG, 500),
    "diffgen, listed, delta": (hr.DiffGen(specializations=6), DELTA, 500),
    "diffpart": (hr.DiffPart(), PURE, 1500),
    "diffpart, strong": (hr.DiffPart(), STRONG, 5000),
    "diffpart, cap": (hr.DiffPart(cap=2, core=3), PURE, 500),
    "diffpart, tree": (hr.DiffPart(variant="tree"), STRONG, 1500),
    "diffpart, paper": (hr.DiffPart(schedule="paper", c1=2, c2=4), STRONG, 1000),
    "supermodular": (hr.Supermodular(risk=0.3), DELTA, 800),
    "supermodular, sampled": (hr.Supermodular(risk=0.3, mode="sampled"), DELTA, 800),
    "supermodular, person": (hr.Supermodular(risk=0.3, side_share=20), PERSON, 800),
    "supermodular, public": (hr.Supermodular(risk=0.2, side="rows"), DELTA, 800),
    "supermodular, drawn": (
        hr.Supermodular(model="aggregate", trade=0.0001, kappa=2, sharpness=0.1, rule="harmonic"),
        DELTA, 400),
    "supermodular, drawn within a risk": (
        hr.Supermodular(risk=0.5, sharpness=0.5, mode="sampled", keep="1/2"), STRONG_DELTA, 400),
}  # fmt: skip


def table(rows: int) -> Table:
    """Rows in which the class follows age and job, so that scores differ."""
    source = np.random.default_rng(5)
    age = np.minimum(source.geometric(0.08, rows) - 1, 39)
    job = source.choice(5, rows, p=[0.35, 0.3, 0.2, 0.1, 0.05])
    dose = np.minimum(source.poisson(0.4 + (job > 1), rows), 3)
    ill = ((age > 14) + (job == 2) + source.integers(0, 2, rows)) * 2 // 3
    codes = np.stack([age, job, dose, np.minimum(ill, 2)], axis=1)
    return Table(TABLE, np.ascontiguousarray(codes.astype(np.uint16)))


def transactions(rows: int) -> Transactions:
    source = np.random.default_rng(6)
    law = 1 / np.arange(1, 21)
    records = [
        np.unique(source.choice(20, size, p=law / law.sum()))
        for size in np.minimum(source.geometric(0.3, rows), 12)
    ]
    start = np.concatenate([[0], np.cumsum([len(record) for record in records])])
    return Transactions(ITEMS, start.astype(np.int64), np.concatenate(records).astype(np.int32))


def told(value: Any) -> Any:
    """A value as JSON can hold it."""
    if isinstance(value, Rates):
        which = [str(value.values[i]) for i in sorted(set(value.which.tolist()))]
        return {"purpose": value.purpose, "rates": which, "each": told(value.which)}
    if isinstance(value, np.ndarray):
        if value.size <= SHOWN:
            return value.tolist()
        whole = np.ascontiguousarray(value.astype(np.int64))
        return f"{whole.shape}, sum {whole.sum()}, checksum {zlib.crc32(whole.tobytes())}"
    if hasattr(value, "__dataclass_fields__"):
        return {name: told(getattr(value, name)) for name in value.__dataclass_fields__}
    if isinstance(value, tuple | list):
        return [told(part) for part in value]
    return str(value) if isinstance(value, Fraction) else value


class Telling:
    """Draws, and tells of every draw what was asked and what came out."""

    def __init__(self, inner: SecureSampler) -> None:
        self._inner = inner
        self.lines: list[Any] = []

    def __getattr__(self, name: str) -> Any:
        draw = getattr(self._inner, name)

        def tell(*given: Any) -> Any:
            drawn = draw(*given)
            if name == "listed":
                cells, counts, rule = given
                number = [rule.number] if rule.number else []
                line = (cells, counts, *number, rule.rate, rule.threshold, rule.purpose)
                shown = drawn[0] if rule.law == "mark" else drawn
                self.lines.append([rule.law, *map(told, line), told(shown)])
            elif name != "words":
                self.lines.append([name, *map(told, given), told(drawn)])
            return drawn

        return tell


def run_of(name: str) -> Any:
    method, budget, rows = RUNS[name]
    if isinstance(method, hr.Supermodular) and method.side:
        method = dataclasses.replace(method, side=public_rows())
    data = transactions(rows) if isinstance(method, hr.DiffPart) else table(rows)
    telling = Telling(SecureSampler(Keystream(seed=3)))
    outcome: Any = run(data, method, budget, telling)  # type: ignore[arg-type]
    book = outcome.ledger.book(outcome.published, outcome.sharing)
    # of generalized rows two ends, and counts
    *regions, drawn = (part for name, part in outcome.parts.items() if name != "frontier")
    return {
        "plan": outcome.plan.to_dict(),
        "draws": telling.lines,
        "book": book,
        "regions": told(regions if len(regions) > 1 else regions[0]),
        "found": told(drawn if isinstance(drawn, tuple) else (drawn,)),
    }


def public_rows() -> Any:
    age, job, dose, ill = table(300).codes.T.tolist()
    return pa.table(
        {
            "age": age,
            "job": ["abcde"[code] for code in job],
            "dose": dose,
            "ill": [("no", "yes", "maybe")[code] for code in ill],
        }
    )


def run_of_clusters() -> Any:
    telling = Telling(SecureSampler(Keystream(seed=3)))
    found = clusters.run(table(600), 3, 4, STRONG, telling)  # type: ignore[arg-type]
    points = np.rint(found.points * 10**6).astype(np.int64)
    return {"draws": telling.lines, "book": found.ledger, "points": told(points)}


def make(name: str) -> Any:
    if "listed" not in name:
        return run_of(name)
    with (
        patch("hedgerow.methods.diffgen.DENSE_CELLS", 2),
        patch("hedgerow.methods.diffgen.SPURIOUS", 3),
    ):
        return run_of(name)


MAKERS = {name: partial(make, name) for name in RUNS} | {"clusters": run_of_clusters}


def written(runs: dict[str, Any]) -> str:
    """JSON with a line for each draw, so that two versions can be compared."""
    texts = []
    for name, parts in runs.items():
        lines = [
            f"  {json.dumps(part)}: [\n   " + ",\n   ".join(map(json.dumps, content)) + "\n  ]"
            if isinstance(content, list)
            else f"  {json.dumps(part)}: {json.dumps(content)}"
            for part, content in parts.items()
        ]
        texts.append(f" {json.dumps(name)}: {{\n" + ",\n".join(lines) + "\n }")
    return "{\n" + ",\n".join(texts) + "\n}\n"


@pytest.fixture(scope="module")
def golden() -> Any:
    return json.loads(GOLDEN.read_text(encoding="utf-8"))


def test_the_file_is_written_on_request_alone() -> None:
    if os.environ.get("HEDGEROW_GOLDEN") == "write":
        GOLDEN.write_text(written({n: maker() for n, maker in MAKERS.items()}), encoding="utf-8")
    assert set(json.loads(GOLDEN.read_text(encoding="utf-8"))) == set(MAKERS)


@pytest.mark.parametrize("name", MAKERS)
def test_a_run_asks_what_it_asked(name: str, golden: Any) -> None:
    found = json.loads(json.dumps(MAKERS[name]()))
    for part, expected in golden[name].items():
        assert found[part] == expected, f"{name}: {part}"
