from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.estimate.measurements import Measurement
from hedgerow.estimate.partition import GridPartition
from hedgerow.estimate.tables import edges_of, own_codes
from hedgerow.release import TableRelease
from hedgerow.release.count_tables import BINS, bands, bins
from hedgerow.schema import Numeric, Schema


@given(
    st.integers(-10_000, 10_000),
    st.integers(1, 5000),
    st.sampled_from([Fraction(1), Fraction(1, 2), Fraction(5)]),
    st.sampled_from(["integer", "decimal", "date"]),
    st.sampled_from(["error", "other"]),
)
def test_steps_hold_every_code_once(
    low: int, many: int, step: Fraction, kind: Any, missing: Any
) -> None:
    attribute = Numeric(
        "x", low=Fraction(low), high=low + many * step, step=step, kind=kind, missing=missing
    )
    edges = bins(attribute)
    assert edges[0] == 0 and edges[-1] == attribute.size
    assert all(sooner < later for sooner, later in zip(edges, edges[1:], strict=False))
    assert len(edges) - 1 <= BINS + 1
    assert not attribute.has_other or edges[-2] == attribute.grid  # "other" stands alone


def test_what_a_release_tells_of_each_attribute() -> None:
    schema = Schema.from_dict(
        {
            "name": "s",
            "unit": "row",
            "attributes": {
                "age": {"type": "numeric", "low": 0, "high": 3},
                "ill": {"type": "categorical", "values": ["no", "yes"], "role": "class"},
            },
        }
    )
    counted = Measurement(
        name="leaf", at="region", where=np.array([0, 1]), values=np.array([[30, 10], [8, 0]]),
        by_class=True, units=np.array([1, 1]), unit=Fraction(1),
    )  # fmt: skip
    grid = GridPartition((np.array([0, 2, 4]),))
    release = TableRelease(
        schema=schema,
        method="diffgen",
        settings={},
        guarantee={"epsilon": "1"},
        ledger={},
        partition=grid,
        measurements=(counted,),
    )
    age, ill = release.histograms()
    assert age.labels == ("[0, 2)", "[2, 3]")  # what the grid tells apart, and no more
    assert age.counts == pytest.approx([40, 8])
    assert ill.labels == ("no", "yes") and ill.counts == pytest.approx([38, 10])
    assert ill.shares.sum() == pytest.approx(1)
    assert (age.low <= age.counts).all() and (age.counts <= age.high).all()


def test_bands_on_a_logarithmic_scale_grow() -> None:
    pay = Numeric(
        "pay", low=Fraction(0), high=Fraction(1_000_000), step=Fraction(10), kind="integer",
        scale="log",
    )  # fmt: skip
    edges = bins(pay)
    assert [pay.label(low, high) for low, high in zip(edges[:4], edges[1:5], strict=True)] == [
        "[0, 10)", "[10, 20)", "[20, 50)", "[50, 100)",
    ]  # fmt: skip
    assert edges[-1] == pay.size and len(edges) <= 21
    both = Numeric(
        "owed", low=Fraction(-5000), high=Fraction(5000), step=Fraction(1), kind="integer",
        missing="other", scale="log",
    )  # fmt: skip
    edges = bins(both)
    assert edges[0] == 0 and edges[-1] == both.size and 5000 in edges and len(edges) <= 22


@given(
    st.integers(-500, 500),
    st.integers(1, 5000),
    st.sampled_from([Fraction(1), Fraction(1, 2), Fraction(5)]),
    st.sampled_from(["error", "other"]),
    st.sampled_from(["linear", "log"]),
)
def test_bands_are_unions_of_measured_cells(
    low: int, many: int, step: Fraction, missing: Any, scale: Any
) -> None:
    attribute = Numeric(
        "x",
        low=Fraction(low),
        high=low + many * step,
        step=step,
        kind="decimal",
        missing=missing,
        scale=scale,
    )
    measured = edges_of(attribute)
    edges = bands(attribute, measured)
    assert set(edges) <= set(measured.tolist())
    assert edges[0] == 0 and edges[-1] == attribute.size and list(edges) == sorted(set(edges))
    assert all({code, code + 1} <= set(edges) for code in own_codes(attribute))
    assert len(edges) <= BINS + 6
