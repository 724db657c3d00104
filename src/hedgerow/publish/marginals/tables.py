"""Buying the tables of x: single attributes, large cells again, pairs."""

from __future__ import annotations

import numpy as np

from hedgerow.arrays import Ints
from hedgerow.counting.engine import Engine
from hedgerow.counting.sums import PairTables
from hedgerow.estimate.marginals.denoise import record_total, totals_of
from hedgerow.estimate.marginals.forest import Forest, fit_forest
from hedgerow.measured.edges import groups_of
from hedgerow.measured.marginals import Marginals, Pairs
from hedgerow.measured.measurements import Measurement
from hedgerow.privacy.curator import Curator
from hedgerow.publish.marginals.one_way import count_again, count_single
from hedgerow.publish.marginals.pairs import count_extra, count_pairs
from hedgerow.publish.marginals.shares import MarginalShares
from hedgerow.schema import Schema

__all__ = ["measure_tables"]

_ROOT = np.zeros(1, dtype=np.int64)


def measure_tables(
    curator: Curator,
    engine: Engine,
    schema: Schema,
    share: MarginalShares,
    rows: Measurement,
    noisy_rows: int,
) -> list[Measurement]:
    """Buys all tables of x and that of the class, at the root.

    Args:
        curator: Who charges and draws.
        engine: The private data.
        schema: The public schema.
        share: What is spent on what.
        rows: The number of rows as it was measured.
        noisy_rows: The same as rules read it.
    """
    whole = engine.domain.sizes[None, :]
    every = np.zeros(whole.shape, dtype=np.bool_)
    every[:, : share.counted] = True
    ((_, seen),) = engine.histograms(_ROOT, np.zeros_like(whole), whole, every)
    found, single = count_single(curator, seen, schema, share.counted)
    bought = [found]
    if share.fine:
        again = count_again(curator, seen, schema, single, noisy_rows)
        bought += [] if again is None else [again]
    if share.pairs:
        pairs = Pairs.of(schema, single, groups_of(found, noisy_rows))
        tables = engine.sums(PairTables(pairs.edges))
        forest = _forest(schema, [rows, *bought])
        masses = [np.rint(mass).astype(np.int64) for mass in forest.groups[: len(pairs.edges)]]
        two_way = count_pairs(curator, tables, pairs, masses, share)
        bought += [] if two_way is None else [two_way]
    if share.extra_pairs:
        forest = _forest(schema, [rows, *bought])
        expected = _expected(forest, pairs)
        extra = count_extra(curator, tables, pairs, expected, forest.pair.keys(), share)
        bought += [] if extra is None else [extra]
    return bought


def _forest(schema: Schema, measurements: list[Measurement]) -> Forest:
    """What was drawn so far, as a model."""
    known = Marginals.of(schema, measurements)
    assert known is not None
    return fit_forest(known, record_total(known, totals_of(measurements)))


def _expected(forest: Forest, pairs: Pairs) -> Ints:
    """How many records a model expects in the cells of all pairs."""
    tables = [forest.beside(one)[:one] for one in range(len(pairs.edges))]
    flat = [table.ravel() for several in tables for table in several]
    return np.asarray(np.rint(np.concatenate(flat)), np.int64)
