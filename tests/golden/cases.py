"""Small seeded releases of every kind and method, and what they hold as plain JSON.

Each case has a folder of its name beside this file, which every later version must read and verify,
and its numbers in `values.json`. `write.py` writes both anew, on purpose.
"""

from __future__ import annotations

import json
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa

import hedgerow as hr

HERE = Path(__file__).parent
VALUES = HERE / "values.json"
SEED = 11

TABLE: dict[str, Any] = {
    "name": "clinic",
    "unit": "row",
    "attributes": {
        "age": {"type": "numeric", "low": 0, "high": 39, "step": 1},
        "job": {"type": "categorical", "taxonomy": {"L": ["a", "b"], "R": ["c", "d", "e"]}},
        "ill": {"type": "categorical", "values": ["no", "yes"], "role": "class"},
    },
}
PEOPLE: dict[str, Any] = {
    **TABLE,
    "unit": "person",
    "attributes": {"who": {"role": "person", "max_rows": 2}, **TABLE["attributes"]},
}
NAMED: dict[str, Any] = {
    **TABLE,
    "tables": [["age", "job"], {"attributes": ["age", "job", "ill"], "weight": 2}],
    "rules": ["age < 15 and job in L implies ill = no"],
}
PLAIN: dict[str, Any] = {
    **TABLE,
    "attributes": {name: TABLE["attributes"][name] for name in ("age", "job")},
}
ITEMS: dict[str, Any] = {
    "name": "shop",
    "unit": "row",
    "items": {"universe": {"range": [1, 8]}, "fan_out": 3},
}
QUERIES = ["age < 20", "job in L", "age in [3, 30] and ill = yes"]
SETS = [[], ["1"], ["1", "2"], ["7"]]

# name: the method, the schema, epsilon and delta
CASES: dict[str, tuple[Any, dict[str, Any], str, str]] = {
    "marginals-tuned-1": (hr.Marginals(), TABLE, "1", "0"),
    "marginals-tuned-1-delta": (hr.Marginals(), TABLE, "1", "1e-6"),
    "marginals-tuned-1-named": (hr.Marginals(pairs=1), NAMED, "8", "0"),
    "marginals-tuned-1-plain": (hr.Marginals(), PLAIN, "8", "1e-6"),
    "marginals-tuned-1-person": (hr.Marginals(), PEOPLE, "2", "0"),
    "diffmulti-tuned-1": (hr.DiffMulti(), TABLE, "1", "0"),
    "diffmulti-tuned-1-person": (hr.DiffMulti(), PEOPLE, "2", "0"),
    "diffmulti-paper-1": (hr.DiffMulti(schedule="paper", specializations=4), TABLE, "2", "0"),
    "diffmulti-paper-1-delta": (
        hr.DiffMulti(schedule="paper", specializations=4), TABLE, "2", "1e-6"),
    "diffgen-tuned-1": (hr.DiffGen(), TABLE, "1", "0"),
    "diffgen-tuned-1-delta": (hr.DiffGen(specializations=4), TABLE, "1", "1e-6"),
    "diffgen-tuned-1-sparse": (hr.DiffGen(specializations=6), TABLE, "8", "0"),
    "diffgen-paper-1": (hr.DiffGen(schedule="paper", specializations=4), TABLE, "2", "0"),
    "cdiffgen-tuned-1": (hr.CDiffGen(), TABLE, "1", "0"),
    "cdiffgen-paper-1": (hr.CDiffGen(schedule="paper", specializations=4), TABLE, "2", "0"),
    "diffpart-tuned-3": (hr.DiffPart(core=4), ITEMS, "1", "0"),
    "diffpart-tuned-3-delta": (hr.DiffPart(core=4, cap=8), ITEMS, "1", "0.009"),
    "diffpart-tuned-3-tree": (hr.DiffPart(variant="tree"), ITEMS, "2", "0"),
    "diffpart-paper-1": (hr.DiffPart(schedule="paper"), ITEMS, "8", "0"),
    "supermodular-tuned-1": (hr.Supermodular(risk=0.3), TABLE, "2", "1e-6"),
    "supermodular-tuned-1-sampled": (
        hr.Supermodular(risk=0.5, mode="sampled"), TABLE, "8", "1e-3"),
}  # fmt: skip


def rows_of(schema: dict[str, Any]) -> pa.Table:
    """Simulated records for a schema."""
    source = np.random.default_rng(5)
    count = 600
    if "items" in schema:
        law = 1 / np.arange(1, 9)
        sizes = np.minimum(source.geometric(0.4, count), 6)
        held = [
            sorted({str(code + 1) for code in source.choice(8, size, p=law / law.sum())})
            for size in sizes
        ]
        return pa.table({"items": held})
    age = np.minimum(source.geometric(0.08, count) - 1, 39)
    job = source.choice(5, count, p=[0.35, 0.3, 0.2, 0.1, 0.05])
    ill = ((age > 14) + (job == 2) + source.integers(0, 2, count)) * 2 // 3
    columns = {
        "age": age,
        "job": ["abcde"[code] for code in job],
        "ill": [("no", "yes")[min(code, 1)] for code in ill],
    }
    columns = {name: columns[name] for name in columns if name in schema["attributes"]}
    who = {"who": np.arange(count) * 2 // 3} if schema is PEOPLE else {}
    return pa.table({**columns, **who})


def publish(name: str) -> Any:
    """The seeded release of a case."""
    method, schema, epsilon, delta = CASES[name]
    with ExitStack() as small:
        if name.endswith("-sparse"):  # only a grid of very many cells is thresholded by itself
            small.enter_context(patch("hedgerow.methods.diffgen.DENSE_CELLS", 2))
            small.enter_context(patch("hedgerow.methods.diffgen.SPURIOUS", 3))
        return hr.publish(
            rows_of(schema),
            hr.Schema.from_dict(schema),
            method=method,
            epsilon=epsilon,
            delta=delta,
            seed=SEED,
        )


def values_of(release: Any) -> dict[str, Any]:
    """What a release holds and answers, in words that no class or file has to share."""
    asked = [one for one in QUERIES if release.schema.classes or "ill" not in one]
    answers = release.count(SETS if hasattr(release, "itemsets") else asked)
    asked = [np.round(column, 6) for column in (answers.estimate, answers.low, answers.high)]
    found: dict[str, Any] = {
        "answers": [[_plain(one) for one in column] for column in asked],
        "synthetic": release.synthesize(6, seed=1, kind="arrow").to_pydict(),
    }
    if hasattr(release, "partition"):
        found["regions"] = _arrays(release.partition)
        found["measurements"] = [_measured(one) for one in release.measurements]
    if hasattr(release, "counts"):
        found["counts"] = release.counts.tolist()
    if hasattr(release, "lo"):
        found["rows"] = [release.lo.tolist(), release.hi.tolist()]
        found["frontier"] = release.frontier
    if hasattr(release, "itemsets"):
        found["itemsets"] = release.itemsets("arrow").to_pydict()
    return json.loads(json.dumps(found))  # type: ignore[no-any-return]


def _measured(one: Any) -> list[Any]:
    klass = None if one.klass is None else one.klass.tolist()
    return [
        one.name, one.at, one.where.tolist(), one.values.tolist(), one.by_class,
        one.units.tolist(), str(one.unit), one.threshold, klass, one.max_contribution,
        *([list(map(list, one.tables))] if one.tables else []),
    ]  # fmt: skip


def _arrays(partition: Any) -> dict[str, Any]:
    names = partition.__dataclass_fields__
    return {
        name: [edges.tolist() for edges in value] if isinstance(value, tuple) else _listed(value)
        for name in names
        if (value := getattr(partition, name)) is not None
    }


def _listed(value: Any) -> Any:
    return value if isinstance(value, int) else value.tolist()


def _plain(number: float) -> float | str:
    return float(number) if np.isfinite(number) else str(number)
