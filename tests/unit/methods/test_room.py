"""What is set aside for a release holds it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import hedgerow
from hedgerow.methods.api import LEAST, MOST, most_bytes, room_for
from hedgerow.schema import Schema

WIDE = Schema.from_dict(
    {
        "name": "wide",
        "unit": "row",
        "attributes": {
            **{f"n{place}": {"type": "numeric", "low": 0, "high": 9999} for place in range(3)},
            "job": {"type": "categorical", "values": [f'"{n}", ' * 9 + str(n) for n in range(40)]},
            "ill": {"type": "categorical", "values": list("abcde"), "role": "class"},
        },
    }
)


def rows() -> pa.Table:
    source = np.random.default_rng(1)
    job = WIDE.attributes[3].taxonomy.leaves  # type: ignore[union-attr]
    return pa.table(
        {f"n{place}": source.integers(0, 10_000, 2000) for place in range(3)}
        | {"job": source.choice(job, 2000), "ill": source.choice(list("abcde"), 2000)}
    )


@pytest.mark.slow
@pytest.mark.parametrize("delta", [0, "1e-6"])
@pytest.mark.parametrize(
    "method",
    [
        hedgerow.DiffMulti(specializations=3000, depth=60),
        hedgerow.DiffMulti(schedule="paper", specializations=200),
        hedgerow.DiffGen(specializations=9),
        hedgerow.CDiffGen(specializations=9),
    ],
    ids=["diffmulti", "diffmulti paper", "diffgen", "cdiffgen"],
)
def test_a_release_is_never_larger_than_its_bound(tmp_path: Path, method: Any, delta: Any) -> None:
    plan = method.plan(WIDE, 10, delta)
    bound = most_bytes(method, WIDE, plan)
    release = hedgerow.publish(
        rows(), WIDE, method, epsilon=10, delta=delta, seed=1, out=tmp_path / "r"
    )
    assert release.partition.cells > 100  # type: ignore[union-attr]
    size = sum(path.stat().st_size for path in (tmp_path / "r").rglob("*"))
    fixed = 1 << 22  # most of a small release's bound; what grows must be bounded too
    assert bound is not None and size <= bound - fixed
    assert room_for(method, WIDE, plan) == min(bound, MOST)


@pytest.mark.parametrize(
    "method",
    [
        hedgerow.DiffMulti(),
        hedgerow.DiffGen(),
    ],
)
def test_where_a_plan_says_nothing_a_stated_minimum_is_set_aside(method: Any) -> None:
    plan = method.plan(WIDE, 1)
    assert most_bytes(method, WIDE, plan) is None and room_for(method, WIDE, plan) == LEAST
