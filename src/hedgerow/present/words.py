"""Numbers, values, budgets and promises in words: no digits of noise, no signs to learn."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from decimal import ROUND_CEILING, Decimal, localcontext
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from hedgerow.errors import ReleaseError

if TYPE_CHECKING:
    from hedgerow.release import Release
    from hedgerow.schema import Schema

TO = "\u00a0to\u00a0"  # as in the schema's own words, which --help does not wait for
_BROAD = 0.02  # the width of an interval from which tenths of a percent say nothing
_NO_NUMBER = 20  # above this epsilon e^epsilon is so large that its digits say nothing
_WEAK = 5  # above this epsilon a suspicion can become a near certainty


def decimal(value: Fraction) -> str:
    """A short decimal that is not below the value, so that a budget is never understated.

    Example:
        >>> decimal(Fraction(1, 3)), decimal(Fraction(1, 2)), decimal(Fraction(1, 10**9))
        ('0.3334', '0.5', '1e-9')
    """
    with localcontext(prec=4, rounding=ROUND_CEILING):
        short = (Decimal(value.numerator) / Decimal(value.denominator)).normalize()
    return f"{short:f}" if value == 0 or value > Fraction(1, 10**5) else f"{short:e}"


def protected(schema: Schema) -> tuple[str, str]:
    """What one of those is called whom a release protects, and several of them."""
    return schema.unit_names if schema.person_column is None else ("person", "people")


def describe_cap(schema: Schema) -> str | None:
    """That counts are of some of a person's rows alone, where that is so.

    Example:
        >>> from hedgerow.schema import Schema
        >>> age = {"type": "numeric", "low": 0, "high": 9}
        >>> stays = {"name": "stays", "unit": "person",
        ...     "metadata": {"unit_name": ["stay", "stays"]},
        ...     "attributes": {"who": {"role": "person", "max_rows": 3}, "age": age}}
        >>> describe_cap(Schema.from_dict(stays))
        'Of each person at most 3 stays are counted: the data may hold more.'
    """
    if schema.person is None:
        return None
    most, (one, several) = schema.person.max_rows, schema.unit_names
    those = f"1 {one} is" if most == 1 else f"{most} {several} are"
    return f"Of each person at most {those} counted: the data may hold more."


def strength(epsilon: Fraction | None, delta: Fraction | None) -> str:
    """Epsilon, and delta if there is one.

    Example:
        >>> strength(Fraction(1, 2), Fraction(1, 10**9)), strength(Fraction(2), Fraction(0))
        ('epsilon = 0.5, delta = 1e-9', 'epsilon = 2')
    """
    words = f"epsilon = {decimal(epsilon or Fraction(0))}"
    return words + (f", delta = {decimal(delta)}" if delta else "")


def guarantee(release: Release) -> list[str]:
    """What is promised, as sentences."""
    promise = release.guarantee
    if not promise.get("private", True):
        return [
            "NOT PRIVATE: this run was seeded, so its noise can be guessed. Use it for tests only."
        ]
    epsilon, delta = Fraction(promise["epsilon"]), Fraction(promise.get("delta", 0))
    beyond = ", but for a chance of about delta" if delta else ""
    one = release.describe().protected
    growth = "e^epsilon" if epsilon > _NO_NUMBER else f"e^epsilon = {factor(epsilon)}"
    lines = [
        f"Differential privacy with {strength(epsilon, delta)}: whatever a release shows is at "
        f"most {growth} times as likely if {one} is in the data as if not, and "
        f"the other way round{beyond}."
    ]
    if (weak := caution(epsilon)) is not None:
        lines.append(weak)
    about = release.schema.metadata
    if release.schema.is_signed_off:
        lines.append(f"{about.reviewer} signed the schema off as public on {about.reviewed}.")
    elif promise.get("began_as_draft"):
        lines.append("The schema began as a draft that was read off the private data.")
    if promise.get("row_wise_query"):
        lines.append(
            "The data came from a database query. That each of its rows depends on one person "
            "alone was acknowledged, not checked."
        )
    return lines


def unmeasured(release: Release) -> str | None:
    """Which attributes a release says nothing about."""
    if not release.unmeasured:
        return None
    return (
        f"Not measured: {', '.join(release.unmeasured)}. The release says nothing about "
        f"{'it' if len(release.unmeasured) == 1 else 'them'}: all values are taken to be equally "
        "frequent."
    )


def factor(epsilon: Fraction) -> str:
    """By how much odds can grow, e^epsilon for people to read, rounded up.

    Example:
        >>> factor(Fraction(1)), factor(Fraction(1, 10)), factor(Fraction(8)), factor(Fraction(100))
        ('2.72', '1.11', '2,981', 'e^100')
        >>> factor(Fraction(1, 100))
        '1.0101'
    """
    if epsilon > _NO_NUMBER:
        return f"e^{decimal(epsilon)}"
    value = math.exp(float(epsilon))
    digits = 0 if value >= 100 else 2 if value >= 1.1 else 4  # a small epsilon shows late
    return f"{math.ceil(value * 10**digits) / 10**digits:,.{digits}f}"


def after(before: float, epsilon: float) -> float:
    """What a suspicion becomes at most, if odds grow by the factor e^epsilon.

    Example:
        >>> round(after(0.01, 1.0), 3), after(0.5, 0.0)
        (0.027, 0.5)
    """
    growth = math.exp(min(epsilon, 700.0))
    return before * growth / (1 - before + before * growth)


def caution(epsilon: Fraction) -> str | None:
    """A warning, if so large an epsilon promises little.

    Example:
        >>> caution(Fraction(1)) is None, caution(Fraction(6)) is None
        (True, False)
    """
    if epsilon <= _WEAK:
        return None
    return (
        f"Warning: an epsilon above {_WEAK} protects weakly. A mere suspicion about a person can "
        "become a near certainty."
    )


def exact_percent(level: float) -> str:
    """A level in percent with all its digits: rounded, one just below 1 would be certainty.

    Example:
        >>> exact_percent(0.95), exact_percent(0.9999)
        ('95%', '99.99%')
    """
    digits = f"{Decimal(repr(level)) * 100:f}"
    return (digits.rstrip("0").rstrip(".") if "." in digits else digits) + "%"


def number(value: float) -> str:
    """A number of records, for people to read.

    Example:
        >>> number(1234.6), number(3.25), number(0.04), number(float("inf"))
        ('1,235', '3.2', '0', 'any number')
    """
    if not math.isfinite(value):
        return "any number"
    # one digit behind the point where it still matters
    shown = round(value, 1 if abs(value) < 10 else None)
    return f"{shown:,.0f}" if shown == round(shown) else f"{shown:.1f}"


def many(number: int, word: str) -> str:
    """A number of things.

    Example:
        >>> many(1, "region"), many(2, "region")
        ('1 region', '2 regions')
    """
    thing, of, rest = word.partition(" of ")
    return f"{number} {thing}{'' if number == 1 else 's'}{of}{rest}"


def regions(release: Release) -> str:
    """How many regions a release has, or generalized rows, or items; "nothing" for none."""
    about = release.describe()
    return many(about.number, about.part) if about.number else "nothing"


def describe_parts(release: Release) -> str:
    """How many regions a release has, and by which method."""
    return f"{regions(release)} by {release.method}"


# Values and shares.


def round_count(value: float, low: float, high: float) -> tuple[str, str]:
    """An estimate and its interval, with no more digits than the interval supports.

    Ends are rounded outwards, so that the interval holds no less often. From 0 to 0 would look like
    certainty, but is what is left where noise took a count far below zero.

    Example:
        >>> about, ends = round_count(6148.2, 6049, 6265)
        >>> about, ends.replace("\u00a0", " "), round_count(7.7, 3, math.inf)
        ('6,150', '6,040 to 6,270', ('7.7', '3 or more'))
        >>> round_count(2.4, 0, 91)[0], round_count(0, 0, 0)
        ('2', ('0', 'not known'))
    """
    if not math.isfinite(high):
        return number(max(0.0, value)), f"{number(low)} or more"
    if high <= 0:
        return "0", "not known"
    unit = 10 ** max(0, math.floor(math.log10(max(1.0, (high - low) / 10))))
    least, most = math.floor(low / unit) * unit, math.ceil(high / unit) * unit
    return f"{round(max(0.0, value) / unit) * unit:,}", f"{number(least)}{TO}{number(most)}"


def round_share(share: float, low: float, high: float) -> tuple[str, str]:
    """The same for a share, in percent.

    Example:
        >>> round_share(0.098, 0.083, 0.112)[1].replace("\u00a0", " ")
        '8% to 12%'
    """
    digits = 0 if high - low >= _BROAD else 1
    unit = 10**digits
    least, most = math.floor(100 * low * unit) / unit, math.ceil(100 * high * unit) / unit
    return f"{100 * share:.{digits}f}%", f"{least:.{digits}f}%{TO}{most:.{digits}f}%"


def round_interval(low: float, high: float) -> str:
    """A share of which only the interval is worth telling; ends are rounded outwards.

    Example:
        >>> round_interval(0.0, 0.0712).replace("\u00a0", " "), round_interval(0.0, 0.0)
        ('0 to 8%', 'not known')
    """
    if high <= 0:
        return "not known"
    digits = 1 if high < _BROAD else 0
    unit = 10**digits
    least, most = math.floor(100 * low * unit) / unit, math.ceil(100 * high * unit) / unit
    return f"{least:.{digits if least else 0}f}{TO}{most:.{digits}f}%"


def percent(share: float) -> str:
    """A share in percent with two digits that count.

    Example:
        >>> percent(0.423), percent(0.0421), percent(0.00421), percent(0.0)
        ('42%', '4.2%', '0.42%', '0%')
    """
    size = 100 * abs(share)
    digits = 0 if size >= 10 or size < 0.005 else 1 if size >= 1 else 2
    return f"{100 * share:.{digits}f}%"


def percent_up(share: float) -> str:
    """A share in percent, rounded up: a promise is never overstated, nor is anything certain.

    Example:
        >>> percent_up(0.0271), percent_up(0.985), percent_up(0.9951)
        ('2.8%', '99%', 'over 99%')
    """
    if share > 0.99:
        return "over 99%"
    digits = 2 if share < 0.01 else 1 if share < 0.1 else 0
    return f"{math.ceil(share * 10 ** (2 + digits) - 1e-9) / 10**digits:.{digits}f}%"


# What was spent, as the ledger of a release tells, which may come from anybody.


ALTOGETHER = "altogether"
"""The line of a ledger that no other adds to: ranges do not reach their ends on one path."""

_PURPOSES = {
    "rows": "how many rows there are, roughly",
    "by_class": "counts of each attribute by the class",
    "single": "counts of each attribute alone",
    "fine": "counts of large groups of numbers, in parts",
    "named": "the tables that the schema names",
    "relate": "choosing pairs of attributes",
    "pairs": "counts of these pairs",
    **{
        f"{number}_pairs": f"counts of pairs of the {number} round"
        for number in ("second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
    },
    "more_pairs": "counts of further pairs",
    "again": "a second count of each attribute",
    "select": "choosing what to specialize",
    "cut": "choosing where to cut numbers",
    "grow": "growing the tree",
    "allocate": "dividing specializations among groups",
    "leaf": "the counts that are published",
    "count": "the counts of every node",
    "counts": "the counts that are published",
    "spare": "a second look at these counts",
    "size": "how many items records have",
    "support": "how often each item occurs",
    "test": "choosing which partitions to go on with",
    "gate": "choosing which partitions to go on with",
    "cell": "which of the most frequent items go together",
    "side": "synthetic rows to measure risks on",
    "cells": "the rows that are published",
}
PLAIN = _PURPOSES | {  # the same in the words of somebody who knows no method
    "select": "choosing how to divide records",
    "allocate": "choosing how far to divide each group",
    "relate": "choosing which pairs of attributes to count",
}


def purpose_words(purpose: str) -> str:
    """What a purpose of the ledger means."""
    return _PURPOSES.get(purpose, purpose)


def spent_of(schema: Schema) -> str:
    """The heading above what was spent; a person with several rows may lose it for each."""
    return f"for any one {'row' if schema.kind == 'table' else 'record'}"


@contextmanager
def _reading() -> Iterator[None]:
    """Whatever goes wrong with a ledger that is not kept as it should be is one error."""
    try:
        yield
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError):
        raise ReleaseError(
            "the ledger of this release cannot be read",
            hint="Ask whoever published the release for a fresh copy.",
        ) from None


def list_spent(
    release: Release, names: Mapping[str, str] = _PURPOSES
) -> list[tuple[str, str, str]]:
    """What `list_spending` tells, and where a person may have several rows, what they lose in all.

    Args:
        release: The release.
        names: What purposes are called.
    """
    rows, person = list_spending(release.ledger, names), release.schema.person
    if person is not None and person.max_rows > 1:
        whole = f"at most {decimal(Fraction(release.guarantee['epsilon']))}"
        rows.append((f"a person with {person.max_rows} rows, altogether", "epsilon", whole))
    return rows


@_reading()
def list_spending(
    ledger: dict[str, Any], names: Mapping[str, str] = _PURPOSES
) -> list[tuple[str, str, str]]:
    """What was spent on what: purpose, budget, and from how little to how much on any path.

    Args:
        ledger: The books of a release.
        names: What purposes are called.

    Raises:
        ReleaseError: If the ledger, which may come from anybody, is not kept as it should be.
    """
    from hedgerow.estimate.measurements import exact

    units = {budget: exact(entry["unit"]) for budget, entry in ledger["budgets"].items()}
    rows: list[tuple[str, str, str]] = []
    if not ledger["paths"]:  # nothing was published, but looks at the data cost all the same
        largest: dict[tuple[str, str], dict[int, int]] = {}
        for entry in ledger["entries"]:
            by_depth = largest.setdefault((entry["purpose"], entry["budget"]), {})
            depth = int(entry["depth"])
            by_depth[depth] = max(by_depth.get(depth, 0), int(entry["units"]))
        for (purpose, budget), by_depth in largest.items():
            amount = decimal(sum(by_depth.values()) * units[budget])
            rows.append((names.get(purpose, purpose), budget, f"at most {amount}"))
    for budget, unit in units.items():
        paths = [path["spent"].get(budget, {}) for path in ledger["paths"]]
        purposes = {name for path in paths for name in path}
        for purpose in _in_order(purposes):
            spent = [exact(path.get(purpose, 0)) * unit for path in paths]
            least, most = decimal(min(spent)), decimal(max(spent))
            if max(spent) > 0:
                amount = least if least == most else f"{least} to {most}"
                rows.append((names.get(purpose, purpose), budget, amount))
        spent = [exact(sum(int(part) for part in path.values())) * unit for path in paths]
        if len(purposes) > 1 and max(spent, default=Fraction(0)) > 0:
            rows.append((ALTOGETHER, budget, f"at most {decimal(max(spent))}"))
    return rows


@_reading()
def shares(ledger: dict[str, Any]) -> list[tuple[str, float]]:
    """What part of the budget each purpose got, on the average path to a region.

    What was accounted for in rho counts with the epsilon that it was converted to.

    Args:
        ledger: The books of a release.

    Raises:
        ReleaseError: If the ledger, which may come from anybody, cannot be read.

    Example:
        >>> shares({"budgets": {"epsilon": {"unit": "1/4", "units": 4}}, "paths": [
        ...     {"leaves": 3, "spent": {"epsilon": {"leaf": 3, "select": 1}}}]})
        [('choosing how to divide records', 0.25), ('the counts that are published', 0.75)]
    """
    from hedgerow.estimate.measurements import exact

    if [exact(entry["unit"]) for entry in ledger["budgets"].values()] and not ledger["paths"]:
        return []  # nothing was listed, so no path to anything is there
    spent: dict[str, float] = {}
    weights = [int(path["leaves"]) for path in ledger["paths"]]
    if not any(weights):  # a release may list nothing at all, and was paid for all the same
        weights = [1] * len(weights)
    for budget, entry in ledger["budgets"].items():
        worth, units = float(exact(entry["unit"])), int(entry["units"])
        if budget != "epsilon":
            worth = float(exact(ledger["conversion"]["epsilon"])) / max(1, units)
        for path, weight in zip(ledger["paths"], weights, strict=True):
            for purpose, used in path["spent"].get(budget, {}).items():
                amount = int(used) * worth * weight / sum(weights)
                spent[purpose] = spent.get(purpose, 0.0) + amount
    total = sum(spent.values())
    parts = [(PLAIN.get(one, one), spent[one] / total) for one in _in_order(spent) if spent[one]]
    if not parts or not all(math.isfinite(share) and 0 <= share <= 1 for _, share in parts):
        raise ValueError
    return parts


def _in_order(purposes: Collection[str]) -> list[str]:
    """Purposes of the ledger in the order in which they are told, those without words last.

    Example:
        >>> _in_order({"leaf", "else", "rows"})
        ['rows', 'leaf', 'else']
    """
    return [one for one in _PURPOSES if one in purposes] + sorted({*purposes} - {*_PURPOSES})


# What commands say of a release and its books.


def booking(facts: dict[str, Any]) -> str:
    """What a budget ledger says of a release, and what is left."""
    from hedgerow.ledger.file import plain

    left = plain(Fraction(facts["epsilon_left"]))
    return (
        f"Booked as release {facts['release']} in {facts['file']}: {facts['dataset']} has epsilon "
        f"{left} left."
    )


def summary(release: Release) -> dict[str, Any]:
    """What commands say of a release and its books, for machines."""
    about = release.describe()
    return {
        "kind": release.kind,
        "method": release.method,
        "settings": release.settings,
        "schema": release.schema.name,
        "guarantee": release.guarantee,
        about.parts: about.number,
        "not_measured": list(release.unmeasured),
        "spent_per": "person" if release.schema.person is None else "row",
        "spent": [
            {"purpose": purpose, "budget": budget, "amount": amount}
            for purpose, budget, amount in list_spending(release.ledger)
            if purpose != ALTOGETHER
        ],
    }
