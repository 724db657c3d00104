"""The cells in which attributes are counted."""

from __future__ import annotations

import numpy as np
import pytest

from hedgerow.estimate.tables import edges_of, fine_edges, recounted
from hedgerow.schema import Schema

SCHEMA = Schema.from_dict(
    {
        "name": "simulated",
        "unit": "row",
        "attributes": {
            "age": {"type": "numeric", "low": 0, "high": 99, "step": 1},
            "home": {"type": "categorical", "values": ["flat", "house", "boat"]},
            "zone": {"type": "categorical", "values": ["a", "b", "c"]},
            "town": {"type": "categorical", "values": [f"t{i}" for i in range(100)]},
            "ill": {"type": "boolean", "role": "class"},
        },
    }
)


def test_cells_cover_every_attribute_and_large_ones_of_numbers_are_counted_again():
    for attribute in SCHEMA.attributes:
        edges = edges_of(attribute)
        assert edges[0] == 0 and edges[-1] == attribute.size and (np.diff(edges) > 0).all()
    assert [len(edges_of(a)) - 1 for a in SCHEMA.attributes] == [17, 3, 3, 32]
    age = SCHEMA.attributes[0]
    counts = np.array([700, 63, 62, *[0] * 14])
    assert recounted(age, edges_of(age), counts, 1000).tolist() == [1]  # the first is one code
    assert recounted(SCHEMA.attributes[3], edges_of(SCHEMA.attributes[3]), counts, 0).size == 0
    assert fine_edges(0, 40).tolist()[:3] == [0, 2, 5] and fine_edges(3, 5).tolist() == [3, 4, 5]


def test_zero_the_lowest_value_and_other_are_cells_of_their_own():
    number = {"type": "numeric", "low": -100, "high": 99, "step": 1, "missing": "other"}
    schema = Schema.from_dict({"name": "s", "unit": "row", "attributes": {"n": number}})
    edges = edges_of(schema.attributes[0]).tolist()
    assert {0, 1, 100, 101, 200, 201} <= set(edges) and edges[-1] == 201 and len(edges) - 1 <= 20


@pytest.mark.parametrize(
    ("low", "high", "step"), [(0, 65535, 1), (-700, 300, 1), (-900, -20, 7), (1000, 10**6, 250)]
)
def test_parts_on_a_logarithmic_scale_grow_away_from_zero(low, high, step):
    number = {"type": "numeric", "low": low, "high": high, "step": step, "scale": "log"}
    schema = Schema.from_dict({"name": "s", "unit": "row", "attributes": {"n": number}})
    edges = edges_of(schema.attributes[0])
    assert edges[0] == 0 and edges[-1] == schema.attributes[0].size and (np.diff(edges) > 0).all()
    ends = np.abs(low + step * edges[1:-1])  # the lowest code is a cell of its own
    ends = np.sort(ends[(ends > 0) & (np.sign(low + step * edges[1:-1]) == np.sign(high + low))])
    grown = (ends[1:] / ends[:-1])[np.diff(ends) > 4 * step]
    assert len(grown) > 3 and grown.max() / grown.min() < 1.5


def test_values_that_the_schema_names_are_cells_of_their_own():
    number = {"type": "numeric", "low": 1, "high": 99, "common": [40, 99]}
    schema = Schema.from_dict({"name": "s", "unit": "row", "attributes": {"n": number}})
    assert {39, 40, 98, 99} <= set(edges_of(schema.attributes[0]).tolist())
