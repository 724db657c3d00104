"""Data on which all steps of Marginals are taken, the last ones too."""

from __future__ import annotations

from typing import Any

import numpy as np

from hedgerow.audit.neighbors import Pair, pair_of
from hedgerow.methods.publisher import Outcome
from hedgerow.schema import Schema

ATTRIBUTES = 18  # from 17 on there may be eight rounds after the first


def late_schema(classes: int, tables: int = 2) -> Schema:
    """Attributes of many values, and of few."""
    attributes: dict[str, Any] = {
        "age": {"type": "numeric", "low": 0, "high": 199, "step": 1},
        "pay": {"type": "numeric", "low": 0, "high": 99, "step": 1},
        "job": {"type": "categorical", "values": list("pqrst")},
        "home": {"type": "categorical", "values": list("uvwx")},
    }
    if classes:
        values = [f"c{number}" for number in range(classes)]
        attributes["kind"] = {"type": "categorical", "values": values, "role": "class"}
    named = [["job", "home"], {"attributes": ["pay", "home"], "weight": 2}][:tables]
    return Schema.from_dict(
        {"name": "late", "unit": "row", "attributes": attributes, "tables": named}
    )


def late_pair(classes: int, tables: int = 2, rows: int = 4000) -> Pair:
    """Neighbors of so many records that the last steps are taken: their attributes go together."""
    rng = np.random.default_rng(classes)
    age = np.minimum(199, rng.exponential(25, rows).astype(np.int64))
    pay = np.minimum(99, age // 2 + rng.integers(0, 4, rows))
    job = np.minimum(4, age // 20)
    columns = [age, pay, job, (job * 3 + (rng.random(rows) < 0.1)) % 4]
    columns.append((age // 30) % max(1, classes))
    codes = np.stack(columns, axis=1).tolist()
    extra = (199, 0, 0, 3, max(0, classes - 1))
    return pair_of("many records", late_schema(classes, tables), [*map(tuple, codes)], extra)


def pair_of_rounds(rows: int = 4000) -> Pair:
    """Neighbors of attributes that all go together, so that pairs are chosen in all rounds."""
    rng = np.random.default_rng(5)
    likely = rng.random((6, ATTRIBUTES))  # of "true", in each of six kinds of people
    codes = (rng.random((rows, ATTRIBUTES)) < likely[rng.integers(0, 6, rows)]).astype(int)
    attributes = {f"a{number}": {"type": "boolean"} for number in range(ATTRIBUTES)}
    schema = Schema.from_dict({"name": "rounds", "unit": "row", "attributes": attributes})
    extra = (*(number % 2 for number in range(ATTRIBUTES)), 0)
    return pair_of("rounds", schema, [(*map(int, row), 0) for row in codes], extra)


def tables_of(outcome: Outcome) -> dict[str, int]:
    """How many tables, numbers or choices each purpose was for."""
    found = {
        m.name: m.max_contribution if m.name == "fine" else len(m.tables)
        for m in outcome.measurements
    }
    charges = [n for (name, _, _), n in outcome.ledger._entries.items() if name == "relate"]
    return found | ({"relate": sum(charges)} if charges else {})
