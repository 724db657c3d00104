from __future__ import annotations

import hedgerow as hr
from hedgerow.privacy.budget import Budget
from hedgerow.report.words import purpose_words


def test_whatever_marginals_are_charged_for_has_words() -> None:
    schema = hr.Schema.from_dict({"name": "s", "unit": "row", "attributes": {
        "a": {"type": "numeric", "low": 0, "high": 99}, "b": {"type": "boolean"},
        "c": {"type": "boolean", "role": "class"}}})  # fmt: skip
    plan = hr.DiffMulti(marginals=True).plan_for(schema, Budget.of(1), 100_000)
    charged = {allowance.purpose for allowance in plan.allowances}
    assert {"fine", "pick", "residual"} <= charged
    assert not charged & {purpose_words(purpose) for purpose in charged}
