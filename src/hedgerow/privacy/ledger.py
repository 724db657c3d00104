"""The ledger: what every path of the tree has spent, charged before each draw.

Path composition (a privacy filter): if, for every record, the charges of the steps whose region
holds it add up to at most the budget, the whole transcript keeps within it. The proof is in
docs/privacy/guarantee.md. So each node of the tree has an account that begins with what its parent
had spent; accounts of siblings are parallel.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from hedgerow.arrays import Ints
from hedgerow.errors import LeakError
from hedgerow.privacy.budget import UnitBudget


@dataclass(frozen=True)
class Allowance:
    """One line of a plan: what a purpose may take from a budget.

    Args:
        purpose: What is bought, such as "select".
        budget: The name of the budget that pays.
        units: The units of one use by depth of the node (the last one holds below), or None for
            a purpose that takes whatever its path has left in that budget, or a part of it.
        uses: The most uses on one path.
        reach: How far one record may move what is drawn, at most: the `max_contribution` of counts,
            or the score range of a choice. `Plan.check_rates` holds the price against it.
        choice: Whether candidates are chosen by a score, and not counted.
        least: The least that one use takes, for a purpose without a price of its own.
    """

    purpose: str
    budget: str
    _: KW_ONLY
    units: tuple[int, ...] | None
    uses: int
    reach: int = 1
    choice: bool = False
    least: int = 1

    def at(self, depth: int) -> int | None:
        """The units of one use at a depth."""
        return None if self.units is None else self.units[min(depth, len(self.units) - 1)]


class Ledger:
    """Accounts in whole units; a charge that the plan has no allowance for is our bug, and raises.

    Example:
        >>> ledger = Ledger([UnitBudget("epsilon", Fraction(1, 10), 10)])
        >>> select = Allowance("select", "epsilon", units=(4,), uses=1)
        >>> ledger.allow([select, Allowance("leaf", "epsilon", units=None, uses=1)])
        >>> root = np.array([0])
        >>> ledger.charge("select", 0, root), ledger.charge("leaf", 0, root)
        (array([4]), array([6]))
    """

    def __init__(self, budgets: Iterable[UnitBudget]) -> None:
        self.budgets: dict[str, UnitBudget] = {budget.name: budget for budget in budgets}
        self._lines: dict[str, Allowance] = {}
        self._spent: dict[str, Ints] = {}
        self._uses: dict[str, Ints] = {}
        self._accounts = 1
        self._entries: dict[tuple[str, int, int], int] = {}

    def allow(self, lines: Iterable[Allowance]) -> None:
        """Lets the plan's purposes be charged. A purpose has one allowance."""
        for line in lines:
            if line.purpose in self._lines:
                raise LeakError(f"{line.purpose} was granted already")
            self._lines[line.purpose] = line
            self._spent[line.purpose] = np.zeros(self._accounts, dtype=np.int64)
            self._uses[line.purpose] = np.zeros(self._accounts, dtype=np.int64)

    def exchange(self, purpose: str, units: int, rho: Fraction) -> None:
        """Gives units of epsilon that nobody has spent for a budget of rho, of as many units.

        Let what was drawn so far cost e0, what epsilon keeps e1, and rho be (e2, delta)-DP for the
        units that are given. Whatever was drawn, the rest is then (e1 + e2, delta)-DP, and all is
        (e0 + e1 + e2, delta)-DP: whether to exchange may depend on what was drawn. `purpose` is
        what the rho is for.
        """
        epsilon = self.budgets["epsilon"]
        if self._accounts > 1 or "rho" in self.budgets or purpose in self._lines:
            raise LeakError(f"the budget of {purpose} was to be exchanged too late")
        if units > int(self.left("epsilon", np.zeros(1, dtype=np.int64))[0]):
            raise LeakError(f"{purpose} was to be paid with what was spent before")
        self.budgets["epsilon"] = replace(epsilon, units=epsilon.units - units)
        self.budgets["rho"] = UnitBudget("rho", rho / units, units)

    def open(self, parents: Ints) -> int:
        """Opens one account for each new node, in order; it inherits its parent's spending.

        Returns:
            The number of the first new account.
        """
        for purpose in self._lines:
            for book in (self._spent, self._uses):
                book[purpose] = np.concatenate([book[purpose], book[purpose][parents]])
        self._accounts += len(parents)
        return self._accounts - len(parents)

    @property
    def accounts(self) -> Ints:
        """All accounts that were opened."""
        return np.arange(self._accounts)

    def left(self, budget: str, accounts: Ints) -> Ints:
        """What each account's path may still take from a budget, in units."""
        spent = np.zeros(len(accounts), dtype=np.int64)
        for line in self._lines.values():
            if line.budget == budget:
                spent += self._spent[line.purpose][accounts]
        return self.budgets[budget].units - spent

    def price(self, purpose: str) -> int:
        """The units that the next charge to everybody takes: a fixed price, or what is left."""
        line = self._lines[purpose]
        fixed = line.at(0)
        return int(self.left(line.budget, np.array([0]))[0]) if fixed is None else fixed

    def charge(self, purpose: str, depth: int, accounts: Ints, units: Ints | None = None) -> Ints:
        """Books one use for each account, before anything is drawn, and returns its units.

        Regions that share an account must be disjoint: a record lies in one of them at most, so
        one charge serves all (parallel composition).

        Args:
            purpose: What is bought.
            depth: The depth of the accounts' nodes.
            accounts: One for each region.
            units: For a purpose without a fixed price, what each use takes; without it, all that
                is left.
        """
        first = shared = np.arange(len(accounts))
        if (accounts[1:] <= accounts[:-1]).any():  # otherwise each is there once, in order
            accounts, first, shared = np.unique(accounts, return_index=True, return_inverse=True)
        line = self._lines.get(purpose)
        if line is None:
            raise LeakError(f"the plan grants nothing for {purpose}")
        left = self.left(line.budget, accounts)
        fixed = line.at(depth)
        if units is None:
            units = left if fixed is None else np.full(len(accounts), fixed, dtype=np.int64)
        elif fixed is not None or (units != units[first][shared]).any() or (units <= 0).any():
            raise LeakError(f"{purpose} was charged at a price that the plan does not allow")
        else:
            units = units[first]
        if (units > left).any() or (self._uses[purpose][accounts] >= line.uses).any():
            raise LeakError(f"{purpose} asks for more than the plan granted")
        self._spent[purpose][accounts] += units
        self._uses[purpose][accounts] += 1
        for value, nodes in Counter(units.tolist()).items():
            key = (purpose, depth, value)
            self._entries[key] = self._entries.get(key, 0) + nodes
        return units[shared]

    def must_be_paid(self, purpose: str) -> None:
        """Refuses a draw whose one charge, to everybody, was not booked before."""
        if purpose not in self._lines or self._uses[purpose][0] != 1:
            raise LeakError(f"{purpose} was drawn before it was paid for")

    def amount(self, purpose: str, units: int) -> Fraction:
        """Units of a purpose as epsilon or rho."""
        return self.budgets[self._lines[purpose].budget].unit * units

    def allows(self, purpose: str) -> bool:
        """Whether the plan knows a purpose."""
        return purpose in self._lines

    def budget_of(self, purpose: str) -> str:
        """The name of the budget that pays for a purpose."""
        return self._lines[purpose].budget

    def book(self, published: Ints, leaves: int) -> dict[str, Any]:
        """The whole ledger in public words, for the manifest.

        Args:
            published: The accounts of the published leaves.
            leaves: How many leaves share each of these accounts.
        """
        spending = np.stack([self._spent[purpose][published] for purpose in self._lines], axis=1)
        profiles, numbers = np.unique(spending, axis=0, return_counts=True)
        return {
            "budgets": {
                budget.name: {"unit": str(budget.unit), "units": budget.units}
                for budget in self.budgets.values()
            },
            "entries": [
                {
                    "purpose": purpose,
                    "budget": self._lines[purpose].budget,
                    "depth": depth,
                    "units": units,
                    "nodes": nodes,
                }
                for (purpose, depth, units), nodes in sorted(self._entries.items())
            ],
            "paths": [
                {
                    "leaves": int(number) * leaves,
                    "spent": {
                        budget: {
                            purpose: units
                            for purpose, units in zip(self._lines, profile.tolist(), strict=True)
                            if units and self._lines[purpose].budget == budget
                        }
                        for budget in self.budgets
                    },
                }
                for profile, number in zip(profiles, numbers, strict=True)
            ],
        }
