"""A plan: the public rule from transcript to charges, made before any data is seen."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

from hedgerow.errors import UsageError
from hedgerow.privacy.budget import (
    LARGEST_TERM,
    Budget,
    UnitBudget,
    choice_rate,
    noise_rate,
    rho_of_epsilon,
)
from hedgerow.privacy.ledger import Allowance
from hedgerow.store.markup import small_table
from hedgerow.suggestions import PLAN, Suggestions

_LEAST_RHO = Fraction(1, 1 << 49)  # the rate of noise is still above 0 when it is rounded
_UNITS = 100  # of epsilon, in a plan of generalized rows


@dataclass(frozen=True)
class Budgets:
    """The budgets of a release, and which of them pays for growing the tree.

    With delta = 0 there is one budget of epsilon. With a delta, growing is paid from a budget of
    rho (zCDP), and counts of leaves stay pure: (e1, delta) and e2 add up to (e1 + e2, delta).
    """

    parts: tuple[UnitBudget, ...]
    growth: Literal["epsilon", "rho"]

    @property
    def accounting(self) -> str:
        """How losses are added up."""
        return "pure" if self.growth == "epsilon" else "zcdp"

    @property
    def growth_units(self) -> int:
        """The units of the budget that pays for growing."""
        return next(budget.units for budget in self.parts if budget.name == self.growth)


def divide_budget(budget: Budget, units: int, growth_units: int) -> Budgets:
    """Cuts the budget of one row into equal units, of which growing may take so many.

    Args:
        budget: What one person may lose.
        units: The units that epsilon is cut into.
        growth_units: Those of them meant for growing. With a delta they are exchanged for rho,
            cut into as many units again.
    """
    unit = budget.row_epsilon / units
    if not budget.delta:
        return Budgets((UnitBudget("epsilon", unit, units),), "epsilon")
    rho = rho_of_epsilon(unit * growth_units, budget.row_delta)
    if rho / growth_units < _LEAST_RHO:
        raise UsageError(
            "epsilon is too small to be used with a delta.",
            hint="Leave delta out, or take a larger epsilon.",
        )
    return Budgets(
        (
            UnitBudget("epsilon", unit, units - growth_units),
            UnitBudget("rho", rho / growth_units, growth_units),
        ),
        "rho",
    )


def leaf_allowances(budgets: Budgets) -> tuple[Allowance, ...]:
    """Leaves take whatever their paths have left, of each budget apart."""
    leaf = Allowance("leaf", "epsilon", units=None, uses=1)
    return (
        (leaf,)
        if budgets.growth == "epsilon"
        else (leaf, Allowance("spare", "rho", units=None, uses=1))
    )


def half_of(budgets: Budgets) -> int:
    """The units of epsilon that the papers keep for counts: half of it, whatever growing leaves."""
    (epsilon,) = (budget for budget in budgets.parts if budget.name == "epsilon")
    return epsilon.units // 2 if budgets.growth == "epsilon" else epsilon.units


def levels(units: int, depth: int) -> tuple[int, ...]:
    """Shares units equally among the levels of a tree; what does not divide is left to leaves.

    Example:
        >>> levels(100, 3)
        (33, 33, 33)
    """
    return (units // max(1, depth),) * max(1, depth)


@dataclass(frozen=True, kw_only=True)
class Plan(Suggestions):
    """What would be spent on what.

    Args:
        method: The publisher's name.
        schedule: "tuned" or "paper".
        budget: What one person may lose.
        budgets: The budgets.
        allowances: The lines that the ledger will allow.
        specializations: The number of specializations, or None while it waits for the noisy
            number of rows.
        depth: The most specializations on one path, or None likewise.
        grows: Whether the method specializes a table at all.
        spends_all: Whether every path to what is published spends all that was granted.
        remark: What a reader should know of amounts that may still change.
        usefulness: How far off answers are, where a theorem says it.
        largest: How many specializations a schema has room for, where an equation says it.

    Example:
        >>> from hedgerow import DiffMulti, sample
        >>> plan = DiffMulti().plan(sample.schema(), epsilon=1, rows=2000)
        >>> [allowance.purpose for allowance in plan.allowances]
        ['rows', 'select', 'allocate', 'leaf']
    """

    _suggestions = PLAN

    method: str
    schedule: str
    budget: Budget
    budgets: Budgets
    allowances: tuple[Allowance, ...]
    specializations: int | None = None
    depth: int | None = None
    grows: bool = True
    spends_all: bool = True
    remark: str | None = None
    usefulness: str | None = None
    largest: str | None = None

    @property
    def accounting(self) -> str:
        """How losses are added up."""
        return self.budgets.accounting

    @property
    def rules(self) -> dict[str, Any]:
        """What the ledger of a release tells beside charges, by name."""
        return {}

    def check_rates(self) -> None:
        """Refuses a plan with a price that buys no draw, before any is paid.

        Every line is looked at with the least that one use of it may cost, and with how far one
        record may move what is drawn for that.
        """
        budgets: dict[str, UnitBudget] = {budget.name: budget for budget in self.budgets.parts}
        pure = budgets.get("epsilon")
        # all terms of what is paid in epsilon fit, so that prices have a small common denominator
        if pure and max(pure.unit.denominator, pure.total.numerator) >= LARGEST_TERM:
            raise UsageError(
                "epsilon cannot be divided so finely.",
                hint="Take an epsilon with fewer digits, or fewer specializations.",
            )
        for line in self.allowances:
            if not line.uses:
                continue
            least = line.least if line.units is None else min(line.units)
            rate = choice_rate if line.choice else noise_rate
            amount = budgets[line.budget].unit * least
            if not amount or not rate(line.budget, amount, line.reach):
                raise UsageError(
                    f"epsilon is too small for what one use of {line.purpose!r} would get.",
                    hint="Take a larger epsilon, fewer specializations, or a smaller cap on what "
                    "one person may have.",
                )

    def lines(self) -> list[tuple[str, str, str]]:
        """The plan in words: purpose, where, and what one use costs one row.

        Example:
            >>> from hedgerow import DiffGen, sample
            >>> plan = DiffGen(specializations=3).plan(sample.schema(), epsilon=1)
            >>> plan.lines()[0]
            ('rows', 'once', 'epsilon 0.01')
        """
        budgets: dict[str, UnitBudget] = {budget.name: budget for budget in self.budgets.parts}
        words = []
        for line in self.allowances:
            unit = budgets[line.budget].unit
            left = self._left(budgets[line.budget]) if line.units is None else None
            if left is not None:
                cost = f"{line.budget} {_decimal(unit * left)}"
            elif line.units is None and self.grows:
                cost = f"whatever its path has left of {line.budget}"
            elif line.units is None:
                cost = f"at least {line.budget} {_decimal(unit * line.least)}"
            elif len(set(line.units)) == 1:
                cost = f"{line.budget} {_decimal(unit * line.units[0])}"
            else:
                costs = [unit * units for units in line.units]
                cost = f"{line.budget} {_decimal(min(costs))} to {_decimal(max(costs))}"
            times = "once" if line.uses == 1 else f"at most {line.uses} times"
            times += " on a path" if self.grows and line.uses > 1 else ""
            words.append((line.purpose, times, cost))
        if self.grows and (self.depth is None or self.specializations is None):
            words.append(("grow", "over all levels of a path together", self._growth()))
            words.append(("counts", "the rest", "whatever a path has left of epsilon"))
        return words

    def _repr_html_(self) -> str:
        """The plan for a notebook."""
        delta = f", delta {self.budget.delta}" if self.budget.delta else ""
        caption = f"Plan of {self.method}: epsilon {self.budget.epsilon}{delta}. No data was read."
        return small_table(caption, ["for", "how often", "what it costs a row"], self.lines())

    def _left(self, budget: UnitBudget) -> int | None:
        """What one line takes that takes the rest, if everybody pays for all others once."""
        lines = [line for line in self.allowances if line.budget == budget.name]
        fixed = [line.units[0] for line in lines if line.units is not None and line.uses == 1]
        return None if self.grows or len(fixed) != len(lines) - 1 else budget.units - sum(fixed)

    def _growth(self) -> str:
        return f"a share that waits for the noisy number of rows, paid in {self.budgets.growth}"

    def to_dict(self) -> dict[str, Any]:
        """The plan for machines.

        Example:
            >>> from hedgerow import DiffGen, sample
            >>> plan = DiffGen(specializations=3).plan(sample.schema(), epsilon=1)
            >>> plan.to_dict()["depth"]
            3
        """
        return {
            "method": self.method,
            "schedule": self.schedule,
            "epsilon": str(self.budget.epsilon),
            "delta": str(self.budget.delta),
            "rows_per_person": self.budget.rows,
            "accounting": self.budgets.accounting,
            "budgets": {
                budget.name: {"unit": str(budget.unit), "units": budget.units}
                for budget in self.budgets.parts
            },
            "specializations": self.specializations,
            "depth": self.depth,
            "allowances": [
                {
                    "purpose": line.purpose,
                    "budget": line.budget,
                    "units": None if line.units is None else list(line.units),
                    "uses": line.uses,
                }
                for line in self.allowances
            ],
        }


@dataclass(frozen=True, kw_only=True)
class RowsPlan(Plan):
    """What would be spent on what.

    Args:
        mode: "noisy" or "sampled".
        side: Percent of epsilon for making a side table; 0 if a public one is given.
        rule: How rows are left out: a rate and a threshold, or a share and a least size.
        lattice: The most generalizations that a record can have.
        few: What to know where few rows are shared by enough people.
    """

    mode: str = "noisy"
    side: int = 0
    rule: dict[str, Any] = field(default_factory=dict)
    lattice: int = 0
    few: str = ""

    @staticmethod
    def of(method: str, mode: str, budget: Budget, side: int, rule: dict[str, Any]) -> RowsPlan:
        """The plan for a budget, cut into hundredths."""
        whole = UnitBudget("epsilon", budget.row_epsilon / _UNITS, _UNITS)
        lines = (Allowance("side", "epsilon", units=(side,), uses=1),) if side else ()
        allowances = (*lines, Allowance("cells", "epsilon", units=(_UNITS - side,), uses=1))
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
        """Which rows will be published, and among how many generalizations each is chosen."""
        size = self.few and f" {self.few}"
        if self.lattice and self.remark is None:  # which says so too
            size += f" A record has up to {self.lattice:,} generalizations."
        if self.mode == "noisy":
            least = self.rule["threshold"]
            return f"Rows with a noisy count of at least {least} are published.{size}"
        one, those = ("person", "people") if self.budget.rows == 1 else ("row", "rows")
        return (
            f"Each {one} is sampled with probability {self.rule['sampling_rate']}; generalized "
            f"rows that at least {self.rule['threshold']} sampled {those} share are published."
            f"{size}"
        )

    def to_dict(self) -> dict[str, Any]:
        """The plan for machines."""
        told = super().to_dict()
        del told["specializations"], told["depth"], told["schedule"]
        return told | {"accounting": self.accounting, "mode": self.mode, **self.rules}


def _decimal(value: Fraction) -> str:
    return f"{float(value):.4g}"
