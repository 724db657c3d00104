"""An engine seen through cells counts what lies in them, and splits between them."""

from __future__ import annotations

from typing import Any

import numpy as np

from hedgerow.counting.engine import Split
from hedgerow.counting.memory import MemoryEngine
from hedgerow.measured.edges import edges_of
from hedgerow.measured.partition import TreePartition
from hedgerow.publish.steps.coarse import CoarseEngine
from hedgerow.schema import Schema
from hedgerow.table import Table

SCHEMA = Schema.from_dict(
    {
        "name": "s",
        "unit": "row",
        "attributes": {
            "n": {"type": "numeric", "low": 0, "high": 79, "step": 1},
            "c": {"type": "categorical", "values": ["x", "y", "z"]},
            "k": {"type": "boolean", "role": "class"},
        },
    }
)


def _opened(sealed: Any) -> Any:
    return sealed._Sealed__content


def test_cells_are_counted_and_split() -> None:
    rng = np.random.default_rng(1)
    codes = np.stack([rng.integers(0, size, 400) for size in (80, 3, 2)], axis=1)
    engine = CoarseEngine(MemoryEngine(Table(SCHEMA, codes.astype(np.uint16))), SCHEMA)
    edges = edges_of(SCHEMA.attributes[0])
    assert engine.domain.sizes.tolist() == [len(edges) - 1, 3]
    lo, hi = np.zeros((1, 2), np.int32), engine.domain.sizes[None, :]
    every = np.ones((1, 2), np.bool_)
    ((_, found),) = engine.histograms(np.array([0]), lo, hi, every)
    held = _opened(found)
    cell = np.searchsorted(edges, codes[:, 0], side="right") - 1
    expected = np.zeros((len(edges) - 1, 2), np.int64)
    np.add.at(expected, (cell, codes[:, 2]), 1)
    numbers = held.code[: held.start[1]]
    assert numbers.tolist() == np.flatnonzero(expected.any(axis=1)).tolist()
    assert held.counts[: held.start[1]].tolist() == expected[numbers].tolist()
    values = np.bincount(codes[:, 1] * 2 + codes[:, 2], minlength=6).reshape(3, 2)
    assert held.counts[held.start[1] : held.start[2]].tolist() == values.tolist()
    engine.split(
        Split(
            nodes=np.array([0]),
            attribute=np.array([0]),
            edge_start=np.array([0, 1]),
            edges=np.array([5], np.int32),
            first_child=1,
            final=True,
        )
    )
    below = _opened(engine.class_counts(np.array([1, 2]))).sum(axis=1)
    assert below.tolist() == [(cell < 5).sum(), (cell >= 5).sum()]
    tree = TreePartition(
        parent=np.array([-1, 0, 0], np.int32), depth=np.array([0, 1, 1], np.int16),
        split=np.array([0, -1, -1], np.int16), lo=np.array([[0, 0], [0, 0], [5, 0]], np.int32),
        hi=np.array([[17, 3], [5, 3], [17, 3]], np.int32),
    )  # fmt: skip
    whole = engine.in_codes(tree)
    assert whole.hi[:, 0].tolist() == [80, edges[5], 80] and whole.lo[2, 0] == edges[5]
    whole.check((80, 3))
