"""Whether the marginals of a release was paid for: a part of `verify`."""

from __future__ import annotations

from hedgerow.measured.marginals import Marginals, fine_attributes
from hedgerow.measured.measurements import Measurement
from hedgerow.release.table import TableRelease as Release
from hedgerow.verification.prices import Book, Failed, gaussian_costs

__all__ = ["check_detail"]


def check_detail(release: Release, named: dict[str, Measurement], booked: dict[str, Book]) -> None:
    """Sees that every table of marginals has the noise that its charge buys.

    A record is counted once in each table, so the noise is that of the charge divided by their
    number. Pairs were chosen one by one, each choice was paid for, and no pair closes a ring.
    """
    marginals = Marginals.of(release.schema, release.measurements)
    tables = {} if marginals is None else {
        "one_way": len(release.schema.attributes),
        "fine": len(fine_attributes(release.schema)) if marginals.fine else 0,
        "two_way": len(marginals.pair),
    }  # fmt: skip
    for name, number in tables.items():
        if not number:
            continue
        measurement, book = named[name], booked[name]
        gaussian = measurement.law == "gaussian"
        paid_in = "rho" if gaussian else "epsilon"
        if book.budget != paid_in or measurement.max_contribution != number:
            raise Failed(f"{name} was counted in other tables than it was paid for")
        if len(set(measurement.units.tolist())) != 1:
            raise Failed(f"the cells of {name} were not counted alike")
        rate = int(measurement.units[0]) * measurement.unit
        costs = gaussian_costs(measurement, rate) if gaussian else rate * number
        if costs > book.once() * book.unit:
            raise Failed(f"{name} was counted at a price that was not booked for it")
    chosen = sum(booked["relate"].entries.values()) if "relate" in booked else 0
    if chosen != tables.get("two_way", 0):
        raise Failed("other pairs were counted than the choices that were paid for")
    if marginals is not None:
        _check_forest(list(marginals.pair), len(release.schema.attributes))


def _check_forest(pairs: list[tuple[int, int]], attributes: int) -> None:
    tree = list(range(attributes))
    for one, other in pairs:
        if tree[one] == tree[other]:
            raise Failed("the pairs of attributes form a ring, which no run chooses")
        old = tree[one]
        tree = [tree[other] if place == old else place for place in tree]
