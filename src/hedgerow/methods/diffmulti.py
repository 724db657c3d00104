"""DiffMulti: multidimensional generalization (Al-Hussaeni, Fung, Iqbal, Liu and Hung 2017).

A tree of regions grows from the top. Each node is specialized on one of its values, chosen by a
score of its own records; its right to further specializations is shared among its children by
their noisy sizes; leaves publish noisy class counts.

Protected: one record (or one person with a public cap on records), added or removed.

Spent on each path from the root to a leaf (path composition, see `privacy.ledger`):

| step                                      | mechanism        | `paper`      | `tuned`           |
|-------------------------------------------|------------------|--------------|-------------------|
| rows: how many records, for the rules     | discrete Laplace | -            | 1%                |
| cut: a split point of one numeric value   | exponential      | 1 of 2 N     | (joined to select) |
| select: what to specialize                | exponential      | 1 of 2 N     | 63% over g levels |
| allocate: sizes of the children           | discrete Laplace | 1 of 2 N     | 7% over g levels  |
| leaf: class counts                        | discrete Laplace | see below    | what is left      |

N = numeric + 3 g, as the paper has it, bounds the steps on a path of at most g specializations. In
`paper` every leaf gets half of epsilon, and what the path that spent most left of the other half.
With a delta, growing is paid in zCDP; in `tuned`, what a leaf has left of it buys a second count.

Departures of `paper` from the paper, all for privacy (M.. as in docs/algorithms/diffmulti.md):

- empty children get noise like all others, and shares of h' come from noisy sizes alone (M1, M2);
- split points lie on the public grid, and ncp selects one of them all (M5, M6);
- discernibility is divided by the region's size, as the number of records is private (M7);
- at most g, not g + 1, specializations on a path (M12), and g is public (M13);
- scores see the region's records alone (M18);
- noise and published counts are whole numbers, and what is below 0 is published as 0.

`tuned` also compares gains and not penalties, selects attribute and cut in one draw, takes monotone
scores at their worth, gives nothing of h' to children that cannot be specialized, lets every leaf
use what its own path has left (M14), and makes all counts agree by least squares.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from hedgerow.arrays import Bools, Ints, Small
from hedgerow.counting.engine import Domain, Split
from hedgerow.estimate.partition import TreePartition
from hedgerow.methods.plan import (
    PAPER_NUMERIC_HEIGHT,
    Budgets,
    Plan,
    divide_budget,
    half_of,
    largest_tree,
    leaf_allowances,
    levels,
    tree_size,
)
from hedgerow.methods.publisher import (
    Job,
    Outcome,
    TablePublisher,
    check_common,
    check_count,
    class_totals,
    count_leaves,
    make_measurement,
    pick_score,
)
from hedgerow.methods.scores import ALL_CUTS, SKIP, Score, candidates, range_of
from hedgerow.privacy.budget import Budget
from hedgerow.privacy.ledger import Allowance
from hedgerow.privacy.sampler import Choices
from hedgerow.schema import Numeric, Schema
from hedgerow.suggestions import answer_mistakes

UNITS, ROWS_UNITS, GROWTH_UNITS, ALLOCATE_UNITS = 100_000, 1_000, 70_000, 7_000
MOST_SPECIALIZATIONS, MOST_DEPTH = 10_000_000, 1_000
_MOST_WEIGHT = 1 << 38  # times any quota it fits 64 bits; more can only be noise


_Grants = tuple[Budgets, list[Allowance], int | None, int | None]  # and the tree's size and depth


@answer_mistakes
@dataclass(frozen=True, kw_only=True)
class DiffMulti(TablePublisher):
    """Settings of DiffMulti.

    Args:
        score: The score that guides the choices, one of docs/algorithms/scores.md; by default
            "purity" with a class ("paper": "max"), otherwise "ncp".
        schedule: "tuned", or "paper" for the published method, its privacy repaired.
        specializations: The total number of specializations; by default set by a public rule from
            epsilon and a noisy number of rows ("paper": 1000).
        depth: The largest number of specializations on one path; by default set by a public rule
            ("paper": the heights of all taxonomies, with 7 for a numeric attribute).
        distribution: How the remaining specializations are divided among children: "fair" by
            noisy sizes, or "even", which costs no budget.

    Example:
        >>> DiffMulti(score="max").specializations is None
        True
    """

    score: str | None = None
    schedule: Literal["tuned", "paper"] = "tuned"
    specializations: int | None = None
    depth: int | None = None
    distribution: Literal["fair", "even"] = "fair"

    name: ClassVar[str] = "diffmulti"

    def __post_init__(self) -> None:
        """Refuses settings that cannot be meant."""
        super().__post_init__()
        check_common(self.score, self.specializations, MOST_SPECIALIZATIONS)
        check_count("depth", self.depth, MOST_DEPTH)

    def scoring(self, schema: Schema) -> Score:
        """See `TablePublisher.scoring`."""
        purity = self.score is None and self.schedule == "tuned" and schema.target
        return pick_score("purity" if purity else self.score, schema)

    def settings(self) -> dict[str, Any]:
        """See `Publisher.settings`."""
        return super().settings() | ({"consistency": "none"} if self.schedule == "paper" else {})

    def plan_for(self, schema: Schema, budget: Budget, rows: int | None = None) -> Plan:
        """See `Publisher.plan_for`."""
        share = self._paper if self.schedule == "paper" else self._tuned
        budgets, allowances, size, depth = share(schema, budget, rows)
        largest = largest_tree(schema)
        digits = int((largest.bit_length() - 1) * math.log10(2))
        number = f"{largest:,}" if digits < 9 else f"about 10^{digits}"
        return Plan(
            method=self.name, schedule=self.schedule, budget=budget, budgets=budgets,
            allowances=tuple(allowances), specializations=size, depth=depth,
            spends_all=self.schedule != "paper",
            largest=f"This schema has room for {number} specializations, by equation 14 of the "
            "method's paper.",
        )  # fmt: skip

    def _paper(self, schema: Schema, budget: Budget, rows: int | None) -> _Grants:
        heights = [
            PAPER_NUMERIC_HEIGHT if isinstance(attribute, Numeric) else attribute.taxonomy.height
            for attribute in schema.attributes
        ]
        depth = self.depth or max(1, sum(heights))
        fair = self.distribution == "fair"
        budgets, lines = self.share_steps(schema, budget, depth, 3 if fair else 2, 1)
        uses = depth - 1 if fair else 0
        lines.append(Allowance("allocate", budgets.growth, units=(1,), uses=uses))
        lines.append(Allowance("leaf", "epsilon", units=None, uses=1, least=half_of(budgets)))
        return budgets, lines, self.specializations or 1000, depth

    def _tuned(self, schema: Schema, budget: Budget, rows: int | None) -> _Grants:
        budgets = divide_budget(budget, UNITS, GROWTH_UNITS)
        allowances = [Allowance("rows", "epsilon", units=(ROWS_UNITS,), uses=1)]
        size, depth = self.specializations, self.depth
        if rows is not None or (size and depth):
            size, depth = tree_size(budget.row_epsilon, rows or 0, size, depth, len(schema.classes))
            share = ALLOCATE_UNITS if self.distribution == "fair" else 0
            select = levels(GROWTH_UNITS - share, depth)
            allowances.append(self.choosing("select", budgets, schema, select, depth))
            asked = depth - 1 if share else 0
            allowances.append(
                Allowance("allocate", budgets.growth, units=levels(share, depth - 1), uses=asked)
            )
            allowances.extend(leaf_allowances(budgets))
        return budgets, allowances, size, depth

    def grow(self, job: Job) -> Outcome:
        """See `TablePublisher.grow`."""
        engine, curator, paper = job.engine, job.curator, self.schedule == "paper"
        tree = GrowingTree(engine.domain)
        nodes = np.zeros(1, dtype=np.int64)
        quota = np.full(1, job.specializations, dtype=np.int64)
        cuts = np.full((1, engine.domain.attributes), -1, dtype=np.int32)
        bought = []
        for depth in range(job.depth):
            job.progress(depth / job.depth, f"level {depth + 1} of at most {job.depth}")
            valid = tree.splittable(nodes)
            growing = (quota > 0) & valid.any(axis=1)
            if not growing.any():
                break
            nodes, quota = nodes[growing], quota[growing]
            valid, cuts = valid[growing], cuts[growing]
            # choose
            choices, cuts = self._choose(job, tree, depth, nodes, valid, cuts)
            # split
            split, place = tree.specialize(nodes, choices, final=depth + 1 == job.depth)
            engine.split(split)
            curator.ledger.open(nodes[place])
            children = split.first_child + np.arange(len(place))
            cuts = cuts[place]
            cuts[np.arange(len(place)), choices.part[place]] = -1  # its interval has changed
            # allocate
            open_ = np.asarray(tree.splittable(children).any(axis=1)) & (depth + 1 < job.depth)
            sharing = open_ | paper  # the paper gives to all children
            quota = quota - 1
            if self.distribution == "even":
                quota = share_evenly(quota, place, sharing)
            else:
                # where no child can grow on, by a public rule, nothing is bought
                asked = ((quota > 0) & (np.bincount(place, open_, len(nodes)) > 0))[place]
                sizes = np.zeros(len(place), dtype=np.int64)
                if asked.any():
                    exact = engine.class_counts(children[asked]).map(class_totals)
                    noisy, units = curator.noisy("allocate", depth, children[asked], exact)
                    sizes[asked] = noisy[:, 0]
                    bought.append((children[asked], noisy, units))
                # what does not divide: in the paper chance decides, by a coin that sees no data
                gain = curator.coin(np.bincount(place)) if paper and asked.any() else None
                quota = np.where(asked, share_fairly(quota, place, sizes, sharing, gain), 0)
            nodes = children
        # count
        if bought:
            job.found.append(make_measurement(curator, "allocate", "node", bought))
        partition = tree.partition()
        leaves = count_leaves(curator, engine, tree.depth, partition.leaves, alike=paper)
        job.found.extend(leaves)
        return job.finish(partition, partition.leaves, 1)

    def _choose(
        self,
        job: Job,
        tree: GrowingTree,
        depth: int,
        nodes: Ints,
        valid: Bools,
        cuts: Small,
    ) -> tuple[Choices, Small]:
        """Chooses what each node is specialized on; the scores see that node's records alone."""
        paper = self.schedule == "paper"
        engine, score = job.engine, job.score
        price = range_of(score, engine.domain, apart=False)
        score_range = max(2 * score.sensitivity, price) if paper else price
        cuts = cuts.copy()

        def draw(purpose: str, at: Ints, ask: Small) -> Choices:
            parts, points = [], []
            for batch, sealed in engine.histograms(at, tree.lo[at], tree.hi[at], ask != SKIP):
                here = at[batch]
                region = (tree.lo[here], tree.hi[here], tree.taxon[here], ask[batch])
                scored = sealed.map(
                    candidates(engine.domain, *region, score, apart=False, paper=paper)
                )
                drawn = job.curator.select(
                    purpose, depth, here, scored, score_range=score_range, flip=not paper
                )
                parts.append(drawn.part)
                points.append(drawn.cut)
            return Choices(np.concatenate(parts), np.concatenate(points))

        ask = np.where(valid, ALL_CUTS, SKIP).astype(np.int32)
        if paper:
            # all cuts before all selections: the order of draws must not depend on batches
            numeric = valid & (tree.taxon[nodes] < 0)
            while (new := numeric & (cuts < 0)).any():  # all at the root, then one each
                rows = np.flatnonzero(new.any(axis=1))
                columns = new.argmax(axis=1)[rows]
                one = np.full((len(rows), ask.shape[1]), SKIP, dtype=np.int32)
                one[np.arange(len(rows)), columns] = ALL_CUTS
                cuts[rows, columns] = draw("cut", nodes[rows], one).cut
            ask = np.where(numeric, cuts, ask).astype(np.int32)
        return draw("select", nodes, ask), cuts


# The tree as it grows. Everything here is public: it follows from what was drawn.


class GrowingTree:
    """Regions by node number; children of one node are contiguous and ordered by their codes.

    Args:
        domain: The public domain.
        roots: How many nodes there are to begin with, each of them everything.
    """

    def __init__(self, domain: Domain, roots: int = 1) -> None:
        self.domain = domain
        self.parent = np.full(roots, -1, dtype=np.int64)
        self.depth = np.zeros(roots, dtype=np.int64)
        self.split_on = np.full(roots, -1, dtype=np.int64)
        self.lo: Small = np.zeros((roots, domain.attributes), dtype=np.int32)
        self.hi: Small = np.tile(domain.sizes, (roots, 1))
        self.taxon: Small = np.tile(domain.root, (roots, 1))

    def splittable(self, nodes: Ints) -> Bools:
        """Which attributes of each node can be specialized."""
        return self.domain.splittable(self.lo[nodes], self.hi[nodes], self.taxon[nodes])

    def specialize(self, nodes: Ints, choices: Choices, *, final: bool) -> tuple[Split, Ints]:
        """Adds the children of nodes; after the final level no child will be split again.

        Returns the split for the engine and, for each child, its parent's place in `nodes`.
        """
        attribute, domain = choices.part, self.domain
        taxon = self.taxon[nodes, attribute]
        # -1, which stands for a number, takes what is appended: a cut makes two children
        number = np.append(domain.children, 2)[taxon]
        place = np.repeat(np.arange(len(nodes)), number)
        which = np.arange(len(place)) - np.repeat(np.cumsum(number) - number, number)
        first_child = len(self.parent)
        a, numeric, cut = attribute[place], taxon[place] < 0, choices.cut[place]
        lo, hi, taxa = self.lo[nodes[place]], self.hi[nodes[place]], self.taxon[nodes[place]]
        rows = np.arange(len(place))
        child = np.where(numeric, -1, np.append(domain.first_child, 0)[taxon[place]] + which)
        low, high = lo[rows, a], hi[rows, a]
        child_lo, child_hi = (
            np.append(domain.node_lo, 0)[child],
            np.append(domain.node_hi, 0)[child],
        )
        lo[rows, a] = np.where(numeric, np.where(which == 0, low, cut), child_lo)
        hi[rows, a] = np.where(numeric, np.where(which == 0, cut, high), child_hi)
        taxa[rows, a] = child
        inner = which > 0
        split = Split(
            nodes=nodes,
            attribute=attribute,
            edge_start=np.concatenate([[0], np.cumsum(number - 1)]).astype(np.int64),
            edges=lo[rows[inner], a[inner]],
            first_child=first_child,
            final=final,
        )
        self.split_on[nodes] = attribute
        self.parent = np.concatenate([self.parent, nodes[place]])
        self.depth = np.concatenate([self.depth, self.depth[nodes[place]] + 1])
        self.split_on = np.concatenate([self.split_on, np.full(len(place), -1, dtype=np.int64)])
        self.lo, self.hi = np.concatenate([self.lo, lo]), np.concatenate([self.hi, hi])
        self.taxon = np.concatenate([self.taxon, taxa])
        return split, place

    def sort_by_level(self) -> None:
        """Renumbers nodes in breadth-first order; children of one node stay together."""
        order = np.zeros(1, dtype=np.int64)
        place = np.zeros(len(self.parent), dtype=np.int64)
        for depth in range(1, int(self.depth.max()) + 1):
            nodes = np.flatnonzero(self.depth == depth)
            nodes = nodes[np.argsort(place[self.parent[nodes]], kind="stable")]
            place[nodes] = len(order) + np.arange(len(nodes))
            order = np.concatenate([order, nodes])
        self.parent = np.where(self.parent[order] < 0, -1, place[self.parent[order]])
        self.depth, self.split_on = self.depth[order], self.split_on[order]
        self.lo, self.hi, self.taxon = self.lo[order], self.hi[order], self.taxon[order]

    def partition(self) -> TreePartition:
        """The finished tree."""
        return TreePartition(
            parent=self.parent.astype(np.int32),
            depth=self.depth.astype(np.int16),
            split=self.split_on.astype(np.int16),
            lo=self.lo,
            hi=self.hi,
        )


def share_fairly(
    quota: Ints, place: Ints, noisy: Ints, open_: Bools, first_to_gain: Ints | None = None
) -> Ints:
    """Shares each parent's quota among its children in proportion to noisy counts.

    Whole numbers by largest remainder, ties to the first child; the sum is kept exactly. Children
    that cannot be specialized get nothing, unless none can.

    Args:
        quota: What each parent has to give.
        place: The parent of each child, in increasing order.
        noisy: The children's noisy counts; negative ones count as 0.
        open_: Which children can be specialized at all.
        first_to_gain: The child of each parent, by its rank, who is the first to get one of those
            that are left over, and then the next; without it, the largest remainders.

    Example:
        >>> place = np.array([0, 0])
        >>> share_fairly(np.array([20]), place, np.array([8, 2]), np.array([True, True]))
        array([16,  4])
    """
    parents = len(quota)
    weight = np.where(open_, np.clip(noisy, 0, _MOST_WEIGHT), 0)
    nothing = np.bincount(place, weights=weight > 0, minlength=parents) == 0
    weight = np.where(nothing[place], open_.astype(np.int64), weight)
    total = _sums(weight, place, parents)
    total_c, quota_c = np.maximum(total[place], 1), quota[place]
    share = quota_c * weight // total_c
    rest = quota_c * weight % total_c
    over = np.where(total > 0, quota - _sums(share, place, parents), 0)
    number = np.bincount(place, minlength=parents)
    first = np.concatenate([[0], np.cumsum(number)[:-1]])
    if first_to_gain is not None:
        rest = -((np.arange(len(place)) - (first + first_to_gain)[place]) % number[place])
    order = np.lexsort((np.arange(len(place)), -rest, place))
    rank = np.empty(len(place), dtype=np.int64)
    rank[order] = np.arange(len(place)) - first[place[order]]
    return share + ((rank < over[place]) & open_)


def share_evenly(quota: Ints, place: Ints, open_: Bools) -> Ints:
    """Shares each parent's quota equally: it looks at no data and costs nothing."""
    return share_fairly(quota, place, np.ones(len(place), dtype=np.int64), open_)


def _sums(values: Ints, place: Ints, parents: int) -> Ints:
    sums = np.zeros(parents, dtype=np.int64)
    np.add.at(sums, place, values)
    return sums
