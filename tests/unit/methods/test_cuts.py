"""DiffGen's state: what stands for a numeric value, and for a split point that was not drawn."""

from __future__ import annotations

from hedgerow.counting.engine import Domain
from hedgerow.methods.diffgen import Cuts
from hedgerow.methods.scores import ALL_CUTS, SKIP
from hedgerow.schema import Schema

SCHEMA = Schema.from_dict(
    {
        "name": "s",
        "unit": "row",
        "attributes": {
            "age": {"type": "numeric", "low": 0, "high": 9, "step": 1},
            "job": {"type": "categorical", "values": ["a", "b"]},
        },
    }
)


def test_marks() -> None:
    """Releases, kernels and readers agree on them."""
    assert (SKIP, ALL_CUTS) == (-2, -1)
    cuts = Cuts(Domain.of(SCHEMA), 100)
    assert cuts.split_point.tolist() == [-1, -1]
    cuts.split_point[:] = 4
    cuts.specialize(0, 4)
    assert cuts.attribute.tolist() == [1, 0, 0]
    assert cuts.taxon[1:].tolist() == [-1, -1]
    assert cuts.split_point.tolist() == [4, -1, -1]
    assert list(zip(cuts.lo.tolist(), cuts.hi.tolist(), strict=True)) == [(0, 2), (0, 4), (4, 10)]
