"""Top-down specialisation with k-anonymity (Fung, Wang and Yu 2005, 2007).

NOT PRIVATE in our sense (see `mondrian`). The k-anonymous ancestor of DiffGen: one value after
another is specialised, everywhere, as long as every group that is not empty keeps k records. Each
time the value with the largest information gain about the class is taken; the original divides it
by the loss of anonymity, which decides between values of about the same gain only.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hedgerow.arrays import Ints
from hedgerow.counting.engine import Domain
from hedgerow.evaluate.features import as_table
from hedgerow.experiments.baselines.mondrian import entropy, exact_release
from hedgerow.measured.partition import GridPartition
from hedgerow.release import TableRelease
from hedgerow.schema import Schema

__all__ = ["top_down_specialisation"]


MOST_CELLS = 50_000_000


def top_down_specialisation(source: Any, schema: Schema, k: int = 5) -> TableRelease:
    """Publishes k-anonymous groups with their exact counts. NOT PRIVATE.

    Args:
        source: The raw rows, with a class.
        schema: The public schema.
        k: The least number of records in a group that is not empty.
    """
    table = as_table(source, schema)
    domain = Domain.of(schema)
    codes = table.codes.astype(np.int64)
    group = np.zeros(len(codes), dtype=np.int64)
    edges = [[0, int(size)] for size in domain.sizes]
    taxa = [{0: int(root)} for root in domain.root]  # the taxonomy node that begins at a code
    options = {(a, 0): _best(domain, codes, a, 0, int(domain.sizes[a]), int(domain.root[a]))
               for a in range(domain.attributes)}  # fmt: skip
    cells = 1
    while options:
        (a, lo), found = max(options.items(), key=lambda item: (item[1] or (-1.0, []))[0])
        del options[a, lo]
        if found is None:
            continue
        parts = found[1]
        more = cells // (len(edges[a]) - 1) * (len(edges[a]) + len(parts) - 3)
        inside = np.flatnonzero((codes[:, a] >= lo) & (codes[:, a] < parts[-1]))
        part = np.searchsorted(parts, codes[inside, a], side="right") - 1
        apart = group[inside] * len(parts) + part
        _, place, sizes = np.unique(apart, return_inverse=True, return_counts=True)
        if more > MOST_CELLS or (len(sizes) and sizes.min() < k):
            continue  # it cannot become allowed later, since groups only get smaller
        fresh = group.max(initial=0) + 1 + place
        group[inside] = fresh
        _, group = np.unique(group, return_inverse=True)
        edges[a] = sorted({*edges[a], *parts})
        cells = more
        taxon = taxa[a].pop(lo)
        for child, low in enumerate(parts[:-1]):
            below = int(domain.first_child[taxon]) + child if taxon >= 0 else -1
            taxa[a][low] = below
            options[a, low] = _best(domain, codes, a, low, parts[child + 1], below)
    grid = GridPartition(tuple(np.asarray(edge, dtype=np.int32) for edge in edges))
    return exact_release("tds", table, grid)


def _best(
    domain: Domain, codes: Ints, a: int, lo: int, hi: int, taxon: int
) -> tuple[float, list[int]] | None:
    """The information gain of specialising one value, and the edges of its parts."""
    counts = np.zeros((hi - lo, domain.classes))
    inside = (codes[:, a] >= lo) & (codes[:, a] < hi)
    np.add.at(counts, (codes[inside, a] - lo, codes[inside, -1]), 1)
    whole = entropy(counts.sum(axis=0))
    if taxon >= 0:
        number = int(domain.children[taxon])
        if number < 2:
            return None
        first = int(domain.first_child[taxon])
        edges = [int(domain.node_lo[child]) for child in range(first, first + number)] + [hi]
        parts = np.add.reduceat(counts, np.asarray(edges[:-1]) - lo, axis=0)
        return float(whole - entropy(parts).sum()), edges
    if hi - lo < 2:
        return None
    left = np.cumsum(counts, axis=0)[:-1]
    gain = whole - entropy(left) - entropy(counts.sum(axis=0) - left)
    at = int(gain.argmax())
    return float(gain[at]), [lo, lo + at + 1, hi]
