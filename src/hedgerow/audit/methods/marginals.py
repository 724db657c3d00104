"""Marginals under attack."""

from __future__ import annotations

from typing import Any

import numpy as np

from hedgerow.audit import distinguish as trials
from hedgerow.audit.audited import Audited, Experiment, plain
from hedgerow.audit.distinguish import Trial
from hedgerow.audit.neighbors import TINY_TABLES, Pair, pair_of
from hedgerow.audit.records import Pick
from hedgerow.methods.api import run
from hedgerow.methods.marginals import Marginals
from hedgerow.methods.publisher import Outcome, Publisher
from hedgerow.privacy.budget import Budget
from hedgerow.schema import Schema

_CLASSES = (0, 2, 6)  # none, few, and so many that attributes are counted alone, too


def related_schema(pick: Pick) -> Schema:
    """Two to four attributes, with or without a class, and tables that the schema names."""
    attributes: dict[str, Any] = {}
    for name in "abcd"[: pick(2, 4)]:
        if pick(0, 1):
            attributes[name] = {"type": "numeric", "low": 0, "high": pick(1, 60), "step": 1}
        else:
            values = [f"{name}{number}" for number in range(pick(2, 4))]
            attributes[name] = {"type": "categorical", "values": values}
    if classes := _CLASSES[pick(0, 2)]:
        values = [f"c{number}" for number in range(classes)]
        attributes["c0"] = {"type": "categorical", "values": values, "role": "class"}
    last = [*attributes][-1]
    tables = [["a", "b"], {"attributes": [last, "a"], "weight": 3}][: pick(0, 1 + (last != "b"))]
    document = {"name": "related", "unit": "row", "attributes": attributes, "tables": tables}
    return Schema.from_dict(document)


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


def tables_of(outcome: Outcome) -> dict[str, int]:
    """How many tables, numbers or choices each purpose was for."""
    found = {
        m.name: m.max_contribution if m.name == "fine" else len(m.tables)
        for m in outcome.measurements
    }
    charges = [n for (name, _, _), n in outcome.ledger._entries.items() if name == "relate"]
    return found | ({"relate": sum(charges)} if charges else {})


def _booleans(*names: str) -> Schema:
    """As few cells as can be: every cell of a table is a draw."""
    columns = {name: {"type": "boolean"} for name in names}
    return Schema.from_dict({"name": "few", "unit": "row", "attributes": columns})


def _metadata(method: Publisher, budget: Budget) -> Trial:
    return trials.metadata(lambda table, sampler: run(table, method, budget, sampler))


AUDITED = (
    Audited(
        name="marginals",
        modes=(Marginals(), Marginals(pairs=2), Marginals(pairs=9)),
        tiny=(Marginals(), Marginals(pairs=1)),
        experiments=(
            Experiment(Marginals(), plain(trials.empty_row)),
            Experiment(Marginals(), plain(trials.bounds_from_data)),
            Experiment(Marginals(), plain(trials.classes_from_data)),
            Experiment(Marginals(), plain(trials.float_support)),
            Experiment(Marginals(pairs=1), _metadata),
        ),
        schemas=related_schema,
        tiny_schemas={
            "2 values": _booleans("a"),
            "a 2x2 grid": _booleans("a", "b"),
            "2 values and a class": TINY_TABLES["2 values and a class"],
        },
    ),
)
