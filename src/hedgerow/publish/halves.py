"""Halves: every attribute is cut once, at a public place, and every region is counted.

Protected: one record (or one person with a public cap on records), added or removed. All of epsilon
goes to the counts: a record lies in one region and class, and pays for one discrete Laplace count.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hedgerow.counting.engine import Engine
from hedgerow.measured.partition import GridPartition
from hedgerow.privacy.budget import Budget, Number
from hedgerow.privacy.curator import Curator
from hedgerow.privacy.ledger import Allowance, Ledger
from hedgerow.privacy.sampler import Sampler
from hedgerow.publish.diffgen import count_cells
from hedgerow.publish.planning.plan import Plan, divide_budget
from hedgerow.publish.publisher import Outcome, Progress, Publisher, no_progress
from hedgerow.schema import Numeric, Schema

__all__ = ["Halves"]


@dataclass(frozen=True)
class Halves(Publisher):
    """Settings of Halves.

    Args:
        numbers_only: Whether taxonomies are left uncut.

    Example:
        >>> Halves().settings()
        {'numbers_only': False, 'schedule': 'tuned-1'}
    """

    numbers_only: bool = False

    name: ClassVar[str] = "halves"
    schedule = "tuned"  # there is no other
    uses_delta: ClassVar[bool] = False

    def plan(
        self, schema: Schema, epsilon: Number, delta: Number = 0, rows: int | None = None
    ) -> Plan:
        """See `Publisher.plan`."""
        return self._plan(Budget.of(epsilon, delta, schema.person.max_rows if schema.person else 1))

    def _plan(self, budget: Budget) -> Plan:
        pure = Budget(budget.epsilon, rows=budget.rows)
        return Plan(
            method=self.name,
            schedule=self.schedule,
            budget=pure,
            budgets=divide_budget(pure, 1, 0),
            allowances=(Allowance("leaf", "epsilon", (1,), 1),),
            specialisations=None,
            depth=None,
            grows=False,
        )

    def run(
        self,
        engine: Engine,
        schema: Schema,
        budget: Budget,
        sampler: Sampler,
        progress: Progress = no_progress,
    ) -> Outcome:
        """See `Publisher.run`."""
        plan = self._plan(budget)
        ledger = Ledger(plan.budgets.parts)
        ledger.allow(plan.allowances)
        partition = GridPartition(self._edges(schema))
        return Outcome(
            plan=plan,
            partition=partition,
            measurements=tuple(count_cells(engine, Curator(ledger, sampler), partition)),
            ledger=ledger,
            published=np.zeros(1, dtype=np.int64),
            sharing=partition.cells,
        )

    def _edges(self, schema: Schema) -> tuple[NDArray[np.int32], ...]:
        found = []
        for attribute in schema.attributes:
            inner: list[int] = []
            if isinstance(attribute, Numeric):
                inner = [attribute.size // 2]
            elif not self.numbers_only:
                tree = attribute.taxonomy
                inner = [tree.spans[child][0] for child in tree.children[0]]
            found.append(np.array(sorted({0, *inner, attribute.size}), dtype=np.int32))
        return tuple(found)

    def chosen(self, schema: Schema, outcome: Outcome) -> dict[str, Any]:
        """See `Publisher.chosen`: there is nothing to choose."""
        return {}
