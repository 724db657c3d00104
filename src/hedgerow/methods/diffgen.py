"""DiffGen: generalization one attribute at a time (Mohammed, Chen, Fung and Yu, KDD 2011).

All records start at the topmost values. Each step specializes one value of one attribute,
everywhere; the regions are the product of the attributes' cuts, and every one of them publishes
noisy class counts.

Protected: one record (or one person with a public cap on records), added or removed.

Spent on each record (all steps see all records, so charges add up):

| step                                    | mechanism        | `paper`      | `tuned`            |
|-----------------------------------------|------------------|--------------|--------------------|
| rows: how many records, for the rules   | discrete Laplace | -            | 1%                 |
| cut: a split point of one numeric value | exponential      | 1 of 2 N     | (joined to select) |
| select: which value to specialize       | exponential      | 1 of 2 N     | 50% over h steps   |
| leaf: class counts                      | discrete Laplace | N of 2 N     | what is left       |

with N = numeric + 2 h. Cuts of the two halves of an interval are drawn under one charge: no
record lies in both. With a delta, select and cut are paid in zCDP; in `tuned`, what is left of it
buys a second count, with discrete Gaussian noise.

Departures of `paper` from the paper, for privacy or for exact arithmetic (G.. as in
docs/algorithms/diffgen.md):

- information gain at its true sensitivity, 1 bit for any number of classes (G1);
- split points lie on the public grid (G3);
- scores and noise are whole numbers;
- more groups than can be listed are listed from a threshold on, or not made at all (`max_cells`).

`tuned` also compares gains and not penalties, selects value and cut in one draw, takes monotone
scores at their worth, gives to the counts what steps leave, and makes them add up to a noisy total.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np

from hedgerow.arrays import Bools, Ints, Small
from hedgerow.counting.engine import Domain, Histograms
from hedgerow.counting.parts import Engine
from hedgerow.errors import UsageError
from hedgerow.estimate.measurements import Measurement
from hedgerow.estimate.partition import MOST_CELLS, GridPartition
from hedgerow.methods import scores
from hedgerow.methods.diffmulti import GrowingTree
from hedgerow.methods.plan import (
    Budgets,
    Plan,
    divide_budget,
    grid_size,
    half_of,
    leaf_allowances,
    levels,
)
from hedgerow.methods.publisher import (
    Job,
    Outcome,
    TablePublisher,
    check_common,
    check_count,
    class_totals,
    make_measurement,
    root_histograms,
)
from hedgerow.methods.scores import ALL_CUTS, SKIP, Score, range_of
from hedgerow.privacy.budget import Budget
from hedgerow.privacy.curator import Curator
from hedgerow.privacy.ledger import Allowance
from hedgerow.privacy.sampler import Candidates, Choices
from hedgerow.schema import Schema
from hedgerow.suggestions import answer_mistakes

UNITS, ROWS_UNITS, GROWTH_UNITS = 100_000, 1_000, 50_000
DENSE_CELLS = 1_000_000
SPURIOUS = 10_000  # empty cells that a sparse release may list, about
MOST_SPECIALIZATIONS = 10_000
_ROOT = np.zeros(1, dtype=np.int64)


@dataclass(frozen=True, kw_only=True)
class GridPublisher(TablePublisher):
    """The settings of methods that specialize a value everywhere, so that regions multiply."""

    score: str | None = None
    schedule: Literal["tuned", "paper"] = "tuned"
    specializations: int | None = None
    max_cells: int = 1_000_000

    most_cells: ClassVar[int]  # that may be asked for
    most_counts: ClassVar[int]  # of regions and classes
    growth_units: ClassVar[int]  # of `UNITS`, for a tuned schedule
    step_units: ClassVar[int]  # that the paper's schedule cuts one step into

    def __post_init__(self) -> None:
        """Refuses settings that cannot be meant."""
        super().__post_init__()
        check_common(self.score, self.specializations, MOST_SPECIALIZATIONS)
        check_count("max_cells", self.max_cells, self.most_cells, usual=type(self).max_cells)

    def plan_for(self, schema: Schema, budget: Budget, rows: int | None = None) -> Plan:
        """See `Publisher.plan_for`."""
        classes = max(1, len(schema.classes))
        if self.max_cells * classes > self.most_counts:
            raise UsageError(
                "max_cells times the number of classes is more than can be counted.",
                hint=f"Take at most {self.most_counts // classes}.",
            )
        budgets, allowances, size = self._growth(schema, budget, rows)
        if size:
            allowances.extend(self.counting(budgets, size))
        return Plan(
            method=self.name, schedule=self.schedule, budget=budget, budgets=budgets,
            allowances=tuple(allowances), specializations=size, depth=size,
            spends_all=self.schedule != "paper",
        )  # fmt: skip

    def _growth(
        self, schema: Schema, budget: Budget, rows: int | None
    ) -> tuple[Budgets, list[Allowance], int | None]:
        """The budgets, the lines for growing by cuts, and the number of steps if it is known."""
        size = self.specializations
        if self.schedule == "paper":
            size = size or 10
            return *self.share_steps(schema, budget, size, 2, self.step_units), size
        budgets = divide_budget(budget, UNITS, self.growth_units)
        lines = [Allowance("rows", "epsilon", units=(ROWS_UNITS,), uses=1)]
        if rows is not None:
            size = grid_size(budget.row_epsilon, rows, size, len(schema.classes))
        if size:
            units = levels(self.growth_units, size)
            lines.append(self.choosing("select", budgets, schema, units, size))
        return budgets, lines, size

    def counting(self, budgets: Budgets, size: int) -> tuple[Allowance, ...]:
        """What counts may take, after so many specializations."""
        if self.schedule == "paper":
            return (Allowance("leaf", "epsilon", units=(half_of(budgets),), uses=1),)
        return leaf_allowances(budgets)


@answer_mistakes
@dataclass(frozen=True)
class DiffGen(GridPublisher):
    """Settings of DiffGen.

    Args:
        score: The score that guides the choices, one of docs/algorithms/scores.md; by default
            "max" with a class, otherwise "ncp".
        schedule: "tuned", or "paper" for the published method, its privacy repaired.
        specializations: How many values are specialized; by default set by a public rule from
            epsilon and a noisy number of rows ("paper": 10).
        max_cells: The largest number of regions; a value whose specialization would make more is
            skipped.

    Example:
        >>> DiffGen(score="infogain", specializations=10).max_cells
        1000000
    """

    name: ClassVar[str] = "diffgen"
    most_cells: ClassVar[int] = MOST_CELLS // 1024
    most_counts: ClassVar[int] = MOST_CELLS
    growth_units: ClassVar[int] = GROWTH_UNITS
    step_units: ClassVar[int] = 1

    def settings(self) -> dict[str, Any]:
        """See `Publisher.settings`."""
        return super().settings() | ({"consistency": "none"} if self.schedule == "paper" else {})

    def grow(self, job: Job) -> Outcome:
        """See `TablePublisher.grow`."""
        cuts = grow_cuts(job, self.schedule, self.max_cells)
        job.progress(0.5, "counting regions")
        # count
        partition = GridPartition(cuts.edges())
        job.found.extend(count_cells(job.engine, job.curator, partition))
        return job.finish(partition, _ROOT, partition.cells)


def count_cells(engine: Engine, curator: Curator, partition: GridPartition) -> list[Measurement]:
    """Noisy class counts of all groups: in full, or those above a threshold."""
    classes = engine.domain.classes
    number = partition.cells * classes
    exact = engine.cell_counts(partition.edges)
    purposes = ["leaf", "spare"] if curator.ledger.allows("spare") else ["leaf"]
    if number <= DENSE_CELLS:

        def dense(cells: tuple[Ints, Ints]) -> Ints:
            counts = np.zeros(number, dtype=np.int64)
            counts[cells[0]] = cells[1]
            return counts.reshape(partition.cells, classes)

        counts = exact.map(dense)
        every = np.arange(partition.cells)
        accounts = np.zeros(partition.cells, dtype=np.int64)
        return [
            make_measurement(
                curator, purpose, "region",
                [(every, *curator.noisy(purpose, 0, accounts, counts))], by_class=True,
            )
            for purpose in purposes
            if curator.ledger.left(curator.ledger.budget_of(purpose), _ROOT)[0]
        ]  # fmt: skip
    rate = curator.noise_rate("leaf", curator.ledger.price("leaf"))
    threshold = max(1, math.ceil(math.log(number / SPURIOUS) / float(rate)))
    cells, values, units = curator.sparse("leaf", exact, number, threshold)
    price = curator.noise_rate("leaf", units)
    found = [
        Measurement(
            name="leaf", at="region", where=cells // classes, values=values[:, None], by_class=True,
            units=np.full(len(cells), price.numerator), unit=price / price.numerator,
            threshold=threshold, klass=cells % classes,
        )
    ]  # fmt: skip
    if len(purposes) > 1 and curator.ledger.left("rho", _ROOT)[0]:
        total = engine.class_counts(_ROOT).map(class_totals)
        drawn = (_ROOT, *curator.noisy("spare", 0, _ROOT, total))
        found.append(make_measurement(curator, "spare", "node", [drawn]))
    return found


def grow_cuts(job: Job, schedule: str, max_cells: int) -> Cuts:
    """Specializes values one after another, as far as steps and the cap on regions allow."""
    engine, curator, score = job.engine, job.curator, job.score
    paper = schedule == "paper"
    # a value's score needs the marginal counts of its own attribute alone: one pass serves all
    marginals = root_histograms(engine)
    cuts = Cuts(engine.domain, max_cells)
    price = range_of(score, engine.domain, apart=True)
    score_range = max(2 * score.sensitivity, price) if paper else price
    for step in range(job.specializations):
        if not cuts.open_values().any():
            break
        if paper:
            # cut: all attributes in turn at first, then the two halves of one interval
            for values in cuts.without_split_point():
                scored = marginals.map(cuts.split_points(values, score))
                accounts = np.zeros(len(values), dtype=np.int64)
                drawn = curator.select(
                    "cut", step, accounts, scored, score_range=score_range, flip=False
                )
                cuts.split_point[values] = drawn.cut
        # select
        scored = marginals.map(cuts.candidates(score, joint=not paper))
        choice = curator.select(
            "select", step, _ROOT, scored, score_range=score_range, flip=not paper
        )
        # specialize
        cuts.specialize(int(choice.part[0]), int(choice.cut[0]))
    return cuts


# The cut of each attribute, and what may be specialized next. All of it is public.


class Cuts:
    """The values of all cuts, each an interval of codes of one attribute.

    Args:
        domain: The public domain.
        max_cells: The most regions that the product of all cuts may have.
    """

    def __init__(self, domain: Domain, max_cells: int) -> None:
        self._domain = domain
        self._max_cells = max_cells
        self._tree = GrowingTree(domain, domain.attributes)  # a node for each value, in which all
        first = np.arange(domain.attributes)  # other attributes are as they were
        self._hold(first, first, np.full(domain.attributes, -1, dtype=np.int64))
        self.steps: list[tuple[int, int, int, int]] = []  # attribute, lo, hi, cut of each

    def _hold(self, node: Ints, attribute: Ints, split_point: Ints) -> None:
        """The values from now on, each with its node."""
        self._node, self.attribute, self.split_point = node, attribute, split_point
        tree = self._tree
        self.lo, self.hi, self.taxon = (
            side[node, attribute].astype(np.int64) for side in (tree.lo, tree.hi, tree.taxon)
        )

    def open_values(self) -> Bools:
        """Which values can be specialized without exceeding the cap on regions."""
        parts = np.bincount(self.attribute, minlength=self._domain.attributes)
        own = parts[self.attribute]
        # -1, which stands for a number, takes what is appended: a cut makes two children
        children = np.append(self._domain.children, 2)[self.taxon]
        fits = parts.prod() // own * (own - 1 + children) <= self._max_cells
        wide = (self.taxon >= 0) | (self.hi - self.lo >= 2)
        return np.asarray(wide & (children > 0) & fits, dtype=np.bool_)

    def without_split_point(self) -> Iterator[Ints]:
        """Numeric values that lack a split point, in groups whose values are disjoint."""
        lacking = (self.taxon < 0) & (self.hi - self.lo >= 2) & (self.split_point < 0)
        for a in np.unique(self.attribute[lacking]):
            yield np.flatnonzero(lacking & (self.attribute == a))

    def split_points(self, values: Ints, score: Score) -> Callable[[Histograms], Candidates]:
        """Scores all split points of some numeric values, each value by itself, as a paper does."""
        return self._score(values, np.full(len(values), ALL_CUTS), score, paper=True)

    def candidates(self, score: Score, *, joint: bool) -> Callable[[Histograms], Candidates]:
        """Scores what may be specialized next, as one set of candidates.

        Args:
            score: The score.
            joint: Whether all split points of a numeric value are candidates, or only the one
                that was drawn for it, as in the paper.
        """
        values = np.flatnonzero(self.open_values())
        ask = np.where((self.taxon[values] >= 0) | joint, ALL_CUTS, self.split_point[values])
        scored = self._score(values, ask, score, paper=not joint)

        def compute(marginals: Histograms) -> Candidates:
            each = scored(marginals)
            part = np.repeat(values, np.diff(each.start))
            return replace(each, start=each.start[[0, -1]], part=part)

        return compute

    def _score(
        self, values: Ints, ask: Ints, score: Score, *, paper: bool
    ) -> Callable[[Histograms], Candidates]:
        shape, tree, node = (len(values), self._domain.attributes), self._tree, self._node[values]
        places = (np.arange(len(values)), self.attribute[values])
        lo, hi, taxon = tree.lo[node], tree.hi[node], tree.taxon[node]
        asked = np.full(shape, SKIP, dtype=np.int32)
        asked[places] = ask
        score_all = scores.candidates(
            self._domain, lo, hi, taxon, asked, score, apart=True, paper=paper
        )

        def compute(marginals: Histograms) -> Candidates:
            pieces, sizes = [], np.zeros(shape, dtype=np.int64)
            for i, a in zip(*places, strict=True):
                segment = slice(marginals.start[a], marginals.start[a + 1])
                ends = np.searchsorted(marginals.code[segment], (lo[i, a], hi[i, a]))
                pieces.append(np.arange(*(segment.start + ends)))
                sizes[i, a] = len(pieces[-1])
            take = np.concatenate(pieces)
            start = np.concatenate([[0], np.cumsum(sizes.ravel())])
            return score_all(Histograms(start, marginals.code[take], marginals.counts[take]))

        return compute

    def specialize(self, value: int, cut: int) -> None:
        """Replaces a value by its children: two intervals, or the children of a taxonomy node."""
        a, node = self.attribute[[value]], self._node[[value]]
        self.steps.append((int(a[0]), int(self.lo[value]), int(self.hi[value]), cut))
        split, place = self._tree.specialize(node, Choices(a, np.array([cut])), final=False)
        children = split.first_child + np.arange(len(place))
        columns = (
            (self._node, children),
            (self.attribute, a[place]),
            (self.split_point, np.full(len(place), -1, dtype=np.int64)),
        )
        self._hold(*(np.append(np.delete(column, value), new) for column, new in columns))

    def edges(self) -> tuple[Small, ...]:
        """The edges of each attribute's cut, from 0 to its size."""
        return tuple(
            np.append(np.sort(self.lo[self.attribute == a]), size).astype(np.int32)
            for a, size in enumerate(self._domain.sizes)
        )
