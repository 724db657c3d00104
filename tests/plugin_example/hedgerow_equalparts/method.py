"""EqualParts: every number is cut into parts of equal width, and every region is counted.

Where the regions lie is public, so that all of epsilon goes to their counts: each record lies in
one region and class, and pays for one discrete Laplace count.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hedgerow.counting.engine import Engine
from hedgerow.measured.partition import GridPartition
from hedgerow.methods.diffgen import count_cells
from hedgerow.methods.plan import Plan, divide_budget
from hedgerow.methods.publisher import Outcome, Progress, Publisher, check_count, no_progress
from hedgerow.privacy.budget import Budget
from hedgerow.privacy.curator import Curator
from hedgerow.privacy.ledger import Allowance, Ledger
from hedgerow.privacy.sampler import Sampler
from hedgerow.schema import Numeric, Schema

_UNITS = 100


@dataclass(frozen=True)
class EqualParts(Publisher):
    """Settings of EqualParts.

    Args:
        parts: Into how many parts a number is cut, at most.

    Example:
        >>> EqualParts(parts=3).settings()
        {'parts': 3, 'schedule': 'tuned-1'}
    """

    parts: int = 4

    name: ClassVar[str] = "equalparts"
    schedule = "tuned"  # there is no other
    uses_delta: ClassVar[bool] = False

    def __post_init__(self) -> None:
        """Refuses settings that cannot be meant."""
        super().__post_init__()
        check_count("parts", self.parts, 100)

    def plan_for(self, schema: Schema, budget: Budget, rows: int | None = None) -> Plan:
        """See `Publisher.plan_for`."""
        pure = Budget(budget.epsilon, rows=budget.rows)
        return Plan(
            method=self.name,
            schedule=self.schedule,
            budget=pure,
            budgets=divide_budget(pure, _UNITS, 0),
            allowances=(Allowance("leaf", "epsilon", units=(_UNITS,), uses=1),),
            grows=False,
        )

    def run(
        self,
        engine: Engine,
        schema: Schema,
        plan: Plan,
        sampler: Sampler,
        progress: Progress = no_progress,
    ) -> Outcome:
        """See `Publisher.run`."""
        ledger = Ledger(plan.budgets.parts)
        ledger.allow(plan.allowances)
        edges = [
            np.unique(np.linspace(0, a.size, self.parts + 1).astype(np.int32))
            if isinstance(a, Numeric)
            else np.array([0, a.size], np.int32)
            for a in schema.attributes
        ]
        partition = GridPartition(tuple(edges))
        return Outcome(
            plan=plan,
            partition=partition,
            measurements=tuple(count_cells(engine, Curator(ledger, sampler), partition)),
            ledger=ledger,
            published=np.zeros(1, dtype=np.int64),
            sharing=partition.cells,
        )
