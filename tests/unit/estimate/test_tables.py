"""Groups of cells: about equally full, rare ones together, and never what a rule tells apart."""

from __future__ import annotations

import numpy as np
import pytest

from hedgerow.estimate.tables import Cells, group_categories, group_numbers, ruled_apart
from hedgerow.schema import Schema


def test_groups_of_numbers_end_where_a_rule_does() -> None:
    counts = np.array([5, 5, 5, 5, 5, 5, 5, 5])
    alike, apart = np.zeros(8, np.int64), np.array([0, 0, 0, 1, 1, 1, 1, 1])
    assert group_numbers(counts, 2, alike).tolist() == [0, 0, 0, 0, 1, 1, 1, 1]
    assert group_numbers(counts, 2, apart).tolist() == [0, 0, 0, 1, 2, 2, 2, 2]


def test_noise_below_nothing_makes_no_group() -> None:
    counts = np.array([9, -9, 9, -9, 9, -9])
    assert group_numbers(counts, 3, np.zeros(6, np.int64)).tolist() == [0, 1, 1, 2, 2, 3]
    none = group_numbers(np.full(6, -3), 3, np.zeros(6, np.int64))
    assert none.tolist() == [0] * 6


def test_rare_categories_are_together_on_each_side_of_a_rule() -> None:
    counts = np.array([90, 3, 2, 4, 80])
    assert group_categories(counts, 10, np.zeros(5, np.int64)).tolist() == [0, 1, 1, 1, 2]
    apart = np.array([0, 0, 1, 1, 1])
    assert group_categories(counts, 10, apart).tolist() == [0, 1, 2, 2, 3]


@pytest.mark.parametrize("parts", [16, 32])
def test_what_rules_tell_apart(parts: int) -> None:
    schema = Schema.from_dict({
        "name": "s", "unit": "row",
        "attributes": {
            "age": {"type": "numeric", "low": 0, "high": 99},
            "job": {"type": "categorical", "values": list("abc")},
        },
        "rules": ["age < 37 implies job = a"],
    })  # fmt: skip
    cells = Cells.of(schema, parts)
    age, job = ruled_apart(schema, cells)
    below = cells.edges[0][:-1] < 37
    assert 37 in cells.edges[0]
    assert len({*age[below].tolist()}) == len({*age[~below].tolist()}) == 1
    assert age[0] != age[-1] and job[0] != job[1] == job[2]
