"""The scores by which a value is chosen for specialization, each beside its sensitivity.

Scores are integers (some in fixed point), so selection is exact. `score_range` is the largest
difference between the changes of two candidates' scores when one record is added: a selection with
rate r costs r * score_range. The proofs are in docs/algorithms/scores.md.

All scores but `max` are gains: what a division adds to that of the region as it is. Penalties of
different values say nothing about which to divide: the value that is smallest already has least.
The papers compare them all the same, and their schedules do so here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isqrt

import numpy as np

from hedgerow.arrays import Ints, Small
from hedgerow.counting.engine import Domain, Histograms
from hedgerow.errors import UsageError
from hedgerow.methods import score_kernels as kernels
from hedgerow.methods.score_kernels import (
    ALL_CUTS,
    NCP_BITS,
    ONE_BIT,
    RATIO_BITS,
    SKIP,
    child_term,
    finished,
)
from hedgerow.privacy.sampler import Candidates
from hedgerow.registry import SCORES

__all__ = [
    "ALL_CUTS",
    "LARGE",
    "Numbers",
    "SCORES",
    "SKIP",
    "Score",
    "candidates",
    "exact_scores",
    "range_of",
    "rescore",
    "rescore_large",
]


# Scores of nodes with 2^31 records or more, in integers of any length.
#
# Squares of such counts no longer fit the 64 bits of the kernels. There are few such nodes (at most
# five on a level of ten billion records), so plain Python is quick enough. It runs the same
# definitions, and the tests hold it against the kernels on small nodes.


Child = Callable[[Sequence[int], int, int], int]  # class counts, width of the part, of the domain
Finish = Callable[[int, int, int], int]  # sum over children, the same of the whole, records

LARGE = 1 << 31


def exact_scores(
    histograms: Histograms,
    node: int,
    parts: Ints,
    cuts: Ints,
    region: tuple[Small, Small, Small],
    domain: Domain,
    child: Child,
    finish: Finish,
) -> list[int]:
    """The scores of one node's candidates.

    Args:
        histograms: The histograms of all nodes.
        node: The node's place in them.
        parts: The attribute of each candidate.
        cuts: Its cut; -1 for the children of a taxonomy node.
        region: The node's part [lo, hi) of each attribute, and its taxonomy node or -1.
        domain: The public domain.
        child: What one child adds to the score.
        finish: The score from the sum over children.
    """
    lo, hi, taxon = region
    found: list[int] = []
    for a in np.unique(parts).tolist():
        segment = node * domain.attributes + a
        entries = slice(int(histograms.start[segment]), int(histograms.start[segment + 1]))
        codes = histograms.code[entries]
        sums = np.zeros((len(codes) + 1, domain.classes), dtype=np.int64)
        np.cumsum(histograms.counts[entries], axis=0, dtype=np.int64, out=sums[1:])
        total = sums[-1].tolist()
        size = int(domain.sizes[a])
        whole = child(total, int(hi[a] - lo[a]), size)
        for cut in cuts[parts == a].tolist():
            if cut < 0:
                first = int(domain.first_child[taxon[a]])
                last = first + int(domain.children[taxon[a]])
                edges = [int(lo[a]), *domain.node_hi[first:last].tolist()]
            else:
                edges = [int(lo[a]), cut, int(hi[a])]
            at = sums[np.searchsorted(codes, edges)]
            score = sum(
                child(counts, width, size)
                for counts, width in zip(
                    np.diff(at, axis=0).tolist(), np.diff(edges).tolist(), strict=True
                )
            )
            found.append(finish(score, whole, sum(total)))
    return found


def rescore_large(
    histograms: Histograms,
    regions: tuple[Small, Small, Small],
    domain: Domain,
    kind: int,
    gain: int,
    start: Ints,
    out: Ints,
) -> None:
    """Replaces the scores of nodes that are too large for 64 bits; what they are for stays.

    Args:
        histograms: The histograms of all nodes.
        regions: The nodes' parts [lo, hi) of each attribute, and their taxonomy nodes or -1.
        domain: The public domain.
        kind: The kernel of the score.
        gain: Whether the region's own term is taken off.
        start: Where each node's candidates begin.
        out: The candidates by column: score, weight, count, attribute and first cut.
    """

    def child(counts: Sequence[int], width: int, size: int) -> int:
        if kind == kernels.PURITY:
            squares = sum(count * count for count in counts)
            return (max(counts) << (RATIO_BITS + 1)) + isqrt(squares << 2 * RATIO_BITS)
        return int(child_term(kind, counts, width, size))

    def finish(children: int, parent: int, total: int) -> int:
        return int(finished(kind, children, parent, total, gain))

    for i in range(len(start) - 1):
        runs = slice(int(start[i]), int(start[i + 1]))
        # every wanted attribute's histogram holds all records of the node
        segments = range(i * domain.attributes, (i + 1) * domain.attributes)
        sizes = [histograms.counts[slice(*histograms.start[[s, s + 1]])].sum() for s in segments]
        if max(sizes, default=0) >= LARGE:
            region = tuple(side[i] for side in regions)
            out[0, runs] = exact_scores(
                histograms, i, out[3, runs], out[4, runs], region, domain, child, finish
            )


# Scores that a NumPy function computes, for scores from outside the package.
#
# Our own scores have compiled kernels, which also list the candidates. A score that brings a
# function is given the same candidates and replaces their scores.


Regions = tuple[Small, Small, Small]
Numbers = Callable[[Ints, Ints, Ints], Ints]
"""Class counts [parts, classes], widths and sizes of domains: to one whole number for each part."""


def rescore(
    histograms: Histograms,
    regions: Regions,
    domain: Domain,
    numbers: Numbers,
    gain: bool,
    start: Ints,
    out: Ints,
) -> None:
    """Replaces the scores of all candidates; what they are for stays.

    Args:
        histograms: The histograms of all nodes.
        regions: The nodes' parts [lo, hi) of each attribute, and their taxonomy nodes or -1.
        domain: The public domain.
        numbers: What each part adds.
        gain: Whether the region's own number is taken off.
        start: Where each node's candidates begin.
        out: The candidates by column: score, weight, count, attribute and first cut.
    """
    for node, (begin, end) in enumerate(pairwise(start.tolist())):
        lo, hi, taxon = (side[node] for side in regions)
        for a in np.unique(out[3, begin:end]).tolist():
            here = begin + np.flatnonzero(out[3, begin:end] == a)
            segment = node * domain.attributes + a
            entries = slice(int(histograms.start[segment]), int(histograms.start[segment + 1]))
            codes = histograms.code[entries]
            sums = np.zeros((len(codes) + 1, domain.classes), dtype=np.int64)
            np.cumsum(histograms.counts[entries], axis=0, dtype=np.int64, out=sums[1:])
            if taxon[a] >= 0:
                first = int(domain.first_child[taxon[a]])
                last = first + int(domain.children[taxon[a]])
                edges = np.append(lo[a], domain.node_hi[first:last])[None, :].astype(np.int64)
            else:
                cuts = out[4, here]
                ends = [np.full_like(cuts, side[a]) for side in (lo, hi)]
                edges = np.stack([ends[0], cuts, ends[1]], axis=1)
            size = int(domain.sizes[a])
            score = _sum(numbers, sums, codes, edges, size)
            if gain:
                score = score - _sum(numbers, sums, codes, edges[:1, [0, -1]], size)
            out[0, here] = score


def _sum(numbers: Numbers, sums: Ints, codes: Small, edges: Ints, size: int) -> Ints:
    """The sums of the numbers of the parts between each row of edges."""
    counts = np.diff(sums[np.searchsorted(codes, edges)], axis=1)
    parts = counts.reshape(-1, counts.shape[-1])
    widths = np.diff(edges, axis=1).ravel()
    found = np.asarray(numbers(parts, widths, np.full_like(widths, size)))
    if found.shape != widths.shape or not np.issubdtype(found.dtype, np.integer):
        raise UsageError(
            "A score must give one whole number for each part.",
            hint="Return an array of integers as long as the widths.",
        )
    total: Ints = found.astype(np.int64).reshape(len(edges), -1).sum(axis=1)
    return total


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
