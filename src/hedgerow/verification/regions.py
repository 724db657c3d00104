"""The rules of methods that publish a table by regions: DiffMulti, DiffGen and CDiffGen.

A part of `verify`: what the ledger says of paths is believed in nothing. What every path spent is
recomputed from regions, entries and measurements.

Where a charge falls follows from the method, whose rules say what was charged at the nodes of a
tree (`Grown`). All else falls on every path: a method that looks at everybody whenever it chooses
says nothing. Counts of places of a tree are charged to these places. The regions of a grid are
disjoint and share one charge.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from hedgerow.arrays import Ints
from hedgerow.estimate.measurements import Measurement
from hedgerow.estimate.partition import GridPartition, Partition, TreePartition
from hedgerow.release.table_releases import TableRelease as Release
from hedgerow.schema import Categorical, Numeric, Schema
from hedgerow.verification import rules
from hedgerow.verification.rules import Book, Failed, Rules, refuse

Charged = tuple[str, Ints, Ints]  # a purpose, nodes of a tree, and how many draws at each
Growth = Callable[[Release, dict[str, Book]], None]
Grown = Callable[[Release, TreePartition, dict[str, Book]], list[Charged]]

_NAMES = ("rows", "allocate", "leaf", "spare", "count")


class _Charges(NamedTuple):
    """What was charged for one purpose at nodes of a tree, in the order of `node`."""

    node: Ints
    depth: Ints  # at which each charge was booked
    units: Ints  # of one draw
    draws: Ints  # at each node


def table_rules(
    shape: Any,
    growth: Growth,
    grown: Grown = lambda release, tree, booked: [],
    *,
    settings: str | None = None,
    rest: bool = False,
) -> Rules:
    """The rules of a method that publishes a table by regions.

    Args:
        shape: The class of its regions.
        growth: Sees that what the regions show to have been chosen was booked.
        grown: What was charged for choosing at nodes of a tree; nothing if all is chosen for
            everybody.
        settings: The names that its settings may have, with spaces between; None for any.
        rest: Whether a path may leave a part of what was granted.
    """
    return rules.region_rules(
        shape=shape,
        measured=partial(_check_measured, grown=grown),
        accounted=partial(_check_accounts, growth=growth, grown=grown),
        rest=rest,
        settings=settings,
        chosen="depth score specializations",
    )


def _check_measured(release: Release, grown: Grown) -> str:
    """Every region was counted, and every count has the noise that its charge buys."""
    named = rules.by_name(release.measurements, _NAMES)
    booked = rules.books(release.ledger)
    for name, measurement in named.items():
        _check_places(release, measurement)
        refuse(name not in booked, f"{name} was counted, and nothing was booked for it")
    charged = _charges(release, named, booked, grown)
    for name, measurement in named.items():
        if name in charged:
            units = charged[name].units
        else:  # one charge serves the whole table, or the disjoint regions of a grid
            whole = measurement.at == "node" or isinstance(release.partition, TreePartition)
            if whole and measurement.where.tolist() != [0]:
                raise Failed(f"{name} was charged once and counted in several places")
            units = np.full(len(measurement.where), booked[name].once(), np.int64)
        rules.afford(measurement, booked[name], units)
    return _check_covered(release, named)


def _check_accounts(release: Release, growth: Growth, grown: Grown) -> str:
    """The paths of the ledger are those that the entries and the regions show."""
    booked = rules.books(release.ledger)
    named = rules.by_name(release.measurements, _NAMES)
    charged = _charges(release, named, booked, grown)
    growth(release, booked)
    for purpose, charges in charged.items():
        booked[purpose].hold(charges.depth, charges.units, charges.draws)
    rules.check_profiles(_profiles(release, booked, charged), release.ledger)
    return "what every path spent follows from the entries and the regions"


def _check_places(release: Release, measurement: Measurement) -> None:
    if measurement.at not in ("node", "region"):
        raise Failed("a number speaks of a place that its kind does not have")
    refuse(measurement.max_contribution != 1, f"{measurement.name} counts a record more than once")
    tree = release.partition if isinstance(release.partition, TreePartition) else None
    places = 1 if tree is None else len(tree.parent)
    if measurement.at == "region":
        places = release.partition.cells
    where = measurement.where
    if len(where) and not 0 <= where.min() <= where.max() < places:
        raise Failed("a number speaks of a place that does not exist")
    listed = measurement.klass is not None
    if listed != (measurement.threshold is not None):
        raise Failed("cells are listed without a threshold, or the other way round")
    if listed and (tree is not None or measurement.name != "leaf"):
        raise Failed("a threshold is only for the regions of a grid")


def _check_covered(release: Release, named: dict[str, Measurement]) -> str:
    counts = [named[name] for name in ("leaf", "count") if name in named]
    refuse(not counts, "no measurement of the regions is there")
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
    refuse(not counted.all(), "a region was not counted")
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

    for purpose, node, draws in grown(release, tree, booked):
        depth = tree.depth[node].astype(np.int64)
        found[purpose] = _Charges(node, depth, booked[purpose].by_depth(depths)[depth], draws)
    for purpose in ("allocate", "leaf", "count", "spare"):
        if purpose not in named or purpose not in booked:
            continue
        measurement, book = named[purpose], booked[purpose]
        node = measurement.where if measurement.at == "node" else tree.leaves[measurement.where]
        depth = tree.depth[node].astype(np.int64)
        if purpose == "allocate":  # booked at the depth of the node that was split
            depth = np.maximum(depth - 1, 0)
            units = book.by_depth(depths)[depth]
        elif purpose != "spare":
            units = rules.prices(measurement, book)
        elif measurement.at == "region":
            # rates in rho are rounded, so the price is told by what is left: it takes all
            units = _left(tree, booked, found)[node]
            refuse((units <= 0).any(), "a spare count was bought where nothing was left")
        else:
            continue
        found[purpose] = _Charges(node, depth, units, np.ones_like(units))
    return found


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
        raise Failed(rules.ELSEWHERE)
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
) -> Counter[rules.Profile]:
    """How many regions spent what, by the entries and the regions."""
    everyone = {name: _everyone(booked[name]) for name in booked if name not in charged}
    names = [(booked[purpose].budget, purpose) for purpose in (*everyone, *charged)]
    tree = release.partition
    if not isinstance(tree, TreePartition) or not charged:
        return Counter({rules.profile(names, [*everyone.values()]): tree.cells})
    spent = [_down(tree, charges)[tree.leaves] for charges in charged.values()]
    rows, numbers = np.unique(np.stack(spent, axis=1), axis=0, return_counts=True)
    if len(rows) > len(release.ledger["paths"]):  # a stranger's may be very many
        raise Failed(rules.ELSEWHERE)
    found: Counter[rules.Profile] = Counter()
    for row, number in zip(rows.tolist(), numbers.tolist(), strict=True):
        found[rules.profile(names, [*everyone.values(), *row])] += number
    return found


def _check_rows_booked(release: Release, booked: dict[str, Book]) -> None:
    """A tuned schedule buys the number of rows before all else."""
    refuse("rows" not in booked, "nothing was booked for rows, which a tuned schedule buys first")


# DiffMulti: every node is charged for what was chosen there.
#
# At each node that was specialized there is one `select`. Under the schedule `paper` there are
# draws of split points before it, which are inherited.


def _specialized_nodes(
    release: Release, tree: TreePartition, booked: dict[str, Book], paper: bool = False
) -> list[Charged]:
    """What was charged at each node that was specialized."""
    _check_never_split(release.schema, tree.divided)
    node = np.flatnonzero(tree.split >= 0)
    draws = {"select": np.ones(len(node), np.int64)}
    if paper or "cut" in booked:
        draws["cut"] = _cut_draws(tree, release.schema)[node]
    for purpose, number in draws.items():
        if number.any() and purpose not in booked:
            raise Failed(f"nothing was booked for {purpose}, without which no tree grows")
    return [(purpose, node, number) for purpose, number in draws.items() if purpose in booked]


def _cut_draws(tree: TreePartition, schema: Schema) -> Ints:
    """How many split points are drawn at each node, were it split.

    At the root one for each numeric attribute; they are inherited, so that below one is drawn
    only for the interval that has just been cut.
    """
    cut = [isinstance(one, Numeric) and one.split != "never" for one in schema.attributes]
    numeric = np.array(cut)
    draws = np.zeros(len(tree.parent), np.int64)
    draws[0] = np.count_nonzero(numeric & (tree.hi[0] - tree.lo[0] >= 2))
    node = np.arange(1, len(draws))
    along = tree.split[tree.parent[1:]].astype(np.int64)
    draws[1:] = numeric[along] & (tree.hi[node, along] - tree.lo[node, along] >= 2)
    return draws


def _check_never_split(schema: Schema, places: Iterable[int]) -> None:
    for place in places:
        attribute = schema.attributes[place]
        if attribute.split == "never":
            raise Failed(f"regions are divided by {attribute.name!r}, which is never split")


_tree_rules = partial(
    table_rules,
    TreePartition,
    settings="schedule chosen score specializations depth distribution consistency",
)
DIFFMULTI = {
    "tuned-1": _tree_rules(_check_rows_booked, _specialized_nodes),
    "paper-1": _tree_rules(
        lambda release, booked: None, partial(_specialized_nodes, paper=True), rest=True
    ),
}

# DiffGen and CDiffGen: all steps see everybody, and the regions of a grid share one charge.
#
# Regions that follow the data were chosen, and choosing is paid for: a release whose books say
# nothing of it states less than it spent.
#
# These methods book one `select` for each specialization, the first at depth 0. How many there were
# follows from the cuts: each of a numeric value adds one part; a node of a taxonomy was specialized
# if a cut runs through it. `paper` also books a `cut` for each numeric attribute at the first step,
# and one at each step that follows the specialization of a number, if one of its halves can be cut
# again. In which order a number was cut is not told by a grid, so that these are held between two
# bounds, and not to one number.


def _check_steps(release: Release, booked: dict[str, Book], paper: bool = False) -> None:
    """One choice for each step, and before it the number of rows, or split points."""
    steps = _Steps.of(release.partition, release.schema)
    if not paper:
        _check_rows_booked(release, booked)
    select = booked.get("select")
    if select is None and steps.all:
        raise Failed("nothing was booked for select, without which no value is specialized")
    if select is not None and (
        not _once_at_each(select, range(steps.all)) or len(select.entries) != steps.all
    ):
        raise select.differs()
    if paper:
        _check_cut(booked.get("cut"), steps)


@dataclass(frozen=True, kw_only=True)
class _Steps:
    """How often values were specialized.

    Args:
        numbers: Specializations of intervals of numeric attributes.
        nodes: Specializations of nodes of taxonomies.
        pairs: At most so many of the intervals had no half that could be cut again.
        divisible: Numeric attributes that have more than one code.
    """

    numbers: int
    nodes: int
    pairs: int
    divisible: int

    @property
    def all(self) -> int:
        return self.numbers + self.nodes

    @staticmethod
    def of(partition: Partition, schema: Schema) -> _Steps:
        numbers = nodes = pairs = divisible = 0
        cuts = _edges(partition)
        _check_never_split(schema, (p for p, edges in enumerate(cuts) if len(edges) > 2))
        for attribute, edges in zip(schema.attributes, cuts, strict=True):
            if attribute.split == "never":
                continue
            if isinstance(attribute, Numeric):
                numbers += len(edges) - 2
                pairs += _pairs(np.diff(edges))
                divisible += attribute.size >= 2
            else:
                nodes += _specialized(attribute, edges)
        return _Steps(numbers=numbers, nodes=nodes, pairs=pairs, divisible=divisible)


def _edges(partition: Partition) -> list[Ints]:
    """The edges of each attribute; of a tree, they must be those of the product of its cuts."""
    if isinstance(partition, GridPartition):
        return [edges.astype(np.int64) for edges in partition.edges]
    whole = partition.hi[0].astype(np.int64)
    lo = partition.lo[partition.leaves].astype(np.int64)
    edges = [np.append(np.unique(lo[:, place]), end) for place, end in enumerate(whole)]
    # a leaf is made of cells of that product: as many leaves as cells, and each is one of them
    if partition.cells != math.prod(len(ends) - 1 for ends in edges):
        raise Failed("the regions are not the product of one cut per attribute")
    return edges


def _pairs(widths: Ints) -> int:
    """How many disjoint pairs of neighboring parts have one code each."""
    found = run = 0
    for width in (*widths.tolist(), 0):
        if width == 1:
            run += 1
        else:
            found, run = found + run // 2, 0
    return found


def _specialized(attribute: Categorical, edges: Ints) -> int:
    """How many nodes of a taxonomy a cut runs through, each of whose parts must be a node."""
    spans = np.asarray(attribute.taxonomy.spans, np.int64)
    known = set(map(tuple, spans.tolist()))
    parts = zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)
    refuse(not known.issuperset(parts), "a part of an attribute is no node of its taxonomy")
    inside = np.searchsorted(edges, spans[:, 1], "left") - np.searchsorted(
        edges, spans[:, 0], "right"
    )
    return int(np.count_nonzero(inside > 0))


def _check_cut(book: Book | None, steps: _Steps) -> None:
    """All numeric attributes at first, then at most one at a step."""
    needed = steps.all and steps.divisible
    if book is None:
        refuse(needed, "nothing was booked for cut, without which no number is specialized")
        return
    first = [number for (depth, _), number in book.entries.items() if depth == 0]
    later = replace(book, entries={key: n for key, n in book.entries.items() if key[0]})
    least = steps.numbers - steps.pairs - 1  # none is drawn after the last step
    if (
        not needed
        or first != [steps.divisible]
        or not _once_at_each(later, range(1, steps.all))
        or not least <= len(later.entries) <= steps.numbers
    ):
        raise book.differs()


def _once_at_each(book: Book, depths: range) -> bool:
    """Whether there is at most one charge at each of some depths, and none elsewhere."""
    found = [depth for depth, _ in book.entries]
    return (
        set(book.entries.values()) <= {1}
        and len(set(found)) == len(found)
        and all(depth in depths for depth in found)
    )


def _step_rules(shape: type[Partition]) -> dict[str, Rules]:
    settings = "schedule chosen score specializations consistency max_cells"
    paper = partial(_check_steps, paper=True)
    return {
        "tuned-1": table_rules(shape, _check_steps, settings=settings),
        "paper-1": table_rules(shape, paper, settings=settings, rest=True),
    }


DIFFGEN = _step_rules(GridPartition)
CDIFFGEN = _step_rules(TreePartition)  # which has a count at every node
