from __future__ import annotations

import numpy as np
import pytest

from hedgerow import sample
from hedgerow.errors import UsageError
from hedgerow.evaluation.expected import (
    EPSILONS,
    AccuracyTarget,
    cells_of_release,
    error_at_95,
    errors_of,
    most_epsilons,
    plan_by_accuracy,
    read_target,
)
from hedgerow.evaluation.simulate import publish_seeded, source_of
from hedgerow.methods.diffgen import DiffGen
from hedgerow.methods.diffmulti import DiffMulti
from hedgerow.methods.diffpart import DiffPart
from hedgerow.sample.survey import shop_schema
from hedgerow.schema import Schema

SCHEMA = Schema.from_dict(
    {
        "name": "x",
        "unit": "row",
        "attributes": {
            "age": {"type": "numeric", "low": 0, "high": 99},
            "job in town": {"type": "categorical", "values": ["a", "b", "c"]},
            "ill": {"type": "boolean", "role": "class"},
        },
    }
)


@pytest.mark.parametrize(
    "text, expected",
    [
        ("count of 500 within 60", (500, 60, None)),
        (" Count of 1,500 within 10 %", (1500, 150, None)),
        ("age within 2%", (None, 0.02, "age")),
        ("job in town within .5%", (None, 0.005, "job in town")),
        ("ill within 1%", (None, 0.01, "ill")),
    ],
)
def test_targets_are_read(text: str, expected: tuple[object, ...]) -> None:
    found = read_target(text, SCHEMA)
    assert (found.count, found.attribute) == (expected[0], expected[2])
    assert found.bound == pytest.approx(expected[1])


@pytest.mark.parametrize(
    "text, words",
    [
        ("age", "cannot be understood"),
        ("count of 500", "cannot be understood"),
        ("agee within 2%", "attribute"),
        ("age within 2", "percent"),
        ("age within 0%", "no error"),
        ("count of 0 within 3", "nobody"),
    ],
)
def test_mistakes(text: str, words: str) -> None:
    with pytest.raises(UsageError, match=words) as caught:
        read_target(text, SCHEMA)
    assert caught.value.hint


def test_errors_by_hand() -> None:
    cells = {
        "a": (np.array([90.0, 10.0]), np.array([80.0, 20.0])),
        "b": (np.array([50.0, 52.0]), np.array([49.0, 51.0])),
    }
    table = AccuracyTarget(text="", bound=1, attribute="a")
    assert errors_of(table, cells, 100).tolist() == pytest.approx([0.1])
    counts = errors_of(AccuracyTarget(text="", bound=1, count=50), cells, 100)
    assert sorted(counts.tolist()) == [1, 1, 10]  # 20 is not about 50
    assert not len(errors_of(AccuracyTarget(text="", bound=1, count=900), cells, 100))


def test_cells_agree_with_tables() -> None:
    data = source_of(sample.schema(), 900, 0.5, None)[1](3).data
    release = publish_seeded(data, DiffMulti(), "1", 0, 1)
    for name, (told, truth) in cells_of_release(release, data).items():
        assert told.tolist() == release.table(name).answers.estimate.tolist()
        assert truth.sum() == 900


def test_transactions_have_counts() -> None:
    schema = shop_schema()
    target = read_target("count of 60 within 30", schema)
    (found,) = plan_by_accuracy(schema, [target], [("d", DiffPart())], rows=400, runs=1)
    assert found.rows == 400 and found.targets[0].errors
    with pytest.raises(UsageError, match="attribute"):
        read_target("milk within 3%", schema)


def test_the_95_percent_error_covers_laplace_and_normal_errors() -> None:
    rng = np.random.default_rng(1)
    target = AccuracyTarget(text="", bound=1, count=1)
    for draw in (rng.laplace, rng.normal):
        errors = draw(size=20_000)
        found = error_at_95(target, [errors])
        # 95% of 20,000 errors: a share below 94% would be six standard errors away
        assert found is not None and np.mean(np.abs(errors) <= found) > 0.94
    assert error_at_95(target, [np.zeros(0)]) is None


@pytest.mark.slow
def test_harder_targets_take_more_epsilon() -> None:
    targets = [read_target(f"age within {p}%", SCHEMA) for p in (60, 20, 0.0001)]
    (found,) = plan_by_accuracy(SCHEMA, targets, [("d", DiffMulti())], rows=2000, runs=2)
    easy, harder, never = (one.epsilon for one in found.targets)
    assert easy is not None and harder is not None and never is None
    assert EPSILONS.index(easy) <= EPSILONS.index(harder)
    assert found.epsilon is None
    for one in found.targets[:2]:
        error = one.errors[str(one.epsilon)]
        assert error is not None and error <= one.target.bound


def test_a_large_epsilon_that_fails_does_not_rule_out_smaller_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def errors(target: AccuracyTarget, cells: object, records: int) -> np.ndarray:
        return np.array([5.0 if epsilon["now"] in ("1.5", "2") else 50.0])

    epsilon = {"now": ""}

    def publish(data: object, method: object, now: str, *rest: object) -> None:
        epsilon["now"] = now

    monkeypatch.setattr("hedgerow.evaluation.expected.publish_seeded", publish)
    monkeypatch.setattr("hedgerow.evaluation.expected.cells_of_release", lambda *given: {})
    monkeypatch.setattr("hedgerow.evaluation.expected.errors_of", errors)
    target = read_target("age within 800%", SCHEMA)
    (found,) = plan_by_accuracy(SCHEMA, [target], [("d", DiffMulti())], rows=50, runs=1)
    assert found.epsilon == "1.5"


@pytest.mark.parametrize("least", EPSILONS)
def test_progress_is_that_of_the_releases(monkeypatch: pytest.MonkeyPatch, least: str) -> None:
    """It never falls, never ends early, and no more releases are made than were announced."""
    made: list[str] = []
    shares: list[float] = []
    stages: list[str] = []

    def errors(target: AccuracyTarget, cells: object, records: int) -> np.ndarray:
        return np.array([1.0 if EPSILONS.index(made[-1]) >= EPSILONS.index(least) else 5000.0])

    module = "hedgerow.evaluation.expected"
    monkeypatch.setattr(
        f"{module}.publish_seeded", lambda data, method, now, *rest: made.append(now)
    )
    monkeypatch.setattr(f"{module}.cells_of_release", lambda *given: {})
    monkeypatch.setattr(f"{module}.errors_of", errors)
    methods = [("one", DiffMulti()), ("other", DiffMulti())]
    target = read_target("age within 800%", SCHEMA)
    found = plan_by_accuracy(
        SCHEMA, [target], methods, rows=50, runs=3, progress=shares.append, stage=stages.append
    )
    assert {one.epsilon for one in found} == {least}
    assert len(made) <= 2 * 3 * most_epsilons(1)
    assert shares == sorted(shares) and shares[-1] == 1.0 and shares[-3] < 1.0
    assert len(shares) >= len(made) and f"other, epsilon {made[-1]}" in stages


@pytest.mark.slow
def test_the_better_method_comes_first() -> None:
    target = read_target("age within 10%", SCHEMA)
    methods = [("regions", DiffGen(specializations=1)), ("marginals", DiffMulti())]
    found = plan_by_accuracy(SCHEMA, [target], methods, rows=2000, runs=2)
    assert [one.setting for one in found] == ["marginals", "regions"]
