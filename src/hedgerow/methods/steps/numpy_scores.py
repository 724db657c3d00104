"""Scores that a NumPy function computes, for scores from outside the package.

Our own scores have compiled kernels, which also list the candidates. A score that brings a function
is given the same candidates and replaces their scores.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from hedgerow.arrays import Ints, Small
from hedgerow.counting.engine import Domain, Histograms
from hedgerow.errors import UsageError

__all__ = ["Numbers", "rescore"]

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
