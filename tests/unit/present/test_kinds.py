"""Intervals of regions, and the shares of classes in them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from hedgerow.estimate.measurements import Measurement
from hedgerow.estimate.partition import GridPartition
from hedgerow.present.kinds import ShownRegion, largest
from hedgerow.release import TableRelease
from hedgerow.schema import Schema


@pytest.mark.parametrize(
    ("no", "yes", "told"),
    [
        (930, 70, "7% ± 1"),  # by 0.5 points, which is not none
        (0, 9, "not known"),
        (4, 4, "not known"),
        (0, 0, "-"),
    ],
)
def test_noise_is_rounded_up_and_a_share_that_it_covers_is_not_told(
    no: int, yes: int, told: str
) -> None:
    region = ShownRegion(number=1, where={}, counts={"no": no, "yes": yes}, variance=(9.0, 9.0))
    assert region.share("yes") == told


def test_intervals_of_regions_hold_where_most_regions_are_empty() -> None:
    """Counts that are not negative leave empty regions too much, which large ones have too little.

    Ten of 1,000 regions hold people, in 20 releases. If 95% of intervals hold, 25 or more of 200
    miss with a probability below 0.0001; around the counts alone more than 60 do.
    """
    size = 1000
    schema = Schema.from_dict({"name": "s", "unit": "row", "attributes": {
        "n": {"type": "numeric", "low": 0, "high": size - 1}}})  # fmt: skip
    truth = np.zeros(size, np.int64)
    truth[:10] = 1000 * np.arange(1, 11)
    random, missed, moved = np.random.default_rng(3), 0, 0
    for _ in range(20):
        noise = random.geometric(1 - np.exp(-1), (2, size))
        counted = Measurement(
            name="leaf", at="region", where=np.arange(size),
            values=(truth + noise[0] - noise[1])[:, None], by_class=False,
            units=np.ones(size, np.int64), unit=Fraction(1),
        )  # fmt: skip
        release = TableRelease(
            schema=schema, method="diffgen", settings={}, guarantee={"epsilon": "1"}, ledger={},
            partition=GridPartition((np.arange(size + 1),)), measurements=(counted,),
        )  # fmt: skip
        for region in largest(release, 10):
            true = truth[region.number]
            assert region.ends[0] <= region.total <= region.ends[1]
            missed += not region.ends[0] <= true <= region.ends[1]
            assert abs(region.total - true) <= region.error or not (
                region.ends[0] <= true <= region.ends[1]
            )
            moved += region.total < true
    assert missed < 25 and moved > 150
