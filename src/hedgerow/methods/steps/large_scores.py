"""Scores of nodes with 2^31 records or more, in integers of any length.

Squares of such counts no longer fit the 64 bits of the kernels. There are few such nodes (at most
five on a level of ten billion records), so plain Python is quick enough. It runs the same
definitions, and the tests hold it against the kernels on small nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isqrt

import numpy as np

from hedgerow.arrays import Ints, Small
from hedgerow.counting.engine import Domain, Histograms
from hedgerow.methods.steps.score_kernels import PURITY, RATIO_BITS, child_term, finished

__all__ = ["LARGE", "exact_scores", "rescore_large"]

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
        if kind == PURITY:
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
