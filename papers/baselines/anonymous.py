"""Mondrian and top-down specialization, which promise k-anonymity. NOT PRIVATE in our sense.

k-anonymity says that nobody stands alone in the release, and nothing about what else its readers
may know.

Mondrian (LeFevre, DeWitt and Ramakrishnan 2006, 2008): regions are cut as long as every part keeps
k records or is empty: numeric attributes at any value, categorical ones into the children of a
taxonomy node. What is cut is chosen by information gain about the class (the workload-aware
variant, which the DiffMulti paper compares with), or, without a class, by the widest interval at
its median.

Top-down specialization (Fung, Wang and Yu 2005, 2007), the k-anonymous ancestor of DiffGen: one
value after another is specialized, everywhere, as long as every group that is not empty keeps k
records. Each time the value is taken whose information gain about the class, for one of its
records, is largest after division by the loss of anonymity: one more than what the smallest group
loses.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from hedgerow.arrays import Floats, Ints
from hedgerow.counting.engine import Domain
from hedgerow.data import Table
from hedgerow.estimate.measurements import Measurement
from hedgerow.estimate.partition import GridPartition, Partition, TreePartition
from hedgerow.release import TableRelease
from hedgerow.schema import Schema
from papers.classify import as_table

__all__ = ["entropy", "exact_release", "mondrian", "top_down_specialization"]


def mondrian(source: Any, schema: Schema, k: int = 60) -> TableRelease:
    """Publishes k-anonymous regions with their exact counts. NOT PRIVATE.

    Args:
        source: The raw rows.
        schema: The public schema.
        k: The least number of records in a region that is not empty.
    """
    table = as_table(source, schema)
    domain = Domain.of(schema)
    codes = table.codes.astype(np.int64)
    tree = _Growing(domain=domain)
    rows = [np.arange(len(codes))]
    for node in range(10**9):
        if node == len(rows):
            break
        held = codes[rows[node]]
        best: tuple[float, int, list[int]] | None = None
        for a in range(domain.attributes):
            option = _cut(domain, tree, node, a, held, k, supervised=schema.target is not None)
            if option is not None and (best is None or option[0] > best[0]):
                best = (option[0], a, option[1])
        if best is None:
            continue
        _, a, edges = best
        part = np.searchsorted(edges, held[:, a], side="right") - 1
        tree.split(node, a, edges)
        rows += [rows[node][part == child] for child in range(len(edges) - 1)]
    return exact_release("mondrian", table, tree.partition())


def exact_release(name: str, table: Table, partition: Partition) -> TableRelease:
    """A release of exact counts, for comparison with methods that are not private. NOT PRIVATE.

    Args:
        name: The name of the method.
        table: The raw table.
        partition: The regions.
    """
    classes = max(1, len(table.schema.classes))
    found = partition.locate(table.codes[:, : len(table.schema.attributes)])
    counts = np.zeros((partition.cells, classes), dtype=np.int64)
    np.add.at(counts, (found, table.codes[:, -1]), 1)
    regions = np.arange(partition.cells)
    leaf = Measurement(
        name="leaf",
        at="region",
        where=regions,
        values=counts,
        by_class=True,
        units=np.ones(len(regions), np.int64),
        unit=Fraction(1000),
    )
    guarantee = {"epsilon": "inf", "private": False}
    return TableRelease(
        schema=table.schema,
        method=name,
        settings={},
        guarantee=guarantee,
        ledger={},
        partition=partition,
        measurements=(leaf,),
    )


def entropy(counts: Floats) -> Floats:
    """Records times bits, of class counts in the last axis.

    Example:
        >>> entropy(np.array([[4.0, 4.0], [8.0, 0.0]])).tolist()
        [8.0, 0.0]
    """
    total = counts.sum(axis=-1, keepdims=True)
    share = np.divide(counts, total, out=np.ones_like(counts), where=(total > 0) & (counts > 0))
    bits: Floats = -(counts * np.log2(share)).sum(axis=-1) + 0.0
    return bits


def _cut(
    domain: Domain, tree: _Growing, node: int, a: int, held: Ints, k: int, *, supervised: bool
) -> tuple[float, list[int]] | None:
    """The best allowed cut of an attribute: how good it is, and the edges of its parts."""
    lo, hi, taxon = tree.lo[node][a], tree.hi[node][a], tree.taxon[node][a]
    counts = np.zeros((hi - lo, domain.classes))
    np.add.at(counts, (held[:, a] - lo, held[:, -1]), 1)
    if taxon >= 0:
        children = range(domain.first_child[taxon], domain.first_child[taxon] +
                         domain.children[taxon])  # fmt: skip
        if len(children) < 2:
            return None
        edges = [int(domain.node_lo[child]) for child in children] + [int(hi)]
        parts = np.add.reduceat(counts, np.asarray(edges[:-1]) - lo, axis=0)
        sizes = parts.sum(axis=1)
        if ((sizes > 0) & (sizes < k)).any() or (sizes > 0).sum() < 2:
            return None
        gain = entropy(counts.sum(axis=0)) - entropy(parts).sum()
        return (float(gain) if supervised else (hi - lo) / domain.sizes[a]), edges
    if hi - lo < 2:
        return None
    left = np.cumsum(counts, axis=0)[:-1]
    right = counts.sum(axis=0) - left
    allowed = np.flatnonzero((left.sum(axis=1) >= k) & (right.sum(axis=1) >= k))
    if not len(allowed):
        return None
    if supervised:
        gain = entropy(counts.sum(axis=0)) - entropy(left[allowed]) - entropy(right[allowed])
        at = int(gain.argmax())
        return float(gain[at]), [int(lo), int(lo + allowed[at] + 1), int(hi)]
    at = int(np.abs(left[allowed].sum(axis=1) - right[allowed].sum(axis=1)).argmin())
    return (hi - lo) / domain.sizes[a], [int(lo), int(lo + allowed[at] + 1), int(hi)]


@dataclass(kw_only=True)
class _Growing:
    """A tree of regions as it grows, breadth first."""

    domain: Domain
    parent: list[int] = field(default_factory=lambda: [-1])
    depth: list[int] = field(default_factory=lambda: [0])
    on: list[int] = field(default_factory=lambda: [-1])

    def __post_init__(self) -> None:
        self.lo = [np.zeros(self.domain.attributes, dtype=np.int64)]
        self.hi = [self.domain.sizes.astype(np.int64)]
        self.taxon = [self.domain.root.astype(np.int64)]

    def split(self, node: int, a: int, edges: list[int]) -> None:
        self.on[node] = a
        for child in range(len(edges) - 1):
            lo, hi, taxon = self.lo[node].copy(), self.hi[node].copy(), self.taxon[node].copy()
            lo[a], hi[a] = edges[child], edges[child + 1]
            if taxon[a] >= 0:
                taxon[a] = self.domain.first_child[taxon[a]] + child
            for column, value in ((self.lo, lo), (self.hi, hi), (self.taxon, taxon)):
                column.append(value)
            self.parent.append(node)
            self.depth.append(self.depth[node] + 1)
            self.on.append(-1)

    def partition(self) -> TreePartition:
        return TreePartition(
            parent=np.asarray(self.parent, dtype=np.int32),
            depth=np.asarray(self.depth, dtype=np.int16),
            split=np.asarray(self.on, dtype=np.int16),
            lo=np.stack(self.lo).astype(np.int32),
            hi=np.stack(self.hi).astype(np.int32),
        )


MOST_GROUPS = 50_000_000


def top_down_specialization(source: Any, schema: Schema, k: int = 5) -> TableRelease:
    """Publishes k-anonymous groups with their exact counts. NOT PRIVATE.

    Args:
        source: The raw rows, with a class.
        schema: The public schema.
        k: The least number of records in a group that is not empty.
    """
    table = as_table(source, schema)
    domain = Domain.of(schema)
    codes = np.asfortranarray(table.codes.astype(np.int64))
    group = np.zeros(len(codes), dtype=np.int64)
    edges = [[0, int(size)] for size in domain.sizes]
    taxa = [{0: int(root)} for root in domain.root]  # the taxonomy node that begins at a code
    options = dict[tuple[int, int], _Option]()

    def consider(a: int, lo: int, hi: int, taxon: int) -> None:
        """Adds a value that can be specialized."""
        best = _best(domain, codes, a, lo, hi, taxon)
        if best is not None:
            inside = np.flatnonzero((codes[:, a] >= lo) & (codes[:, a] < hi))
            part = np.searchsorted(best[1], codes[inside, a], side="right") - 1
            options[a, lo] = _Option(best[0] / max(1, len(inside)), best[1], inside, part)

    for a in range(domain.attributes):
        consider(a, 0, int(domain.sizes[a]), int(domain.root[a]))
    cells, smallest = 1, len(codes)
    while options:
        best: tuple[float, tuple[int, int], Ints] | None = None
        for at, option in list(options.items()):
            parts = len(option.edges) - 1
            sizes = np.bincount(group[option.inside] * parts + option.part)
            least = int(sizes[sizes > 0].min(initial=len(codes)))
            more = cells // (len(edges[at[0]]) - 1) * (len(edges[at[0]]) + parts - 2)
            if least < k or more > MOST_GROUPS:
                del options[at]  # it cannot become allowed later: groups only get smaller
                continue
            loss = max(0, smallest - least)
            if best is None or option.gain / (loss + 1) > best[0]:
                best = option.gain / (loss + 1), at, sizes
        if best is None:
            break
        (a, lo), option = best[1], options.pop(best[1])
        parts = len(option.edges) - 1
        smallest = min(smallest, int(best[2][best[2] > 0].min(initial=len(codes))))
        cells = cells // (len(edges[a]) - 1) * (len(edges[a]) + parts - 2)
        fresh = group.max(initial=0) + 1 + group[option.inside] * parts + option.part
        group[option.inside] = fresh
        _, group = np.unique(group, return_inverse=True)
        edges[a] = sorted({*edges[a], *option.edges})
        taxon = taxa[a].pop(lo)
        for child, low in enumerate(option.edges[:-1]):
            below = int(domain.first_child[taxon]) + child if taxon >= 0 else -1
            taxa[a][low] = below
            consider(a, low, option.edges[child + 1], below)
    grid = GridPartition(tuple(np.asarray(edge, dtype=np.int32) for edge in edges))
    return exact_release("tds", table, grid)


@dataclass(frozen=True)
class _Option:
    """A value that may be specialized: its gain for a record, its parts, and who has it."""

    gain: float
    edges: list[int]
    inside: Ints
    part: Ints


def _best(
    domain: Domain, codes: Ints, a: int, lo: int, hi: int, taxon: int
) -> tuple[float, list[int]] | None:
    """The information gain of specializing one value, and the edges of its parts."""
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
