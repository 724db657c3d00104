"""Checks of a ledger of paths, and of the order of measurements: for all methods with regions.

A part of `verify`: what a ledger says is believed in nothing that can be worked out.

`region_rules` puts the rules of such a method together. A method of another package gives what its
regions look like and where its charges fall (`hedgerow.verification.charges`), and has the rest.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from hedgerow.estimate.measurements import epsilon_from_rho, exact, group_delta, in_words
from hedgerow.release.measured import MeasuredRelease
from hedgerow.verification.prices import Failed, budgets, whole
from hedgerow.verification.rules import Rules, Stated

_MOST_ROWS_PER_PERSON = 10**6
_SHORT = 1000  # a fraction with a smaller denominator is shown as it is
_CONVERSION = ("rho", "epsilon", "delta")
_COVERED = {
    "table": "the regions cover the whole domain once",
    "transactions": "the sets of items cover all records",
}


def region_rules(
    *,
    shape: Any,
    measured: Callable[[Any], str],
    accounted: Callable[[Any], str],
    published: Callable[[Any], int] | None = None,
    some: bool = False,
    rest: bool = False,
    what: str = "regions",
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
    """
    return Rules(
        books={
            "ledger": partial(entries, some=some),
            "paths": partial(paths, some=some, rest=rest),
        },
        spending=spending,
        checks={
            what: partial(shaped, shape=shape, published=published, what=what),
            "measurements": measured,
            "accounts": accounted,
            "order": order,
        },
    )


def shaped(
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


def entries(stated: Stated, some: bool = False) -> str:
    """Every entry is paid from a budget, and every spending on a path is booked."""
    ledger = stated.ledger
    known = budgets(ledger)
    booked = set()
    for entry in ledger["entries"]:
        if entry["budget"] not in known:
            raise Failed(
                f"an entry for {entry['purpose']} is paid from a budget that does not exist"
            )
        whole(entry["depth"])
        whole(entry["nodes"], 1)
        if whole(entry["units"]):
            booked.add((entry["budget"], entry["purpose"]))
    spent = {
        (budget, purpose)
        for path in ledger["paths"]
        for budget, purposes in path["spent"].items()
        for purpose, units in purposes.items()
        if units
    }
    if not spent <= booked or (spent != booked and not some):
        raise Failed("what the paths spent on and what was booked are different things")
    return "every entry is paid from a budget, and every spending on a path is booked"


def paths(stated: Stated, some: bool = False, rest: bool = False) -> str:
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
    rows = whole(ledger["person_rows"], 1)
    if rows > _MOST_ROWS_PER_PERSON:
        raise Failed("the cap on rows per person is too large to mean anything")
    unit, units = known.get("epsilon", (Fraction(1), 0))
    epsilon, delta = unit * units, Fraction(0)
    if ledger["accounting"] == "zcdp":
        unit, units = known["rho"]
        conversion = {key: exact(ledger["conversion"][key]) for key in _CONVERSION}
        delta = conversion["delta"]
        if not 0 < delta < 1:
            raise Failed("the delta of the conversion does not lie between 0 and 1")
        if conversion["rho"] < unit * units:
            raise Failed("the conversion starts from less rho than was granted")
        converted = epsilon_from_rho(unit * units, delta)
        if conversion["epsilon"] < converted:
            raise Failed("the conversion of rho states less epsilon than it costs")
        epsilon += converted
    if rows > 1 and delta:
        delta = group_delta(epsilon, delta, rows)
    total = f"epsilon {in_words(epsilon * rows)}, delta {in_words(delta)}"
    if rows == 1:
        return f"recomputed from the ledger: {total}", epsilon, delta
    words = (
        f"recomputed from the ledger: {total} for a person with {rows} rows, each of which is "
        f"counted with epsilon {_exact(epsilon)}"
    )
    return words, epsilon * rows, delta


def _exact(number: Fraction) -> str:
    """A number as it is, if it is short: rounded up, the parts would exceed the whole."""
    return str(number) if number.denominator < _SHORT else in_words(number)


def order(release: MeasuredRelease) -> str:
    """The measurements stand in canonical order, none of them twice."""
    for measurement in release.measurements:
        keys = (
            [measurement.where]
            if measurement.klass is None
            else [
                measurement.klass,
                measurement.where,
            ]
        )
        order = np.lexsort(keys)
        pairs = np.stack(keys)
        twice = (pairs[:, 1:] == pairs[:, :-1]).all(axis=0).any()
        if not np.array_equal(order, np.arange(len(order))) or twice:
            raise Failed("the measurements are not in canonical order, which could reveal data")
    return "everything is in canonical order"
