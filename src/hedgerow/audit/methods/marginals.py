"""Marginals under attack."""

from __future__ import annotations

from typing import Any

from hedgerow.audit import distinguish as trials
from hedgerow.audit.audited import Audited, Experiment, plain
from hedgerow.audit.distinguish import Trial
from hedgerow.audit.neighbours import TINY_TABLES
from hedgerow.audit.records import Pick
from hedgerow.privacy.budget import Budget
from hedgerow.publish.api import run
from hedgerow.publish.marginals import Marginals
from hedgerow.publish.publisher import Publisher
from hedgerow.schema import Schema

__all__ = ["AUDITED", "related_schema"]

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
