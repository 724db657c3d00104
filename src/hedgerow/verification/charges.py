"""What every path of a release spent, recomputed from its regions, entries and measurements.

A part of `verify`: what the ledger says of paths is believed in nothing.

Where a charge falls follows from the method, whose rules say what was charged at the nodes of a
tree (`Grown`). All else falls on every path: a method that looks at everybody whenever it chooses
says nothing. Counts of places of a tree are charged to these places. The regions of a grid are
disjoint and share one charge.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from hedgerow.arrays import Ints
from hedgerow.estimate.measurements import Measurement
from hedgerow.estimate.partition import TreePartition
from hedgerow.release.table import TableRelease as Release
from hedgerow.verification.ledger import region_rules
from hedgerow.verification.prices import Book, Failed, afford, books, prices, whole
from hedgerow.verification.rules import Rules

Charged = tuple[str, Ints, Ints]  # a purpose, nodes of a tree, and how many draws at each
Growth = Callable[[Release, dict[str, Book]], None]
Grown = Callable[[Release, TreePartition, dict[str, Book]], list[Charged]]
Profile = tuple[tuple[str, str, int], ...]

_NAMES = ("rows", "allocate", "leaf", "spare", "count")
ELSEWHERE = "what the paths are said to have spent is not what the entries and the regions show"


@dataclass(frozen=True, kw_only=True)
class _Charges:
    """What was charged for one purpose at nodes of a tree, in the order of `node`.

    Args:
        node: The nodes.
        depth: The depth at which each charge was booked.
        units: The units of one draw.
        draws: How many draws there were at each node.
    """

    node: Ints
    depth: Ints
    units: Ints
    draws: Ints


def nowhere(release: Release, tree: TreePartition, booked: dict[str, Book]) -> list[Charged]:
    """For methods that choose for everybody: nothing is charged at nodes for choosing."""
    return []


def table_rules(
    shape: Any,
    growth: Growth,
    grown: Grown = nowhere,
    *,
    settings: str | None = None,
    rest: bool = False,
) -> Rules:
    """The rules of a method that publishes a table by regions.

    Args:
        shape: The class of its regions.
        growth: Sees that what the regions show to have been chosen was booked.
        grown: What was charged for choosing at nodes of a tree.
        settings: The names that its settings may have, with spaces between; None for any.
        rest: Whether a path may leave a part of what was granted.
    """
    rules = region_rules(
        shape=shape,
        measured=partial(measured, grown=grown),
        accounted=partial(accounted, growth=growth, grown=grown),
        rest=rest,
    )
    names = None if settings is None else frozenset(settings.split())
    chosen = frozenset(("depth", "score", "specializations"))
    return replace(rules, settings=names, chosen=chosen)


def rows_booked(booked: dict[str, Book]) -> None:
    """A tuned schedule buys the number of rows before all else."""
    if "rows" not in booked:
        raise Failed("nothing was booked for rows, which a tuned schedule buys first")


def measured(release: Release, grown: Grown) -> str:
    """Every region was counted, and every count has the noise that its charge buys."""
    named = _named(release)
    booked = books(release.ledger)
    for name, measurement in named.items():
        _check_places(release, measurement)
        if name not in booked:
            raise Failed(f"{name} was counted, and nothing was booked for it")
    charged = _charges(release, named, booked, grown)
    for name, measurement in named.items():
        if name in charged:
            units = charged[name].units
        else:
            _check_shared(release, measurement)
            units = np.full(len(measurement.where), booked[name].once(), np.int64)
        afford(measurement, booked[name], units)
    return _covered(release, named)


def accounted(release: Release, growth: Growth, grown: Grown) -> str:
    """The paths of the ledger are those that the entries and the regions show."""
    booked = books(release.ledger)
    charged = _charges(release, _named(release), booked, grown)
    growth(release, booked)
    for purpose, charges in charged.items():
        booked[purpose].hold(charges.depth, charges.units, charges.draws)
    if _profiles(release, booked, charged) != stated(release.ledger):
        raise Failed(ELSEWHERE)
    return "what every path spent follows from the entries and the regions"


def _named(release: Release) -> dict[str, Measurement]:
    """The measurements by name, of which no other and none twice may be there."""
    found: dict[str, Measurement] = {}
    for measurement in release.measurements:
        if measurement.name not in _NAMES:
            raise Failed("a measurement is of a kind that no method makes")
        if measurement.name in found:
            raise Failed(f"the measurement {measurement.name} is there twice")
        found[measurement.name] = measurement
    return found


def _check_places(release: Release, measurement: Measurement) -> None:
    if measurement.at not in ("node", "region"):
        raise Failed("a number speaks of a place that its kind does not have")
    if measurement.max_contribution != 1:
        raise Failed(f"{measurement.name} counts a record more than once")
    tree = release.partition if isinstance(release.partition, TreePartition) else None
    places = 1 if tree is None else len(tree.parent)
    if measurement.at == "region":
        places = release.partition.cells
    if (
        len(measurement.where)
        and not 0 <= measurement.where.min() <= measurement.where.max() < places
    ):
        raise Failed("a number speaks of a place that does not exist")
    listed = measurement.klass is not None
    if listed != (measurement.threshold is not None):
        raise Failed("cells are listed without a threshold, or the other way round")
    if listed and (tree is not None or measurement.name != "leaf"):
        raise Failed("a threshold is only for the regions of a grid")


def _check_shared(release: Release, measurement: Measurement) -> None:
    """One charge serves the whole table, or the disjoint regions of a grid."""
    tree = isinstance(release.partition, TreePartition)
    if (measurement.at == "node" or tree) and measurement.where.tolist() != [0]:
        raise Failed(f"{measurement.name} was charged once and counted in several places")


def _covered(release: Release, named: dict[str, Measurement]) -> str:
    counts = [named[name] for name in ("leaf", "count") if name in named]
    if not counts:
        raise Failed("no measurement of the regions is there")
    partition = release.partition
    if any(measurement.threshold is not None for measurement in counts):
        return "every listed region was counted, at the price that was booked for it"
    if max(len(measurement.where) for measurement in counts) < partition.cells:
        raise Failed("a region was not counted")
    counted = np.zeros(partition.cells, np.bool_)
    for measurement in counts:
        where = measurement.where
        if isinstance(partition, TreePartition) and measurement.at == "node":
            where = partition.region_of_node[where]
            if measurement.name == "leaf" and (where < 0).any():
                raise Failed("a node that is no region was counted as one")
            where = where[where >= 0]
        counted[where] = True
    if not counted.all():
        raise Failed("a region was not counted")
    return "every region was counted, at the price that was booked for it"


def _charges(
    release: Release, named: dict[str, Measurement], booked: dict[str, Book], grown: Grown
) -> dict[str, _Charges]:
    """What was charged at nodes of a tree, by purpose; all else is charged to everyone."""
    tree = release.partition
    if not isinstance(tree, TreePartition):
        return {}
    depths = int(tree.depth.max()) + 1
    found: dict[str, _Charges] = {}

    def charge(purpose: str, node: Ints, depth: Ints, units: Ints, draws: Any = 1) -> None:
        found[purpose] = _Charges(
            node=node, depth=depth, units=units, draws=np.broadcast_to(draws, node.shape)
        )

    for purpose, node, draws in grown(release, tree, booked):
        depth = tree.depth[node].astype(np.int64)
        charge(purpose, node, depth, booked[purpose].by_depth(depths)[depth], draws)
    for purpose in ("allocate", "leaf", "count"):
        if purpose in named and purpose in booked:
            node, depth = _nodes(tree, named[purpose])
            if purpose == "allocate":  # booked at the depth of the node that was split
                depth = np.maximum(depth - 1, 0)
                units = booked[purpose].by_depth(depths)[depth]
            else:
                units = prices(named[purpose], booked[purpose])
            charge(purpose, node, depth, units)
    spare = named.get("spare")
    if spare is not None and spare.at == "region" and "spare" in booked:
        # rates in rho are rounded, so the price is told by what is left: it takes all
        node, depth = _nodes(tree, spare)
        charge("spare", node, depth, _left(tree, booked, found)[node])
        if (found["spare"].units <= 0).any():
            raise Failed("a spare count was bought where nothing was left")
    return found


def _nodes(tree: TreePartition, measurement: Measurement) -> tuple[Ints, Ints]:
    """The nodes that were counted, and their depths."""
    where = measurement.where
    node = where if measurement.at == "node" else tree.leaves[where]
    return node, tree.depth[node].astype(np.int64)


def _left(tree: TreePartition, booked: dict[str, Book], charged: dict[str, _Charges]) -> Ints:
    """What the path to each node leaves for spare counts."""
    budget = booked["spare"].budget
    left = np.full(len(tree.parent), booked["spare"].granted, np.int64)
    for purpose, book in booked.items():
        if purpose == "spare" or book.budget != budget:
            continue
        left -= _down(tree, charged[purpose]) if purpose in charged else _everyone(book)
    return left


def _everyone(book: Book) -> int:
    """What every path paid for a purpose that is charged to everyone."""
    if book.total > book.granted:  # also keeps it small enough for arrays
        raise Failed(ELSEWHERE)
    return book.total


def _down(tree: TreePartition, charges: _Charges) -> Ints:
    """What the path to each node spent, the node included."""
    spent = np.zeros(len(tree.parent), np.int64)
    np.add.at(spent, charges.node, charges.units * charges.draws)
    # nodes stand by depth, so that each level is a slice
    ends = np.searchsorted(tree.depth, np.arange(1, int(tree.depth[-1]) + 2)).tolist()
    for start, end in zip(ends[:-1], ends[1:], strict=True):
        spent[start:end] += spent[tree.parent[start:end]]
    return spent


def _profiles(
    release: Release, booked: dict[str, Book], charged: dict[str, _Charges]
) -> Counter[Profile]:
    """How many regions spent what, by the entries and the regions."""
    everyone = {
        purpose: _everyone(book) for purpose, book in booked.items() if purpose not in charged
    }
    names = [(booked[purpose].budget, purpose) for purpose in (*everyone, *charged)]
    tree = release.partition
    if not isinstance(tree, TreePartition) or not charged:
        return Counter({profile(names, list(everyone.values())): tree.cells})
    spent = [_down(tree, charges)[tree.leaves] for charges in charged.values()]
    rows, numbers = np.unique(np.stack(spent, axis=1), axis=0, return_counts=True)
    if len(rows) > len(release.ledger["paths"]):  # a stranger's may be very many
        raise Failed(ELSEWHERE)
    found: Counter[Profile] = Counter()
    for row, number in zip(rows.tolist(), numbers.tolist(), strict=True):
        found[profile(names, [*everyone.values(), *row])] += number
    return found


def stated(ledger: dict[str, Any]) -> Counter[Profile]:
    """How many regions spent what, by the ledger's own words."""
    found: Counter[Profile] = Counter()
    for path in ledger["paths"]:
        spent = {
            (budget, purpose): whole(units)
            for budget, purposes in path["spent"].items()
            for purpose, units in purposes.items()
        }
        found[profile(list(spent), list(spent.values()))] += whole(path["leaves"], 1)
    return found


def profile(names: list[tuple[str, str]], units: list[int]) -> Profile:
    """What a path spent, by budget and purpose, in one order."""
    return tuple(sorted((*name, spent) for name, spent in zip(names, units, strict=True) if spent))
