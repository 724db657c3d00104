"""DiffP-C4.5: a decision tree by private queries (Friedman and Schuster 2010).

The interactive baseline of the DiffGen paper, as far as that paper describes it.

The tree grows level by level. Each node buys its noisy size, from which alone it is decided
whether it is worth splitting, and then its split by the exponential mechanism with the score Max;
leaves buy class counts. Every level takes the same share e = epsilon / (2 (depth + 1)) twice.

In its favour we choose attribute and split point in one draw, where the original pays for a split
point of every numeric attribute apart, and let leaves use what is left of their paths.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hedgerow.counting.engine import Engine
from hedgerow.experiments.baselines.base import UNITS, Baseline
from hedgerow.privacy.curator import Curator
from hedgerow.privacy.ledger import Allowance
from hedgerow.privacy.sampler import Choices
from hedgerow.publish.planning.plan import Plan
from hedgerow.publish.publisher import Outcome
from hedgerow.publish.steps.measure import class_totals, count_leaves, measured
from hedgerow.publish.steps.scores import ALL_CUTS, SCORES, SKIP, candidates
from hedgerow.publish.steps.tree import GrowingTree
from hedgerow.schema import Schema

__all__ = ["DiffPC45"]


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
            nodes = nodes[tree.open_nodes(nodes)]
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
            split, place = tree.specialise(nodes, choices, final=depth + 1 == self.depth)
            engine.split(split)
            curator.ledger.open(nodes[place])
            nodes = split.first_child + np.arange(len(place))
        found = [measured(curator, "allocate", "node", bought)] if bought else []
        partition = tree.partition()
        found += count_leaves(curator, engine, tree.depth, partition.leaves)
        return Outcome(
            plan=plan,
            partition=partition,
            measurements=tuple(found),
            ledger=curator.ledger,
            published=partition.leaves,
        )
