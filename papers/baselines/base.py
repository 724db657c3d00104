"""What the private baselines share: one budget of pure epsilon, and a plan that sees no data."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from typing import Any, Literal

from hedgerow.errors import UsageError
from hedgerow.methods.plan import Plan, divide_budget
from hedgerow.methods.publisher import Outcome, Progress, Publisher, no_progress
from hedgerow.privacy.budget import Budget
from hedgerow.privacy.curator import Curator
from hedgerow.privacy.ledger import Allowance, Ledger
from hedgerow.privacy.sampler import Sampler
from hedgerow.schema import Schema

__all__ = ["UNITS", "Baseline", "ledger_of", "plan_of"]

UNITS = 100_000


class Baseline(Publisher):
    """A method that others compare with: for experiments, and unknown to `hedgerow verify`."""

    schedule: Literal["tuned", "paper"] = "paper"

    @abstractmethod
    def allowances(self, schema: Schema) -> Iterable[Allowance]:
        """What may be spent on what, of `UNITS`."""

    @abstractmethod
    def publish(self, engine: Any, schema: Schema, plan: Plan, curator: Curator) -> Outcome:
        """Spends by the plan."""

    def plan_for(self, schema: Schema, budget: Budget, rows: int | None = None) -> Plan:
        """See `Publisher.plan_for`."""
        if budget.delta:
            raise UsageError("baselines promise pure epsilon.", hint="Leave delta out.")
        return plan_of(self.name, budget, self.allowances(schema))

    def run(
        self,
        engine: Any,
        schema: Schema,
        plan: Plan,
        sampler: Sampler,
        progress: Progress = no_progress,
    ) -> Outcome:
        """See `Publisher.run`."""
        return self.publish(engine, schema, plan, Curator(ledger_of(plan), sampler))


def plan_of(name: str, budget: Budget, allowances: Iterable[Allowance]) -> Plan:
    """A plan of pure epsilon, or with a delta of nothing but rho."""
    budgets = divide_budget(budget, UNITS, UNITS if budget.delta else 0)
    return Plan(
        method=name,
        schedule="paper",
        budget=budget,
        budgets=budgets,
        allowances=tuple(allowances),
        grows=False,
    )


def ledger_of(plan: Plan) -> Ledger:
    """A ledger with the plan's allowances."""
    ledger = Ledger(plan.budgets.parts)
    ledger.allow(plan.allowances)
    return ledger
