"""Regions that say little lean on what is around them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pyarrow as pa

from hedgerow.estimate.cells import class_shares
from hedgerow.estimate.measurements import Measurement
from hedgerow.estimate.partition import TreePartition
from hedgerow.release import Release, TableRelease
from hedgerow.schema import Schema

SCHEMA = Schema.from_dict(
    {
        "name": "small",
        "unit": "row",
        "attributes": {
            "age": {"type": "numeric", "low": 0, "high": 9, "step": 1},
            "ill": {"type": "categorical", "values": ["no", "yes"], "role": "class"},
        },
    }
)
# two halves; the lower one has a large and a tiny leaf
TREE = TreePartition.of(
    [(-1, 0, [0], [10]), (0, 0, [0], [5]), (0, -1, [5], [10]), (1, -1, [0], [4]), (1, -1, [4], [5])]
)


def release(tiny: tuple[int, int], units: int) -> Release:
    counts = np.array([[400, 20], list(tiny), [30, 500]])
    leaf = Measurement(
        name="leaf",
        at="region",
        where=np.arange(3),
        values=counts,
        by_class=True,
        units=np.full(3, units),
        unit=Fraction(1, 100),
    )
    return TableRelease(
        schema=SCHEMA,
        method="diffmulti",
        settings={},
        guarantee={"epsilon": "1"},
        ledger={},
        partition=TREE,
        measurements=(leaf,),
    )


def test_a_leaf_of_mostly_noise_follows_its_parent():
    noisy = release((1, 4), units=10)  # noise of about 14 on every count
    assert np.argmax(noisy.estimates.values[1]) == 1
    shares = class_shares(TREE, noisy.estimates.fit)
    assert np.argmax(shares, axis=1).tolist() == [0, 0, 1]
    assert noisy.predict(pa.table({"age": [4, 0, 9]})).column(0).to_pylist() == ["no", "no", "yes"]


def test_a_leaf_that_is_sure_stands_for_itself():
    sure = release((10, 40), units=500)
    shares = class_shares(TREE, sure.estimates.fit)
    assert np.argmax(shares, axis=1).tolist() == [0, 1, 1]
    assert np.allclose(shares.sum(axis=1), 1)
