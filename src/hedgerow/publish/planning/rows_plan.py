"""The plan of a release of generalised rows: public, made before any private data is seen."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from hedgerow.privacy.budget import Budget, UnitBudget
from hedgerow.privacy.ledger import Allowance
from hedgerow.publish.planning.plan import Budgets, Plan

__all__ = ["RowsPlan"]

_UNITS = 100


@dataclass(frozen=True, kw_only=True)
class RowsPlan(Plan):
    """What would be spent on what.

    Args:
        mode: "noisy" or "sampled".
        side: Percent of epsilon for making a side table; 0 if a public one is given.
        rule: How rows are left out: a rate and a threshold, or a share and a least size.
    """

    mode: str = "noisy"
    side: int = 0
    rule: dict[str, Any] = field(default_factory=dict)

    @staticmethod
    def of(method: str, mode: str, budget: Budget, side: int, rule: dict[str, Any]) -> RowsPlan:
        """The plan for a budget, cut into hundredths."""
        whole = UnitBudget("epsilon", budget.row_epsilon / _UNITS, _UNITS)
        lines = (Allowance("side", "epsilon", (side,), 1),) if side else ()
        allowances = (*lines, Allowance("cells", "epsilon", (_UNITS - side,), 1))
        budgets = Budgets((whole,), "epsilon")
        return RowsPlan(
            method=method,
            schedule="tuned",
            budget=budget,
            budgets=budgets,
            allowances=allowances,
            grows=False,
            mode=mode,
            side=side,
            rule=rule,
        )

    @property
    def accounting(self) -> str:
        """Epsilon is pure; delta is the chance that somebody who is alone is listed."""
        return "suppression"

    @property
    def rules(self) -> dict[str, Any]:
        """See `Plan.rules`: how rows are left out."""
        return {"suppression": self.rule}

    @property
    def unit_budget(self) -> UnitBudget:
        """The epsilon of one row, in percent."""
        return self.budgets.parts[0]

    def side_budget(self) -> Budget:
        """What making a side table may cost a person."""
        return Budget(self.budget.epsilon * self.side / _UNITS, Fraction(0), self.budget.rows)

    def in_words(self) -> str:
        """Which rows will be published."""
        if self.mode == "noisy":
            return f"Rows with a noisy count of at least {self.rule['threshold']} are published."
        one, those = ("person", "people") if self.budget.rows == 1 else ("row", "rows")
        return (
            f"Each {one} is sampled with probability {self.rule['sampling_rate']}; generalised "
            f"rows that at least {self.rule['threshold']} sampled {those} share are published."
        )

    def to_dict(self) -> dict[str, Any]:
        """The plan for machines."""
        told = super().to_dict()
        del told["specialisations"], told["depth"], told["schedule"]
        return told | {"accounting": self.accounting, "mode": self.mode, **self.rules}
