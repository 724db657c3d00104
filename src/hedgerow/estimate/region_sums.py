"""The counts of regions inside a query, summed, with the variances of the sums."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from hedgerow.arrays import Floats
from hedgerow.estimate.asked import grouped
from hedgerow.estimate.fit import Fit
from hedgerow.estimate.index import Index, grid_index, tree_index
from hedgerow.estimate.intervals.conditions import Conditions
from hedgerow.estimate.query_kernels import descend
from hedgerow.measured.partition import GridPartition, Partition

if TYPE_CHECKING:
    from hedgerow.schema.query import Query

__all__ = ["EVEN", "INNER", "TOUCHED", "sums"]


INNER, EVEN, TOUCHED = range(3)


_BATCH = 1000  # queries that a thread answers at a time


def sums(partition: Partition, fit: Fit, queries: Sequence[Query]) -> tuple[Floats, Floats]:
    """The inner, even and touched sum of each query, and their variances by the tails.

    Args:
        partition: The regions.
        fit: Their consistent counts.
        queries: The queries.

    Returns:
        Two arrays of shape [queries, 3].
    """
    # on a grid, attributes that a query does not name are summed out first
    on_grid = isinstance(partition, GridPartition)
    groups = grouped(queries, lambda query: tuple(a for a, _ in query.where) if on_grid else ())
    estimate, variance = np.zeros((len(queries), 3)), np.zeros((len(queries), 3))
    for attributes, members in groups.items():
        index = (
            grid_index(partition, fit, attributes)
            if isinstance(partition, GridPartition)
            else tree_index(partition, fit)
        )
        for classes, some in grouped([queries[q] for q in members], lambda q: q.classes).items():
            here = members[some]
            asked = Conditions.of([queries[q] for q in here], with_class=False)
            estimate[here], variance[here] = _sums(index, fit, asked, attributes, classes)
    return estimate, variance


def _sums(
    index: Index,
    fit: Fit,
    asked: Conditions,
    attributes: tuple[int, ...],
    classes: tuple[int, ...] | None,
) -> tuple[Floats, Floats]:
    """The three sums of queries on the same classes."""
    evidence = fit.evidence
    chosen = list(range(evidence.classes)) if classes is None else list(classes)
    many, of = len(chosen), evidence.classes
    on_top, by_cover = evidence.total is not None, fit.rule == "none"
    estimate = index.counts[:, chosen].sum(axis=1)
    whole = 1.0 if on_top else many / of
    alone = index.apart * (many * (1 - many / of))
    if on_top and by_cover:
        # without adjustment a node wholly inside is counted by its own measurement alone
        estimate, alone = _cover(fit, chosen)
        whole = 0.0
    weights = np.column_stack(
        [estimate, index.share, index.variance, alone, index.own, index.below]
    )
    out, start = np.zeros((asked.queries, 3, 4)), asked.start
    place = np.searchsorted(attributes, asked.place) if attributes else asked.place

    def some(begin: int) -> None:
        descend(
            index.shape, weights, index.sizes, index.deepest, whole,
            start[begin : begin + _BATCH + 1], place, asked.begin, asked.lows,
            asked.highs, out[begin : begin + _BATCH],
        )  # fmt: skip

    batches = range(0, len(out), _BATCH)
    if len(batches) == 1:
        some(0)
    else:
        # the loops run without Python's lock, so threads share the work
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(some, batches))
    found, a, c, r = np.moveaxis(out, 2, 0)
    root = index.variance[0]
    if on_top and not by_cover:
        # one level more: the total, below it the classes, which share alike what it is off by
        assert evidence.total is not None
        own, mean = fit.total_own, many * a / of
        rest = many * ((a - mean) ** 2 * root + 2 * (a - mean) * c + r)
        rest += (of - many) * mean**2 * root
        c = (1 - own) * (many * ((a - mean) * root + c) - (of - many) * mean * root)
        noise = float(evidence.total.tail[0]) if own else 0.0
        root = own**2 * noise + (1 - own) ** 2 * of * root
        a, r = mean, rest
    return found, np.maximum(a**2 * root + 2 * a * c + r, 0.0)


def _cover(fit: Fit, chosen: list[int]) -> tuple[Floats, Floats]:
    """What was measured at each node, or below it where it was not, and its variance."""
    nodes = fit.evidence.nodes
    measured = np.isfinite(nodes.variance).astype(np.float64)
    passes = replace(fit.passes, own=measured)
    estimate = passes.first(nodes.values[:, chosen]).sum(axis=1)
    return estimate, len(chosen) * passes.spread(nodes.tail).first
