"""What a ledger booked for each purpose, and whether a count's noise was paid by it.

A part of `verify`: like it, this shares no code with the ledger that wrote the numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from hedgerow.arrays import Ints
from hedgerow.estimate.measurements import Measurement, exact

_MOST_UNITS = 1 << 40  # so that no sum over the steps of a path leaves 64 bits and starts anew
_MOST_PURPOSES = 100


class Failed(Exception):
    """A check that does not hold; its text says why."""


def whole(number: Any, least: int = 0) -> int:
    """A whole number of a manifest, which may come from anybody."""
    if not isinstance(number, int) or isinstance(number, bool) or number < least:
        raise ValueError
    return number


def budgets(ledger: dict[str, Any]) -> dict[str, tuple[Fraction, int]]:
    """The budgets of a ledger: what a unit is worth, and how many units there are."""
    found = {
        name: (exact(budget["unit"]), whole(budget["units"]))
        for name, budget in ledger["budgets"].items()
    }
    allowed = {"epsilon"} if ledger["accounting"] == "pure" else {"epsilon", "rho"}
    if ledger["accounting"] not in ("pure", "zcdp") or not found or not found.keys() <= allowed:
        raise Failed("the ledger's accounting and its currencies do not fit each other")
    if any(unit <= 0 for unit, _ in found.values()):
        raise Failed("a unit of the budget is not above 0")
    if any(units > _MOST_UNITS for _, units in found.values()):
        raise Failed("the budget is cut into more units than any plan needs")
    return found


@dataclass(frozen=True, kw_only=True)
class Book:
    """What was booked for one purpose.

    Args:
        purpose: What was bought.
        budget: Who paid: "epsilon" or "rho".
        unit: What one unit of the budget is worth.
        granted: The units that the budget holds.
        entries: How many charges there were of so many units at a depth, by (depth, units).

    Example:
        >>> Book(purpose="select", budget="epsilon", unit=Fraction(1, 10), granted=10, entries={(0,
        ...     2): 1, (1, 1): 2}).total
        4
    """

    purpose: str
    budget: str
    unit: Fraction
    granted: int
    entries: dict[tuple[int, int], int]

    @property
    def total(self) -> int:
        """The units of all charges together."""
        return sum(units * nodes for (_, units), nodes in self.entries.items())

    def once(self) -> int:
        """The units of the only charge."""
        if list(self.entries.values()) != [1]:
            raise Failed(f"{self.purpose} was not booked once, as what is charged to everyone is")
        return self.total

    def by_depth(self, depths: int) -> Ints:
        """The units of a charge at each depth, 0 where nothing was booked."""
        found = np.zeros(depths, np.int64)
        for depth, units in self.entries:
            if depth < depths:
                found[depth] = units
        return found

    def hold(self, depth: Ints, units: Ints, draws: Ints) -> None:
        """Sees that just these charges were booked.

        Args:
            depth: The depth of each charge.
            units: The units of each charge.
            draws: How often each was made.
        """
        size = self.granted + 1  # no charge is larger, so that a pair becomes one number
        made = draws > 0
        keys, index = np.unique(depth[made] * size + units[made], return_inverse=True)
        number = np.zeros(len(keys), np.int64)
        np.add.at(number, index, draws[made])
        # the sizes first: a stranger's prices may be very many
        if len(keys) != len(self.entries) or self.entries != {
            divmod(key, size): times
            for key, times in zip(keys.tolist(), number.tolist(), strict=True)
        }:
            raise Failed(f"other charges for {self.purpose} were booked than the regions show")


def books(ledger: dict[str, Any]) -> dict[str, Book]:
    """The entries of a ledger by purpose."""
    known = budgets(ledger)
    found: dict[str, Book] = {}
    for entry in ledger["entries"]:
        purpose, budget = entry["purpose"], entry["budget"]
        if not isinstance(purpose, str):
            raise ValueError
        unit, granted = known[budget]
        book = found.setdefault(
            purpose, Book(purpose=purpose, budget=budget, unit=unit, granted=granted, entries={})
        )
        key = whole(entry["depth"]), whole(entry["units"])
        nodes = whole(entry["nodes"], 1)
        if book.budget != budget:
            raise Failed(f"{purpose} is paid from two budgets")
        if key[1] > book.granted:
            raise Failed(f"a charge for {purpose} is larger than the budget that it is paid from")
        if key[1]:
            book.entries[key] = book.entries.get(key, 0) + nodes
        if len(found) > _MOST_PURPOSES:
            raise Failed("more purposes were paid for than any method has")
    return found


def prices(measurement: Measurement, book: Book) -> Ints:
    """What each place of a measurement cost, in units of epsilon, by the rate of its noise."""
    if book.budget != "epsilon" or measurement.law != "laplace":
        raise Failed(f"{measurement.name} is not paid from the budget of epsilon")
    distinct, index = np.unique(measurement.units, return_inverse=True)
    _few(len(distinct), book)
    ratio = measurement.unit / book.unit
    booked = {units for _, units in book.entries}
    found = []
    for units in distinct.tolist():
        price, rest = divmod(units * ratio.numerator, ratio.denominator)
        if rest or price not in booked:
            raise Failed(f"{measurement.name} was counted at a price that was not booked for it")
        found.append(price)
    return np.array(found, np.int64)[index]


def afford(measurement: Measurement, book: Book, units: Ints) -> None:
    """Sees that the noise on each place is just what its charge buys.

    Laplace noise of rate e is e-DP and e^2/2-zCDP: epsilon buys exactly its rate, and rho, of which
    roots are rounded down, at most that of its root. See `gaussian_costs` for Gaussian noise.

    Args:
        measurement: The noisy counts.
        book: What was booked for them.
        units: The units that were charged for each place.
    """
    pairs = np.unique(np.stack([measurement.units, units]), axis=1)
    _few(pairs.shape[1], book)
    for rate_units, price in pairs.T.tolist():
        rate, paid = rate_units * measurement.unit, price * book.unit
        if measurement.law == "gaussian":
            fair = book.budget == "rho" and gaussian_costs(measurement, rate) <= paid
        else:
            fair = rate == paid if book.budget == "epsilon" else rate * rate <= 2 * paid
        if not fair:
            raise Failed(f"{measurement.name} was counted at a price that was not booked for it")


def gaussian_costs(measurement: Measurement, rate: Fraction) -> Fraction:
    """The rho of Gaussian noise with a variance of 1/rate.

    One number that a record moves by one costs rate / 2 in zCDP, and by c costs c^2 times that. The
    squares of a record's changes add up to at most `max_contribution`.

    Example:
        >>> one = np.array([1])
        >>> gaussian_costs(Measurement(name="two_way", at="cell", where=one, values=one[:, None],
        ...     by_class=False, units=one,
        ...     unit=Fraction(1, 50), max_contribution=3, law="gaussian"), Fraction(1, 50))
        Fraction(3, 100)
    """
    return rate * measurement.max_contribution / 2


def _few(number: int, book: Book) -> None:
    """Each price was booked, so that many prices in few entries need no closer look."""
    if number > len(book.entries):
        raise Failed(f"{book.purpose} was counted at a price that was not booked for it")
