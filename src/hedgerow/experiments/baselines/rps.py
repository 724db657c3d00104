"""RPS: recursive partitioning and summarisation (Qardaji and Li 2012).

As far as the DiffMulti paper describes it, which compares with it.

Regions are cut in two at a private median of a randomly chosen attribute until a fixed depth; the
leaves publish noisy class counts. The order of categorical values is that of the schema. Half of
epsilon is for the medians, shared evenly among the levels, and half for the counts.

The median is chosen by the exponential mechanism with score -|left - right|. One more record
changes every score by 1 or -1, so the scores of two cuts move apart by 2 at most.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from hedgerow.arrays import Ints, Small
from hedgerow.counting.engine import Engine, Histograms
from hedgerow.experiments.baselines.base import UNITS, Baseline
from hedgerow.privacy.curator import Curator
from hedgerow.privacy.ledger import Allowance
from hedgerow.privacy.sampler import Candidates, Choices
from hedgerow.publish.planning.plan import Plan, levels
from hedgerow.publish.publisher import Outcome
from hedgerow.publish.steps.measure import count_leaves
from hedgerow.publish.steps.tree import GrowingTree
from hedgerow.schema import Schema

__all__ = ["RPS"]


SCORE_RANGE = 2


@dataclass(frozen=True)
class RPS(Baseline):
    """Settings of RPS.

    Args:
        depth: How often a region is cut.

    Example:
        >>> RPS(depth=6).name
        'rps'
    """

    depth: int = 8

    name: ClassVar[str] = "rps"

    def allowances(self, schema: Schema) -> Iterable[Allowance]:
        """See `Baseline.allowances`."""
        median = Allowance(
            "select", "epsilon", units=levels(UNITS // 2, self.depth), uses=self.depth
        )
        return [median, Allowance("leaf", "epsilon", units=None, uses=1)]

    def publish(self, engine: Engine, schema: Schema, plan: Plan, curator: Curator) -> Outcome:
        """See `Baseline.publish`."""
        # all attributes are cut like numbers, whatever taxonomy they have
        tree = GrowingTree(replace(engine.domain, root=np.full_like(engine.domain.root, -1)))
        nodes = np.zeros(1, dtype=np.int64)
        for depth in range(self.depth):
            nodes = nodes[tree.open_nodes(nodes)]
            if not len(nodes):
                break
            # choose an attribute at random: no record is looked at
            valid = tree.splittable(nodes)
            which = curator.coin(valid.sum(axis=1))
            attribute = np.argmax(np.cumsum(valid, axis=1) == which[:, None] + 1, axis=1)
            wanted = np.zeros_like(valid)
            wanted[np.arange(len(nodes)), attribute] = True
            # cut it at a private median
            cuts = []
            for batch, sealed in engine.histograms(nodes, tree.lo[nodes], tree.hi[nodes], wanted):
                here, of = nodes[batch], attribute[batch]
                rows = np.arange(len(here))
                scored = sealed.map(_medians(tree.lo[here][rows, of], tree.hi[here][rows, of], of))
                drawn = curator.select(
                    "select", depth, here, scored, score_range=SCORE_RANGE, flip=True
                )
                cuts.append(drawn.cut)
            choices = Choices(attribute, np.concatenate(cuts))
            split, place = tree.specialise(nodes, choices, final=depth + 1 == self.depth)
            engine.split(split)
            curator.ledger.open(nodes[place])
            nodes = split.first_child + np.arange(len(place))
        partition = tree.partition()
        found = tuple(count_leaves(curator, engine, tree.depth, partition.leaves))
        return Outcome(
            plan=plan,
            partition=partition,
            measurements=found,
            ledger=curator.ledger,
            published=partition.leaves,
        )


def _medians(lo: Small, hi: Small, attribute: Ints) -> Callable[[Histograms], Candidates]:
    """Scores all cuts of each node's attribute under the seal: the more balanced, the better."""

    def compute(histograms: Histograms) -> Candidates:
        attributes = (len(histograms.start) - 1) // len(lo)
        start, score, first = [0], [], []
        for node in range(len(lo)):
            segment = node * attributes + int(attribute[node])
            part = slice(histograms.start[segment], histograms.start[segment + 1])
            counts = np.zeros(int(hi[node] - lo[node]), dtype=np.int64)
            counts[histograms.code[part] - lo[node]] = histograms.counts[part].sum(axis=1)
            left = np.cumsum(counts)[:-1]
            score.append(-np.abs(2 * left - counts.sum()))
            first.append(np.arange(lo[node] + 1, hi[node]))
            start.append(start[-1] + len(left))
        ones = np.ones(start[-1], dtype=np.int64)
        parts = np.repeat(attribute, np.diff(start))
        cuts = np.concatenate(first).astype(np.int64)
        return Candidates(
            start=np.asarray(start),
            score=np.concatenate(score),
            weight=ones,
            count=ones,
            part=parts,
            first=cuts,
        )

    return compute
