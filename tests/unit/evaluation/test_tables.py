from __future__ import annotations

import numpy as np
import pytest

import hedgerow as hr
from hedgerow import sample
from hedgerow.data import read
from hedgerow.evaluation import scorecard
from hedgerow.evaluation.scorecard import k_marginal, table_errors
from hedgerow.schema import Schema

PAIR = Schema.from_dict(
    {
        "name": "x",
        "unit": "row",
        "attributes": {
            "a": {"type": "numeric", "low": 0, "high": 999},
            "b": {"type": "categorical", "values": ["x", "y"]},
            "c": {"type": "boolean", "role": "class"},
        },
    }
)


def test_errors_are_those_of_the_table_and_of_count() -> None:
    people = sample.people(700, seed=3)
    release = hr.publish(people, sample.schema(), epsilon=1, seed=7)
    raw = read(people, release.schema)
    names = [attribute.name for attribute in release.schema.attributes]
    found = {one.name: one for one in table_errors(raw, release)}
    assert list(found) == [*names, release.schema.target.name]  # type: ignore[union-attr]
    klass = release.schema.target.name  # type: ignore[union-attr]
    told = release.table(klass).answers
    truth = np.bincount(raw.codes[:, -1], minlength=len(release.schema.classes))
    off = np.abs(told.estimate - truth)
    one = found[klass]
    assert (one.mean, one.worst) == pytest.approx((off.mean(), off.max()))
    assert one.width == pytest.approx(np.median(told.high - told.low))
    assert one.covered == np.mean((told.low <= truth) & (truth <= told.high))


def rows(number: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    b = rng.integers(0, 2, number)
    return np.stack([rng.integers(0, 1000, number), b, b], axis=1)


def test_the_score_by_hand() -> None:
    same = rows(2000, 1)
    assert k_marginal(same, same, PAIR) == 1000
    flipped = same.copy()
    flipped[:, 1] = 1 - flipped[:, 1]  # now b and c always differ, and alone they hardly changed
    found = k_marginal(same, flipped, PAIR)
    assert found is not None and 600 < found < 1000 * 2 / 3 + 1


def test_wide_pairs_count_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = rows(500, 1), rows(400, 2)
    found = k_marginal(one, other, PAIR)
    monkeypatch.setattr(scorecard, "MOST_CELLS", 1)
    assert k_marginal(one, other, PAIR) == pytest.approx(found)


def test_many_pairs_are_sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scorecard, "MOST_PAIRS", 1)
    one, other = rows(500, 1), rows(400, 2)
    found = {k_marginal(one, other, PAIR, seed) for seed in range(9)}
    assert 2 <= len(found) <= 3 and k_marginal(one, one, PAIR) == 1000


def test_nothing_to_compare() -> None:
    single = Schema.from_dict(
        {"name": "x", "unit": "row", "attributes": {"a": {"type": "boolean"}}}
    )
    assert k_marginal(np.zeros((3, 2), int), np.zeros((3, 2), int), single) is None
    assert k_marginal(rows(5, 1), rows(0, 1), PAIR) is None
