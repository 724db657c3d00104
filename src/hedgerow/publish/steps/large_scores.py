"""Scores of nodes with 2^31 records or more, in integers of any length.

Squares of such counts no longer fit the 64 bits of the kernels. There are few such nodes (at most
five on a level of ten billion records), so plain Python is quick enough. It computes the same
integers by the same definitions, which the tests hold against the kernels on small nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isqrt

import numpy as np

from hedgerow.arrays import Ints, Small
from hedgerow.counting.engine import Domain, Histograms

__all__ = ["LARGE", "exact_scores"]

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


def ratio(top: int, bottom: int, bits: int) -> int:
    """floor(2^bits top / bottom)."""
    return (top << bits) // bottom


def root(square: int, bits: int) -> int:
    """floor(2^bits sqrt(square)).

    Example:
        >>> root(2 * 10**20, 0)
        14142135623
    """
    return isqrt(square << 2 * bits)
