"""Attributes that cannot matter by public knowledge cost no split."""

from __future__ import annotations

import pyarrow as pa

import hedgerow
from hedgerow import DiffMulti, Schema
from hedgerow.counting.engine import Domain
from hedgerow.estimate.partition import TreePartition
from hedgerow.methods.diffgen import Cuts
from hedgerow.release import TableRelease
from hedgerow.schema import Categorical

SCHEMA = Schema.from_dict(
    {
        "name": "t",
        "unit": "row",
        "attributes": {
            "constant": {"type": "categorical", "values": ["x"]},
            "coarse": {"type": "numeric", "low": 0, "high": 5, "step": 10},
            "top": {"type": "categorical", "taxonomy": {"One": {"A": ["a", "b"], "B": ["c", "d"]}}},
        },
    }
)


def test_a_single_group_at_the_top_is_no_level_of_its_own() -> None:
    top = SCHEMA.attributes[2]
    assert isinstance(top, Categorical)
    assert (top.taxonomy.height, len(top.taxonomy.children[0])) == (2, 2)


def test_diffmulti_never_splits_a_constant() -> None:
    rows = pa.table(
        {"constant": ["x"] * 400, "coarse": [1] * 400, "top": ["a", "b", "c", "d"] * 100}
    )
    method = DiffMulti(score="ncp")
    release = hedgerow.publish(rows, SCHEMA, method, epsilon=50)
    assert isinstance(release, TableRelease)
    assert isinstance(release.partition, TreePartition)
    assert set(release.partition.split.tolist()) <= {-1, 2}


def test_diffgen_never_specializes_a_constant() -> None:
    assert Cuts(Domain.of(SCHEMA), 100).open_values().tolist() == [False, False, True]
