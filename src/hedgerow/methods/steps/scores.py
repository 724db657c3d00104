"""The scores by which a value is chosen for specialisation, each beside its sensitivity.

Scores are integers (some in fixed point), so selection is exact. `score_range` is the largest
difference between the changes of two candidates' scores when one record is added: a selection with
rate r costs r * score_range. The proofs are in docs/algorithms/scores.md.

All scores but `max` are gains: what a division adds to that of the region as it is. Penalties of
different values say nothing about which to divide: the value that is smallest already has least.
The papers compare them all the same, and their schedules do so here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from hedgerow.arrays import Ints, Small
from hedgerow.counting.engine import Domain, Histograms
from hedgerow.errors import UsageError
from hedgerow.methods.steps import score_kernels as kernels
from hedgerow.methods.steps.large_scores import rescore_large
from hedgerow.methods.steps.numpy_scores import Numbers, rescore
from hedgerow.methods.steps.score_kernels import ALL_CUTS, NCP_BITS, ONE_BIT, RATIO_BITS, SKIP
from hedgerow.privacy.sampler import Candidates
from hedgerow.registry import SCORES

__all__ = ["ALL_CUTS", "SCORES", "SKIP", "Score", "candidates", "range_of"]


@dataclass(frozen=True, kw_only=True)
class Score:
    """A score and how far one record can move it.

    Args:
        name: What users call it.
        sensitivity: The most that one record changes one candidate's score in its published form,
            of which a paper's schedule pays twice.
        score_range: The most by which the changes of two candidates of one region differ.
        score_range_apart: The same for candidates of different regions, as DiffGen has them, with
            the region's own number taken off. A record is in one of them, so 0 is among the
            changes: the largest change or 0, less the smallest or 0.
        needs_class: Whether it says anything without a class.
        kernel: What our kernels call it; None for a score that brings `numbers`.
        numbers: What each part of a region adds to a score, from the parts' class counts [parts,
            classes], their widths and the sizes of their domains: whole numbers, a function of each
            part alone. A candidate's score is the sum over the parts that it makes; where
            candidates of different regions are compared, the region's own number is taken off.
            The author answers for the three bounds above, and for sums below 2^62.
        by_width: Whether `numbers` looks at widths.

    Example:
        >>> Score(name="odd", kernel=77, sensitivity=1, score_range=1, score_range_apart=1,
        ...       needs_class=True)
        Traceback (most recent call last):
        hedgerow.errors.UsageError: The score 'odd' has no kernel 77.
          Give the number of a kernel, or a function `numbers`.
    """

    name: str
    sensitivity: int
    score_range: int
    score_range_apart: int
    needs_class: bool
    kernel: int | None = None
    numbers: Numbers | None = None
    by_width: bool = False

    def __post_init__(self) -> None:
        """Refuses a score that nothing computes, or that states no bound."""
        known = self.kernel in (None, *kernels.KERNELS)
        if (self.kernel is None) == (self.numbers is None) or not known:
            raise UsageError(
                f"The score {self.name!r} has no kernel {self.kernel}.",
                hint="Give the number of a kernel, or a function `numbers`.",
            )
        if min(self.sensitivity, self.score_range, self.score_range_apart) < 1:
            raise UsageError(
                f"The score {self.name!r} has a bound below 1.",
                hint="State how far one record can move it, in its own whole numbers.",
            )

    @property
    def layout(self) -> int:
        """The kernel that lists candidates: of those that score alike in one run, or each."""
        if self.kernel is not None:
            return self.kernel
        return kernels.NCP if self.by_width else kernels.MAX


# fmt: off
# sum of the children's majority counts: a new record adds 0 or 1 to every candidate
MAX = Score(
    name="max", kernel=kernels.MAX, needs_class=True,
    sensitivity=1, score_range=1, score_range_apart=1,
)
# by how much the records' penalties |value|/|domain| fall: a new record adds 0 to 2^16 to each;
# as published, minus the penalties: it takes as much
NCP = Score(
    name="ncp", kernel=kernels.NCP, needs_class=False,
    sensitivity=1 << NCP_BITS, score_range=1 << NCP_BITS, score_range_apart=1 << NCP_BITS,
)
# m - sum of m_c^2 / m: changes lie in [0, 2]; as published without m: in [-1, 1]
DISCERNIBILITY = Score(
    name="discernibility", kernel=kernels.DISCERNIBILITY, needs_class=False,
    sensitivity=1 << RATIO_BITS, score_range=2 << RATIO_BITS, score_range_apart=2 << RATIO_BITS,
)
# sum of n_ck^2 / n_c, less the region's own where regions differ: each term moves by 1
GINI = Score(
    name="gini", kernel=kernels.GINI, needs_class=True,
    sensitivity=2 << RATIO_BITS, score_range=2 << RATIO_BITS, score_range_apart=4 << RATIO_BITS,
)
# information gain in bits: sensitivity 1 for any number of classes, plus the rounding; inside a
# region the entropy of its classes is common to all, and what is left parts by 1 at most
INFOGAIN = Score(
    name="infogain", kernel=kernels.INFOGAIN, needs_class=True, sensitivity=ONE_BIT,
    score_range=ONE_BIT + 1, score_range_apart=2 * ONE_BIT,
)
# twice the majority count plus the length of the class counts: a new record adds 0 to 3
PURITY = Score(
    name="purity", kernel=kernels.PURITY, needs_class=True,
    sensitivity=3 << RATIO_BITS, score_range=3 << RATIO_BITS, score_range_apart=6 << RATIO_BITS,
)
# fmt: on


def candidates(
    domain: Domain,
    lo: Small,
    hi: Small,
    taxon: Small,
    ask: Small,
    score: Score,
    *,
    apart: bool,
    paper: bool = False,
) -> Callable[[Histograms], Candidates]:
    """Scores candidates under the seal: a function for `Sealed.map`.

    Args:
        domain: The public domain.
        lo: [nodes, attributes], the nodes' regions.
        hi: The same.
        taxon: The taxonomy node of each categorical part, -1 for numeric ones.
        ask: [nodes, attributes]: SKIP, ALL_CUTS (also for a taxonomy node's children), or the
            one cut to score. Nodes where all is SKIP are left out of the answer.
        score: The score.
        apart: Whether candidates of different regions are compared.
        paper: Whether penalties are compared as the papers do, and not what is gained. Weights
            multiply gains under every schedule.
    """
    gain = domain.weighed or (score.kernel != kernels.MAX and not paper)

    def compute(histograms: Histograms) -> Candidates:
        nodes = len(lo)
        cuts = np.where(ask == ALL_CUTS, np.maximum(hi - lo - 1, 1), 1).astype(np.int64)
        cuts[taxon >= 0] = 1
        if score.layout != kernels.NCP:
            entries = np.diff(histograms.start).reshape(ask.shape)
            cuts = np.minimum(cuts, entries + 1)
        start = np.empty(nodes + 1, dtype=np.int64)
        out = np.empty((5, int(np.where(ask == SKIP, 0, cuts).sum())), dtype=np.int64)
        kernels.score_nodes(
            histograms.start, histograms.code, histograms.counts, lo, hi, taxon, ask,
            domain.sizes, domain.node_hi, domain.first_child, domain.children,
            score.layout, gain, start, tuple(np.empty((3, domain.classes), np.int64)), out,
        )  # fmt: skip
        if score.numbers is not None:
            rescore(
                histograms,
                (lo, hi, taxon),
                domain,
                score.numbers,
                apart or domain.weighed,
                start,
                out,
            )
        elif histograms.counts.dtype == np.int64:
            rescore_large(histograms, (lo, hi, taxon), domain, score.layout, gain, start, out)
        asked = (ask != SKIP).any(axis=1)  # a node that is not asked has no candidates
        start = np.append(start[:-1][asked], start[-1])
        out = out[:, : start[-1]]
        if (domain.sharing > 1).any():
            out[1] = np.maximum(out[1] // domain.sharing[out[3]], 1)
        if domain.weighed:
            out[0] = _weighed(out[0], domain.weight[out[3]], int(domain.weight.max()))
        return Candidates(
            start=start, score=out[0], weight=out[1], count=out[2], part=out[3], first=out[4]
        )

    return compute


def _weighed(gain: Ints, weight: Ints, largest: int) -> Ints:
    """floor(gain * weight / largest), without overflow: it never moves further than the gain."""
    return gain // largest * weight + gain % largest * weight // largest


def range_of(score: Score, domain: Domain, *, apart: bool) -> int:
    """What a rate is multiplied by for the price of a selection; see `Score`.

    Weighed gains part by no more than 0 and the changes of all gains do. Inside a region, that is
    the score range for our own scores, whose regions change as their parts do. A score from outside
    promises that between regions only.
    """
    if domain.weighed and (apart or score.numbers is not None):
        # the majority of a region is not subtracted from `max` otherwise, and changes by 1
        return 2 if score.kernel == kernels.MAX else score.score_range_apart
    return score.score_range_apart if apart else score.score_range
