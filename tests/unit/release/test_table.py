from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from hedgerow.errors import UsageError
from hedgerow.estimate.partition import GridPartition

ROWS = {
    "age": [18, 50, 50, 17, None, 400],
    "job": ["Lawyer", "Lawyer", "Dancer", "=Writer", "Dancer", "Lawyer"],
    "born": ["2000-02-03"] * 6,
    "size": [0.5] * 6,
    "well": [True, False, True, False, True, True],
}
REGIONS = [0, 1, 2, 0, 2, None]


def test_arrow_rows_are_assigned_in_their_order(tree_release):
    found = tree_release.assign(pa.table(ROWS))
    assert isinstance(found, pa.Table)
    assert found.to_pydict() == {"region": REGIONS}
    assert found["region"].type == pa.int64()


def test_polars_rows_give_a_polars_frame(tree_release):
    found = tree_release.assign(pl.DataFrame(ROWS))
    assert isinstance(found, pl.DataFrame)
    assert found["region"].to_list() == REGIONS


def test_pandas_rows_keep_their_index(tree_release):
    rows = pd.DataFrame(ROWS, index=list("fedcba"))
    found = tree_release.assign(rows)
    assert list(found.index) == list("fedcba")
    assert found["region"].dtype == "Int64"
    assert [None if pd.isna(value) else value for value in found["region"]] == REGIONS
    whole = tree_release.assign(rows.iloc[:4])
    assert whole["region"].dtype == "int64"


def test_large_region_numbers_survive_pandas_with_gaps():
    from fractions import Fraction

    from hedgerow.estimate.measurements import Measurement
    from hedgerow.release import TableRelease
    from hedgerow.schema import Numeric, Schema

    names = [f"a{k}" for k in range(30)]
    ends: Any = {"low": Fraction(0), "high": Fraction(3), "step": Fraction(1), "kind": "integer"}
    schema = Schema("wide", tuple(Numeric(name, **ends) for name in names), unit="row")
    grid = GridPartition(tuple(np.arange(5, dtype=np.int32) for _ in names))
    none = np.empty(0, np.int64)
    leaf = Measurement(
        name="leaf",
        at="region",
        where=none,
        values=none.reshape(0, 1),
        by_class=False,
        units=none,
        unit=Fraction(1),
        threshold=9,
    )
    release = TableRelease(
        schema=schema,
        method="diffgen",
        settings={},
        guarantee={},
        ledger={},
        partition=grid,
        measurements=(leaf,),
    )
    found = release.assign(pd.DataFrame({name: [3, 9] for name in names}))
    assert found["region"][0] == 4**30 - 1
    assert pd.isna(found["region"][1])


def test_prediction_is_the_majority_of_the_region(tree_release):
    found = tree_release.predict(pa.table(ROWS))
    assert found.to_pydict() == {"pay": ["low", "low", "high", "low", "high", None]}
    frame = tree_release.predict(pd.DataFrame(ROWS))
    assert list(frame["pay"][:3]) == ["low", "low", "high"]


def test_unlisted_regions_get_the_overall_majority(sparse_release):
    found = sparse_release.predict(pa.table(ROWS))["pay"].to_pylist()
    # regions 0, 2, 3, 1, 3: listed are 0 (low) and 2 (high); high leads overall
    assert found == ["low", "high", "high", "high", "high", None]


def test_nothing_to_predict_without_a_class(grid_release):
    leaf = grid_release.measurements[0]
    release = replace(
        grid_release,
        schema=replace(grid_release.schema, target=None),
        measurements=(replace(leaf, values=leaf.values[:, :1]),),
    )
    with pytest.raises(UsageError, match="no class"):
        release.predict(pa.table(ROWS))


def test_repr_is_short_and_public(tree_release):
    assert repr(tree_release) == "TableRelease('diffmulti', schema='people', epsilon=1, regions=3)"


def test_counts_are_computed_once(tree_release):
    assert tree_release.counts is tree_release.counts
