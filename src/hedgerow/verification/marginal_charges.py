"""Whether the marginals of a release were paid for: a part of `verify`."""

from __future__ import annotations

from hedgerow.measured.marginals import Marginals
from hedgerow.measured.measurements import Measurement
from hedgerow.release.table import TableRelease as Release
from hedgerow.verification.prices import Book, Failed, gaussian_costs

__all__ = ["check_marginals"]

_ONE = 256  # what a record may add to a residual, whose unit is 1/256


def check_marginals(
    release: Release, named: dict[str, Measurement], booked: dict[str, Book]
) -> None:
    """Sees that every table of marginals has the noise that its charge buys.

    A record is counted once in each table, so the noise is that of the charge divided by their
    number. Pairs and rounds were chosen one by one, each choice was paid for. No pair closes a ring
    but the extra ones, which were chosen after the others, and of others.
    """
    marginals = Marginals.of(release.schema, release.measurements)
    pairs = 0 if marginals is None else len(marginals.pair)
    extra = 0 if marginals is None else len(marginals.extra)
    rounds = 0 if marginals is None else len(marginals.rounds)
    if pairs + extra > _draws(booked, "relate"):
        raise Failed("more pairs were counted than choices were paid for")
    if not rounds == _draws(booked, "pick") == _draws(booked, "residual"):
        raise Failed("other rounds of residuals were measured than were paid for")
    if marginals is None:
        return
    tables = {
        "one_way": sum(map(bool, map(len, (*marginals.single, marginals.classes)))),
        "fine": len({place for place, _ in marginals.fine}),
        "two_way": pairs,
        "extra": extra,
    }
    for name, number in tables.items():
        if number:
            _check(named[name], booked[name], number, 1, booked[name].once())
    if rounds:
        prices = {units for _, units in booked["residual"].entries}
        if len(prices) != 1:
            raise Failed("rounds of residuals were not paid alike")
        _check(named["residual"], booked["residual"], 1, _ONE, prices.pop())
    if marginals.pair.keys() & marginals.extra.keys():
        raise Failed("a pair of attributes was counted twice")
    _check_forest(list(marginals.pair), len(release.schema.attributes))


def _draws(booked: dict[str, Book], purpose: str) -> int:
    """How often something was paid for, always by everybody."""
    if purpose not in booked:
        return 0
    if any(depth for depth, _ in booked[purpose].entries):
        raise Failed(f"{purpose} was not charged to everyone")
    return sum(booked[purpose].entries.values())


def _check(measurement: Measurement, book: Book, number: int, step: int, units: int) -> None:
    """Sees that a record that changes so many numbers by a step loses no more than was paid."""
    name, gaussian = measurement.name, measurement.law == "gaussian"
    if book.budget != ("rho" if gaussian else "epsilon"):
        raise Failed(f"{name} is not paid from the budget that buys its noise")
    if measurement.max_contribution != number * (step * step if gaussian else step):
        raise Failed(f"{name} was counted in other tables than it was paid for")
    if len(set(measurement.units.tolist())) != 1:
        raise Failed(f"the cells of {name} were not counted alike")
    rate = int(measurement.units[0]) * measurement.unit
    costs = gaussian_costs(measurement, rate) if gaussian else number * step * rate
    if costs > units * book.unit:
        raise Failed(f"{name} was counted at a price that was not booked for it")


def _check_forest(pairs: list[tuple[int, int]], attributes: int) -> None:
    tree = list(range(attributes))
    for one, other in pairs:
        if tree[one] == tree[other]:
            raise Failed("the pairs of attributes form a ring, which no run chooses")
        old = tree[one]
        tree = [tree[other] if place == old else place for place in tree]
