"""The rules for Supermodular: what was spent, and that suppressing rows was paid for by delta.

Like the rest of `verify` it believes the ledger in nothing that it can work out for itself.
"""

from __future__ import annotations

import decimal
import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from hedgerow.errors import HedgerowError
from hedgerow.estimate.measurements import exact, group_delta, in_words
from hedgerow.optimize.model import Forest
from hedgerow.release.table_releases import RowsRelease
from hedgerow.schema import Categorical
from hedgerow.verification import rules
from hedgerow.verification.rules import Book, Failed, Rules, refuse, whole

_DIGITS = 60
_MARGIN = Decimal("1e-40")  # far above what rounding to nearest can do at so many digits
_TERMS = 400
_MOST_STEPS = 20_000  # publishers look at 5000
_MOST_FAN = 1000
_MOST_LEAST = 5000  # of sampled people in a published row
_LARGEST_TERM = 1 << 50  # of a probability that can be drawn with


def _ledger(release: rules.Stated) -> str:
    """One charge for the rows, one for the side table if it was made, and nothing else."""
    booked = _books(release.ledger)
    made = release.settings.get("side") == "made"
    if set(booked) != ({"side", "cells"} if made else {"cells"}):
        raise Failed("other things were paid for than the settings say")
    if made:
        side, share = booked["side"], whole(release.settings["side_share"], 1)
        if side.once() * 100 != share * side.granted:
            raise Failed("the side table had another share of the budget than the settings say")
    total = sum(book.once() for book in booked.values())
    refuse(total != next(iter(booked.values())).granted, "what was charged is not what was granted")
    stated = {purpose: book.total for purpose, book in booked.items()}
    paths = release.ledger["paths"]
    if len(paths) != 1 or paths[0]["spent"] != {"epsilon": stated}:
        raise Failed("what the ledger says of paths is not what was charged")
    return "the rows were paid for once, and so was the side table if it was made"


def _books(ledger: dict[str, Any]) -> dict[str, Book]:
    if ledger.get("accounting") != "suppression":
        raise Failed("the accounting is not that of generalized rows")
    return rules.books({**ledger, "accounting": "pure"})


def _spending(release: rules.Stated) -> tuple[str, Fraction, Fraction]:
    book = _books(release.ledger)["cells"]
    rule = release.ledger["suppression"]
    rate = book.unit * book.once()
    rows = rules.person_rows(release.ledger)
    mode = release.settings.get("mode")
    if mode == "noisy":
        if exact(rule["rate"]) != rate or "sampling_rate" in rule:
            raise Failed("the noise is not what was paid for")
        least = whole(rule["threshold"], 1)
        delta = listing_delta(rate, least)
        words = f"rows are published from a noisy count of {least} on"
    elif mode == "sampled":
        share, least = exact(rule["sampling_rate"]), whole(rule["threshold"], 1)
        if least > _MOST_LEAST or share.denominator >= _LARGEST_TERM:
            raise Failed("people are sampled and rows suppressed by numbers that no plan has")
        if not 0 < share < 1 or rate < sampling_floor(share):
            raise Failed("so many people were sampled that epsilon cannot pay for it")
        delta = sampling_delta(rate, least, share, exact(release.guarantee["delta"]) / 1000)
        kept = "people are" if rows == 1 else "each row is"
        words = f"{kept} sampled with probability {share}, published from {least} of them on"
    else:
        raise Failed("the settings name no mode that is known")
    epsilon = book.unit * book.granted
    spent = epsilon * rows, group_delta(epsilon, delta, rows) if rows > 1 else delta
    words = f"recomputed: epsilon {in_words(spent[0])}, delta {in_words(spent[1])}; {words}"
    return words, *spent


def _rows(release: RowsRelease) -> str:
    rule = release.ledger["suppression"]
    least = whole(rule["threshold"])
    if release.counts.min(initial=least) < least:
        raise Failed("a row is published although it is below the threshold")
    fan = whole(release.settings["fan"], 2)
    refuse(fan > _MOST_FAN, "intervals are cut into more parts than any setting allows")
    try:
        forest = Forest.of(release.attributes, fan)
    except HedgerowError as error:
        raise Failed(error.message) from None
    ends = np.append(forest.root[1:], len(forest.lo)).tolist()
    for place, (start, end) in enumerate(zip(forest.root.tolist(), ends, strict=True)):
        known = set(zip(forest.lo[start:end].tolist(), forest.hi[start:end].tolist(), strict=True))
        listed = zip(release.lo[:, place].tolist(), release.hi[:, place].tolist(), strict=True)
        if not known.issuperset(listed):
            raise Failed("a row is no combination of values of the public hierarchies")
    return "every row is a combination of values of the public hierarchies"


def _order(release: RowsRelease) -> str:
    width = release.lo.shape[1]
    columns = [key[:, place] for place in range(width) for key in (release.lo, -release.hi)]
    order = np.lexsort(columns[::-1])
    same = np.ones(max(0, len(order) - 1), bool)
    for column in columns:
        same &= column[1:] == column[:-1]
    if not np.array_equal(order, np.arange(len(order))) or same.any():
        raise Failed("the rows are not in canonical order, which could reveal data")
    return "everything is in canonical order, and no row occurs twice"


def _weights(release: RowsRelease) -> str:
    """Weights are numbers of attributes and values that the schema has."""
    settings = release.settings
    bounds = settings.get("weight_bounds", [0, 1])
    if not isinstance(bounds, list) or len(bounds) != 2 or not all(map(_number, bounds)):  # noqa: PLR2004
        raise Failed("the bounds of the weights are not two numbers")
    given, columns = settings.get("weights") or {}, settings.get("weight_columns") or {}
    known = {attribute.name: attribute for attribute in release.attributes}
    if not given.keys() | columns.keys() <= known.keys():
        raise Failed("the settings name weights of something that is not an attribute")
    for name, weight in given.items():
        if _number(weight):
            continue
        attribute = known[name]
        labels = attribute.taxonomy.labels if isinstance(attribute, Categorical) else ()
        if not weight.keys() <= set(labels) or not all(map(_number, weight.values())):
            raise Failed("the settings name weights of what is no value of an attribute")
    if not columns:
        return "weights are numbers of attributes and values of the schema"
    if not all(isinstance(column, str) for column in columns.values()):
        raise Failed("a column of people's own weights has no name")
    return f"people's own weights were in the columns {rules.in_quotes(columns.values())}"


def _number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


_SETTINGS = (
    "schedule fan floor kappa keep least_utility mode model risk rule sharpness side side_share "
    "thorough trade utility weight_bounds weight_columns weight_missing weight_outside weights"
)

RULES = {
    "tuned-1": Rules(
        books={"ledger": _ledger},
        spending=_spending,
        checks={"rows": _rows, "order": _order, "weights": _weights},
        settings=frozenset(_SETTINGS.split()),
        chosen=frozenset(),
        nested=frozenset(("weight_bounds", "weight_columns", "weights")),
    )
}


# The delta of leaving rows out, rounded up. Nothing here shares code with
# `hedgerow.privacy.suppression`, which chose the numbers.


def listing_delta(rate: Fraction, threshold: int) -> Fraction:
    """The chance that a cell with one person in it is listed: a^(t - 1) / (1 + a), a = exp(-rate).

    Example:
        >>> float(listing_delta(Fraction(1), 15)) < 1e-6
        True
    """
    with decimal.localcontext(prec=_DIGITS):
        e = Decimal(rate.numerator) / Decimal(rate.denominator)
        delta = (-e * (threshold - 1)).exp() / (1 + (-e).exp())
        return min(Fraction(1), Fraction(delta * (1 + _MARGIN)))


def sampling_floor(share: Fraction) -> Fraction:
    """-ln(1 - share), rounded up: keeping people with this chance costs no less epsilon."""
    with decimal.localcontext(prec=_DIGITS):
        kept = 1 - share
        return Fraction(-(Decimal(kept.numerator) / Decimal(kept.denominator)).ln() + _MARGIN)


def sampling_delta(
    epsilon: Fraction, least: int, share: Fraction, enough: Fraction = Fraction(0)
) -> Fraction:
    """The delta of keeping people by chance and listing cells with at least so many of them.

    It is the largest s P[Bin(n, s) = J] - (e^epsilon - 1) P[Bin(n, s) > J] over J >= least - 1
    and n >= J. For each J the best n is known; the second probability is bounded from below by its
    first terms. From some J on a Chernoff bound covers all that follow.

    Args:
        epsilon: What was charged.
        least: The size of a cell from which it is listed.
        share: The chance of being kept.
        enough: The sum is not followed further once what follows is below this.

    Example:
        >>> float(sampling_delta(Fraction(1), 12, Fraction(1, 5))) < 1e-6
        True
    """
    with decimal.localcontext(prec=_DIGITS):
        s = Decimal(share.numerator) / Decimal(share.denominator)
        e = Decimal(epsilon.numerator) / Decimal(epsilon.denominator)
        growth = e.exp() * (1 - _MARGIN)
        target = Decimal(enough.numerator) / Decimal(enough.denominator)
        reach = (1 - s) / (growth - 1)
        best = Decimal(0)
        if _rest(least + _MOST_STEPS, s, reach) > s:  # no term is as large, so it would never end
            return Fraction(1)
        for place in range(least - 1, least - 1 + _MOST_STEPS):
            n = max(place, math.ceil(place * growth / (growth - (1 - s))) - 1)
            for near in (n - 1, n, n + 1):
                if near >= place:
                    best = max(best, _value(near, place, s, growth))
            rest = _rest(place + 1, s, reach)
            if rest <= max(best, target):
                return min(Fraction(1), Fraction(max(best, rest) * (1 + _MARGIN)))
        return Fraction(1)


def _value(n: int, place: int, s: Decimal, growth: Decimal) -> Decimal:
    point = (1 - s) ** (n - place)
    for j in range(1, place + 1):  # the binomial as such may have millions of digits
        point = point * (n - j + 1) / j * s
    term, tail = point, Decimal(0)
    for j in range(place + 1, min(n, place + _TERMS) + 1):
        term = term * (n - j + 1) / j * s / (1 - s)
        tail += term
    return s * point * (1 + _MARGIN) - (growth - 1) * tail * (1 - _MARGIN)


def _rest(place: int, s: Decimal, reach: Decimal) -> Decimal:
    """P[Bin(n, s) = J] <= exp(-n KL(J/n, s)), for the largest n that can matter; it falls in J."""
    n = place + (place + 1) * reach
    ratio = place / n
    if ratio <= s:
        return Decimal(1)
    distance = ratio * (ratio / s).ln()
    if ratio < 1:
        distance += (1 - ratio) * ((1 - ratio) / (1 - s)).ln()
    return s * (-n * distance).exp() * (1 + _MARGIN)
