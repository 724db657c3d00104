"""The rules for DiffPart: what every record spent, recomputed from regions and measurements.

A part of `verify`: what the ledger says of paths is believed in nothing.

Where all regions were counted, every purpose was charged once, to everybody: sizes, supports, the
gate, and the counts of the disjoint regions. A record counts for several supports, with weights
that add up to a cap at most, so these are priced by the cap. Under the schedule `paper` a record
pays along its chain of partitions: each inner sub-partition was tested for a part of what was left
of one half of the budget, the part being one by the number of expansions still ahead; a leaf takes
all that is left. Both follow from the tree over the items and the cuts.
"""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from hedgerow.arrays import Ints
from hedgerow.estimate.measurements import Measurement, exact
from hedgerow.estimate.partition import CoreCells, CutTree
from hedgerow.release.transactions import TransactionsRelease
from hedgerow.schema.items import ItemTree
from hedgerow.verification import rules
from hedgerow.verification.rules import Book, Failed, refuse, whole

_PLACES = {"size": "size", "support": "item", "cell": "region", "leaf": "node"}
_TESTED_HALF = 2  # one half of the budget is for tests
_PARTS = 1024  # of a record, in which weighted supports are counted
_REST_EDGES = (0, 1, 4, 15)  # of items beside a core
# single to 8, four an octave to 32, then fewer; the last have two octaves
_SIZE_EDGES = (*range(1, 8), 8, 10, 12, 14, 16, 20, 24, 28, 32, 48, 64,
               *(128 * 4**power for power in range(20)))  # fmt: skip
_SMALL = 17  # items of a universe that may be counted as a whole
SHARES = {
    "whole": {"size": 5},  # all items are in the core
    "few": {"size": 2},  # of a small universe
    "small": {"size": 2, "support": 83},
    "core": {"size": 5, "support": 83},
    "tree": {"size": 2, "support": 30, "gate": 25},
}
"""Percent of the budget that DiffPart's tuned schedule gives to finding the regions."""
CROWD, LEAST = 200, Fraction(30, 100)
"""From so many records for each item on, times epsilon, supports get less, down to a least part."""


def _count_regions(release: TransactionsRelease) -> int:
    """How many regions the ledger accounts for."""
    if _lists_leaves(release):
        return len(_measurements_by_name(release)["leaf"].where)
    return release.partition.cells


def _lists_leaves(release: TransactionsRelease) -> bool:
    """Whether only the leaves that reached a threshold are there."""
    return isinstance(release.partition, CutTree) and release.settings["schedule"] == "paper-1"


def _check_measurements(release: TransactionsRelease) -> str:
    """Every region was counted, and every count has the noise that its charge buys."""
    named, booked = _measurements_by_name(release), rules.books(release.ledger)
    for name, measurement in named.items():
        _check_places(release, measurement)
        if _lists_leaves(release) and not len(measurement.where):
            continue  # no leaf was listed, and perhaps none was ever reached
        refuse(name not in booked, f"{name} was counted, and nothing was booked for it")
        if measurement.law != ("gaussian" if booked[name].budget == "rho" else "laplace"):
            raise Failed(f"{name} has another noise than its budget buys")
        if _lists_leaves(release):
            _check_leaves(release, measurement, booked[name])
        elif measurement.max_contribution == 1:
            units = np.full(len(measurement.where), booked[name].once(), np.int64)
            rules.afford(measurement, booked[name], units)
        else:
            rules.afford_together(measurement, booked[name])
    if _lists_leaves(release):
        return "every listed leaf was counted, at the price that was booked for it"
    return "everything was counted once, at the price that was booked for it"


def _check_accounts(release: TransactionsRelease) -> str:
    """The paths of the ledger are those that the entries and the regions show."""
    named, booked = _measurements_by_name(release), rules.books(release.ledger)
    profiles: Counter[Any] = Counter()
    if _lists_leaves(release):
        assert isinstance(release.partition, CutTree)
        granted, paid, charged = _replay(release, release.partition)
        for purpose, rows in charged.items():  # just these tests and counts were booked
            if purpose in booked:
                booked[purpose].hold(rows[:, 0], rows[:, 1], np.ones(len(rows), np.int64))
            elif len(rows):
                raise Failed(f"nothing was booked for {purpose}, without which nothing is listed")
        if booked.keys() - charged.keys():
            raise Failed("other purposes were booked than this method pays for")
        for left in paid[named["leaf"].where].tolist():
            spent = [granted - left, left]
            profiles[rules.profile([("epsilon", "test"), ("epsilon", "leaf")], spent)] += 1
    else:
        gates = {"gate"} if isinstance(release.partition, CutTree) else set()
        if booked.keys() != named.keys() | gates:
            raise Failed("other purposes were booked than this method pays for")
        _check_shares(release, booked)
        _check_choices(release, named)
        names = [(book.budget, purpose) for purpose, book in booked.items()]
        units = [book.once() for book in booked.values()]
        profiles[rules.profile(names, units)] = release.partition.cells
    rules.check_profiles(profiles, release.ledger)
    return "what every record spent follows from the entries and from what was counted"


def _measurements_by_name(release: TransactionsRelease) -> dict[str, Measurement]:
    """The measurements by name, of which no other and none twice may be there."""
    counts = "cell" if isinstance(release.partition, CoreCells) else "leaf"
    known = {counts} if _lists_leaves(release) else {counts, "size", "support"}
    found = rules.by_name(release.measurements, known)
    refuse(counts not in found, "no measurement of the regions is there")
    return found


def _check_places(release: TransactionsRelease, measurement: Measurement) -> None:
    name, where = measurement.name, measurement.where
    refuse(measurement.at != _PLACES[name], f"{name} speaks of other places than it should")
    if measurement.threshold is not None or measurement.klass is not None or measurement.by_class:
        raise Failed(f"{name} has a class or a threshold, which transactions do not have")
    cells = release.partition.cells
    places = {"item": release.items.size, "region": cells, "node": cells}
    if name == "size":
        fits = len(where) > 0 and where[0] >= 0 and bool((np.diff(where) > 0).all())
    elif _lists_leaves(release):
        inside = where.min(initial=0) >= 0 and where.max(initial=-1) < places["node"]
        fits = inside and bool((np.diff(where) > 0).all())
    else:
        fits = np.array_equal(where, np.arange(places[measurement.at]))
    refuse(not fits, f"{name} was not counted once in every place")
    if measurement.max_contribution != 1 and name != "support":
        raise Failed(f"{name} counts disjoint places, in one of which a record lies")
    parts = _PARTS * _PARTS if measurement.law == "gaussian" else _PARTS
    if name == "support" and measurement.max_contribution != parts * whole(
        release.settings["chosen"]["cap"], 1
    ):
        raise Failed("a record counts for another number of supports than the settings say")


def _check_shares(release: TransactionsRelease, booked: dict[str, Book]) -> None:
    """What finding the regions cost is known in advance, and so is what it is spent on."""
    partition = release.partition
    if isinstance(partition, CutTree):
        shares = SHARES["tree"]
    elif len(partition.core) < release.items.size:
        shares = SHARES["small" if release.items.size <= _SMALL else "core"]
    else:
        shares = SHARES["few" if release.items.size <= _SMALL else "whole"]
    parts = {purpose: Fraction(percent, 100) for purpose, percent in shares.items()}
    granted = rules.budgets(release.ledger)
    units = sum(number for _, number in granted.values())
    if parts.keys() == {"size", "support"}:
        # by the noisy number of records
        sizes = _measurements_by_name(release).get("size")
        rows = 0 if sizes is None else max(0, int(sizes.values.sum()))
        crowd = exact(release.guarantee["epsilon"]) * rows / release.items.size
        if crowd > CROWD:
            parts["support"] = max(LEAST, parts["support"] * CROWD / crowd)
    if "rho" in granted:  # for supports, which may have Gaussian noise
        size, asked = release.items.size, release.settings["core"]
        part = size > _SMALL if asked is None else asked < size
        if not (isinstance(partition, CoreCells) and len(partition.core) < size and part):
            raise Failed("what was published is never paid with a delta")
    if release.settings["schedule"] == "paper-1":
        raise Failed("regions of this shape do not come from the schedule that is named")
    for purpose, part in parts.items():
        if purpose not in booked:
            raise Failed(f"nothing was booked for {purpose}, without which no regions are found")
        book = booked[purpose]
        if book.budget == "rho" and purpose != "support":
            raise Failed(f"{purpose} is not paid from the budget of epsilon")
        if book.once() != math.floor(part * units):
            raise Failed(f"{purpose} had another share of the budget than this method gives it")
    if booked.keys() - parts.keys() - {"cell", "leaf"}:
        raise Failed("other purposes were booked than this method pays for")


def _check_choices(release: TransactionsRelease, named: dict[str, Measurement]) -> None:
    """What public rules chose is what they would choose, from noisy numbers alone.

    How many items are in the core, and for how many a record counts if that is not a setting,
    follow from the noisy sizes by rules that are not repeated here.
    """
    settings, chosen = release.settings, release.settings["chosen"]
    size = release.items.size
    most = min(release.items.max_items or size, size)
    edges = [edge for edge in _SIZE_EDGES if edge <= most]
    if "size" not in named or not np.array_equal(named["size"].where, edges):
        raise Failed("sizes were counted in other bins than this method has")
    if "support" in named:
        cap = whole(chosen["cap"], 1)
        if cap > most or (settings["cap"] is not None and cap != min(settings["cap"], most)):
            raise Failed("a record counts for another number of items than it may")
    partition = release.partition
    shape = "core" if isinstance(partition, CoreCells) else "tree"
    if chosen["variant"] != shape or (settings["variant"] or "core") != shape:
        raise Failed("what was published has not the shape that the settings name")
    if not isinstance(partition, CoreCells):
        return
    number = len(partition.core)
    core, rest = np.arange(size), [0]
    if number < size:
        supports = named["support"].values[:, 0]
        core = np.sort(np.argsort(-supports, kind="stable")[:number])
        rest = [edge for edge in _REST_EDGES if edge <= size - number]
    if not np.array_equal(partition.core, core):
        raise Failed("other items were counted together than the noisy supports tell")
    if partition.rest.tolist() != rest:
        raise Failed("items beside the core were counted in other bins than this method has")
    refuse(whole(chosen["core"]) != number, "the core has another size than the settings say")
    if settings["core"] is not None and min(whole(settings["core"]), size) != number:
        raise Failed("the core has another size than was asked for")


def _check_leaves(release: TransactionsRelease, measurement: Measurement, book: Book) -> None:
    """Listed leaves are known item by item, paid with all that was left, and above their bar."""
    partition = release.partition
    assert isinstance(partition, CutTree)
    where = measurement.where
    if not partition.leaves(ItemTree.of(release.items))[where].all():
        raise Failed("a partition that is no leaf was counted as one")
    paid = _replay(release, partition)[1][where]
    rules.afford(measurement, book, paid)
    if partition.cells == 1:  # all records are alike, and their number has no bar
        return
    strictness = release.settings["c1"]
    for units in np.unique(paid).tolist():
        bar = max(1, math.ceil(math.sqrt(2) * strictness / float(units * book.unit)))
        if (measurement.values[paid == units] < bar).any():
            raise Failed("a leaf is listed whose count lies below its threshold")


def _replay(release: TransactionsRelease, partition: CutTree) -> tuple[int, Ints, dict[str, Ints]]:
    """The schedule `paper`, replayed over the cuts: a walk down from all records.

    Returns:
        The units of the whole budget; for each partition that is a leaf what its count cost, for
        others what is left; and by purpose the depth and the price of each charge: of each test,
        one row for each expanded partition that has sub-partitions to be tested, and of each count
        of a leaf.
    """
    _, granted = rules.budgets(release.ledger).get("epsilon", (Fraction(1), 0))
    tree = ItemTree.of(release.items)
    size = partition.cells
    inner = np.zeros(size, np.int64)
    np.add.at(inner, partition.owner, tree.inner[partition.cut])
    groups = np.zeros(size, np.int64)  # nodes of the cut that are no items
    np.add.at(groups, partition.owner, tree.children[partition.cut] > 0)
    left = np.full(size, granted, np.int64)
    tests, counts = [], []
    price = np.zeros(size, np.int64)
    is_item = tree.children == 0
    expandable = groups > 0
    if ((partition.split >= 0) != expandable).any():
        raise Failed("a partition was left that should have been expanded, or the other way")
    for place in range(size):
        up = int(partition.parent[place])
        if up >= 0:
            left[place] = left[up] - (price[up] if groups[place] else 0)
        if not expandable[place]:
            continue
        node, depth = int(partition.split[place]), int(partition.depth[place])
        if tree.height[node] != tree.height[partition.nodes(place)].max():
            raise Failed("a partition was not expanded at one of its highest nodes")
        price[place] = (left[place] - granted // _TESTED_HALF) // inner[place]
        kids = is_item[tree.kids(node)]
        alone = groups[place] == 1
        if alone and kids.any():
            counts.append((depth, int(left[place])))
        if not alone or not kids.all():
            tests.append((depth, int(price[place])))
    if len(tree) == 1:
        counts.append((0, granted))
    pairs = (np.asarray(rows, np.int64).reshape(-1, 2) for rows in (tests, counts))
    return granted, left, dict(zip(("test", "leaf"), pairs, strict=True))


_rules = partial(
    rules.region_rules,
    shape=CoreCells | CutTree,
    measured=_check_measurements,
    accounted=_check_accounts,
    published=_count_regions,
    what="sets",
    settings="schedule chosen variant core cap c1 c2 max_partitions",
)

RULES = {
    "tuned-3": _rules(some=False),
    # a leaf that did not reach its threshold has no path here, though it was paid for
    "paper-1": _rules(some=True),
}
