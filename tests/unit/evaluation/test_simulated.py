from __future__ import annotations

import numpy as np
import pytest

from hedgerow.data import read
from hedgerow.errors import UsageError
from hedgerow.estimate.cells import rows_of
from hedgerow.evaluation.simulate import HiddenKinds, simulated_transactions
from hedgerow.schema import Schema

SCHEMA = Schema.from_dict(
    {
        "name": "survey",
        "unit": "row",
        "attributes": {
            "age": {"type": "numeric", "low": 18, "high": 99, "missing": "other"},
            "day": {"type": "numeric", "low": "2024-01-01", "high": "2024-12-31", "step": 7},
            "bmi": {"type": "numeric", "low": 12.0, "high": 55.0, "step": 0.5},
            "job": {"type": "categorical", "values": ["a", "b", "c"], "missing": "other"},
            "ill": {"type": "boolean", "role": "class"},
        },
    }
)


def test_rows_keep_to_the_schema_and_come_back_as_the_same_codes() -> None:
    table = HiddenKinds.of(SCHEMA, 0.5, 1).draw(500, 2)
    columns = table.codes.astype(np.int64).T
    again = read(rows_of(SCHEMA, columns, np.random.default_rng(0)), SCHEMA)
    assert np.array_equal(again.codes, table.codes)
    assert (table.codes[:, 0] == SCHEMA.attributes[0].size - 1).any()  # some ages are missing


def test_the_same_seed_gives_the_same_people_and_another_one_others() -> None:
    people = HiddenKinds.of(SCHEMA, 0.5, 1)
    first, again, other = (people.draw(200, seed).codes for seed in (2, 2, 3))
    assert np.array_equal(first, again) and not np.array_equal(first, other)


def test_dependence_is_what_makes_the_class_known() -> None:
    best, largest = [], []
    for dependence in (0.0, 0.5, 1.0):
        people = HiddenKinds.of(SCHEMA, dependence, 4)
        rows = people.draw(3000, 5)
        best.append(people.best_accuracy(rows))
        largest.append(100 * np.bincount(rows.codes[:, -1]).max() / 3000)
    assert best[0] == pytest.approx(largest[0])  # nothing but the larger class is known
    assert best[1] > largest[1] + 2 and best[2] > 95


@pytest.mark.parametrize("dependence", [-0.1, 1.1, float("nan")])
def test_a_dependence_that_cannot_be_meant(dependence: float) -> None:
    with pytest.raises(UsageError, match="dependence"):
        HiddenKinds.of(SCHEMA, dependence, 1)


def test_baskets_are_sets_within_the_cap() -> None:
    items = {"universe": {"range": [1, 50]}, "max_items": 4}
    schema = Schema.from_dict({"name": "clicks", "unit": "row", "items": items})
    transactions = simulated_transactions(schema, 400, 0.5, seed=3)
    sizes = np.diff(transactions.start)
    assert len(sizes) == 400 and sizes.min() >= 1 and sizes.max() <= 4
    inside = np.diff(transactions.codes)[np.diff(np.repeat(np.arange(400), sizes)) == 0]
    assert (inside > 0).all() and transactions.codes.max() < 50
