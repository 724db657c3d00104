"""A plan: the public rule from transcript to charges, made before any data is seen."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from hedgerow.errors import UsageError
from hedgerow.privacy.budget import (
    LARGEST_TERM,
    Budget,
    Pot,
    rate_below,
    rho_of_epsilon,
    root_below,
)
from hedgerow.privacy.ledger import Line

__all__ = ["Plan", "Purse", "leaf_lines", "levels", "open_purse"]

_LEAST_RHO = Fraction(1, 1 << 60)  # its square root is still above 0 when it is rounded


@dataclass(frozen=True)
class Purse:
    """The pots of a release, and which of them pays for growing the tree.

    With delta = 0 there is one pot of epsilon. With a delta, growing is paid from a pot of rho
    (zCDP), and counts of leaves stay pure: (e1, delta) and e2 add up to (e1 + e2, delta).
    """

    pots: tuple[Pot, ...]
    growth: Literal["epsilon", "rho"]

    @property
    def accounting(self) -> str:
        """How losses are added up."""
        return "pure" if self.growth == "epsilon" else "zcdp"

    @property
    def growth_units(self) -> int:
        """The units of the pot that pays for growing."""
        return next(pot.units for pot in self.pots if pot.name == self.growth)


def open_purse(budget: Budget, units: int, growth_units: int) -> Purse:
    """Cuts the budget of one row into equal units, of which growing may take so many.

    Args:
        budget: What one person may lose.
        units: The units that epsilon is cut into.
        growth_units: Those of them meant for growing. With a delta they are exchanged for rho,
            cut into as many units again.
    """
    unit = budget.row_epsilon / units
    if not budget.delta:
        return Purse((Pot("epsilon", unit, units),), "epsilon")
    rho = rho_of_epsilon(unit * growth_units, budget.row_delta)
    if rho / growth_units < _LEAST_RHO:
        raise UsageError(
            "epsilon is too small to be used with a delta.",
            hint="Leave delta out, or take a larger epsilon.",
        )
    return Purse(
        (
            Pot("epsilon", unit, units - growth_units),
            Pot("rho", rho / growth_units, growth_units),
        ),
        "rho",
    )


def leaf_lines(purse: Purse) -> tuple[Line, ...]:
    """Leaves take whatever their paths have left, of each pot apart."""
    leaf = Line("leaf", "epsilon", None, 1)
    return (leaf,) if purse.growth == "epsilon" else (leaf, Line("spare", "rho", None, 1))


def levels(units: int, depth: int) -> tuple[int, ...]:
    """Shares units equally among the levels of a tree; what does not divide is left to leaves.

    Example:
        >>> levels(100, 3)
        (33, 33, 33)
    """
    return (units // max(1, depth),) * max(1, depth)


@dataclass(frozen=True)
class Plan:
    """What would be spent on what.

    Args:
        method: The publisher's name.
        schedule: "tuned" or "paper".
        budget: What one person may lose.
        purse: The pots.
        grants: The lines that the ledger will allow.
        specialisations: The number of specialisations, or None while it waits for the noisy
            number of rows.
        depth: The most specialisations on one path, or None likewise.
        grows: Whether the method specialises a table at all.
    """

    method: str
    schedule: str
    budget: Budget
    purse: Purse
    grants: tuple[Line, ...]
    specialisations: int | None
    depth: int | None
    grows: bool = True

    @property
    def accounting(self) -> str:
        """How losses are added up."""
        return self.purse.accounting

    def check_rates(self, span: int) -> None:
        """Refuses a plan whose shares are too small to be drawn with, before any is spent.

        Args:
            span: The largest span that a score may have.
        """
        pots: dict[str, Pot] = {pot.name: pot for pot in self.purse.pots}
        if any(
            pot.name == "epsilon" and pot.unit.denominator >= LARGEST_TERM for pot in pots.values()
        ):
            raise UsageError(
                "epsilon cannot be divided so finely.",
                hint="Take an epsilon with fewer digits, or fewer specialisations.",
            )
        for line in self.grants:
            share = min((units for units in line.units or () if units), default=None)
            if share is None or not line.uses:
                continue
            amount = pots[line.pot].unit * share
            if not rate_below((amount if line.pot == "epsilon" else root_below(amount)) / span):
                raise UsageError(
                    "epsilon is too small for so many specialisations.",
                    hint="Take a larger epsilon, or fewer specialisations.",
                )

    def lines(self) -> list[tuple[str, str, str]]:
        """The plan in words: purpose, where, and what one use costs one row."""
        pots: dict[str, Pot] = {pot.name: pot for pot in self.purse.pots}
        words = []
        for line in self.grants:
            unit = pots[line.pot].unit
            if line.units is None:
                cost = f"whatever its path has left of {line.pot}"
            elif len(set(line.units)) == 1:
                cost = f"{line.pot} {_decimal(unit * line.units[0])}"
            else:
                costs = [unit * units for units in line.units]
                cost = f"{line.pot} {_decimal(min(costs))} to {_decimal(max(costs))}"
            times = "once" if line.uses == 1 else f"at most {line.uses} times on a path"
            words.append((line.purpose, times, cost))
        if self.grows and (self.depth is None or self.specialisations is None):
            words.append(("grow", "over all levels of a path together", self._growth()))
            words.append(("counts", "the rest", "whatever a path has left of epsilon"))
        return words

    def _growth(self) -> str:
        return f"a share that waits for the noisy number of rows, paid in {self.purse.growth}"

    def to_dict(self) -> dict[str, Any]:
        """The plan for machines."""
        return {
            "method": self.method,
            "schedule": self.schedule,
            "epsilon": str(self.budget.epsilon),
            "delta": str(self.budget.delta),
            "rows_per_person": self.budget.rows,
            "accounting": self.purse.accounting,
            "pots": {
                pot.name: {"unit": str(pot.unit), "units": pot.units} for pot in self.purse.pots
            },
            "specialisations": self.specialisations,
            "depth": self.depth,
            "grants": [
                {
                    "purpose": line.purpose,
                    "pot": line.pot,
                    "units": None if line.units is None else list(line.units),
                    "uses": line.uses,
                }
                for line in self.grants
            ],
        }


def _decimal(value: Fraction) -> str:
    return f"{float(value):.4g}"
