"""What `hedgerow plan --accuracy` says where nothing reaches a target."""

from __future__ import annotations

from typing import Any

import pytest

from hedgerow.cli.commands.plan import show_plan_by_accuracy
from hedgerow.evaluation import expected
from hedgerow.evaluation.expected import AccuracyPlan, TargetResult, read_target
from hedgerow.schema import Schema

SCHEMA = Schema.from_dict(
    {
        "name": "stays",
        "unit": "person",
        "attributes": {
            "who": {"role": "person", "max_rows": 4},
            "sex": {"type": "categorical", "values": ["f", "m"]},
        },
    }
)


@pytest.mark.parametrize(("epsilon", "bound"), [(None, 60), ("2", 600)])
def test_what_can_be_had_is_told(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    epsilon: str | None,
    bound: int,
) -> None:
    target = read_target(f"count of 500 within {bound}", SCHEMA)
    errors = {"0.1": 2086.0, "2": 501.0, "10": 259.0}
    results = (TargetResult(target=target, epsilon=epsilon, errors=errors),)
    made = AccuracyPlan(
        setting="diffmulti", epsilon=epsilon, targets=results, rows=9, runs=1, public=None
    )

    def planned(*_: Any, **__: Any) -> list[AccuracyPlan]:
        return [made]

    monkeypatch.setattr(expected, "plan_by_accuracy", planned)
    trials = {"methods": [], "delta": "0", "rows": 9, "runs": 1, "dependence": 0.5, "public": None}
    show_plan_by_accuracy(SCHEMA, [target], trials, None, False, False)
    told = capsys.readouterr().out
    missed = "not reached: within 259 at 10"
    assert (missed in told) == (epsilon is None)
    cap = "an epsilon of 2.5 would be as accurate as 10 is here" if epsilon is None else (
        "epsilon would be 0.5"
    )  # fmt: skip
    assert f"With max_rows: 1 {cap}." in told
