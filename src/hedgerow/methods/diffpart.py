"""DiffPart: transactions by hierarchy cuts (Chen, Mohammed, Fung, Desai and Xiong, VLDB 2011).

All records start under the root of a tree over the items. A partition is expanded by replacing
one node of its cut by the children that a record has items under, so that every sub-partition
knows a little more; partitions that look empty are left; where the cut is made of items alone,
the records are known and their noisy number is published.

Protected: one record (one person's whole set of items), added or removed.

Spent on each record (path composition, see `privacy.ledger`):

| step                                         | mechanism        | `paper`      | `core` | `tree` |
|----------------------------------------------|------------------|--------------|--------|--------|
| size: records by number of items             | discrete Laplace | -            | 5%     | 2%     |
| support: records with each item, by weight   | discrete Laplace | -            | to 83% | 30%    |
| test: is an inner sub-partition worth while? | noisy threshold  | b/n each     | -      | -      |
| gate: the same, all levels together          | depth-free gate  | -            | -      | 25%    |
| leaf, cell: how many records                 | discrete Laplace | what is left | rest   | rest   |

with b what is left of one half of epsilon and n the most expansions ahead. `core` and `tree` are
the variants of `tuned`. `core`, the default, picks its own tree: an item's place in a context-free
tree means nothing, so the items with the largest noisy supports stand directly below the root and
all others below one node. One expansion then tells all sets of core items apart, every one of them
is counted, and how the others are spread is estimated from their supports. A record with many items
counts less for each, so that it counts for no more than a cap in all. If the whole universe fits,
supports cost nothing. `tree` keeps the tree that was given, for sets in its own words.

With a delta, supports are paid in rho, if Gaussian noise is then less than Laplace noise.

Departures from the paper (P.. as in docs/algorithms/diffpart.md): a leaf is counted and not tested
before (P1); empty sub-partitions are as many as there are, drawn at once by an exact binomial, with
the same rule as the others (P2, P3); items and records outside the universe follow public rules
(P4); everything stands in canonical order (P5). `tuned` needs no thresholds to be tried out on the
data (P6, P7), and loses nothing: what a partition holds beside its sub-partitions is counted too.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from operator import methodcaller
from typing import Any, ClassVar, Literal

import numpy as np

from hedgerow.arrays import Ints
from hedgerow.counting.items import Expansion, ItemEngine
from hedgerow.counting.sealed import Sealed
from hedgerow.errors import UsageError
from hedgerow.estimate.measurements import Measurement, Place
from hedgerow.estimate.partition import MOST_CORE, CoreCells, CutTree, Itemsets, cap_of
from hedgerow.estimate.supports import SizeCurve, fit_sizes
from hedgerow.methods.plan import (
    CROWD,
    REST_EDGES,
    WHOLE_UNIVERSE,
    Budgets,
    Plan,
    best_cap,
    core_size,
    divide_budget,
    gaussian_cap,
    size_edges,
    support_caps,
    support_losses,
    support_units,
)
from hedgerow.methods.publisher import (
    Outcome,
    Progress,
    Publisher,
    check_count,
    make_measurement,
    no_progress,
)
from hedgerow.privacy.budget import Budget, UnitBudget, precision_below, rho_of_epsilon
from hedgerow.privacy.curator import Curator
from hedgerow.privacy.ledger import Allowance, Ledger
from hedgerow.privacy.sampler import Sampler
from hedgerow.schema import Items, Schema
from hedgerow.schema.items import WEIGHT, ItemTree
from hedgerow.suggestions import answer_mistakes

# DiffPart's partitions: hierarchy cuts, how they are expanded, and the gate of `tree`.
#
# A partition is a hierarchy cut: the records that have an item below every node of the cut, and no
# other item. Records are counted nowhere here but through the curator. The paper's queue is worked
# off level by level, which changes no partition, so that one pass of the engine serves a level.


def grow_by_gate(engine: ItemEngine, tree: ItemTree, curator: Curator, most: int) -> GrowingCuts:
    """Expands whatever passes a gate whose price does not depend on the depth."""
    cuts = GrowingCuts(tree)
    gate = curator.open_gate("gate", 1 + int(tree.children.max()))
    level, depth = cuts.open([0]), 0
    while level:
        children = []
        for partition, numbering, exact in expand(cuts, engine, curator, level):
            number = numbering.leaf_sets + numbering.other_sets
            passed = curator.pass_gate("gate", gate, exact.map(numbering.all), number, depth)
            masks = np.sort(numbering.mask(passed + 1))
            children += [(partition, mask) for mask in masks.tolist()]
        level = keep(cuts, engine, level, children[: most - len(cuts.cuts)])
        depth += 1
    return cuts


def expand(
    cuts: GrowingCuts, engine: ItemEngine, curator: Curator, level: list[int]
) -> Iterator[tuple[int, Numbering, Sealed[tuple[Ints, Ints]]]]:
    """Procedure 1, lines 2 to 4: the partitions of a level, and who is in what sub-partition."""
    cuts.choose(curator, level)
    masks = engine.expand(cuts.expansion(level))
    for place, partition in enumerate(level):
        yield partition, cuts.numbering(partition), masks.map(methodcaller("of", place))


def keep(
    cuts: GrowingCuts, engine: ItemEngine, level: list[int], children: list[tuple[int, int]]
) -> list[int]:
    """Makes partitions of sub-partitions, and returns those that can be expanded."""
    first = len(cuts.cuts)
    place_of = {partition: place for place, partition in enumerate(level)}
    places = np.asarray([place_of[partition] for partition, _ in children], dtype=np.int64)
    masks = np.asarray([mask for _, mask in children], dtype=np.int64)
    engine.keep(places, masks, first)
    return cuts.open([cuts.add(partition, mask) for partition, mask in children])


@dataclass(frozen=True)
class Numbering:
    """The sub-partitions of one expansion: those whose cut has items alone, then all others.

    A mask has one bit for each child of the expanded node. Bits of children that are items come
    first here, so that both sorts are stretches of whole numbers: 1 to leaf_sets are leaves, and
    leaf_sets + 1 to 2^children - 1 are not.

    Args:
        bits: The place in the mask of each bit of a number.
        leaf_bits: How many of the bits are items, or 0 if the cut has another inner node.

    Example:
        >>> mixed = Numbering(np.array([1, 0, 2]), 1)
        >>> mixed.leaf_sets, mixed.other_sets
        (1, 6)
        >>> mixed.number(np.array([0b010, 0b011])).tolist()
        [1, 3]
        >>> mixed.mask(np.array([1, 3])).tolist()
        [2, 3]
    """

    bits: Ints
    leaf_bits: int

    @property
    def leaf_sets(self) -> int:
        """How many sub-partitions are leaves."""
        return (1 << self.leaf_bits) - 1

    @property
    def other_sets(self) -> int:
        """How many are not."""
        return (1 << len(self.bits)) - 1 - self.leaf_sets

    def number(self, mask: Ints) -> Ints:
        """The numbers of masks."""
        return _move_bits(mask, enumerate(self.bits.tolist()))

    def mask(self, number: Ints) -> Ints:
        """The masks of numbers."""
        return _move_bits(number, ((bit, place) for place, bit in enumerate(self.bits.tolist())))

    def leaves(self, found: tuple[Ints, Ints]) -> tuple[Ints, Ints]:
        """Those of some masks and counts that are leaves, numbered from 0."""
        return self._sort_of(found, 1, self.leaf_sets)

    def others(self, found: tuple[Ints, Ints]) -> tuple[Ints, Ints]:
        """Those that are not, numbered from 0."""
        return self._sort_of(found, self.leaf_sets + 1, self.leaf_sets + self.other_sets)

    def all(self, found: tuple[Ints, Ints]) -> tuple[Ints, Ints]:
        """All of them, numbered from 0."""
        return self._sort_of(found, 1, self.leaf_sets + self.other_sets)

    def _sort_of(self, found: tuple[Ints, Ints], first: int, last: int) -> tuple[Ints, Ints]:
        mask, count = found
        number = self.number(mask)
        here = (number >= first) & (number <= last)
        order = np.argsort(number[here])
        return number[here][order] - first, count[here][order]


def _move_bits(numbers: Ints, moves: Iterable[tuple[int, int]]) -> Ints:
    """Numbers of the same bits at other places: for each place, the one where it stands now."""
    moved = np.zeros_like(numbers)
    for place, bit in moves:
        moved |= (numbers >> bit & 1) << place
    return moved


class GrowingCuts:
    """A tree of partitions, level by level; a level's partitions stand together.

    Args:
        tree: The universe's tree.
    """

    def __init__(self, tree: ItemTree) -> None:
        self.tree = tree
        self.cuts: list[tuple[int, ...]] = [(0,)]
        self.parent: list[int] = [-1]
        self.split: list[int] = [-1]

    def open(self, partitions: Sequence[int]) -> list[int]:
        """Those of some partitions whose cut can be expanded."""
        children = self.tree.children
        return [p for p in partitions if any(children[node] for node in self.cuts[p])]

    def inner_nodes(self, partition: int) -> int:
        """How many expansions lie ahead of a partition, at most."""
        return int(self.tree.inner[list(self.cuts[partition])].sum())

    def choose(self, curator: Curator, partitions: Sequence[int]) -> None:
        """Chooses the node to expand: one of the largest height, by a coin among equals."""
        height = self.tree.height
        highest = []
        for partition in partitions:
            cut = self.cuts[partition]
            most = max(height[node] for node in cut)
            highest.append([node for node in cut if height[node] == most])
        drawn = curator.coin(np.asarray([len(nodes) for nodes in highest], dtype=np.int64))
        for partition, nodes, which in zip(partitions, highest, drawn.tolist(), strict=True):
            self.split[partition] = nodes[which]

    def expansion(self, partitions: Sequence[int]) -> Expansion:
        """What the engine is to tell apart."""
        tree = self.tree
        edges = []
        for partition in partitions:
            kids = tree.kids(self.split[partition])
            edges.append(np.append(tree.lo[kids], tree.hi[kids[-1]]))
        start = np.concatenate([[0], np.cumsum([len(each) for each in edges])])
        return Expansion(np.asarray(partitions, np.int64), start, np.concatenate(edges))

    def numbering(self, partition: int) -> Numbering:
        """How the sub-partitions of a partition are numbered."""
        node = self.split[partition]
        children = self.tree.children
        is_item = children[self.tree.kids(node)] == 0
        alone = not any(children[other] for other in self.cuts[partition] if other != node)
        items, groups = np.flatnonzero(is_item), np.flatnonzero(~is_item)
        if not alone:
            return Numbering(np.arange(len(is_item)), 0)
        return Numbering(np.concatenate([items, groups]), len(items))

    def add(self, partition: int, mask: int) -> int:
        """Adds a sub-partition and returns its number."""
        node = self.split[partition]
        kids = [kid for bit, kid in enumerate(self.tree.kids(node).tolist()) if mask >> bit & 1]
        kept = [other for other in self.cuts[partition] if other != node]
        self.cuts.append(tuple(sorted(kept + kids)))
        self.parent.append(partition)
        self.split.append(-1)
        return len(self.cuts) - 1

    def partition(self) -> CutTree:
        """The tree as a release holds it."""
        lengths = [len(cut) for cut in self.cuts]
        return CutTree(
            parent=np.asarray(self.parent, np.int64),
            split=np.asarray(self.split, np.int64),
            cut_start=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
            cut=np.asarray([node for cut in self.cuts for node in cut], np.int64),
        )


UNITS = 1_000_000
SIZE_UNITS = {"core": 50_000, "small": 20_000, "tree": 20_000}  # "small" may be counted whole
TREE_SUPPORT_UNITS = 300_000
GATE_UNITS = 250_000
MOST_PARTITIONS = 1_000_000
_LOW_BAR = 1000  # records, which most data sets have
_LARGE = Fraction(10)  # the largest epsilon that is proposed
_ROOT = np.zeros(1, dtype=np.int64)


@answer_mistakes
@dataclass(frozen=True, kw_only=True)
class DiffPart(Publisher):
    """Settings of DiffPart.

    Args:
        schedule: "tuned", or "paper" for the published division of the budget.
        variant: "core" (the default) counts all sets of a core of items, "tree" partitions the
            records by the given tree. Only for "tuned".
        core: The number of items in the core; by default set by a public rule.
        cap: The number of items for which one record counts in total, when supports are counted;
            by default set by a public rule from noisy sizes.
        c1: The paper's C1, which sets the threshold for leaves. Only for "paper".
        c2: The paper's C2, which sets the threshold for other partitions. Only for "paper".
        max_partitions: The largest number of partitions; the tree stops growing there.

    Example:
        >>> DiffPart(schedule="paper", c2=5).c1
        2.75
    """

    schedule: Literal["tuned", "paper"] = "tuned"
    variant: Literal["core", "tree"] | None = None
    core: int | None = None
    cap: int | None = None
    c1: float = 2.75
    c2: float = 6.75
    max_partitions: int = 100_000

    name: ClassVar[str] = "diffpart"
    data: ClassVar[Literal["table", "transactions"]] = "transactions"
    versions: ClassVar[Mapping[str, int]] = {"tuned": 3, "paper": 1}

    def __post_init__(self) -> None:
        """Refuses settings that cannot be meant."""
        super().__post_init__()
        check_count("core", self.core, MOST_CORE)
        check_count("cap", self.cap, 1_000_000)
        usual = DiffPart.max_partitions
        check_count("max_partitions", self.max_partitions, MOST_PARTITIONS, usual=usual)
        for setting, value in (("c1", self.c1), ("c2", self.c2)):
            if not 0 < value < 1e6:
                raise UsageError(
                    f"{setting} must be a number above 0.",
                    hint="The authors' program has 2.75 and 6.75.",
                )

    def kind(self, schema: Schema) -> Literal["paper", "core", "tree"]:
        """Which of the three ways this is."""
        if self.schedule == "paper":
            return "paper"
        return self.variant or "core"

    # plan

    def plan_for(self, schema: Schema, budget: Budget, rows: int | None = None) -> Plan:
        """See `Publisher.plan_for`. A delta may pay for supports, or is not spent."""
        items, kind = schema.transaction_items, self.kind(schema)
        if not self.spends_delta(schema):
            budget = replace(budget, delta=Fraction(0))
        budget = replace(budget, rows=1)
        budgets = divide_budget(replace(budget, delta=Fraction(0)), UNITS, UNITS)
        whole = kind == "core" and self._core(items, budget, rows) == items.size

        once = partial(Allowance, budget="epsilon", uses=1)
        remark = usefulness = None
        if kind == "paper":
            tests = int(ItemTree.of(items).inner[0])
            if tests > UNITS // 2:
                raise UsageError(
                    "the tree over the items has too many inner nodes for the paper's schedule.",
                    hint="Use a larger fan-out, or the tuned schedule.",
                )
            lines = [Allowance("test", "epsilon", units=None, uses=tests), once("leaf", units=None)]
            remark = _thresholds(items, budget.epsilon, self.c2, rows)
            usefulness = _usefulness(items, budgets.parts[0], self)
        elif kind == "tree":
            # the noise of a gate has a rate above a third of its price
            lines = [
                once("size", units=(_size_units(items, kind),)),
                once("support", units=(TREE_SUPPORT_UNITS,), reach=WEIGHT * items.most),
                once("gate", units=(GATE_UNITS,), reach=3),
                once("leaf", units=None),
            ]
        else:
            size = once("size", units=(_size_units(items, kind),))
            lines = [size, once("cell", units=None)]
            if not whole:
                units = support_units(items.size, budget.epsilon, rows)
                lines.insert(1, once("support", units=(units,), reach=WEIGHT * items.most))
                if rows is None:  # what noisy sizes will decide
                    many = math.ceil(CROWD * items.size / budget.epsilon)
                    delta = " Delta is spent where Gaussian noise is less; else none is."
                    remark = (
                        f"With more than about {many:,} records, each item is known well enough "
                        "for less, and more is spent on which items go together."
                        + (delta if budget.delta else "")
                    )
        return Plan(
            method=self.name, schedule=self.schedule, budget=budget, budgets=budgets,
            allowances=tuple(lines), grows=False, remark=remark, usefulness=usefulness,
        )  # fmt: skip

    def spends_delta(self, schema: Schema) -> bool:
        """Whether Gaussian noise is less: not where all sets of a small universe are counted."""
        items = schema.transaction_items
        whole = items.size <= WHOLE_UNIVERSE if self.core is None else self.core >= items.size
        return self.kind(schema) == "core" and not whole

    def _core(
        self, items: Items, budget: Budget, rows: int | None, supports: Ints | None = None
    ) -> int:
        """The size of the core; without a number of rows, as if there were very many."""
        if self.core is not None:
            return min(self.core, items.size)
        records = 10**12 if rows is None else rows
        left = Fraction(UNITS - _size_units(items, "core"), UNITS)
        whole = core_size(items.size, records, float(budget.epsilon * left))
        if whole == items.size:
            return whole
        left -= Fraction(support_units(items.size, budget.epsilon, rows), UNITS)
        size = core_size(items.size, records, float(budget.epsilon * left), supports)
        return min(items.size - 1, size)

    # run

    @answer_mistakes
    def run(
        self,
        engine: ItemEngine,
        schema: Schema,
        plan: Plan,
        sampler: Sampler,
        progress: Progress = no_progress,
    ) -> Outcome:
        """See `Publisher.run`."""
        items, kind = schema.transaction_items, self.kind(schema)
        curator = Curator(Ledger(plan.budgets.parts), sampler)
        if kind == "paper":
            curator.ledger.allow(plan.allowances)
            outcome = self._paper(engine, items, plan, curator)
            progress(1.0)
            return outcome
        curator.ledger.allow(plan.allowances[:1])
        # size
        edges = size_edges(items.most)
        sizes = _counted(curator, "size", "size", edges, engine.sizes(edges))
        rows = max(0, int(sizes.values.sum()))
        plan = self.plan_for(schema, plan.budget, rows)
        found = [sizes]
        progress(0.2)
        # support
        lines = {line.purpose: line for line in plan.allowances[1:]}
        if "support" in lines:
            units = lines.pop("support").units
            assert units is not None
            found.append(self._supports(engine, items, plan.budget, curator, sizes, units[0]))
        curator.ledger.allow(lines.values())
        progress(0.6)
        if kind == "core":
            partition = self._cells(engine, items, plan.budget, curator, found, rows)
        else:  # expand whatever passes the gate, then count what every partition still holds
            cuts = grow_by_gate(engine, ItemTree.of(items), curator, self.max_partitions)
            partition, where = cuts.partition(), np.arange(len(cuts.cuts))
            counts = engine.counts(where).map(lambda column: column[:, 0])
            found.append(_counted(curator, "leaf", "node", where, counts))
        progress(1.0)
        parts = tuple(curator.ledger.budgets.values())
        if len(parts) > 1:
            plan = replace(plan, budgets=Budgets(parts, "rho"))
        else:  # a delta that bought nothing is not spent
            plan = replace(plan, budget=replace(plan.budget, delta=Fraction(0)))
        return Outcome(
            plan=plan,
            partition=partition,
            measurements=tuple(found),
            ledger=curator.ledger,
            published=_ROOT,
            sharing=partition.cells,
        )

    def _supports(
        self, engine: ItemEngine, items: Items, budget: Budget, curator: Curator,
        sizes: Measurement, units: int,
    ) -> Measurement:  # fmt: skip
        """Noisy weighted supports: a record adds WEIGHT * cap, in squares WEIGHT^2 * cap at most.

        With a delta the noise is Gaussian if there is a cap with which both all items and the most
        frequent ones should be nearer than with Laplace noise (see `gaussian_cap`).
        """
        curve = _curve(sizes, items.most)
        epsilon = budget.epsilon * Fraction(units, UNITS)
        caps = (
            [min(self.cap, items.most)]
            if self.cap
            else support_caps(curve, items.size, items.most, float(budget.epsilon))
        )

        # the variance of a support in records, by the cap

        def laplace(cap: int) -> float:
            return 2 * (cap / float(epsilon)) ** 2

        def gaussian(cap: int) -> float:
            # of Laplace noise as far off on average: normal noise of variance v is off by
            # sqrt(2 v / pi), Laplace noise by sqrt(v / 2)
            return 2 * cap / (math.pi * float(rho))

        losses = {cap: support_losses(curve, items.size, laplace, cap) for cap in caps}
        cap, paid = best_cap(losses), "epsilon"
        if budget.delta:
            rho = rho_of_epsilon(epsilon, budget.delta)
            drawable = [cap for cap in caps if precision_below(2 * rho / (WEIGHT * WEIGHT * cap))]
            first = (cap, laplace(cap))
            other = gaussian_cap(curve, items.size, drawable, gaussian, first)
            if other:
                cap, paid = other, "rho"
                curator.ledger.exchange("support", units, rho)
        curator.ledger.allow([Allowance("support", paid, units=(units,), uses=1)])
        every = np.arange(items.size)
        most = WEIGHT * cap if paid == "epsilon" else WEIGHT * WEIGHT * cap
        exact = engine.supports(cap, every, items.size)
        return _counted(curator, "support", "item", every, exact, most)

    def _cells(
        self, engine: ItemEngine, items: Items, budget: Budget, curator: Curator,
        found: list[Measurement], rows: int,
    ) -> Itemsets:  # fmt: skip
        """One expansion of a tree of our own: all sets of core items, each counted."""
        core, rest = np.arange(items.size), np.zeros(1, dtype=np.int64)
        size = self._core(items, budget, rows)
        if size < items.size:
            supports = found[1].values[:, 0]
            size = self._core(items, budget, rows, -np.sort(-supports) // WEIGHT)
            core = _most_frequent(supports, size)
            edges = [edge for edge in REST_EDGES if edge <= items.size - size]
            rest = np.asarray(edges, dtype=np.int64)
        partition = CoreCells(core, rest)
        places = np.arange(partition.cells)
        found.append(_counted(curator, "cell", "region", places, engine.cells(core, rest)))
        return partition

    def _paper(self, engine: ItemEngine, items: Items, plan: Plan, curator: Curator) -> Outcome:
        """Algorithm 1, whose leaves are counted as they are found."""
        tree = ItemTree.of(items)
        cuts, account, leaves = grow_by_thresholds(
            engine, tree, curator, self.max_partitions, c1=self.c1, c2=self.c2
        )
        if len(tree) == 1:  # a universe of one item: all records are alike
            found = _counted(curator, "leaf", "node", _ROOT, engine.counts(_ROOT).map(np.ravel))
        else:
            drawn = (leaves[:, 0], leaves[:, 1:2], leaves[:, 2])
            found = make_measurement(curator, "leaf", "node", [drawn])
        return Outcome(
            plan=plan,
            partition=cuts.partition(),
            measurements=(found,),
            ledger=curator.ledger,
            published=account[found.where],
        )

    def chosen(self, schema: Schema, outcome: Outcome) -> dict[str, Any]:
        """See `Publisher.chosen`."""
        found: dict[str, Any] = {"variant": self.kind(schema)}
        for measurement in outcome.measurements:
            if measurement.name == "support":
                found["cap"] = cap_of(measurement)
        if isinstance(outcome.partition, CoreCells):
            found["core"] = len(outcome.partition.core)
        return found


def grow_by_thresholds(
    engine: ItemEngine, tree: ItemTree, curator: Curator, most: int, *, c1: float, c2: float
) -> tuple[GrowingCuts, Ints, Ints]:
    """Algorithm 1. One half of epsilon guides the growth; leaves get the rest of their paths.

    Numbers of lines are the paper's, with an S for those of Procedure 1. Empty sub-partitions
    (S11 to S18) are drawn by the curator, with the others and by the same rule.

    Returns:
        The cuts, the account of each partition, and the leaves: partition, noisy count and price.
    """
    ledger = curator.ledger
    unit, half = ledger.budgets["epsilon"].unit, ledger.budgets["epsilon"].units // 2
    cuts = GrowingCuts(tree)  # 3, 4: all records, under the root
    account, leaves = [0], []  # where each partition's records pay
    level, depth = cuts.open([0]), 0  # 5, 6
    while level:  # 7
        kept: dict[tuple[int, int], tuple[int, int, int]] = {}  # account, noisy count, price
        # records of leaves and records of other sub-partitions pay for different things
        both = np.repeat(np.asarray([account[p] for p in level], dtype=np.int64), 2)
        opened = ledger.open(both) + 2 * np.arange(len(level))
        for (partition, numbering, exact), mine in zip(
            expand(cuts, engine, curator, level), opened.tolist(), strict=True
        ):  # 8, 9, S1 to S4
            left = int(ledger.left("epsilon", np.asarray([mine], dtype=np.int64))[0])
            if numbering.leaf_sets:  # 11: counted once, with the reserved half and what is left
                number, values, price = curator.sparse(
                    "leaf", exact.map(numbering.leaves), numbering.leaf_sets,
                    threshold(c1, left * unit), depth, mine,
                )  # fmt: skip
                for mask, value in zip(numbering.mask(number + 1), values, strict=True):
                    kept[partition, int(mask)] = (mine, int(value), price)  # 12 to 14
            if numbering.other_sets:
                alpha = (left - half) // cuts.inner_nodes(partition)  # S8, S9 of the step before
                height = int(tree.height[list(cuts.cuts[partition])].max())
                number = curator.mark(
                    "test", exact.map(numbering.others), numbering.other_sets,
                    threshold(c2 * height, alpha * unit), depth, mine + 1, alpha,
                )  # fmt: skip
                for mask in numbering.mask(number + numbering.leaf_sets + 1):
                    kept[partition, int(mask)] = (mine + 1, 0, 0)  # 16, S6 to S10
        children = sorted(kept)[: most - len(cuts.cuts)]
        for place, child in enumerate(children, start=len(cuts.cuts)):
            at, value, price = kept[child]
            account.append(at)
            if price:
                leaves.append((place, value, price))
        level, depth = keep(cuts, engine, level, children), depth + 1
    counted = np.asarray(leaves, dtype=np.int64).reshape(-1, 3)
    return cuts, np.asarray(account, dtype=np.int64), counted  # 17


def threshold(strictness: float, epsilon: Fraction) -> int:
    """The paper's threshold, √2 C / epsilon, for whole numbers.

    It is 1 at least: an empty sub-partition never passes without noise.

    Example:
        >>> threshold(2.75, Fraction(3, 4))
        6
    """
    return max(1, math.ceil(math.sqrt(2) * strictness / float(epsilon)))


def usefulness_bound(
    tree: ItemTree, budget: UnitBudget, most: int, *, c1: float, c2: float, failure: float = 0.05,
    sets: int = 1,
) -> int:  # fmt: skip
    """Theorem 4.2 in numbers: how far off one set of items is, at most.

    A counting query adds up the published counts of all sets that hold the asked items. Let k of
    them occur in the data or in the release. With probability at least 1 - `failure`, the answer
    is off by at most k times this number, or the tree has reached its largest number of
    partitions, which a release shows. Proof in docs/algorithms/diffpart.md.

    Args:
        tree: The universe's tree.
        budget: Epsilon, and the units that it is cut into.
        most: The largest number of partitions.
        c1: The paper's C1.
        c2: The paper's C2.
        failure: The paper's delta: how often the bound may fail.
        sets: At most how many different sets in the data hold the asked items.

    Example:
        >>> from hedgerow.schema.items import (Items)
        >>> tree = ItemTree.of(Items(tuple("abcdefgh"), fan_out=4))
        >>> budget = UnitBudget("epsilon", Fraction(1, 1000), 1000)
        >>> usefulness_bound(tree, budget, 10_000, c1=2.75, c2=6.75)
        137
    """
    inner, half = int(tree.inner[0]), budget.units // 2
    alpha = half // max(1, inner) * budget.unit  # of a test, at least
    leaf = (budget.units - half) * budget.unit + alpha  # of the count of a leaf, at least
    counted = most << int(tree.children.max())  # leaves, at most
    off = _tail(leaf, failure / 4 / counted)  # either way
    bound = threshold(c1, leaf) - 1 + off
    if inner > 1:  # the last expansion of a path has leaves, which are not tested
        bar = threshold(c2 * int(tree.height[0]), alpha) - 1
        bound = max(bound, bar + _tail(alpha, failure / 2 / (sets * (inner - 1))))
    return bound


def _tail(rate: Fraction, chance: float) -> int:
    """The least whole t for which discrete Laplace noise is above t with at most this chance."""
    # P[noise >= t + 1] = a^(t + 1) / (1 + a), a = exp(-rate)
    log = math.log(chance) + math.log1p(math.exp(-float(rate)))
    return max(0, math.ceil(-log / float(rate)) - 1)


def _size_units(items: Items, kind: str) -> int:
    """What sizes cost: less where the universe may be counted as a whole."""
    return SIZE_UNITS["small" if kind == "core" and items.size <= WHOLE_UNIVERSE else kind]


def _usefulness(items: Items, budget: UnitBudget, method: DiffPart) -> str:
    """Theorem 4.2 in numbers, for queries that one set of items answers, and a hundred."""
    one, many = (
        usefulness_bound(
            ItemTree.of(items), budget, method.max_partitions, c1=method.c1, c2=method.c2, sets=sets
        )
        for sets in (1, 100)
    )
    return (
        f"Usefulness (Theorem 4.2): 19 times in 20, a query is off by at most {one:,} records if "
        "one set with its items occurs in the data or the release, and by at most 100 times "
        f"{many:,} if 100 do."
    )


def _thresholds(items: Items, epsilon: Fraction, strictness: float, rows: int | None) -> str | None:
    """What the published thresholds leave of a universe at the first step, where that is little.

    With a number of records, whether these are enough, and if not, from which epsilon on.
    """
    tree = ItemTree.of(items)
    inner, strictness = int(tree.inner[0]), strictness * int(tree.height[0])
    if inner < 2:  # leaves are not tested
        return None

    def bar(epsilon: Fraction) -> int:
        return threshold(strictness, epsilon / 2 / inner)

    least = bar(epsilon)
    if least < _LOW_BAR:
        return None
    if rows is None:
        end = f"At epsilon {_LARGE} these are {bar(_LARGE):,}. " if epsilon < _LARGE else ""
    elif rows >= least:
        end = f"Of your {rows:,} records that is {least / rows:.0%}. "
    else:
        tenths = math.ceil(10 * float(epsilon) * least / max(rows, 1))
        needed = max(Fraction(tenths, 10), epsilon)
        end = f"Your {rows:,} records are too few" + (
            f"; from epsilon {float(needed):g} on they can be enough. "
            if needed <= _LARGE
            else f", at any epsilon up to {max(_LARGE, epsilon)}. "
        )
    return (
        f"The published thresholds go on from the first step only with groups of items that about "
        f"{least:,} records share; with fewer records than that, nothing is published but by "
        f"chance. {end}The tuned schedule has no thresholds."
    )


def _curve(sizes: Measurement, most: int) -> SizeCurve:
    """How many records have each size, by noisy numbers."""
    counts = sizes.values[:, 0].astype(np.float64)
    return fit_sizes(sizes.where, counts, float(sizes.units[0] * sizes.unit), most)


def _most_frequent(supports: Ints, number: int) -> Ints:
    """The items with the largest noisy supports, by code; ties go to the smaller code."""
    return np.sort(np.argsort(-supports, kind="stable")[:number])


def _counted(
    curator: Curator,
    purpose: str,
    at: Place,
    where: Ints,
    exact: Sealed[Ints],
    max_contribution: int = 1,
) -> Measurement:
    """Noisy counts of disjoint places, or of items, under one charge to everybody."""
    row = exact.map(lambda counts: counts[None, :])
    noisy, units = curator.noisy(purpose, 0, _ROOT, row, max_contribution=max_contribution)
    price = np.full(len(where), units[0], dtype=np.int64)
    return make_measurement(
        curator, purpose, at, [(where, noisy[0][:, None], price)], max_contribution=max_contribution
    )
