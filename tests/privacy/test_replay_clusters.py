"""The replay audit of private k-means, and of what goes wrong without it."""

from __future__ import annotations

import numpy as np
import pytest

from hedgerow.audit.replay import compare, record, replay
from hedgerow.data import Table
from hedgerow.methods import clusters
from hedgerow.privacy.budget import Budget
from hedgerow.privacy.keystream import Keystream
from hedgerow.privacy.sampler import SecureSampler
from hedgerow.schema import Schema

ROUNDING = 1e-9
SCHEMA = Schema.from_dict(
    {
        "name": "small",
        "unit": "row",
        "attributes": {
            "age": {"type": "numeric", "low": 0, "high": 9, "step": 1},
            "job": {"type": "categorical", "values": ["a", "b", "c"]},
            "dose": {"type": "numeric", "low": 0, "high": 2, "step": 1},
            "ill": {"type": "categorical", "values": ["no", "yes"], "role": "class"},
        },
    }
)


def rows(*records):
    return np.asarray(records, dtype=np.uint16).reshape(len(records), 4)


PAIRS = {
    "empty table": (rows(), (9, 2, 2, 1)),
    "the largest features": (rows(*[(3, 1, 1, 0)] * 20), (9, 0, 2, 1)),
    "the smallest features": (rows(*[(3, 1, 1, 0)] * 20), (0, 0, 0, 0)),
    "alone in its cluster": (rows(*[(0, 0, 0, 0)] * 30), (9, 2, 2, 0)),
}


def worst(epsilon="1", runs=6):
    budget = Budget.of(epsilon, 0)

    def on(codes):
        return lambda sampler: clusters.run(Table(SCHEMA, codes), 2, 3, budget, sampler)

    losses = []
    for table, extra in PAIRS.values():
        with_it = np.concatenate([table, np.asarray([extra], dtype=np.uint16)])
        for number in range(runs):
            for drawn_from in (table, with_it):
                outcomes = record(on(drawn_from), SecureSampler(Keystream(seed=number)))
                found = compare(replay(on(table), outcomes), replay(on(with_it), outcomes))
                losses.append(abs(found.loss))
    return max(losses)


@pytest.mark.parametrize("epsilon", ["0.5", "3"])
def test_no_transcript_tells_more_than_epsilon(epsilon):
    assert 0 < worst(epsilon) <= float(epsilon) + ROUNDING


def test_catches_features_that_are_larger_than_was_paid_for(monkeypatch):
    honest = clusters.Curator.laplace

    def careless(self, *args, max_contribution):
        return honest(self, *args, max_contribution=max_contribution // 6)

    monkeypatch.setattr(clusters.Curator, "laplace", careless)
    assert worst() > 1 + ROUNDING


def test_catches_labels_by_exact_centroids(monkeypatch):
    """As printed in the paper: the centroids that give labels are those of the raw records."""
    honest = clusters.label_codes

    def raw(table, schema, points):
        codes = table.codes[:, :3].astype(float)
        exact = np.zeros_like(points)
        exact[0, 0] = codes[:, 0].mean() / 9 if len(codes) else 0.5
        exact[1:, 0] = exact[0, 0] + 0.01
        return honest(table, schema, exact)

    monkeypatch.setattr(clusters, "label_codes", raw)
    assert worst(runs=20) > 1 + ROUNDING
