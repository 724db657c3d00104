"""What rules for `verify` are made of: books, prices, and checks that all methods share.

A part of `verify`: like it, this shares no code with the ledger that wrote the numbers, and what a
ledger says is believed in nothing that can be worked out.

Every method brings rules (`hedgerow.registry` names them) that share no code with its plan or its
run. Rules belong to a schedule with its version, such as `tuned-1`: when a schedule changes, the
new version gets rules of its own and the old ones stay, so that old releases can be verified for
ever. `region_rules` puts the rules of a method that measures regions together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from hedgerow.arrays import Ints
from hedgerow.errors import HedgerowError, UsageError
from hedgerow.estimate.measurements import (
    Measurement,
    epsilon_from_rho,
    exact,
    group_delta,
    in_words,
)
from hedgerow.registry import METHODS, SCORES, load
from hedgerow.release import Release
from hedgerow.release.base import MeasuredRelease

_SHOWN = 5  # of names from a stranger
_MOST_UNITS = 1 << 40  # so that no sum over the steps of a path leaves 64 bits and starts anew
_MOST_PURPOSES = 100
_MOST_ROWS_PER_PERSON = 10**6
_SHORT = 1000  # a fraction with a smaller denominator is shown as it is
_CONVERSION = ("rho", "epsilon", "delta")
_COVERED = {
    "table": "the regions cover the whole domain once",
    "transactions": "the sets of items cover all records",
}


class Failed(HedgerowError):
    """A check that does not hold; its text says why."""


def refuse(fault: object, words: str) -> None:
    """Lets a check fail with these words if something that would be a fault is so."""
    if fault:
        raise Failed(words)


class UnknownHere(Exception):
    """What a release was made by is not installed here; the text says what."""


class Stated(Protocol):
    """What a release says of itself: a release, or the head of a manifest."""

    settings: dict[str, Any]
    guarantee: dict[str, Any]
    ledger: dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Rules:
    """What a release of one method under one schedule must show.

    A check says what it saw, or raises `Failed`.

    Args:
        books: Checks of the ledger alone, by name.
        spending: What one person can lose: in words, epsilon and delta.
        checks: Checks of the release, by name.
        settings: The names that its settings may have; None holds them to nothing.
        chosen: The names that its setting `chosen` may have, which public rules fill in.
        nested: The settings that are no single value, which `checks` must look at.
        upon: Takes a release, its rows, and whether today's estimator made them: checks them, and
            gives the release whose answers are counts of them. Another machine may have computed
            them a little differently, and another estimator as differently as noise allows.
    """

    books: Mapping[str, Callable[[Any], str]]
    spending: Callable[[Any], tuple[str, Fraction, Fraction]]
    checks: Mapping[str, Callable[[Any], str]]
    settings: frozenset[str] | None = None
    chosen: frozenset[str] = frozenset(("cap", "core", "variant"))
    nested: frozenset[str] = frozenset()
    upon: Callable[[Any, pa.Table, bool], Release] | None = None


def rules_for(method: str, settings: Mapping[str, Any]) -> Rules:
    """The rules for a release.

    Args:
        method: The name of its method.
        settings: Its settings, which may come from anybody.

    Raises:
        UnknownHere: If its method, its schedule or its score is not installed.

    Example:
        >>> rules_for("abacus", {})
        Traceback (most recent call last):
        hedgerow.verification.rules.UnknownHere: the method 'abacus' is not installed here ...
    """
    if method not in METHODS:
        raise UnknownHere(
            f"the method {method!r} is not installed here (known: {', '.join(METHODS)})"
        )
    try:
        known: Mapping[str, Rules] = load(METHODS[method].rules)
    except (UsageError, ImportError, AttributeError):
        raise UnknownHere(f"the rules of the method {method!r} cannot be loaded") from None
    schedule = settings.get("schedule")
    if not isinstance(schedule, str) or schedule not in known:
        raise UnknownHere(
            f"no rules for the schedule {schedule!r} of {method} are installed here "
            f"(known: {', '.join(known)})"
        )
    chosen = settings.get("chosen")
    for part in (settings, chosen if isinstance(chosen, dict) else {}):
        score = part.get("score")
        if score is not None and (not isinstance(score, str) or score not in SCORES):
            raise UnknownHere(
                f"the score {score!r} is not installed here (known: {', '.join(SCORES)})"
            )
    return known[schedule]


def in_quotes(names: Iterable[str]) -> str:
    """Some names from a stranger, in quotes, so that nobody takes them for our words.

    Example:
        >>> in_quotes(["x_a", "x_b"])
        "'x_a', 'x_b'"
    """
    every = list(names)
    more = " and others" if len(every) > _SHOWN else ""
    return ", ".join(repr(name) for name in every[:_SHOWN]) + more


# What was booked for each purpose, and whether the noise of a count was paid by it.


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
    refuse(any(unit <= 0 for unit, _ in found.values()), "a unit of the budget is not above 0")
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
        charges = zip(keys.tolist(), number.tolist(), strict=True)
        # the sizes first: a stranger's prices may be very many
        if len(keys) != len(self.entries) or self.entries != {
            divmod(key, size): times for key, times in charges
        }:
            raise self.differs()

    def differs(self) -> Failed:
        """The fault of charges that do not follow from the regions."""
        return Failed(f"other charges for {self.purpose} were booked than the regions show")


def books(ledger: dict[str, Any]) -> dict[str, Book]:
    """The entries of a ledger by purpose."""
    known = budgets(ledger)
    found: dict[str, Book] = {}
    for entry in ledger["entries"]:
        purpose, budget = entry["purpose"], entry["budget"]
        if not isinstance(purpose, str):
            raise ValueError
        if budget not in known:
            raise Failed(f"an entry for {purpose} is paid from a budget that does not exist")
        unit, granted = known[budget]
        book = found.setdefault(
            purpose, Book(purpose=purpose, budget=budget, unit=unit, granted=granted, entries={})
        )
        key = whole(entry["depth"]), whole(entry["units"])
        nodes = whole(entry["nodes"], 1)
        refuse(book.budget != budget, f"{purpose} is paid from two budgets")
        if key[1] > book.granted:
            raise Failed(f"a charge for {purpose} is larger than the budget that it is paid from")
        if key[1]:
            book.entries[key] = book.entries.get(key, 0) + nodes
        refuse(len(found) > _MOST_PURPOSES, "more purposes were paid for than any method has")
    return found


def prices(measurement: Measurement, book: Book) -> Ints:
    """What each place of a measurement cost, in units of epsilon, by the rate of its noise."""
    if book.budget != "epsilon" or measurement.law != "laplace":
        raise Failed(f"{measurement.name} is not paid from the budget of epsilon")
    distinct, index = np.unique(measurement.units, return_inverse=True)
    _check_number(len(distinct), book)
    ratio = measurement.unit / book.unit
    booked = {units for _, units in book.entries}
    found = []
    for units in distinct.tolist():
        price, rest = divmod(units * ratio.numerator, ratio.denominator)
        if rest or price not in booked:
            raise mispriced(measurement.name)
        found.append(price)
    return np.array(found, np.int64)[index]


def afford(measurement: Measurement, book: Book, units: Ints) -> None:
    """Sees that the noise on each place is just what its charge buys.

    Laplace noise of rate e is e-DP and e^2/2-zCDP: epsilon buys exactly its rate, and rho, of which
    roots are rounded down, at most that of its root. See `cost` for Gaussian noise.

    Args:
        measurement: The noisy counts.
        book: What was booked for them.
        units: The units that were charged for each place.
    """
    pairs = np.unique(np.stack([measurement.units, units]), axis=1)
    _check_number(pairs.shape[1], book)
    for rate_units, price in pairs.T.tolist():
        rate, paid = rate_units * measurement.unit, price * book.unit
        if measurement.law == "gaussian":
            fair = book.budget == "rho" and cost(measurement, rate) <= paid
        else:
            fair = rate == paid if book.budget == "epsilon" else rate * rate <= 2 * paid
        if not fair:
            raise mispriced(measurement.name)


def afford_together(measurement: Measurement, book: Book) -> None:
    """Sees that one charge pays for all numbers that a record may count for."""
    rate = int(measurement.units.max()) * measurement.unit
    if cost(measurement, rate) > book.once() * book.unit:
        raise mispriced(measurement.name)


def cost(measurement: Measurement, rate: Fraction) -> Fraction:
    """What noise of a rate costs: the rho of Gaussian, the epsilon of Laplace noise.

    Gaussian noise has a variance of 1/rate: one number that a record moves by one costs rate / 2 in
    zCDP, and by c costs c^2 times that. The squares of a record's changes add up to at most
    `max_contribution`. With Laplace noise it is their sum that does, and costs the rate times that.

    Example:
        >>> one = np.array([1])
        >>> cost(Measurement(name="two_way", at="cell", where=one, values=one[:, None],
        ...     by_class=False, units=one,
        ...     unit=Fraction(1, 50), max_contribution=3, law="gaussian"), Fraction(1, 50))
        Fraction(3, 100)
    """
    if measurement.law == "gaussian":
        return rate * measurement.max_contribution / 2
    return rate * measurement.max_contribution


def mispriced(name: str) -> Failed:
    """The fault of a count whose noise is not what was paid for."""
    return Failed(f"{name} was counted at a price that was not booked for it")


def _check_number(number: int, book: Book) -> None:
    """Each price was booked, so that many prices in few entries need no closer look."""
    if number > len(book.entries):
        raise mispriced(book.purpose)


# Checks of a ledger of paths, and of the order of measurements: for all methods with regions.


Profile = tuple[tuple[str, str, int], ...]
ELSEWHERE = "what the paths are said to have spent is not what the entries and the regions show"


def region_rules(
    *,
    shape: Any,
    measured: Callable[[Any], str],
    accounted: Callable[[Any], str],
    published: Callable[[Any], int] | None = None,
    some: bool = False,
    rest: bool = False,
    what: str = "regions",
    settings: str | None = None,
    chosen: str = "cap core variant",
) -> Rules:
    """The rules of a method that publishes measurements on regions.

    Args:
        shape: The class of its regions.
        measured: Whether every region was counted with the noise that its charge buys.
        accounted: Whether the paths are those that the entries and the regions show.
        published: How many regions the ledger accounts for, if not for all.
        some: Whether what did not reach a threshold has no path, though it was paid for.
        rest: Whether a path may leave a part of what was granted, as papers' schedules do.
        what: What regions are called.
        settings: The names that its settings may have, with spaces between; None for any.
        chosen: The names that its setting `chosen` may have.
    """
    return Rules(
        books={
            "ledger": partial(check_ledger, some=some),
            "paths": partial(check_paths, some=some, rest=rest),
        },
        spending=spending,
        checks={
            what: partial(check_shape, shape=shape, published=published, what=what),
            "measurements": measured,
            "accounts": accounted,
            "order": check_order,
        },
        settings=None if settings is None else frozenset(settings.split()),
        chosen=frozenset(chosen.split()),
    )


def check_shape(
    release: MeasuredRelease, *, shape: Any, published: Callable[[Any], int] | None, what: str
) -> str:
    """The regions are those of the method, and the ledger accounts for each."""
    partition = release.partition
    if not isinstance(partition, shape):
        raise Failed("what was published has not the shape that the method gives")
    release.check()  # one in memory was not checked when it was read
    number = partition.cells if published is None else published(release)
    if sum(whole(path["leaves"]) for path in release.ledger["paths"]) != number:
        raise Failed(f"the ledger accounts for another number of {what} than there are")
    if number < partition.cells:
        return "the sets follow from the tree over the items; the ledger accounts for those listed"
    return f"{_COVERED[release.kind]}, and the ledger accounts for each"


def check_ledger(stated: Stated, some: bool = False) -> str:
    """Every entry is paid from a budget, and every spending on a path is booked."""
    booked = {(book.budget, name) for name, book in books(stated.ledger).items() if book.entries}
    spent = {key for path in stated.ledger["paths"] for key, units in _spent(path).items() if units}
    if not spent <= booked or (spent != booked and not some):
        raise Failed("what the paths spent on and what was booked are different things")
    return "every entry is paid from a budget, and every spending on a path is booked"


def _spent(path: dict[str, Any]) -> dict[tuple[str, str], Any]:
    """What a path is said to have spent, by budget and purpose: perhaps no numbers."""
    return {
        (budget, purpose): units
        for budget, purposes in path["spent"].items()
        for purpose, units in purposes.items()
    }


def check_paths(stated: Stated, some: bool = False, rest: bool = False) -> str:
    """Every path spends exactly what was granted, or with a rest no more."""
    ledger = stated.ledger
    known = budgets(ledger)
    if not ledger["paths"] and not some:
        raise Failed("the ledger names no path, so nothing accounts for what is published")
    for path in ledger["paths"]:
        whole(path["leaves"], 1)
        if not path["spent"].keys() <= known.keys():
            raise Failed("a path spends from a budget that does not exist")
        for budget, (_, granted) in known.items():
            spent = sum(whole(units) for units in path["spent"].get(budget, {}).values())
            if spent > granted or (spent < granted and not rest):
                exactly = "at most" if rest else "exactly"
                raise Failed(f"a path does not spend {exactly} what was granted in {budget}")
    if rest:
        return "no path to what is published spends more than was granted"
    return "every path to what is published spends exactly what was granted"


def spending(stated: Stated) -> tuple[str, Fraction, Fraction]:
    """What one person can lose, by the budgets: in words, epsilon and delta."""
    ledger = stated.ledger
    known = budgets(ledger)
    rows = person_rows(ledger)
    unit, units = known.get("epsilon", (Fraction(1), 0))
    epsilon, delta = unit * units, Fraction(0)
    if ledger["accounting"] == "zcdp":
        unit, units = known["rho"]
        conversion = {key: exact(ledger["conversion"][key]) for key in _CONVERSION}
        delta = conversion["delta"]
        refuse(not 0 < delta < 1, "the delta of the conversion does not lie between 0 and 1")
        if conversion["rho"] < unit * units:
            raise Failed("the conversion starts from less rho than was granted")
        converted = epsilon_from_rho(unit * units, delta)
        if conversion["epsilon"] < converted:
            raise Failed("the conversion of rho states less epsilon than it costs")
        epsilon += converted
    if rows > 1 and delta:
        delta = group_delta(epsilon, delta, rows)
    words = f"recomputed from the ledger: epsilon {in_words(epsilon * rows)}, delta "
    words += in_words(delta)
    if rows > 1:
        # a number that is short is shown as it is: rounded up, the parts would exceed the whole
        each = str(epsilon) if epsilon.denominator < _SHORT else in_words(epsilon)
        words += f" for a person with {rows} rows, each of which is counted with epsilon {each}"
    return words, epsilon * rows, delta


def person_rows(ledger: dict[str, Any]) -> int:
    """The cap on rows per person that a ledger counts with."""
    rows = whole(ledger["person_rows"], 1)
    refuse(rows > _MOST_ROWS_PER_PERSON, "the cap on rows per person is too large to mean anything")
    return rows


def by_name(measurements: Sequence[Measurement], known: Container[str]) -> dict[str, Measurement]:
    """The measurements by name, of which no other than those known and none twice may be there."""
    found: dict[str, Measurement] = {}
    for measurement in measurements:
        if measurement.name not in known:
            raise Failed("a measurement is of a kind that this method does not make")
        refuse(measurement.name in found, f"the measurement {measurement.name} is there twice")
        found[measurement.name] = measurement
    return found


def profile(names: Sequence[tuple[str, str]], units: Sequence[int]) -> Profile:
    """What a path spent, by budget and purpose, in one order."""
    return tuple(sorted((*name, spent) for name, spent in zip(names, units, strict=True) if spent))


def check_profiles(profiles: Counter[Profile], ledger: dict[str, Any]) -> None:
    """Sees that so many regions spent so much by the ledger's own words, too."""
    stated: Counter[Profile] = Counter()
    for path in ledger["paths"]:
        spent = _spent(path)
        units = [whole(number) for number in spent.values()]
        stated[profile([*spent], units)] += whole(path["leaves"], 1)
    refuse(profiles != stated, ELSEWHERE)


def check_order(release: MeasuredRelease) -> str:
    """The measurements stand in canonical order, none of them twice."""
    for measurement in release.measurements:
        keys = [measurement.where]
        if measurement.klass is not None:
            keys = [measurement.klass, measurement.where]
        order, pairs = np.lexsort(keys), np.stack(keys)
        twice = (pairs[:, 1:] == pairs[:, :-1]).all(axis=0).any()
        if not np.array_equal(order, np.arange(len(order))) or twice:
            raise Failed("the measurements are not in canonical order, which could reveal data")
    return "everything is in canonical order"
