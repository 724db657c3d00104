"""Trees that grow by private choices: DiffP-C4.5 and RPS.

DiffP-C4.5 (Friedman and Schuster 2010), the interactive baseline of the DiffGen paper, as far as
that paper describes it. The tree grows level by level. Each node buys its noisy size, from which
alone it is decided whether it is worth splitting, and then its split by the exponential mechanism
with the score Max; leaves buy class counts. Every level takes the same share
e = epsilon / (2 (depth + 1)) twice. In its favour we choose attribute and split point in one draw,
where the original pays for a split point of every numeric attribute apart, and let leaves use what
is left of their paths.

RPS (Qardaji and Li 2012), recursive partitioning and summarisation, as far as the DiffMulti paper
describes it. Regions are cut in two at a private median of a randomly chosen attribute until a
fixed depth; the leaves publish noisy class counts. The order of categorical values is that of the
schema. Half of epsilon is for the medians, shared evenly among the levels, and half for the counts.
The median is chosen by the exponential mechanism with score -|left - right|. One more record
changes every score by 1 or -1, so the scores of two cuts move apart by 2 at most.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from hedgerow.arrays import Ints, Small
from hedgerow.counting.engine import Histograms
from hedgerow.counting.parts import Engine
from hedgerow.methods.diffmulti import GrowingTree
from hedgerow.methods.plan import Plan, levels
from hedgerow.methods.publisher import Outcome, class_totals, count_leaves, make_measurement
from hedgerow.methods.scores import ALL_CUTS, SCORES, SKIP, candidates
from hedgerow.privacy.curator import Curator
from hedgerow.privacy.ledger import Allowance
from hedgerow.privacy.sampler import Candidates, Choices
from hedgerow.schema import Schema
from papers.baselines.base import UNITS, Baseline

__all__ = ["DiffPC45", "RPS"]


@dataclass(frozen=True)
class DiffPC45(Baseline):
    """Settings of DiffP-C4.5.

    Args:
        depth: How many splits there may be on a path.

    Example:
        >>> DiffPC45().depth
        10
    """

    depth: int = 10

    name: ClassVar[str] = "diffp-c4.5"

    def allowances(self, schema: Schema) -> Iterable[Allowance]:
        """See `Baseline.allowances`."""
        share = (UNITS // (2 * (self.depth + 1)),)
        return [
            Allowance("allocate", "epsilon", units=share, uses=self.depth),
            Allowance("select", "epsilon", units=share, uses=self.depth),
            Allowance("leaf", "epsilon", units=None, uses=1),
        ]

    def publish(self, engine: Engine, schema: Schema, plan: Plan, curator: Curator) -> Outcome:
        """See `Baseline.publish`."""
        score, tree = SCORES["max"], GrowingTree(engine.domain)
        nodes = np.zeros(1, dtype=np.int64)
        rate = float(curator.noise_rate("allocate", UNITS // (2 * (self.depth + 1))))
        bought = []
        for depth in range(self.depth):
            nodes = nodes[tree.splittable(nodes).any(axis=1)]
            if not len(nodes):
                break
            # is it worth it? the published rule: the count of a child's class against its noise
            exact = engine.class_counts(nodes).map(class_totals)
            noisy, units = curator.laplace("allocate", depth, nodes, exact)
            bought.append((nodes, noisy, units))
            fan_out = 2
            nodes = nodes[noisy[:, 0] / (fan_out * engine.domain.classes) >= np.sqrt(2) / rate]
            if not len(nodes):
                break
            # choose
            ask = np.where(tree.splittable(nodes), ALL_CUTS, SKIP).astype(np.int32)
            parts, cuts = [], []
            wanted = ask != SKIP
            for batch, sealed in engine.histograms(nodes, tree.lo[nodes], tree.hi[nodes], wanted):
                here = nodes[batch]
                region = (tree.lo[here], tree.hi[here], tree.taxon[here], ask[batch])
                scored = sealed.map(candidates(engine.domain, *region, score, apart=False))
                drawn = curator.select(
                    "select", depth, here, scored, score_range=2 * score.sensitivity, flip=False
                )
                parts.append(drawn.part)
                cuts.append(drawn.cut)
            choices = Choices(np.concatenate(parts), np.concatenate(cuts))
            # split
            split, place = tree.specialize(nodes, choices, final=depth + 1 == self.depth)
            engine.split(split)
            curator.ledger.open(nodes[place])
            nodes = split.first_child + np.arange(len(place))
        found = [make_measurement(curator, "allocate", "node", bought)] if bought else []
        partition = tree.partition()
        found += count_leaves(curator, engine, tree.depth, partition.leaves)
        return Outcome(
            plan=plan,
            partition=partition,
            measurements=tuple(found),
            ledger=curator.ledger,
            published=partition.leaves,
        )


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
            nodes = nodes[tree.splittable(nodes).any(axis=1)]
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
            split, place = tree.specialize(nodes, choices, final=depth + 1 == self.depth)
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
