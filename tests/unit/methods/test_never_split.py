"""Attributes that regions are not divided by, and constants, which cost nothing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import hedgerow
from hedgerow.counting.engine import Domain
from hedgerow.errors import SchemaError
from hedgerow.schema import Schema
from hedgerow.verification.regions import _specialized_nodes, _Steps
from hedgerow.verification.rules import Failed

ROWS = 600


def schema(never: bool = True, constants: bool = True) -> Schema:
    split = {"split": "never"} if never else {}
    one = {"type": "categorical", "values": ["x"]}
    columns: dict[str, Any] = {
        "age": {"type": "numeric", "low": 0, "high": 99},
        "same": one,
        "drug": {"type": "categorical", "values": ["no", "up", "down"], **split},
        "dose": {"type": "numeric", "low": 0, "high": 9, **split},
        "flat": {"type": "numeric", "low": 3, "high": 4, "step": 5},
        "ill": {"type": "boolean", "role": "class"},
    }
    if not constants:
        del columns["same"], columns["flat"]
    return Schema.from_dict({"name": "x", "unit": "row", "attributes": columns})


def table() -> pa.Table:
    return pa.table({
        "age": [i % 100 for i in range(ROWS)], "same": ["x"] * ROWS,
        "drug": [("no", "up", "down")[i % 3] for i in range(ROWS)],
        "dose": [i % 10 for i in range(ROWS)], "flat": [3] * ROWS,
        "ill": [i % 10 < 4 for i in range(ROWS)],
    })  # fmt: skip


def publish(method: Any, **more: Any) -> Any:
    known = schema(**more)
    data = table().select([one.name for one in known.columns])
    return hedgerow.publish(data, known, method, epsilon=20)


METHODS = [
    hedgerow.DiffMulti(),
    hedgerow.DiffMulti(schedule="paper", specializations=20, depth=6),
    hedgerow.DiffGen(specializations=8),
    hedgerow.DiffGen(schedule="paper", specializations=4),
]


@pytest.mark.parametrize("method", METHODS)
def test_regions_are_not_divided_by_it_and_verify_agrees(method: Any, tmp_path: Path) -> None:
    release = publish(method)
    partition, names = release.partition, [one.name for one in release.schema.attributes]
    divided = {names[place] for place in partition.divided}
    assert divided <= {"age"}
    release.save(tmp_path / "release")
    assert hedgerow.verify(tmp_path / "release").ok
    assert set(release.synthesize().to_pydict()["same"]) == {"x"}


def test_no_part_of_it_is_a_candidate() -> None:
    domain = Domain.of(schema())
    whole = domain.sizes[None, :]
    found = domain.splittable(np.zeros_like(whole), whole, domain.root[None, :])
    assert found.tolist() == [[True, False, False, False, False]]


def test_verify_refuses_regions_that_are_divided_by_it() -> None:
    grown = publish(hedgerow.DiffGen(specializations=8), never=False)
    assert {2, 3} & grown.partition.divided
    with pytest.raises(Failed, match="never split"):
        _Steps.of(grown.partition, schema())
    tree = publish(hedgerow.DiffMulti(specializations=30), never=False)
    if {2, 3} & tree.partition.divided:
        with pytest.raises(Failed, match="never split"):
            _specialized_nodes(replace(tree, schema=schema()), tree.partition, {})


def test_the_class_cannot_be_kept_from_splitting() -> None:
    document = {"name": "x", "unit": "row", "attributes": {
        "age": {"type": "numeric", "low": 0, "high": 9},
        "ill": {"type": "boolean", "role": "class", "split": "never"}}}  # fmt: skip
    with pytest.raises(SchemaError, match="never divided by the class"):
        Schema.from_dict(document)


def test_the_key_is_part_of_the_schema() -> None:
    one = schema()
    assert Schema.from_dict(one.to_dict()) == one and "split: never" in one.to_yaml()
    assert "split" not in str(schema(never=False).to_dict())
    assert one.hash != schema(never=False).hash
